"""The ledger in one SQLite file: WAL mode with `synchronous=FULL`, so a commit returns when it is on stable storage
(CRA-3)."""

import glob
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from anchorhold_reference.errors import ClosedError, ForeignStoreError, ForkedError, LedgerError, NotUnicodeError
from anchorhold_reference.forks import watch
from anchorhold_reference.ledger import Dialect, Row
from anchorhold_reference.openings import Openings
from anchorhold_reference.schema import APPLICATION_ID, LAYOUT, SQLITE, TABLES, statements
from anchorhold_reference.stores.outer import ColdStore

DIALECT = Dialect(name="sqlite", levelled="lower(CAST({} AS TEXT))")


CACHE = 16_384
"""Memory for pages of the database at most, in KB."""


class Cursor(Protocol):
    """What is used of a cursor."""

    @property
    def rowcount(self) -> int: ...  # noqa: D102
    @property
    def lastrowid(self) -> int | None: ...  # noqa: D102
    def fetchone(self) -> Any: ...  # noqa: D102
    def fetchall(self) -> list[Any]: ...  # noqa: D102


class Connection(Protocol):
    """What is used of a connection: a part of `sqlite3.Connection`, so that another driver of SQLite can stand in."""

    @property
    def in_transaction(self) -> bool: ...  # noqa: D102
    def execute(self, statement: str, parameters: Sequence[Any] = ..., /) -> Cursor: ...  # noqa: D102
    def executemany(self, statement: str, rows: Sequence[Sequence[Any]], /) -> object: ...  # noqa: D102
    def close(self) -> None: ...  # noqa: D102


Connect: TypeAlias = Callable[[Path, float], Connection]
"""Opens a file; the second argument is how many seconds to wait for another's transaction. What its connection
raises is to be a `sqlite3.Error`."""


def connect(path: Path, wait: float) -> Connection:
    """Open a file with Python's own driver, transactions left to the caller."""
    return sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteFile:
    """A SQLite file with a driver other than Python's own; see `faults.power`."""

    path: Path
    connect: Connect


class SqliteLedger:
    """See `ledger.Ledger`. Any number of processes on one machine may open the same file."""

    dialect = DIALECT

    def __init__(
        self, path: Path, *, outer: ColdStore | None = None, wait: float = 30.0, connect: Connect = connect
    ) -> None:
        """Open or make the database; `wait` is how many seconds to wait for another process's transaction.

        Raises `ForeignStoreError` where the file is something else.
        """
        if path.name in {"", ":memory:"}:
            raise ValueError(f"{str(path)!r} is no file, and a session is durable (CRA-3); give the path of one")
        # One file has one name, whatever links lead to it and wherever the process goes: the marks of who has it
        # open stand beside it.
        self.path = path = path.resolve()
        self.outer = outer
        self.issuer = secrets.token_bytes(8)
        self._openings = Openings(path)
        self._lock = threading.RLock()
        self._forked = False
        self._connection: Connection | None = None
        self._inherited: Connection | None = None
        try:
            self._connection = connect(path, wait)
            self._prepare()
            self._openings.enter(self.issuer)
        except (sqlite3.Error, OSError) as error:
            self.close()
            raise LedgerError(str(error), where=str(path)) from error
        except BaseException:
            self.close()
            raise
        watch(self)

    def _prepare(self) -> None:
        try:
            self.connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:  # locked, read-only, full: the file may well be a ledger
            raise
        except sqlite3.DatabaseError as error:
            raise ForeignStoreError(str(self.path), f"not a database that can be opened ({error})") from error
        self.run("PRAGMA synchronous=FULL")
        self.run("PRAGMA foreign_keys=ON")
        # The upper pages of all indexes of a long session, so that reading costs the same as in a short one.
        self.run(f"PRAGMA cache_size=-{CACHE}")
        # What is deleted is overwritten (ERA-1); `scrub` does the rest.
        self.run("PRAGMA secure_delete=ON")
        with self.transaction():
            (application,) = self.one("PRAGMA application_id")
            (layout,) = self.one("PRAGMA user_version")
            if application == 0 and not self.all("SELECT 1 FROM sqlite_schema LIMIT 1"):
                for statement in statements(TABLES + SQLITE):
                    self.run(statement)
                # Pragmas take no parameters; both values are this package's own constants.
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
    def connection(self) -> Connection:
        """The open connection; raises `ClosedError` where there is none, `ForkedError` in a forked child."""
        if self._connection is None:
            if self._forked:
                raise ForkedError(str(self.path))
            raise ClosedError
        return self._connection

    def in_child(self) -> None:
        """See `forks`. SQLite forbids a child to use its parent's connection; it is kept, and not closed."""
        self._lock = threading.RLock()  # another thread of the parent's may hold it, and is not here
        self._openings.in_child()
        self._inherited, self._connection, self._forked = self._connection, None, True

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, durable at the end. Immediate: from its beginning there is no other writer (ANC-3)."""
        with self._lock:
            self.run("BEGIN IMMEDIATE")
            try:
                yield
                self.run("COMMIT")
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
            self.run("BEGIN")
            try:
                yield
            finally:
                if self._connection is not None and self._connection.in_transaction:
                    self.run("COMMIT")

    def run(self, statement: str, parameters: Sequence[object] = ()) -> int:
        """Execute, and answer with how many rows changed."""
        return self._execute(statement, parameters).rowcount

    def insert(self, statement: str, parameters: Sequence[object]) -> int:
        """Insert one row, and answer with its id."""
        row = self._execute(statement, parameters).lastrowid
        assert row is not None  # an INSERT into a rowid table always sets it
        return row

    def many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Execute once a row."""
        with self._lock:
            try:
                self.connection.executemany(statement, rows)
            except sqlite3.Error as error:
                raise LedgerError(str(error), where=str(self.path)) from error
            except UnicodeEncodeError as error:
                raise NotUnicodeError(str(error)) from error

    def all(self, query: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Every row of a query."""
        with self._lock:
            try:
                return self.connection.execute(query, parameters).fetchall()
            except sqlite3.Error as error:
                raise LedgerError(str(error), where=str(self.path)) from error
            except UnicodeEncodeError as error:
                raise NotUnicodeError(str(error)) from error

    def first(self, query: str, parameters: Sequence[object] = ()) -> Row | None:
        """The first row of a query, where there is one."""
        with self._lock:
            try:
                # Not by the property: this is asked for each pointer that is followed.
                row: Row | None = (self._connection or self.connection).execute(query, parameters).fetchone()
            except sqlite3.Error as error:
                raise LedgerError(str(error), where=str(self.path)) from error
            except UnicodeEncodeError as error:
                raise NotUnicodeError(str(error)) from error
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
        """Whether that opening of the store is open still, in whatever process (CRA-2)."""
        return self._openings.alive(opening)

    def scrub(self) -> bool:
        """Rewrite the database without what was deleted, and empty its log (ERA-1).

        Deleted cells are overwritten already, but pages that were rebalanced may hold older copies of them.
        """
        with self._lock:
            try:
                self.connection.execute("VACUUM")
                (busy, _, _) = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.OperationalError:
                return False
            return not busy

    def files(self) -> list[Path]:
        """The database, its log and index, and the marks of who has it open."""
        names = f"{glob.escape(self.path.name)}*"
        return [path for path in sorted(self.path.parent.glob(names)) if path.is_file()]

    def _execute(self, statement: str, parameters: Sequence[object]) -> Cursor:
        with self._lock:
            try:
                return self.connection.execute(statement, parameters)
            except sqlite3.Error as error:
                raise LedgerError(str(error), where=str(self.path)) from error
            except UnicodeEncodeError as error:
                raise NotUnicodeError(str(error)) from error
