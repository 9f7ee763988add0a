"""EPO-1, EPO-2, EPO-3, REC-1, OUT-1, OUT-2, PRO-1, ANC-4, ANC-5 on histories written by hand."""

from typing import Any

import pytest
from history_builder import COMMITTED, KEEPING, NOTHING, PLAIN, Play, answer, found, judge, raw, slot, summary

from anchorhold.compactor import Settings
from anchorhold.history import EventType
from anchorhold_spec.vocabulary import Answer, AnswerKind, CarrierKind, Item, Outcome, OutcomeKind, Pointer

ONE = "Please look at the rollout first."
TWO = "The canary was green all night."
THREE = "Then the import job can follow."
TARGET = slot("job J-88", "deploy target", "/srv/a7")
SIBLING = slot("job J-89", "deploy target", "/srv/b3")
FULL = (*KEEPING, "search", "reconstitute", "evict", "corrupt")
SHORT = [summary("s1", "In short.")]


def point(turn: str, token: str, *, key: str | None = None, epoch: int | None = None) -> Pointer:
    return Pointer(summary="s1", token=token, covers=(turn,), key=key, epoch=epoch)


def recycled(first: Pointer, second: Pointer, now: dict[str, Any]) -> Play:
    """The original of t1 is evicted, t2 is stored, and every pointer is followed again."""
    play = Play(FULL)
    play.say("t1", ONE).say("t2", TWO).look(play.raws("t1", "t2")).compact(shown=("t1",), reply="x")
    play.look([*SHORT, *play.raws("t2")], pointers=[first], answers={first.token: found(ONE)})
    play.call("evict", {"token": first.token}, COMMITTED).look([*SHORT, *play.raws("t2")])
    play.compact(shown=("In short.", "t2"), reply="y")
    return play.look([summary("s2", "y")], pointers=[second], answers=now)


class TestEpochs:
    @pytest.mark.parametrize("gone", [AnswerKind.EXPIRED, AnswerKind.UNANCHORED, AnswerKind.FOREIGN])
    def test_epo_1_is_held_by_a_token_that_says_that_it_is_gone(self, gone: AnswerKind) -> None:
        first, second = point("t1", "7@1", key="7", epoch=1), point("t2", "7@2", key="7", epoch=2)

        judged = judge("EPO-1", recycled(first, second, {"7@1": answer(gone), "7@2": found(TWO)}))

        assert judged.failures == ()
        assert judged.triggered >= 1

    def test_epo_1_names_both_turns_where_a_token_leads_to_another(self) -> None:
        judged = judge("EPO-1", recycled(point("t1", "7"), point("t2", "7b"), {"7": found(TWO), "7b": found(TWO)}))

        assert [failure.fact for failure in judged.failures] == ["t1"]
        assert ONE in judged.failures[0].sentence
        assert TWO in judged.failures[0].sentence

    def test_epo_1_binds_a_token_that_declares_nothing_by_what_it_first_led_to(self) -> None:
        first, second = Pointer(summary="s1", token="7"), Pointer(summary="s2", token="8")

        judged = judge("EPO-1", recycled(first, second, {"7": found(TWO), "8": found(TWO)}))

        assert [failure.fact for failure in judged.failures] == ["t1"]

    def test_epo_1_lets_a_file_grow(self) -> None:
        file = Pointer(summary="s1", token="history.md")
        play = Play(KEEPING)
        play.say("t1", ONE).say("t2", TWO).look(play.raws("t1", "t2")).compact(shown=("t1",), reply="x")
        play.look([*SHORT, *play.raws("t2")], pointers=[file], answers={"history.md": found(ONE)})
        play.compact(shown=("In short.", "t2"), reply="y")
        play.look([summary("s2", "y")], pointers=[file], answers={"history.md": found(f"{ONE}\n{TWO}")})

        assert judge("EPO-1", play).failures == ()

    def test_epo_1_is_not_triggered_where_visible_keys_are_never_used_again(self) -> None:
        first, second = point("t1", "7", key="7"), point("t2", "8", key="8")

        assert (
            judge("EPO-1", recycled(first, second, {"7": answer(AnswerKind.EXPIRED), "8": found(TWO)})).triggered == 0
        )

    def test_epo_2_wants_the_epoch_of_a_key_to_grow(self) -> None:
        now = {"a": answer(AnswerKind.EXPIRED), "b": found(TWO)}
        grows = recycled(point("t1", "a", key="7", epoch=1), point("t2", "b", key="7", epoch=2), now)
        stays = recycled(point("t1", "a", key="7", epoch=1), point("t2", "b", key="7", epoch=1), now)
        without = recycled(point("t1", "a", key="7"), point("t2", "b", key="7"), now)
        same_token = recycled(point("t1", "a", key="7"), point("t2", "a", key="7"), {"a": found(TWO)})

        assert judge("EPO-2", grows).failures == ()
        assert judge("EPO-2", grows).triggered == 1
        assert len(judge("EPO-2", stays).failures) == 1
        assert len(judge("EPO-2", without).failures) == 1
        assert len(judge("EPO-2", same_token).failures) == 1

    @pytest.mark.parametrize(
        ("given", "fails"),
        [
            (answer(AnswerKind.FOREIGN), False),
            (answer(AnswerKind.UNANCHORED), True),
            (answer(AnswerKind.EXPIRED), True),
            (found(ONE), True),
        ],
    )
    def test_epo_2_wants_a_token_that_was_never_issued_to_be_foreign(self, given: Answer, fails: bool) -> None:
        play = Play(KEEPING).say("t1", ONE)
        play.look(play.raws("t1")).compact(shown=("t1",), reply="x")
        play.look(SHORT, pointers=[point("t1", "k")], answers={"k": found(ONE)})
        play.call("get", {"token": "made-up"}, given)

        judged = judge("EPO-2", play)

        assert judged.triggered == 1
        assert bool(judged.failures) is fails

    @pytest.mark.parametrize(
        ("tokens", "fails"),
        [
            ({"log:1:3": found(f"{ONE}\n{TWO}")}, False),
            ({"log:1:3": found(f"{ONE}\n{TWO}"), "log:2:9": found(TWO)}, False),
            ({"log:1:3": found(TWO), "log:7:9": found(TWO)}, True),
            ({"log:1:3": answer(AnswerKind.EXPIRED)}, True),
            ({"made-up": found(f"{ONE}\n{TWO}")}, True),
        ],
    )
    def test_epo_2_lets_an_address_of_another_store_be_one_of_this(self, tokens: dict, fails: bool) -> None:
        play = Play(KEEPING).say("t1", ONE).say("t2", TWO)
        play.look(play.raws("t1", "t2")).compact(shown=("t1",), reply="x")
        own = Pointer(summary="s1", token="log:1:1")
        play.look([*SHORT, *play.raws("t2")], pointers=[own], answers={"log:1:1": found(ONE)})
        for token, given in tokens.items():
            play.call("get", {"token": token}, given)

        assert bool(judge("EPO-2", play).failures) is fails

    @pytest.mark.parametrize(
        ("now", "fails"),
        [
            (RuntimeError("digest differs"), True),
            (RuntimeError("k is damaged"), True),
            (RuntimeError("pointer k names sha256:00ab12, and the store holds sha256:77cd34"), False),
            (answer(AnswerKind.DEGRADED), False),
            (found(ONE), False),
            (found(ONE.replace("rollout", "XXXXout")), True),
            (answer(AnswerKind.PARTIAL, text="Please look at the XXXX"), True),
        ],
    )
    def test_epo_3_wants_damaged_bytes_not_to_be_served(self, now: Any, fails: bool) -> None:
        play = Play(FULL).say("t1", ONE)
        play.look(play.raws("t1")).compact(shown=("t1",), reply="x")
        play.look(SHORT, pointers=[point("t1", "k")], answers={"k": found(ONE)}).call("corrupt", {"token": "k"}, True)

        judged = judge("EPO-3", play.look(SHORT, pointers=[point("t1", "k")], answers={"k": now}))

        assert judged.triggered == 1
        assert bool(judged.failures) is fails

    def test_epo_3_is_not_triggered_where_nothing_could_be_damaged(self) -> None:
        play = Play(FULL).say("t1", ONE)
        play.look(play.raws("t1")).compact(shown=("t1",), reply="x")
        play.look(SHORT, pointers=[point("t1", "k")], answers={"k": found(ONE)}).call(
            "corrupt", {"token": "k"}, False
        )

        assert judge("EPO-3", play.look(SHORT, pointers=[point("t1", "k")], answers={"k": found(ONE)})).triggered == 0


def asked(op: str, given: Answer, **arguments: Any) -> Any:
    play = Play(FULL).say("t1", f"So. {TARGET.text}", TARGET).say("t2", SIBLING.text, SIBLING)
    play.say(
        "t3", f"Now {slot('job J-88', 'deploy target', '/srv/c9').text}", slot("job J-88", "deploy target", "/srv/c9")
    )
    play.look(play.raws("t1", "t2", "t3"))
    return judge("REC-1", play.call(op, arguments, given))


class TestReconstitution:
    @pytest.mark.parametrize(
        "given",
        [
            found(f"So. {TARGET.text}"),
            found("The deploy target of job J-88 is **/srv/a7**."),
            answer(AnswerKind.ABSENT),
            answer(AnswerKind.PARTIAL, text="So. The deploy", continuation="more"),
            answer(AnswerKind.PARTIAL, text="[user] So. The deploy target of job J-88 is", continuation="more"),
        ],
    )
    def test_rec_1_accepts_a_finding_with_the_literal_or_an_answer_without_content(self, given: Answer) -> None:
        judged = asked("search", given, literal="/srv/a7")

        assert judged.failures == ()
        assert judged.triggered == 1

    @pytest.mark.parametrize(
        "given",
        [
            found(SIBLING.text),
            found(""),
            found("No results for '/srv/a7'."),
            found("see /srv/a7/b"),
            found("/srv/a77"),
            answer(AnswerKind.PARTIAL, text="(archived)", continuation="more"),
            answer(AnswerKind.PARTIAL, text="So. The deploy"),
        ],
    )
    def test_rec_1_names_a_finding_without_what_was_asked_for(self, given: Answer) -> None:
        judged = asked("search", given, literal="/srv/a7")

        assert [failure.fact for failure in judged.failures] == ["“/srv/a7”"]

    def test_rec_1_names_a_finding_of_what_was_never_said(self) -> None:
        assert len(asked("search", found("No results for 'zz-1'."), literal="zz-1").failures) == 1

    @pytest.mark.parametrize(
        ("given", "why"),
        [
            (found("x", value="/srv/c9"), None),
            (found("The deploy target of job J-88 is /srv/c9."), None),
            (found(f"So. {TARGET.text}", value="/srv/a7", source="t1"), "a later turn replaced"),
            (found(f"So. {TARGET.text}", value="/srv/a7", source="t1", reason="superseded by t3"), None),
            (found("x", value="/srv/c9", source="t3"), None),
            (found("x", value="/srv/c9", source="t1"), "what was said is"),
            (answer(AnswerKind.PARTIAL, text="Now The deploy target", continuation="more"), None),
            (answer(AnswerKind.PARTIAL, text="The port of another is 1.", continuation="more"), "what was said is"),
            (answer(AnswerKind.UNANCHORED), None),
            (found(SIBLING.text, value="/srv/b3"), "what was said of job J-89"),
            (found(SIBLING.text), "job J-89"),
            (found(TARGET.text, value="/srv/a7"), "a later turn replaced"),
            (found(SIBLING.text, value="/srv/b3", source="t2"), "says nothing of it"),
            (found("x", value="/srv/a7, then /srv/c9"), "as well as what replaced that"),
            (found(f"So. {TARGET.text}", value="/srv/c9 (before: /srv/a7)"), "as well as what replaced that"),
            (found("x", value="/srv/c9 as of t3"), None),
            (found("x", value="/srv/made-up"), "what was said is “/srv/c9”"),
            (found("", value=""), "without any content"),
        ],
    )
    def test_rec_1_holds_a_slots_value_against_what_was_said(self, given: Answer, why: str | None) -> None:
        judged = asked("reconstitute", given, subject="job J-88", attribute="deploy target", evidence=False)

        assert judged.triggered == 1
        assert (why is None) == (judged.failures == ())
        assert why is None or why in judged.failures[0].sentence

    def test_rec_1_names_a_value_for_what_nobody_ever_spoke_of(self) -> None:
        given = found(SIBLING.text, value="/srv/b3")

        judged = asked("reconstitute", given, subject="job J-80", attribute="deploy target", evidence=False)

        assert "nobody ever said anything" in judged.failures[0].sentence

    @pytest.mark.parametrize(
        ("given", "why"),
        [
            (found(ONE), None),
            (found(f"1. {ONE}"), None),
            (answer(AnswerKind.PARTIAL, text=ONE[:9], continuation="more"), None),
            (answer(AnswerKind.PARTIAL, text="(archived)", continuation="more"), "no piece of"),
            (answer(AnswerKind.PARTIAL, text=TWO[:9], continuation="more"), "no piece of"),
            (found(TWO), "with the words of turn t2"),
            (found("Error: File not found"), "no turn's words"),
            (found(""), "without any content"),
        ],
    )
    def test_rec_1_wants_a_followed_pointer_to_hold_an_original(self, given: Answer, why: str | None) -> None:
        play = Play(KEEPING).say("t1", ONE).say("t2", TWO)
        play.look(play.raws("t1", "t2")).compact(shown=("t1",), reply="x")
        play.look([*SHORT, *play.raws("t2")], pointers=[point("t1", "k")], answers={"k": given})

        failures = judge("REC-1", play).failures

        assert (why is None) == (failures == ())
        assert why is None or why in failures[0].sentence


class TestPieces:
    """A partial answer with what following its continuations brought."""

    def followed(self, *pieces: Any) -> Play:
        play = Play(KEEPING).say("t1", ONE)
        play.look(play.raws("t1")).compact(shown=("t1",), reply="x")
        answers = {"k" if n == 0 else f"k+{n}": piece for n, piece in enumerate(pieces)}
        return play.look(SHORT, pointers=[point("t1", "k")], answers=answers)

    @pytest.mark.parametrize("last", [found(ONE[20:]), answer(AnswerKind.PARTIAL, text=ONE[20:])])
    def test_pieces_that_join_to_the_original_are_the_original(self, last: Answer) -> None:
        first = answer(AnswerKind.PARTIAL, text=ONE[:9], continuation="k+1")
        second = answer(AnswerKind.PARTIAL, text=ONE[9:20], continuation="k+2")
        play = self.followed(first, second, last)

        for rule in ("REC-1", "PTR-1", "ANC-1", "EPO-2"):
            assert judge(rule, play).failures == ()
        assert judge("PTR-1", play).triggered == 1
        assert judge("EPO-2", play).triggered == 0

    @pytest.mark.parametrize(
        "last",
        [
            found("(garbage)"),
            answer(AnswerKind.UNANCHORED),
            RuntimeError("no such row"),
            answer(AnswerKind.PARTIAL, text="", continuation="k+1"),
        ],
    )
    def test_a_continuation_that_leads_elsewhere_leaves_the_original_lost(self, last: Any) -> None:
        play = self.followed(answer(AnswerKind.PARTIAL, text=ONE[:9], continuation="k+1"), last)

        assert [failure.fact for failure in judge("PTR-1", play).failures] == ["t1"]

    def test_an_answer_that_never_ends_is_none(self) -> None:
        play = self.followed(
            *(answer(AnswerKind.PARTIAL, text=ONE[:20] * 3, continuation=f"k+{n + 1}") for n in range(64))
        )

        assert [failure.fact for failure in judge("PTR-1", play).failures] == ["t1"]

    def test_a_note_that_promises_the_rest_holds_nothing(self) -> None:
        play = self.followed(answer(AnswerKind.PARTIAL, text="(archived)", continuation="never followed"))

        assert [failure.fact for failure in judge("PTR-1", play).failures] == ["t1"]


def attempted(reply: Any, *, outcome: Outcome, live: list[Item], **more: Any) -> Play:
    play = Play(more.pop("operations", PLAIN)).say("t1", ONE).say("t2", TWO).say("t3", THREE)
    play.look(play.raws("t1", "t2", "t3")).compact(outcome, shown=("t1", "t2"), reply=reply)
    return play.look(live, **more)


WINDOW = [raw("t1", ONE), raw("t2", TWO), raw("t3", THREE)]
FAILED = Outcome(kind=OutcomeKind.FAILED, reason="rate limit")
REFUSED = Outcome(kind=OutcomeKind.REFUSED, reason="no summary")
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

    @pytest.mark.parametrize(("now", "fails"), [(f"{ONE}\n{ONE}", False), (ONE, False), (TWO, True)])
    def test_anc_5_lets_an_archive_grow_by_copies_made_in_advance(self, now: str, fails: bool) -> None:
        file = [Pointer(summary="s1", token="history.md")]
        play = Play(KEEPING).say("t1", ONE).say("t2", TWO).look(WINDOW[:2]).compact(shown=("t1",), reply="x")
        play.look([*SHORT, WINDOW[1]], pointers=file, answers={"history.md": found(ONE)})
        play.compact(FAILED, shown=("t2",), reply=LIMIT)
        play.look([*SHORT, WINDOW[1]], pointers=file, answers={"history.md": found(now)})

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


class TestProgress:
    SMALL = Settings(budget=20, watermark=0.5)

    def compacted(self, outcome: Outcome, live: list[Item], *, times: int = 1, mode: str = "faithful") -> Any:
        play = Play(settings=self.SMALL).say("t1", ONE).say("t2", TWO).say("t3", THREE).look(WINDOW)
        for _ in range(times):
            play.compact(outcome, shown=("t1", "t2"), reply=("Done.", mode)).look(live)
        return judge("PRO-1", play)

    def test_pro_1_is_triggered_by_a_window_that_comes_under_its_watermark(self) -> None:
        judged = self.compacted(COMMITTED, [summary("s1", "Done."), raw("t3", THREE)])

        assert judged.failures == ()
        assert judged.triggered == 1

    def test_pro_1_lets_a_compactor_say_what_holds_it_up(self) -> None:
        held = Outcome(kind=OutcomeKind.NOTHING, reason="the latest turns are protected")

        play = Play(settings=self.SMALL).say("t1", ONE).say("t2", TWO).say("t3", THREE).look(WINDOW)
        left = [summary("s1", "Done."), raw("t2", TWO), raw("t3", THREE)]
        play.compact(shown=("t1",), reply="Done.").look(left).compact(held).look(left)

        assert judge("PRO-1", play).failures == ()

    def never_replaced(self, outcome: Outcome, *, turns: int) -> Any:
        """Two compactions of a window of so many turns, all of which are there afterwards."""
        play = Play(settings=self.SMALL)
        names = [f"t{number}" for number in range(1, turns + 1)]
        for name in names:
            play.say(name, f"{name}. {TWO}")
        play.look(play.raws(*names))
        for _ in range(2):
            play.compact(outcome, shown=tuple(names), reply="Done.").look(play.raws(*names))
        return judge("PRO-1", play)

    @pytest.mark.parametrize(("keep", "blamed"), [(None, True), (2, True), (9, True), (10, False), (12, False)])
    @pytest.mark.parametrize("reply", ["Done.", "Done. " * 9])
    def test_pro_1_believes_what_can_be_seen_of_an_excuse(self, keep: int | None, blamed: bool, reply: str) -> None:
        """So many newest turns stay always, as was said at the start; or the reply alone is over the watermark."""
        play = Play(settings=Settings(budget=20, watermark=0.5, keep=keep))
        names = [f"t{number}" for number in range(1, 12)]
        for name in names:
            play.say(name, f"{name}. {TWO}")
        play.look(play.raws(*names)).compact(shown=("t1",), reply="Done.")
        left = [summary("s1", "Done."), *play.raws(*names[1:])]
        play.look(left).compact(REFUSED, shown=("t2",), reply=reply).look(left)

        assert bool(judge("PRO-1", play).failures) == (blamed and reply == "Done.")

    @pytest.mark.parametrize(("budget", "blamed"), [(25, True), (26, False), (31, False)])
    def test_pro_1_lets_everybody_round(self, budget: int, blamed: bool) -> None:
        """Eight turns of 13 characters are 26 tokens, and 32 where each turn is rounded up."""
        play = Play(settings=Settings(budget=budget))
        names = [f"t{number}" for number in range(1, 9)]
        for name in names:
            play.say(name, f"So it is: {name}.")
        for _ in range(2):
            play.look(play.raws(*names)).compact(NOTHING)
        play.look(play.raws(*names))

        assert bool(judge("PRO-1", play).failures) == blamed

    @pytest.mark.parametrize("outcome", [Outcome(kind=OutcomeKind.NOTHING), REFUSED, COMMITTED])
    def test_pro_1_names_a_compactor_that_never_replaces_anything(self, outcome: Outcome) -> None:
        judged = self.never_replaced(outcome, turns=7)

        assert (
            "not one turn was ever replaced" in judged.failures[-1].sentence
            or "no lower" in judged.failures[0].sentence
        )

    @pytest.mark.parametrize("outcome", [Outcome(kind=OutcomeKind.NOTHING), REFUSED, FAILED, COMMITTED])
    @pytest.mark.parametrize("replaced", [False, True])
    def test_pro_1_judges_a_window_that_has_no_budget(self, outcome: Outcome, replaced: bool) -> None:
        names = [f"t{number}" for number in range(1, 80)]
        play = Play(settings=Settings())
        for name in names:
            play.say(name, f"{name}. {TWO}")
        play.look(play.raws(*names))
        if replaced:
            play.compact(shown=("t1",), reply="Done.").look([summary("s1", "Done."), *play.raws(*names[1:])])
        for _ in range(4):
            play.compact(outcome, shown=("t2",), reply="Done.")
            play.look([summary("s1", "Done."), *play.raws(*names[1:])] if replaced else play.raws(*names))
        judged = judge("PRO-1", play)

        if not replaced:
            assert "not one turn was ever replaced" in judged.failures[-1].sentence
        assert not [failure for failure in judged.failures if "watermark" in failure.sentence]

    @pytest.mark.parametrize("turns", [1, 3, 6])
    def test_pro_1_asks_nobody_to_replace_the_latest_turns(self, turns: int) -> None:
        held = Outcome(kind=OutcomeKind.NOTHING, reason="the latest turns stay as they are")

        assert self.never_replaced(held, turns=turns).failures == ()

    def test_pro_1_names_a_window_that_stays_over_without_a_word(self) -> None:
        play = Play(settings=self.SMALL).say("t1", ONE).say("t2", TWO).say("t3", THREE).look(WINDOW)
        left = [summary("s1", "Done."), raw("t2", TWO), raw("t3", THREE)]
        play.compact(shown=("t1",), reply="Done.").look(left)
        play.compact(Outcome(kind=OutcomeKind.NOTHING)).look(left)

        assert "brings it no lower" in judge("PRO-1", play).failures[0].sentence

    def over(self, outcome: Outcome, *, reply: str = "Done.", turns: int = 9, times: int = 1) -> Any:
        """A window that was compacted once stays over its watermark with so many turns in it."""
        play = Play(settings=self.SMALL)
        for number in range(1, turns + 2):
            play.say(f"t{number}", f"{number}. {TWO}")
        left = [f"t{number}" for number in range(2, turns + 2)]
        play.look(play.raws("t1", *left)).compact(shown=("t1",), reply="Done.")
        for _ in range(times):
            play.look([summary("s1", "Done."), *play.raws(*left)]).compact(outcome, shown=tuple(left), reply=reply)
        return judge("PRO-1", play.look([summary("s1", "Done."), *play.raws(*left)]))

    @pytest.mark.parametrize(
        "outcome",
        [
            Outcome(kind=OutcomeKind.NOTHING, reason="-"),
            Outcome(kind=OutcomeKind.REFUSED, reason="insufficient provenance"),
            Outcome(kind=OutcomeKind.REFUSED, reason="a gate", facts=("x",)),
            Outcome(kind=OutcomeKind.REFUSED, reason="a gate", facts=("canary was green",)),
        ],
    )
    def test_pro_1_takes_no_excuse_that_names_nothing_the_reply_left_out(self, outcome: Outcome) -> None:
        judged = self.over(outcome, reply="The canary was green all night.")

        assert "names no fact" in judged.failures[0].sentence
        assert judged.triggered == 1

    def test_pro_1_neither_blames_nor_counts_a_refusal_for_what_the_reply_left_out(self) -> None:
        judged = self.over(Outcome(kind=OutcomeKind.REFUSED, reason="a gate", facts=("canary was green",)))

        assert judged.failures == ()
        assert judged.triggered == 0
        assert "left out" in str(judged.note)

    @pytest.mark.parametrize(("times", "turns", "fails"), [(1, 9, False), (3, 9, True), (3, 5, False)])
    def test_pro_1_wants_several_commits_to_bring_the_window_down(self, times: int, turns: int, fails: bool) -> None:
        judged = self.over(COMMITTED, times=times, turns=turns)

        assert bool(judged.failures) is fails

    def test_pro_1_says_nothing_of_a_model_that_is_not_faithful(self) -> None:
        judged = self.compacted(FAILED, WINDOW, mode="error-text")

        assert judged.failures == ()
        assert judged.triggered == 0

    def test_pro_1_says_nothing_of_a_session_that_is_small(self) -> None:
        play = Play(settings=Settings(budget=2000, watermark=0.5)).say("t1", ONE).look([raw("t1", ONE)])

        assert judge("PRO-1", play.compact(NOTHING).look([raw("t1", ONE)])).triggered == 0


def test_anc_4_names_what_the_replaced_summary_alone_still_said() -> None:
    def generations(second: str) -> Any:
        play = Play().say("t1", TARGET.text, TARGET).look([raw("t1", TARGET.text)])
        first = summary("s1", f"Notes. {TARGET.text}")
        play.compact(shown=("t1",), reply=first.text).look([first]).say("t2", TWO).look([first, raw("t2", TWO)])
        play.compact(shown=(first.text or "", "t2"), reply=second)
        return judge("ANC-4", play.look([summary("s2", second)]))

    assert generations(f"Shorter. {TARGET.text}").failures == ()
    assert generations(f"Shorter. {TARGET.text}").triggered == 1
    assert [failure.fact for failure in generations("Shorter.").failures] == [TARGET.text]
    assert "s1" in generations("Shorter.").failures[0].sentence
