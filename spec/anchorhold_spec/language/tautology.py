"""Formulas that are true by their form. Only what is cheap to see: `prove` asks Z3 about the rest."""

from __future__ import annotations

from anchorhold_spec.language.nodes import (
    And,
    App,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Lit,
    Not,
    Or,
    Term,
)
from anchorhold_spec.language.walk import conjuncts, free_names, same

Facts = tuple[Formula, ...]


def always(formula: Formula, given: Facts = ()) -> bool:
    """True by its form in every state where what is given holds. False where that is not seen."""
    if any(same(formula, fact) for fact in given) or _contradict(given):
        return True
    match formula:
        case Lit(value=value):
            return value
        case And(parts=parts):
            return all(always(part, given) for part in parts)
        case Or(parts=parts):
            # One of them holds where all the others do not.
            return any(
                always(part, (*given, *(_denied(other) for other in parts if other is not part))) for part in parts
            )
        case Implies(left=left, right=right):
            return always(right, (*given, *conjuncts(left)))
        case Iff(left=left, right=right):
            return same(left, right)
        case Not(body=Not(body=body)):
            return always(body, given)
        case Not(body=body):
            return never(body, given)
        case Eq(left=left, right=right):
            return same(left, right) and not _may_be_undefined(left)
        case ForAll(variables=variables, body=body):
            return always(body, _outside(given, tuple(each.name for each in variables)))
        case _:
            return False


def never(formula: Formula, given: Facts = ()) -> bool:
    """False by its form in every state where what is given holds. False where that is not seen."""
    match formula:
        case Lit(value=value):
            return not value
        case Or(parts=parts):
            return all(never(part, given) for part in parts)
        case And():
            parts = conjuncts(formula)
            return _contradict((*given, *parts)) or any(never(part, given) for part in parts)
        case Implies(left=left, right=right):
            return always(left, given) and never(right, given)
        case Not(body=body):
            return always(body, given)
        case Exists(variables=variables, body=body):
            return never(body, _outside(given, tuple(each.name for each in variables)))
        case _:
            return _contradict((*given, formula))


def _denied(formula: Formula) -> Formula:
    return formula.body if isinstance(formula, Not) else Not(formula)


def _contradict(facts: Facts) -> bool:
    return any(isinstance(one, Not) and any(same(one.body, other) for other in facts) for one in facts) or any(
        isinstance(one, Lit) and not one.value for one in facts
    )


def _outside(given: Facts, bound: tuple[str, ...]) -> Facts:
    """What does not speak of the variables that are bound here."""
    return tuple(fact for fact in given if not set(free_names(fact)) & set(bound))


def _may_be_undefined(term: Term) -> bool:
    return isinstance(term, App) and term.function.partial
