"""Audits and damage: whether what is said to be retrievable was in fact retrieved (RET-1, RET-2).

An audit takes a span that has left the window, pins one of its facts, and fetches the original by the path on which
reconstitution fetches it.
"""

from anchorhold_reference import cold
from anchorhold_reference.codec import shown
from anchorhold_reference.decide import Holding
from anchorhold_reference.errors import MismatchError, StoreError
from anchorhold_reference.session import Session

PERIOD = 500
"""Compactions after the last audit from which the store may no longer be called lossless (RET-2)."""
STRIDE = 2654435761
"""Spreads audits over the spans: a multiplier that has no factor in common with any count below it."""


def audit(session: Session, *, now: float) -> bool | None:
    """Audit one span; whether it passed, or none where no original is in the cold store."""
    ledger = session.ledger
    with ledger.reading():
        (stored,) = ledger.one(
            "SELECT count(*) FROM pointer WHERE session = ? AND holding = 'committed'", (session.id,)
        )
        (compactions,) = ledger.one("SELECT compactions FROM session WHERE id = ?", (session.id,))
        (done,) = ledger.one("SELECT count(*) FROM audit WHERE session = ?", (session.id,))
        if not stored:
            return None
        (span,) = ledger.one(
            "SELECT span FROM pointer WHERE session = ? AND holding = 'committed' ORDER BY span LIMIT 1 OFFSET ?",
            (session.id, (done + 1) * STRIDE % stored),
        )
        message = _look(session, int(span))
    with ledger.transaction():
        ledger.run(
            "INSERT INTO audit (session, compaction, span, passed, message, time) VALUES (?, ?, ?, ?, ?, ?)",
            (session.id, compactions, span, message is None, message or "", now),
        )
    return message is None


def _look(session: Session, span: int) -> str | None:
    """What is wrong with the original of a span; none where its pinned fact was found verbatim."""
    issued = cold.pointer_to(session.ledger, span)
    if issued is None or issued.holding is not Holding.COMMITTED:
        return "its pointer is gone"
    try:
        turn = cold.fetch(session.ledger, issued)
    except (MismatchError, StoreError) as error:
        return str(error)
    pinned = session.ledger.first(
        "SELECT f.kind, f.literal FROM assertion a JOIN fact f ON f.id = a.fact WHERE a.span = ? LIMIT 1",
        (span,),
    )
    if pinned is None or pinned[0] == "argument":  # arguments are pinned decoded, and stand in the original as JSON
        return None
    return None if pinned[1] in (shown(turn) or "") else f"turn {turn.id!r} does not say {pinned[1]!r}"


def note_damage(session: Session, *, epoch: int, message: str, now: float) -> None:
    """Remember that an original was found damaged: the store is not lossless from then on."""
    with session.ledger.transaction():
        session.ledger.run(
            "INSERT INTO damage (epoch, session, message, time) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (epoch, session.id, message, now),
        )
