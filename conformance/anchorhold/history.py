"""What happened: one event a line, as history checkers read them.

A history opens with a `Header`; every operation is an `invoke` followed by one `ok`, `fail` (definite: it did not
happen) or `info` (indefinite: it may have). Operations of the summariser stand between the `invoke` and the end of
the operation that called it: `invoke` with what it was shown
(`{"messages": [...]}`), `ok` with what it replied (`{"text", "finish", "mode"}`). Checkers read nothing but this.

The values of an `append` are `turn` and `facts`, the assertions that the suite planted in it. An operation named
`note` is none of the compactor's: it says what the suite could not do, and why.
"""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from anchorhold.compactor import Settings
from anchorhold.workload import Workload

FORMAT = 1


MAIN = "main"
"""The process that does what the workload says, one step after the other."""


class EventType(StrEnum):
    """As in the histories of Jepsen and its relatives."""

    INVOKE = "invoke"
    OK = "ok"
    FAIL = "fail"
    INFO = "info"


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """First line of a history file."""

    anchorhold_history: int = FORMAT
    compactor: str
    """How to reach it: what `anchorhold check` was given."""
    name: str
    version: str
    operations: tuple[str, ...]
    mechanisms: tuple[str, ...]
    hidden: dict[str, str] = {}
    irreversible: str | None = None
    settings: Settings
    """The settings that the compactor took."""
    seed: int
    workload: Workload
    rule: str | None = None
    """Where the history was kept as a counterexample: the rule that it breaks."""
    length: int | None = None
    """How many events follow, where that was known when the header was written: a file cut off later shows it."""


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a history."""

    index: int
    """Position in the history, from 0."""
    step: int
    """Which step of the workload this belongs to, from 0; the `open` before all steps has 0 as well."""
    process: str = MAIN
    type: EventType
    op: str
    """Operation: `append`, `compact`, `live`, `pointers`, `get`, …, `summarise`."""
    value: Any = None
    """`invoke`: the arguments, as a mapping. `ok`: the result. `fail`, `info`: null."""
    error: str | None = None


class HistoryError(Exception):
    """A file is not a history, or not a whole one."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = path
        self.line = line
        """Number of the line at fault, from 1."""
        self.message = message


def encode_line(value: Header | Event) -> bytes:
    """One line of a history file, without its end.

    Text from a compactor that is not valid Unicode is written with `\\udcxx` escaped once more: it can be read, and
    is not equal to what was there.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_writable(msgspec.to_builtins(value)))


def _writable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_writable(key): _writable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_writable(item) for item in value]
    return value


def write_history(path: Path, header: Header, events: Iterable[Event]) -> None:
    """Write a history file; it is whole, or not there under this name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    with partial.open("wb") as file:
        file.write(encode_line(header) + b"\n")
        for event in events:
            file.write(encode_line(event) + b"\n")
    partial.replace(path)


def read_history(path: Path) -> tuple[Header, tuple[Event, ...]]:
    """Read a history file.

    Raises `HistoryError`, with the number of the line, where the file is no history, is of another version of the
    format, or ends in the middle. Raises `OSError` where it cannot be read.
    """
    with path.open("rb") as file:
        header = _header(path, file.readline())
        events: list[Event] = []
        for number, line in enumerate(file, start=2):
            if not line.endswith(b"\n"):
                raise HistoryError(path, number, "the file ends in the middle of a line: it was cut off")
            try:
                event = _EVENT.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise HistoryError(path, number, f"this is no event of a history: {error}") from None
            if event.index != len(events):
                raise HistoryError(
                    path, number, f"event {event.index} stands where event {len(events)} belongs: lines are missing"
                )
            events.append(event)
    _whole(path, header, events)
    return header, tuple(events)


_EVENT = msgspec.json.Decoder(Event)
_HEADER = msgspec.json.Decoder(Header)


def _header(path: Path, line: bytes) -> Header:
    if not line:
        raise HistoryError(path, 1, "the file is empty")
    try:
        first = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HistoryError(path, 1, f"the first line is not JSON: {error}") from None
    version = first.get("anchorhold_history") if isinstance(first, dict) else None
    if version is None:
        raise HistoryError(path, 1, "this is no history of anchorhold: its first line is not a history's header")
    if version != FORMAT:
        raise HistoryError(path, 1, f"the history has format {version}, and this version reads format {FORMAT}")
    if not line.endswith(b"\n"):
        raise HistoryError(path, 1, "the file ends in the middle of its header: it was cut off")
    try:
        return _HEADER.decode(line)
    except msgspec.DecodeError as error:
        raise HistoryError(path, 1, f"the header is not one of a history: {error}") from None


def _whole(path: Path, header: Header, events: list[Event]) -> None:
    """A history that was cut between two lines shows it by its length, or by an operation that never ended."""
    open_at: dict[tuple[str, str], Event] = {}
    for event in events:
        if event.type is EventType.INVOKE:
            open_at[event.process, event.op] = event
        else:
            open_at.pop((event.process, event.op), None)
    if not events:
        raise HistoryError(path, 2, "the history has a header and no events: it was cut off")
    if header.length is not None and header.length != len(events):
        raise HistoryError(
            path, len(events) + 2, f"{len(events)} events stand here and {header.length} were written: it was cut off"
        )
    for event in open_at.values():
        raise HistoryError(
            path, event.index + 2, f"{event.op} was invoked here and never ended: the file was cut off"
        )
