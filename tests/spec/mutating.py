"""Wrong variants of a machine, and the three ways in which each has to be refuted."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from anchorhold_spec.language import Formula, Machine
from anchorhold_spec.prove import Prover, Result, prove_obligations
from anchorhold_spec.run import explore
from anchorhold_spec.run.stateful import RuleBroken, state_machine_for

Mutation = Callable[[Machine], Machine]

RUNS = 1500
"""Runs in which each mutation has to be met; the first meeting ends them.

`python tests/spec/meeting.py` measures how many runs meet each: at least one in 25, so that a test in which none does
is next to impossible.
"""


def without_guard(action: str, guard: str) -> Mutation:
    """The guard is left out."""
    return lambda machine: machine.without_guard(action, guard)


def without_update(action: str, symbol: str) -> Mutation:
    """What the action writes to the symbol is left out."""

    def mutate(machine: Machine) -> Machine:
        found = machine.action(action)
        kept = tuple(update for update in found.updates if update.symbol.name != symbol)
        assert len(kept) < len(found.updates)
        return machine.with_action(replace(found, updates=kept))

    return mutate


def with_guard(action: str, guard: str, formula: Formula) -> Mutation:
    """The guard says something else."""

    def mutate(machine: Machine) -> Machine:
        found = machine.action(action)
        assert guard in [each.name for each in found.guards]
        changed = tuple(replace(g, formula=formula) if g.name == guard else g for g in found.guards)
        return machine.with_action(replace(found, guards=changed))

    return mutate


def assert_proved(machine: Machine) -> None:
    """Every invariant is inductive under every action, for all sizes."""
    obligations = list(prove_obligations(machine, timeout=10))

    assert [(o.action, o.property, o.reason) for o in obligations if o.result is not Result.PROVED] == []
    assert len(obligations) >= len(machine.invariants) * (len(machine.actions) + 1)


def assert_refuted_by_prove(machine: Machine, mutation: Mutation) -> None:
    """Some step of the mutated action breaks a property, and the interpreter can take that step."""
    mutant = mutation(machine)
    (changed,) = [
        action.name for action, other in zip(machine.actions, mutant.actions, strict=True) if action is not other
    ]
    prover = Prover(mutant, timeout=10)
    claims = [*prover.machine.invariants, *prover.machine.transitions]
    found = [prover.consecution(prover.machine.action(changed), claim) for claim in claims]
    refuted = [each for each in found if each.result is Result.REFUTED]

    assert refuted
    assert all(each.counterexample and each.counterexample.replays() for each in refuted)


def assert_refuted_by_explore(machine: Machine, mutation: Mutation) -> None:
    """A broken rule is reached in one of the machine's small instances."""
    assert broken_rules(mutation(machine))


def assert_refuted_by_hypothesis(
    machine: Machine, mutation: Mutation, sizes: Mapping[str, int] | None = None
) -> None:
    """A random walk meets a broken rule."""
    with pytest.raises(RuleBroken, match="is broken"):
        drive(mutation(machine), runs=RUNS, sizes=sizes)


def broken_rules(machine: Machine, **switches: str) -> set[str]:
    """The rules of the property that breaks first in each of the small instances."""
    found = [explore(machine, sizes=sizes, switches=switches).violation for sizes in machine.small_instances]
    return {rule for violation in found if violation for rule in violation.rules}


def breaks(machine: Machine, name: str, *, sizes: Mapping[str, int], **switches: str) -> bool:
    """Whether this property is broken, looked at alone: another one that breaks first would hide it."""
    alone = replace(
        machine,
        invariants=tuple(each for each in machine.invariants if each.name == name),
        transitions=tuple(each for each in machine.transitions if each.name == name),
    )
    assert len(alone.invariants) + len(alone.transitions) == 1
    found = explore(alone, sizes=sizes, switches=switches)
    assert found.complete or found.violation
    return found.violation is not None


def drive(machine: Machine, *, runs: int, sizes: Mapping[str, int] | None = None) -> None:
    """Random runs of several walks each."""
    run_state_machine_as_test(state_machine_for(machine, sizes), settings=quiet(runs))


def quiet(runs: int, *, derandomize: bool = True) -> settings:
    """So many runs, the same ones each time, and no search for shorter ones."""
    return settings(
        max_examples=runs,
        stateful_step_count=60,
        deadline=None,
        database=None,
        derandomize=derandomize,
        report_multiple_bugs=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
