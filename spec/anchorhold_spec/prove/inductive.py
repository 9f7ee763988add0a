"""What is inductive in a machine some of whose invariants may not hold: a variant of a design, a mutant.

The invariants are candidates. One that does not hold at first, or does not hold after some action where the others
held before, is thrown out, and what was proved with its help is tried again, until the rest stands by itself. The
rest is an inductive set, and the greatest one among the candidates (apart from what Z3 could not decide, which is
thrown out as well). Nothing that was thrown out is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anchorhold_spec.language import Invariant, Machine, Transition
from anchorhold_spec.prove.obligations import Prover, Result


@dataclass(frozen=True)
class Inductive:
    """The result for one machine."""

    proved: frozenset[str]
    """Names of the invariants and two-state properties that hold at every size."""
    failed: Mapping[str, str]
    """For each of the others the first obligation that could not be proved."""


def inductive(machine: Machine, *, timeout: float) -> Inductive:
    """Which properties of the machine are proved. `timeout` is in seconds for each question to Z3."""
    prover = Prover(machine, timeout=timeout)
    failed: dict[str, str] = {}
    for invariant in prover.machine.invariants:
        obligation = prover.initiation(invariant, explain=False)
        if obligation.result is not Result.PROVED:
            failed[invariant.name] = f"{obligation.result} at first"
    used: dict[tuple[str, str], frozenset[str]] = {}

    def fails(claim: Invariant | Transition) -> str | None:
        for action in prover.machine.actions:
            if isinstance(claim, Transition) and claim.on is not None and action.name not in claim.on:
                continue
            place = (action.name, claim.name)
            if place in used and not used[place] & failed.keys():
                continue
            obligation = prover.consecution(action, claim, without=failed, explain=False)
            if obligation.result is not Result.PROVED:
                return f"{obligation.result} under {action.name}"
            used[place] = obligation.used
        return None

    settled = False
    while not settled:
        settled = True
        for invariant in prover.machine.invariants:
            if invariant.name not in failed and (why := fails(invariant)):
                failed[invariant.name] = why
                settled = False
    for transition in prover.machine.transitions:
        if why := fails(transition):
            failed[transition.name] = why
    claims = (*prover.machine.invariants, *prover.machine.transitions)
    return Inductive(frozenset(each.name for each in claims if each.name not in failed), failed)
