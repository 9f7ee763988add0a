"""Running processes and holding what they took against limits, for the programs of this folder."""

from __future__ import annotations

import resource
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One process."""

    output: str
    wall: float
    """Seconds."""
    processor: float
    """Seconds of all its threads together: what a busy machine changes less than `wall`."""
    memory: float
    """Most, in GB; of all processes so far."""


def run(*command: str, cwd: Path | None = None) -> Run:
    """Runs a process; raises where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    output = subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(output, wall, processor, after.ru_maxrss / 1e6)


class Account:
    """Prints figures and remembers whether all were met."""

    def __init__(self) -> None:
        self.good = True

    def hold(self, what: str, value: float, limit: float, *, least: bool = False, unit: str = "") -> None:
        """One figure against its limit."""
        met = value >= limit if least else value <= limit
        self.good = self.good and met
        sign = "≥" if least else "≤"
        print(f"{'met ' if met else 'MISSED'}  {what}: {value:.3g}{unit} ({sign} {limit:g}{unit})")

    def equal(self, what: str, value: int, expected: int) -> None:
        """One count against what is known."""
        self.good = self.good and value == expected
        print(f"{'met ' if value == expected else 'MISSED'}  {what}: {value:,} (exactly {expected:,})")
