"""The database: opening it, transactions, and the identity of this opening.

SQLite in WAL mode with `synchronous=FULL`: a commit returns when it is on stable storage, so "durable before the
next" means "committed before the next" (CRA-3, PTR-1).
"""

import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from anchorhold_reference.errors import ClosedError, ForeignStoreError
from anchorhold_reference.openings import Openings
from anchorhold_reference.schema import APPLICATION_ID, LAYOUT, TABLES

Row: TypeAlias = tuple[Any, ...]


class Ledger:
    """One connection. Safe for the threads of one process: each operation holds the lock while it touches the
    database."""

    def __init__(self, path: Path, *, wait: float = 30.0) -> None:
        """Open or make the database; `wait` is how many seconds to wait for another process's transaction.

        Raises `ForeignStoreError` where the file is something else.
        """
        self.path = path
        self.issuer = secrets.token_bytes(8)
        self._openings = Openings(path)
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = sqlite3.connect(
            path, timeout=wait, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare()
            self._openings.enter(self.issuer)
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        try:
            self.run("PRAGMA journal_mode=WAL")
        except sqlite3.DatabaseError as error:
            raise ForeignStoreError(str(self.path), f"not a database that can be opened ({error})") from error
        self.run("PRAGMA synchronous=FULL")
        # What is deleted is overwritten (ERA-1); `scrub` does for the log what this does for the pages.
        self.run("PRAGMA secure_delete=ON")
        self.run("PRAGMA foreign_keys=ON")
        with self.transaction():
            (application,) = self.one("PRAGMA application_id")
            (layout,) = self.one("PRAGMA user_version")
            if application == 0 and not self.all("SELECT 1 FROM sqlite_schema LIMIT 1"):
                for statement in _statements(TABLES):
                    self.run(statement)
                # Pragmas take no parameters; both values are this module's own constants.
                self.run(f"PRAGMA application_id={APPLICATION_ID}")
                self.run(f"PRAGMA user_version={LAYOUT}")
            elif application != APPLICATION_ID:
                raise ForeignStoreError(str(self.path), "a database of another application")
            elif layout != LAYOUT:
                raise ForeignStoreError(
                    str(self.path), f"written in layout {layout}, and this version reads {LAYOUT}"
                )
            # A new opening is a new epoch, whatever was or was not written in the last one (EPO-2).
            self.run("UPDATE counter SET value = value + 1 WHERE name = 'epoch'")

    @property
    def connection(self) -> sqlite3.Connection:
        """The open connection; raises `ClosedError` where there is none."""
        if self._connection is None:
            raise ClosedError
        return self._connection

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, durable at the end. Immediate: what is checked inside cannot change before it is acted
        on (ANC-3)."""
        with self._lock:
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self._connection is not None and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One consistent view over several reads; takes part in a transaction that is open already."""
        with self._lock:
            if self.connection.in_transaction:
                yield
                return
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                if self._connection is not None and self._connection.in_transaction:
                    self._connection.execute("COMMIT")

    def run(self, statement: str, parameters: Sequence[object] = ()) -> int:
        """Execute, and answer with how many rows changed."""
        with self._lock:
            return self.connection.execute(statement, parameters).rowcount

    def insert(self, statement: str, parameters: Sequence[object]) -> int:
        """Insert one row, and answer with its id."""
        with self._lock:
            cursor = self.connection.execute(statement, parameters)
            assert cursor.lastrowid is not None  # an INSERT into a rowid table always sets it
            return cursor.lastrowid

    def many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Execute once a row."""
        with self._lock:
            self.connection.executemany(statement, rows)

    def all(self, query: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Every row of a query."""
        with self._lock:
            return self.connection.execute(query, parameters).fetchall()

    def first(self, query: str, parameters: Sequence[object] = ()) -> Row | None:
        """The first row of a query, where there is one."""
        with self._lock:
            row: Row | None = self.connection.execute(query, parameters).fetchone()
            return row

    def one(self, query: str, parameters: Sequence[object] = ()) -> Row:
        """The row of a query that always has one."""
        row = self.first(query, parameters)
        assert row is not None, query
        return row

    def close(self) -> None:
        """Let go of the database; what was not committed is gone, as after a crash."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            self._openings.leave()

    def alive(self, opening: bytes) -> bool:
        """Whether the opening of the store that has this mark is still open, in whatever process (CRA-2)."""
        return self._openings.alive(opening)

    def scrub(self) -> bool:
        """Rewrite the database without what was deleted, and empty its log (ERA-1).

        False where another connection still reads an older state from the log: to be done again later.
        """
        with self._lock:
            if self.connection.in_transaction:
                raise RuntimeError("scrub inside a transaction; what was deleted is still to be committed")
            try:
                # Deleted cells are overwritten already, but pages that were rebalanced may hold older copies of them.
                self.connection.execute("VACUUM")
                (busy, _, _) = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.OperationalError:
                return False
            return not busy

    def files(self) -> list[Path]:
        """Every file that holds state of this database or lies beside it."""
        return [p for p in sorted(self.path.parent.glob(f"{self.path.name}*")) if p.is_file()]


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; `executescript` would commit the transaction that they are to be part of."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
