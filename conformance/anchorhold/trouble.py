"""What was missing where too little was seen: operations that never did what they were asked for, and compactions
that were not committed. Said beside what could not be decided.

A compactor that raises at every `compact` triggers few rules, and so breaks few. That a rule is inconclusive for want
of triggers says little to whoever wrote it; what was raised says it all. Pure.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from anchorhold.checkers.lossless import PERIOD
from anchorhold.compactor import OPERATIONS_OF
from anchorhold.history import Event, EventType
from anchorhold.verdict import Checker
from anchorhold_spec.vocabulary import OutcomeKind

WATCHED = ("append", "compact", "live")
"""Operations that every compactor has, and without which nothing is triggered."""
COMPACTIONS: Mapping[str, int] = {"RET-2": PERIOD}
"""Rules that say nothing of a history with fewer committed compactions than this."""
LONGEST = 200
"""Characters of an error, or of a reason, that are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compactions:
    """How the compactions of some histories, or of one, ended that ended with an outcome."""

    committed: int = 0
    idle: int = 0
    """With nothing to do."""
    declined: int = 0
    """Refused, or failed."""
    reason: str = ""
    """Of the first of these."""

    @property
    def rank(self) -> tuple[int, int]:
        """Of two histories the one with the higher says more."""
        return self.committed, self.idle + self.declined

    def and_(self, other: "Compactions") -> "Compactions":
        """Those of both."""
        return Compactions(
            committed=self.committed + other.committed,
            idle=self.idle + other.idle,
            declined=self.declined + other.declined,
            reason=self.reason or other.reason,
        )

    def __str__(self) -> str:
        """In words."""
        rest = f", {self.idle} found nothing to do" if self.idle else ""
        if self.declined:
            rest += f", {self.declined} were refused or failed, the first with “{self.reason}”"
        return f"{self.committed} were committed{rest}"


@dataclass(slots=True, kw_only=True)
class Ends:
    """How operations ended, over all that was played."""

    well: Counter[str] = field(default_factory=Counter)
    badly: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    """The first error of each."""
    compactions: Compactions = Compactions()
    longest: Compactions = Compactions()
    """Those of the one history in which most were committed."""

    def take(self, other: "Ends") -> None:
        """Add what came of another history."""
        self.well.update(other.well)
        self.badly.update(other.badly)
        self.first = {**other.first, **self.first}
        self.compactions = self.compactions.and_(other.compactions)
        if other.longest.rank > self.longest.rank:
            self.longest = other.longest

    def never(self, operations: Iterable[str] = WATCHED) -> str:
        """Which of them never succeeded, how often it was tried, and its first error; empty where all did."""
        told = [
            f"`{op}` ended with an error each time, {self.badly[op]} of {self.badly[op]}: {self.first[op]}"
            for op in operations
            if self.badly[op] and not self.well[op]
        ]
        return "; ".join(told)

    def missing(self, checker: Checker, offered: Collection[str]) -> str:
        """What of that by which this rule is triggered did not happen, of what the compactor offers."""
        own = dict.fromkeys(
            operation
            for needed in checker.mechanisms
            for mechanism in (needed if isinstance(needed, tuple) else (needed,))
            for operation in OPERATIONS_OF.get(mechanism, ())
            if operation in offered
        )
        unasked = [f"`{op}` was never asked for" for op in own if not self.well[op] and not self.badly[op]]
        told = [
            self.never(dict.fromkeys((*WATCHED, *own))),
            *unasked,
            self._uncommitted(COMPACTIONS.get(checker.rule)),
        ]
        return "; ".join(filter(None, told))

    def _uncommitted(self, wanted: int | None) -> str:
        """Where none was committed, or too few in any history: how many were."""
        if self.compactions.declined and not self.compactions.committed:
            return f"of all compactions {self.compactions}"
        if wanted is None or self.longest.committed >= wanted:
            return ""
        return f"it takes {wanted} committed compactions in one history, and in the one with most {self.longest}"


def ends(events: Iterable[Event]) -> Ends:
    """How the operations of one history ended."""
    found = Ends()
    for event in events:
        if event.type is EventType.INVOKE:
            continue
        if event.type is EventType.OK:
            found.well[event.op] += 1
            if event.op == "compact":
                found.compactions = found.compactions.and_(_compaction(event.value))
        else:
            found.badly[event.op] += 1
            found.first.setdefault(event.op, _short(event.error or "no reason was given"))
    found.longest = found.compactions
    return found


def _compaction(value: Any) -> Compactions:
    """One that answered with an outcome."""
    outcome = value if isinstance(value, Mapping) else msgspec.to_builtins(value)
    kind = outcome.get("kind") if isinstance(outcome, Mapping) else None
    if kind == OutcomeKind.COMMITTED:
        return Compactions(committed=1)
    if kind == OutcomeKind.NOTHING:
        return Compactions(idle=1)
    if kind not in (OutcomeKind.REFUSED, OutcomeKind.FAILED):
        return Compactions()
    return Compactions(declined=1, reason=_short(str(outcome.get("reason") or kind)))


def explained(reason: str, trouble: str) -> str:
    """The reason of a verdict that says that too little was seen, and what stood in the way."""
    return f"{reason}; {trouble}" if trouble else reason


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
