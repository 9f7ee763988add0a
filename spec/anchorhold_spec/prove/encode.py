"""Machines in first-order logic, for Z3, over sorts of any size.

- Plain and ordered sorts are uninterpreted; an enumeration is a finite datatype; a part is a predicate.
- A partial function is a relation with at most one value, so that "undefined" needs no extra element.
- An ordered sort is a total order with a least element. `Succ` says that nothing lies between; that every element
  has a successor is *not* assumed, so what is proved holds for bounded and unbounded counters alike.
- The state after a step is never named: a formula about it is rewritten into one about the state before (weakest
  precondition), so there are no frame axioms to forget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import z3

from anchorhold_spec.language import (
    Action,
    And,
    App,
    Atom,
    Const,
    Defined,
    Eq,
    Exists,
    ForAll,
    Formula,
    Function,
    Iff,
    Implies,
    Lit,
    Lt,
    Machine,
    Member,
    Not,
    Or,
    Relation,
    Sort,
    SortKind,
    Succ,
    Term,
    Update,
    Var,
)

Environment = Mapping[str, z3.ExprRef]
Arguments = tuple[z3.ExprRef, ...]


class Reader(Protocol):
    """A state to read from. `value` is for total functions, `equals` and `defined` for partial ones too."""

    def holds(self, relation: Relation, arguments: Arguments) -> z3.BoolRef:
        """The relation holds of the arguments."""

    def equals(self, function: Function, arguments: Arguments, value: z3.ExprRef) -> z3.BoolRef:
        """The function has this value."""

    def defined(self, function: Function, arguments: Arguments) -> z3.BoolRef:
        """The function has a value."""

    def value(self, function: Function, arguments: Arguments) -> z3.ExprRef:
        """The value of a total function."""


class Encoding:
    """The vocabulary of one machine, its switches decided, in a Z3 context of its own."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine.with_defaults()
        self.context = z3.Context()
        self._fresh = 0
        self.sorts: dict[str, z3.SortRef] = {}
        self._values: dict[str, list[z3.ExprRef]] = {}
        self.parts: dict[str, z3.FuncDeclRef] = {}
        self.less: dict[str, z3.FuncDeclRef] = {}
        self.zero: dict[str, z3.ExprRef] = {}
        for sort in self.machine.sorts:
            self._declare(sort)
        self.symbols: dict[str, z3.FuncDeclRef] = {}
        for symbol in self.machine.symbols:
            domain = [self.sort(each) for each in symbol.domain]
            if isinstance(symbol, Function):
                domain.append(self.sort(symbol.result))
                if not symbol.partial:
                    self.symbols[symbol.name] = z3.Function(symbol.name, *domain)
                    continue
            self.symbols[symbol.name] = z3.Function(symbol.name, *domain, z3.BoolSort(self.context))

    def _declare(self, sort: Sort) -> None:
        name = sort.name
        match sort.kind:
            case SortKind.ENUM:
                values = [f"{name}.{value}" for value in sort.values]
                self.sorts[name], self._values[name] = z3.EnumSort(name, values, ctx=self.context)
            case SortKind.PART:
                self.parts[name] = z3.Function(name, self.sort(sort), z3.BoolSort(self.context))
            case SortKind.PLAIN | SortKind.ORDERED:
                self.sorts[name] = z3.DeclareSort(name, self.context)
        if sort.kind is SortKind.ORDERED:
            element = self.sorts[name]
            self.less[name] = z3.Function(f"{name}.<", element, element, z3.BoolSort(self.context))
            self.zero[name] = z3.Const(f"{name}.zero", element)

    def sort(self, sort: Sort) -> z3.SortRef:
        """The Z3 sort of a sort's individuals (a part's are its parent's)."""
        return self.sorts[sort.base.name]

    def fresh(self, sort: Sort, hint: str) -> z3.ExprRef:
        """A constant that occurs nowhere else."""
        self._fresh += 1
        return z3.Const(f"{hint}!{self._fresh}", self.sort(sort))

    def literal(self, value: bool) -> z3.BoolRef:
        """True or false."""
        return z3.BoolVal(value, ctx=self.context)

    def conjunction(self, parts: list[z3.BoolRef]) -> z3.BoolRef:
        """All of them; true where there are none."""
        return z3.And(*parts) if parts else self.literal(True)

    def disjunction(self, parts: list[z3.BoolRef]) -> z3.BoolRef:
        """One of them; false where there are none."""
        return z3.Or(*parts) if parts else self.literal(False)

    def background(self) -> list[z3.BoolRef]:
        """What the vocabulary itself means, and the machine's axioms."""
        theory = [axiom for sort in self.machine.sorts for axiom in self._about_sort(sort)]
        theory += [
            axiom
            for symbol in self.machine.symbols
            if isinstance(symbol, Function)
            for axiom in self.about_function(symbol, self.symbols[symbol.name])
        ]
        before = Before(self)
        return theory + [self.formula(axiom.formula, {}, before) for axiom in self.machine.axioms]

    def _about_sort(self, sort: Sort) -> list[z3.BoolRef]:
        if parts := self.machine.parts_of(sort):
            x = self.fresh(sort, "x")
            inside = [self.parts[part.name](x) for part in parts]
            one = z3.Or(*inside)
            apart = [z3.Not(z3.And(a, b)) for i, a in enumerate(inside) for b in inside[:i]]
            return [z3.ForAll([x], z3.And(one, *apart))]
        if sort.kind is SortKind.ORDERED:
            x, y, z = (self.fresh(sort, name) for name in "xyz")
            less, zero = self.less[sort.name], self.zero[sort.name]
            return [
                z3.ForAll([x], z3.Not(less(x, x))),
                z3.ForAll([x, y, z], z3.Implies(z3.And(less(x, y), less(y, z)), less(x, z))),
                z3.ForAll([x, y], z3.Or(less(x, y), x == y, less(y, x))),
                z3.ForAll([x], z3.Or(x == zero, less(zero, x))),
            ]
        return []

    def about_function(self, function: Function, declared: z3.FuncDeclRef) -> list[z3.BoolRef]:
        """What being such a function says of a symbol: one value at most, and in its part."""
        arguments = [self.fresh(sort, "a") for sort in function.domain]
        x, y = self.fresh(function.result, "x"), self.fresh(function.result, "y")
        facts: list[z3.BoolRef] = []
        if function.partial:
            both = z3.And(declared(*arguments, x), declared(*arguments, y))
            facts.append(z3.ForAll([*arguments, x, y], z3.Implies(both, x == y)))
        if function.result.kind is SortKind.PART:
            part = self.parts[function.result.name]
            inside = [self.parts[s.name](a) for s, a in zip(function.domain, arguments, strict=True) if s.parent]
            if function.partial:
                fact = z3.Implies(z3.And(*inside, declared(*arguments, x)), part(x))
                facts.append(z3.ForAll([*arguments, x], fact))
            else:
                fact = z3.Implies(self.conjunction(inside), part(declared(*arguments)))
                facts.append(z3.ForAll(arguments, fact) if arguments else fact)
        return facts

    def parameters(self, action: Action) -> tuple[dict[str, z3.ExprRef], list[z3.BoolRef]]:
        """Constants for an action's parameters, and that each is in its part."""
        environment = {param.name: z3.Const(f"{param.name}?", self.sort(param.sort)) for param in action.params}
        inside = [self.parts[p.sort.name](environment[p.name]) for p in action.params if p.sort.parent]
        return environment, inside

    # Formulas

    def formula(
        self, formula: Formula, environment: Environment, now: Reader, after: Reader | None = None
    ) -> z3.BoolRef:
        """The formula read in `now`; what is primed, in `after`."""

        def sub(part: Formula) -> z3.BoolRef:
            return self.formula(part, environment, now, after)

        def state(primed: bool) -> Reader:
            if not primed:
                return now
            assert after is not None, "only two-state properties are primed: the builder refuses the rest"
            return after

        match formula:
            case Lit(value=value):
                return self.literal(value)
            case Atom(relation=relation, arguments=arguments, primed=primed):
                return state(primed).holds(relation, self._arguments(arguments, environment))
            case Defined(app=app):
                arguments_ = self._arguments(app.arguments, environment)
                return state(app.primed).defined(app.function, arguments_)
            case Eq(left=left, right=right):
                if isinstance(left, App) and not isinstance(right, App):
                    left, right = right, left
                return self._with_value(
                    left, environment, state, lambda value: self._equals(right, value, environment, state)
                )
            case Lt(left=left, right=right):
                sort = _sort_of(left)
                return self._with_values(left, right, environment, state, lambda a, b: self.less[sort.name](a, b))
            case Succ(left=left, right=right):
                sort = _sort_of(left)
                return self._with_values(left, right, environment, state, lambda a, b: self._next(sort, a, b))
            case Member(term=term, part=part):
                return self._with_value(term, environment, state, lambda value: self.parts[part.name](value))
            case Not(body=body):
                return z3.Not(sub(body))
            case And(parts=parts):
                return self.conjunction([sub(part) for part in parts])
            case Or(parts=parts):
                return self.disjunction([sub(part) for part in parts])
            case Implies(left=premise, right=conclusion):
                return z3.Implies(sub(premise), sub(conclusion))
            case Iff(left=premise, right=conclusion):
                return sub(premise) == sub(conclusion)
            case ForAll(variables=variables, body=body) | Exists(variables=variables, body=body):
                constants = {variable.name: self.fresh(variable.sort, variable.name) for variable in variables}
                inner = self.formula(body, {**environment, **constants}, now, after)
                inside = [self.parts[v.sort.name](constants[v.name]) for v in variables if v.sort.parent]
                bound = list(constants.values())
                if isinstance(formula, ForAll):
                    return z3.ForAll(bound, z3.Implies(z3.And(*inside), inner) if inside else inner)
                return z3.Exists(bound, z3.And(*inside, inner) if inside else inner)
            case _:
                # `SwitchIs` cannot be met: every switch is decided.
                raise TypeError(f"{type(formula).__name__} has no encoding")

    def _arguments(self, arguments: tuple[Term, ...], environment: Environment) -> Arguments:
        return tuple(self.term(argument, environment) for argument in arguments)

    def term(self, term: Term, environment: Environment) -> z3.ExprRef:
        """A variable or constant."""
        match term:
            case Var(name=name):
                return environment[name]
            case Const(sort=sort, index=index):
                return self.zero[sort.name] if sort.kind is SortKind.ORDERED else self._values[sort.name][index]
            case _:
                raise TypeError(f"{type(term).__name__} is not a variable or a constant")

    def value_of(self, sort: Sort, index: int) -> z3.ExprRef:
        """A value of an enumeration."""
        return self._values[sort.name][index]

    def _equals(
        self, term: Term, value: z3.ExprRef, environment: Environment, state: Callable[[bool], Reader]
    ) -> z3.BoolRef:
        if isinstance(term, App):
            arguments = self._arguments(term.arguments, environment)
            return state(term.primed).equals(term.function, arguments, value)
        return self.term(term, environment) == value

    def _with_value(
        self,
        term: Term,
        environment: Environment,
        state: Callable[[bool], Reader],
        claim: Callable[[z3.ExprRef], z3.BoolRef],
    ) -> z3.BoolRef:
        """The term has a value and the claim holds of it."""
        if not isinstance(term, App):
            return claim(self.term(term, environment))
        arguments = self._arguments(term.arguments, environment)
        reader = state(term.primed)
        if not term.function.partial:
            return claim(reader.value(term.function, arguments))
        value = self.fresh(term.function.result, "v")
        return z3.Exists([value], z3.And(reader.equals(term.function, arguments, value), claim(value)))

    def _with_values(
        self,
        left: Term,
        right: Term,
        environment: Environment,
        state: Callable[[bool], Reader],
        claim: Callable[[z3.ExprRef, z3.ExprRef], z3.BoolRef],
    ) -> z3.BoolRef:
        return self._with_value(
            left,
            environment,
            state,
            lambda a: self._with_value(right, environment, state, lambda b: claim(a, b)),
        )

    def _next(self, sort: Sort, a: z3.ExprRef, b: z3.ExprRef) -> z3.BoolRef:
        less, between = self.less[sort.name], self.fresh(sort, "between")
        nothing = z3.ForAll([between], z3.Not(z3.And(less(a, between), less(between, b))))
        return z3.And(less(a, b), nothing)


class Before:
    """The state before a step: the symbols themselves."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding

    def holds(self, relation: Relation, arguments: Arguments) -> z3.BoolRef:
        """See `Reader`."""
        return self._encoding.symbols[relation.name](*arguments)

    def equals(self, function: Function, arguments: Arguments, value: z3.ExprRef) -> z3.BoolRef:
        """See `Reader`."""
        declared = self._encoding.symbols[function.name]
        return declared(*arguments, value) if function.partial else declared(*arguments) == value

    def defined(self, function: Function, arguments: Arguments) -> z3.BoolRef:
        """See `Reader`."""
        value = self._encoding.fresh(function.result, "v")
        return z3.Exists([value], self.equals(function, arguments, value))

    def value(self, function: Function, arguments: Arguments) -> z3.ExprRef:
        """See `Reader`."""
        return self._encoding.symbols[function.name](*arguments)


class Elsewhere:
    """Any state whatever: symbols of its own, about which nothing is known but what their kind says."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self._own: dict[str, z3.FuncDeclRef] = {}
        self._functions: dict[str, Function] = {}

    def background(self) -> list[z3.BoolRef]:
        """What the kind of the symbols that were read so far says of them."""
        found: list[z3.BoolRef] = []
        for name, function in self._functions.items():
            found += self._encoding.about_function(function, self._own[name])
        return found

    def _symbol(self, symbol: Relation | Function) -> z3.FuncDeclRef:
        given = self._encoding.symbols[symbol.name]
        if symbol.rigid:
            return given
        if symbol.name not in self._own:
            signature = [given.domain(i) for i in range(given.arity())]
            self._own[symbol.name] = z3.Function(f"{symbol.name}'", *signature, given.range())
            if isinstance(symbol, Function):
                self._functions[symbol.name] = symbol
        return self._own[symbol.name]

    def holds(self, relation: Relation, arguments: Arguments) -> z3.BoolRef:
        """See `Reader`."""
        return self._symbol(relation)(*arguments)

    def equals(self, function: Function, arguments: Arguments, value: z3.ExprRef) -> z3.BoolRef:
        """See `Reader`."""
        symbol = self._symbol(function)
        return symbol(*arguments, value) if function.partial else symbol(*arguments) == value

    def defined(self, function: Function, arguments: Arguments) -> z3.BoolRef:
        """See `Reader`."""
        if not function.partial:
            return self._encoding.literal(True)
        value = self._encoding.fresh(function.result, "v")
        return z3.Exists([value], self.equals(function, arguments, value))

    def value(self, function: Function, arguments: Arguments) -> z3.ExprRef:
        """See `Reader`."""
        return self._symbol(function)(*arguments)


class Initial:
    """The state in which every symbol has its initial value; rigid data is as given."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self._given = Before(encoding)

    def holds(self, relation: Relation, arguments: Arguments) -> z3.BoolRef:
        """See `Reader`."""
        if relation.rigid:
            return self._given.holds(relation, arguments)
        return self._encoding.literal(relation.initial)

    def equals(self, function: Function, arguments: Arguments, value: z3.ExprRef) -> z3.BoolRef:
        """See `Reader`."""
        if function.rigid:
            return self._given.equals(function, arguments, value)
        if function.initial is None:
            return self._encoding.literal(False)
        return self._encoding.term(function.initial, {}) == value

    def defined(self, function: Function, arguments: Arguments) -> z3.BoolRef:
        """See `Reader`."""
        if function.rigid:
            return self._given.defined(function, arguments)
        return self._encoding.literal(function.initial is not None)

    def value(self, function: Function, arguments: Arguments) -> z3.ExprRef:
        """See `Reader`."""
        if function.rigid or function.initial is None:
            return self._given.value(function, arguments)
        return self._encoding.term(function.initial, {})


class After:
    """The state after updates of another: each place is what an update that matches gives, else as before."""

    def __init__(
        self, encoding: Encoding, before: Reader, updates: tuple[Update, ...], environment: Environment
    ) -> None:
        self._encoding = encoding
        self._before = before
        self._updates = updates
        self._environment = environment

    def _matching(
        self, symbol: Relation | Function, arguments: Arguments
    ) -> list[tuple[z3.BoolRef, Update, Environment]]:
        """The updates of a symbol with the condition under which each writes this place.

        A bound variable is an argument of the target, so it is simply what stands there.
        """
        found: list[tuple[z3.BoolRef, Update, Environment]] = []
        for update in self._updates:
            if update.symbol is not symbol:
                continue
            environment: dict[str, z3.ExprRef] = dict(self._environment)
            bound = {variable.name: variable for variable in update.bound}
            conditions = []
            for target, argument in zip(update.target.arguments, arguments, strict=True):
                if isinstance(target, Var) and target.name in bound:
                    variable = bound.pop(target.name)
                    environment[variable.name] = argument
                    if variable.sort.parent:
                        conditions.append(self._encoding.parts[variable.sort.name](argument))
                else:
                    conditions.append(self._encoding.term(target, environment) == argument)
            conditions.append(self._encoding.formula(update.condition, environment, self._before))
            found.append((self._encoding.conjunction(conditions), update, environment))
        return found

    def _cases(
        self,
        symbol: Relation | Function,
        arguments: Arguments,
        written: Callable[[Update, Environment], z3.BoolRef],
        kept: z3.BoolRef,
    ) -> z3.BoolRef:
        matching = self._matching(symbol, arguments)
        if not matching:
            return kept
        cases = [z3.And(matches, written(update, environment)) for matches, update, environment in matching]
        untouched = [z3.Not(matches) for matches, _, _ in matching]
        return z3.Or(*cases, z3.And(*untouched, kept))

    def holds(self, relation: Relation, arguments: Arguments) -> z3.BoolRef:
        """See `Reader`."""

        def written(update: Update, environment: Environment) -> z3.BoolRef:
            assert isinstance(update.value, Formula), "an update of a relation has a formula: the builder checks"
            return self._encoding.formula(update.value, environment, self._before)

        return self._cases(relation, arguments, written, self._before.holds(relation, arguments))

    def equals(self, function: Function, arguments: Arguments, value: z3.ExprRef) -> z3.BoolRef:
        """See `Reader`."""

        def written(update: Update, environment: Environment) -> z3.BoolRef:
            match update.value:
                case None:
                    return self._encoding.literal(False)
                case App(function=read, arguments=places):
                    terms = tuple(self._encoding.term(place, environment) for place in places)
                    return self._before.equals(read, terms, value)
                case Term() as term:
                    return self._encoding.term(term, environment) == value
                case _:
                    raise TypeError("an update of a function has a term: the builder checks")

        return self._cases(function, arguments, written, self._before.equals(function, arguments, value))

    def defined(self, function: Function, arguments: Arguments) -> z3.BoolRef:
        """See `Reader`."""

        def written(update: Update, environment: Environment) -> z3.BoolRef:
            match update.value:
                case None:
                    return self._encoding.literal(False)
                case App(function=read, arguments=places) if read.partial:
                    terms = tuple(self._encoding.term(place, environment) for place in places)
                    return self._before.defined(read, terms)
                case _:
                    return self._encoding.literal(True)

        return self._cases(function, arguments, written, self._before.defined(function, arguments))

    def value(self, function: Function, arguments: Arguments) -> z3.ExprRef:
        """See `Reader`."""
        value = self._before.value(function, arguments)
        for matches, update, environment in self._matching(function, arguments):
            match update.value:
                case App(function=read, arguments=places):
                    terms = tuple(self._encoding.term(place, environment) for place in places)
                    written = self._before.value(read, terms)
                case Term() as term:
                    written = self._encoding.term(term, environment)
                case _:
                    raise TypeError("a total function gets a term: the builder checks")
            value = z3.If(matches, written, value)
        return value


def _sort_of(term: Term) -> Sort:
    match term:
        case App(function=function):
            return function.result
        case Var(sort=sort) | Const(sort=sort):
            return sort
        case _:
            raise TypeError(f"{type(term).__name__} is no term")
