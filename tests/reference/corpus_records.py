"""Records of the transcripts that the labels of `tests/reference/labels` speak of: a text for each address.

The transcripts themselves are not part of the project. An address is what the format itself offers: a line of the
file counted from 0, and inside it the block.
"""

import json
import lzma
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any


@cache
def records(data: Path, dataset: str) -> dict[str, str]:
    """Address → text of every record of a file below `data`, in its order."""
    with lzma.open(data / dataset, "rt", encoding="utf-8", newline="\n") as file:
        content = file.read()
    kind = dataset.split("/")[0]
    return dict(_READERS[kind](content))


def _claude_code(content: str) -> Iterator[tuple[str, str]]:
    for at, line in enumerate(content.split("\n")):
        if not line or '"message"' not in line:
            continue
        record = json.loads(line)
        if record.get("type") in {"user", "assistant"} and not record.get("isSidechain"):
            yield from _blocks(f"{at}", record["message"].get("content") or "")


def _pi(content: str) -> Iterator[tuple[str, str]]:
    decoder = json.JSONDecoder()
    for at, line in enumerate(content.split("\n")):
        place = 0
        while place < len(line):
            record, place = decoder.raw_decode(line, place)
            if record.get("type") == "message":
                yield from _blocks(f"{at}", record["message"].get("content") or "")


def _blocks(address: str, content: Any) -> Iterator[tuple[str, str]]:
    if isinstance(content, str):
        yield address, content
        return
    for i, block in enumerate(content):
        if block.get("type") == "text":
            yield f"{address}/{i}", block["text"]
        elif block.get("type") == "tool_result":
            yield from _blocks(f"{address}/{i}", block.get("content") or "")


def _openhands(content: str) -> Iterator[tuple[str, str]]:
    for at, line in enumerate(content.split("\n")):
        for event in json.loads(line)["history"] if line else ():
            for field in ("message", "content"):
                if event.get(field):
                    yield f"{at}/{event['id']}/{field}", event[field]


def _tau_bench(content: str) -> Iterator[tuple[str, str]]:
    for task, run in enumerate(json.loads(content)):
        for i, message in enumerate(run["traj"]):
            if message["role"] != "system" and message.get("content"):
                yield f"{task}/{i}", message["content"]


def _irc(content: str) -> Iterator[tuple[str, str]]:
    """Twelve lines of a log are one record: a line alone is too short to be read as text."""
    lines = content.split("\n")
    for at in range(0, len(lines), 12):
        yield f"{at}", "\n".join(lines[at : at + 12])


def _aider(content: str) -> Iterator[tuple[str, str]]:
    """A run of lines of one kind: the user's, the tool's, the assistant's."""
    begun, run, last = 0, [], ""
    for at, line in enumerate(content.split("\n")):
        kind = "user" if line.startswith("#### ") else "tool" if line.startswith("> ") else "assistant"
        if kind != last and run:
            yield f"{begun}", "\n".join(run)
            run = []
        if not run:
            begun, last = at, kind
        run.append(line)
    yield f"{begun}", "\n".join(run)


_READERS = {
    "aider": _aider,
    "claude_code": _claude_code,
    "irc": _irc,
    "openhands": _openhands,
    "pi": _pi,
    "tau_bench": _tau_bench,
}
