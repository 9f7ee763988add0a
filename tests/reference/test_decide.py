from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from anchorhold_reference.decide import (
    Anchors,
    Assertion,
    Source,
    Statement,
    current,
    keeps,
    may_release,
    provenance_holds,
    stays_anchored,
    supports,
)

BOTH = (False, True)


def test_anc_1_and_anc_4_an_assertion_stays_only_if_tombstoned_or_carried_by_what_stays():
    for tombstoned, carried, leaving, carried_on in product(BOTH, repeat=4):
        anchors = Anchors(tombstoned=tombstoned, carried=carried, leaving=leaving, carried_on=carried_on)
        expected = tombstoned or (carried and (not leaving or carried_on))
        assert stays_anchored(anchors) is expected


def test_ptr_1_a_source_needs_its_pointer_and_its_bytes_unless_it_left_through_the_gate():
    allowed = [
        s for s in product(BOTH, repeat=3) if provenance_holds(Source(pointed=s[0], landed=s[1], removed=s[2]))
    ]
    assert set(allowed) == {s for s in product(BOTH, repeat=3) if s[2] or (s[0] and s[1])}


def test_man_1_an_assertion_is_kept_by_manifest_original_or_tombstone():
    for carried, original, tombstoned in product(BOTH, repeat=3):
        assertion = Assertion(carried=carried, original=original, tombstoned=tombstoned)
        assert keeps(assertion) is any((carried, original, tombstoned))


def test_ptr_2_release_needs_the_commit_and_the_copy():
    assert [c for c in product(BOTH, BOTH) if may_release(committed=c[0], landed=c[1])] == [(True, True)]


def test_man_2_words_in_a_mouth_need_that_speaker():
    assert supports(attributed_to=None, speaker="user")
    assert supports(attributed_to=None, speaker=None)
    assert supports(attributed_to="user", speaker="user")
    assert not supports(attributed_to="user", speaker="assistant")
    assert not supports(attributed_to="user", speaker=None)


STATEMENTS = st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=8).map(
    lambda said: tuple(Statement(order=i, value=v, negated=n) for i, (v, n) in enumerate(said))
)


@given(STATEMENTS, st.randoms(use_true_random=False))
def test_rec_1_the_statement_that_answers_is_the_newest_that_was_not_taken_back(statements, random):
    """Against the definition, word for word; and the order in which they are handed over does not matter."""
    shuffled = list(statements)
    random.shuffle(shuffled)
    at = current(tuple(shuffled))
    if not statements:
        assert at is None
        return
    standing = [
        s
        for s in statements
        if not s.negated and not any(t.negated and t.value == s.value and t.order > s.order for t in statements)
    ]
    expected = max(standing or statements, key=lambda s: s.order)
    assert shuffled[at] == expected
