"""What a caller takes back, erases or damages, by hand: whom it concerns, and whom it does not."""

from typing import Any

import pytest
from history_builder import COMMITTED, KEEPING, NOTHING, REFUSED, Play, answer, found, judge, point, slot, summary

from anchorhold.compactor import Settings
from anchorhold.history import EventType
from anchorhold_spec.vocabulary import AnswerKind, Item, ToolCall, Turn

FACT = slot("job J-88", "deploy target", "/srv/a7")
OFFERED = (
    *KEEPING,
    "search",
    "status",
    "corrupt",
    "switch",
    "fork",
    "rewind",
    "clear",
    "forget",
    "reopen",
    "lose_power",
)


def play(**more: Any) -> Play:
    return Play(OFFERED, settings=Settings(user="u"), mechanisms=("summariser",), **more)


def archived(reply: str = "In short, it went well.") -> Play:
    """A turn with a fact under a summary, behind a pointer."""
    told = play().say("t0", "Hello.").say("t1", FACT.text, FACT).say("t2", "Go on.")
    told.look(told.raws("t0", "t1", "t2")).compact(shown=("t1",), reply=reply)
    return told.look(window(told, reply), pointers=[point("t1", "ptr-1")], answers={"ptr-1": found(FACT.text)})


def window(told: Play, reply: str) -> list[Item]:
    return [*told.raws("t0"), summary("s1", reply, covers=["t1"]), *told.raws("t2")]


@pytest.mark.parametrize("later", [True, False])
def test_str_4_a_request_that_was_replaced_when_another_one_was_the_latest_does_not_have_to_come_back(
    later: bool,
) -> None:
    told = play().say("t1", "Look into the rollout.")
    if later:
        told.say("t2", "And into the import.")
    told.look(told.raws("t1", *(["t2"] if later else [])))
    told.compact(shown=("t1",), reply="Notes.").look([summary("s1", "Notes."), *(told.raws("t2") if later else [])])
    told.call("rewind", {"turn": "t1"}).look([summary("s1", "Notes.")])
    told.compact(NOTHING).look([summary("s1", "Notes.")])
    assert bool(judge("STR-4", told).failures) is not later


@pytest.mark.parametrize(("taking", "failures"), [("forget", 0), ("rewind", 1)])
def test_con_3_a_summary_of_before_may_stay_where_one_of_its_turns_is_erased(taking: str, failures: int) -> None:
    told = archived()
    told.call(taking, {"turn": "t1" if taking == "forget" else "t0"}, COMMITTED if taking == "forget" else None)
    reply = "In short, it went well."
    told.look([*told.raws("t0"), summary("s1", reply, covers=["t1"])])
    assert bool(judge("CON-3", told).failures) is bool(failures)


@pytest.mark.parametrize("again", [True, False])
def test_con_3_what_another_turn_says_as_well_may_be_found(again: bool) -> None:
    told = play().say("t0", "Hello.").say("t1", FACT.text, FACT).look([])
    told.call("rewind", {"turn": "t0"}).look([])
    words = f"All the same. {FACT.text}" if again else "Nothing new."
    told.say("t2", words, *([FACT] if again else [])).look(told.raws("t0", "t2"))
    told.call("search", {"literal": FACT.literal}, found(words if again else FACT.text))
    assert bool(judge("CON-3", told).failures) is not again


@pytest.mark.parametrize("elsewhere", [True, False])
def test_era_1_a_pointer_says_that_its_turn_was_erased_where_it_was_given_out(elsewhere: bool) -> None:
    told = archived().call("forget", {"turn": "t1"}, COMMITTED)
    if elsewhere:
        told.call("switch", {"session": "another", "user": "u"})
    told.look([], answers={"ptr-1": answer(AnswerKind.FOREIGN)})
    assert bool(judge("ERA-1", told).failures) is not elsewhere


@pytest.mark.parametrize("back", [True, False])
def test_rec_2_of_what_was_both_erased_and_taken_back_either_may_be_said(back: bool) -> None:
    told = archived().call("forget", {"turn": "t1"}, COMMITTED)
    if back:
        told.call("rewind", {"turn": "t0"})
    told.look(told.raws("t0"), answers={"ptr-1": answer(AnswerKind.FOREIGN)})
    assert bool(judge("REC-2", told).failures) is not back


@pytest.mark.parametrize("status", ["lossless", "degraded: one original is damaged"])
@pytest.mark.parametrize(
    "told_by", [RuntimeError("digest 00 and not ff"), answer(AnswerKind.DEGRADED, reason="damaged")]
)
def test_ret_1_it_is_not_lossless_while_a_pointer_is_answered_as_damaged(told_by: Any, status: str) -> None:
    told = archived().call("corrupt", {"token": "ptr-1"}, True).call("clear")
    told.look([], answers={"ptr-1": told_by}).call("status", {}, status)
    assert bool(judge("RET-1", told).failures) is (status == "lossless")


def paired() -> Play:
    """A call and its result, in the window."""
    call = ToolCall(id="c1", name="read", arguments='{"path": "/srv/x7"}')
    told = play().say("t0", "Hello.")
    told.call("append", {"turn": Turn(id="t1", speaker="assistant", calls=(call,)), "facts": []})
    told.call("append", {"turn": Turn(id="t2", speaker="tool", text="It says 4711.", result_of="c1"), "facts": []})
    told.texts |= {"t1": call.arguments, "t2": "It says 4711."}
    return told.look(told.raws("t0", "t1", "t2"))


def test_idx_1_a_call_may_leave_the_window_with_the_result_that_was_erased() -> None:
    told = paired().call("forget", {"turn": "t2"}, COMMITTED)
    assert not judge("IDX-1", told.look(told.raws("t0"))).failures


def test_idx_1_what_was_archived_when_its_result_was_erased_stays_where_it_was() -> None:
    told = paired().compact(shown=("t1", "t2"), reply="In short.")
    after = [*told.raws("t0"), summary("s1", "In short.", covers=["t1", "t2"])]
    listed = {"pointers": [point("t1", "ptr-1"), point("t2", "ptr-2")]}
    told.look(after, **listed, answers={"ptr-1": found(told.texts["t1"]), "ptr-2": found(told.texts["t2"])})
    told.call("forget", {"turn": "t2"}, COMMITTED)
    gone = {"ptr-1": answer(AnswerKind.UNANCHORED), "ptr-2": answer(AnswerKind.TOMBSTONED, reason="erased")}
    assert judge("IDX-1", told.look(after, pointers=[point("t1", "ptr-1")], answers=gone)).failures


@pytest.mark.parametrize("erased", [True, False])
def test_cra_3_a_summary_that_an_erasure_rewrote_is_not_lost_with_the_power(erased: bool) -> None:
    told = archived()
    if erased:
        told.call("forget", {"turn": "t1"}, COMMITTED)
    told.call("lose_power").call("reopen")
    told.look([*told.raws("t0"), summary("s2", "Notes were withdrawn."), *told.raws("t2")])
    assert any("summary s1" in each.sentence for each in judge("CRA-3", told).failures) is not erased


@pytest.mark.parametrize("outcome", [REFUSED, COMMITTED], ids=["overtaken", "committed"])
def test_ptr_3_a_summary_that_a_rewind_brought_back_was_written_by_no_compaction_that_was_overtaken(
    outcome: Any,
) -> None:
    told = play().say("t0", "Hello.").say("t1", FACT.text, FACT).look([*play().raws()])
    told.compact(shown=("t1",), reply="First notes, such as they are.")
    first = summary("s1", "First notes, such as they are.", covers=["t1"])
    told.say("t2", "More of it.").look([*told.raws("t0"), first, *told.raws("t2")])
    told.compact(shown=("t2", "First notes, such as they are."), reply="Second notes, and no more.")
    told.look([*told.raws("t0"), summary("s2", "Second notes, and no more.", covers=["t1", "t2"])])
    told.say("t3", "And more.").look(
        [*told.raws("t0"), summary("s2", "Second notes, and no more.", covers=["t1", "t2"]), *told.raws("t3")]
    )
    # The model is asked for a third; meanwhile the caller goes back to before the second.
    told._event(EventType.INVOKE, "compact", {})
    told._event(EventType.INVOKE, "summarise", {"messages": ["And more."]})
    told.beside(EventType.INVOKE, "rewind", {"turn": "t1"}).beside(EventType.OK, "rewind")
    told._event(EventType.OK, "summarise", {"text": "Third notes.", "finish": "stop", "mode": "faithful"})
    told._event(EventType.OK, "compact", outcome)
    told.look([*told.raws("t0"), first])
    assert bool(judge("PTR-3", told).failures) is (outcome is COMMITTED)


def test_iso_1_a_session_may_say_as_a_part_what_is_all_that_another_one_said() -> None:
    told = (
        play().say("t1", FACT.text, FACT).look([*play().raws()]).call("switch", {"session": "another", "user": "u"})
    )
    told.say("t2", f"Here, too. {FACT.text}", FACT).look(told.raws("t2"))
    assert not judge("ISO-1", told).failures
