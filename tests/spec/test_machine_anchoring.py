"""Anchoring: ANC-1 to ANC-5, MAN-1, MAN-3, MAN-4, MAN-6, and what each design that departs from them breaks."""

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

MACHINE = load("anchoring")
MUTATIONS = {
    "MAN-1: commit whatever the summariser left out": without_guard("commit", "everything accounted for"),
    "MAN-3: replace a span that was not read": without_guard("show", "has a manifest"),
    "MAN-4: supersede by what was never said": without_guard("supersede", "that was said"),
    "MAN-6: bury without a decision": without_guard("bury", "decided"),
    "ANC-2: remove what was only nominated": without_guard("reap", "claimed"),
    "ANC-5: refuse and forget to clean up": without_update("refuse", "carries"),
    "ANC-5: crash and find half a summary": without_update("crash", "shown"),
    "REC-1: return any carrier": without_guard("reconstitute", "carries it"),
}
SMALLEST = {"raws": 1, "summaries": 1, "assertions": 1, "facts": 1}
DESIGNS = {
    "a commit does not account for what it replaces": ({"gate": "off"}, "MAN-1"),
    "a policy decides alone": ({"retention": "independent"}, "ANC-1"),
    "a reaper keeps to itself what it let pass": ({"reaper": "only-checks"}, "ANC-3"),
    "the gate counts carriers that have gone": ({"anchors": "that-ever-were"}, "MAN-1"),
    "a tombstone covers whoever says the same": ({"tombstones": "per-fact"}, "MAN-1"),
    "what a summariser left out is buried": ({"authority": "automatic"}, "MAN-6"),
    "a summary is registered before it is checked": ({"registration": "at-start"}, "ANC-5"),
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


@pytest.mark.parametrize("design", DESIGNS)
def test_a_design_that_departs_from_a_rule_breaks_it(design):
    switches, rule = DESIGNS[design]

    assert rule in broken_rules(MACHINE, **switches)


CELLS = [
    (generations, retention, reconstitution)
    for generations in ("many", "one")
    for retention in ("coupled", "independent")
    for reconstitution in ("anchored", "unanchored")
]


@pytest.mark.parametrize(("generations", "retention", "reconstitution"), CELLS)
def test_it_diverges_silently_where_retention_and_reconstitution_both_fail_whatever_the_generations(
    generations, retention, reconstitution
):
    switches = {"generations": generations, "retention": retention, "reconstitution": reconstitution}

    assert breaks(MACHINE, "anchored or tombstoned", sizes=SMALLEST, **switches) is (retention == "independent")
    assert breaks(MACHINE, "never silently diverged", sizes=SMALLEST, **switches) is (
        retention == "independent" and reconstitution == "unanchored"
    )
