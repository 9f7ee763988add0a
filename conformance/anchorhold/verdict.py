"""Verdicts: what a checker found in one history, and what that says of a rule over all histories.

Pure functions over frozen values; nothing here runs anything.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol, TypeAlias

from anchorhold.compactor import Mechanism
from anchorhold.history import Event, Header

MEANS: Mapping[Mechanism, str] = MappingProxyType(
    {
        Mechanism.CRASHES: "crash",
        Mechanism.STORE_FAULTS: "corrupt",
        Mechanism.POWER_LOSS: "lose_power",
        Mechanism.STORE_ERRORS: "fail_store",
        Mechanism.WORKERS: "begin",
        Mechanism.CLOCKS: "clock",
        Mechanism.STATUS: "status",
        Mechanism.AUDITS: "audits",
    }
)
"""Mechanisms that are the suite's means to bring a situation about, and the operation that each takes.

Every store can be damaged and fail, every process can stop, every clock can be wrong; and a compactor is lossless or
it is not, whether or not it can be asked and whether or not anybody looks. Where an adapter does not offer the means
the rule is not observable; it is vacuous only where the compactor has nothing that could be damaged or left half
done.
"""


Needed: TypeAlias = Mechanism | tuple[Mechanism, ...]
"""A mechanism, or several of which any one will do."""


class VerdictKind(StrEnum):
    """As in the catalogue: only `pass` and `vacuous` count as held."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    VACUOUS = "vacuous"
    """The mechanism that the rule restrains does not exist."""
    NOT_OBSERVABLE = "not-observable"
    """The mechanism exists and cannot be seen or driven."""
    INCONCLUSIVE = "inconclusive"
    """Triggered less often than the checker's minimum."""
    UNTESTED = "untested"
    """The suite has no checker for it yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A whole history."""

    header: Header
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A rule broken, once."""

    rule: str
    sentence: str
    """One sentence: which fact or span, and what happened to it."""
    fact: str
    """The fact's words, or the span's id."""
    event: int
    """Index of the event at which it shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a checker says of one history."""

    rule: str
    triggered: int
    """How often the situation that the rule speaks of occurred."""
    failures: tuple[Failure, ...] = ()
    note: str | None = None
    """What of the rule could not be looked at in this history, where something could not."""


class Checker(Protocol):
    """Judges one rule, from a history alone."""

    @property
    def rule(self) -> str:
        """Id of the rule."""

    @property
    def minimum(self) -> int:
        """Triggers over all histories below which nothing failing is inconclusive."""

    @property
    def mechanisms(self) -> tuple[Needed, ...]:
        """What the rule restrains: absent, it is vacuous; hidden, it is not observable. Of several together in one
        entry any one will do."""

    def judge(self, history: History) -> Judgement:
        """Look at one history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the histories together say of a rule."""

    rule: str
    kind: VerdictKind
    reason: str
    triggered: int


def decide(
    checker: Checker,
    *,
    present: frozenset[Mechanism],
    hidden: dict[Mechanism, str],
    judgements: Iterable[Judgement],
) -> Verdict:
    """Weigh what one checker said of every history."""
    found = tuple(judgements)
    triggered = sum(j.triggered for j in found)
    failures = [f for j in found for f in j.failures]

    def verdict(kind: VerdictKind, reason: str) -> Verdict:
        return Verdict(rule=checker.rule, kind=kind, reason=reason, triggered=triggered)

    if failures:
        return verdict(VerdictKind.FAIL, failures[0].sentence)
    # A situation that was seen to occur is no less real for a mechanism that the description forgot.
    for needed in checker.mechanisms if triggered < checker.minimum else ():
        choice = needed if isinstance(needed, tuple) else (needed,)
        driven = [mechanism for mechanism in choice if mechanism in present and mechanism not in hidden]
        if driven:
            continue
        for mechanism in choice:
            if mechanism in hidden:
                return verdict(VerdictKind.NOT_OBSERVABLE, f"{mechanism}: {hidden[mechanism]}")
        for mechanism in choice:
            if mechanism in MEANS:
                return verdict(VerdictKind.NOT_OBSERVABLE, f"the adapter offers no `{MEANS[mechanism]}`")
        if not triggered:
            return verdict(VerdictKind.VACUOUS, f"the compactor has no {' and no '.join(choice)}")
    notes = sorted({j.note for j in found if j.note})
    if triggered < checker.minimum:
        are = "is" if checker.minimum == 1 else "are"
        why = f"triggered {times(triggered)}, and {checker.minimum} {are} needed to say anything"
        return verdict(VerdictKind.INCONCLUSIVE, "; ".join([why, *notes]))
    return verdict(VerdictKind.PASS, "; ".join([f"held {times(triggered)}", *notes]))


def times(number: int) -> str:
    """How often, in words: `once`, `3 times`."""
    return "once" if number == 1 else f"{number} times"
