"""What the suite can do to a program from outside: what of it the program offers, and under which names.

To kill a process takes nobody's leave; what it takes is that another process can be started on what the first one
left behind (`resume`). A disk on which the program's files lie (`anchorhold.disk`) adds faults at its own steps.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from anchorhold.compactor import Description, Mechanism
from anchorhold.disk.client import DiskClient
from anchorhold.disk.faults import Change
from anchorhold.wire.fake_clock import FakeClock

KILLS: Final = 6
"""Steps of a compaction before which the program is killed, of all that there are: first, last, and some between."""
CUTS: Final = 4
"""Steps of a compaction before which power goes."""
MODEL: Final = "killed while its model is asked"
_NAME: Final = re.compile(r"(killed|power cut) before step (\d+) \((.+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A step of a compaction on the disk, counted from 1, and how the program is stopped before it."""

    at: int
    change: Change
    power: bool
    """Whether power goes as well: what was not synced by then is gone."""

    @property
    def name(self) -> str:
        """As it stands among the crash points. It names no file: their names are made up anew each time."""
        return f"{'power cut' if self.power else 'killed'} before step {self.at} ({self.change})"


def point_of(name: str) -> Point | None:
    """The point of this name; none for any other."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return Point(at=int(match[2]), change=Change(match[3]), power=match[1] == "power cut")


def points(steps: Sequence[Change]) -> tuple[Point, ...]:
    """Where a compaction of these steps is stopped, so that it is met in states that differ.

    A process that is killed leaves another state behind after each change; a loss of power, after each sync.
    """
    numbered = list(enumerate(steps, start=1))
    changes = [Point(at=at, change=change, power=False) for at, change in numbered if change is not Change.SYNC]
    syncs = [Point(at=at, change=change, power=True) for at, change in numbered if change is Change.SYNC]
    return (*_some(changes, KILLS), *_some(syncs, CUTS))


def _some(of: Sequence[Point], most: int) -> list[Point]:
    if len(of) <= most:
        return list(of)
    return [of[round(number * (len(of) - 1) / (most - 1))] for number in range(most)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """The means at hand for one program."""

    clock: FakeClock | None = None
    disk: DiskClient | None = None
    restarts: bool = True
    """Whether another program can be started on the files of one that was killed."""
    steps: tuple[Change, ...] = ()
    """Those of a compaction on the disk, once one was seen."""

    def means(self, offered: Collection[str]) -> frozenset[str]:
        """Operations that are the suite's own here, of a program that offers these.

        A clock that the program moves itself is moved by the program. Of its files the disk knows more than anybody.
        """
        own = set()
        if self.clock is not None and "clock" not in offered:
            own.add("clock")
        if self.restarts and {"resume", "reopen"} <= set(offered):
            own.add("kill")
            if self.steps or "crash" not in offered:
                own.add("crash")
            if self.steps:
                own.add("lose_power")
        if self.steps:
            own.add("fail_store")
            if "corrupt" not in offered and {"pointers", "get"} <= set(offered):
                own.add("corrupt")
        return frozenset(own)

    def described(self, description: Description, *, without_disk: str | None = None) -> Description:
        """The description with these means in it. `without_disk`: why there is no disk where one was asked for."""
        own = set(self.means(description.operations))
        found = points(self.steps)
        hidden: dict[Mechanism, str] = {}
        if self.disk is not None and not found:
            hidden[Mechanism.STORE_ERRORS] = (
                "no compaction changed a file in its TMPDIR: where it keeps its state cannot be made to fail"
            )
        names = description.crash_points
        if "crash" in own or found:
            model = (MODEL,) if "crash" in own and Mechanism.SUMMARISER in description.mechanisms else ()
            names = (*model, *(point.name for point in found if point.power is False or "lose_power" in own))
        if "crash" in own and not names:
            own -= {"crash"}
        means = description.operations | own
        if "resume" not in means and "reopen" in means:
            missing = "a program that was killed cannot be started on its files again: it offers no `resume`"
            hidden |= {m: missing for m, op in _STOPS.items() if op not in means}
        elif "lose_power" not in means and "resume" in means:
            hidden[Mechanism.POWER_LOSS] = without_disk or "to be seen with 'cmd+store:'"
        if "fail_store" not in means and without_disk is not None:
            hidden[Mechanism.STORE_ERRORS] = without_disk
        told: Mapping[Mechanism, str] = {**hidden, **description.hidden}
        shown = {_BY[operation] for operation in own if operation in _BY}
        return replace(
            description,
            operations=means,
            crash_points=tuple(names),
            hidden={mechanism: why for mechanism, why in told.items() if mechanism not in shown},
        )


_STOPS: Final[Mapping[Mechanism, str]] = {Mechanism.CRASHES: "crash", Mechanism.POWER_LOSS: "lose_power"}
_BY: Final[Mapping[str, Mechanism]] = {
    "clock": Mechanism.CLOCKS,
    "crash": Mechanism.CRASHES,
    "lose_power": Mechanism.POWER_LOSS,
    "fail_store": Mechanism.STORE_ERRORS,
    "corrupt": Mechanism.STORE_FAULTS,
}
