"""What has been declared, and whether a term or formula over it is well formed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from anchorhold_spec.language.errors import MalformedMachine
from anchorhold_spec.language.machine import Worker
from anchorhold_spec.language.nodes import (
    App,
    Atom,
    Const,
    Defined,
    Eq,
    Exists,
    ForAll,
    Formula,
    Function,
    Lit,
    Lt,
    Member,
    Relation,
    Sort,
    SortKind,
    Succ,
    Switch,
    SwitchIs,
    Symbol,
    Term,
    Var,
)
from anchorhold_spec.language.text import show
from anchorhold_spec.language.walk import children

Where = tuple[str, ...]
Variables = Mapping[str, Var]


@dataclass
class Scope:
    """What has been declared so far. Membership is by identity: two symbols may look alike and not be the same."""

    machine: str
    rules: frozenset[str]
    alphabet: frozenset[str]
    sorts: list[Sort] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    switches: list[Switch] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)
    names: set[tuple[str, str]] = field(default_factory=set)

    def refuse(self, where: Where, what: str) -> MalformedMachine:
        """The error to raise."""
        return MalformedMachine((self.machine, *where), what)

    def name(self, space: str, name: str, where: Where) -> None:
        """Takes a name in one name space."""
        if (space, name) in self.names:
            raise self.refuse(where, f"the name {name!r} is already taken")
        self.names.add((space, name))

    def add_sort(self, sort: Sort) -> Sort:
        """Declares a sort."""
        where = (f"sort {sort.name}",)
        self.name("vocabulary", sort.name, where)
        if sort.kind is not SortKind.ENUM:
            self.name("size", sort.plural, where)
        if sort.kind is SortKind.PART and sort.parent is not None:
            self.check_sort(sort.parent, where)
            if sort.parent.kind is not SortKind.PLAIN:
                raise self.refuse(where, f"a part is of a plain sort, and {sort.parent.name} is {sort.parent.kind}")
        if sort.kind is SortKind.ENUM:
            if not sort.values or len(set(sort.values)) < len(sort.values):
                raise self.refuse(where, "an enumeration needs values, each once")
            for value in sort.values:
                if value in Sort.__dataclass_fields__ or hasattr(Sort, value):
                    raise self.refuse(
                        where, f"a value cannot be called {value!r}: sorts have an attribute of that name"
                    )
        self.sorts.append(sort)
        return sort

    def add_symbol(self, symbol: Symbol) -> None:
        """Declares a relation or function."""
        where = (f"{'relation' if isinstance(symbol, Relation) else 'function'} {symbol.name}",)
        self.name("vocabulary", symbol.name, where)
        for sort in symbol.domain:
            self.check_sort(sort, where)
        if isinstance(symbol, Function):
            self.check_sort(symbol.result, where)
            if not symbol.partial and not symbol.rigid:
                if symbol.result.kind not in (SortKind.ENUM, SortKind.ORDERED):
                    raise self.refuse(
                        where,
                        "a total function of the state goes to an enumeration or an ordered sort, "
                        f"not {symbol.result.name}; use pfun",
                    )
                if symbol.initial is None or symbol.initial.sort is not symbol.result:
                    raise self.refuse(where, f"its initial value must be a value of {symbol.result.name}")
        self.symbols.append(symbol)

    def add_switch(self, switch: Switch) -> Switch:
        """Declares a switch."""
        where = (f"switch {switch.name}",)
        self.name("vocabulary", switch.name, where)
        if len(set(switch.values)) < 2 or len(set(switch.values)) < len(switch.values):
            raise self.refuse(where, "a switch needs at least two values, each once")
        if switch.default not in switch.values:
            raise self.refuse(where, f"its default {switch.default!r} is none of {', '.join(switch.values)}")
        self.switches.append(switch)
        return switch

    def add_worker(self, worker: Worker) -> Worker:
        """Declares a worker."""
        where = (f"worker {worker.name}",)
        self.name("worker", worker.name, where)
        for symbol in worker.writes:
            self.check_symbol(symbol, where)
        self.workers.append(worker)
        return worker

    def check_sort(self, sort: Sort, where: Where) -> None:
        """It was declared in this machine."""
        if not any(sort is each for each in self.sorts):
            raise self.refuse(
                where, f"unknown sort {getattr(sort, 'name', sort)!r}: it is not declared in this machine"
            )

    def check_symbol(self, symbol: Symbol, where: Where) -> None:
        """It was declared in this machine."""
        if not any(symbol is each for each in self.symbols):
            raise self.refuse(where, f"unknown symbol {symbol.name!r}: it is not declared in this machine")


def check_formula(
    scope: Scope, formula: Formula, variables: Variables, where: Where, *, primed: bool = False
) -> None:
    """Sorts, arities, scopes; `primed` tells whether the state after may be mentioned."""
    match formula:
        case ForAll(variables=bound, body=body) | Exists(variables=bound, body=body):
            inner = dict(variables)
            if not bound:
                raise scope.refuse(where, f"a quantifier binds nothing in {show(formula)}")
            for variable in bound:
                scope.check_sort(variable.sort, where)
                if variable.name in inner:
                    raise scope.refuse(where, f"variable {variable.name!r} is bound twice in {show(formula)}")
                inner[variable.name] = variable
            check_formula(scope, body, inner, where, primed=primed)
        case Atom(relation=relation, arguments=arguments):
            check_place(scope, formula, relation, arguments, variables, where, primed=primed)
        case Defined(app=app):
            check_term(scope, app, variables, where, primed=primed)
            if not app.function.partial:
                raise scope.refuse(where, f"{show(app)} is always defined: {app.function.name} is total")
        case Eq(left=left, right=right):
            one = check_term(scope, left, variables, where, primed=primed)
            other = check_term(scope, right, variables, where, primed=primed)
            if one.base is not other.base:
                raise scope.refuse(where, f"{show(formula)} compares a {one.name} with a {other.name}")
        case Lt(left=left, right=right) | Succ(left=left, right=right):
            one = check_term(scope, left, variables, where, primed=primed)
            other = check_term(scope, right, variables, where, primed=primed)
            if one is not other or one.kind is not SortKind.ORDERED:
                raise scope.refuse(
                    where, f"{show(formula)} needs one ordered sort on both sides, not {one.name} and {other.name}"
                )
        case Member(term=term, part=part):
            scope.check_sort(part, where)
            if (
                part.kind is not SortKind.PART
                or check_term(scope, term, variables, where, primed=primed).base is not part.base
            ):
                raise scope.refuse(where, f"{show(formula)}: {part.name} is no part of the term's sort")
        case SwitchIs(switch=switch, value=value):
            if not any(switch is each for each in scope.switches):
                raise scope.refuse(where, f"unknown switch {switch.name!r}")
            if value not in switch.values:
                raise scope.refuse(where, f"switch {switch.name} is one of {', '.join(switch.values)}, not {value!r}")
        case Lit():
            pass
        case Formula():
            for child in children(formula):
                if not isinstance(child, Formula):
                    raise scope.refuse(where, f"{child!r} stands where a formula should")
                check_formula(scope, child, variables, where, primed=primed)
        case _:
            raise scope.refuse(
                where, f"{formula!r} is no formula: a relation applied to its arguments, ==, &, |, ~, >>, forall…"
            )


def check_term(scope: Scope, term: Term, variables: Variables, where: Where, *, primed: bool = False) -> Sort:
    """The term's sort."""
    match term:
        case Var(name=name, sort=sort):
            scope.check_sort(sort, where)
            if name not in variables:
                raise scope.refuse(where, f"variable {name!r} is neither a parameter nor bound")
            if variables[name].sort is not sort:
                raise scope.refuse(
                    where, f"variable {name!r} is a {variables[name].sort.name} here, not a {sort.name}"
                )
            return sort
        case Const(sort=sort):
            scope.check_sort(sort, where)
            if sort.kind not in (SortKind.ENUM, SortKind.ORDERED):
                raise scope.refuse(where, f"{sort.name} has no zero: it is not ordered")
            return sort
        case App(function=function, arguments=arguments):
            check_place(scope, term, function, arguments, variables, where, primed=primed)
            return function.result
        case _:
            raise scope.refuse(
                where, f"{term!r} is no term: a variable, a value of an enumeration, or a function applied"
            )


def check_place(
    scope: Scope,
    place: App | Atom,
    symbol: Symbol,
    arguments: tuple[Term, ...],
    variables: Variables,
    where: Where,
    *,
    primed: bool,
) -> None:
    """A symbol at arguments: declared, right number, right sorts, nothing nested."""
    scope.check_symbol(symbol, where)
    if place.primed and not primed:
        raise scope.refuse(where, f"{symbol.name}(…).next: only a two-state property may read the state after")
    if place.primed and symbol.rigid:
        raise scope.refuse(where, f"{symbol.name}(…).next: {symbol.name} is rigid, it is the same after")
    if len(arguments) != len(symbol.domain):
        raise scope.refuse(where, f"{symbol.name} takes {len(symbol.domain)} arguments, not {len(arguments)}")
    for argument, sort in zip(arguments, symbol.domain, strict=True):
        if isinstance(argument, App):
            raise scope.refuse(
                where,
                f"{symbol.name} is applied to {show(argument)}: nested applications are refused; "
                f"bind it to a variable instead, as in {show(argument)} == x",
            )
        found = check_term(scope, argument, variables, where)
        if found is not sort and found.parent is not sort:
            raise scope.refuse(where, f"{symbol.name} takes a {sort.name}, and {show(argument)} is a {found.name}")
