"""Random walks, for instances that are too large: what they find is real, what they miss proves nothing."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from anchorhold_spec.explore import jit
from anchorhold_spec.explore.api import Engine
from anchorhold_spec.explore.found import Path, Watcher, trace_of
from anchorhold_spec.explore.found import Snapshot as _Snapshot
from anchorhold_spec.explore.layout import Packed
from anchorhold_spec.explore.prepare import Prepared, prepare
from anchorhold_spec.explore.uncompiled import PlainCode
from anchorhold_spec.language import Machine
from anchorhold_spec.run import GuardId, Violation

Labels = list[int]
Walker = Callable[[Packed, list[int]], tuple[Labels, str | None]]
"""From a state and random numbers to the steps taken, and the property that was broken at their end."""


@dataclass(frozen=True)
class Walks:
    """What was met on the way."""

    machine: str
    seed: int
    walks: int
    """How many were taken: fewer than asked for where one met a violation."""
    steps: int
    """Of all walks together; a state that was met twice counts twice."""
    violation: Violation | None
    """The first that was met. Its run is the walk itself, not a shortest one."""
    seconds: float


def walk(
    machine: Machine,
    *,
    walks: int,
    seed: int = 0,
    steps: int = 1_000,
    sizes: Mapping[str, int] | None = None,
    switches: Mapping[str, str] | None = None,
    dropped: Collection[GuardId] = (),
    auxiliary: bool = False,
    engine: Engine | None = None,
    watcher: Watcher | None = None,
) -> Walks:
    """Takes `walks` walks of at most `steps` steps, each step one of those possible, all equally likely.

    The same seed gives the same walks with either engine. Raises UnknownChoice for what does not fit.
    """
    started = time.perf_counter()
    prepared = prepare(machine, sizes=sizes, switches=switches, dropped=dropped, auxiliary=auxiliary)
    # What is only to be met once is of no interest here: a walk would end where it is met.
    for each in prepared.machine.sometimes:
        prepared.settings[:] = prepared.source.config.unwatch(prepared.settings, each.name)
    chosen = engine or (Engine.COMPILED if jit.available() else Engine.UNCOMPILED)
    source = random.Random(seed)  # noqa: S311 - reproducible, not secret
    plain = PlainCode(prepared)
    walker = _plain_walker(prepared, plain) if chosen is Engine.UNCOMPILED else _compiled_walker(prepared)
    total = 0
    for number in range(1, walks + 1):
        start = source.choice(prepared.start)
        labels, broken = walker(start, [source.getrandbits(60) for _ in range(steps)])
        total += len(labels)
        if watcher is not None and number % 64 == 0:
            watcher(_Snapshot(total + number, total, 0, walks - number, walks, 0))
        if broken is not None:
            violation = _violation(prepared, plain, follow(plain, start, labels), broken)
            return Walks(machine.name, seed, number, total, violation, time.perf_counter() - started)
    return Walks(machine.name, seed, walks, total, None, time.perf_counter() - started)


def follow(code: PlainCode, start: Packed, labels: Labels) -> Path:
    """The states along the steps with these labels."""
    path = [start]
    for label in labels:
        path.append(next(after for each, after in code.steps(path[-1]) if each == label))
    return tuple(path)


def _violation(prepared: Prepared, code: PlainCode, path: Path, broken: str) -> Violation:
    machine = prepared.machine
    for invariant in machine.invariants:
        if invariant.name == broken:
            return Violation(broken, invariant.rules, trace_of(prepared, code, path))
    transition = next(each for each in machine.transitions if each.name == broken)
    return Violation(broken, transition.rules, trace_of(prepared, code, path, breaking=broken))


def _plain_walker(prepared: Prepared, code: PlainCode) -> Walker:
    def walker(start: Packed, numbers: list[int]) -> tuple[Labels, str | None]:
        code.flags = [0] * len(code.flags)
        labels: Labels = []
        now = start
        while True:
            after = code.steps(now)
            code.look(now)
            if code.flags[-1]:
                return labels, prepared.source.config.properties[code.flags.index(1)]
            if not after or len(labels) == len(numbers):
                return labels, None
            label, now = after[numbers[len(labels)] % len(after)]
            labels.append(label)

    return walker


def _compiled_walker(prepared: Prepared) -> Walker:
    import numpy as np

    from anchorhold_spec.explore.compiled import Bench, CompiledCode

    code = CompiledCode(prepared)
    bench = Bench.make(prepared)

    def walker(start: Packed, numbers: list[int]) -> tuple[Labels, str | None]:
        path = np.empty(len(numbers), dtype=np.int64)
        bench.flags[:] = 0
        taken = code.module.walk(
            code.row(start),
            np.array(numbers, dtype=np.int64),
            path,
            bench.settings,
            bench.out,
            bench.label,
            bench.cover,
            bench.flags,
        )
        labels = path[:taken].tolist()
        if bench.flags[-1]:
            return labels, prepared.source.config.properties[int(np.argmax(bench.flags))]
        return labels, None

    return walker
