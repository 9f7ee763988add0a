"""An id that a caller uses for several turns: each has a name of its own, and is judged by itself."""

import msgspec
import pytest
from history_builder import KEEPING, Play, found, judge, point, raw, slot, summary

from anchorhold.checkers.naming import named
from anchorhold.checkers.observe import read
from anchorhold.compactor import Settings
from anchorhold_spec.vocabulary import Answer, AnswerKind, Pointer, Turn

OLD = slot("job J-88", "deploy target", "/srv/a7")
NEW = slot("incident INC-4104", "build tag", "k0e11cfe")
OFFERED = (*KEEPING, "search", "switch", "fork", "rewind", "forget")
ELSEWHERE, BACK = {"session": "another", "user": "u"}, {"session": "s", "user": "u"}


def play() -> Play:
    return Play(OFFERED, settings=Settings(user="u"), mechanisms=("summariser",))


def say(of: Play, name: str, *facts: object, own: str | None = None) -> Play:
    """A turn that says these facts, which stand beside it as the runner writes them."""
    text = " ".join(getattr(fact, "text", str(fact)) for fact in facts)
    turn = Turn(id=name, speaker="user", text=text)
    planted = [msgspec.to_builtins(fact) for fact in facts if not isinstance(fact, str)]
    return of.call("append", {"turn": turn, "facts": planted}, own)


def test_a_history_in_which_no_id_is_free_again_is_left_as_it_is() -> None:
    history = play().say("t1", OLD.text, OLD).say("t2", "Go on.").say("t1", OLD.text, OLD).history()
    assert named(history.header, history.events) is history.events


def test_a_turn_that_comes_again_in_its_session_or_in_a_branch_of_it_is_the_same_one() -> None:
    told = say(say(play(), "t1", OLD).call("switch", ELSEWHERE), "t2", NEW).call("switch", BACK)
    told = say(say(told, "t1", OLD).call("fork", {"branch": "twig"}), "t1", OLD)
    assert list(read(told.history()).said) == ["t1", "t2"]


@pytest.mark.parametrize("words", [NEW, OLD], ids=["other words", "the same words"])
@pytest.mark.parametrize("freed", [("switch", ELSEWHERE), ("rewind", {"turn": "t0"})], ids=["session", "rewind"])
def test_a_turn_under_an_id_that_is_free_again_is_another_one(
    freed: tuple[str, dict[str, str]], words: object
) -> None:
    told = say(say(say(play(), "t0", "Hello."), "t1", OLD).call(*freed), "t1", words)
    said = read(told.history()).said
    assert list(said) == ["t0", "t1", "t1 (2)"]
    assert said["t1 (2)"].facts == (words,)


def test_the_compactors_own_ids_are_told_apart_in_the_same_way() -> None:
    told = say(
        say(say(play(), "t0", "Hello."), "t1", OLD, own="m-1").call("rewind", {"turn": "t0"}), "t1", NEW, own="m-1"
    )
    told.look([raw("m-1", NEW.text)])
    assert read(told.history()).observations[-1].raw == {"t1 (2)"}


def anew(answer: Answer, *, listed: str = "ptr-1") -> Play:
    """What is archived is taken back, and another turn comes under its id; then the old pointer is followed."""
    told = say(say(play(), "t0", "Hello."), "t1", OLD).look([raw("t0", "Hello."), raw("t1", OLD.text)])
    told.compact(shown=("Hello.", OLD.text), reply="In short.")
    told.look(
        [summary("s1", "In short.", covers=["t1"])],
        pointers=[point("t1", "ptr-1")],
        answers={"ptr-1": found(OLD.text)},
    )
    told.call("rewind", {"turn": "t0"}).look([raw("t0", "Hello.")])
    say(told, "t1", NEW).look([raw("t0", "Hello."), raw("t1", NEW.text)])
    told.compact(shown=("Hello.", NEW.text), reply="In a word.")
    pointers = [Pointer(summary="s2", token=listed, covers=("t1",))]
    return told.look(
        [summary("s2", "In a word.", covers=["t0", "t1"])],
        pointers=pointers,
        answers={listed: found(NEW.text), "ptr-1": answer},
    )


def test_epo_1_an_old_pointer_does_not_lead_to_the_turn_that_has_its_id_now() -> None:
    right = anew(Answer(kind=AnswerKind.UNANCHORED), listed="ptr-2")
    wrong = anew(found(NEW.text))
    assert not judge("REC-1", right).failures
    assert judge("REC-1", wrong).failures or judge("EPO-1", wrong).failures


def test_iso_1_two_sessions_have_turns_under_one_id() -> None:
    told = say(play(), "t1", OLD).look([raw("t1", OLD.text)]).call("switch", ELSEWHERE)
    right = say(told, "t1", NEW).look([raw("t1", NEW.text)])
    assert not judge("ISO-1", right).failures
    assert judge("ISO-1", right.look([raw("t1", NEW.text), summary("s1", OLD.text)])).failures


@pytest.mark.parametrize("kept", [True, False])
def test_anc_1_what_another_session_has_under_the_same_id_stays_when_this_one_erases_it(kept: bool) -> None:
    told = say(play(), "t1", OLD).look([raw("t1", OLD.text)]).call("switch", ELSEWHERE)
    say(told, "t1", NEW).look([raw("t1", NEW.text)])
    told.call("forget", {"turn": "t1"}, {"kind": "committed"}).look([]).call("switch", BACK)
    told.look([raw("t1", OLD.text)] if kept else [])
    if not kept:
        told.call("search", {"literal": OLD.literal}, Answer(kind=AnswerKind.UNANCHORED))
    assert bool(judge("ANC-1", told).failures) is not kept
