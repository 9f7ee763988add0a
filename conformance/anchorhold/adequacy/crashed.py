"""Tells a crash of a compactor in the catalogue from an error that it answers with."""

import re
import sqlite3
import sys
from collections.abc import Iterable, Iterator

from anchorhold.history import Event

_NAMED = re.compile(r"(?:\w+\.)*([A-Za-z_]\w*)(?=:|$)")
"""How an error begins that names an exception."""


class CrashedError(Exception):
    """A compactor of the catalogue raised what is no answer of a compactor: it has a fault that is not its own."""


def crashed(events: Iterable[Event]) -> Event | None:
    """The first event of a history that ended with an exception of Python's or of its library: a mistake in the code,
    for which the compactor was not caught at anything. One of its own making is its answer.

    While the suite makes a store fail, what a failed write raises is an answer, too.
    """
    failing = False
    for event in events:
        failing = failing or event.op == "fail_store"
        if event.error is not None and is_crash(event.error, failing=failing):
            return event
    return None


def is_crash(error: str, *, failing: bool = False) -> bool:
    """Whether an error is an exception that Python or its library defines; `failing`: a store was made to fail, which
    an `OSError` or a database's error may say."""
    named = _NAMED.match(error)
    # Modules of the library call theirs plainly `Error`, as other languages call theirs: that tells nothing.
    if named is None or named[1] == "Error":
        return False
    return any(
        kind.__name__ == named[1] and not (failing and issubclass(kind, OSError | sqlite3.Error))
        for kind in _library(BaseException)
    )


def _library(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    """The exceptions of Python and its library, as far as anything has loaded them."""
    for each in type.__subclasses__(kind):
        if each.__module__.partition(".")[0] in sys.stdlib_module_names:
            yield each
        yield from _library(each)
