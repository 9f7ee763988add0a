"""Anchored release: ANC-1, PTR-1, PTR-2, PTR-4 and EPO-1 together, and that none of its parts is enough alone."""

import pytest
from mutating import (
    assert_proved,
    assert_refuted_by_explore,
    assert_refuted_by_hypothesis,
    assert_refuted_by_prove,
    breaks,
    broken_rules,
    drive,
    without_guard,
    without_update,
)

from anchorhold_spec.machines import load

MACHINE = load("anchored-release")
MUTATIONS = {
    "ANC-1: let a source go that nothing else holds": without_guard("propose a source", "anchored otherwise"),
    "ANC-1: remove what was not nominated": without_guard("release", "nominated"),
    "PTR-1: commit without pointers": without_guard("commit", "every original has a pointer"),
    "PTR-1: point before the copy has landed": without_guard("point", "landed"),
    "PTR-2: reap without a look": without_guard("reap", "marked"),
    "PTR-4: forget what a summary covered": without_update("take a summary", "covers"),
}
SMALLEST = {"spans": 1, "summaries": 1, "keys": 1, "epochs": 1}


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


def test_anc_1_the_order_alone_is_not_enough():
    assert breaks(MACHINE, "anchored", sizes=SMALLEST, gate="off")
    assert not breaks(MACHINE, "resolvable to the horizon", sizes=SMALLEST, gate="off")


def test_anc_1_the_gate_alone_is_not_enough_where_pointers_are_made_out_of_order():
    assert breaks(MACHINE, "anchored", sizes=SMALLEST, order="unordered")
    assert breaks(MACHINE, "resolvable at commit", sizes=SMALLEST, order="unordered")


def test_ptr_2_the_gate_alone_does_not_keep_an_original_to_the_horizon():
    assert breaks(MACHINE, "resolvable to the horizon", sizes=SMALLEST, horizon="ignored")
    assert breaks(MACHINE, "anchored", sizes=SMALLEST, horizon="ignored")


def test_epo_1_gate_and_order_together_do_not_tell_a_recycled_key():
    assert broken_rules(MACHINE, epochs="untagged") == {"EPO-1"}
