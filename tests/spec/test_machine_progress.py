"""Progress: PRO-1, PRO-3, and what a compactor does that refuses everything or waits for ever."""

import pytest
from mutating import (
    assert_proved,
    assert_refuted_by_explore,
    assert_refuted_by_hypothesis,
    assert_refuted_by_prove,
    broken_rules,
    drive,
    without_guard,
    without_update,
)

from anchorhold_spec.language import Machine
from anchorhold_spec.machines import load
from anchorhold_spec.run.progress import stuck

MACHINE = load("progress")
MUTATIONS = {
    "PRO-1: say that a span stays which could go": without_guard("report", "unreadable"),
    "PRO-1: leave before the commit": without_guard("leave", "committed"),
    "PRO-1: summarise what cannot be read": without_guard("write", "readable"),
    "PRO-1: give back what another has taken": without_guard("report", "its own"),
    "CRA-1: acknowledge a span and keep nothing": without_update("append", "in_window"),
    "CRA-1: append what is there already": without_guard("append", "new"),
}
UNDER_THE_WATERMARK, INTERRUPTED = MACHINE.progress
TWO_WORKERS = MACHINE.instances["two workers"]


def ends(machine: Machine, progress, **switches: str) -> bool:
    """What is pending can always end, in an instance in which it is ever pending."""
    pending, trace = stuck(machine, progress, sizes=TWO_WORKERS, switches=switches)
    assert pending
    return trace is None


def test_every_rule_is_proved_for_all_sizes():
    assert_proved(MACHINE)


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_mutation_is_refuted_by_prove(mutation):
    assert_refuted_by_prove(MACHINE, MUTATIONS[mutation])


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_mutation_is_refuted_by_explore(mutation):
    assert_refuted_by_explore(MACHINE, MUTATIONS[mutation])


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_mutation_is_refuted_by_hypothesis(mutation):
    assert_refuted_by_hypothesis(MACHINE, MUTATIONS[mutation])


def test_hypothesis_finds_nothing_in_the_machine_itself():
    drive(MACHINE, runs=15)


def test_pro_1_the_window_can_always_get_under_its_watermark():
    assert ends(MACHINE, UNDER_THE_WATERMARK)


def test_pro_3_every_interrupted_run_can_end():
    assert ends(MACHINE, INTERRUPTED)


@pytest.mark.parametrize(
    "switches", [{"gate": "refuses-everything"}, {"commits": "by-anyone"}, {"recovery": "waits"}]
)
def test_pro_1_a_design_that_breaks_no_rule_of_safety_may_get_nowhere(switches):
    assert broken_rules(MACHINE, **switches) == set()
    assert not ends(MACHINE, UNDER_THE_WATERMARK, **switches)


def test_pro_3_a_recovery_that_waits_for_the_dead_never_ends():
    assert not ends(MACHINE, INTERRUPTED, recovery="waits")


@pytest.mark.parametrize(("action", "guard"), [("commit", "still its own"), ("undo", "not committed")])
def test_pro_1_what_is_committed_has_to_be_held_by_somebody_who_finishes_it(action, guard):
    assert not ends(MACHINE.without_guard(action, guard), UNDER_THE_WATERMARK)
