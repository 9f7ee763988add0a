import sqlite3

import pytest
from ledgers import only_sqlite
from transcripts import fill, port, token_of

from anchorhold_reference import ClosedError, ForeignStoreError, Settings, UnknownCarrierError
from anchorhold_spec.vocabulary import OutcomeKind


def test_ret_2_compactions_audit_by_themselves_and_the_status_tells(make, behind):
    transcript = make(settings=Settings(keep=1, audit_every=2))
    for start in (1, 4, 7, 10):
        fill(transcript, start, start + 2)
        assert transcript.compact().kind is OutcomeKind.COMMITTED
    audits = behind.query("SELECT compaction, passed FROM audit ORDER BY id")

    assert audits == [(2, 1), (4, 1)]
    assert transcript.status().lossless


def test_ret_1_a_failed_audit_makes_it_degraded(make, behind):
    transcript = make()
    fill(transcript, 1, 6)
    assert transcript.audit() is None
    transcript.compact()
    assert transcript.audit() is True
    behind.unlock()
    behind.query("UPDATE cold SET payload = ?", (b"\0",))

    assert transcript.audit() is False
    assert "audit failed" in str(transcript.status())


def test_ret_2_without_an_audit_for_too_long_it_is_degraded(make):
    transcript = make()
    fill(transcript, 1, 6)
    transcript.compact()
    transcript._ledger.run("UPDATE session SET compactions = 501")
    assert "no audit" in str(transcript.status())
    transcript.audit()
    assert transcript.status().lossless


def test_ret_1_what_left_through_the_gate_is_told(make, script):
    script.say(port(1))
    transcript = make()
    fill(transcript, 1, 6)
    transcript.compact()
    assert transcript.status().lossless
    transcript.evict(token_of(transcript, "t1"))
    status = transcript.status()

    assert (status.lossless, status.evicted) == (False, 1)


@pytest.mark.parametrize(
    "wrong",
    [{"budget": 0}, {"watermark": 0}, {"watermark": 1.5}, {"keep": 0}, {"summary_limit": 0}, {"audit_every": 501}],
)
def test_settings_that_cannot_be_meant_are_refused_at_once(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Settings(**wrong)


@only_sqlite
def test_a_file_of_something_else_is_not_touched(make, tmp_path):
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    with pytest.raises(ForeignStoreError, match="another application"):
        make(path=other)
    text = tmp_path / "notes.txt"
    text.write_text("not a database at all, but long enough to be looked at " * 40)
    with pytest.raises(ForeignStoreError, match="not a database"):
        make(path=text)
    assert text.read_text().startswith("not a database")


@only_sqlite
def test_a_layout_of_another_version_is_not_touched(make, tmp_path):
    transcript = make()
    transcript._ledger.run("PRAGMA user_version=99")
    transcript.close()
    with pytest.raises(ForeignStoreError, match="layout 99"):
        make()


def test_a_closed_transcript_says_so_and_can_be_reopened(make):
    transcript = make()
    fill(transcript, 1, 2)
    transcript.close()
    transcript.close()
    with pytest.raises(ClosedError):
        transcript.live()
    transcript.reopen()
    assert len(transcript.live()) == 2


def test_the_manifest_of_what_is_not_live_is_an_error(make):
    with pytest.raises(UnknownCarrierError, match="span-7"):
        make().manifest("span-7")


def test_ret_2_an_audit_that_was_left_out_is_made_up_for(make):
    transcript = make(settings=Settings(keep=2, audit_every=500))
    fill(transcript, 1, 6)
    transcript.compact()
    # As where another process committed the five hundredth, or nothing had landed by then.
    transcript._ledger.run("UPDATE session SET compactions = 501")
    assert transcript.status().stopped
    fill(transcript, 7, 12)

    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert [one.passed for one in transcript.audits()] == [True]
    assert transcript.status().lossless


@pytest.mark.parametrize("name", ["horizon", "lifetime"])
def test_settings_that_are_no_number_are_refused_too(name):
    with pytest.raises(ValueError, match=name):
        Settings(**{name: float("nan")})
