"""Levels and exit statuses: what blocks, blocks; nothing that is not held is ever taken for held."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorhold.level import ExitStatus, every_rule, exit_status, standing
from anchorhold.verdict import Verdict, VerdictKind
from anchorhold_spec.catalogue import LEVELS, RULES

NOT_HELD = [VerdictKind.FAIL, VerdictKind.INCONCLUSIVE, VerdictKind.NOT_OBSERVABLE, VerdictKind.UNTESTED]


def verdicts(default: VerdictKind = VerdictKind.PASS, **kinds: VerdictKind) -> dict[str, Verdict]:
    """A verdict on every rule; `ANC_1=…` sets one."""
    by_id = {rule.replace("_", "-"): kind for rule, kind in kinds.items()}
    return {rule: Verdict(rule=rule, kind=by_id.get(rule, default), reason="because", triggered=1) for rule in RULES}


def test_everything_held_is_level_5_and_blocked_by_nothing() -> None:
    where = standing(verdicts(EPO_1=VerdictKind.VACUOUS))

    assert where.level == 5
    assert all(rules == () for rules in where.blocked_by.values())


def test_no_verdicts_at_all_is_level_0_and_blocked_by_everything() -> None:
    where = standing({})

    assert where.level == 0
    assert where.blocked_by == {number: level.first_demanded for number, level in LEVELS.items()}


@pytest.mark.parametrize("kind", NOT_HELD)
@pytest.mark.parametrize("rule", RULES)
def test_one_rule_that_is_not_held_blocks_its_level_and_those_above(rule: str, kind: VerdictKind) -> None:
    where = standing(verdicts(**{rule: kind}))

    assert where.level == RULES[rule].level - 1
    assert where.blocked_by[RULES[rule].level] == (rule,)
    assert not where.reaches(RULES[rule].level)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(list(RULES)), st.sampled_from(list(VerdictKind))))
def test_a_level_is_reached_exactly_when_all_that_it_demands_is_held(kinds: dict[str, VerdictKind]) -> None:
    given_ones = {rule: Verdict(rule=rule, kind=kind, reason="", triggered=0) for rule, kind in kinds.items()}
    where = standing(given_ones)

    for number, level in LEVELS.items():
        held = all(kinds.get(rule) in {VerdictKind.PASS, VerdictKind.VACUOUS} for rule in level.rules)
        assert where.reaches(number) == held


def test_a_rule_without_a_verdict_is_untested_and_says_so() -> None:
    filled = every_rule([])

    assert list(filled) == list(RULES)
    assert {verdict.kind for verdict in filled.values()} == {VerdictKind.UNTESTED}
    assert all("no checker" in verdict.reason for verdict in filled.values())


def test_a_compactor_that_declares_itself_irreversible_is_given_no_level() -> None:
    where = standing(verdicts(), irreversible="originals are deleted")

    assert where.level is None
    assert where.out_of_scope == "originals are deleted"
    assert not any(where.reaches(number) for number in LEVELS)
    assert exit_status(verdicts(), irreversible="x") is ExitStatus.HELD
    assert exit_status(verdicts(), irreversible="x", asked=1) is ExitStatus.BLOCKED
    assert exit_status(verdicts(ISO_1=VerdictKind.FAIL), irreversible="x") is ExitStatus.FAILED


def test_exit_status_is_0_where_nothing_failed_and_no_level_was_asked_for() -> None:
    assert exit_status(verdicts(VerdictKind.UNTESTED, ANC_1=VerdictKind.PASS)) == 0


@pytest.mark.parametrize("kind", [k for k in VerdictKind if k not in (VerdictKind.PASS, VerdictKind.FAIL)])
def test_exit_status_is_3_where_no_rule_was_seen_to_hold(kind: VerdictKind) -> None:
    assert exit_status(verdicts(kind)) == 3


@pytest.mark.parametrize("kind", list(VerdictKind))
def test_exit_status_is_0_only_where_each_rule_that_was_asked_for_is_held(kind: VerdictKind) -> None:
    found = verdicts(VerdictKind.UNTESTED, ANC_1=VerdictKind.PASS, PTR_2=kind)
    expected = {VerdictKind.FAIL: 1, VerdictKind.PASS: 0, VerdictKind.VACUOUS: 0}.get(kind, 3)

    assert exit_status(found, rules=("ANC-1", "PTR-2")) == expected
    assert exit_status(found, rules=("PTR-2",)) == expected


@pytest.mark.parametrize("asked", [None, 1, 5])
def test_exit_status_is_1_where_a_rule_failed_whatever_was_asked_for(asked: int | None) -> None:
    assert exit_status(verdicts(IDX_1=VerdictKind.FAIL), asked=asked) == 1


@pytest.mark.parametrize(("asked", "status"), [(1, 0), (2, 0), (3, 3), (4, 3), (5, 3)])
def test_exit_status_is_3_where_the_level_asked_for_is_blocked(asked: int, status: int) -> None:
    assert exit_status(verdicts(ANC_3=VerdictKind.INCONCLUSIVE), asked=asked) == status


@pytest.mark.parametrize("asked", [0, 6, -1])
def test_a_level_that_does_not_exist_cannot_be_asked_for(asked: int) -> None:
    with pytest.raises(ValueError, match="does not exist"):
        exit_status(verdicts(), asked=asked)


def test_verdicts_on_unknown_rules_and_second_verdicts_are_refused() -> None:
    known = Verdict(rule="ANC-1", kind=VerdictKind.PASS, reason="", triggered=1)
    unknown = Verdict(rule="ANC-9", kind=VerdictKind.PASS, reason="", triggered=1)

    with pytest.raises(ValueError, match="ANC-9"):
        every_rule([unknown])
    with pytest.raises(ValueError, match="two verdicts on ANC-1"):
        every_rule([known, known])
