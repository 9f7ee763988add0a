"""Facts of a text and of a turn. A summary's manifest and a span's are read by the same code, so that what counts as
carried is what can be read out of the summary's own words, whatever the summariser claims (MAN-2).
"""

import json
from collections.abc import Iterator

from anchorhold_reference.extract.engine import ENGINE, Engine
from anchorhold_reference.extract.mention import Mention, key_of
from anchorhold_spec.vocabulary import ToolCall, Turn


def mentions(text: str, *, engine: Engine = ENGINE) -> list[Mention]:
    """Every fact that a text says, parts of slots included, line by line."""
    return engine.mentions(text)


def _arguments(call: ToolCall) -> Iterator[Mention]:
    """The arguments of a call, leaf by leaf where they are JSON, else as they stand."""
    if not call.arguments.strip():
        return
    try:
        parsed = json.loads(call.arguments)
        if b"\\u0000" in json.dumps(parsed, ensure_ascii=False).encode("utf-8"):
            raise ValueError("a null character")
    except (ValueError, RecursionError):  # not JSON, or escapes that no ledger holds as text: as it stands
        parsed = call.arguments
    said = f"{call.name}({call.arguments})"
    for path, leaf in _leaves(parsed, ""):
        literal = leaf if isinstance(leaf, str) else json.dumps(leaf)
        attribute = path or "arguments"
        if literal:
            yield Mention(
                kind="argument",
                literal=literal,
                start=0,
                end=0,
                said=said,
                key=key_of("argument", literal, said, subject=call.name, attribute=attribute, frame=call.id),
                subject=call.name,
                attribute=attribute,
                value=literal,
                frame=call.id,
            )


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value:
        for i, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{i}]")
    else:
        yield path, value


def facts_of(turn: Turn, *, engine: Engine = ENGINE) -> list[Mention]:
    """The assertions of a turn: facts of its text and of its calls, each once, without the parts of slots.

    Raises `UnreadableError` where they cannot be computed: such a span is retained raw (MAN-3).
    """
    if turn.data is not None:
        raise UnreadableError("its content is bytes, not text")
    text = turn.text or ""
    _readable(text)
    for call in turn.calls:
        _readable(call.name)
        _readable(call.arguments)
    seen = engine.distinct(text)
    for call in turn.calls:
        for mention in _arguments(call):
            seen.setdefault(mention.key, mention)
    return list(seen.values())


def _readable(text: str) -> None:
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise UnreadableError(f"its text is not valid Unicode at character {error.start}") from None
    if "\x00" in text:
        raise UnreadableError("its text holds a null character: it is not prose that patterns can read")


class UnreadableError(ValueError):
    """The facts of a span cannot be computed; the message says why."""
