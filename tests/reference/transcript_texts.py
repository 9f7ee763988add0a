"""Every text of transcripts, whatever their formats: strings of JSON at any depth, or lines in groups."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def texts(folder: Path) -> Iterator[str]:
    """The texts of all files below a folder, each file's in its order; those that were compressed by xz, too."""
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            content = lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()
            yield from _texts(content.decode("utf-8", "surrogateescape"))


def _texts(content: str) -> Iterator[str]:
    try:
        yield from _strings(json.loads(content))
    except ValueError:
        lines = content.split("\n")
        for i in range(0, len(lines), 200):
            yield "\n".join(lines[i : i + 200])
        for line in lines:
            if line.startswith("{"):
                try:
                    yield from _strings(json.loads(line))
                except ValueError:
                    continue


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
