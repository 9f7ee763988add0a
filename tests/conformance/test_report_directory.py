"""A report directory holds this check's histories and no other's, and is tried before the work."""

from pathlib import Path

import pytest

from anchorhold.cli import main


def _check(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["check", "reference", "--effort", "quick", "--scenario", "never-issued", "--rule", "EPO-2", *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_histories_of_an_earlier_check_are_not_left_beside_a_new_result(tmp_path: Path) -> None:
    stale = tmp_path / "report" / "histories" / "OUT-1.jsonl"
    stale.parent.mkdir(parents=True)
    stale.write_text("of an earlier check", encoding="utf-8")
    kept = stale.with_name("my-notes.jsonl")
    kept.write_text("not the suite's", encoding="utf-8")

    assert _check("--report", str(tmp_path / "report")) == 0

    assert not stale.exists()
    assert kept.exists()


def test_a_directory_that_cannot_be_written_is_refused_before_anything_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")

    assert _check("--report", str(tmp_path / "file" / "below")) == 2

    told = capsys.readouterr()
    assert "cannot write the report" in told.err
    assert told.out == ""
    assert "scenario" not in told.err
