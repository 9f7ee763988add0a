"""The summariser fails, answers what is no summary, or answers more or less than the truth."""

from anchorhold.scenarios.plan import Plan, Scenario
from anchorhold.workload import AnyStep, Compact, Probe, Reopen, Summariser

IN_A_ROW = 7
"""Attempts that end without a summary, one after another."""
NO_SUMMARIES = (
    "fail",
    "empty",
    "blank",
    "truncated",
    "filtered",
    "refusal",
    "tool-call",
    "error-text",
    "echo",
    "same",
)
"""Modes of the model in which nothing that it answers is a summary."""
OUTCOMES = ("OUT-1", "OUT-2", "ANC-5", "ANC-1", "PRO-3")


def _no_summary(mode: str) -> Scenario:
    def build(plan: Plan) -> tuple[AnyStep, ...]:
        """More attempts end so than patience lasts; then the summariser recovers, and one compaction goes through.

        Compactors give up on the model after three failures or five, and what they then do instead has to hold too.
        """
        return (
            *plan.compacted("faithful", *plan.facts(2)),
            Summariser(mode=mode),
            plan.fill(*plan.facts(3)),
            *(Compact() for _ in range(IN_A_ROW)),
            Reopen(),
            Summariser(mode="faithful"),
            Compact(until_idle=3),
            Probe(),
        )

    return Scenario(name=f"reply-{mode}", aims=OUTCOMES, build=build)


def _first_call_fails(plan: Plan) -> tuple[AnyStep, ...]:
    """The very first summary does not come; the next one does."""
    return (
        Summariser(mode="fail", times=1),
        plan.fill(*plan.facts(3)),
        Compact(),
        Compact(until_idle=3),
        *plan.compacted("drop", *plan.facts(2)),
    )


def _untrue(mode: str) -> Scenario:
    def build(plan: Plan) -> tuple[AnyStep, ...]:
        """What the reply says is fluent and false: no manifest may vouch for it."""
        negations = tuple(plan.planter.fact("negation") for _ in range(2))
        return (
            *plan.compacted(mode, *negations, *plan.facts(2)),
            *plan.compacted(mode, *plan.facts(2)),
            *plan.compacted("faithful", *plan.facts(1)),
        )

    return Scenario(name=f"reply-{mode}", aims=("MAN-2", "MAN-5", "MAN-1", "REC-1"), build=build)


def _misattributed(plan: Plan) -> tuple[AnyStep, ...]:
    """The reply has the wrong one say each statement: no manifest may vouch for it. Then it says who did."""
    return (
        *plan.compacted("misattribute", *plan.facts(4)),
        *plan.compacted("misattribute", *plan.facts(2)),
        *plan.compacted("faithful", *plan.facts(1)),
    )


REPLIES = (
    *map(_no_summary, NO_SUMMARIES),
    Scenario(name="first-call-fails", aims=OUTCOMES, build=_first_call_fails),
    _untrue("invent"),
    _untrue("flip"),
    Scenario(name="reply-misattribute", aims=("MAN-2",), build=_misattributed),
)
