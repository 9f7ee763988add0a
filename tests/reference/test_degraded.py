"""RET-1, RET-3, RET-5: what is lost is told, and nothing more is lost until it is repaired or accepted on record."""

import pytest
from transcripts import fill, port, token_of

from anchorhold_reference import MismatchError, Settings
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind


def damage(behind, turn, payload=b"\0"):
    """Change stored bytes behind the compactor's back; answers with what was there."""
    ((*entry, before),) = behind.query(
        "SELECT o.slot, o.epoch, o.span, o.session, o.address, o.payload FROM cold o "
        "JOIN turn t ON t.carrier = o.span WHERE t.id = ?",
        (turn,),
    )
    behind.query("DELETE FROM cold WHERE slot = ?", (entry[0],))
    behind.query(
        "INSERT INTO cold (slot, epoch, span, session, address, size, payload) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*entry, len(payload), payload),
    )
    return bytes(before)


@pytest.fixture
def degraded(make, behind):
    transcript = make(clock=lambda: 50.0)
    fill(transcript, 1, 6)
    transcript.compact()
    before = damage(behind, "t2")
    with pytest.raises(MismatchError):
        transcript.get(token_of(transcript, "t2"))
    fill(transcript, 7, 12)
    return transcript, before


def test_ret_5_the_status_tells_why_and_since_when(degraded):
    status = degraded[0].status()
    assert not status.lossless
    assert status.since == 50.0
    assert status.stopped
    assert status.unresolvable == 1
    assert "EPO-3" in str(status)


def test_ret_3_compaction_and_eviction_stop_and_say_so(degraded):
    transcript, _ = degraded
    before = transcript.live()
    outcomes = [transcript.compact(), transcript.evict(token_of(transcript, "t1"))]

    assert [o.kind for o in outcomes] == [OutcomeKind.REFUSED] * 2
    assert all("RET-3" in o.reason for o in outcomes)
    assert transcript.live() == before


def test_ret_3_reads_that_it_may_affect_say_degraded(degraded):
    transcript, _ = degraded
    assert transcript.reconstitute("db-2", "port").kind is AnswerKind.DEGRADED
    assert transcript.search("7002").kind is AnswerKind.DEGRADED
    assert transcript.search("never said").kind is AnswerKind.DEGRADED
    assert transcript.reconstitute("db-1", "port").value == "7001"


def test_ret_3_repair_ends_it(degraded, behind):
    transcript, before = degraded
    assert not transcript.repair().lossless
    damage(behind, "t2", before)
    status = transcript.repair()

    assert (status.lossless, status.since, status.unresolvable) == (True, None, 0)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert transcript.get(token_of(transcript, "t2")).text == port(2)


def test_ret_3_an_override_on_record_lets_it_go_on_until_something_else_is_lost(degraded, behind):
    transcript, _ = degraded
    assert transcript.override(" ").kind is OutcomeKind.REFUSED
    assert transcript.override("t2 is of no use any more").kind is OutcomeKind.COMMITTED
    status = transcript.status()
    assert (status.lossless, status.stopped, status.overridden) == (False, False, ("t2 is of no use any more",))
    transcript.reopen()
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    damage(behind, "t3")
    with pytest.raises(MismatchError):
        transcript.get(token_of(transcript, "t3"))
    fill(transcript, 13, 16)
    assert transcript.compact().kind is OutcomeKind.REFUSED


def test_ret_3_there_is_nothing_to_override_while_all_is_well(make):
    assert make().override("just in case").kind is OutcomeKind.NOTHING


def test_man_1_what_a_summary_carries_of_a_damaged_original_is_carried_on(make, script, behind):
    """The summary is all that is left of it, so that the next one has to repeat it."""
    script.say(port(2))
    transcript = make()
    fill(transcript, 1, 6)
    transcript.compact()
    damage(behind, "t2")
    with pytest.raises(MismatchError):
        transcript.get(token_of(transcript, "t2"))
    transcript.override("known")
    script.say("Nothing of note.")
    fill(transcript, 7, 12)

    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert transcript.reconstitute("db-2", "port").value == "7002"
    assert port(2) in transcript.live()[0].text


def test_ret_2_audits_are_on_record(make):
    transcript = make(settings=Settings(horizon=0, keep=1, audit_every=1))
    for n in (3, 6):
        fill(transcript, n - 2, n)
        transcript.compact()
    assert [(a.compaction, a.passed) for a in transcript.audits()] == [(1, True), (2, True)]
    assert {a.turn for a in transcript.audits()} <= {f"t{n}" for n in range(1, 6)}


def test_ret_1_an_audit_that_failed_counts_until_that_span_passes_one(make, behind):
    transcript = make(settings=Settings(horizon=0, keep=1))
    fill(transcript, 1, 2)
    transcript.compact()
    before = damage(behind, "t1")
    assert transcript.audit() is False
    assert transcript.status().stopped
    damage(behind, "t1", before)
    assert transcript.repair().lossless


def test_ret_1_an_audit_that_failed_stops_every_branch_that_has_the_original(make, behind, forked):
    """An original that cannot be had is not there for a branch that was begun before or after that was found."""
    transcript = make()
    fill(transcript, 1, 6)
    transcript.compact()
    before = forked(transcript, "before")
    entries = {turn: damage(behind, turn) for turn in ("t1", "t2", "t3", "t4")}
    assert transcript.audit() is False
    after = forked(transcript, "after")
    fill(transcript, 7, 8)
    own = make(session="another")
    fill(own, 21, 26)
    assert own.compact().kind is OutcomeKind.COMMITTED

    for branch in (before, after, forked(after, "again")):
        assert "RET-1" in str(branch.status())
        assert branch.status().stopped
        fill(branch, 11, 16)
        assert branch.compact().kind is OutcomeKind.REFUSED
    assert own.status().lossless

    for turn, was in entries.items():
        damage(behind, turn, was)
    assert after.repair().lossless
    for branch in (transcript, before, after):
        assert branch.status().lossless
        assert branch.compact().kind is OutcomeKind.COMMITTED


def test_ret_2_a_fork_does_not_begin_the_period_anew(make, forked):
    transcript = make(settings=Settings(keep=1, audit_every=3))
    n = 0

    def compact(some, times):
        nonlocal n
        for _ in range(times):
            fill(some, n, n + 2)
            n += 3
            assert some.compact().kind is OutcomeKind.COMMITTED

    compact(transcript, 2)
    fork = forked(transcript, "b")
    assert not fork.audits()
    compact(fork, 1)
    assert len(fork.audits()) == 1
    again = forked(fork, "c")
    compact(again, 2)
    assert len(again.audits()) == 1
    compact(again, 1)
    assert len(again.audits()) == 2
