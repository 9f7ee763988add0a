"""The reference compactor, as the suite sees it. Translates and never helps.

Each session lives in a database file in a directory of its own, opened through the public API of
`anchorhold_reference`. Damage is done to the file itself, through a connection that the compactor knows nothing of.
"""

import dataclasses
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anchorhold_reference as reference
from anchorhold.adapters.reference_stepping import Gate, SteppedLedger, Workers
from anchorhold.adapters.reference_store import POWER, Crash, Faults, new_disk, unforced
from anchorhold.compactor import (
    Advance,
    Audit,
    Description,
    Mechanism,
    OperationError,
    Ratios,
    Reply,
    Settings,
    Shown,
    StoreFault,
    Summarise,
    Unit,
)
from anchorhold_reference.ages import uptime
from anchorhold_reference.ledger import Ledger
from anchorhold_reference.stores.sqlite import SqliteLedger
from anchorhold_spec.vocabulary import Answer, Entry, Item, Outcome, Pointer, Tombstone, Turn

if TYPE_CHECKING:
    from anchorhold_reference.faults.power import Disk

WATERMARK = 0.7
"""Taken where the suite names none."""


WORKS = {
    "compact": (),
    "evict": ("token",),
    "get": ("token",),
    "search": ("literal",),
    "expire": (),
    "settle": (),
    "forget": ("turn",),
    "clear": (),
}
"""Operations that a worker can carry out, with the names of their arguments. (Of `expire`, no time passes.)"""


class Reference:
    """The reference compactor over a database in a temporary directory."""

    def __init__(self) -> None:
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._open: reference.Transcript | None = None
        self._compacting: list[reference.Transcript] = []
        """Those that wait for their model: another session may be gone over to meanwhile, and each is closed when it
        is through."""
        self._summarise: Summarise | None = None
        self._settings = Settings()
        self._crash_at: str | None = None
        self._fail_at: str | None = None
        self._fault = StoreFault.ERROR
        self._faults = Faults()
        self._held = False
        self._passed = 0.0
        self._jumped = 0.0
        self._workers = Workers()
        self._disk: Disk | None = None
        self._power = POWER
        """Whether the next session is on a disk that can lose power: it takes a quarter of the time."""
        self.lose_power = self._lose_power if POWER else None
        """Not offered where the extra `faults` is not installed."""

    def describe(self) -> Description:
        """Say who this is."""
        try:
            release = version("anchorhold")
        except PackageNotFoundError:  # run from a source tree that is not installed
            release = "unreleased"
        return Description(
            name="anchorhold-reference",
            version=release,
            mechanisms=frozenset({Mechanism.SUMMARISER, Mechanism.KEY_RECYCLING, Mechanism.CONCURRENCY}),
            crash_points=reference.STEPS,
        )

    def foresee(self, operations: frozenset[str]) -> None:
        """Leave the disk that can lose power out where nobody will ask for that."""
        self._power = POWER and "lose_power" in operations

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        """Start an empty session on a fresh store."""
        self.close()
        self._directory = tempfile.TemporaryDirectory(prefix="anchorhold-reference-")
        self._summarise = summarise
        watermark = WATERMARK if settings.watermark is None else settings.watermark
        self._settings = dataclasses.replace(settings, watermark=watermark, unit=Unit.TOKENS)
        self._held, self._passed, self._jumped = False, 0.0, 0.0
        self._start()
        # Nothing leaves before the horizon, whatever the lifetime: that is the lifetime which was taken.
        return dataclasses.replace(self._settings, lifetime=self._taken().kept_for)

    def append(self, turn: Turn) -> str | None:
        """Add a turn."""
        try:
            return self._transcript.append(turn)
        except reference.AnchorholdError as error:
            raise OperationError(str(error)) from error

    def compact(self) -> Outcome:
        """Run one compaction."""
        transcript = self._transcript
        self._compacting.append(transcript)
        try:
            return transcript.compact()
        except Crash as crash:
            # What a dead process leaves: no commit, no tidying. Closing the file rolls back what was not committed.
            self._abandon()
            raise OperationError(f"died at step {crash}", definite=False) from None
        finally:
            self._compacting.remove(transcript)
            if transcript is not self._open and transcript not in self._compacting:
                transcript.close()
            self._fail_at = None
            self._faults.disarm()

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

    def supersede(self, literal: str, source: str, superseder: str, reason: str) -> Outcome:
        """Drop one assertion on the caller's decision, because another turn took its place."""
        return self._transcript.tombstone(literal, source, reason, superseded_by=superseder)

    def evict(self, token: str) -> Outcome:
        """Ask that an original be removed."""
        return self._transcript.evict(token)

    def reopen(self) -> None:
        """Close the file, where a crash has not, and open the same session from it."""
        self._crash_at = None
        self._abandon()
        self._start()

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
        with self._several():
            connection = sqlite3.connect(self._path, isolation_level=None)
            try:
                connection.execute("BEGIN IMMEDIATE")
                row = connection.execute("SELECT payload FROM cold WHERE epoch = ?", (where.epoch,)).fetchone()
                if row is None:
                    return False
                damaged = bytearray(row[0])
                damaged[-1] ^= 1
                guard = connection.execute(
                    "SELECT sql FROM sqlite_schema WHERE name = 'cold_is_immutable'"
                ).fetchone()
                connection.execute("DROP TRIGGER cold_is_immutable")
                connection.execute("UPDATE cold SET payload = ? WHERE epoch = ?", (bytes(damaged), where.epoch))
                connection.execute(guard[0])
                connection.execute("COMMIT")
            finally:
                connection.close()
        return True

    def switch(self, session: str, user: str, branch: str = "main") -> None:
        """Go over to another session of the same database, or to another branch."""
        self._abandon()
        self._settings = dataclasses.replace(self._settings, session=session, user=user, branch=branch)
        self._start()

    def clear(self) -> None:
        """Empty the window."""
        self._transcript.clear()

    def rewind(self, turn: str) -> None:
        """Take back everything after a turn."""
        try:
            self._transcript.rewind(turn)
        except reference.AnchorholdError as error:
            raise OperationError(str(error)) from error

    def fork(self, branch: str) -> None:
        """Begin a branch, and go over to it."""
        with self._several():
            try:
                self._transcript.fork(branch).close()
            except reference.AnchorholdError as error:
                raise OperationError(str(error)) from error
            self._settings = dataclasses.replace(self._settings, branch=branch)

    def forget(self, turn: str) -> Outcome:
        """Erase what a turn says."""
        return self._transcript.forget(turn)

    def files(self) -> Sequence[str]:
        """The database and all that lies beside it."""
        return [str(path) for path in self._transcript.files()]

    def hold_copies(self, held: bool) -> None:
        """Hold background copies back, or let them land."""
        self._held = held
        self._transcript.hold_copies(held)

    def settle(self) -> None:
        """Lift the hold, and make every outstanding copy."""
        self._held = False
        self._transcript.settle()

    def ratios(self) -> Ratios:
        """Counts of summaries."""
        found = self._transcript.ratios()
        return Ratios(committed=found.committed, pending=found.pending, unresolvable=found.unresolvable)

    def expire(self, seconds: float) -> None:
        """Let time pass, and the lifetime propose."""
        self._passed += seconds
        self._jumped += seconds
        self._transcript.expire()

    def clock(self, shift: float) -> None:
        """Let the clock on the wall jump."""
        self._jumped += shift

    def audits(self) -> Sequence[Audit]:
        """Audits so far."""
        return [Audit(compaction=a.compaction, turn=a.turn, passed=a.passed) for a in self._transcript.audits()]

    def override(self, reason: str) -> Outcome:
        """Accept a loss on record."""
        return self._transcript.override(reason)

    def fail_store(self, point: str, fault: str) -> None:
        """Arm: what the database writes at this step of the next compaction fails."""
        if point not in reference.STEPS:
            raise OperationError(f"no step {point!r}; there are {', '.join(reference.STEPS)}")
        self._fail_at = point
        self._fault = StoreFault(fault)

    def begin(self, worker: str, op: str, arguments: Mapping[str, Any]) -> None:
        """Start an operation as a worker with a connection of its own, which stops before each access."""
        if op not in WORKS:
            raise OperationError(f"no worker for {op!r}; there are {', '.join(WORKS)}")

        def work(transcript: reference.Transcript) -> Outcome | Answer | None:
            result = getattr(transcript, op)(*(arguments[name] for name in WORKS[op]))
            return result if isinstance(result, Outcome | Answer) else None

        if self._disk is not None:
            self._abandon()
            self._start(power=False)
        self._workers.begin(worker, self._connect_stepped, work)

    def advance(self, worker: str) -> Advance:
        """Let a worker go on up to its next access."""
        try:
            return self._workers.advance(worker)
        finally:
            if not self._workers.under_way and self._open is not None:
                self._abandon()
                self._start()

    def _lose_power(self) -> None:
        """What was not synced is gone, and so is the process."""
        if self._disk is None:
            raise OperationError(
                "no session is open, workers have it open, or nobody foresaw that power would be lost"
            )
        self._disk.lose()
        self._abandon()

    def status(self) -> str:
        """`lossless`, or `degraded: ` and the reason."""
        return str(self._transcript.status())

    def degraded_since(self) -> float | None:
        """Since when it is degraded; none while it is lossless."""
        return self._transcript.status().since

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

    def _taken(self) -> reference.Settings:
        return reference.Settings(
            budget=self._settings.budget,
            watermark=self._settings.watermark or WATERMARK,
            horizon=self._settings.horizon,
            lifetime=self._settings.lifetime,
            keep=reference.Settings().keep if self._settings.keep is None else self._settings.keep,
            copies=reference.Copies.HELD if self._held else reference.Copies.BEFORE_COMMIT,
        )

    def _start(self, *, power: bool = True) -> None:
        if power and self._power:
            self._disk = new_disk()
        through = self._faults.over(unforced if self._disk is None else self._disk.connect)
        self._open = self._connect(lambda path: SqliteLedger(Path(path), connect=through))

    @contextmanager
    def _several(self) -> Iterator[None]:
        """While others have the file open as well. A disk that can lose power lets one connection have it."""
        alone = self._disk is not None
        if alone:
            self._abandon()
            self._start(power=False)
        yield
        self._abandon()
        self._start()

    def _connect(self, ledger: Callable[[str | Path], Ledger]) -> reference.Transcript:
        return reference.Transcript.open(
            self._path,
            session=self._settings.session,
            user=self._settings.user or "",
            branch=self._settings.branch,
            settings=self._taken(),
            summarise=self._ask,
            steps=self._step,
            clock=lambda: time.time() + self._jumped,
            uptime=self._uptime,
            ledger=lambda where, *, scope, cold_store=None: ledger(where),  # noqa: ARG005 - a file needs neither
        )

    def _connect_stepped(self, gate: Gate) -> reference.Transcript:
        return self._connect(lambda path: SteppedLedger(Path(path), gate=gate))

    def _uptime(self) -> tuple[str, float]:
        boot, seconds = uptime()
        return boot, seconds + self._passed

    def _abandon(self) -> None:
        self._workers.stop()
        opened, self._open = self._open, None
        if opened is not None and opened not in self._compacting:
            opened.close()
        if self._disk is not None:
            self._disk.close()
            self._disk = None

    def _ask(self, request: reference.Request) -> reference.Reply:
        assert self._summarise is not None  # a transcript exists only after `open`
        reply: Reply = self._summarise(Shown(messages=request.messages))
        return reference.Reply(text=reply.text, finish=reply.finish)

    def _step(self, name: str) -> None:
        if name == self._crash_at:
            self._crash_at = None
            raise Crash(name)
        if self._faults.armed is not StoreFault.FULL:
            self._faults.disarm()
        if name == self._fail_at:
            self._faults.arm(self._fault)
