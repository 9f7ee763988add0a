"""Codex rollouts: JSON lines of `session_meta`, `turn_context`, `response_item`, `event_msg` and `compacted`.

Older rollouts have the response items bare. `compacted` carries the summary; what `replacement_history` repeats of
earlier messages stayed verbatim and needs no place of its own, since its words are in view.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from anchorhold.audit.model import Compaction, Damage, Event, Piece, Role, Turn
from anchorhold.audit.readers.common import block_texts, call_pieces, words
from anchorhold.audit.readers.source import open_bytes, records

_ITEMS = frozenset({"message", "reasoning", "function_call", "function_call_output", "local_shell_call",
                    "custom_tool_call", "custom_tool_call_output", "web_search_call", "ghost_snapshot",
                    "compaction", "compaction_summary"})  # fmt: skip
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "developer": Role.SYSTEM}


def recognises(head: bytes) -> bool:
    """Whether a file begins like a Codex rollout."""
    first = head.split(b"\n", 1)[0]
    return (b'"session_meta"' in first and b'"payload"' in first) or (
        b'"instructions"' in first and b'"id"' in first and b'"timestamp"' in first and b'"messages"' not in first
    )


def read(path: Path, report: Callable[[Damage], None]) -> Iterator[Event]:
    """The events of a file. Raises `OSError`."""
    session = path.stem
    context: tuple[str, ...] = ()
    tools: dict[str, str] = {}
    with open_bytes(path) as file:
        for number, record in records(file, report):
            if not isinstance(record, dict):
                report(Damage(kind="unknown", record=number, detail="no record of a rollout"))
                continue
            kind, payload = record.get("type"), record.get("payload")
            time = words(record.get("timestamp"))
            pointer = "/payload"
            if kind in _ITEMS and not isinstance(payload, dict):
                kind, payload, pointer = "response_item", record, ""
            if kind == "session_meta" or (kind is None and words(record.get("id"))):
                meta = payload if isinstance(payload, dict) else record
                session = words(meta.get("id")) or session
                context = (meta["cwd"],) if words(meta.get("cwd")) else ()
            elif kind == "turn_context" and isinstance(payload, dict):
                context = (payload["cwd"],) if words(payload.get("cwd")) else context
            elif kind == "response_item" and isinstance(payload, dict):
                turn = _item(session, number, payload, pointer, tools, time, context)
                if turn is None:
                    report(Damage(kind="unknown", record=number, detail=f"an item of type {payload.get('type')!r}"))
                elif turn.pieces:
                    yield turn
            elif kind == "compacted" and isinstance(payload, dict):
                yield _compaction(session, number, payload, time)
            elif kind not in {"event_msg", "state", None} and record.get("record_type") != "state":
                report(Damage(kind="unknown", record=number, detail=f"a record of type {kind!r}"))


def _compaction(session: str, number: int, payload: dict[str, Any], time: str | None) -> Compaction:
    summary, field = words(payload.get("message")) or "", "/payload/message"
    if not summary:
        for at, text in block_texts(payload.get("replacement_history"), "/payload/replacement_history"):
            if len(text) > len(summary):
                summary, field = text, at
    return Compaction(session=session, record=number, summary_record=number, summary=summary, field=field, time=time)


def _item(
    session: str,
    number: int,
    item: dict[str, Any],
    pointer: str,
    tools: dict[str, str],
    time: str | None,
    context: tuple[str, ...],
) -> Turn | None:
    kind, call = item.get("type"), str(item.get("call_id") or item.get("id"))
    pieces: list[Piece] = []
    human = False
    if kind == "message":
        role = _ROLES.get(str(item.get("role")), Role.USER)
        pieces = [
            Piece(role=role, text=t, field=at) for at, t in block_texts(item.get("content"), f"{pointer}/content")
        ]
        # The harness speaks as the user, too: in tags.
        human = role is Role.USER and any(not piece.text.lstrip().startswith("<") for piece in pieces)
    elif kind == "reasoning":
        for key in ("summary", "content"):
            pieces += [
                Piece(role=Role.THINKING, text=t, field=at)
                for at, t in block_texts(item.get(key), f"{pointer}/{key}")
            ]
    elif kind in {"function_call", "custom_tool_call", "local_shell_call", "web_search_call"}:
        tools[call] = tool = str(item.get("name") or kind)
        key = next((key for key in ("arguments", "input", "action") if key in item), "arguments")
        pieces = list(call_pieces(item.get(key), f"{pointer}/{key}", tool=tool, call=call))
    elif kind in {"function_call_output", "custom_tool_call_output"}:
        pieces = [
            Piece(role=Role.RESULT, text=t, field=at, tool=tools.get(call), call=call)
            for at, t in block_texts(item.get("output"), f"{pointer}/output")
        ]
    elif kind not in _ITEMS:
        return None
    return Turn(session=session, record=number, pieces=tuple(pieces), time=time, human=human, context=context)
