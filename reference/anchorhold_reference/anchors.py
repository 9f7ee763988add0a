"""What still holds an assertion, read from the indexes: never by a scan over carriers."""

from typing import TypeAlias

from anchorhold_reference.decide import Anchors, Assertion, keeps
from anchorhold_reference.session import Session

Pin: TypeAlias = tuple[int, str]
"""A fact, and whom the text attributes it to; '' where to nobody."""

_TOMBSTONED = "EXISTS (SELECT 1 FROM tombstone x WHERE x.session = ? AND x.span = a.span AND x.fact = a.fact)"
_CARRIED = "EXISTS (SELECT 1 FROM carries k WHERE k.summary = ? AND k.fact = a.fact AND k.speaker IN ('', t.speaker))"


def anchors_of(session: Session, span: int) -> list[tuple[str, Anchors]]:
    """Each assertion of a span, in words, with what would hold it in this branch if the span's original were gone.

    Only the live summary over the span can: another turn that says the same is another assertion (MAN-4), and a
    summary that was replaced no longer counts (ANC-4). So the cost is one look-up for each fact of this one span,
    however many carriers say the same.
    """
    top, claimed = session.summary_over(span) or (None, None)
    rows = session.ledger.all(
        "SELECT a.said || CASE WHEN f.kind = 'slot' THEN '' ELSE ' (' || f.kind || ' ' || f.literal || ')' END, "  # noqa: S608
        f"{_TOMBSTONED}, {_CARRIED}, {_CARRIED} "
        "FROM assertion a JOIN fact f ON f.id = a.fact JOIN turn t ON t.carrier = a.span WHERE a.span = ?",
        (session.id, top, claimed, span),
    )
    return [
        (
            str(words),
            Anchors(
                tombstoned=bool(tombstoned),
                carried=bool(carried),
                leaving=claimed is not None,
                carried_on=bool(carried_on),
            ),
        )
        for words, tombstoned, carried, carried_on in rows
    ]


def without_original(session: Session, summary: int) -> list[int]:
    """Spans under a summary of the branch whose original cannot be had: it has left, or was found lost or damaged.

    Read from the pointers that say so, which are few, and not from everything under the summary.
    """
    return [
        int(span)
        for (span,) in session.ledger.all(
            "WITH off (span) AS ("
            "SELECT p.span FROM lineage g JOIN pointer p ON p.session = g.node AND p.holding IN ('gone', 'expired') "
            "AND p.span BETWEEN g.first AND g.last WHERE g.session = ? "
            # CROSS: from what is damaged, of which there is little, to its pointers, and not the other way.
            "UNION SELECT p.span FROM damage d CROSS JOIN pointer p CROSS JOIN lineage g WHERE p.epoch = d.epoch "
            "AND p.holding = 'committed' AND g.node = p.session AND p.span BETWEEN g.first AND g.last "
            "AND g.session = ?"
            ") SELECT DISTINCT o.span FROM summary x JOIN off o ON 1 = 1 JOIN covers k ON k.carrier = o.span "
            "JOIN summary l ON l.carrier = k.summary AND l.chain = x.chain AND l.carrier <= x.carrier "
            "JOIN visible v ON v.carrier = l.carrier AND v.session = ? AND v.state = 'committed' "
            "WHERE x.carrier = ? ORDER BY o.span",
            (session.id, session.id, session.id, summary),
        )
    ]


def pinned(session: Session, summary: int) -> list[Pin]:
    """Entries of a live summary's manifest that alone anchor something, since the original cannot be had (ANC-4,
    MAN-1)."""
    found: set[Pin] = set()
    for span in without_original(session, summary):
        found |= pins_of(session, span, summary)
    return sorted(found)


def pins_of(session: Session, span: int, summary: int) -> set[Pin]:
    """Entries of a summary's manifest that speak for a span's assertions, save for those that were tombstoned."""
    return {
        (int(fact), str(speaker))
        for fact, speaker in session.ledger.all(
            "SELECT k.fact, k.speaker FROM assertion a JOIN turn t ON t.carrier = a.span "  # noqa: S608
            "JOIN carries k ON k.summary = ? AND k.fact = a.fact AND k.speaker IN ('', t.speaker) "
            f"WHERE a.span = ? AND NOT {_TOMBSTONED}",
            (summary, span, session.id),
        )
    }


def loose_without(session: Session, span: int, *, before: int, after: int) -> tuple[str, ...]:
    """Assertions of a span without its original that the summary `before` carries and `after` does not, in words."""
    return tuple(
        str(said)
        for said, carried, tombstoned in session.ledger.all(
            f"SELECT a.said, {_CARRIED}, {_TOMBSTONED} FROM assertion a JOIN turn t ON t.carrier = a.span "  # noqa: S608
            f"WHERE a.span = ? AND {_CARRIED}",
            (after, session.id, span, before),
        )
        if not keeps(Assertion(carried=bool(carried), original=False, tombstoned=bool(tombstoned)))
    )


def original_there(session: Session, span: int) -> bool:
    """Whether what a span asserts can still be had from its original."""
    return (
        session.ledger.first(
            "SELECT 1 FROM live WHERE session = ? AND carrier = ? "
            "UNION SELECT 1 FROM pointer WHERE span = ? AND holding = 'committed'",
            (session.id, span, span),
        )
        is not None
    )


def holds_without_tombstone(session: Session, span: int, fact: int) -> bool:
    """Whether an assertion is anchored, whatever was decided on it: by its original, or by the summary over it."""
    if original_there(session, span):
        return True
    top, _ = session.summary_over(span) or (None, None)
    found = session.ledger.first(
        f"SELECT 1 FROM assertion a JOIN turn t ON t.carrier = a.span WHERE a.span = ? AND a.fact = ? AND {_CARRIED}",  # noqa: S608
        (span, fact, top),
    )
    return found is not None
