"""Checkers and machines judge the same histories: what the one refuses, the other fails."""

from collections.abc import Iterable
from typing import Any

import pytest
from catalogue import HONEST, RIGHT, WRONG

from anchorhold.adapters.reference import Reference
from anchorhold.adequacy.seek import histories
from anchorhold.checkers import judge_all
from anchorhold.oracle import rule_on
from anchorhold.scenarios import Effort
from anchorhold.verdict import History
from anchorhold_spec.run.oracle import Ruling

STRUCTURAL = {
    "ANC-1": {"ANC-1"},
    "ANC-4": {"ANC-4"},
    "EPO-1": {"EPO-1"},
    # Before a restart a pointer led there: the checker calls that a commit that was none, a machine a pointer broken.
    "PTR-1": {"PTR-1", "PTR-2"},
    "PTR-4": {"PTR-4"},
}
"""Rules that a history shows in whole: where a checker fails one, a machine refuses the history for one of these.

Not both ways: EPO-2, as its wrong compactors answer to tokens that were never issued, of which no machine speaks;
MAN-1, as a statement that stands nowhere may be the summariser's own invention; PTR-3, as part of it is what the
outcome of `compact` says of itself; REC-1, as part of it is which of several values is the newest.
"""
FEW = frozenset({"mixed-generations", "tombstones", "recycled-key", "neighbours"})


def refused(history: History) -> set[str]:
    return {rule for ruling in rule_on(history) for rule in ruling.rules}


def failed(history: History) -> set[str]:
    return {judgement.rule for judgement in judge_all(history) if judgement.failures}


def refusals(rulings: Iterable[Ruling]) -> list[str]:
    return [str(refusal) for ruling in rulings for refusal in ruling.refusals if refusal.rules]


def first_failing(kind: type[Any], rule: str) -> History:
    aimed = histories(kind, first=lambda scenario: rule in scenario.aims, effort=Effort.QUICK)
    return next(history for history in aimed if rule in failed(history))


CAUGHT = [pytest.param(kind, rule, id=f"{rule}-{kind.__name__}") for kind, rule in WRONG if rule in STRUCTURAL]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "rule"), CAUGHT)
def test_where_a_checker_of_a_structural_rule_fails_a_machine_refuses(kind: type[Any], rule: str) -> None:
    assert refused(first_failing(kind, rule)) & STRUCTURAL[rule]


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted({kind for kind, _ in WRONG}, key=lambda kind: kind.__name__))
def test_where_a_machine_refuses_a_checker_fails(kind: type[Any]) -> None:
    structural = any(kind is each and rule in STRUCTURAL for each, rule in WRONG)
    wanted = FEW if structural else {"mixed-generations"}
    for history in histories(kind, only=lambda scenario: scenario.name in wanted, effort=Effort.QUICK):
        if rules := refused(history):
            assert failed(history), rules


@pytest.mark.parametrize("kind", [*RIGHT, Reference], ids=lambda kind: kind.__name__)
def test_no_machine_refuses_a_right_compactor_in_a_few_scenarios(kind: type[Any]) -> None:
    rulings = [
        r
        for h in histories(kind, only=lambda scenario: scenario.name in FEW, effort=Effort.QUICK)
        for r in rule_on(h)
    ]

    assert refusals(rulings) == []
    # There was something to judge.
    assert sum(ruling.accepted for ruling in rulings) > 100


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*RIGHT, *HONEST, Reference], ids=lambda kind: kind.__name__)
def test_no_machine_refuses_a_right_compactor(kind: type[Any]) -> None:
    for history in histories(kind, effort=Effort.QUICK):
        assert refusals(rule_on(history)) == []
