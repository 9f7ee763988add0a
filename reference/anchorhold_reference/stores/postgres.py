"""The ledger in PostgreSQL, where several machines share it (extra `postgres`).

What is asked of a transaction is that nobody else writes the same session between its check and its act (ANC-3,
CON-2). Each therefore begins by taking an advisory lock of its scope, one user's session with all its branches, and
reads committed rows after it: a snapshot taken any earlier would be the one from before the wait. Sessions do not
wait for each other, save for the counters that they share.
"""

import hashlib
import os
import re
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg.pq import TransactionStatus

from anchorhold_reference.errors import (
    AnchorholdError,
    ClosedError,
    ForeignStoreError,
    ForkedError,
    LedgerError,
    NotUnicodeError,
)
from anchorhold_reference.forks import watch
from anchorhold_reference.ledger import Dialect, Row
from anchorhold_reference.schema import DIGESTS, LAYOUT, POSTGRES, TABLES
from anchorhold_reference.stores.outer import ColdStore

DIALECT = Dialect(name="postgresql", levelled="lower(encode({}, 'escape'))")
SCHEMA = "anchorhold"
"""Where the tables stand, if the URL does not say `?schema=`: apart from the tables of whoever else uses the
database."""


class PostgresLedger:
    """See `ledger.Ledger`."""

    dialect = DIALECT

    def __init__(self, url: str, *, scope: str, outer: ColdStore | None = None, wait: float = 30.0) -> None:
        """Connect, and make the tables where there are none.

        `scope` names what this opening writes: two of the same scope write one after the other. `wait` is how many
        seconds to wait for one's turn. Raises `ForeignStoreError` where the schema holds something else, or where
        the server does not wait for stable storage; `LedgerError` where it cannot be reached.
        """
        self.where, conninfo, self.schema = _parts(url)
        self.outer = outer
        self.issuer = secrets.token_bytes(8)
        self._lock = threading.RLock()
        self._begin = f"BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({self._key(scope)})"
        self._connection: psycopg.Connection[Row] | None = None
        self._inherited: psycopg.Connection[Row] | None = None
        self._forked = False
        try:
            self._connection = psycopg.connect(conninfo, autocommit=True, cursor_factory=psycopg.RawCursor)
            self._prepare(wait)
        except psycopg.Error as error:
            self.close()
            raise self._failed(error) from error
        except BaseException:
            self.close()
            raise
        watch(self)

    def _key(self, scope: str) -> int:
        """The number of an advisory lock; that two scopes get the same one costs a wait and nothing else."""
        mark = hashlib.sha256(f"{self.schema}\0{scope}".encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(mark[:8], "big", signed=True)

    def _prepare(self, wait: float) -> None:
        for setting, value in (("lock_timeout", f"{int(wait * 1000)}ms"), ("search_path", f'"{self.schema}"')):
            self.one("SELECT set_config(?, ?, false)", (setting, value))
        if self.one("SHOW fsync") == ("off",):
            raise ForeignStoreError(
                self.where, "this server runs with fsync=off, so nothing would be durable (CRA-3)"
            )
        if self.one("SHOW synchronous_commit") == ("off",):
            self.run("SET synchronous_commit = on")
        with self._transaction(
            f"BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({self._key('making the tables')})"
        ):
            tables = {
                name for (name,) in self.all("SELECT tablename FROM pg_tables WHERE schemaname = ?", (self.schema,))
            }
            if not tables:
                self.run(f'CREATE SCHEMA IF NOT EXISTS "{self.schema}"')
                self._plainly(tables_of_postgres())
                self.run("INSERT INTO anchorhold (layout) VALUES (?)", (LAYOUT,))
            elif "anchorhold" not in tables:
                raise ForeignStoreError(self.where, f"schema {self.schema!r} holds tables of another application")
            (layout,) = self.one("SELECT layout FROM anchorhold")
            if layout != LAYOUT:
                raise ForeignStoreError(self.where, f"written in layout {layout}, and this version reads {LAYOUT}")
            # A new opening is a new epoch, whatever was or was not written in the last one (EPO-2).
            self.run("UPDATE counter SET value = value + 1 WHERE name = 'epoch'")
        self.one("SELECT pg_advisory_lock(?)", (self._key(f"opening {self.issuer.hex()}"),))

    @property
    def connection(self) -> "psycopg.Connection[Row]":
        """The open connection; raises `ClosedError` where there is none, `ForkedError` in a forked child."""
        if self._connection is None:
            if self._forked:
                raise ForkedError(self.where)
            raise ClosedError
        return self._connection

    def in_child(self) -> None:
        """See `forks`. The driver does not say goodbye to the server for another process; the socket is closed here,
        or the server would take the parent for alive as long as the child is."""
        self._lock = threading.RLock()
        if self._connection is not None:
            with suppress(OSError, psycopg.Error):
                os.close(self._connection.fileno())
        self._inherited, self._connection, self._forked = self._connection, None, True

    def transaction(self) -> Any:
        """All or nothing, durable at the end; one writer of a scope at a time (ANC-3)."""
        return self._transaction(self._begin)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._lock:
            if self._inside():
                raise LedgerError("a transaction was begun within another", where=self.where)
            self._plainly(begin)
            try:
                yield
                self._plainly("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One consistent view over several reads; takes part in a transaction that is open already."""
        with self._lock:
            if self._inside():
                yield
                return
            self._plainly("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                yield
            finally:
                self._roll_back()

    def run(self, statement: str, parameters: Sequence[object] = ()) -> int:
        """Execute, and answer with how many rows changed."""
        return self._execute(statement, parameters).rowcount

    def insert(self, statement: str, parameters: Sequence[object]) -> int:
        """Insert one row, and answer with its id."""
        row = self._execute(f"{statement} RETURNING id", parameters).fetchone()
        assert row is not None  # an INSERT either raises or returns
        return int(row[0])

    def many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Execute once a row."""
        with self._lock:
            try:
                with self.connection.cursor() as cursor:
                    cursor.executemany(numbered(statement), [_values(row) for row in rows])
            except psycopg.Error as error:
                raise self._failed(error) from error
            except UnicodeEncodeError as error:
                raise NotUnicodeError(str(error)) from error

    def all(self, query: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Every row of a query."""
        return self._execute(query, parameters).fetchall()

    def first(self, query: str, parameters: Sequence[object] = ()) -> Row | None:
        """The first row of a query, where there is one."""
        return self._execute(query, parameters).fetchone()

    def one(self, query: str, parameters: Sequence[object] = ()) -> Row:
        """The row of a query that always has one."""
        row = self.first(query, parameters)
        assert row is not None, query
        return row

    def alive(self, opening: bytes) -> bool:
        """Whether that opening holds its advisory lock, which the server lets go of when the connection ends."""
        if opening == self.issuer:
            return True
        key = self._key(f"opening {opening.hex()}")
        (free,) = self.one("SELECT pg_try_advisory_lock(?)", (key,))
        if free:
            self.one("SELECT pg_advisory_unlock(?)", (key,))
        return not free

    def scrub(self) -> bool:
        """Rewrite every table of this store without its dead rows (ERA-1), and no other in the database. The server's
        log of writes, and its archives, are the server's: it recycles them by its own settings."""
        with self._lock:
            try:
                for (table,) in self.all(
                    "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = ?",
                    (self.schema,),
                ):
                    self._plainly(f"VACUUM (FULL) {table}")
                self._plainly("CHECKPOINT")
            except LedgerError:
                return False
            return True

    def files(self) -> list[Path]:
        """None that can be seen from here: they are the server's."""
        return []

    def close(self) -> None:
        """Let go of the connection; what was not committed is gone, as after a crash."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # -- the driver --

    def _execute(self, statement: str, parameters: Sequence[object]) -> "psycopg.Cursor[Row]":
        with self._lock:
            try:
                return self.connection.cursor(binary=True).execute(numbered(statement), _values(parameters))
            except psycopg.Error as error:
                raise self._failed(error) from error
            except UnicodeEncodeError as error:
                raise NotUnicodeError(str(error)) from error

    def _plainly(self, script: str) -> None:
        """Execute statements without parameters; several of them go to the server at once."""
        try:
            self.connection.execute(script.encode())
        except psycopg.Error as error:
            self._roll_back()
            raise self._failed(error) from error

    def _inside(self) -> bool:
        return self.connection.info.transaction_status is not TransactionStatus.IDLE

    def _roll_back(self) -> None:
        """Leave a transaction; one whose connection is lost was left by the server already."""
        with suppress(psycopg.Error):
            if self._connection is not None and self._inside():
                self._connection.execute("ROLLBACK")

    def _failed(self, error: psycopg.Error) -> AnchorholdError:
        if isinstance(error, psycopg.DataError) and "NUL" in str(error):
            return NotUnicodeError(str(error))
        return LedgerError(str(error).strip() or type(error).__name__, where=self.where)


def _parts(url: str) -> tuple[str, str, str]:
    """How to name the database in messages (without a password), what to connect with, and the schema."""
    parts = urlsplit(url)
    query = parse_qsl(parts.query, keep_blank_values=True)
    schema = next((value for key, value in query if key == "schema"), SCHEMA)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,62}", schema):
        raise ValueError(f"schema {schema!r} in the URL: give a name of letters, digits and underscores")
    rest = urlencode([(key, value) for key, value in query if key != "schema"])
    host = parts.netloc.rpartition("@")[2]
    return (
        f"postgresql://{host}{parts.path} schema {schema}",
        urlunsplit(parts._replace(query=rest)),
        schema,
    )


_MARK = re.compile(r"'(?:[^']|'')*'|\?(\d*)")


@lru_cache(maxsize=1024)
def numbered(statement: str) -> bytes:
    """A statement with `$1` for each `?` in turn, and for `?1`; text within quotes stays as it is."""
    count = 0

    def number(found: re.Match[str]) -> str:
        nonlocal count
        if found.group(1) is None:
            return found.group()
        count += 1
        return f"${found.group(1) or count}"

    return _MARK.sub(number, statement).encode()


def _values(parameters: Sequence[object]) -> list[object]:
    """Parameters as the columns take them: truth is 0 or 1 in both databases."""
    return [int(one) if isinstance(one, bool) else one for one in parameters]


_TYPES = (
    (r"--[^\n]*", ""),
    (r"\bid INTEGER PRIMARY KEY( AUTOINCREMENT)?", "id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"),
    (r"\bINTEGER\b", "BIGINT"),
    (r"\bBLOB\b", "BYTEA"),
    (r"\bREAL\b", "DOUBLE PRECISION"),
    (r"\) WITHOUT ROWID", ")"),
)
_INDEXED = (
    (r',\s+UNIQUE \("user", name, branch\)', ""),
    (r",\s+PRIMARY KEY \(session, id, carrier\)", ""),
    (r"ON turn \(session, id\)", "ON turn (session, digest(id))"),
    (r"ON (fact|tombstone) \(session, literal\)", r"ON \1 (session, digest(literal))"),
)
"""Where an index is over texts of the caller's, of any length. Names of slots are no longer than `extract.slots`
reads them, names of speakers and causes are our own."""


def tables_of_postgres() -> str:
    """The ledger's tables in PostgreSQL's types: the same names and columns, written once, in `schema`."""
    script = TABLES
    for pattern, there in (*_TYPES, *_INDEXED):
        script = re.sub(pattern, there, script)
    return DIGESTS + script + POSTGRES
