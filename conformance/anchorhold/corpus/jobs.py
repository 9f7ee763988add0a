"""Replays of several transcripts, in as many processes as are allowed. An interrupt ends all of them early."""

import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from anchorhold.corpus.replay import replay
from anchorhold.corpus.tally import Tally
from anchorhold.corpus.turns import turns_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One transcript, replayed with the gate or without."""

    path: Path
    gate: bool
    budget: int
    queries: int
    limit: int
    """Only so many turns; 0: all."""

    @property
    def name(self) -> str:
        """What it is called in what is told of its progress."""
        return f"{self.path.name}, gate {'on' if self.gate else 'off'}"


def run_jobs(jobs: Sequence[Job], *, work: Path | None, processes: int) -> tuple[list[Tally], bool]:
    """The tallies, in order, and whether an interrupt ended them early: then they are of the turns so far. `work` is
    where the databases are made, and removed again."""
    with tempfile.TemporaryDirectory(dir=work, prefix="anchorhold-replay-") as name:
        directory = Path(name)
        stop = directory / "stop"
        before = signal.signal(signal.SIGINT, lambda *_: stop.touch())
        try:
            if processes == 1:
                tallies = [_run(job, directory / f"{i}.db", stop) for i, job in enumerate(jobs)]
            else:
                with ProcessPoolExecutor(processes, initializer=_leave_interrupts_to_the_parent) as pool:
                    running = [pool.submit(_run, job, directory / f"{i}.db", stop) for i, job in enumerate(jobs)]
                    tallies = [one.result() for one in running]
        finally:
            signal.signal(signal.SIGINT, before)
        return tallies, stop.exists()


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(job: Job, database: Path, stop: Path) -> Tally:
    turns = turns_of(job.path)
    if job.limit:
        turns = turns[: job.limit]
    tally = replay(
        turns,
        database,
        budget=job.budget,
        gate=job.gate,
        queries=job.queries,
        progress=_told(job.name, len(turns)),
        stopped=stop.exists,
    )
    sys.stderr.write(
        f"{job.name}: {tally.turns} turns, {tally.compactions} compactions, drift {tally.drift}, unresolvable "
        f"{tally.unresolvable} of {tally.spans} spans, hits {tally.hits} of {tally.asked}, overhead "
        f"{tally.overhead_percent:.2f} %, {tally.seconds:.0f} s\n"
    )
    for path in database.parent.glob(f"{database.name}*"):  # it may be large, and others are still to come
        path.unlink()
    return tally


def _told(name: str, turns: int) -> Callable[[int], None]:
    """Tells of progress, a line a tenth."""
    marks = {turns * (i + 1) // 10 for i in range(10)}

    def tell(done: int) -> None:
        if done in marks:
            sys.stderr.write(f"{name}: {done} of {turns} turns\n")

    return tell
