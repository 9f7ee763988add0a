"""Originals in a cold store outside the ledger: written once, read back before the pointer, gone when they are let
go."""

import pytest
from obstore.store import MemoryStore
from transcripts import fill, port, token_of, turn

from anchorhold_reference import ForeignStoreError, Settings, StoreError
from anchorhold_reference.stores.directory import DirectoryStore
from anchorhold_reference.stores.objects import ObjectStore
from anchorhold_reference.stores.outer import MARK
from anchorhold_reference.values import Copies
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind


class Faulty:
    """A cold store that does to one operation what it is told to."""

    def __init__(self, inner):
        self.inner = inner
        self.where = inner.where
        self.on_create = None
        self.on_remove = None
        self.on_read = None

    def create(self, key, payload):
        if self.on_create is not None and key != MARK:
            return self.on_create(key, payload)
        return self.inner.create(key, payload)

    def read(self, key):
        if self.on_read is not None:
            self.on_read(key)
        return self.inner.read(key)

    def files(self):
        return self.inner.files()

    def remove(self, key):
        if self.on_remove is not None:
            self.on_remove(key)
        self.inner.remove(key)


@pytest.fixture(params=["directory", "objects"])
def outer(request, tmp_path):
    inner = DirectoryStore(tmp_path / "cold") if request.param == "directory" else None
    return Faulty(inner or ObjectStore(MemoryStore(), where="memory:"))


def keys(behind):
    return [f"{epoch >> 10:06x}/{slot}-{epoch}" for slot, epoch in behind.query("SELECT slot, epoch FROM cold")]


def strays(behind):
    return behind.query("SELECT slot, epoch FROM stray")


@pytest.mark.parametrize("copies", list(Copies))
def test_ptr_1_originals_lie_outside_and_are_one_step_away(make, behind, outer, copies):
    transcript = make(cold_store=outer, settings=Settings(keep=2, horizon=0, copies=copies))
    fill(transcript, 1, 6)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    transcript.settle()

    assert behind.query("SELECT count(*) FROM cold WHERE payload IS NOT NULL") == [(0,)]
    assert len(keys(behind)) == 4
    assert all(outer.read(key) is not None for key in keys(behind))
    for n in range(1, 5):
        assert transcript.get(token_of(transcript, f"t{n}")).text == port(n)
        assert transcript.reconstitute(f"db-{n}", "port", evidence=True).value == str(7000 + n)
        assert transcript.search(f"db-{n}").source == f"t{n}"
    assert behind.query("SELECT count(*) FROM turn WHERE payload IS NOT NULL") == [(2,)]
    assert strays(behind) == []
    assert transcript.status().lossless


@pytest.mark.parametrize("copies", list(Copies))
def test_the_same_is_there_after_reopening(make, outer, copies):
    transcript = make(cold_store=outer, settings=Settings(keep=2, horizon=0, copies=copies))
    fill(transcript, 1, 6)
    transcript.compact()
    transcript.settle()
    before = transcript.pointers()
    transcript.reopen()
    assert transcript.pointers() == before
    assert transcript.get(before[0].token).text == port(1)


def test_con_1_appending_goes_on_while_a_store_far_away_is_written_to(make, outer):
    transcript = make(cold_store=outer)
    other = make(cold_store=outer)
    fill(transcript, 1, 6)
    n = iter(range(7, 20))

    def create(key, payload):
        other.append(turn(next(n)))
        return outer.inner.create(key, payload)

    outer.on_create = create
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert [item.turn for item in transcript.live()[1:]] == [f"t{n}" for n in range(5, 11)]


@pytest.mark.parametrize("what", ["compact", "clear"])
def test_era_1_of_what_another_branch_copies_meanwhile_there_is_one_copy(make, behind, outer, what):
    transcript = make(cold_store=outer)
    fill(transcript, 1, 6)
    with transcript.fork("other") as other:

        def create(key, payload):
            outer.on_create = None
            getattr(other, what)()
            return outer.inner.create(key, payload)

        outer.on_create = create
        assert transcript.compact().kind is OutcomeKind.COMMITTED
    pointers = behind.query("SELECT span, slot, epoch FROM pointer WHERE holding = 'committed' ORDER BY span")

    assert behind.query("SELECT span, slot, epoch FROM cold ORDER BY span") == pointers
    assert all(outer.read(key) is not None for key in keys(behind))
    assert strays(behind) == []
    assert [transcript.get(p.token).source for p in transcript.pointers()] == ["t1", "t2", "t3", "t4"]


@pytest.mark.parametrize("kind", ["error", "silent", "short", "other"])
@pytest.mark.parametrize("at", [1, 3])
def test_out_3_a_store_that_fails_or_only_says_it_succeeded_stops_the_commit_and_leaves_nothing(
    make, behind, outer, kind, at
):
    count = 0
    placed = []

    def create(key, payload):
        nonlocal count
        count += 1
        placed.append(key)
        if count != at:
            return outer.inner.create(key, payload)
        if kind == "error":
            raise StoreError("no space")
        if kind == "silent":
            return True
        return outer.inner.create(key, payload[:10] if kind == "short" else b"other" + payload)

    transcript = make(cold_store=outer)
    fill(transcript, 1, 6)
    before = transcript.live()
    outer.on_create = create
    outcome = transcript.compact()

    assert outcome.kind is OutcomeKind.FAILED
    assert transcript.live() == before
    assert transcript.pointers() == []
    assert [outer.read(key) for key in placed] == [None] * len(placed)
    assert strays(behind) == []
    outer.on_create = None
    assert transcript.compact().kind is OutcomeKind.COMMITTED


@pytest.mark.parametrize("kind", ["error", "silent", "short"])
def test_ptr_5_a_copy_after_the_commit_that_fails_stays_pending_and_is_made_later(make, behind, outer, kind):
    def create(key, payload):
        if kind == "error":
            raise StoreError("no space")
        return True if kind == "silent" else outer.inner.create(key, payload[:10])

    outer.on_create = create
    transcript = make(cold_store=outer, settings=Settings(keep=2, horizon=0, copies=Copies.AFTER_COMMIT))
    fill(transcript, 1, 6)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    transcript.settle()
    assert transcript.ratios().pending == 1
    assert transcript.reconstitute("db-1", "port", evidence=True).value == "7001"
    outer.on_create = None
    transcript.settle()

    assert transcript.ratios().pending == 0
    assert transcript.get(token_of(transcript, "t1")).text == port(1)
    assert strays(behind) == []


def test_anc_1_what_leaves_through_the_gate_leaves_the_store_outside(make, script, behind, outer):
    script.say(port(1))
    transcript = make(cold_store=outer)
    fill(transcript, 1, 6)
    transcript.compact()
    key = keys(behind)[0]
    assert transcript.evict(token_of(transcript, "t1")).kind is OutcomeKind.COMMITTED

    assert outer.read(key) is None
    assert strays(behind) == []


@pytest.mark.parametrize("copies", list(Copies))
def test_era_1_what_is_forgotten_leaves_the_store_outside(make, behind, outer, copies):
    transcript = make(cold_store=outer, settings=Settings(keep=2, horizon=0, copies=copies))
    fill(transcript, 1, 6)
    transcript.compact()
    transcript.settle()
    (key,) = [key for key in keys(behind) if port(2).encode() in outer.read(key)]
    outcome = transcript.forget("t2")

    assert outcome.kind is OutcomeKind.COMMITTED
    assert not outcome.pending
    assert outer.read(key) is None
    assert transcript.get(token_of(transcript, "t1")).text == port(1)


def test_era_1_what_the_store_will_not_remove_is_pending_and_removed_by_a_later_call(make, behind, outer):
    def refuse(key):
        raise StoreError("later")

    transcript = make(cold_store=outer)
    fill(transcript, 1, 6)
    transcript.compact()
    key = keys(behind)[0]
    outer.on_remove = refuse
    assert transcript.forget("t1").pending
    assert outer.read(key) is not None
    outer.on_remove = None
    transcript.reopen()

    assert outer.read(key) is None
    assert strays(behind) == []


def test_era_1_a_copy_under_way_of_what_is_being_forgotten_does_not_stay(make, behind, outer):
    """The copier has the bytes in its hand while another opening erases them."""
    placed = []

    def create(key, payload):
        made = outer.inner.create(key, payload)
        if port(2).encode() in payload and not placed:
            placed.append(key)
            assert other.forget("t2").kind is OutcomeKind.COMMITTED
        return made

    other = make(cold_store=outer)
    transcript = make(cold_store=outer, settings=Settings(keep=2, horizon=0, copies=Copies.AFTER_COMMIT))
    transcript.hold_copies(True)
    fill(transcript, 1, 6)
    transcript.compact()
    outer.on_create = create
    transcript.settle()
    outer.on_create = None
    assert placed
    other.reopen()

    assert transcript.search("db-2").kind is not AnswerKind.FOUND
    assert [outer.read(key) for key in placed] == [None] * len(placed)
    assert strays(behind) == []


def test_epo_3_other_bytes_outside_are_told_by_both_digests_and_can_be_mended(make, behind, outer):
    transcript = make(cold_store=outer)
    fill(transcript, 1, 6)
    transcript.compact()
    token, key = token_of(transcript, "t1"), keys(behind)[0]
    right = outer.read(key)
    outer.inner.remove(key)
    with pytest.raises(StoreError, match="PTR-2"):
        transcript.get(token)
    outer.inner.create(key, b"other")
    with pytest.raises(Exception, match="EPO-3"):
        transcript.get(token)
    outer.inner.remove(key)
    outer.inner.create(key, right)
    transcript.repair()

    assert transcript.get(token).text == port(1)
    assert transcript.status().lossless


def test_the_ledger_knows_its_store_again(make, outer, tmp_path):
    transcript = make(cold_store=outer)
    transcript.close()
    with pytest.raises(ForeignStoreError, match="give it as cold_store"):
        make()
    with pytest.raises(ForeignStoreError, match="it has no mark"):
        make(cold_store=tmp_path / "elsewhere")
    assert make(cold_store=outer).live() == []


def test_epo_1_two_ledgers_cannot_share_a_store_for_they_would_give_the_same_keys(make, behind, outer):
    first = make(cold_store=outer)
    fill(first, 1, 6)
    first.compact()
    with pytest.raises(ForeignStoreError, match="another ledger"):
        make(path=behind.beside(), cold_store=outer)
    assert first.get(token_of(first, "t1")).text == port(1)


def test_cra_2_who_dies_before_the_store_has_its_mark_can_take_it_up_again(make, behind, outer):
    create = outer.inner.create

    def die(key, payload):
        raise KeyboardInterrupt

    outer.inner.create = die
    with pytest.raises(KeyboardInterrupt):
        make(cold_store=outer)
    outer.inner.create = create
    transcript = make(cold_store=outer)
    fill(transcript, 1, 6)
    assert transcript.compact().kind is OutcomeKind.COMMITTED


def test_str_3_bytes_come_back_from_outside_as_they_were(make, outer):
    transcript = make(cold_store=outer, settings=Settings(keep=1))
    transcript.append(turn(1, "a \x07 b\r\n\u2028 c", data=None))
    fill(transcript, 2, 3)
    transcript.compact()
    assert transcript.get(token_of(transcript, "t1")).text == "a \x07 b\r\n\u2028 c"


ASKED = {
    "get": lambda transcript, token: transcript.get(token).kind,
    "reconstitute": lambda transcript, _: transcript.reconstitute("db-1", "port", evidence=True).kind,
    "search": lambda transcript, _: transcript.search("7001").evidence,
    "audit": lambda transcript, _: transcript.audit(),
    "retrieve": lambda transcript, _: [answer.source for answer in transcript.retrieve("port of db-1")],
}


@pytest.mark.parametrize("asked", ASKED)
def test_ret_1_an_original_that_leaves_while_it_is_read_is_not_taken_for_lost(make, outer, script, asked):
    """Between the look at its entry and the read of its bytes, another opening lets it go through the gate."""
    script.say(port(1))
    transcript, other = make(cold_store=outer), make(cold_store=outer)
    fill(transcript, 1, 3)
    assert transcript.compact().covered == ("t1",)
    token = token_of(transcript, "t1")

    def leave(_key):
        outer.on_read = None
        assert other.evict(token).kind is OutcomeKind.COMMITTED

    outer.on_read = leave
    told = ASKED[asked](transcript, token)
    asked_again = ASKED[asked](transcript, token)

    assert outer.on_read is None, "nothing was read"
    assert told == asked_again
    assert told in (AnswerKind.INSUFFICIENT, False, None, [])
    assert not transcript.status().stopped
    assert transcript.audits() == []


def test_ret_1_what_is_lost_is_told_as_such_however_much_leaves_meanwhile(make, outer, script):
    script.say(port(1))
    transcript, other = make(cold_store=outer), make(cold_store=outer)
    fill(transcript, 1, 4)
    assert transcript.compact().covered == ("t1", "t2")
    tokens = {pointer.covers[0]: pointer for pointer in transcript.pointers()}
    outer.inner.remove(
        f"{tokens['t2'].epoch >> 10:06x}/{tokens['t2'].key.removeprefix('slot-')}-{tokens['t2'].epoch}"
    )

    def leave(_key):
        outer.on_read = None
        assert other.evict(tokens["t1"].token).kind is OutcomeKind.COMMITTED

    outer.on_read = leave
    with pytest.raises(StoreError, match="PTR-2"):
        transcript.get(tokens["t2"].token)
    assert transcript.reconstitute("db-2", "port").kind is AnswerKind.DEGRADED
    assert transcript.status().stopped
