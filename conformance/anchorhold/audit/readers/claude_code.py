"""Claude Code: JSON lines, one record each, of one or several sessions.

`system` with `subtype: compact_boundary` marks a compaction, and the next user record with `isCompactSummary` is the
summary. Records of types that carry no part of the conversation are known and passed over; any other is reported.
`parentUuid` makes the records a tree: what stands on a branch that the user went back from is no part of the window.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anchorhold.audit.model import Compaction, Damage, Event, Piece, Role, Turn
from anchorhold.audit.readers.attachments import attached
from anchorhold.audit.readers.branches import Branches
from anchorhold.audit.readers.common import Notes, block_words, call_pieces, short, texts, words
from anchorhold.audit.readers.source import is_json, keyed, open_bytes, records

SILENT = frozenset({"summary", "progress", "file-history-snapshot", "queue-operation", "pr-link",
                    "last-prompt", "custom-title", "agent-name", "ai-title", "permission-mode", "mode",
                    "worktree-state", "agent-color", "agent-setting", "tag", "task-summary"})  # fmt: skip
_BLOCKS = frozenset({"redacted_thinking", "image", "document"})
"""Types of blocks that are known and hold no words."""
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
    if not is_json(head):
        return False
    if keyed(head, "leafUuid") and keyed(head, "summary"):
        return True
    return (
        keyed(head, "sessionId")
        and any(keyed(head, key) for key in ("parentUuid", "uuid", "isSidechain", "messageId", "snapshot"))
        and not keyed(head, "projectHash")
    )


@dataclass(slots=True, kw_only=True)
class State:
    """What is known of the sessions so far: from one file, or from several that hold the same sessions."""

    tools: dict[str, str] = field(default_factory=dict)
    """The tool of each call."""
    marks: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    """Compactions whose summary has not come yet, by session."""
    seen: set[int] = field(default_factory=set)
    """Records of this file."""
    before: set[int] = field(default_factory=set)
    """Records of the files before."""
    last: dict[str, str] = field(default_factory=dict)
    """The time of each session's last record."""
    first: int = 0
    """The number of the next file's first record."""
    branches: OrderedDict[str, Branches] = field(default_factory=OrderedDict)

    def next_file(self) -> None:
        """Another file of the same sessions begins. Its records are numbered on from the last one's."""
        self.before |= self.seen
        self.seen = set()

    def branch(self, session: str) -> Branches:
        """The branches of a session."""
        if session not in self.branches:
            self.branches[session] = Branches()
            if len(self.branches) > MOST_BRANCHED:
                self.branches.popitem(last=False)
        self.branches.move_to_end(session)
        return self.branches[session]


MOST_BRANCHED = 8
"""Sessions of a file whose branches are followed at a time."""


def read(path: Path, report: Callable[[Damage], None], state: State | None = None) -> Iterator[Event]:
    """The events of a file. Raises `OSError`.

    `state`: what is known from other files of the same sessions; a record that one of those had is not given again.
    """
    several = state is not None
    state = state or State()
    copied, last = 0, state.first
    with open_bytes(path) as file:
        for number, record in records(file, report, first=state.first):
            last = number
            notes = Notes(number, report)
            if not isinstance(record, dict):
                notes.unknown(f"a {type(record).__name__} and no record")
                continue
            kind = notes.words(record.get("type"), "type")
            if kind in SILENT:
                continue
            session = notes.words(record.get("sessionId"), "sessionId") or path.stem
            if record.get("isSidechain"):
                # A sub-agent's turns are not in the window that was compacted.
                agent = words(record.get("agentId"))
                session += f"{SIDECHAIN}/{agent}" if agent else SIDECHAIN
            uuid = notes.words(record.get("uuid"), "uuid")
            if uuid is not None and kind in {"user", "assistant", "system", "attachment"}:
                key = hash((session, uuid))
                if key in state.before:
                    copied += 1
                    continue
                if key in state.seen:
                    notes.tell("doubled", "a record with the uuid of an earlier one")
                    continue
                state.seen.add(key)
            yield from _record(session, kind, uuid, record, notes, state)
    if copied:
        report(
            Damage(kind="copied", record=state.first, detail=f"{copied} records that another file of the session has")
        )
    state.first = last + 1
    if not several:
        for number, _ in state.marks.values():
            report(orphan(number))


SIDECHAIN = "/sidechain"
"""What follows the session's id for the turns of a sub-agent."""


def _record(
    session: str, kind: str | None, uuid: str | None, record: dict[str, Any], notes: Notes, state: State
) -> Iterator[Event]:
    branch = state.branch(session)
    parent = words(record.get("parentUuid"))
    if kind == "system":
        branch.add(uuid, parent, None)
        if record.get("subtype") == "compact_boundary":
            if session in state.marks:
                alone = orphan(state.marks[session][0])
                notes.tell(alone.kind, f"{alone.detail}: the one of record {alone.record}")
            state.marks[session] = (notes.number, record)
        return
    time = notes.words(record.get("timestamp"), "timestamp")
    if kind == "attachment":
        branch.add(uuid, parent, notes.number)
        turn = attached(session, record.get("attachment"), notes, time)
        if turn is not None:
            yield turn
        return
    if kind not in {"user", "assistant"}:
        notes.unknown(f"a record of type {short(record.get('type'))}")
        return
    message = record.get("message")
    if not isinstance(message, dict) or "content" not in message:
        notes.unknown(f"a record of type {kind!r} whose message has no content")
        return
    if record.get("isCompactSummary"):
        yield _compaction(session, message, state.marks.pop(session, None), time, notes, branch.left())
        branch.restart()
        return
    if time and time < state.last.get(session, ""):
        notes.tell("order", f"its time {time} is before the one above it")
    if time:
        state.last[session] = time
    turn = _turn(session, kind, record, message, state.tools, time, notes)
    if turn.human:
        branch.forks(parent)
    branch.add(uuid, parent, notes.number)
    yield turn
    if len(state.tools) > 4096:
        for old in list(state.tools)[:2048]:
            del state.tools[old]


def orphan(number: int) -> Damage:
    """What is told of a compaction whose summary never came."""
    return Damage(kind="compaction", record=number, detail="a compaction whose summary is not in the file")


def _compaction(
    session: str,
    message: dict[str, Any],
    mark: tuple[int, dict[str, Any]] | None,
    time: str | None,
    notes: Notes,
    left: frozenset[int],
) -> Compaction:
    pairs = notes.said(message.get("content"), "/message/content")
    at, text = pairs[0] if pairs else ("", "")
    # The harness's own stands last; a summary may quote others, of the session that made the plan.
    pointer = next(reversed(list(_POINTER.finditer(text))), None)
    begun = _HEAD.match(text)
    foot = _FOOT.search(text)
    start = begun.end() if begun else 0
    end = max(start, foot.start()) if foot else len(text)
    detail = notes.fields(mark[1].get("compactMetadata") if mark else None, "compactMetadata")
    tokens = detail.get("preTokens")
    return Compaction(
        session=session,
        record=mark[0] if mark else notes.number,
        summary_record=notes.number,
        # What the harness put around the summary keeps its place: positions are those of the record.
        summary=" " * start + text[start:end],
        field=at,
        time=time,
        trigger=words(detail.get("trigger")),
        tokens_before=tokens if isinstance(tokens, int) else None,
        transcript=pointer.group(1) if pointer else None,
        counted=True,
        left=left,
    )


def _turn(
    session: str,
    kind: str,
    record: dict[str, Any],
    message: dict[str, Any],
    tools: dict[str, str],
    time: str | None,
    notes: Notes,
) -> Turn:
    speaker = Role.USER if kind == "user" else Role.ASSISTANT
    pieces: list[Piece] = []
    content = message.get("content")
    results = False
    if isinstance(content, list):
        for index, block in enumerate(content):
            at = f"/message/content/{index}"
            if not isinstance(block, dict):
                pieces += [Piece(role=speaker, text=text, field=f) for f, text in block_words(block, at, notes)]
                continue
            if block.get("type") == "tool_result":
                results = True
            pieces += _pieces(block, at, speaker, tools, notes)
    else:
        pieces += [Piece(role=speaker, text=text, field=f) for f, text in notes.said(content, "/message/content")]
    human = (
        speaker is Role.USER
        and not results
        and not record.get("isMeta")
        and any(not _INJECTED.match(piece.text) for piece in pieces)
    )
    context = tuple(each for key in ("cwd", "gitBranch") if (each := notes.words(record.get(key), key)))
    structured = record.get("toolUseResult")
    return Turn(
        session=session, record=notes.number, pieces=tuple(pieces), time=time, human=human, context=context,
        recorded=tuple(text for _, text in texts(structured)) if isinstance(structured, (dict, list)) else (),
    )  # fmt: skip


def _pieces(block: dict[str, Any], at: str, speaker: Role, tools: dict[str, str], notes: Notes) -> Iterator[Piece]:
    kind = block.get("type")
    if kind == "text":
        if text := notes.words(block.get("text"), f"{at}/text"):
            yield Piece(role=speaker, text=text, field=f"{at}/text")
        elif "text" not in block:
            notes.unknown(f"{at} is a block of text without text")
    elif kind == "thinking":
        if text := notes.words(block.get("thinking"), f"{at}/thinking"):
            yield Piece(role=Role.THINKING, text=text, field=f"{at}/thinking")
    elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        call = notes.words(block.get("id"), f"{at}/id") or ""
        tools[call] = tool = notes.words(block.get("name"), f"{at}/name") or ""
        yield from call_pieces(block.get("input"), f"{at}/input", tool=tool, call=call)
    elif kind == "tool_result":
        call = notes.words(block.get("tool_use_id"), f"{at}/tool_use_id") or ""
        failed = block.get("is_error") is True
        for where, text in notes.said(block.get("content"), f"{at}/content"):
            yield Piece(role=Role.RESULT, text=text, field=where, tool=tools.get(call), call=call, failed=failed)
    elif not isinstance(kind, str) or kind not in _BLOCKS:
        notes.unknown(f"{at} is a block of type {short(kind)}")
