"""Retrieval by likeness: which originals a question in words fits best. BM25 alone, or fused with vectors where the
caller passes an embedding function.

What comes back are originals as they are, the best first; likeness is no answer. Whether something was said, and what
the value of a slot is, say `search` and `reconstitute`, which return nothing that merely resembles (REC-1).
"""

from collections.abc import Sequence

from anchorhold_reference import cold, index
from anchorhold_reference.decide import fuse
from anchorhold_reference.errors import MismatchError, StoreError
from anchorhold_reference.session import Session
from anchorhold_spec.vocabulary import Turn


def retrieve(
    session: Session, query: str, *, limit: int, nearest: Sequence[int] | None = None
) -> list[tuple[Turn, str]]:
    """The originals that fit a query best, each with its carrier's key; `nearest` are those that an embedding finds.

    An original that cannot be read, or whose bytes are wrong, is left out: the status tells of it.
    """
    ledger = session.ledger
    with ledger.reading():
        by_words = [span for span, _ in index.ranked(ledger, session.id, query, limit=limit * 4)]
        found: list[tuple[Turn, str]] = []
        for span in fuse([by_words] if nearest is None else [by_words, list(nearest)]):
            if len(found) == limit:
                break
            issued = cold.pointer_to(ledger, span)
            if issued is None:
                continue
            try:
                found.append((cold.fetch(ledger, issued), issued.address.key))
            except (MismatchError, StoreError):
                continue
    return found
