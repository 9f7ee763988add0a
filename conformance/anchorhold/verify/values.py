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
from anchorhold.verify.forms import INVOKED, OPERATIONS, Appended, Frame, Replied, misformed
from anchorhold_spec.vocabulary import Answer, Outcome

KEPT: Final = 8192
"""Values that are known again at least, where they are short."""
KEPT_BYTES: Final = 16 * 1024 * 1024
"""Bytes of values that are kept at most, twice."""
INVOKE: Final = EventType.INVOKE
OK: Final = EventType.OK


_ANY: Final = msgspec.json.Decoder()
_APPENDED: Final = msgspec.json.Decoder(Appended)
_ASKED: Final = msgspec.json.Decoder(INVOKED["summarise"])
_REPLIED: Final = msgspec.json.Decoder(Replied)
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
        self._young, self._old = _Kept(), _Kept()

    def heard(self, frames: list[Frame]) -> list[Heard] | None:
        """What events say; none where one of them is of no known operation, or not of the form that it has."""
        asked, answered = self._young.asked, self._young.answered
        found = list[Heard]()
        add = found.append
        for frame in frames:
            raw, kind = bytes(frame.value), frame.type
            if frame.error is None and (kind is OK or kind is INVOKE) and frame.process == MAIN:
                known = (answered if kind is OK else asked).get(frame.op)
                heard = None if known is None else known.get(raw)
                if heard is None:
                    heard = self._new(frame, raw)
                    asked, answered = self._young.asked, self._young.answered
            else:
                heard = _decoded(frame, raw)
            if heard is None:
                return None
            add(heard)
        return found

    def _new(self, frame: Frame, raw: bytes) -> Heard | None:
        """What is not among the young."""
        op, size, asked = frame.op, len(raw), frame.type is INVOKE
        old = (self._old.asked if asked else self._old.answered).get(op)
        heard = None if old is None else old.get(raw)
        if heard is None:
            heard = _decoded(frame, raw)
        if heard is None or size > KEPT_BYTES // 4:
            return heard
        young = self._young
        if young.number >= KEPT or young.size + size > KEPT_BYTES:
            self._old, self._young = young, _Kept()
            young = self._young
        young.number += 1
        young.size += size
        known = young.asked if asked else young.answered
        of_op = known.get(op)
        if of_op is None:
            known[op] = {raw: heard}
        else:
            of_op[raw] = heard
        return heard


class _Kept:
    """Values by operation, byte for byte."""

    __slots__ = ("answered", "asked", "number", "size")

    def __init__(self) -> None:
        self.asked: dict[str, dict[bytes, Heard]] = {}
        self.answered: dict[str, dict[bytes, Heard]] = {}
        self.number = 0
        self.size = 0
        """Bytes of all values."""


def _decoded(frame: Frame, raw: bytes) -> Heard | None:
    """None where its operation is not known, or its value has not the form that it should have."""
    kind, op = frame.type, frame.op
    if op not in OPERATIONS:
        return None
    typed = _ANSWERED.get(op) if kind is OK else None
    try:
        if typed is not None:
            value = typed.decode(raw)
        elif op == "append" and kind is INVOKE:
            said = _APPENDED.decode(raw)
            # As a mapping, in which what is left out is left out.
            value = {"turn": said.turn} if said.facts is msgspec.UNSET else {"turn": said.turn, "facts": said.facts}
        elif op == "summarise" and kind is INVOKE:
            # What the model was shown is no structural rule's business.
            _ASKED.decode(raw)
            value = {}
        elif op == "summarise" and kind is OK:
            reply = _REPLIED.decode(raw)
            value = {"text": reply.text}
            if reply.finish is not msgspec.UNSET:
                value["finish"] = reply.finish
            if reply.mode is not msgspec.UNSET:
                value["mode"] = reply.mode
        else:
            value = _ANY.decode(raw)
            # Most arguments are names, of which nothing is known but that they are an object.
            names = type(value) is dict and kind is INVOKE and op not in INVOKED
            if not names and misformed(kind, op, value) is not None:
                return None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return Heard(kind, frame.process, op, value, frame.error)
