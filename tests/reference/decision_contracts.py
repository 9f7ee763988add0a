"""The reference's decisions agree with the machines' guards: as contracts, for `crosshair check` and for Hypothesis.

Each function asks both and says whether they agree. Preconditions say what cannot be the case.
"""

import machine_decisions as machines

from anchorhold_reference import decide
from anchorhold_spec.vocabulary import AnswerKind

CLASSES = tuple(decide.EvidentialClass)
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


def provenance_agrees(pointed: bool, landed: bool, removed: bool, held: bool) -> bool:
    """PTR-1: by the copy, or, where it is outstanding, by the source that is held.

    post: _
    """
    source = decide.Source(pointed=pointed, landed=landed, removed=removed, held=held)
    if removed:
        return decide.provenance_holds(source) == machines.removed_span_may_be_covered()
    if held and not landed:
        return decide.provenance_holds(source) == machines.pending_summary_may_commit(pointed=pointed)
    structured = machines.span_may_be_reclaimed(
        decide.EvidentialClass.STRUCTURED, pointed=pointed, lasts=landed, omissions_named=True
    )
    return decide.provenance_holds(source) == structured


def reclamation_agrees(kind: int, pointed: bool, lasts: bool, omissions_named: bool) -> bool:
    """EVI-1, EVI-2, EVI-3.

    pre: 0 <= kind < 3
    post: _
    """
    found = next(each for i, each in enumerate(CLASSES) if i == kind)
    return decide.may_reclaim(
        found, pointed=pointed, lasts=lasts, omissions_named=omissions_named
    ) == machines.span_may_be_reclaimed(found, pointed=pointed, lasts=lasts, omissions_named=omissions_named)


def expiry_agrees(age: int, horizon: int, ends: bool) -> bool:
    """PTR-2, EVI-3: nothing is proposed before the horizon; one that is the session's end does not end before.

    pre: 0 <= age < 4 and 0 <= horizon < 4
    post: _
    """
    over = ends and age >= horizon
    return decide.may_expire(age=age, horizon=horizon if ends else None) == machines.original_may_be_reaped(
        horizon_over=over
    )


def stopping_agrees(degraded: bool, accepted: bool) -> bool:
    """RET-3.

    post: _
    """
    causes = ("damage:1",) if degraded else ()
    stops = decide.stopping(causes, frozenset({"damage:1"}) if accepted else frozenset())
    return (not stops) == machines.span_may_leave_the_window(degraded=degraded, accepted=accepted)


def copies_agree(state: int) -> bool:
    """PTR-5, of a committed pointer.

    pre: 0 <= state < 3
    post: _
    """
    copy = next(each for i, each in enumerate(decide.Copy) if i == state)
    answer = decide.resolution(decide.Holding.COMMITTED, copy)
    return (answer is AnswerKind.FOUND) == machines.copy_is_returned(copy)


def resolution_agrees(held: int) -> bool:
    """PTR-6.

    pre: 0 <= held < 4
    post: _
    """
    holding = next(each for i, each in enumerate(HOLDINGS) if i == held)
    return (decide.resolution(holding) is AnswerKind.FOUND) == machines.original_is_returned(holding)
