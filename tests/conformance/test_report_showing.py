"""The event that is marked is the one that the sentence of a failure speaks of."""

import pytest
from history_builder import KEEPING, Play, answer, found, judge, summary

from anchorhold.report.showing import showing
from anchorhold_spec.vocabulary import AnswerKind, Pointer

TURNS = {f"t{number}": f"What turn t{number} says of the rollout." for number in range(1, 5)}


def looked(gone: str) -> Play:
    """Everything is compacted, and one pointer leads nowhere."""
    play = Play(KEEPING)
    for turn, text in TURNS.items():
        play.say(turn, text)
    play.look(play.raws(*TURNS)).compact(shown=list(TURNS), reply="It went well.")
    pointers = [Pointer(summary="s1", token=f"key-{turn}", covers=(turn,)) for turn in TURNS]
    answers = {f"key-{turn}": found(text) for turn, text in TURNS.items()}
    answers[f"key-{gone}"] = answer(AnswerKind.UNANCHORED)
    return play.look([summary("s1", "It went well.", covers=list(TURNS))], pointers=pointers, answers=answers)


@pytest.mark.parametrize("gone", TURNS)
def test_the_answer_of_the_pointer_that_leads_nowhere_is_marked(gone: str) -> None:
    play = looked(gone)
    (failure,) = judge("PTR-1", play).failures

    at = showing(play.events, sentence=failure.sentence, event=failure.event)

    assert at is not None
    assert (play.events[at].op, play.events[at].value["kind"]) == ("get", "unanchored")
    assert play.events[at - 1].value == {"token": f"key-{gone}"}


@pytest.mark.parametrize("event", [None, 3, 10_000])
def test_where_the_sentence_names_no_answer_the_event_stays(event: int | None) -> None:
    assert showing(looked("t1").events, sentence="The window holds 900 tokens.", event=event) == event
