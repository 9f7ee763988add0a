"""What has to be so before a property says anything: the premise whose absence would let it hold for want of a case.

∀x (p ⇒ q) says nothing while no x has p; written as ¬p ∨ q it is the same property. ¬(p ∧ q) says nothing while
neither p nor q is ever met, and p ⇔ q while neither is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anchorhold_spec.language import And, Exists, ForAll, Formula, Iff, Implies, Not, Or
from anchorhold_spec.language.walk import conjuncts, shape


def premises(formula: Formula) -> Iterator[Formula]:
    """For each conjunct that has one, a closed formula that holds where its premise is met; each once.

    For a two-state property it speaks of a step, as the property does.
    """
    seen: set[tuple[object, ...]] = set()
    for part in parts(formula):
        found = _premise(part)
        if found is not None and shape(found) not in seen:
            seen.add(shape(found))
            yield found


def parts(formula: Formula) -> Iterator[Formula]:
    """The conjuncts, also those under universal quantifiers and negations, and those of a conclusion."""
    match formula:
        case And():
            for part in conjuncts(formula):
                yield from parts(part)
        case ForAll(variables=variables, body=body):
            yield from (ForAll(variables, part) for part in parts(body))
        case Implies(left=left, right=right) if len(concluded := list(parts(right))) > 1:
            # p ⇒ (q ∧ (r ⇒ s)) says p ⇒ q and p ⇒ (r ⇒ s): a case of the one is none of the other.
            for part in concluded:
                yield from parts(Implies(left, part))
        case Or(parts=disjuncts) if (conclusion := _one_of_several_parts(disjuncts)) is not None:
            rest = tuple(each for each in disjuncts if each is not conclusion)
            for part in parts(conclusion):
                yield from parts(Or((*rest, part)))
        case Not(body=Not(body=body)):
            yield from parts(body)
        case Not(body=Or(parts=disjuncts)):
            for part in disjuncts:
                yield from parts(Not(part))
        case Not(body=Implies(left=left, right=right)):
            yield from parts(left)
            yield from parts(Not(right))
        case Not(body=Exists(variables=variables, body=body)):
            yield from (ForAll(variables, part) for part in parts(Not(body)))
        case _:
            yield formula


def _one_of_several_parts(disjuncts: Sequence[Formula]) -> Formula | None:
    """The conclusion of an implication that is written as a disjunction, ¬p ∨ (q ∧ r), where it has several parts.

    A disjunction of other forms is none: (p ∧ q) ∨ (¬p ∧ r) tells two cases apart, and neither is a premise.
    """
    denied = [each for each in disjuncts if isinstance(each, Not)]
    others = [each for each in disjuncts if not isinstance(each, Not)]
    if denied and len(others) == 1 and len(list(parts(others[0]))) > 1:
        return others[0]
    return None


def _premise(formula: Formula) -> Formula | None:
    match formula:
        case ForAll(variables=variables, body=body):
            inner = _premise(body)
            return None if inner is None else Exists(variables, inner)
        case Implies(left=left, right=right):
            # (p ⇒ (q ⇒ r)) needs p and q. What several parts of a conclusion need is not needed of all at once.
            inner = _premise(right)
            return left if inner is None else _all([left, inner])
        case Or(parts=disjuncts):
            denied = [part.body for part in disjuncts if isinstance(part, Not)]
            others = [part for part in disjuncts if not isinstance(part, Not)]
            if not denied or not others:
                return _all_but_one(denied)
            inner = _premise(others[0]) if len(others) == 1 else None
            return _all(denied if inner is None else [*denied, inner])
        case Not(body=And() as body):
            return _all_but_one(conjuncts(body))
        case Not(body=Exists(variables=variables, body=body)):
            return _premise(ForAll(variables, Not(body)))
        case Not(body=Not(body=body)):
            return _premise(body)
        case Iff(left=left, right=right):
            return Or((left, right))
        case _:
            return None


def _all(formulas: Sequence[Formula]) -> Formula:
    flat = [part for each in formulas for part in conjuncts(each)]
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def _all_but_one(formulas: Sequence[Formula]) -> Formula | None:
    if len(formulas) < 2:
        return None
    cases = [_all([each for each in formulas if each is not left_out]) for left_out in formulas]
    return Or(tuple(cases))
