"""Plays and judges workloads in several processes at once, each with compactors of its own (`check --workers`).

Every workload is written before any is played, so that what is played, and what is found, does not depend on how many
processes there are.
"""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Self

from anchorhold.compactor import Description
from anchorhold.errors import AdapterError, Fault
from anchorhold.judging import judge
from anchorhold.load import Loaded
from anchorhold.operations import operations
from anchorhold.run import play
from anchorhold.selection import weight
from anchorhold.trouble import Ends, ends
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
    operations: int
    """How many there were (`anchorhold.operations`)."""
    ends: Ends
    """How those ended without which nothing is triggered."""


AHEAD = 2
"""Workloads that a worker process has at hand: it need not wait while this process plays one itself."""


class Crew:
    """Worker processes, of which this one is the first. A context: at its end the others are gone.

    `again` loads what is checked once more; it and the checkers have to be picklable. Raises `AdapterError` where one
    of the processes met one.
    """

    def __init__(self, again: Callable[[], Loaded], checkers: Sequence[Checker], *, workers: int, seed: int) -> None:
        # Not forked: the terminal's thread, and whatever the class under test started, would be half there.
        context = multiprocessing.get_context("spawn")
        self._lines: list[Connection] = []
        self._processes = []
        for _ in range(workers - 1):
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

    def play(
        self, workloads: Sequence[tuple[int, Workload]], here: Callable[[int, Workload], Played]
    ) -> Iterator[Played]:
        """Play them all, some of them `here`; each as soon as it is done, in whatever order. Raises `AdapterError`.

        Those come first that have most to play: else the last one would be waited for by everybody.
        """
        left = deque(sorted(workloads, key=lambda job: (-weight(job[1]), job[0])))
        busy: dict[Any, deque[int]] = {line: deque() for line in self._lines}
        for _ in range(AHEAD):
            for line, under_way in busy.items():
                _hand_over(line, left, under_way)
        while left or any(busy.values()):
            # Nobody else's turn: where nothing is left to be played here the others are waited for.
            for ready in wait([line for line, under_way in busy.items() if under_way], 0 if left else None):
                assert isinstance(ready, Connection)
                yield _taken(ready, busy[ready])
                _hand_over(ready, left, busy[ready])
            if left:
                yield here(*left.popleft())


def _hand_over(line: Connection, left: deque[tuple[int, Workload]], under_way: deque[int]) -> None:
    if not left:
        return
    job = left.popleft()
    under_way.append(job[0])
    # Where the process has ended that is seen when its answer is waited for.
    with suppress(OSError):
        line.send(job)


def _taken(line: Connection, under_way: deque[int]) -> Played:
    try:
        answer = line.recv()
    except (EOFError, OSError):
        raise AdapterError(
            f"a worker process ended while it played workload {under_way[0]}",
            code=Fault.DIED,
            hint="run the same check with --workers 1 to see why",
        ) from None
    if isinstance(answer, dict):
        raise AdapterError(answer.pop("message"), **answer)
    assert isinstance(answer, Played)
    under_way.popleft()
    return answer


def _work(line: Connection, again: Callable[[], Loaded], checkers: tuple[Checker, ...], seed: int) -> None:
    """What a worker process does until nothing more is asked of it."""
    try:
        with again() as loaded:
            description = None
            while True:
                number, workload = line.recv()
                description = description or loaded.describe()
                line.send(played(loaded, description, number, workload, checkers, seed))
    except EOFError:
        return
    except AdapterError as error:
        told = {"message": error.message, "code": error.code, "cause": error.cause, "hint": error.hint}
        # Nobody listens any more where the check ended meanwhile.
        with suppress(OSError):
            line.send({**told, "stderr": error.stderr})


def played(
    loaded: Loaded,
    description: Description,
    number: int,
    workload: Workload,
    checkers: Sequence[Checker],
    seed: int,
) -> Played:
    """Play one workload on a fresh compactor in this process, and judge it. Raises `AdapterError`."""
    history = play(loaded.make(), workload, description=description, location=loaded.location, seed=seed)
    judgements = judge(checkers, history)
    return Played(
        number=number,
        judgements=judgements,
        history=history if any(judgement.failures for judgement in judgements) else None,
        summarised=any(event.op == "summarise" for event in history.events),
        operations=operations(history),
        ends=ends(history.events),
    )
