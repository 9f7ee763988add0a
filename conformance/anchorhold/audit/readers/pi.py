"""pi: JSON lines; `type: compaction` holds the summary and says from which entry on turns stayed verbatim."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from anchorhold.audit.model import Compaction, Damage, Event, Piece, Role, Turn
from anchorhold.audit.readers.common import block_texts, call_pieces, words
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
            kind = record.get("type") if isinstance(record, dict) else None
            if kind is None:
                report(Damage(kind="unknown", record=number, detail="no record of a session"))
                continue
            if words(record.get("id")):
                entries[record["id"]] = number
            if kind == "session":
                session = words(record.get("id")) or session
                context = (record["cwd"],) if words(record.get("cwd")) else ()
            elif kind == "message" and isinstance(record.get("message"), dict):
                yield _turn(session, number, record, context)
            elif kind == "compaction":
                first = record.get("firstKeptEntryIndex")
                kept = first if isinstance(first, int) else entries.get(str(record.get("firstKeptEntryId")))
                tokens = record.get("tokensBefore")
                yield Compaction(
                    session=session,
                    record=number,
                    summary_record=number,
                    summary=words(record.get("summary")) or "",
                    field="/summary",
                    time=words(record.get("timestamp")),
                    tokens_before=tokens if isinstance(tokens, int) else None,
                    kept_from=kept,
                )
            elif kind not in SILENT:
                report(Damage(kind="unknown", record=number, detail=f"a record of type {kind!r}"))


_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "toolResult": Role.RESULT, "bashExecution": Role.RESULT}


def _turn(session: str, number: int, record: dict[str, Any], context: tuple[str, ...]) -> Turn:
    message = record["message"]
    role = _ROLES.get(str(message.get("role")), Role.USER)
    pieces: list[Piece] = []
    tool, call = words(message.get("toolName")), words(message.get("toolCallId"))
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    for index, block in enumerate(blocks):
        at = f"/message/content/{index}"
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text" and words(block.get("text")):
            pieces.append(Piece(role=role, text=block["text"], field=f"{at}/text", tool=tool, call=call))
        elif kind == "thinking" and words(block.get("thinking")):
            pieces.append(Piece(role=Role.THINKING, text=block["thinking"], field=f"{at}/thinking"))
        elif kind == "toolCall":
            pieces += call_pieces(
                block.get("arguments"), f"{at}/arguments", tool=words(block.get("name")), call=words(block.get("id"))
            )
    if not blocks:
        for key in ("content", "command", "output"):
            pieces += [
                Piece(role=role, text=text, field=at, tool=tool, call=call)
                for at, text in block_texts(message.get(key), f"/message/{key}")
            ]
    return Turn(
        session=session,
        record=number,
        pieces=tuple(pieces),
        time=words(record.get("timestamp")),
        human=role is Role.USER,
        context=context,
    )
