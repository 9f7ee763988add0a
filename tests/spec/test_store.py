"""A partition keeps each state once: however successors are buffered, and while its table grows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorhold_spec.explore import indexed_kernels, inline_kernels, storage_kernels
from anchorhold_spec.explore.search import PARTITIONS, REGIONS, regions
from anchorhold_spec.explore.store import Allowance, OutOfMemory, Partition

KERNELS = [pytest.param(each, id=each.__name__.rsplit(".", 1)[1]) for each in (inline_kernels, indexed_kernels)]
"""As they are before they are compiled; for states of one word."""


def buffered(rounds: list[list[int]], *, threads: int, bits: int):
    """The values of each round as threads collect them."""
    for values in rounds:
        buffer = np.zeros((threads, 1 << bits, max(len(values), 1), 1), dtype=np.int64)
        fill = np.zeros((threads, 1 << bits), dtype=np.int64)
        for i, value in enumerate(values):
            t = i % threads
            r = storage_kernels.region(int(storage_kernels.mix(np.array([[value]]), 0)), 1, bits)
            buffer[t, r, fill[t, r], 0] = value
            fill[t, r] += 1
        yield buffer, fill


@pytest.mark.parametrize("kernels", KERNELS)
@given(
    rounds=st.lists(st.lists(st.integers(0, 400), max_size=300), max_size=4),
    threads=st.integers(1, 3),
    bits=st.integers(0, 3),
)
def test_each_state_is_kept_once_while_the_table_grows(kernels, rounds, threads, bits):
    partition = Partition(kernels, 1, rows=1024, slots=128)
    allowance = Allowance(10**9)
    expected: set[int] = set()
    with np.errstate(over="ignore"):
        for values, (buffer, fill) in zip(rounds, buffered(rounds, threads=threads, bits=bits), strict=True):
            partition.add(buffer, fill, range(1 << bits), allowance)
            expected |= set(values)

            assert sorted(partition.states[: partition.count, 0].tolist()) == sorted(expected)
        partition.rebuild()
        for buffer, fill in buffered(rounds, threads=threads, bits=bits):
            partition.add(buffer, fill, range(1 << bits), allowance)

    assert partition.count == len(expected)


@pytest.mark.parametrize("kernels", KERNELS)
def test_a_table_does_not_grow_beyond_the_allowance(kernels):
    partition = Partition(kernels, 1, rows=1024, slots=128)
    with np.errstate(over="ignore"):
        ((buffer, fill),) = buffered([list(range(500))], threads=1, bits=2)
        with pytest.raises(OutOfMemory, match="to double a table"):
            partition.add(buffer, fill, range(4), Allowance(3000))


def test_rows_of_one_region_lie_together_in_a_table_of_any_size():
    with np.errstate(over="ignore"):
        for value in range(500):
            h = int(storage_kernels.mix(np.array([[value]]), 0))
            partition, part = divmod(storage_kernels.region(h, PARTITIONS, REGIONS), 1 << REGIONS)
            assert partition == h % PARTITIONS
            for slots in (128, 4096, 1 << 20):
                at = storage_kernels.finger(h) >> storage_kernels.unused(slots)
                assert at * (1 << REGIONS) // slots == part


@pytest.mark.parametrize("words", [1, 2, 3, 16])
@pytest.mark.parametrize("successors", [1, 400, 100_000])
@pytest.mark.parametrize("size", [1 << 16, 1 << 25])
def test_a_buffer_has_room_for_what_one_state_leads_to(words, successors, size):
    bits, rows = regions(words, successors, size)

    assert 0 <= bits <= REGIONS
    assert rows >= 2 * successors
    asked = 8 * words * (rows - 1) * (PARTITIONS << bits)
    assert asked <= max(size, 8 * words * 2 * successors * PARTITIONS)
