"""Tables that hold the states themselves, for states of few words: one place in memory to wait for, not two.

A template, see `storage_kernels`.
"""

from __future__ import annotations

from typing import Any

from anchorhold_spec.explore.jit import no_prefetch as prefetch
from anchorhold_spec.explore.jit import plain as inner
from anchorhold_spec.explore.jit import plain as jit
from anchorhold_spec.explore.storage_kernels import BATCH, finger, mix

WORDS = 1

# ---- below this line: copied, with `jit` and everything above defined by the generated module

SLOT = WORDS
"""Words of a slot; a state's words are never negative, and -1 is empty."""


@jit
def insert(states: Any, count: int, table: Any, rows: Any, start: int, stop: int, limit: int, work: Any) -> int:
    """Adds the rows that are new, in order. Leaves in work[0, 0] where it stopped; gives the new count.

    It stops before `stop` when there might be more than `limit` states. The slots of a batch are fetched before any
    is compared: so that the memory is waited for once, not once each.
    """
    mask = table.shape[0] - 1
    i = start
    while i < stop and count + BATCH <= limit:
        size = min(BATCH, stop - i)
        for j in range(size):
            at = finger(mix(rows, i + j)) & mask
            work[1, j] = at
            prefetch(table, at * WORDS)
        for j in range(size):
            at = work[1, j]
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
    work[0, 0] = i
    return count


@inner
def put(table: Any, rows: Any, i: int) -> None:
    """Enters a row that is not in the table."""
    mask = table.shape[0] - 1
    at = finger(mix(rows, i)) & mask
    while table[at, 0] >= 0:
        at = (at + 1) & mask
    for w in range(WORDS):
        table[at, w] = rows[i, w]


@jit
def enlarge(old: Any, new: Any) -> None:
    """Moves all slots to an empty larger table."""
    for i in range(old.shape[0]):
        if old[i, 0] >= 0:
            put(new, old, i)


@jit
def enter(states: Any, count: int, table: Any) -> None:
    """Enters states that are known to be different into an empty table."""
    for row in range(count):
        put(table, states, row)
