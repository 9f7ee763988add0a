"""A history as a sequence diagram: who said what to whom, row by row, with the geometry to draw it. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from anchorhold.history import Event, EventType
from anchorhold.report.phrases import READS, ending, in_full, invocation, tally
from anchorhold.report.story import mentions
from anchorhold.report.text import Piece, clip, marked, one_line, visible
from anchorhold.verdict import History

SHOW_ALL = 24
"""Up to this many events a diagram leaves none out."""
MOST_ROWS = 160
"""A diagram is cut after this many rows, and says so."""
MOST_TEXT = 20_000
"""Characters of one event that the page holds; the history file has all."""

STORE_OPERATIONS = frozenset({"corrupt", "expire", "put_with_key"})
"""Operations by which the suite reaches past the compactor."""


class Lane(StrEnum):
    """Who takes part."""

    SUITE = "suite"
    COMPACTOR = "compactor"
    SUMMARISER = "summariser"
    STORE = "store"


class Arrow(StrEnum):
    """What a row shows."""

    CALL = "call"
    OK = "ok"
    FAIL = "fail"
    INFO = "info"
    LEFT_OUT = "left-out"
    """Stands for several events that do not bear on the failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One row, not yet drawn."""

    step: int
    source: Lane
    target: Lane
    arrow: Arrow
    text: str
    event: int | None = None
    failing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnLane:
    """A life line."""

    name: Lane
    x: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One drawn row."""

    message: Message
    y: int
    """Of the arrow."""
    start: int
    end: int
    label_x: int
    anchor: str
    """`start` or `end`: SVG's text-anchor."""
    label: tuple[Piece, ...]
    in_full: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """The rows of one step."""

    step: int
    """From 1, as in the story."""
    y: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagram:
    """Everything that the template draws."""

    width: int
    height: int
    top: int
    lanes: tuple[DrawnLane, ...]
    bands: tuple[Band, ...]
    rows: tuple[Row, ...]
    left_out: int
    """Events beyond the last row, where the diagram was cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FullEvent:
    """An event for the list below the diagram."""

    index: int
    step: int
    words: str
    type: str
    text: tuple[Piece, ...]
    cut: bool
    failing: bool


def messages(history: History, *, fact: str, event: int | None) -> tuple[Message, ...]:
    """The rows of a diagram. In long histories, events that do not bear on the failure are gathered."""
    all_of_them = [_message(each, failing=each.index == event) for each in history.events]
    if len(all_of_them) <= SHOW_ALL:
        return tuple(all_of_them)
    loud = _loud(history.events, fact=fact, event=event)
    paired = list(zip(history.events, all_of_them, strict=True))
    rows: list[Message] = []
    for (step, is_loud), group in groupby(paired, key=lambda pair: (_stretch(pair[0], loud), pair[0].index in loud)):
        found = list(group)
        calls = [each.op for each, _ in found if each.type is EventType.INVOKE]
        if is_loud or len(found) <= 2:
            rows.extend(message for _, message in found)
        else:
            what = f"{tally(calls)}: nothing about this"
            rows.append(
                Message(
                    step=max(step, found[0][0].step),
                    source=Lane.SUITE,
                    target=Lane.COMPACTOR,
                    arrow=Arrow.LEFT_OUT,
                    text=what,
                )
            )
    return tuple(rows)


def draw(rows: Sequence[Message], history: History, *, fact: str) -> Diagram:
    """Place the rows. Long texts are clipped to the space between the lanes."""
    shown = rows[:MOST_ROWS]
    lanes = _lanes(shown)
    drawn: list[Row] = []
    bands: list[Band] = []
    y = _TOP
    for step, group in groupby(shown, key=lambda each: each.step):
        start = y
        for message in group:
            y += _ROW
            drawn.append(_row(message, y - _UNDER, lanes, history, fact=fact))
        bands.append(Band(step=step + 1, y=start, height=y - start))
    width = max(lanes.values()) + _MARGIN
    return Diagram(
        width=width,
        height=y + _FOOT,
        top=_TOP,
        lanes=tuple(DrawnLane(name=name, x=x) for name, x in lanes.items()),
        bands=tuple(bands),
        rows=tuple(drawn),
        left_out=len(rows) - len(shown),
    )


def full_events(history: History, *, fact: str, event: int | None) -> tuple[FullEvent, ...]:
    """Every event with all that it says, up to a length that a page can bear."""
    return tuple(_full(each, fact=fact, failing=each.index == event) for each in history.events)


_TOP = 44
_ROW = 34
_UNDER = 8
_FOOT = 16
_FIRST = 84
_MARGIN = 64
_CHARACTER = 7.3
"""Width of a character of the diagram's monospaced font, in the units of the drawing."""
_GAPS = {Lane.COMPACTOR: 470, Lane.SUMMARISER: 360, Lane.STORE: 130}
"""From each lane to the one before it."""


def _lanes(rows: Sequence[Message]) -> dict[Lane, int]:
    """Where each lane stands; those in which nothing happens are left out."""
    used = {Lane.SUITE, Lane.COMPACTOR} | {lane for each in rows for lane in (each.source, each.target)}
    lanes: dict[Lane, int] = {}
    x = _FIRST
    for lane in Lane:
        if lane in used:
            x += _GAPS.get(lane, 0)
            lanes[lane] = x
    return lanes


def _row(message: Message, y: int, lanes: dict[Lane, int], history: History, *, fact: str) -> Row:
    start, end = lanes[message.source], lanes[message.target]
    room = int((abs(end - start) - 20) / _CHARACTER)
    # Two characters fewer than fit: fonts differ.
    label = clip(one_line(message.text), room - 2, around=one_line(fact))
    forward = start <= end
    event = history.events[message.event] if message.event is not None else None
    return Row(
        message=message,
        y=y,
        start=start,
        end=end,
        label_x=start + 9 if forward else start - 9,
        anchor="start" if forward else "end",
        label=marked(label, one_line(fact)),
        in_full=clip(visible(message.text if event is None else f"{event.op} {in_full(event)}"), 600),
    )


def _message(event: Event, *, failing: bool) -> Message:
    if event.process == "summariser" or event.op == "summarise":
        near, far = Lane.COMPACTOR, Lane.SUMMARISER
    elif event.op in STORE_OPERATIONS:
        near, far = Lane.SUITE, Lane.STORE
    else:
        near, far = Lane.SUITE, Lane.COMPACTOR
    called = event.type is EventType.INVOKE
    worker = "" if event.process in {"main", "summariser"} else f"[{event.process}] "
    return Message(
        step=event.step,
        source=near if called else far,
        target=far if called else near,
        arrow=Arrow.CALL if called else Arrow(event.type.value),
        text=worker + (invocation(event) if called else ending(event)),
        event=event.index,
        failing=failing,
    )


def _loud(events: Sequence[Event], *, fact: str, event: int | None) -> frozenset[int]:
    """Indices of the events that bear on the failure: both ends of each operation one end of which does."""
    loud: set[int] = set()
    for call, end in _operations(events):
        ends = [call] if end is None else [call, end]
        quiet_kind = call.op in READS or call.op in {"append", "note"}
        went_wrong = any(each.error is not None for each in ends)
        if not quiet_kind or went_wrong or any(each.index == event or mentions(each, fact) for each in ends):
            loud.update(each.index for each in ends)
    return frozenset(loud)


def _operations(events: Sequence[Event]) -> Iterator[tuple[Event, Event | None]]:
    """Each call with its end; calls of one process do not overlap, save where one encloses another."""
    pending: dict[str, list[Event]] = {}
    for each in events:
        if each.type is EventType.INVOKE:
            pending.setdefault(each.process, []).append(each)
        elif pending.get(each.process):
            yield pending[each.process].pop(), each
        else:
            # An end without a call, as in a history that was recorded elsewhere: it stands for itself.
            yield each, None
    for calls in pending.values():
        for call in calls:
            yield call, None


def _stretch(event: Event, loud: frozenset[int]) -> int:
    """What keeps neighbours apart when events are gathered: loud ones keep to their step."""
    return event.step if event.index in loud else -1


def _full(event: Event, *, fact: str, failing: bool) -> FullEvent:
    text = in_full(event)
    return FullEvent(
        index=event.index,
        step=event.step + 1,
        words=visible(event.op, lines=False),
        type=event.type.value,
        text=marked(visible(text[:MOST_TEXT]), visible(fact)),
        cut=len(text) > MOST_TEXT,
        failing=failing,
    )
