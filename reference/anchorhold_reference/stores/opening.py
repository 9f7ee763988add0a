"""Which ledger and which cold store a path or URL means."""

from dataclasses import replace
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from anchorhold_reference import cold
from anchorhold_reference.errors import MissingExtraError
from anchorhold_reference.ledger import Ledger
from anchorhold_reference.stores.directory import DirectoryStore
from anchorhold_reference.stores.outer import ColdStore
from anchorhold_reference.stores.sqlite import SqliteFile, SqliteLedger


class OpenLedger(Protocol):
    """Opens a ledger: what `open_ledger` does, for who wants to have it opened otherwise."""

    def __call__(
        self, where: str | Path | SqliteFile, *, scope: str, cold_store: str | Path | ColdStore | None = None
    ) -> Ledger:
        """See `open_ledger`."""


def settled(where: str | Path | SqliteFile) -> str | Path | SqliteFile:
    """The same place, whatever directory the process is in later: what is opened again, or forked, is to be the same
    database, and not another one beside a relative path."""
    if isinstance(where, SqliteFile):
        return replace(where, path=where.path.absolute())
    if isinstance(where, str) and ("://" in where or where in {"", ":memory:"}):
        return where
    return Path(where).absolute()


def open_ledger(
    where: str | Path | SqliteFile, *, scope: str, cold_store: str | Path | ColdStore | None = None
) -> Ledger:
    """Open the ledger at a path, `sqlite:///path` or `postgresql://user@host/database?schema=name`.

    `scope` names what will be written, as in `PostgresLedger`; `cold_store` is as in `open_cold_store`. Raises
    `ForeignStoreError` where something else is there, `MissingExtraError` where the driver is not installed,
    `ValueError` for a URL that means none of them.
    """
    ledger = _ledger(where, scope, open_cold_store(cold_store))
    try:
        cold.attach(ledger)
    except BaseException:
        ledger.close()
        raise
    return ledger


def settled_store(where: str | Path) -> str | Path:
    """`settled`, of a cold store in a directory."""
    return where if isinstance(where, str) and "://" in where else Path(where).absolute()


def _ledger(where: str | Path | SqliteFile, scope: str, outer: ColdStore | None) -> Ledger:
    if isinstance(where, SqliteFile):
        return SqliteLedger(where.path, outer=outer, connect=where.connect)
    if isinstance(where, Path):
        return SqliteLedger(where, outer=outer)
    scheme = urlsplit(where).scheme if "://" in where else ""
    if scheme in {"postgresql", "postgres"}:
        try:
            from anchorhold_reference.stores.postgres import PostgresLedger
        except ImportError as error:
            raise MissingExtraError("a ledger in PostgreSQL", extra="postgres") from error
        return PostgresLedger(where, scope=scope, outer=outer)
    if scheme == "sqlite":
        return SqliteLedger(Path(unquote(urlsplit(where).path)), outer=outer)
    if scheme:
        raise ValueError(f"no ledger has a URL of {scheme}://; give a path, sqlite:// or postgresql://")
    return SqliteLedger(Path(where), outer=outer)


def open_cold_store(where: str | Path | ColdStore | None) -> ColdStore | None:
    """The cold store at a path, `file:///path`, or a URL of an object store (`s3://bucket/prefix`, `gs://`, `az://`,
    `memory:///`); none: originals stay in the ledger.

    Raises `StoreError` where it cannot be used, `MissingExtraError` where what it needs is not installed.
    """
    if where is None or not isinstance(where, str | Path):
        return where
    if isinstance(where, Path) or "://" not in where:
        return DirectoryStore(Path(where))
    if urlsplit(where).scheme == "file":
        return DirectoryStore(Path(unquote(urlsplit(where).path)))
    try:
        from anchorhold_reference.stores.objects import ObjectStore
    except ImportError as error:
        raise MissingExtraError("a cold store in an object store", extra="objects") from error
    return ObjectStore.open(where)
