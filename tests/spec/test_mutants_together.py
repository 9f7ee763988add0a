"""Searching all mutants of a machine together gives what searching each alone gives; so do the two surveys."""

from dataclasses import replace

import pytest

from anchorhold_spec.explore import FastMutantExplorer, fast_survey
from anchorhold_spec.explore import mutants as module
from anchorhold_spec.language import Machine
from anchorhold_spec.machines import load
from anchorhold_spec.run import GaveUp, GuardId, Interpreter, PlainMutantExplorer, plain_survey
from anchorhold_spec.run.interpret import compile_closed

SMALL = {
    "release-race": {"spans": 2, "keys": 1, "epochs": 1},
    "evidence": {"spans": 1},
    "pointer-before-commit": {"spans": 2, "keys": 1, "epochs": 1},
    "index": {"spans": 2, "keys": 1, "texts": 1, "counts": 1},
    "progress": {"spans": 1, "workers": 2},
}
MACHINES = {name: (load(name).with_defaults(), sizes) for name, sizes in SMALL.items()}


def guards(machine: Machine) -> list[GuardId]:
    return [GuardId(action.name, guard.name) for action in machine.actions for guard in action.guards]


def assert_replays(machine, guard, violation):
    """By the interpreter, step by step, to a state or over a step that breaks the property."""
    mutant = machine.without_guard(guard.action, guard.guard)
    interpreter = Interpreter(replace(violation.trace.instance, machine=mutant))
    states, steps = violation.trace.states, violation.trace.steps
    assert states[0] == interpreter.initial()
    for before, step, after in zip(states[:-1], steps, states[1:], strict=True):
        assert interpreter.apply(before, step) == after
    broken = {each.name for each in interpreter.broken(states[-1])}
    if steps:
        broken |= {each.name for each in interpreter.broken_by(states[-2], steps[-1].action, states[-1])}
    ends = {each.name: each for each in mutant.progress}
    if violation.property in ends:
        end = ends[violation.property]
        assert compile_closed(violation.trace.instance, end.trigger)(states[-1], states[-1])
        assert not compile_closed(violation.trace.instance, end.goal)(states[-1], states[-1])
        # All that can happen from there without faults, until nothing new comes: the goal is not among it.
        faults = {action.name for action in mutant.actions if action.fault}
        reached, waiting = {states[-1]}, [states[-1]]
        while waiting:
            for step, after in interpreter.steps(waiting.pop()):
                if step.action not in faults and after not in reached:
                    assert not compile_closed(violation.trace.instance, end.goal)(after, after)
                    reached.add(after)
                    waiting.append(after)
        return
    assert violation.property in broken


@pytest.mark.parametrize("name", MACHINES)
def test_the_same_verdicts_and_shortest_lengths_as_each_mutant_alone(name):
    machine, sizes = MACHINES[name]
    plain = PlainMutantExplorer()(machine, dropped=guards(machine), sizes=sizes)
    fast = FastMutantExplorer()(machine, dropped=guards(machine), sizes=sizes)

    assert {g: v and len(v.trace.steps) for g, v in fast.items()} == {
        g: v and len(v.trace.steps) for g, v in plain.items()
    }
    assert any(plain.values())
    for guard, violation in fast.items():
        if violation:
            assert_replays(machine, guard, violation)


def test_a_large_mutant_is_compiled_and_answers_the_same():
    pytest.importorskip("numba")
    machine, sizes = MACHINES["release-race"]
    some = guards(machine)[:4]
    at_once = FastMutantExplorer()(machine, dropped=some, sizes=sizes)
    compiled = FastMutantExplorer(look=3)(machine, dropped=some, sizes=sizes)

    assert {g: v and len(v.trace.steps) for g, v in compiled.items()} == {
        g: v and len(v.trace.steps) for g, v in at_once.items()
    }


@pytest.mark.parametrize("compiler", [True, False])
def test_past_the_limit_it_gives_up_and_does_not_answer_none(compiler, monkeypatch):
    if compiler:
        pytest.importorskip("numba")
    monkeypatch.setattr(module.jit, "available", lambda: compiler)
    machine, sizes = MACHINES["release-race"]

    with pytest.raises(GaveUp, match="without guard 'not yet' of copy: no violation in the first"):
        FastMutantExplorer(limit=20)(machine, dropped=[GuardId("copy", "not yet")], sizes=sizes)


@pytest.mark.parametrize("name", MACHINES)
def test_the_surveys_agree(name):
    machine, sizes = MACHINES[name]
    plain = plain_survey(machine, sizes=sizes, limit=100_000)
    fast = fast_survey(machine, sizes=sizes, limit=100_000)

    assert (fast.states, fast.complete, fast.fired, set(fast.met)) == (
        plain.states,
        plain.complete,
        plain.fired,
        set(plain.met),
    )
    assert fast.violation is plain.violation is None
    assert fast.complete
    assert (fast.deadlock is None) == (plain.deadlock is None)
    assert fast.stuck.keys() == plain.stuck.keys()


def test_the_surveys_agree_on_what_cannot_end():
    """Without its way back, what an interrupted attempt left behind stays."""
    whole, sizes = MACHINES["pointer-before-commit"]
    machine = replace(whole, actions=tuple(each for each in whole.actions if each.name != "clean up"))
    plain = plain_survey(machine, sizes=sizes, limit=100_000)
    fast = fast_survey(machine, sizes=sizes, limit=100_000)

    assert {n: len(t.steps) for n, t in fast.stuck.items()} == {n: len(t.steps) for n, t in plain.stuck.items()}
    assert fast.stuck
    assert fast.violation is None


def test_a_survey_that_met_its_limit_is_not_complete():
    machine, sizes = MACHINES["release-race"]

    assert not fast_survey(machine, sizes=sizes, limit=20).complete
    assert not plain_survey(machine, sizes=sizes, limit=20).complete
