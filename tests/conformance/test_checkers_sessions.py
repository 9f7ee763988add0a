"""In which session, of which user and in which branch something was done, and what may be seen there (ISO-1)."""

import io
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from history_builder import KEEPING, Play, judge, raw, slot, summary
from hypothesis import given
from hypothesis import strategies as st

from anchorhold.checkers import CHECKERS, STRUCTURAL
from anchorhold.checkers.observe import read
from anchorhold.checkers.reading import Place
from anchorhold.compactor import Description, Settings
from anchorhold.history import EventType, encode_line
from anchorhold.judging import judge as judge_all
from anchorhold.run import play as run
from anchorhold.verdict import VerdictKind
from anchorhold.verify.run import Verified, Verifier
from anchorhold.verify.segments import LOOKS, carry
from anchorhold.workload import Workload
from anchorhold_spec.vocabulary import Item, Outcome, OutcomeKind, Pointer

SECRET = slot("job J-88", "deploy target", "/srv/a7")
OTHER = "Nothing is known of the job."
OFFERED = (*KEEPING, "search", "switch", "fork")


def switch(session: str = "s", user: str | None = "u", **more: str) -> Mapping[str, Any]:
    return {"session": session, **({} if user is None else {"user": user}), **more}


def going_over(to: Mapping[str, Any], live: list[Item], *, user: str | None = "u") -> Play:
    """Something is said in the session of a user, and then another one is looked at."""
    play = Play(OFFERED, settings=Settings(user=user), mechanisms=("summariser",))
    play.call("open", {"settings": Settings()}, play.settings)
    play.say("t1", SECRET.text, SECRET).look(play.raws("t1")).call("switch", to)
    return play.say("t2", OTHER).look([*live, raw("t2", OTHER)])


def verified(play: Play, **more: Any) -> Verified:
    verifier = Verifier(CHECKERS, **more)
    history = play.history()
    verifier.take(io.BytesIO(b"".join(encode_line(e) + b"\n" for e in (history.header, *history.events))), name="h")
    return verifier.done()


PLACES = st.builds(
    Place,
    session=st.text("su ()ofmain\"'", min_size=1, max_size=8),
    branch=st.sampled_from(["main", "twig", "a) (b"]),
    user=st.text("u v()of", max_size=6),
    home=st.just("u"),
)


@given(PLACES, PLACES)
def test_two_places_have_one_name_only_where_they_are_one(one: Place, other: Place) -> None:
    assert (one.lane == other.lane) is (one == other)


def test_the_first_user_and_the_main_branch_go_without_saying() -> None:
    first = Place(session="s", branch="main", user="u", home="u")

    assert first.lane == "s"
    assert first.after("fork", {"branch": "twig"}).lane == "s (twig)"
    assert first.after("switch", switch(user="v")).lane == "s of v"
    # A history of before: it says no user where one is meant that stays the same.
    assert first.after("switch", switch("other", None)).lane == "other"


@pytest.mark.parametrize("to", [switch("other"), switch("s", "v"), switch("other", "v")])
def test_iso_1_two_sessions_are_apart_where_either_name_differs(to: Mapping[str, Any]) -> None:
    mixed = going_over(to, [raw("t1", SECRET.text)])
    (failure,) = judge("ISO-1", mixed).failures

    assert (failure.fact, judge("ISO-1", going_over(to, [])).failures) == ("t1", ())
    kinds = {verdict.rule: verdict.kind for verdict in verified(mixed).verdicts}
    assert kinds["ISO-1"] is VerdictKind.FAIL


def test_iso_1_to_a_compactor_that_knows_no_users_one_name_is_one_session() -> None:
    same, other = ({"live": [raw("t1", SECRET.text)], "user": None},) * 2

    assert judge("ISO-1", going_over(switch("s", "v"), **same)).failures == ()
    assert len(judge("ISO-1", going_over(switch("other", "v"), **other)).failures) == 1


@pytest.mark.parametrize("answered", [None, "everybody", "u"])
def test_who_answers_with_another_user_than_was_asked_for_knows_none(answered: str | None) -> None:
    class Opens:
        def open(self, settings: Settings, _summarise: object) -> Settings:
            return Settings(session="thread-1", user=answered, branch="trunk", budget=settings.budget)

        def live(self) -> list[Item]:
            return []

        def close(self) -> None:
            pass

    description = Description(name="opens", version="1", operations=frozenset({"append", "compact", "live"}))
    history = run(Opens(), Workload(name="none", aims=()), description=description, location="here")  # type: ignore[arg-type]

    # Sessions and branches go by the suite's names for them, whatever they are called inside.
    taken = history.header.settings
    assert (taken.session, taken.branch, taken.user) == ("s", "main", "u" if answered == "u" else None)


@pytest.mark.parametrize(
    ("item", "pointers"),
    [(summary("s1", "Notes.", covers=["t1"]), ()), (summary("s1", "Notes."), (("s1", "k1", ("t1",)),))],
)
def test_iso_1_nothing_stands_for_a_turn_of_another_session(item: Item, pointers: tuple[Any, ...]) -> None:
    play = going_over(switch("other"), [])
    play.look([item], pointers=[Pointer(summary=s, token=k, covers=c) for s, k, c in pointers])

    assert [failure.fact for failure in judge("ISO-1", play).failures] == ["t1"]


def test_iso_1_what_a_compactor_calls_a_turn_of_its_own_is_no_other_sessions() -> None:
    play = Play(OFFERED).say("t1", SECRET.text, SECRET, own="1").look([raw("t1", SECRET.text)])
    play.call("switch", switch("other")).say("t2", OTHER, own="1")
    play.look([summary("s1", "Notes.", covers=["1"])])

    assert judge("ISO-1", play).failures == ()


def compacting_while(op: str, arguments: Mapping[str, Any], *, ends_late: bool) -> Play:
    """A session is left while a summary of it is being written; whether that ends before the compaction does."""
    play = Play(OFFERED, mechanisms=("summariser", "concurrency"))
    play.call("open", {"settings": play.settings}, play.settings)
    play.say("t1", SECRET.text, SECRET).say("t2", OTHER).look(play.raws("t1", "t2"))
    events = play.compact(
        Outcome(kind=OutcomeKind.COMMITTED, covered=("t1",)), shown=["t1"], reply=SECRET.text
    ).events
    answered, ended = events[-2:]
    del events[-2:]
    play.beside(EventType.INVOKE, op, arguments)
    for event in (answered, ended):
        if event is ended and not ends_late:
            play.beside(EventType.OK, op)
        events.append(msgspec.structs.replace(event, index=len(events)))
    if ends_late:
        play.call("live", {}, [summary("s1", SECRET.text, covers=["t1"]), raw("t2", OTHER)])
        play.beside(EventType.OK, op)
    return play


AWAY = {"switch": switch("other"), "fork": {"branch": "twig"}}


def alike(play: Play) -> None:
    """What the structural rules say of it line by line is what they say of the whole."""
    structural = {v.rule: v.triggered for v in verified(play).verdicts if v.rule in STRUCTURAL}
    whole = judge_all(CHECKERS, play.history())
    assert structural == {j.rule: j.triggered for j in whole if j.rule in STRUCTURAL}
    assert {j.rule: j.failures for j in whole if j.failures} == {}


@pytest.mark.parametrize("op", AWAY)
@pytest.mark.parametrize("ends_late", [False, True])
def test_a_window_that_is_looked_at_while_another_process_goes_elsewhere_is_nobodys(op: str, ends_late: bool) -> None:
    play = compacting_while(op, AWAY[op], ends_late=ends_late)
    gone = {"switch": [], "fork": [summary("s1", SECRET.text, covers=["t1"]), raw("t2", OTHER)]}[op]
    play.look(gone).call("switch", switch())
    play.look([summary("s1", SECRET.text, covers=["t1"]), raw("t2", OTHER)])
    history = play.history()

    lanes = [observation.session for observation in read(history).observations]
    assert lanes == ["s", {"switch": "other", "fork": "s (twig)"}[op], "s"] if not ends_late else lanes == ["s", "s"]
    alike(play)


@pytest.mark.parametrize("ended", [EventType.OK, EventType.FAIL, EventType.INFO])
def test_where_going_elsewhere_failed_the_window_before_and_after_is_the_same_ones(ended: EventType) -> None:
    play = compacting_while("switch", switch("other"), ends_late=True)
    play.events[-1] = msgspec.structs.replace(play.events[-1], type=ended)
    here = [summary("s1", SECRET.text, covers=["t1"]), raw("t2", OTHER)]
    play.say("t3", "Go on.").look([raw("t3", "Go on.")] if ended is EventType.OK else [*here, raw("t3", "Go on.")])

    lanes = [observation.session for observation in read(play.history()).observations]
    assert lanes == ["s", "other" if ended is EventType.OK else "s"]
    alike(play)


def test_iso_1_a_summary_that_comes_late_and_lands_in_the_open_session_is_caught() -> None:
    play = compacting_while("switch", switch("other"), ends_late=False)
    play.look([summary("s1", SECRET.text)])

    assert [failure.fact for failure in judge("ISO-1", play).failures] == ["t1"]


def test_what_is_carried_is_of_the_session_that_another_process_went_over_to() -> None:
    play = compacting_while("switch", switch("other"), ends_late=False)
    for number in range(2 * LOOKS):
        play.say(f"n{number}", f"Note {number}.").look([raw(f"n{number}", f"Note {number}.")])
    play.call("switch", switch()).look([raw("t2", OTHER)])
    history = play.history()

    kept = [event for event in carry(history.header, history.events) if event.op == "live" and event.value]
    # The last looks at each: the two at the first session, and so many at the other.
    assert len([event for event in kept if event.type is EventType.OK]) == 2 + LOOKS


def test_pro_1_a_compaction_that_the_caller_overtook_is_not_held_against_it() -> None:
    why = Outcome(kind=OutcomeKind.REFUSED, reason="another session was opened meanwhile")
    text = "A line of talk that says nothing in particular. " * 8
    turns = [f"t{number}" for number in range(12)]

    def ended(outcome: Outcome, op: str) -> Play:
        play = Play(OFFERED, mechanisms=("summariser",), settings=Settings(budget=400, watermark=0.7))
        play.call("open", {"settings": play.settings}, play.settings)
        for turn in turns:
            play.say(turn, f"{turn} {text}")
        play.look(play.raws(*turns))
        events = play.compact(outcome, shown=turns, reply="Notes.").events
        last = events.pop()
        play.beside(EventType.INVOKE, op, AWAY.get(op, {}))
        play.beside(EventType.OK, op)
        events.append(msgspec.structs.replace(last, index=len(events)))
        return play.call("switch", switch()).look(play.raws(*turns))

    assert judge("PRO-1", ended(why, "switch")).failures == ()
    assert len(judge("PRO-1", ended(why, "settle")).failures) == 1
