"""A machine driven by Hypothesis: a `RuleBasedStateMachine` whose steps are those of the machine.

Needs the `hypothesis` package. Exhaustive search finds more, and shorter; this is for what is too large for it,
and it is the frame into which an implementation under test is put beside the machine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from anchorhold_spec.language import Invariant, Machine, Transition
from anchorhold_spec.run.explore import Trace
from anchorhold_spec.run.instance import State, instances
from anchorhold_spec.run.interpret import Interpreter, Step
from anchorhold_spec.run.show import show_trace

MOST_VIEWS = 50_000
"""States of an instance whose views are kept."""
REACH = (8, 16, 40)
CALM = (0, 3, 10, 30)
LEFT_OUT = 2
"""Among which, and up to how many, it is drawn for each walk: see `_Course`."""


class RuleBroken(AssertionError):  # noqa: N818
    """A run broke a property; the message has the rules, the property and the steps."""


@dataclass(frozen=True)
class _Course:
    """What is drawn for a walk as a whole."""

    reach: int
    """Steps after which another walk begins."""
    calm: int
    """Steps after the last fault before which there is no other."""
    without: frozenset[str]
    """Actions that are taken only where there is nothing else."""


@dataclass(frozen=True)
class _View:
    """What can be seen from one state: the same for every walk that comes by, so it is worked out once."""

    broken: tuple[Invariant, ...]
    still: tuple[tuple[Step, Transition], ...]
    """Steps that change nothing and break a two-state property."""
    moves: Mapping[str, tuple[tuple[Step, State], ...]]
    """By action, its steps with what comes of each."""
    breaking: Mapping[str, tuple[tuple[Step, State], ...]]
    """Those of them that break something."""


class _Views:
    """Views of the states of an instance."""

    def __init__(self, interpreter: Interpreter, *, stutter: bool) -> None:
        self.interpreter = interpreter
        self._stutter = stutter
        self._faults = frozenset(action.name for action in interpreter.machine.actions if action.fault)
        self.view = lru_cache(maxsize=MOST_VIEWS)(self._view)

    def is_fault(self, action: str) -> bool:
        return action in self._faults

    def _view(self, state: State) -> _View:
        broken = self._broken(state)
        still: list[tuple[Step, Transition]] = []
        moves: dict[str, list[tuple[Step, State]]] = {}
        breaking: dict[str, list[tuple[Step, State]]] = {}
        for step, after in () if broken else self.interpreter.steps(state):
            wrong = tuple(self.interpreter.broken_by(state, step.action, after))
            if after == state and not self._stutter:
                still += [(step, each) for each in wrong]
                continue
            moves.setdefault(step.action, []).append((step, after))
            if wrong or self._broken(after):
                breaking.setdefault(step.action, []).append((step, after))
        return _View(
            broken,
            tuple(still),
            {action: tuple(found) for action, found in moves.items()},
            {action: tuple(found) for action, found in breaking.items()},
        )

    def _broken(self, state: State) -> tuple[Invariant, ...]:
        return tuple(self.interpreter.broken(state, auxiliary=False))


class DrivenMachine(RuleBasedStateMachine):
    """What `state_machine_for` fills in. Subclass its results and override `moved` to act on a system under test."""

    interpreter: Interpreter
    states: list[State]
    steps: list[Step]
    moves: Mapping[str, Sequence[tuple[Step, State]]]
    """What may be chosen next, by action: steered, so not all that is enabled. None: the walk is at its end."""

    def moved(self, step: Step, before: State, after: State) -> None:
        """Called after each step; here nothing is done."""

    def began(self, state: State) -> None:
        """Called at the beginning of each walk, of which there may be several in one run; here nothing is done."""

    def _start(self, views: _Views, course: _Course) -> None:
        self.interpreter = views.interpreter
        self._views, self._course = views, course
        self.states, self.steps = [], []
        self._seen: set[State] = set()
        self._since_fault = 0
        first = views.interpreter.initial()
        self._arrive(first)
        self.began(first)

    def _arrive(self, state: State) -> None:
        self.states.append(state)
        self._seen.add(state)
        view = self._views.view(state)
        for invariant in view.broken:
            self._fail(invariant.name, invariant.rules)
        for step, transition in view.still:
            self._stand(step, transition)
        self.moves = view.breaking or (self._steered(view) if len(self.steps) < self._course.reach else {})

    def _steered(self, view: _View) -> Mapping[str, Sequence[tuple[Step, State]]]:
        """What leads somewhere new; while there is anything else, no fault before its time and nothing left out."""
        here = self.states[-1]
        new = {
            action: fresh
            for action, found in view.moves.items()
            if (fresh := [each for each in found if each[1] not in self._seen or each[1] == here])
        }
        ready = self._since_fault >= self._course.calm
        chosen = {
            action: found
            for action, found in new.items()
            if action not in self._course.without and (ready or not self._views.is_fault(action))
        }
        return chosen or new

    def _move(self, step: Step, after: State) -> None:
        before = self.states[-1]
        for transition in self.interpreter.broken_by(before, step.action, after):
            self._stand(step, transition, after)
        self.steps.append(step)
        self._since_fault = 0 if self._views.is_fault(step.action) else self._since_fault + 1
        self._arrive(after)
        self.moved(step, before, after)

    def _stand(self, step: Step, transition: Transition, after: State | None = None) -> None:
        self.states.append(self.states[-1] if after is None else after)
        self.steps.append(step)
        self._fail(transition.name, transition.rules)

    def _fail(self, name: str, rules: tuple[str, ...]) -> None:
        trace = Trace(self.interpreter.instance, tuple(self.states), tuple(self.steps))
        steps = "\n".join(show_trace(trace)) or "at first"
        raise RuleBroken(f"{', '.join(rules)} ({name}) is broken:\n{steps}")


def state_machine_for(
    machine: Machine,
    sizes: Mapping[str, int] | None = None,
    *,
    switches: Mapping[str, str] | None = None,
    stutter: bool = False,
) -> type[DrivenMachine]:
    """A class that Hypothesis runs: `run_state_machine_as_test(state_machine_for(machine))`.

    `sizes` none: each walk is in one of the machine's small instances. Every step draws an action among those that
    are enabled, then its parameters among those that the guards allow. A broken rule of the catalogue raises
    RuleBroken. Steps that change nothing are held against the two-state properties but not walked, unless
    `stutter`: a system under test may well change by them. Raises UnknownChoice for sizes or switches that do not
    fit.

    Walks are steered towards what is seldom met. Where some step breaks a rule, that one is taken. No walk comes
    back to a state in which it has been; where it can go nowhere else, or after a length that is drawn for it,
    another begins in the same run. Faults keep a distance from each other, and a few actions are left out, both
    drawn for each walk, so that some walks get far. (Left to itself, Hypothesis leaves out about half of the rules
    in a run: one that takes ten of them would hardly ever have them all.)
    """
    groups = [
        [_Views(Interpreter(instance), stutter=stutter) for instance in instances(machine, chosen, switches)]
        for chosen in ([sizes] if sizes is not None else machine.small_instances)
    ]
    views = st.sampled_from(groups).flatmap(st.sampled_from)
    courses = st.builds(
        _Course,
        reach=st.sampled_from(REACH),
        calm=st.sampled_from(CALM),
        without=st.frozensets(st.sampled_from([action.name for action in machine.actions]), max_size=LEFT_OUT),
    )

    def begin(self: DrivenMachine, views: _Views, course: _Course) -> None:
        self._start(views, course)

    def step(self: DrivenMachine, data: st.DataObject) -> None:
        if not self.moves:
            self._start(data.draw(views), data.draw(courses))
            return
        action = data.draw(st.sampled_from(list(self.moves)), label="action")
        self._move(*data.draw(st.sampled_from(self.moves[action]), label=action))

    members: dict[str, Any] = {
        "begin": initialize(views=views, course=courses)(begin),
        "step": rule(data=st.data())(step),
    }
    name = re.sub(r"\W", "_", machine.name)
    return type(f"{name}_driven", (DrivenMachine,), members)
