"""What one checker said of every history so far, with the smallest of those that fail."""

from dataclasses import dataclass, field

from anchorhold.shrink import Failing
from anchorhold.verdict import Checker, History, Judgement

STARTS = 3
"""Failing histories of one rule, each of another workload, that are shortened; the best of what comes is kept."""


@dataclass(slots=True)
class Found:
    """What one checker said of every history so far."""

    checker: Checker
    judgements: list[Judgement] = field(default_factory=list)
    starts: list[Failing] = field(default_factory=list)
    """The smallest histories that fail, each of another workload; the smallest of all is the first."""
    after: int | None = None
    """Operations that had been played when it failed for the first time."""

    def take(self, history: History, judgement: Judgement) -> None:
        """Take what is said of a history."""
        # The history itself is let go of, unless it is one of the smallest that fail.
        self.judgements.append(judgement)
        self.note(history, judgement)

    def hear(self, judgement: Judgement) -> None:
        """Take what is said of a history in which nothing failed, and which is not here."""
        self.judgements.append(judgement)

    def note(self, history: History, judgement: Judgement) -> None:
        """Keep the history where it is one of the smallest that fail; it counts for no verdict."""
        if not judgement.failures:
            return
        best = {history.header.workload.name: Failing(history=history, failure=judgement.failures[0])}
        for other in self.starts:
            name = other.workload.name
            if name not in best or _length(other) <= _length(best[name]):
                best[name] = other
        self.starts = sorted(best.values(), key=_length)[:STARTS]


def _length(failing: Failing) -> int:
    return len(failing.history.events)
