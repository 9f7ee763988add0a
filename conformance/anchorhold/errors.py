"""What can go wrong with an adapter, told so that a person knows what to do.

An adapter error is no verdict: the suite could not find out. The steps of a session and what each can raise:

    resolve what was asked for   NOT_FOUND, IMPORT
    start a program              START, DIED, HANG
    initialize, describe         PROTOCOL, SCHEMA, NOISE, LINE_TOO_LONG, WRONG_ID, UNASKED, ADAPTER, DIED, HANG
    an operation                 SCHEMA, NOISE, LINE_TOO_LONG, WRONG_ID, UNASKED, ADAPTER, PROTOCOL, DIED, HANG
    shut down                    the same; the program is gone afterwards in any case

An operation that does not succeed is none of these: that is `anchorhold.compactor.OperationError`.
"""

import traceback
from enum import StrEnum
from pathlib import Path


class Fault(StrEnum):
    """Which way an adapter failed."""

    NOT_FOUND = "not-found"
    """Nothing of that name, file or class."""
    IMPORT = "import"
    """A class that cannot be imported or made."""
    START = "start"
    """A program that cannot be started."""
    DIED = "died"
    """The program ended, or closed its output, while the suite waited for it."""
    HANG = "hang"
    """No answer within the time-out."""
    NOISE = "noise"
    """A line on standard output that is not a message."""
    LINE_TOO_LONG = "line-too-long"
    """A line longer than the limit."""
    WRONG_ID = "wrong-id"
    """An answer to a request that was never made."""
    UNASKED = "unasked"
    """A second answer, or a request that the suite does not take or not now."""
    SCHEMA = "schema"
    """A result that is not what the protocol says."""
    PROTOCOL = "protocol"
    """Another protocol version, a required operation missing, or a request that the adapter says is malformed."""
    ADAPTER = "adapter"
    """The adapter said itself that it is at fault."""
    NEVER_WORKS = "never-works"
    """An operation that is offered, and that ended with an error each time that it was tried (`anchorhold smoke`)."""


class AdapterError(Exception):
    """The adapter, not the compactor, failed: exit status 2, no verdict.

    `str()` is one line that says which adapter, what happened, and what to do. `stderr` is what the program wrote
    to its standard error, as far as it is kept.
    """

    def __init__(
        self, message: str, *, code: Fault = Fault.SCHEMA, cause: str = "", hint: str | None = None, stderr: str = ""
    ) -> None:
        self.code = code
        self.message = one_line(message)
        self.cause = one_line(cause)
        self.hint = None if hint is None else one_line(hint)
        self.stderr = stderr
        super().__init__(self.message)

    def __str__(self) -> str:
        """The whole error on one line."""
        cause = f": {self.cause}" if self.cause else ""
        hint = f" — {self.hint}" if self.hint else ""
        return f"{self.message}{cause}{hint}"


def whence(error: BaseException) -> str:
    """Where it was raised: ` (file.py, line 3, in __init__)`, of the code that is not the suite's own; or nothing."""
    own = str(Path(__file__).parent)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(own)]
    if not frames:
        return ""
    last = frames[-1]
    return f" ({last.filename}, line {last.lineno}, in {last.name})"


def one_line(text: str, *, limit: int = 400) -> str:
    """Text from elsewhere as one printable line: control characters escaped, white space joined, length bounded."""
    joined = " ".join(text[: 4 * limit].split())
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in joined)
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"
