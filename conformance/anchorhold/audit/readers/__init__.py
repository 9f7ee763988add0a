"""Readers: each turns the files of one format into the events of `model`. The format is told from the content.

Nothing is dropped silently: what a reader cannot read it reports as `Damage`, with the number of the record.

`agent-trajectory` on PyPI reads several of these formats. It is not used: it starts Node for every batch and hands
it whole transcripts as one string, leaves out the records that mark a compaction and its summary, keeps no place in
the file, and has no reader for SWE-agent, chat messages, aider or telemetry.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from anchorhold.audit.model import Damage, Event
from anchorhold.audit.readers import claude_code, codex, documents, otel, pi, prose, source

Read: TypeAlias = Callable[[Path, Callable[[Damage], None]], Iterator[Event]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format: its name, how it is recognised by a file's first bytes, and its reader."""

    name: str
    recognises: Callable[[bytes], bool]
    read: Read


def _json(head: bytes, *keys: str) -> bool:
    return source.is_json(head) and all(source.keyed(head, key) for key in keys)


FORMATS = (
    Format(name="otel", recognises=otel.recognises, read=otel.read),
    Format(name="codex", recognises=codex.recognises, read=codex.read),
    Format(name="claude-code", recognises=claude_code.recognises, read=claude_code.read),
    Format(name="pi", recognises=pi.recognises, read=pi.read),
    Format(name="gemini-cli", recognises=lambda h: _json(h, "sessionId", "projectHash"), read=documents.gemini),
    Format(
        name="openhands",
        recognises=lambda h: _json(h, "instance_id", "history") or _json(h, "source", "action", "args"),
        read=documents.openhands,
    ),
    Format(
        name="swe-agent",
        recognises=lambda h: (
            _json(h, "history", "role")
            or _json(h, "trajectory", "observation")
            or _json(h, "environment", "trajectory")
        ),
        read=documents.swe_agent,
    ),
    Format(name="intercode", recognises=lambda h: _json(h, "turn_history"), read=documents.intercode),
    Format(name="memorybank", recognises=lambda h: _json(h, "history", "query"), read=documents.memorybank),
    Format(
        name="chat",
        recognises=lambda h: h.lstrip()[:1] == b"{" and source.keyed(h, "role") and _several_lines(h),
        read=documents.chat_lines,
    ),
    Format(name="chat", recognises=lambda h: _json(h, "role", "content"), read=documents.chat_document),
    Format(name="aider", recognises=prose.is_aider, read=prose.aider),
    Format(name="console", recognises=prose.is_console, read=prose.console),
)
TEXT = Format(name="text", recognises=lambda h: b"\0" not in h and not source.is_json(h), read=prose.plain)


def _several_lines(head: bytes) -> bool:
    first, _, rest = head.partition(b"\n")
    return first.rstrip().endswith(b"}") and (not rest or rest.lstrip().startswith(b"{"))


def detect(path: Path, *, named: bool = True) -> Format | None:
    """The format of a file by its content; none for what is no transcript. Raises `OSError`.

    A text without any mark of a conversation is one only where somebody named the file.
    """
    start = source.head(path)
    for each in FORMATS:
        if each.recognises(start):
            return each
    text = start.strip() and TEXT.recognises(start) and (named or prose.is_conversation(start))
    return TEXT if text else None
