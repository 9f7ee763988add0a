"""How lines become events: fast where they are as expected, and never otherwise than one by one."""

import dataclasses
import gc
import html
import io
import json
from typing import Any

import msgspec
import pytest
from history_builder import COMMITTED, KEEPING, NOTHING, Play, answer, found, summary
from hypothesis import given, settings
from hypothesis import strategies as st
from test_verify import looking, recorded, written
from toy_compactors import Archive, Loses

from anchorhold.checkers import CHECKERS, STRUCTURAL
from anchorhold.checkers.course import Course
from anchorhold.checkers.words import forms, plain
from anchorhold.history import Event, EventType, encode_line
from anchorhold.verdict import History
from anchorhold.verify import lines as reading
from anchorhold.verify import structs
from anchorhold.verify.events import decode, fitting
from anchorhold.verify.forms import OPERATIONS, misformed
from anchorhold.verify.run import Verified, Verifier
from anchorhold_spec import vocabulary
from anchorhold_spec.vocabulary import AnswerKind, Pointer, Turn

RULES = [checker for checker in CHECKERS if checker.rule in STRUCTURAL]
KINDS = (
    vocabulary.Item,
    vocabulary.Pointer,
    vocabulary.Fact,
    vocabulary.Turn,
    vocabulary.Answer,
    vocabulary.Outcome,
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.none()


def verified(data: bytes, *, slowly: bool = False, chunk: int = reading.CHUNK) -> Verified:
    verifier = Verifier(RULES)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reading, "CHUNK", chunk)
        if slowly:
            patched.setattr(reading.Reader, "quick", lambda *_: 0)
        verifier.take(io.BytesIO(data), name="h.jsonl")
    return verifier.done()


def outcome(found: Verified) -> Any:
    shown = {rule: (each.failure.sentence, each.line, each.more) for rule, each in found.shown.items()}
    triggered = {verdict.rule: verdict.triggered for verdict in found.verdicts}
    return shown, triggered, found.remarks, found.events, found.histories, found.cut


# Structs


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_a_struct_says_what_the_dataclass_of_the_vocabulary_says(kind: Any, data: st.DataObject) -> None:
    more = {"time": NUMBERS} if kind is vocabulary.Turn else {}
    value = data.draw(st.builds(kind, **more))
    struct: Any = getattr(structs, kind.__name__)

    decoded = msgspec.json.decode(msgspec.json.encode(value), type=struct)

    for field in dataclasses.fields(kind):
        mine, theirs = getattr(decoded, field.name), getattr(value, field.name)
        if field.name == "calls":
            mine, theirs = [msgspec.structs.asdict(c) for c in mine], [dataclasses.asdict(c) for c in theirs]
        assert mine == theirs
        assert type(mine) is type(theirs)


@pytest.mark.parametrize("kind", KINDS)
def test_what_may_be_left_out_of_a_struct_may_be_left_out_of_the_dataclass(kind: Any) -> None:
    struct: Any = getattr(structs, kind.__name__)
    least = {
        "Item": {"id": "a", "kind": "raw"},
        "Pointer": {"summary": "a", "token": "b"},
        "Fact": {"text": "a", "literal": "b"},
        "Turn": {"id": "a", "speaker": "user"},
        "Answer": {"kind": "found"},
        "Outcome": {"kind": "committed"},
    }[kind.__name__]

    value, decoded = msgspec.convert(least, kind), msgspec.convert(least, struct)

    assert {f.name: getattr(value, f.name) for f in dataclasses.fields(kind)} == {
        f.name: getattr(decoded, f.name) for f in dataclasses.fields(kind)
    }


# Events


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from(["found", "committed", "nothing-to-do", "", "x"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["turn", "token", "text", "kind", "messages", "op", "id", "speaker", "summary", "facts"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(op=st.sampled_from(sorted(OPERATIONS)), kind=st.sampled_from(EventType), value=JSON)
@settings(max_examples=500, deadline=None)
def test_what_is_taken_quickly_has_the_form_that_it_should_have(op: str, kind: EventType, value: Any) -> None:
    line = encode_line(Event(index=0, step=0, type=kind, op=op, value=value)) + b"\n"

    events = decode([line])

    if fitting(events, 0):
        assert misformed(kind, op, value) is None


@pytest.mark.parametrize("kind", [Archive, Loses])
def test_every_event_of_an_ordinary_history_is_taken_quickly(kind: type[Any]) -> None:
    history = recorded(kind, 1)
    each = [encode_line(event) + b"\n" for event in history.events]

    assert fitting(decode(each), 0) == len(history.events)


def test_events_are_taken_up_to_the_first_that_is_none() -> None:
    good = [encode_line(event) + b"\n" for event in looking(2).history().events]

    assert len(decode([*good, b"no event\n", *good])) == len(good)
    assert len(decode([*good[:3], good[3].replace(b'"step"', b'"st\xffep"'), *good[4:]])) == 3
    assert fitting(decode([*good[:5], *good[6:]]), 0) == 5


VALUES: dict[tuple[str, EventType], list[Any]] = {
    ("live", EventType.OK): [[summary("s1", "A port was named.", covers=["t1"])], []],
    ("pointers", EventType.OK): [[Pointer(summary="s1", token="k1", covers=("t1",))], []],
    ("get", EventType.INVOKE): [{"token": "k1"}, {"token": "k2"}, {}],
    ("get", EventType.OK): [
        found("The port is 4411."),
        answer(AnswerKind.ABSENT),
        answer(AnswerKind.PARTIAL, text="The", continuation="k2"),
    ],
    ("search", EventType.INVOKE): [{"literal": "4411"}],
    ("search", EventType.OK): [found("4411"), answer(AnswerKind.PARTIAL, text="44", continuation="k3")],
    ("status", EventType.OK): ["lossless", "degraded: x", True, 1],
    ("degraded_since", EventType.OK): [None, 1, 1.0, True],
    ("compact", EventType.OK): [COMMITTED, NOTHING],
    ("summarise", EventType.INVOKE): [{"messages": ["a"]}],
    ("summarise", EventType.OK): [{"text": "A port was named.", "finish": "stop", "mode": "faithful"}],
    ("append", EventType.INVOKE): [{"turn": Turn(id=f"t{n}", speaker="user", text="Hm.")} for n in range(3)],
    ("append", EventType.OK): [None, "t1"],
    ("evict", EventType.INVOKE): [{"token": "k1"}],
    ("evict", EventType.OK): [COMMITTED],
}
EVENT = st.tuples(
    st.sampled_from(sorted({op for op, _ in VALUES})),
    st.sampled_from([EventType.INVOKE, EventType.INVOKE, EventType.OK, EventType.OK, EventType.FAIL, EventType.INFO]),
    st.sampled_from(["main", "main", "main", "other"]),
    st.integers(0, 10),
)
PAIR = st.tuples(
    st.sampled_from(sorted({op for op, _ in VALUES})), st.just(None), st.just("main"), st.integers(0, 10)
)


@given(
    drawn=st.lists(st.one_of(PAIR, PAIR, PAIR, EVENT), max_size=40),
    chunk=st.sampled_from([100, 400, 3000, reading.CHUNK]),
)
@settings(max_examples=100, deadline=None)
def test_events_in_whatever_order_say_what_they_say_one_by_one(drawn: list[Any], chunk: int) -> None:
    """Ends without beginnings, beginnings without ends, one inside the other, and blocks that part them."""
    play = Play((*KEEPING, "evict", "status", "degraded_since"), mechanisms=("summariser",))
    play.call("open", {"settings": play.settings}, play.settings)
    play.say("t1", "The port is 4411.")
    play.compact(COMMITTED, shown=["t1"], reply="A port was named.")
    events = list(play.history().events)
    for op, kind, process, which in drawn:
        for each in (EventType.INVOKE, EventType.OK) if kind is None else (kind,):
            choice = VALUES.get((op, each), [{} if each is EventType.INVOKE else None])
            value = msgspec.to_builtins(choice[which % len(choice)])
            events.append(Event(index=len(events), step=0, type=each, op=op, process=process, value=value))
    data = written(History(header=play.history().header, events=tuple(events)))

    assert outcome(verified(data, chunk=chunk)) == outcome(verified(data, slowly=True))


# Lines


@given(
    lines=st.lists(st.integers(0, 60), max_size=12),
    chunk=st.integers(1, 16),
    longest=st.integers(16, 40),
    ended=st.booleans(),
)
def test_blocks_hold_the_lines_of_a_file(lines: list[int], chunk: int, longest: int, ended: bool) -> None:
    data = b"\n".join(b"%c" % (97 + n) * size for n, size in enumerate(lines)) + (b"\n" if ended else b"")

    blocks = list(reading.blocks(io.BytesIO(data), longest, chunk=chunk))

    assert [line for _, block in blocks for line in block] == list(reading.bounded(io.BytesIO(data), longest))
    for at, block in blocks:
        assert data[at:].startswith(b"".join(block))
        assert at == 0 or data[at - 1 : at] == b"\n"


# What is left behind


def test_a_history_is_let_go_of_when_it_is_over() -> None:
    """A file of many histories holds one at a time: none is left to the collector, which comes seldom here."""
    gc.collect()
    gc.disable()
    try:
        verified(written(*(recorded(Archive, seed, 1) for seed in range(3))))

        assert not [each for each in gc.get_objects() if type(each) is Course]
    finally:
        gc.enable()


def test_the_collector_is_left_as_it_was() -> None:
    class Fails(io.BytesIO):
        def read(self, *_: Any) -> bytes:
            raise OSError("gone")

    before = gc.get_threshold()
    verified(written(looking(2).history()))
    with pytest.raises(OSError, match="gone"):
        Verifier(RULES).take(Fails(b"x"), name="h.jsonl")

    assert gc.get_threshold() == before


@given(text=st.text(st.sampled_from("ab 1/._-\"'\\&<>é\n\t\x7f\u2028")) | st.text())
def test_the_ways_in_which_text_may_be_written_down_are_those_of_json_and_html(text: str) -> None:
    text = f"x{text}x"
    every = {
        plain(text),
        *(plain(json.dumps(text, ensure_ascii=a)[1:-1]) for a in (True, False)),
        *(plain(html.escape(text, quote=q)) for q in (True, False)),
    }

    (said,) = forms(Turn(id="t", speaker="user", text=text))

    assert set(said) == every
