"""All that `anchorhold prove` finds out about one machine, and the JSON form of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from anchorhold_spec.language import Machine, Tag
from anchorhold_spec.prove.necessity import GuardVerdict, guard_verdicts
from anchorhold_spec.prove.obligations import Obligation, Result, needless_auxiliaries, prove_obligations
from anchorhold_spec.prove.vacuity import UNBROKEN, vacuity_obligations
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
    proofs = verify_proofs(machine, timeout=timeout, progress=progress)
    searches = verify_small_sizes(machine, explorer=explorer, surveyor=surveyor, progress=progress)
    return Report(
        machine, (*proofs.obligations, *searches.obligations), searches.guards, proofs.seconds + searches.seconds
    )


def verify_proofs(
    machine: Machine, *, timeout: float = 10.0, progress: Callable[[str], None] = lambda _: None
) -> Report:
    """The part of `verify` that Z3 does, for every size."""
    started = time.perf_counter()
    obligations: list[Obligation] = []
    for obligation in prove_obligations(machine, timeout=timeout):
        obligations.append(obligation)
        progress(f"{obligation.action}: {obligation.property}")
    obligations.extend(_neededness(machine, obligations, timeout))
    progress("auxiliary invariants")
    return Report(machine, tuple(obligations), (), time.perf_counter() - started)


def verify_small_sizes(
    machine: Machine,
    *,
    explorer: MutantExplorer | None = None,
    surveyor: Surveyor | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """The part of `verify` that is found by searching: vacuity, and the necessity of guards."""
    vacuity = verify_vacuity(machine, surveyor=surveyor, progress=progress)
    sound = any(each.property == UNBROKEN and each.result is Result.PROVED for each in vacuity.obligations)
    guards = verify_guards(machine, explorer=explorer, surveyor=surveyor, sound=sound, progress=progress)
    return Report(machine, vacuity.obligations, guards.guards, vacuity.seconds + guards.seconds)


def verify_vacuity(
    machine: Machine, *, surveyor: Surveyor | None = None, progress: Callable[[str], None] = lambda _: None
) -> Report:
    """The part of `verify_small_sizes` that says that nothing holds vacuously."""
    started = time.perf_counter()
    vacuity = tuple(vacuity_obligations(machine, surveyor=surveyor))
    progress("small sizes")
    return Report(machine, vacuity, (), time.perf_counter() - started)


def verify_guards(
    machine: Machine,
    *,
    explorer: MutantExplorer | None = None,
    surveyor: Surveyor | None = None,
    sound: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """The part of `verify_small_sizes` that says which guards are necessary.

    `sound`: it was seen already that no rule is broken while they are all in place; else it is looked at here.
    """
    started = time.perf_counter()
    guards = tuple(guard_verdicts(machine, explorer=explorer, surveyor=surveyor, sound=sound))
    progress("guards")
    return Report(machine, (), guards, time.perf_counter() - started)


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
