"""Texts of transcripts, whatever their formats: strings of JSON, some of its lines, and other lines."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def texts(folder: Path) -> Iterator[str]:
    """The texts of all files below a folder, those that were compressed by xz, too; each text once."""
    seen: set[int] = set()
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            content = lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()
            for text in _texts(content.decode("utf-8", "surrogateescape")):
                if hash(text) not in seen:
                    seen.add(hash(text))
                    yield text


def _texts(content: str) -> Iterator[str]:
    try:
        yield from _strings(json.loads(content))
    except ValueError:
        others = []
        for i, line in enumerate(content.split("\n")):
            try:
                yield from _strings(json.loads(line))
            except ValueError:
                others.append(line)
            else:
                if i % 50 == 0:  # JSON as it stands, on one long line
                    yield line
        for i in range(0, len(others), 200):
            yield "\n".join(others[i : i + 200])


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
