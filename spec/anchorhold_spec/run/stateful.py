"""A machine driven by Hypothesis: a `RuleBasedStateMachine` with one rule for each action.

Needs the `hypothesis` package. Exhaustive search finds more, and shorter; this is for what is too large for it,
and it is the frame into which an implementation under test is put beside the machine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from anchorhold_spec.language import Machine
from anchorhold_spec.run.explore import Trace
from anchorhold_spec.run.instance import State, instances
from anchorhold_spec.run.interpret import Interpreter, Step
from anchorhold_spec.run.show import show_trace


class RuleBroken(AssertionError):  # noqa: N818
    """A run broke a property; the message has the rules, the property and the steps."""


class DrivenMachine(RuleBasedStateMachine):
    """What `state_machine_for` fills in. Subclass its results and override `moved` to act on a system under test."""

    stutter: bool
    interpreter: Interpreter
    states: list[State]
    steps: list[Step]
    moves: dict[str, list[tuple[Step, State]]]

    def moved(self, step: Step, before: State, after: State) -> None:
        """Called after each step; here nothing is done."""

    def _start(self, interpreter: Interpreter) -> None:
        self.interpreter = interpreter
        self.states, self.steps = [], []
        self._arrive(interpreter.initial())

    def _arrive(self, state: State) -> None:
        self.states.append(state)
        for invariant in self.interpreter.broken(state, auxiliary=False):
            self._fail(invariant.name, invariant.rules)
        self.moves = {}
        for step, after in self.interpreter.steps(state):
            if after != state or self.stutter:
                self.moves.setdefault(step.action, []).append((step, after))
            else:
                self._hold(step, after)

    def _move(self, step: Step, after: State) -> None:
        before = self.states[-1]
        self._hold(step, after)
        self.steps.append(step)
        self._arrive(after)
        self.moved(step, before, after)

    def _hold(self, step: Step, after: State) -> None:
        for transition in self.interpreter.broken_by(self.states[-1], step.action, after):
            self.steps.append(step)
            self.states.append(after)
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

    Every action is a rule that can be chosen wherever it is enabled, its parameters drawn from those that the
    guards allow. A broken rule of the catalogue raises RuleBroken. Steps that change nothing are held against the
    two-state properties but not walked, unless `stutter`: a system under test may well change by them. Raises
    UnknownChoice for sizes or switches that do not fit.
    """
    interpreters = [Interpreter(instance) for instance in instances(machine, sizes, switches)]

    def begin(self: DrivenMachine, interpreter: Interpreter) -> None:
        self._start(interpreter)

    def rest(self: DrivenMachine) -> None:
        """Nothing is enabled; Hypothesis wants a rule all the same."""

    members: dict[str, Any] = {
        "stutter": stutter,
        "begin": initialize(interpreter=st.sampled_from(interpreters))(begin),
        "rest": precondition(lambda self: not self.moves)(rule()(rest)),
    }
    for action in machine.actions:
        members[_identifier(action.name)] = _rule_for(action.name)
    return type(f"{_identifier(machine.name)}_driven", (DrivenMachine,), members)


def _rule_for(action: str) -> Any:
    def take(self: DrivenMachine, data: st.DataObject) -> None:
        step, after = data.draw(st.sampled_from(self.moves[action]), label=action)
        self._move(step, after)

    take.__name__ = _identifier(action)
    return precondition(lambda self: action in self.moves)(rule(data=st.data())(take))


def _identifier(name: str) -> str:
    return "do_" + re.sub(r"\W", "_", name)
