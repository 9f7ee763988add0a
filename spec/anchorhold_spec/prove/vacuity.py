"""That nothing holds for want of anything that could break it: found by exploration at small sizes.

Every action happens; every `sometimes` is reached; the premise of every rule is met, in a state or, for what is said
of steps, in a step of the actions that it is said of; what is pending can end; and the exploration itself breaks no
rule, which is the proofs' cross-check.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from anchorhold_spec.explore import fast_survey
from anchorhold_spec.language import Machine, Not, Sometimes, Transition
from anchorhold_spec.prove.obligations import Obligation, Result
from anchorhold_spec.prove.premises import premises as premises_of
from anchorhold_spec.run import Survey, Surveyor

UNBROKEN = "no rule is broken"
"""The property of a machine that is sound at its small sizes."""

SMALL = "at small sizes"
"""Stands in the place of an action for what exploration shows."""


def vacuity_obligations(
    machine: Machine, *, limit: int = 200_000, surveyor: Surveyor | None = None
) -> Iterator[Obligation]:
    """See above. A search that meets `limit` leaves everything unknown that it did not reach.

    `surveyor` makes the searches; none: the fast one.
    """
    decided = machine.with_defaults()
    premises = tuple(
        Sometimes(_premise_of(each.name, i), premise, "")
        for each in decided.public
        for i, premise in enumerate(premises_of(each.formula))
    )
    looked_for = tuple(
        Transition(_premise_of(each.name, i), Not(premise), (), "", each.on)
        for each in decided.transitions
        for i, premise in enumerate(premises_of(each.formula))
    )
    triggers = tuple(Sometimes(_trigger(each.name), each.trigger, "") for each in decided.progress)
    studied = replace(decided, sometimes=(*decided.sometimes, *premises, *triggers))
    started = time.perf_counter()
    search = surveyor or fast_survey
    surveys = [
        (dict(sizes), search(studied, sizes=sizes, limit=limit, steps=looked_for))
        for sizes in decided.small_instances
    ]
    seconds = time.perf_counter() - started

    fired = {name for _, survey in surveys for name in survey.fired}
    met = {name for _, survey in surveys for name in survey.met}
    complete = all(survey.complete for _, survey in surveys)
    broken = deadlock = None
    for sizes, survey in surveys:
        if survey.violation:
            steps = len(survey.violation.trace.steps)
            broken = f"{survey.violation.property} breaks in {steps} steps at {sizes}"
        if survey.deadlock:
            deadlock = f"a deadlock in {len(survey.deadlock.steps)} steps at {sizes}"
    cut = "the exploration stopped where a rule broke" if broken else f"not within the first {limit:,} states"
    never = "never, at any of the machine's small instances" if complete else cut

    def row(
        action: str, name: str, *, holds: bool, known: bool, reason: str | None, rules: tuple[str, ...] = ()
    ) -> Obligation:
        result = Result.PROVED if holds else Result.REFUTED if known else Result.UNKNOWN
        return Obligation(decided.name, action, name, rules, result, seconds, None if holds else reason)

    yield row(SMALL, UNBROKEN, holds=broken is None and complete, known=bool(broken), reason=broken or cut)
    yield row(SMALL, "no deadlock", holds=deadlock is None and complete, known=bool(deadlock), reason=deadlock or cut)
    for action in decided.actions:
        yield row(action.name, "possible", holds=action.name in fired, known=complete, reason=never)
    for each in decided.sometimes:
        yield row(SMALL, f"sometimes: {each.name}", holds=each.name in met, known=complete, reason=never)
    for name in (*(each.name for each in premises), *(each.name for each in looked_for)):
        reason = f"{never}: the property holds for want of a case"
        yield row(SMALL, name, holds=name in met, known=complete, reason=reason)
    for progress in decided.progress:
        stuck = _stuck(progress.name, surveys)
        pending = _trigger(progress.name) in met
        yield row(
            SMALL,
            progress.name,
            holds=pending and complete and stuck is None,
            known=complete,
            reason=stuck or ("nothing is ever pending: it holds vacuously" if complete else cut),
            rules=progress.rules,
        )


def _premise_of(name: str, i: int) -> str:
    return f"premise of {name}{f' ({i})' if i else ''}"


def _trigger(progress: str) -> str:
    return f"trigger of {progress}"


def _stuck(progress: str, surveys: list[tuple[dict[str, int], Survey]]) -> str | None:
    for sizes, survey in surveys:
        if trace := survey.stuck.get(progress):
            return f"after {len(trace.steps)} steps it cannot end any more, at {sizes}"
    return None
