"""Claude Code: JSON lines, one record each, of one or several sessions.

`system` with `subtype: compact_boundary` marks a compaction, and the next user record with `isCompactSummary` is the
summary. Records of types that carry no part of the conversation are known and passed over; any other is reported.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from anchorhold.audit.model import Compaction, Damage, Event, Piece, Role, Turn
from anchorhold.audit.readers.common import block_texts, call_pieces, texts, words
from anchorhold.audit.readers.source import open_bytes, records

SILENT = frozenset({"summary", "progress", "file-history-snapshot", "queue-operation", "pr-link", "attachment",
                    "last-prompt", "custom-title", "agent-name", "ai-title", "permission-mode", "mode",
                    "worktree-state", "agent-color", "agent-setting", "tag", "task-summary"})  # fmt: skip
_HEAD = re.compile(r"\AThis session is being continued from a previous conversation.*?\n\n|\A<summary>\s*", re.DOTALL)
_POINTER = re.compile(r"read the full transcript at:?\s*(\S+\.jsonl)")
_FOOT = re.compile(
    r"\n+(?:If you need specific details from before compaction|Please continue the conversation from where we left|"
    r"Continue the conversation from where it left off|Recent messages are preserved verbatim).*\Z",
    re.DOTALL,
)
_INJECTED = re.compile(r"\s*<(?:command-|local-command|system-reminder|bash-|task-notification)|Caveat: ")


def recognises(head: bytes) -> bool:
    """Whether a file begins like one of Claude Code."""
    return b'"sessionId"' in head and (b'"parentUuid"' in head or b'"file-history-snapshot"' in head)


def read(path: Path, report: Callable[[Damage], None]) -> Iterator[Event]:
    """The events of a file. Raises `OSError`."""
    tools: dict[str, str] = {}
    marks: dict[str, tuple[int, dict[str, Any]]] = {}
    seen: set[int] = set()
    last: dict[str, str] = {}
    with open_bytes(path) as file:
        for number, record in records(file, report):
            if not isinstance(record, dict):
                report(Damage(kind="unknown", record=number, detail=f"a {type(record).__name__} and no record"))
                continue
            kind = record.get("type")
            if kind in SILENT:
                continue
            session = words(record.get("sessionId")) or path.stem
            if record.get("isSidechain"):
                # A sub-agent's turns are not in the window that was compacted.
                session += "/sidechain"
            if kind == "system":
                if record.get("subtype") == "compact_boundary":
                    if session in marks:
                        report(_orphan(marks[session][0]))
                    marks[session] = (number, record)
                continue
            if kind not in {"user", "assistant"}:
                report(Damage(kind="unknown", record=number, detail=f"a record of type {kind!r}"))
                continue
            message = record.get("message")
            if not isinstance(message, dict):
                report(Damage(kind="unknown", record=number, detail=f"a {kind} record without a message"))
                continue
            key = hash((session, record.get("uuid")))
            if record.get("uuid") is not None:
                if key in seen:
                    report(Damage(kind="doubled", record=number, detail="a record with the uuid of an earlier one"))
                    continue
                seen.add(key)
            time = words(record.get("timestamp"))
            if record.get("isCompactSummary"):
                yield _compaction(session, number, record, marks.pop(session, None), time)
                continue
            if time and time < last.get(session, ""):
                report(Damage(kind="order", record=number, detail=f"its time {time} is before the one above it"))
            if time:
                last[session] = time
            yield _turn(session, number, record, message, tools, time)
            if len(tools) > 4096:
                for old in list(tools)[:2048]:
                    del tools[old]
    for number, _ in marks.values():
        report(_orphan(number))


def _orphan(number: int) -> Damage:
    return Damage(kind="compaction", record=number, detail="a compaction whose summary is not in the file")


def _compaction(
    session: str, number: int, record: dict[str, Any], mark: tuple[int, dict[str, Any]] | None, time: str | None
) -> Compaction:
    pairs = list(block_texts(record["message"].get("content"), "/message/content"))
    field, text = pairs[0] if pairs else ("", "")
    # The harness's own stands last; a summary may quote others, of the session that made the plan.
    pointer = next(reversed(list(_POINTER.finditer(text))), None)
    begun = _HEAD.match(text)
    foot = _FOOT.search(text)
    start = begun.end() if begun else 0
    end = max(start, foot.start()) if foot else len(text)
    detail = mark[1].get("compactMetadata") if mark else None
    detail = detail if isinstance(detail, dict) else {}
    tokens = detail.get("preTokens")
    return Compaction(
        session=session,
        record=mark[0] if mark else number,
        summary_record=number,
        # What the harness put around the summary keeps its place: positions are those of the record.
        summary=" " * start + text[start:end],
        field=field,
        time=time,
        trigger=words(detail.get("trigger")),
        tokens_before=tokens if isinstance(tokens, int) else None,
        transcript=pointer.group(1) if pointer else None,
        counted=True,
    )


def _turn(
    session: str,
    number: int,
    record: dict[str, Any],
    message: dict[str, Any],
    tools: dict[str, str],
    time: str | None,
) -> Turn:
    said = Role.USER if record["type"] == "user" else Role.ASSISTANT
    pieces: list[Piece] = []
    content = message.get("content")
    results = False
    if isinstance(content, list):
        for index, block in enumerate(content):
            at = f"/message/content/{index}"
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "text" and words(block.get("text")):
                pieces.append(Piece(role=said, text=block["text"], field=f"{at}/text"))
            elif kind == "thinking" and words(block.get("thinking")):
                pieces.append(Piece(role=Role.THINKING, text=block["thinking"], field=f"{at}/thinking"))
            elif kind == "tool_use":
                call, tool = str(block.get("id")), str(block.get("name"))
                tools[call] = tool
                pieces += call_pieces(block.get("input"), f"{at}/input", tool=tool, call=call)
            elif kind == "tool_result":
                results = True
                call = str(block.get("tool_use_id"))
                pieces += [
                    Piece(
                        role=Role.RESULT,
                        text=text,
                        field=field,
                        tool=tools.get(call),
                        call=call,
                        failed=block.get("is_error") is True,
                    )
                    for field, text in block_texts(block.get("content"), f"{at}/content")
                ]
    else:
        pieces += [Piece(role=said, text=text, field=at) for at, text in block_texts(content, "/message/content")]
    human = (
        said is Role.USER
        and not results
        and not record.get("isMeta")
        and any(not _INJECTED.match(piece.text) for piece in pieces)
    )
    context = tuple(str(record[key]) for key in ("cwd", "gitBranch") if record.get(key))
    structured = record.get("toolUseResult")
    return Turn(
        session=session, record=number, pieces=tuple(pieces), time=time, human=human, context=context,
        recorded=tuple(text for _, text in texts(structured)) if isinstance(structured, (dict, list)) else (),
    )  # fmt: skip
