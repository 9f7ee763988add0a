import shutil
import sqlite3
import threading

import psycopg
import pytest
from ledgers import only_sqlite
from transcripts import fill, port, token_of, turn

from anchorhold_reference import MismatchError, StoreError, cold
from anchorhold_reference.pointer import Address, seal, unseal
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind


def recycle(make, script):
    """A transcript in which the slot of t1 has been emptied and given to a later turn."""
    transcript = make()
    fill(transcript, 1, 4)
    script.say(port(1))
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    old = token_of(transcript, "t1")
    assert transcript.evict(old).kind is OutcomeKind.COMMITTED
    fill(transcript, 5, 8)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    return transcript, old


def test_epo_1_a_recycled_slot_never_resolves_to_another_span(make, script):
    transcript, old = recycle(make, script)
    slot = unseal(old).slot
    heirs = [p for p in transcript.pointers() if unseal(p.token).slot == slot]

    assert [p.covers != ("t1",) for p in heirs] == [True], "the slot was not used again: nothing was tested"
    assert transcript.get(old).kind is AnswerKind.INSUFFICIENT
    assert transcript.get(heirs[0].token).source == heirs[0].covers[0]


def test_epo_1_a_token_with_the_heirs_epoch_but_the_old_digest_is_foreign(make, script):
    transcript, old = recycle(make, script)
    before = unseal(old)
    heir = next(unseal(p.token) for p in transcript.pointers() if unseal(p.token).slot == before.slot)
    forged = seal(Address(slot=heir.slot, epoch=heir.epoch, issuer=heir.issuer, digest=before.digest))

    assert transcript.get(forged).kind is AnswerKind.FOREIGN


def test_epo_2_epochs_grow_strictly_across_restarts_and_undone_compactions(make, script):
    transcript = make()
    seen = []
    for round_ in range(4):
        fill(transcript, round_ * 4 + 1, round_ * 4 + 4)
        transcript.compact()
        new = sorted(p.epoch for p in transcript.pointers() if p.epoch not in set(seen))
        assert new
        assert not seen or new[0] > max(seen)
        seen += new
        transcript.reopen()


def test_epo_2_opening_alone_raises_the_epoch(make, behind):
    transcript = make()
    query = "SELECT value FROM counter WHERE name = 'epoch'"
    before = behind.query(query)
    transcript.reopen()
    after = behind.query(query)

    assert after > before


@pytest.mark.parametrize(
    "token", ["", "x", "ah1-", "ah1-!!!!", "ah1-AAAA", "slot-1", "\x00", "ah1-" + "A" * 75, "ah1-" + "é" * 75]
)
def test_epo_2_a_token_that_was_never_issued_is_foreign(make, token):
    transcript = make()
    fill(transcript, 1, 5)
    transcript.compact()

    assert transcript.get(token).kind is AnswerKind.FOREIGN
    assert transcript.evict(token).kind is OutcomeKind.REFUSED


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 2**64 - 1])
def test_epo_2_a_token_with_numbers_as_great_as_they_can_be_is_foreign(make, number):
    """A model may hand in anything that has the form of a token."""
    transcript = make()
    for slot, epoch in ((number, 1), (1, number), (number, number)):
        token = seal(Address(slot=slot, epoch=epoch, issuer=b"i" * 8, digest=b"d" * 32))

        assert transcript.get(token).kind is AnswerKind.FOREIGN
        assert transcript.evict(token).kind is OutcomeKind.REFUSED


def test_epo_2_a_token_of_another_store_is_foreign_though_slot_epoch_and_content_agree(make, behind):
    tokens = []
    for where in (behind.where, behind.beside()):
        transcript = make(path=where)
        fill(transcript, 1, 5)
        transcript.compact()
        tokens.append(token_of(transcript, "t1"))
    one, two = unseal(tokens[0]), unseal(tokens[1])

    assert (one.slot, one.epoch, one.digest) == (two.slot, two.epoch, two.digest)
    assert transcript.get(tokens[0]).kind is AnswerKind.FOREIGN
    assert transcript.get(tokens[1]).kind is AnswerKind.FOUND


@only_sqlite
def test_epo_2_after_a_restore_a_pointer_issued_since_the_copy_is_foreign(make, tmp_path, script):
    path = tmp_path / "ledger.db"
    transcript = make()
    fill(transcript, 1, 2)
    transcript.close()
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    lost = make(path=path)
    fill(lost, 3, 6)
    lost.compact()
    token = token_of(lost, "t1")
    lost.close()
    restored = make(path=copy)
    fill(restored, 3, 6)
    restored.compact()

    assert unseal(token_of(restored, "t1")).epoch == unseal(token).epoch, "the restored store did not count again"
    assert restored.get(token).kind is AnswerKind.FOREIGN


def test_epo_3_other_bytes_raise_an_error_that_names_both(make, behind):
    transcript = make()
    fill(transcript, 1, 5)
    transcript.compact()
    token = token_of(transcript, "t1")
    behind.overwrite(behind.payload(1) + b"\0", slot=1)

    with pytest.raises(MismatchError) as caught:
        transcript.get(token)
    assert unseal(token).digest.hex() in str(caught.value)
    assert caught.value.found in str(caught.value)
    assert caught.value.found != caught.value.named


def test_epo_3_bytes_swapped_between_two_slots_are_noticed(make, behind):
    transcript = make()
    fill(transcript, 1, 5)
    transcript.compact()
    token = token_of(transcript, "t1")
    behind.overwrite(behind.payload(2), slot=1)

    with pytest.raises(MismatchError):
        transcript.get(token)


def test_epo_3_what_is_damaged_answers_no_question_and_is_told_in_the_status(make, behind):
    transcript = make()
    fill(transcript, 1, 5)
    transcript.compact()
    behind.overwrite(behind.payload(1).replace(b"7001", b"9999"), slot=1)

    with pytest.raises(MismatchError):
        transcript.get(token_of(transcript, "t1"))
    assert transcript.reconstitute("db-1", "port").kind is AnswerKind.DEGRADED
    assert transcript.search("9999").kind is AnswerKind.DEGRADED
    assert transcript.status().unresolvable == 1
    assert str(transcript.status()).startswith("degraded: ")


def test_ptr_2_bytes_lost_behind_the_store_are_an_error_not_an_empty_answer(make, behind):
    transcript = make()
    fill(transcript, 1, 5)
    transcript.compact()
    behind.query("DELETE FROM cold WHERE slot = 1")

    with pytest.raises(StoreError, match="slot-1"):
        transcript.get(token_of(transcript, "t1"))
    assert transcript.status().unresolvable == 1


def test_idx_1_an_entry_of_the_cold_store_cannot_be_changed(make, behind):
    transcript = make()
    fill(transcript, 1, 5)
    transcript.compact()
    with pytest.raises((sqlite3.Error, psycopg.Error), match="never change"):
        behind.query("UPDATE cold SET payload = ?", (b"",))


def test_idx_2_equal_text_of_different_turns_stays_two_spans(make):
    transcript = make()
    for n in range(1, 7):
        transcript.append(turn(n, "The port of db is 80."))
    transcript.compact()
    pointers = transcript.pointers()

    assert len({p.token for p in pointers}) == len({p.key for p in pointers}) == 4
    assert [transcript.get(p.token).source for p in pointers] == ["t1", "t2", "t3", "t4"]


def test_epo_1_sessions_that_write_at_once_take_different_slots(make, script):
    """Whatever was emptied is there for every session of the store, and goes to one of them."""
    first = make()
    fill(first, 1, 8)
    script.say(*(port(n) for n in range(1, 7)))
    first.compact()
    tokens = [pointer.token for pointer in first.pointers()]
    emptied = {unseal(token).slot for token in tokens}
    for token in tokens:
        assert first.evict(token).kind is OutcomeKind.COMMITTED
    sessions = [make(session=name) for name in ("a", "b", "c")]
    took: list[int] = []

    def take(session, begun):
        with session._ledger.transaction():
            begun.wait(1)  # all are inside at once where the store lets them
            slots = [slot for slot, _ in cold.allocate(session._ledger, 4)]
            begun.wait(0.2)
            took.extend(slots)

    begun = threading.Event()
    threads = [threading.Thread(target=take, args=(session, begun)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(took) == len(set(took)) == 12
    assert emptied
    assert emptied <= set(took), "nothing that was emptied was taken: nothing was tested"
