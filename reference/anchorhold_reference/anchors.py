"""What still holds an assertion, read from the indexes: never by a scan over carriers."""

from typing import TypeAlias

from anchorhold_reference.decide import Anchors
from anchorhold_reference.ledger import Ledger

Pin: TypeAlias = tuple[int, str]
"""A fact, and whom the text attributes it to; '' where to nobody."""


def anchors_of(ledger: Ledger, span: int) -> list[tuple[str, Anchors]]:
    """Each assertion of a span, in words, with what would hold it if the span's original were gone.

    Only the live summary over the span can: another turn that says the same is another assertion (MAN-4), and a
    summary that was replaced no longer counts (ANC-4). So the cost is one look-up for each fact of this one span,
    however many carriers say the same.
    """
    rows = ledger.all(
        "SELECT a.said || CASE WHEN f.kind = 'slot' THEN '' ELSE ' (' || f.kind || ' ' || f.literal || ')' END, "
        "EXISTS (SELECT 1 FROM tombstone x WHERE x.span = a.span AND x.fact = a.fact), "
        "EXISTS (SELECT 1 FROM carries k WHERE k.summary = s.id AND k.fact = a.fact "
        "  AND k.speaker IN ('', t.speaker)), "
        "s.claimed IS NOT NULL, "
        "EXISTS (SELECT 1 FROM carries k WHERE k.summary = s.claimed AND k.fact = a.fact "
        "  AND k.speaker IN ('', t.speaker)) "
        "FROM assertion a JOIN fact f ON f.id = a.fact JOIN turn t ON t.carrier = a.span "
        "JOIN carrier c ON c.id = a.span LEFT JOIN carrier l ON l.id = c.leaf LEFT JOIN carrier s ON s.id = l.top "
        "WHERE a.span = ?",
        (span,),
    )
    return [
        (
            str(words),
            Anchors(
                tombstoned=bool(tombstoned), carried=bool(carried), leaving=bool(leaving), carried_on=bool(carried_on)
            ),
        )
        for words, tombstoned, carried, leaving, carried_on in rows
    ]


def pinned(ledger: Ledger, session: int, summary: int) -> list[Pin]:
    """Entries of a live summary's manifest that alone anchor something, since the original has left (ANC-4,
    MAN-1)."""
    return [
        (int(fact), str(speaker))
        for fact, speaker in ledger.all(
            "SELECT DISTINCT k.fact, k.speaker FROM pointer p JOIN carrier c ON c.id = p.span "
            "JOIN carrier l ON l.id = c.leaf AND l.top = ?1 JOIN turn t ON t.carrier = p.span "
            "JOIN assertion a ON a.span = p.span "
            "JOIN carries k ON k.summary = ?1 AND k.fact = a.fact AND k.speaker IN ('', t.speaker) "
            "WHERE p.session = ?2 AND p.holding = 'gone' "
            "AND NOT EXISTS (SELECT 1 FROM tombstone x WHERE x.span = a.span AND x.fact = a.fact)",
            (summary, session),
        )
    ]
