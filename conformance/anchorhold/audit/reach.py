"""What of the replaced turns can be read again: the transcript, or a file that the summary names and that is still
what it was when it was read."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

from anchorhold.audit import shell
from anchorhold.audit.model import Compaction, Role, Turn
from anchorhold.audit.view import View

_WHOLE = frozenset({"content", "contents", "file_text"})
"""Arguments that are all that a file has afterwards."""
_SESSION = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


class Files:
    """The files of a session: which call is about which, and which no longer have what they had."""

    def __init__(self) -> None:
        """Start with none."""
        self.calls: dict[str, str] = {}
        """The file that a call is about, by the call's id."""
        self._here = ""
        self._known: dict[str, None] = {}
        self._gone: dict[str, int] = {}
        self._doubtful: dict[str, dict[str, int]] = {}
        """Calls that took something away, unless their results say that they failed: what was known before."""

    def follow(self, turn: Turn) -> None:
        """The next turn."""
        self._here = next((c for c in turn.context if c.startswith("/")), self._here)
        for piece in turn.pieces:
            if piece.role is Role.CALL and piece.addresses and piece.call:
                self.calls[piece.call] = piece.text
                self._known[self._absolute(piece.text)] = None
        for piece in turn.pieces:
            if piece.role is Role.CALL:
                key = piece.field.rpartition("/")[2]
                if key in shell.COMMANDS and len(piece.text) < 100_000:
                    for word in shell.destroyed(piece.text):
                        given = self._absolute(word)
                        self._lose((f for f in self._known if shell.covers(given, f)), piece.call, turn.record)
                elif piece.product and key in _WHOLE and piece.call in self.calls:
                    self._lose([self._absolute(self.calls[piece.call or ""])], piece.call, turn.record)
            elif piece.role is Role.RESULT and piece.call in self._doubtful:
                before = self._doubtful.pop(piece.call or "")
                if piece.failed:
                    self._gone.update(before)

    def _lose(self, files: Iterable[str], call: str | None, record: int) -> None:
        for file in files:
            if call is not None:
                self._doubtful.setdefault(call, {}).setdefault(file, self._gone.get(file, -1))
            self._gone[file] = record

    def still(self, file: str, read: int) -> bool:
        """Whether a file still has what it had when the record `read` showed it."""
        return self._gone.get(self._absolute(file), -1) <= read

    def _absolute(self, path: str) -> str:
        if path.startswith(("/", "~")) or not self._here:
            return path
        return f"{self._here.rstrip('/')}/{path.removeprefix('./')}"


class Reach:
    """What one summary leads back to."""

    def __init__(self, compaction: Compaction, files: Files, context: tuple[str, ...]) -> None:
        """Read the summary."""
        self._transcript = own(compaction)
        self._files, self._context = files, context
        self._summary = View()
        self._summary.add(compaction.summary)
        self._named: dict[str, bool] = {}

    def of(self, files: Mapping[str, int]) -> bool:
        """Whether it leads to what was read from these files, each at a record."""
        return self._transcript or any(self._names(f) and self._files.still(f, read) for f, read in files.items())

    def _names(self, file: str) -> bool:
        if file not in self._named:
            self._named[file] = any(self._summary.has(spelled) for spelled in _spellings(file, self._context))
        return self._named[file]


def own(compaction: Compaction) -> bool:
    """Whether the file that the harness points to is this session's transcript.

    Harnesses call it by the session's id. A name that is no such id may be any session's: the harness is believed.
    """
    if compaction.transcript is None:
        return False
    called = _SESSION.fullmatch(PurePath(compaction.transcript.replace("\\", "/")).stem)
    session = compaction.session.partition("/")[0]
    return called is None or _SESSION.fullmatch(session) is None or called.group().lower() == session.lower()


def _spellings(file: str, context: tuple[str, ...]) -> Iterator[str]:
    """A file's name from the root, and from each working directory."""
    yield file
    for here in context:
        if here.startswith("/") and file.startswith(here.rstrip("/") + "/"):
            yield file[len(here.rstrip("/")) + 1 :]
