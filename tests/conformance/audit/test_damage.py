"""Whatever a value is replaced by, in whatever format: it is read on, and what goes away is told."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from audit_samples import lossy
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorhold.audit import following
from anchorhold.audit.model import Damage, Turn
from anchorhold.audit.readers import FORMATS, TEXT, detect
from anchorhold.audit.run import audit_file, audit_paths

MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "List."}]},
    {"role": "assistant", "content": None, "thought": "hm", "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "ls", "arguments": '{"path": "a.py"}'}}]},
    {"role": "tool", "tool_call_id": "c", "name": "ls", "content": "a.py", "timestamp": "t"},
]  # fmt: skip
EVENTS = [
    {"id": 0, "source": "user", "action": "message", "args": {"content": "go"}, "timestamp": "t"},
    {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "look"}},
    {"id": 2, "source": "agent", "observation": "run", "content": "a.py"},
    {"id": 3, "source": "agent", "action": "condensation", "args": {"forgotten_event_ids": [1, 2], "summary": "ran"}},
    {"id": 4, "source": "agent", "action": "condensation",
     "args": {"forgotten_events_start_id": 0, "forgotten_events_end_id": 0, "summary": "went"}},
]  # fmt: skip


def said(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def part(role: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "parts": [more]}


def span(at: int, given_: list[Any], answer: Any) -> dict[str, Any]:
    return {"traceId": "t", "startTimeUnixNano": str(at), "attributes": {
        "gen_ai.operation.name": "chat", "gen_ai.conversation.id": "c",
        "gen_ai.input.messages": given_, "gen_ai.output.messages": [answer]}}  # fmt: skip


def claude() -> list[Any]:
    made = lossy()
    made.records.insert(4, {
        "type": "attachment", "sessionId": made.session, "uuid": "at", "parentUuid": None,
        "attachment": {"type": "file", "filename": "a", "content": {"type": "text", "file": {"content": "words"}}},
    })  # fmt: skip
    return made.records


ASKED, CALLED = (
    part("user", type="text", content="go"),
    part("assistant", type="tool_call", id="c", arguments={"a": "b"}),
)
SPANS = [span(1, [ASKED], CALLED), span(2, [part("user", type="text", content="summary")], ASKED)]
SAMPLES: dict[str, Any] = {
    "claude-code": claude(),
    "pi": [
        {"type": "session", "id": "p", "cwd": "/w", "timestamp": "t"},
        {"type": "message", "id": "1", "message": {"role": "user", "content": [{"type": "text", "text": "one"}]}},
        {"type": "message", "message": {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "/w/a.py"}}]}},
        {"type": "message", "message": {"role": "toolResult", "toolCallId": "c", "toolName": "read", "content": [
            {"type": "text", "text": "two"}]}},
        {"type": "message", "message": {"role": "bashExecution", "command": "ls", "output": "a"}},
        {"type": "compaction", "summary": "one", "firstKeptEntryIndex": 2, "tokensBefore": 9},
        {"type": "compaction", "summary": "two", "firstKeptEntryId": "1"},
    ],
    "codex": [
        {"type": "session_meta", "timestamp": "t", "payload": {"id": "r1", "cwd": "/w"}},
        {"type": "turn_context", "payload": {"cwd": "/w"}},
        {"type": "response_item", "payload": said("user", "go")},
        {"type": "response_item", "payload": {"type": "reasoning", "summary": [{"text": "h"}]}},
        {"type": "response_item", "payload": {
            "type": "function_call", "name": "sh", "arguments": "{\"command\": [\"ls\"]}", "call_id": "c"}},
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": "a_b"}},
        {"type": "compacted", "payload": {
            "message": "ls", "replacement_history": [said("user", "go"), said("user", "ls")]}},
        {"type": "compacted", "payload": {"message": "", "replacement_history": [said("user", "new")]}},
    ],
    "gemini-cli": {"sessionId": "g", "projectHash": "h", "messages": [
        {"id": "1", "type": "user", "content": "hi", "timestamp": "t"},
        {"id": "2", "type": "gemini", "content": "ok", "thoughts": [{"subject": "plan"}], "toolCalls": [
            {"id": "c", "name": "read_file", "args": {"path": "a.py"}, "result": [{"text": "body"}]}]},
        {"id": "3", "type": "info", "content": "Chat history compressed from 9 to 3 tokens."},
    ]},
    "openhands": EVENTS,
    "openhands-lines": [{"instance_id": "i", "history": [EVENTS[:2], *EVENTS[2:]]}],
    "swe-agent": {"history": MESSAGES, "trajectory": [], "info": {}},
    "swe-agent-steps": {"environment": "e", "trajectory": [{"thought": "t", "action": "a", "observation": "o"}]},
    "chat": MESSAGES,
    "chat-object": {"messages": MESSAGES},
    "chat-lines": [{"id": "x", "messages": MESSAGES}, MESSAGES[1]],
    "chat-tasks": [{"task_id": 1, "traj": MESSAGES}],
    "intercode": {"1": {"query": "q", "turn_history": {"actions": ["a"], "observations": ["o"]}}},
    "memorybank": {"ann": {"history": {"d": [{"query": "q", "response": "r"}]}}},
    "otel": SPANS,
    "otel-protocol": [{"resourceSpans": [{"scopeSpans": [{"spans": [
        {**each, "attributes": [
            {"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}
            for key, value in each["attributes"].items()]}
        for each in SPANS]}]}]}],
}  # fmt: skip
LINES = frozenset({"claude-code", "pi", "codex", "openhands-lines", "chat-lines", "otel", "otel-protocol"})
READERS = {form.name: form for form in (*FORMATS, TEXT)}
FREE = frozenset({"arguments", "input", "args", "result", "response", "thoughts", "attachment"})
"""Where any JSON may stand: what a tool is given and answers."""


def write(path: Path, name: str, value: Any) -> Path:
    text = "".join(json.dumps(each) + "\n" for each in value) if name in LINES else json.dumps(value)
    path.write_text(text, encoding="utf-8")
    return path


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    held = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in held:
        yield (*at, key)
        yield from places(item, (*at, key))


def replaced(value: Any, at: tuple[Any, ...], by: Any) -> Any:
    result = copy.deepcopy(value)
    inner = result
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = by
    return result


def read(name: str, path: Path) -> tuple[list[str], list[Damage]]:
    """The texts that the format's own reader gives, whatever the file is taken for."""
    damages: list[Damage] = []
    # What a name stands for is the part before the first further word: "chat-tasks" is read as chat.
    form = detect(path) or READERS[next(known for known in READERS if name.startswith(known))]
    if form.name == "text":
        form = READERS[next(known for known in READERS if name.startswith(known))]
    found = [piece.text for e in form.read(path, damages.append) if isinstance(e, Turn) for piece in e.pieces]
    return found, damages


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_are_read_without_damage(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "x", name, SAMPLES[name])

    form = detect(path)
    assert form is not None
    assert name.startswith(form.name)
    texts, damages = read(name, path)
    assert len(texts) > 1
    assert {damage.kind for damage in damages} <= {"compaction"}  # that of Gemini CLI has no summary


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_value_may_be_any_value_and_nothing_is_raised(
    tmp_path_factory: pytest.TempPathFactory, data: Any
) -> None:
    name = data.draw(st.sampled_from(sorted(SAMPLES)))
    value = SAMPLES[name]
    for _ in range(data.draw(st.integers(1, 3))):
        value = replaced(value, data.draw(st.sampled_from(list(places(value)))), data.draw(JSON))
    path = write(tmp_path_factory.mktemp("typed") / "x", name, value)

    read(name, path)
    assert audit_file(path).damaged["failed"] == 0


@pytest.mark.parametrize("by", [True, [True], {"odd": True}, [[{"odd": None}]]], ids=str)
@pytest.mark.parametrize("name", SAMPLES)
def test_what_an_ill_typed_value_takes_away_is_told(tmp_path: Path, name: str, by: Any) -> None:
    before, _ = read(name, write(tmp_path / "x", name, SAMPLES[name]))
    silent = []
    for at in places(SAMPLES[name]):
        if FREE & set(at[:-1]) or (at[-1] in FREE and by is not True):
            continue
        path = write(tmp_path / "y", name, replaced(SAMPLES[name], at, by))
        after, damages = read(name, path)
        told = [damage for damage in damages if damage.kind != "compaction"]
        if len(after) < len(before) and not told and at[-1] not in FREE:
            silent.append((at, len(before) - len(after)))

    assert not silent


@pytest.mark.parametrize("depth", [40, 900, 3000, 100_000])
def test_a_value_that_is_nested_deeply_is_told_or_read(tmp_path: Path, depth: int) -> None:
    made = lossy()
    made.records[2]["message"]["content"][0]["content"] = "DEEP"
    body = made.write(tmp_path / "x").read_text(encoding="utf-8")
    for opening, closing in ((r'{"content": [', "]}"), ("[", "]")):
        path = tmp_path / "deep"
        path.write_text(body.replace('"DEEP"', opening * depth + '"words"' + closing * depth), encoding="utf-8")
        found = audit_file(path)

        assert found.damaged["failed"] == 0
        assert len(found.findings) == 1
        assert sum(found.damaged.values()) > 0


def test_unknown_blocks_and_contents_are_told_and_what_they_say_is_kept(tmp_path: Path) -> None:
    made = lossy()
    made.records[3]["message"]["content"] = [{"type": "novel"}, 7, None, {"type": "text"}, {"type": "image"}, "words"]
    made.records[1]["message"]["content"] = {"odd": "shape"}
    texts, damages = read("claude-code", made.write(tmp_path / "x"))

    assert {"words", "shape"} <= set(texts)
    assert [damage.kind for damage in damages] == ["ill-typed", "unknown", "ill-typed", "ill-typed", "unknown"]
    assert {damage.record for damage in damages} == {1, 3}


@pytest.mark.parametrize("content", ['{"type":"user","uuid":"z","sessionId":"TO', '{"role": "user", "content'])
def test_a_file_of_one_torn_record_is_no_text(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.jsonl").write_text(content, encoding="utf-8")
    found = audit_file(tmp_path / "x.jsonl")

    assert found.turns == 0
    assert found.error or found.damaged["torn"]


def test_an_unknown_first_record_leaves_the_format_what_it_is(tmp_path: Path) -> None:
    made = lossy()
    made.records.insert(0, {"type": "novel", "sessionId": made.session})
    found = audit_file(made.write(tmp_path / "x"))

    assert (found.format, found.turns) == ("claude-code", audit_file(lossy().write(tmp_path / "y")).turns)
    assert found.damaged == {"unknown": 1}


def test_words_of_another_format_inside_strings_do_not_change_the_format(tmp_path: Path) -> None:
    made = lossy()
    made.records[0]["message"]["content"] = 'Look at {"gen_ai.system": 1, "resourceSpans": 2, "projectHash": 3}.'

    assert audit_file(made.write(tmp_path / "x")).format == "claude-code"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_byte_order_marks_and_utf_16_are_read(tmp_path: Path, encoding: str) -> None:
    plain = lossy().write(tmp_path / "x")
    (tmp_path / "y").write_bytes(plain.read_text(encoding="utf-8").encode(encoding))
    there, here = audit_file(tmp_path / "y"), audit_file(plain)

    assert (there.turns, there.damaged, len(there.findings)) == (here.turns, here.damaged, len(here.findings))
    cut = (tmp_path / "y").read_bytes()[:-1]
    (tmp_path / "z").write_bytes(cut)
    assert audit_file(tmp_path / "z").damaged["failed"] == 0


def test_a_fault_of_the_audit_is_told_and_other_files_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lossy("session-a").write(tmp_path / "a")
    lossy("session-b").write(tmp_path / "b")
    right = following.SessionAudit.compaction

    def wrong(self: Any, compaction: Any) -> None:
        if compaction.session == "session-a":
            raise ZeroDivisionError("made for the test")
        right(self, compaction)

    monkeypatch.setattr(following.SessionAudit, "compaction", wrong)
    first, second = audit_paths([tmp_path], workers=1)[0]

    assert (first.complete, second.complete) == (False, True)
    assert (first.damaged["failed"], len(second.findings)) == (1, 1)
    assert "made for the test" in first.damages[0].detail


def test_a_file_that_begins_in_the_middle_of_a_record_is_what_follows(tmp_path: Path) -> None:
    body = lossy().write(tmp_path / "x").read_bytes()
    (tmp_path / "y").write_bytes(body[20:])
    found = audit_file(tmp_path / "y")

    assert (found.format, found.damaged["torn"], len(found.findings)) == ("claude-code", 1, 1)
