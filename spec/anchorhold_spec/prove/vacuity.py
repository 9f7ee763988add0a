"""That nothing holds for want of anything that could break it: found by exploration at small sizes.

Every action happens; every `sometimes` is reached; the premise of every rule is met; what is pending can end; and
the exploration itself breaks no rule, which is the proofs' cross-check.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from anchorhold_spec.language import Exists, ForAll, Formula, Implies, Machine, Sometimes, Var
from anchorhold_spec.language.walk import conjuncts
from anchorhold_spec.prove.obligations import Obligation, Result
from anchorhold_spec.run import GaveUp, explore
from anchorhold_spec.run.progress import stuck

SMALL = "at small sizes"
"""Stands in the place of an action for what exploration shows."""


def vacuity_obligations(machine: Machine, *, limit: int = 200_000) -> Iterator[Obligation]:
    """See above. An exploration that meets `limit` leaves everything unknown that it did not reach."""
    decided = machine.with_defaults()
    premises = tuple(
        Sometimes(f"premise of {each.name}{f' ({i})' if i else ''}", premise, "")
        for each in decided.public
        for i, premise in enumerate(_premises(each.formula))
    )
    studied = replace(decided, sometimes=(*decided.sometimes, *premises))
    started = time.perf_counter()
    fired: set[str] = set()
    reached: set[str] = set()
    broken: str | None = None
    deadlock: str | None = None
    complete = True
    for sizes in decided.small_instances:
        found = explore(studied, sizes=sizes, limit=limit)
        fired |= {name for name, times in found.fired.items() if times}
        reached |= found.witnesses.keys()
        complete = complete and found.complete
        if found.violation:
            broken = f"{found.violation.property} breaks in {len(found.violation.trace.steps)} steps at {dict(sizes)}"
        if found.deadlock:
            deadlock = f"a deadlock in {len(found.deadlock.steps)} steps at {dict(sizes)}"
    seconds = time.perf_counter() - started

    def row(action: str, name: str, *, holds: bool, known: bool, reason: str | None) -> Obligation:
        result = Result.PROVED if holds else Result.REFUTED if known else Result.UNKNOWN
        return Obligation(decided.name, action, name, (), result, seconds, None if holds else reason)

    cut = "the exploration stopped where a rule broke" if broken else f"not within the first {limit:,} states"
    yield row(SMALL, "no rule is broken", holds=broken is None and complete, known=bool(broken), reason=broken or cut)
    yield row(SMALL, "no deadlock", holds=deadlock is None and complete, known=bool(deadlock), reason=deadlock or cut)
    never = "never, at any of the machine's small instances" if complete else cut
    for action in decided.actions:
        yield row(action.name, "possible", holds=action.name in fired, known=complete, reason=never)
    for each in decided.sometimes:
        yield row(SMALL, f"sometimes: {each.name}", holds=each.name in reached, known=complete, reason=never)
    for each in premises:
        yield row(SMALL, each.name, holds=each.name in reached, known=complete, reason=never)
    yield from _progress(decided, limit)


def _progress(machine: Machine, limit: int) -> Iterator[Obligation]:
    for progress in machine.progress:
        started = time.perf_counter()
        triggered = False
        result, reason = Result.PROVED, None
        try:
            for sizes in machine.small_instances:
                met, trace = stuck(machine, progress, sizes=sizes, limit=limit)
                triggered = triggered or met
                if trace:
                    result = Result.REFUTED
                    reason = f"after {len(trace.steps)} steps it cannot end any more, at {dict(sizes)}"
            if not triggered:
                result, reason = Result.REFUTED, "nothing is ever pending: it holds vacuously"
        except GaveUp as problem:
            result, reason = Result.UNKNOWN, str(problem)
        seconds = time.perf_counter() - started
        yield Obligation(machine.name, SMALL, progress.name, progress.rules, result, seconds, reason)


def _premises(formula: Formula) -> Iterator[Formula]:
    """For each part of the form ∀x. premise ⇒ conclusion: ∃x. premise. Other parts have none that could be empty."""
    for part in conjuncts(formula):
        body = part
        bound: list[Var] = []
        while isinstance(body, ForAll):
            bound.extend(body.variables)
            body = body.body
        if isinstance(body, Implies):
            yield Exists(tuple(bound), body.left) if bound else body.left
