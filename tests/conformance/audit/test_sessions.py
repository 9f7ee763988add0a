"""What belongs to a session: each turn once, whatever files hold it; what stayed, what was left, what was shown."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from audit_samples import Claude, lossy

from anchorhold.audit.model import Compaction, Damage, Turn
from anchorhold.audit.readers import claude_code, detect
from anchorhold.audit.run import Audited, audit_file, audit_paths
from anchorhold.cli import application


def lines(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def figures(audited: list[Audited]) -> tuple[int, int, int, int]:
    """Sessions, turns, compactions, and what was needed and lost."""
    findings = [finding for each in audited for finding in each.findings]
    return (
        sum(each.sessions for each in audited),
        sum(each.turns for each in audited),
        len(findings),
        sum(finding.needed_lost for finding in findings),
    )


def needs(path: Path) -> list[str]:
    return [e.literal for f in audit_file(path).findings for e in f.examples if e.what == "needed"]


def events(path: Path) -> list[Any]:
    form = detect(path)
    assert form is not None
    damages: list[Damage] = []
    return [*form.read(path, damages.append), *damages]


# -- several files --


@pytest.mark.parametrize(("at", "workers"), [*((at, 1) for at in range(1, 10)), (3, 2), (6, 2)])
def test_a_session_goes_on_from_one_file_to_the_next(tmp_path: Path, at: int, workers: int) -> None:
    whole = lossy()
    alone = audit_paths([whole.write(tmp_path / "whole")], workers=1)[0]
    # Names say nothing of the order: times do.
    lines(tmp_path / "split" / "z.jsonl", *whole.records[:at])
    lines(tmp_path / "split" / "a.jsonl", *whole.records[at:])
    found, _ = audit_paths([tmp_path / "split"], workers=workers)

    assert figures(found) == figures(alone)
    (here,), (there,) = alone[0].findings, [finding for each in found for finding in each.findings]
    later = tmp_path / "split" / "a.jsonl"
    assert there.file == str(later if here.summary_record >= at else tmp_path / "split" / "z.jsonl")
    assert there.facts == here.facts
    used = next(e.used for e in there.examples if e.what == "needed")
    wanted = next(e.used for e in here.examples if e.what == "needed")
    assert used is not None
    assert wanted is not None
    assert used.record == wanted.record - (at if wanted.record >= at else 0)
    assert {kind for each in found for kind in each.damaged} == {"continued"}


def test_records_that_two_files_of_a_session_have_count_once(tmp_path: Path) -> None:
    whole = lossy()
    alone = audit_paths([whole.write(tmp_path / "whole")], workers=1)[0]
    lines(tmp_path / "two" / "a.jsonl", *whole.records[:5])
    lines(tmp_path / "two" / "b.jsonl", *whole.records)
    found, _ = audit_paths([tmp_path / "two"], workers=1)

    assert figures(found) == figures(alone)
    assert ["5 records" in d.detail for d in found[1].damages if d.kind == "copied"] == [True]


def test_a_file_is_read_once_by_whatever_paths_it_is_reached(tmp_path: Path) -> None:
    path = lossy().write(tmp_path / "a")
    (tmp_path / "b").write_bytes(path.read_bytes())
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    alone = figures([audit_file(path)])

    assert figures(audit_paths([path, path, tmp_path / "link"], workers=1)[0]) == alone
    found = audit_paths([tmp_path, path], workers=1)[0]
    assert figures(found) == alone
    assert [damage.kind for each in found for damage in each.damages] == ["copied"]


def test_sub_agents_in_files_of_their_own_are_not_mixed(tmp_path: Path) -> None:
    made = lossy()
    made.write(tmp_path / "s.jsonl")
    for name in ("one", "two"):
        agent = lossy()
        for number, record in enumerate(agent.records):
            record.update(isSidechain=True, agentId=name, uuid=f"{name}-{number}")
        agent.write(tmp_path / f"agent-{name}.jsonl")
    found, _ = audit_paths([tmp_path], workers=1)

    assert figures(found) == (1, 3 * audit_file(tmp_path / "s.jsonl").turns, 3, 3)
    assert not any(each.damages for each in found)


def test_a_compaction_that_is_never_summarised_is_told_in_its_own_file(tmp_path: Path) -> None:
    whole = lossy()
    mark = next(i for i, record in enumerate(whole.records) if record.get("subtype") == "compact_boundary")
    lines(tmp_path / "a.jsonl", *whole.records[: mark + 1])
    lines(tmp_path / "b.jsonl", *whole.records[mark + 2 :])
    first, second = audit_paths([tmp_path], workers=1)[0]

    assert [(d.kind, d.record) for d in first.damages] == [("compaction", mark)]
    assert set(second.damaged) == {"continued"}


# -- folders --


def test_a_folder_holds_transcripts_and_what_else_it_has_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lossy().write(tmp_path / "s.jsonl")
    others = {
        "README.md": "# Heading\n\n* a point\n* another\n\n> quoted\n\nSome text.\n",
        "a.py": 'CASE = [\n    {"role": "user", "content": "sessionId", "uuid": 1, "parentUuid": 2},\n]\n',
        "package.json": '{"name": "x", "version": "1.0"}',
        "data.csv": "a,b\n1,2\n",
        "empty": "",
        "fixture.py": '"""Doc."""\n{"sessionId": 1, "uuid": 2}\n',
    }
    for name, text in others.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "log.txt").write_text("User: hi\nAgent: hello\nUser: go on\n", encoding="utf-8")
    found, _ = audit_paths([tmp_path], workers=1)

    assert sorted(each.path.name for each in found if each.transcript) == ["log.txt", "s.jsonl"]
    assert sum(each.sessions for each in found) == 2
    named, _ = audit_paths([tmp_path, tmp_path / "README.md"], workers=1)
    assert [each.path.name for each in named if each.format == "text"] == ["README.md", "log.txt"]
    with pytest.raises(SystemExit) as ended:
        application(["audit"])(args=["audit", str(tmp_path), "--json", "--workers", "1"], prog_name="anchorhold")
    assert ended.value.code == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["files"], document["sessions"], document["totals"]["not_transcripts"]) == (2, 2, len(others))
    assert document["totals"]["unreadable"] == 0


def test_a_named_file_that_cannot_be_read_ends_the_run_with_3(tmp_path: Path) -> None:
    whole = lossy().write(tmp_path / "s.jsonl")
    (tmp_path / "bad").write_bytes(b"\0\1\2")
    for condition, status in (("needed-lost>5", 3), ("needed-lost>0", 1)):
        with pytest.raises(SystemExit) as ended:
            application(["audit"])(
                args=["audit", str(whole), str(tmp_path / "bad"), "--fail-on", condition, "--workers", "1"],
                prog_name="anchorhold",
            )
        assert ended.value.code == status


# -- Claude Code --


def start(made: Claude) -> None:
    made.user("Start the import.")
    made.calls("Bash", "started job job_77x", command="./start")


@pytest.mark.parametrize(
    ("attachment", "seen"),
    [
        ({"type": "file", "filename": "a", "content": {"type": "text", "file": {"content": "job_77x"}}}, True),
        ({"type": "edited_text_file", "filename": "a", "snippet": "1 job_77x"}, True),
        ({"type": "nested_memory", "path": "CLAUDE.md", "content": {"content": "Use job_77x"}}, True),
        ({"type": "queued_command", "prompt": "look at job_77x"}, True),
        ({"type": "queued_command", "prompt": [{"type": "text", "text": "look at job_77x"}]}, True),
        ({"type": "compact_file_reference", "filename": "job_77x"}, False),
    ],
)
def test_what_the_harness_attaches_is_seen(tmp_path: Path, attachment: dict[str, Any], seen: bool) -> None:
    made = Claude()
    start(made)
    made.compacts("It was started.")
    number = made.says("ok")
    made.records[number].update(type="attachment", attachment=attachment)
    del made.records[number]["message"]
    made.calls("Bash", "ok", command="stop job_77x")
    path = made.write(tmp_path / "x")

    assert needs(path) == ([] if seen else ["job_77x"])
    assert not audit_file(path).damages


def test_an_attachment_of_unknown_type_is_told(tmp_path: Path) -> None:
    made = Claude()
    start(made)
    made.records[-1].update(type="attachment", attachment={"type": "novel", "content": "words"})

    assert [d.detail for d in audit_file(made.write(tmp_path / "x")).damages] == ["an attachment of type 'novel'"]


def test_a_branch_that_was_left_is_not_replaced(tmp_path: Path) -> None:
    made = Claude()
    first = made.user("Start the import.")
    made.calls("Bash", "started job job_77x", command="./start")
    made.says("It runs as job_77x.")
    again = made.user("No: begin anew.")
    made.records[again]["parentUuid"] = made.records[first]["uuid"]
    made.calls("Bash", "started job job_88y", command="./start --dry")
    made.compacts("It was started.")
    made.calls("Bash", "ok", command="stop job_77x job_88y")
    path = made.write(tmp_path / "x")

    assert needs(path) == ["job_88y"]
    assert audit_file(path).findings[0].replaced == 4


def test_results_of_calls_that_were_made_at_once_are_no_branches(tmp_path: Path) -> None:
    made = Claude()
    made.user("Look at both.")
    made.calls("Bash", command="./one")
    made.calls("Bash", command="./two")
    for index, text in ((1, "job_77x"), (2, "job_88y")):
        content = [{"type": "tool_result", "tool_use_id": f"toolu_{index}", "content": text}]
        number = made._add("user", content)
        made.records[number]["parentUuid"] = made.records[index]["uuid"]
    made.says("Seen.")
    made.user("Go on.")
    made.compacts("Both were looked at.")
    made.calls("Bash", "ok", command="stop job_77x job_88y")

    assert needs(made.write(tmp_path / "x")) == ["job_77x", "job_88y"]


def test_what_is_known_of_branches_is_bounded() -> None:
    state = claude_code.State()
    for number in range(50):
        state.branch(f"s{number}")

    assert len(state.branches) == claude_code.MOST_BRANCHED


# -- Codex --


def item(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": {"type": kind, **more}}


def message(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def rollout(path: Path, **compacted: Any) -> Path:
    return lines(
        path,
        {"type": "session_meta", "payload": {"id": "r1", "cwd": "/w"}},
        {"type": "response_item", "payload": message("user", "Stop the job job_77x, never job_99z.")},
        item("function_call", name="shell", arguments='{"command": ["./list"]}', call_id="c"),
        item("function_call_output", call_id="c", output="running: job_88y"),
        {"type": "compacted", "payload": {"message": "Jobs were listed.", **compacted}},
        item("function_call", name="shell", arguments='{"command": ["stop", "job_77x", "job_88y"]}', call_id="d"),
    )


SUMMARY = message("user", "Another model began this. Its summary:\nJobs were listed.")


@pytest.mark.parametrize(
    ("history", "replaced", "needed"),
    [
        (None, 2, ["job_88y"]),
        ([message("user", "Stop the job job_77x, never job_99z."), SUMMARY], 2, ["job_88y"]),
        ([SUMMARY], 3, ["job_77x", "job_88y"]),
        ([message("user", "Stop the job job_77x, ... truncated"), SUMMARY], 3, ["job_88y"]),
        ([message("user", "Remember job_77x and job_88y."), SUMMARY], 3, []),
    ],
    ids=["none", "verbatim", "gone", "truncated", "told anew"],
)
def test_codex_keeps_what_its_replacement_history_holds(
    tmp_path: Path, history: Any, replaced: int, needed: list[str]
) -> None:
    path = rollout(tmp_path / "x", **({} if history is None else {"replacement_history": history}))
    (finding,) = audit_file(path).findings

    assert finding.replaced == replaced
    assert [e.literal for e in finding.examples if e.what == "needed"] == needed
    kept = replaced == 2
    assert bool([e for e in finding.examples if e.what == "protected"]) is not kept


def test_codex_drops_the_users_older_messages_where_they_are_too_long(tmp_path: Path) -> None:
    path = rollout(tmp_path / "x")
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    records.insert(4, {"type": "response_item", "payload": message("user", "word " * 17_000)})
    lines(path, *records)

    assert audit_file(path).findings[0].replaced == 4


def test_an_encrypted_summary_of_codex_is_told_and_not_judged(tmp_path: Path) -> None:
    history = [{"type": "compaction", "encrypted_content": "gAAA"}]
    found = audit_file(rollout(tmp_path / "x", message="", replacement_history=history))

    assert (found.findings, dict(found.damaged)) == ([], {"compaction": 1})


# -- OpenHands --


@pytest.mark.parametrize(
    ("forgotten", "covered"),
    [
        ({"forgotten_event_ids": [1, 2]}, [1, 2]),
        ({"forgotten_events_start_id": 1, "forgotten_events_end_id": 2}, [1, 2]),
        ({"forgotten_events_start_id": 1, "forgotten_events_end_id": 1, "forgotten_event_ids": None}, [1]),
        ({"forgotten_events_start_id": 0, "forgotten_events_end_id": 10**15}, [0, 1, 2]),
        ({"forgotten_events_start_id": 2, "forgotten_events_end_id": 1}, []),
        ({"forgotten_event_ids": []}, []),
        ({"forgotten_event_ids": [1, "2", [3]]}, [1]),
        ({}, []),
        ({"forgotten_events_start_id": 1}, []),
    ],
)
def test_openhands_names_what_it_forgot_in_two_ways(
    tmp_path: Path, forgotten: dict[str, Any], covered: list[int]
) -> None:
    path = tmp_path / "x"
    path.write_text(json.dumps([
        {"id": 0, "source": "user", "action": "message", "args": {"content": "go"}},
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls"}},
        {"id": 2, "source": "agent", "observation": "run", "content": "a_b"},
        {"id": 3, "source": "agent", "action": "condensation", "args": {**forgotten, "summary": "ran"}},
    ]), encoding="utf-8")  # fmt: skip
    (compaction,) = [e for e in events(path) if isinstance(e, Compaction)]

    assert compaction.covers is not None
    assert [number for number in range(3) if number in compaction.covers] == covered
    assert audit_file(path).findings[0].replaced == len(covered)
    told = "forgotten_event_ids" not in forgotten and "forgotten_events_end_id" not in forgotten
    assert bool(audit_file(path).damaged["compaction"]) is told


# -- Gemini CLI, telemetry --


@pytest.mark.parametrize("kind", ["info", "user"])
def test_a_compressed_history_of_gemini_is_told(tmp_path: Path, kind: str) -> None:
    held = {"sessionId": "g", "projectHash": "h", "messages": [
        {"id": "1", "type": "user", "content": "hi"},
        {"id": "2", "type": kind, "content": "Chat history compressed from 150000 to 3000 tokens."},
    ]}  # fmt: skip
    path = tmp_path / "x"
    path.write_text(json.dumps(held), encoding="utf-8")

    assert [(d.kind, d.record) for d in audit_file(path).damages] == ([("compaction", 1)] if kind == "info" else [])


def span(at: int, given: list[Any], answer: Any) -> dict[str, Any]:
    return {"startTimeUnixNano": str(at), "attributes": {
        "gen_ai.operation.name": "chat", "gen_ai.conversation.id": "s1",
        "gen_ai.input.messages": json.dumps(given), "gen_ai.output.messages": json.dumps([answer]),
    }}  # fmt: skip


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
def test_spans_are_put_in_the_order_of_their_times(
    tmp_path: Path, order: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = said("user", "start task task_77x"), said("assistant", "started"), said("user", "go on")
    spans = [
        span(9, [one], two),
        span(10, [one, two, three], said("assistant", "at 40")),  # 10 is after 9, and before it as a word
        span(11, [said("user", "Summary: begun."), three], said("assistant", "asking task_77x")),
    ]
    path = lines(tmp_path / "x", *(spans[index] for index in order))

    assert [e.summary for e in events(path) if isinstance(e, Compaction)] == ["Summary: begun."]
    assert needs(path) == ["task_77x"]
    monkeypatch.setattr("anchorhold.audit.readers.otel.WHOLE_JSON", 10)
    late = sum(order[i] < max(order[:i], default=-1) for i in range(3))
    assert audit_file(path).damaged["order"] == late
    turns = [e for e in events(path) if isinstance(e, Turn)]
    assert turns


def test_files_that_begin_at_one_time_are_told_alike_in_every_process(tmp_path: Path) -> None:
    # The hashes of names differ from one process to the next; what is found may not.
    whole = lossy()
    for name, end in (("a", 5), ("b", len(whole.records)), ("c", 7), ("d", 9)):
        lines(tmp_path / "sessions" / f"{name}.jsonl", *whole.records[:end])
    main = "from anchorhold.cli import main; main()"
    command = [sys.executable, "-c", main, "audit", str(tmp_path / "sessions"), "--json", "--workers", "1"]
    told = set()
    for seed in range(6):
        ran = subprocess.run(
            command, env=os.environ | {"PYTHONHASHSEED": str(seed)}, capture_output=True, text=True, timeout=120
        )
        result = json.loads(ran.stdout)
        result.pop("seconds", None)
        told.add(json.dumps(result))

    assert len(told) == 1
