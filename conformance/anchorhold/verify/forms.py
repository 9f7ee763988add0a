"""The forms that values of events have, as far as they are read."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from anchorhold.history import EventType
from anchorhold.wire.messages import METHODS, ExpireParams
from anchorhold_spec.vocabulary import Fact, Turn

OPERATIONS: Final = frozenset(METHODS) | {"summarise", "note", "scan", "describe"}
"""Operations that a history of this format can speak of."""


class _Appended(msgspec.Struct):
    """Arguments of `append`."""

    turn: Turn
    facts: tuple[Fact, ...] | msgspec.UnsetType = msgspec.UNSET


class _Replied(msgspec.Struct):
    text: str
    finish: str = "stop"
    mode: str | None = None


class _Asked(msgspec.Struct):
    messages: tuple[str, ...]


class _Scanned(msgspec.Struct):
    remains: tuple[dict[str, str], ...]


INVOKED: Final[Mapping[str, Any]] = {"append": _Appended, "summarise": _Asked, "expire": ExpireParams}
"""Forms of arguments that are read; the others are names and texts, and are taken as they come."""
ENDED: Final[Mapping[str, Any]] = {
    **{name: method.value for name, method in METHODS.items() if method.value is not None},
    "summarise": _Replied,
    "scan": _Scanned,
}
"""Forms of results. `open` may leave out whatever has a default."""


def misformed(kind: EventType, op: str, value: Any) -> str | None:
    """What is wrong with the value of an event, where something is that a checker would stumble over."""
    if kind is EventType.INVOKE:
        expected = INVOKED.get(op)
        if not isinstance(value, dict) and value is not None:
            return f"arguments are an object, and this is {type(value).__name__}"
    else:
        expected = ENDED.get(op) if kind is EventType.OK else None
    if expected is None:
        return None
    try:
        msgspec.convert(value, expected)
    except msgspec.ValidationError as error:
        return str(error)
    return None
