"""Seeks every defect of a catalogue with several seeds, and lets every right compactor be checked, in parallel.

What is found does not depend on how many processes there are.
"""

import multiprocessing
import statistics
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from anchorhold.adequacy.catalogue import Catalogue, read_catalogue
from anchorhold.adequacy.crashed import CrashedError
from anchorhold.adequacy.seek import Sought, seek, seek_as_checked
from anchorhold.effort import BUDGETS, Effort
from anchorhold.scenarios import AUDITED, DIRECTED
from anchorhold_spec.catalogue import RULES

_EVERY = (*DIRECTED, AUDITED)


class Defect(msgspec.Struct, frozen=True, kw_only=True):
    """One wrong compactor, and whether the suite names what is wrong with it."""

    id: str
    breaks: tuple[str, ...]
    """The rules that it is known to break."""
    caught_by: tuple[str, ...]
    """Every rule that failed, with any seed, in what was played until all of `breaks` had."""
    architecture: str
    seeds_caught: int
    """Seeds with which at least one rule of `breaks` failed."""
    seeds: int
    operations: int | None
    """Played until the first rule of `breaks` failed: the median over the seeds that caught it; None: none did."""
    missed: tuple[str, ...]
    """Rules of `breaks` that failed with no seed."""
    fixed: tuple[str, ...] = ()
    """Rules of `breaks` that failed in scenarios that are the same whatever the seed. They are played once, and what
    they catch is caught with every seed."""
    blind: bool = False
    """Whether its author had not seen the checkers when it was written, as the catalogue says."""
    crashed: str = ""
    """What the compactor raised that is no answer of a compactor: what it was caught at then counts for nothing."""


class Alarm(msgspec.Struct, frozen=True, kw_only=True):
    """A right compactor that was blamed."""

    id: str
    rule: str
    sentence: str
    seed: int | None
    """None: with whatever seed. It was in a scenario that is the same for all of them, or the compactor crashed."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A right compactor, and with which seeds it was checked."""

    id: str
    architecture: str
    seeds: tuple[int, ...]


class Adequacy(msgspec.Struct, frozen=True, kw_only=True):
    """What a catalogue says of the suite."""

    defects: tuple[Defect, ...]
    false_alarms: int
    """(Compactor, seed, rule) that were blamed for nothing."""
    alarms: tuple[Alarm, ...]
    rules_without_defect: tuple[str, ...]
    blind: int
    """Defects that were written without sight of the checkers."""
    right: int
    """Right compactors that were checked, each with every seed."""
    seeds: int
    right_seeds: int
    effort: str
    directed: bool
    seconds: float
    as_checked: bool = False
    """Whether each was played what a check of this effort plays, and not all that its aims name."""
    checked: tuple[Checked, ...] = ()
    """The right ones, each with its seeds."""
    scenarios: tuple[str, ...] = ()
    """The only ones that were played; empty: all of them."""
    played_once: tuple[str, ...] = ()
    """Scenarios that are the same whatever the seed: each compactor was played them once, and not with each seed."""

    @property
    def caught_always(self) -> bool:
        """Whether every defect was caught with every seed."""
        return all(defect.seeds_caught == defect.seeds for defect in self.defects)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    number: int
    """Of the compactor: among the wrong ones, or among the right ones."""
    right: bool
    seed: int | None
    """None: what is the same whatever the seed."""


@dataclass(slots=True)
class _Seen:
    sought: dict[int, Sought] = field(default_factory=dict)
    fixed: Sought | None = None
    """What came of the scenarios that are the same whatever the seed."""
    crashed: str = ""

    @property
    def all(self) -> list[Sought]:
        return [*([] if self.fixed is None else [self.fixed]), *self.sought.values()]

    def settled(self, breaks: Collection[str]) -> bool:
        """Whether there is nothing left to look for, with whatever seed."""
        return self.fixed is not None and self.fixed.caught_by >= set(breaks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be measured."""

    path: Path
    seeds: int = 1
    right_seeds: int = 1
    first_seed: int = 0
    effort: Effort = Effort.STANDARD
    directed: bool = True
    rules: frozenset[str] = frozenset()
    """Only the wrong compactors that break one of these; empty: every one."""
    names: frozenset[str] = frozenset()
    """Only the compactors of these names; empty: every one."""
    wrong: bool = True
    """Whether wrong ones are sought at all."""
    scenarios: frozenset[str] = frozenset()
    """Only these scenarios, by their names; empty: every one. Not with an effort that chooses by itself."""

    @property
    def as_checked(self) -> bool:
        """Whether what is played is chosen as a check of this effort chooses, and not by what a compactor breaks."""
        return self.directed and BUDGETS[self.effort].aimed is not None

    @property
    def once(self) -> tuple[str, ...]:
        """Names of the scenarios that are played once to each compactor, and not with each seed."""
        if self.as_checked or not self.directed:
            return ()
        return tuple(s.name for s in _EVERY if s.fixed and (not self.scenarios or s.name in self.scenarios))


def measure(
    asked: Asked,
    *,
    workers: int,
    tell: Callable[[int, int], None],
    heard: Callable[[Alarm], None] = lambda _alarm: None,
) -> Adequacy:
    """Measure it; `tell` hears how many of how many are done, `heard` each false alarm. Raises CatalogueError."""
    begun = time.monotonic()
    catalogue = read_catalogue(asked.path)
    wrong, right = _chosen(catalogue, asked)
    breaks = [rules for _, rules in catalogue.defects.items()]
    aims = {rule for scenario in _EVERY if scenario.name in asked.once for rule in scenario.aims}
    seen: dict[tuple[bool, int], _Seen] = {
        **{(False, n): _Seen() for n in wrong},
        **{(True, n): _Seen() for n in right},
    }
    fixed = [
        *(_Job(number=n, right=False, seed=None) for n in wrong if aims.intersection(breaks[n])),
        *(_Job(number=n, right=True, seed=None) for n in right if aims),
    ]
    seeded = [
        *(_Job(number=n, right=False, seed=s) for n in wrong for s in _seeds(asked, asked.seeds)),
        *(_Job(number=n, right=True, seed=s) for n in right for s in _seeds(asked, asked.right_seeds)),
    ]
    done, total = 0, len(fixed) + len(seeded)
    for some in (fixed, seeded):
        left = [job for job in some if job.right or not seen[False, job.number].settled(breaks[job.number])]
        done += len(some) - len(left)
        for job, sought, crashed in _all(asked, left, workers):
            one = seen[job.right, job.number]
            if job.seed is None:
                one.fixed = sought
            elif sought is not None:
                one.sought[job.seed] = sought
            one.crashed = one.crashed or crashed
            if job.right and sought is not None:
                for alarm in _blamed(catalogue, catalogue.right[job.number], sought, job.seed):
                    heard(alarm)
            done += 1
            tell(done, total)
    defects = list(catalogue.defects.items())
    kinds = catalogue.right
    alarms = tuple(alarm for n in right for alarm in _alarms(catalogue, kinds[n], seen[True, n]))
    return Adequacy(
        defects=tuple(_defect(catalogue, *defects[n], seen[False, n], seeds=asked.seeds) for n in wrong),
        false_alarms=len(alarms),
        blind=sum(defects[n][0] in catalogue.blind for n in wrong),
        alarms=alarms,
        rules_without_defect=tuple(rule for rule in RULES if rule not in {r for _, r in catalogue.wrong}),
        right=len(right),
        checked=tuple(
            Checked(
                id=kinds[n].__name__,
                architecture=catalogue.architecture(kinds[n]),
                seeds=tuple(_seeds(asked, asked.right_seeds)),
            )
            for n in right
        ),
        seeds=asked.seeds,
        right_seeds=asked.right_seeds,
        effort=asked.effort.value,
        directed=asked.directed,
        as_checked=asked.as_checked,
        played_once=asked.once,
        scenarios=tuple(sorted(asked.scenarios)),
        seconds=round(time.monotonic() - begun, 3),
    )


def _chosen(catalogue: Catalogue, asked: Asked) -> tuple[list[int], list[int]]:
    def named(kind: type[Any]) -> bool:
        return not asked.names or kind.__name__ in asked.names

    wrong = [
        number
        for number, (kind, breaks) in enumerate(catalogue.defects.items())
        if asked.wrong and named(kind) and (not asked.rules or asked.rules.intersection(breaks))
    ]
    right = [number for number, kind in enumerate(catalogue.right) if named(kind) and asked.right_seeds]
    return wrong, right


def _seeds(asked: Asked, count: int) -> range:
    return range(asked.first_seed, asked.first_seed + count)


def _defect(catalogue: Catalogue, kind: type[Any], breaks: Sequence[str], seen: _Seen, *, seeds: int) -> Defect:
    always = frozenset(breaks) & (seen.fixed.caught_by if seen.fixed else frozenset())
    caught = [sought for sought in seen.all if sought.operations is not None]
    by = {rule for sought in seen.all for rule in sought.caught_by}
    return Defect(
        id=kind.__name__,
        breaks=tuple(breaks),
        caught_by=_in_order(by),
        architecture=catalogue.architecture(kind),
        # What is the same with every seed is caught with every seed.
        seeds_caught=seeds if always else len(caught),
        seeds=seeds,
        operations=round(statistics.median(_played(caught))) if caught else None,
        missed=_in_order(set(breaks) - by),
        fixed=_in_order(always),
        blind=kind in catalogue.blind,
        crashed=seen.crashed,
    )


def _played(caught: Collection[Sought]) -> list[int]:
    return [sought.operations for sought in caught if sought.operations is not None]


def _alarms(catalogue: Catalogue, kind: type[Any], seen: _Seen) -> Iterator[Alarm]:
    if seen.crashed:
        yield Alarm(id=kind.__name__, rule="", sentence=seen.crashed, seed=None)
    if seen.fixed is not None:
        yield from _blamed(catalogue, kind, seen.fixed, None)
    for seed, sought in sorted(seen.sought.items()):
        yield from _blamed(catalogue, kind, sought, seed)


def _blamed(catalogue: Catalogue, kind: type[Any], sought: Sought, seed: int | None) -> Iterator[Alarm]:
    for rule, sentence in sought.sentences:
        if rule not in catalogue.allowed(kind):
            yield Alarm(id=kind.__name__, rule=rule, sentence=sentence, seed=seed)


def _in_order(rules: Collection[str]) -> tuple[str, ...]:
    return tuple(rule for rule in RULES if rule in rules)


def _all(asked: Asked, jobs: Sequence[_Job], workers: int) -> Iterator[tuple[_Job, Sought | None, str]]:
    """Every job with what came of it, as soon as it is there."""
    # Not forked: what a compactor starts would be half there. Few jobs wait: an interrupt ends what runs alone.
    context = multiprocessing.get_context("spawn")
    left = iter(jobs)
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        running: dict[Future[tuple[Sought | None, str]], _Job] = {}
        try:
            for job in islice(left, 2 * workers):
                running[pool.submit(_one, asked, job)] = job
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    job = running.pop(future)
                    following = next(left, None)
                    if following is not None:
                        running[pool.submit(_one, asked, following)] = following
                    yield (job, *future.result())
        except BaseException:
            # What runs is not waited for. Where all is done it is: a pool that nobody waited for ends after Python.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _one(asked: Asked, job: _Job) -> tuple[Sought | None, str]:
    catalogue = read_catalogue(asked.path)
    if job.right:
        kind, breaks = catalogue.right[job.number], frozenset[str]()
    else:
        kind, rules = list(catalogue.defects.items())[job.number]
        breaks = frozenset(rules)
    try:
        if asked.as_checked:
            return seek_as_checked(kind, breaks, seed=job.seed or 0, effort=asked.effort), ""
        sought = seek(
            kind,
            breaks,
            seed=asked.first_seed if job.seed is None else job.seed,
            effort=asked.effort,
            directed=asked.directed,
            fixed=(job.seed is None) if asked.once else None,
            scenarios=asked.scenarios,
        )
        return sought, ""
    except CrashedError as error:
        return None, str(error)
