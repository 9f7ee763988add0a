"""`anchorhold verify`: the verdicts of `check`, from a file, in bounded memory; and what cannot be used is told."""

import io
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from history_builder import COMMITTED, KEEPING, NOTHING, Play, found, raw, slot, summary
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_compactors import Archive, Loses

from anchorhold.checkers import CHECKERS
from anchorhold.cli import main
from anchorhold.compactor import Description, Mechanism, mechanisms_of
from anchorhold.history import Event, EventType, encode_line, read_history, write_history
from anchorhold.judging import judge
from anchorhold.level import HELD
from anchorhold.planting import Planter
from anchorhold.run import play
from anchorhold.verdict import History, VerdictKind, decide
from anchorhold.verify.forms import OPERATIONS
from anchorhold.verify.lines import Began, Cut, Happened, Skipped, lines
from anchorhold.verify.run import Verified, Verifier
from anchorhold.verify.segments import LOOKS, carry
from anchorhold.workload import Compact, Workload
from anchorhold_spec.vocabulary import Pointer

ROOT = Path(__file__).parents[2]
OFFERED = frozenset({"append", "compact", "live", "pointers", "get", "search"})
DESCRIPTION = Description(name="toy", version="1", operations=OFFERED, mechanisms=frozenset({Mechanism.SUMMARISER}))


@cache
def recorded(kind: type[Any], seed: int, rounds: int = 4) -> History:
    """A run of a toy over several compactions."""
    planter = Planter(seed)
    steps = [step for _ in range(rounds) for step in (*planter.talk(9, *planter.facts(3)), Compact(until_idle=1))]
    workload = Workload(name="rounds", aims=("PTR-1",), steps=tuple(steps))
    return play(kind(), workload, description=DESCRIPTION, location="toy", seed=seed)


def written(*histories: History) -> bytes:
    return b"".join(encode_line(each) + b"\n" for h in histories for each in (h.header, *h.events))


def verified(data: bytes, **more: Any) -> Verified:
    verifier = Verifier(CHECKERS, **more)
    verifier.take(io.BytesIO(data), name="h.jsonl")
    return verifier.done()


def verdicts_of_check(histories: Iterable[History]) -> Mapping[str, VerdictKind]:
    judged = [judge(CHECKERS, history) for history in histories]
    present = mechanisms_of(DESCRIPTION, summarised=True)
    return {
        checker.rule: decide(checker, present=present, hidden={}, judgements=[each[n] for each in judged]).kind
        for n, checker in enumerate(CHECKERS)
    }


def kinds(found: Verified) -> Mapping[str, VerdictKind]:
    return {verdict.rule: verdict.kind for verdict in found.verdicts}


@pytest.mark.parametrize("kind", [Archive, Loses])
def test_several_histories_of_a_file_come_to_the_verdicts_of_a_check(kind: type[Any]) -> None:
    histories = [recorded(kind, seed) for seed in (1, 2)]

    found = verified(written(*histories))

    assert kinds(found) == verdicts_of_check(histories)
    assert found.histories == 2
    assert not found.remarks


@pytest.mark.parametrize("longest", [10, 40, 150])
@pytest.mark.parametrize("kind", [Archive, Loses])
def test_a_long_history_in_segments_fails_the_same_rules_as_a_whole(kind: type[Any], longest: int) -> None:
    history = recorded(kind, 3)

    whole, parts = verified(written(history)), verified(written(history), longest=longest)

    assert set(parts.shown) == set(whole.shown)
    assert {r for r, k in kinds(parts).items() if k in HELD} <= {r for r, k in kinds(whole).items() if k in HELD}


def test_what_was_not_exercised_is_never_a_pass() -> None:
    history = recorded(Archive, 1)
    cut = next(n for n, event in enumerate(history.events) if event.op == "compact")
    events = history.events[:cut]
    header = msgspec.structs.replace(history.header, length=cut)

    found = verified(written(History(header=header, events=events)))

    # Nothing was compacted: rules of what a compaction does are not passed by that.
    assert {kinds(found)[rule] for rule in ("PTR-1", "PTR-3", "MAN-1", "ANC-1", "OUT-1", "STR-4")} == {
        VerdictKind.INCONCLUSIVE
    }


def test_facts_stand_in_the_appends_of_a_history_without_a_workload() -> None:
    history = recorded(Loses, 1)
    bare = msgspec.structs.replace(history.header, workload=Workload(name="production", aims=()))

    found = verified(written(History(header=bare, events=history.events)))

    triggered = {verdict.rule: verdict.triggered for verdict in found.verdicts}
    assert triggered["ANC-1"] > 0
    assert triggered == {verdict.rule: verdict.triggered for verdict in verified(written(history)).verdicts}


def test_carrying_twice_is_carrying_once_and_old_looks_are_let_go_of() -> None:
    history = recorded(Archive, 1)

    once = carry(history.header, history.events)

    assert carry(history.header, once) == once
    assert [e for e in once if e.op == "append"] == [e for e in history.events if e.op == "append"]
    committed = [e for e in history.events if e.op == "compact" and e.value and e.value.get("kind") == "committed"]
    assert [e for e in committed if e not in once] == []
    # Of each pointer the first sight and the last looks are enough.
    asked = [e.value["token"] for e in once if e.op == "get" and e.type is EventType.INVOKE]
    assert max(asked.count(token) for token in asked) <= 1 + LOOKS
    tokens = {p["token"] for e in history.events if e.op == "pointers" and e.value for p in e.value}
    assert tokens == {p["token"] for e in once if e.op == "pointers" and e.value for p in e.value}


def looking(times: int) -> Play:
    """A session in which little is said and the window is looked at all the time."""
    fact = slot("job J-88", "target", "/srv/a7")
    play = Play(KEEPING, mechanisms=("summariser",))
    play.call("open", {"settings": play.settings}, play.settings)
    play.say("t1", fact.text, fact).say("t2", "Done.")
    play.call("live", {}, [raw("t1", fact.text), raw("t2", "Done.")])
    play.call("compact", {}, COMMITTED, asked=[([fact.text], "A job was deployed.")])
    for _ in range(times):
        play.call("live", {}, [summary("s1", "A job was deployed.", covers=["t1"]), raw("t2", "Done.")])
        play.call("pointers", {}, [Pointer(summary="s1", token="k1", covers=("t1",))])
        play.call("get", {"token": "k1"}, found(fact.text))
        play.call("compact", {}, NOTHING)
    return play


def test_what_is_held_does_not_grow_with_the_file() -> None:
    few, many = (looking(times).history() for times in (100, 800))

    held = [verified(written(each), longest=60).most_held for each in (few, many)]

    assert held[1] <= held[0] * 1.05
    assert len(written(many)) > 7 * len(written(few))


def test_a_history_of_which_too_much_has_to_be_known_is_cut_and_says_so() -> None:
    found = verified(written(recorded(Archive, 1)), longest=10, memory=2000)

    assert found.cut == 1
    assert "--memory allows more" in found.remarks[0].why


# What cannot be used


def test_lines_of_another_program_are_skipped_with_their_numbers() -> None:
    history = recorded(Archive, 1)
    every = written(history).splitlines(keepends=True)
    mixed = b"".join([every[0], b'{"level": "info"}\n', b"\n", *every[1:]])

    found = verified(mixed)

    assert [(r.line, r.cut) for r in found.remarks] == [(2, False), (3, False)]
    assert kinds(found) == kinds(verified(written(history)))


def test_an_unknown_operation_is_skipped_with_its_number() -> None:
    history = recorded(Archive, 1)
    at = next(n for n, e in enumerate(history.events) if e.op == "compact" and e.type is EventType.INVOKE)
    more = [
        replace_event(history.events[at], op="defragment"),
        replace_event(history.events[at + 1], op="defragment"),
    ]
    events = [*history.events[:at], *more, *history.events[at:]]
    events = [msgspec.structs.replace(event, index=n) for n, event in enumerate(events)]
    header = msgspec.structs.replace(history.header, length=len(events))

    found = verified(written(History(header=header, events=tuple(events))))

    assert [r.line for r in found.remarks] == [at + 2, at + 3]
    assert "no operation is called 'defragment'" in found.remarks[0].why
    assert not found.cut


def replace_event(event: Event, *, op: str) -> Event:
    return msgspec.structs.replace(
        event, op=op, type=EventType.INVOKE if event.index % 2 else EventType.OK, value=None
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(data=st.data())
def test_a_torn_file_is_told_with_the_line_and_what_follows_is_judged(data: st.DataObject) -> None:
    """Whatever byte it breaks off at: what went before is judged, and so is the next whole history."""
    first, second = recorded(Archive, 1, 1), recorded(Archive, 2, 1)
    whole = written(first)
    part = whole[: data.draw(st.integers(1, len(whole) - 2))]

    every = list(lines(io.BytesIO(part + b"\n" + written(second))))

    cuts = [each for each in every if isinstance(each, Cut)]
    assert len(cuts) == 1
    # An operation that never ended is told where it began.
    assert 1 <= cuts[0].line <= part.count(b"\n") + 2
    began = [n for n, each in enumerate(every) if isinstance(each, Began)]
    assert sum(isinstance(each, Happened) for each in every[began[-1] :]) == len(second.events)


@pytest.mark.parametrize("kind", [Archive])
def test_a_torn_end_blames_nobody(kind: type[Any]) -> None:
    """A look that was not over shows less than there was: wherever it breaks off, no right compactor is blamed."""
    whole = written(recorded(kind, 1, 3))
    ends = range(len(whole) // 4, len(whole), len(whole) // 40)

    blamed = {end: set(verified(whole[:end]).shown) for end in ends}

    assert {end: rules for end, rules in blamed.items() if rules} == {}


@pytest.mark.parametrize(
    ("op", "kind", "value"),
    [
        ("compact", EventType.OK, {"kind": "done"}),
        ("live", EventType.OK, {"items": []}),
        ("get", EventType.OK, "found"),
        ("append", EventType.INVOKE, {"text": "no turn"}),
        ("append", EventType.INVOKE, ["t1"]),
        ("summarise", EventType.OK, {"reply": "x"}),
        ("summarise", EventType.OK, {"text": "x", "mode": []}),
        ("pointers", EventType.OK, [{"token": 3}]),
    ],
)
def test_a_value_of_another_form_is_told_with_its_line_and_is_no_verdict(
    op: str, kind: EventType, value: Any
) -> None:
    history = recorded(Archive, 1)
    at = next(n for n, e in enumerate(history.events) if (e.op, e.type) == (op, kind))
    events = list(history.events)
    events[at] = msgspec.structs.replace(events[at], value=value)

    found = verified(written(History(header=history.header, events=tuple(events))))

    assert [(r.line, r.cut) for r in found.remarks] == [(at + 2, True)]
    assert f"{op} has not the form" in found.remarks[0].why
    assert not found.shown


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["turn", "token", "text", "kind", "worker", "op", "session"]), inner, max_size=3
        )
    ),
    max_leaves=4,
)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_value_of_an_event_brings_the_checkers_down(data: st.DataObject) -> None:
    """Whatever a production log says in place of a value: it is told, or judged, and is no traceback."""
    history = recorded(Loses, 2, 1)
    events = list(history.events)
    for _ in range(2):
        at = data.draw(st.integers(1, len(events) - 1))
        op = data.draw(st.sampled_from(sorted(OPERATIONS)) | st.just(events[at].op))
        value = data.draw(JSON)
        events[at] = msgspec.structs.replace(events[at], op=op, value=value)

    verified(written(History(header=history.header, events=tuple(events))), longest=20)


@settings(max_examples=60, deadline=None)
@given(junk=st.lists(st.one_of(st.binary(max_size=60), st.sampled_from([b"{}", b"[]", b'{"index":0}', b"1" * 200]))))
def test_no_bytes_bring_the_reader_down(junk: list[bytes]) -> None:
    every = list(lines(io.BytesIO(b"\n".join(junk)), longest=100))

    assert not any(isinstance(each, Began | Happened) for each in every)
    assert any(isinstance(each, Cut) for each in every)


def test_a_line_that_is_too_long_is_read_past() -> None:
    history = recorded(Archive, 1, 1)
    every = written(history).splitlines(keepends=True)
    torn = b"".join([*every[:3], b'{"index": 2, "text": "' + b"x" * 100_000 + b'"}\n', *every[3:]])

    found = [each for each in lines(io.BytesIO(torn), longest=50_000) if isinstance(each, Cut | Skipped)]

    assert [(each.line, "more than 50000 bytes" in each.why) for each in found] == [(4, True)]


def test_histories_of_two_compactors_in_one_file_are_not_judged_as_one() -> None:
    other = recorded(Archive, 2, 1)
    other = History(header=msgspec.structs.replace(other.header, version="2"), events=other.events)

    found = verified(written(recorded(Archive, 1, 1), other))

    assert [(r.cut, "verify them in turn" in r.why) for r in found.remarks] == [(True, True)]
    assert found.histories == 1


# The command


@pytest.fixture
def command(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["verify", *arguments])
        out, err = capfdbinary.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out.decode(), err.decode()

    return run


def test_exit_statuses_are_those_of_check(command) -> None:  # type: ignore[no-untyped-def]
    good, bad = recorded(Archive, 1), recorded(Loses, 1)
    for name, history in (("good.jsonl", good), ("bad.jsonl", bad)):
        write_history(Path(name), history.header, history.events)
    data = written(good)
    Path("torn.jsonl").write_bytes(data[: len(data) // 2])

    assert command("good.jsonl", "--rule", "PTR-1")[0] == 0
    assert command("bad.jsonl")[0] == 1
    assert command("torn.jsonl", "--rule", "PTR-1")[0] == 2
    assert command("good.jsonl", "--rule", "PTR-1", "--level", "5")[0] == 3
    assert command("nowhere.jsonl")[0] == 2
    status, out, err = command("torn.jsonl", "--json")
    assert status == 2
    assert json.loads(out)["error"] is None
    assert err.startswith("anchorhold: torn.jsonl:")


def test_a_failure_names_its_line_and_is_kept_as_a_history_that_fails_again(command) -> None:  # type: ignore[no-untyped-def]
    history = recorded(Loses, 1)
    write_history(Path("bad.jsonl"), history.header, history.events)

    _, out, _ = command("bad.jsonl", "--json", "--report", "out")

    document = json.loads(out)
    failed = {each["rule"]: each for each in document["failures"]}
    assert "(bad.jsonl:" in failed["PTR-1"]["sentence"]
    assert {path.name for path in Path("out").iterdir()} >= {"result.json", "junit.xml", "report.html", "badge.svg"}
    header, events = read_history(Path(failed["PTR-1"]["history"]))
    assert header.rule == "PTR-1"
    assert len(events) < len(history.events)
    assert command(failed["PTR-1"]["history"], "--rule", "PTR-1")[0] == 1


def test_the_terminal_tells_the_failure_in_few_lines(command) -> None:  # type: ignore[no-untyped-def]
    history = recorded(Loses, 1, 12)
    write_history(Path("bad.jsonl"), history.header, history.events)

    _, out, err = command("bad.jsonl", "--rule", "PTR-1")

    assert "(PTR-1 is broken here)" in out
    assert len(out.splitlines()) < 120
    assert "1 histories" in err


# The page on how to write one


def test_the_history_of_the_page_is_one_and_is_judged() -> None:
    page = (ROOT / "conformance" / "TOOLS.md").read_text(encoding="utf-8")
    example = page.partition('```json\n{"anchorhold_history"')[2].partition("```")[0]
    data = ('{"anchorhold_history"' + example).encode()
    schema = json.loads((ROOT / "conformance" / "schemas" / "history.schema.json").read_text(encoding="utf-8"))

    for line in data.splitlines():
        jsonschema.validate(json.loads(line), schema)
    found = verified(data)

    assert not found.remarks
    assert {verdict.rule: verdict.triggered for verdict in found.verdicts}["PTR-1"] >= 1
    assert not found.shown
