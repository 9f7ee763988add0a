"""The proof obligations of a machine, each decided by Z3 without a bound on any size.

Every invariant holds at first; every invariant holds after every action if all held before; every two-state
property holds over every action. Only an `unsat` is a proof: `unknown` and time-outs are failures.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import z3

from anchorhold_spec.language import Action, Formula, Invariant, Machine, Transition
from anchorhold_spec.language.walk import primed_symbols, symbols
from anchorhold_spec.prove.encode import After, Before, Elsewhere, Encoding, Initial, Reader
from anchorhold_spec.prove.model import Counterexample, Reading, smallest
from anchorhold_spec.run import Interpreter


class Result(StrEnum):
    """What became of an obligation."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    """Not decided, or not believed. Never a pass."""


INITIALLY = "initially"
"""Stands in the place of an action for what holds of the first state."""


@dataclass(frozen=True)
class Obligation:
    """Something that has to hold, and what became of it."""

    machine: str
    action: str
    property: str
    rules: tuple[str, ...]
    """The rules that it states; empty for what only serves the proofs."""
    result: Result
    seconds: float
    reason: str | None = None
    """Why it is unknown."""
    counterexample: Counterexample | None = None
    used: frozenset[str] = frozenset()
    """The invariants that its proof used."""
    guards: frozenset[str] = frozenset()
    """The guards of the action that its proof used."""


@dataclass(frozen=True)
class _Step:
    """What a question is about: the state after, and what is so where the step happens."""

    after: Reader
    inside: list[z3.BoolRef]
    guards: Mapping[str, tuple[z3.BoolRef, z3.BoolRef]]
    """Formula and label, by name."""


def prove_obligations(machine: Machine, *, timeout: float, prover: Prover | None = None) -> Iterator[Obligation]:
    """Initiation and consecution of every property, in order of actions. `timeout` is in seconds for each.

    `prover`: one for this machine, if there is one already.
    """
    prover = prover or Prover(machine, timeout=timeout)
    for invariant in prover.machine.invariants:
        yield prover.initiation(invariant)
    for action in prover.machine.actions:
        for invariant in prover.machine.invariants:
            yield prover.consecution(action, invariant)
        for transition in prover.machine.transitions:
            if transition.on is None or action.name in transition.on:
                yield prover.consecution(action, transition)


QUICK = 1.0
"""Seconds that the shared solver gets before a solver of its own, which knows more ways, is asked."""


class Prover:
    """Decides obligations of one machine; switches that are open get their defaults.

    Most of what its questions assume is the same, so one solver holds it, and each question is pushed onto that.
    What this solver does not prove is asked once more of a new one.
    """

    def __init__(self, machine: Machine, *, timeout: float) -> None:
        self._encoding = Encoding(machine)
        self.machine = self._encoding.machine
        self._timeout = timeout
        self._before = Before(self._encoding)
        self._background = self._encoding.background()
        self._assumed = {
            each.name: (
                self._encoding.formula(each.formula, {}, self._before),
                z3.Bool(f"uses {each.name}", ctx=self._encoding.context),
            )
            for each in self.machine.invariants
        }
        self._shared = self._solver(min(timeout, QUICK))
        self._shared.add(*self._background)
        self._shared.add(*(z3.Implies(label, formula) for formula, label in self._assumed.values()))
        self._steps: dict[Action, _Step] = {}
        self._still: dict[tuple[str, frozenset[str]], Obligation] = {}

    def axioms(self) -> Result:
        """Whether the axioms can all hold: REFUTED where they contradict each other, so that they prove anything."""
        solver = self._solver(self._timeout)
        solver.add(*self._background)
        answer = solver.check()
        if answer == z3.unknown:
            return Result.UNKNOWN
        return Result.PROVED if answer == z3.sat else Result.REFUTED

    def initiation(self, invariant: Invariant, *, explain: bool = True) -> Obligation:
        """The invariant holds of every first state. `explain`: with a counterexample where it does not."""
        first = After(self._encoding, Initial(self._encoding), self.machine.initially, {})
        goal = self._encoding.formula(invariant.formula, {}, first)
        # Before the first state nothing is known: no invariant is assumed.
        return self._decide(INITIALLY, invariant, goal, _Step(first, [], {}), (), None, explain=explain)

    def consecution(
        self,
        action: Action,
        claim: Invariant | Transition,
        *,
        without: Collection[str] = (),
        explain: bool = True,
    ) -> Obligation:
        """The claim holds after the action, or over it.

        `without`: invariants that may not be used. `explain`: with a counterexample where it does not hold (and
        every invariant may be used).
        """
        if carried := self._carried(action, claim, without):
            return carried
        step = self._step(action)
        if isinstance(claim, Invariant):
            goal = self._encoding.formula(claim.formula, {}, step.after)
        else:
            goal = self._encoding.formula(claim.formula, {}, self._before, step.after)
        assumed = [name for name in self._assumed if name not in without]
        return self._decide(action.name, claim, goal, step, assumed, action, explain=explain and not without)

    def vacuous(self, formula: Formula) -> Result:
        """PROVED where the formula holds of any two states whatever: no run could ever break it.

        Only what the sorts, the functions and the axioms say is assumed, and no invariant. What it says of the
        state after a step is read in a state that has nothing to do with the one before.
        """
        after = Elsewhere(self._encoding)
        goal = self._encoding.formula(formula, {}, self._before, after)
        for fresh, solver in ((False, self._shared), (True, self._solver(self._timeout))):
            if fresh:
                solver.add(*self._background)
            solver.push()
            solver.add(*after.background(), z3.Not(goal))
            answer = solver.check()
            solver.pop()
            if answer != z3.unknown:
                return Result.PROVED if answer == z3.unsat else Result.REFUTED
        return Result.UNKNOWN

    def _carried(self, action: Action, claim: Invariant | Transition, without: Collection[str]) -> Obligation | None:
        """Proved for an action that writes nothing that the claim reads (after the step)."""
        written = {update.symbol.name for update in action.updates}
        if isinstance(claim, Invariant):
            if claim.name in without or any(symbol.name in written for symbol in symbols(claim.formula)):
                return None
            return self._obligation(action.name, claim, Result.PROVED, 0.0, used=frozenset({claim.name}))
        if any(symbol.name in written for symbol in primed_symbols(claim.formula)):
            return None
        # What it says of the state after, it says of the state before: the same for all such actions.
        place = (claim.name, frozenset(without))
        if place not in self._still:
            goal = self._encoding.formula(claim.formula, {}, self._before, self._before)
            assumed = [name for name in self._assumed if name not in without]
            nothing = _Step(self._before, [], {})
            self._still[place] = self._decide(action.name, claim, goal, nothing, assumed, None, explain=False)
        still = self._still[place]
        return replace(still, action=action.name) if still.result is Result.PROVED else None

    def _step(self, action: Action) -> _Step:
        """The state after an action, and what is so where it happens: the same for every claim."""
        known = self._steps.get(action)
        if known is None:
            environment, inside = self._encoding.parameters(action)
            guards = {
                guard.name: (
                    self._encoding.formula(guard.formula, environment, self._before),
                    z3.Bool(f"guard {guard.name}", ctx=self._encoding.context),
                )
                for guard in action.guards
            }
            after = After(self._encoding, self._before, action.updates, environment)
            known = self._steps[action] = _Step(after, inside, guards)
        return known

    def _solver(self, timeout: float) -> z3.Solver:
        solver = z3.Solver(ctx=self._encoding.context)
        solver.set(timeout=max(1, int(timeout * 1000)))
        return solver

    def _decide(
        self,
        place: str,
        claim: Invariant | Transition,
        goal: z3.BoolRef,
        step: _Step,
        assumed: Collection[str],
        action: Action | None,
        *,
        explain: bool,
    ) -> Obligation:
        """Whether the goal follows where the step happens and the invariants called `assumed` hold."""
        started = time.perf_counter()
        labels = {f"guard {name}": (name, True) for name in step.guards}
        labels.update({f"uses {name}": (name, False) for name in assumed})
        wanted = [label for _, label in step.guards.values()] + [self._assumed[name][1] for name in assumed]
        question = [*step.inside, *(z3.Implies(label, guard) for guard, label in step.guards.values()), z3.Not(goal)]

        solver = self._shared
        solver.push()
        solver.add(*question)
        answer = solver.check(*wanted)
        core = [str(label).strip("|") for label in solver.unsat_core()] if answer == z3.unsat else []
        solver.pop()
        if answer == z3.unknown or (answer == z3.sat and explain):
            solver = self._solver(self._timeout)
            solver.add(*self._background, *step.inside, z3.Not(goal))
            for formula, label in (*step.guards.values(), *(self._assumed[name] for name in assumed)):
                solver.assert_and_track(formula, label)
            answer = solver.check()
            core = [str(label).strip("|") for label in solver.unsat_core()] if answer == z3.unsat else []

        reason: str | None = None
        counterexample: Counterexample | None = None
        if answer == z3.unsat:
            result = Result.PROVED
        elif answer == z3.sat:
            result = Result.REFUTED
            if explain:
                counterexample = self._read(smallest(self._encoding, solver), claim, action)
                if not counterexample.replays():
                    result, reason = Result.UNKNOWN, "its counterexample does not replay: the readings disagree"
        else:
            result, reason = Result.UNKNOWN, solver.reason_unknown()
        needed = [labels[label] for label in core]
        return self._obligation(
            place,
            claim,
            result,
            time.perf_counter() - started,
            reason=reason,
            counterexample=counterexample,
            used=frozenset(name for name, guard in needed if not guard),
            guards=frozenset(name for name, guard in needed if guard),
        )

    def _obligation(
        self,
        place: str,
        claim: Invariant | Transition,
        result: Result,
        seconds: float,
        *,
        reason: str | None = None,
        counterexample: Counterexample | None = None,
        used: frozenset[str] = frozenset(),
        guards: frozenset[str] = frozenset(),
    ) -> Obligation:
        return Obligation(
            machine=self.machine.name,
            action=place,
            property=claim.name,
            rules=claim.rules,
            result=result,
            seconds=seconds,
            reason=reason,
            counterexample=counterexample,
            used=used,
            guards=guards,
        )

    def _read(self, model: z3.ModelRef, claim: Invariant | Transition, action: Action | None) -> Counterexample:
        reading = Reading(self._encoding, model)
        instance = reading.instance()
        interpreter = Interpreter(instance)
        if action is None:
            first = interpreter.initial()
            return Counterexample(instance, first, None, first, claim.name)
        environment, _ = self._encoding.parameters(action)
        before = reading.state(instance)
        step = reading.step(action, environment)
        return Counterexample(instance, before, step, interpreter.apply(before, step), claim.name)
