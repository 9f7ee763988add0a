"""What the readers share: pieces of calls, and texts inside blocks."""

import json
from collections.abc import Iterator
from typing import Any

from anchorhold.audit.model import Piece, Role

PRODUCT = frozenset({"new_string", "newText", "new_text", "new_str", "new_source", "content", "contents", "file_text",
                     "insert_text", "replacement", "code_edit", "patch", "newString"})  # fmt: skip
"""Arguments that are written into a file."""
ADDRESS = frozenset({"file_path", "path", "notebook_path", "filename", "file", "absolute_path", "target_file",
                     "filePath", "dir_path"})  # fmt: skip


def texts(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Every string (and number) inside a JSON value, with its pointer."""
    if isinstance(value, str):
        if value:
            yield pointer, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts(item, f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from texts(item, f"{pointer}/{index}")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield pointer, str(value)


def call_pieces(arguments: Any, pointer: str, *, tool: str | None, call: str | None) -> Iterator[Piece]:
    """The arguments of a call, leaf by leaf; JSON in a string is read too, and its leaves stand at the string."""
    inner = arguments
    fixed = False
    if isinstance(arguments, str):
        try:
            inner = json.loads(arguments)
            fixed = isinstance(inner, (dict, list))
        except (ValueError, RecursionError):
            inner = arguments
        if not fixed:
            inner = arguments
    for at, text in texts(inner):
        key = next((part for part in reversed(at.split("/")) if part and not part.isdigit()), "")
        yield Piece(
            role=Role.CALL,
            text=text,
            field=pointer if fixed else pointer + at,
            tool=tool,
            call=call,
            product=key in PRODUCT and tool not in {"Bash", "bash", "shell"},
            addresses=key in ADDRESS,
        )


def block_texts(content: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """The text of a message's or result's content: a string, or blocks with `text` or `content`."""
    if isinstance(content, str):
        if content:
            yield pointer, content
    elif isinstance(content, list):
        for index, block in enumerate(content):
            at = f"{pointer}/{index}"
            if isinstance(block, str):
                yield at, block
            elif isinstance(block, dict):
                for key in ("text", "content", "output"):
                    if isinstance(block.get(key), str):
                        if block[key]:
                            yield f"{at}/{key}", block[key]
                        break
                    if isinstance(block.get(key), list):
                        yield from block_texts(block[key], f"{at}/{key}")
                        break
    elif isinstance(content, dict):
        yield from texts(content, pointer)


def words(value: Any) -> str | None:
    """A string that says something, or none."""
    return value if isinstance(value, str) and value else None
