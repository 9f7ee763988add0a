"""Codex rollouts: JSON lines of `session_meta`, `turn_context`, `response_item`, `event_msg` and `compacted`.

Older rollouts have the response items bare. `compacted` carries the summary. The messages that its
`replacement_history` repeats stayed verbatim; without one Codex keeps the user's own messages, the latest first, up
to a limit, and rebuilds the window so when the rollout is resumed.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from anchorhold.audit.model import Compaction, Damage, Event, Piece, Role, Turn
from anchorhold.audit.readers.common import Notes, block_texts, call_pieces, short, words
from anchorhold.audit.readers.source import is_json, keyed, open_bytes, records

MOST_KEPT = 80_000
"""Characters of the user's messages that Codex keeps: 20,000 tokens, by its own count of four characters each."""
_ITEMS = frozenset({"message", "reasoning", "function_call", "function_call_output", "local_shell_call",
                    "custom_tool_call", "custom_tool_call_output", "web_search_call", "ghost_snapshot",
                    "compaction", "compaction_summary"})  # fmt: skip
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "developer": Role.SYSTEM}


def recognises(head: bytes) -> bool:
    """Whether a file begins like a Codex rollout."""
    if not is_json(head):
        return False
    first = head.split(b"\n", 1)[0]
    return (b'"session_meta"' in first and keyed(first, "payload")) or (
        all(keyed(first, key) for key in ("instructions", "id", "timestamp")) and not keyed(first, "messages")
    )


class _Window:
    """Numbers of the turns in the window, and which of them are messages that may stay: no text but its hash."""

    def __init__(self) -> None:
        self.turns: set[int] = set()
        self.said: dict[int, int] = {}
        """By the hash of its text, the latest message that says so."""
        self.human: dict[int, int] = {}
        """The user's messages, in order, with their sizes."""

    def add(self, turn: Turn) -> None:
        self.turns.add(turn.record)
        if all(piece.role in {Role.USER, Role.ASSISTANT, Role.SYSTEM} for piece in turn.pieces):
            self.said[_hash(turn)] = turn.record
        if turn.human:
            self.human[turn.record] = sum(len(piece.text) for piece in turn.pieces)

    def latest(self) -> set[int]:
        """The user's messages that Codex keeps by itself."""
        kept, size = set(), 0
        for record in reversed(self.human):
            size += self.human[record]
            if size > MOST_KEPT:
                break
            kept.add(record)
        return kept

    def keep(self, kept: set[int]) -> frozenset[int]:
        """Only these stay; answers with those that go."""
        gone = frozenset(self.turns - kept)
        self.turns = self.turns & kept
        self.said = {key: record for key, record in self.said.items() if record in kept}
        self.human = {record: size for record, size in self.human.items() if record in kept}
        return gone


def _hash(turn: Turn) -> int:
    return hash("\0".join(piece.text for piece in turn.pieces))


def read(path: Path, report: Callable[[Damage], None]) -> Iterator[Event]:
    """The events of a file. Raises `OSError`."""
    session = path.stem
    context: tuple[str, ...] = ()
    tools: dict[str, str] = {}
    window = _Window()
    with open_bytes(path) as file:
        for number, record in records(file, report):
            notes = Notes(number, report)
            if not isinstance(record, dict):
                notes.unknown("no record of a rollout")
                continue
            kind, payload = notes.words(record.get("type"), "type"), record.get("payload")
            time = notes.words(record.get("timestamp"), "timestamp")
            pointer = "/payload"
            if kind in _ITEMS and not isinstance(payload, dict):
                kind, payload, pointer = "response_item", record, ""
            if kind == "session_meta" or (kind is None and words(record.get("id"))):
                meta = record if payload is None else notes.fields(payload, "payload")
                session = notes.words(meta.get("id"), "id") or session
                cwd = notes.words(meta.get("cwd"), "cwd")
                context = (cwd,) if cwd else ()
            elif kind == "turn_context":
                cwd = notes.words(notes.fields(payload, "payload").get("cwd"), "cwd")
                context = (cwd,) if cwd else context
            elif kind == "response_item":
                item = notes.fields(payload, "payload")
                turn = _item(session, notes, item, pointer, tools, time, context)
                if turn is None:
                    notes.unknown(f"an item of type {short(item.get('type'))}")
                elif turn.pieces:
                    window.add(turn)
                    yield turn
            elif kind == "compacted":
                yield from _compacted(session, notes, notes.fields(payload, "payload"), time, window)
            elif kind not in {"event_msg", "state", None} or (kind is None and record.get("record_type") != "state"):
                notes.unknown(f"a record of type {short(record.get('type'))}")


def _compacted(
    session: str, notes: Notes, payload: dict[str, Any], time: str | None, window: _Window
) -> Iterator[Event]:
    """The compaction, and after it what the window got besides the summary and what stayed."""
    summary, field = notes.words(payload.get("message"), "/payload/message") or "", "/payload/message"
    history = payload.get("replacement_history")
    at = "/payload/replacement_history"
    told: list[tuple[Turn, bool]] = []
    for index, item in enumerate(notes.items(history, at)):
        if isinstance(item, dict) and item.get("type") in ("compaction", "compaction_summary"):
            if not summary and not words(item.get("encrypted_content")):
                summary, field = next(((t, f) for f, t in block_texts([item], at)), ("", field))
            continue
        given = notes.fields(item, f"{at}/{index}")
        turn = _item(session, notes, given, f"{at}/{index}", {}, time, ()) if given else None
        if turn is not None and turn.pieces:
            told.append((turn, given.get("type") == "message"))
    if not summary:
        # It is the last message that Codex puts there and that was not said before.
        new = [turn for turn, message in told if message and _hash(turn) not in window.said]
        if new and new[-1].pieces[0].role is Role.USER:
            summary, field = new[-1].pieces[0].text, new[-1].pieces[0].field
    if not summary:
        notes.tell("compaction", "a compaction whose summary is not in the file: it is not judged")
        return
    if isinstance(history, list):
        kept = {window.said[_hash(turn)] for turn, _ in told if _hash(turn) in window.said}
    else:
        kept = window.latest()
    rest = [turn for turn, _ in told if _hash(turn) not in window.said and not _says(turn, summary)]
    yield Compaction(
        session=session, record=notes.number, summary_record=notes.number, summary=summary, field=field, time=time,
        covers=window.keep(kept),
    )  # fmt: skip
    for turn in rest:
        yield Turn(
            session=session, record=notes.number, pieces=turn.pieces, time=time, context=turn.context, counted=False
        )


def _says(turn: Turn, summary: str) -> bool:
    """Whether it is the summary, with or without what Codex puts before it."""
    return any(piece.text.strip().endswith(summary.strip()) for piece in turn.pieces)


def _item(
    session: str,
    notes: Notes,
    item: dict[str, Any],
    pointer: str,
    tools: dict[str, str],
    time: str | None,
    context: tuple[str, ...],
) -> Turn | None:
    kind = notes.words(item.get("type"), f"{pointer}/type")
    call = words(item.get("call_id")) or words(item.get("id")) or ""
    pieces: list[Piece] = []
    human = False
    if kind == "message":
        named = notes.words(item.get("role"), f"{pointer}/role")
        if named not in _ROLES:
            notes.unknown(f"a message with the role {short(item.get('role'))}")
        role = _ROLES.get(named or "", Role.USER)
        pieces = [
            Piece(role=role, text=t, field=at) for at, t in notes.said(item.get("content"), f"{pointer}/content")
        ]
        # The harness speaks as the user, too: in tags.
        human = role is Role.USER and any(not piece.text.lstrip().startswith("<") for piece in pieces)
    elif kind == "reasoning":
        for key in ("summary", "content"):
            pieces += [
                Piece(role=Role.THINKING, text=t, field=at) for at, t in notes.said(item.get(key), f"{pointer}/{key}")
            ]
    elif kind in {"function_call", "custom_tool_call", "local_shell_call", "web_search_call"}:
        tools[call] = tool = notes.words(item.get("name"), f"{pointer}/name") or kind
        key = next((key for key in ("arguments", "input", "action") if key in item), "arguments")
        pieces = list(call_pieces(item.get(key), f"{pointer}/{key}", tool=tool, call=call))
    elif kind in {"function_call_output", "custom_tool_call_output"}:
        pieces = [
            Piece(role=Role.RESULT, text=t, field=at, tool=tools.get(call), call=call)
            for at, t in _output(item.get("output"), f"{pointer}/output", notes)
        ]
    elif kind not in _ITEMS:
        return None
    return Turn(session=session, record=notes.number, pieces=tuple(pieces), time=time, human=human, context=context)


def _output(value: Any, pointer: str, notes: Notes) -> list[tuple[str, str]]:
    """A call's output; some versions write it as an object."""
    if not isinstance(value, dict):
        return notes.said(value, pointer)
    found = list(block_texts(value, pointer))
    if not found:
        notes.unknown(f"{pointer} is an object without words")
    return found
