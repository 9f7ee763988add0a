"""Write order: EPO-1, EPO-2, PTR-1, PTR-2, PTR-6, REC-1 in every design, and what the source claims of each."""

import pytest
from mutating import (
    assert_proved,
    assert_refuted_by_explore,
    assert_refuted_by_hypothesis,
    assert_refuted_by_prove,
    breaks,
    drive,
    without_guard,
    without_update,
)

from anchorhold_spec.designs import Broken, Column, Lemma, Proved, Row, Table
from anchorhold_spec.designs.compute import cells_of
from anchorhold_spec.language.walk import fold
from anchorhold_spec.machines import load
from anchorhold_spec.machines.write_order import lemmas

MACHINE = load("write-order")
MUTATIONS = {
    "PTR-1: commit before the pointer": without_guard("commit", "pointer written"),
    "PTR-2: empty a key that a pointer needs": without_guard("look", "no pointer needs it"),
    "PTR-2: empty a key without a look": without_guard("reap", "looked"),
    "PTR-6: resolve what is not committed": without_guard("resolve", "committed"),
    "PTR-6: empty a key before the commit": without_guard("look", "a candidate"),
    "EPO-1: resolve at any epoch": without_guard("resolve", "still that epoch"),
    "EPO-2: take a key without a new epoch": without_update("append", "epoch_of"),
}
ONE_KEY = MACHINE.instances["recycled key"]

RULES = ("EPO-1", "REC-1", "PTR-1", "PTR-2", "PTR-6", "EPO-2")
DESIGNS: dict[str, tuple[dict[str, str], set[str]]] = {
    # name: switches, rules that break; the others are proved
    "asynchronous": ({}, set()),
    "two-phase": ({"order": "two-phase"}, set()),
    "ordered": ({"order": "ordered"}, set()),
    "asynchronous, separate store": ({"store": "separate"}, set()),
    "two-phase, separate store": ({"order": "two-phase", "store": "separate"}, set()),
    "two-phase, separate store, reaper ignores pointers": (
        {"order": "two-phase", "store": "separate", "reaper": "ignores-pointers"},
        set(),
    ),
    "ordered, separate store": ({"order": "ordered", "store": "separate"}, {"PTR-6"}),
    "unordered": ({"order": "unordered", "tags": "none"}, set(RULES)),
    "epoch tags only": ({"order": "unordered"}, {"PTR-1", "PTR-2", "PTR-6"}),
    "monotonic keys": (
        {"order": "unordered", "tags": "none", "keys": "monotonic"},
        {"PTR-1", "PTR-2", "PTR-6"},
    ),
    "unordered, separate store": (
        {"order": "unordered", "tags": "none", "store": "separate"},
        {"PTR-1", "PTR-2", "PTR-6", "EPO-2"},
    ),
    "two-phase, no tags": ({"order": "two-phase", "tags": "none"}, {"EPO-1", "REC-1", "EPO-2"}),
    "two-phase, no tags, the session is the horizon": (
        {"order": "two-phase", "tags": "none", "horizon": "session"},
        set(),
    ),
    "two-phase, reaper ignores pointers": ({"order": "two-phase", "reaper": "ignores-pointers"}, {"PTR-2"}),
    "two-phase, reaper ignores pointers, no tags": (
        {"order": "two-phase", "reaper": "ignores-pointers", "tags": "none", "horizon": "session"},
        {"EPO-1", "REC-1", "PTR-2", "EPO-2"},
    ),
    "asynchronous, reaper ignores pointers": ({"reaper": "ignores-pointers"}, {"PTR-2"}),
    "two-phase, telemetry": ({"order": "two-phase", "pointers": "telemetry"}, {"PTR-2"}),
    "two-phase, summary first": (
        {"order": "two-phase", "transactions": "summary-first"},
        {"PTR-1", "PTR-2"},
    ),
    "two-phase, check at the start": ({"order": "two-phase", "check": "at-start"}, {"PTR-1", "PTR-2", "PTR-6"}),
    "two-phase, check at the start, no tags": (
        {"order": "two-phase", "check": "at-start", "tags": "none", "horizon": "session"},
        set(RULES),
    ),
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


def cells(switches):
    """For each rule, whether it is proved in this design or by which run it is broken, over all that states it."""
    machine = MACHINE.with_switches(**switches).with_defaults()
    stating = [*machine.public, *machine.transitions]
    columns = tuple(Column(rule, rule, tuple(each.name for each in stating if rule in each.rules)) for rule in RULES)
    row = Row(
        switches, machine, {}, {}, tuple(Lemma(each.name, fold(each.formula, machine.decided)) for each in lemmas)
    )
    table = Table(source="S4", title="", about="", columns=columns, rows=lambda: [row], heads=())
    return cells_of(table, row, timeout=10)


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_each_rule_of_each_design_is_proved_or_broken_by_a_run(design):
    switches, broken = DESIGNS[design]

    found = cells(switches)

    assert {rule for rule, cell in found.items() if isinstance(cell, Broken)} == broken
    assert {rule for rule, cell in found.items() if isinstance(cell, Proved)} == set(RULES) - broken


def test_epo_1_the_unordered_design_with_recycled_keys_and_no_tag_is_confidently_wrong():
    assert breaks(MACHINE, "never silently wrong", sizes=ONE_KEY, order="unordered", tags="none")
    assert not breaks(MACHINE, "never silently wrong", sizes=ONE_KEY, order="unordered")
