"""All that `anchorhold prove` finds out about one machine, and the JSON form of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from anchorhold_spec.language import Machine, Tag
from anchorhold_spec.prove.necessity import GuardVerdict, guard_verdicts
from anchorhold_spec.prove.obligations import Obligation, Result, needless_auxiliaries, prove_obligations
from anchorhold_spec.prove.vacuity import vacuity_obligations
from anchorhold_spec.run import MutantExplorer, Surveyor


@dataclass(frozen=True)
class Report:
    """What was found about one machine."""

    machine: Machine
    obligations: tuple[Obligation, ...]
    guards: tuple[GuardVerdict, ...]
    seconds: float

    @property
    def proved(self) -> bool:
        """Every obligation is proved, and every guard is justified."""
        return all(each.result is Result.PROVED for each in self.obligations) and all(
            guard.justified for guard in self.guards
        )


def verify(
    machine: Machine,
    *,
    timeout: float = 10.0,
    explorer: MutantExplorer | None = None,
    surveyor: Surveyor | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """Proofs, vacuity and the necessity of guards. `timeout` is in seconds for each question to Z3.

    `explorer` and `surveyor` make the searches at small sizes (none: the fast ones; `run` has the plain ones that
    they are held against). `progress` is called with what was just done, in a few words.
    """
    started = time.perf_counter()

    def at_small_sizes() -> tuple[list[Obligation], list[GuardVerdict]]:
        vacuity = list(vacuity_obligations(machine, surveyor=surveyor))
        return vacuity, list(guard_verdicts(machine, explorer=explorer, surveyor=surveyor))

    obligations: list[Obligation] = []
    # Z3 works outside the interpreter's lock: meanwhile the small sizes are searched.
    with ThreadPoolExecutor(max_workers=1) as meanwhile:
        searched = meanwhile.submit(at_small_sizes)
        for obligation in prove_obligations(machine, timeout=timeout):
            obligations.append(obligation)
            progress(f"{obligation.action}: {obligation.property}")
        obligations.extend(_neededness(machine, obligations, timeout))
        progress("auxiliary invariants")
        vacuity, guards = searched.result()
    progress("small sizes and guards")
    return Report(machine, (*obligations, *vacuity), tuple(guards), time.perf_counter() - started)


def _neededness(machine: Machine, obligations: list[Obligation], timeout: float) -> Iterable[Obligation]:
    if any(each.result is not Result.PROVED for each in obligations):
        # What a proof needs can be told only of proofs.
        return
    started = time.perf_counter()
    needless = needless_auxiliaries(machine, obligations, timeout=timeout)
    seconds = time.perf_counter() - started
    for invariant in machine.invariants:
        if not invariant.public:
            result = Result.REFUTED if invariant.name in needless else Result.PROVED
            reason = "everything proves without it: remove it" if invariant.name in needless else None
            yield Obligation(machine.name, "proofs", f"needs: {invariant.name}", (), result, seconds, reason)


def as_json(reports: Iterable[Report], *, seconds: float) -> dict[str, object]:
    """The document of `anchorhold prove --json`.

    An obligation has one row for each rule that it states; `rule` is the property's name where it states none
    (auxiliary invariants, vacuity). Rows that one exploration answered each have the time of all of it.
    """
    obligations: list[dict[str, object]] = []
    guards: list[dict[str, object]] = []
    for report in reports:
        obligations.extend(
            {
                "machine": each.machine,
                "action": each.action,
                "rule": rule,
                "result": str(each.result),
                "seconds": round(each.seconds, 6),
            }
            for each in report.obligations
            for rule in each.rules or (each.property,)
        )
        guards.extend(
            {
                "machine": guard.machine,
                "action": guard.action,
                "guard": guard.guard,
                "necessary": guard.necessary,
                "tag": None if guard.tag is Tag.SAFETY else str(guard.tag),
            }
            for guard in report.guards
        )
    return {"obligations": obligations, "guards": guards, "seconds": round(seconds, 6)}
