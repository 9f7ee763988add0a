"""The proof obligations of a machine, each decided by Z3 without a bound on any size.

Every invariant holds at first; every invariant holds after every action if all held before; every two-state
property holds over every action. Only an `unsat` is a proof: `unknown` and time-outs are failures.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

import z3

from anchorhold_spec.language import Action, Invariant, Machine, Transition
from anchorhold_spec.prove.encode import After, Before, Encoding, Initial
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


def prove_obligations(machine: Machine, *, timeout: float) -> Iterator[Obligation]:
    """Initiation and consecution of every property, in order of actions. `timeout` is in seconds for each."""
    prover = Prover(machine, timeout=timeout)
    for invariant in prover.machine.invariants:
        yield prover.initiation(invariant)
    for action in prover.machine.actions:
        for invariant in prover.machine.invariants:
            yield prover.consecution(action, invariant)
        for transition in prover.machine.transitions:
            if transition.on is None or action.name in transition.on:
                yield prover.consecution(action, transition)


class Prover:
    """Decides obligations of one machine; switches that are open get their defaults."""

    def __init__(self, machine: Machine, *, timeout: float) -> None:
        self._encoding = Encoding(machine)
        self.machine = self._encoding.machine
        self._timeout = timeout
        self._before = Before(self._encoding)
        self._background = self._encoding.background()
        self._assumed = [
            (
                each.name,
                self._encoding.formula(each.formula, {}, self._before),
                z3.Bool(f"uses {each.name}", ctx=self._encoding.context),
            )
            for each in self.machine.invariants
        ]
        self._labels = {f"uses {each.name}": each.name for each in self.machine.invariants}
        self._steps: dict[Action, tuple[After, list[z3.BoolRef]]] = {}

    def initiation(self, invariant: Invariant, *, explain: bool = True) -> Obligation:
        """The invariant holds of every first state. `explain`: with a counterexample where it does not."""
        first = After(self._encoding, Initial(self._encoding), self.machine.initially, {})
        goal = self._encoding.formula(invariant.formula, {}, first)
        return self._decide(INITIALLY, invariant, [z3.Not(goal)], None, without=None, explain=explain)

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
        after, facts = self._step(action)
        if isinstance(claim, Invariant):
            goal = self._encoding.formula(claim.formula, {}, after)
        else:
            goal = self._encoding.formula(claim.formula, {}, self._before, after)
        return self._decide(action.name, claim, [*facts, z3.Not(goal)], action, without=without, explain=explain)

    def _step(self, action: Action) -> tuple[After, list[z3.BoolRef]]:
        """The state after an action, and what is so where it happens: the same for every claim."""
        known = self._steps.get(action)
        if known is None:
            environment, inside = self._encoding.parameters(action)
            after = After(self._encoding, self._before, action.updates, environment)
            guards = [self._encoding.formula(g.formula, environment, self._before) for g in action.guards]
            known = self._steps[action] = (after, [*inside, *guards])
        return known

    def _decide(
        self,
        place: str,
        claim: Invariant | Transition,
        facts: list[z3.BoolRef],
        action: Action | None,
        *,
        without: Collection[str] | None,
        explain: bool,
    ) -> Obligation:
        """`without` none: assume no invariant at all (before the first state nothing is known)."""
        started = time.perf_counter()
        solver = z3.Solver(ctx=self._encoding.context)
        solver.set(timeout=max(1, int(self._timeout * 1000)))
        solver.add(*self._background, *facts)
        for name, formula, label in self._assumed if without is not None else ():
            if name not in (without or ()):
                solver.assert_and_track(formula, label)
        answer = solver.check()
        reason: str | None = None
        counterexample: Counterexample | None = None
        used: frozenset[str] = frozenset()
        if answer == z3.unsat:
            result = Result.PROVED
            used = frozenset(self._labels[str(label).strip("|")] for label in solver.unsat_core())
        elif answer == z3.sat:
            result = Result.REFUTED
            if explain and not without:
                counterexample = self._read(smallest(self._encoding, solver), claim, action)
                if not counterexample.replays():
                    result, reason = Result.UNKNOWN, "its counterexample does not replay: the readings disagree"
        else:
            result, reason = Result.UNKNOWN, solver.reason_unknown()
        return Obligation(
            machine=self.machine.name,
            action=place,
            property=claim.name,
            rules=claim.rules,
            result=result,
            seconds=time.perf_counter() - started,
            reason=reason,
            counterexample=counterexample,
            used=used,
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


def needless_auxiliaries(machine: Machine, obligations: Collection[Obligation], *, timeout: float) -> tuple[str, ...]:
    """Auxiliary invariants without which everything else still proves: they should be removed.

    One at a time, in order of declaration; one that was found needless stays out when the next is tried.
    """
    prover = Prover(machine, timeout=timeout)
    claims: dict[str, Invariant | Transition] = {each.name: each for each in prover.machine.invariants}
    claims.update({each.name: each for each in prover.machine.transitions})
    needless: list[str] = []
    used = {(each.action, each.property): each.used for each in obligations if each.action != INITIALLY}
    for invariant in prover.machine.invariants:
        if invariant.public:
            continue
        out = [*needless, invariant.name]
        retried = {
            (action, name): prover.consecution(prover.machine.action(action), claims[name], without=out)
            for (action, name), names in used.items()
            if invariant.name in names and name not in out
        }
        if all(each.result is Result.PROVED for each in retried.values()):
            needless.append(invariant.name)
            used.update({place: each.used for place, each in retried.items()})
    return tuple(needless)
