"""Whether the proofs of a machine stay in a fragment of first-order logic that is decided, and where they leave it.

A formula ∀x ∃y makes y a function of x, as a total function makes its value one of its arguments. Each is an edge
from the sort of the one to the sort of the other. While the graph of sorts has no cycle, only finitely many
terms can be built from the constants of a question, so a prover that instantiates quantifiers with them ends with an
answer (the fragment of stratified sorts, an extension of EPR). With a cycle it may as well not: that is worth a
warning and no more, since many such questions are answered all the same. The cure is mostly to move a quantifier:
∀f (A ∨ ∃d …) in place of ∀c, f ∃d ….
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from anchorhold_spec.language.machine import Action, Invariant, Machine, Transition
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
    Iff,
    Implies,
    Lt,
    Member,
    Not,
    Sort,
    SortKind,
    Succ,
    Symbol,
    Term,
    Update,
    Var,
)
from anchorhold_spec.language.walk import children, free_names


@dataclass(frozen=True)
class Edge:
    """Individuals of one sort give rise to individuals of another."""

    origin: str
    target: str
    because: str
    """What says so: an invariant, a guard, a function."""


@dataclass(frozen=True)
class AlternationCycle:
    """A question to the prover that lies outside the decidable fragment."""

    machine: str
    action: str | None
    """None: whatever the action, as what is assumed suffices for the cycle."""
    property: str | None
    edges: tuple[Edge, ...]
    """Each begins where the one before ends, and the last ends where the first begins."""

    def __str__(self) -> str:
        where = "what every proof assumes" if self.action is None else f"{self.property} under {self.action}"
        path = ", ".join(f"{edge.origin} → {edge.target} ({edge.because})" for edge in self.edges)
        return (
            f"{self.machine}: {where} leaves the decidable fragment, so a proof may not end: {path}. "
            "Where it comes back unknown, move a quantifier inwards: ∀f (A ∨ ∃d …), not ∀c, f ∃d …"
        )


def alternation_cycles(machine: Machine) -> tuple[AlternationCycle, ...]:
    """The questions that `prove` asks of this machine outside the decidable fragment, each cycle once.

    Switches that are open get their defaults.
    """
    machine = machine.with_defaults()
    assumed = list(_functions(machine))
    for axiom in machine.axioms:
        assumed += _edges(axiom.formula, f"axiom {axiom.name!r}")
    for invariant in machine.invariants:
        assumed += _edges(invariant.formula, f"invariant {invariant.name!r}")
    if cycle := _cycle(assumed):
        return (AlternationCycle(machine.name, None, None, cycle),)
    found: dict[frozenset[Edge], AlternationCycle] = {}
    for action in machine.actions:
        here = list(assumed)
        for guard in action.guards:
            here += _edges(guard.formula, f"guard {guard.name!r} of {action.name}")
        claims: list[Invariant | Transition] = [*machine.invariants, *machine.transitions]
        for claim in claims:
            refuted = _edges(
                claim.formula, f"{claim.name!r} denied after {action.name}", positive=False, action=action
            )
            if cycle := _cycle([*here, *refuted]):
                found.setdefault(frozenset(cycle), AlternationCycle(machine.name, action.name, claim.name, cycle))
    return tuple(found.values())


def _functions(machine: Machine) -> Iterator[Edge]:
    for symbol in machine.symbols:
        if isinstance(symbol, Function) and not symbol.partial:
            yield from _all(map(_infinite, symbol.domain), symbol.result, f"function {symbol.name}")


def _infinite(sort: Sort) -> frozenset[str]:
    """The sort of its individuals, unless there are only finitely many: those cannot go on for ever."""
    return frozenset() if sort.kind is SortKind.ENUM else frozenset({sort.base.name})


def _all(origins: Iterator[frozenset[str]], target: Sort, because: str) -> Iterator[Edge]:
    for origin in sorted(frozenset[str]().union(*origins)):
        for end in _infinite(target):
            yield Edge(origin, end, because)


def _cycle(edges: Sequence[Edge]) -> tuple[Edge, ...] | None:
    reasons: dict[tuple[str, str], Edge] = {}
    graph: dict[str, set[str]] = {}
    for edge in edges:
        reasons.setdefault((edge.origin, edge.target), edge)
        graph.setdefault(edge.target, set()).add(edge.origin)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        sorts: list[str] = error.args[1]
        return tuple(reasons[step] for step in pairwise(sorts))
    return None


Scope = Mapping[str, frozenset[str]]
"""Of each variable, the sorts of the universal variables on which its value depends."""


def _edges(formula: Formula, because: str, *, positive: bool = True, action: Action | None = None) -> list[Edge]:
    """Of a closed formula (but for parameters, which are constants) that is asserted, or denied.

    `action`: what the formula says of the state after it is said of the state before.
    """
    reader = _Reader(because, action.updates if action else ())
    reader.visit(formula, {}, positive=positive)
    return reader.edges


class _Reader:
    def __init__(self, because: str, updates: Sequence[Update]) -> None:
        self._because = because
        self._updates = updates
        self.edges: list[Edge] = []

    def visit(self, formula: Formula, scope: Scope, *, positive: bool) -> None:
        match formula:
            case ForAll(variables=variables, body=body) | Exists(variables=variables, body=body):
                if isinstance(formula, ForAll) is positive:
                    chosen = {variable.name: _infinite(variable.sort) for variable in variables}
                else:
                    needs = self._needs(formula, scope)
                    chosen = {variable.name: needs for variable in variables}
                    for variable in variables:
                        self._arises(needs, variable.sort)
                self.visit(body, {**scope, **chosen}, positive=positive)
            case Not(body=body):
                self.visit(body, scope, positive=not positive)
            case Implies(left=left, right=right):
                self.visit(left, scope, positive=not positive)
                self.visit(right, scope, positive=positive)
            case Iff(left=left, right=right):
                for part in (left, right):
                    self.visit(part, scope, positive=True)
                    self.visit(part, scope, positive=False)
            case Atom():
                self._written(formula, scope, positive=positive)
            case Defined(app=app):
                self._value(app, scope, positive=positive)
                self._written(app, scope, positive=positive)
            case Eq(left=left, right=right):
                if isinstance(left, App) and isinstance(right, App):
                    self._value(left, scope, positive=positive)
                self._terms((left, right), scope, positive=positive)
            case Member(term=term):
                self._value(term, scope, positive=positive)
                self._terms((term,), scope, positive=positive)
            case Lt(left=left, right=right) | Succ(left=left, right=right):
                values = self._value(left, scope, positive=positive) | self._value(right, scope, positive=positive)
                if isinstance(formula, Succ) and not positive:
                    # Denied, it says that something lies between.
                    self._arises(values, _sort(left))
                self._terms((left, right), scope, positive=positive)
            case _:
                for child in children(formula):
                    if isinstance(child, Formula):
                        self.visit(child, scope, positive=positive)

    def _needs(self, node: Term | Formula, scope: Scope) -> frozenset[str]:
        return frozenset[str]().union(*(scope.get(name, frozenset()) for name in free_names(node)))

    def _arises(self, origins: frozenset[str], target: Sort) -> None:
        self.edges += _all(iter([origins]), target, self._because)

    def _value(self, term: Term, scope: Scope, *, positive: bool) -> frozenset[str]:
        """Naming the value of a partial function says that there is one; gives what the value depends on."""
        needs = self._needs(term, scope)
        if not (isinstance(term, App) and term.function.partial):
            return needs
        if not positive:
            return _infinite(term.function.result)
        self._arises(needs, term.function.result)
        return needs

    def _terms(self, terms: Sequence[Term], scope: Scope, *, positive: bool) -> None:
        for term in terms:
            if isinstance(term, App):
                self._written(term, scope, positive=positive)

    def _written(self, place: Atom | App, scope: Scope, *, positive: bool) -> None:
        """What an action writes there stands in its place: under a condition, asserted and denied."""
        symbol: Symbol = place.relation if isinstance(place, Atom) else place.function
        for update in self._updates:
            if update.symbol is not symbol:
                continue
            inner: dict[str, frozenset[str]] = {}
            for target, argument in zip(update.target.arguments, place.arguments, strict=True):
                if isinstance(target, Var) and any(target.name == variable.name for variable in update.bound):
                    inner[target.name] = self._needs(argument, scope)
            before = _Reader(self._because, ())
            for each in (True, False):
                before.visit(update.condition, inner, positive=each)
            if isinstance(update.value, Formula):
                before.visit(update.value, inner, positive=positive)
            self.edges += before.edges


def _sort(term: Term) -> Sort:
    match term:
        case App(function=function):
            return function.result
        case Var(sort=sort) | Const(sort=sort):
            return sort
        case _:
            raise TypeError(f"{type(term).__name__} is no term")
