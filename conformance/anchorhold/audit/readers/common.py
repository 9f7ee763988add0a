"""What the readers share: values of the type that is wanted, pieces of calls, and texts inside blocks."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from anchorhold.audit.model import Damage, Piece, Role

PRODUCT = frozenset({"new_string", "newText", "new_text", "new_str", "new_source", "content", "contents", "file_text",
                     "insert_text", "replacement", "code_edit", "patch", "newString"})  # fmt: skip
"""Arguments that are written into a file."""
ADDRESS = frozenset({"file_path", "path", "notebook_path", "filename", "file", "absolute_path", "target_file",
                     "filePath", "dir_path"})  # fmt: skip


DEEPEST = 32
"""Blocks inside blocks that are followed; no harness nests them further."""
WORDLESS = frozenset({"image", "image_url", "input_image", "audio", "input_audio", "video", "file", "input_file",
                      "document", "redacted_thinking", "tool_reference", "encrypted_content"})  # fmt: skip
"""Types of blocks that are known and hold no words."""
_CALLED = {"dict": "object", "list": "array", "str": "string", "int": "number", "float": "number", "bool": "boolean",
           "NoneType": "null"}  # fmt: skip


class Notes:
    """One record: takes its values only where they have the type that is wanted, and reports the others."""

    __slots__ = ("_report", "number")

    def __init__(self, number: int, report: Callable[[Damage], None]) -> None:
        """`number` is the record's, from 0."""
        self.number, self._report = number, report

    def unknown(self, detail: str) -> None:
        """The record, or a part of it, is of no known type."""
        self._report(Damage(kind="unknown", record=self.number, detail=detail))

    def ill_typed(self, value: Any, what: str, wanted: str) -> None:
        """A value has another type than the format gives it."""
        detail = f"{what} is {called(value)}, and should be {wanted}"
        self._report(Damage(kind="ill-typed", record=self.number, detail=detail))

    def tell(self, kind: str, detail: str) -> None:
        """Any other damage."""
        self._report(Damage(kind=kind, record=self.number, detail=detail))

    def words(self, value: Any, what: str) -> str | None:
        """A string that says something, or none."""
        if value is None or isinstance(value, str):
            return value or None
        self.ill_typed(value, what, "a string")
        return None

    def fields(self, value: Any, what: str) -> dict[str, Any]:
        """An object; an empty one where there is none."""
        if isinstance(value, dict):
            return value
        if value is not None:
            self.ill_typed(value, what, "an object")
        return {}

    def items(self, value: Any, what: str) -> list[Any]:
        """An array; an empty one where there is none."""
        if isinstance(value, list):
            return value
        if value is not None:
            self.ill_typed(value, what, "an array")
        return []

    def said(self, content: Any, pointer: str) -> list[tuple[str, str]]:
        """The texts of a message's or result's content, with their pointers; blocks without words are reported."""
        if content is None or isinstance(content, (str, list)):
            return list(block_texts(content, pointer, notes=self))
        self.ill_typed(content, pointer, "a string or an array")
        return list(texts(content, pointer))


def called(value: Any) -> str:
    """What JSON calls the type of a value, with its article."""
    name = _CALLED.get(type(value).__name__, type(value).__name__)
    return "null" if name == "null" else f"{'an' if name[0] in 'ao' else 'a'} {name}"


def texts(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Every string (and number) inside a JSON value, with its pointer, in the order of the document."""
    # Not by recursion: what is decoded may be nested deeper than calls may be.
    open_values: list[tuple[str, Any]] = [(pointer, value)]
    while open_values:
        at, each = open_values.pop()
        if isinstance(each, str):
            if each:
                yield at, each
        elif isinstance(each, dict):
            inner = [(f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}", item) for key, item in each.items()]
            open_values += reversed(inner)
        elif isinstance(each, list):
            open_values += reversed([(f"{at}/{index}", item) for index, item in enumerate(each)])
        elif isinstance(each, (int, float)) and not isinstance(each, bool):
            # Python writes no more than 4300 digits.
            yield at, hex(each) if isinstance(each, int) and each.bit_length() > 4096 else str(each)


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


def block_texts(
    content: Any, pointer: str, *, notes: Notes | None = None, depth: int = 0
) -> Iterator[tuple[str, str]]:
    """The text of a message's or result's content: a string, or blocks with `text` or `content`.

    `notes` hears of blocks that hold no words and are not known for it.
    """
    if isinstance(content, str):
        if content:
            yield pointer, content
    elif isinstance(content, list):
        for index, block in enumerate(content):
            at = f"{pointer}/{index}"
            yield from block_words(block, at, notes, depth=depth)
    elif isinstance(content, dict):
        yield from texts(content, pointer)


def block_words(block: Any, at: str, notes: Notes | None = None, *, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The text of one block; `notes` hears where it holds none and is not known for it."""
    if isinstance(block, str):
        yield at, block
        return
    if not isinstance(block, dict):
        if notes is not None:
            notes.ill_typed(block, at, "a block")
        return
    for key in ("text", "content", "output", "refusal"):
        inner = block.get(key)
        if isinstance(inner, str):
            if inner:
                yield f"{at}/{key}", inner
            return
        if isinstance(inner, list):
            if depth < DEEPEST:
                yield from block_texts(inner, f"{at}/{key}", notes=notes, depth=depth + 1)
            elif notes is not None:
                notes.unknown(f"{at} is nested deeper than {DEEPEST} blocks")
            return
    kind = block.get("type")
    if notes is not None and not (isinstance(kind, str) and kind in WORDLESS):
        notes.unknown(f"{at} is a block of type {short(kind)} without words")


def short(value: Any) -> str:
    """A value to be named in a message: the beginning of it."""
    try:
        said = repr(value)
    except (ValueError, RecursionError):
        said = called(value)
    return said if len(said) <= 60 else said[:57] + "..."


def dumped(value: Any) -> str:
    """A value as JSON, equal for equal values."""
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    except (ValueError, RecursionError):
        return "".join(f"{at}={text}\n" for at, text in texts(value))


def words(value: Any) -> str | None:
    """A string that says something, or none."""
    return value if isinstance(value, str) and value else None
