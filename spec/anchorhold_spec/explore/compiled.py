"""Generated code, compiled, with the arrays that it works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anchorhold_spec.explore.layout import Packed
from anchorhold_spec.explore.load import load_compiled
from anchorhold_spec.explore.prepare import Prepared
from anchorhold_spec.explore.store import Ints


class CompiledCode:
    """See `Code`. Raises ImportError without numba."""

    def __init__(self, prepared: Prepared, *, sense: int = 1) -> None:
        self.module, self.storage = load_compiled(prepared.source)
        self.prepared = prepared
        self.sense = sense
        """1: an orbit's least state stands for it, -1: its greatest. Either has to give as many orbits."""
        self.words = prepared.layout.words
        self._bench = Bench.make(prepared)

    def steps(self, packed: Packed) -> Sequence[tuple[int, Packed]]:
        """See `Code`."""
        bench = self._bench
        n = self.module.successors(
            self.row(packed), 0, bench.settings, bench.out, bench.label, bench.cover, bench.flags
        )
        return [(int(bench.label[i]), tuple(int(word) for word in bench.out[i])) for i in range(n)]

    def canonical(self, packed: Packed) -> Packed:
        """See `Code`."""
        row = self.row(packed)
        self.module.represent(row, 1, self.sense, self._bench.work)
        return tuple(int(word) for word in row[0])

    def warm_up(self) -> None:
        """Has everything compiled, or read from disk, that a search needs: so that its speed can be told."""
        from anchorhold_spec.explore.search import Search

        Search(self.prepared, self, threads=1, memory=100_000_000, keep_going=True).look_around()
        empty = np.full((2, self.storage.SLOT), -1, dtype=np.int64)
        self.storage.enlarge(empty, empty)

    def row(self, packed: Packed) -> Ints:
        """A state as an array of one row."""
        return np.array([packed], dtype=np.int64)


@dataclass
class Bench:
    """What one thread works on."""

    settings: Ints
    out: Ints
    label: Ints
    cover: Ints
    flags: Ints
    work: Ints
    first: Ints
    totals: Ints
    buffer: Ints
    """Successors for each region, of all partitions one after the other: regions × rows × words."""
    fill: Ints
    """How many there are for each region."""

    @classmethod
    def make(cls, prepared: Prepared, buffer: Ints | None = None, fill: Ints | None = None) -> Bench:
        """Without buffers for routing where none are given."""
        source = prepared.source
        properties = len(source.config.properties)
        return cls(
            settings=np.array([*prepared.settings, 0], dtype=np.int64),
            out=np.empty((source.successors, source.layout.words), dtype=np.int64),
            label=np.empty(source.successors, dtype=np.int64),
            cover=np.zeros(len(source.order) + 1, dtype=np.int64),
            flags=np.zeros(properties + 1, dtype=np.int64),
            work=np.zeros(source.scratch, dtype=np.int64),
            first=np.full(properties + 1, -1, dtype=np.int64),
            totals=np.zeros(2, dtype=np.int64),
            buffer=np.empty((0, 0, source.layout.words), dtype=np.int64) if buffer is None else buffer,
            fill=np.zeros(0, dtype=np.int64) if fill is None else fill,
        )
