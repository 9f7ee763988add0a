"""A fact where it stands in a text, and when two of them are the same.

Two mentions are the same fact when their keys are equal. A key holds what was said with its polarity, certainty,
number, unit and bound. A number, a negation, a hedge or a time means nothing without its sentence ("30 ms" of
what?), so the sentence belongs to its key; an identifier, a path, an entity or a quotation stands for itself.
"""

from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, NamedTuple, TypeAlias

from anchorhold_reference.extract.slots import spelled

NEEDS_SENTENCE = frozenset({"number", "negation", "hedge", "timestamp"})
LINE: Final = "line"
"""Frame of a line's number: it says where the line stands whose text follows, and nothing else."""
PLAIN: Final = "|00"
"""Frame of what stands in a sentence that neither negates nor hedges."""
Fact: TypeAlias = tuple[Any, ...]
"""The values of a `Mention`. A plain tuple where it is remembered: the collector of garbage passes over those."""


class Mention(NamedTuple):
    """A fact where it stands in a text. A tuple, because there are very many of them."""

    kind: str
    literal: str
    start: int
    end: int
    """Where the literal stands."""
    said: str
    """The sentence that says it, verbatim, without bullets: what has to be repeated to carry it."""
    key: bytes
    """Equal for mentions of the same fact, 16 bytes; see `key_of`."""
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    """A slot's value without its negation."""
    negated: bool = False
    hedged: bool = False
    frame: str = ""
    """What else belongs to the fact: bound, tense, polarity and certainty of the whole sentence."""
    speaker: str | None = None
    """Whose words the text says these are."""
    part: bool = False
    """Stands inside a slot's statement and is part of that assertion, not one of its own."""


make = tuple.__new__
"""`make(Mention, values)` is what a named tuple's own constructor does after it has sorted out its arguments."""


def key_of(
    kind: str,
    literal: str,
    said: str,
    *,
    subject: str | None = None,
    attribute: str | None = None,
    negated: bool = False,
    hedged: bool = False,
    frame: str = "",
) -> bytes:
    """The key of a fact, from what belongs to it; the arguments are as in `Mention`."""
    own = f"{kind}\x1f{literal}\x1f{negated}\x1f{hedged}\x1f{frame}"
    if kind in NEEDS_SENTENCE:
        own = f"{own}\x1f{said if frame == LINE else level(said)}"
    elif subject is not None or attribute is not None:
        own = f"{own}\x1f{spelled(subject or '')}\x1f{spelled(attribute or '')}"
    return blake2b(own.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@lru_cache(maxsize=64)
def level(said: str) -> str:
    """A sentence with its white space levelled. One sentence holds many facts, mostly one after the other."""
    return " ".join(said.split())


def placed(facts: tuple[Fact, ...], at: int) -> list[Mention]:
    """The facts of a line that begins at a place of a text."""
    # Value by value, since this is done for every fact of a transcript: other ways make further tuples.
    return [
        make(
            Mention,
            (k, text, at + begin, at + end, said, key, subject, attribute, value, no, hedged, frame, speaker, part),
        )
        for k, text, begin, end, said, key, subject, attribute, value, no, hedged, frame, speaker, part in facts
    ]
