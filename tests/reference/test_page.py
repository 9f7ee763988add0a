"""The page of the reference: its agent loop runs, is short, and its table names every rule and only what exists."""

import re
from pathlib import Path

import pytest

import anchorhold_reference
from anchorhold_reference import Reply, Transcript
from anchorhold_spec.catalogue import RULES

FOLDER = Path(anchorhold_reference.__file__).parent
PAGE = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
LOOP = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]


def test_the_agent_loop_runs_and_gets_back_what_was_compacted_away(tmp_path):
    assert len(LOOP.splitlines()) < 40
    space: dict = {}
    exec(LOOP.replace("budget=100_000", "budget=120, keep=2"), space)
    asked = []

    def agent(messages):
        asked.append(messages)
        n = len(asked)
        if n < 12:
            return f"Step {n}.", [(f"c{n}", "work", f'{{"n": {n}}}')]
        if n == 12:
            return "What was it?", [("c12", "look_up", '{"subject": "disk-1", "attribute": "size"}')]
        return f"It is {messages[-1][1]}.", []

    tools = {"work": lambda n: f"The size of disk-{n} is {n} TB, as measured by the agent of that machine."}
    path = tmp_path / "session.db"
    answer = space["run"](agent, tools, "Measure the disks.", lambda r: Reply(text=f"Part {len(asked)} done."), path)

    assert answer == "It is 1 TB, as measured by the agent of that machine."
    assert any(speaker == "summary" for speaker, _ in asked[-1])
    assert not any("disk-1 is" in text for _, text in asked[-2])
    with Transcript.open(path, summarise=lambda r: Reply(text="")) as t:
        assert t.live()[-1].text == answer


def _broken(**_):
    raise RuntimeError("the disk is gone")


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("work", "{}", "RuntimeError: the disk is gone"),
        ("nobody", "{}", "KeyError: 'nobody'"),
        ("work", "{not JSON", "JSONDecodeError"),
        ("work", "[]", "TypeError"),
        ("look_up", '{"subjects": 1}', "TypeError"),
    ],
)
def test_str_1_the_agent_loop_answers_a_call_whose_tool_fails_with_the_error(tmp_path, name, arguments, told):
    space: dict = {}
    exec(LOOP, space)
    seen = []

    def agent(messages):
        seen.append(messages)
        return ("Look.", [("c1", name, arguments), ("c2", "fine", "{}")]) if len(seen) == 1 else ("It failed.", [])

    tools = {"work": _broken, "fine": lambda: "All is well."}
    path = tmp_path / "session.db"
    assert space["run"](agent, tools, "Look at the disks.", lambda r: Reply(text=""), path) == "It failed."

    with Transcript.open(path, summarise=lambda r: Reply(text="")) as t:
        results = [item.text for item in t.live() if item.speaker == "tool"]
    assert results[0].startswith(told)
    assert results[1:] == ["All is well."]


def test_the_table_names_every_rule_once():
    table = PAGE[PAGE.index("## Where each rule is held") : PAGE.index("## Decisions worth knowing")]
    named = [rule for row in re.findall(r"^\| ([A-Z0-9, -]+) \|", table, re.MULTILINE) for rule in row.split(", ")]

    assert sorted(named) == sorted(RULES)


def test_the_modules_that_it_names_exist():
    table = PAGE[PAGE.index("| module | purpose |") : PAGE.index("## Where each rule is held")]
    for name in re.findall(r"`([a-z_]+(?:\.py|/))`", table):
        assert (FOLDER / name).exists(), name
