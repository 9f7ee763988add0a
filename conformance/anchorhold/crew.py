"""Plays and judges workloads in several processes at once, each with compactors of its own (`check --workers`).

Every workload is written before any is played, so that what is played, and what is found, does not depend on how many
processes there are.
"""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Self

from anchorhold.errors import AdapterError, Fault
from anchorhold.judging import judge
from anchorhold.load import Loaded
from anchorhold.run import play
from anchorhold.verdict import Checker, History, Judgement
from anchorhold.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What came of one workload."""

    number: int
    judgements: tuple[Judgement, ...]
    """One of each checker, in their order."""
    history: History | None
    """Only where something failed: a history is large, and to hand it over takes time."""
    summarised: bool
    """Whether a model was asked for anything."""


class Crew:
    """Worker processes. A context: at its end they are gone.

    `again` loads what is checked once more; it and the checkers have to be picklable. Raises `AdapterError` where one
    of the processes met one.
    """

    def __init__(self, again: Callable[[], Loaded], checkers: Sequence[Checker], *, workers: int, seed: int) -> None:
        # Not forked: the terminal's thread, and whatever the class under test started, would be half there.
        context = multiprocessing.get_context("spawn")
        self._lines: list[Connection] = []
        self._processes = []
        for _ in range(workers):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, again, tuple(checkers), seed), daemon=True)
            process.start()
            theirs.close()
            self._lines.append(ours)
            self._processes.append(process)

    def __enter__(self) -> Self:
        """They are started already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let them end, and end those that do not."""
        for line in self._lines:
            line.close()
        for process in self._processes:
            process.join(timeout=5 if kind is None else 0.1)
            if process.is_alive():
                process.terminate()
                process.join()

    def play(self, workloads: Sequence[tuple[int, Workload]]) -> Iterator[Played]:
        """Play them all; each as soon as it is done, in whatever order. Raises `AdapterError`."""
        left = iter(workloads)
        busy: dict[Any, int] = {}
        for line in self._lines:
            self._next(line, left, busy)
        while busy:
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                number = busy.pop(ready)
                try:
                    answer = ready.recv()
                except EOFError:
                    raise AdapterError(
                        f"a worker process ended while it played workload {number}",
                        code=Fault.DIED,
                        hint="run the same check with --workers 1 to see why",
                    ) from None
                if isinstance(answer, dict):
                    raise AdapterError(answer.pop("message"), **answer)
                yield answer
                self._next(ready, left, busy)

    @staticmethod
    def _next(line: Connection, left: Iterator[tuple[int, Workload]], busy: dict[Any, int]) -> None:
        job = next(left, None)
        if job is not None:
            line.send(job)
            busy[line] = job[0]


def _work(line: Connection, again: Callable[[], Loaded], checkers: tuple[Checker, ...], seed: int) -> None:
    """What a worker process does until nothing more is asked of it."""
    try:
        with again() as loaded:
            while True:
                number, workload = line.recv()
                line.send(_play(loaded, number, workload, checkers, seed))
    except EOFError:
        return
    except AdapterError as error:
        told = {"message": error.message, "code": error.code, "cause": error.cause, "hint": error.hint}
        line.send({**told, "stderr": error.stderr})


def _play(loaded: Loaded, number: int, workload: Workload, checkers: Sequence[Checker], seed: int) -> Played:
    history = play(loaded.make(), workload, description=loaded.describe(), location=loaded.location, seed=seed)
    judgements = judge(checkers, history)
    return Played(
        number=number,
        judgements=judgements,
        history=history if any(judgement.failures for judgement in judgements) else None,
        summarised=any(event.op == "summarise" for event in history.events),
    )
