"""Plays a kept history again, and says whether the rule that it breaks is broken again."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec

from anchorhold.errors import one_line
from anchorhold.history import Event, EventType, encode_line, read_history
from anchorhold.judging import judge
from anchorhold.load import Loaded
from anchorhold.renaming import renamed
from anchorhold.run import play
from anchorhold.verdict import Checker, Failure, History


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What came of playing a history again."""

    kept: History
    """As it was in the file."""
    history: History
    """As it went now."""
    failures: tuple[Failure, ...]
    """What the checkers say of it now: of the rule that the file names, or of every rule where it names none."""

    @property
    def divergence(self) -> "Divergence | None":
        """Where it first went otherwise than in the file; none where every event is the same, byte for byte."""
        pairs = zip_longest(self.kept.events, self.history.events)
        for index, (kept, now) in enumerate(pairs):
            before, after = (None if each is None else encode_line(each) for each in (kept, now))
            if before != after:
                return Divergence(index=index, kept=_event(kept), now=_event(now))
        return None

    @property
    def renamed(self) -> bool:
        """Whether nothing but names went otherwise that the compactor makes anew each time."""
        return renamed(self.kept.events, self.history.events)


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """The first event of a history that is not as it was kept."""

    index: int
    kept: str
    """The event of the file as JSON, or that there is none."""
    now: str


def _event(event: Event | None) -> str:
    return "nothing: the history is over" if event is None else encode_line(event).decode()


def read(path: Path) -> History:
    """The history in a file. Raises `HistoryError`, and `OSError` where the file cannot be read."""
    header, events = read_history(path)
    return History(header=header, events=events)


def replay(kept: History, *, loaded: Loaded, checkers: Sequence[Checker]) -> Replayed:
    """Play the workload of a history against a compactor.

    Raises `ValueError` where the suite has no checker for the rule that the history names, and `AdapterError` where
    the compactor cannot be reached.
    """
    rule = kept.header.rule
    judges = [checker for checker in checkers if rule is None or checker.rule == rule]
    if not judges:
        raise ValueError(f"the history breaks {rule}, and this version has no checker for it")
    history = play(
        loaded.make(),
        kept.header.workload,
        description=loaded.describe(),
        location=loaded.location,
        seed=kept.header.seed,
    )
    history = History(header=msgspec.structs.replace(history.header, rule=rule), events=history.events)
    failures = tuple(failure for judgement in judge(judges, history) for failure in judgement.failures)
    return Replayed(kept=kept, history=history, failures=failures)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One operation of a history, in words."""

    first: int
    """Index of the event that invoked it."""
    last: int
    """Index of the event that ended it."""
    depth: int
    """0, or more where it was called inside another operation, or by another process while that went on."""
    call: str
    end: str


def lines(events: Sequence[Event]) -> Iterator[Line]:
    """Each operation as one line, in the order in which they were invoked."""
    ends: dict[int, Event] = {}
    depths: dict[int, int] = {}
    stacks: dict[str, list[Event]] = {}
    for event in events:
        open_ = stacks.setdefault(event.process, [])
        if event.type is EventType.INVOKE:
            # What another process does in between stands beside, and is shown as deep as what it happened in.
            depths[event.index] = sum(map(len, stacks.values()))
            open_.append(event)
            continue
        at = next((n for n in range(len(open_) - 1, -1, -1) if open_[n].op == event.op), None)
        if at is not None:
            ends[open_.pop(at).index] = event
    for event in events:
        if event.type is not EventType.INVOKE or event.op == "open":
            continue
        end = ends.get(event.index)
        yield Line(
            first=event.index,
            last=end.index if end else event.index,
            depth=depths[event.index],
            call=one_line(f"{_beside(event)}{event.op} {_arguments(event)}", limit=150),
            end=one_line(_result(end), limit=220) if end else "did not end",
        )


def _beside(event: Event) -> str:
    """Whose operation it is, where it is not the main process's."""
    return "" if event.process == "main" else f"({event.process}) "


def _arguments(event: Event) -> str:
    value = event.value if isinstance(event.value, Mapping) else {}
    match event.op:
        case "append":
            turn = value.get("turn", {})
            said = turn.get("text") or "; ".join(call["name"] for call in turn.get("calls", ()))
            return f"{turn.get('id')} {turn.get('speaker')}: {said}"
        case "summarise":
            return f"of {len(value.get('messages', ()))} messages"
        case _:
            return " ".join(shlex.quote(str(v)) for v in value.values())


def _result(end: Event) -> str:
    if end.type is not EventType.OK:
        known = "failed" if end.type is EventType.FAIL else "may or may not have happened"
        return f"{known}: {end.error}"
    value: Any = end.value
    match end.op, value:
        case "live", list():
            return f"{len(value)} items: " + ", ".join(_item(item) for item in value)
        case "pointers", list():
            return f"{len(value)} pointers: " + ", ".join(str(p.get("token")) for p in value)
        case (("manifest" | "tombstones"), list()):
            return f"{len(value)}: " + ", ".join(str(entry.get("literal")) for entry in value)
        case "summarise", dict():
            return f"[{value.get('mode')}] {value.get('text')}"
        case _, dict():
            return " ".join(
                f"{k}={v}" if k != "kind" else str(v) for k, v in value.items() if v not in (None, [], ())
            )
        case _, None:
            return "done"
    return str(value)


def _item(item: Mapping[str, Any]) -> str:
    return (
        f"{item.get('turn') or item.get('id')}"
        if item.get("kind") == "raw"
        else f"{item.get('kind')} {item.get('id')}"
    )
