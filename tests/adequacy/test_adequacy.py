"""The suite bites: each wrong compactor is caught by the rule that it breaks, and no right one by any."""

from collections import Counter
from typing import Any

import pytest
from catalogue import RIGHT, WRONG, caught, look

from anchorhold.checkers import CHECKERS
from anchorhold.verdict import VerdictKind

FEW = frozenset(
    {
        "mixed-generations", "equal-text", "new-values", "tombstones", "recycled-key", "neighbours", "reply-echo",
        "reply-error-text", "damaged-bytes", "two-sessions",
    }
)  # fmt: skip
"""Scenarios that together reach most rules."""


@pytest.mark.parametrize(("kind", "rule"), [pytest.param(k, r, id=f"{r}-{k.__name__}") for k, r in WRONG])
def test_wrong_compactor_is_caught_by_the_rule_that_it_breaks(kind: type[Any], rule: str) -> None:
    failure = caught(kind, rule)

    assert failure is not None
    assert failure.rule == rule
    assert failure.sentence.endswith(".")


@pytest.mark.parametrize("kind", RIGHT, ids=lambda kind: kind.__name__)
def test_right_compactor_is_not_blamed_in_a_few_scenarios(kind: type[Any]) -> None:
    looked = look(kind, only=lambda scenario: scenario.name in FEW)

    assert {rule: failure.sentence for rule, failure in looked.failures.items()} == {}
    assert looked.histories >= 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", RIGHT, ids=lambda kind: kind.__name__)
def test_right_compactor_is_blamed_for_nothing(kind: type[Any]) -> None:
    looked = look(kind)

    assert {rule: failure.sentence for rule, failure in looked.failures.items()} == {}
    kinds = {rule: (v.kind, v.reason) for rule, v in looked.verdicts.items()}
    held = {VerdictKind.PASS, VerdictKind.VACUOUS}
    assert {rule: verdict for rule, verdict in kinds.items() if verdict[0] not in held} == {}


def test_every_rule_with_a_checker_has_a_wrong_compactor() -> None:
    broken = Counter(rule for _, rule in WRONG)

    assert {checker.rule for checker in CHECKERS} == set(broken)
