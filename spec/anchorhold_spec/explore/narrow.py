"""What of a two-state property a step can break: so that no more than that is looked at after each step.

Where an action leaves everything alone that a property compares, the property says of its steps that what is, is: it
need not be looked at. And where an action writes cells of its own parameters only, a property of all individuals
can only break at those: the others are as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from anchorhold_spec.language import (
    Action,
    And,
    App,
    Atom,
    Defined,
    Eq,
    ForAll,
    Formula,
    Iff,
    Implies,
    Lit,
    Lt,
    Member,
    Not,
    Or,
    Succ,
    Symbol,
    Term,
    Var,
)
from anchorhold_spec.language.walk import bound_names, conjuncts, nodes, rebuild, shape

ATOMS = 10
"""Of a formula with more different atoms than this it is not asked whether it always holds."""


@dataclass(frozen=True)
class Part:
    """A conjunct of a property, and where it is to be looked at."""

    formula: Formula
    """The variables in `at` are free in it."""
    at: Mapping[str, str]
    """Its variables that only have to be looked at for one parameter of the action."""


def breakable(formula: Formula, action: Action) -> tuple[Part, ...]:
    """The conjuncts that a step of the action might break; none where it cannot break any."""
    written = {update.symbol for update in action.updates}
    return tuple(
        _narrowed(part, action, written)
        for part in conjuncts(formula)
        if not always(_unprimed(part, lambda symbol: symbol not in written))
    )


def always(formula: Formula) -> bool:
    """It holds whatever its atoms say, equal atoms saying the same. (False: it is not known to.)"""
    match formula:
        case ForAll(body=body):
            return always(body)
        case And(parts=parts):
            return all(always(part) for part in parts)
        case _:
            atoms = sorted(set(_atoms(formula)), key=repr)
            if len(atoms) > ATOMS:
                return False
            rows = product((False, True), repeat=len(atoms))
            return all(_truth(formula, dict(zip(atoms, row, strict=True))) for row in rows)


def _narrowed(part: Formula, action: Action, written: set[Symbol]) -> Part:
    """A conjunct with the variables that need not be gone through taken out of its quantifier."""
    if not isinstance(part, ForAll) or not always(_unprimed(part, lambda _symbol: True)):
        return Part(part, {})
    inside = set(bound_names(part.body))
    variables = {each.name: each for each in part.variables if each.name not in inside}
    params = {each.name: each for each in action.params}
    common: list[tuple[str, str]] | None = None
    for symbol, arguments in _primed(part):
        for update in action.updates:
            if symbol is not update.symbol or symbol not in written:
                continue
            own = {each.name for each in update.bound}
            # The property reads a cell that this update writes only where these are the same.
            met = [
                (read.name, target.name)
                for read, target in zip(arguments, update.target.arguments, strict=True)
                if isinstance(read, Var)
                and isinstance(target, Var)
                and read.name in variables
                and target.name in params
                and target.name not in own
                and variables[read.name].sort is params[target.name].sort
            ]
            common = met if common is None else [each for each in common if each in met]
    at: dict[str, str] = {}
    for variable, param in common or []:
        at.setdefault(variable, param)
    rest = tuple(each for each in part.variables if each.name not in at)
    return Part(ForAll(rest, part.body) if rest else part.body, at)


def _primed(formula: Formula) -> Iterator[tuple[Symbol, tuple[Term, ...]]]:
    """The cells that are read after the step."""
    for node in nodes(formula):
        if isinstance(node, App) and node.primed:
            yield node.function, node.arguments
        elif isinstance(node, Atom) and node.primed:
            yield node.relation, node.arguments


def _unprimed(formula: Formula, same: Callable[[Symbol], bool]) -> Formula:
    """The formula where these symbols are as they were."""

    def term(node: Term) -> Term:
        return replace(node, primed=False) if isinstance(node, App) and same(node.function) else node

    match formula:
        case Atom(relation=relation):
            return replace(formula, primed=False) if same(relation) else formula
        case Defined(app=app):
            return Defined(replace(app, primed=False)) if same(app.function) else formula
        case Eq(left=left, right=right) | Lt(left=left, right=right) | Succ(left=left, right=right):
            return type(formula)(term(left), term(right))
        case Member(term=inner, part=part):
            return Member(term(inner), part)
        case _:
            return rebuild(formula, lambda part: _unprimed(part, same))


def _atoms(formula: Formula) -> Iterator[object]:
    match formula:
        case Lit():
            return
        case Not(body=body):
            yield from _atoms(body)
        case And(parts=parts) | Or(parts=parts):
            for part in parts:
                yield from _atoms(part)
        case Implies(left=left, right=right) | Iff(left=left, right=right):
            yield from _atoms(left)
            yield from _atoms(right)
        case _:
            atom = _atom(formula)
            if atom is not None:
                yield atom


def _atom(formula: Formula) -> object:
    """What two atoms have in common that always say the same; none for one that always holds."""
    match formula:
        case Eq(left=left, right=right):
            if shape(left) != shape(right):
                return ("Eq", *sorted((shape(left), shape(right)), key=repr))
            # An undefined term is not even equal to itself.
            return shape(Defined(left)) if isinstance(left, App) and left.function.partial else None
        case _:
            return shape(formula)


def _truth(formula: Formula, values: Mapping[object, bool]) -> bool:
    match formula:
        case Lit(value=value):
            return value
        case Not(body=body):
            return not _truth(body, values)
        case And(parts=parts):
            return all(_truth(part, values) for part in parts)
        case Or(parts=parts):
            return any(_truth(part, values) for part in parts)
        case Implies(left=left, right=right):
            return not _truth(left, values) or _truth(right, values)
        case Iff(left=left, right=right):
            return _truth(left, values) == _truth(right, values)
        case _:
            atom = _atom(formula)
            return atom is None or values[atom]
