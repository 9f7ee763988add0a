"""What only a further word of the protocol lets be judged: superseders, declared classes, since when, whose audit."""

import pytest
from history_builder import KEEPING, Play, found, judge, raw, slot, summary

from anchorhold.compactor import Audit
from anchorhold.history import EventType
from anchorhold.workload import Append
from anchorhold_spec.vocabulary import Answer, AnswerKind, Outcome, OutcomeKind, Pointer, Tombstone, Turn

OLD, NEW = slot("job J-1", "port", "8001"), slot("job J-1", "port", "8002")
DROPPING = (*KEEPING, "tombstones", "tombstone", "supersede")
GRANTED, REFUSED = Outcome(kind=OutcomeKind.COMMITTED), Outcome(kind=OutcomeKind.REFUSED, reason="not anchored")


def superseding(by: str, outcome: Outcome, *, holds: bool) -> Play:
    """Both turns left the window; the newer one took the older one's place, and is had back or not."""
    play = Play(DROPPING)
    play.say("t1", OLD.text, OLD).say("t2", NEW.text, NEW).look(play.raws("t1", "t2"))
    play.compact(
        Outcome(kind=OutcomeKind.COMMITTED, summary="s", covered=("t1", "t2")), shown=("t1", "t2"), reply="S"
    )
    pointers = [Pointer(summary="s", token=f"k{n}", covers=(f"t{n}",)) for n in (1, 2)]
    answers = {"k1": found(OLD.text, source="t1"), "k2": found(NEW.text, source="t2")}
    play.look([summary("s", "S", covers=("t1", "t2"))], pointers=pointers, answers=answers)
    arguments = {"literal": "8001", "source": "t1", "superseder": by, "reason": "another value"}
    play.call("supersede", arguments, outcome)
    tombs = [Tombstone(literal="8001", source="t1", decided_by="caller", reason="another value", superseder=by)]
    if not holds:
        answers["k2"] = Answer(kind=AnswerKind.UNANCHORED)
    return play.look(
        [summary("s", "S", covers=("t1", "t2"))],
        pointers=pointers,
        answers=answers,
        tombstones=tombs if outcome is GRANTED else (),
    )


@pytest.mark.parametrize(
    ("by", "outcome", "holds", "said"),
    [
        ("t2", GRANTED, True, None),
        ("t9", REFUSED, True, None),
        ("t9", GRANTED, True, "no turn t9 had been appended"),
        ("t2", GRANTED, False, "took the place of what turn t1 said, and nothing holds"),
    ],
)
def test_man_4_what_took_an_assertions_place_is_anchored_itself(by, outcome, holds, said) -> None:
    judged = judge("MAN-4", superseding(by, outcome, holds=holds))

    assert judged.triggered > 0
    assert [said in failure.sentence for failure in judged.failures] == ([True] if said else [])


def since(*readings: tuple[str, float | None], between: str = "append") -> Play:
    play = Play(("append", "compact", "live", "status", "degraded_since", "corrupt"))
    play.say("t1", OLD.text, OLD)
    for number, (status, value) in enumerate(readings):
        play.call("live", {}, [raw("t1", OLD.text)]).call("status", {}, status).call("degraded_since", {}, value)
        play.say(f"u{number}", f"Go on, {number}.") if between == "append" else play.call(
            between, {"token": "k"}, True
        )
    return play


@pytest.mark.parametrize(
    ("play", "said"),
    [
        (since(("lossless", None), ("degraded: x", 5.0), ("degraded: x", 5.0), ("lossless", None)), None),
        (since(("degraded: x", None)), "told as nothing"),
        (since(("lossless", 7.0)), "told as 7"),
        (since(("degraded: x", 5.0), ("degraded: x", 6.0)), "was told as 5.0 and is now 6.0"),
        # Mended and harmed again: it may be so since another time.
        (since(("degraded: x", 5.0), ("degraded: x", 6.0), between="corrupt"), None),
        (since(("degraded: x", 5.0), ("degraded: y", 6.0)), None),
    ],
)
def test_ret_5_since_when_is_told_and_stays_what_it_was(play, said) -> None:
    judged = judge("RET-5", play)

    assert judged.triggered > 0
    assert [said in failure.sentence for failure in judged.failures] == ([True] if said else [])


@pytest.mark.parametrize(("declared", "failures"), [("narrative", 1), (None, 0), ("structured", 0)])
def test_evi_4_a_declared_class_is_a_label_wherever_it_stands(declared, failures) -> None:
    play = Play(("append", "compact", "live"))
    turn = Turn(id="t1", speaker="user", text="The port of job J-1 is 8001.", declared=declared)
    play.texts["t1"] = turn.text or ""
    play.steps.append(Append(turn=turn, facts=(OLD,)))
    play.call("append", {"turn": turn}).look(play.raws("t1"))
    play.compact(Outcome(kind=OutcomeKind.COMMITTED, summary="s", covered=("t1",)), shown=("t1",), reply="Chat.")
    play.look([summary("s", "Chat.", covers=("t1",))])

    judged = judge("EVI-4", play)

    assert len(judged.failures) == failures
    assert judged.triggered == failures


@pytest.mark.parametrize(("at", "failures"), [(1, 0), (2, 0), (0, 1)])
def test_ret_2_an_audit_of_what_had_not_left_the_window_is_none(at: int, failures: int) -> None:
    play = Play(("append", "compact", "live", "audits"))
    play.say("t1", OLD.text, OLD).look(play.raws("t1"))
    play.compact(Outcome(kind=OutcomeKind.COMMITTED, summary="s", covered=("t1",)), shown=("t1",), reply="S")
    play.call("live", {}, [summary("s", "S", covers=("t1",))])
    play.call("audits", {}, [Audit(compaction=at, turn="t1", passed=True)])

    sentences = [failure.sentence for failure in judge("RET-2", play).failures]
    assert sum("left the window with compaction 1" in sentence for sentence in sentences) == failures


def test_out_2_a_model_that_could_not_be_asked_is_a_failure_and_no_refusal() -> None:
    def ended(kind: OutcomeKind) -> list[str]:
        play = Play(("append", "compact", "live"))
        play.say("t1", OLD.text, OLD).look(play.raws("t1"))
        play.compact(Outcome(kind=kind, reason="no"), shown=("t1",), reply=RuntimeError("rate limit"))
        return [failure.sentence for failure in judge("OUT-2", play.look(play.raws("t1"))).failures]

    assert ended(OutcomeKind.FAILED) == []
    assert ["its model could not be asked" in sentence for sentence in ended(OutcomeKind.REFUSED)] == [True]


@pytest.mark.parametrize("kept", [True, False])
def test_era_1_other_turns_stay_anchored_when_one_is_forgotten(kept: bool) -> None:
    play = Play((*KEEPING, "forget"))
    other = slot("job J-2", "port", "8100")
    play.say("t1", OLD.text, OLD).say("t2", other.text, other).look(play.raws("t1", "t2"))
    play.compact(
        Outcome(kind=OutcomeKind.COMMITTED, summary="s", covered=("t1", "t2")), shown=("t1", "t2"), reply="S"
    )
    pointers = [Pointer(summary="s", token=f"k{n}", covers=(f"t{n}",)) for n in (1, 2)]
    window = [summary("s", "S", covers=("t1", "t2"))]
    play.look(window, pointers=pointers, answers={"k1": found(OLD.text), "k2": found(other.text)})
    play.call("forget", {"turn": "t1"}, GRANTED)
    gone = Answer(kind=AnswerKind.TOMBSTONED, reason="erased")
    left = found(other.text) if kept else Answer(kind=AnswerKind.UNANCHORED)
    play.look(window, pointers=pointers, answers={"k1": gone, "k2": left})

    sentences = [failure.sentence for failure in judge("ERA-1", play).failures]
    assert any("with it went" in sentence for sentence in sentences) is not kept


def test_anc_5_a_failed_write_leaves_no_trace_either() -> None:
    play = Play(("append", "compact", "live", "fail_store"))
    play.say("t1", OLD.text, OLD).say("t2", NEW.text, NEW).look(play.raws("t1", "t2"))
    play.call("fail_store", {"point": "commit", "fault": "error"})
    play.compact(Outcome(kind=OutcomeKind.FAILED, reason="disk"), shown=("t1",), reply="S", ended=EventType.OK)
    play.look(play.raws("t2"))

    assert ["left a trace" in failure.sentence for failure in judge("ANC-5", play).failures] == [True]
