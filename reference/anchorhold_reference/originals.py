"""Originals that have left the window, as answers: read by one statement, checked against their pointers."""

from typing import NamedTuple

from anchorhold_reference import cold
from anchorhold_reference.codec import digest, shown, told
from anchorhold_reference.decide import Holding
from anchorhold_reference.index import Also
from anchorhold_reference.ledger import Ledger, Row
from anchorhold_reference.session import Session
from anchorhold_spec.vocabulary import Answer, AnswerKind, Turn


class Original(NamedTuple):
    """What an answer tells of an original. See `codec.told` for the first three."""

    turn: str
    text: str | None
    data: bytes | None
    span: int
    key: str
    """The store's, of its copy."""
    held: bool
    """It is the source, held because its copy is outstanding."""


def as_answer(
    turn: str,
    text: str | None,
    data: bytes | None,
    *,
    carrier: str,
    value: str | None = None,
    reason: str | None = None,
) -> Answer:
    """The answer that an original is, from what `codec.told` tells of it."""
    return Answer(
        kind=AnswerKind.FOUND,
        text=text,
        data=data,
        value=value,
        carrier=carrier,
        source=turn,
        evidence=True,
        reason=reason,
    )


def original(turn: Turn, *, carrier: str, value: str | None = None, reason: str | None = None) -> Answer:
    """The answer that a turn is."""
    return as_answer(turn.id, shown(turn), turn.data, carrier=carrier, value=value, reason=reason)


DROPPED = (
    "EXISTS (SELECT 1 FROM tombstone x LEFT JOIN fact f ON f.id = x.fact "
    "WHERE x.session = ? AND x.span = {} AND (x.literal == ? OR f.literal == ?))"
)
"""That an assertion of a span with a literal was tombstoned; for the branch, and the literal twice."""
_NOT_DROPPED = f"NOT {DROPPED.format('p.span')}"
_OUTSIDE = f"SELECT {cold.ORIGINAL} FROM pointer p {cold.TO_ORIGINAL} WHERE p.span = ?"  # noqa: S608


def with_original(session: Session, literal: str) -> Also:
    """What `index.candidates` is to read with each candidate, for `of_row`, and of which it is to give none: those in
    which an assertion with the literal was tombstoned."""
    return Also(cold.ORIGINAL, cold.TO_ORIGINAL, _NOT_DROPPED, (session.id, literal, literal))


def outside(session: Session, span: int, *, unless_dropped: str | None = None) -> Original | None:
    """The original of a span that has left the window; none where the pointer leads to nothing any more, or an
    assertion with the literal `unless_dropped` was tombstoned.

    Raises `MismatchError` and `StoreError` as `cold.checked` does.
    """
    literal = unless_dropped
    row = session.ledger.first(
        _OUTSIDE if literal is None else f"{_OUTSIDE} AND {_NOT_DROPPED}",
        (span,) if literal is None else (span, session.id, literal, literal),
    )
    return None if row is None else of_row(session.ledger, row)


def of_row(ledger: Ledger, row: Row) -> Original | None:
    """The original, from the columns `cold.ORIGINAL`; none and raises as `outside`."""
    *named, payload, source, mark = row
    issued = cold.issued_of(*named)
    if source is not None and digest(cold.as_bytes(source)) == mark:
        return Original(*told(source), issued.span, issued.address.key, held=True)
    if issued.holding is not Holding.COMMITTED:
        return None
    payload = cold.checked(ledger, issued, None if payload is None else cold.as_bytes(payload))
    return Original(*told(payload), issued.span, issued.address.key, held=False)
