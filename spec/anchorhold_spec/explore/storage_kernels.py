"""Hash tables of packed states. A template: what stands below the line is copied into generated modules.

A table slot holds 31 bits of the state's hash and the state's row, or -1. The bits of the hash also say where the
slot belongs, so that a table can be doubled without looking at a single state.
"""

from __future__ import annotations

from typing import Any

from anchorhold_spec.explore.jit import plain as jit

WORDS = 1

# ---- below this line: copied, with `jit` and the constants above defined by the generated module

ROW = (1 << 32) - 1
BATCH = 64


@jit
def mix(rows: Any, i: int) -> int:
    """Hash of a row. All arithmetic wraps at 64 bits."""
    h = rows[i, 0] * 0x1F83D9ABFB41BD6B
    h = h ^ (h >> 32)
    for w in range(1, WORDS):
        h = (h + rows[i, w]) * 0x5BE0CD19137E2179
        h = h ^ (h >> 32)
    h = h * 0x2545F4914F6CDD1D
    return h ^ (h >> 29)


@jit
def finger(h: int) -> int:
    """The 31 bits of a hash that a table keeps; other bits choose the partition."""
    return (h >> 17) & 0x7FFFFFFF


@jit
def same(states: Any, row: int, rows: Any, i: int) -> bool:
    """Two rows hold one state."""
    for w in range(WORDS):
        if states[row, w] != rows[i, w]:
            return False
    return True


@jit
def find(table: Any, states: Any, rows: Any, i: int) -> int:
    """The row of a state that is in the table, or -1."""
    mask = table.shape[0] - 1
    f = finger(mix(rows, i))
    at = f & mask
    while True:
        slot = table[at]
        if slot < 0:
            return -1
        if (slot >> 32) == f and same(states, slot & ROW, rows, i):
            return slot & ROW
        at = (at + 1) & mask


@jit
def insert(states: Any, count: int, table: Any, rows: Any, start: int, stop: int, limit: int, work: Any) -> int:
    """Adds the rows that are new, in order. Leaves in work[0, 0] where it stopped; gives the new count.

    It stops before `stop` when there might be more than `limit` states. Slots and states of a batch are touched
    before any is compared: so that the memory is fetched for all of them at once.
    """
    mask = table.shape[0] - 1
    i = start
    while i < stop and count + BATCH <= limit:
        size = min(BATCH, stop - i)
        for j in range(size):
            f = finger(mix(rows, i + j))
            work[1, j] = f
            work[2, j] = table[f & mask]
        for j in range(size):
            slot = work[2, j]
            if slot >= 0 and (slot >> 32) == work[1, j]:
                work[3, j] = states[slot & ROW, 0]
        for j in range(size):
            f = work[1, j]
            at = f & mask
            while True:
                slot = table[at]
                if slot < 0:
                    for w in range(WORDS):
                        states[count, w] = rows[i + j, w]
                    table[at] = (f << 32) | count
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
        slot = old[i]
        if slot >= 0:
            at = (slot >> 32) & mask
            while new[at] >= 0:
                at = (at + 1) & mask
            new[at] = slot


@jit
def enter(states: Any, count: int, table: Any) -> None:
    """Enters states that are known to be different into an empty table."""
    mask = table.shape[0] - 1
    for row in range(count):
        f = finger(mix(states, row))
        at = f & mask
        while table[at] >= 0:
            at = (at + 1) & mask
        table[at] = (f << 32) | row
