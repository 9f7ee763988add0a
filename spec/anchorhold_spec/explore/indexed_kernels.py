"""Tables of row numbers, for states of many words. A template, see `storage_kernels`."""

from __future__ import annotations

from typing import Any

from anchorhold_spec.explore.jit import no_prefetch as prefetch
from anchorhold_spec.explore.jit import plain as jit
from anchorhold_spec.explore.storage_kernels import BATCH, ROW, finger, mix, same

WORDS = 1

# ---- below this line: copied, with `jit` and everything above defined by the generated module

SLOT = 1
"""Words of a slot."""


@jit
def insert(states: Any, count: int, table: Any, rows: Any, start: int, stop: int, limit: int, work: Any) -> int:
    """Adds the rows that are new, in order. Leaves in work[0, 0] where it stopped; gives the new count.

    It stops before `stop` when there might be more than `limit` states. The slots and states of a batch are fetched
    before any is compared: so that the memory is waited for once, not once each.
    """
    mask = table.shape[0] - 1
    i = start
    while i < stop and count + BATCH <= limit:
        size = min(BATCH, stop - i)
        for j in range(size):
            f = finger(mix(rows, i + j))
            work[1, j] = f
            prefetch(table, f & mask)
        for j in range(size):
            slot = table[work[1, j] & mask, 0]
            if slot >= 0:
                prefetch(states, (slot & ROW) * WORDS)
        for j in range(size):
            f = work[1, j]
            at = f & mask
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
    work[0, 0] = i
    return count


@jit
def enlarge(old: Any, new: Any) -> None:
    """Moves all slots to an empty larger table."""
    mask = new.shape[0] - 1
    for i in range(old.shape[0]):
        slot = old[i, 0]
        if slot >= 0:
            at = (slot >> 32) & mask
            while new[at, 0] >= 0:
                at = (at + 1) & mask
            new[at, 0] = slot


@jit
def enter(states: Any, count: int, table: Any) -> None:
    """Enters states that are known to be different into an empty table."""
    mask = table.shape[0] - 1
    for row in range(count):
        f = finger(mix(states, row))
        at = f & mask
        while table[at, 0] >= 0:
            at = (at + 1) & mask
        table[at, 0] = (f << 32) | row
