"""What the model server is told: which answer comes when."""

from pathlib import Path
from typing import Annotated, Any, Final, Self

import msgspec

from anchorhold.errors import one_line
from anchorhold.summariser import MODES
from anchorhold_spec.vocabulary import Fact

TOOL_CALL: Final = "tool-call"
"""A mode of the summariser's that is more here: the tool is called."""
TIME_OUT: Final = "time-out"
HANG: Final = "hang"
CANCELLED: Final = "cancelled"
OVERLOADED: Final = "overloaded"
OF_A_SERVER: Final = {
    TIME_OUT: "HTTP 504, as of a gateway that has waited too long",
    HANG: "no answer, and the connection stays open; of a stream the first half comes",
    OVERLOADED: "HTTP 503; of a stream the API's own event of an error after the first half, under status 200",
    CANCELLED: "the connection is closed in place of an answer; of a stream after the first half",
}
"""Modes that only a server has. All others are those of the scripted summariser (`anchorhold.summariser.MODES`)."""
EVERY_MODE: Final = (*MODES, *OF_A_SERVER)


class ScriptError(ValueError):
    """A script that is none; the text says where, and what is taken."""


class ToolUse(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call of a tool."""

    name: str
    arguments: dict[str, Any] = {}


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One kind of answer. Exactly one of `mode`, `say` and `call` says what it is."""

    mode: str | None = None
    """A mode of the summariser, or one of `OF_A_SERVER`."""
    say: str | None = None
    """These words: for calls that ask for no summary."""
    call: ToolUse | None = None
    """A call of this tool: to make an agent do something."""
    when: str | None = None
    """Only for requests in which this text stands, in whatever case."""
    times: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """For so many requests; none: for all."""
    status: Annotated[int, msgspec.Meta(ge=400, le=599)] = 429
    """The HTTP status of mode `fail`."""
    seconds: Annotated[float, msgspec.Meta(ge=0, le=86_400)] = 0.0
    """How long the server waits before it answers."""

    def __post_init__(self) -> None:
        """Refuse what says nothing, or two things, or a mode that does not exist."""
        if sum(member is not None for member in (self.mode, self.say, self.call)) != 1:
            raise ValueError("an answer has one of `mode`, `say` and `call`")
        if self.mode is not None and self.mode not in EVERY_MODE:
            raise ValueError(f"no mode {self.mode!r}; there are {', '.join(EVERY_MODE)}")


class Script(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Answers, in order: of those that fit a request and are not used up the first is given, `faithful` after all."""

    answers: tuple[Line, ...] = ()
    facts: tuple[Fact, ...] = ()
    """The assertions that a faithful summary keeps. None given: what the reference's extractor reads out of the
    messages that are shown, instructions apart."""

    @classmethod
    def of(cls, mode: str) -> Self:
        """Always answer so. Raises ScriptError where there is no such mode."""
        try:
            return cls(answers=(Line(mode=mode),))
        except ValueError as error:
            raise ScriptError(str(error)) from None

    @classmethod
    def decode(cls, text: bytes | str) -> Self:
        """A script from JSON. Raises ScriptError."""
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise ScriptError(one_line(f"no script: {error}")) from None

    @classmethod
    def load(cls, name: str) -> Self:
        """By the name of a mode, or from a file. Raises ScriptError."""
        if name in EVERY_MODE:
            return cls.of(name)
        try:
            text = Path(name).read_bytes()
        except OSError as error:
            raise ScriptError(
                one_line(
                    f"{name!r} is neither a mode nor a file that can be read ({error.strerror}); "
                    f"modes are {', '.join(EVERY_MODE)}"
                )
            ) from None
        try:
            return cls.decode(text)
        except ScriptError as error:
            raise ScriptError(f"{name}: {error}") from None
