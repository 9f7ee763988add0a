"""Retrieval by likeness: which originals a question in words fits best. BM25 alone, or fused with vectors where the
caller passes an embedding function.

What comes back are originals as they are, the best first; likeness is no answer. Whether something was said, and what
the value of a slot is, say `search` and `reconstitute`, which return nothing that merely resembles (REC-1).
"""

from anchorhold_reference import cold, index
from anchorhold_reference.codec import shown
from anchorhold_reference.decide import fuse
from anchorhold_reference.embedding import Embedding
from anchorhold_reference.errors import MismatchError, StoreError
from anchorhold_reference.originals import original
from anchorhold_reference.searching import lost
from anchorhold_reference.session import Session
from anchorhold_spec.vocabulary import Answer, AnswerKind

BY_LIKENESS = "by a likeness of meaning: it has none of the question's words, and may say nothing of what was asked"


def retrieve(session: Session, query: str, *, limit: int, embedding: Embedding) -> list[Answer]:
    """The originals that fit a query best; of one that has none of its words the reason says so (REC-1). Where there
    is none and not all was searched, that is the answer (REC-4).

    Vectors only propose: every original is read and checked against its pointer. One that cannot be read, or whose
    bytes are wrong, is left out: the status tells of it.
    """
    ledger = session.ledger
    # Before anything is read: no transaction is open while the caller's function is asked.
    nearest = embedding.nearest(query, limit=limit * 4)
    words = set(index.words_of(query))
    with ledger.reading():
        by_words = [span for span, _ in index.ranked(ledger, session.id, query, limit=limit * 4)]
        found: list[Answer] = []
        for span in fuse([by_words] if nearest is None else [by_words, nearest]):
            if len(found) == limit:
                break
            issued = cold.pointer_to(ledger, span)
            if issued is None:
                continue
            try:
                turn = cold.fetch(ledger, issued)
            except (MismatchError, StoreError):
                continue
            alike = words.isdisjoint(index.words_of(shown(turn) or ""))
            found.append(original(turn, carrier=issued.address.key, reason=BY_LIKENESS if alike else None))
        return found or _nothing(session, embedding)


def _nothing(session: Session, embedding: Embedding) -> list[Answer]:
    """What to say where nothing was found: nothing, if everything was searched."""
    faults = lost(session)
    lacking = index.missing(session.ledger, session.id)
    if lacking:
        faults.append(f"{lacking} originals are not in the full-text index yet (REC-4)")
    if embedding.fault is not None:
        faults.append(f"words alone were searched: {embedding.fault}")
    waiting = embedding.outstanding() if embedding.wanted else 0
    if waiting:
        faults.append(f"{waiting} originals have no vector yet (REC-4)")
    if not faults:
        return []
    only_waiting = waiting and len(faults) == 1
    kind = AnswerKind.PENDING if only_waiting else AnswerKind.DEGRADED
    return [Answer(kind=kind, reason=f"nothing was found where it could be searched: {'; '.join(faults)}")]
