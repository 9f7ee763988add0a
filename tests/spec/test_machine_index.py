"""Index: IDX-1 to IDX-4, RET-1 to RET-3, and what each side of the boundary of lossless retrieval breaks."""

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

MACHINE = load("index")
MUTATIONS = {
    "IDX-1: expire what is another's": without_guard("expire", "its own"),
    "IDX-2: two spans under one key": without_guard("evict", "key of its own"),
    "IDX-3: a pass does not say which entry": without_update("re-key", "halted"),
    "RET-1: known missing and still lossless": without_update("fetch in vain", "status_of"),
    "RET-1: expire before the horizon": without_guard("expire", "not before the horizon"),
    "RET-2: compact although an audit is due": without_guard("evict", "no audit due"),
    "RET-2: compactions are not counted": without_update("evict", "since_audit"),
    "RET-3: compact while degraded": without_guard("evict", "lossless, or loss accepted"),
    "RET-3: accept a loss beforehand": without_guard("accept loss", "degraded"),
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
        ({"keys": "by-content"}, "IDX-1"),
        ({"entries": "replaceable"}, "IDX-1"),
        ({"lifetime": "shorter"}, "IDX-1"),
        ({"audits": "off"}, "RET-1"),
    ],
    ids=lambda each: each if isinstance(each, str) else "-".join(*each.items()),
)
def test_beyond_the_boundary_of_lossless_a_rule_breaks(switches, rule):
    assert rule in broken_rules(MACHINE, **switches)


def test_idx_2_content_keys_do_no_harm_while_all_texts_differ():
    one_span = {"spans": 1, "keys": 2}

    assert explore(MACHINE, sizes=one_span, switches={"keys": "by-content"}).violation is None
