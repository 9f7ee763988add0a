"""`anchorhold init`: what it writes is green, and nothing is ever overwritten."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from anchorhold import scaffold
from anchorhold.claims import read_claims
from anchorhold.cli import main
from anchorhold.expectations import read_expectations
from anchorhold.scaffold import Language

ROOT = Path(__file__).parents[2]
CRASHES = ("--rule", "CRA-1", "--rule", "CRA-2")


def init(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["init", *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
def test_a_scaffold_in_a_fresh_folder_is_green() -> None:
    assert init("--into", "fresh") == 0
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(ROOT / p) for p in ("spec", "reference", "conformance")),
    }

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *command],
            cwd="fresh",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    code = "import sys; from anchorhold.cli import main; main(sys.argv[1:])"
    arguments = ("check", "adapter.py:Adapter", "--effort", "quick", "--claims", "claims.toml")
    checked = subprocess.run(
        [sys.executable, "-c", code, *arguments, "--expect", "expectations.toml"],
        cwd="fresh",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    tested = run("pytest", "-q", "-p", "no:xdist")
    # As a program it is killed, between operations and while its model is asked, and goes on.
    program = f"cmd:{shlex.quote(sys.executable)} adapter.py"
    killed = subprocess.run(
        [sys.executable, "-c", code, "check", program, "--effort", "quick", *CRASHES],
        cwd="fresh",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert killed.returncode == 0, killed.stdout + killed.stderr
    assert "the 2 rules asked for are held" in " ".join(killed.stdout.split())
    assert "pass 2" in killed.stdout
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "holds ANC-1" in checked.stdout
    assert "broken: " not in checked.stdout
    assert tested.returncode == 0, tested.stdout
    assert " passed" in tested.stdout
    assert "failed" not in tested.stdout


@pytest.mark.slow
def test_a_scaffold_in_typescript_is_green(tmp_path: Path) -> None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("needs node and npm")
    assert init("--into", "fresh", "--language", "typescript") == 0
    fresh = tmp_path / "fresh"
    # Node before 22.18 runs no TypeScript. With any node the types are checked.
    compiler = [npm, "install", "--no-audit", "--no-fund", "--silent", "typescript@5.9", "@types/node@20"]
    subprocess.run(compiler, cwd=fresh, check=True, timeout=300)
    options = {
        "target": "es2022",
        "module": "nodenext",
        "strict": True,
        "noUncheckedIndexedAccess": True,
        "noUnusedLocals": True,
        "erasableSyntaxOnly": True,
        "verbatimModuleSyntax": True,
        "rewriteRelativeImportExtensions": True,
        "types": ["node"],
    }
    (fresh / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["*.mts"]}))
    compiled = subprocess.run(
        ["node_modules/.bin/tsc"], cwd=fresh, capture_output=True, text=True, timeout=300, check=False
    )
    assert (compiled.stdout, compiled.returncode) == ("", 0)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "ANCHORHOLD_EFFORT": "quick"}
    target = {"ANCHORHOLD_TARGET": "cmd:node adapter.mjs"}
    checked = subprocess.run(
        ["anchorhold", "check", *target.values(), "--effort", "quick", "--claims", "claims.toml"],
        cwd=fresh, env=environment, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip

    def tested() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [node, "--test", "--test-reporter=tap", "compaction.test.mjs"],
            cwd=fresh, env=environment | target, capture_output=True, text=True, timeout=900, check=False,
        )  # fmt: skip

    killed = subprocess.run(
        ["anchorhold", "check", *target.values(), "--effort", "quick", *CRASHES, "--json"],
        cwd=fresh, env=environment, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    green = tested()
    # An expectation that is met by nothing is out of date, and fails the rule's test.
    (fresh / "expectations.toml").write_text('[fail]\n"PTR-1" = "an old fault"\n')
    stale = tested()

    verdicts = json.loads(killed.stdout)["rules"]
    assert {verdicts[rule]["verdict"] for rule in ("CRA-1", "CRA-2")} == {"pass"}
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "holds ANC-1" in checked.stdout
    assert "broken: " not in checked.stdout
    assert green.returncode == 0, green.stdout
    assert re.search(r"^\s*ok \d+ - PTR-1$", green.stdout, re.MULTILINE)
    assert stale.returncode == 1
    assert re.search(r"^\s*not ok \d+ - PTR-1$", stale.stdout, re.MULTILINE)
    assert "take it out of expectations.toml" in stale.stdout


def test_scaffold_in_typescript_brings_the_sdk_that_it_imports() -> None:
    texts = scaffold.written(Language.TYPESCRIPT, None)
    named = scaffold.written(Language.TYPESCRIPT, "cmd:node mine.js")

    sdk = (ROOT / "conformance/anchorhold/adapters/anchorhold_sdk.ts").read_text(encoding="utf-8")
    assert texts["anchorhold_sdk.mts"] == sdk
    assert 'from "./anchorhold_sdk.mts"' in texts["adapter.mts"]
    assert "anchorhold check 'cmd:node adapter.mts' --claims" in texts[".github/workflows/anchorhold.yml"]
    assert not {"adapter.mts", "anchorhold_sdk.mts"} & named.keys()
    assert '"cmd:node mine.js"' in named["compaction.test.mts"]
    assert all("<<" not in text.replace("<<<", "") for text in named.values())


@pytest.mark.parametrize("there", sorted(scaffold.written(Language.PYTHON, None)))
def test_no_file_is_overwritten_and_then_none_is_written(there: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path(there).parent.mkdir(parents=True, exist_ok=True)
    Path(there).write_text("mine")

    assert init() == 2

    assert Path(there).read_text() == "mine"
    assert there in capfd.readouterr().err
    assert [path for path in Path().rglob("*") if path.is_file()] == [Path(there)]


def test_a_dangling_link_is_not_written_through() -> None:
    Path("claims.toml").symlink_to("elsewhere")

    assert init() == 2
    assert not Path("elsewhere").exists()


def test_a_compactor_that_is_there_gets_no_adapter_and_is_named_everywhere() -> None:
    target = "cmd:node adapter's.js"

    assert init(target) == 0

    assert not Path("adapter.py").exists()
    assert '@rules("cmd:node adapter\'s.js"' in Path("test_compaction.py").read_text()
    workflow = Path(".github/workflows/anchorhold.yml").read_text()
    assert "anchorhold check 'cmd:node adapter'\"'\"'s.js' --claims" in workflow
    assert "<<" not in workflow


def test_what_is_written_is_read_back() -> None:
    assert init() == 0

    claims = read_claims(Path("claims.toml"))
    assert claims.horizon == "session"
    assert claims.mechanisms
    assert dict(read_expectations(Path("expectations.toml"))) == {}
    # What is commented out is right as well, once it is no longer.
    opened = Path("claims.toml").read_text().replace("# level", "level")
    Path("claims.toml").write_text(opened)
    assert read_claims(Path("claims.toml")).level == 1
    text = Path("expectations.toml").read_text().replace('# "PTR', '"PTR')
    assert set(tomllib.loads(text)["fail"]) == {"PTR-4"}
    compile(Path("adapter.py").read_text(), "adapter.py", "exec")
    compile(Path("test_compaction.py").read_text(), "test_compaction.py", "exec")


def test_what_it_says_to_do_next_names_what_was_written(capfd: pytest.CaptureFixture[str]) -> None:
    assert init("--into", "a b") == 0
    python = capfd.readouterr().out
    assert init("--into", "ts", "--language", "typescript") == 0
    typescript = capfd.readouterr().out
    assert init("my_module:Mine", "--into", "mine") == 0
    mine = capfd.readouterr().out

    assert "next: cd 'a b' && anchorhold check adapter.py:Adapter --effort quick --claims claims.toml" in python
    assert "anchorhold check 'cmd:python3 adapter.py'" in python
    assert typescript.count("anchorhold check") == 1
    assert "cd ts && anchorhold check 'cmd:node adapter.mts' --effort quick" in typescript
    assert mine.count("anchorhold check") == 1
    assert "cd mine && anchorhold check my_module:Mine --effort quick --claims claims.toml" in mine


@pytest.mark.parametrize("language", list(Language))
def test_workflow_checks_the_example_as_a_program_with_the_files_that_were_written(language: Language) -> None:
    texts = scaffold.written(language, None)
    workflow = texts[".github/workflows/anchorhold.yml"]
    (check,) = [line for line in workflow.splitlines() if "run: anchorhold check" in line]
    words = shlex.split(check.partition("run: ")[2])

    assert words[2] == scaffold.SCAFFOLDS[language].program
    assert {words[words.index(option) + 1] for option in ("--claims", "--expect")} <= texts.keys()
    assert f"path: {words[words.index('--report') + 1]}" in workflow
    # No tabs, and each step is one of the list: what a workflow is refused for first.
    assert "\t" not in workflow
    steps = workflow.partition("    steps:\n")[2].splitlines()
    assert all(line.startswith(("      - ", "        ", "      #")) for line in steps)
