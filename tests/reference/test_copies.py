"""PTR-5, PTR-1, PTR-2: copies that land after the commit."""

import threading
from dataclasses import replace

import pytest
from transcripts import fill, port, token_of

from anchorhold_reference import Copies, Settings, StoreError
from anchorhold_reference.copier import LATER_STEPS
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind


def held(transcript):
    (n,) = transcript._ledger.one("SELECT count(*) FROM turn WHERE payload IS NOT NULL")
    return int(n)


def test_ptr_5_while_a_copy_is_outstanding_it_is_pending_and_the_source_is_held(make):
    transcript = make()
    transcript.hold_copies(True)
    fill(transcript, 1, 6)
    outcome = transcript.compact()

    assert (outcome.kind, outcome.pending) == (OutcomeKind.COMMITTED, True)
    assert transcript.live()[0].pending
    assert held(transcript) == 6
    ratios = transcript.ratios()
    assert (ratios.committed, ratios.pending, ratios.unresolvable) == (1, 1, 0)
    for pointer in transcript.pointers():
        assert transcript.get(pointer.token).kind is AnswerKind.PENDING
        assert transcript.evict(pointer.token).kind is OutcomeKind.REFUSED
    assert transcript.reconstitute("db-1", "port", evidence=True).value == "7001"
    assert transcript.search("7001").kind is AnswerKind.FOUND
    assert transcript.status().lossless

    transcript.settle()
    assert not transcript.live()[0].pending
    assert held(transcript) == 2
    ratios = transcript.ratios()
    assert (ratios.committed, ratios.pending, ratios.unresolvable) == (1, 0, 0)
    assert [transcript.get(p.token).source for p in transcript.pointers()] == ["t1", "t2", "t3", "t4"]


def test_cra_2_another_opening_takes_up_what_is_outstanding(make):
    first = make()
    first.hold_copies(True)
    fill(first, 1, 6)
    first.compact()
    tokens = [p.token for p in first.pointers()]
    first.close()
    second = make()

    assert second.ratios().pending == 0
    assert [second.get(token).kind for token in tokens] == [AnswerKind.FOUND] * 4


@pytest.mark.parametrize("step", LATER_STEPS)
def test_cra_1_a_copier_that_dies_between_its_steps_is_taken_up(make, step):
    def steps(name):
        if name == step:
            raise KeyboardInterrupt

    first = make(steps=steps)
    first.hold_copies(True)
    fill(first, 1, 6)
    first.compact()
    with pytest.raises(KeyboardInterrupt):
        first.settle()
    first.close()
    second = make()

    assert [second.get(p.token).source for p in second.pointers()] == ["t1", "t2", "t3", "t4"]
    assert (second.ratios().pending, second.ratios().unresolvable) == (0, 0)
    second.reopen()
    assert held(second) == 2


def test_ptr_5_pending_ends_as_unresolvable_where_the_source_was_damaged(make):
    transcript = make()
    transcript.hold_copies(True)
    fill(transcript, 1, 6)
    transcript.compact()
    transcript._ledger.run("UPDATE turn SET payload = ? WHERE id = 't2'", (b"spoilt",))
    transcript.settle()

    ratios = transcript.ratios()
    assert (ratios.pending, ratios.unresolvable) == (0, 1)
    assert transcript.get(token_of(transcript, "t2")).kind is AnswerKind.DEGRADED
    assert not transcript.status().lossless
    assert transcript.get(token_of(transcript, "t1")).source == "t1"


@pytest.mark.parametrize("fault", ["error", "silent", "short"])
def test_out_3_a_store_that_does_not_take_a_copy_leaves_it_pending_and_the_source_held(make, monkeypatch, fault):
    from anchorhold_reference import cold

    land = cold.land
    transcript = make()
    transcript.hold_copies(True)
    fill(transcript, 1, 6)
    transcript.compact()

    def failing(ledger, place):
        if fault == "error":
            raise StoreError("the disk is full")
        if fault == "short":
            land(ledger, replace(place, payload=place.payload[:-1]))

    monkeypatch.setattr(cold, "land", failing)
    transcript.settle()
    assert transcript.ratios().pending == 1
    assert held(transcript) == 6
    monkeypatch.undo()
    transcript.settle()
    assert transcript.ratios().pending == 0
    assert [transcript.get(p.token).source for p in transcript.pointers()] == ["t1", "t2", "t3", "t4"]


def test_ptr_2_two_generations_while_copies_are_held(make):
    transcript = make()
    transcript.hold_copies(True)
    fill(transcript, 1, 6)
    transcript.compact()
    fill(transcript, 7, 12)
    assert transcript.compact().pending
    assert len(transcript.pointers()) == 10
    assert {transcript.get(p.token).kind for p in transcript.pointers()} == {AnswerKind.PENDING}
    transcript.settle()
    assert [transcript.get(p.token).text for p in transcript.pointers()] == [port(n) for n in range(1, 11)]


def test_ptr_5_a_thread_makes_the_copies_where_they_come_after_the_commit(make):
    landed = threading.Event()
    go = threading.Event()

    def steps(name):
        if name == "land":
            assert go.wait(30)
        if name == "let-go":
            landed.set()

    transcript = make(settings=Settings(horizon=0, keep=2, copies=Copies.AFTER_COMMIT), steps=steps)
    fill(transcript, 1, 3)
    assert transcript.compact().pending
    assert transcript.get(token_of(transcript, "t1")).kind is AnswerKind.PENDING
    go.set()
    assert landed.wait(30)
    transcript.settle()
    assert transcript.get(token_of(transcript, "t1")).source == "t1"


def test_con_3_a_turn_forgotten_while_its_copy_is_outstanding_is_never_copied(make):
    transcript = make()
    transcript.hold_copies(True)
    fill(transcript, 1, 6)
    transcript.compact()
    token = token_of(transcript, "t2")
    transcript.forget("t2")
    transcript.settle()

    assert transcript.get(token).kind is AnswerKind.TOMBSTONED
    assert (transcript.ratios().pending, transcript.ratios().unresolvable) == (0, 0)
    assert b"7002" not in b"".join(path.read_bytes() for path in transcript.files())


def test_ptr_5_copies_that_are_held_are_held_in_a_branch_that_begins_meanwhile(make, forked):
    """It is the same cold store that is being seen to."""
    transcript = make()
    transcript.hold_copies(True)
    fill(transcript, 1, 6)
    transcript.compact()
    branch = forked(transcript, "b")
    fill(branch, 7, 10)
    assert branch.compact().pending
    branch.clear()
    assert {r.pending for r in (transcript.ratios(), branch.ratios())} == {1, 2}
    assert held(transcript) == 10

    transcript.settle()
    assert transcript.ratios().pending == 0
    assert held(transcript) == 6
    branch.settle()
    assert branch.ratios().pending == 0
    assert held(transcript) == 2
