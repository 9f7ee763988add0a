"""Erasure: ERA-1, and what each departure from it breaks."""

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

MACHINE = load("erasure")
MUTATIONS = {
    "ERA-1: erased before every place is swept": without_guard("finish", "every place swept"),
    "ERA-1: the original stays": without_update("sweep", "holds"),
    "ERA-1: the pointer stays": without_update("sweep", "points"),
    "ERA-1: what is not to be forgotten is swept": without_guard("sweep", "forgetting"),
    "ERA-1: the manifest keeps it": without_update("sweep", "lists"),
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


def test_era_1_a_compaction_under_way_that_brings_it_back_is_refuted():
    # Not by random walks, of which too few meet it.
    wrong = without_guard("commit", "nothing of it is being forgotten")

    assert_refuted_by_prove(MACHINE, wrong)
    assert_refuted_by_explore(MACHINE, wrong)


def test_hypothesis_finds_nothing_in_the_machine_itself():
    drive(MACHINE, runs=15)


@pytest.mark.parametrize(
    "switches",
    [{"scope": "window-only"}, {"summaries": "kept"}, {"remains": "digest"}, {"record": "last"}],
    ids=lambda each: "-".join(*each.items()),
)
def test_era_1_breaks_where_something_is_kept_or_a_crash_takes_the_forget_back(switches):
    assert broken_rules(MACHINE, **switches) == {"ERA-1"}


def test_era_1_a_forget_that_is_recorded_last_is_taken_back_by_a_crash():
    found = explore(MACHINE, switches={"record": "last"}).violation

    assert found is not None
    assert found.property == "a forget is not taken back"
    assert found.trace.steps[-1].action == "crash"


def test_era_1_a_content_is_forgotten_alone_out_of_a_summary_of_two():
    run = explore(MACHINE, sizes=MACHINE.instances["two turns"])

    assert run.violation is None
    assert run.complete
    assert run.deadlock is None
