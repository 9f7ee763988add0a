"""Reconstitution: REC-1, REC-2, and what each design that departs from them breaks."""

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

MACHINE = load("reconstitution")
MUTATIONS = {
    "REC-1: return what the index names for another slot": without_guard("see", "of this slot"),
    "REC-1: return what has gone meanwhile": without_guard("fetch", "still there"),
    "REC-1: succeed with nothing": without_update("fetch", "returned"),
    "REC-2: pending, without anything pending": without_guard("answer pending", "something pending"),
    "REC-2: pending, although it has landed": without_guard("answer pending", "nothing has changed"),
    "REC-2: unanchored, without having read the tombstones": without_guard("find nothing expired", "next in order"),
    "REC-2: absent, although it was said": without_guard("answer absent", "it was not said"),
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
    ("switches", "rule"),
    [
        ({"neighbours": "returned"}, "REC-1"),
        ({"tombstones": "taken-as-absent"}, "REC-2"),
        ({"lookup": "goes-on"}, "REC-2"),
    ],
)
def test_a_lookup_that_guesses_or_forgets_breaks_the_rule(switches, rule):
    assert rule in broken_rules(MACHINE, **switches)
