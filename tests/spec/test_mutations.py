"""Each mutation of a guard or an update is refuted by prove, by explore and by Hypothesis alike."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from anchorhold_spec.language import Action, Machine
from anchorhold_spec.machines import load
from anchorhold_spec.prove import Prover, Result
from anchorhold_spec.run import explore
from anchorhold_spec.run.stateful import RuleBroken, state_machine_for


def without_guard(action: str, guard: str):
    return lambda machine: machine.without_guard(action, guard)


def without_update(action: str, symbol: str):
    def mutate(machine: Machine) -> Machine:
        found = machine.action(action)
        kept = tuple(update for update in found.updates if update.symbol.name != symbol)
        assert len(kept) < len(found.updates)
        return machine.with_action(replace(found, updates=kept))

    return mutate


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
CASES = [(name, mutation) for name, mutations in MUTATIONS.items() for mutation in mutations]


def mutant(name: str, mutation: str) -> Machine:
    return MUTATIONS[name][mutation](load(name))


SMALLEST = {"release-race": {"spans": 1, "keys": 2, "epochs": 1}, "pointer-before-commit": None}
"""Sizes at which every mutation can be seen: the smaller the world, the sooner a random walk meets it."""


def drive(machine: Machine, examples: int) -> None:
    quiet = settings(
        max_examples=examples,
        stateful_step_count=40,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(state_machine_for(machine, SMALLEST[machine.name]), settings=quiet)


def alike(one: Action, other: Action) -> bool:
    return len(one.guards) == len(other.guards) and len(one.updates) == len(other.updates)


@pytest.mark.parametrize(("name", "mutation"), CASES)
def test_a_mutation_is_refuted_by_prove(name, mutation):
    prover = Prover(mutant(name, mutation), timeout=10)
    changed = {action.name: action for action in prover.machine.actions}
    touched = [changed[a.name] for a in load(name).with_defaults().actions if not alike(a, changed[a.name])]
    claims = [*prover.machine.invariants, *prover.machine.transitions]

    assert len(touched) == 1
    found = [prover.consecution(touched[0], claim) for claim in claims]

    refuted = [o for o in found if o.result is Result.REFUTED]

    assert refuted
    assert all(o.counterexample and o.counterexample.replays() for o in refuted)


@pytest.mark.parametrize(("name", "mutation"), CASES)
def test_a_mutation_is_refuted_by_explore(name, mutation):
    found = [explore(mutant(name, mutation), sizes=sizes).violation for sizes in load(name).small_instances]

    assert any(violation and violation.rules for violation in found)


@pytest.mark.parametrize(("name", "mutation"), CASES)
def test_a_mutation_is_refuted_by_hypothesis(name, mutation):
    with pytest.raises(RuleBroken, match="is broken"):
        drive(mutant(name, mutation), examples=400)


@pytest.mark.parametrize("name", MUTATIONS)
def test_hypothesis_finds_nothing_in_the_machine_itself(name):
    drive(load(name), examples=15)
