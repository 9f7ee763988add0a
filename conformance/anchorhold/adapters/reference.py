"""The reference compactor, as the suite sees it. Translates and never helps.

Each session lives in a database file in a directory of its own, opened through the public API of
`anchorhold_reference`. Damage is done to the file itself, through a connection that the compactor knows nothing of.
"""

import dataclasses
import sqlite3
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import anchorhold_reference as reference
from anchorhold.compactor import (
    Description,
    Mechanism,
    OperationError,
    Reply,
    Settings,
    Shown,
    Summarise,
    Unit,
)
from anchorhold_spec.vocabulary import Answer, Entry, Item, Outcome, Pointer, Tombstone, Turn

WATERMARK = 0.7
"""Taken where the suite names none."""


class _Crash(BaseException):
    """The process dies here. Not an `Exception`, so that nothing between here and the adapter can tidy up."""


class Reference:
    """The reference compactor over a database in a temporary directory."""

    def __init__(self) -> None:
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._open: reference.Transcript | None = None
        self._summarise: Summarise | None = None
        self._settings = Settings()
        self._crash_at: str | None = None

    def describe(self) -> Description:
        """Say who this is."""
        try:
            release = version("anchorhold")
        except PackageNotFoundError:  # run from a source tree that is not installed
            release = "unreleased"
        return Description(
            name="anchorhold-reference",
            version=release,
            mechanisms=frozenset({Mechanism.SUMMARISER, Mechanism.KEY_RECYCLING}),
            crash_points=reference.STEPS,
        )

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        """Start an empty session on a fresh store."""
        self.close()
        self._directory = tempfile.TemporaryDirectory(prefix="anchorhold-reference-")
        self._summarise = summarise
        watermark = WATERMARK if settings.watermark is None else settings.watermark
        self._settings = dataclasses.replace(
            settings, watermark=watermark, unit=Unit.TOKENS, horizon=None, lifetime=None
        )
        self._start(settings.session, settings.user)
        return self._settings

    def append(self, turn: Turn) -> str | None:
        """Add a turn."""
        try:
            return self._transcript.append(turn)
        except reference.AnchorholdError as error:
            raise OperationError(str(error)) from error

    def compact(self) -> Outcome:
        """Run one compaction."""
        try:
            return self._transcript.compact()
        except _Crash as crash:
            # What a dead process leaves: no commit, no tidying. Closing the file rolls back what was not committed.
            self._abandon()
            raise OperationError(f"died at step {crash}", definite=False) from None

    def live(self) -> Sequence[Item]:
        """What the model would see now."""
        return self._transcript.live()

    def pointers(self) -> Sequence[Pointer]:
        """Pointers under the live summaries."""
        return self._transcript.pointers()

    def get(self, token: str) -> Answer:
        """Follow a pointer; a mismatch is an error, not an answer (EPO-3)."""
        try:
            return self._transcript.get(token)
        except reference.AnchorholdError as error:
            raise OperationError(str(error)) from error

    def search(self, literal: str) -> Answer:
        """Look a literal up."""
        return self._transcript.search(literal)

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        """Ask for the value of a slot."""
        return self._transcript.reconstitute(subject, attribute, evidence=evidence)

    def manifest(self, carrier: str) -> Sequence[Entry]:
        """Which assertions a live item carries."""
        try:
            return self._transcript.manifest(carrier)
        except reference.AnchorholdError as error:
            raise OperationError(str(error)) from error

    def tombstones(self) -> Sequence[Tombstone]:
        """Every tombstone of the session."""
        return self._transcript.tombstones()

    def tombstone(self, literal: str, source: str, reason: str) -> Outcome:
        """Drop one assertion on the caller's decision."""
        return self._transcript.tombstone(literal, source, reason)

    def evict(self, token: str) -> Outcome:
        """Ask that an original be removed."""
        return self._transcript.evict(token)

    def reopen(self) -> None:
        """Close the file, where a crash has not, and open the same session from it."""
        self._crash_at = None
        if self._open is not None:
            self._open.reopen()
        else:
            self._start(self._settings.session, self._settings.user)

    def crash(self, point: str) -> None:
        """Arm: the next compaction dies right before this step."""
        if point not in reference.STEPS:
            raise OperationError(f"no step {point!r}; there are {', '.join(reference.STEPS)}")
        self._crash_at = point

    def corrupt(self, token: str) -> bool:
        """Flip a bit of the stored bytes under a pointer, in the file, behind the compactor's back."""
        where = next((p for p in self._transcript.pointers() if p.token == token), None)
        if where is None or where.epoch is None:
            return False
        connection = sqlite3.connect(self._path, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            row = connection.execute("SELECT payload FROM cold WHERE epoch = ?", (where.epoch,)).fetchone()
            if row is None:
                return False
            damaged = bytearray(row[0])
            damaged[-1] ^= 1
            guard = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'cold_is_immutable'").fetchone()
            connection.execute("DROP TRIGGER cold_is_immutable")
            connection.execute("UPDATE cold SET payload = ? WHERE epoch = ?", (bytes(damaged), where.epoch))
            connection.execute(guard[0])
            connection.execute("COMMIT")
        finally:
            connection.close()
        return True

    def switch(self, session: str, user: str) -> None:
        """Go over to another session of the same database."""
        self._abandon()
        self._settings = dataclasses.replace(self._settings, session=session, user=user)
        self._start(session, user)

    def status(self) -> str:
        """`lossless`, or `degraded: ` and the reason."""
        return str(self._transcript.status())

    def close(self) -> None:
        """Remove everything that `open` made."""
        self._abandon()
        if self._directory is not None:
            self._directory.cleanup()
            self._directory = None

    # -- between the two vocabularies --

    @property
    def _path(self) -> Path:
        if self._directory is None:
            raise OperationError("no session is open; call open first")
        return Path(self._directory.name) / "ledger.db"

    @property
    def _transcript(self) -> reference.Transcript:
        if self._open is None:
            raise OperationError("no session is open; call open, or reopen after a crash")
        return self._open

    def _start(self, session: str, user: str) -> None:
        self._open = reference.Transcript.open(
            self._path,
            session=session,
            user=user,
            branch=self._settings.branch,
            settings=reference.Settings(
                budget=self._settings.budget, watermark=self._settings.watermark or WATERMARK
            ),
            summarise=self._ask,
            steps=self._step,
        )

    def _abandon(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _ask(self, request: reference.Request) -> reference.Reply:
        assert self._summarise is not None  # a transcript exists only after `open`
        reply: Reply = self._summarise(Shown(messages=request.messages))
        return reference.Reply(text=reply.text, finish=reply.finish)

    def _step(self, name: str) -> None:
        if name == self._crash_at:
            self._crash_at = None
            raise _Crash(name)
