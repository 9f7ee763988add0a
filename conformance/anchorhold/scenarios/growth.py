"""A session that grows and is compacted again and again, and sessions in which there is little to do."""

from anchorhold.scenarios.plan import Plan, Scenario
from anchorhold.workload import AnyStep, Append, Ask, Compact, Summariser

GENERATIONS = 4
ANCHORS = ("ANC-1", "ANC-4", "MAN-1", "MAN-2", "MAN-5", "PTR-1", "PTR-2", "PTR-3", "PTR-4", "REC-1", "PRO-1", "PRO-4")


def _growth(mode: str, facts: int) -> Scenario:
    def build(plan: Plan) -> tuple[AnyStep, ...]:
        steps: list[AnyStep] = []
        for _ in range(GENERATIONS):
            steps.extend(plan.compacted(mode, *plan.facts(facts)))
        return tuple(steps)

    return Scenario(name=f"growth-{mode}", aims=ANCHORS, build=build)


def _mixed_generations(plan: Plan) -> tuple[AnyStep, ...]:
    """First generation faithful, second a paraphrase of it, third without a fact (ANC-4)."""
    facts = plan.facts(4)
    return (
        *plan.compacted("faithful", *facts),
        *plan.compacted("paraphrase", *plan.facts(2)),
        *plan.compacted("drop", *plan.facts(2)),
        *(Ask(fact=fact, evidence=evidence) for fact in facts for evidence in (False, True)),
    )


def _equal_text(plan: Plan) -> tuple[AnyStep, ...]:
    """The same words in different turns, within one compaction and across two: each turn is a span (IDX-2)."""
    fact, other = plan.facts(2)
    words = f"Again, so that nobody misses it. {fact.text} Please keep that in mind."
    short = "Yes, go on."

    def twice() -> tuple[Append, ...]:
        return (
            plan.planter.utter(words, fact),
            plan.planter.utter(short),
            *plan.said(other),
            plan.planter.utter(words, fact),
            plan.planter.utter(short),
        )

    return (*twice(), *plan.compacted("drop"), *twice(), *plan.compacted("drop"), Ask(fact=fact))


def _new_values(plan: Plan) -> tuple[AnyStep, ...]:
    """A slot is asserted anew: old and new value are two assertions, and neither may come loose.

    In later turns, and in the turn itself that said the old one: whoever writes corrects himself as he goes.
    """
    first = plan.facts(3)
    second = tuple(plan.planter.again(fact) for fact in first)
    third = tuple(plan.planter.again(fact) for fact in first)
    corrected = plan.planter.fact("number")
    correction = plan.planter.again(corrected)
    return (
        *plan.compacted("drop", *first),
        *plan.compacted("faithful", *second),
        *(Ask(fact=fact) for fact in (*first, *second)),
        *plan.compacted("drop", *third),
        *(Ask(fact=fact, evidence=True) for fact in (*first, *second, *third)),
        plan.planter.say(corrected, correction),
        Ask(fact=correction),
        *plan.compacted("drop"),
        Ask(fact=correction, evidence=True),
    )


def _little_to_do(plan: Plan) -> tuple[AnyStep, ...]:
    """Compacting an empty session, a small one, and one that was just compacted (OUT-2)."""
    return (
        Compact(),
        *plan.said(*plan.facts(2)),
        Compact(),
        *plan.compacted("faithful", *plan.facts(2)),
        Compact(),
        Compact(),
    )


def _under_watermark(plan: Plan) -> tuple[AnyStep, ...]:
    """Nothing goes wrong and nothing much is worth keeping: the window has to come under its watermark (PRO-1)."""
    return tuple(step for _ in range(3) for step in plan.compacted("faithful", *plan.facts(1), idle=8))


def _idle_talk(plan: Plan) -> tuple[AnyStep, ...]:
    """Words only: no tool, no value, nothing that a manifest could hold."""
    return (
        Summariser(mode="drop"),
        plan.fill(tools=False),
        Compact(until_idle=3),
        plan.fill(tools=False),
        Compact(until_idle=3),
    )


GROWTH = (
    _growth("drop", 4),
    _growth("faithful", 3),
    _growth("paraphrase", 4),
    Scenario(name="mixed-generations", aims=ANCHORS, build=_mixed_generations),
    Scenario(name="equal-text", aims=("IDX-1", "IDX-2", "EPO-3", "PTR-3", "PTR-4"), build=_equal_text),
    Scenario(name="new-values", aims=("ANC-1", "MAN-1", "MAN-2", "MAN-4", "REC-1"), build=_new_values),
    Scenario(name="little-to-do", aims=("OUT-2", "PRO-1"), build=_little_to_do),
    Scenario(name="under-watermark", aims=("PRO-1", "PRO-4"), build=_under_watermark),
    Scenario(name="idle-talk", aims=("PRO-1", "MAN-1", "EVI-1"), build=_idle_talk),
)
