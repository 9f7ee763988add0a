"""States in partitions: each with its rows, in the order of their discovery, and a hash table over them.

A state's partition follows from its hash. While successors are being routed nobody writes here; while they are
being added each partition is written by one thread only. So there are no locks.

A partition's table has regions: see `storage_kernels.region`. Successors come sorted by region.

The rows are one large piece of memory that is asked for and not touched: what is not used costs nothing, and
growing never copies. The tables double.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

FULL = 0.7
"""How full a table gets before it is doubled."""


class OutOfMemory(Exception):  # noqa: N818
    """The next step would need more than the memory that was allowed."""


class Partition:
    """Rows and table of one partition."""

    def __init__(self, storage: ModuleType, words: int, *, rows: int, slots: int) -> None:
        self._storage = storage
        self.states = _reserve(rows, words)
        self.count = 0
        self.table: Ints = np.full((slots, storage.SLOT), -1, dtype=np.int64)
        self.bounds: list[int] = [0]
        """Where each layer begins."""
        self._work: Ints = np.zeros(2 * storage.BATCH, dtype=np.int64)

    @property
    def memory(self) -> int:
        """Bytes that are in use."""
        return self.count * self.states.strides[0] + self.table.nbytes

    def add(self, buffer: Ints, fill: Ints, regions: range, allowance: Allowance) -> None:
        """Adds the rows that are new. Raises OutOfMemory.

        Args:
            buffer: Rows for the regions of all partitions: threads × regions × rows × words.
            fill: How many there are: threads × regions.
            regions: Those of this partition.
            allowance: What may be used for a larger table.
        """
        place: Ints = np.array([regions.start, 0, 0], dtype=np.int64)
        while True:
            limit = min(int(self.table.shape[0] * FULL), self.states.shape[0])
            self.count = self._storage.insert(
                self.states, self.count, self.table, buffer, fill, regions.stop, limit, place, self._work
            )
            if place[0] >= regions.stop:
                return
            if limit == self.states.shape[0]:
                self._more_rows(allowance)
            else:
                self._more_slots(allowance)

    def rebuild(self) -> None:
        """Makes the table anew from the rows (they were read from a file)."""
        slots = self.table.shape[0]
        while slots * FULL <= self.count + 64:
            slots *= 2
        self.table = np.full((slots, self._storage.SLOT), -1, dtype=np.int64)
        self._storage.enter(self.states, self.count, self.table)

    def _more_slots(self, allowance: Allowance) -> None:
        allowance.claim(2 * self.table.nbytes, "to double a table")
        larger: Ints = np.full((self.table.shape[0] * 2, self._storage.SLOT), -1, dtype=np.int64)
        self._storage.enlarge(self.table, larger)
        allowance.release(self.table.nbytes)
        self.table = larger

    def _more_rows(self, allowance: Allowance) -> None:
        rows, words = self.states.shape
        extra = rows * words * 8
        allowance.claim(extra, "for more states")
        larger = _reserve(rows * 2, words)
        larger[: self.count] = self.states[: self.count]
        allowance.release(extra)
        self.states = larger


class Allowance:
    """The bytes that may be used besides the rows of states, shared by the threads of one search."""

    def __init__(self, allowed: int) -> None:
        self.allowed = allowed
        self.base = 0
        """Bytes in use when a round of adding began; set while no thread is adding."""
        self._claimed = 0

    def begin(self, used: int) -> None:
        """A round begins with so many bytes in use."""
        self.base = used
        self._claimed = 0

    def claim(self, size: int, purpose: str) -> None:
        """Raises OutOfMemory where there is no room. (Approximate under threads, by less than one table.)"""
        if self.base + self._claimed + size > self.allowed:
            raise OutOfMemory(
                f"out of memory: {(self.base + self._claimed) / 1e9:.2f} GB in use and {size / 1e9:.2f} GB more "
                f"needed {purpose}, of {self.allowed / 1e9:.2f} GB allowed"
            )
        self._claimed += size

    def release(self, size: int) -> None:
        """So many bytes are free again."""
        self._claimed -= size


def _reserve(rows: int, words: int) -> Ints:
    while True:
        try:
            return np.empty((rows, words), dtype=np.int64)
        except MemoryError:
            if rows <= 4096:
                raise
            rows //= 2
