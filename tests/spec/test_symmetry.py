"""With symmetry every machine has the same verdicts, at the same lengths, and one state an orbit."""

import pytest

from anchorhold_spec.explore import Engine, explore
from anchorhold_spec.explore.prepare import prepare
from anchorhold_spec.explore.uncompiled import PlainCode
from anchorhold_spec.machines import load, names

pytestmark = pytest.mark.slow

MOST_STATES = 15_000


def run(machine, sizes, *, symmetry, **switches):
    return explore(
        machine,
        sizes=sizes,
        switches=switches,
        symmetry=symmetry,
        engine=Engine.UNCOMPILED,
        keep_going=True,
        limit=MOST_STATES,
    )


def canonical(machine, sizes):
    """How many states there are, told apart by least and by greatest of those that differ in who is who."""
    code = PlainCode(prepare(machine, sizes=sizes, symmetry=True))
    start = prepare(machine, sizes=sizes)
    states = dict.fromkeys(start.start)
    queue, steps = list(states), PlainCode(start)
    for state in queue:
        for _, after in steps.steps(state):
            if after not in states:
                states[after] = None
                queue.append(after)
    return {len({code.extreme(state, sense) for state in states}) for sense in (1, -1)}


def small(machine):
    """The instances in which somebody can be taken for somebody else, and that can be gone through in full."""
    for sizes in machine.small_instances:
        if prepare(machine, sizes=sizes, symmetry=True).source.symmetry.used:
            full = run(machine, sizes, symmetry=False)
            if full.states < MOST_STATES:
                yield sizes, full


@pytest.mark.parametrize("name", names())
def test_one_state_an_orbit_and_the_same_depth_and_verdict(name):
    machine = load(name)
    for sizes, full in small(machine):
        found = run(machine, sizes, symmetry=True)

        assert found.states < full.states
        assert {found.states} == canonical(machine, sizes)
        assert (found.depth, len(found.violations)) == (full.depth, len(full.violations))
        assert set(found.witnesses) == set(full.witnesses)


@pytest.mark.parametrize("name", names())
def test_the_same_properties_break_at_the_same_lengths_in_every_variant(name):
    machine = load(name)
    for sizes, _ in small(machine):
        for switch in machine.switches:
            for value in switch.values:
                chosen = {switch.name: value}
                found, full = (run(machine, sizes, symmetry=each, **chosen) for each in (True, False))
                if full.states < MOST_STATES:
                    assert lengths(found) == lengths(full), chosen


def lengths(found):
    return {violation.property: len(violation.trace.steps) for violation in found.violations}


def test_most_machines_have_somebody_to_exchange():
    exchanging = {name for name in names() if any(True for _ in small(load(name)))}

    assert len(exchanging) >= 7, exchanging
