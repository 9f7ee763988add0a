"""Audited compactions, replayed through a compactor, and written down as histories of the suite."""

from pathlib import Path

from audit_samples import Claude, lossy

from anchorhold.audit.cases import Case, cases_of, in_vocabulary
from anchorhold.audit.histories import JUDGED, judged, write
from anchorhold.audit.whatif import replay
from anchorhold.history import read_history
from anchorhold.load import load


def cases(made: Claude, tmp_path: Path) -> list[Case]:
    return list(cases_of(made.write(tmp_path / "session.jsonl")))


def long_session() -> Claude:
    made = Claude()
    made.user("Start the imports.")
    for n in range(60):
        made.calls("Bash", f"task a295b{n:03}cd runs on queue_{n}_main. " + "It waits. " * 20, command=f"start {n}")
    made.compacts("Imports were started.")
    made.calls("TaskOutput", "done", task_id="a295b007cd")
    return made


def test_the_reference_keeps_within_reach_what_the_recorded_summary_dropped(tmp_path: Path) -> None:
    (case,) = cases(long_session(), tmp_path)
    assert case.finding.needed_lost == 1

    with load("reference") as loaded:
        done = replay(case, loaded)

    assert done.outcome == "committed"
    assert (done.needed, done.needed_kept) == (1, 1)
    assert done.asked > 100
    assert done.asked_kept == done.asked
    assert 0 < done.window < case.finding.replaced_tokens


def test_a_protected_turn_that_left_the_window_breaks_str_4_under_that_id(tmp_path: Path) -> None:
    (each,) = judged(cases(lossy(), tmp_path), name="session.jsonl")
    broken = {judgement.rule for judgement in each.judgements if judgement.failures}

    assert broken == {"STR-4"}
    assert {judgement.rule for judgement in each.judgements} <= set(JUDGED)


def test_a_protected_turn_that_the_window_still_has_does_not(tmp_path: Path) -> None:
    made = lossy()
    made.records[0]["message"]["content"] = "Start the import and keep an eye on it."
    (each,) = judged(cases(made, tmp_path), name="session.jsonl")

    assert [judgement.rule for judgement in each.judgements if judgement.failures] == []
    assert "PTR-3" in {judgement.rule for judgement in each.judgements}


def test_a_history_can_be_read_back(tmp_path: Path) -> None:
    (each,) = judged(cases(lossy(), tmp_path), name="session.jsonl")
    header, events = read_history(write(tmp_path / "histories", each))

    assert header == each.history.header
    assert len(events) == len(each.history.events)
    # What the format has twice under one number has two ids.
    assert len({e.value["turn"]["id"] for e in events if e.op == "append" and e.type == "invoke"}) == 6


def test_turns_keep_calls_and_results_together(tmp_path: Path) -> None:
    (case,) = cases(lossy(), tmp_path)
    turns = [turn for each in case.replaced for turn in in_vocabulary(each)]
    calls = [call.id for turn in turns for call in turn.calls]

    assert calls == ["toolu_1", "toolu_3"]
    assert [turn.result_of for turn in turns if turn.speaker == "tool"] == calls


def test_what_the_summary_before_carried_goes_through_the_compactor_too(tmp_path: Path) -> None:
    made = Claude()
    made.user("Start the imports.")
    made.calls("Bash", "task a295b007cd runs", command="start")
    made.compacts("Task a295b007cd was started.")
    for n in range(20):
        made.calls("Bash", f"queue_{n}_main waits. " + "It waits. " * 20, command=f"look {n}")
    made.compacts("It waits.")
    made.calls("TaskOutput", "done", task_id="a295b007cd")
    first, second = cases(made, tmp_path)

    assert first.before is None
    with load("reference") as loaded:
        done = replay(second, loaded)
    assert (done.needed, done.needed_kept) == (1, 1)
