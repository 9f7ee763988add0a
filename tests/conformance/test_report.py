"""Reports: what they say, and that nothing a compactor says acts on whoever reads them."""

import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from report_samples import FACT, conforming, failing, history, partial, verdict
from rich.console import Console

from anchorhold import report, workload
from anchorhold.compactor import StoreFault
from anchorhold.history import EventType
from anchorhold.report.junit import junit
from anchorhold.report.phrases import step_words
from anchorhold.report.story import tell
from anchorhold.report.terminal import render
from anchorhold.report.text import visible
from anchorhold.result import ClaimResult, ClaimVerdict, Result, broken, decode, failure, result
from anchorhold.verdict import Failure, History, VerdictKind
from anchorhold.workload import Append, Probe, Step
from anchorhold_spec.catalogue import FAMILIES, RULES
from anchorhold_spec.vocabulary import Fact, Turn

HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</title></style></pre></svg><b>",
    "]]> &amp; &#0; <!-- {{ 7 * 7 }} {% raw %}",
    "[bold red]x[/bold red][link=http://example.org]y[/link] :boom:",
    "\x1b[2J\x1b]0;title\x07\r\b\x9b31m",
    "\ud83d\udcff\x00\ufffe\u202eevil\u2066\u200b",
]
ANY_TEXT = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=[]), max_size=80))


def on_terminal(document: Result, histories: dict[str, History], *, encoding: str = "utf-8", width: int = 100) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    render(document, histories, Console(file=file, width=width, force_terminal=True, color_system="truecolor"))
    file.flush()
    return raw.getvalue().decode(encoding)


def plain(text: str) -> str:
    """Without the styles that rich itself puts in."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def saying(text: str) -> tuple[Result, dict[str, History]]:
    """A failing result in which everything that can come from a compactor is this text."""
    events = [
        (0, EventType.INVOKE, "append", {"turn": {"id": text, "speaker": text, "text": text}, "facts": []}),
        (0, EventType.OK, "append", text),
        (1, EventType.INVOKE, text, {text: [text], "token": text}),
        (1, EventType.OK, text, {"kind": text, "text": text, "reason": text, "covered": [text]}),
        (1, EventType.INVOKE, "live", None),
        (1, EventType.OK, "live", [{"id": text, "kind": text, "text": text}, {"kind": "raw", "turn": text}]),
        (1, EventType.INVOKE, "summarise", {"messages": [text, text]}),
        (1, EventType.FAIL, "summarise", None),
        (1, EventType.OK, "get", {"kind": "found", "text": text}),
    ]
    told = history((Append(turn=Turn(id=text, speaker=text, text=text)), Probe()), events, rule="REC-1", error=text)
    found = Failure(rule="REC-1", sentence=text, fact=text, event=3)
    document = result(
        compactor=text,
        version=text,
        verdicts=[
            verdict("REC-1", VerdictKind.FAIL, text),
            verdict("EPO-1", VerdictKind.VACUOUS, text),
            verdict("ANC-1", VerdictKind.NOT_OBSERVABLE, text),
        ],
        failures=[failure(found, history="h", replay=text)],
        seconds=1,
        seed=0,
        stderr=text,
        irreversible=text,
    )
    return document, {"h": told}


class Page(HTMLParser):
    """What a page consists of."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in {"meta", "link", "rect", "line", "path"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def of_any_text(*examples: str) -> Callable[[Callable[[str], None]], Callable[[], None]]:
    """A test of whatever a compactor may say, these texts among it."""

    def over_texts(test: Callable[[str], None]) -> Callable[[], None]:
        for text in examples:
            test = example(text)(test)
        return settings(max_examples=50, deadline=None)(given(ANY_TEXT)(test))

    return over_texts


ORDINARY = Page(report.html(*failing(stderr="words")))


@of_any_text(*HOSTILE[:4], HOSTILE[6])
def test_html_holds_any_text_as_text_only(text: str) -> None:
    source = report.html(*saying(text))
    page = Page(source)

    assert page.open == []
    assert set(page.tags) <= set(ORDINARY.tags)
    assert {(tag, name) for tag, name, _ in page.attributes} <= {(tag, name) for tag, name, _ in ORDINARY.attributes}
    assert all(value.startswith(("#", "data:,")) for _, name, value in page.attributes if name == "href")
    assert all(character.isprintable() or character == "\n" or character == "\t" for character in source)
    squeezed = "".join(page.text.split())
    assert "".join(visible(" ".join(text.split())).split()) in squeezed


@of_any_text(*HOSTILE[4:6])
def test_terminal_receives_no_sequence_and_reads_no_markup_of_a_compactor(text: str) -> None:
    output = plain(on_terminal(*saying(text)))

    assert all(character.isprintable() or character == "\n" for character in output)
    wanted = "".join(visible(" ".join(text.split())).split())
    assert wanted in "".join(output.split())


@of_any_text(HOSTILE[3], HOSTILE[6])
def test_junit_is_xml_and_holds_any_text_as_text_only(text: str) -> None:
    root = ET.fromstring(junit(saying(text)[0]))
    case = next(each for each in root.iter("testcase") if each.get("name", "").startswith("REC-1 "))
    found = case.find("failure")

    assert {each.tag for each in root.iter()} <= {
        "testsuites", "testsuite", "properties", "property", "testcase", "failure", "skipped", "system-err",
    }  # fmt: skip
    assert found is not None
    assert found.get("message") == visible(text, lines=False)
    assert visible(text) in (found.text or "")


@pytest.mark.parametrize("text", HOSTILE)
def test_terminals_that_know_only_ascii_get_only_ascii(text: str) -> None:
    assert on_terminal(*saying(text), encoding="ascii").isascii()


def test_terminal_says_verdict_ladder_rules_and_failures_within_100_columns() -> None:
    output = plain(on_terminal(*failing(noise=30)))
    flat = " ".join(output.split())

    assert max(map(len, output.splitlines())) <= 100
    assert output.startswith("forgetful 0.3.1  2 rules failed, no level reached\n")
    assert "Of 60 rules 8 held, 2 failed, and 50 could not be decided (48 have no checker yet)." in output
    assert "3 anchored blocked by 1 failed: ANC-1, 12 untested" in flat
    assert all(family.title in output for family in FAMILIES.values())
    assert "1✗ 2✓ 3· 4·" in flat
    assert "EPO-1 vacuous the compactor has no key-recycling" in flat
    assert "ANC-1 No unanchored eviction" in flat
    assert "✗ evict: committed (ANC-1 is broken here)" in flat
    assert "2-34 append 33 turns that say nothing of it" in flat
    assert "replay anchorhold replay histories/ANC-1.jsonl" in flat


def test_terminal_says_that_nothing_failed_and_what_holds_the_next_level_back() -> None:
    output = plain(on_terminal(conforming(), {}))

    assert output.startswith("reference 0.1.0  level 3 of 5: anchored\n")
    assert "4 evidential blocked by 11 untested" in " ".join(output.split())


def test_terminal_and_page_of_an_adapter_that_did_not_work_give_no_verdict() -> None:
    document = broken(compactor="cmd:x", error="it died at start: run it by hand", seconds=1, seed=0, stderr="boom\n")
    output = plain(on_terminal(document, {}))
    page = Page(report.html(document, {}))

    for text in (output, page.text):
        assert "no verdict" in text
        assert "it died at start: run it by hand" in text
        assert "boom" in text
        assert "ANC" not in text
        assert "level" not in text


def test_page_needs_nothing_from_elsewhere() -> None:
    source = report.html(*failing())
    page = Page(source)

    assert not re.search(r"https?:|url\(|@import|//[a-z]", source)
    assert "script" not in page.tags
    assert {name for _, name, _ in page.attributes} & {"src", "srcset", "xlink:href"} == set()
    assert "default-src 'none'" in source


def test_page_shows_every_rule_with_its_text_and_every_anchor_leads_somewhere() -> None:
    page = Page(report.html(*failing()))
    ids = [value for _, name, value in page.attributes if name == "id"]
    text = " ".join(page.text.split())

    assert len(ids) == len(set(ids))
    assert {value[1:] for _, name, value in page.attributes if name == "href" and value[0] == "#"} <= set(ids)
    for rule in RULES.values():
        assert rule.id in ids
        assert rule.statement.replace("`", "") in text


def test_page_draws_each_failure_and_marks_where_it_shows() -> None:
    document, histories = failing(noise=30)
    source = report.html(document, histories)
    page = Page(source)

    assert page.tags.count("svg") == len(document.failures) == 2
    assert page.tags.count("rect") >= 2
    assert source.count('class="here"') == 2
    assert FACT in page.text
    assert "append 33 times: nothing about this" in page.text
    assert "evict: committed (rule broken here)" in page.text


def test_a_read_that_failed_is_told_even_where_it_does_not_mention_the_fact() -> None:
    _, histories = failing()

    lines = tell(histories["histories/REC-1.jsonl"], fact="7443", event=3)

    remarks = [remark.text for line in lines for remark in line.remarks]
    assert "reconstitute: may or may not have happened: TimeoutError: no answer in 5 s" in remarks


def test_a_history_that_is_not_at_hand_is_said_so() -> None:
    document, _ = failing()

    assert "The history is not at hand: histories/ANC-1.jsonl" in Page(report.html(document, {})).text
    assert "the history is not at hand: histories/ANC-1.jsonl" in on_terminal(document, {})


def test_junit_passes_only_what_passed() -> None:
    document, _ = failing(stderr="noise")
    root = ET.fromstring(junit(document))
    cases = {case.get("name", "").split()[0]: case for case in root.iter("testcase")}

    assert list(cases) == list(RULES)
    assert cases["EPO-2"].find("*") is None
    for rule, found in document.rules.items():
        children = [child.tag for child in cases[rule]]
        assert children == {"pass": [], "fail": ["failure"]}.get(found.verdict.value, ["skipped"])
    skipped = cases["EPO-1"].find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "vacuous (counts as held): the compactor has no key-recycling"
    told = cases["ANC-1"].find("failure")
    assert told is not None
    assert "anchorhold replay histories/ANC-1.jsonl" in (told.text or "")
    suite = root.find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["60", "2", "0", "51"]
    assert root.findtext(".//system-err") == "noise"


def test_junit_of_an_adapter_that_did_not_work_is_one_error() -> None:
    root = ET.fromstring(junit(broken(compactor="cmd:x", error="it died", seconds=1, seed=0)))

    assert [case.find("error") is not None for case in root.iter("testcase")] == [True]
    assert root.get("errors") == "1"


def test_write_leaves_three_files_that_agree(tmp_path: Path) -> None:
    document, histories = failing()
    written = report.write(tmp_path / "deep" / "down", document, histories)

    assert decode(written.json.read_bytes()) == document
    assert json.loads(written.json.read_text())["failures"][0]["rule"] == "ANC-1"
    assert ET.parse(written.junit).getroot().get("failures") == "2"
    assert written.html.read_text(encoding="utf-8") == report.html(document, histories)


def test_each_step_is_told_in_words_and_not_by_its_tag() -> None:
    turn = Append(turn=Turn(id="t1", speaker="user", text="The port of relay-3 is 8081."))
    fact = Fact(text="The port of relay-3 is 8081.", literal="8081")
    steps: list[Step] = [
        workload.Supersede(fact=fact, turn="t1", superseder="t2", reason="newer"),
        workload.Clear(),
        workload.Rewind(turn="t1"),
        workload.Fork(branch="twig"),
        workload.Forget(turn="t1"),
        workload.HoldCopies(held=True),
        workload.HoldCopies(held=False),
        workload.Settle(),
        workload.Clock(shift=-7.5),
        workload.Kill(),
        workload.LosePower(),
        workload.FailStore(point=2, fault=StoreFault.FULL),
        workload.Override(reason="so be it"),
        workload.Meanwhile(steps=(turn, workload.Clear())),
        workload.Workers(tasks=(workload.Task(worker="reaper", op="evict", turn="t1"),)),
        turn,
        workload.Summariser(mode="drop", times=2),
        workload.Compact(),
        workload.Probe(),
        workload.Ask(fact=fact, evidence=True),
        workload.Follow(token="made up"),
        workload.Evict(turn="t1"),
        workload.DropFact(fact=fact, turn="t1", reason="done"),
        workload.Reopen(),
        workload.CrashAt(point=1),
        workload.Corrupt(turn="t1"),
        workload.Switch(session="b", user="v"),
        workload.Expire(seconds=60.0),
    ]
    # Played, a workload has no `Fill`.
    assert {type(step) for step in steps} == set(get_args(workload.AnyStep)) - {workload.Fill}

    told = [step_words(step) for step in steps]

    assert len(set(told)) == len(told)
    assert not [words for words in told if "{" in words]
    assert told[8:12] == [
        "the wall clock jumps by -7.5 s",
        "kill the process, and open again",
        "power is lost: what was not synced is gone; open again",
        "the store fails in the next compaction, at number 2, counted round its crash points from 0 (full)",
    ]
    assert told[13] == "hold the next call of the model, and take 2 steps meanwhile"
    assert told[14] == "single-step reaper (evict)"


def told_of(steps: tuple[workload.AnyStep, ...], *events: tuple[int, EventType, str, Any]) -> list[str]:
    """The story of a history: its steps and what was seen in them, a line each."""
    lines = tell(history(steps, list(events), rule="CRA-1"), fact="", event=None)
    return [text for line in lines for text in (line.text, *(remark.text for remark in line.remarks))]


def test_a_durable_step_that_was_armed_is_called_by_the_name_that_the_compactor_declares() -> None:
    steps = (workload.CrashAt(point=13), workload.FailStore(point=13, fault=StoreFault.FULL))

    assert told_of(
        steps,
        (0, EventType.INVOKE, "crash", {"point": "audit"}),
        (1, EventType.INVOKE, "fail_store", {"point": "audit", "fault": "full"}),
    ) == [
        "crash in the next compaction, at its crash point “audit”",
        "the store fails in the next compaction, at its crash point “audit” (full)",
    ]
    # Where nothing was armed there is but the number, and what it counts.
    assert told_of(steps)[0] == "crash in the next compaction, at number 13, counted round its crash points from 0"


@pytest.mark.parametrize(
    ("kind", "words"),
    [("committed", "left out: x, y"), ("refused", "facts in the way: x, y"), ("failed", "facts in the way: x, y")],
)
def test_the_facts_of_an_outcome_are_told_as_what_they_are_of_its_kind(kind: str, words: str) -> None:
    ended = (0, EventType.OK, "compact", {"kind": kind, "facts": ["x", "y"]})

    assert told_of((workload.Compact(),), ended)[1] == f"compact: {kind}, {words}"


@pytest.mark.parametrize(
    ("kinds", "title", "words"),
    [
        ({"PTR-1": VerdictKind.FAIL}, "the rule asked for failed", "1 of 60 rules asked, 1 failed"),
        (
            {"PTR-1": VerdictKind.FAIL, "OUT-1": VerdictKind.PASS},
            "1 of the 2 rules asked for failed",
            "2 of 60 rules asked, 1 failed",
        ),
        (
            {"PTR-1": VerdictKind.FAIL, "OUT-1": VerdictKind.FAIL},
            "the 2 rules asked for failed",
            "2 of 60 rules asked, 2 failed",
        ),
        ({"ERA-1": VerdictKind.VACUOUS}, "the rule asked for is held", "1 of 60 rules held"),
        (
            {"ERA-1": VerdictKind.VACUOUS, "OUT-1": VerdictKind.PASS},
            "the 2 rules asked for are held",
            "2 of 60 rules held",
        ),
        (
            {"ERA-1": VerdictKind.INCONCLUSIVE, "OUT-1": VerdictKind.PASS},
            "1 of the 2 rules asked for could not be decided",
            "2 of 60 rules asked, undecided",
        ),
        (
            {"ERA-1": VerdictKind.INCONCLUSIVE},
            "the rule asked for could not be decided",
            "1 of 60 rules asked, undecided",
        ),
    ],
)
def test_a_run_of_some_rules_says_so_and_nothing_of_a_level(
    kinds: dict[str, VerdictKind], title: str, words: str
) -> None:
    document = partial(kinds)
    output = plain(on_terminal(document, {}))
    page = Page(report.html(document, {}))

    assert title in output
    assert title in page.text
    assert f">{words}</text>" in report.badge(document)
    for text in (output, page.text):
        assert "and nothing is said of a level" in " ".join(text.split())
        assert "no level reached" not in text
        assert "blocked by" not in text
        assert "held back by" not in text


def test_a_run_of_all_rules_of_a_level_tells_its_level() -> None:
    level_1 = {rule.id: VerdictKind.PASS for rule in RULES.values() if rule.level == 1}
    output = plain(on_terminal(partial(level_1), {}))

    assert output.startswith("toy 1  level 1 of 5")


def test_a_failure_that_is_expected_is_told_as_known_everywhere_and_fails_no_case() -> None:
    document, histories = failing()
    document = msgspec.structs.replace(document, expected={"ANC-1": "see issue 12", "EPO-2": "an old one"})
    cases = {case.get("name", "").split()[0]: case for case in ET.fromstring(junit(document)).iter("testcase")}

    known, stale, other = (cases[rule][0] for rule in ("ANC-1", "EPO-2", "REC-1"))
    assert (known.tag, stale.tag, other.tag) == ("skipped", "failure", "failure")
    assert (known.get("message") or "").startswith("known to fail: see issue 12: ")
    assert "take it out of the expectations" in (stale.get("message") or "")
    assert "known to fail: see issue 12" in plain(on_terminal(document, histories))
    assert "see issue 12" in Page(report.html(document, histories)).text


def test_how_much_was_tried_stands_beside_seconds_and_seed() -> None:
    document = msgspec.structs.replace(conforming(), effort="quick")

    assert "(8.0 s, quick, seed 0)" in plain(on_terminal(document, {}))
    assert "8.0 s, quick, seed 0" in Page(report.html(document, {})).text
    assert '<property name="effort" value="quick" />' in junit(document).decode()


@pytest.mark.parametrize(("target", "smoke"), [("cmd:node x.js", True), ("mine.py:Mine", False)])
def test_page_without_a_verdict_says_what_it_means_and_what_to_do(target: str, smoke: bool) -> None:
    page = Page(report.html(broken(compactor=target, error="it died", seconds=1, seed=0), {}))

    assert "nothing is concluded about the compactor" in page.text
    assert ("anchorhold smoke" in page.text) is smoke


def test_badge_says_every_level_and_its_colour_says_whether_something_is_wrong() -> None:
    colours = {}
    for level in range(6):
        verdicts = [verdict(rule.id, VerdictKind.PASS) for rule in RULES.values() if rule.level <= level]
        document = result(compactor="x", version="1", verdicts=verdicts, failures=(), seconds=1, seed=0)
        picture = report.badge(document)
        words = "no level" if level == 0 else f"level {level}"
        assert f">{words}</text>" in picture
        colours[level] = re.findall(r'fill="(#\w{6})"', picture)[1]
    unkept = ClaimResult(claim="holds ANC-1", verdict=ClaimVerdict.BROKEN, reason="it failed")
    two = msgspec.structs.replace(document, claims=(unkept, unkept))
    one = msgspec.structs.replace(document, claims=(unkept,))

    assert colours[0] != colours[1] == colours[5]
    assert ">level 5, 1 claim broken</text>" in report.badge(one)
    assert ">level 5, 2 claims broken</text>" in report.badge(two)
    bad = re.findall(r'fill="(#\w{6})"', report.badge(failing()[0]))[1]
    assert bad not in colours.values()
    assert bad in report.badge(two)
