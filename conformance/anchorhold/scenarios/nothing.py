"""The kinds of nothing, side by side: each is to be answered as what it is (REC-2)."""

from anchorhold.scenarios.plan import Plan, Scenario
from anchorhold.workload import (
    AnyStep,
    Append,
    Ask,
    DropFact,
    Evict,
    Expire,
    Follow,
    Forget,
    HoldCopies,
    Reopen,
    Settle,
)
from anchorhold_spec.vocabulary import Fact

MADE_UP = "anchorhold-never-issued"
A_YEAR = 365.0 * 24 * 3600


def _asks(*facts: Fact) -> tuple[AnyStep, ...]:
    return tuple(Ask(fact=fact, evidence=evidence) for fact in facts for evidence in (False, True))


def _bare(plan: Plan, count: int) -> tuple[Append, ...]:
    """Turns that say one statement and nothing else: what may go of them is all of them."""
    return tuple(plan.planter.utter(fact.text, fact) for fact in plan.facts(count))


def _nothings(plan: Plan) -> tuple[AnyStep, ...]:
    """One original evicted, one assertion dropped, one turn erased, one left; one never said; one never issued."""
    kept, gone, dropped, erased = _bare(plan, 4)
    stranger = plan.planter.sibling(kept.facts[0])
    nobody = plan.planter.fact()

    def asks() -> tuple[AnyStep, ...]:
        told = (*kept.facts, *gone.facts, *dropped.facts)
        return (
            *_asks(*told, stranger, nobody),
            Follow(token=MADE_UP),
            *map(_follow, plan.tokens[:3]),
        )

    return (
        kept,
        gone,
        dropped,
        erased,
        *plan.compacted("faithful"),
        Evict(turn=gone.turn.id),
        DropFact(fact=dropped.facts[0], turn=dropped.turn.id, reason="a caller's decision"),
        *asks(),
        *plan.compacted("drop"),
        *asks(),
        Evict(turn=dropped.turn.id),
        *plan.compacted("paraphrase", *plan.facts(1)),
        Reopen(),
        *asks(),
        Forget(turn=erased.turn.id),
        *asks(),
    )


def _follow(token: str) -> Follow:
    return Follow(token=token)


def _expired(plan: Plan) -> tuple[AnyStep, ...]:
    """Time takes what it takes; what it took says that it was time."""
    told = _bare(plan, 3)
    facts = tuple(fact for append in told for fact in append.facts)
    return (*told, *plan.compacted("faithful"), Expire(seconds=A_YEAR), *_asks(*facts), Reopen(), *_asks(*facts))


def _outstanding(plan: Plan) -> tuple[AnyStep, ...]:
    """A copy is held back: pending, and after it has landed, found."""
    told = _bare(plan, 2)
    facts = tuple(fact for append in told for fact in append.facts)
    return (HoldCopies(held=True), *told, *plan.compacted("drop"), *_asks(*facts), Settle(), *_asks(*facts))


NOTHING = (
    Scenario(name="kinds-of-nothing", aims=("REC-2", "EPO-2", "REC-1", "REC-4"), build=_nothings),
    Scenario(name="expired", aims=("REC-2", "RET-4"), build=_expired, needs=frozenset({"expire"})),
    Scenario(
        name="outstanding", aims=("REC-2", "PTR-5"), build=_outstanding, needs=frozenset({"hold_copies", "settle"})
    ),
)
