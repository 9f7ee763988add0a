"""Events of a history, decoded in one go with what they say.

A line is decoded once, as a struct of its operation, in which most values have the vocabulary's form already. What
both halves of an operation may say is one form: whether this half says what it should is seen by `fits`.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import reduce
from operator import or_
from typing import Any, ClassVar, Final

import msgspec

from anchorhold.checkers.looking import ABOUT
from anchorhold.history import MAIN, EventType
from anchorhold.verify.forms import INVOKED, OPERATIONS, misformed
from anchorhold.verify.structs import Answer, Fact, Item, Outcome, Pointer, Turn

INVOKE: Final = EventType.INVOKE
OK: Final = EventType.OK
NO_ARGUMENTS: Final[Mapping[str, Any]] = {}


class _Closely:
    """No value is one: each has to be looked at."""


class Line(msgspec.Struct, tag_field="op", gc=False, kw_only=True):
    """An event. Fields and defaults are those of `Event`."""

    op: ClassVar[str]
    asks: ClassVar[type]
    """The type of value that an invocation has beyond doubt."""
    answers: ClassVar[type]
    """The same, of an end that is `ok`."""

    index: int
    step: int
    type: EventType
    process: str = MAIN
    error: str | None = None
    value: Any = None

    def fits(self) -> bool:
        """Whether the value has the form that it should have in this half of the operation."""
        return self.value is None if self.type is INVOKE else self.type is not OK

    @property
    def about(self) -> str:
        """What a read is about, where this asks for one: a token, or a carrier."""
        return ""

    def arguments(self) -> Mapping[str, Any]:
        """Of an invocation, as far as a structural rule reads them."""
        return NO_ARGUMENTS

    def result(self) -> Any:
        """What it ended with, where that is `ok`."""
        return self.value


class Live(Line, tag="live", gc=False, kw_only=True):
    """`live`."""

    op = "live"
    asks = dict
    answers = tuple
    value: tuple[Item, ...] | dict[str, Any] | None = None


class Pointers(Line, tag="pointers", gc=False, kw_only=True):
    """`pointers`."""

    op = "pointers"
    asks = dict
    answers = tuple
    value: tuple[Pointer, ...] | dict[str, Any] | None = None


class _Answered(Line, gc=False, kw_only=True):
    """A question for a text."""

    asks = Answer
    answers = _Closely
    value: Answer | None = None

    def fits(self) -> bool:
        """As in `Line`."""
        if self.type is OK:
            return self.value is not None and self.value.kind is not None
        return self.type is not INVOKE or self.value is None


class Get(_Answered, tag="get", gc=False, kw_only=True):
    """`get`."""

    op = "get"

    @property
    def about(self) -> str:
        """As in `Line`."""
        value = self.value
        return "" if value is None or value.token is msgspec.UNSET else value.token

    def arguments(self) -> Mapping[str, Any]:
        """As in `Line`."""
        return {"token": self.about}


class Search(_Answered, tag="search", gc=False, kw_only=True):
    """`search`."""

    op = "search"


class Reconstitute(_Answered, tag="reconstitute", gc=False, kw_only=True):
    """`reconstitute`."""

    op = "reconstitute"


class Compact(Line, tag="compact", gc=False, kw_only=True):
    """`compact`."""

    op = "compact"
    asks = Outcome
    answers = _Closely
    value: Outcome | None = None

    def fits(self) -> bool:
        """As in `Line`."""
        if self.type is OK:
            return self.value is not None and self.value.kind is not None
        return self.type is not INVOKE or self.value is None


class _Appended(msgspec.Struct, gc=False):
    turn: Turn
    facts: tuple[Fact, ...] | msgspec.UnsetType = msgspec.UNSET


class Append(Line, tag="append", gc=False, kw_only=True):
    """`append`."""

    op = "append"
    asks = _Appended
    answers = str
    value: _Appended | str | None = None

    def fits(self) -> bool:
        """As in `Line`."""
        # Nothing is asked of what an append ends with.
        return self.type is not INVOKE

    def arguments(self) -> Mapping[str, Any]:
        """As in `Line`."""
        value = self.value
        if type(value) is not _Appended:
            return NO_ARGUMENTS
        # What is left out is told from what is empty.
        return {"turn": value.turn} if value.facts is msgspec.UNSET else {"turn": value.turn, "facts": value.facts}


class _Summarised(msgspec.Struct, gc=False):
    messages: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    text: str | msgspec.UnsetType = msgspec.UNSET
    finish: str | msgspec.UnsetType = msgspec.UNSET
    mode: str | msgspec.UnsetType | None = msgspec.UNSET


class Summarise(Line, tag="summarise", gc=False, kw_only=True):
    """`summarise`. What the model was shown is no structural rule's business."""

    op = "summarise"
    asks = answers = _Closely
    value: _Summarised | None = None

    def fits(self) -> bool:
        """As in `Line`."""
        value = self.value
        if self.type is OK:
            return value is not None and value.text is not msgspec.UNSET
        return self.type is not INVOKE or (value is not None and value.messages is not msgspec.UNSET)

    def result(self) -> Any:
        """As in `Line`."""
        value = self.value
        assert value is not None
        told: dict[str, Any] = {"text": value.text}
        if value.finish is not msgspec.UNSET:
            told["finish"] = value.finish
        if value.mode is not msgspec.UNSET:
            told["mode"] = value.mode
        return told


class Other(Line, gc=False, kw_only=True):
    """Any other operation."""

    # Most arguments are names, of which nothing is known but that they are an object.
    asks = dict
    answers = _Closely

    def fits(self) -> bool:
        """As in `Line`."""
        return misformed(self.type, self.op, self.value) is None

    @property
    def about(self) -> str:
        """As in `Line`."""
        asked = self.op in ABOUT and self.type is INVOKE and self.value
        return str(self.value.get(ABOUT[self.op], "")) if asked else ""

    def arguments(self) -> Mapping[str, Any]:
        """As in `Line`."""
        return self.value if isinstance(self.value, dict) else NO_ARGUMENTS


def _every() -> tuple[type[Line], ...]:
    known: tuple[type[Line], ...] = (Live, Pointers, Get, Search, Reconstitute, Compact, Append, Summarise)
    rest = sorted(OPERATIONS - {line.op for line in known})
    made: list[Any] = [
        msgspec.defstruct(
            f"Other_{op}",
            [],
            bases=(Other,),
            tag=op,
            gc=False,
            kw_only=True,
            module=__name__,
            # Of `expire` more is known of the arguments than that they are an object.
            namespace={"op": op, "asks": _Closely if op in INVOKED else dict},
        )
        for op in rest
    ]
    return (*known, *made)


_LINES: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(reduce(or_, _every()))


def decode(lines: Sequence[bytes]) -> list[Line]:
    """Events of lines, up to the first that is none, or of no known operation, or says what has no such form."""
    events = list[Line]()
    # What was decoded before the error stays in the list.
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        events.extend(map(_LINES.decode, lines))
    if all(map(bytes.isascii, lines)):
        return events
    # Strings that nobody has a use for are passed over, whatever bytes they are.
    for number, line in enumerate(lines[: len(events)]):
        try:
            line.decode()
        except UnicodeDecodeError:
            return events[:number]
    return events


def fitting(events: Sequence[Line], first: int) -> int:
    """How many of these, from the first on, are the events from this index on, each with what its operation says."""
    for index, event in enumerate(events, start=first):
        if event.index != index:
            return index - first
        kind = event.type
        if kind is INVOKE:
            sure = event.value.__class__ is event.asks
        else:
            sure = kind is not OK or event.value.__class__ is event.answers
        if not sure and not event.fits():
            return index - first
    return len(events)
