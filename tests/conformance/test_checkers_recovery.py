"""CRA-1 and CRA-3 where a session cannot be opened any more, and where a process was killed and kept its power."""

import pytest
from history_builder import PLAIN, Play, judge

from anchorhold.history import EventType

OPERATIONS = (*PLAIN, "crash", "kill", "lose_power", "reopen")
WHY = "JSONDecodeError: Expecting value"


def begun() -> Play:
    play = Play(OPERATIONS, mechanisms=("persistence",)).say("t1", "The port of relay-3 is 8081.")
    return play.look(play.raws("t1"))


def gone(play: Play) -> Play:
    """Opening fails, and nothing can be seen."""
    play.call("reopen", ended=EventType.INFO, error=WHY)
    return play.call("live", ended=EventType.FAIL, error="no compactor is running")


@pytest.mark.parametrize("op", ["lose_power", "kill"])
def test_a_session_that_cannot_be_opened_after_its_process_was_stopped_breaks_cra_3(op: str) -> None:
    (failure,) = judge("CRA-3", gone(begun().call(op))).failures

    assert "cannot be opened any more" in failure.sentence
    assert WHY in failure.sentence


def test_a_session_that_cannot_be_opened_after_a_crash_breaks_cra_1_and_names_the_step() -> None:
    play = begun().call("crash", {"point": "commit"})
    play.compact(ended=EventType.INFO, error="died")

    (failure,) = judge("CRA-1", gone(play)).failures

    assert "“commit”" in failure.sentence
    assert failure.fact == "crash at commit"
    assert judge("CRA-3", play).failures == ()


def test_a_crash_that_never_came_is_no_matter_of_recovery() -> None:
    play = begun().call("crash", {"point": "commit"})
    play.compact()

    assert judge("CRA-1", gone(play)).failures == ()


def test_what_opens_at_a_second_attempt_is_judged_by_what_it_shows() -> None:
    play = gone(begun().call("lose_power")).call("reopen")

    judged = judge("CRA-3", play.look(play.raws("t1")))

    assert judged.failures == ()


@pytest.mark.parametrize(("op", "triggered"), [("lose_power", 1), ("kill", 0)])
def test_to_be_there_after_a_kill_says_nothing_of_power(op: str, triggered: int) -> None:
    play = begun().call(op).call("reopen")

    judged = judge("CRA-3", play.look(play.raws("t1")))

    assert (judged.failures, judged.triggered) == ((), triggered)


@pytest.mark.parametrize("op", ["lose_power", "kill"])
def test_what_was_acknowledged_and_is_gone_breaks_cra_3(op: str) -> None:
    (failure,) = judge("CRA-3", begun().call(op).call("reopen").look([])).failures

    assert "which was acknowledged, is" in failure.sentence
