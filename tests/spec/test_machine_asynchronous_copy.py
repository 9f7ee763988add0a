"""Asynchronous copy: PTR-1, PTR-2, PTR-5, PTR-6, CRA-1, CRA-2, PRO-3, and what each departure from them breaks."""

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
from anchorhold_spec.run.progress import stuck

MACHINE = load("asynchronous-copy")
ONE_SPAN = MACHINE.instances["two attempts"]
MUTATIONS = {
    "PTR-1: commit without a pointer": without_guard("commit", "pointer durable"),
    "PTR-1: commit undeclared": without_update("commit", "mark_of"),
    "PTR-2: release before the look": without_guard("release", "looked"),
    "PTR-2: release before the copy": without_guard("look", "committed and landed"),
    "PTR-5: landed before it has": without_guard("reconcile", "landed"),
    "PTR-5: give up while a copy is under way": without_guard("give up", "nothing under way"),
    "PTR-6: resolve what is not committed": without_guard("resolve a copy", "committed"),
    "EPO-2: give a number out again": without_update("point", "issued"),
    "CRA-1: a staged summary outlives the crash": without_update("crash", "phase_of"),
    "CRA-2: recovery leaves the pointer": without_update("recover", "pointer"),
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


def test_ptr_2_a_source_released_after_the_commit_alone_breaks():
    found = explore(MACHINE, switches={"release": "after-commit"}).violation

    assert found is not None
    assert "PTR-2" in found.rules
    assert [step.action for step in found.trace.steps] == ["stage", "point", "commit", "look", "release"]


def test_ptr_5_resolving_that_answers_nothing_while_a_copy_is_outstanding_breaks():
    assert "PTR-5" in broken_rules(MACHINE, resolving="says-empty")


def test_ptr_5_and_pro_3_without_recovery_pending_may_never_end():
    pending, attempt = MACHINE.progress
    without = {"recovery": "missing"}

    assert broken_rules(MACHINE, **without) == set()
    assert stuck(MACHINE, pending, sizes=ONE_SPAN) == (True, None)
    met, trace = stuck(MACHINE, pending, sizes=ONE_SPAN, switches=without)
    assert met
    assert trace is not None
    assert trace.steps[-1].action == "crash"
    # A number that was left behind stands in nobody's way: the next attempt takes another.
    assert stuck(MACHINE, attempt, sizes=MACHINE.instances["two spans"], switches=without)[0]
