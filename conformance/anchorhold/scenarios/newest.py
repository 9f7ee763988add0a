"""What a statement has beside its value, and which of several statements is the newest."""

import random
from dataclasses import replace

from anchorhold.planting import SECONDS_A_TURN
from anchorhold.qualified import BOUNDS, CONDITIONS, DENIALS, DOUBTS, around, sentences, slots
from anchorhold.scenarios.keeping import asks
from anchorhold.scenarios.plan import Plan, Scenario
from anchorhold.workload import AnyStep, Append, Probe, Reopen

HOUR = 3600.0
SLOTS = frozenset({"reconstitute"})


def _qualified(mode: str) -> Scenario:
    def build(plan: Plan) -> tuple[AnyStep, ...]:
        """Bounds, denials, doubts and conditions of many shapes, summarised faithfully or not (MAN-5)."""
        planter = plan.planter
        bounds = slots(planter, BOUNDS, kind="number")
        doubts = slots(planter, (*DENIALS[:3], *DOUBTS[:5]), kind="identifier")
        conditions = slots(planter, CONDITIONS, kind="path")
        return (
            *plan.compacted("faithful", *bounds, *sentences(planter)[::2]),
            *plan.compacted(mode, *doubts, *sentences(planter)[1::2], *conditions),
            *asks(bounds[0], doubts[0], conditions[0]),
            *plan.compacted("faithful", idle=1),
        )

    return Scenario(name=f"qualified-{mode}", aims=("MAN-5", "MAN-2", "ANC-1"), build=build)


def _weakened_later(plan: Plan) -> tuple[AnyStep, ...]:
    """A value is given, and later only doubted, bounded, denied or tied to a condition, the same or another one; the
    newest word of a slot holds, however little it says (REC-1)."""
    planter = plan.planter
    kinds = ("path", "identifier", "port", "number", "identifier", "number")
    first = tuple(planter.fact(kind) for kind in kinds)
    forms = (*DOUBTS[4:], DENIALS[1], BOUNDS[0], CONDITIONS[0], BOUNDS[2])
    # Half of them of another value: not the word before it alone has to be looked at.
    values = tuple(planter.again(fact) if number % 2 else fact for number, fact in enumerate(first))
    later = tuple(around(value, form, n % 2) for n, (value, form) in enumerate(zip(values, forms, strict=True)))
    return (
        *plan.compacted("drop", *first),
        *plan.said(*later),
        *asks(*later),
        *plan.compacted("drop"),
        *asks(*later),
        Reopen(),
        *plan.compacted("paraphrase"),
    )


def _at(append: Append, time: float | None) -> Append:
    return Append(turn=replace(append.turn, time=time), facts=append.facts)


def _clocks_of_turns(plan: Plan) -> tuple[AnyStep, ...]:
    """Turns come from machines whose clocks differ, over a change of the clocks, from a log that has one time for all
    of it, and without any time: the order in which they were appended counts (REC-1)."""
    planter = plan.planter
    rng = random.Random(planter.subject())  # noqa: S311 - replayable
    shifts = (-rng.uniform(1, 40) * HOUR, -HOUR, -400 * 24 * HOUR, rng.uniform(-9, -1) * SECONDS_A_TURN)
    old = tuple(plan.facts(len(shifts) + 3))
    new = tuple(planter.again(fact) for fact in old)
    said, again = plan.said(*old), plan.said(*new)
    times = [append.turn.time or 0.0 for append in said]
    told = [
        *(_at(append, time + shift) for append, time, shift in zip(again, times, shifts, strict=False)),
        # One time for both; none at all; and before it a clock that is years ahead.
        _at(again[-3], times[-3]),
        _at(again[-2], None),
        again[-1],
    ]
    ahead = _at(said[-1], times[-1] + 10 * 365 * 24 * HOUR)
    return (
        *said[:-1],
        ahead,
        *told[::2],
        *plan.compacted("drop"),
        *told[1::2],
        *asks(*new),
        *plan.compacted("drop"),
        *asks(*new),
        Probe(),
    )


NEWEST = (
    _qualified("drop"),
    _qualified("harden"),
    Scenario(name="weakened-later", aims=("REC-1", "MAN-5"), build=_weakened_later, needs=SLOTS),
    Scenario(name="clocks-of-turns", aims=("REC-1", "STR-2"), build=_clocks_of_turns, needs=SLOTS),
)
