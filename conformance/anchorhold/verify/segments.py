"""A long history in segments, each with what has to be known of what went before.

The checkers judge whole histories. One that is longer than a segment is cut where a look at the window ends and
something is done next; what follows is judged together with the *carry*: of everything before, all that was done
(turns, outcomes, what the model replied; not what it was shown), the last whole looks at each session, and the first
sight of each pointer with what it then led to. Older looks are let go of: they are most of a file.

What is carried grows with the transcript and the pointers, that is with what the rules want to stay within reach,
and not with the looks; `Carry.size` says how much it is.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from anchorhold.checkers.reading import Place
from anchorhold.checkers.record import LEADING, READS, SIDELINES
from anchorhold.history import MAIN, Event, EventType, Header
from anchorhold_spec.vocabulary import OutcomeKind

SEGMENT: Final = 4000
"""Events after which a history is cut, at the next place where it can be."""
LOOKS: Final = 4
"""Whole looks at a session that are carried: as many generations as a rule compares with each other (PRO-4)."""
ASKED: Final = frozenset({"search", "reconstitute"})
"""Questions: judged where they are asked, and not carried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Events to be judged together."""

    carried: tuple[Event, ...]
    """What is known of before: judged already."""
    new: tuple[Event, ...]
    last: bool
    """Whether the history ends here."""


@dataclass(slots=True)
class Segments:
    """Cuts the events of one history as they come in."""

    header: Header
    longest: int = SEGMENT
    size: int = 0
    """Bytes of the lines of what is held, carried or new: in memory it is a few times as much."""
    _carried: list[Event] = field(default_factory=list)
    _new: list[Event] = field(default_factory=list)
    _sizes: dict[int, int] = field(default_factory=dict)
    _open: int = 0
    _workers: set[str] = field(default_factory=set)
    _stepped: str = ""
    """The worker that was let go on last."""
    _looked: bool = False
    """Whether the window was read since something was done last."""

    def take(self, event: Event, size: int) -> Segment | None:
        """Take one event in; answers with a segment where one is full and ends before this event."""
        full = None
        if len(self._new) >= max(self.longest, len(self._carried)) and self._between(event):
            full = self._cut(last=False)
        self._new.append(event)
        self._sizes[event.index] = size
        self.size += size
        self._follow(event)
        return full

    @property
    def held(self) -> tuple[Event, ...]:
        """What is known by now: carried, and new."""
        return (*self._carried, *self._new)

    def finish(self, *, torn: bool = False) -> Segment | None:
        """The history is over; none where nothing of it is left to judge.

        `torn`: its end is missing. A look that may not be over shows less than there was, and is left out.
        """
        while torn and self._new and self._new[-1].process == MAIN and self._new[-1].op in READS:
            self._new.pop()
        return self._cut(last=True) if self._new else None

    def _between(self, event: Event) -> bool:
        """Whether a look has just ended, nothing is under way, and something is done next."""
        does = event.type is EventType.INVOKE and event.op not in READS | SIDELINES
        return does and self._looked and not self._open and not self._workers

    def _follow(self, event: Event) -> None:
        invoked = event.type is EventType.INVOKE
        self._open = max(0, self._open + (1 if invoked else -1))
        if invoked and event.op in ("begin", "advance") and isinstance(event.value, dict):
            self._stepped = str(event.value.get("worker"))
            if event.op == "begin":
                self._workers.add(self._stepped)
        elif event.op == "advance" and isinstance(event.value, dict) and event.value.get("done"):
            self._workers.discard(self._stepped)
        if event.op == "live" and event.type is EventType.OK:
            self._looked = True
        elif invoked and event.op not in READS | SIDELINES:
            self._looked = False

    def _cut(self, *, last: bool) -> Segment:
        segment = Segment(carried=tuple(self._carried), new=tuple(self._new), last=last)
        self._carried = [] if last else carry(self.header, (*self._carried, *self._new))
        self._new = []
        self._sizes = {event.index: self._sizes.get(event.index, 0) for event in self._carried}
        self.size = sum(self._sizes.values())
        return segment


@dataclass(slots=True)
class _Look:
    """The reads of the main process between two changes, as pairs of invocation and end."""

    lane: str
    reads: list[tuple[Event, Event]] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether the window was seen."""
        return any(end.op == "live" and end.type is EventType.OK for _, end in self.reads)


def carry(header: Header, events: Iterable[Event]) -> list[Event]:
    """What has to be known of these events where later ones are judged. Carrying twice is carrying once."""
    kept: list[Event] = []
    looks: list[_Look] = []
    for done in _operations(header, events):
        if isinstance(done, _Look):
            looks.append(done)
        elif kept and _idle(kept[-1], done):
            kept.pop()
        else:
            kept.append(_lighter(done))
    lanes: dict[str, deque[int]] = {}
    for number, look in enumerate(looks):
        if look.whole:
            lanes.setdefault(look.lane, deque(maxlen=LOOKS)).append(number)
    last = {number for numbers in lanes.values() for number in numbers}
    known: set[str] = set()
    for number, look in enumerate(looks):
        for invoke, end in _latest(look) if number in last else _first_sights(look, known):
            kept += (invoke, end)
        known |= {str(pointer.get("token")) for pointer in _pointers(look)}
    return sorted(kept, key=lambda event: event.index)


def _operations(header: Header, events: Iterable[Event]) -> Iterator[Event | _Look]:
    """Looks as one, and every event that is not of a look."""
    place = Place.first(header)
    lane = place.lane
    look = _Look(lane)
    depth = 0
    reading: Event | None = None
    asked: dict[str, Any] = {}
    """By process, what its latest `switch` or `fork` asked for."""
    for event in events:
        if event.op in LEADING:
            if event.type is EventType.INVOKE:
                asked[event.process] = event.value if isinstance(event.value, dict) else {}
            elif event.type is EventType.OK:
                place = place.after(event.op, asked.get(event.process, {}))
                lane = place.lane
        if event.process != MAIN:
            yield event
            continue
        invoked = event.type is EventType.INVOKE
        if event.op in READS and depth == 0:
            if invoked:
                reading = event
                if not look.reads:
                    look.lane = lane
            elif reading is not None:
                look.reads.append((reading, event))
                reading = None
            continue
        depth = max(0, depth + (1 if invoked else -1))
        if invoked and event.op not in SIDELINES and look.reads:
            yield look
            look = _Look(lane)
        yield event
    if look.reads:
        yield look


def _pointers(look: _Look) -> Iterator[dict[str, Any]]:
    for _, end in look.reads:
        if end.op == "pointers" and end.type is EventType.OK:
            yield from (pointer for pointer in end.value or () if isinstance(pointer, dict))


def _latest(look: _Look) -> Iterator[tuple[Event, Event]]:
    """What was read last by each read: what is read again before anything is done counts as it was then."""
    latest = {(invoke.op, msgspec.json.encode(invoke.value)): invoke.index for invoke, _ in look.reads}
    for invoke, end in look.reads:
        if invoke.op not in ASKED and latest[invoke.op, msgspec.json.encode(invoke.value)] == invoke.index:
            yield invoke, end


def _first_sights(look: _Look, known: set[str]) -> Iterator[tuple[Event, Event]]:
    """Of a look that is let go of: the pointers that were not seen before, and what they led to."""
    unseen = {str(pointer.get("token")) for pointer in _pointers(look)} - known
    unasked = set(unseen)
    for invoke, end in look.reads:
        if end.op == "pointers" and end.type is EventType.OK:
            first = [pointer for pointer in end.value or () if str(pointer.get("token")) in unseen]
            unseen -= {str(pointer.get("token")) for pointer in first}
            if first:
                yield invoke, msgspec.structs.replace(end, value=first)
        elif end.op == "get" and (token := str((invoke.value or {}).get("token"))) in unasked:
            unasked.remove(token)
            yield invoke, end


def _idle(invoke: Event, end: Event) -> bool:
    """Whether this is a compaction that asked no model and found nothing to do: none of them matters later."""
    both = (invoke.op, end.op) == ("compact", "compact") and invoke.process == end.process
    ended = invoke.type is EventType.INVOKE and end.type is EventType.OK and isinstance(end.value, dict)
    return both and ended and end.value.get("kind") == OutcomeKind.NOTHING.value


def _lighter(event: Event) -> Event:
    """What the model was shown is judged where it was shown, and takes as much room as the transcript each time."""
    if event.op == "summarise" and event.type is EventType.INVOKE:
        return msgspec.structs.replace(event, value={"messages": []})
    return event
