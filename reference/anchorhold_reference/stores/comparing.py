"""Connections to SQLite that can compare vectors, by sqlite-vec (extra `vectors`).

Where Python's own driver can load extensions it loads it. Where it was built without that, sqlite-vec runs in a
SQLite of APSW's own, in memory, and the connection asks it for each distance. The file itself is never opened by
APSW: two copies of SQLite in one process, with one file open in both, take each other's locks away.
"""

import sqlite3
from pathlib import Path
from urllib.parse import unquote, urlsplit

from anchorhold_reference.errors import MissingExtraError, VectorsUnavailableError
from anchorhold_reference.stores.sqlite import Connection, SqliteFile

_WHAT = "retrieval by vectors (Settings.embed)"


def comparing(where: str | Path | SqliteFile) -> SqliteFile:
    """The same database, opened so that vectors can be compared; one that the caller opens otherwise stays so.

    Raises `VectorsUnavailableError` where it is not SQLite.
    """
    if isinstance(where, SqliteFile):
        return where
    if isinstance(where, Path) or "://" not in where:
        return SqliteFile(path=Path(where), connect=connect)
    url = urlsplit(where)
    if url.scheme != "sqlite":
        raise VectorsUnavailableError(url.scheme)
    return SqliteFile(path=Path(unquote(url.path)), connect=connect)


def connect(path: Path, wait: float) -> Connection:
    """Open a file with Python's own driver, sqlite-vec's functions at hand.

    Raises `MissingExtraError` where what it needs is not installed.
    """
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        _add(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _add(connection: sqlite3.Connection) -> None:
    try:
        import sqlite_vec
    except ImportError as error:
        raise MissingExtraError(_WHAT, extra="vectors") from error
    extension = sqlite_vec.loadable_path()
    if hasattr(connection, "enable_load_extension"):
        connection.enable_load_extension(True)
        connection.load_extension(extension)
        connection.enable_load_extension(False)
        return
    try:
        import apsw
    except ImportError as error:
        raise MissingExtraError(
            f"{_WHAT}, in a Python whose sqlite3 cannot load extensions,", extra="vectors"
        ) from error
    beside = apsw.Connection(":memory:")
    beside.enable_load_extension(True)
    beside.load_extension(extension)
    beside.enable_load_extension(False)

    def distance(one: bytes, other: bytes) -> float:
        return float(beside.execute("SELECT vec_distance_cosine(?, ?)", (one, other)).get)

    connection.create_function("vec_distance_cosine", 2, distance, deterministic=True)
    connection.create_function("vec_version", 0, lambda: str(beside.execute("SELECT vec_version()").get))
