"""Power that goes, stores that fail, copies that are late, clocks that jump, and workers that take turns.

B07, B08, B15, B16, B17, and the unordered designs whose sources go before their copies have landed.
"""

from collections.abc import Callable
from dataclasses import replace

from anchorhold.compactor import StoreFault
from anchorhold.scenarios.plan import ASKED_FOR, Plan, Scenario
from anchorhold.workload import (
    AnyStep,
    Append,
    Ask,
    Clock,
    Compact,
    Corrupt,
    CrashAt,
    DropFact,
    Evict,
    Expire,
    FailStore,
    Forget,
    Fork,
    HoldCopies,
    LosePower,
    Override,
    Probe,
    Reopen,
    Settle,
    Summariser,
    Switch,
    Task,
    Workers,
)
from anchorhold_spec.vocabulary import Fact

HOUR = 3600.0
LONG_LIVED = replace(ASKED_FOR, lifetime=HOUR, horizon=HOUR / 3)
"""Entries may expire after an hour, and evidence may be asked for during twenty minutes."""
SHORT_LIVED = replace(ASKED_FOR, lifetime=HOUR / 12, horizon=HOUR / 3)
"""Entries may expire in five minutes, and evidence may be asked for during twenty (B17)."""
TINY = replace(ASKED_FOR, budget=60, watermark=0.5)
"""A window of a few words, so that every few turns make a compaction."""
PERIODS = 505
"""Compactions after which an audit is due, and a few more."""
RESTARTED = 150
"""Compactions between two restarts."""
EARLY = 5
"""The compaction after which pointers are listed, to be followed at the end."""


def _asks(*facts: Fact) -> tuple[AnyStep, ...]:
    return tuple(Ask(fact=fact, evidence=evidence) for fact in facts for evidence in (False, True))


def _power(plan: Plan) -> tuple[AnyStep, ...]:
    """Power goes after an append, after a commit, after a tombstone, and again right after recovery."""
    facts = plan.facts(3)
    said = plan.said(*facts)
    return (
        *said,
        LosePower(),
        *plan.compacted("drop", *plan.facts(2)),
        LosePower(),
        LosePower(),
        *_asks(*facts),
        DropFact(fact=facts[0], turn=said[0].turn.id, reason="a caller's decision"),
        LosePower(),
        *plan.compacted("faithful", *plan.facts(1)),
        plan.planter.say(*plan.facts(1)),
        LosePower(),
        Compact(until_idle=2),
        *_asks(*facts),
    )


def store_fails_at(point: int, name: str) -> Scenario:
    """The store fails at one durable step, in each of three ways; what is reported has to be so, also cold."""

    def build(plan: Plan) -> tuple[AnyStep, ...]:
        steps: list[AnyStep] = []
        for fault in StoreFault:
            steps.extend(
                (
                    Summariser(mode="faithful"),
                    plan.fill(*plan.facts(1)),
                    FailStore(point=point, fault=fault),
                    Reopen(),
                    Compact(until_idle=3),
                )
            )
        return tuple(steps)

    return Scenario(
        name=f"store-fails-{name}",
        aims=("OUT-3", "PRO-3", "PTR-1", "ANC-5", "PTR-6"),
        build=build,
        needs=frozenset({"fail_store"}),
    )


def _uncommitted(plan: Plan) -> tuple[AnyStep, ...]:
    """A summary is written and not committed: nothing of it may be found, least of all what only it says (PTR-6)."""
    steps: list[AnyStep] = []
    for point in range(max(1, min(3, len(plan.points)))):
        call = len(steps)
        steps.extend(
            (
                Summariser(mode="truncated", times=1),
                plan.fill(*plan.facts(2)),
                Compact(),
                Summariser(mode="invent", times=1),
                CrashAt(point=point),
                Ask(fact=Fact(text=f"ghost {call}", literal=_ghost(len(steps)), kind="entity")),
                Compact(until_idle=2),
            )
        )
    return (*steps, *(Ask(fact=Fact(text=each, literal=each, kind="entity")) for each in map(_ghost, range(8))))


def _ghost(call: int) -> str:
    """The name that an inventing model brings up in its call of this number."""
    return f"ghost-relay-{call + 1}"


def _late_copies(plan: Plan) -> tuple[AnyStep, ...]:
    """Copies are held back over two commits and a restart; then they land, and pending ends (PTR-5, B15)."""
    facts = plan.facts(3)
    return (
        HoldCopies(held=True),
        *plan.said(*facts),
        *plan.compacted("drop"),
        *_asks(*facts),
        *plan.compacted("drop", *plan.facts(1)),
        Reopen(),
        *_asks(*facts),
        Settle(),
        *_asks(*facts),
        Probe(),
        HoldCopies(held=True),
        *plan.compacted("faithful", *plan.facts(2)),
        HoldCopies(held=False),
        Settle(),
        Probe(),
    )


def _interrupted(name: str, needs: frozenset[str], meanwhile: Callable[[Plan], tuple[AnyStep, ...]]) -> Scenario:
    def build(plan: Plan) -> tuple[AnyStep, ...]:
        """Copies are outstanding while something else is done, which ends what was under way: they land all the same,
        or it is said that they did not (PTR-5)."""
        first, second = plan.facts(2), plan.facts(2)
        return (
            HoldCopies(held=True),
            *plan.said(*first),
            *plan.compacted("drop"),
            *meanwhile(plan),
            Settle(),
            *_asks(*first),
            Probe(),
            HoldCopies(held=True),
            *plan.compacted("faithful", *second),
            *meanwhile(plan),
            Settle(),
            *_asks(*first, *second),
            Probe(),
        )

    return Scenario(name=name, aims=("PTR-5", "PTR-2"), build=build, needs=needs | {"hold_copies", "settle"})


def _elsewhere(plan: Plan) -> tuple[AnyStep, ...]:
    return (Switch(session="another", user="u"), *plan.said(*plan.facts(1)), Switch(session="s", user="u"))


def _model_fails(plan: Plan) -> tuple[AnyStep, ...]:
    return (Summariser(mode="fail", times=1), plan.fill(*plan.facts(1)), Compact(), Summariser(mode="drop"))


def _branch_begins(plan: Plan) -> tuple[AnyStep, ...]:
    # Each branch has a name of its own, and the session goes on where it was.
    name = plan.planter.subject().replace(" ", "-")
    return (Fork(branch=name), *plan.said(*plan.facts(1)), Switch(session="s", user="u"))


def _branch_entered(plan: Plan) -> tuple[AnyStep, ...]:
    # What is outstanding is so in the branch as well, and lands there.
    name = plan.planter.subject().replace(" ", "-")
    return (Fork(branch=name), *plan.said(*plan.facts(1)))


def _another_goes(plan: Plan) -> tuple[AnyStep, ...]:
    said = plan.planter.say(*plan.facts(1))
    return (said, Forget(turn=said.turn.id))


def _pressure(plan: Plan) -> tuple[AnyStep, ...]:
    """Copies are late, and meanwhile the reaper runs: a source may not go before its copy has landed (PTR-2)."""
    said = plan.said(*plan.facts(4))
    return (
        *said,
        HoldCopies(held=True),
        *plan.compacted("drop"),
        *(Evict(turn=append.turn.id) for append in said[:2]),
        Expire(seconds=60.0),
        Settle(),
        *plan.compacted("drop", *plan.facts(2)),
        *(Evict(turn=append.turn.id) for append in said[2:]),
        Reopen(),
        Probe(),
    )


def _clocks(plan: Plan) -> tuple[AnyStep, ...]:
    """The clock jumps an hour for summer time, back two hours, over a day's end, and far ahead (RET-4, B17)."""
    facts = plan.facts(3)
    return (
        *plan.said(*facts),
        *plan.compacted("drop"),
        Clock(shift=HOUR),
        *_asks(*facts),
        Clock(shift=-2 * HOUR),
        *plan.compacted("drop", *plan.facts(1)),
        Clock(shift=9 * HOUR),
        Expire(seconds=HOUR / 6),
        Probe(),
        Clock(shift=-17 * HOUR),
        Expire(seconds=HOUR / 7),
        *_asks(*facts),
        Clock(shift=400 * 24 * HOUR),
        Reopen(),
        *_asks(*facts),
        Expire(seconds=HOUR / 60),
        Probe(),
    )


def _too_short(plan: Plan) -> tuple[AnyStep, ...]:
    """What may expire before the horizon is no lossless store, and says so at once (RET-1, RET-3, B17)."""
    said = plan.said(*plan.facts(3))
    return (
        Probe(),
        *said,
        *plan.compacted("drop"),
        *(Evict(turn=append.turn.id) for append in said[:1]),
        Expire(seconds=HOUR / 6),
        *_asks(*(fact for append in said for fact in append.facts)),
        *plan.compacted("drop", *plan.facts(1)),
        Override(reason="the caller accepts it"),
        Evict(turn=said[1].turn.id),
        *plan.compacted("paraphrase", *plan.facts(1)),
        Probe(),
    )


def _degraded(plan: Plan) -> tuple[AnyStep, ...]:
    """Bytes are damaged; from then on it is degraded, lets nothing go, and says so (RET-1, RET-3).

    What it does not let go is an original that alone holds something, and the summary that still says what the
    damaged one said: one that leaves it out would be a loss like any other. The rest goes on (PRO-2).
    """
    said = plan.said(*plan.facts(3))
    last = plan.planter.fact()
    damaged = plan.planter.utter(last.text, last)
    facts = (last, *(fact for append in said for fact in append.facts))
    return (
        *said,
        *plan.compacted("drop"),
        damaged,
        *plan.compacted("faithful", idle=1),
        Corrupt(turn=damaged.turn.id),
        Corrupt(turn=said[2].turn.id),
        *_asks(*facts),
        Evict(turn=said[0].turn.id),
        *_asks(*facts),
        Summariser(mode="drop"),
        plan.fill(*plan.facts(1)),
        Compact(),
        *_asks(*facts),
        Reopen(),
        Override(reason="the caller accepts it"),
        Evict(turn=said[1].turn.id),
        Probe(),
    )


def _audited(plan: Plan) -> tuple[AnyStep, ...]:
    """So many compactions that an audit is due, with something in the first of them to fetch (RET-2).

    In between the session is opened again: what counts compactions outlasts that. And at the end what was archived
    first is where it was (PTR-2, IDX-1), however much was archived since.
    """
    fact, *others = plan.facts(4)
    steps: list[AnyStep] = [plan.planter.utter(fact.text, fact)]
    for number in range(PERIODS):
        steps.extend(plan.planter.say(size=1) for _ in range(3))
        steps.append(Compact())
        if number == EARLY:
            steps.append(Probe(only=("live", "pointers", "get")))
        if number % RESTARTED == RESTARTED - 1:
            steps.append(Reopen())
            steps.extend(plan.planter.utter(each.text, each) for each in others[:1])
            others = others[1:]
    asked = [step.facts for step in steps if isinstance(step, Append)]
    return (
        *steps,
        # What was listed early is followed, and no other: all of them would be thousands.
        Probe(only=("live", "get", "audits", "status")),
        *_asks(*(each for facts in asked for each in facts)),
    )


def _turns_of_workers(plan: Plan) -> tuple[AnyStep, ...]:
    """A compaction, a reaper and a reader, one access at a time, in several orders (PTR-2, CON-2, EPO-1)."""
    steps: list[AnyStep] = []
    for ahead in range(5):
        said = tuple(plan.planter.utter(fact.text, fact) for fact in plan.facts(2))
        first, second = (append.turn.id for append in said)
        tasks = (
            Task(worker="compactor", op="compact"),
            Task(worker="reaper", op="evict", turn=first),
            Task(worker="reader", op="get", turn=first),
            Task(worker="other-reaper", op="evict", turn=second),
        )
        schedule = ("reader",) * (ahead % 3) + ("compactor", "reaper") * ahead + ("other-reaper", "compactor")
        steps.extend((*said, *plan.compacted("faithful"), plan.fill(), Workers(tasks=tasks, schedule=schedule)))
    return (*steps, Reopen(), Probe())


TROUBLE = (
    Scenario(name="power", aims=("CRA-3", "PTR-2", "PRO-3"), build=_power, needs=frozenset({"lose_power"})),
    Scenario(name="uncommitted", aims=("PTR-6", "PRO-3", "REC-1"), build=_uncommitted),
    Scenario(
        name="late-copies",
        aims=("PTR-5", "PTR-1", "PTR-2"),
        build=_late_copies,
        needs=frozenset({"hold_copies", "settle"}),
    ),
    _interrupted("held-and-left", frozenset({"switch"}), _elsewhere),
    _interrupted("held-and-failed", frozenset(), _model_fails),
    _interrupted("held-and-forked", frozenset({"fork", "switch"}), _branch_begins),
    _interrupted("held-and-branched", frozenset({"fork", "switch"}), _branch_entered),
    _interrupted("held-and-erased", frozenset({"forget"}), _another_goes),
    Scenario(name="pressure-on-sources", aims=("PTR-2", "PTR-5"), build=_pressure, needs=frozenset({"evict"})),
    Scenario(
        name="clocks",
        aims=("RET-4", "RET-1", "PTR-2"),
        build=_clocks,
        needs=frozenset({"clock", "expire"}),
        settings=LONG_LIVED,
    ),
    Scenario(
        name="too-short-lived",
        aims=("RET-1", "RET-3", "RET-5"),
        build=_too_short,
        needs=frozenset({"status"}),
        settings=SHORT_LIVED,
    ),
    Scenario(
        name="degraded", aims=("RET-1", "RET-3", "RET-5"), build=_degraded, needs=frozenset({"status", "corrupt"})
    ),
    Scenario(
        name="turns-of-workers",
        aims=("PTR-2", "CON-2", "EPO-1", "ANC-3"),
        build=_turns_of_workers,
        needs=frozenset({"begin", "advance"}),
    ),
)

AUDITED = Scenario(
    name="many-compactions",
    aims=("RET-2", "IDX-1", "PTR-2"),
    build=_audited,
    needs=frozenset({"audits"}),
    settings=TINY,
    explicit=True,
    fixed=True,
)
"""Long; not among the scenarios of a quick check. Fixed: other words would be the same compactions once more."""
