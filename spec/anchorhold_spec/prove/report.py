"""All that `anchorhold prove` finds out about one machine, and the JSON form of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from anchorhold_spec.language import Invariant, Machine, MalformedMachine, Tag, Transition
from anchorhold_spec.prove.necessity import GuardVerdict, guard_verdicts
from anchorhold_spec.prove.obligations import Obligation, Prover, Result, prove_obligations
from anchorhold_spec.prove.premises import parts
from anchorhold_spec.prove.vacuity import UNBROKEN, vacuity_obligations
from anchorhold_spec.prove.without import WithoutGuard, WithoutGuards, needless_auxiliaries
from anchorhold_spec.run import MutantExplorer, Surveyor


@dataclass(frozen=True)
class Report:
    """What was found about one machine."""

    machine: Machine
    obligations: tuple[Obligation, ...]
    guards: tuple[GuardVerdict, ...]
    seconds: float

    def __add__(self, other: Report) -> Report:
        """Both parts of one machine, the guards in the machine's order."""
        order = [(action.name, guard.name) for action in self.machine.actions for guard in action.guards]
        guards = sorted((*self.guards, *other.guards), key=lambda each: order.index((each.action, each.guard)))
        obligations = (*self.obligations, *other.obligations)
        return Report(self.machine, obligations, tuple(guards), self.seconds + other.seconds)

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

    Raises MalformedMachine where the axioms contradict each other, or hold in no small instance.
    """
    proofs = verify_proofs(machine, timeout=timeout, explorer=explorer, surveyor=surveyor, progress=progress)
    searches = verify_small_sizes(machine, explorer=explorer, surveyor=surveyor, progress=progress)
    return proofs + searches


UNTAGGED, TAGGED = (Tag.SAFETY,), (Tag.BOUND, Tag.REALISM)

AXIOMS = "axioms"
"""Stands in the place of an action for what holds of the given data."""

ANY_STATE = "in any state"
"""Stands in the place of an action for what holds, or fails, whatever the run."""


def verify_proofs(
    machine: Machine,
    *,
    timeout: float = 10.0,
    explorer: MutantExplorer | None = None,
    surveyor: Surveyor | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """The part of `verify` that Z3 does, for every size: the properties, and the rules without each tagged guard.

    What breaks without a tagged guard is searched for where the rules could not be proved without it, and where the
    machine says that something can end, which is not proved.
    """
    started = time.perf_counter()
    prover = Prover(machine, timeout=timeout)
    obligations: list[Obligation] = list(_axioms(prover))
    progress("axioms")
    proofs: list[Obligation] = []
    for obligation in prove_obligations(machine, timeout=timeout, prover=prover):
        proofs.append(obligation)
        progress(f"{obligation.action}: {obligation.property}")
    without = tuple(WithoutGuards(prover, proofs))
    progress("without guards")
    obligations += [*proofs, *_breakable(prover), *_neededness(prover, proofs, without, timeout)]
    progress("auxiliary invariants")
    sound = all(each.result is Result.PROVED for each in proofs) and not machine.progress
    guards = guard_verdicts(machine, explorer=explorer, surveyor=surveyor, sound=sound, tags=TAGGED, proofs=without)
    report = Report(machine, tuple(obligations), tuple(guards), 0.0)
    progress("tagged guards")
    return replace(report, seconds=time.perf_counter() - started)


def verify_small_sizes(
    machine: Machine,
    *,
    explorer: MutantExplorer | None = None,
    surveyor: Surveyor | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """The part of `verify` that is found by searching: vacuity, and that guards are necessary."""
    started = time.perf_counter()
    vacuity = tuple(vacuity_obligations(machine, surveyor=surveyor))
    progress("small sizes")
    basic = {UNBROKEN, *(each.name for each in machine.progress)}
    sound = all(each.result is Result.PROVED for each in vacuity if each.property in basic)
    guards = tuple(guard_verdicts(machine, explorer=explorer, surveyor=surveyor, sound=sound, tags=UNTAGGED))
    progress("guards")
    return Report(machine, vacuity, guards, time.perf_counter() - started)


def _axioms(prover: Prover) -> Iterator[Obligation]:
    """Raises MalformedMachine where they contradict each other: everything would be proved."""
    machine = prover.machine
    if not machine.axioms:
        return
    started = time.perf_counter()
    result = prover.axioms()
    names = ", ".join(axiom.name for axiom in machine.axioms)
    if result is Result.REFUTED:
        raise MalformedMachine(
            (machine.name, f"axioms {names}"),
            "no data can satisfy all of them, so that anything would be proved: drop or weaken one",
        )
    reason = None if result is Result.PROVED else "Z3 could not tell whether any data satisfy them"
    yield Obligation(machine.name, AXIOMS, "can hold together", (), result, time.perf_counter() - started, reason)


def _breakable(prover: Prover) -> Iterator[Obligation]:
    """Of each property: there is a state, or for two-state properties a pair of states, where it does not hold.

    Each of its conjuncts has to be like that; one that is not says nothing.
    """
    properties: tuple[Invariant | Transition, ...] = (*prover.machine.invariants, *prover.machine.transitions)
    for each in properties:
        started = time.perf_counter()
        found = Result.PROVED
        reason: str | None = None
        conjuncts = list(parts(each.formula))
        for i, part in enumerate(conjuncts, start=1):
            vacuous = prover.vacuous(part)
            if vacuous is Result.REFUTED:
                continue
            which = f"its conjunct {i} " if len(conjuncts) > 1 else "it "
            found = Result.REFUTED if vacuous is Result.PROVED else Result.UNKNOWN
            reason = which + (
                "holds in every state whatever, by the sorts and axioms alone: it says nothing"
                if vacuous is Result.PROVED
                else "may hold in every state whatever: Z3 could not tell"
            )
            break
        name = f"can be broken: {each.name}"
        yield Obligation(prover.machine.name, ANY_STATE, name, (), found, time.perf_counter() - started, reason)


def _neededness(
    prover: Prover, obligations: list[Obligation], without: Collection[WithoutGuard], timeout: float
) -> Iterable[Obligation]:
    if any(each.result is not Result.PROVED for each in obligations):
        # What a proof needs can be told only of proofs.
        return
    started = time.perf_counter()
    machine = prover.machine
    needless = needless_auxiliaries(machine, obligations, timeout=timeout, prover=prover, without=without)
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

    A guard has besides what is published of each: `without` (see `Without`), `searched` (the sizes at which every
    state was seen without it, nothing broke and what was pending could end) and
    `unproved` (the properties that could not be proved without it).
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
        guards.extend(_guard_row(guard) for guard in report.guards)
    return {"obligations": obligations, "guards": guards, "seconds": round(seconds, 6)}


def _guard_row(guard: GuardVerdict) -> dict[str, object]:
    return {
        "machine": guard.machine,
        "action": guard.action,
        "guard": guard.guard,
        "necessary": guard.necessary,
        "tag": None if guard.tag is Tag.SAFETY else str(guard.tag),
        "without": str(guard.without),
        "searched": [dict(sizes) for sizes in guard.searched],
        "unproved": sorted(guard.proofs.failed) if guard.proofs and not guard.violation else [],
    }
