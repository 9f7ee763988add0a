"""The rows of the vector index: which originals have a vector, which are to get one, which lie nearest to another.

Ordinary rows of the ledger, and distances computed by sqlite-vec over those that the branch sees (ISO-1). A row is
made, as outstanding, in the transaction that makes the original's entry in the full-text index, whoever has the
session open, with an embedding function or without: so it is always known what has no vector yet (REC-4).
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anchorhold_reference.ledger import Ledger

Packed = bytes | None
"""A vector as sqlite-vec reads it, 32-bit floats; None where there is nothing to be compared: no words, or zeros."""

_EXPECT = (
    "INSERT INTO vector (span) SELECT p.span FROM pointer p JOIN session s ON s.id = p.session "
    "JOIN embedding e ON e.session = s.root WHERE p.indexed = 1 AND p.holding = 'committed' AND {} "
    "ON CONFLICT DO NOTHING"
)
_OUTSTANDING = (
    "FROM vector v WHERE v.outstanding = 1 AND EXISTS (SELECT 1 FROM pointer p JOIN lineage g ON g.node = p.session "
    "AND p.span BETWEEN g.first AND g.last WHERE p.span = v.span AND p.holding = 'committed' AND g.session = ?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """Vectors of originals that are about to be entered."""

    dimension: int
    by_span: Mapping[int, Packed]


def pack(vector: Sequence[float]) -> Packed:
    """A vector as it is stored."""
    return struct.pack(f"<{len(vector)}f", *vector) if any(vector) else None


def adopt(ledger: Ledger, root: int) -> int | None:
    """Let a session have vectors from now on, its earlier originals too; the dimension of those that it has."""
    with ledger.transaction():
        row = ledger.first("SELECT dimension FROM embedding WHERE session = ?", (root,))
        if row is None:
            ledger.run("INSERT INTO embedding (session) VALUES (?)", (root,))
            ledger.run(_EXPECT.format("s.root = ?"), (root,))
    return None if row is None or row[0] is None else int(row[0])


def expect(ledger: Ledger, spans: Sequence[int]) -> None:
    """Note that originals which were just entered are to get vectors, where their session has such. Inside that
    transaction."""
    if ledger.dialect.name == "sqlite" and ledger.first("SELECT 1 FROM embedding LIMIT 1") is not None:
        ledger.many(_EXPECT.format("p.span = ?"), [(span,) for span in spans])


def write(ledger: Ledger, root: int, embedded: Embedded) -> bool:
    """Write vectors that are outstanding still; False where those of the session have another dimension. Inside a
    transaction."""
    ledger.run(
        "UPDATE embedding SET dimension = ? WHERE session = ? AND dimension IS NULL", (embedded.dimension, root)
    )
    if ledger.one("SELECT dimension FROM embedding WHERE session = ?", (root,)) != (embedded.dimension,):
        return False
    ledger.many(
        "UPDATE vector SET outstanding = 0, embedding = ? WHERE span = ? AND outstanding = 1",
        [(packed, span) for span, packed in embedded.by_span.items()],
    )
    return True


def erase(ledger: Ledger, span: int) -> None:
    """Take a vector out: it tells what its original said (ERA-1). Inside the transaction that erases the original."""
    if ledger.dialect.name == "sqlite":
        ledger.run("DELETE FROM vector WHERE span = ?", (span,))


def outstanding(ledger: Ledger, session: int) -> list[int]:
    """The originals of a branch that are to get a vector, oldest first."""
    return [int(span) for (span,) in ledger.all(f"SELECT v.span {_OUTSTANDING} ORDER BY v.span", (session,))]


def nearest(ledger: Ledger, session: int, query: bytes, *, limit: int) -> list[int]:
    """The originals of a branch whose vectors have the smallest angle to another, the nearest first."""
    return [
        int(span)
        for span, _ in ledger.all(
            "SELECT p.span, vec_distance_cosine(v.embedding, ?) AS far FROM lineage g JOIN pointer p "
            "ON p.session = g.node AND p.holding = 'committed' AND p.span BETWEEN g.first AND g.last "
            "JOIN vector v ON v.span = p.span AND v.embedding IS NOT NULL WHERE g.session = ? "
            "ORDER BY far, p.span DESC LIMIT ?",
            (query, session, limit),
        )
    ]
