"""Loops over one machine's steps. A template: what stands below the line is copied into generated modules.

The generated module defines the constants and the functions that are only declared here, for its machine.
"""

from __future__ import annotations

from typing import Any

from anchorhold_spec.explore.jit import no_prefetch as prefetch
from anchorhold_spec.explore.jit import plain as inner
from anchorhold_spec.explore.jit import plain as jit
from anchorhold_spec.explore.storage_kernels import find, mix, region

WORDS = 1
ACTIONS = 0
PROPERTIES = 0
SUCCESSORS = 0
SYMMETRIC = False


def successors(src: Any, row: int, cfg: Any, out: Any, label: Any, cover: Any, flags: Any) -> int:
    """Writes all steps from a row; those that are no faults first, their number in cover[ACTIONS]."""
    raise NotImplementedError


def check(src: Any, row: int, cfg: Any, flags: Any) -> None:
    """Raises flags[i] for each watched invariant that is broken and each watched `sometimes` that is met."""
    raise NotImplementedError


def may_rest(src: Any, row: int, cfg: Any) -> bool:
    """It is no deadlock if nothing can happen here."""
    raise NotImplementedError


def trigger(which: int, src: Any, row: int, cfg: Any) -> bool:
    """The trigger of a progress property."""
    raise NotImplementedError


def goal(which: int, src: Any, row: int, cfg: Any) -> bool:
    """The goal of a progress property."""
    raise NotImplementedError


def canonical(rows: Any, i: int, sense: int, work: Any) -> None:
    """Replaces a row by the one that stands for its orbit."""
    raise NotImplementedError


# ---- below this line: copied, with `jit`, the constants and the functions above defined by the generated module

AHEAD = 16
"""Words after a successor that are asked for while it is written: there are too many buffers for the processor to see
that each is written in order."""


@inner
def equal(rows: Any, i: int, others: Any, j: int) -> bool:
    """Two rows hold one state."""
    same = True
    for w in range(WORDS):
        if rows[i, w] != others[j, w]:
            same = False
    return same


@jit
def represent(rows: Any, n: int, sense: int, work: Any) -> None:
    """Makes the first `n` rows canonical."""
    for i in range(n):
        canonical(rows, i, sense, work)


@jit
def expand(
    states: Any,
    lo: int,
    hi: int,
    here: int,
    cfg: Any,
    out: Any,
    label: Any,
    cover: Any,
    flags: Any,
    first: Any,
    totals: Any,
    buffer: Any,
    fill: Any,
    bits: int,
    sense: int,
    work: Any,
) -> int:
    """Looks at rows lo…hi of a partition and routes their successors; gives the row that it stopped before.

    `here` is the partition's number, shifted to where `first` keeps it. Each partition has 2**bits regions, with a
    buffer for each. It stops when a buffer might overflow.
    """
    partitions = fill.shape[0] >> bits
    room = buffer.shape[1] - SUCCESSORS
    top = 0
    for r in range(fill.shape[0]):
        top = max(top, fill[r])
    row = lo
    while row < hi and top <= room:
        n = successors(states, row, cfg, out, label, cover, flags)
        check(states, row, cfg, flags)
        if flags[PROPERTIES] != 0:
            flags[PROPERTIES] = 0
            for i in range(PROPERTIES):
                if flags[i] != 0:
                    flags[i] = 0
                    if first[i] < 0:
                        first[i] = here | row
        totals[0] += n
        if cover[ACTIONS] == 0 and not may_rest(states, row, cfg):
            totals[1] += 1
            if first[PROPERTIES] < 0:
                first[PROPERTIES] = here | row
        for i in range(n):
            if SYMMETRIC:
                canonical(out, i, sense, work)
            if equal(out, i, states, row):
                continue
            r = region(mix(out, i), partitions, bits)
            at = fill[r]
            prefetch(buffer, (r * buffer.shape[1] + at) * WORDS + AHEAD)
            for w in range(WORDS):
                buffer[r, at, w] = out[i, w]
            fill[r] = at + 1
            top = max(top, at + 1)
        row += 1
    return row


@jit
def find_parent(
    states: Any,
    lo: int,
    hi: int,
    target: Any,
    cfg: Any,
    out: Any,
    label: Any,
    cover: Any,
    flags: Any,
    sense: int,
    work: Any,
) -> int:
    """The first of rows lo…hi with a step to the state in target[0]; -1 where there is none."""
    for row in range(lo, hi):
        n = successors(states, row, cfg, out, label, cover, flags)
        for i in range(n):
            if SYMMETRIC:
                canonical(out, i, sense, work)
            if equal(out, i, target, 0):
                return row
    return -1


@jit
def walk(src: Any, rand: Any, path: Any, cfg: Any, out: Any, label: Any, cover: Any, flags: Any) -> int:
    """Random steps from the state in src[0], as many as there are random numbers; gives the number taken.

    It stops where nothing can happen, and in a state in which a flag is raised (or a step from which raises one).
    """
    steps = 0
    while steps <= rand.shape[0]:
        n = successors(src, 0, cfg, out, label, cover, flags)
        check(src, 0, cfg, flags)
        if flags[PROPERTIES] != 0 or n == 0 or steps == rand.shape[0]:
            return steps
        i = rand[steps] % n
        path[steps] = label[i]
        for w in range(WORDS):
            src[0, w] = out[i, w]
        steps += 1
    return steps


@jit
def mark_goals(which: int, states: Any, lo: int, hi: int, marks: Any, cfg: Any) -> None:
    """marks[row] becomes 1 where the goal of a progress property holds."""
    for row in range(lo, hi):
        if goal(which, states, row, cfg):
            marks[row] = 1


@jit
def sweep(
    states: Any,
    lo: int,
    hi: int,
    table: Any,
    marks: Any,
    cfg: Any,
    out: Any,
    label: Any,
    cover: Any,
    flags: Any,
    sense: int,
    work: Any,
) -> int:
    """Marks, last row first, what has a step (no fault) to something marked; gives how many were new."""
    found = 0
    for back in range(hi - lo):
        row = hi - 1 - back
        if marks[row] != 0:
            continue
        successors(states, row, cfg, out, label, cover, flags)
        for i in range(cover[ACTIONS]):
            if SYMMETRIC:
                canonical(out, i, sense, work)
            at = find(table, states, out, i)
            if at >= 0 and marks[at] != 0:
                marks[row] = 1
                found += 1
                break
    return found


@jit
def first_stuck(which: int, states: Any, count: int, marks: Any, cfg: Any) -> int:
    """The first row where the trigger of a progress property holds and no goal can be reached; or -1."""
    for row in range(count):
        if marks[row] == 0 and trigger(which, states, row, cfg):
            return row
    return -1
