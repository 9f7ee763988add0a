"""REC-1, and answers in pieces, on histories written by hand."""

import json
from typing import Any

import pytest
from history_builder import (
    FULL,
    KEEPING,
    ONE,
    SHORT,
    SIBLING,
    TARGET,
    TWO,
    Play,
    answer,
    found,
    judge,
    point,
    raw,
    slot,
)

from anchorhold_spec.vocabulary import Answer, AnswerKind, Pointer


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

    @pytest.mark.parametrize(("covers", "failures"), [(("t1",), 0), (None, 0), (("t2",), 1), (("t1", "t2"), 1)])
    def test_rec_1_a_turn_that_says_nothing_comes_back_without_content(
        self, covers: tuple[str, ...] | None, failures: int
    ) -> None:
        play = Play(KEEPING).say("t1", "", speaker="tool").say("t2", TWO).look([])
        pointers = [Pointer(summary="s1", token="k", covers=covers)]
        play.compact(shown=("t2",), reply="In short.").look(SHORT, pointers=pointers, answers={"k": found("")})

        assert len(judge("REC-1", play).failures) == failures

    @pytest.mark.parametrize(("back", "failures"), [("<{}>", 0), ("<c>", 1)])
    def test_rec_1_a_finding_may_be_a_message_in_json(self, back: str, failures: int) -> None:
        said = 'In J-88 the line was: NOT "a"\tOR <b>.'
        play = Play(FULL).say("t1", said).look([raw("t1", said)])
        text = json.dumps({"role": "user", "content": said.replace('NOT "a"\tOR', back.format('NOT "a"\tOR'))})
        play.call("search", {"literal": 'NOT "a"\tOR'}, found(text))

        assert len(judge("REC-1", play).failures) == failures

    @pytest.mark.parametrize("literal", ["a &amp;&amp; 8173", "stop; go 12", "Is it? Yes 31."])
    def test_rec_1_what_was_said_may_have_the_end_of_a_sentence_in_it(self, literal: str) -> None:
        said = f"Row 5 of it read {literal} there."
        play = Play(FULL).say("t1", said).look([raw("t1", said)])
        play.call("search", {"literal": literal}, found(said)).call(
            "search", {"literal": literal}, found(f"No results for '{literal}'.")
        )

        assert len(judge("REC-1", play).failures) == 1

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
