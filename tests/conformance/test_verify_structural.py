"""The structural rules go with a history as it is read: what they say is what `check` says of the whole."""

import io
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from history_builder import COMMITTED, KEEPING, NOTHING, Play, answer, found, judge, summary
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_verify import looking, recorded, written
from toy_compactors import Archive, Loses

from anchorhold.checkers import CHECKERS, STRUCTURAL
from anchorhold.checkers.finding import Finder
from anchorhold.checkers.keys import IDLE
from anchorhold.checkers.packed import Packed
from anchorhold.checkers.record import Said
from anchorhold.history import EventType
from anchorhold.judging import judge as judge_whole
from anchorhold.verdict import History, Judgement
from anchorhold.verify.lines import Reader
from anchorhold.verify.run import Verified, Verifier
from anchorhold_spec.vocabulary import AnswerKind, Outcome, OutcomeKind, Pointer, Turn

RULES = [checker for checker in CHECKERS if checker.rule in STRUCTURAL]
GONE = Outcome(kind=OutcomeKind.COMMITTED)


def verified(data: bytes, *, pipe: bool = False) -> Verified:
    verifier = Verifier(RULES)
    verifier.take(Pipe(data) if pipe else io.BytesIO(data), name="h.jsonl")
    return verifier.done()


class Pipe(io.BytesIO):
    def seekable(self) -> bool:
        return False

    def seek(self, *_: Any) -> int:
        raise io.UnsupportedOperation


def said(found: Verified) -> dict[str, tuple[int, str | None, int]]:
    """Of each rule: how often it was triggered, and the first failure with the number of all."""
    triggered = {verdict.rule: verdict.triggered for verdict in found.verdicts}
    first = {rule: (shown.failure.sentence, shown.more + 1) for rule, shown in found.shown.items()}
    return {rule: (times, *first.get(rule, (None, 0))) for rule, times in triggered.items()}


def said_of_whole(judgements: Sequence[Judgement]) -> dict[str, tuple[int, str | None, int]]:
    return {
        j.rule: (j.triggered, j.failures[0].sentence if j.failures else None, len(j.failures)) for j in judgements
    }


def alike(history: History) -> None:
    assert said(verified(written(history))) == said_of_whole(judge_whole(RULES, history))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [Archive, Loses])
def test_line_by_line_the_structural_rules_say_what_they_say_of_the_whole(kind: type[Any], seed: int) -> None:
    alike(recorded(kind, seed))


ROUND = st.sampled_from(["idle", "idle", "idle", "look", "say", "other", "denied", "evict", "settle", "stranger"])


@settings(max_examples=60, deadline=None)
@given(rounds=st.lists(ROUND, max_size=40))
@example(rounds=["idle"] * 12 + ["denied", *["idle"] * 5])
@example(rounds=["idle"] * 6 + ["say", *["idle"] * 6, "other", *["idle"] * 6])
@example(rounds=["stranger", *["idle"] * 6, "evict", "denied", *["idle"] * 6])
def test_rounds_in_which_nothing_happens_count_as_much_as_if_each_were_gone_through(rounds: list[str]) -> None:
    """Whatever stands between them: looks that are as the last one are counted, and nothing is missed by it."""
    play = Play((*KEEPING, "evict", "settle"), mechanisms=("summariser",))
    play.call("open", {"settings": play.settings}, play.settings)
    play.say("t1", "The port of the relay is 4411.").say("t2", "Done.")
    play.compact(COMMITTED, shown=["t1"], reply="A port was named.")
    texts, answers = ["A port was named."], {"k1": found("The port of the relay is 4411.")}
    for number, what in enumerate(rounds):
        if what == "idle":
            play.call("compact", {}, NOTHING)
        elif what == "say":
            play.say(f"u{number}", f"Number {number}.")
        elif what == "other":
            texts = [f"Another summary, the {number}th."]
            play.compact(COMMITTED, shown=["t1"], reply=texts[0])
        elif what == "denied":
            answers = {"k1": answer(AnswerKind.ABSENT)}
        elif what == "evict":
            play.call("evict", {"token": "k1"}, GONE)
        elif what == "settle":
            play.call("settle", {}, None)
        elif what == "stranger":
            play.call("get", {"token": "k7"}, answer(AnswerKind.ABSENT))
        live = [summary("s1", texts[0], covers=["t1"]), *play.raws(*(t for t in play.texts if t != "t1"))]
        play.look(live, pointers=[Pointer(summary="s1", token="k1", covers=("t1",))], answers=answers)

    alike(play.history())


def test_a_stream_that_cannot_be_read_twice_is_judged_alike() -> None:
    data = written(recorded(Loses, 1), recorded(Archive, 1))

    assert said(verified(data, pipe=True)) == said(verified(data))


def test_what_shows_a_failure_fails_again_by_itself() -> None:
    play = looking(20)
    play.call("compact", {}, NOTHING)
    play.look(
        [summary("s1", "A job was deployed.", covers=["t1"]), *play.raws("t2")],
        pointers=[Pointer(summary="s1", token="k1", covers=("t1",))],
        answers={"k1": answer(AnswerKind.ABSENT)},
    )

    shown = verified(written(play.history())).shown["PTR-2"]

    events = shown.history.events
    assert [event.index for event in events] == list(range(len(events)))
    assert verified(written(shown.history)).shown["PTR-2"].failure.sentence == shown.failure.sentence
    assert written(play.history()).splitlines()[shown.line - 1] != b""


def test_a_failure_in_the_second_history_of_a_file_is_shown_with_its_line() -> None:
    good, bad = looking(3).history(), looking(3)
    bad.call("compact", {}, NOTHING)
    live = [summary("s1", "A job was deployed.", covers=["t1"]), *bad.raws("t2")]
    pointers = [Pointer(summary="s1", token="k1", covers=("t1",))]
    bad.look(live, pointers=pointers, answers={"k1": answer(AnswerKind.ABSENT)})
    data = written(good, bad.history())

    shown = verified(data).shown["PTR-2"]

    assert shown.line == len(data.splitlines())
    assert b'"absent"' in data.splitlines()[shown.line - 1]


# Lines


def slowly(data: bytes, monkeypatch: pytest.MonkeyPatch) -> Verified:
    """Verified with every line decoded."""
    with monkeypatch.context() as patched:
        patched.setattr(Reader, "quick", lambda *_: 0)
        return verified(data)


def outcome(found: Verified) -> Any:
    return said(found), found.remarks, found.events, found.histories, found.cut


DAMAGE = st.sampled_from([
    b"", b" ", b"\n", b'"', b"0", b",", b"{", b"\\", b'"index":3,', b'"step":9,', b'"op":"get",', b'"type":"ok",',
    b'"\\u0069ndex":1,', b',"process":"x"', b"\xff", b'"value":[],', b"\r",
])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_lines_that_are_known_again_say_what_they_say_when_they_are_decoded(data: st.DataObject) -> None:
    """Whatever is put into a file, and wherever: numbers that stand twice, other spellings, other orders."""
    whole = written(recorded(Loses, 2, 1), looking(4).history())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(whole)))
        whole = whole[:at] + data.draw(DAMAGE) + whole[at + data.draw(st.integers(0, 2)) :]

    with pytest.MonkeyPatch.context() as patched:
        assert outcome(verified(whole)) == outcome(slowly(whole, patched))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"index":9,', b'"index":09,'),
        (b'"index":9,', b'"index": 9,'),
        (b'"step":1,', b'"step":01,'),
        (b'"step":1,', b'"step":1.0,'),
        (b'"type":"ok","op":"live"', b'"type":"ok","index":99,"op":"live"'),
        (b'"op":"live","value"', b'"op":"live","\\u0069ndex":99,"value"'),
        (b'"op":"pointers","value"', b'"op":"pointers","op":"get","value"'),
    ],
)
def test_numbers_that_are_written_otherwise_are_read_as_json_has_them(
    old: bytes, new: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = written(looking(6).history()).replace(old, new)
    assert new in data

    assert outcome(verified(data)) == outcome(slowly(data, monkeypatch))


@pytest.mark.parametrize("op", [b"get", b"append", b"live"])
def test_bytes_that_are_no_text_are_told_wherever_they_stand_in_a_line(
    op: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = written(recorded(Loses, 2, 1), looking(4).history())
    line = data.index(b'"op":"' + op + b'"')
    end = data.index(b"\n", line)
    for at in range(line, end, max(1, (end - line) // 40)):
        torn = data[:at] + b"\xff" + data[at:]
        with monkeypatch.context() as patched:
            assert outcome(verified(torn)) == outcome(slowly(torn, patched))


# What is held


def test_a_file_of_many_keys_is_judged_by_keys_that_were_packed_away() -> None:
    """A token that comes back after more than a thousand others is still known, and so is what it stood for."""
    play = Play(KEEPING, mechanisms=("summariser",))
    play.call("open", {"settings": play.settings}, play.settings)
    play.say("t1", "The port of the relay is 4411.").say("t2", "The door of the shed is green.")
    one, other = found("The port of the relay is 4411."), found("The door of the shed is green.")

    def look(token: str, covers: str, led: Any, **more: Any) -> None:
        play.call("compact", {}, COMMITTED)
        play.look(
            [summary("s1", "Both were named.")],
            pointers=[Pointer(summary="s1", token=token, covers=(covers,), **more)],
            answers={token: led},
        )

    look("k0", "t1", one, key="a", epoch=1)
    for number in range(1, IDLE + 10):
        look(f"k{number}", "t1", one)
    look("k0", "t2", answer(AnswerKind.ABSENT))
    look("fresh", "t2", other, key="a", epoch=1)

    found_ = verified(written(play.history()))

    assert {"PTR-2", "EPO-2"} <= set(found_.shown)
    assert "Pointer k0 was given out for turn t1" in found_.shown["EPO-2"].failure.sentence
    assert found_.shown["EPO-2"].more >= 1
    alike(play.history())


@pytest.mark.parametrize("others", [0, 20])
def test_epo_2_a_key_is_held_against_every_earlier_token_of_it_however_many_overlap(others: int) -> None:
    """Tokens that are ranges under one key of the store: the first of many is as good a witness as the last."""
    play = Play(KEEPING, mechanisms=("summariser", "key-recycling"))
    play.call("open", {"settings": play.settings}, play.settings)
    play.say("t1", "The port of the relay is 4411.").say("t2", "The door of the shed is green.")
    play.compact(COMMITTED)
    one, other = found("The port of the relay is 4411."), found("The door of the shed is green.")
    pointers, answers = list[Pointer](), dict[str, Any]()

    def more(token: str, covers: tuple[str, ...], led: Any) -> None:
        pointers.append(Pointer(summary="s1", token=token, covers=covers, key="a", epoch=1))
        answers[token] = led
        play.call("compact", {}, NOTHING)
        play.look([summary("s1", "Both were named.")], pointers=pointers, answers=answers)

    more("k0", ("t1",), one)
    for number in range(1, others + 1):
        more(f"k{number}", ("t1", "t2"), found("The port of the relay is 4411. The door of the shed is green."))
    more("fresh", ("t2",), other)

    failures = judge("EPO-2", play).failures

    assert [failure.fact for failure in failures] == ["a"]
    assert "given out for turn t1" in failures[0].sentence
    # The first look in which the recycled key can be followed to something else counts for EPO-1.
    assert judge("EPO-1", play).triggered == 1
    alike(play.history())


@settings(deadline=None)
@given(rows=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 2**32 - 1), st.integers(0, 65535))))
def test_a_packed_table_holds_what_a_dict_holds(rows: list[tuple[int, int, int]]) -> None:
    packed, plain = Packed("IH"), dict[str, tuple[int, ...]]()
    for name, *row in rows:
        packed.put(str(name), *row)
        plain[str(name)] = tuple(row)

    assert {str(name): packed.get(str(name)) for name in range(301)} == {
        str(name): plain.get(str(name)) for name in range(301)
    }
    assert len(packed) == len(plain)


WORDS = st.lists(st.sampled_from(["the", "port", "of", "relay", "is", "4411", "<b>", '"', "ä", "done."]), max_size=8)


@settings(deadline=None)
@given(turns=st.lists(WORDS, max_size=30), texts=st.lists(WORDS, max_size=4), short=st.booleans())
def test_turns_are_found_in_a_text_as_if_each_were_looked_for(
    turns: list[list[str]], texts: list[list[str]], short: bool
) -> None:
    every = [
        Said(
            turn=Turn(id=f"t{n}", speaker="user", text=" ".join(words)),
            facts=(), at=n, certain=True, session="s",
        )
        for n, words in enumerate(turns)
    ]  # fmt: skip
    finder = Finder(every[: len(every) // 2])
    for each in every[len(every) // 2 :]:
        finder.add(each)

    for text in (" ".join(words) * (1 if short else 3) for words in texts):
        assert finder.find(text) == {each.turn.id for each in every if each.stands_in(text)}


# Rules


def test_ret_4_what_was_evicted_on_request_may_be_called_expired_however_often_that_was_asked_for() -> None:
    play = Play((*KEEPING, "evict", "expire"), mechanisms=("expiry",))
    play.call("open", {"settings": play.settings}, play.settings)
    play.say("t1", "The port of the relay is 4411.").compact(COMMITTED)
    pointers = [Pointer(summary="s1", token="k1", covers=("t1",))]
    play.look([summary("s1", "A port.")], pointers=pointers, answers={"k1": found("The port of the relay is 4411.")})
    play.call("evict", {"token": "k1"}, GONE)
    play.look([summary("s1", "A port.")], pointers=pointers, answers={"k1": answer(AnswerKind.EXPIRED)})
    play.call("evict", {"token": "k1"}, NOTHING)
    play.look([summary("s1", "A port.")], pointers=pointers, answers={"k1": answer(AnswerKind.EXPIRED)})

    assert judge("RET-4", play).failures == ()


def test_ret_4_what_nobody_let_go_and_no_time_took_has_not_expired() -> None:
    play = Play(KEEPING, mechanisms=("expiry",))
    play.call("open", {"settings": play.settings}, play.settings)
    play.say("t1", "The port of the relay is 4411.").compact(COMMITTED)
    pointers = [Pointer(summary="s1", token="k1", covers=("t1",))]
    play.look([summary("s1", "A port.")], pointers=pointers, answers={"k1": answer(AnswerKind.EXPIRED)})

    assert [failure.fact for failure in judge("RET-4", play).failures] == ["k1"]


def test_an_operation_that_was_under_way_at_a_look_is_not_held_against_it() -> None:
    """OUT-2 compares what was seen before an operation with what was seen after it."""
    play = Play(KEEPING, mechanisms=("summariser", "concurrency"))
    play.call("open", {"settings": play.settings}, play.settings)
    play.say("t1", "The port of the relay is 4411.")
    play.look(play.raws("t1"))
    events = play.compact(COMMITTED).events
    ended = events.pop()
    events[-1] = msgspec.structs.replace(events[-1], process="beside")
    play.look([summary("s1", "A port.")])
    events.append(msgspec.structs.replace(ended, index=len(events), process="beside"))
    play.look([summary("s1", "A port.")])

    assert events[-1].type is EventType.OK
    assert judge("OUT-2", play).failures == ()
