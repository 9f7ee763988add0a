"""Structural rules that pass over what stands as it stood say what they say where everything is gone through."""

from collections.abc import Sequence

from history_builder import ALL, COMMITTED, NOTHING, Play, answer, found, raw
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_verify_structural import alike

from anchorhold.checkers import judge_all
from anchorhold.checkers.observe import read
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, Observation, Operation
from anchorhold.checkers.resolving import REMOVING
from anchorhold.history import EventType
from anchorhold.verdict import History
from anchorhold_spec.vocabulary import AnswerKind, Outcome, OutcomeKind, Pointer, ToolCall, Turn

TEXTS = {f"t{n}": f"The port of relay {n} is 44{n}1." for n in range(4)}
TOKENS = tuple(f"k{n}" for n in range(6))
DONE = ("compact", "idle", "evict", "settle", "tombstone", "say", "switch")
ANSWERS = ("right", "right", "right", "other", "absent", "error", "unasked", "unasked")
GONE = Outcome(kind=OutcomeKind.COMMITTED)
Counted = tuple[int, frozenset[str]]
"""How often a rule was triggered, and what it failed for."""


def said(history: History, rule: str) -> Counted:
    """What the checker of a rule says."""
    judgement = next(each for each in judge_all(history) if each.rule == rule)
    return judgement.triggered, frozenset(failure.fact for failure in judgement.failures)


def told(reading: Reading) -> list[Operation | Observation]:
    """Operations as they ended, and looks as they were over, in turn."""
    events: list[tuple[int, int, Operation | Observation]] = [(look.end, 1, look) for look in reading.observations]
    events += [(done.end, 0, done) for done in reading.operations if done.op in REMOVING]
    return [each for *_, each in sorted(events, key=lambda each: each[:2])]


def ptr_2(history: History) -> Counted:
    """PTR-2, every pointer of every look gone through."""
    led, released, dropped, known = dict[tuple[str, str], int](), set[str](), set[str](), set[str]()
    ended, triggered, failed = -1, 0, set[str]()
    reading = read(history)
    for each in told(reading):
        if isinstance(each, Operation):
            ended = each.end
            token = str(each.arguments.get("token", ""))
            if each.op == "evict" and token in known and (each.committed or not each.ok):
                released.add(token)
            if each.op == "tombstone" and each.ok:
                dropped.add(str(each.arguments["source"]))
            continue
        known |= {pointer.token for pointer in each.pointers or ()}
        for pointer in each.pointers or ():
            got, error = each.answers.get(pointer.token), pointer.token in each.errors
            there = got is not None and got.kind in CONTENT
            before = led.get((pointer.token, each.session), 0)
            if there:
                led.setdefault((pointer.token, each.session), each.end)
            covers = reading.turns_of(pointer.covers)
            excused = pointer.token in released or bool(covers and covers & dropped)
            if before and not excused and ended > before and (got is not None or error):
                triggered += 1
                if not there:
                    failed.add(pointer.token)
    return max(triggered, len(failed)), frozenset(failed)


def given_out_again(history: History) -> frozenset[str]:
    """Tokens of which EPO-2 says that they were given out for something else: each listing gone through."""
    reading, first, failed = read(history), dict[str, frozenset[str]](), set[str]()
    for look in reading.observations:
        for pointer in look.pointers or ():
            bound = reading.turns_of(pointer.covers) or frozenset()
            before = first.setdefault(pointer.token, bound)
            if bound and before and not bound & before:
                failed.add(pointer.token)
    return frozenset(failed)


LISTED = st.tuples(st.sampled_from(TOKENS), st.sampled_from(["own", "own", "own", "none", "other", "both"]))
LOOK = st.tuples(st.lists(LISTED, max_size=8), st.lists(st.sampled_from(ANSWERS), min_size=6, max_size=6))


def turns_of(token: str, declared: str) -> tuple[str, ...] | None:
    """What a pointer declares: tokens have their own turn, and may say otherwise."""
    own, other = f"t{int(token[1]) % 3}", "t3"
    return {"own": (own,), "none": None, "other": (other,), "both": (own, other)}[declared]


def played(rounds: Sequence[tuple[str, tuple[list[tuple[str, str]], list[str]]]]) -> History:
    """Something is done, and some pointers are listed and followed, again and again, in two sessions."""
    play = Play((*ALL, "settle"), mechanisms=("summariser", "pointers"))
    play.call("open", {"settings": play.settings}, play.settings)
    for turn, text in TEXTS.items():
        play.say(turn, text)
    session = 0
    for number, (what, (listed, answers)) in enumerate(rounds):
        if what == "compact":
            play.compact(COMMITTED)
        elif what == "idle":
            play.compact(NOTHING)
        elif what == "evict":
            play.call("evict", {"token": TOKENS[number % len(TOKENS)]}, GONE)
        elif what == "settle":
            play.call("settle", {}, None)
        elif what == "tombstone":
            play.call("tombstone", {"literal": "44", "source": "t0", "reason": "asked"}, GONE)
        elif what == "say":
            play.say(f"u{number}", f"Number {number}.")
        else:
            session = 1 - session
            play.call("switch", {"session": ("s", "other")[session]}, None)
        play.call("live", {}, play.raws("t3"))
        # Whichever summary carries them: it is another one after each compaction.
        pointers = [Pointer(summary=f"s{number}", token=t, covers=turns_of(t, how)) for t, how in listed]
        play.call("pointers", {}, pointers)
        for token, how in zip(TOKENS, answers, strict=True):
            if how == "unasked" or all(token != name for name, _ in listed):
                continue
            if how == "error":
                play.call("get", {"token": token}, ended=EventType.FAIL, error="the store is closed")
            elif how == "absent":
                play.call("get", {"token": token}, answer(AnswerKind.ABSENT))
            else:
                play.call("get", {"token": token}, found(TEXTS[f"t{int(token[1]) % 3}" if how == "right" else "t3"]))
    return play.history()


ALWAYS = ([(token, "own") for token in TOKENS], ["right"] * 6)


@settings(max_examples=150, deadline=None)
@given(rounds=st.lists(st.tuples(st.sampled_from(DONE), LOOK), max_size=14))
@example(rounds=[("compact", ALWAYS)] * 4 + [("compact", (ALWAYS[0], ["unasked"] * 5 + ["absent"]))])
@example(rounds=[("compact", ALWAYS), ("evict", ALWAYS), ("settle", (ALWAYS[0] * 2, ["error"] * 6))])
@example(rounds=[("compact", ALWAYS), ("compact", ([("k0", "other"), ("k0", "own"), ("k1", "both")], ["right"] * 6))])
def test_ptr_2_epo_2_pointers_that_stand_as_they_stood_need_not_be_gone_through(
    rounds: list[tuple[str, tuple[list[tuple[str, str]], list[str]]]],
) -> None:
    history = played(rounds)

    assert said(history, "PTR-2") == ptr_2(history)
    assert said(history, "EPO-2")[1] == given_out_again(history)
    alike(history)


CALLS = tuple(f"c{n}" for n in range(4))


@settings(max_examples=100, deadline=None)
@given(
    answered=st.sets(st.sampled_from(CALLS)),
    windows=st.lists(st.sets(st.sampled_from([*(f"a{c}" for c in CALLS), *(f"r{c}" for c in CALLS)])), max_size=6),
)
def test_str_1_calls_that_are_wholly_in_the_window_or_out_of_it_need_not_be_gone_through(
    answered: set[str], windows: list[set[str]]
) -> None:
    play = Play(("append", "compact", "live"))
    play.call("open", {"settings": play.settings}, play.settings)
    texts = dict[str, str]()
    for call in CALLS:
        one = ToolCall(id=call, name="run", arguments="{}")
        asking = Turn(id=f"a{call}", speaker="assistant", text=f"Asks {call}.", calls=(one,))
        play.call("append", {"turn": asking}, None)
        texts[asking.id] = asking.text or ""
        if call in answered:
            result = Turn(id=f"r{call}", speaker="tool", text=f"Says {call}.", result_of=call)
            play.call("append", {"turn": result}, None)
            texts[result.id] = result.text or ""
    for window in windows:
        play.compact(COMMITTED)
        play.call("live", {}, [raw(turn, texts[turn]) for turn in texts if turn in window])
    history = play.history()

    torn = {call for call in answered for window in windows if (f"a{call}" in window) != (f"r{call}" in window)}
    assert said(history, "STR-1") == (max(len(answered) * len(windows), len(torn)), torn)
    alike(history)
