"""What the catalogue is made of: rules, their families, their sources, and the levels that demand them."""

from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    """Where a rule comes from. Four analyses of how agent memory fails, and what users reported."""

    S0 = "S0"
    """Facts that leave the summaries and the retrieval index in turn: carriers, manifests, tombstones."""
    S1 = "S1"
    """When a fallback index stops being lossless: immutable keys, audits, degraded mode."""
    S2 = "S2"
    """When a summarised span must not be reclaimed: evidential class against provenance."""
    S4 = "S4"
    """Summaries that commit before their source is durable: write order, epochs, two phases, pending."""
    F = "F"
    """Public fault reports by people who run such systems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing that a transcript compactor must hold."""

    id: str
    """Family and number, as in `ANC-1`. The same everywhere, and never given to another rule."""
    family: str
    """Code of its family: the letters of the id."""
    title: str
    statement: str
    """The rule itself, in one to three sentences. This is its only wording in the project."""
    sources: tuple[Source, ...]
    level: int
    """The first level, 1 to 5, that demands it; so do all levels above."""
    not_modelled_because: str | None = None
    """Why no state machine can state it; none where one can."""
    checked_by: str | None = None
    """What holds compactors to it instead; given exactly where it is not modelled."""

    @property
    def modelled(self) -> bool:
        """Whether it speaks of states and steps, so that it belongs in a machine of the specification.

        Says where the rule belongs, and not that a machine has it already: the machines tell that themselves.
        """
        return self.not_modelled_because is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Rules about one subject."""

    id: str
    """Three letters."""
    title: str
    about: str
    """What the family is for, in one sentence."""
    rules: tuple[str, ...]
    """Ids, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A rung of the ladder. It demands its own rules and those of every level before it."""

    number: int
    name: str
    promise: str
    """What reaching it means, in words for whoever relies on it."""
    first_demanded: tuple[str, ...]
    """Ids of the rules that this level adds, in the order of the catalogue."""
    rules: tuple[str, ...]
    """Ids of all rules that it demands, in the order of the catalogue."""
