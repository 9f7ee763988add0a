"""Turns out of recorded transcripts: Claude Code's JSON lines, and chat logs; packed with xz or not.

Replaying needs the text of a transcript in its order and no more: what else a format says is not read.
"""

import json
import lzma
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from anchorhold_spec.vocabulary import ToolCall, Turn

_SAID = re.compile(r"\[\d{1,2}:\d{2}\] (?:<([^>]*)>|\*)")


class UnknownFormatError(ValueError):
    """A file is neither of the formats that can be replayed."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path}: neither Claude Code's JSON lines nor a log with lines like '[09:14] <name> text'; give one of "
            "those"
        )


def transcripts(paths: Iterable[Path]) -> Iterator[Path]:
    """The files that are meant: each file, and those of each folder that have the name of a transcript."""
    for path in paths:
        if path.is_dir():
            yield from sorted(
                one for one in path.rglob("*") if one.name.endswith((".jsonl", ".jsonl.xz", ".txt", ".txt.xz"))
            )
        else:
            yield path


def turns_of(path: Path) -> list[Turn]:
    """The turns of a file, in order; a call that was never answered is `killed`, as it is known to be by now.

    Raises `UnknownFormatError` where the file is of no known format, `OSError` where it cannot be read.
    """
    open_ = lzma.open if path.suffix == ".xz" else open
    with open_(path, "rt", encoding="utf-8", newline="\n") as file:
        first = next((line for line in file if line.strip()), "")
        file.seek(0)
        if first.startswith("{"):
            return _settled(list(_claude_code(file)))
        if first.startswith("###") or _SAID.match(first):
            return list(_log(file))
    raise UnknownFormatError(path)


def _claude_code(lines: Iterable[str]) -> Iterator[Turn]:
    for at, line in enumerate(lines):
        try:
            record = json.loads(line)
        except ValueError:  # a torn append
            continue
        if (
            not isinstance(record, dict)
            or record.get("type") not in {"user", "assistant"}
            or record.get("isSidechain")
        ):
            continue
        message = record.get("message")
        if isinstance(message, dict):
            yield from _of_message(at, str(record["type"]), message.get("content"))


def _of_message(at: int, speaker: str, content: Any) -> Iterator[Turn]:
    if isinstance(content, str):
        yield Turn(id=f"{at}", speaker=speaker, text=content)
        return
    said: list[str] = []
    calls: list[ToolCall] = []
    for i, block in enumerate(content or ()):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "tool_result":
            yield Turn(
                id=f"{at}/{i}",
                speaker="tool",
                text=_text_of(block.get("content")),
                result_of=block.get("tool_use_id"),
            )
        elif kind == "tool_use":
            calls.append(
                ToolCall(id=block["id"], name=block["name"], arguments=json.dumps(block["input"], ensure_ascii=False))
            )
        elif kind in {"text", "thinking"}:
            said.append(str(block.get(kind) or ""))
    if said or calls:
        yield Turn(id=f"{at}", speaker=speaker, text="\n".join(said), calls=tuple(calls))


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(
        block["text"] for block in content or () if isinstance(block, dict) and block.get("type") == "text"
    )


def _settled(turns: list[Turn]) -> list[Turn]:
    answered = {turn.result_of for turn in turns}
    return [
        Turn(id=turn.id, speaker=turn.speaker, text=turn.text, calls=turn.calls, status="killed")
        if turn.calls and not answered.issuperset(call.id for call in turn.calls)
        else turn
        for turn in turns
    ]


def _log(lines: Iterable[str]) -> Iterator[Turn]:
    for at, line in enumerate(lines):
        if line.startswith("[") and _SAID.match(line):
            yield Turn(id=f"{at}", speaker="user", text=line.rstrip("\n"))
