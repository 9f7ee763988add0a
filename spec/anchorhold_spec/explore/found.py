"""What a search hands back, whichever way it was done: counts, and paths of packed states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from anchorhold_spec.explore.layout import Packed
from anchorhold_spec.explore.prepare import Prepared
from anchorhold_spec.run import Interpreter, Step, Trace

Path = tuple[Packed, ...]
"""States one step from each other, from a first one on; with symmetry, those that stand for their orbits."""


@dataclass(frozen=True)
class Found:
    """The result of a search."""

    states: int
    transitions: int
    depth: int
    layers: tuple[int, ...]
    """How many states are so many steps away from the first."""
    stopped: str | None
    """Why it ended before everything was seen, where that was not a violation."""
    complete: bool
    fired: Mapping[str, int]
    """How often each action happened."""
    hits: Mapping[str, Path]
    """For each property that was broken, or each `sometimes` that was met, a shortest path to where it was. Of a
    two-state property it ends before the step."""
    deadlocks: int
    deadlock: Path | None


@dataclass(frozen=True)
class Snapshot:
    """How far a search is."""

    states: int
    transitions: int
    depth: int
    frontier: int
    """States of the last complete layer that are still to be expanded."""
    layer: int
    """States of that layer."""
    memory: int
    """Bytes."""


Watcher = Callable[[Snapshot], None]


class Code(Protocol):
    """Generated code, compiled or not, one state at a time."""

    def steps(self, packed: Packed) -> Sequence[tuple[int, Packed]]:
        """Everything that can happen: labels with the states that come of it."""
        ...

    def canonical(self, packed: Packed) -> Packed:
        """The state that stands for this one's orbit; the state itself where nothing is reduced."""
        ...


def step_of(prepared: Prepared, label: int) -> Step:
    """The step that a label stands for."""
    return Step(*prepared.source.step_of(label))


def trace_of(prepared: Prepared, code: Code, path: Path, *, breaking: str | None = None) -> Trace:
    """The run along a path, in states as people know them.

    `breaking` names a two-state property: one step more is taken, one that breaks it. Where symmetry was reduced
    the run is put together from the front: each state of the path has a step to what the next one stands for.
    """
    now = next(start for start in prepared.start if code.canonical(start) == path[0])
    packed = [now]
    steps: list[Step] = []
    for wanted in path[1:]:
        label, now = next((label, after) for label, after in code.steps(now) if code.canonical(after) == wanted)
        steps.append(step_of(prepared, label))
        packed.append(now)
    instance = prepared.instance_of(now)
    if breaking is not None:
        interpreter = Interpreter(instance)
        before = prepared.layout.unpack(now)[1]
        for label, after in code.steps(now):
            step = step_of(prepared, label)
            state = prepared.layout.unpack(after)[1]
            if any(each.name == breaking for each in interpreter.broken_by(before, step.action, state)):
                steps.append(step)
                packed.append(after)
                break
    return Trace(instance, tuple(prepared.layout.unpack(each)[1] for each in packed), tuple(steps))
