"""What exploring writes: steps, ITF, DOT, a page; and the command's exit statuses and documents."""

import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from typer import Typer
from typer.testing import CliRunner

from anchorhold.cli.explore import explore as command
from anchorhold_spec.explore import find_violation, violation_of
from anchorhold_spec.explore.diagram import page, svg
from anchorhold_spec.explore.dot import graph
from anchorhold_spec.explore.itf import document
from anchorhold_spec.machines import load
from anchorhold_spec.run import GuardId

APP = Typer()
APP.command()(command)


def invoke(*arguments: str):
    return CliRunner().invoke(APP, [*arguments, "--plain"] if "--plain" not in arguments else list(arguments))


@pytest.fixture
def violation():
    return violation_of(load("release-race"), sizes=None, dropped=[GuardId("release", "copied")])


def test_itf_has_the_form_that_its_readers_expect(violation):
    trace = document(violation.trace, violation=violation)

    assert trace["#meta"]["format"] == "ITF"
    assert [state["#meta"]["index"] for state in trace["states"]] == list(range(7))
    for state in trace["states"]:
        assert set(state) == {"#meta", *trace["vars"]}
    last = trace["states"][-1]
    assert last["step"] == "evict(span1, key1)"
    assert last["slot"] == {"#map": []}
    assert ["span1", "key1"] in last["pointer_key"]["#map"]
    assert ["span1", {"#bigint": "1"}] in last["pointer_epoch"]["#map"]
    assert last["cold"] == {"#set": []}
    assert ["span1", "evicted"] in last["phase_of"]["#map"]
    assert json.loads(json.dumps(trace)) == trace


def test_the_graph_has_every_state_once_and_every_step():
    lines = list(graph(load("release-race"), sizes={"spans": 1, "keys": 1, "epochs": 1}))

    assert lines[0] == 'digraph "release-race" {'
    assert lines[-1] == "}"
    states = [line for line in lines if re.match(r"  s\d+ \[", line)]
    steps = [line for line in lines if "->" in line]
    assert (len(states), len(steps)) == (11, 24)
    assert sum("bold" in line for line in states) == 1
    assert any("append(span1, key1, 0, 1)" in line for line in steps)


def test_the_graph_says_where_it_was_cut_off():
    lines = list(graph(load("release-race"), most=20))
    states = [line for line in lines if re.match(r"  s\d+ \[", line)]

    assert len(states) == 20
    assert any("dashed" in line for line in states)


def test_a_state_that_breaks_a_rule_is_red_in_the_graph():
    dropped = [GuardId("release", "copied")]
    lines = list(graph(load("release-race"), sizes={"spans": 1, "keys": 1, "epochs": 1}, dropped=dropped))

    assert any("#b3261e" in line for line in lines)


class Outline(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href")]

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_tells_the_whole_story_and_needs_nothing_else(violation):
    outline = Outline()
    outline.feed(page(violation, settings="2 spans <& 2 keys>"))
    text = " ".join(" ".join(outline.text).split())

    assert outline.links == []
    assert "broken in 6 steps" in text
    assert "PTR-1, PTR-2" in text
    assert "2 spans <& 2 keys>" in text
    for step in ("append(span1, key1, 0, 1)", "release(span1)", "evict(span1, key1)"):
        assert step in text
    assert "phase_of(span1): committed → released" in text


def test_the_diagram_is_well_formed_and_every_step_stands_in_it_in_order(violation):
    drawing = ET.fromstring(svg(violation))
    named = [e.text for e in drawing.iter() if (e.get("class") or "").startswith("name")]
    heights = [float(e.get("y")) for e in drawing.iter() if (e.get("class") or "").startswith("name")]

    assert named == ["append", "stage", "point", "commit", "release", "evict"]
    assert heights == sorted(heights)


def test_workers_and_faults_have_lanes_of_their_own():
    switches = {"reaper": "ignores-pointers"}
    found = violation_of(load("pointer-before-commit"), sizes=None, switches=switches)
    assert found is not None
    drawing = ET.fromstring(svg(found))
    lanes = {e.text for e in drawing.iter() if e.get("class") == "lane"}

    assert {"agent", "compactor", "reaper", "span1", "key1"} <= lanes


# The command


def test_what_holds_ends_with_0_and_the_document_of_the_issue():
    result = invoke("release-race", "--json")
    found = json.loads(result.stdout)

    assert result.exit_code == 0
    assert set(found) == {"machine", "states", "transitions", "seconds", "symmetry", "violation"}
    assert (found["machine"], found["states"], found["transitions"]) == ("release-race", 281, 905)
    assert (found["symmetry"], found["violation"]) == (False, None)


def test_what_breaks_ends_with_1_and_a_shortest_run(tmp_path):
    files = {name: tmp_path / name for name in ("itf", "dot", "html")}
    written = [piece for name, path in files.items() for piece in (f"--{name}", str(path))]
    result = invoke("release-race", "--drop", "release:copied", "--json", *written)
    violation = json.loads(result.stdout)["violation"]

    assert result.exit_code == 1
    assert violation["rule"] == "PTR-1, PTR-2"
    assert len(violation["steps"]) == 6
    assert json.loads(files["itf"].read_text())["#meta"]["format"] == "ITF"
    assert files["dot"].read_text().startswith("digraph")
    assert files["html"].read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("walks", [(), ("--walks", "300")])
def test_a_guard_that_was_left_out_is_said_on_the_terminal_and_in_the_document(walks):
    arguments = ("release-race", "--drop", "release:copied", *walks)

    assert "the guard “copied” of release" in " ".join(invoke(*arguments).stdout.split())
    assert json.loads(invoke(*arguments, "--json").stdout)["dropped"] == [{"action": "release", "guard": "copied"}]
    assert "guard" not in invoke("release-race", *walks).stdout


def test_a_limit_finishes_the_layer_in_which_it_is_met():
    cut, whole = (json.loads(invoke("release-race", *limit, "--json").stdout) for limit in (("--limit", "50"), ()))

    assert 50 < cut["states"] < whole["states"]


def test_a_limit_ends_with_3_and_is_said():
    result = invoke("release-race", "--limit", "50", "--json")

    assert result.exit_code == 3
    assert "more than 50 states" in json.loads(result.stdout)["stopped"]


def test_symmetry_and_size_are_taken_from_the_command_line():
    result = invoke("release-race", "--symmetry", "--size", "spans=2,keys=2", "--size", "epochs=2", "--json")
    found = json.loads(result.stdout)

    assert (found["states"], found["symmetry"]) == (76, True)


def test_a_switch_chooses_the_variant():
    result = invoke("pointer-before-commit", "--switch", "reaper=ignores-pointers")

    assert result.exit_code == 1
    assert "PTR-2" in result.stdout


def test_walks_are_reproducible_from_the_command_line():
    arguments = ["release-race", "--drop", "release:copied", "--walks", "300", "--seed", "3", "--json"]
    one, two = (json.loads(invoke(*arguments).stdout) for _ in range(2))

    assert one["violation"] == two["violation"] is not None
    assert one["walks"] == two["walks"]


def test_a_machine_of_ones_own_is_explored_from_its_file(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from anchorhold_spec.language import MachineBuilder, forall, safety\n"
        'm = MachineBuilder("mine", "", rules={"MY-1"}, alphabet=())\n'
        'thing = m.sort("thing")\n'
        'on = m.rel("on", thing)\n'
        't = thing("t")\n'
        'm.action("turn on", t, doc="", guards=[safety("off", ~on(t))], updates=[on(t).becomes(True)])\n'
        'm.invariant("never all", ~forall(t, on(t)), rules=["MY-1"])\n'
        'm.instance("small", things=3)\n'
        "mine = m.build()\n"
    )
    result = invoke(f"{file}:mine", "--json")

    assert result.exit_code == 1
    assert json.loads(result.stdout)["violation"]["rule"] == "MY-1"
    assert len(json.loads(result.stdout)["violation"]["steps"]) == 3


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["no-such-machine"], "no-such-machine"),
        (["release-race", "--size", "cows=3"], "cows"),
        (["release-race", "--size", "spans=many"], "many"),
        (["release-race", "--size", "spans"], "NAME=VALUE"),
        (["release-race", "--size", "spans=-1"], "whole numbers, at least 1, and '-1'"),
        (["release-race", "--size", "spans=0"], "whole numbers, at least 1, and '0'"),
        (["release-race", "--size", "spans=2,spans=3"], "spans twice, as 2 and as 3"),
        (["release-race", "--size", "spans=2", "--size", "spans=2"], "spans twice"),
        (["write-order", "--switch", "tags=none", "--switch", "tags=epochs"], "tags twice"),
        (["release-race", "--size", "spans=9999", "--memory", "0.1"], "choose smaller sizes"),
        (["release-race", "--switch", "colour=red"], "colour"),
        (["release-race", "--drop", "release"], "ACTION:GUARD"),
        (["release-race", "--drop", "release:nothing"], "nothing"),
        (["release-race", "--resume"], "--checkpoint"),
        (["release-race", "--walks", "3", "--symmetry"], "--symmetry"),
        (["release-race", "--checkpoint", "x"], "--plain"),
    ],
)
def test_what_cannot_be_is_refused_with_2_and_the_reason(arguments, told):
    result = invoke(*arguments)

    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("machine", ["release-race", "asynchronous-copy"])
def test_a_size_that_no_memory_holds_is_refused_with_2_and_one_line(machine):
    """Before anything is compiled or allocated."""
    result = invoke(machine, "--size", "spans=4000", "--memory", "0.05")

    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert "GB" in result.stderr


@pytest.mark.parametrize(
    "content", [b"", b"junk", b"PK\x03\x04junk", b"\x93NUMPY\x01\x00junk", b"\x80\x04N.", bytes(range(256)) * 40]
)
def test_a_file_that_is_no_checkpoint_is_refused_in_words_that_say_what_to_do(content, tmp_path):
    file = tmp_path / "search"
    file.write_bytes(content)
    result = CliRunner().invoke(APP, ["release-race", "--checkpoint", str(file), "--resume"])

    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert "is no checkpoint" in result.stderr
    assert "pickle" not in result.stderr
    assert file.read_bytes() == content


def test_nothing_is_written_where_nothing_is_broken(tmp_path):
    result = invoke("release-race", "--html", str(tmp_path / "page.html"))

    assert result.exit_code == 0
    assert "no rule is broken" in result.stdout
    assert not (tmp_path / "page.html").exists()


def test_find_violation_gives_a_run_or_none():
    assert find_violation(load("release-race")) is None
    assert len(find_violation(load("release-race"), dropped=("release", "copied")).steps) == 6
