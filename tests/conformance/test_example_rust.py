"""The worked example in Rust, written from PROTOCOL.md alone: built by the compiler that is here, smoked, judged."""

import shutil
import subprocess
from pathlib import Path

import pytest

from anchorhold.check import check
from anchorhold.checkers import CHECKERS
from anchorhold.load import load
from anchorhold.scenarios import Effort
from anchorhold.smoke import smoke
from anchorhold.verdict import VerdictKind
from anchorhold.wire.process import Limits

EXAMPLE = Path(__file__).parents[2] / "conformance" / "examples" / "keepsake"
LIMITS = Limits(start=60, call=60, stop=10)
RULES = ("PTR-1", "OUT-1", "CRA-1", "REC-1")

pytestmark = pytest.mark.skipif(shutil.which("rustc") is None, reason="no rustc on this machine")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    built = tmp_path_factory.mktemp("keepsake") / "keepsake"
    command = ["rustc", "--edition", "2021", "-O", "-o", str(built), str(EXAMPLE / "src" / "main.rs")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stderr) == (0, "")
    return f"cmd:{built}"


def test_the_adapter_passes_smoke(program: str) -> None:
    found = smoke(program, seconds=60)
    assert [str(finding) for finding in found.findings] == []


def test_what_it_holds_is_seen_and_what_cannot_be_seen_is_said(program: str, tmp_path: Path) -> None:
    asked = (*RULES, "RET-2", "ERA-1")
    with load(program, limits=LIMITS) as loaded:
        checked = check(loaded, checkers=CHECKERS, histories=tmp_path, effort=Effort.QUICK, rules=asked)
    held = {rule: checked.result.rules[rule].verdict for rule in asked}
    assert {rule: held[rule] for rule in RULES} == dict.fromkeys(RULES, VerdictKind.PASS)
    assert held["RET-2"] is VerdictKind.NOT_OBSERVABLE
    assert held["ERA-1"] is VerdictKind.VACUOUS
