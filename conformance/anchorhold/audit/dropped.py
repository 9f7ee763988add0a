"""What earlier compactions of a session dropped: a need of it shows only after the next compaction, or a later one.

Bounded, because sessions may be compacted without end: of each session the `MOST_FACTS` dropped last, each with the
words around it, and the digests of the `MOST_LINES` replaced lines read last, by which text that is shown again is
told. What is forgotten is counted, for each compaction: `Finding.forgotten`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from anchorhold.audit.facts import HASH
from anchorhold.audit.finding import Finding, Place

MOST_FACTS = 10_000
MOST_LINES = 30_000
MOST_AROUND = 160
"""Characters around a fact that are kept."""


@dataclass(frozen=True, slots=True)
class Drop:
    """A fact that an earlier compaction dropped, and that nothing has said since."""

    kind: str
    literal: str
    files: tuple[tuple[str, int], ...]
    said: Place
    records: tuple[int, ...]
    """Records of the turns that said it, the last ones."""
    finding: Finding
    """The compaction that dropped it."""


class Dropped:
    """The facts that are gone, by their words."""

    def __init__(self) -> None:
        """Start with none."""
        self._facts: dict[str, Drop] = {}
        self._lines: dict[int, int] = {}
        self.hashes: dict[str, str] = {}
        """Long hashes among them, by their first seven digits."""

    def __contains__(self, literal: str) -> bool:
        """Whether it is among them."""
        return literal in self._facts

    def get(self, literal: str) -> Drop | None:
        """The fact of these words."""
        return self._facts.get(literal)

    def put(self, drop: Drop) -> None:
        """A fact is dropped, or dropped anew: the last compaction that did counts."""
        self._facts.pop(drop.literal, None)
        self._facts[drop.literal] = drop
        if HASH.fullmatch(drop.literal):
            self.hashes[drop.literal[:7].lower()] = drop.literal
        if len(self._facts) > MOST_FACTS:
            oldest = self._facts.pop(next(iter(self._facts)))
            self.hashes.pop(oldest.literal[:7].lower(), None)
            oldest.finding.forgotten += 1

    def carried(self, literal: str) -> None:
        """It stands in the summary now."""
        self._facts.pop(literal, None)

    def shown(self, lines: Iterable[tuple[str, int]]) -> None:
        """Lines that are replaced, each with the record that had it last."""
        for line, record in lines:
            key = hash(line)
            self._lines.pop(key, None)
            self._lines[key] = record
            if len(self._lines) > MOST_LINES:
                del self._lines[next(iter(self._lines))]

    def had(self, line: str) -> int | None:
        """The record of an earlier segment that had a line."""
        return self._lines.get(hash(line))
