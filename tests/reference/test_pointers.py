import pytest
from transcripts import fill, port, token_of, turn

from anchorhold_reference import Settings, TurnConflictError
from anchorhold_reference.compaction import STEPS
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, OutcomeKind


def test_ptr_1_every_pointer_resolves_the_moment_that_its_summary_is_live(make):
    """Looks through a second connection right before each step, and after it."""
    seen = {}

    def steps(name):
        live = onlooker.live()
        pointers = onlooker.pointers()
        summaries = [item for item in live if item.kind is CarrierKind.SUMMARY]
        seen[name] = len(summaries)
        for summary in summaries:
            resolved = {onlooker.get(p.token).source for p in pointers if p.summary == summary.id}
            assert resolved == set(summary.covers)

    onlooker = make()
    transcript = make(steps=steps)
    fill(transcript, 1, 6)
    transcript.compact()

    assert seen == {"stage": 0, "copy": 0, "point": 0, "commit": 0, "release": 1, "acknowledge": 1}
    assert tuple(seen) == STEPS


@pytest.mark.parametrize(
    "loss",
    [
        "DELETE FROM cold WHERE slot = 2",
        "DELETE FROM pointer WHERE slot = 2",
        "UPDATE cold SET payload = substr(payload, 1, 20) WHERE slot = 2",
        "UPDATE cold SET payload = substr(payload, 1, 0) WHERE slot = 2",
    ],
)
def test_out_3_a_store_that_only_said_it_succeeded_stops_the_commit(make, behind, loss):
    """The archive acknowledged, and lost, cut or emptied what it was given (also PTR-1)."""

    def steps(name):
        if name == "commit":
            behind.unlock()
            behind.query(loss)

    transcript = make(steps=steps)
    fill(transcript, 1, 6)
    before = transcript.live()
    outcome = transcript.compact()

    assert outcome.kind is OutcomeKind.FAILED
    assert "t2" in outcome.reason
    assert transcript.live() == before
    assert transcript.pointers() == []


def test_ptr_2_a_source_stays_until_its_commit_and_its_copy_are_there(make, behind):
    held = {}

    def steps(name):
        ((held[name],),) = behind.query("SELECT count(*) FROM turn WHERE payload IS NOT NULL")

    transcript = make(steps=steps)
    fill(transcript, 1, 6)
    transcript.compact()

    assert held == {"stage": 6, "copy": 6, "point": 6, "commit": 6, "release": 6, "acknowledge": 2}


def test_ptr_2_nothing_is_released_whose_copy_has_gone(make, behind):
    def steps(name):
        if name == "release":
            behind.query("DELETE FROM cold WHERE slot = 1")

    transcript = make(steps=steps)
    fill(transcript, 1, 6)
    transcript.compact()
    kept = behind.query("SELECT id FROM turn WHERE payload IS NOT NULL ORDER BY carrier")

    assert kept == [("t1",), ("t5",), ("t6",)]


def test_ptr_3_removed_covered_and_shown_are_the_same(make, script):
    transcript = make()
    fill(transcript, 1, 6)
    transcript.append(turn(7, "Standing rule: ask first.", protected=True))
    fill(transcript, 8, 12)
    before = [item.turn for item in transcript.live()]
    outcome = transcript.compact()
    after = [item.turn for item in transcript.live() if item.turn]
    shown = "\n".join(script.shown[0][1:])

    assert set(outcome.covered) == set(before) - set(after) == set(transcript.live()[0].covers)
    for item in before:
        number = int(item[1:])
        assert (port(number) in shown) is (item in outcome.covered)


def test_ptr_4_every_original_is_one_step_from_a_summary_of_any_generation(make):
    transcript = make()
    for generation in range(1, 6):
        fill(transcript, generation * 4, generation * 4 + 3)
        transcript.compact()
        summary = transcript.live()[0]
        pointers = transcript.pointers()
        assert summary.generation == generation
        assert {p.summary for p in pointers} == {summary.id}
        assert (
            [p.covers[0] for p in pointers] == list(summary.covers) == [f"t{n}" for n in range(4, generation * 4 + 2)]
        )
        assert [transcript.get(p.token).text for p in pointers] == [port(n) for n in range(4, generation * 4 + 2)]


def test_ptr_4_a_token_of_the_first_generation_stays_good(make):
    transcript = make()
    fill(transcript, 1, 5)
    transcript.compact()
    token = token_of(transcript, "t1")
    for start in (6, 10, 14):
        fill(transcript, start, start + 3)
        transcript.compact()
        transcript.reopen()

    assert transcript.get(token).text == port(1)


def test_ptr_5_the_counts_can_be_read(make):
    transcript = make()
    fill(transcript, 1, 6)
    transcript.compact()
    status = transcript.status()

    assert (status.committed, status.pending, status.unresolvable, status.compactions) == (4, 0, 0, 1)
    assert str(status) == "lossless"


def test_ptr_6_a_summary_that_is_not_committed_is_not_live_resolves_to_nothing_and_anchors_nothing(make, script):
    found = {}

    def steps(name):
        if name == "commit" and len(script.shown) == 2:
            staged = [t for _, t in tokens(onlooker)]
            found["kinds"] = {onlooker.get(t).kind for t in staged}
            found["evict"] = {onlooker.evict(t).kind for t in staged}
            found["live"] = [i.generation for i in onlooker.live() if i.generation]
            found["search"] = onlooker.search("zebra-9").kind

    transcript = make(steps=steps)
    onlooker = make()
    fill(transcript, 1, 5)
    transcript.compact()
    fill(transcript, 6, 9)
    script.say("Wait for zebra-9.")
    transcript.compact()

    assert found == {
        "kinds": {AnswerKind.PENDING},
        "evict": {OutcomeKind.REFUSED},
        "live": [1],
        "search": AnswerKind.ABSENT,
    }


def tokens(transcript):
    """Every token that is staged, which no public operation hands out."""
    from anchorhold_reference import cold

    ledger = transcript._ledger
    spans = [s for (s,) in ledger.all("SELECT span FROM pointer WHERE holding = 'staged'")]
    return [(span, cold.pointer_to(ledger, span).token) for span in spans]


def test_ptr_6_what_was_undone_is_foreign(make, script):
    kept = []

    def steps(name):
        if name == "commit":
            kept.extend(t for _, t in tokens(transcript))
            raise OSError("no space")

    transcript = make(steps=steps)
    fill(transcript, 1, 5)
    transcript.compact()

    assert kept
    assert {transcript.get(t).kind for t in kept} == {AnswerKind.FOREIGN}


def test_idx_5_the_same_turn_again_adds_nothing_and_another_under_its_id_is_refused(make):
    transcript = make(settings=Settings(horizon=0, keep=1))
    first = transcript.append(turn(1))
    fill(transcript, 2, 4)
    assert transcript.append(turn(1)) == first
    transcript.compact()
    assert transcript.append(turn(1)) == first
    with pytest.raises(TurnConflictError, match="t1"):
        transcript.append(turn(1, "something else"))

    assert transcript.status().turns == 4
