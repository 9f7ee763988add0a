"""EPO-1, EPO-2, EPO-3 on histories written by hand."""

from typing import Any

import pytest
from history_builder import (
    COMMITTED,
    FULL,
    KEEPING,
    NOTHING,
    ONE,
    SHORT,
    TWO,
    Play,
    answer,
    found,
    judge,
    point,
    summary,
)

from anchorhold_spec.vocabulary import Answer, AnswerKind, Pointer


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

    @pytest.mark.parametrize(("first", "fails"), [(found(ONE), False), (answer(AnswerKind.UNANCHORED), True)])
    def test_epo_2_knows_every_token_of_a_listing_that_is_made_anew_each_time(
        self, first: Answer, fails: bool
    ) -> None:
        """Tokens of the first of two listings that nothing came between: they were issued (EPO-2), and go on to lead
        where they led (IDX-1, PTR-2)."""
        play = Play(KEEPING).say("t1", ONE)
        play.look(play.raws("t1")).compact(shown=("t1",), reply="x")
        play.look(SHORT, pointers=[point("t1", "k-1")], answers={"k-1": found(ONE)})
        play.look(SHORT, pointers=[point("t1", "k-2")], answers={"k-1": found(ONE), "k-2": found(ONE)})
        play.say("t2", TWO)
        answers = {"k-1": first, "k-2": found(ONE)}
        play.look([*SHORT, *play.raws("t2")], pointers=[point("t1", "k-3")], answers=answers)

        assert judge("EPO-2", play).failures == ()
        assert bool(judge("IDX-1", play).failures) is fails
        # What it led to was not seen while nothing could have taken it away, so that PTR-2 says nothing yet.
        assert judge("PTR-2", play).triggered == 0

        play.compact(NOTHING).look(
            [*SHORT, *play.raws("t2")], pointers=[point("t1", "k-4")], answers={**answers, "k-3": found(ONE)}
        )
        told = judge("PTR-2", play)
        assert told.triggered == 2
        assert [failure.fact for failure in told.failures] == (["k-1"] if fails else [])

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


def test_epo_2_a_continuation_was_handed_out_also_where_its_answer_was_asked_for_again() -> None:
    """Whoever makes a new one for each answer hands out two, and each may be followed."""
    partial = AnswerKind.PARTIAL
    play = Play(KEEPING).say("t1", "One half. Other half.").say("z", "Go on.").look([])
    play.compact(shown=("t1",), reply="Notes.").look(
        [summary("s1", "Notes."), *play.raws("z")], pointers=[Pointer(summary="s1", token="k", covers=("t1",))]
    )
    for fresh in ("c1", "c2"):
        play.call("get", {"token": "k"}, answer(partial, text="One half.", continuation=fresh))
        play.call("get", {"token": fresh}, found(" Other half."))
    judged = judge("EPO-2", play)

    assert judged.failures == ()
