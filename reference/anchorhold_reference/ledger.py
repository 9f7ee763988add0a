"""The ledger: what the rest of the package asks of the database, whichever it is.

A transaction is durable when it ends (CRA-3), so "durable before the next" means "committed before the next"
(PTR-1); what is checked inside one cannot change before it is acted on (ANC-3). `stores.open_ledger` chooses the
database; `stores.sqlite` and `stores.postgres` are those there are.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

from anchorhold_reference.stores.outer import ColdStore

Row: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What the databases do not agree on. Everything else in a statement is the same for all of them: parameters
    are written `?`, or `?1` where one is used twice, and translated where the driver wants something else."""

    name: str
    """`sqlite` or `postgresql`."""
    levelled: str
    """The text within bytes, in lower case as far as it is ASCII; `{}` stands for the column."""


class Ledger(Protocol):
    """One connection. Safe for the threads of one process: each operation holds a lock while it touches the
    database. Every operation raises `LedgerError` where the database fails, `ClosedError` after `close`."""

    @property
    def issuer(self) -> bytes:
        """Eight random bytes that tell this opening from every other (EPO-2)."""
        ...

    @property
    def outer(self) -> ColdStore | None:
        """The cold store outside; none: originals lie in the ledger itself."""
        ...

    @property
    def dialect(self) -> Dialect:
        """What has to be written differently for this database."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing, durable at the end. No other writer of the same scope comes between its statements
        (ANC-3, CON-2)."""
        ...

    def reading(self) -> AbstractContextManager[None]:
        """One consistent view over several reads; takes part in a transaction that is open already."""
        ...

    def run(self, statement: str, parameters: Sequence[object] = ()) -> int:
        """Execute, and answer with how many rows changed."""
        ...

    def insert(self, statement: str, parameters: Sequence[object]) -> int:
        """Insert one row into a table that has a column `id`, and answer with its id."""
        ...

    def many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Execute once a row."""
        ...

    def all(self, query: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Every row of a query."""
        ...

    def first(self, query: str, parameters: Sequence[object] = ()) -> Row | None:
        """The first row of a query, where there is one."""
        ...

    def one(self, query: str, parameters: Sequence[object] = ()) -> Row:
        """The row of a query that always has one."""
        ...

    def alive(self, opening: bytes) -> bool:
        """Whether the opening of the store that has this mark as its `issuer` is open still, in whatever process: so
        that recovery undoes what the dead left behind, and nothing of the living (CRA-2)."""
        ...

    def scrub(self) -> bool:
        """Leave no trace of what was deleted in the database's pages and log (ERA-1); false where another connection
        still needs an older state, to be done again later. Outside a transaction."""
        ...

    def files(self) -> list[Path]:
        """Every file that holds state of this database or lies beside it, as far as it can be seen from here."""
        ...

    def close(self) -> None:
        """Let go of the database; what was not committed is gone, as after a crash. May be called again."""
        ...


AT_A_TIME = 500
"""Parameters of one statement."""
_T = TypeVar("_T")


def batched(values: Sequence[_T], size: int = AT_A_TIME) -> Iterator[Sequence[_T]]:
    """Values in parts that one statement takes as its parameters."""
    for at in range(0, len(values), size):
        yield values[at : at + size]


def marks(values: Sequence[object]) -> str:
    """As many parameters as there are values, for `IN (…)`; `NULL` where there is none, which nothing is in."""
    return ", ".join("?" * len(values)) or "NULL"
