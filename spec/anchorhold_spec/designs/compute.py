"""Filling a decision table: first a search for a shortest run to what is broken, then a proof of what is not.

Neither is made to fit what a source says: the claims are not looked at here.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from anchorhold_spec.designs.model import Answer, Answers, Broken, Cell, Column, Proved, Row, Table, Unknown
from anchorhold_spec.explore import Engine, Exploration, explore, jit
from anchorhold_spec.explore.mutants import LOOK, WITHOUT_COMPILER
from anchorhold_spec.language import Invariant, Machine
from anchorhold_spec.prove import Inductive, inductive
from anchorhold_spec.run import Violation, show_trace

MOST = 5_000_000
"""States of one design that are searched."""


def compute(
    tables: Sequence[Table],
    *,
    timeout: float = 10.0,
    processes: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Answers]:
    """The tables with all their cells, in order.

    `timeout` is in seconds for each question to Z3; `processes`: none: one a processor. The work is divided by rows,
    and by the name of the source: with more than one process, the tables are those of `anchorhold_spec.designs`.
    """
    workers = processes or os.cpu_count() or 1
    if workers == 1:
        for table in tables:
            rows = []
            for i, row in enumerate(table.rows()):
                progress(f"{table.source}: design {i + 1}")
                rows.append(_answer(row, cells_of(table, row, timeout=timeout)))
            yield Answers(table, tuple(rows))
        return
    # Not forked: Z3's threads and locks do not survive it.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = [
            (table, [(row, pool.submit(_cells, table.source, i, timeout)) for i, row in enumerate(table.rows())])
            for table in tables
        ]
        for table, parts in waiting:
            rows = []
            for i, (row, part) in enumerate(parts):
                progress(f"{table.source}: design {i + 1} of {len(parts)}")
                rows.append(_answer(row, part.result()))
            yield Answers(table, tuple(rows))


def _cells(source: str, index: int, timeout: float) -> Mapping[str, Cell]:
    from anchorhold_spec.designs import TABLES

    table = TABLES[source]
    return cells_of(table, table.rows()[index], timeout=timeout)


def _answer(row: Row, cells: Mapping[str, Cell]) -> Answer:
    return Answer(dict(row.switches), cells, dict(row.claims), dict(row.differs_because))


def cells_of(table: Table, row: Row, *, timeout: float) -> Mapping[str, Cell]:
    """By rule, what was found out about a design."""
    known = {each.name for each in row.machine.invariants} | {each.name for each in row.machine.transitions}
    asked = {column.rule: [name for name in column.properties if name in known] for column in table.columns}
    wanted = {name for names in asked.values() for name in names}
    runs, unseen = _search(row.machine, wanted, table.instances or row.machine.small_instances)
    proofs: Inductive | None = None
    cells: dict[str, Cell] = {}
    for column in table.columns:
        names = asked[column.rule]
        broken = [runs[name] for name in names if name in runs]
        if not names:
            cells[column.rule] = Unknown(f"{row.machine.name} has no property that states {column.rule} here")
        elif broken:
            cells[column.rule] = min(broken, key=lambda each: len(each.trace))
        else:
            proofs = proofs or inductive(_with_lemmas(row, known), timeout=timeout, wanted=wanted - runs.keys())
            cells[column.rule] = _proved(column, names, proofs, unseen)
    return cells


def _proved(column: Column, names: Collection[str], proofs: Inductive, unseen: str | None) -> Cell:
    failed = {name: proofs.failed[name] for name in names if name not in proofs.proved}
    if not failed:
        return Proved()
    why = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
    searched = unseen or "no run to a violation at the sizes that were searched"
    return Unknown(f"{column.rule} is not inductive here ({why}), and {searched}")


def _with_lemmas(row: Row, known: Collection[str]) -> Machine:
    more = tuple(Invariant(each.name, each.formula, (), "") for each in row.lemmas if each.name not in known)
    return replace(row.machine, invariants=(*row.machine.invariants, *more))


def _search(
    machine: Machine, wanted: Collection[str], instances: Sequence[Mapping[str, int]]
) -> tuple[Mapping[str, Broken], str | None]:
    """A shortest run for each of the properties that is broken; and which search was not finished."""
    # Only what is asked for is looked at, and nothing else ends the search.
    studied = replace(
        machine,
        invariants=tuple(each for each in machine.invariants if each.name in wanted),
        transitions=tuple(each for each in machine.transitions if each.name in wanted),
        sometimes=(),
        progress=(),
    )
    runs: dict[str, Broken] = {}
    unseen: str | None = None
    for sizes in instances:
        found = _all(studied, sizes)
        if found.stopped:
            unseen = f"the search at {dict(sizes)} was stopped: {found.stopped}"
        for violation in found.violations:
            before = runs.get(violation.property)
            if before is None or len(violation.trace.steps) < len(before.trace):
                runs[violation.property] = _broken(violation, sizes)
    return runs, unseen


def _all(machine: Machine, sizes: Mapping[str, int]) -> Exploration:
    compiler = jit.available()
    found = explore(
        machine,
        sizes=sizes,
        engine=Engine.UNCOMPILED,
        keep_going=True,
        limit=LOOK if compiler else WITHOUT_COMPILER,
    )
    if found.stopped and compiler:
        found = explore(machine, sizes=sizes, engine=Engine.COMPILED, keep_going=True, limit=MOST)
    return found


def _broken(violation: Violation, sizes: Mapping[str, int]) -> Broken:
    return Broken(violation.property, tuple(show_trace(violation.trace)), dict(sizes))
