"""What differs in case may be another thing: `/srv/A` is not `/srv/a` (REC-1). What is asked for is answered by what
was asserted of exactly that spelling, or by the only spelling that there is, and never by one of several others."""

from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transcripts import fill, token_of, turn

from anchorhold_reference import Settings
from anchorhold_reference.decide import spelled_so
from anchorhold_reference.extract import facts_of
from anchorhold_reference.extract.slots import Spelling, name, spelled, spelling
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind, ToolCall, Turn

SUBJECTS = ("/srv/a", "/srv/A", "/SRV/a", "job J-8", "job j-8", "Job j-8", "Kelvo", "KELVO", "kelvo", "é-1", "É-1")
ATTRIBUTES = ("owner", "Owner", "deploy target", "deploy Target")
STATED = st.tuples(st.sampled_from(SUBJECTS), st.sampled_from(ATTRIBUTES))
SESSIONS = count()


def of_exactly(asked, told):
    """The statements that may answer, by index, where each is told as itself: `told` are subjects and attributes."""
    subject, attribute = asked
    named = [
        i
        for i, (s, a) in enumerate(told)
        if (s.casefold(), a.casefold()) == (subject.casefold(), attribute.casefold())
    ]
    if not named:
        return None
    own = [i for i in named if told[i][0] == subject]
    if not own:
        own = named if len({s for s, _ in told if s.casefold() == subject.casefold()}) == 1 else []
    exact = [i for i in own if told[i][1] == attribute]
    return exact or (own if len({told[i][1] for i in own}) == 1 else [])


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STATED, min_size=1, max_size=8), STATED, st.sampled_from(["window", "compacted", "half"]))
def test_rec_1_a_slot_is_answered_by_its_own_spelling_or_the_only_one(make, told, asked, where):
    with make(session=f"s{next(SESSIONS)}", settings=Settings(keep=1, horizon=0)) as transcript:
        for n, (subject, attribute) in enumerate(told):
            transcript.append(turn(n, f"The {attribute} of {subject} is v-{n}."))
            if where == "half" and n == len(told) // 2:
                transcript.compact()
        if where == "compacted":
            fill(transcript, 90, 92)
            transcript.compact()
        answer = transcript.reconstitute(*asked)

        may = of_exactly(asked, told)
        if may:
            assert (answer.kind, answer.value) == (AnswerKind.FOUND, f"v-{may[-1]}")
        else:
            assert answer.kind in (
                {AnswerKind.ABSENT, AnswerKind.UNANCHORED} if may is None else {AnswerKind.UNANCHORED}
            )
            assert (answer.text, answer.value) == (None, None)
            assert answer.reason
        for own in told:
            (*_, newest) = [i for i, one in enumerate(told) if one == own]
            assert transcript.reconstitute(*own).value == f"v-{newest}"


def test_rec_1_one_turn_may_speak_of_both_spellings(make):
    transcript = make()
    transcript.append(turn(1, "The owner of /srv/A is bob. The owner of /srv/a is bob."))
    fill(transcript, 2, 6)
    for _ in range(2):
        assert transcript.reconstitute("/srv/A", "owner").value == "bob"
        assert transcript.reconstitute("/srv/a", "owner").value == "bob"
        assert {e.subject for e in transcript.manifest(transcript.live()[0].id) if e.subject} <= {
            "/srv/A",
            "/srv/a",
        } | {f"db-{n}" for n in range(9)}
        transcript.compact()


def test_rec_1_an_answer_says_that_there_are_other_spellings(make):
    transcript = make()
    transcript.append(turn(1, "The owner of /srv/A is bob."))
    assert transcript.reconstitute("/srv/A", "owner").reason is None
    assert "only spelling" in transcript.reconstitute("/SRV/A", "owner").reason
    transcript.append(turn(2, "The owner of /srv/a is ann."))

    assert "'/srv/a'" in transcript.reconstitute("/srv/A", "owner").reason
    neither = transcript.reconstitute("/SRV/A", "owner")
    assert (neither.kind, neither.value) == (AnswerKind.UNANCHORED, None)
    assert "'/srv/A'" in neither.reason
    assert "'/srv/a'" in neither.reason


@pytest.mark.parametrize("compacted", [False, True])
def test_rec_1_a_subject_that_other_statements_spell_so_is_no_other_spelling_of_one(make, compacted):
    """`/srv/A` is a thing of its own, though nobody said who owns it."""
    transcript = make()
    transcript.append(turn(1, "The size of /srv/A is 3."))
    transcript.append(turn(2, "The owner of /srv/a is ann."))
    if compacted:
        fill(transcript, 3, 6)
        transcript.compact()

    assert transcript.reconstitute("/srv/A", "owner").kind is AnswerKind.UNANCHORED
    assert transcript.reconstitute("/srv/a", "owner").value == "ann"


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize(
    ("texts", "answers"),
    [
        (["Job J-8: target = a"], {"Job J-8": "a", "job J-8": "a", "JOB J-8": "a"}),
        (["Job J-8: target = a", "The target of job J-8 is b."], {"Job J-8": "b", "job J-8": "b"}),
        (["The target of job J-8 is b.", "Job J-8: Target = c"], {"Job J-8": "c", "job J-8": "c"}),
        (["Job J-8: target = a", "The target of Job J-8 is b."], {"Job J-8": "b", "job J-8": "b"}),
        (["The Job J-8: target = a", "The target of job J-8 is b."], {"Job J-8": "a", "job J-8": "b"}),
        (["Job J-8: target = a", "Job j-8: target = b"], {"job J-8": "a", "job j-8": "b", "JOB j-8": None}),
        (["DB-1: target = a", "The target of db-1 is b."], {"DB-1": "a", "db-1": "b"}),
        (["X: target = a", "The target of x is b."], {"X": "a", "x": "b"}),
        (
            ["The target of job J-8 is a.", "The target of Job J-8 is b.", "Job J-8: target = c"],
            {"job J-8": "c", "Job J-8": "c"},
        ),
    ],
)
def test_rec_1_a_capital_that_begins_a_sentence_tells_nothing_apart(make, texts, answers, compacted):
    transcript = make()
    for n, text in enumerate(texts):
        transcript.append(turn(n, text))
    if compacted:
        fill(transcript, 90, 93)
        transcript.compact()

    for asked, value in answers.items():
        assert transcript.reconstitute(asked, "target").value == value, asked


def test_rec_1_a_denial_takes_back_what_was_said_of_the_same_spelling_only(make):
    transcript = make()
    transcript.append(turn(1, "The owner of /srv/A is bob."))
    transcript.append(turn(2, "The owner of /srv/a is not bob."))

    assert transcript.reconstitute("/srv/A", "owner").value == "bob"
    assert transcript.reconstitute("/srv/a", "owner").value == "not bob"


def test_man_2_a_statement_of_another_spelling_carries_nothing(make, script):
    script.say("The owner of /srv/a is bob.")
    transcript = make()
    transcript.append(turn(1, "The owner of /srv/A is bob."))
    fill(transcript, 2, 6)
    transcript.compact()

    assert not transcript.manifest(transcript.live()[0].id)
    assert transcript.evict(token_of(transcript, "t1")).kind is OutcomeKind.REFUSED
    assert transcript.reconstitute("/srv/a", "owner").source == "t1"
    assert "'/srv/A'" in transcript.reconstitute("/srv/a", "owner").reason


def test_man_2_a_summary_answers_for_the_spelling_that_it_carries(make, script):
    script.say("The owner of /srv/A is bob.", "The owner of /srv/a is ann.")
    transcript = make()
    transcript.append(turn(1, "The owner of /srv/A is bob."))
    transcript.append(turn(2, "The owner of /srv/a is ann."))
    fill(transcript, 3, 6)
    transcript.compact()
    for said in ("t1", "t2"):
        assert transcript.evict(token_of(transcript, said)).kind is OutcomeKind.COMMITTED

    for subject, value in (("/srv/A", "bob"), ("/srv/a", "ann")):
        answer = transcript.reconstitute(subject, "owner")
        assert (answer.kind, answer.value, answer.evidence) == (AnswerKind.FOUND, value, False)
        assert subject in answer.text
    assert transcript.reconstitute("/SRV/A", "owner").kind is AnswerKind.UNANCHORED


@pytest.mark.parametrize("compacted", [False, True])
def test_man_4_what_was_dropped_of_one_spelling_stands_of_the_other(make, compacted):
    transcript = make()
    transcript.append(turn(1, "The owner of /srv/A is bob."))
    transcript.append(turn(2, "The owner of /srv/a is bob."))
    fill(transcript, 3, 6)
    if compacted:
        transcript.compact()
    assert transcript.tombstone("bob", "t1", "gone", superseded_by="t2").kind is OutcomeKind.COMMITTED

    assert transcript.reconstitute("/srv/A", "owner").kind is AnswerKind.TOMBSTONED
    assert transcript.reconstitute("/srv/a", "owner").source == "t2"


def test_rec_4_a_turn_that_cannot_be_read_may_spell_it_so(make):
    transcript = make()
    transcript.append(turn(1, "The owner of /srv/a is bob."))
    transcript.append(turn(2, "The owner of /srv/A is ann."))
    transcript.append(Turn(id="image", speaker="user", data=b"\xff\x00"))

    assert transcript.reconstitute("/SRV/A", "owner").kind is AnswerKind.DEGRADED


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize(
    ("said", "asked"), [("/srv/A", "/srv/a"), ("J-8X", "j-8x"), ("Zoë", "ZOË"), ("NASA", "nasa")]
)
def test_rec_1_a_literal_is_not_answered_by_one_in_other_case(make, said, asked, compacted):
    transcript = make()
    transcript.append(turn(1, f"It is about {said} now."))
    call = ToolCall(id="c", name="read", arguments=f'{{"of": "{said}"}}')
    transcript.append(Turn(id="call", speaker="assistant", calls=(call,)))
    transcript.append(Turn(id="r", speaker="tool", text="done", result_of="c"))
    fill(transcript, 2, 6)
    if compacted:
        transcript.compact()

    assert transcript.search(said).kind is AnswerKind.FOUND
    assert (transcript.search(asked).kind, transcript.search(asked).text) == (AnswerKind.UNANCHORED, None)


def test_man_1_arguments_whose_names_differ_in_case_are_two_assertions():
    call = ToolCall(id="c", name="run", arguments='{"a": "x", "A": "x"}')
    found = facts_of(Turn(id="t", speaker="assistant", calls=(call,)))

    assert [m.attribute for m in found] == ["a", "A"]


CHARACTERS = st.text(alphabet="aAB éÉe\u0301ßẞſKKİıΣσςΐ\t", max_size=4)


@given(CHARACTERS, CHARACTERS)
def test_rec_1_what_is_spelled_the_same_is_looked_up_the_same(text, other):
    """A fact is kept as it was first written, and has to be found by whoever spells it the same."""
    if spelled(text) == spelled(other):
        assert name(text) == name(other)
    assert spelling(text, f"The x of {text}") == Spelling(spelled(text), spelled(text))
    assert name(spelling(text, text).plain) == name(spelling(text, text).text)


SPELLINGS = st.sampled_from(
    [*(Spelling(one, one) for one in ("job x", "Job x", "JOB x", "job X")), Spelling("Job x", "job x")]
)


@given(
    st.sampled_from(["job x", "Job x", "JOB x", "job X", "Job X"]),
    st.lists(SPELLINGS, min_size=1),
    st.sets(SPELLINGS),
)
def test_rec_1_which_spellings_may_answer(asked, found, others):
    """None is guessed: whatever answers can be meant by what is asked for, or there is no other spelling at all."""
    chosen = [found[i] for i in spelled_so(asked, found, {*found, *others})]

    assert {one for one in found if one == Spelling(asked, asked)} <= set(chosen)
    if not all(asked in one for one in chosen):
        # Then all of them may be meant to have one spelling, which is another.
        assert chosen == found
        assert frozenset.intersection(*(frozenset(one) for one in {*found, *others}))
