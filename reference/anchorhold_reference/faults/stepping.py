"""Operations of a transcript as workers that are let go on one call to a store at a time.

`SteppedLedger` and `SteppedStore` wrap any ledger and any cold store: before each call they stand at a gate. A
transaction, or a block of reads of one moment, is one call to the ledger; calls to a cold store outside are calls of
their own, also those that are made while a transaction is open. With `every_call` each statement within a
transaction is one, too.

What each call reads and writes is taken from SQLite itself, which tells every table and column that a statement
touches when it is compiled; see `Footprint`.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeAlias

from anchorhold_reference.ledger import Dialect, Ledger, Row
from anchorhold_reference.schema import SQLITE, TABLES, statements
from anchorhold_reference.stores.outer import ColdStore

PATIENCE = 60.0
"""Seconds after which a worker that does not come to its next call is an error of the test's."""
TRANSACTION = "transaction"
"""What a call is called until it is known what it writes."""
ROWS = "*"
"""As a column that is written: rows come or go."""
Cell: TypeAlias = tuple[str, str]
"""A table and one of its columns. A key of a cold store outside is a table of its own."""
LOCK: Cell = ("the right to write", ROWS)
"""What a transaction takes and gives back during which others go on."""
RIGHT: Cell = ("the right to write", "")
"""That nobody has taken it: what everybody needs who writes."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a step reads and writes, as far as others can tell.

    `whole`: it is not known, and may be anything.
    """

    reads: frozenset[Cell] = frozenset()
    writes: frozenset[Cell] = frozenset()
    whole: bool = False

    def conflicts(self, other: "Footprint") -> bool:
        """Whether the order of the two can matter. Where rows come or go it matters to whoever touches the table; a
        column that is written matters to whoever reads or writes that column, and to whom rows come or go."""
        if self.whole or other.whole:
            return True
        return _meets(self.writes, other.reads | other.writes) or _meets(other.writes, self.reads | self.writes)


ANYTHING = Footprint(whole=True)


def _meets(written: frozenset[Cell], touched: frozenset[Cell]) -> bool:
    if written & touched:
        return True
    rows = {table for table, column in written if column == ROWS}
    if any(table in rows for table, _ in touched):
        return True
    gone = {table for table, column in touched if column == ROWS}
    return any(table in gone for table, _ in written)


class Statements:
    """Tells what a statement touches. Each is compiled once, for an empty database with the ledger's tables."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        for statement in statements(TABLES + SQLITE):
            self._database.execute(statement)
        self._near: dict[str, set[str]] = {}
        tables = [
            str(name) for (name,) in self._database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        for table in tables:
            for row in self._database.execute(f"PRAGMA foreign_key_list('{table}')"):
                self._near.setdefault(table, set()).add(row[2])
                self._near.setdefault(row[2], set()).add(table)
        self._known: dict[str, Footprint] = {}
        self._reads: set[Cell] = set()
        self._writes: set[Cell] = set()
        self._lock = threading.Lock()
        self._database.set_authorizer(self._authorize)

    def _authorize(
        self, action: int, first: str | None, second: str | None, _database: str | None, _within: str | None
    ) -> int:
        if first is not None and not first.startswith("sqlite_"):
            if action == sqlite3.SQLITE_READ:
                self._reads.add((first, second or ""))
            elif action == sqlite3.SQLITE_UPDATE:
                self._writes.add((first, second or ROWS))
            elif action in {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_DELETE}:
                self._writes.add((first, ROWS))
                # A row that comes needs those that it refers to; one that goes, that none refers to it.
                self._reads.update((near, "") for near in self._near.get(first, ()))
        return sqlite3.SQLITE_OK

    def touched(self, statement: str, parameters: Sequence[object]) -> Footprint:
        """What it touches; anything, where SQLite does not understand it."""
        with self._lock:
            known = self._known.get(statement)
            if known is None:
                self._reads, self._writes = set(), set()
                try:
                    self._database.execute(f"EXPLAIN {statement}", parameters).fetchall()
                    known = Footprint(frozenset(self._reads), frozenset(self._writes))
                except sqlite3.Error:
                    known = ANYTHING
                self._known[statement] = known
            return known


@cache
def _known_statements() -> Statements:
    return Statements()


class _Stop(BaseException):
    """The worker is to end here, and leaves what a dead process leaves."""


@dataclass(slots=True)
class Step:
    """One call to a store, and what the worker did up to the next one."""

    worker: str
    call: str
    """What it stood before, in words."""
    footprint: Footprint = field(default_factory=Footprint)
    begins: int | None = None
    """Of a transaction that others can be seen beside: which of the run's steps began it, in all its steps."""
    changes: bool = False
    """Something that others can see may have been written."""


class Gate:
    """Where the calls of one worker stand until they may go on, and what is noted of them."""

    def __init__(self, *, every_call: bool = False) -> None:
        self.every_call = every_call
        self.armed = False
        """Until then calls go through, as while a transcript is being opened."""
        self.at: str | None = None
        self.writes_next = False
        """The call that it stands before takes the right to write."""
        self.writing = False
        """It has the right to write."""
        self.reading = False
        self._name: str | None = None
        self._go = threading.Semaphore(0)
        self._come = threading.Semaphore(0)
        self._stopped = False
        self._reads: set[Cell] = set()
        self._writes: set[Cell] = set()
        self._whole = False
        self._unpublished: set[Cell] = set()
        """Written in the transaction that is open."""
        self._snapshot: Step | None = None
        """The step whose moment the open block of reads shows, if another one has begun since."""
        self._late: set[Cell] = set()
        self.step: Step | None = None
        self._began: int | None = None
        self._number = 0

    # In the worker's thread

    def name(self, step: str) -> None:
        """Call the next call by this name: a transcript's `steps` hook."""
        if self.armed:
            self._name = step

    def stand(self, call: str, *, write: bool = False) -> None:
        """Wait until the worker may go on."""
        if not self.armed:
            return
        if self._stopped:
            raise _Stop
        self.at, self.writes_next = call if self._name is None else self._name, write and not self.writing
        self._name = None
        self._close()
        self._come.release()
        self._go.acquire()
        if self._stopped:
            raise _Stop

    def note(self, touched: Footprint) -> None:
        """Something of the ledger is touched by the call that is under way."""
        if not self.armed:
            return
        self._whole |= touched.whole
        if self.reading and self._snapshot is not None:
            self._late |= touched.reads
        else:
            self._reads |= touched.reads
        (self._unpublished if self.writing else self._writes).update(touched.writes)

    def note_outside(self, *, reads: Sequence[Cell] = (), writes: Sequence[Cell] = ()) -> None:
        """Something outside the ledger is touched: at once, whatever transaction is open."""
        if self.armed:
            self._reads.update(reads)
            self._writes.update(writes)

    def begun(self, *, writing: bool) -> None:
        """A transaction or a block of reads is open."""
        if not self.armed:
            return
        self.writing, self.reading = writing, not writing
        self._began = None
        if writing:
            self._reads.add(RIGHT)

    def ended(self) -> None:
        """It is not any more."""
        if self.writing:
            self._writes |= self._unpublished
            self._unpublished = set()
            if self._began is not None:
                self._writes.add(LOCK)
        elif self._snapshot is not None:
            first = self._snapshot
            first.footprint = Footprint(first.footprint.reads | self._late, first.footprint.writes)
            self._snapshot, self._late = None, set()
        self.writing = self.reading = False

    def finish(self) -> None:
        """The worker has nothing more to do."""
        self.at = None
        self._close()
        self.armed = False
        self._come.release()

    def _close(self) -> None:
        """Put down what the step has touched."""
        step = self.step
        if step is None:
            return
        split = self.writing or self.reading
        if self.writing and self._began is None:
            # Others are seen beside this transaction from here on.
            self._began = self._number
            self._writes.add(LOCK)
        step.begins = self._began
        step.footprint = Footprint(frozenset(self._reads), frozenset(self._writes), self._whole)
        step.changes = bool(self._writes) or self._whole
        if step.call == TRANSACTION:
            step.call = f"writes {', '.join(sorted({table for table, _ in self._writes} - {LOCK[0]})) or 'nothing'}"
        if not split:
            self._began = None
        if self.reading and self._snapshot is None and self._reads:
            # What later calls of this block read is of this moment, and not known yet.
            self._snapshot = step
            step.footprint = Footprint(step.footprint.reads, step.footprint.writes, whole=True)
        self._reads, self._writes, self._whole = set(), set(), False

    # In the thread of whoever lets it go on

    def await_first(self) -> None:
        """Until it stands before its first call, or has ended without any."""
        self._awaited()

    def go(self, step: Step, number: int) -> None:
        """On to the next call, or to the end."""
        self.step, self._number = step, number
        self._go.release()
        self._awaited()

    def _awaited(self) -> None:
        if not self._come.acquire(timeout=PATIENCE):
            raise TimeoutError(f"the worker before {self.at!r} came to no further call within {PATIENCE:.0f} s")

    def stop(self) -> None:
        """Let it end where it stands."""
        self._stopped = True
        self._go.release()


class SteppedLedger:
    """See `ledger.Ledger`: one that stands at a gate before each call."""

    def __init__(self, inner: Ledger, gate: Gate) -> None:
        self._inner = inner
        self._gate = gate
        self._outer = None if inner.outer is None else SteppedStore(inner.outer, gate)
        self._open = 0

    @property
    def issuer(self) -> bytes:
        """As the ledger within."""
        return self._inner.issuer

    @property
    def outer(self) -> ColdStore | None:
        """Its cold store, stepped likewise."""
        return self._outer

    @property
    def dialect(self) -> Dialect:
        """As the ledger within."""
        return self._inner.dialect

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Stand, then as the ledger within."""
        self._gate.stand(TRANSACTION, write=True)
        with self._block(self._inner.transaction(), writing=True):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Stand, then as the ledger within; part of a transaction or of another block where one is open."""
        if self._open:
            with self._inner.reading():
                yield
            return
        self._gate.stand("reads of one moment")
        with self._block(self._inner.reading(), writing=False):
            yield

    @contextmanager
    def _block(self, within: AbstractContextManager[None], *, writing: bool) -> Iterator[None]:
        self._open += 1
        try:
            with within:
                self._gate.begun(writing=writing)
                yield
                if self._gate.every_call:
                    self._gate.stand("end of the transaction" if writing else "end of the reads")
        finally:
            self._open -= 1
            self._gate.ended()

    def run(self, statement: str, parameters: Sequence[object] = ()) -> int:
        """Stand, then as the ledger within."""
        self._call(statement, parameters)
        return self._inner.run(statement, parameters)

    def insert(self, statement: str, parameters: Sequence[object]) -> int:
        """Stand, then as the ledger within."""
        self._call(statement, parameters)
        return self._inner.insert(statement, parameters)

    def many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Stand, then as the ledger within."""
        if rows:
            self._call(statement, rows[0])
        self._inner.many(statement, rows)

    def all(self, query: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Stand, then as the ledger within."""
        self._call(query, parameters)
        return self._inner.all(query, parameters)

    def first(self, query: str, parameters: Sequence[object] = ()) -> Row | None:
        """Stand, then as the ledger within."""
        self._call(query, parameters)
        return self._inner.first(query, parameters)

    def one(self, query: str, parameters: Sequence[object] = ()) -> Row:
        """Stand, then as the ledger within."""
        self._call(query, parameters)
        return self._inner.one(query, parameters)

    def _call(self, statement: str, parameters: Sequence[object]) -> None:
        if not self._gate.armed:
            return
        touched = _known_statements().touched(statement, parameters)
        if not self._open or self._gate.every_call:
            self._gate.stand(_short(statement), write=bool(touched.writes) or touched.whole)
        self._gate.note(touched)
        if not self._open and touched.writes:
            self._gate.note_outside(reads=[RIGHT])

    def alive(self, opening: bytes) -> bool:
        """As the ledger within: workers open before the first step and close after the last, so it never changes."""
        return self._inner.alive(opening)

    def scrub(self) -> bool:
        """Stand, then as the ledger within."""
        self._gate.stand("scrub", write=True)
        self._gate.note(ANYTHING)
        return self._inner.scrub()

    def files(self) -> list[Path]:
        """As the ledger within."""
        return self._inner.files()

    def close(self) -> None:
        """As the ledger within."""
        self._inner.close()


class SteppedStore:
    """See `outer.ColdStore`: one that stands at a gate before each call."""

    def __init__(self, inner: ColdStore, gate: Gate) -> None:
        self._inner = inner
        self._gate = gate

    @property
    def where(self) -> str:
        """As the store within."""
        return self._inner.where

    def create(self, key: str, payload: bytes) -> bool:
        """Stand, then as the store within."""
        self._gate.stand(f"create {key}")
        self._gate.note_outside(writes=[(f"key {key}", ROWS)])
        return self._inner.create(key, payload)

    def read(self, key: str) -> bytes | None:
        """Stand, then as the store within."""
        self._gate.stand(f"read {key}")
        self._gate.note_outside(reads=[(f"key {key}", "")])
        return self._inner.read(key)

    def remove(self, key: str) -> None:
        """Stand, then as the store within."""
        self._gate.stand(f"remove {key}")
        self._gate.note_outside(writes=[(f"key {key}", ROWS)])
        self._inner.remove(key)

    def files(self) -> Sequence[Path]:
        """As the store within."""
        return self._inner.files()


Work: TypeAlias = Callable[[], object]


class Worker:
    """One operation under way, in a thread of its own."""

    def __init__(self, name: str, gate: Gate, work: Work) -> None:
        self.name = name
        self.gate = gate
        self.result: object = None
        self.error: BaseException | None = None
        self._work = work
        self._thread = threading.Thread(target=self._run, name=f"anchorhold-worker-{name}", daemon=True)

    def start(self) -> None:
        """Go to the first call."""
        self.gate.armed = True
        self._thread.start()
        self.gate.await_first()

    def _run(self) -> None:
        try:
            self.result = self._work()
        except _Stop:
            pass
        except BaseException as error:  # noqa: BLE001 - handed to whoever asked for the work
            self.error = error
        self.gate.finish()

    @property
    def done(self) -> bool:
        """It has come to its end."""
        return self.gate.at is None

    def stop(self) -> None:
        """End it where it stands."""
        if not self.done:
            self.gate.stop()
        self._thread.join(PATIENCE)
        self.gate.armed = False


def _short(statement: str) -> str:
    words = " ".join(statement.split())
    return words if len(words) <= 48 else f"{words[:47]}…"
