"""Hashing of packed states, and looking them up. A template: what stands below the line is copied into modules.

A slot of a table of row numbers holds 31 bits of the state's hash and the state's row, or -1. The bits of the hash
also say where the slot belongs, so that a table can be doubled without looking at a single state.

Where it belongs follows from the highest of those bits: states whose hashes begin alike lie together in a table of
any size. Successors are sorted by that beginning before they are looked up (see `region`): so one after the other
is found in a part of the table that is small enough to stay in the processor's cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anchorhold_spec.explore.jit import plain as inner
from anchorhold_spec.explore.jit import plain as jit

WORDS = 1

# ---- below this line: copied, with `jit` and the constants above defined by the generated module

ROW = (1 << 32) - 1
BATCH = 64


A = np.uint64(0x9F83D9ABFB41BD6B)
B = np.uint64(0xDBE0CD19137E2179)
C = np.uint64(0xA545F4914F6CDD1D)
HALF = np.uint64(32)
LAST = np.uint64(29)
TWO = np.uint64(2)


@jit
def mix(rows: Any, i: int) -> Any:
    """Hash of a row, 62 bits.

    Unsigned, because signed numbers are compiled on the promise that they do not overflow: two callers of one
    function have been seen to get different hashes of one row.
    """
    h = np.uint64(rows[i, 0]) * A
    h = h ^ (h >> HALF)
    for w in range(1, WORDS):
        h = (h + np.uint64(rows[i, w])) * B
        h = h ^ (h >> HALF)
    h = h * C
    return np.int64((h ^ (h >> LAST)) >> TWO)


@inner
def finger(h: int) -> int:
    """The 31 bits of a hash that a table keeps; other bits choose the partition."""
    return (h >> 17) & 0x7FFFFFFF


@inner
def region(h: int, partitions: int, bits: int) -> Any:
    """Where a row with this hash is collected: the partition, and which of 2**bits parts of its table."""
    return ((h & (partitions - 1)) << bits) | (finger(h) >> (31 - bits))


@inner
def unused(slots: int) -> int:
    """How many of a hash's bits a table with so many slots leaves aside: what remains says where a state belongs."""
    bits = 31
    while slots > 1:
        slots >>= 1
        bits -= 1
    return bits


@inner
def same(states: Any, row: int, rows: Any, i: int) -> bool:
    """Two rows hold one state."""
    equal = True
    for w in range(WORDS):
        if states[row, w] != rows[i, w]:
            equal = False
    return equal


@inner
def find(table: Any, states: Any, rows: Any, i: int) -> Any:
    """The row of a state that is in a table that `index` made, or -1."""
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
def index(states: Any, count: int, table: Any) -> None:
    """Enters states that are known to be different into an empty table of row numbers."""
    mask = table.shape[0] - 1
    for row in range(count):
        f = finger(mix(states, row))
        at = f & mask
        while table[at] >= 0:
            at = (at + 1) & mask
        table[at] = (f << 32) | row
