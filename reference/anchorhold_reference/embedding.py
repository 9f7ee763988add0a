"""The embedding function that the caller passes, and what it is asked for: vectors of originals and of questions.

It is called outside of every transaction, as the summariser is. Where it fails, nothing stops: what has no vector is
outstanding, is told of by `status`, is tried again after the next commit and at the next opening, and makes a
negative answer `pending` or `degraded` meanwhile (REC-4).
"""

import math
from collections.abc import Mapping, Sequence

from anchorhold_reference import index, vectors
from anchorhold_reference.errors import EmbeddingMismatchError, LedgerError, VectorsUnavailableError
from anchorhold_reference.ledger import batched
from anchorhold_reference.session import Session
from anchorhold_reference.values import Embed
from anchorhold_reference.vectors import Embedded, Packed

AT_A_TIME = 64
"""Texts that one call of the function is given at most."""
_PROBE = "A question that tells how long vectors are."


class Embedding:
    """Vectors for one session; without a function it knows of none and asks for none."""

    def __init__(self, session: Session, embed: Embed | None) -> None:
        """Take the function; `start` begins."""
        self._session = session
        self._embed = embed
        self._dimension: int | None = None
        self.fault: str | None = None
        """What was wrong when the function was last asked; none where nothing was."""

    @property
    def wanted(self) -> bool:
        """Whether there is a function."""
        return self._embed is not None

    def start(self) -> None:
        """Let the session have vectors, and make those that are outstanding.

        Raises `VectorsUnavailableError` where the database cannot compare vectors, `EmbeddingMismatchError` where the
        session has vectors of another dimension than the function makes.
        """
        if self._embed is None:
            return
        ledger = self._session.ledger
        if ledger.dialect.name != "sqlite":
            raise VectorsUnavailableError(ledger.dialect.name)
        try:
            ledger.one("SELECT vec_version()")
        except LedgerError as error:
            raise VectorsUnavailableError("this connection to SQLite") from error
        known = vectors.adopt(ledger, self._session.root)
        probe = self._ask([_PROBE])
        if probe is None:
            self._dimension = known
        elif known not in {None, probe[0]}:
            raise EmbeddingMismatchError(known=known or 0, made=probe[0])
        else:
            self.catch_up()

    def of(self, texts: Mapping[int, str]) -> Embedded | None:
        """Vectors for originals that are about to be entered, by span; none where the function is missing or
        failed."""
        if self._embed is None:
            return None
        found: dict[int, Packed] = {span: None for span, text in texts.items() if not index.words_of(text)}
        for some in batched([span for span in texts if span not in found], AT_A_TIME):
            answer = self._ask([texts[span] for span in some])
            if answer is None:
                break
            found |= zip(some, answer[1], strict=True)
        return None if self._dimension is None else Embedded(dimension=self._dimension, by_span=found)

    def catch_up(self) -> None:
        """Make the vectors that are outstanding, as far as the function and the originals are there."""
        if self._embed is None:
            return
        ledger = self._session.ledger
        for some in batched(vectors.outstanding(ledger, self._session.id), AT_A_TIME):
            with ledger.reading():
                texts = dict(index.texts(ledger, some, indexed=1))
            embedded = self.of(texts)
            if embedded is not None and embedded.by_span:
                with ledger.transaction():
                    written = vectors.write(ledger, self._session.root, embedded)
                if not written:
                    self.fault = "another opening of the session has vectors of another dimension"
            if self.fault is not None:
                return

    def outstanding(self) -> int:
        """How many originals that the branch sees are to get a vector; 0 where the session has none."""
        ledger = self._session.ledger
        return len(vectors.outstanding(ledger, self._session.id)) if ledger.dialect.name == "sqlite" else 0

    def nearest(self, query: str, *, limit: int) -> list[int] | None:
        """The originals nearest to a question; none where the function is missing or failed."""
        if self._embed is None:
            return None
        answer = self._ask([query]) if index.words_of(query) else None
        if answer is None:
            return None
        packed = answer[1][0]
        return [] if packed is None else vectors.nearest(self._session.ledger, self._session.id, packed, limit=limit)

    def _ask(self, texts: Sequence[str]) -> tuple[int, list[Packed]] | None:
        """The vectors of texts, and how long they are; none, and `fault` says why, where they are no vectors."""
        assert self._embed is not None
        try:
            answer = [[float(value) for value in vector] for vector in self._embed(list(texts))]
        except Exception as error:  # noqa: BLE001 - whatever the caller's function raises, it is the same to us
            self.fault = f"the embedding function failed: {type(error).__name__}: {error}"
            return None
        self.fault = _wrong(answer, count=len(texts), dimension=self._dimension)
        if self.fault is not None:
            return None
        self._dimension = len(answer[0])
        return self._dimension, [vectors.pack(vector) for vector in answer]


def _wrong(answer: Sequence[Sequence[float]], *, count: int, dimension: int | None) -> str | None:
    """What is wrong with what the function answered; none where nothing is."""
    what = "the embedding function is wrong:"
    if len(answer) != count:
        return f"{what} {len(answer)} vectors for {count} texts"
    lengths = {len(vector) for vector in answer}
    if len(lengths) != 1 or 0 in lengths:
        return f"{what} vectors of {', '.join(map(str, sorted(lengths)))} numbers; all have to have as many"
    if dimension is not None and lengths != {dimension}:
        return f"{what} vectors of {lengths.pop()} numbers, where it made some of {dimension} before"
    if not all(math.isfinite(value) and abs(value) < _LARGEST for vector in answer for value in vector):
        return f"{what} a number that is not finite, or none of 32 bits"
    return None


_LARGEST = 3.4e38
"""Of 32-bit floats."""
