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
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from anchorhold_spec.language import Invariant, Machine, Transition
from anchorhold_spec.run.explore import Trace
from anchorhold_spec.run.instance import State, instances
from anchorhold_spec.run.interpret import Interpreter, Step
from anchorhold_spec.run.show import show_trace


MOST_VIEWS = 50_000
"""States of an instance whose views are kept."""
CALM = (0, 3, 10, 30)
"""Steps after the last fault before which there is no other: one of these is drawn for each walk."""
LEFT_OUT = 2
"""Actions that a walk does without, at most; others are taken sooner for it. They are drawn for each walk."""


class RuleBroken(AssertionError):  # noqa: N818
    """A run broke a property; the message has the rules, the property and the steps."""


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
    """What may be chosen next, by action: steered, so not all that is enabled."""

    def moved(self, step: Step, before: State, after: State) -> None:
        """Called after each step; here nothing is done."""

    def _start(self, views: _Views, *, calm: int, without: frozenset[str]) -> None:
        self.interpreter = views.interpreter
        self._views, self._calm, self._without = views, calm, without
        self.states, self.steps = [], []
        self._seen: set[State] = set()
        self._since_fault = 0
        self._arrive(views.interpreter.initial())

    def _arrive(self, state: State) -> None:
        self.states.append(state)
        self._seen.add(state)
        view = self._views.view(state)
        for invariant in view.broken:
            self._fail(invariant.name, invariant.rules)
        for step, transition in view.still:
            self._stand(step, transition)
        self.moves = view.breaking or self._steered(view.moves)

    def _steered(
        self, moves: Mapping[str, Sequence[tuple[Step, State]]]
    ) -> Mapping[str, Sequence[tuple[Step, State]]]:
        """What leads somewhere new, and no fault before its time; everything where that leaves nothing."""
        new = {
            action: fresh
            for action, found in moves.items()
            if (fresh := [each for each in found if each[1] not in self._seen])
        }
        calm = {
            action: found
            for action, found in new.items()
            if action not in self._without and (self._since_fault >= self._calm or not self._views.is_fault(action))
        }
        return calm or new or moves

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

    Walks are steered towards what is seldom met. Where some step breaks a rule, that one is taken; no walk comes
    back to a state in which it has been, while it can go elsewhere; faults keep a distance from each other, and a
    few actions are left out, both drawn for each walk, so that some walks get far. (Hypothesis itself would leave
    out about half of the rules of each run; a run that needs ten of them would hardly ever have them all.)
    """
    groups = [
        [_Views(Interpreter(instance), stutter=stutter) for instance in instances(machine, chosen, switches)]
        for chosen in ([sizes] if sizes is not None else machine.small_instances)
    ]
    names = [action.name for action in machine.actions]

    def begin(self: DrivenMachine, views: _Views, calm: int, without: set[str]) -> None:
        self._start(views, calm=calm, without=frozenset(without))

    def step(self: DrivenMachine, data: st.DataObject) -> None:
        action = data.draw(st.sampled_from(list(self.moves)), label="action")
        step, after = data.draw(st.sampled_from(self.moves[action]), label=action)
        self._move(step, after)

    def rest(self: DrivenMachine) -> None:
        """Nothing is enabled; Hypothesis wants a rule all the same."""

    members: dict[str, Any] = {
        "begin": initialize(
            views=st.sampled_from(groups).flatmap(st.sampled_from),
            calm=st.sampled_from(CALM),
            without=st.sets(st.sampled_from(names), max_size=LEFT_OUT),
        )(begin),
        "step": precondition(lambda self: self.moves)(rule(data=st.data())(step)),
        "rest": precondition(lambda self: not self.moves)(rule()(rest)),
    }
    return type(f"{_identifier(machine.name)}_driven", (DrivenMachine,), members)


def _identifier(name: str) -> str:
    return "do_" + re.sub(r"\W", "_", name)
