"""PTR-5, PTR-6, EPO-2, ERA-1: the row of an original says which pointer leads to it, only where one does.

Most pointers are followed by that row alone. So at every step of everything that puts originals into the cold store
or takes them out, the tokens of all that lies there are followed: also those that were given to nobody yet, which one
who knows a turn, an opening's mark and how slots are counted could make up.
"""

import pytest
from transcripts import fill

from anchorhold_reference.following import FOLLOWING, WHOLE
from anchorhold_reference.pointer import Address, seal
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind


def tokens_there(behind):
    """Of every entry, the token of each opening that could have issued it, with whether a pointer leads there."""
    entries = behind.query("SELECT o.slot, o.epoch, t.digest FROM cold o JOIN turn t ON t.carrier = o.span")
    pointers = {
        epoch: (bytes(issuer), holding == "committed" and copy == "landed")
        for epoch, issuer, holding, copy in behind.query("SELECT epoch, issuer, holding, copy FROM pointer")
    }
    marks = {bytes(address)[16:24] for (address,) in behind.query("SELECT address FROM cold") if address is not None}
    marks |= {issuer for issuer, _ in pointers.values()}
    marks |= {bytes(owner) for (owner,) in behind.query("SELECT owner FROM summary")}
    return {
        seal(Address(slot, epoch, mark, bytes(digest))): pointers.get(epoch) == (mark, True)
        for slot, epoch, digest in entries
        for mark in marks
    }


def followed_by_its_row(transcript, token):
    """What the first look finds."""
    row = transcript._ledger.first(WHOLE, FOLLOWING.asked(token, transcript._session.id))
    return None if row is None else FOLLOWING.opened(row[0], FOLLOWING.asked(token, 0)[2])


class Watch:
    """A step hook that follows every token there could be, right before each step; on another opening."""

    def __init__(self, behind):
        self.behind = behind
        self.onlooker = None
        self.seen = {}

    def __call__(self, step):
        if self.onlooker is None:
            return
        leads = 0
        for token, right in tokens_there(self.behind).items():
            assert (followed_by_its_row(self.onlooker, token) is not None) <= right, step
            assert (self.onlooker.get(token).kind is AnswerKind.FOUND) is right, step
            leads += right
        self.seen.setdefault(step, set()).add(leads)


@pytest.mark.parametrize("later", [False, True])
def test_ptr_6_a_row_leads_nowhere_before_its_pointer_is_committed(make, behind, later):
    watch = Watch(behind)
    transcript = make(steps=watch)
    watch.onlooker = make()
    for generation in range(3):
        transcript.hold_copies(later)
        fill(transcript, generation * 6 + 1, generation * 6 + 6)
        assert transcript.compact().kind is OutcomeKind.COMMITTED
        transcript.settle()
    watch("end")

    assert watch.seen["stage"] == {0, 4, 10}
    assert watch.seen["end"] == {16}
    if later:
        assert watch.seen["reconcile"] == set(range(16))
    else:
        assert watch.seen["commit"] == {0, 4, 10}


@pytest.mark.parametrize("later", [False, True])
def test_every_original_that_was_copied_is_found_by_its_row(make, behind, later):
    """Else each would be looked for twice, and nothing but the time would tell."""
    transcript = make()
    transcript.hold_copies(later)
    fill(transcript, 1, 6)
    transcript.compact()
    transcript.settle()
    transcript.clear()
    pointers = behind.query("SELECT slot, epoch, issuer, digest FROM pointer ORDER BY span")

    for n, (slot, epoch, *marks) in enumerate(pointers, 1):
        token = seal(Address(slot, epoch, *map(bytes, marks)))
        found = followed_by_its_row(transcript, token)
        assert found == transcript.get(token)
        assert found.source == f"t{n}"
    assert len(pointers) == 6


def compacts(other):
    other.compact()


def compacts_and_copies_later(other):
    other.hold_copies(True)
    other.compact()


def clears(other):
    other.clear()


@pytest.mark.parametrize("what", [compacts, compacts_and_copies_later, clears])
@pytest.mark.parametrize("at", ["copy", "point", "commit", "release"])
def test_ptr_6_two_branches_over_the_same_turns_have_one_original_of_each(make, behind, what, at):
    """One compacts; at one of its steps the other compacts the same turns, or clears them away."""
    watch = Watch(behind)
    other = None

    def steps(step):
        watch(step)
        if step == at and other is not None:
            what(other)
            watch(f"{step}, and the other has done it")

    transcript = make(steps=steps)
    watch.onlooker = make()
    fill(transcript, 1, 6)
    other = transcript.fork("other")
    transcript.compact()
    other.settle()
    transcript.settle()
    watch("end")
    entries = behind.query("SELECT span, slot, epoch FROM cold ORDER BY span")
    pointers = behind.query("SELECT span, slot, epoch FROM pointer WHERE holding = 'committed' ORDER BY span")
    other.close()

    assert entries == pointers
    assert [transcript.get(p.token).source for p in transcript.pointers()] == ["t1", "t2", "t3", "t4"]
