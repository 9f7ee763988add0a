"""`anchorhold diff`: what got worse, better, undecided or new."""

import io
import json
from itertools import product
from pathlib import Path

import msgspec
import pytest
from report_samples import partial
from rich.console import Console

from anchorhold.cli import main
from anchorhold.cli.diff import render
from anchorhold.diff import Change, change, compare
from anchorhold.level import HELD
from anchorhold.result import FailureResult, Result, broken, encode, result
from anchorhold.verdict import Verdict, VerdictKind
from anchorhold_spec.catalogue import RULES

V = VerdictKind


def checked(
    given: dict[str, VerdictKind], *, compactor: str = "toy", seed: int = 0, reason: str = "because"
) -> Result:
    kinds = dict.fromkeys(RULES, V.PASS) | given
    return result(
        compactor=compactor,
        version="1",
        verdicts=[Verdict(rule=r, kind=k, reason=reason, triggered=1) for r, k in kinds.items()],
        failures=[
            FailureResult(
                rule=r, sentence="It broke.", fact="f", history="h.jsonl", replay="anchorhold replay h.jsonl"
            )
            for r, k in kinds.items()
            if k is V.FAIL
        ],
        seconds=1.0,
        seed=seed,
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (V.PASS, V.FAIL, Change.WORSE),
        (V.INCONCLUSIVE, V.FAIL, Change.WORSE),
        (V.UNTESTED, V.FAIL, Change.WORSE),
        (None, V.FAIL, Change.WORSE),
        (V.PASS, V.NOT_OBSERVABLE, Change.WORSE),
        (V.PASS, None, Change.WORSE),
        (V.PASS, V.INCONCLUSIVE, Change.UNDECIDED),
        (V.FAIL, V.INCONCLUSIVE, Change.UNDECIDED),
        (V.VACUOUS, V.UNTESTED, Change.UNDECIDED),
        (V.UNTESTED, V.PASS, Change.NEW),
        (None, V.INCONCLUSIVE, Change.NEW),
        (None, V.UNTESTED, Change.OTHER),
        (V.FAIL, V.PASS, Change.BETTER),
        (V.INCONCLUSIVE, V.VACUOUS, Change.BETTER),
        (V.FAIL, V.NOT_OBSERVABLE, Change.BETTER),
        (V.PASS, V.VACUOUS, Change.OTHER),
        (V.FAIL, None, Change.GONE),
    ],
)
def test_change_of_a_rule(before: VerdictKind | None, after: VerdictKind | None, expected: Change) -> None:
    assert change(before, after) is expected


def test_no_change_hides_that_something_got_worse() -> None:
    for before, after in product((None, *V), repeat=2):
        found = change(before, after)
        assert (found is Change.SAME) is (before is after)
        # A new failure is worse, whatever was known before; nothing undecided is ever better.
        if after is V.FAIL and before is not V.FAIL:
            assert found is Change.WORSE
        if found is Change.BETTER:
            assert after in HELD or (before, after) == (V.FAIL, V.NOT_OBSERVABLE)


def test_exit_status_is_one_where_something_got_worse_and_json_says_what(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_bytes(encode(checked({"OUT-1": V.FAIL})))
    new.write_bytes(encode(checked({"PTR-1": V.FAIL})))

    for arguments, status in (((old, new), 1), ((old, old), 0), ((new, tmp_path / "none.json"), 2)):
        with pytest.raises(SystemExit) as ended:
            main(["diff", "--json", *map(str, arguments)])
        assert ended.value.code == status
        out, err = capfdbinary.readouterr()
        if arguments == (old, new):
            changes = {each["rule"]: each["change"] for each in json.loads(out)["changes"]}
            assert changes == {"OUT-1": "better", "PTR-1": "worse"}
        if status == 2:
            assert err.decode().startswith("anchorhold: ")
            assert out == b""


def test_what_is_no_result_is_told(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "x.json").write_text('{"schema": 1}')

    with pytest.raises(SystemExit) as ended:
        main(["diff", str(tmp_path / "x.json"), str(tmp_path / "x.json")])

    assert ended.value.code == 2
    assert b"is no result of anchorhold check" in capfdbinary.readouterr().err


def test_a_run_without_a_verdict_is_worse_than_one_with() -> None:
    error = broken(compactor="toy", error="it died", seconds=1.0, seed=0)

    assert compare(checked({}), error).worse
    assert not compare(error, checked({})).worse
    assert not compare(error, error).worse


def test_other_seeds_and_compactors_are_told() -> None:
    assert len(compare(checked({}), checked({}, compactor="other", seed=1)).warnings) == 2


def test_the_terminal_stays_within_80_columns_and_reads_no_markup() -> None:
    reason = "[bold]not bold[/] \x1b[31m " + "word " * 60
    file = io.StringIO()
    console = Console(file=file, width=200, force_terminal=False)
    after = msgspec.structs.replace(checked(dict.fromkeys(list(RULES)[:5], V.FAIL), reason=reason), version="2")

    render(compare(checked({}), after), console)

    lines = file.getvalue().splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert "[bold]not bold[/]" in file.getvalue()
    assert "\x1b" not in file.getvalue()
    assert sum("→ fail" in line for line in lines) == 5


def shown(before: Result, after: Result) -> str:
    file = io.StringIO()
    render(compare(before, after), Console(file=file, width=100, force_terminal=False))
    return " ".join(file.getvalue().split())


def test_without_a_verdict_it_says_that_nothing_was_compared() -> None:
    error = broken(compactor="toy", error="it died", seconds=1.0, seed=0)

    for told in (shown(error, checked({})), shown(checked({}), error)):
        assert "nothing is compared" in told
        assert "every rule as before" not in told
    assert "every rule as before" in shown(checked({}), checked({}))


def test_no_level_is_called_so_as_everywhere() -> None:
    told = shown(checked({"EPO-1": V.FAIL}), checked({}))

    assert "toy 1 (no level) → toy 1 (level 5)" in told


def test_another_effort_and_other_rules_are_told() -> None:
    quick, standard = (msgspec.structs.replace(checked({}), effort=each) for each in ("quick", "standard"))
    some = partial({"OUT-1": V.PASS})

    assert "the efforts differ, quick and standard" in shown(quick, standard)
    assert compare(checked({}), quick).warnings == ()
    assert "the newer run was not asked for 59 rules that the other judges" in shown(
        checked({}, compactor="toy"), some
    )
    assert "the older run was not asked for 59 rules" in shown(some, checked({}))
    assert compare(some, some).warnings == ()
