"""A session and workers on it, begun again and again from the same files: what `interleave.explore` runs."""

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from anchorhold_reference.faults.stepping import Gate, Step, SteppedLedger, Worker
from anchorhold_reference.stores.directory import DirectoryStore
from anchorhold_reference.stores.opening import OpenLedger
from anchorhold_reference.stores.outer import ColdStore
from anchorhold_reference.stores.sqlite import SqliteFile, SqliteLedger
from anchorhold_reference.transcript import Transcript
from anchorhold_reference.values import Request, Settings, Summarise, no_steps

Work: TypeAlias = Callable[[Transcript], object]
LEDGER = "ledger.db"
COLD = "cold"
"""The names of the two in a scene's directory."""


def still() -> tuple[str, float]:
    """An uptime that stands still: runs differ in their order and in nothing else."""
    return "scene", 1000.0


@dataclass(kw_only=True)
class Scene:
    """Whom to let work on what. A context: at its end its files are gone."""

    prepare: Work
    """Brings the session to the state in which every run begins."""
    workers: Mapping[str, Work]
    """What each does, by name, each with an opening of the session of its own."""
    summarise: Summarise
    settings: Settings = field(default_factory=lambda: Settings(keep=1, horizon=0))
    own_settings: Mapping[str, Settings] = field(default_factory=dict)
    """Of workers that open the session with others."""
    outside: bool = False
    """Originals go to a directory outside the ledger."""
    every_call: bool = False
    """Each statement is a step, also within a transaction."""
    while_preparing: Callable[[Path], None] | None = None
    """Called with the directory of the files after each step of `prepare`."""
    around: Path | None = None
    """Where to put the files; the system's place for temporary ones by default."""

    def __enter__(self) -> Self:
        self._place = tempfile.TemporaryDirectory(dir=self.around, prefix="anchorhold-scene-")
        self._root = Path(self._place.name)
        self._count = 0
        first = self._root / "first"
        first.mkdir()
        run = SceneRun(self, first, {"first": self.prepare})
        while run.unfinished():
            run.step("first")
            if self.while_preparing is not None:
                self.while_preparing(first)
        run.settle()
        if isinstance(trouble := run.results["first"], BaseException):
            raise trouble
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._place.cleanup()

    def open(self, directory: Path, *, gate: Gate | None = None, settings: Settings | None = None) -> Transcript:
        """Open the session in a directory; with a gate, stepped."""
        outside = DirectoryStore(directory / COLD) if self.outside else None
        return Transcript.open(
            directory / LEDGER,
            summarise=self.summarise,
            settings=self.settings if settings is None else settings,
            cold_store=outside,
            clock=lambda: 0.0,
            uptime=still,
            steps=no_steps if gate is None else gate.name,
            ledger=_opener(gate),
        )

    def begin(self) -> "SceneRun":
        """Workers before their first steps, on a copy of the session as it was prepared."""
        self._count += 1
        directory = self._root / str(self._count)
        shutil.copytree(self._root / "first", directory)
        return SceneRun(self, directory, self.workers)


def _opener(gate: Gate | None) -> OpenLedger:
    def open_ledger(
        where: str | Path | SqliteFile, *, scope: str, cold_store: str | Path | ColdStore | None = None
    ) -> SqliteLedger | SteppedLedger:
        del scope  # a file needs none
        assert isinstance(where, Path)
        assert cold_store is None or not isinstance(cold_store, str | Path)
        # Nobody ever waits for a lock: who would have to is not let go on.
        ledger = SqliteLedger(where, outer=cold_store, wait=0)
        return ledger if gate is None else SteppedLedger(ledger, gate)

    return open_ledger


class SceneRun:
    """See `interleave.Run`."""

    def __init__(self, scene: Scene, directory: Path, workers: Mapping[str, Work]) -> None:
        """Open the session for each worker, and let each come to its first call."""
        self.scene = scene
        self.directory = directory
        self.steps: list[Step] = []
        self.watchers: list[Callable[[Step], None]] = []
        """Called after each step."""
        self._opened: list[Transcript] = []
        self._workers: dict[str, Worker] = {}
        for name, work in workers.items():
            gate = Gate(every_call=scene.every_call)
            transcript = scene.open(directory, gate=gate, settings=scene.own_settings.get(name))
            self._opened.append(transcript)
            self._workers[name] = Worker(name, gate, partial(work, transcript))
        for worker in self._workers.values():
            worker.start()

    def unfinished(self) -> tuple[str, ...]:
        """Those that have steps left."""
        return tuple(name for name, worker in self._workers.items() if not worker.done)

    def enabled(self) -> tuple[str, ...]:
        """Those that need not wait until another one's transaction ends."""
        writing = any(worker.gate.writing for worker in self._workers.values() if not worker.done)
        return tuple(name for name in self.unfinished() if not (writing and self._workers[name].gate.writes_next))

    def step(self, worker: str) -> Step:
        """Let one take a step."""
        gate = self._workers[worker].gate
        assert gate.at is not None, f"{worker} has no step left"
        step = Step(worker, gate.at)
        self.steps.append(step)
        gate.go(step, len(self.steps) - 1)
        for watch in self.watchers:
            watch(step)
        return step

    @property
    def schedule(self) -> tuple[str, ...]:
        """Who took each step."""
        return tuple(step.worker for step in self.steps)

    @property
    def results(self) -> Mapping[str, object]:
        """What each worker's operation answered; what it raised, where it did."""
        return {
            name: worker.result if worker.error is None else worker.error for name, worker in self._workers.items()
        }

    def settle(self) -> None:
        """Close every opening, once all workers are done: the files are as they would be found."""
        for worker in self._workers.values():
            worker.stop()
        for transcript in self._opened:
            transcript.close()

    def close(self) -> None:
        """End what is under way, and leave nothing."""
        self.settle()
        shutil.rmtree(self.directory)


def told(steps: Sequence[Step]) -> str:
    """An order of steps to be read: one line for each turn of a worker, with what it did."""
    lines: list[str] = []
    last = None
    for step in steps:
        if step.worker == last:
            lines[-1] += f"; {step.call}"
        else:
            lines.append(f"{step.worker}: {step.call}")
        last = step.worker
    return "\n".join(lines)


def plain_summary(request: Request) -> str:
    """A summary that repeats no statement."""
    return f"The work went on for {len(request.messages)} messages."
