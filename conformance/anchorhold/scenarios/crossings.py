"""What is established, and what comes in between: a restart, a branch, another session, something taken back.

A standing rule, a mark, an erasure, a dropped statement, the model's last reply, damaged bytes: each has to be so
still after whatever does not undo it. Every scenario here establishes all that the compactor can, lets one thing come
in between, and then asks, follows, compacts, and erases once more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anchorhold.scenarios.beside import BUD, TWIG
from anchorhold.scenarios.keeping import asks
from anchorhold.scenarios.plan import Plan, Scenario
from anchorhold.workload import (
    AnyStep,
    Append,
    Clear,
    Compact,
    Corrupt,
    DropFact,
    Evict,
    Forget,
    Fork,
    Kill,
    LosePower,
    Meanwhile,
    Probe,
    Reopen,
    Rewind,
    Summariser,
    Switch,
)

BACK = Switch(session="s", user="u")
BRANCHES = frozenset({"fork", "switch"})
CONFIRM = ("OUT-1", "STR-4", "STR-2", "ANC-1")
"""What every change has to leave as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Established:
    """What was said, and done about it, before something came in between."""

    steps: tuple[AnyStep, ...]
    kept: tuple[Append, ...]
    """Turns that are archived, each with a fact; nothing was done about them yet."""
    erased: Append
    """A turn that was forgotten."""
    dropped: Append
    """A turn whose statement the caller let go."""
    last: Append
    """The turn that came last of all."""


def establish(plan: Plan) -> Established:
    """Say and do all of it. What a compactor has no operation for stays undone."""
    planter = plan.planter
    system = planter.protect(planter.utter("You are a careful agent. Never delete anything.", speaker="system"))
    (standing,) = plan.facts(1)
    rule = planter.protect(planter.utter(f"{standing.text} Keep to that.", standing, speaker="user"))
    erased, dropped, *kept = (planter.utter(fact.text, fact) for fact in plan.facts(5))
    used = planter.marked(planter.utter("Go ahead with step one.", speaker="user"), "consumed")
    asking, result = planter.call(*plan.facts(1))
    mail = planter.marked(planter.say(*plan.facts(1), speaker="assistant"), "unfinished")
    steps = (
        system,
        rule,
        erased,
        dropped,
        *kept,
        *plan.compacted("drop"),
        Forget(turn=erased.turn.id),
        DropFact(fact=dropped.facts[0], turn=dropped.turn.id, reason="no longer needed"),
        # The last summary is one that nothing was taken out of.
        *plan.compacted("faithful", *plan.facts(1)),
        used,
        asking,
        planter.marked(result, "killed"),
        mail,
        Probe(),
    )
    return Established(steps=steps, kept=tuple(kept), erased=erased, dropped=dropped, last=mail)


def confirm(plan: Plan, known: Established) -> tuple[AnyStep, ...]:
    """See that everything is still so: also for what is compacted, handed in again, and erased from now on."""
    facts = tuple(fact for append in (known.erased, known.dropped, *known.kept) for fact in append.facts)
    return (
        Probe(),
        *asks(*facts),
        # The model answers with its last summary once more.
        Summariser(mode="same", times=1),
        plan.fill(),
        Compact(),
        known.erased,
        Forget(turn=known.kept[0].turn.id),
        *asks(*facts),
        *plan.compacted("drop", *plan.facts(1)),
        *asks(*facts),
        Probe(),
    )


Between = Callable[[Plan, Established], tuple[AnyStep, ...]]


def _reopened(_plan: Plan, _known: Established) -> tuple[AnyStep, ...]:
    return (Reopen(),)


def _killed(_plan: Plan, _known: Established) -> tuple[AnyStep, ...]:
    return (Kill(),)


def _dark(_plan: Plan, _known: Established) -> tuple[AnyStep, ...]:
    return (LosePower(),)


def _branched(_plan: Plan, _known: Established) -> tuple[AnyStep, ...]:
    return (Fork(branch=TWIG),)


def _branched_twice(plan: Plan, _known: Established) -> tuple[AnyStep, ...]:
    return (Fork(branch=TWIG), *plan.said(*plan.facts(1)), Fork(branch=BUD), Reopen())


def _branch_left(plan: Plan, known: Established) -> tuple[AnyStep, ...]:
    """A branch goes its way: of what both have it takes turns back, and begins anew; then it is left."""
    return (
        Fork(branch=TWIG),
        *plan.said(*plan.facts(1)),
        *plan.compacted("drop"),
        Rewind(turn=known.kept[0].turn.id),
        *plan.said(*plan.facts(1)),
        Clear(),
        *plan.said(*plan.facts(1)),
        BACK,
    )


def _branch_erases(plan: Plan, _known: Established) -> tuple[AnyStep, ...]:
    """Something that only the branch said is erased in it."""
    (own,) = plan.said(*plan.facts(1))
    return (Fork(branch=TWIG), own, Forget(turn=own.turn.id), own, BACK)


def _elsewhere(plan: Plan, _known: Established) -> tuple[AnyStep, ...]:
    """Another session is gone over to, has turns and a summary of its own, is emptied, and left again."""
    return (
        Switch(session="another", user="u"),
        *plan.compacted("drop", *plan.facts(1)),
        Clear(),
        *plan.said(*plan.facts(1)),
        BACK,
    )


def _taken_back(plan: Plan, known: Established) -> tuple[AnyStep, ...]:
    """What was said since is taken back, and nothing of what was before."""
    return (*plan.said(*plan.facts(2)), Rewind(turn=known.last.turn.id))


def _cleared(plan: Plan, _known: Established) -> tuple[AnyStep, ...]:
    return (Clear(), *plan.said(*plan.facts(1)))


def _namesakes(plan: Plan, known: Established) -> tuple[AnyStep, ...]:
    """Another session has turns under the same ids, which say something else: some are erased there, and some are
    taken back."""
    first, second, third = _anew(plan, known.kept)
    others = (_under(known.erased, plan), _under(known.dropped, plan))
    return (
        Switch(session="another", user="u"),
        first,
        second,
        *others,
        *plan.compacted("drop"),
        *asks(*first.facts, *second.facts),
        Forget(turn=first.turn.id),
        third,
        Rewind(turn=second.turn.id),
        *asks(*first.facts, *second.facts, *third.facts),
        BACK,
    )


def _under(append: Append, plan: Plan) -> Append:
    """Another turn with the same id."""
    (fact,) = plan.facts(1)
    other = plan.planter.utter(f"Something else. {fact.text}", fact)
    return plan.planter.named(other, append.turn.id)


def _anew(plan: Plan, appends: Sequence[Append]) -> tuple[Append, ...]:
    """Other turns with the same ids."""
    return tuple(_under(append, plan) for append in appends)


def _another_erased(plan: Plan, _known: Established) -> tuple[AnyStep, ...]:
    (other,) = plan.said(*plan.facts(1))
    return (other, Forget(turn=other.turn.id))


BETWEEN: tuple[tuple[str, frozenset[str], tuple[str, ...], Between], ...] = (
    ("restart", frozenset({"reopen"}), (), _reopened),
    ("kill", frozenset({"kill"}), (), _killed),
    ("power", frozenset({"lose_power"}), (), _dark),
    ("branch", BRANCHES, ("ERA-1", "MAN-4"), _branched),
    ("branches", BRANCHES, ("ERA-1", "MAN-4"), _branched_twice),
    ("branch-left", BRANCHES, ("ISO-1", "PTR-2"), _branch_left),
    ("branch-erases", BRANCHES | {"forget"}, ("ERA-1",), _branch_erases),
    ("session", frozenset({"switch"}), ("ISO-1",), _elsewhere),
    ("namesakes", frozenset({"switch"}), ("ISO-1", "PTR-2", "REC-1"), _namesakes),
    ("rewind", frozenset({"rewind"}), ("ERA-1", "CON-3"), _taken_back),
    ("clear", frozenset({"clear"}), ("ERA-1",), _cleared),
    ("erasure", frozenset({"forget"}), ("ERA-1",), _another_erased),
)
"""What comes in between: its name, what it needs, and the rules that it aims at besides."""


def _crossing(name: str, needs: frozenset[str], aims: tuple[str, ...], between: Between) -> Scenario:
    def build(plan: Plan) -> tuple[AnyStep, ...]:
        """All is established, something comes in between, and all is still so."""
        known = establish(plan)
        return (*known.steps, *between(plan, known), *confirm(plan, known))

    return Scenario(name=f"over-{name}", aims=(*CONFIRM, *aims), build=build, needs=needs)


def _damaged(name: str, needs: frozenset[str], between: Between) -> Scenario:
    def build(plan: Plan) -> tuple[AnyStep, ...]:
        """Bytes are damaged, something comes in between, and they are no better for it."""
        planter = plan.planter
        first, *kept = (planter.utter(fact.text, fact) for fact in plan.facts(4))
        last = planter.say()
        # Nothing is erased or dropped here: turns in these places are kept like the others.
        known = Established(steps=(), kept=tuple(kept), erased=first, dropped=kept[-1], last=last)
        facts = tuple(fact for append in (first, *kept) for fact in append.facts)
        return (
            planter.say(),
            first,
            *kept,
            *plan.compacted("drop"),
            last,
            Corrupt(turn=kept[1].turn.id),
            *between(plan, known),
            Probe(),
            *asks(*facts),
            *plan.compacted("drop", *plan.facts(1)),
            *asks(*facts),
        )

    return Scenario(
        name=f"damage-over-{name}", aims=("EPO-3", "RET-1", "REC-1"), build=build, needs=needs | {"corrupt"}
    )


def _said_anew(plan: Plan) -> tuple[AnyStep, ...]:
    """What is archived, and dropped, is taken back; under the same ids come other turns (PROTOCOL, append).

    An old pointer does not lead to them, no decision about the old ones is one about them, and they are there.
    """
    planter = plan.planter
    start = planter.say(speaker="user")
    dropped, *kept = (planter.utter(fact.text, fact) for fact in plan.facts(4))
    (fact,) = dropped.facts
    again = planter.named(planter.utter(f"All the same. {fact.text}", fact), dropped.turn.id)
    anew = _anew(plan, kept)
    old = tuple(fact for append in kept for fact in append.facts)
    new = tuple(fact for append in (again, *anew) for fact in append.facts)
    return (
        start,
        dropped,
        *kept,
        *plan.compacted("drop"),
        DropFact(fact=fact, turn=dropped.turn.id, reason="no longer needed"),
        Rewind(turn=start.turn.id),
        again,
        *anew,
        *asks(*new, *old),
        *plan.compacted("drop"),
        *asks(*new, *old),
        Reopen(),
        *plan.compacted("faithful", *plan.facts(1)),
        *asks(*new, *old),
    )


def _said_anew_meanwhile(plan: Plan) -> tuple[AnyStep, ...]:
    """The same while a summary of the first is being written: it is of what was taken back (CON-3)."""
    start = plan.planter.say(speaker="user")
    filling = plan.fill(*plan.facts(3), tools=False)
    first = filling.turns[: plan.expected]
    # Whoever looks by their ids whether they are still there finds every one of them.
    anew = tuple(plan.planter.named(plan.planter.say(), append.turn.id) for append in first)
    anew = (*_anew(plan, first[:3]), *anew[3:])
    old, new = (tuple(fact for append in each for fact in append.facts) for each in (first, anew))
    return (
        start,
        Summariser(mode="faithful"),
        filling,
        Meanwhile(steps=(Rewind(turn=start.turn.id), *anew)),
        Compact(),
        *asks(*new, *old),
        *plan.compacted("drop"),
        *asks(*new, *old),
    )


def _erased_in_a_branch_meanwhile(plan: Plan) -> tuple[AnyStep, ...]:
    """A branch is gone over to while the other one's summary is being written, and a turn of both erased in it: the
    summary is of it, and does not land as it is (CON-3, ERA-1)."""
    secret, kept = (plan.planter.utter(fact.text, fact) for fact in plan.facts(2))
    return (
        secret,
        kept,
        Summariser(mode="faithful"),
        Fork(branch=TWIG),
        *plan.said(*plan.facts(1)),
        BACK,
        plan.fill(),
        Meanwhile(
            steps=(Switch(session="s", user="u", branch=TWIG), Forget(turn=secret.turn.id), BACK),
        ),
        Compact(),
        *asks(*secret.facts, *kept.facts),
        *plan.compacted("faithful", *plan.facts(1)),
        *asks(*secret.facts, *kept.facts),
    )


def _said_elsewhere(there: Callable[[Plan], AnyStep]) -> Callable[[Plan], tuple[AnyStep, ...]]:
    """Somebody else says the same, in another session or a branch, and has it archived: that anchors nothing here."""

    def build(plan: Plan) -> tuple[AnyStep, ...]:
        facts = plan.facts(3)
        # Word for word, and among others: some look for the same text, and some for the same statement.
        theirs = tuple(
            plan.planter.utter(f"{more}{fact.text}", fact)
            for more, fact in zip(("", "Here, too. ", ""), facts, strict=True)
        )
        mine = tuple(plan.planter.utter(fact.text, fact) for fact in facts)
        return (
            plan.planter.say(),
            there(plan),
            *theirs,
            *plan.compacted("drop"),
            BACK,
            *mine,
            *plan.compacted("drop"),
            *(Evict(turn=append.turn.id) for append in mine),
            *asks(*facts),
            *plan.compacted("drop", *plan.facts(1)),
            *asks(*facts),
        )

    return build


CROSSINGS = (
    Scenario(
        name="said-in-another-session",
        aims=("ANC-1", "ANC-3", "ISO-1"),
        build=_said_elsewhere(lambda _plan: Switch(session="another", user="u")),
        needs=frozenset({"evict", "switch"}),
    ),
    Scenario(
        name="said-in-a-branch",
        aims=("ANC-1", "ANC-3", "ISO-1"),
        build=_said_elsewhere(lambda _plan: Fork(branch=TWIG)),
        needs=frozenset({"evict"}) | BRANCHES,
    ),
    Scenario(
        name="said-anew",
        aims=("EPO-1", "MAN-4", "REC-1", "ANC-1"),
        build=_said_anew,
        needs=frozenset({"rewind"}),
    ),
    Scenario(
        name="said-anew-meanwhile",
        aims=("CON-3", "ANC-1"),
        build=_said_anew_meanwhile,
        needs=frozenset({"concurrency", "rewind"}),
    ),
    Scenario(
        name="erased-in-a-branch-meanwhile",
        aims=("CON-3", "ERA-1"),
        build=_erased_in_a_branch_meanwhile,
        needs=frozenset({"concurrency", "forget", "fork", "switch"}),
    ),
    *(_crossing(name, needs, aims, between) for name, needs, aims, between in BETWEEN),
    *(_damaged(name, needs, between) for name, needs, _, between in BETWEEN),
)
