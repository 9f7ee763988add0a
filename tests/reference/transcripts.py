"""Transcripts to test with, over a scripted summariser."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from ledgers import Behind

from anchorhold_reference import Reply, Request, Settings, Transcript
from anchorhold_spec.vocabulary import Turn


class Script:
    """A summariser that does as it is told, and keeps what it was shown."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, ...]] = []
        self.write: Callable[[Request], Reply | str] = self.nothing

    def nothing(self, request: Request) -> str:
        """A summary that repeats no statement."""
        return f"Part {len(self.shown)} of the work went well."

    def __call__(self, request: Request) -> Reply:
        self.shown.append(request.messages)
        answer = self.write(request)
        return Reply(text=answer) if isinstance(answer, str) else answer

    def say(self, *lines: str) -> None:
        """Write these lines, from now on."""
        self.write = lambda request: "\n".join([f"Part {len(self.shown)}.", *lines])


def in_memory() -> Path | None:
    """A directory in memory: waiting for a disk says nothing that a killed process could tell from memory."""
    shared = Path("/dev/shm")
    return shared if os.access(shared, os.W_OK) else None


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """As pytest's own, in memory where the machine has that."""
    with tempfile.TemporaryDirectory(dir=in_memory(), prefix="anchorhold-test-") as directory:
        yield Path(directory)


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def make(behind: Behind, script: Script) -> Iterator[Callable[..., Transcript]]:
    """Opens transcripts on one database, of each kind in turn, and closes them."""
    opened: list[Transcript] = []

    def open_(**options: Any) -> Transcript:
        options.setdefault("settings", Settings(keep=2, horizon=0))
        options.setdefault("summarise", script)
        transcript = Transcript.open(options.pop("path", behind.where), **options)
        opened.append(transcript)
        return transcript

    yield open_
    for transcript in opened:
        transcript.close()


@pytest.fixture
def forked() -> Iterator[Callable[[Transcript, str], Transcript]]:
    """Forks transcripts, and closes the branches."""
    with ExitStack() as branches:
        yield lambda transcript, branch: branches.enter_context(transcript.fork(branch))


def turn(n: int, text: str | None = None, **more: Any) -> Turn:
    """A turn; without a text of its own it states one port."""
    more.setdefault("speaker", "user" if n % 2 else "assistant")
    return Turn(id=f"t{n}", text=port(n) if text is None else text, **more)


def port(n: int) -> str:
    return f"The port of db-{n} is {7000 + n}."


def fill(transcript: Transcript, first: int, last: int) -> None:
    for n in range(first, last + 1):
        transcript.append(turn(n))


def token_of(transcript: Transcript, turn_id: str) -> str:
    return next(p.token for p in transcript.pointers() if p.covers == (turn_id,))
