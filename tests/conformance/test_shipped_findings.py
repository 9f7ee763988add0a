"""Each finding still shows with the pinned version, is short, and owes nothing to Anchorhold."""

import re
import subprocess
from pathlib import Path

import pytest
from uv import find_uv_bin

from anchorhold.check import check
from anchorhold.checkers import CHECKERS
from anchorhold.load import load
from anchorhold.scenarios import Effort

FINDINGS = Path(__file__).parents[2] / "conformance" / "findings"
SCRIPTS = sorted(FINDINGS.glob("*.py"))


def test_there_are_findings() -> None:
    assert SCRIPTS


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_finding_is_short_and_uses_the_compactors_own_interface(script: Path) -> None:
    text = script.read_text(encoding="utf-8")

    assert len(text.splitlines()) <= 40
    assert "anchorhold" not in text.lower()
    # Every dependency with its version, so that the script shows tomorrow what it shows today.
    dependencies = re.search(r"^# dependencies = \[(.*)\]$", text, re.MULTILINE)
    assert dependencies is not None
    assert all("==" in dependency for dependency in dependencies[1].split(","))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_readme_lists_a_finding(script: Path) -> None:
    rule = re.search(r"-([a-z]{3}-\d)$", script.stem)

    assert rule is not None
    row = f"| [{script.name}]({script.name}) | {rule[1].upper()} |"
    assert row in (FINDINGS / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_finding_shows(script: Path) -> None:
    done = subprocess.run(
        [find_uv_bin(), "run", "--quiet", "--script", script],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )

    # A script that breaks exits with 1 as well: what it says is what counts.
    assert "Traceback" not in done.stderr, done.stderr
    assert all(word in done.stdout for word in ("Did: ", "Expected: ", "Got")), done.stdout
    assert done.returncode == 1, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["agent-framework-core", "deepagents"])
def test_every_rule_that_a_check_reports_as_broken_has_a_finding(name: str, tmp_path: Path) -> None:
    with load(name) as loaded:
        result = check(loaded, checkers=CHECKERS, histories=tmp_path, effort=Effort.QUICK).result
    shown = {script.stem.removeprefix(f"{name}-").upper() for script in SCRIPTS if script.stem.startswith(f"{name}-")}

    blamed = {failure.rule: failure.sentence for failure in result.failures if failure.rule not in shown}
    assert blamed == {}
