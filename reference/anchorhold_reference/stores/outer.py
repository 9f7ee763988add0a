"""The cold store outside the ledger: what the bytes of originals can be given to.

Each entry has a key of its own that carries its epoch, and is written once (IDX-1, EPO-2). That an entry is there
counts only after it was read back and the ledger says so; so an entry that was torn by a crash is never read, and one
whose place is known to the ledger can be made again.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol


class ColdStore(Protocol):
    """Bytes under keys. Every operation raises `StoreError` where the store fails."""

    @property
    def where(self) -> str:
        """Which store this is, for messages; without secrets."""
        ...

    def create(self, key: str, payload: bytes) -> bool:
        """Store bytes under a key that is free, durable on return (CRA-3); false, and nothing is changed, where the
        key is taken."""
        ...

    def read(self, key: str) -> bytes | None:
        """The bytes under a key; none where nothing is there."""
        ...

    def files(self) -> Sequence[Path]:
        """Every file that holds entries, as far as it can be seen from here."""
        ...

    def remove(self, key: str) -> None:
        """Leave nothing under a key, durable on return (ERA-1). Nothing there is no error."""
        ...


MARK = "anchorhold-store"
"""The key of the mark by which a ledger knows its store again; see `cold.attach`."""
