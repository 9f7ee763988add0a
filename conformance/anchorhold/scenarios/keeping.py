"""What may go and what may not: policies that propose, carriers that count on each other, doubts, long turns, and
spans that nothing can be read from."""

import random
from dataclasses import replace

from anchorhold.scenarios.plan import Plan, Scenario
from anchorhold.workload import (
    AnyStep,
    Append,
    Ask,
    Compact,
    DropFact,
    Evict,
    Expire,
    Meanwhile,
    Probe,
    Reopen,
    Summariser,
    Task,
    Workers,
)
from anchorhold_spec.vocabulary import Fact

EVICT = frozenset({"evict"})
HOUR = 3600.0
LONG_TURN = 3000
"""Characters of a turn that readers like to cut, and that a window of the suite still holds."""
BEYOND = 1.25
"""Length of a turn that is longer than a whole window, in windows."""
OPAQUE = 240
"""Bytes of a turn that is no text."""


def asks(*facts: Fact) -> tuple[AnyStep, ...]:
    """Ask for each, with evidence demanded and without."""
    return tuple(Ask(fact=fact, evidence=evidence) for fact in facts for evidence in (False, True))


def _bare(plan: Plan, *facts: Fact) -> tuple[Append, ...]:
    """Turns that say one statement and nothing else, so that a summary can carry all of each."""
    return tuple(plan.planter.utter(fact.text, fact) for fact in facts)


def _pressure(plan: Plan) -> tuple[AnyStep, ...]:
    """A policy that wants room proposes originals one after another; some may go, and some are all that is left.

    First those that the summary carries word for word, then those that it leaves out, then all of them by age.
    """
    carried = _bare(plan, *plan.facts(3))
    alone = _bare(plan, *plan.facts(3))
    return (
        *carried,
        *plan.compacted("faithful"),
        *(Evict(turn=append.turn.id) for append in carried[:2]),
        *alone,
        *plan.compacted("drop"),
        *(Evict(turn=append.turn.id) for append in alone),
        Expire(seconds=12 * HOUR),
        *asks(*(fact for append in (*carried, *alone) for fact in append.facts)),
    )


def _twins(plan: Plan) -> tuple[AnyStep, ...]:
    """The same statement in two turns, and in a turn and a summary: each may go while the other stays (ANC-3)."""
    fact, other = plan.facts(2)
    first = plan.planter.utter(f"For the record. {fact.text}", fact)
    second = plan.planter.utter(f"And once more. {fact.text}", fact)
    third, fourth = (plan.planter.utter(f"{word} {other.text}", other) for word in ("Noted.", "To repeat."))
    return (
        first,
        second,
        third,
        *plan.compacted("drop"),
        Evict(turn=first.turn.id),
        Evict(turn=second.turn.id),
        *asks(fact),
        fourth,
        *plan.compacted("drop"),
        Evict(turn=fourth.turn.id),
        Evict(turn=third.turn.id),
        *asks(fact, other),
    )


def _twins_at_once(plan: Plan) -> tuple[AnyStep, ...]:
    """Two reapers go for the two carriers of one statement, one access to a store at a time, in several orders."""
    steps: list[AnyStep] = []
    for ahead in range(4):
        (fact,) = plan.facts(1)
        pair = tuple(plan.planter.utter(f"{word} {fact.text}", fact) for word in ("Noted.", "To repeat."))
        tasks = tuple(
            Task(worker=name, op="evict", turn=append.turn.id)
            for name, append in zip(("one", "other"), pair, strict=True)
        )
        schedule = ("one",) * ahead + ("other", "one") * (ahead + 1)
        steps.extend((*pair, *plan.compacted("drop"), Workers(tasks=tasks, schedule=schedule), *asks(fact)))
    return (*steps, Probe())


def _evicted_meanwhile(plan: Plan) -> tuple[AnyStep, ...]:
    """Originals go because a summary carries what they say, while the summary after it is being written without."""
    facts = plan.facts(3)
    bare = _bare(plan, *facts)
    return (
        *bare,
        *plan.compacted("faithful"),
        Summariser(mode="drop"),
        plan.fill(),
        Meanwhile(steps=tuple(Evict(turn=append.turn.id) for append in bare)),
        Compact(),
        *asks(*facts),
    )


def _said_again(plan: Plan) -> tuple[AnyStep, ...]:
    """A statement is dropped on a caller's word, and asserted again later: that one nobody dropped (MAN-4)."""
    facts = plan.facts(2)
    first, again = _bare(plan, *facts), tuple(plan.planter.utter(f"It still holds. {f.text}", f) for f in facts)
    return (
        *first,
        *plan.compacted("drop"),
        *(DropFact(fact=f, turn=a.turn.id, reason="no longer needed") for f, a in zip(facts, first, strict=True)),
        *asks(*facts),
        *again,
        *plan.compacted("drop"),
        *asks(*facts),
        *(Evict(turn=append.turn.id) for append in (*first, *again)),
        *asks(*facts),
        *plan.compacted("paraphrase"),
        *asks(*facts),
    )


def _hedged(mode: str) -> Scenario:
    def build(plan: Plan) -> tuple[AnyStep, ...]:
        """Doubts, denials and several values of one subject, over three generations (MAN-5)."""
        planter = plan.planter
        doubts = tuple(planter.fact("hedge") for _ in range(2))
        subject = planter.subject()
        values = tuple(
            planter.fact(kind, subject=subject, attribute=attribute)
            for kind, attribute in (("port", "admin port"), ("port", "listen port"), ("number", "queue bound"))
        )
        denial = planter.fact("negation")
        return (
            *plan.compacted("faithful", doubts[0], *values[:2]),
            *plan.compacted(mode, doubts[1], denial, values[2]),
            *asks(*doubts, denial, *values),
            *plan.compacted("faithful"),
            *asks(*doubts, *values),
        )

    return Scenario(name=f"doubts-{mode}", aims=("MAN-5", "MAN-2", "MAN-1", "ANC-1"), build=build)


def _long_turns(plan: Plan) -> tuple[AnyStep, ...]:
    """A long log, one long line and a tool's long answer, with what is needed early, in the middle and at the end
    (REC-3); all of it is shown to whoever summarises it (PTR-3)."""
    facts = plan.facts(3)
    asides = plan.planter.asides(LONG_TURN // 3)
    log = "\n".join(part for fact, aside in zip(facts, asides, strict=True) for part in (*aside, fact.text))
    more = plan.facts(3)
    line = " ".join(
        part
        for fact, aside in zip(more, plan.planter.asides(LONG_TURN // 3), strict=True)
        for part in (*aside, fact.text)
    )
    (last,) = plan.facts(1)
    table = "\n".join((*(part for aside in plan.planter.asides(LONG_TURN // 3) for part in aside), last.text))
    asking, answer = plan.planter.call()
    return (
        *plan.said(*plan.facts(1)),
        plan.planter.utter(log, *facts, speaker="assistant"),
        *plan.compacted("drop"),
        *asks(*facts),
        plan.planter.utter(line, *more, speaker="assistant"),
        *plan.compacted("drop"),
        *asks(*facts, *more),
        asking,
        Append(turn=replace(answer.turn, text=table), facts=(last,)),
        *plan.compacted("drop"),
        *asks(last),
    )


def _one_long(plan: Plan) -> tuple[AnyStep, ...]:
    """One turn that is as long as most of the window, and then one that is longer than all of it, among ordinary
    ones: these go on being compacted (PRO-2, PRO-1)."""
    # What a session begins with are instructions, which some keep for good; a log comes later.
    steps: list[AnyStep] = [Summariser(mode="faithful"), *plan.said(*plan.facts(3))]
    for length in (LONG_TURN, int(plan.room * BEYOND)):
        (fact,) = plan.facts(1)
        lines = (line for run in plan.planter.asides(length // 3) for line in run)
        log = "\n".join((*lines, fact.text))
        steps += (plan.planter.utter(log, fact, speaker="assistant"), plan.fill(*plan.facts(2)))
        steps += (Compact() for _ in range(4))
        steps += (plan.fill(), *(Compact() for _ in range(4)), *asks(fact))
    return tuple(steps)


def _gaps(plan: Plan) -> tuple[AnyStep, ...]:
    """Asked before it was said, right after a compaction, after a restart, and after something went: "no" has to be
    true, also where it once was (REC-4)."""
    facts = plan.facts(3)
    never = tuple(plan.planter.sibling(fact) for fact in facts)
    said = _bare(plan, *facts)
    return (
        *asks(*facts, *never),
        *said,
        *plan.compacted("drop"),
        *asks(*facts, *never),
        Reopen(),
        *asks(*facts, *never),
        *plan.compacted("drop", *plan.facts(2)),
        *asks(*facts, *never),
        Evict(turn=said[0].turn.id),
        *asks(*facts, *never),
        Reopen(),
        *asks(*facts, *never),
    )


def noise(plan: Plan, length: int = OPAQUE) -> bytes:
    """Bytes that are no text in any encoding that a careful reader would try: an image, an archive."""
    rng = random.Random(plan.planter.fact().text)  # noqa: S311 - replayable
    return b"\xff\xd8\xff\xe0" + bytes(rng.randrange(128, 256) for _ in range(length)) + b"\x80\xfe"


def _opaque(plan: Plan) -> tuple[AnyStep, ...]:
    """Attachments among ordinary turns: nothing can be read from them, and the rest goes on (MAN-3, PRO-2)."""
    return (
        *plan.said(*plan.facts(1)),
        plan.planter.attach(noise(plan)),
        *plan.compacted("faithful", *plan.facts(2)),
        plan.planter.attach(noise(plan)),
        *plan.compacted("drop", *plan.facts(2)),
        Summariser(mode="faithful"),
        plan.fill(),
        *(Compact() for _ in range(4)),
        plan.fill(),
        *(Compact() for _ in range(4)),
        Probe(),
    )


def _dead_call(plan: Plan) -> tuple[AnyStep, ...]:
    """A call whose process was killed, and one that nobody ever answered (PRO-2)."""
    killed, _ = plan.planter.call()
    forgotten, _ = plan.planter.call()
    return (
        *plan.said(*plan.facts(1)),
        plan.planter.marked(killed, "killed"),
        *plan.compacted("faithful", *plan.facts(2)),
        forgotten,
        *plan.compacted("faithful", *plan.facts(1)),
        Summariser(mode="faithful"),
        plan.fill(),
        *(Compact() for _ in range(4)),
    )


KEEPING = (
    Scenario(name="pressure", aims=("ANC-2", "ANC-1", "EVI-7", "EPO-1"), build=_pressure, needs=EVICT),
    Scenario(name="twins", aims=("ANC-3", "ANC-1"), build=_twins, needs=EVICT),
    Scenario(name="said-again", aims=("MAN-4", "ANC-1", "REC-4"), build=_said_again, needs=frozenset({"tombstone"})),
    _hedged("harden"),
    _hedged("swap"),
    Scenario(name="long-turns", aims=("REC-3", "REC-1", "PTR-1", "PTR-3"), build=_long_turns),
    Scenario(name="gaps", aims=("REC-4", "REC-1"), build=_gaps),
    Scenario(name="opaque", aims=("MAN-3", "PRO-2", "STR-3", "PTR-1"), build=_opaque),
    Scenario(name="one-long-turn", aims=("PRO-2", "PRO-1", "REC-3"), build=_one_long),
    Scenario(name="dead-call", aims=("PRO-2", "STR-1"), build=_dead_call),
)
