"""Directed scenarios and seeded mixtures: which workloads a check plays.

A scenario whose needed operations the compactor does not offer is left out. Mixtures go after the directed ones.
"""

from collections.abc import Iterator

from anchorhold.effort import BUDGETS, Budget, Effort
from anchorhold.scenarios.beside import SIDE_BY_SIDE
from anchorhold.scenarios.contents import CONTENTS
from anchorhold.scenarios.crossings import CROSSINGS
from anchorhold.scenarios.damage import DAMAGE, crash_at
from anchorhold.scenarios.evidence import EVIDENCE
from anchorhold.scenarios.growth import GROWTH
from anchorhold.scenarios.identities import IDENTITIES
from anchorhold.scenarios.index import INDEX
from anchorhold.scenarios.journeys import journey
from anchorhold.scenarios.keeping import KEEPING
from anchorhold.scenarios.likeness import LIKENESS
from anchorhold.scenarios.loosening import LOOSENING
from anchorhold.scenarios.mixtures import mixture
from anchorhold.scenarios.newest import NEWEST
from anchorhold.scenarios.nothing import NOTHING
from anchorhold.scenarios.outside import OUTSIDE
from anchorhold.scenarios.plan import ASKED_FOR, Plan, Scenario
from anchorhold.scenarios.replies import REPLIES
from anchorhold.scenarios.trouble import AUDITED, TROUBLE, store_fails_at

__all__ = ["ASKED_FOR", "AUDITED", "BUDGETS", "DIRECTED", "Budget", "Effort", "Plan", "Scenario", "scenarios"]

DIRECTED: tuple[Scenario, ...] = (
    *GROWTH,
    *LOOSENING,
    *KEEPING,
    *EVIDENCE,
    *INDEX,
    *NOTHING,
    *REPLIES,
    *DAMAGE,
    *SIDE_BY_SIDE,
    *TROUBLE,
    *LIKENESS,
    *OUTSIDE,
    *CROSSINGS,
    *CONTENTS,
    *NEWEST,
    *IDENTITIES,
)


def scenarios(
    *, effort: Effort, seed: int, means: frozenset[str], points: tuple[str, ...]
) -> Iterator[tuple[Scenario, str]]:
    """The scenarios to play in order, each with the seed for its turns and facts."""
    budget = BUDGETS[effort]
    crashes = tuple(crash_at(number, name) for number, name in enumerate(points))
    failures = tuple(store_fails_at(number, name) for number, name in enumerate(points))
    long = () if effort is Effort.QUICK else (AUDITED,)
    for number in range(budget.rounds):
        for scenario in (*DIRECTED, *crashes, *failures, *long):
            if scenario.needs <= means:
                yield scenario, f"{scenario.name}:{number}" if scenario.fixed else f"{seed}:{scenario.name}:{number}"
    for number in range(budget.mixtures):
        yield mixture(number, seed), f"{seed}:mixture:{number}"
    for number in range(budget.journeys):
        travelled = journey(number, seed)
        if travelled.needs <= means:
            yield travelled, f"{seed}:journey:{number}"
