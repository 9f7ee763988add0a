"""The explorer's speed, beside SPIN in the same run: `python tests/bench/explorer.py [--spans 6] [--no-peers]`.

Not a test: nothing that is collected depends on time. It prints figures and the ratios that they are held to, and
ends with 1 where one is not met. SPIN, rumur and a C compiler are needed for the comparisons only.
Every process is a new one: start of the interpreter and reading of compiled code included.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import sys
import tempfile
from pathlib import Path

from measuring import Account, Run, run
from promela import model

from anchorhold_spec.machines import load
from anchorhold_spec.publish.murphi import export_murphi

STATES = {4: 136_801, 5: 1_364_551, 6: 11_617_681}
ORBITS = {4: 1_111, 5: 2_311, 6: 3_586}
ANCHORING = {"raws": 2, "summaries": 2, "assertions": 2, "facts": 1}
COMMAND = (
    "from typer import Typer; from anchorhold.cli.explore import explore; a = Typer(); a.command()(explore); a()"
)


def explore(machine: str, sizes: dict[str, int], *options: str) -> tuple[Run, dict]:
    """The command, as anybody would give it."""
    size = ",".join(f"{name}={count}" for name, count in sizes.items())
    done = run(sys.executable, "-c", COMMAND, machine, "--size", size, "--json", *options)
    return done, json.loads(done.output)


def warm(machine: str, sizes: dict[str, int]) -> tuple[Run, dict]:
    """The second of two runs: what is compiled is cached."""
    cold, _ = explore(machine, sizes)
    print(f"      first full run, compiling what is not cached: {cold.wall:.1f} s")
    return explore(machine, sizes)


def rate(full: dict) -> float:
    """Million distinct states a second."""
    return full["states"] / full["seconds"] / 1e6


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


def rumur(machine: str, sizes: dict[str, int]) -> tuple[Run, int]:
    """An independent checker's count, on the model that is exported for it; without the time of compiling it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "model.m").write_text(export_murphi(load(machine), sizes=sizes), encoding="utf-8")
        options = ["--deadlock-detection", "off", "--symmetry-reduction", "off", "--color", "off"]
        run("rumur", *options, "--output", "model.c", "model.m", cwd=path)
        wide = ["-mcx16"] if platform.machine() == "x86_64" else []
        run("gcc", "-std=c11", "-O2", "-w", *wide, "-o", "model", "model.c", "-lpthread", "-latomic", cwd=path)
        done = run("./model", cwd=path)
    found = re.search(r"([\d,]+) states, ", done.output)
    assert found is not None, done.output
    assert "No error found" in done.output
    return done, int(found.group(1).replace(",", ""))


def release_race(account: Account, spans: int, *, peers: bool) -> None:
    """The yardstick: with symmetry, without, and beside SPIN."""
    sizes = {"spans": spans, "keys": 3, "epochs": 3}
    cold, _ = explore("release-race", sizes, "--symmetry")
    print(f"      first run with symmetry, compiling what is not cached: {cold.wall:.1f} s")
    _, reduced = explore("release-race", sizes, "--symmetry")
    account.equal("orbits", reduced["states"], ORBITS[spans])
    account.hold("seconds for all orbits, compiled", reduced["seconds"], 1.0, unit=" s")
    whole, full = warm("release-race", sizes)
    account.equal("states", full["states"], STATES[spans])
    account.hold("million distinct states a second, compiled", rate(full), 3.0, least=True)
    account.hold("most memory", whole.memory, 1.5, unit=" GB")
    if peers:
        peer, states = spin(spans)
        account.equal("states that SPIN finds", states, STATES[spans])
        account.hold("whole process ÷ SPIN, wall", whole.wall / peer.wall, 0.3)
        print(f"      whole process {whole.wall:.1f} s, SPIN {peer.wall:.1f} s")
        # On a machine with other work this says more: two threads' time over SPIN's one.
        print(f"      processor time {whole.processor:.1f} s, SPIN {peer.processor:.1f} s")


def anchoring(account: Account, *, peers: bool) -> None:
    """Another machine, so that no speed is had for one alone; its count is confirmed by rumur."""
    whole, full = warm("anchoring", ANCHORING)
    print(f"      anchoring at {ANCHORING}: {full['states']:,} states, {full['transitions']:,} transitions")
    account.hold("states of anchoring", full["states"], 1e6, least=True)
    account.hold("million distinct states a second of anchoring, compiled", rate(full), 2.0, least=True)
    print(f"      whole process {whole.wall:.1f} s, processor time {whole.processor:.1f} s")
    if peers:
        peer, states = rumur("anchoring", ANCHORING)
        account.equal("states of anchoring", full["states"], states)
        print(f"      rumur {peer.wall:.1f} s, processor time {peer.processor:.1f} s")


def main() -> int:
    """Exit status: 0 all met, 1 not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spans", type=int, choices=sorted(STATES), default=6)
    parser.add_argument("--no-peers", action="store_true", help="neither SPIN nor rumur")
    chosen = parser.parse_args()
    if not chosen.no_peers:
        missing = [name for name in ("spin", "rumur", "gcc") if shutil.which(name) is None]
        if missing:
            print(f"not installed: {', '.join(missing)}; --no-peers leaves the comparisons out")
            return 1
    account = Account()
    release_race(account, chosen.spans, peers=not chosen.no_peers)
    anchoring(account, peers=not chosen.no_peers)
    return 0 if account.good else 1


if __name__ == "__main__":
    sys.exit(main())
