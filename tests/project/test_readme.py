"""What the README promises is what CI runs, and what ships."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def _commands(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("python3 -m venv")]


def test_ci_runs_exactly_the_readmes_test_command() -> None:
    tests = [line for line in _commands(README) if line.endswith("pytest")]

    assert len(tests) == 1
    assert tests == _commands(CI)


def test_both_commands_start_from_a_fresh_environment() -> None:
    start = "python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]' && "

    assert [line.startswith(start) for line in _commands(README)] == [True, True]


def test_the_readme_says_that_every_rule_has_a_checker_and_it_has() -> None:
    from anchorhold.checkers import CHECKERS
    from anchorhold_spec.catalogue import RULES

    assert {checker.rule for checker in CHECKERS} == set(RULES)
    assert "a checker for every rule of the catalogue" in " ".join(README.split())


def test_every_finding_is_listed_with_its_script() -> None:
    folder = ROOT / "conformance" / "findings"
    listed = (folder / "README.md").read_text(encoding="utf-8")
    scripts = sorted(p.name for p in folder.glob("*.py"))

    assert scripts
    assert [name for name in scripts if name not in listed] == []
    assert [name for name in scripts if len((folder / name).read_text(encoding="utf-8").splitlines()) > 40] == []
