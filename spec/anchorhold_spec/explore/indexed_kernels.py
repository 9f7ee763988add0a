"""Tables of row numbers, for states of many words. A template, see `storage_kernels`."""

from __future__ import annotations

from typing import Any

from anchorhold_spec.explore.jit import no_prefetch as prefetch
from anchorhold_spec.explore.jit import plain as jit
from anchorhold_spec.explore.storage_kernels import BATCH, ROW, finger, mix, same, unused

WORDS = 1

# ---- below this line: copied, with `jit` and everything above defined by the generated module

SLOT = 1
"""Words of a slot."""


@jit
def insert(
    states: Any, count: int, table: Any, buffer: Any, fill: Any, last: int, limit: int, place: Any, work: Any
) -> int:
    """Adds the buffered rows that are new; gives the new count.

    `buffer[t, r, i]` is the i-th row that thread t collected for region r, of fill[t, r]. Begins at the region, the
    thread and the row in `place`. Ends at region `last`, or where there might be more than `limit` states, and leaves
    in `place` where that was. The slots and states of a batch are fetched before any is compared: so that the
    memory is waited for once, not once each.
    """
    mask = table.shape[0] - 1
    low = unused(table.shape[0])
    region, thread, i = place[0], place[1], place[2]
    while region < last:
        rows = buffer[thread, region]
        stop = fill[thread, region]
        while i < stop:
            if count + BATCH > limit:
                place[0], place[1], place[2] = region, thread, i
                return count
            size = min(BATCH, stop - i)
            for j in range(size):
                f = finger(mix(rows, i + j))
                work[j] = f
                prefetch(table, f >> low)
            for j in range(size):
                slot = table[work[j] >> low, 0]
                if slot >= 0:
                    prefetch(states, (slot & ROW) * WORDS)
            for j in range(size):
                f = work[j]
                at = f >> low
                while True:
                    slot = table[at, 0]
                    if slot < 0:
                        for w in range(WORDS):
                            states[count, w] = rows[i + j, w]
                        table[at, 0] = (f << 32) | count
                        count += 1
                        break
                    if (slot >> 32) == f and same(states, slot & ROW, rows, i + j):
                        break
                    at = (at + 1) & mask
            i += size
        i = 0
        thread += 1
        if thread == buffer.shape[0]:
            thread = 0
            region += 1
    place[0], place[1], place[2] = region, thread, i
    return count


@jit
def enlarge(old: Any, new: Any) -> None:
    """Moves all slots to an empty larger table."""
    mask = new.shape[0] - 1
    low = unused(new.shape[0])
    for i in range(old.shape[0]):
        slot = old[i, 0]
        if slot >= 0:
            at = (slot >> 32) >> low
            while new[at, 0] >= 0:
                at = (at + 1) & mask
            new[at, 0] = slot


@jit
def enter(states: Any, count: int, table: Any) -> None:
    """Enters states that are known to be different into an empty table."""
    mask = table.shape[0] - 1
    low = unused(table.shape[0])
    for row in range(count):
        f = finger(mix(states, row))
        at = f >> low
        while table[at, 0] >= 0:
            at = (at + 1) & mask
        table[at, 0] = (f << 32) | row
