"""Faults of the database under the reference compactor: put in at the driver, where the compactor cannot see them."""

import re
import sqlite3
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anchorhold.compactor import StoreFault
from anchorhold_reference.stores.sqlite import Connect, Connection, Cursor

if TYPE_CHECKING:
    from anchorhold_reference.faults.power import Disk

POWER = find_spec("apsw") is not None
"""Whether power can be lost here: with the extra `faults`."""


class _Unforced(sqlite3.Connection):
    def execute(self, statement: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Execute; but nobody waits for the disk."""
        if statement.startswith("PRAGMA synchronous="):
            statement = "PRAGMA synchronous=OFF"
        return super().execute(statement, parameters)


def unforced(path: Path, wait: float) -> Connection:
    """Open a file with Python's own driver, without a wait for the disk: the files are thrown away, and a process
    that dies leaves what the operating system has. Where power is to be lost a `Disk` stands in."""
    return sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False, factory=_Unforced)


def new_disk() -> "Disk":
    """A disk that can lose power; only where `POWER`. Its files are thrown away: nobody waits for the real disk."""
    from anchorhold_reference.faults.power import Disk

    return Disk(forced=False)


_COLD = re.compile(r"\s*INSERT INTO cold\b", re.IGNORECASE)


class Crash(BaseException):
    """The process dies here. Not an `Exception`, so that nothing between here and the adapter can tidy up."""


class Faults:
    """What the next transaction that writes is to meet."""

    def __init__(self) -> None:
        self.armed: StoreFault | None = None

    def arm(self, fault: StoreFault) -> None:
        """Let the next transaction fail so."""
        self.armed = fault

    def disarm(self) -> None:
        """Let it succeed."""
        self.armed = None

    def over(self, connect: Connect) -> Connect:
        """How to open a file so that the faults happen to it."""

        def open_(path: Path, wait: float) -> FaultyConnection:
            return FaultyConnection(connect(path, wait), self)

        return open_


class FaultyConnection:
    """A connection whose commits can be made to fail.

    An `error` is one of the disk, at the commit; where it is `full`, so is every later one. `silent` says that it
    committed, and did not. A `short` write of an original stores a part of it; of anything else SQLite would not have
    a part: a transaction whose end is missing from the log is not in the database at all, and so it is as if it had
    been silent.
    """

    def __init__(self, connection: Connection, faults: Faults) -> None:
        self._connection = connection
        self._faults = faults
        self._shortened = False
        self._writes = False

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._connection.in_transaction

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> Cursor:
        """Execute; what is armed happens to a write of an original, or to the commit."""
        fault = self._faults.armed
        if statement.startswith("BEGIN"):
            # A transaction that only reads writes nothing that could fail.
            self._shortened, self._writes = False, statement == "BEGIN IMMEDIATE"
        if fault is StoreFault.SHORT and _COLD.match(statement):
            self._shortened = True
            parameters = [one[: len(one) // 2] if isinstance(one, bytes) else one for one in parameters]
        if statement != "COMMIT" or fault is None or not self._writes or not self._connection.in_transaction:
            return self._connection.execute(statement, parameters)
        if fault is StoreFault.FULL:
            self._connection.execute("ROLLBACK")
            raise sqlite3.OperationalError("database or disk is full")
        self._faults.disarm()
        if fault is StoreFault.SHORT and self._shortened:
            return self._connection.execute(statement)
        done = self._connection.execute("ROLLBACK")
        if fault is StoreFault.ERROR:
            raise sqlite3.OperationalError("disk I/O error")
        return done

    def executemany(self, statement: str, rows: Sequence[Sequence[Any]], /) -> object:
        """Execute once a row."""
        return self._connection.executemany(statement, rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
