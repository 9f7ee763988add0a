"""The command: what it prints where, and what it ends with."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from anchorhold.checkers import CHECKERS
from anchorhold.cli import main
from anchorhold.result import OWN_FAULT, decode
from anchorhold_spec.catalogue import RULES

TOYS = Path(__file__).with_name("toy_compactors.py")
SDK = Path(__file__).parents[2] / "conformance" / "anchorhold" / "adapters"
ADAPTER = f"""import sys
sys.path[:0] = [{str(SDK)!r}, {str(TOYS.parent)!r}]
from anchorhold_sdk import serve
from toy_compactors import Loses
serve(Loses())
"""
"""A program, to be named by a path that means something in one directory only."""


class Ended:
    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err


@pytest.fixture
def command(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        out, err = capfdbinary.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, out.decode(), err.decode())

    return run


def test_help_names_every_command_and_imports_nothing_heavy() -> None:
    code = (
        "import sys; from anchorhold.cli import application; application(['--help']);"
        "print([m for m in ('z3', 'hypothesis', 'numba', 'uv', 'msgspec', 'rich') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout.strip() == "[]"


def test_help_and_version(command) -> None:  # type: ignore[no-untyped-def]
    shown = command("--help")

    assert shown.status == 0
    assert all(f"  {name} " in shown.out for name in ("check", "replay", "compactors", "spec", "prove"))
    assert command("--version").out.startswith("anchorhold ")
    assert command("spec", "show", "ANC-1").out.startswith("ANC-1")


def test_check_json_prints_the_document_alone(command) -> None:  # type: ignore[no-untyped-def]
    ended = command(
        "check", f"{TOYS}:Archive", "--json", "--scenario", "growth-drop", "--rule", "ANC-1", "--seed", "7"
    )
    document = json.loads(ended.out)

    assert ended.status == 0
    assert document["schema"] == 1
    assert document["seed"] == 7
    assert document["rules"]["ANC-1"]["verdict"] == "pass"
    assert decode(ended.out.encode()).failures == ()
    assert not Path("anchorhold-report").exists()


def test_check_ends_with_one_where_a_rule_failed_and_replay_shows_the_same(command) -> None:  # type: ignore[no-untyped-def]
    ended = command("check", f"{TOYS}:Loses", "--scenario", "growth-drop", "--rule", "PTR-1")

    assert ended.status == 1
    assert f"anchorhold replay {Path('anchorhold-report/histories/PTR-1.jsonl').absolute()}\n" in ended.out
    again = command("replay", "anchorhold-report/histories/PTR-1.jsonl")
    assert again.status == 1
    assert "PTR-1 fails again." in again.out
    assert "compact  →  committed" in again.out
    other = command("replay", "anchorhold-report/histories/PTR-1.jsonl", "--compactor", f"{TOYS}:Archive")
    assert other.status == 0
    assert "PTR-1 holds this time." in other.out


def test_check_ends_with_three_where_the_level_asked_for_is_blocked(command) -> None:  # type: ignore[no-untyped-def]
    ended = command("check", f"{TOYS}:Archive", "--scenario", "growth-drop", "--rule", "ANC-1", "--level", "5")

    assert ended.status == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ("--rule", "IDX-5", "--scenario", "growth-drop"),
        ("--rule", "pro-1", "--scenario", "little-to-do"),
        ("--rule", "PTR-1", "--scenario", "restarts"),
        ("--scenario", "restarts"),
    ],
)
def test_check_ends_with_three_where_a_rule_asked_for_was_not_seen_to_hold(command, arguments) -> None:  # type: ignore[no-untyped-def]
    ended = command("check", f"{TOYS}:Archive", "--json", *arguments)
    document = json.loads(ended.out)

    assert ended.status == 3
    assert document["failures"] == []
    assert {each["verdict"] for each in document["rules"].values()} <= {"untested", "inconclusive"}


def test_check_counts_the_rules_that_were_not_asked_for(command) -> None:  # type: ignore[no-untyped-def]
    ended = command("check", f"{TOYS}:Archive", "--scenario", "growth-drop", "--rule", "ANC-1")

    assert ended.status == 0
    assert f"The other {len(RULES) - 1} rules were not judged" in " ".join(ended.out.split())


def test_every_rule_of_the_catalogue_has_a_checker() -> None:
    assert {checker.rule for checker in CHECKERS} == set(RULES)


@pytest.mark.parametrize(
    "kept_of",
    ["toys.py:Loses", "toys:Loses", f"cmd:{shlex.quote(sys.executable)} loses_adapter.py"],
)
def test_the_replay_command_works_from_another_directory(kept_of: str, tmp_path: Path) -> None:
    shutil.copy(TOYS, tmp_path / "toys.py")
    (tmp_path / "loses_adapter.py").write_text(ADAPTER, encoding="utf-8")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def shell(words: str, where: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, shell=True, cwd=where, env=environment, capture_output=True, text=True, check=False
        )

    there = shell(
        f"anchorhold check {shlex.quote(kept_of)} --scenario growth-drop --rule PTR-1 --effort quick --json", tmp_path
    )
    assert there.returncode == 1, there.stderr
    (tmp_path / "elsewhere").mkdir()
    (failure,) = json.loads(there.stdout)["failures"]
    again = shell(failure["replay"], tmp_path / "elsewhere")

    assert "PTR-1 fails again." in again.stdout, again.stderr
    assert again.returncode == 1


def test_replay_is_exact_and_says_where_it_is_not(command) -> None:  # type: ignore[no-untyped-def]
    command("check", f"{TOYS}:Loses", "--scenario", "growth-drop", "--rule", "PTR-1", "--effort", "quick")
    path = "anchorhold-report/histories/PTR-1.jsonl"

    again = command("replay", path)
    other = command("replay", path, "--compactor", f"{TOYS}:Archive")
    exactly = command("replay", path, "--compactor", f"{TOYS}:Archive", "--exact")

    assert "events as in the file, byte for byte" in again.out
    assert again.status == 1
    assert "is not as in the file" in other.out
    assert [line for line in other.out.splitlines() if line.startswith(("  file ", "  now "))]
    # Without --exact another course of events is told, and is no failure of a rule.
    assert (other.status, exactly.status) == (0, 3)


def test_replay_says_where_nothing_but_names_is_otherwise(command) -> None:  # type: ignore[no-untyped-def]
    command(
        "check", f"{TOYS}:LosesUnderNewNames", "--scenario", "growth-drop", "--rule", "PTR-1", "--effort", "quick"
    )

    again = command("replay", "anchorhold-report/histories/PTR-1.jsonl")

    assert "PTR-1 fails again" in again.out
    assert "as in the file but for names" in again.out
    assert "is not as in the file" not in again.out


def test_replay_says_where_a_program_has_to_be_looked_for(command, monkeypatch, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    adapter = Path("loses_adapter.py")
    adapter.write_text(ADAPTER, encoding="utf-8")
    kept_of = f"cmd:{shlex.quote(sys.executable)} loses_adapter.py"
    assert command("check", kept_of, "--scenario", "growth-drop", "--rule", "PTR-1", "--effort", "quick").status == 1
    adapter.unlink()

    ended = command("replay", "anchorhold-report/histories/PTR-1.jsonl")

    assert ended.status == 2
    assert "replay it where that was checked, or name it with --compactor" in ended.err


def test_check_writes_its_reports_where_it_is_told_to(command) -> None:  # type: ignore[no-untyped-def]
    ended = command("check", f"{TOYS}:Loses", "--scenario", "growth-drop", "--rule", "PTR-1", "--report", "out")

    assert ended.status == 1
    assert {path.name for path in Path("out").iterdir()} == {
        "result.json",
        "junit.xml",
        "badge.svg",
        "report.html",
        "histories",
    }
    assert [path.name for path in Path("out/histories").iterdir()] == ["PTR-1.jsonl"]
    assert decode(Path("out/result.json").read_bytes()).failures[0].history == "out/histories/PTR-1.jsonl"


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("no-such-compactor", "no compactor 'no-such-compactor'"),
        ("no.such.module:Class", "cannot be imported"),
        ("nowhere.py:Class", "no file 'nowhere.py'"),
        (f"{TOYS}:Nothing", "no 'Nothing'"),
        (f"{TOYS}:CannotOpen", "no store here"),
        (f"{TOYS}:OutOfSchema", "out of schema"),
        ("cmd:/no/such/program", "/no/such/program"),
        (f"cmd:{sys.executable} -c 'print(1)'", "no message"),
        (f"cmd:{sys.executable} -c 'import sys; sys.exit(3)'", "status 3"),
    ],
)
def test_a_compactor_that_cannot_be_driven_is_one_line_and_status_two(command, target: str, says: str) -> None:  # type: ignore[no-untyped-def]
    ended = command("check", target, "--effort", "quick", "--json")
    document = json.loads(ended.out)
    (line,) = [line for line in ended.err.splitlines() if not line.startswith("checking ")][:1]

    assert ended.status == 2
    assert line.startswith("anchorhold: ")
    assert says in line
    assert "Traceback" not in ended.err
    assert document["rules"] == {}
    assert document["level"] is None
    assert says in document["error"]


def test_a_compactor_that_hangs_is_given_up_after_the_time_out(command) -> None:  # type: ignore[no-untyped-def]
    ended = command("check", f"{TOYS}:Hangs", "--effort", "quick", "--timeout", "0.3")

    assert ended.status == 2
    assert "hangs: `compact` took more than 0.3 s" in ended.err
    assert "Traceback" not in ended.err


def test_what_an_adapter_wrote_to_standard_error_is_kept_with_the_report(command, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    program = tmp_path / "adapter.py"
    program.write_text("import sys\nsys.stderr.write('the pump is dry\\n')\nsys.exit(4)\n")
    ended = command("check", f"cmd:{sys.executable} {program}", "--report", "out")

    assert ended.status == 2
    assert "the pump is dry" in Path("out/adapter-stderr.txt").read_text()
    assert "the pump is dry" in decode(Path("out/result.json").read_bytes()).stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("check", "--rule", "ANC-99"), "no rule is called 'ANC-99'"),
        (("check", "--level", "9"), "--level"),
        (("check", "--effort", "heroic"), "heroic"),
        (("check", "--scenario", "shrink"), "no scenario is called 'shrink': there are growth-drop,"),
        (("check", f"{TOYS}:Archive", "--scenario", "crash-nowhere"), "no scenario is called 'crash-nowhere'"),
        (
            ("check", f"{TOYS}:Archive", "--scenario", "growth-drop", "--scenario", "mixture-99"),
            "no scenario is called 'mixture-99': did you mean mixture-9?",
        ),
        (("chekc",), "Did you mean 'check'"),
        (("replay", "nowhere.jsonl"), "nowhere.jsonl: No such file"),
    ],
)
def test_wrong_usage_says_what_is_wrong_and_ends_with_two(command, arguments: tuple[str, ...], says: str) -> None:  # type: ignore[no-untyped-def]
    ended = command(*arguments)

    assert ended.status == 2
    assert says in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("content", [b"", b"hello\n", b'{"anchorhold_history": 99}\n', b"\xff\xfe\n"])
def test_replay_of_what_is_no_history_names_the_line_and_ends_with_two(command, content: bytes) -> None:  # type: ignore[no-untyped-def]
    Path("bad.jsonl").write_bytes(content)
    ended = command("replay", "bad.jsonl")

    assert ended.status == 2
    assert ended.err.startswith("anchorhold: bad.jsonl:1: ")
    assert len(ended.err.splitlines()) == 1


def test_replay_of_a_truncated_history_names_the_line(command) -> None:  # type: ignore[no-untyped-def]
    command("check", f"{TOYS}:Loses", "--scenario", "growth-drop", "--rule", "PTR-1")
    path = Path("anchorhold-report/histories/PTR-1.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:10]) + lines[10][:20])
    ended = command("replay", str(path))

    assert ended.status == 2
    assert ended.err.startswith(f"anchorhold: {path}:11: ")


def test_an_interrupt_is_one_line_and_status_130(command, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("anchorhold.cli.checking.run_check", interrupted)
    ended = command("check", f"{TOYS}:Archive")

    assert ended.status == 130
    assert ended.err.splitlines()[-1] == "anchorhold: interrupted"
    assert "Traceback" not in ended.err


def test_a_fault_of_the_suite_is_no_verdict_and_blames_nobody(command, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    def fails(*_: object, **__: object) -> None:
        raise TypeError("unsupported format string")

    monkeypatch.setattr("anchorhold.cli.checking.run_check", fails)
    ended = command("check", f"{TOYS}:Archive", "--json", "--report", "r")
    (case,) = ET.parse("r/junit.xml").getroot().iter("testcase")
    page = Path("r/report.html").read_text(encoding="utf-8")

    assert ended.status == 2
    assert json.loads(ended.out)["error"] == decode(Path("r/result.json").read_bytes()).error
    lines = ended.err.splitlines()
    assert lines[0] == f"anchorhold: {OWN_FAULT}: TypeError: unsupported format string"
    assert lines[1:] == ["anchorhold: report: r/report.html; traceback: r/traceback.txt"]
    assert "in fails" in Path("r/traceback.txt").read_text(encoding="utf-8")
    assert (case.get("name"), case[0].get("type")) == ("the suite works", "suite")
    assert "The suite itself failed" in page
    assert "Please report it" in page
    assert "The adapter did not work" not in page
    assert "anchorhold smoke" not in page
    assert ">no verdict<" in Path("r/badge.svg").read_text(encoding="utf-8")
