"""What a replay counts."""

from collections.abc import Sequence
from dataclasses import dataclass, field

_SUMMED = (
    *("turns", "compactions", "spans", "asked_again", "assertions", "carried", "slots", "drift", "unresolvable"),
    *("lost", "misses", "misses_reported", "wrong", "audits", "failed_audits", "tombstones", "overrides"),
    *("proposed", "evicted", "refused", "steady", "window", "plain", "seconds"),
)


@dataclass(slots=True)
class Tally:
    """What was counted in one replay, or in several."""

    turns: int = 0
    compactions: int = 0
    generations: int = 0
    spans: int = 0
    """Spans that were replaced by a summary."""
    asked_again: int = 0
    """How often one of them was asked for: each in every generation from the one that replaced it, and at the end."""
    assertions: int = 0
    """Assertions of replaced spans, each asked for as often as its span."""
    carried: int = 0
    """Of these, held by the summary's manifest and no original when the replay ended: the gate let it go on that."""
    slots: int = 0
    """Slots that replaced spans assert, each asked for at the end, evidence demanded."""
    drift: int = 0
    """Answers that did not carry what they were asked for: an original that does not say an assertion of its turn,
    an entry of a manifest that its source or its summary does not say, a slot's value that its source does not
    assert."""
    unresolvable: int = 0
    """Replaced spans whose pointer did not lead to the original while no manifest held what they assert."""
    lost: int = 0
    """Their assertions."""
    hits: list[int] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    found_by_words: list[int] = field(default_factory=list)
    asked_by_words: list[int] = field(default_factory=list)
    """Of both, those that were asked in words and answered by rank."""
    misses: int = 0
    """Questions for what was never said."""
    misses_reported: int = 0
    """Of these, those that were answered `absent` or `unanchored`."""
    wrong: int = 0
    """Questions answered with another turn than the one that says it, or answered where nothing does."""
    audits: int = 0
    failed_audits: int = 0
    tombstones: int = 0
    overrides: int = 0
    """How often a loss was accepted on record, so that compaction could go on (RET-3): never with the gate on."""
    proposed: int = 0
    evicted: int = 0
    refused: int = 0
    steady: int = 0
    """Turns from the first compaction on."""
    window: int = 0
    """Tokens of the window, summed over those turns."""
    plain: int = 0
    """The same for the window without the gate."""
    consists: dict[str, int] = field(default_factory=dict)
    """What stands in the window that a compactor which only summarises would not have there, in tokens, summed
    likewise, by what it is."""
    after: list[int] = field(default_factory=list)
    """Size of the window right after each compaction, in tokens."""
    plain_after: list[int] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: "Tally") -> None:
        """Take in another transcript's counts."""
        self.generations = max(self.generations, other.generations)
        for name in _SUMMED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("hits", "asked", "found_by_words", "asked_by_words"):
            setattr(self, name, _added(getattr(self, name), getattr(other, name)))
        for kind, size in other.consists.items():
            self.consists[kind] = self.consists.get(kind, 0) + size
        self.after += other.after
        self.plain_after += other.plain_after

    @property
    def overhead_percent(self) -> float:
        """What the window has more than that without the gate, in percent, over all turns from the first compaction
        on."""
        return _more(self.window, self.plain)

    @property
    def overhead_percent_after(self) -> float:
        """The same of the windows right after each compaction, where they are smallest."""
        return _more(_mean(self.after), _mean(self.plain_after))

    @property
    def hit_rate(self) -> list[float]:
        """Share of the fixed set of queries that found the turn that says it, by pass."""
        return _rates(self.hits, self.asked)

    @property
    def hit_rate_by_words(self) -> list[float]:
        """The same of those that were asked in words."""
        return _rates(self.found_by_words, self.asked_by_words)


def _added(one: Sequence[int], other: Sequence[int]) -> list[int]:
    longest = max(len(one), len(other))
    return [
        a + b
        for a, b in zip([*one, *[0] * (longest - len(one))], [*other, *[0] * (longest - len(other))], strict=True)
    ]


def _more(size: float, plain: float) -> float:
    return 100 * (size - plain) / plain if plain else 0.0


def _mean(sizes: Sequence[int]) -> float:
    return sum(sizes) / len(sizes) if sizes else 0.0


def _rates(hits: Sequence[int], asked: Sequence[int]) -> list[float]:
    return [hit / of for hit, of in zip(hits, asked, strict=True) if of]
