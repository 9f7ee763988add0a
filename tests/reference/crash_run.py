"""One workload, killed at one durable step after the other. A program of its own, since it forks.

    python crash_run.py DIRECTORY

First the workload runs to its end, and its writes and syncs are counted: these are the steps. Then it runs once for
each of them, in a process of its own that is killed (SIGKILL) right before that step. What each left behind stands in
DIRECTORY/<step>, what had been acknowledged by then in DIRECTORY/<step>/acknowledged, one character an operation;
DIRECTORY/views.json holds what could be seen after each operation. Prints the number of steps.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seen import view
from transcripts import Script, fill, port, token_of

from anchorhold_reference import Settings, Transcript
from anchorhold_reference.faults.power import Change, Disk
from anchorhold_reference.stores.sqlite import SqliteFile
from anchorhold_spec.vocabulary import OutcomeKind

UPTO = 10
SETTINGS = Settings(keep=2, horizon=0)


def operations(transcript: Transcript, script: Script) -> list[Callable[[], Any]]:
    """Two generations, an eviction, a tombstone, copies that come after their commit, an erasure."""

    def expect(kind: OutcomeKind, operation: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> None:
            outcome = operation()
            assert outcome.kind is kind, outcome

        return run

    def held() -> None:
        transcript.hold_copies(True)
        assert transcript.compact().kind is OutcomeKind.COMMITTED

    script.say(port(1), port(2))
    return [
        lambda: fill(transcript, 1, 6),
        expect(OutcomeKind.COMMITTED, transcript.compact),
        expect(OutcomeKind.COMMITTED, lambda: transcript.evict(token_of(transcript, "t1"))),
        expect(OutcomeKind.COMMITTED, lambda: transcript.tombstone("7003", "t3", "moved")),
        lambda: fill(transcript, 7, UPTO),
        held,
        transcript.settle,
        expect(OutcomeKind.COMMITTED, lambda: transcript.forget("t5")),
    ]


class Counter(Disk):
    """Counts the writes and syncs, and dies right before one of them."""

    def __init__(self, die_at: int) -> None:
        super().__init__()
        self.steps = 0
        self.die_at = die_at
        self.before_sync = lambda _path: self.step()

    def changing(self, path: Path, change: Change) -> None:
        self.step()
        super().changing(path, change)

    def step(self) -> None:
        self.steps += 1
        if self.steps == self.die_at:
            os.kill(os.getpid(), signal.SIGKILL)


def run(directory: Path, *, die_at: int, views: list[dict[str, Any]] | None = None) -> int:
    """The workload; answers with how many steps it had."""
    directory.mkdir(parents=True)
    script, disk = Script(), Counter(die_at)
    file = SqliteFile(path=directory / "ledger.db", connect=disk.connect)
    with (directory / "acknowledged").open("wb", buffering=0) as acknowledged:
        transcript = Transcript.open(file, summarise=script, settings=SETTINGS)
        counted = disk.steps
        for i, operation in enumerate([lambda: None, *operations(transcript, script)]):
            operation()
            counted = disk.steps
            acknowledged.write(b".")
            if views is not None:
                views.append(view(transcript, UPTO))
                assert disk.steps == counted, f"looking wrote something after operation {i}"
    transcript.close()
    disk.close()
    return counted


def main(directory: Path) -> None:
    views: list[dict[str, Any]] = []
    steps = run(directory / "whole", die_at=0, views=views)
    (directory / "views.json").write_text(json.dumps(views), encoding="utf-8")
    for step in range(1, steps + 1):
        child = os.fork()
        if child == 0:
            try:
                run(directory / str(step), die_at=step)
            finally:
                os._exit(1)  # it was to be killed: who gets here has not come to that step
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"step {step}: the process ended with {status}"
        assert os.WTERMSIG(status) == signal.SIGKILL, f"step {step}: the process ended with {status}"
    print(steps)  # noqa: T201 - its answer


if __name__ == "__main__":
    main(Path(sys.argv[1]))
