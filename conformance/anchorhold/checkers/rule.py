"""How the judging of one rule becomes a `Checker`, and how many of them share one reading."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from anchorhold.checkers.lanes import Lanes
from anchorhold.checkers.observe import beginning, read
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import READS, SIDELINES, Observation
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.watch import Watch, Watching
from anchorhold.verdict import Checker, History, Judgement, Needed


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleChecker:
    """A `Checker` made of a function that goes through a whole reading."""

    rule: str
    minimum: int
    mechanisms: tuple[Needed, ...]
    examine: Callable[[Reading, Tally], None]

    def judge(self, history: History) -> Judgement:
        """Judge one history."""
        return self.judge_reading(read(history))

    def judge_reading(self, reading: Reading) -> Judgement:
        """Judge a history that was read already, so that many checkers share one reading."""
        tally = Tally(self.rule)
        self.examine(reading, tally)
        return tally.judgement()


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchChecker:
    """A `Checker` of a structural rule: one that is judged as a history goes by, and scans no text."""

    rule: str
    minimum: int
    mechanisms: tuple[Needed, ...]
    watch: type[Watch]

    def judge(self, history: History) -> Judgement:
        """Judge one history."""
        return self.judge_reading(read(history))

    def judge_reading(self, reading: Reading) -> Judgement:
        """Judge a history that was read already."""
        return lead([self], reading)[0]


class ReadingChecker(Checker, Protocol):
    """A checker that can judge a history that was read already."""

    def judge_reading(self, reading: Reading) -> Judgement:
        """Judge a history that was read already."""


def judge_together(checkers: Sequence[ReadingChecker], reading: Reading) -> tuple[Judgement, ...]:
    """What each checker says of one reading, in their order; the watches go through it together."""
    watching = [checker for checker in checkers if isinstance(checker, WatchChecker)]
    led = iter(lead(watching, reading) if watching else ())
    return tuple(
        next(led) if isinstance(checker, WatchChecker) else checker.judge_reading(reading) for checker in checkers
    )


def lead(checkers: Sequence[WatchChecker], reading: Reading) -> tuple[Judgement, ...]:
    """Lead the watches of these checkers through a reading, as if it came in event by event."""
    lanes = Lanes(reading.header, reading.operations)

    def first(session: str) -> Observation:
        return beginning(session, watching.last, reading.forks)

    watching = Watching([(checker.rule, checker.watch) for checker in checkers], reading, first)
    quiet = (READS | SIDELINES) - watching.wants
    ended = sorted((o for o in reading.operations if o.op not in quiet), key=lambda o: o.end)
    begun = [o.start for o in reading.operations if o.op not in READS and o.op not in SIDELINES]
    at = 0
    for look in reading.observations:
        # A look is over when something is done next.
        following = bisect_right(begun, look.end)
        over = begun[following] if following < len(begun) else None
        while at < len(ended) and (over is None or ended[at].end < over):
            watching.operation(ended[at], lanes.of(ended[at].start))
            at += 1
        watching.look(look)
    for operation in ended[at:]:
        watching.operation(operation, lanes.of(operation.start))
    return watching.finish()
