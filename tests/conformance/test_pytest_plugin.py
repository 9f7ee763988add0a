"""The pytest plugin: one test a rule, one check a session, and expectations that have to be so."""

import re
from pathlib import Path
from typing import Any

import pytest

from anchorhold.check import Checked, check
from anchorhold.expectations import ExpectationError
from anchorhold.pytest import rules

pytest_plugins = ["pytester"]

TOYS = Path(__file__).with_name("toy_compactors.py")
COUNTED = f"""
import sys
sys.path.insert(0, {str(TOYS.parent)!r})
from pathlib import Path
import toy_compactors
from anchorhold.pytest import rules

PLAYED = Path(__file__).parent / "played"

class Counted(toy_compactors.{{kind}}):
    def describe(self):
        with PLAYED.open("a") as file:
            file.write(".")
        return super().describe()

@rules(Counted, only={{only}}, expect={{expect}}, level={{level}})
def test_rule(verdict):
    assert verdict.rule.isupper()
"""
FAILS, HOLDS, VACUOUS, HIDDEN = "PTR-1", "PTR-3", "ERA-1", "RET-5"
"""What the toy `Loses` comes to."""


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The rules of each check that was run; checks of this process play one scenario, which is enough here."""
    rules_of: list[Any] = []

    def short(*args: Any, **given: Any) -> Checked:
        rules_of.append(given["rules"])
        return check(*args, **given, named=["growth-drop"])

    monkeypatch.setattr("anchorhold.check.check", short)
    return rules_of


def project(
    pytester: pytest.Pytester, kind: str, only: tuple[str, ...], *, fails: str = "", level: int | None = None
):  # type: ignore[no-untyped-def]
    expect = None
    if fails:
        pytester.path.joinpath("expectations.toml").write_text(f'[fail]\n"{fails}" = "issue 12"\n')
        expect = "expectations.toml"
    pytester.makepyfile(test_it=COUNTED.format(kind=kind, only=only, expect=repr(expect), level=level))


def descriptions(pytester: pytest.Pytester) -> int:
    return len(pytester.path.joinpath("played").read_text())


def test_each_verdict_ends_its_test_as_what_it_is(pytester: pytest.Pytester) -> None:
    project(pytester, "Loses", (FAILS, HOLDS, VACUOUS, HIDDEN))

    ended = pytester.runpytest_inprocess("-p", "no:xdist", "-rsf")

    # Nothing that was not exercised is a pass.
    ended.assert_outcomes(failed=1, passed=1, skipped=2)
    ended.stdout.no_fnmatch_line("*traceback entries are hidden*")
    ended.stdout.fnmatch_lines_random(
        [
            f"{FAILS}: Summary * was committed *",
            f"FAILED test_it.py::test_rule*{FAILS}* - Failed: {FAILS}: Summ*",
            "rule:   A summary may commit once*",
            "replay: anchorhold replay *PTR-1.jsonl",
            "*vacuous: *(counts as held)*",
            "*not-observable: the adapter offers no `status`*",
        ]
    )


def test_the_check_is_run_once_a_session_for_all_rules(pytester: pytest.Pytester, asked: list[Any]) -> None:
    project(pytester, "Archive", (HOLDS, "EPO-2", VACUOUS))

    ended = pytester.runpytest_inprocess("-p", "no:xdist")

    assert sum(ended.parseoutcomes().get(end, 0) for end in ("passed", "skipped")) == 3
    assert asked == [(HOLDS, "EPO-2", VACUOUS)]


@pytest.mark.slow
def test_the_check_is_run_once_a_session_with_two_workers_too(pytester: pytest.Pytester) -> None:
    project(pytester, "Archive", ("EPO-2", "OUT-2"))
    pytester.runpytest_subprocess("-p", "no:xdist").assert_outcomes(passed=2)
    alone = descriptions(pytester)
    pytester.path.joinpath("played").unlink()

    ended = pytester.runpytest_subprocess("-n", "2")

    ended.assert_outcomes(passed=2)
    assert descriptions(pytester) == alone


def test_only_rules_whose_tests_are_selected_are_judged(pytester: pytest.Pytester) -> None:
    project(pytester, "Loses", (FAILS, HOLDS))

    ended = pytester.runpytest_inprocess("-p", "no:xdist", "-k", HOLDS)

    ended.assert_outcomes(passed=1, deselected=1)
    assert not list(pytester.path.rglob("*.jsonl"))


def test_an_expected_failure_that_fails_is_known(pytester: pytest.Pytester) -> None:
    project(pytester, "Loses", (FAILS,), fails=FAILS)

    ended = pytester.runpytest_inprocess("-p", "no:xdist", "-rx")

    ended.assert_outcomes(xfailed=1)
    ended.stdout.fnmatch_lines(["*XFAIL*issue 12*"])


@pytest.mark.parametrize("rule", [HOLDS, VACUOUS])
def test_an_expected_failure_that_is_held_is_an_error(pytester: pytest.Pytester, rule: str) -> None:
    project(pytester, "Loses", (rule,), fails=rule)

    ended = pytester.runpytest_inprocess("-p", "no:xdist")

    ended.assert_outcomes(failed=1)
    ended.stdout.fnmatch_lines([f"*{rule} is expected to fail (issue 12), and is held*take it out*"])


def test_a_level_demands_that_its_rules_are_held(pytester: pytest.Pytester) -> None:
    project(pytester, "Loses", ("EPO-3", HIDDEN), level=1)

    ended = pytester.runpytest_inprocess("-p", "no:xdist")

    # EPO-3 is of level 1 and cannot be seen; the other is of level 5.
    ended.assert_outcomes(failed=1, skipped=1)
    ended.stdout.fnmatch_lines(["*level 1 demands EPO-3, which is not-observable*"])


def test_an_adapter_that_does_not_work_is_an_error_of_every_test_and_no_verdict(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="""
        from anchorhold.pytest import rules

        @rules("nowhere:Nobody", only=["PTR-1", "OUT-2"])
        def test_rule(verdict):
            pass
        """
    )

    ended = pytester.runpytest_inprocess("-p", "no:xdist")

    ended.assert_outcomes(errors=2)
    ended.stdout.fnmatch_lines(["*the adapter did not work, so there is no verdict*"])


def test_wrong_use_is_told_where_it_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no rule is called 'PTR1': did you mean PTR-1"):
        rules("reference", only=["PTR1"])
    with pytest.raises(ValueError, match="level 9 does not exist"):
        rules("reference", level=9)
    with pytest.raises(ValueError, match="effort 'slow' does not exist; there are quick, standard, thorough"):
        rules("reference", effort="slow")
    with pytest.raises(TypeError, match="is neither a class nor what `anchorhold check` takes: give the class"):
        rules(object())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Whole is a class: put `rules` over a method"):
        rules("reference")(type("Whole", (), {}))
    with pytest.raises(TypeError, match="needs an argument 'verdict'"):
        rules("reference")(lambda: None)
    file = tmp_path / "expectations.toml"
    file.write_text('[fail]\n"OUT-2" = "why"\n')
    with pytest.raises(ExpectationError, match="OUT-2 is not among the rules that are tested"):
        rules("reference", only=["PTR-1"], expect=file)(lambda verdict: None)


def test_in_a_test_class_it_stands_over_a_method(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it=f"""
        from anchorhold.pytest import rules

        class TestIt:
            @rules("{TOYS}:Archive", only=["{HOLDS}"])
            def test_rule(self, verdict):
                assert verdict.kind == "pass"
        """
    )

    pytester.runpytest_inprocess("-p", "no:xdist").assert_outcomes(passed=1)


def test_failing_histories_have_one_place_and_none_of_an_earlier_session_are_left(pytester: pytest.Pytester) -> None:
    project(pytester, "Loses", (FAILS, HOLDS, "ANC-1"))
    pytester.runpytest_inprocess("-p", "no:xdist")
    (first,) = pytester.path.rglob(f"{FAILS}.jsonl")
    stale = first.with_name(f"{HOLDS}.jsonl")
    stale.write_text("of an earlier session")

    pytester.runpytest_inprocess("-p", "no:xdist", "-k", f"{FAILS} or {HOLDS}")

    assert list(pytester.path.rglob(f"{FAILS}.jsonl")) == [first]
    assert not stale.exists()
    assert re.fullmatch(r"test_it.py-Counted-[0-9a-f]{6}", first.parents[1].name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[fail", "is not TOML"),
        ('[fails]\n"PTR-1" = "x"', "write a table [[]fail[]]"),
        ('[fail]\n"PTR-1" = ""', "say why, in words"),
        ('[fail]\n"PTR-11" = "x"', "did you mean PTR-1"),
        (None, "No such file or directory"),
    ],
)
def test_a_wrong_expectations_file_is_an_error_of_collecting(
    pytester: pytest.Pytester, text: str | None, said: str
) -> None:
    if text is not None:
        pytester.path.joinpath("e.toml").write_text(text)
    project(pytester, "Loses", (FAILS,))
    path = pytester.path / "test_it.py"
    path.write_text(path.read_text().replace("expect=None", 'expect="e.toml"'))

    ended = pytester.runpytest_inprocess("-p", "no:xdist")

    ended.assert_outcomes(errors=1)
    ended.stdout.fnmatch_lines([f"E *e.toml*{said}*"])


def test_what_failed_last_is_all_that_is_judged_again(pytester: pytest.Pytester, asked: list[Any]) -> None:
    project(pytester, "Loses", (FAILS, HOLDS))
    pytester.runpytest_inprocess("-p", "no:xdist")

    ended = pytester.runpytest_inprocess("-p", "no:xdist", "--lf")

    ended.assert_outcomes(failed=1)
    assert asked == [(FAILS, HOLDS), (FAILS,)]
