"""The compiled search: breadth first, layer by layer, on several threads.

A layer is worked through in rounds. First every thread expands states and routes what comes of them to buffers, one
for each region of each partition's table; then every partition is owned by one thread, which adds what is new, region
by region. No parent pointers are
kept: a counterexample is found by going back layer by layer, looking for a state with a step to the one at hand.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from anchorhold_spec.explore.compiled import Bench, CompiledCode
from anchorhold_spec.explore.found import Found, Path, Snapshot, Watcher
from anchorhold_spec.explore.layout import Packed
from anchorhold_spec.explore.prepare import Prepared
from anchorhold_spec.explore.store import Allowance, Ints, OutOfMemory, Partition

T = TypeVar("T")

PARTITIONS = 16
REGIONS = 6
"""Bits of a hash that choose a region of a partition's table, at most. There is a cache line being filled for each
region of each partition: more of them than this would no longer fit into a processor's own cache."""
CHUNK = 8192
"""Rows that a thread takes at a time."""
BUFFERS = 1 << 25
"""Bytes for the successors that a thread collects before they are added."""
SMALL = 1024
"""A layer of fewer states is not worth waking other threads for."""
ROW = (1 << 40) - 1
"""Bits of a row number where a partition's number stands above it."""


@dataclass(frozen=True)
class Mark:
    """Where a search stood when it began a layer: all that is needed to take it up again from there."""

    counts: tuple[int, ...]
    bounds: tuple[tuple[int, ...], ...]
    hits: dict[str, tuple[int, int]]
    deadlock: tuple[int, int] | None
    totals: tuple[int, ...]
    cover: tuple[int, ...]
    settings: tuple[int, ...]

    @classmethod
    def of(cls, search: Search) -> Mark:
        """The search's present state, between two layers."""
        return cls(
            counts=tuple(partition.count for partition in search.partitions),
            bounds=tuple(tuple(partition.bounds) for partition in search.partitions),
            hits=dict(search.hits),
            deadlock=search.deadlock,
            totals=tuple(sum(int(bench.totals[i]) for bench in search.benches) for i in range(2)),
            cover=search.cover,
            settings=tuple(search.benches[0].settings.tolist()),
        )


class Search:
    """One search; it can be written to a file and taken up again from the beginning of the last layer."""

    def __init__(
        self,
        prepared: Prepared,
        code: CompiledCode,
        *,
        threads: int,
        memory: int,
        keep_going: bool = False,
        limit: int | None = None,
        watcher: Watcher | None = None,
        between: Callable[[Search], None] | None = None,
    ) -> None:
        self.prepared = prepared
        self.code = code
        self.threads = threads
        self.memory = memory
        self.keep_going = keep_going
        self.limit = limit
        self._watcher = watcher
        self._between = between
        words = prepared.layout.words
        rows = max(memory // (8 * words) // PARTITIONS, 4096)
        self.partitions = [Partition(code.storage, words, rows=rows, slots=1024) for _ in range(PARTITIONS)]
        self._bits, collected = regions(words, prepared.source.successors, min(BUFFERS, memory // (16 * threads)))
        count = PARTITIONS << self._bits
        self._buffer: Ints = np.empty((threads, count, collected, words), dtype=np.int64)
        self._fill: Ints = np.zeros((threads, count), dtype=np.int64)
        self.benches = [Bench.make(prepared, self._buffer[t], self._fill[t]) for t in range(threads)]
        self.allowance = Allowance(memory)
        self.hits: dict[str, tuple[int, int]] = {}
        """Partition and row of the first state for each property that was broken or met."""
        self.deadlock: tuple[int, int] | None = None
        self.mark: Mark | None = None

    # Figures

    @property
    def states(self) -> int:
        """How many were found."""
        return sum(partition.count for partition in self.partitions)

    @property
    def transitions(self) -> int:
        """How many steps were taken."""
        return sum(int(bench.totals[0]) for bench in self.benches)

    @property
    def cover(self) -> tuple[int, ...]:
        """How often each action happened, in the order of the generated code."""
        actions = len(self.prepared.source.order)
        return tuple(sum(int(bench.cover[i]) for bench in self.benches) for i in range(actions))

    @property
    def depth(self) -> int:
        """Of the last layer that has states."""
        return len(self.layers) - 1

    @property
    def layers(self) -> tuple[int, ...]:
        """How many states each layer has."""
        ends = [[*partition.bounds, partition.count] for partition in self.partitions]
        sizes = [sum(end[i + 1] - end[i] for end in ends) for i in range(len(ends[0]) - 1)]
        while sizes and not sizes[-1]:
            sizes.pop()
        return tuple(sizes)

    @property
    def used(self) -> int:
        """Bytes in use."""
        fixed = sum(bench.buffer.nbytes + bench.out.nbytes for bench in self.benches)
        return fixed + sum(partition.memory for partition in self.partitions)

    # Running

    def run(self) -> Found:
        """Goes on until everything was seen, a property is broken, or a limit is met."""
        stopped: str | None = None
        pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        try:
            if self.mark is None:
                self._begin()
            while any(partition.count > partition.bounds[-1] for partition in self.partitions):
                self.mark = Mark.of(self)
                if self._between is not None:
                    self._between(self)
                self._layer(pool)
                if self._broken(self._violable()):
                    break
        except OutOfMemory as problem:
            stopped = str(problem)
        except _TooMany as problem:
            stopped = str(problem)
        finally:
            if pool is not None:
                pool.shutdown()
        complete = stopped is None and not self._broken(self._violable())
        if complete and self.prepared.machine.progress:
            from anchorhold_spec.explore.progress import settle

            settle(self)
        return self._found(stopped, complete)

    def look_around(self) -> None:
        """Expands the first states and nothing more."""
        self._begin()
        self._layer(None)

    def _begin(self) -> None:
        first = np.array(self.prepared.start, dtype=np.int64)
        bench = self.benches[0]
        self.code.module.represent(first, first.shape[0], self.code.sense, bench.work)
        for row in range(first.shape[0]):
            home = int(self.code.storage.mix(first, row)) & (PARTITIONS - 1)
            alone = first[row].reshape(1, 1, 1, -1).copy()
            self.partitions[home].add(alone, np.ones((1, 1), dtype=np.int64), range(1), self.allowance)

    def _violable(self) -> set[str]:
        machine = self.prepared.machine
        return {each.name for each in machine.invariants} | {each.name for each in machine.transitions}

    def _broken(self, names: Iterable[str]) -> bool:
        return not self.keep_going and any(name in self.hits for name in names)

    def _layer(self, pool: ThreadPoolExecutor | None) -> None:
        work: deque[tuple[int, int, int]] = deque()
        size = 0
        for p, partition in enumerate(self.partitions):
            lo, hi = partition.bounds[-1], partition.count
            size += hi - lo
            work.extend((p, at, min(at + CHUNK, hi)) for at in range(lo, hi, CHUNK))
            partition.bounds.append(hi)
        if size < SMALL:
            pool = None
        invariants = {each.name for each in self.prepared.machine.invariants}
        while work:
            self._round(pool, work)
            self._collect()
            if self._watcher is not None:
                left = sum(hi - lo for _, lo, hi in work)
                self._watcher(Snapshot(self.states, self.transitions, self.depth, left, size, self.used))
            if self._broken(invariants):
                return
            if self.limit is not None and self.states > self.limit:
                raise _TooMany(f"more than {self.limit:,} states")

    def _round(self, pool: ThreadPoolExecutor | None, work: deque[tuple[int, int, int]]) -> None:
        def route(t: int) -> None:
            bench = self.benches[t]
            while True:
                try:
                    p, lo, hi = work.popleft()
                except IndexError:
                    return
                stop = self._expand(bench, p, lo, hi)
                if stop < hi:
                    work.appendleft((p, stop, hi))
                    return

        def add(t: int) -> None:
            for p in range(t, PARTITIONS, workers):
                own = range(p << self._bits, (p + 1) << self._bits)
                self.partitions[p].add(self._buffer, self._fill, own, self.allowance)

        workers = self.threads if pool is not None else 1
        _all(pool, route, workers)
        self.allowance.begin(self.used)
        if self.used > self.memory:
            raise OutOfMemory(f"out of memory: {self.used / 1e9:.2f} GB in use, the limit")
        _all(pool, add, workers)
        self._fill[:] = 0

    def _expand(self, bench: Bench, p: int, lo: int, hi: int) -> int:
        return int(
            self.code.module.expand(
                self.partitions[p].states,
                lo,
                hi,
                p << 40,
                bench.settings,
                bench.out,
                bench.label,
                bench.cover,
                bench.flags,
                bench.first,
                bench.totals,
                bench.buffer,
                bench.fill,
                self._bits,
                self.code.sense,
                bench.work,
            )
        )

    def _collect(self) -> None:
        """Takes what the threads have seen; a property that was seen is no longer looked at."""
        config = self.prepared.source.config
        for bench in self.benches:
            if bench.first.max() < 0:
                continue
            for i, at in enumerate(bench.first.tolist()):
                if at < 0:
                    continue
                place = (at >> 40, at & ROW)
                if i == len(config.properties):
                    self.deadlock = self.deadlock or place
                    continue
                name = config.properties[i]
                self.hits.setdefault(name, place)
                for each in self.benches:
                    each.settings[:-1] = config.unwatch(each.settings[:-1].tolist(), name)
            bench.first[: len(config.properties)] = -1

    # Going back

    def path(self, place: tuple[int, int]) -> Path:
        """A shortest path to a state."""
        p, row = place
        partition = self.partitions[p]
        bounds = [*partition.bounds, partition.count]
        layer = next(i for i in range(len(bounds) - 1) if bounds[i] <= row < bounds[i + 1])
        bench = Bench.make(self.prepared)
        target = partition.states[row : row + 1].copy()
        path = [_packed(target)]
        for before in range(layer - 1, -1, -1):
            target = self._parent(before, target, bench)
            path.append(_packed(target))
        return tuple(reversed(path))

    def _parent(self, layer: int, target: Ints, bench: Bench) -> Ints:
        for partition in self.partitions:
            row = self.code.module.find_parent(
                partition.states,
                partition.bounds[layer],
                [*partition.bounds, partition.count][layer + 1],
                target,
                bench.settings,
                bench.out,
                bench.label,
                bench.cover,
                bench.flags,
                self.code.sense,
                bench.work,
            )
            if row >= 0:
                return partition.states[row : row + 1].copy()
        raise AssertionError("every state but the first ones was found by a step from the layer before")

    def _found(self, stopped: str | None, complete: bool) -> Found:
        return Found(
            states=self.states,
            transitions=self.transitions,
            depth=self.depth,
            layers=self.layers,
            stopped=stopped,
            complete=complete,
            fired=dict(zip(self.prepared.source.order, self.cover, strict=True)),
            hits={name: self.path(place) for name, place in self.hits.items()},
            deadlocks=sum(int(bench.totals[1]) for bench in self.benches),
            deadlock=None if self.deadlock is None else self.path(self.deadlock),
        )


def regions(words: int, successors: int, size: int) -> tuple[int, int]:
    """How many bits of a hash choose a region of a partition's table, and how many rows are collected for one.

    `size` is in bytes, for all regions of all partitions; it is exceeded only where a state has so many successors
    that a buffer for one partition has to be larger. Room for one state's successors stays unused in each buffer: so
    there are fewer regions where that would be more than a quarter.
    """
    bits = REGIONS
    while bits and (size // (8 * words) >> bits) // PARTITIONS < 4 * successors:
        bits -= 1
    # Odd, so that the rows that are being filled do not all compete for the same few lines of a cache.
    return bits, max((size // (8 * words) >> bits) // PARTITIONS, 2 * successors) | 1


class _TooMany(Exception):  # noqa: N818
    pass


def _packed(row: Ints) -> Packed:
    return tuple(int(word) for word in row[0])


def _all(pool: ThreadPoolExecutor | None, task: Callable[[int], T], workers: int) -> list[T]:
    if pool is None:
        return [task(0)]
    return list(pool.map(task, range(workers)))
