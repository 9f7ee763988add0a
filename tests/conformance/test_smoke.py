"""`anchorhold smoke` finds every wrong adapter, says where, and finds nothing in a right one of a wrong compactor."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from anchorhold.errors import AdapterError, Fault
from anchorhold.load import Launch
from anchorhold.smoke import Smoked, smoke
from anchorhold.wire.messages import OPERATIONS

HERE = Path(__file__).parent
WRONG = HERE / "smoke_adapter.py"
PROTOCOL = (HERE.parents[1] / "conformance" / "PROTOCOL.md").read_text(encoding="utf-8")
PYTHON = [sys.executable, "-S", "-E"]
PATIENT = 60.0
"""Seconds for adapters that are to pass: what they take must not depend on the machine's load."""

IN_AN_ANSWER = {
    "noise": Fault.NOISE,
    "blank-line": Fault.NOISE,
    "pretty": Fault.NOISE,
    "unknown-field": Fault.SCHEMA,
    "wrong-type": Fault.SCHEMA,
    "no-result": Fault.NOISE,
    "no-version": Fault.NOISE,
    "wrong-id": Fault.WRONG_ID,
    "text-id": Fault.WRONG_ID,
    "twice": Fault.UNASKED,
    "asks-after": Fault.UNASKED,
    "notifies": Fault.UNASKED,
    "dies": Fault.DIED,
    "not-implemented": Fault.PROTOCOL,
    "params-refused": Fault.PROTOCOL,
    "at-fault": Fault.ADAPTER,
    "error-without-message": Fault.NOISE,
    "surrogate": Fault.NOISE,
}
"""Ways to answer a method wrongly, and what is found. Those that wait for a time-out are below."""

OFFERED = OPERATIONS
EVERY = [(kind, method) for method in OFFERED for kind in IN_AN_ANSWER]

OTHERWISE = {
    "takes-any-version": "initialize",
    "no-name": "initialize",
    "no-crash-points": "initialize",
    "same-crash-points": "initialize",
    "unknown-mechanism": "initialize",
    "declares-what-it-does-not-offer": "initialize",
    "hides-what-it-offers": "initialize",
    "dies-at-start": "initialize",
    "prints-at-start": "initialize",
    "keeps-the-window": "live",
    "keeps-a-file": "live",
    "shows-base64": "live",
    "calls-a-model-of-its-own": "compact",
    "summarise-out-of-schema": "compact",
    "summarise-other-method": "compact",
    "summarise-wrong-request": "summarise",
    "dies-of-a-failing-model": "compact",
    "blames-itself-for-a-failing-model": "compact",
    "dies-of-an-empty-reply": "compact",
    "dies-of-control-characters": "compact",
    "dies-of-a-large-reply": "compact",
    "reads-latin-1": "open",
    "drops-non-ascii": "open",
    "splits-at-unicode-ends": "append",
    "one-read-a-message": "in pieces",
    "small-reads": "with a large turn",
    "decodes-pieces": "in pieces",
    "short-lines": "with a large turn",
    "dies-of-bad-json": "text that is not JSON",
    "blames-the-compactor": "text that is not JSON",
    "takes-unknown-methods": "unknown method",
    "errors-without-id": "unknown method",
    "strict-params": "live",
    "prints-at-the-end": "shutdown",
}
"""Other ways, and a word of where they are found."""

SLOWLY = {
    ("hangs", "search"): "search",
    ("closes-output", "get"): "get",
    ("no-line-feed", "status"): "status",
    ("hangs-on-a-failing-model", ""): "compact",
    ("ignores-bad-json", ""): "text that is not JSON",
    ("stays-after-the-end", ""): "the end of its input",
    ("stays-after-shutdown", ""): "shutdown",
}
"""Ways that only a time-out tells."""


def command(program: Path, *arguments: str) -> Launch:
    return Launch(command=[*PYTHON, str(program), *arguments])


def smoked(kind: str, method: str = "", *, seconds: float = PATIENT, left: Path | None = None) -> Smoked:
    arguments = [kind, method, *([] if left is None else [str(left)])]
    return smoke("an adapter", seconds=seconds, launch=command(WRONG, *arguments))


def assert_adapter_is_blamed(result: Smoked, where: str) -> None:
    assert result.findings
    for finding in result.findings:
        line = str(finding)
        assert finding.blames == "adapter"
        assert line.startswith("adapter: ")
        assert line.isprintable()
        assert "Traceback" not in line
        assert finding.hint
    assert any(where in finding.where for finding in result.findings), [str(f) for f in result.findings]


def test_a_right_adapter_of_a_worthless_compactor_passes() -> None:
    result = smoked("right")

    assert [str(finding) for finding in result.findings] == []
    assert set(result.operations) == {"initialize", "shutdown", *OFFERED}
    assert result.compactor == "worthless 0"
    assert len(result.probes) == 11


@pytest.mark.parametrize(("kind", "method"), EVERY[::23])
def test_a_wrong_answer_to_any_method_is_found_and_says_which(kind: str, method: str) -> None:
    found_in_every_kind(kind, method)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "method"), [pair for pair in EVERY if pair not in EVERY[::23]])
def test_every_wrong_answer_to_every_method_is_found(kind: str, method: str) -> None:
    found_in_every_kind(kind, method)


def found_in_every_kind(kind: str, method: str) -> None:
    result = smoked(kind, method)

    assert_adapter_is_blamed(result, method)
    assert IN_AN_ANSWER[kind] in {finding.fault for finding in result.findings if method in finding.where}


@pytest.mark.parametrize("kind", list(OTHERWISE))
def test_every_other_kind_of_wrong_adapter_is_found(kind: str, tmp_path: Path) -> None:
    result = smoked(kind, seconds=10.0, left=tmp_path / "left.json")

    assert_adapter_is_blamed(result, OTHERWISE[kind])


@pytest.mark.parametrize(("kind", "method"), list(SLOWLY))
def test_an_adapter_that_does_not_come_back_is_found(kind: str, method: str) -> None:
    assert_adapter_is_blamed(smoked(kind, method, seconds=2.0), SLOWLY[kind, method])


@pytest.mark.parametrize("method", ["open", "append", "compact", "live", "close", "reopen", "advance", "settle"])
def test_an_operation_that_the_others_need_and_that_is_not_offered_is_found(method: str) -> None:
    assert_adapter_is_blamed(smoked("lacks", method), "initialize")


@pytest.mark.parametrize("method", ["get", "status", "manifest", "ratios"])
def test_an_operation_that_nothing_needs_may_be_left_out(method: str) -> None:
    assert [str(finding) for finding in smoked("lacks", method).findings] == []


@pytest.mark.parametrize("way", ["sync", "async", "locked"])
def test_adapters_that_let_others_in_pass(way: str) -> None:
    result = smoke("it", seconds=PATIENT, launch=command(HERE / "concurrent_adapter.py", way))

    assert [str(finding) for finding in result.findings] == []


def test_the_sdk_passes_with_every_operation() -> None:
    result = smoke("it", seconds=PATIENT, launch=command(HERE / "sdk_adapter.py"))

    assert [str(finding) for finding in result.findings] == []
    assert set(result.operations) == {"initialize", "shutdown", *OFFERED}


def test_the_adapter_in_the_protocol_text_passes(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PROTOCOL, re.DOTALL)
    path = tmp_path / "adapter.py"
    path.write_text(program, encoding="utf-8")

    assert [str(f) for f in smoke("it", seconds=PATIENT, launch=command(path)).findings] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["agent-framework-core", "deepagents"])
def test_the_shipped_adapters_pass(name: str) -> None:
    assert [str(finding) for finding in smoke(name, seconds=PATIENT).findings] == []


MAY_DECLINE = {"evict", "tombstone", "supersede", "forget"}
"""Operations against which a compactor may decide, and then raise where it has no outcome."""


SOME = ("open", "append", "compact", "get", "reopen", "settle")


@pytest.mark.parametrize("method", SOME)
def test_an_operation_that_is_offered_and_never_works_is_told_first_and_once(method: str) -> None:
    told_first_and_once(method)


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in OFFERED if name not in (*SOME, "override")])
def test_every_operation_that_is_offered_and_never_works_is_told_first_and_once(method: str) -> None:
    told_first_and_once(method)


def told_first_and_once(method: str) -> None:
    result = smoked("fails", method)

    first, *others = result.findings
    assert (first.where, first.fault) == (method, Fault.NEVER_WORKS)
    assert re.search(
        r"ended with an error at (its one try|each of its \d+ tries); the first: .*boom number 1", str(first)
    )
    assert others == []
    # What follows from it is no news.
    assert not [note for note in result.notes if "boom" in note.message and note.where == method]
    assert_adapter_is_blamed(result, method)


@pytest.mark.parametrize("method", ["open", "reopen", "resume"])
def test_what_fails_for_want_of_a_session_is_not_told_beside_what_left_none(method: str) -> None:
    result = smoked("loses-the-session", method)

    assert [(finding.where, finding.fault) for finding in result.findings] == [(method, Fault.NEVER_WORKS)]
    assert not [note for note in result.notes if "no session" in note.message]


@pytest.mark.parametrize("method", ["append", "compact", "search", "status"])
def test_an_operation_that_worked_once_is_no_fault(method: str) -> None:
    assert [str(finding) for finding in smoked("fails-once", method).findings] == []


@pytest.mark.parametrize("method", [*sorted(MAY_DECLINE), "override", "search", "reopen"])
def test_a_decision_of_the_compactor_is_no_fault_even_where_it_raises(method: str) -> None:
    blamed = {finding.where for finding in smoked("declines", method).findings}

    assert blamed == ({method} - MAY_DECLINE - {"override"})


def test_what_could_not_be_tried_for_want_of_a_summary_says_why_there_was_none() -> None:
    told = {note.where: note.message for note in smoked("fails", "compact").notes if "not tried" in note.message}

    assert set(told) == {"corrupt", "evict"}
    for message in told.values():
        assert "no compaction was committed (`compact` ended with an error: " in message
        assert "boom number 1" in message


@pytest.mark.parametrize(
    ("kind", "needed", "why"),
    [
        ("fails", "pointers", "it takes `pointers`, which ended with an error each time"),
        ("lacks", "pointers", "it takes `pointers`, which is not offered"),
        ("fails", "begin", "it takes `begin`, which ended with an error each time"),
    ],
)
def test_what_could_not_be_tried_for_want_of_another_operation_names_it(kind: str, needed: str, why: str) -> None:
    told = {note.where: note.message for note in smoked(kind, needed).notes if "not tried" in note.message}

    assert set(told) == ({"corrupt", "evict"} if needed == "pointers" else {"advance"})
    assert {message.removeprefix("offered, and not tried: ") for message in told.values()} == {why}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", "from anchorhold.cli import main; main()", "smoke", *arguments]
    return subprocess.run(program, capture_output=True, text=True, timeout=300, check=False)


def target(*arguments: str) -> str:
    return "cmd:" + shlex.join([*PYTHON, str(WRONG), *arguments])


def test_the_command_ends_with_0_1_or_2_and_says_why() -> None:
    right, wrong, absent = run(target("right")), run(target("twice", "search")), run("cmd:/no/such/program")

    assert (right.returncode, wrong.returncode, absent.returncode) == (0, 1, 2)
    assert "no fault found" in right.stdout
    never = run(target("fails", "reopen"))
    assert never.returncode == 1
    assert never.stdout.startswith("adapter: reopen: is offered, and ended with an error at each of its ")
    assert wrong.stdout.startswith("adapter: search: ")
    assert absent.stdout == ""
    assert len(absent.stderr.splitlines()) == 1


def test_the_json_document_says_the_same() -> None:
    ran = run(target("wrong-type", "status"), "--json")

    document = json.loads(ran.stdout)
    assert ran.returncode == 1
    assert {finding["blames"] for finding in document["findings"]} == {"adapter"}
    assert "status" in {finding["where"] for finding in document["findings"]}


def test_a_class_is_no_program() -> None:
    with pytest.raises(AdapterError, match="is a class of this process"):
        smoke("reference")


def test_the_protocol_text_names_every_probe() -> None:
    from anchorhold.smoke.run import PROBES

    for name in PROBES:
        assert f"| `{name}` |" in PROTOCOL
