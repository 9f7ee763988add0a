"""The suite bites: each wrong compactor is caught by the rule that it breaks, and no right one by any."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from catalogue import HONEST, LONG, RIGHT, SHIPPED, WRONG, by_design, caught, look
from compactors.driven import DRIVEN_RIGHT
from compactors.returns import SaysThatItKeepsAThousand
from compactors.slot_cache import AnswersWithANeighbour, CommitsBeforeThePointer, EvictsTheLastCarrier

from anchorhold.check import check
from anchorhold.checkers import CHECKERS
from anchorhold.judging import judge
from anchorhold.load import load
from anchorhold.operations import operations
from anchorhold.run import play
from anchorhold.scenarios import Effort
from anchorhold.verdict import Failure, VerdictKind

NO_MEANS = "the adapter offers no "
FEW = frozenset(
    {
        "mixed-generations", "equal-text", "new-values", "tombstones", "recycled-key", "neighbours", "reply-echo",
        "reply-error-text", "damaged-bytes", "two-sessions",
    }
)  # fmt: skip
"""Scenarios that together reach most rules."""


def blamed(kind: type[Any], failures: Mapping[str, Failure]) -> dict[str, str]:
    """What a compactor is blamed for beyond what it breaks by design."""
    return {rule: failure.sentence for rule, failure in failures.items() if rule not in by_design(kind)}


@pytest.mark.parametrize(("kind", "rule"), [pytest.param(k, r, id=f"{r}-{k.__name__}") for k, r in WRONG])
def test_wrong_compactor_is_caught_by_the_rule_that_it_breaks(kind: type[Any], rule: str) -> None:
    failure = caught(kind, rule)

    assert failure is not None
    assert failure.rule == rule
    assert failure.sentence.endswith(".")


@pytest.mark.parametrize("kind", RIGHT, ids=lambda kind: kind.__name__)
def test_right_compactor_is_not_blamed_in_a_few_scenarios(kind: type[Any]) -> None:
    looked = look(kind, only=lambda scenario: scenario.name in FEW)

    assert blamed(kind, looked.failures) == {}
    assert looked.histories >= 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", HONEST, ids=lambda kind: kind.__name__)
def test_honest_compactor_of_a_wrong_ones_shape_is_blamed_for_nothing(kind: type[Any]) -> None:
    looked = look(kind)

    assert blamed(kind, looked.failures) == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", RIGHT, ids=lambda kind: kind.__name__)
def test_right_compactor_is_blamed_for_nothing(kind: type[Any]) -> None:
    looked = look(kind)

    assert blamed(kind, looked.failures) == {}
    # What it breaks by design is expected to be found: one that is not found any more is no exception any more.
    assert by_design(kind).keys() <= looked.failures.keys()
    kinds = {rule: (v.kind, v.reason) for rule, v in looked.verdicts.items()}
    held = {VerdictKind.PASS, VerdictKind.VACUOUS}
    open_ = {
        rule: verdict for rule, verdict in kinds.items() if verdict[0] not in held and rule not in by_design(kind)
    }
    # What these compactors cannot be driven to is not observable; what is too long for a quick check is inconclusive.
    undriven = {
        rule for rule, (verdict, why) in open_.items() if verdict is VerdictKind.NOT_OBSERVABLE and NO_MEANS in why
    }
    long = {rule for rule in LONG if open_.get(rule, (None,))[0] is VerdictKind.INCONCLUSIVE}
    assert {rule: verdict for rule, verdict in open_.items() if rule not in undriven | long} == {}
    assert not undriven or kind not in DRIVEN_RIGHT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "rule"),
    [(EvictsTheLastCarrier, "ANC-1"), (CommitsBeforeThePointer, "PTR-1"), (AnswersWithANeighbour, "REC-1")],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_check_reports_a_short_history_that_fails_again(kind: type[Any], rule: str, tmp_path: Path) -> None:
    with load(f"{kind.__module__}:{kind.__name__}") as loaded:
        checked = check(loaded, checkers=CHECKERS, histories=tmp_path, effort=Effort.QUICK, rules={rule})

    (failure,) = checked.result.failures
    history = checked.histories[failure.history]
    checker = next(checker for checker in CHECKERS if checker.rule == rule)
    assert checked.result.rules[rule].verdict is VerdictKind.FAIL
    assert failure.sentence == checker.judge(history).failures[0].sentence
    assert Path(failure.history).is_file()
    # A statement, another turn, and their compaction; what is lost; and the question for it, in at most two ways.
    assert operations(history) <= 6


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "rule"), [pytest.param(k, r, id=f"{r}-{k.__name__}") for k, r in WRONG[::25]])
def test_shortened_history_of_a_wrong_compactor_blames_no_right_one(
    kind: type[Any], rule: str, tmp_path: Path
) -> None:
    with load(f"{kind.__module__}:{kind.__name__}") as loaded:
        checked = check(loaded, checkers=CHECKERS, histories=tmp_path, rules={rule})

    (history,) = checked.histories.values()
    for right in (*RIGHT, *SHIPPED):
        with load(f"{right.__module__}:{right.__name__}") as loaded:
            description = loaded.describe()
            played = play(loaded.make(), history.header.workload, description=description, location="right")
        failures = {failure.rule: failure for each in judge(CHECKERS, played) for failure in each.failures}
        assert blamed(right, failures) == {}


def test_every_rule_with_a_checker_has_a_wrong_compactor() -> None:
    broken = Counter(rule for _, rule in WRONG)

    assert {checker.rule for checker in CHECKERS} == set(broken)


def test_every_rule_has_two_wrong_compactors() -> None:
    broken = Counter(rule for _, rule in WRONG)

    assert {rule for rule, times in broken.items() if times < 2} == set()


def test_no_wrong_compactor_stands_twice_under_a_rule() -> None:
    assert len(WRONG) == len(set(WRONG))


def test_who_says_that_it_keeps_everything_and_never_replaces_a_turn_is_not_held() -> None:
    looked = look(SaysThatItKeepsAThousand, only=lambda scenario: {"PRO-1", "PRO-2"} & {*scenario.aims} != set())

    assert looked.failures.keys() & {"PRO-1", "PRO-2"} == set()
    for rule in ("PRO-1", "PRO-2"):
        verdict = looked.verdicts[rule]
        assert verdict.kind is VerdictKind.INCONCLUSIVE
        assert "it says that it always keeps its 1000 newest turns (`keep`)" in verdict.reason
