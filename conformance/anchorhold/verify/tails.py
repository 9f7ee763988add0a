"""Lines that say what earlier lines said, known again without decoding them.

Most of a long history is looks at what has not changed: lines that differ in `index` and `step` alone, which stand
first. What follows them, byte for byte, is looked up before it is decoded. What has to be decoded is decoded once,
straight into the vocabulary's types.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from anchorhold.checkers.course import Heard
from anchorhold.checkers.observe import READ_AS
from anchorhold.checkers.reading import OUTCOMES
from anchorhold.history import Event, EventType
from anchorhold.verify.forms import OPERATIONS, misformed
from anchorhold_spec.vocabulary import Answer, Fact, Outcome, Turn

KEPT: Final = 8192
"""Lines that are known again at least, where they are short."""
KEPT_BYTES: Final = 16 * 1024 * 1024
"""Bytes of lines that are kept at most, twice."""
PROBE: Final = b'{"index":-7,"step":-7'
"""Stands in for the numbers, so that a line is told that names them twice."""
KIND: Final = b',"type":"'
_VALUE: Final = b',"value":'


class _Appended(msgspec.Struct):
    turn: Turn
    facts: tuple[Fact, ...] | msgspec.UnsetType = msgspec.UNSET


class _Line(msgspec.Struct, kw_only=True):
    index: int
    step: int
    type: EventType
    op: str
    process: str = "main"
    error: str | None = None


def _decoder(value: Any) -> msgspec.json.Decoder[Any]:
    line = msgspec.defstruct("_Typed", [("value", value)], bases=(_Line,), kw_only=True)
    return msgspec.json.Decoder(line)


def _decoders() -> Mapping[bytes, tuple[msgspec.json.Decoder[Any], EventType | None, str | None]]:
    """By the part of a line between its numbers and its value; with the type and operation that it names."""
    typed = {op: value for op, value in READ_AS.items() if value is not object}
    typed |= dict.fromkeys(OUTCOMES, Outcome) | {"search": Answer, "reconstitute": Answer}
    heads = {
        KIND + b'ok","op":"' + op.encode() + b'"': (_decoder(value), EventType.OK, op) for op, value in typed.items()
    }
    return {**heads, KIND + b'invoke","op":"append"': (_decoder(_Appended), EventType.INVOKE, "append")}


_EVENT: Final = msgspec.json.Decoder(Event)
_TYPED: Final = _decoders()
_UNTYPED: Final = (_EVENT, None, None)


class Tails:
    """The lines that were read last, by what follows their numbers."""

    def __init__(self) -> None:
        self.young: dict[bytes, Heard] = {}
        self._old: dict[bytes, Heard] = {}
        self._bytes = 0

    def read(self, rest: bytes) -> Heard | None:
        """What follows the numbers of a whole line; none where it is no event as this suite writes one."""
        tail = self.young.get(rest)
        if tail is not None:
            return tail
        tail = self._old.get(rest) or _decoded(rest)
        if tail is not None:
            self._keep(rest, tail)
        return tail

    def _keep(self, rest: bytes, tail: Heard) -> None:
        size = len(rest)
        if size > KEPT_BYTES // 4:
            return
        self._bytes += size
        if len(self.young) >= KEPT or self._bytes > KEPT_BYTES:
            self._old, self.young, self._bytes = self.young, {}, size
        self.young[rest] = tail


def _decoded(rest: bytes) -> Heard | None:
    """None where it cannot be, and where it names the numbers a second time."""
    at = rest.find(_VALUE)
    decoder, kind, op = _TYPED.get(rest[:at], _UNTYPED) if at > 0 else _UNTYPED
    try:
        rest.decode()  # a typed decoder passes over strings that it has no use for, whatever bytes they are
        line = decoder.decode(PROBE + rest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if line.index != -7 or line.step != -7 or line.op not in OPERATIONS:
        return None
    value = line.value
    if op is not None and (line.op != op or line.type is not kind):
        return None
    if op is None:
        if misformed(line) is not None:
            return None
    elif op == "append":
        # As a mapping, in which what is left out is left out.
        value = {"turn": value.turn} if value.facts is msgspec.UNSET else {"turn": value.turn, "facts": value.facts}
    return Heard(line.type, line.process, line.op, value, line.error)
