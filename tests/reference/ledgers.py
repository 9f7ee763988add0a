"""The databases that the same tests run over, and a way behind the compactor's back into each."""

import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from postgres_server import NOWHERE, programs, server

from anchorhold_reference.stores.postgres import numbered

KINDS = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a server. Where none is installed the tests skip and say so; in CI there has to be one."""
    bin_ = programs()
    if bin_ is None:
        if os.environ.get("CI"):
            pytest.fail(NOWHERE)
        pytest.skip(NOWHERE)
    with server(bin_) as url:
        yield url


class Behind:
    """One ledger, and its rows as they stand, reached past the compactor."""

    def __init__(self, kind: str, where: str | Path) -> None:
        self.kind = kind
        self.where = where

    def _connect(self) -> Any:
        if self.kind == "sqlite":
            return sqlite3.connect(self.where, isolation_level=None)
        url, _, schema = str(self.where).partition("?schema=")
        return psycopg.connect(
            url, autocommit=True, cursor_factory=psycopg.RawCursor, options=f"-c search_path={schema}"
        )

    def query(self, statement: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Execute; the rows, where there are any."""
        connection = self._connect()
        try:
            text = statement if self.kind == "sqlite" else numbered(statement)
            cursor = connection.execute(text, parameters)
            return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def beside(self) -> str | Path:
        """Where another ledger of the same kind can stand."""
        return f"{self.where}_2" if self.kind == "postgresql" else Path(f"{self.where}.2")

    def unlock(self) -> None:
        """Let entries of the cold store be changed, as damage does."""
        self.query("DROP TRIGGER cold_is_immutable" + ("" if self.kind == "sqlite" else " ON cold"))

    def overwrite(self, payload: bytes, *, slot: int) -> None:
        """Put other bytes into a slot."""
        self.unlock()
        self.query("UPDATE cold SET payload = ? WHERE slot = ?", (payload, slot))

    def payload(self, slot: int) -> bytes:
        """What lies in a slot."""
        ((payload,),) = self.query("SELECT payload FROM cold WHERE slot = ?", (slot,))
        return bytes(payload)

    def state(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table, save for the counters."""
        if self.kind == "sqlite":
            names = self.query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        else:
            names = self.query("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        tables = sorted(name for (name,) in names if name not in {"counter", "anchorhold"})
        return {name: sorted(self.query(f'SELECT * FROM "{name}"'), key=repr) for name in tables}


@pytest.fixture(params=KINDS)
def behind(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Behind]:
    """A ledger of each kind in turn; `parametrize("behind", ["sqlite"], indirect=True)` asks for one only."""
    if request.param == "sqlite":
        yield Behind("sqlite", tmp_path / "ledger.db")
        return
    url: str = request.getfixturevalue("postgres")
    schema = f"test_{secrets.token_hex(8)}"
    yield Behind("postgresql", f"{url}?schema={schema}")
    with psycopg.connect(url, autocommit=True) as connection:
        for name in (schema, f"{schema}_2"):
            connection.execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE'.encode())


only_sqlite = pytest.mark.parametrize("behind", ["sqlite"], indirect=True)
"""For what is said of the file itself."""
only_postgresql = pytest.mark.parametrize("behind", ["postgresql"], indirect=True)
"""For what a server does."""
