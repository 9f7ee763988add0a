"""Tables that hold the states themselves, for states of few words: one place in memory to wait for, not two.

A template, see `storage_kernels`.
"""

from __future__ import annotations

from typing import Any

from anchorhold_spec.explore.jit import no_prefetch as prefetch
from anchorhold_spec.explore.jit import plain as inner
from anchorhold_spec.explore.jit import plain as jit
from anchorhold_spec.explore.storage_kernels import BATCH, finger, mix, unused

WORDS = 1

# ---- below this line: copied, with `jit` and everything above defined by the generated module

SLOT = WORDS
"""Words of a slot; a state's words are never negative, and -1 is empty."""


@jit
def insert(
    states: Any, count: int, table: Any, buffer: Any, fill: Any, last: int, limit: int, place: Any, work: Any
) -> int:
    """Adds the buffered rows that are new; gives the new count.

    `buffer[t, r, i]` is the i-th row that thread t collected for region r, of fill[t, r]. Begins at the region, the
    thread and the row in `place`. Ends at region `last`, or where there might be more than `limit` states, and leaves
    in `place` where that was. The slots of a batch are fetched before any is compared: so that the memory is
    waited for once, not once each. Most rows are known, and most of those lie where they belong: they are set aside
    without a branch, which nobody could predict.
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
                at = finger(mix(rows, i + j)) >> low
                work[j] = at
                prefetch(table, at * WORDS)
            left = 0
            for j in range(size):
                at = work[j]
                equal = True
                for w in range(WORDS):
                    if table[at, w] != rows[i + j, w]:
                        equal = False
                work[BATCH + left] = j
                left += 0 if equal else 1
            for each in range(left):
                j = work[BATCH + each]
                at = work[j]
                while True:
                    if table[at, 0] < 0:
                        for w in range(WORDS):
                            states[count, w] = rows[i + j, w]
                            table[at, w] = rows[i + j, w]
                        count += 1
                        break
                    equal = True
                    for w in range(WORDS):
                        if table[at, w] != rows[i + j, w]:
                            equal = False
                    if equal:
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


@inner
def put(table: Any, low: int, rows: Any, i: int) -> None:
    """Enters a row that is not in the table, of whose hash it leaves `low` bits aside."""
    mask = table.shape[0] - 1
    at = finger(mix(rows, i)) >> low
    while table[at, 0] >= 0:
        at = (at + 1) & mask
    for w in range(WORDS):
        table[at, w] = rows[i, w]


@jit
def enlarge(old: Any, new: Any) -> None:
    """Moves all slots to an empty larger table."""
    low = unused(new.shape[0])
    for i in range(old.shape[0]):
        if old[i, 0] >= 0:
            put(new, low, old, i)


@jit
def enter(states: Any, count: int, table: Any) -> None:
    """Enters states that are known to be different into an empty table."""
    low = unused(table.shape[0])
    for row in range(count):
        put(table, low, states, row)
