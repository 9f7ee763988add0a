"""What the caller does while a summary is being written, and what the caller takes back at any time.

The compaction's model is held, and meanwhile turns come in, the window is emptied, turns are taken back or erased, or
a second compaction is asked for (B04, B05, B27, B31).
"""

from anchorhold.scenarios.plan import Plan, Scenario
from anchorhold.workload import (
    AnyStep,
    Append,
    Ask,
    Clear,
    Compact,
    Forget,
    Fork,
    Meanwhile,
    Probe,
    Reopen,
    Rewind,
    Summariser,
    Switch,
)
from anchorhold_spec.vocabulary import Fact

BESIDE = frozenset({"concurrency"})
MANY = 12
"""Turns that come in while one summary is being written, in the longest of the bursts."""
TWIG, BUD = "twig", "bud"
"""A branch, and one of it."""


def _asks(*facts: Fact) -> tuple[AnyStep, ...]:
    return tuple(Ask(fact=fact, evidence=evidence) for fact in facts for evidence in (False, True))


def _stop(plan: Plan) -> tuple[Append, ...]:
    """An instruction that came in late, and must not be missed."""
    port = plan.planter.fact("port")
    return (plan.planter.utter(f"Stop. {port.text}", port), plan.planter.say(speaker="assistant"))


def _appends(plan: Plan) -> tuple[AnyStep, ...]:
    """Two turns, one, and many come in while the summary is being written; then things go on (B04)."""
    steps: list[AnyStep] = []
    for burst in (_stop(plan), plan.said(*plan.facts(1)), plan.planter.talk(MANY, *plan.facts(2), tools=False)):
        steps.extend(
            (
                plan.fill(*plan.facts(1)),
                Meanwhile(steps=burst),
                Compact(),
                *(Ask(fact=fact, evidence=True) for append in burst for fact in append.facts),
            )
        )
    return (*steps, Reopen(), Compact(until_idle=2))


def _during_a_failure(plan: Plan) -> tuple[AnyStep, ...]:
    """Turns come in, and then the summary fails: neither may cost the other anything."""
    return (
        *plan.compacted("faithful", *plan.facts(2)),
        plan.fill(*plan.facts(1)),
        Summariser(mode="fail", times=1),
        Meanwhile(steps=_stop(plan)),
        Compact(),
        Compact(until_idle=2),
    )


def _second(plan: Plan) -> tuple[AnyStep, ...]:
    """A second compaction is asked for while the first waits for its model, and turns come in as well (CON-2)."""
    return (
        plan.fill(*plan.facts(2)),
        Meanwhile(steps=(Compact(),)),
        Compact(),
        plan.fill(*plan.facts(2)),
        Meanwhile(steps=(*_stop(plan), Compact())),
        Compact(),
        Compact(until_idle=2),
        Reopen(),
        Probe(),
    )


def _cleared(plan: Plan) -> tuple[AnyStep, ...]:
    """The window is emptied while a summary of it is being written, and what comes next comes after (B05)."""
    facts = plan.facts(2)
    return (
        *plan.said(*facts),
        plan.fill(),
        Meanwhile(steps=(Clear(), *_stop(plan))),
        Compact(),
        Probe(),
        Compact(),
        *plan.compacted("faithful", *plan.facts(2)),
        Reopen(),
        Clear(),
        plan.fill(*plan.facts(1)),
        Compact(until_idle=2),
        *_asks(*facts[:1]),
    )


def _taken_back(plan: Plan) -> tuple[AnyStep, ...]:
    """Turns are taken back while a summary of them is being written, and again after it was committed (B27)."""
    first, second, third = (plan.said(*plan.facts(2)) for _ in range(3))
    return (
        *first,
        plan.fill(),
        Meanwhile(steps=(Rewind(turn=first[-1].turn.id),)),
        Compact(),
        *_asks(*(fact for append in first for fact in append.facts)),
        *second,
        plan.fill(),
        *third,
        Compact(until_idle=2),
        Rewind(turn=second[-1].turn.id),
        *_asks(*(fact for append in (*second, *third) for fact in append.facts)),
        *plan.compacted("faithful", *plan.facts(1)),
        Reopen(),
        *_asks(*(fact for append in third for fact in append.facts)),
    )


def _cleared_and_begun_anew(plan: Plan) -> tuple[AnyStep, ...]:
    """A summary that says what was said is cleared, and the next ones begin without it (CON-3)."""
    return (
        *plan.compacted("faithful", *plan.facts(3)),
        Clear(),
        *plan.compacted("faithful", *plan.facts(2)),
        *plan.compacted("faithful", *plan.facts(1)),
        Probe(),
    )


def _taken_back_and_begun_anew(plan: Plan) -> tuple[AnyStep, ...]:
    """What a summary says is taken back, and the next ones begin without it (CON-3)."""
    first = plan.planter.say(speaker="user")
    return (
        first,
        *plan.compacted("faithful", *plan.facts(3)),
        Rewind(turn=first.turn.id),
        *plan.compacted("faithful", *plan.facts(2)),
        *plan.compacted("faithful", *plan.facts(1)),
        Probe(),
    )


def _forgotten(plan: Plan) -> tuple[AnyStep, ...]:
    """A secret in the window, in an original, in a summary, and in a summary of that: forgotten each time (B31).

    A caller that plays its transcript again hands forgotten turns in once more, under their ids: they stay forgotten.
    """
    planter = plan.planter
    early, kept = (planter.say(fact) for fact in plan.facts(2))
    live, late = planter.say(planter.fact("identifier")), planter.say(planter.fact("path"))
    secrets = tuple(fact for append in (early, live, late) for fact in append.facts)
    return (
        early,
        kept,
        *plan.compacted("faithful"),
        *plan.compacted("faithful", *plan.facts(1)),
        Forget(turn=early.turn.id),
        *_asks(*early.facts, *kept.facts),
        early,
        *_asks(*early.facts),
        live,
        Forget(turn=live.turn.id),
        late,
        *plan.compacted("faithful"),
        Forget(turn=late.turn.id),
        *_asks(*secrets, *kept.facts),
        Reopen(),
        live,
        kept,
        *plan.compacted("drop"),
        *_asks(*secrets, *kept.facts),
    )


def _forgotten_meanwhile(plan: Plan) -> tuple[AnyStep, ...]:
    """One turn is erased while a summary of it and of others is being written (B05)."""
    secret, kept = (plan.planter.say(fact) for fact in plan.facts(2))
    return (
        secret,
        kept,
        plan.fill(),
        Meanwhile(steps=(Forget(turn=secret.turn.id),)),
        Compact(),
        Probe(),
        Compact(until_idle=2),
        *_asks(*secret.facts, *kept.facts),
    )


def _forked(plan: Plan) -> tuple[AnyStep, ...]:
    """A branch after a compaction; both go on, both compact, and neither knows what the other said (B27, ISO-1)."""
    common, ours, theirs = plan.facts(3), plan.facts(2), plan.facts(2)
    back, over = Switch(session="s", user="u"), Switch(session="s", user="u", branch=TWIG)
    return (
        *plan.compacted("faithful", *common),
        Fork(branch=TWIG),
        *plan.said(*theirs),
        *plan.compacted("drop"),
        *_asks(*common, *theirs),
        back,
        *_asks(*common, *theirs),
        *plan.said(*ours),
        *plan.compacted("drop"),
        *_asks(*ours, *theirs),
        over,
        *_asks(*common, *ours, *theirs),
        Reopen(),
        *plan.compacted("faithful"),
        *_asks(*ours, *theirs),
    )


def _forked_again(plan: Plan) -> tuple[AnyStep, ...]:
    """A branch of a branch, each with something in its store by then: what was said before it began is in reach, from
    whichever of its ancestors it is, and nothing else of them (ISO-1, PTR-4)."""
    common, twigs, buds, later = plan.facts(2), plan.facts(2), plan.facts(2), plan.facts(1)
    return (
        *plan.compacted("drop", *common),
        Fork(branch=TWIG),
        *plan.compacted("drop", *twigs),
        Fork(branch=BUD),
        *_asks(*common, *twigs),
        *plan.compacted("drop", *buds),
        *_asks(*common, *twigs, *buds),
        Switch(session="s", user="u", branch=TWIG),
        *plan.said(*later),
        *_asks(*twigs, *buds),
        *plan.compacted("drop"),
        Switch(session="s", user="u", branch=BUD),
        Reopen(),
        *_asks(*common, *twigs, *buds, *later),
        Probe(),
    )


def _left_meanwhile(plan: Plan) -> tuple[AnyStep, ...]:
    """Another session is gone over to while a summary is being written: when it comes it is of the one that it was
    asked of, whichever is open by then (ISO-1)."""
    mine, theirs, more = plan.facts(3), plan.facts(2), plan.facts(2)
    back, over = Switch(session="s", user="u"), Switch(session="another", user="u")
    # Somebody else's session may have the same name; who knows no users has one session of it.
    namesake = over if plan.taken.user is None else Switch(session="s", user="somebody-else")
    return (
        Summariser(mode="faithful"),
        plan.fill(*mine),
        Meanwhile(steps=(namesake, *plan.said(*theirs))),
        Compact(),
        *_asks(*mine[:2], *theirs[:1]),
        *plan.compacted("faithful"),
        back,
        *_asks(*mine, *theirs[:1]),
        # Now it has a summary already, and so has the other.
        plan.fill(*more),
        Meanwhile(steps=(over,)),
        Compact(),
        back,
        *plan.compacted("drop"),
        *_asks(*mine, *more, *theirs),
    )


def _forked_meanwhile(plan: Plan) -> tuple[AnyStep, ...]:
    """A branch begins while a summary is being written: what is said in it stays in it, and the summary, where it
    lands at all, is of what was there before (ISO-1, CON-1)."""
    common, theirs, ours = plan.facts(2), plan.facts(2), plan.facts(2)
    return (
        Summariser(mode="faithful"),
        plan.fill(*common),
        Meanwhile(steps=(Fork(branch=TWIG), *plan.said(*theirs))),
        Compact(),
        *_asks(*common, *theirs),
        Switch(session="s", user="u"),
        *_asks(*common, *theirs),
        *plan.compacted("faithful", *ours),
        Switch(session="s", user="u", branch=TWIG),
        *plan.compacted("drop"),
        *_asks(*common, *ours, *theirs),
    )


def _forgotten_in_a_branch(plan: Plan) -> tuple[AnyStep, ...]:
    """What two branches have in common is erased in one of them: nothing of it is left in the other, and nothing
    comes back in either where the caller hands it in again under its id (ERA-1)."""
    secret, other = (plan.planter.say(fact) for fact in plan.facts(2))
    return (
        secret,
        other,
        *plan.compacted("faithful", *plan.facts(1)),
        Fork(branch=TWIG),
        *plan.said(*plan.facts(1)),
        Forget(turn=secret.turn.id),
        secret,
        *_asks(*secret.facts, *other.facts),
        Switch(session="s", user="u"),
        secret,
        *_asks(*secret.facts, *other.facts),
        *plan.compacted("drop"),
        *_asks(*secret.facts, *other.facts),
    )


SIDE_BY_SIDE = (
    Scenario(name="appends-meanwhile", aims=("CON-1", "PTR-3", "ANC-1"), build=_appends, needs=BESIDE),
    Scenario(name="appends-and-failure", aims=("CON-1", "OUT-1", "PRO-3"), build=_during_a_failure, needs=BESIDE),
    Scenario(name="two-compactions", aims=("CON-2", "CON-1", "PTR-3"), build=_second, needs=BESIDE),
    Scenario(
        name="cleared-and-begun-anew", aims=("CON-3",), build=_cleared_and_begun_anew, needs=frozenset({"clear"})
    ),
    Scenario(
        name="taken-back-and-begun-anew",
        aims=("CON-3",),
        build=_taken_back_and_begun_anew,
        needs=frozenset({"rewind"}),
    ),
    Scenario(name="cleared-meanwhile", aims=("CON-3", "RET-5"), build=_cleared, needs=BESIDE | {"clear"}),
    # What was taken back frees its place, and what was forgotten its key: nowhere else is one so likely to be given
    # out again.
    Scenario(
        name="taken-back",
        aims=("CON-3", "IDX-4", "PTR-2", "EPO-1", "EPO-2"),
        build=_taken_back,
        needs=frozenset({"rewind"}),
    ),
    Scenario(
        name="forgotten", aims=("ERA-1", "REC-2", "ANC-1", "EPO-1"), build=_forgotten, needs=frozenset({"forget"})
    ),
    Scenario(
        name="forgotten-meanwhile", aims=("CON-3", "ERA-1"), build=_forgotten_meanwhile, needs=BESIDE | {"forget"}
    ),
    Scenario(
        name="forgotten-in-a-branch",
        aims=("ERA-1", "EPO-1"),
        build=_forgotten_in_a_branch,
        needs=frozenset({"forget", "fork", "switch"}),
    ),
    Scenario(name="forked", aims=("ISO-1", "CON-3", "PTR-4"), build=_forked, needs=frozenset({"fork", "switch"})),
    Scenario(
        name="forked-again",
        aims=("ISO-1", "PTR-4", "CON-3"),
        build=_forked_again,
        needs=frozenset({"fork", "switch"}),
    ),
    Scenario(name="left-meanwhile", aims=("ISO-1", "CON-1"), build=_left_meanwhile, needs=BESIDE | {"switch"}),
    Scenario(
        name="forked-meanwhile", aims=("CON-1", "PTR-3"), build=_forked_meanwhile, needs=BESIDE | {"fork", "switch"}
    ),
)
