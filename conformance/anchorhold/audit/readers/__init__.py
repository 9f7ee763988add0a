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


def _json(head: bytes, *keys: bytes) -> bool:
    start = head.lstrip()[:1]
    return start in {b"{", b"["} and all(key in head for key in keys)


FORMATS = (
    Format(name="otel", recognises=otel.recognises, read=otel.read),
    Format(name="codex", recognises=codex.recognises, read=codex.read),
    Format(name="claude-code", recognises=claude_code.recognises, read=claude_code.read),
    Format(name="pi", recognises=pi.recognises, read=pi.read),
    Format(name="gemini-cli", recognises=lambda h: _json(h, b'"sessionId"', b'"projectHash"'), read=documents.gemini),
    Format(
        name="openhands",
        recognises=lambda h: (
            _json(h, b'"instance_id"', b'"history"') or _json(h, b'"source"', b'"action"', b'"args"')
        ),
        read=documents.openhands,
    ),
    Format(
        name="swe-agent",
        recognises=lambda h: (
            _json(h, b'"history"', b'"role"')
            or _json(h, b'"trajectory"', b'"observation"')
            or _json(h, b'"environment"', b'"trajectory"')
        ),
        read=documents.swe_agent,
    ),
    Format(name="intercode", recognises=lambda h: _json(h, b'"turn_history"'), read=documents.intercode),
    Format(name="memorybank", recognises=lambda h: _json(h, b'"history"', b'"query"'), read=documents.memorybank),
    Format(
        name="chat",
        recognises=lambda h: h.lstrip()[:1] == b"{" and b'"role"' in h and _several_lines(h),
        read=documents.chat_lines,
    ),
    Format(name="chat", recognises=lambda h: _json(h, b'"role"', b'"content"'), read=documents.chat_document),
    Format(name="aider", recognises=lambda h: b"# aider chat started at" in h, read=prose.aider),
    Format(
        name="console",
        recognises=lambda h: any(mark.encode() in h for mark in ("⏺ ", "● ", "✦ ", "⎿")),
        read=prose.console,
    ),
)
TEXT = Format(name="text", recognises=lambda h: b"\0" not in h, read=prose.plain)


def _several_lines(head: bytes) -> bool:
    first, _, rest = head.partition(b"\n")
    return first.rstrip().endswith(b"}") and (not rest or rest.lstrip().startswith(b"{"))


def detect(path: Path) -> Format | None:
    """The format of a file by its content; none for what is no text. Raises `OSError`."""
    start = source.head(path)
    for each in FORMATS:
        if each.recognises(start):
            return each
    return TEXT if start.strip() and TEXT.recognises(start) else None
