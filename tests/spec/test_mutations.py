"""Each mutation of a guard or an update is refuted by prove, by explore and by Hypothesis alike."""

import importlib

import pytest
from mutating import (
    assert_refuted_by_explore,
    assert_refuted_by_hypothesis,
    assert_refuted_by_prove,
    drive,
    without_guard,
    without_update,
)

from anchorhold_spec.machines import load, names

MUTATIONS = {
    "release-race": {
        "release before the copy": without_guard("release", "copied"),
        "release before the commit": without_guard("release", "committed"),
        "point to any key": without_guard("point", "at home"),
        "point without an epoch": without_update("point", "pointer_epoch"),
        "take a key without a new epoch": without_update("append", "epoch_of"),
        "evict what was not released": without_guard("evict", "released"),
    },
    "pointer-before-commit": {
        "reap what a pointer leads to": without_guard("mark", "no pointer leads here"),
        "reap without a look": without_guard("reap", "marked"),
        "commit before the pointer": without_guard("commit", "pointer durable"),
        "leave before the commit": without_guard("leave", "committed"),
        "clean up a pointer in use": without_guard("clean up", "not in use"),
        "copy without a new epoch": without_update("copy", "epoch_of"),
        "point without an epoch": without_update("point", "pointer_epoch"),
    },
}
"""The other machines have theirs in tests of their own."""
CASES = [(name, mutation) for name, mutations in MUTATIONS.items() for mutation in mutations]


@pytest.mark.parametrize(("name", "mutation"), CASES)
def test_a_mutation_is_refuted_by_prove(name, mutation):
    assert_refuted_by_prove(load(name), MUTATIONS[name][mutation])


@pytest.mark.parametrize(("name", "mutation"), CASES)
def test_a_mutation_is_refuted_by_explore(name, mutation):
    assert_refuted_by_explore(load(name), MUTATIONS[name][mutation])


@pytest.mark.parametrize(("name", "mutation"), CASES)
def test_a_mutation_is_refuted_by_hypothesis(name, mutation):
    assert_refuted_by_hypothesis(load(name), MUTATIONS[name][mutation])


@pytest.mark.parametrize("name", MUTATIONS)
def test_hypothesis_finds_nothing_in_the_machine_itself(name):
    drive(load(name), runs=15)


@pytest.mark.parametrize("name", names())
def test_every_machine_has_at_least_three_mutations(name):
    assert len(mutations_of(name)) >= 3


def mutations_of(name):
    """Of a machine, those that its tests refute in three ways."""
    if name in MUTATIONS:
        return MUTATIONS[name]
    return importlib.import_module(f"test_machine_{name.replace('-', '_')}").MUTATIONS
