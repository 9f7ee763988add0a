"""CON on histories written by hand: what the caller took away does not come back by way of the model, and what came
in at the same time may be among it."""

import pytest
from history_builder import PLAIN, SIBLING, TARGET, Play, judge, raw, summary

from anchorhold.checkers.course import Course, Told
from anchorhold.checkers.observe import read
from anchorhold.history import EventType
from anchorhold_spec.vocabulary import Turn

LATE = Turn(id="t2", speaker="user", text=SIBLING.text)
BEFORE = f"Notes. {TARGET.text}"


@pytest.mark.parametrize(
    ("shown", "reply", "again", "failures"),
    [
        ((BEFORE, "t2"), f"More notes. {TARGET.text}", False, 1),
        ((BEFORE, "t2"), "More notes.", False, 0),
        (("t2",), f"More notes. {TARGET.text}", False, 0),
        ((BEFORE, "t2"), f"More notes. {TARGET.text}", True, 0),
        (("t2",), f"More notes. {SIBLING.text}", False, 0),
    ],
    ids=["shown and said", "shown alone", "the model's own", "said anew", "nothing of it"],
)
@pytest.mark.parametrize("taking", ["clear", "rewind"])
def test_con_3_the_model_is_not_shown_again_what_was_taken_away(
    taking: str, shown: tuple[str, ...], reply: str, again: bool, failures: int
) -> None:
    play = Play((*PLAIN, taking)).say("t0", "Hello.").say("t1", TARGET.text, TARGET).look([])
    play.compact(shown=("t1",), reply=BEFORE).look([summary("s1", BEFORE)])
    play.call(taking, {"turn": "t0"} if taking == "rewind" else {}).look([])
    play.say("t2", f"Go on. {SIBLING.text}", SIBLING)
    if again:
        play.say("t3", f"To repeat: {TARGET.text}", TARGET)
    play.look(play.raws("t2", *(["t3"] if again else []))).compact(shown=shown, reply=reply)
    assert len(judge("CON-3", play.look([summary("s2", reply)])).failures) == failures


@pytest.mark.parametrize("amid", [True, False])
@pytest.mark.parametrize("stays", [True, False])
def test_con_1_what_comes_in_while_something_is_taken_away_may_be_among_that_or_not(amid: bool, stays: bool) -> None:
    """In both ways in which histories are read: whole, and as they come in."""
    play = Play((*PLAIN, "clear")).say("t1", TARGET.text, TARGET).look([raw("t1", TARGET.text)])
    play.beside(EventType.INVOKE, "clear")
    if not amid:
        play.beside(EventType.OK, "clear")
    play.call("append", {"turn": LATE, "facts": (SIBLING,)})
    if amid:
        play.beside(EventType.OK, "clear")
    play.look([raw("t2", SIBLING.text)] if stays else [])
    history = play.history()
    course = Course(history.header, ())
    for event in history.events:
        course.take(Told(event))

    assert read(history).said["t2"].certain is course.said["t2"].certain is not amid
    assert len(judge("ANC-1", play).failures) == (not amid and not stays)
