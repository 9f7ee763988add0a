"""What is inductive in a machine some of whose invariants may not hold: a variant of a design, a mutant.

The invariants are candidates. One that does not hold at first, or does not hold after some action where the others
held before, is thrown out, and what was proved with its help is tried again, until the rest stands by itself. What
Z3 could not decide is thrown out as well. Nothing that was thrown out is used. Only what is asked for is proved, and
what its proofs used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from anchorhold_spec.language import Action, Invariant, Machine, Transition
from anchorhold_spec.prove.obligations import INITIALLY, Prover, Result


@dataclass(frozen=True)
class Inductive:
    """The result for one machine."""

    proved: frozenset[str]
    """Names of the invariants and two-state properties that hold at every size."""
    failed: Mapping[str, str]
    """For each that was tried and could not be proved, the first obligation that failed."""


def inductive(machine: Machine, *, timeout: float, wanted: Collection[str] | None = None) -> Inductive:
    """Which properties of the machine are proved: those that are `wanted` (none: all), and what their proofs use.

    `timeout` is in seconds for each question to Z3.
    """
    prover = Prover(machine, timeout=timeout)
    return settle(prover, prover.machine.actions, wanted=wanted)


Place = tuple[str, str]
"""An action (or `INITIALLY`) and a property."""


def settle(
    prover: Prover,
    actions: Collection[Action],
    *,
    wanted: Collection[str] | None = None,
    known: Mapping[Place, frozenset[str]] = MappingProxyType({}),
    barred: Collection[str] = (),
) -> Inductive:
    """As `inductive`, for the prover's machine with these actions in place of its own.

    `known`: proofs that are there already, as the invariants that each uses. `barred`: invariants that may not be
    used. The time that it takes is that of the questions whose answers are not known.
    """
    claims: dict[str, Invariant | Transition] = {each.name: each for each in prover.machine.invariants}
    claims.update({each.name: each for each in prover.machine.transitions})
    needed = [name for name in claims if name not in barred and (wanted is None or name in wanted)]
    failed: dict[str, str] = {}
    used: dict[Place, frozenset[str]] = dict(known)

    def out() -> set[str]:
        return {*failed, *barred}

    def fails(name: str) -> str | None:
        claim = claims[name]
        if isinstance(claim, Invariant) and (INITIALLY, name) not in used:
            obligation = prover.initiation(claim, explain=False)
            if obligation.result is not Result.PROVED:
                return f"{obligation.result} at first"
            used[INITIALLY, name] = frozenset()
        for action in actions:
            if isinstance(claim, Transition) and claim.on is not None and action.name not in claim.on:
                continue
            place = (action.name, name)
            if place not in used or used[place] & out():
                obligation = prover.consecution(action, claim, without=out(), explain=False)
                if obligation.result is not Result.PROVED:
                    return f"{obligation.result} under {action.name}"
                used[place] = obligation.used
            needed.extend(sorted(used[place] - set(needed)))
        return None

    settled = False
    while not settled:
        settled = True
        # It grows as proofs use more.
        for name in needed:
            if name not in failed and (why := fails(name)):
                failed[name] = why
                settled = False
    return Inductive(frozenset(needed) - failed.keys(), failed)
