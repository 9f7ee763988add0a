"""OUT-1, OUT-2, ANC-5 on histories written by hand."""

from typing import Any

import pytest
from history_builder import (
    COMMITTED,
    FAILED,
    FULL,
    KEEPING,
    NOTHING,
    ONE,
    PLAIN,
    REFUSED,
    SHORT,
    THREE,
    TWO,
    Play,
    answer,
    found,
    judge,
    point,
    raw,
    summary,
)

from anchorhold.history import EventType
from anchorhold_spec.vocabulary import Answer, AnswerKind, CarrierKind, Item, Outcome, OutcomeKind, Pointer


def attempted(reply: Any, *, outcome: Outcome, live: list[Item], **more: Any) -> Play:
    play = Play(more.pop("operations", PLAIN)).say("t1", ONE).say("t2", TWO).say("t3", THREE)
    play.look(play.raws("t1", "t2", "t3")).compact(outcome, shown=("t1", "t2"), reply=reply)
    return play.look(live, **more)


WINDOW = [raw("t1", ONE), raw("t2", TWO), raw("t3", THREE)]
LIMIT = RuntimeError("rate limit reached")


class TestReplies:
    @pytest.mark.parametrize(
        "reply", [LIMIT, "", " \n", ("Error 429", "error-text"), (TWO, "echo"), ("Please lo", "truncated")]
    )
    def test_out_1_holds_where_nothing_changes(self, reply: Any) -> None:
        judged = judge("OUT-1", attempted(reply, outcome=REFUSED, live=WINDOW))

        assert judged.failures == ()
        assert judged.triggered == 1

    @pytest.mark.parametrize(
        ("reply", "text", "why"),
        [
            (LIMIT, "Error generating summary: rate limit reached", "error's text now stands in the window"),
            ("", "Summary of the conversation so far:", "says nothing of turn t1"),
            (("Error 429", "error-text"), "Error 429", "stands in the window"),
            (("I cannot help with it.", "refusal"), "I cannot help with it.", "stands in the window"),
            (("Please lo", "truncated"), "Please lo", "stands in the window"),
            (("Then it", "echo"), "Then it", "stands in the window"),
        ],
    )
    def test_out_1_names_what_was_committed_instead_of_a_summary(self, reply: Any, text: str, why: str) -> None:
        judged = judge("OUT-1", attempted(reply, outcome=COMMITTED, live=[summary("s1", text), raw("t3", THREE)]))

        assert any(why in failure.sentence for failure in judged.failures)

    def test_out_1_names_turns_that_are_gone_without_a_summary(self) -> None:
        judged = judge("OUT-1", attempted(LIMIT, outcome=FAILED, live=[raw("t3", THREE)]))

        assert [failure.fact for failure in judged.failures] == ["t1"]
        assert "1 more turn" in judged.failures[0].sentence

    def test_out_1_lets_an_echo_stand_for_the_turn_that_it_repeats(self) -> None:
        play = Play().say("t1", ONE).say("t2", TWO)
        play.look(play.raws("t1", "t2")).compact(shown=("t1",), reply=(ONE, "echo"))

        assert judge("OUT-1", play.look([summary("s1", ONE), raw("t2", TWO)])).failures == ()

    def test_out_1_lets_a_compactor_try_again(self) -> None:
        play = Play().say("t1", ONE).look([raw("t1", ONE)])
        play.call("compact", {}, COMMITTED, asked=[([ONE], LIMIT), ([ONE], "In short.")])

        judged = judge("OUT-1", play.look(SHORT))

        assert judged.failures == ()
        assert judged.triggered == 1

    def test_out_1_lets_originals_go_where_pointers_lead_to_them_and_the_note_quotes_them(self) -> None:
        note = Item(id="n1", kind=CarrierKind.OTHER, text="2 earlier messages are archived at k1 and k2.")
        play = attempted(
            LIMIT,
            outcome=Outcome(kind=OutcomeKind.COMMITTED),
            live=[note, raw("t3", THREE)],
            operations=KEEPING,
            pointers=[point("t1", "k1"), point("t2", "k2")],
            answers={"k1": found(ONE), "k2": found(TWO)},
        )

        assert judge("OUT-1", play).failures == ()

    def test_out_1_does_not_take_a_poor_summary_for_none(self) -> None:
        play = attempted(
            ("Things were discussed.", "drop"), outcome=COMMITTED, live=[summary("s1", "Things were discussed.")]
        )

        assert judge("OUT-1", play).triggered == 0


class TestOutcomes:
    @pytest.mark.parametrize(
        ("reply", "outcome", "live", "why"),
        [
            ("In short.", COMMITTED, [*SHORT, raw("t3", THREE)], None),
            (LIMIT, FAILED, WINDOW, None),
            ("", REFUSED, WINDOW, None),
            (LIMIT, COMMITTED, WINDOW, "as they were"),
            (LIMIT, NOTHING, WINDOW, "there was something to do"),
            ("In short.", NOTHING, [*SHORT, raw("t3", THREE)], "no longer in the window"),
            ("In short.", FAILED, [*SHORT, raw("t3", THREE)], "no longer in the window"),
            ("In short.", REFUSED, [*SHORT, *WINDOW], "others than before"),
        ],
    )
    def test_out_2_holds_the_outcome_against_the_window(
        self, reply: Any, outcome: Outcome, live: list[Item], why: str | None
    ) -> None:
        judged = judge("OUT-2", attempted(reply, outcome=outcome, live=live))

        assert judged.triggered == 1
        assert (why is None) == (judged.failures == ())
        assert why is None or why in judged.failures[0].sentence

    def test_out_2_takes_an_exception_for_a_failure_that_was_told(self) -> None:
        play = Play().say("t1", ONE).look([raw("t1", ONE)])
        play.compact(shown=("t1",), reply=LIMIT, ended=EventType.INFO, error="RateLimitError")

        assert judge("OUT-2", play.look([raw("t1", ONE)])).failures == ()

    @pytest.mark.parametrize("rule", ["OUT-2", "ANC-5"])
    @pytest.mark.parametrize("ends", ["before the operation", "before the look", "after the look", "never"])
    @pytest.mark.parametrize("begun", ["before the look", "after the look"])
    def test_an_operation_is_not_blamed_for_what_another_does_meanwhile(
        self, rule: str, ends: str, begun: str
    ) -> None:
        play = Play().say("t1", ONE)
        if begun == "before the look":
            play.beside(EventType.INVOKE, "compact", {})
        play.look([raw("t1", ONE)])
        if begun == "after the look":
            play.beside(EventType.INVOKE, "compact", {})

        def ended(when: str) -> None:
            if when == ends:
                play.beside(EventType.OK, "compact", COMMITTED)

        ended("before the operation")
        play.compact(REFUSED)
        ended("before the look")
        play.look([summary("s1", "In short: " + ONE)])
        ended("after the look")

        assert judge(rule, play).failures == ()

    def test_out_2_looks_at_evictions_too(self) -> None:
        def evicted(outcome: Outcome, now: Answer) -> Any:
            play = Play(FULL).say("t1", ONE).look([raw("t1", ONE)]).compact(shown=("t1",), reply="x")
            play.look(SHORT, pointers=[point("t1", "k")], answers={"k": found(ONE)})
            play.call("evict", {"token": "k"}, outcome)
            return judge("OUT-2", play.look(SHORT, pointers=[point("t1", "k")], answers={"k": now})).failures

        assert evicted(COMMITTED, answer(AnswerKind.EXPIRED)) == ()
        assert evicted(REFUSED, found(ONE)) == ()
        assert "resolves as before" in evicted(COMMITTED, found(ONE))[0].sentence
        assert "no longer resolves" in evicted(REFUSED, answer(AnswerKind.EXPIRED))[0].sentence

    @pytest.mark.parametrize(
        ("outcome", "live", "trace"),
        [
            (REFUSED, WINDOW, None),
            (FAILED, [*SHORT, *WINDOW], "s1 has come"),
            (REFUSED, WINDOW[1:], "m-t1 is gone"),
            (COMMITTED, [*SHORT, WINDOW[2]], None),
        ],
    )
    def test_anc_5_wants_no_trace_of_what_did_not_happen(
        self, outcome: Outcome, live: list[Item], trace: str | None
    ) -> None:
        judged = judge("ANC-5", attempted("In short.", outcome=outcome, live=live))

        assert (trace is None) == (judged.failures == ())
        assert trace is None or trace in judged.failures[0].sentence

    @pytest.mark.parametrize("shown", [("t2",), ("t1", "t2")])
    def test_out_1_lets_a_stub_replace_what_the_model_that_failed_was_not_asked_about(
        self, shown: tuple[str, ...]
    ) -> None:
        play = Play(KEEPING).say("t1", ONE).say("t2", TWO).look(WINDOW[:2])
        play.compact(shown=shown, reply=LIMIT)
        stub = summary("s1", "Something is filed.", covers=["t1"])
        play.look([stub, WINDOW[1]], pointers=[point("t1", "k")], answers={"k": found(ONE)})

        assert [failure.fact for failure in judge("OUT-1", play).failures] == (["s1"] if "t1" in shown else [])

    @pytest.mark.parametrize(("now", "fails"), [(f"{ONE}\n{ONE}", False), (ONE, False), (TWO, True)])
    def test_anc_5_lets_an_archive_grow_by_copies_made_in_advance(self, now: str, fails: bool) -> None:
        file = [Pointer(summary="s1", token="history.md")]
        play = Play(KEEPING).say("t1", ONE).say("t2", TWO).look(WINDOW[:2]).compact(shown=("t1",), reply="x")
        play.look([*SHORT, WINDOW[1]], pointers=file, answers={"history.md": found(ONE)})
        play.compact(FAILED, shown=("t2",), reply=LIMIT)
        play.look([*SHORT, WINDOW[1]], pointers=file, answers={"history.md": found(now)})

        assert bool(judge("ANC-5", play).failures) is fails

    @pytest.mark.parametrize(
        ("now", "old", "fails"),
        [
            (("k-2",), found(ONE), False),
            (("k-2",), answer(AnswerKind.UNANCHORED), True),
            (("k-2", "k-3"), found(ONE), True),
            ((), found(ONE), True),
        ],
        ids=["made anew", "the old one is lost", "one more", "one less"],
    )
    def test_anc_5_lets_tokens_be_made_anew_for_every_listing(
        self, now: tuple[str, ...], old: Answer, fails: bool
    ) -> None:
        play = Play(KEEPING).say("t1", ONE).say("t2", TWO).look(WINDOW[:2]).compact(shown=("t1",), reply="x")
        play.look([*SHORT, WINDOW[1]], pointers=[point("t1", "k-1")], answers={"k-1": found(ONE)})
        play.compact(FAILED, shown=("t2",), reply=LIMIT)
        pointers, answers = [point("t1", token) for token in now], {token: found(ONE) for token in now}
        play.look([*SHORT, WINDOW[1]], pointers=pointers, answers={"k-1": old, **answers})

        assert bool(judge("ANC-5", play).failures) is fails

    @pytest.mark.parametrize(("says", "fails"), [("No result was recorded.", False), ("All went well.", True)])
    def test_anc_5_lets_scaffolding_be_made_anew_for_every_look(self, says: str, fails: bool) -> None:
        def notice(name: str, text: str) -> Item:
            return Item(id=name, kind=CarrierKind.OTHER, text=text)

        play = Play(PLAIN).say("t1", ONE).say("t2", TWO)
        play.look([*WINDOW[:2], notice("7f3a", "No result was recorded.")]).compact(
            FAILED, shown=("t1",), reply=LIMIT
        )
        play.look([*WINDOW[:2], notice("b02c", says)])

        assert bool(judge("ANC-5", play).failures) is fails
