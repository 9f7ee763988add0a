"""The explorer's speed, beside SPIN in the same run: `python tests/bench/explorer.py [--spans 6] [--no-spin]`.

Not a test: nothing that is collected depends on time. It prints figures and the ratios that they are held to, and
ends with 1 where one is not met. SPIN and a C compiler are needed for the comparison only.
Every process is a new one: start of the interpreter and reading of compiled code included.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from promela import model

STATES = {4: 136_801, 5: 1_364_551, 6: 11_617_681}
ORBITS = {4: 1_111, 5: 2_311, 6: 3_586}
COMMAND = (
    "from typer import Typer; from anchorhold.cli.explore import explore; a = Typer(); a.command()(explore); a()"
)


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


def explore(spans: int, *options: str) -> tuple[Run, dict]:
    """The command, as anybody would give it."""
    size = f"spans={spans},keys=3,epochs=3"
    done = run(sys.executable, "-c", COMMAND, "release-race", "--size", size, "--json", *options)
    return done, json.loads(done.output)


def spin(spans: int) -> tuple[Run, int]:
    """SPIN's exhaustive search, without the time of compiling it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "model.pml").write_text(model(spans, 3, 3))
        run("spin", "-a", "model.pml", cwd=path)
        run("gcc", "-O2", "-DSAFETY", "-o", "pan", "pan.c", cwd=path)
        done = run("./pan", "-m2000000", "-E", "-w24", cwd=path)
    found = re.search(r"([\d.e+]+) states, stored", done.output)
    assert found is not None, done.output
    assert "errors: 0" in done.output
    return done, int(float(found.group(1)))


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


def main() -> int:
    """Exit status: 0 all met, 1 not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spans", type=int, choices=sorted(STATES), default=6)
    parser.add_argument("--no-spin", action="store_true")
    chosen = parser.parse_args()
    account = Account()
    cold, _ = explore(chosen.spans, "--symmetry")
    print(f"      first run with symmetry, compiling what is not cached: {cold.wall:.1f} s")
    _, reduced = explore(chosen.spans, "--symmetry")
    account.equal("orbits", reduced["states"], ORBITS[chosen.spans])
    account.hold("seconds for all orbits, compiled", reduced["seconds"], 1.0, unit=" s")
    cold, _ = explore(chosen.spans)
    print(f"      first full run, compiling what is not cached: {cold.wall:.1f} s")
    whole, full = explore(chosen.spans)
    account.equal("states", full["states"], STATES[chosen.spans])
    rate = full["states"] / full["seconds"] / 1e6
    account.hold("million distinct states a second, compiled", rate, 3.0, least=True)
    account.hold("most memory", whole.memory, 1.5, unit=" GB")
    if not chosen.no_spin:
        if shutil.which("spin") is None or shutil.which("gcc") is None:
            print("SPIN or gcc is not installed: no comparison (--no-spin leaves it out)")
            return 1
        peer, states = spin(chosen.spans)
        account.equal("states that SPIN finds", states, STATES[chosen.spans])
        account.hold("whole process ÷ SPIN, wall", whole.wall / peer.wall, 0.3)
        print(f"      whole process {whole.wall:.1f} s, SPIN {peer.wall:.1f} s")
        # On a machine with other work this says more: two threads' time over SPIN's one.
        print(f"      processor time {whole.processor:.1f} s, SPIN {peer.processor:.1f} s")
    return 0 if account.good else 1


if __name__ == "__main__":
    sys.exit(main())
