"""Restarts, crashes and damaged bytes; several sessions on one store."""

from anchorhold.scenarios.plan import Plan, Scenario
from anchorhold.workload import AnyStep, Ask, Compact, Corrupt, CrashAt, Reopen, Switch

CRASHES = ("CRA-1", "CRA-2", "CRA-3", "PTR-1", "PTR-2", "PRO-3", "ANC-1", "ANC-5")


def _restarts(plan: Plan) -> tuple[AnyStep, ...]:
    """Three restarts, and everything has to resolve as before."""
    facts = plan.facts(4)
    return (
        *plan.compacted("drop", *facts),
        Reopen(),
        Reopen(),
        Reopen(),
        *(Ask(fact=fact, evidence=True) for fact in facts),
        *plan.compacted("faithful", *plan.facts(2)),
        Reopen(),
        *plan.compacted("drop"),
        Reopen(),
    )


def crash_at(point: int, name: str) -> Scenario:
    """A compaction dies at one durable step, in the first generation and in the second; recovery runs twice."""

    def build(plan: Plan) -> tuple[AnyStep, ...]:
        facts = plan.facts(3)
        return (
            plan.fill(*facts),
            CrashAt(point=point),
            Reopen(),
            Compact(until_idle=3),
            plan.fill(*plan.facts(2)),
            CrashAt(point=point),
            Reopen(),
            Reopen(),
            Compact(until_idle=3),
            *(Ask(fact=fact) for fact in facts),
        )

    return Scenario(name=f"crash-{name}", aims=CRASHES, build=build, needs=frozenset({"crash", "reopen"}))


def _damaged(plan: Plan) -> tuple[AnyStep, ...]:
    """Stored bytes change behind the compactor's back: it has to notice, and to say so (EPO-3)."""
    said = plan.said(*plan.facts(4))
    damage: list[AnyStep] = []
    for append in said[:3]:
        damage.append(Corrupt(turn=append.turn.id))
        damage.extend(Ask(fact=fact, evidence=True) for fact in append.facts)
    return (
        *said,
        *plan.compacted("drop"),
        *damage,
        Reopen(),
        *plan.compacted("drop"),
    )


def _two_sessions(plan: Plan) -> tuple[AnyStep, ...]:
    """A user's two sessions, and one of somebody else's that has the name of the first: nobody may see, find or point
    at anything of another's (ISO-1). Each differs from the first in one respect alone.

    A compactor that knows no users is not asked about them: to it one name is one session.
    """
    planter = plan.planter
    mine, other, theirs = plan.facts(3), plan.facts(3), plan.facts(2)
    steps: list[AnyStep] = [
        *plan.compacted("faithful", *mine),
        Switch(session="another", user="u"),
        *(Ask(fact=fact) for fact in mine),
        *plan.compacted("drop", *other),
        *(Ask(fact=fact) for fact in (*mine, *other)),
    ]
    if plan.taken.user is not None:
        steps += (
            Switch(session="s", user="somebody-else"),
            *(planter.utter(fact.text, fact) for fact in theirs),
            *(Ask(fact=fact) for fact in (*mine[:2], *other[:1])),
            *plan.compacted("faithful"),
        )
    asked = tuple(Ask(fact=fact) for fact in (*mine, *other, *theirs))
    return (*steps, Switch(session="s", user="u"), *asked, *plan.compacted("drop"), *asked)


DAMAGE = (
    Scenario(
        name="restarts",
        aims=("CRA-2", "CRA-3", "PTR-2", "RET-1", "EPO-2"),
        build=_restarts,
        needs=frozenset({"reopen"}),
    ),
    Scenario(name="damaged-bytes", aims=("EPO-3", "REC-1", "PRO-2"), build=_damaged, needs=frozenset({"corrupt"})),
    Scenario(name="two-sessions", aims=("ISO-1",), build=_two_sessions, needs=frozenset({"switch"})),
)
