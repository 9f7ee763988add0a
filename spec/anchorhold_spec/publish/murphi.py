"""A machine as a Murphi model for rumur: an independent check of what a finite instance can reach.

Individuals are numbers, as in a state of the reference semantics; -1 is "undefined". Rigid data stands in variables
that no rule writes, and each interpretation of it that the axioms allow is one start state. Two-state properties are
assertions at the end of each rule. Every right side reads the state before: what a rule writes and still reads is
copied first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
    Symbol,
    Term,
    Transition,
    Update,
    Var,
)
from anchorhold_spec.language.walk import nodes, symbols
from anchorhold_spec.publish.names import Names, ascii_only
from anchorhold_spec.run import UNDEFINED, Instance, Table, instances

_WORDS = """
    alias array assert assume begin boolean by case clear const cover do else elsif end endalias endexists endfor
    endforall endfunction endif endprocedure endrecord endrule endruleset endstartstate endswitch endwhile enum error
    exists false for forall from function if in invariant isundefined liveness put of procedure program property
    record return rule ruleset scalarset startstate switch then to traceuntil true type undefine union var while
"""
_RESERVED = frozenset(_WORDS.split())


def export_murphi(
    machine: Machine,
    *,
    sizes: Mapping[str, int] | None = None,
    switches: Mapping[str, str] | None = None,
    auxiliary: bool = False,
) -> str:
    """The model of one finite instance.

    `sizes` and `switches` choose it (defaults as in the machine); `auxiliary` includes the invariants that only
    proofs need. Raises UnknownChoice for what does not fit.
    """
    found = list(instances(machine, sizes, switches))
    if not found:
        raise ValueError(f"{machine.name}: no rigid data satisfies the axioms at this size")
    return "\n".join(_Murphi(found, auxiliary=auxiliary).model()) + "\n"


class _Murphi:
    """Writes one model; the instances differ in rigid data only."""

    def __init__(self, found: list[Instance], *, auxiliary: bool) -> None:
        self._instances = found
        self._instance = found[0]
        self._machine = self._instance.machine
        self._auxiliary = auxiliary
        self._names = names = Names(_RESERVED)
        machine = self._machine
        self._sorts = {sort: names.take(f"{sort.name}_t") for sort in machine.sorts}
        self._optional = {sort: names.take(f"{sort.name}_or_none") for sort in machine.sorts}
        self._values = {
            (sort, i): names.take(f"{sort.name}_{value}")
            for sort in machine.sorts
            for i, value in enumerate(sort.values)
        }
        self._undefined = names.take("none")
        self._symbols = {symbol: names.take(symbol.name) for symbol in machine.symbols}
        self._types = {symbol: names.take(f"table_{symbol.name}") for symbol in machine.symbols}
        self._before = {symbol: names.take(f"before_{symbol.name}") for symbol in machine.symbols}

    def model(self) -> Iterator[str]:
        machine = self._machine
        sizes = ", ".join(f"{name} {size}" for name, size in self._instance.universe.items())
        switches = ", ".join(f"{name} {value}" for name, value in machine.decided.items())
        yield from _comment(f"{machine.name}: {machine.doc}")
        yield from _comment(
            f"Written from the machine of the specification, for {sizes}; {switches or 'no switches'}."
        )
        yield "const"
        yield f"  {self._undefined}: {UNDEFINED};"
        for (_, index), name in self._values.items():
            yield f"  {name}: {index};"
        yield ""
        yield "type"
        for sort in machine.sorts:
            individuals = self._instance.individuals(sort)
            if individuals:
                yield f"  {self._sorts[sort]}: {individuals.start}..{individuals.stop - 1};"
                yield f"  {self._optional[sort]}: -1..{individuals.stop - 1};"
        for symbol in self._present(machine.symbols):
            yield f"  {self._types[symbol]}: {self._type(symbol)};"
        yield ""
        yield "var"
        for symbol in self._present(machine.symbols):
            yield f"  {self._symbols[symbol]}: {self._types[symbol]};"
        yield ""
        for number, instance in enumerate(self._instances, start=1):
            yield from self._start(number, instance)
        for action in machine.actions:
            yield from self._rule(action)
        for invariant in machine.invariants:
            if invariant.public or self._auxiliary:
                yield f'invariant "{_string(invariant.name)}"'
                yield f"  {self._formula(invariant.formula, {}, {})};"
                yield ""

    # Declarations

    def _empty(self, sort: Sort) -> bool:
        return len(self._instance.individuals(sort)) == 0

    def _present(self, found: tuple[Symbol, ...]) -> list[Symbol]:
        """Without the tables that have no place: nothing can mention them outside of an empty quantifier."""
        return [symbol for symbol in found if not any(self._empty(sort) for sort in symbol.domain)]

    def _type(self, symbol: Symbol) -> str:
        if isinstance(symbol, Relation):
            value = "boolean"
        elif symbol.partial or self._empty(symbol.result):
            value = "-1..-1" if self._empty(symbol.result) else self._optional[symbol.result]
        else:
            value = self._sorts[symbol.result]
        return "".join(f"array[{self._sorts[sort]}] of " for sort in symbol.domain) + value

    # Behaviour

    def _start(self, number: int, instance: Instance) -> Iterator[str]:
        machine = self._machine
        yield f'startstate "{number}"'
        yield "begin"
        for symbol, table in zip(machine.rigid_symbols, instance.rigid, strict=True):
            yield from self._fill(symbol, table)
        for symbol in self._present(machine.state_symbols):
            if isinstance(symbol, Relation):
                value = _truth(symbol.initial)
            else:
                value = self._undefined if symbol.initial is None else self._term(symbol.initial, {}, {})
            indices = [self._names.local(f"i{position}") for position in range(len(symbol.domain))]
            place = self._symbols[symbol] + "".join(f"[{index}]" for index in indices)
            bound = [(index, sort) for index, sort in zip(indices, symbol.domain, strict=True)]
            yield from self._loop(bound, [f"{place} := {value};"], "  ")
        for update in machine.initially:
            yield from self._update(update, {}, {})
        yield "end;"
        yield ""

    def _fill(self, symbol: Symbol, table: Table) -> Iterator[str]:
        for cell, entry in zip(self._instance.cells(symbol), table, strict=True):
            place = self._symbols[symbol] + "".join(f"[{index}]" for index in cell)
            yield f"  {place} := {_truth(bool(entry)) if isinstance(symbol, Relation) else entry};"

    def _rule(self, action: Action) -> Iterator[str]:
        if any(self._empty(param.sort) for param in action.params):
            return
        names = {param.name: self._names.local(param.name) for param in action.params}
        asserted = [each for each in self._machine.transitions if each.on is None or action.name in each.on]
        copied = {symbol: self._before[symbol] for symbol in self._copied(action, asserted)}
        yield from _comment(action.doc)
        if action.params:
            bound = "; ".join(f"{names[param.name]}: {self._sorts[param.sort]}" for param in action.params)
            yield f"ruleset {bound} do"
        guard = self._formula(And(tuple(guard.formula for guard in action.guards)), names, {})
        yield f'rule "{_string(action.name)}"'
        yield f"  {guard}"
        yield "==>"
        if copied:
            yield "var"
            for symbol, name in copied.items():
                yield f"  {name}: {self._types[symbol]};"
        yield "begin"
        for symbol, name in copied.items():
            yield f"  {name} := {self._symbols[symbol]};"
        for update in action.updates:
            yield from self._update(update, names, copied)
        for transition in asserted:
            yield f'  assert "{_string(transition.name)}" {self._formula(transition.formula, {}, copied)};'
        yield "end;"
        if action.params:
            yield "end;"
        yield ""

    def _copied(self, action: Action, asserted: list[Transition]) -> list[Symbol]:
        """What the rule writes and somebody reads as it was before."""
        written = {id(update.symbol) for update in action.updates}
        read: set[int] = set()
        for update in action.updates:
            for node in (update.condition,) if update.value is None else (update.condition, update.value):
                read |= {id(symbol) for symbol in symbols(node)}
        for transition in asserted:
            for part in nodes(transition.formula):
                if isinstance(part, App) and not part.primed:
                    read.add(id(part.function))
                elif isinstance(part, Atom) and not part.primed:
                    read.add(id(part.relation))
        return [symbol for symbol in self._present(self._machine.state_symbols) if id(symbol) in written & read]

    def _update(self, update: Update, names: Mapping[str, str], copied: Mapping[Symbol, str]) -> Iterator[str]:
        inner = dict(names)
        for variable in update.bound:
            inner[variable.name] = self._names.local(variable.name, set(inner.values()))
        target = self._symbols[update.symbol] + "".join(
            f"[{self._term(argument, inner, copied)}]" for argument in update.target.arguments
        )
        if any(self._empty(sort) for sort in update.symbol.domain):
            return
        if update.value is None:
            value = self._undefined
        elif isinstance(update.value, Formula):
            value = self._formula(update.value, inner, copied)
        else:
            value = self._term(update.value, inner, copied)
        body = [f"{target} := {value};"]
        if not (isinstance(update.condition, Lit) and update.condition.value):
            body = [f"if {self._formula(update.condition, inner, copied)} then", f"  {body[0]}", "end;"]
        yield from self._loop([(inner[each.name], each.sort) for each in update.bound], body, "  ")

    def _loop(self, bound: list[tuple[str, Sort]], body: list[str], indent: str) -> Iterator[str]:
        if any(self._empty(sort) for _, sort in bound):
            return
        for depth, (name, sort) in enumerate(bound):
            yield f"{indent}{'  ' * depth}for {name}: {self._sorts[sort]} do"
        yield from (f"{indent}{'  ' * len(bound)}{line}" for line in body)
        for depth in reversed(range(len(bound))):
            yield f"{indent}{'  ' * depth}end;"

    # Terms and formulas

    def _term(self, term: Term, names: Mapping[str, str], copied: Mapping[Symbol, str]) -> str:
        match term:
            case Var(name=name):
                return names.get(name) or self._names.local(name)
            case Const(sort=sort, index=index):
                return self._values[sort, index] if sort.kind is SortKind.ENUM else str(index)
            case App(function=function, arguments=arguments, primed=primed):
                return self._place(function, arguments, names, copied, primed=primed)
            case _:
                raise TypeError(f"{type(term).__name__} is no term")

    def _place(
        self,
        symbol: Symbol,
        arguments: tuple[Term, ...],
        names: Mapping[str, str],
        copied: Mapping[Symbol, str],
        *,
        primed: bool,
    ) -> str:
        head = self._symbols[symbol] if primed else copied.get(symbol, self._symbols[symbol])
        return head + "".join(f"[{self._term(argument, names, copied)}]" for argument in arguments)

    def _formula(self, formula: Formula, names: Mapping[str, str], copied: Mapping[Symbol, str]) -> str:
        """In parentheses, where it has parts. With `copied`, unprimed places are read as they were before."""

        def sub(part: Formula) -> str:
            return self._formula(part, names, copied)

        def term(part: Term) -> str:
            return self._term(part, names, copied)

        match formula:
            case Lit(value=value):
                return _truth(value)
            case Atom(relation=relation, arguments=arguments, primed=primed):
                return self._place(relation, arguments, names, copied, primed=primed)
            case Defined(app=app):
                return f"({term(app)} != {self._undefined})"
            case Eq(left=left, right=right):
                return self._compare(left, right, f"{term(left)} = {term(right)}", names, copied)
            case Lt(left=left, right=right):
                return self._compare(left, right, f"{term(left)} < {term(right)}", names, copied)
            case Succ(left=left, right=right):
                return self._compare(left, right, f"{term(right)} = {term(left)} + 1", names, copied)
            case Member(term=inner, part=part):
                individuals = self._instance.individuals(part)
                if not individuals:
                    return "false"
                return f"({term(inner)} >= {individuals.start} & {term(inner)} <= {individuals.stop - 1})"
            case Not(body=body):
                return f"!({sub(body)})"
            case And(parts=parts):
                return f"({' & '.join(sub(part) for part in parts)})" if parts else "true"
            case Or(parts=parts):
                return f"({' | '.join(sub(part) for part in parts)})" if parts else "false"
            case Implies(left=premise, right=conclusion):
                return f"(!({sub(premise)}) | {sub(conclusion)})"
            case Iff(left=premise, right=conclusion):
                one, other = sub(premise), sub(conclusion)
                return f"(({one} & {other}) | (!({one}) & !({other})))"
            case ForAll(variables=variables, body=body):
                return self._quantified("forall", variables, sub(body))
            case Exists(variables=variables, body=body):
                return self._quantified("exists", variables, sub(body))
            case _:
                # `SwitchIs` cannot be met: `instances` decides every switch.
                raise TypeError(f"no Murphi for {type(formula).__name__}")

    def _compare(
        self, left: Term, right: Term, text: str, names: Mapping[str, str], copied: Mapping[Symbol, str]
    ) -> str:
        """Where a side is undefined, a comparison is false."""
        known = [
            f"{self._term(side, names, copied)} != {self._undefined} & "
            for side in (left, right)
            if isinstance(side, App) and side.function.partial
        ]
        return f"({''.join(known)}{text})"

    def _quantified(self, quantifier: str, variables: tuple[Var, ...], body: str) -> str:
        if any(self._empty(variable.sort) for variable in variables):
            return _truth(quantifier == "forall")
        for variable in reversed(variables):
            body = f"({quantifier} {self._names.local(variable.name)}: {self._sorts[variable.sort]} do {body} end)"
        return body


def _comment(text: str) -> Iterator[str]:
    yield f"-- {' '.join(ascii_only(text).split())}"


def _string(text: str) -> str:
    return ascii_only(text).replace('"', "'")


def _truth(value: bool) -> str:
    return "true" if value else "false"
