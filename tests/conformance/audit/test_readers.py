"""Each format is told from its content, read to its end, and what is damaged in it is counted and named."""

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from audit_samples import Claude, lossy
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorhold.audit.model import Compaction, Damage, Event, Turn
from anchorhold.audit.readers import detect, source
from anchorhold.audit.run import audit_file


def read(path: Path) -> tuple[str, list[Event], list[Damage]]:
    damages: list[Damage] = []
    form = detect(path)
    assert form is not None
    return form.name, list(form.read(path, damages.append)), damages


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def said(events: list[Event]) -> list[tuple[str, str]]:
    return [(p.role.value, p.text) for e in events if isinstance(e, Turn) for p in e.pieces]


CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "src/a.py"}'}}
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "List."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "src/a.py"},
]
CHAT_SAID = [("system", "Be brief."), ("user", "List."), ("call", "src/a.py"), ("result", "src/a.py")]
SPAN: dict[str, Any] = {
    "name": "chat m",
    "startTime": "2026-03-01T10:00:00Z",
    "attributes": {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "s1"},
}


def message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def span(given: list[dict[str, Any]], answer: dict[str, Any]) -> dict[str, Any]:
    content = {"gen_ai.input.messages": json.dumps(given), "gen_ai.output.messages": json.dumps([answer])}
    return {**SPAN, "attributes": {**SPAN["attributes"], **content}}


def test_claude_code(tmp_path: Path) -> None:
    name, events, damages = read(lossy(pointer=True).write(tmp_path / "x"))

    assert (name, damages) == ("claude-code", [])
    (compaction,) = [e for e in events if isinstance(e, Compaction)]
    assert compaction.summary.strip().startswith("The import was started.")
    assert compaction.summary.strip().endswith("src/prices_old.py`.")
    assert compaction.transcript is not None
    assert [e.human for e in events if isinstance(e, Turn)][:2] == [True, False]


def test_pi(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "x",
        {"type": "session", "id": "p", "cwd": "/w"},
        {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": "one"}]}},
        {"type": "message", "message": {"role": "assistant", "content": [
            {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "/w/a.py"}}]}},
        {"type": "message", "message": {"role": "toolResult", "toolCallId": "c", "content": [
            {"type": "text", "text": "two"}]}},
        {"type": "compaction", "summary": "one was said", "firstKeptEntryIndex": 2, "tokensBefore": 9},
    )  # fmt: skip
    name, events, damages = read(path)

    assert (name, damages) == ("pi", [])
    assert said(events) == [("user", "one"), ("call", "/w/a.py"), ("result", "two")]
    assert audit_file(path).findings[0].replaced == 1  # the other two stayed verbatim


def test_codex(tmp_path: Path) -> None:
    item = {"type": "response_item"}
    path = lines(
        tmp_path / "x",
        {"type": "session_meta", "timestamp": "t", "payload": {"id": "r1", "cwd": "/w"}},
        {**item, "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}},
        {**item, "payload": {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}},
        {**item, "payload": {"type": "function_call", "name": "shell", "arguments": '{"command": ["ls", "a_b"]}',
                             "call_id": "c"}},
        {**item, "payload": {"type": "function_call_output", "call_id": "c", "output": "a_b"}},
        {"type": "event_msg", "payload": {"type": "token_count"}},
        {"type": "compacted", "payload": {"message": "ls was run"}},
        {"type": "invented", "payload": {}},
    )  # fmt: skip
    name, events, damages = read(path)

    assert name == "codex"
    assert said(events) == [("user", "go"), ("thinking", "hm"), ("call", "ls"), ("call", "a_b"), ("result", "a_b")]
    assert [(e.session, e.summary) for e in events if isinstance(e, Compaction)] == [("r1", "ls was run")]
    assert [d.kind for d in damages] == ["unknown"]


def test_gemini(tmp_path: Path) -> None:
    call = {"id": "c", "name": "read_file", "args": {"path": "a.py"}, "result": [{"text": "body"}]}
    held = {"sessionId": "g", "projectHash": "h", "messages": [
        {"id": "1", "type": "user", "content": "hi"},
        {"id": "2", "type": "gemini", "content": "ok", "toolCalls": [call], "thoughts": [{"subject": "plan"}]},
        {"id": "3", "type": "novel", "content": "?"},
    ]}  # fmt: skip
    path = tmp_path / "x"
    path.write_text(json.dumps(held), encoding="utf-8")
    name, events, damages = read(path)

    assert name == "gemini-cli"
    assert said(events) == [
        ("user", "hi"), ("assistant", "ok"), ("thinking", "plan"), ("call", "a.py"), ("result", "body"),
    ]  # fmt: skip
    assert [d.kind for d in damages] == ["unknown"]


def test_openhands(tmp_path: Path) -> None:
    events = [
        {"id": 0, "source": "user", "action": "message", "args": {"content": "go"}},
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls a_b", "thought": "look"}},
        {"id": 2, "source": "agent", "observation": "run", "content": "a_b"},
        {
            "id": 3,
            "source": "agent",
            "action": "condensation",
            "args": {"forgotten_event_ids": [1, 2], "summary": "ran"},
        },
    ]
    path = lines(tmp_path / "x", {"instance_id": "i", "history": events})
    name, found, damages = read(path)

    assert (name, damages) == ("openhands", [])
    assert said(found) == [("user", "go"), ("call", "ls a_b"), ("assistant", "look"), ("result", "a_b")]
    assert audit_file(path).findings[0].replaced == 2


def test_swe_agent(tmp_path: Path) -> None:
    history = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "issue"},
        {"role": "assistant", "content": "I look.", "action": "ls"},
        {"role": "user", "content": "a.py"},
    ]
    path = tmp_path / "x.traj"
    path.write_text(json.dumps({"history": history, "trajectory": [], "info": {}}), encoding="utf-8")
    name, events, _ = read(path)

    assert name == "swe-agent"
    assert said(events) == [
        ("system", "s"), ("user", "issue"), ("assistant", "I look."), ("call", "ls"), ("result", "a.py"),
    ]  # fmt: skip


@pytest.mark.parametrize("shape", ["list", "object", "lines", "conversations", "tasks"])
def test_chat(tmp_path: Path, shape: str) -> None:
    path = tmp_path / "x"
    if shape == "lines":
        lines(path, *CHAT)
    elif shape == "conversations":
        lines(path, {"messages": CHAT}, {"messages": CHAT})
    else:
        held: Any = {"list": CHAT, "object": {"messages": CHAT}, "tasks": [{"task_id": 1, "traj": CHAT}]}[shape]
        path.write_text(json.dumps(held), encoding="utf-8")
    name, events, damages = read(path)

    assert (name, damages) == ("chat", [])
    assert said(events) == CHAT_SAID * (2 if shape == "conversations" else 1)


def test_a_document_larger_than_is_decoded_at_once_is_read_element_by_element(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_text(json.dumps(CHAT), encoding="utf-8")
    monkeypatch.setattr(source, "WHOLE_JSON", 10)

    assert said(read(path)[1]) == CHAT_SAID
    path.write_text(json.dumps(CHAT)[:-30], encoding="utf-8")
    _, events, damages = read(path)
    assert said(events) == CHAT_SAID[:3]
    assert [d.kind for d in damages] == ["torn"]


def test_aider_and_console_and_logs(tmp_path: Path) -> None:
    aider = tmp_path / "a.md"
    aider.write_text("# aider chat started at 2026-03-01\n\n#### fix it\n\n> Applied edit to a.py\n\nDone.\n")
    assert read(aider)[0] == "aider"
    assert [(r, t.strip()) for r, t in said(read(aider)[1])] == [
        ("user", "fix it"), ("result", "Applied edit to a.py"), ("assistant", "Done."),
    ]  # fmt: skip
    console = tmp_path / "c.md"
    console.write_text("> fix it\n\n⏺ Bash(ls)\n  ⎿ a.py\n     b.py\n\n⏺ Done.\n", encoding="utf-8")
    assert [r for r, _ in said(read(console)[1])] == ["user", "call", "result", "assistant"]
    log = tmp_path / "l.txt"
    log.write_text("[10:01] <ann> hello\n[10:02] <bo> hi\n=== cy joined\n")
    events = read(log)[1]
    assert [e.counted for e in events if isinstance(e, Turn)] == [True, True, False]


def test_telemetry_finds_the_compaction_where_a_window_no_longer_continues(tmp_path: Path) -> None:
    one, two = message("user", "start task task_77x"), message("assistant", "started")
    three = message("user", "go on")
    path = lines(
        tmp_path / "x",
        span([one], two),
        span([one, two, three], message("assistant", "at 40")),
        span([message("user", "Summary: a task was started."), three], message("assistant", "asking task_77x")),
        {**SPAN, "attributes": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}},
    )
    name, events, damages = read(path)

    assert name == "otel"
    assert [e.summary for e in events if isinstance(e, Compaction)] == ["Summary: a task was started."]
    assert [d.kind for d in damages] == ["lacking", "lacking"]  # no conversation id, no messages
    assert "gen_ai.input.messages" in damages[1].detail
    assert [e.literal for e in audit_file(path).findings[0].examples if e.what == "needed"] == ["task_77x"]


def test_torn_doubled_and_disordered_records_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    made = lossy()
    whole = [json.dumps(record) for record in made.records]
    late = json.loads(whole[3])
    late.update(uuid="late", timestamp="2020-01-01T00:00:00Z")
    text = "\n".join(
        [
            whole[0] + whole[1],  # two on a line
            whole[2],
            whole[2],  # the same again
            whole[3][:40],  # torn
            whole[3][:40] + whole[3],  # torn, and a whole one appended
            json.dumps(late),
            '{"type": "user", "uuid": "s", "sessionId": "s2", "message": {"role": "user", "content": "a \\ud800 b"}}',
            '{"type": "nothing known", "sessionId": "s2"}',
            *whole[4:],
            "[1, 2]",
        ]
    )
    path = tmp_path / "x"
    path.write_text(text, encoding="utf-8")
    found = audit_file(path)

    assert found.damaged == {"doubled": 2, "torn": 2, "order": 1, "surrogate": 1, "unknown": 2}
    assert len(found.findings) == 1
    assert found.findings[0].needed_lost == 1


def test_compressed_files_are_read(tmp_path: Path) -> None:
    body = lossy().write(tmp_path / "x").read_bytes()
    (tmp_path / "a.xz").write_bytes(lzma.compress(body))
    (tmp_path / "a.gz").write_bytes(gzip.compress(body))
    (tmp_path / "cut.xz").write_bytes(lzma.compress(body)[:-40])

    assert [audit_file(tmp_path / name).findings[0].needed for name in ("a.xz", "a.gz")] == [1, 1]
    cut = audit_file(tmp_path / "cut.xz")
    assert cut.error or cut.damaged["torn"]


def test_what_is_no_transcript_says_so(tmp_path: Path) -> None:
    for name, content in (("empty", b""), ("binary", b"\x7fELF\0\0")):
        (tmp_path / name).write_bytes(content)
        assert "no transcript" in (audit_file(tmp_path / name).error or "")


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.tuples(st.integers(0, 4000), st.binary(max_size=12)), max_size=6))
def test_damage_anywhere_is_reported_and_never_raised(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[Any]
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "x"
    body = bytearray(lossy().write(path).read_bytes())
    before = audit_file(path)
    for at, put in cuts:
        body[at % len(body) : at % len(body) + len(put)] = put
    path.write_bytes(bytes(body))
    after = audit_file(path)

    if after.error is None and after.format == "claude-code" and after.turns < before.turns:
        assert sum(after.damaged.values()) > 0


def test_an_unfinished_compaction_is_reported(tmp_path: Path) -> None:
    made = Claude()
    made.user("Go.")
    made.compacts("x")
    made.records.pop()

    assert [d.kind for d in read(made.write(tmp_path / "x"))[2]] == ["compaction"]


def test_a_sub_agents_turns_and_compactions_are_apart_from_the_sessions(tmp_path: Path) -> None:
    made, agent = lossy(), lossy()
    for number, record in enumerate(agent.records):
        record.update(isSidechain=True, uuid=f"side-{number}")
    made.records[4:4] = agent.records
    found = audit_file(made.write(tmp_path / "x"))

    assert found.sessions == 1
    assert [(f.session.endswith("/sidechain"), f.needed_lost) for f in found.findings] == [(True, 1), (False, 1)]
