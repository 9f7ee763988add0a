"""Concurrency: CON-1, CON-2, CON-3, and what each departure from them breaks."""

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

from anchorhold_spec.machines import load
from anchorhold_spec.run import explore

MACHINE = load("concurrency")
MUTATIONS = {
    "CON-1: cover what was not in the snapshot": without_guard("choose", "in the snapshot"),
    "CON-2: commit over another commit": without_guard("commit", "the version of the snapshot"),
    "CON-2: a commit makes no new version": without_update("commit", "window_version"),
    "CON-3: a clear makes no new version": without_update("clear", "window_version"),
    "CON-3: a forget makes no new version": without_update("forget", "window_version"),
    "CON-3: a rewind makes no new version": without_update("rewind", "window_version"),
    "CON-3: a clear leaves summaries": without_update("clear", "phase_of"),
}


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


def test_con_1_writing_the_whole_window_back_loses_what_was_appended_meanwhile():
    found = explore(MACHINE, switches={"write-back": "whole-window"}).violation

    assert found is not None
    assert found.rules == ("CON-1",)
    assert [step.action for step in found.trace.steps] == ["append", "snapshot", "append", "choose", "commit"]


def test_con_2_without_a_version_check_two_compactions_cover_one_turn():
    assert broken_rules(MACHINE.with_switches(**{"version-check": "none"})) & {"CON-2", "CON-3"}
    found = explore(
        MACHINE, sizes=MACHINE.instances["two passes"], switches={"version-check": "none"}, stop=True
    ).violation
    assert found is not None


def test_con_3_a_clear_that_makes_no_new_version_is_undone_by_a_commit():
    assert broken_rules(MACHINE, withdrawing="same-version") == {"CON-3"}
