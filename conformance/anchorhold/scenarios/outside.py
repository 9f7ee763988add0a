"""What anybody can do to a program from outside: kill it between two operations, change the clocks twice a year."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from anchorhold.planting import EPOCH
from anchorhold.scenarios.plan import ASKED_FOR, Plan, Scenario
from anchorhold.workload import AnyStep, Ask, Clock, Compact, Kill, Probe, Reopen
from anchorhold_spec.vocabulary import Fact

HOUR = 3600.0
CHANGES = {"ends": datetime(2026, 10, 25, 1, tzinfo=UTC), "begins": datetime(2027, 3, 28, 1, tzinfo=UTC)}
"""When summer time ends, and when it begins, in the zone of a clock that is moved from outside."""
MARGIN = 20 * 60.0
"""Seconds before a change, and after it."""
HOURLY = replace(ASKED_FOR, lifetime=HOUR, horizon=HOUR)
"""Entries may expire after an hour by the clock: longer than the clock moves here, shorter than it seems to."""


def _asks(*facts: Fact) -> tuple[AnyStep, ...]:
    return tuple(Ask(fact=fact, evidence=evidence) for fact in facts for evidence in (False, True))


def _killed(plan: Plan) -> tuple[AnyStep, ...]:
    """The process is killed after an append, between two, after a commit, and again right after recovery."""
    facts = plan.facts(4)
    first, second, *others = plan.said(*facts)
    return (
        first,
        Kill(),
        second,
        *others[:1],
        Kill(),
        *others[1:],
        *plan.compacted("drop", *plan.facts(1)),
        Kill(),
        Kill(),
        *_asks(*facts),
        *plan.compacted("faithful", *plan.facts(1)),
        plan.planter.say(*plan.facts(1)),
        Kill(),
        Reopen(),
        Compact(until_idle=2),
        *_asks(*facts),
    )


def _across(change: datetime) -> Callable[[Plan], tuple[AnyStep, ...]]:
    """Twenty minutes before the clocks change originals are archived; twenty minutes after it they are asked for.

    Forty minutes went by on any clock that is not read in local time, which is less than the lifetime; on one that
    is, an hour more, or less. No time passes at all, so nothing may have expired (RET-4).
    """

    def build(plan: Plan) -> tuple[AnyStep, ...]:
        facts = plan.facts(3)
        return (
            Clock(shift=change.timestamp() - EPOCH - MARGIN),
            *plan.said(*facts),
            *plan.compacted("drop"),
            Probe(),
            Clock(shift=2 * MARGIN),
            *_asks(*facts),
            *plan.compacted("drop", *plan.facts(1)),
            *_asks(*facts),
        )

    return build


OUTSIDE = (
    Scenario(
        name="killed", aims=("CRA-3", "ANC-1", "PTR-2", "IDX-1"), build=_killed, needs=frozenset({"kill", "reopen"})
    ),
    *(
        Scenario(
            name=f"summer-time-{name}",
            aims=("RET-4", "PTR-2"),
            build=_across(change),
            needs=frozenset({"clock", "expire"}),
            settings=HOURLY,
        )
        for name, change in CHANGES.items()
    ),
)
