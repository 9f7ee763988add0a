"""Generations: PTR-3, PTR-4, and what each departure from them breaks."""

import pytest
from mutating import (
    assert_proved,
    assert_refuted_by_explore,
    assert_refuted_by_hypothesis,
    assert_refuted_by_prove,
    drive,
    without_guard,
    without_update,
)

from anchorhold_spec.machines import load
from anchorhold_spec.run import explore

MACHINE = load("generations")
MUTATIONS = {
    "PTR-3: remove what was not declared": without_guard("settle", "declared"),
    "PTR-3: keep what was declared": without_guard("commit", "all of it leaves"),
    "PTR-3: commit over what another has taken": without_guard("commit", "all of it is still there"),
    "PTR-3: write from a part": without_guard("write", "all of it was shown"),
    "PTR-3: show what was not declared": without_guard("show", "declared"),
    "PTR-4: a summary does not lead to its span": without_update("declare a span", "pointer"),
    "PTR-4: a summary does not lead where its carriers lead": without_update("declare a summary", "pointer"),
    "PTR-4: give up a summary that has committed": without_guard("abandon", "not committed"),
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


@pytest.mark.parametrize(
    ("switch", "value", "rule", "steps"),
    [
        ("coverage", "by-count", "PTR-3", 5),
        ("reader", "keyhole", "PTR-3", 4),
        ("pointers", "chained", "PTR-4", 10),
    ],
)
def test_a_wrong_design_breaks_the_rule_with_a_shortest_run(switch, value, rule, steps):
    broken = [
        found
        for sizes in MACHINE.small_instances
        if (found := explore(MACHINE, sizes=sizes, switches={switch: value}).violation)
    ]

    assert {each for found in broken for each in found.rules} == {rule}
    assert min(len(found.trace.steps) for found in broken) == steps
