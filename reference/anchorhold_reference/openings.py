"""Who has the store open: so that recovery undoes what the dead left behind, and nothing of the living (CRA-2).

Each opening holds a lock on a small file beside the database for as long as it lives. The operating system lets go of
the lock when the process ends, however it ends, and nobody has to believe a clock or a process number.
"""

import contextlib
import glob
import os
from pathlib import Path

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # pragma: no cover - Windows: every other opening is taken for dead
    LOCKS = False
else:
    LOCKS = True


class Openings:
    """The openings of one database file."""

    def __init__(self, path: Path) -> None:
        """Of the database at `path`."""
        self._path = path
        self._mine: tuple[int, Path] | None = None

    def _file(self, opening: bytes) -> Path:
        return self._path.with_name(f"{self._path.name}-open-{opening.hex()}")

    def enter(self, opening: bytes) -> None:
        """Be alive, until `leave` or the end of the process."""
        if not LOCKS:
            return
        path = self._file(opening)
        while True:
            handle = os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600)
            flock(handle, LOCK_EX)
            # Somebody who tidied up may have removed the file before it was locked.
            if path.exists() and path.stat().st_ino == os.fstat(handle).st_ino:
                break
            os.close(handle)
        self._mine = handle, path
        for other in path.parent.glob(f"{glob.escape(self._path.name)}-open-*"):
            if other != path:
                self._look(other)

    def leave(self) -> None:
        """Be alive no more. May be called again."""
        if self._mine is None:
            return
        handle, path = self._mine
        self._mine = None
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(handle)

    def in_child(self) -> None:
        """Let go in a forked child: else the opening would live on with it after its own process died. The lock is
        the parent's as long as that has the file open."""
        if self._mine is not None:
            os.close(self._mine[0])
            self._mine = None

    def alive(self, opening: bytes) -> bool:
        """Whether somebody holds that opening; the file of one that nobody holds is removed."""
        if not LOCKS:
            return False
        return self._look(self._file(opening))

    @staticmethod
    def _look(path: Path) -> bool:
        try:
            handle = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
        except FileNotFoundError:
            return False
        try:
            # The lock belongs to the open file, not to the process: it tells two openings of one process apart, too.
            flock(handle, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return True
        else:
            with contextlib.suppress(OSError):
                path.unlink()
            return False
        finally:
            os.close(handle)
