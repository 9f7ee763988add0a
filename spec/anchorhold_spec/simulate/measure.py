"""The race, run for many rates, designs and seeds, with intervals of confidence over the seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

from anchorhold_spec.simulate.race import DESIGNS, Design, Outcome, Parameters, Victims, simulate

RATES = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Evictions a minute. S4's compactions come about once a minute."""
LENGTHS = (100, 500, 2000)
"""Tokens of a summary: from a few sentences to several pages."""
POLICIES: tuple[Victims, ...] = ("summarised", "oldest", "random")
SEEN_BY_S4 = (0.003, 0.011)
"""What S4 reports: 0.3 to 1.1 % of compactions."""

# Student's t, two-sided 95 %, for 1 to 30 degrees of freedom.
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
      2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)  # fmt: skip


@dataclass(frozen=True)
class Ratio:
    """A share of the committed summaries: mean over the seeds, with a 95 % interval."""

    mean: float
    low: float
    high: float
    count: int
    """Over all seeds. Where it is 0, `high` is what 95 % confidence leaves possible."""


@dataclass(frozen=True)
class Cell:
    """One design under one set of parameters, all seeds together."""

    design: Design
    parameters: Parameters
    committed: int
    unresolvable: Ratio
    wrong: Ratio
    empty: Ratio
    pending: Ratio
    commit_delay: float
    """Seconds, mean."""
    hold: float
    """Seconds, mean."""


@dataclass(frozen=True)
class LengthCell:
    """The unordered design for one length of summary, the source held or not while it is written."""

    tokens: int
    held: bool
    cell: Cell


@dataclass(frozen=True)
class Study:
    """Everything that `study` ran."""

    base: Parameters
    seeds: tuple[int, ...]
    cells: tuple[Cell, ...]
    """Designs in order, each at every rate."""
    lengths: tuple[LengthCell, ...]
    policies: tuple[Cell, ...]
    """The unordered design under each policy of the reaper, at every rate."""

    def in_range(self) -> tuple[Cell, ...]:
        """The cells whose mean lies in what S4 saw."""
        low, high = SEEN_BY_S4
        return tuple(cell for cell in self.cells if low <= cell.unresolvable.mean <= high)

    def not_excluded(self) -> tuple[Cell, ...]:
        """The cells whose mean lies outside of what S4 saw, but whose interval meets it.

        Of them nothing is known either way. The less was run, the wider the intervals and the more cells these are.
        """
        low, high = SEEN_BY_S4
        return tuple(
            cell
            for cell in self.cells
            if not low <= cell.unresolvable.mean <= high
            and cell.unresolvable.high >= low
            and cell.unresolvable.low <= high
        )


def study(
    base: Parameters,
    *,
    seeds: Sequence[int],
    rates: Sequence[float] = RATES,
    lengths: Sequence[int] = LENGTHS,
    workers: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Study:
    """Runs every design at every rate for every seed; lengths and policies for the unordered design alone.

    `workers`: processes; the results do not depend on it. `progress` is told how many runs are done, of how many.
    Raises ValueError for parameters that mean nothing, or fewer than two seeds.
    """
    if len(seeds) < 2:
        raise ValueError("an interval of confidence takes at least two seeds")
    unordered = DESIGNS[0]
    designs = [(design, replace(base, evictions_per_minute=rate)) for design in DESIGNS for rate in rates]
    by_length = [
        (unordered, replace(base, summary_tokens=tokens, held_while_summarised=held))
        for held in (True, False)
        for tokens in lengths
    ]
    by_policy = [
        (unordered, replace(base, victims=victims, evictions_per_minute=rate))
        for victims in POLICIES
        for rate in rates
    ]
    wanted = [*designs, *by_length, *by_policy]
    jobs = [(design, parameters, seed) for design, parameters in wanted for seed in seeds]
    outcomes = _collect(jobs, workers, progress)
    cells = [
        _cell(design, parameters, outcomes[i * len(seeds) : (i + 1) * len(seeds)])
        for i, (design, parameters) in enumerate(wanted)
    ]
    first, second = len(designs), len(designs) + len(by_length)
    return Study(
        base=base,
        seeds=tuple(seeds),
        cells=tuple(cells[:first]),
        lengths=tuple(
            LengthCell(cell.parameters.summary_tokens, cell.parameters.held_while_summarised, cell)
            for cell in cells[first:second]
        ),
        policies=tuple(cells[second:]),
    )


Job = tuple[Design, Parameters, int]


def _collect(jobs: Sequence[Job], workers: int, progress: Callable[[int, int], None]) -> list[Outcome]:
    if workers <= 1:
        return _counted(map(_run, jobs), len(jobs), progress)
    with ProcessPoolExecutor(workers) as pool:
        return _counted(pool.map(_run, jobs, chunksize=4), len(jobs), progress)


def _counted(outcomes: Iterable[Outcome], total: int, progress: Callable[[int, int], None]) -> list[Outcome]:
    found: list[Outcome] = []
    for outcome in outcomes:
        found.append(outcome)
        progress(len(found), total)
    return found


def _run(job: Job) -> Outcome:
    design, parameters, seed = job
    return simulate(design, parameters, seed=seed)


def _cell(design: Design, parameters: Parameters, outcomes: Sequence[Outcome]) -> Cell:
    committed = [each.committed for each in outcomes]
    return Cell(
        design=design,
        parameters=parameters,
        committed=sum(committed),
        unresolvable=ratio([each.unresolvable for each in outcomes], committed),
        wrong=ratio([each.wrong for each in outcomes], committed),
        empty=ratio([each.empty for each in outcomes], committed),
        pending=ratio([each.pending for each in outcomes], committed),
        commit_delay=statistics.fmean(each.mean_commit_delay for each in outcomes),
        hold=statistics.fmean(each.mean_hold for each in outcomes),
    )


def ratio(counts: Sequence[int], committed: Sequence[int]) -> Ratio:
    """Mean and 95 % interval (Student's t over the seeds) of the runs' ratios; needs at least two runs."""
    shares = [count / all_ for count, all_ in zip(counts, committed, strict=True)]
    mean = statistics.fmean(shares)
    if not any(counts):
        # No spread to go by: the largest share that would leave none among so many in one case of twenty.
        return Ratio(0.0, 0.0, 1 - 0.05 ** (1 / sum(committed)), 0)
    freedom = len(shares) - 1
    t = _T[freedom - 1] if freedom <= len(_T) else 1.96
    half = t * statistics.stdev(shares) / math.sqrt(len(shares))
    return Ratio(mean, max(0.0, mean - half), min(1.0, mean + half), sum(counts))
