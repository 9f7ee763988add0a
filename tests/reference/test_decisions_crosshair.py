"""The decisions are those of the machines: executed symbolically by CrossHair, which must confirm or refute."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import decision_contracts
import machine_decisions
import pytest
from decision_mutants import MUTANTS, mutated

import anchorhold_reference

CONTRACTS = (
    "eviction_agrees",
    "replacement_agrees",
    "release_agrees",
    "provenance_agrees",
    "reclamation_agrees",
    "expiry_agrees",
    "stopping_agrees",
    "copies_agree",
    "resolution_agrees",
)
HERE = Path(decision_contracts.__file__).parent


def check(tmp_path: Path, *contracts: str, source: str | None = None) -> dict[str, str]:
    """By contract what `crosshair check` says, with a changed `decide` if one is given. Silence is an error.

    It is bounded by iterations without progress, not by time.
    """
    package = tmp_path / "anchorhold_reference"
    if source is not None:
        shutil.copytree(Path(anchorhold_reference.__file__).parent, package)
        (package / "decide.py").write_text(source, encoding="utf-8")
    first_lines = {name: getattr(decision_contracts, name).__code__.co_firstlineno for name in contracts}
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "crosshair", "check", "--report_all", "--analysis_kind=PEP316"),
            *("--max_uninteresting_iterations", "200"),
            *(f"decision_contracts.{name}" for name in contracts),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(HERE)])},
        check=False,
    )
    said: dict[str, str] = {}
    for line in ran.stdout.splitlines():
        found = re.match(r".*decision_contracts\.py:(\d+): (.*)", line)
        assert found, f"not understood: {line}\n{ran.stderr}"
        place = int(found[1])
        name = max((n for n in contracts if first_lines[n] <= place), key=first_lines.__getitem__)
        said[name] = found[2]
    assert said.keys() == set(contracts), ran.stdout + ran.stderr
    return said


def test_every_contract_is_checked():
    defined = {
        name
        for name, each in vars(decision_contracts).items()
        if callable(each) and each.__module__ == decision_contracts.__name__
    }
    assert defined == set(CONTRACTS)


def test_every_decision_is_confirmed_over_all_paths(tmp_path):
    said = check(tmp_path, *CONTRACTS)

    assert said == dict.fromkeys(CONTRACTS, "info: Confirmed over all paths.")


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_decision_is_refuted(name, tmp_path):
    contract = MUTANTS[name].contract
    said = check(tmp_path, contract, source=mutated(name))

    assert said[contract].startswith("error: false when calling"), said


@pytest.mark.slow
def test_a_wrong_guard_is_refuted_too(tmp_path, monkeypatch):
    """The other side: were the machine to release without the copy, the decision would not agree with it."""
    text = Path(machine_decisions.__file__).read_text(encoding="utf-8")
    wrong = text.replace('"cold": {(0,): plain(landed)}', '"cold": {(0,): 1}')
    assert wrong != text
    (tmp_path / "machine_decisions.py").write_text(wrong, encoding="utf-8")

    assert check(tmp_path, "release_agrees")["release_agrees"].startswith("error: false when calling")
