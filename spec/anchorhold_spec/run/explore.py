"""Every reachable state of a finite instance, breadth first: the oracle of the fast explorer.

Violations come with a shortest trace. Only properties that state rules are looked at, unless asked otherwise:
an auxiliary invariant breaks first and would hide what a rule's reader wants to see.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from anchorhold_spec.language import Machine
from anchorhold_spec.run.instance import Instance, State, instances
from anchorhold_spec.run.interpret import Interpreter, Step, compile_closed


@dataclass(frozen=True)
class Trace:
    """A run from an initial state: `states` is one longer than `steps`."""

    instance: Instance
    states: tuple[State, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Violation:
    """A property that does not hold, and a shortest run to where it does not."""

    property: str
    rules: tuple[str, ...]
    trace: Trace


@dataclass(frozen=True)
class Exploration:
    """What was found. Counts are over all instances (all interpretations of the rigid data)."""

    states: int
    transitions: int
    depth: int
    """Steps from an initial state to the farthest state."""
    complete: bool
    """Every reachable state was seen: no violation stopped it, and no limit."""
    violation: Violation | None
    fired: Mapping[str, int]
    """How often each action happened."""
    witnesses: Mapping[str, Trace]
    """For each `sometimes` property that was reached, a shortest run to it."""
    deadlock: Trace | None
    """A shortest run to a state where, faults aside, nothing can happen and nothing is allowed to rest."""


def explore(
    machine: Machine,
    *,
    sizes: Mapping[str, int] | None = None,
    switches: Mapping[str, str] | None = None,
    auxiliary: bool = False,
    limit: int | None = None,
    stop: bool = True,
) -> Exploration:
    """Goes through the reachable states. `limit`: most states; `stop`: at the first violation.

    Raises UnknownChoice for sizes or switches that do not fit.
    """
    states = transitions = depth = 0
    complete = True
    violation: Violation | None = None
    deadlock: Trace | None = None
    fired = {action.name: 0 for action in machine.actions}
    witnesses: dict[str, Trace] = {}
    for instance in instances(machine, sizes, switches):
        search = _Search(instance, auxiliary=auxiliary, fired=fired)
        left = None if limit is None else limit - states
        search.run(limit=left, stop=stop)
        states += len(search.parents)
        transitions += search.transitions
        depth = max(depth, search.depth)
        for name, trace in search.witnesses.items():
            if name not in witnesses or len(trace.steps) < len(witnesses[name].steps):
                witnesses[name] = trace
        if search.deadlock and (deadlock is None or len(search.deadlock.steps) < len(deadlock.steps)):
            deadlock = search.deadlock
        found = search.violation
        if found and (violation is None or len(found.trace.steps) < len(violation.trace.steps)):
            violation = found
        complete = complete and search.complete
        if not search.complete and limit is not None and states >= limit:
            break
    return Exploration(states, transitions, depth, complete, violation, fired, witnesses, deadlock)


class _Search:
    """One breadth-first search; its results are its attributes."""

    def __init__(self, instance: Instance, *, auxiliary: bool, fired: dict[str, int]) -> None:
        machine = instance.machine
        self.instance = instance
        self.interpreter = Interpreter(instance)
        self.fired = fired
        self.parents: dict[State, tuple[State, Step] | None] = {}
        self.transitions = self.depth = 0
        self.complete = False
        self.violation: Violation | None = None
        self.deadlock: Trace | None = None
        self.witnesses: dict[str, Trace] = {}
        self._auxiliary = auxiliary
        self._wanted = {each.name: compile_closed(instance, each.formula) for each in machine.sometimes}
        self._may_rest = None if machine.may_rest is None else compile_closed(instance, machine.may_rest)
        self._faults = {action.name for action in machine.actions if action.fault}

    def run(self, *, limit: int | None, stop: bool) -> None:
        layer = [self.interpreter.initial()]
        self.parents[layer[0]] = None
        self._look(layer[0])
        while layer and not (stop and self.violation):
            following: list[State] = []
            for state in layer:
                for after in self._expand(state):
                    if limit is not None and len(self.parents) > limit:
                        del self.parents[after]
                        return
                    following.append(after)
                    self._look(after)
                if stop and self.violation:
                    return
            layer = following
            self.depth += bool(layer)
        self.complete = not (stop and self.violation)

    def _expand(self, state: State) -> Iterator[State]:
        moves = False
        for step, after in self.interpreter.steps(state):
            self.transitions += 1
            self.fired[step.action] += 1
            moves = moves or step.action not in self._faults
            fresh = after not in self.parents
            if fresh:
                self.parents[after] = (state, step)
            if self.violation is None and self.interpreter.machine.transitions:
                for transition in self.interpreter.broken_by(state, step.action, after):
                    before = self._trace(state)
                    trace = Trace(self.instance, (*before.states, after), (*before.steps, step))
                    self.violation = Violation(transition.name, transition.rules, trace)
                    break
            if fresh:
                yield after
        if not moves and self.deadlock is None and not (self._may_rest and self._may_rest(state, state)):
            self.deadlock = self._trace(state)

    def _look(self, state: State) -> None:
        for name in [name for name, holds in self._wanted.items() if holds(state, state)]:
            self.witnesses[name] = self._trace(state)
            del self._wanted[name]
        if self.violation is None:
            for invariant in self.interpreter.broken(state, auxiliary=self._auxiliary):
                self.violation = Violation(invariant.name, invariant.rules, self._trace(state))
                break

    def _trace(self, state: State) -> Trace:
        states, steps = [state], []
        while (parent := self.parents[states[-1]]) is not None:
            states.append(parent[0])
            steps.append(parent[1])
        return Trace(self.instance, tuple(reversed(states)), tuple(reversed(steps)))


@dataclass(frozen=True)
class GuardId:
    """One guard of one action."""

    action: str
    guard: str


class GaveUp(Exception):  # noqa: N818
    """A limit was met before the answer was known."""
