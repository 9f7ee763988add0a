"""Exploring a machine: the entry points, and what they give."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from anchorhold_spec.explore import jit
from anchorhold_spec.explore.found import Code, Found, Watcher, trace_of
from anchorhold_spec.explore.prepare import Prepared, prepare
from anchorhold_spec.explore.uncompiled import PlainCode
from anchorhold_spec.explore.uncompiled import search as search_uncompiled
from anchorhold_spec.language import Invariant, Machine, Progress, Transition, UnknownChoice
from anchorhold_spec.run import GaveUp, GuardId, Trace, Violation


class Engine(StrEnum):
    """How states are gone through. All give the same."""

    COMPILED = "compiled"
    """Generated code, compiled by numba, on several threads."""
    UNCOMPILED = "uncompiled"
    """The same code without the compiler: for debugging, and where there is no compiler."""


@dataclass(frozen=True)
class Exploration:
    """What was found. With symmetry, states and transitions are counted for orbits."""

    machine: str
    sizes: Mapping[str, int]
    switches: Mapping[str, str]
    engine: Engine
    symmetry: tuple[str, ...]
    """The sorts that were reduced."""
    not_reduced: Mapping[str, str]
    """Symmetric sorts that could not be reduced, with the reason."""
    states: int
    transitions: int
    depth: int
    """Steps from a first state to the farthest."""
    layers: tuple[int, ...]
    """How many states are so many steps away."""
    complete: bool
    """Every reachable state was seen: neither a violation ended it nor a limit."""
    stopped: str | None
    """The limit that ended it."""
    violations: tuple[Violation, ...]
    """One for each property that was broken, the shortest first."""
    fired: Mapping[str, int]
    """How often each action happened."""
    witnesses: Mapping[str, Trace]
    """For each `sometimes` property that was met, a shortest run to it."""
    unmet: tuple[str, ...]
    """The `sometimes` properties that were not (all states having been seen, if `complete`)."""
    deadlocks: int
    """States where, faults aside, nothing can happen and nothing is allowed to rest."""
    deadlock: Trace | None
    """A shortest run to one of them."""
    seconds: float
    """Of exploring, without generating and compiling."""
    preparing: float
    """Seconds of generating and compiling, or reading what was compiled before."""

    @property
    def violation(self) -> Violation | None:
        """The shortest."""
        return self.violations[0] if self.violations else None


def explore(
    machine: Machine,
    *,
    sizes: Mapping[str, int] | None = None,
    switches: Mapping[str, str] | None = None,
    dropped: Collection[GuardId] = (),
    symmetry: bool = False,
    engine: Engine | None = None,
    auxiliary: bool = False,
    keep_going: bool = False,
    limit: int | None = None,
    threads: int | None = None,
    memory: int | None = None,
    checkpoint: Path | None = None,
    resume: bool = False,
    checkpoint_every: float = 60.0,
    watcher: Watcher | None = None,
) -> Exploration:
    """Goes through all reachable states of a finite instance, breadth first.

    Args:
        machine: Any machine; its switches are run-time arguments of the code, so that all variants share one
            compilation, and so do all mutants (`dropped`).
        sizes: By plural; what is not given is as in the machine's default instance.
        switches: What is not given is at its default.
        dropped: Guards to leave out.
        symmetry: Keep one state of those that differ only in who is who.
        engine: None: compiled where numba is installed.
        auxiliary: Look at auxiliary invariants too. (They break first and hide what a rule's reader wants to see.)
        keep_going: Do not end at the first violation: find the shortest for each property.
        limit: States after which no further layer is begun; the one that meets it is finished, and the result is not
            `complete`.
        threads: None: as many as there are processors.
        memory: Bytes that may be used. None: half of the machine's memory. (Compiled only.)
        checkpoint: File to write the search to from time to time, and when it is stopped. (Compiled only.)
        resume: Take the search up from that file, if it is there.
        checkpoint_every: Seconds between two checkpoints.
        watcher: Called with a `Snapshot` now and then.

    Raises:
        UnknownChoice: Sizes, switches, guards, rigid data or a checkpoint do not fit.
        ImportError: The compiled engine was asked for, and numba is not installed.
    """
    started = time.perf_counter()
    prepared = prepare(
        machine, sizes=sizes, switches=switches, dropped=dropped, symmetry=symmetry, auxiliary=auxiliary
    )
    chosen = engine or (Engine.COMPILED if jit.available() else Engine.UNCOMPILED)
    threads = threads or os.cpu_count() or 1
    memory = memory or default_memory()
    _must_fit(prepared, threads=threads if chosen is Engine.COMPILED else 1, memory=memory)
    if chosen is Engine.UNCOMPILED:
        plain = PlainCode(prepared)
        ready = time.perf_counter()
        found = search_uncompiled(prepared, plain, keep_going=keep_going, limit=limit, watcher=watcher)
        return result(prepared, plain, found, chosen, ready - started, time.perf_counter() - ready)

    from anchorhold_spec.explore import checkpoint as files
    from anchorhold_spec.explore.compiled import CompiledCode
    from anchorhold_spec.explore.search import Search

    code = CompiledCode(prepared)
    code.warm_up()
    ready = time.perf_counter()
    search = Search(
        prepared,
        code,
        threads=threads,
        memory=memory,
        keep_going=keep_going,
        limit=limit,
        watcher=watcher,
        between=None if checkpoint is None else files.keeper(checkpoint, every=checkpoint_every),
    )
    if resume and checkpoint is not None and checkpoint.exists():
        files.restore(search, checkpoint)
    try:
        found = search.run()
    except KeyboardInterrupt:
        if checkpoint is not None:
            files.save(search, checkpoint)
        raise
    if found.stopped and checkpoint is not None:
        files.save(search, checkpoint)
    return result(prepared, code, found, chosen, ready - started, time.perf_counter() - ready)


WORD_BYTES = 8
"""Of the 64-bit integers that states are packed into."""


def _must_fit(prepared: Prepared, *, threads: int, memory: int) -> None:
    """Raises UnknownChoice where the successors of one state alone, for each thread, take more than is allowed."""
    source = prepared.source
    needed = threads * source.successors * (source.layout.words + 1) * WORD_BYTES
    if needed > memory:
        sizes = ", ".join(f"{name}={count}" for name, count in prepared.sizes.items())
        raise UnknownChoice(
            f"{prepared.machine.name} at {sizes}: one state takes {source.layout.words:,} words and may have "
            f"{source.successors:,} successors, which for {threads} threads are {needed / 1e9:,.1f} GB, and "
            f"{memory / 1e9:,.1f} GB are allowed: choose smaller sizes"
        )


def default_memory() -> int:
    """Half of the machine's memory, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (ValueError, OSError, AttributeError):
        return 2_000_000_000


def result(
    prepared: Prepared, code: Code, found: Found, engine: Engine, preparing: float, seconds: float
) -> Exploration:
    """The exploration that a search's result stands for."""
    machine = prepared.machine
    violations: list[Violation] = []
    properties: list[Invariant | Progress | Transition] = [
        *machine.invariants,
        *machine.progress,
        *machine.transitions,
    ]
    for prop in properties:
        if prop.name in found.hits:
            breaking = prop.name if isinstance(prop, Transition) else None
            trace = trace_of(prepared, code, found.hits[prop.name], breaking=breaking)
            violations.append(Violation(prop.name, prop.rules, trace))
    symmetry = prepared.source.symmetry
    return Exploration(
        machine=machine.name,
        sizes=prepared.sizes,
        switches=prepared.switches,
        engine=engine,
        symmetry=tuple(sort.name for sort in symmetry.used),
        not_reduced=symmetry.refused,
        states=found.states,
        transitions=found.transitions,
        depth=found.depth,
        layers=found.layers,
        complete=found.complete,
        stopped=found.stopped,
        violations=tuple(sorted(violations, key=lambda each: len(each.trace.steps))),
        fired={action.name: found.fired[action.name] for action in machine.actions},
        witnesses={
            each.name: trace_of(prepared, code, found.hits[each.name])
            for each in machine.sometimes
            if each.name in found.hits
        },
        unmet=tuple(each.name for each in machine.sometimes if each.name not in found.hits),
        deadlocks=found.deadlocks,
        deadlock=None if found.deadlock is None else trace_of(prepared, code, found.deadlock),
        seconds=seconds,
        preparing=preparing,
    )


FIRST_LOOK = 3_000
"""States that are gone through without compiling, before it is worth it."""


def find_violation(
    machine: Machine,
    sizes: Mapping[str, int] | None = None,
    *,
    dropped: tuple[str, str] | GuardId | None = None,
    switches: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> Trace | None:
    """A shortest run to a broken rule of the machine, or of the machine without one guard; none if there is none.

    `dropped` is an action and one of its guards. Raises UnknownChoice for what does not fit, and GaveUp where
    `limit` states were seen and it is not known: that is never answered by none.
    """
    guards = () if dropped is None else (dropped if isinstance(dropped, GuardId) else GuardId(*dropped),)
    violation = violation_of(machine, sizes=sizes, switches=switches, dropped=guards, limit=limit)
    return None if violation is None else violation.trace


def violation_of(
    machine: Machine,
    *,
    sizes: Mapping[str, int] | None,
    switches: Mapping[str, str] | None = None,
    dropped: Sequence[GuardId] = (),
    limit: int | None = None,
) -> Violation | None:
    """As `find_violation`, with the property. What is small is not worth compiling and is not compiled."""
    compiler = jit.available()
    first = explore(
        machine,
        sizes=sizes,
        switches=switches,
        dropped=dropped,
        engine=Engine.UNCOMPILED,
        limit=min(FIRST_LOOK, limit or FIRST_LOOK) if compiler else limit,
    )
    if first.complete or first.violation:
        return first.violation
    if compiler and (limit is None or limit > FIRST_LOOK):
        first = explore(machine, sizes=sizes, switches=switches, dropped=dropped, engine=Engine.COMPILED, limit=limit)
        if first.complete or first.violation:
            return first.violation
    without = "".join(f" without guard {guard.guard!r} of {guard.action}" for guard in dropped)
    raise GaveUp(f"{machine.name}{without}: no violation in the first {first.states:,} states; {first.stopped}")
