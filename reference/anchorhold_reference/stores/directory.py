"""A cold store in a directory: one file an entry."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from anchorhold_reference.errors import StoreError


class DirectoryStore:
    """See `outer.ColdStore`. An entry appears whole or not at all, under its name only once it is on stable
    storage; any number of processes may use the directory."""

    def __init__(self, path: Path) -> None:
        """Use a directory, made where it is missing."""
        self._root = path = path.absolute()  # wherever the process goes
        try:
            _make(path)
        except OSError as error:
            raise self._failed(error) from error

    @property
    def where(self) -> str:
        """Its path."""
        return str(self._root)

    def create(self, key: str, payload: bytes) -> bool:
        """Write a file beside the entry's name, sync it, and only then link it to that name: linking refuses a name
        that is taken, as renaming would not."""
        path = self._path(key)
        part = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
        try:
            _make(path.parent)
            try:
                with part.open("xb") as file:
                    file.write(payload)
                    file.flush()
                    os.fsync(file.fileno())
                os.link(part, path)
                made = True
            except FileExistsError:
                made = False  # perhaps by a process that died before it could sync the name: so it is synced here
            finally:
                part.unlink(missing_ok=True)
            _sync(path.parent)
        except OSError as error:
            raise self._failed(error) from error
        return made

    def read(self, key: str) -> bytes | None:
        """The bytes of the entry's file."""
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._failed(error) from error

    def remove(self, key: str) -> None:
        """Remove the entry's file, and what a process left that died while it was writing it."""
        path = self._path(key)
        try:
            path.unlink(missing_ok=True)
            for part in path.parent.glob(f"{path.name}.*.part"):
                part.unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                _sync(path.parent)
        except OSError as error:
            raise self._failed(error) from error

    def files(self) -> list[Path]:
        """Every file in the directory."""
        return sorted(path for path in self._root.rglob("*") if path.is_file())

    def _path(self, key: str) -> Path:
        return self._root / key

    def _failed(self, error: OSError) -> StoreError:
        return StoreError(f"{self._root}: {error.strerror or error} (OUT-3); see to the directory and try again")


def _make(directory: Path) -> None:
    """Make a directory and what is above it, each durable."""
    if directory.is_dir():
        return
    _make(directory.parent)
    directory.mkdir(exist_ok=True)
    _sync(directory.parent)


def _sync(directory: Path) -> None:
    """Make the names in a directory durable; a file's own sync does not."""
    handle = os.open(directory, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
