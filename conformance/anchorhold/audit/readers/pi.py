"""pi: JSON lines; `type: compaction` holds the summary and says from which entry on turns stayed verbatim."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from anchorhold.audit.model import Compaction, Damage, Event, Piece, Role, Turn
from anchorhold.audit.readers.common import Notes, block_words, call_pieces, short
from anchorhold.audit.readers.source import open_bytes, records

_FIRST = re.compile(rb'\s*\{\s*"type"\s*:\s*"session"')
SILENT = frozenset({"model_change", "thinking_level_change", "custom", "label", "session_info", "branch_summary"})


def recognises(head: bytes) -> bool:
    """Whether a file begins like one of pi."""
    return _FIRST.match(head) is not None and b'"cwd"' in head.split(b"\n", 1)[0]


def read(path: Path, report: Callable[[Damage], None]) -> Iterator[Event]:
    """The events of a file. Raises `OSError`."""
    session = path.stem
    context: tuple[str, ...] = ()
    entries: dict[str, int] = {}
    with open_bytes(path) as file:
        for number, record in records(file, report):
            notes = Notes(number, report)
            if not isinstance(record, dict):
                notes.unknown("no record of a session")
                continue
            kind = notes.words(record.get("type"), "type")
            entry = notes.words(record.get("id"), "id")
            time = notes.words(record.get("timestamp"), "timestamp")
            if entry:
                entries[entry] = number
            if kind == "session":
                session = entry or session
                cwd = notes.words(record.get("cwd"), "cwd")
                context = (cwd,) if cwd else ()
            elif kind == "message" and isinstance(record.get("message"), dict):
                yield _turn(session, notes, record["message"], time, context)
            elif kind == "compaction":
                yield _compaction(session, notes, record, time, entries)
            elif kind is None or kind not in SILENT:
                notes.unknown(f"a record of type {short(record.get('type'))}")


def _compaction(
    session: str, notes: Notes, record: dict[str, Any], time: str | None, entries: dict[str, int]
) -> Compaction:
    first, named = record.get("firstKeptEntryIndex"), notes.words(record.get("firstKeptEntryId"), "firstKeptEntryId")
    kept = first if isinstance(first, int) else entries.get(named or "")
    if first is not None and not isinstance(first, int):
        notes.ill_typed(first, "firstKeptEntryIndex", "a number")
    tokens = record.get("tokensBefore")
    if tokens is not None and not isinstance(tokens, (int, float)):
        notes.ill_typed(tokens, "tokensBefore", "a number")
    return Compaction(
        session=session,
        record=notes.number,
        summary_record=notes.number,
        summary=notes.words(record.get("summary"), "summary") or "",
        field="/summary",
        time=time,
        tokens_before=tokens if isinstance(tokens, int) else None,
        kept_from=kept,
    )


_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "toolResult": Role.RESULT, "bashExecution": Role.RESULT}


def _turn(session: str, notes: Notes, message: dict[str, Any], time: str | None, context: tuple[str, ...]) -> Turn:
    named = notes.words(message.get("role"), "/message/role")
    if named not in _ROLES:
        notes.unknown(f"a message with the role {short(message.get('role'))}")
    role = _ROLES.get(named or "", Role.USER)
    tool = notes.words(message.get("toolName"), "/message/toolName")
    call = notes.words(message.get("toolCallId"), "/message/toolCallId")
    pieces: list[Piece] = []
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    for index, block in enumerate(blocks):
        at = f"/message/content/{index}"
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "thinking":
            if text := notes.words(block.get("thinking"), f"{at}/thinking"):
                pieces.append(Piece(role=Role.THINKING, text=text, field=f"{at}/thinking"))
        elif kind == "toolCall":
            pieces += call_pieces(
                block.get("arguments"),
                f"{at}/arguments",
                tool=notes.words(block.get("name"), f"{at}/name"),
                call=notes.words(block.get("id"), f"{at}/id"),
            )
        else:
            pieces += [
                Piece(role=role, text=text, field=where, tool=tool, call=call)
                for where, text in block_words(block, at, notes)
            ]
    if not blocks:
        for key in ("content", "command", "output"):
            pieces += [
                Piece(role=role, text=text, field=at, tool=tool, call=call)
                for at, text in notes.said(message.get(key), f"/message/{key}")
            ]
    return Turn(
        session=session,
        record=notes.number,
        pieces=tuple(pieces),
        time=time,
        human=role is Role.USER,
        context=context,
    )
