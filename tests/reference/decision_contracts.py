"""The reference's decisions agree with the machines' guards: as contracts, for `crosshair check` and for Hypothesis.

Each function asks both and says whether they agree. Preconditions say what cannot be the case.
"""

import machine_decisions as machines

from anchorhold_reference import decide
from anchorhold_spec.vocabulary import AnswerKind

HOLDINGS = (None, decide.Holding.STAGED, decide.Holding.COMMITTED, decide.Holding.GONE)


def eviction_agrees(tombstoned: bool, carried: bool, leaving: bool, carried_on: bool) -> bool:
    """ANC-1, ANC-4. A summary carries on only what the one that it replaces carries (MAN-5).

    pre: carried or not carried_on
    post: _
    """
    anchors = decide.Anchors(tombstoned=tombstoned, carried=carried, leaving=leaving, carried_on=carried_on)
    return decide.stays_anchored(anchors) == machines.original_may_leave(
        tombstoned=tombstoned, carried=carried, leaving=leaving, carried_on=carried_on
    )


def replacement_agrees(carried: bool, original: bool, tombstoned: bool) -> bool:
    """MAN-1.

    post: _
    """
    assertion = decide.Assertion(carried=carried, original=original, tombstoned=tombstoned)
    return decide.keeps(assertion) == machines.replacement_may_commit(
        carried=carried, original=original, tombstoned=tombstoned
    )


def release_agrees(committed: bool, landed: bool) -> bool:
    """PTR-2.

    post: _
    """
    return decide.may_release(committed=committed, landed=landed) == machines.source_may_be_released(
        committed=committed, landed=landed
    )


def reclamation_agrees(pointed: bool, landed: bool, removed: bool) -> bool:
    """PTR-1, EVI-1.

    post: _
    """
    source = decide.Source(pointed=pointed, landed=landed, removed=removed)
    if removed:
        return decide.provenance_holds(source) == machines.removed_span_may_be_covered()
    return decide.provenance_holds(source) == machines.span_may_be_reclaimed(pointed=pointed, landed=landed)


def resolution_agrees(held: int) -> bool:
    """PTR-6.

    pre: 0 <= held < 4
    post: _
    """
    holding = next(each for i, each in enumerate(HOLDINGS) if i == held)
    return (decide.resolution(holding) is AnswerKind.FOUND) == machines.original_is_returned(holding)
