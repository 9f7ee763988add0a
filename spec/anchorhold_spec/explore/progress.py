"""Progress: from every state where something is pending, an end can be reached without faults.

No edges are kept. States from which the goal can be reached are marked by going through all of them, last first,
looking for a step to something marked, until nothing changes: steps mostly lead to later layers, so that few rounds
are needed.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from anchorhold_spec.explore.compiled import Bench
from anchorhold_spec.explore.store import FULL, Ints, OutOfMemory

if TYPE_CHECKING:
    from anchorhold_spec.explore.search import Search


def settle(search: Search) -> None:
    """Adds to the search's hits a state for each progress property that is broken, one nearest to the first."""
    module, storage = search.code.module, search.code.storage
    states, places = _in_order(search)
    count = states.shape[0]
    slots = 1024
    while slots * FULL <= count:
        slots *= 2
    table: Ints = np.full(slots, -1, dtype=np.int64)
    storage.index(states, count, table)
    benches = [Bench.make(search.prepared) for _ in range(search.threads)]
    edges = np.linspace(0, count, search.threads + 1).astype(int).tolist()
    for which, progress in enumerate(search.prepared.machine.progress):
        marks = np.zeros(count, dtype=np.int8)
        module.mark_goals(which, states, 0, count, marks, benches[0].settings)

        def sweep(t: int, marks: np.ndarray[tuple[int], np.dtype[np.int8]] = marks) -> int:
            # Threads read marks that others are setting; a mark that is missed is found in the next round.
            bench = benches[t]
            return int(
                module.sweep(
                    states,
                    edges[t],
                    edges[t + 1],
                    table,
                    marks,
                    bench.settings,
                    bench.out,
                    bench.label,
                    bench.cover,
                    bench.flags,
                    search.code.sense,
                    bench.work,
                )
            )

        with ThreadPoolExecutor(search.threads) as pool:
            while any(list(pool.map(sweep, range(search.threads)))):
                pass
        stuck = int(module.first_stuck(which, states, count, marks, benches[0].settings))
        if stuck >= 0:
            p = int(np.searchsorted(places[:, 0], stuck, side="right")) - 1
            search.hits[progress.name] = (int(places[p, 1]), int(places[p, 2]) + stuck - int(places[p, 0]))


def _in_order(search: Search) -> tuple[Ints, Ints]:
    """All states, layer after layer; and for each run of them: where it begins, its partition, its first row."""
    extra = search.states * 8 * (search.code.words + 2)
    if search.used + extra > search.memory:
        raise OutOfMemory(
            f"out of memory: {extra / 1e9:.2f} GB needed for progress besides {search.used / 1e9:.2f} GB"
        )
    pieces: list[Ints] = []
    places: list[tuple[int, int, int]] = []
    start = 0
    for layer in range(len(search.layers)):
        for p, partition in enumerate(search.partitions):
            lo, hi = partition.bounds[layer], [*partition.bounds, partition.count][layer + 1]
            if hi > lo:
                pieces.append(partition.states[lo:hi])
                places.append((start, p, lo))
                start += hi - lo
    return np.concatenate(pieces), np.array(places, dtype=np.int64)
