"""Operations that never did what they were asked for, whatever was played: said beside what could not be decided.

A compactor that raises at every `compact` triggers few rules, and so breaks few. That a rule is inconclusive for want
of triggers says little to whoever wrote it; what was raised says it all. Pure.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from anchorhold.history import Event, EventType

WATCHED = ("append", "compact", "live")
"""Operations that every compactor has, and without which nothing is triggered."""
LONGEST = 200
"""Characters of an error that are told."""


@dataclass(slots=True, kw_only=True)
class Ends:
    """How the watched operations ended, over all that was played."""

    well: Counter[str] = field(default_factory=Counter)
    badly: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    """The first error of each."""

    def take(self, other: "Ends") -> None:
        """Add what came of another history."""
        self.well.update(other.well)
        self.badly.update(other.badly)
        self.first = {**other.first, **self.first}

    def never(self) -> str:
        """Which operation never succeeded, how often it was tried, and its first error; empty where all did."""
        told = [
            f"`{op}` ended with an error each time, {self.badly[op]} of {self.badly[op]}: {self.first[op]}"
            for op in WATCHED
            if self.badly[op] and not self.well[op]
        ]
        return "; ".join(told)


def ends(events: Iterable[Event]) -> Ends:
    """How the watched operations of one history ended."""
    found = Ends()
    for event in events:
        if event.op not in WATCHED or event.type is EventType.INVOKE:
            continue
        if event.type is EventType.OK:
            found.well[event.op] += 1
        else:
            found.badly[event.op] += 1
            found.first.setdefault(event.op, _short(event.error or "no reason was given"))
    return found


def explained(reason: str, trouble: str) -> str:
    """The reason of a verdict that says that too little was seen, and what stood in the way."""
    return f"{reason}; {trouble}" if trouble else reason


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
