"""An index over many generations: spans that are cut anew, turns that come in twice, short summaries."""

from anchorhold.scenarios.keeping import asks
from anchorhold.scenarios.plan import Plan, Scenario
from anchorhold.workload import AnyStep, Append, Compact, Probe, Reopen, Summariser

GENERATIONS = 8


def _recut(plan: Plan) -> tuple[AnyStep, ...]:
    """A summary over some turns, then a coarser one over those and others around them, with equal turns in both.

    What S1 saw with 4,100 to 4,400 and then 3,800 to 4,600: whoever keys by content merges them, and whoever keys by
    range loses the first.
    """
    fact, other = plan.facts(2)
    words = f"Checked again. {fact.text} Nothing new."

    def same() -> Append:
        return plan.planter.utter(words, fact, speaker="assistant")

    return (
        *plan.said(other),
        same(),
        *plan.compacted("drop", *plan.facts(1)),
        same(),
        same(),
        *plan.compacted("drop", *plan.facts(1)),
        Reopen(),
        same(),
        *plan.compacted("paraphrase"),
        *asks(fact, other),
        *plan.compacted("drop"),
    )


def _ingested_again(plan: Plan) -> tuple[AnyStep, ...]:
    """Turns that left the window, and turns that are in it, are handed in again: one, a few, after a restart."""
    early, late = plan.said(*plan.facts(3)), plan.said(*plan.facts(3))
    return (
        *early,
        *plan.compacted("drop"),
        *late,
        Probe(),
        early[0],
        Probe(),
        late[-1],
        Probe(),
        *early,
        *late,
        Probe(),
        Reopen(),
        early[1],
        late[0],
        Probe(),
        *plan.compacted("drop"),
        *late,
        Probe(),
    )


def _generations(plan: Plan) -> tuple[AnyStep, ...]:
    """Little is said that has to be carried, and it is compacted again and again (PRO-4)."""
    steps: list[AnyStep] = [Summariser(mode="faithful"), plan.fill(*plan.facts(2), tools=False), Compact()]
    for _ in range(GENERATIONS):
        steps.extend((plan.fill(tools=False), Compact()))
    return tuple(steps)


INDEX = (
    Scenario(name="recut", aims=("IDX-1", "IDX-3", "IDX-4", "PTR-4"), build=_recut),
    Scenario(name="ingested-again", aims=("IDX-5",), build=_ingested_again),
    Scenario(name="generations", aims=("PRO-4", "PRO-1", "IDX-4"), build=_generations),
)
