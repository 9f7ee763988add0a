"""MAN-5: bounds, doubts, denials and conditions belong to a value, however they are put."""

import pytest
from history_builder import ALL, KEEPING, Play, answer, found, judge, slot, summary
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorhold.checkers.qualifiers import around as around_value
from anchorhold.checkers.qualifiers import core, lost, qualified, unqualified
from anchorhold.checkers.words import negative
from anchorhold.planting import Planter
from anchorhold.qualified import BOUNDS, CONDITIONS, DENIALS, DOUBTS, bare, sentences, slots
from anchorhold_spec.vocabulary import AnswerKind, Fact, Pointer

FORMS = (*BOUNDS, *DENIALS, *DOUBTS, *CONDITIONS)
VALUES = {BOUNDS: "5120 ms", DENIALS: "owned by Abara since round 7", DOUBTS: "z4f1", CONDITIONS: "/srv/a/x7.sock"}


@pytest.mark.parametrize("form", FORMS)
def test_what_stands_around_a_value_is_told_from_it_and_missed_where_it_is_gone(form: str) -> None:
    value = next(value for forms, value in VALUES.items() if form in forms)
    literal = form.format(value)

    assert core(literal) == value
    assert unqualified(literal, value)
    assert unqualified(literal, f"{value} (as of now)")
    assert not unqualified(literal, literal)
    assert not unqualified(literal, f"it is {literal}, they say")
    assert bool(qualified(around_value(literal))) is not negative(around_value(literal)) or "only" in literal


@pytest.mark.parametrize(
    "value", ["40211", "94765 MiB", "/etc/a/b.yaml", "owned by Tanaka since round 300", "-0.5 percent", "+7 s"]
)
def test_a_plain_value_has_nothing_around_it(value: str) -> None:
    assert core(value) == value
    assert qualified(around_value(value)) == frozenset()
    assert lost(value, "something else") is None


@pytest.mark.parametrize(
    ("literal", "said"),
    [
        ("at most 5120 ms", "It is limited: ≤ 5120 ms."),
        ("at most 5120 ms", "no more than 5120 ms"),
        ("at most 5120 ms", "5120 ms (maximum)"),
        ("no more than 5120 ms", "up to 5120 ms"),
        ("5120 ms or less", "5120 ms at most"),
        ("at least 5120 ms", "5120 ms or more"),
        ("no less than 5120 ms", ">= 5120 ms"),
        ("more than 5120 ms", "over 5120 ms"),
        ("about 5120 ms", "~5120 ms"),
        ("probably z4f1", "z4f1, it seems"),
        ("z4f1 unless the canary fails", "z4f1, except when the canary fails"),
        ("z4f1 only if the lead agrees", "if the lead agrees, z4f1"),
        ("5120 ms at most", "The request timeout is 5120 ms…"),
    ],
)
def test_who_says_it_in_other_words_has_lost_nothing(literal: str, said: str) -> None:
    assert lost(literal, said) is None


@pytest.mark.parametrize(
    ("literal", "said", "gone"),
    [
        ("at most 5120 ms", "at least 5120 ms", "the upper bound is gone"),
        ("no less than 5120 ms", "less than 5120 ms", "the lower bound is gone"),
        ("no more than 5120 ms", "more than 5120 ms", "the upper bound is gone"),
        ("z4f1 unless the canary fails", "probably z4f1", "the condition is gone"),
    ],
)
def test_another_bound_is_none(literal: str, said: str, gone: str) -> None:
    assert lost(literal, said) == gone


@settings(deadline=None)
@given(st.integers(0, 1000))
def test_what_is_planted_can_be_taken_for_less_and_is_then_no_longer_what_was_said(seed: int) -> None:
    planter = Planter(seed)
    told = (
        *slots(planter, BOUNDS, kind="number"),
        *slots(planter, (*DENIALS[:3], *DOUBTS), kind="identifier"),
        *slots(planter, CONDITIONS, kind="path"),
    )

    for fact in told:
        assert fact.literal in fact.text
        less = bare(fact.text, fact.literal)
        assert less != fact.text
        assert core(fact.literal) in less
        assert unqualified(fact.literal, less)
    for fact in sentences(planter):
        assert negative(fact.text)
        assert fact.text.count(fact.literal) == 1


LIMIT = slot("job J-88", "request timeout", "at most 5120 ms")
ALLOWED = slot("job J-89", "deploy target", "/srv/a7 only if the lead agrees")
DENIED = Fact(text="job J-90 can't reach /srv/b2.", literal="/srv/b2", kind="path", subject="job J-90")


@pytest.mark.parametrize(
    ("fact", "note", "gone"),
    [
        (LIMIT, "The request timeout of job J-88 is 5120 ms.", "the upper bound is gone"),
        (LIMIT, "Timeout of job J-88: 5120 ms max.", None),
        (LIMIT, "- job J-88: request timeout <= 5120 ms", None),
        (LIMIT, "job J-88: a request timeout of no more than 5120 ms", None),
        (ALLOWED, "The deploy target of job J-89 is /srv/a7.", "the condition is gone"),
        (ALLOWED, "job J-89 goes to /srv/a7 when the lead agrees.", None),
        (ALLOWED, "job J-89 goes to /srv/a7…", None),
        (DENIED, "job J-90 reaches /srv/b2.", "the “not” is gone"),
        (DENIED, "job J-90 cannot get at /srv/b2.", None),
        (DENIED, "About job J-90 and its paths something was said.", None),
    ],
)
def test_man_5_a_note_of_the_compactors_own_keeps_what_belongs_to_a_value(
    fact: Fact, note: str, gone: str | None
) -> None:
    play = Play(KEEPING).say("t0", fact.text, fact).say("z", "Go on.").look([])
    play.compact(shown=("t0",), reply="Notes.").look(
        [summary("s1", note), *play.raws("z")],
        pointers=[Pointer(summary="s1", token="p", covers=("t0",))],
        answers={"p": found(fact.text)},
    )
    failures = judge("MAN-5", play).failures

    assert [gone in failure.sentence for failure in failures if gone] == [True] * bool(gone)
    assert len(failures) == bool(gone)


@pytest.mark.parametrize("fact", [LIMIT, ALLOWED, slot("job J-91", "backup", "no longer owned by Abara")])
def test_man_5_a_value_has_all_that_was_said_of_the_slot(fact: Fact) -> None:
    def judged(value: str | None, text: str | None = fact.text, kind: AnswerKind = AnswerKind.FOUND) -> bool:
        play = Play((*ALL, "reconstitute")).say("t0", fact.text, fact).look([])
        given_ = found(text or "", value=value) if kind is AnswerKind.FOUND else answer(kind)
        arguments = {"subject": fact.subject, "attribute": fact.attribute, "evidence": False}
        return bool(judge("MAN-5", play.call("reconstitute", arguments, given_)).failures)

    assert judged(core(fact.literal))
    assert judged(core(fact.literal), text=None)
    assert not judged(fact.literal)
    assert not judged(None)
    assert not judged("something else")
    assert not judged(None, kind=AnswerKind.UNANCHORED)
