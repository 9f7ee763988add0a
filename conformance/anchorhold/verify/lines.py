"""The lines of files that hold histories, one at a time, each with its place.

A file may hold several histories, one after the other: each begins with its header. What cannot be used is told
apart by what it does to the judgement: a line that is no event of this format is `Skipped`; where an event is
missing or torn the rest of its history is `Cut`, because what is missing may be what excuses the compactor.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Final

import msgspec

from anchorhold.checkers.course import Course
from anchorhold.history import FORMAT, Event, EventType, Header
from anchorhold.verify.events import decode, fitting
from anchorhold.verify.forms import OPERATIONS, misformed

LONGEST_LINE: Final = 64 * 1024 * 1024
"""Bytes. A longer line is read past, without being held in memory, and counts as torn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """A history begins."""

    line: int
    header: Header


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """An event of the history that began last."""

    line: int
    size: int
    """Bytes of the line."""
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A line that is no event, or of an operation that this version does not know: it is passed over."""

    line: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """From this line on the history that began last is not what was recorded, and is not judged any further."""

    line: int
    why: str


Line = Began | Happened | Skipped | Cut


def lines(file: IO[bytes], *, longest: int = LONGEST_LINE) -> Iterator[Line]:
    """What stands in each line. Holds one line at a time; never raises for what a line says."""
    reader = Reader()
    number = 0
    for number, raw in enumerate(bounded(file, longest), start=1):
        yield from reader.take(number, raw, longest)
    yield from reader.finish(number)


CHUNK: Final = 64 * 1024


def blocks(file: IO[bytes], longest: int = LONGEST_LINE, *, chunk: int = CHUNK) -> Iterator[tuple[int, list[bytes]]]:
    """Lines, many at a time, with the place in the file at which they begin; `chunk` bytes are read at a time.

    A line that is too long comes by itself, cut, without an end; the one in which the file ends has none either.
    """
    at = file.tell() if file.seekable() else 0
    begun: list[bytes] = []
    """The beginning of a line, as far as it is held."""
    size = 0
    """Bytes of it, held or not."""
    while data := file.read(chunk):
        lines = BytesIO(data).readlines()
        if begun:
            # What is beyond the longest is read past: it only has to be known where the line ends.
            if size <= longest:
                begun.append(lines[0])
            size += len(lines[0])
            if not lines[0].endswith(b"\n"):
                continue
            lines[0] = b"".join(begun)
            if size > longest:
                yield at, [lines.pop(0)[:longest]]
                at += size
        begun, size = [], 0
        if lines and not lines[-1].endswith(b"\n"):
            begun, size = [lines[-1]], len(lines.pop())
        if lines:
            yield at, lines
            at = file.tell() - size if file.seekable() else 0
    if begun:
        yield at, [b"".join(begun)[:longest]]


def bounded(file: IO[bytes], longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """Lines; of one that is too long only the beginning, without an end."""
    while line := file.readline(longest):
        yield line
        while not line.endswith(b"\n"):
            line = file.readline(longest)
            if not line:
                return


_EVENT = msgspec.json.Decoder(Event)
_HEADER = msgspec.json.Decoder(Header)


HEADER: Final = b'{"anchorhold_history":'
"""How a header begins as this suite writes it."""
INVOKE: Final = EventType.INVOKE


def _header(raw: bytes) -> Header | None:
    """The header that a line is, of this version of the format."""
    try:
        header = _HEADER.decode(raw) if raw.startswith(HEADER) else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return header if header is not None and header.anchorhold_history == FORMAT else None


class Reader:
    """Where in which history the reading is."""

    def __init__(self) -> None:
        self._header: Header | None = None
        self._next = 0
        self._reading = False
        self._told = False
        self._open: dict[tuple[str, str], int] = {}

    @property
    def reading(self) -> bool:
        """Whether a history has begun, and is not over yet."""
        return self._reading

    def quick(self, lines: Sequence[bytes], first: int, course: Course) -> int:
        """Take lines in, from the line of this number on, as far as they are the next events.

        Tells the course of them, and answers with their number; what the line behind them is, or why it has to be
        looked at more closely, `take` says.
        """
        events = decode(lines)
        if events and not lines[len(events) - 1].endswith(b"\n"):
            events.pop()
        number = fitting(events, self._next)
        if not number:
            return 0
        if number < len(events):
            del events[number:]
        open_, begin = self._open, self._next
        for event in course.go(events, open_):
            if event.type is INVOKE:
                open_[event.process, event.op] = first + event.index - begin
            else:
                open_.pop((event.process, event.op), None)
        self._next += number
        return number

    def take(self, number: int, raw: bytes, longest: int = LONGEST_LINE) -> Iterator[Line]:
        """What stands in a line."""
        if not raw.strip():
            yield Skipped(line=number, why="the line is empty")
            return
        if not raw.endswith(b"\n"):
            long = len(raw) >= longest
            why = f"the line has more than {longest} bytes" if long else "the file ends in the middle of this line"
            yield from self._torn(number, why)
            return
        if self._reading and not raw.startswith(HEADER):
            try:
                event = _EVENT.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                yield from self._else(number, raw, str(error))
                return
            yield from self._event(number, len(raw), event)
            return
        header = _header(raw)
        if header is None:
            yield from self._else(number, raw, "")
        else:
            yield from self._begin(number, header)

    def finish(self, number: int) -> Iterator[Line]:
        """The file is over."""
        if self._header is None and not self._told:
            yield Cut(line=max(1, number), why="there is no history here: the file is empty")
        yield from self._over(number + 1)

    def _event(self, number: int, size: int, event: Event) -> Iterator[Line]:
        if event.index != self._next:
            self._reading = False
            why = f"event {event.index} stands where event {self._next} belongs: lines are missing, or in disorder"
            yield Cut(line=number, why=why)
            return
        self._next += 1
        if event.op not in OPERATIONS:
            yield Skipped(line=number, why=f"no operation is called {event.op!r}")
            return
        wrong = misformed(event.type, event.op, event.value)
        if wrong is not None:
            self._reading = False
            yield Cut(line=number, why=f"{event.op} has not the form that PROTOCOL.md gives it: {wrong}")
            return
        if event.type is EventType.INVOKE:
            self._open[event.process, event.op] = number
        else:
            self._open.pop((event.process, event.op), None)
        yield Happened(line=number, size=size, event=event)

    def _else(self, number: int, raw: bytes, error: str) -> Iterator[Line]:
        """What is no event: a header, something of another program's, or a torn line."""
        try:
            value = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as torn:
            yield from self._torn(number, f"the line is not JSON: {torn}")
            return
        if not isinstance(value, dict) or "anchorhold_history" not in value:
            if isinstance(value, dict) and "index" in value and self._reading:
                # One of ours, and not as it was written: what it said may matter.
                self._reading = False
                yield Cut(line=number, why=f"this is no event of a history: {error}")
            elif self._reading:
                yield Skipped(line=number, why=f"this is no event of a history: {error}")
            elif self._header is None and not self._told:
                self._told = True
                yield Cut(line=number, why="no history has begun here: the first line is not a history's header")
            return
        if value["anchorhold_history"] != FORMAT:
            why = f"the history has format {value['anchorhold_history']}, and this version reads format {FORMAT}"
            yield from self._no_header(number, why)
            return
        try:
            header = _HEADER.decode(raw)
        except msgspec.DecodeError as wrong:
            yield from self._no_header(number, f"the header is not one of a history: {wrong}")
            return
        yield from self._begin(number, header)

    def _begin(self, number: int, header: Header) -> Iterator[Line]:
        yield from self._over(number)
        self._reading, self._next, self._header, self._open = True, 0, header, {}
        yield Began(line=number, header=header)

    def _no_header(self, number: int, why: str) -> Iterator[Line]:
        yield from self._over(number)
        self._reading, self._next, self._header, self._open, self._told = False, 0, None, {}, True
        yield Cut(line=number, why=why)

    def _torn(self, number: int, why: str) -> Iterator[Line]:
        if self._reading or (self._header is None and not self._told):
            self._reading, self._told = False, True
            yield Cut(line=number, why=why)

    def _over(self, number: int) -> Iterator[Line]:
        """The history that began last is over: whether it is whole."""
        if not self._reading:
            return
        assert self._header is not None
        length = self._header.length
        if length is not None and length != self._next:
            yield Cut(line=number, why=f"{self._next} events stand here and {length} were written: it was cut off")
        elif self._open:
            (_, op), at = next(iter(self._open.items()))
            yield Cut(line=at, why=f"{op} was invoked here and never ended: the history was cut off")
        elif not self._next:
            yield Cut(line=number, why="the history has a header and no events: it was cut off")
