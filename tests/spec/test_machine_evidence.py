"""Evidence: EVI-1, EVI-2, EVI-3, and what each design that departs from them breaks."""

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

MACHINE = load("evidence")
MUTATIONS = {
    "EVI-1: reclaim without a durable pointer": without_guard("clear", "narrative or durable pointer"),
    "EVI-1: reclaim what the gate has not seen": without_guard("reclaim", "cleared"),
    "EVI-1: delete what was not chosen": without_guard("delete", "chosen"),
    "EVI-2: omissions are not named": without_guard("clear", "narrative or omissions named"),
    "EVI-2: retain and reclaim all the same": without_update("clear", "insufficient"),
    "EVI-3: count on what may expire": without_guard("clear", "narrative or lasting original"),
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
    ("switches", "rule"), [({"classes": "declared"}, "EVI-1"), ({"expiring": "retrievable"}, "EVI-1")]
)
def test_a_gate_that_trusts_labels_or_lifetimes_breaks_the_rule(switches, rule):
    assert rule in broken_rules(MACHINE, **switches)
