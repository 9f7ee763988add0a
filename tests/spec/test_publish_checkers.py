"""Independent model checkers find in exported machines what the reference semantics finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cupboard import machine as cupboard
from independent import Found, rumur, tlc

from anchorhold_spec.explore import Engine, Exploration
from anchorhold_spec.explore import explore as search
from anchorhold_spec.language import Machine, Tag
from anchorhold_spec.machines import load, names
from anchorhold_spec.run import GuardId, explore

pytestmark = pytest.mark.slow

MACHINES = {**{name: load(name) for name in names()}, cupboard.name: cupboard}

MOST_STATES = 60_000
"""Of a variant, which the explorer searches without compiling: the reference semantics, with which it agrees on every
machine (`test_explore`), would take minutes."""

GUARDS = 2
"""Of each machine, so many guards that keep a rule are left out, and the checkers have to miss them."""


def both(machine: Machine, where: Path, **choices) -> Iterator[Found]:
    """What TLC finds, and then rumur, whose counts are the reference's in everything."""
    for checker in (tlc, rumur):
        folder = where / checker.__name__
        folder.mkdir(parents=True)
        yield checker(machine, folder, **choices)


def searched(machine: Machine, **choices) -> Exploration:
    """What the explorer finds. Of progress the checkers are not asked."""
    return search(replace(machine, progress=()), engine=Engine.UNCOMPILED, limit=MOST_STATES, **choices)


def cases() -> Iterator[object]:
    for name, machine in MACHINES.items():
        for instance, sizes in machine.instances.items():
            if instance not in machine.large:
                yield pytest.param(machine, sizes, id=f"{name}-{instance}")


@pytest.mark.parametrize(("machine", "sizes"), list(cases()))
def test_the_same_states_are_reached(machine: Machine, sizes, tmp_path):
    expected = explore(machine, sizes=sizes)
    assert expected.complete

    for found in both(machine, tmp_path, sizes=sizes):
        assert found.broken is None
        assert found.states == expected.states
        assert found.depth in (None, expected.depth)
    # TLC counts a step twice where a disjunction in a guard is true twice; rumur counts as the reference does.
    assert found.transitions == expected.transitions


def variants() -> Iterator[object]:
    for name, machine in MACHINES.items():
        for switch in machine.switches:
            for value in switch.values:
                if value != switch.default:
                    yield pytest.param(machine, {switch.name: value}, id=f"{name}-{switch.name}-{value}")


@pytest.mark.parametrize(("machine", "switches"), list(variants()))
def test_design_variants_have_the_same_verdict_and_shortest_trace(machine: Machine, switches, tmp_path):
    expected = searched(machine, switches=switches)
    assert expected.violation or expected.complete, f"more than {MOST_STATES:,} states: give a smaller instance"

    for found in both(machine, tmp_path, switches=switches):
        assert (found.broken is None) == (expected.violation is None)
        if expected.violation is None:
            assert found.states == expected.states
        else:
            assert found.steps == len(expected.violation.trace.steps)


@pytest.mark.parametrize("name", names())
def test_guards_left_out_are_missed_after_as_many_steps(name: str, tmp_path):
    machine = MACHINES[name]
    guards = [(action.name, guard) for action in machine.actions for guard in action.guards]
    compared = 0
    for action, guard in guards:
        if guard.tag is not Tag.SAFETY or compared == GUARDS:
            continue
        expected = searched(machine, dropped=[GuardId(action, guard.name)])
        if expected.violation is None:
            continue
        mutant = machine.without_guard(action, guard.name)
        for found in both(mutant, tmp_path / str(compared)):
            assert found.broken is not None
            assert found.steps == len(expected.violation.trace.steps), f"{action} without {guard.name}"
        compared += 1
    assert compared == GUARDS


def test_symmetry_in_tlc_finds_no_more_than_one_state_an_orbit(tmp_path):
    machine = MACHINES["release-race"]

    # Known from several independent checkers: 136,801 states in 1,111 orbits.
    found = tlc(machine, tmp_path, sizes={"spans": 4, "keys": 3, "epochs": 3}, symmetry=True)
    assert found.states == 1111


def test_the_known_count_of_release_race(tmp_path):
    found = rumur(MACHINES["release-race"], tmp_path, sizes={"spans": 4, "keys": 3, "epochs": 3}, large=True)

    assert found.broken is None
    assert found.states == 136_801
