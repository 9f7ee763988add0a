"""Whole numbers kept under names, for very many names: under 40 bytes each, names included.

A name is kept as its 64-bit digest. Two of ten million names have the same one once in three hundred thousand
histories; what is known of the one is then said of the other.
"""

from array import array
from struct import Struct
from typing import Final

MASK: Final = 0xFFFF_FFFF_FFFF_FFFF
FULL: Final = 0.75
"""Share of the slots that may be taken."""
GROWTH: Final = 1.5


class Packed:
    """An open-addressing table in arrays; rows are added and overwritten, and never taken out."""

    def __init__(self, columns: str) -> None:
        """`columns`: the type code that `struct` has for each number of a row."""
        self._slots = array("I", bytes(4 * 64))
        self._digests = array("Q")
        self._row = Struct("=" + columns)
        self._rows = array("B")

    def __len__(self) -> int:
        return len(self._digests)

    def get(self, name: str) -> tuple[int, ...] | None:
        """The row of a name, where it has one."""
        row = self._slots[self._slot(hash(name) & MASK)]
        return self._row.unpack_from(self._rows, (row - 1) * self._row.size) if row else None

    def put(self, name: str, *row: int) -> None:
        """Give a name a row. Raises struct.error where a number is out of its column's range."""
        if not self.add(name, *row):
            at = self._slots[self._slot(hash(name) & MASK)]
            self._row.pack_into(self._rows, (at - 1) * self._row.size, *row)

    def add(self, name: str, *row: int) -> bool:
        """Give a name a row, unless it has one: whether it had none. Raises as `put`."""
        digest = hash(name) & MASK
        slot = self._slot(digest)
        if self._slots[slot]:
            return False
        self._rows.frombytes(self._row.pack(*row))
        self._digests.append(digest)
        number = self._slots[slot] = len(self._digests)
        if number > FULL * len(self._slots):
            self._grow()
        return True

    def _slot(self, digest: int) -> int:
        """The slot in which a digest is, or would be."""
        slots, digests = self._slots, self._digests
        size = len(slots)
        slot = digest % size
        while (row := slots[slot]) and digests[row - 1] != digest:
            slot = slot + 1 if slot + 1 < size else 0
        return slot

    def _grow(self) -> None:
        size = int(len(self._slots) * GROWTH) | 1
        # Let go of the old ones first: they hold nothing that the digests do not say.
        self._slots = array("I", [0])
        slots = array("I", bytes(4 * size))
        for row, digest in enumerate(self._digests, start=1):
            slot = digest % size
            while slots[slot]:
                slot = slot + 1 if slot + 1 < size else 0
            slots[slot] = row
        self._slots = slots
