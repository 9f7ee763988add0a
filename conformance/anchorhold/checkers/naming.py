"""Gives each turn a name of its own where a history uses an id for several of them.

Ids are a caller's: another session may use the same ones, and what a `rewind` took back frees its id for other words.
Checkers know turns by one name each, so what is said of the later turn is told them under another name from then on.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from anchorhold.checkers.reading import Place
from anchorhold.checkers.record import LEADING
from anchorhold.history import Event, EventType, Header

TURNS = frozenset({"turn", "covers", "covered", "source", "superseder"})
"""Fields that hold ids of turns."""
FREEING = frozenset({"switch", "rewind"})
"""Operations without which no id is used for two turns: what comes again in a branch is what both have."""


def named(header: Header, events: tuple[Event, ...]) -> tuple[Event, ...]:
    """The same events, with a name of its own for each turn; the very same where no id is used twice."""
    if not _used_again(events):
        return events
    names = _Names(header)
    return tuple(names.read(_plain(event)) for event in events)


def _plain(event: Event) -> Event:
    """The event with what it says as builtins: whoever read it may have made the vocabulary's values of it."""
    return msgspec.structs.replace(event, value=msgspec.to_builtins(event.value, str_keys=True))


def _used_again(events: Iterable[Event]) -> bool:
    """Whether a turn comes under an id that was used before, where that may be another turn."""
    came = set[str]()
    free = False
    for event in events:
        if event.type is not EventType.INVOKE:
            continue
        if event.op in FREEING:
            free = True
        elif event.op == "append":
            turn = event.value["turn"]
            called = turn["id"] if isinstance(turn, dict) else turn.id
            if free and called in came:
                return True
            came.add(called)
    return False


class _Lane:
    """What ids mean in one session or branch."""

    def __init__(self, parent: "_Lane | None" = None) -> None:
        self.names: dict[str, str] = dict(parent.names) if parent is not None else {}
        """By id. Never changed, since who began earlier goes on with it: another one takes its place."""
        self.ids: list[str] = list(parent.ids) if parent is not None else []
        """Of the turns that were said here and not taken back, in order."""


class _Names:
    """Reads events one after the other."""

    def __init__(self, header: Header) -> None:
        self._place = Place.first(header)
        self._lanes: dict[str, _Lane] = {self._place.lane: _Lane()}
        self._turns: dict[str, int] = {}
        """How many turns came under each id."""
        self._owned: dict[str, list[str]] = {}
        """Under each id of the compactor's own: the names of the turns that got it."""
        self._tokens: dict[str, dict[str, str]] = {}
        """What ids meant when a token was listed first: it leads there for good."""
        self._open: dict[str, list[tuple[Event, _Lane, dict[str, str]]]] = {}

    def read(self, event: Event) -> Event:
        """The event, with names for ids."""
        stack = self._open.setdefault(event.process, [])
        lane = self._lanes[self._place.lane]
        if event.type is EventType.INVOKE:
            if event.op == "append":
                self._said(lane, event.value["turn"])
            stack.append((event, lane, lane.names))
            return self._told(event, lane.names)
        if not stack or stack[-1][0].op != event.op:
            return event
        invoke, lane, names = stack.pop()
        if event.type is not EventType.FAIL:
            self._happened(lane, invoke, event)
        if event.op == "append":
            names = lane.names
        elif event.op == "get":
            token = str(invoke.value.get("token", ""))
            names = self._tokens.get(token, names)
        return self._told(event, names)

    def _said(self, lane: _Lane, turn: Mapping[str, Any]) -> None:
        """A turn is handed in: the one that was there before, or another one."""
        called = turn["id"]
        if called in lane.ids:
            return
        before = self._turns.get(called, 0)
        self._turns[called] = before + 1
        lane.names = {**lane.names, called: _other(called, before)}
        lane.ids.append(called)

    def _happened(self, lane: _Lane, invoke: Event, end: Event) -> None:
        if end.op == "append" and isinstance(end.value, str):
            turn = invoke.value["turn"]
            name = lane.names.get(turn["id"], turn["id"])
            if end.value != turn["id"]:
                owners = self._owned.setdefault(end.value, [])
                if name not in owners:
                    owners.append(name)
                lane.names = {**lane.names, end.value: _other(end.value, owners.index(name))}
        elif end.op == "rewind":
            back = str(invoke.value.get("turn", ""))
            if back in lane.ids:
                del lane.ids[lane.ids.index(back) + 1 :]
        elif end.op in LEADING and end.type is EventType.OK:
            self._place = self._place.after(end.op, invoke.value)
            self._lanes.setdefault(self._place.lane, _Lane(lane if end.op == "fork" else None))

    def _told(self, event: Event, names: Mapping[str, str]) -> Event:
        if event.value is None or not names:
            return event
        if event.op == "pointers" and event.type is EventType.OK:
            told = [_renamed(each, self._tokens.setdefault(each["token"], dict(names))) for each in event.value]
            return msgspec.structs.replace(event, value=told)
        value = self._append(event, names) if event.op == "append" else _renamed(event.value, names)
        return msgspec.structs.replace(event, value=value)

    def _append(self, event: Event, names: Mapping[str, str]) -> Any:
        if event.type is not EventType.INVOKE:
            return names.get(event.value, event.value) if isinstance(event.value, str) else event.value
        turn = event.value["turn"]
        return {**event.value, "turn": {**turn, "id": names.get(turn["id"], turn["id"])}}


def _other(called: str, before: int) -> str:
    """The name of a turn under whose id so many others came before."""
    return f"{called} ({before + 1})" if before else called


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A value, with names for the ids in it."""
    if isinstance(value, dict):
        return {key: _name(each, names) if key in TURNS else _renamed(each, names) for key, each in value.items()}
    return [_renamed(each, names) for each in value] if isinstance(value, list | tuple) else value


def _name(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list | tuple):
        return [_name(each, names) for each in value]
    return names.get(value, value) if isinstance(value, str) else _renamed(value, names)
