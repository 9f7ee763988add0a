"""Which of the steps that change the disk meets a fault, and what becomes of it. Pure bookkeeping; no effects."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

PAGE = 4096
"""Bytes of which a kernel writes all or none where the process is killed meanwhile."""


class Change(StrEnum):
    """A step that changes what is on the disk, or what of it is durable."""

    CREATE = "create"
    WRITE = "write"
    TRUNCATE = "truncate"
    RENAME = "rename"
    LINK = "link"
    UNLINK = "unlink"
    MKDIR = "mkdir"
    RMDIR = "rmdir"
    SYNC = "sync"


class DiskFault(StrEnum):
    """What the armed step meets."""

    KILL = "kill"
    """The program is killed before it; a write of several pages is cut after half of them."""
    ERROR = "error"
    """It fails (EIO), and is not done."""
    FULL = "full"
    """It and all after it that need room fail (ENOSPC), and are not done."""
    SILENT = "silent"
    """It is said to be done, and is not."""
    SHORT = "short"
    """A write is said to be done, and half of it is; any other step is `silent`."""


class Fate(StrEnum):
    """What becomes of a step."""

    DONE = "done"
    KILLED = "killed"
    FAILED = "failed"
    NO_ROOM = "no-room"
    PRETENDED = "pretended"
    HALVED = "halved"


class Verdict(NamedTuple):
    """What becomes of a step, and how many bytes of a write are written all the same."""

    fate: Fate
    bytes: int = 0


NEEDS_ROOM = frozenset({Change.CREATE, Change.WRITE, Change.MKDIR, Change.LINK})
CANNOT_PRETEND = frozenset({Change.CREATE, Change.MKDIR, Change.LINK})
"""The kernel looks at once for what was made, and would say that it is not there: the next step meets the fault."""


@dataclass(slots=True)
class Faults:
    """Counts steps from when it was armed, or told to watch."""

    steps: list[Change] = field(default_factory=list)
    """Those so far."""
    fired: bool = False
    """Whether one of them met the fault."""
    _at: int = 0
    _fault: DiskFault | None = None

    def arm(self, at: int, fault: DiskFault) -> None:
        """The step of this number from now, counted from 1, meets the fault."""
        self.watch()
        self._at, self._fault = at, fault

    def watch(self) -> None:
        """Count from here on; nothing fails."""
        self.steps.clear()
        self.fired = False
        self._at, self._fault = 0, None

    def next(self, change: Change, size: int = 0, *, grows: bool = True) -> Verdict:
        """Count a step. `size`: bytes of a write; `grows`: whether it needs room that the file has not yet."""
        self.steps.append(change)
        fault, number = self._fault, len(self.steps)
        if fault is None or number < self._at:
            return Verdict(Fate.DONE)
        if fault is DiskFault.FULL:
            if change in NEEDS_ROOM and grows:
                self.fired = True
                return Verdict(Fate.NO_ROOM)
            return Verdict(Fate.DONE)
        if self.fired:
            return Verdict(Fate.DONE)
        if fault in (DiskFault.SILENT, DiskFault.SHORT) and change in CANNOT_PRETEND:
            return Verdict(Fate.DONE)
        self.fired = True
        match fault:
            case DiskFault.KILL:
                pages = -(-size // PAGE)
                return Verdict(Fate.KILLED, pages // 2 * PAGE if change is Change.WRITE else 0)
            case DiskFault.ERROR:
                return Verdict(Fate.FAILED)
            case DiskFault.SHORT if change is Change.WRITE:
                return Verdict(Fate.HALVED, size // 2)
            case _:
                return Verdict(Fate.PRETENDED)
