"""Rules that are judged as a history goes by, by what is new in each look and each operation.

A `Watch` is the one definition of its rule. `check` leads it through a history that it has whole, and `verify`
through one that comes in line by line; what it is told is the same.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import ClassVar

from anchorhold.checkers.keys import Keys
from anchorhold.checkers.reading import Known
from anchorhold.checkers.record import COMMON, READS, Observation, Operation, Stretch
from anchorhold.checkers.tally import Tally
from anchorhold.history import MAIN
from anchorhold.verdict import Judgement
from anchorhold_spec.vocabulary import OutcomeKind

UNSEEN = 64
"""Operations that concern every session, of which a session knows that nobody has looked at yet: the latest."""


class Watch:
    """Judges one rule. What it is told comes in the order in which it happened."""

    operations: ClassVar[frozenset[str]] = frozenset()
    """Operations that it is told of when they have ended."""

    def __init__(self, known: Known, keys: Keys, tally: Tally) -> None:
        self.known = known
        self.keys = keys
        self.tally = tally

    def operation(self, operation: Operation) -> None:
        """One of its operations ended."""

    def look(self, look: Observation) -> None:
        """Everything was looked at that could be seen between two changes. Parts that stand as they stood in an
        earlier look may be the same objects."""

    def stretch(self, stretch: Stretch) -> None:
        """The window was looked at (as `look` was told before); what was done since the last look at it."""

    def finish(self) -> None:
        """The history is over."""

    @property
    def steady(self) -> bool:
        """Whether a round that is like the two before it (a compaction that found nothing to do, and a look that
        showed the same) adds to the triggers what the last one added, and does nothing else that matters. Of the
        operations that are passed over by that, it is told of the last."""
        return True


class Watching:
    """Several rules over one history."""

    def __init__(
        self, rules: Iterable[tuple[str, type[Watch]]], known: Known, first: Callable[[str], Observation]
    ) -> None:
        """`first`: how the window of a session stood before anybody looked at it."""
        self._first = first
        self.keys = Keys(known)
        self.tallies: list[Tally] = []
        watches: list[Watch] = []
        for rule, watch_of in rules:
            tally = Tally(rule)
            self.tallies.append(tally)
            watches.append(watch_of(known, self.keys, tally))
        self._finish = [watch.finish for watch in watches if type(watch).finish is not Watch.finish]
        self._watches = watches
        self._look = [watch.look for watch in watches if type(watch).look is not Watch.look]
        self._stretch = [watch.stretch for watch in watches if type(watch).stretch is not Watch.stretch]
        self._operation: dict[str, list[Callable[[Operation], None]]] = {}
        for watch in watches:
            for op in watch.operations:
                self._operation.setdefault(op, []).append(watch.operation)
        self.last: dict[str, Observation] = {}
        """The last look at the window of each session."""
        self._since: dict[str, list[Operation]] = {}
        self._everywhere: deque[Operation] = deque(maxlen=UNSEEN)
        self.wants = frozenset(self._operation)
        self._idle: tuple[Operation, str] | None = None
        """A compaction that found nothing to do, of which nobody was told yet."""
        self._passed: tuple[Operation, str] | None = None
        """The last that was passed over, with the look after it."""
        self._added: list[int] | None = None
        """What the last round added to the triggers of each rule, where it was one of a compaction that found
        nothing to do and a look that showed the same."""
        self._rounds = 0
        """How many rounds were passed over and are not counted yet."""
        self._steady = False
        """Whether the last two such rounds were alike."""

    def operation(self, operation: Operation, session: str) -> None:
        """An operation ended that was begun in a session."""
        if self._idle is not None:
            self._catch_up()
        if operation.op == "compact" and _idle(operation):
            self._idle = (operation, session)
        else:
            if self._rounds:
                self._count()
            self._added, self._steady = None, False
            self._tell(operation, session)

    def _catch_up(self) -> None:
        """Tell of what nobody was told yet: it was not followed by the look that it was kept back for."""
        if self._idle is not None:
            kept, self._idle = self._idle, None
            if self._passed is not None:
                self._leave()
            self._added, self._steady = None, False
            self._tell(*kept)

    def _count(self) -> None:
        """Add what the rounds that were passed over add to the triggers."""
        if self._added is not None:
            for tally, more in zip(self.tallies, self._added, strict=True):
                tally.triggered += more * self._rounds
        self._rounds = 0

    def _leave(self) -> None:
        """Tell of the last operation that was passed over; what followed it was counted."""
        if self._rounds:
            self._count()
        if self._passed is not None:
            (operation, _), self._passed = self._passed, None
            for tell in self._operation.get(operation.op, ()):
                tell(operation)

    def _tell(self, operation: Operation, session: str) -> None:
        if self._passed is not None:
            self._leave()
        op = operation.op
        for tell in self._operation.get(op, ()):
            tell(operation)
        if not self._stretch or op in READS or (op in ("switch", "fork") and operation.ok):
            return
        if op not in COMMON:
            self._since.setdefault(session, []).append(operation)
            return
        self._everywhere.append(operation)
        for each in self.last:
            self._since.setdefault(each, []).append(operation)

    def look(self, look: Observation, *, same: bool = False) -> None:
        """A look is over. `same`: but for its place it is as the last, and nothing that matters to it changed."""
        idle, self._idle = self._idle, None
        round_ = same and idle is not None and look.live is not None
        if round_ and self._steady:
            self._rounds += 1
            self._passed = idle
            self.last[look.session] = look
            return
        if self._rounds:
            self._count()
        before = [(tally.triggered, len(tally.failures)) for tally in self.tallies] if round_ else []
        if idle is not None:
            self._tell(*idle)
        if self._passed is not None:
            self._leave()
        self._show(look)
        if not round_:
            self._added, self._steady = None, False
            return
        added = [tally.triggered - was for tally, (was, _) in zip(self.tallies, before, strict=True)]
        quiet = all(len(tally.failures) == was for tally, (_, was) in zip(self.tallies, before, strict=True))
        self._steady = quiet and added == self._added and all(watch.steady for watch in self._watches)
        self._added = added

    def _show(self, look: Observation) -> None:
        self.keys.see(look)
        for tell in self._look:
            tell(look)
        if look.live is None:
            return
        session = look.session
        if self._stretch:
            before, since = self.last.get(session), self._since.pop(session, ())
            if before is None:
                before = self._first(session)
                since = [o for o in self._everywhere if o.start >= before.end] + list(since)
            operations = tuple(since) if len(since) < 2 else tuple(sorted(since, key=lambda o: o.start))
            stretch = Stretch(before=before, operations=operations, after=look)
            for tell_stretch in self._stretch:
                tell_stretch(stretch)
        self.last[session] = look

    def finish(self) -> tuple[Judgement, ...]:
        """The history is over: what each rule comes to, in their order."""
        self._catch_up()
        self._leave()
        for tell in self._finish:
            tell()
        return tuple(tally.judgement() for tally in self.tallies)


def _idle(operation: Operation) -> bool:
    """Whether this compaction asked no model and found nothing to do."""
    if operation.calls or operation.process != MAIN:
        return False
    outcome = operation.outcome()
    return outcome is not None and outcome.kind is OutcomeKind.NOTHING
