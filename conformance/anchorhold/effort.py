"""How much a check tries."""

from dataclasses import dataclass
from enum import StrEnum


class Effort(StrEnum):
    """How much is tried."""

    QUICK = "quick"
    STANDARD = "standard"
    THOROUGH = "thorough"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What an effort comes to."""

    rounds: int
    """How often each directed scenario is written and played, each time with other turns and facts."""
    mixtures: int
    """Seeded mixtures within one window (`anchorhold.scenarios.mixtures`)."""
    journeys: int
    """Seeded mixtures over sessions and branches (`anchorhold.scenarios.journeys`)."""
    walks: int
    """Walks through all operations and faults that Hypothesis draws."""
    shrinking: int
    """Operations that may be played to shorten the failing histories of one rule (`anchorhold.shrink`)."""
    aimed: int | None = None
    """How many scenarios that aim at it are played for each rule before it is asked whether that says enough; None:
    all of them are played (`anchorhold.selection`)."""


BUDGETS: dict[Effort, Budget] = {
    Effort.QUICK: Budget(rounds=1, mixtures=2, journeys=1, walks=0, shrinking=10_000, aimed=1),
    Effort.STANDARD: Budget(rounds=1, mixtures=14, journeys=6, walks=0, shrinking=30_000),
    Effort.THOROUGH: Budget(rounds=5, mixtures=150, journeys=60, walks=100, shrinking=120_000),
}
