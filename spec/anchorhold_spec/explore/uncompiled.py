"""The search with generated code that is not compiled: slow, and everything in it can be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from anchorhold_spec.explore.found import Found, Path, Snapshot, Watcher
from anchorhold_spec.explore.layout import Packed
from anchorhold_spec.explore.load import load_plain
from anchorhold_spec.explore.prepare import Prepared

Grid = dict[tuple[int, int], int]
"""What stands for an array of rows."""


class PlainCode:
    """See `Code`."""

    def __init__(self, prepared: Prepared) -> None:
        self.module: ModuleType = load_plain(prepared.source)
        self.settings = list(prepared.settings)
        self._words = prepared.layout.words
        self.cover = [0] * (len(prepared.source.order) + 1)
        self.flags = [0] * (len(prepared.source.config.properties) + 1)

    def row(self, packed: Packed) -> Grid:
        """A state as a row."""
        return {(0, word): value for word, value in enumerate(packed)}

    def steps(self, packed: Packed) -> Sequence[tuple[int, Packed]]:
        """See `Code`."""
        out: Grid = {}
        label: dict[int, int] = {}
        n = self.module.successors(self.row(packed), 0, self.settings, out, label, self.cover, self.flags)
        words = range(self._words)
        return [(label[i], tuple(out[i, word] for word in words)) for i in range(n)]

    def canonical(self, packed: Packed) -> Packed:
        """See `Code`."""
        return self.extreme(packed, 1)

    def extreme(self, packed: Packed, sense: int) -> Packed:
        """The least (`sense` 1) or greatest (-1) state of the orbit, as the code compares them."""
        row = self.row(packed)
        work: dict[tuple[int, int], int] = {}
        self.module.canonical(row, 0, sense, work)
        return tuple(row[0, word] for word in range(self._words))

    def look(self, packed: Packed) -> None:
        """Raises the flags of properties that are broken or met here."""
        self.module.check(self.row(packed), 0, self.settings, self.flags)

    def holds(self, function: str, packed: Packed, *which: int) -> bool:
        """A formula of the machine: `may_rest`, or `trigger` and `goal` of the which-th progress property."""
        call: Any = getattr(self.module, function)
        return bool(call(*which, self.row(packed), 0, self.settings))


def search(
    prepared: Prepared,
    code: PlainCode,
    *,
    keep_going: bool = False,
    limit: int | None = None,
    watcher: Watcher | None = None,
) -> Found:
    """Breadth first. `limit`: most states. See `explore` for the rest."""
    return _Search(prepared, code, keep_going=keep_going, limit=limit, watcher=watcher).run()


class _Search:
    def __init__(
        self,
        prepared: Prepared,
        code: PlainCode,
        *,
        keep_going: bool,
        limit: int | None,
        watcher: Watcher | None,
    ) -> None:
        self.prepared = prepared
        self.code = code
        self.keep_going = keep_going
        self.limit = limit
        self.watcher = watcher
        self.rows: list[Packed] = []
        self.known: dict[Packed, int] = {}
        self.parents: list[int] = []
        self.hits: dict[str, int] = {}
        self.edges: list[list[int]] = []
        """Where steps that are no faults lead, for progress."""
        self.transitions = 0
        self.deadlocks = 0
        self.deadlock: int | None = None
        self.layers: list[int] = []

    def run(self) -> Found:
        for start in self.prepared.start:
            self._add(self.code.canonical(start), -1)
        lo, stopped = 0, None
        machine = self.prepared.machine
        invariants = {each.name for each in machine.invariants}
        broken = invariants | {each.name for each in machine.transitions}
        while lo < len(self.rows) and stopped is None:
            hi = len(self.rows)
            self.layers.append(hi - lo)
            for row in range(lo, hi):
                self._expand(row)
                if not self.keep_going and invariants & self.hits.keys():
                    break
                if self.limit is not None and len(self.rows) > self.limit:
                    stopped = f"more than {self.limit:,} states"
                    break
            if not self.keep_going and broken & self.hits.keys():
                break
            lo = hi
            if self.watcher:
                self.watcher(self._snapshot(len(self.rows) - hi))
        complete = stopped is None and (self.keep_going or not broken & self.hits.keys())
        if complete:
            self._settle()
        return Found(
            states=len(self.rows),
            transitions=self.transitions,
            depth=len(self.layers) - 1,
            layers=tuple(self.layers),
            stopped=stopped,
            complete=complete,
            fired=dict(zip(self.prepared.source.order, self.code.cover, strict=False)),
            hits={name: self._path(row) for name, row in self.hits.items()},
            deadlocks=self.deadlocks,
            deadlock=None if self.deadlock is None else self._path(self.deadlock),
        )

    def _add(self, packed: Packed, parent: int) -> int:
        row = self.known.setdefault(packed, len(self.rows))
        if row == len(self.rows):
            self.rows.append(packed)
            self.parents.append(parent)
        return row

    def _expand(self, row: int) -> None:
        code, config = self.code, self.prepared.source.config
        packed = self.rows[row]
        after = code.steps(packed)
        code.look(packed)
        if code.flags[-1]:
            for i, name in enumerate(config.properties):
                if code.flags[i]:
                    self.hits.setdefault(name, row)
            code.flags = [0] * len(code.flags)
        self.transitions += len(after)
        if not code.cover[-1] and not code.holds("may_rest", packed):
            self.deadlocks += 1
            if self.deadlock is None:
                self.deadlock = row
        reached = [self._add(code.canonical(each), row) for _, each in after]
        if self.prepared.machine.progress:
            self.edges.append(reached[: code.cover[-1]])

    def _settle(self) -> None:
        before: list[list[int]] = [[] for _ in self.rows]
        for row, reached in enumerate(self.edges):
            for each in reached:
                before[each].append(row)
        for which, progress in enumerate(self.prepared.machine.progress):
            good = [row for row, packed in enumerate(self.rows) if self.code.holds("goal", packed, which)]
            can = set(good)
            while good:
                for row in before[good.pop()]:
                    if row not in can:
                        can.add(row)
                        good.append(row)
            for row, packed in enumerate(self.rows):
                if row not in can and self.code.holds("trigger", packed, which):
                    self.hits[progress.name] = row
                    break

    def _path(self, row: int) -> Path:
        path = [self.rows[row]]
        while (row := self.parents[row]) >= 0:
            path.append(self.rows[row])
        return tuple(reversed(path))

    def _snapshot(self, frontier: int) -> Snapshot:
        return Snapshot(len(self.rows), self.transitions, len(self.layers) - 1, frontier, frontier, 0)
