"""What events say, known again without decoding it.

Most of a long history is looks at what has not changed: lines that differ in `index` and `step` alone. Of a line only
its frame is decoded; its value is looked up, byte for byte, among those that were read last. What has to be decoded
is decoded once, straight into the vocabulary's types.
"""

from typing import Any, Final

import msgspec

from anchorhold.checkers.course import Heard
from anchorhold.checkers.observe import READ_AS
from anchorhold.checkers.reading import MAIN, OUTCOMES
from anchorhold.history import EventType
from anchorhold.verify.forms import OPERATIONS, misformed
from anchorhold_spec.vocabulary import Answer, Fact, Outcome, Turn

KEPT: Final = 8192
"""Values that are known again at least, where they are short."""
KEPT_BYTES: Final = 16 * 1024 * 1024
"""Bytes of values that are kept at most, twice."""
INVOKE: Final = EventType.INVOKE
OK: Final = EventType.OK


class Frame(msgspec.Struct, gc=False):
    """A line, without looking into its value. Fields and defaults are those of `Event`."""

    index: int
    step: int
    type: EventType
    op: str
    process: str = MAIN
    value: msgspec.Raw = msgspec.Raw(b"null")
    error: str | None = None


class _Appended(msgspec.Struct):
    turn: Turn
    facts: tuple[Fact, ...] | msgspec.UnsetType = msgspec.UNSET


_ANY: Final = msgspec.json.Decoder()
_APPENDED: Final = msgspec.json.Decoder(_Appended)
_ANSWERED: Final[dict[str, msgspec.json.Decoder[Any]]] = {
    op: msgspec.json.Decoder(value)
    for op, value in {
        **{op: value for op, value in READ_AS.items() if value is not object},
        **dict.fromkeys(OUTCOMES, Outcome),
        "search": Answer,
        "reconstitute": Answer,
    }.items()
}
"""What is read straight into the vocabulary's types, of what operations end with."""


class Values:
    """The values that were read last."""

    def __init__(self) -> None:
        self._young: dict[tuple[EventType, str], dict[bytes, Heard]] = {}
        self._old: dict[tuple[EventType, str], dict[bytes, Heard]] = {}
        self._number = 0
        self._bytes = 0

    def heard(self, frames: list[Frame]) -> list[Heard] | None:
        """What events say; none where one of them is of no known operation, or not of the form that it has."""
        young, found = self._young, list[Heard]()
        for frame in frames:
            kind, op, raw = frame.type, frame.op, bytes(frame.value)
            plain = frame.process == MAIN and frame.error is None
            if plain:
                known = young.get((kind, op))
                heard = None if known is None else known.get(raw)
                if heard is not None:
                    found.append(heard)
                    continue
            heard = self._older(kind, op, raw) if plain else _decoded(frame, raw)
            if heard is None:
                heard = _decoded(frame, raw)
                if heard is None:
                    return None
            if plain and len(raw) <= KEPT_BYTES // 4:
                self._keep(kind, op, raw, heard)
                young = self._young
            found.append(heard)
        return found

    def _older(self, kind: EventType, op: str, raw: bytes) -> Heard | None:
        known = self._old.get((kind, op))
        return None if known is None else known.get(raw)

    def _keep(self, kind: EventType, op: str, raw: bytes, heard: Heard) -> None:
        self._number += 1
        self._bytes += len(raw)
        if self._number > KEPT or self._bytes > KEPT_BYTES:
            self._old, self._young, self._number, self._bytes = self._young, {}, 1, len(raw)
        known = self._young.get((kind, op))
        if known is None:
            known = self._young[kind, op] = {}
        known[raw] = heard


def _decoded(frame: Frame, raw: bytes) -> Heard | None:
    """None where its operation is not known, or its value has not the form that it should have."""
    kind, op = frame.type, frame.op
    if op not in OPERATIONS:
        return None
    typed = _ANSWERED.get(op) if kind is OK else None
    try:
        if typed is not None:
            value = typed.decode(raw)
        elif kind is INVOKE and op == "append":
            said = _APPENDED.decode(raw)
            # As a mapping, in which what is left out is left out.
            value = {"turn": said.turn} if said.facts is msgspec.UNSET else {"turn": said.turn, "facts": said.facts}
        else:
            value = _ANY.decode(raw)
            if misformed(kind, op, value) is not None:
                return None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return Heard(kind, frame.process, op, value, frame.error)
