"""Rules that are judged as a history goes by, by what is new in each look and each operation.

A `Watch` is the one definition of its rule. `check` leads it through a history that it has whole, and `verify`
through one that comes in line by line; what it is told is the same.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import ClassVar

from anchorhold.checkers.keys import Keys
from anchorhold.checkers.reading import COMMON, READS, Known, Observation, Operation, Stretch
from anchorhold.checkers.tally import Tally
from anchorhold.verdict import Judgement

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

    def operation(self, operation: Operation, session: str) -> None:
        """An operation ended that was begun in a session."""
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

    def look(self, look: Observation) -> None:
        """A look is over."""
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
        for tell in self._finish:
            tell()
        return tuple(tally.judgement() for tally in self.tallies)
