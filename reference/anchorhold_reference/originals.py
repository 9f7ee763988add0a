"""Originals that have left the window, as answers: read by one statement, checked against their pointers."""

from anchorhold_reference import cold
from anchorhold_reference.codec import decode, digest, shown
from anchorhold_reference.decide import Holding
from anchorhold_reference.session import Session
from anchorhold_spec.vocabulary import Answer, AnswerKind, Turn


def original(turn: Turn, *, carrier: str, value: str | None = None, reason: str | None = None) -> Answer:
    """The answer that an original is."""
    return Answer(
        kind=AnswerKind.FOUND,
        text=shown(turn),
        data=turn.data,
        value=value,
        carrier=carrier,
        source=turn.id,
        evidence=True,
        reason=reason,
    )


DROPPED = (
    "EXISTS (SELECT 1 FROM tombstone x LEFT JOIN fact f ON f.id = x.fact "
    "WHERE x.session = ? AND x.span = {} AND (x.literal = ? OR f.literal = ?))"
)
"""That an assertion of a span with a literal was tombstoned; for the branch, and the literal twice."""


def outside(
    session: Session, span: int, *, unless_dropped: str | None = None
) -> tuple[Turn, cold.Issued, bool] | None:
    """The original of a span that has left the window, its pointer, and whether it is the source, held because its
    copy is outstanding; none where the pointer leads to nothing any more, or an assertion with the literal
    `unless_dropped` was tombstoned.

    Raises `MismatchError` and `StoreError` as `cold.fetch` does.
    """
    literal = unless_dropped
    row = session.ledger.first(
        f"SELECT {cold.COLUMNS}, o.payload, CASE p.copy WHEN 'outstanding' THEN t.payload END, t.digest "  # noqa: S608
        "FROM pointer p JOIN turn t ON t.carrier = p.span LEFT JOIN cold o ON o.slot = p.slot AND o.epoch = p.epoch "
        + ("WHERE p.span = ?" if literal is None else f"WHERE p.span = ? AND NOT {DROPPED.format('p.span')}"),
        (span,) if literal is None else (span, session.id, literal, literal),
    )
    if row is None:
        return None
    *named, payload, source, mark = row
    issued = cold.issued_of(*named)
    if source is not None and digest(cold.as_bytes(source)) == mark:
        return decode(source), issued, True
    if issued.holding is not Holding.COMMITTED:
        return None
    return cold.fetch(session.ledger, issued, None if payload is None else cold.as_bytes(payload)), issued, False
