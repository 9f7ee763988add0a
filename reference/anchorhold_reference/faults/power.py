"""Loss of power under a SQLite ledger (extra `faults`): every write that was not yet synced may be gone, or torn.

A `Disk` is a virtual file system of SQLite's, by APSW, over the real one. It lets everything through and remembers,
for each file, what was written, cut off or deleted since its last sync. At any moment it can tell what a loss of
power would leave: nothing of that, all of it, or any part.

    disk = Disk()
    transcript = Transcript.open(SqliteFile(path=path, connect=disk.connect), …)
    disk.lose()  # now: what is left stands in the files, and whoever has them open can do nothing more with them
    Transcript.open(path, …)

The log of SQLite is used as in production (WAL, `synchronous=FULL`), save that its index lies in memory: APSW gives
no access to shared memory. So one connection at a time can have the file open.
"""

import itertools
import os
import random
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import apsw

SECTOR = 512
"""Bytes that a disk writes whole or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something that was done to a file and not yet synced."""

    offset: int
    """Where it was written, or to how many bytes the file was cut."""
    data: bytes | None
    """What was written; None: cut off."""
    before: bytes
    """What stood there before, as far as the file went."""
    size: int
    """The file's size before."""


Survive: TypeAlias = Callable[[Sequence[Change]], Sequence[Change]]
"""Which changes of one file a loss of power leaves, in order; a change may be shortened to some of its sectors."""


def none_of(_changes: Sequence[Change]) -> Sequence[Change]:
    """Nothing that was not synced."""
    return ()


def all_of(changes: Sequence[Change]) -> Sequence[Change]:
    """Everything: as where only the process was killed."""
    return changes


def torn(seed: int) -> Survive:
    """Some of the changes, each whole or in some of its sectors: disks write in any order."""
    chance = random.Random(seed)  # noqa: S311 - a choice to be repeated, not a secret

    def choose(changes: Sequence[Change]) -> Sequence[Change]:
        left: list[Change] = []
        for change in changes:
            fate = chance.random()
            if fate < 0.4:
                left.append(change)
            elif fate < 0.7 and change.data is not None:
                left += [sector for sector in _sectors(change) if chance.random() < 0.5]
        return left

    return choose


def _sectors(change: Change) -> list[Change]:
    assert change.data is not None
    cuts = [0, *range(SECTOR - change.offset % SECTOR, len(change.data), SECTOR), len(change.data)]
    return [
        Change(offset=change.offset + start, data=change.data[start:end], before=b"", size=change.size)
        for start, end in itertools.pairwise(cuts)
    ]


class PowerLossError(apsw.IOError):
    """The power is gone; this file can be reached again only by opening it anew."""


class Disk:
    """Files whose writes can be lost until they are synced."""

    _numbers = itertools.count(1)

    def __init__(self, *, forced: bool = True) -> None:
        """Register the file system with APSW; `close` takes it away again.

        `forced`: a sync also reaches the real disk. Without it, a loss of this machine's own power is not provided
        for: for files that are thrown away. What `lose` leaves is the same.
        """
        self.forced = forced
        self._lock = threading.RLock()
        self._changes: dict[Path, list[Change]] = {}
        self._unsynced_names: set[Path] = set()
        self._deleted: dict[Path, bytes] = {}
        self.dead = False
        self.writes = 0
        """Writes and truncations so far."""
        self.syncs = 0
        """Syncs so far."""
        self.before_sync: Callable[[Path], None] = lambda _path: None
        """Called right before each sync, where the most can be lost."""
        self._vfs = _Vfs(f"anchorhold-power-{next(self._numbers)}", self)

    def connect(self, path: Path, wait: float) -> "Connection":
        """Open a database on this disk: the `connect` of a `SqliteFile`."""
        return Connection(path, wait, self._vfs.vfs_name)

    def close(self) -> None:
        """Take the file system away. Every connection has to be closed before."""
        self._vfs.unregister()

    def survive(self, into: Path, choose: Survive = none_of) -> None:
        """Write into another directory what a loss of power would leave now."""
        with self._lock:
            for path in {*self._changes, *self._deleted}:
                image = self._image(path, choose)
                if image is not None:
                    (into / path.name).write_bytes(image)

    def lose(self, choose: Survive = none_of) -> None:
        """Lose power now: the files become what is left of them, and whoever has them open can do nothing more."""
        with self._lock:
            images = {path: self._image(path, choose) for path in {*self._changes, *self._deleted}}
            self.dead = True
            for path, image in images.items():
                path.unlink(missing_ok=True)
                if image is not None:
                    path.write_bytes(image)
            self._changes.clear()

    def _image(self, path: Path, choose: Survive) -> bytes | None:
        """What is left of a file; none where its very name is lost."""
        if path in self._deleted:
            # A deletion is a change of the directory's: it too may or may not have come to pass.
            probe = Change(offset=0, data=None, before=b"", size=0)
            return None if choose([probe]) else self._deleted[path]
        changes = self._changes[path]
        if path in self._unsynced_names and not choose(changes):
            return None
        content = bytearray(path.read_bytes() if path.exists() else b"")
        for change in reversed(changes):
            _put(content, change.offset, change.before)
            del content[change.size :]
        for change in choose(changes):
            if change.data is None:
                del content[change.offset :]
            else:
                _put(content, change.offset, change.data)
        return bytes(content)

    # -- what the files report --

    def opened(self, path: Path, *, made: bool) -> None:
        """A file was opened."""
        with self._lock:
            self._changes.setdefault(path, [])
            if made:
                self._deleted.pop(path, None)
                self._unsynced_names.add(path)

    def changing(self, path: Path, change: Change) -> None:
        """A file is about to be changed."""
        with self._lock:
            self.writes += 1
            self._changes.setdefault(path, []).append(change)

    def synced(self, path: Path, *, directory: bool) -> None:
        """A file was synced, and the directory with it: SQLite does that with the first sync of a new journal or
        log, and then every name made or deleted there before is durable as well."""
        with self._lock:
            self.syncs += 1
            self._changes[path] = []
            if directory and path in self._unsynced_names:
                self._unsynced_names = {p for p in self._unsynced_names if p.parent != path.parent}
                self._deleted = {p: held for p, held in self._deleted.items() if p.parent != path.parent}

    def deleted(self, path: Path, *, durable: bool) -> None:
        """A file is about to be deleted."""
        with self._lock:
            if not durable and path.exists() and path not in self._unsynced_names:
                self._deleted[path] = path.read_bytes()
            self._changes.pop(path, None)
            self._unsynced_names.discard(path)

    def alive(self) -> None:
        """Raises `PowerLossError` after the loss."""
        if self.dead:
            raise PowerLossError("the power is gone")


def _put(content: bytearray, offset: int, data: bytes) -> None:
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


class _Vfs(apsw.VFS):
    def __init__(self, name: str, disk: Disk) -> None:
        self.vfs_name = name
        self._disk = disk
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> Any:  # noqa: N802 - APSW's name
        if name is None:  # a file that nobody can open again: nothing of it is wanted after a loss
            return apsw.VFSFile("", name, flags)
        return _File(name, flags, self._disk)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        if self._disk.dead:
            return
        path = Path(filename)
        self._disk.deleted(path, durable=syncdir)
        super().xDelete(filename, syncdir)


_WITH_DIRECTORY = (apsw.SQLITE_OPEN_MAIN_JOURNAL, apsw.SQLITE_OPEN_SUPER_JOURNAL, apsw.SQLITE_OPEN_WAL)
"""What SQLite syncs the directory for, when it is new."""


class _File(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int], disk: Disk) -> None:
        text = name if isinstance(name, str) else name.filename()
        self._path = Path(text)
        self._disk = disk
        made = not self._path.exists()
        self._names = any(flags[0] & kind for kind in _WITH_DIRECTORY)
        super().__init__("", name, flags)
        disk.opened(self._path, made=made)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self._disk.alive()
        return super().xRead(amount, offset)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        self._disk.alive()
        written = bytes(data)
        size = super().xFileSize()
        before = super().xRead(min(len(written), size - offset), offset) if offset < size else b""
        self._disk.changing(self._path, Change(offset=offset, data=written, before=before, size=size))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._disk.alive()
        size = super().xFileSize()
        before = super().xRead(size - newsize, newsize) if newsize < size else b""
        self._disk.changing(self._path, Change(offset=newsize, data=None, before=before, size=size))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.alive()
        self._disk.before_sync(self._path)
        if self._disk.forced:
            super().xSync(flags)
        self._disk.synced(self._path, directory=self._names)


class _Cursor:
    """What a ledger uses of a cursor, with APSW behind it."""

    def __init__(self, connection: apsw.Connection, cursor: apsw.Cursor) -> None:
        self._cursor = cursor
        self.rowcount = connection.changes()
        self.lastrowid: int | None = connection.last_insert_rowid()

    def fetchone(self) -> Any:
        with _as_sqlite3():
            return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        with _as_sqlite3():
            return self._cursor.fetchall()


class Connection:
    """What a ledger uses of `sqlite3.Connection`, with APSW behind it."""

    def __init__(self, path: Path, wait: float, vfs: str) -> None:
        """Open a file on the file system of that name."""
        with _as_sqlite3():
            self._connection = apsw.Connection(os.fspath(path), vfs=vfs)
            self._connection.set_busy_timeout(int(wait * 1000))
            self._connection.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._connection.in_transaction

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> _Cursor:
        """Execute one statement."""
        with _as_sqlite3():
            return _Cursor(self._connection, self._connection.execute(statement, tuple(parameters)))

    def executemany(self, statement: str, rows: Sequence[Sequence[Any]], /) -> object:
        """Execute once a row."""
        with _as_sqlite3():
            return self._connection.executemany(statement, [tuple(row) for row in rows])

    def close(self) -> None:
        """Close; after a loss of power nothing is written by that."""
        with suppress(apsw.Error):
            self._connection.close()


class _as_sqlite3:  # noqa: N801 - reads as what it does
    """Errors of APSW's as those of Python's own driver, which a ledger knows."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, apsw.ConstraintError):
            raise sqlite3.IntegrityError(str(error)) from error
        if isinstance(error, apsw.NotADBError):
            raise sqlite3.DatabaseError(str(error)) from error
        if isinstance(error, apsw.Error):
            raise sqlite3.OperationalError(str(error)) from error
