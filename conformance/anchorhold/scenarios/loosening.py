"""Attempts to let something go: evictions, tombstones, lifetimes, and the keys that become free."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle

from anchorhold.planting import ATTRIBUTES
from anchorhold.scenarios.plan import Plan, Scenario
from anchorhold.workload import AnyStep, Append, Ask, Compact, DropFact, Evict, Expire, Follow, Probe, Supersede
from anchorhold_spec.vocabulary import Fact

EVICT = frozenset({"evict"})
HOUR = 3600.0
A_YEAR = 365.0 * 24 * 3600


def _asks(*facts: Fact) -> tuple[AnyStep, ...]:
    return tuple(Ask(fact=fact, evidence=evidence) for fact in facts for evidence in (False, True))


def _last_carrier(plan: Plan) -> tuple[AnyStep, ...]:
    """No summary keeps the facts, so that their originals are the last carriers: each is asked to go."""
    said = plan.said(*plan.facts(4))
    facts = [fact for append in said for fact in append.facts]
    return (
        *said,
        *plan.compacted("drop"),
        *(Evict(turn=append.turn.id) for append in said),
        *_asks(*facts),
        *plan.compacted("drop", *plan.facts(2)),
        *(Evict(turn=append.turn.id) for append in said),
        *_asks(*facts),
    )


def _carried_for_a_while(plan: Plan) -> tuple[AnyStep, ...]:
    """A summary keeps the facts, the originals may go; then that summary is itself replaced (ANC-4)."""
    said = plan.said(*plan.facts(4))
    facts = [fact for append in said for fact in append.facts]
    return (
        *said,
        *plan.compacted("faithful"),
        *(Evict(turn=append.turn.id) for append in said[:2]),
        *plan.compacted("drop", *plan.facts(2)),
        *_asks(*facts),
        *(Evict(turn=append.turn.id) for append in said),
        *_asks(*facts),
    )


def _two_carriers(plan: Plan) -> tuple[AnyStep, ...]:
    """Two turns assert the same; each may go as long as the other stays, and not both (ANC-3)."""
    fact = plan.planter.fact("path")
    first, second = plan.planter.say(fact), plan.planter.say(fact)
    return (
        first,
        second,
        *plan.compacted("drop"),
        Evict(turn=first.turn.id),
        Evict(turn=second.turn.id),
        *_asks(fact),
    )


def _incident(plan: Plan) -> tuple[AnyStep, ...]:
    """The incident that S0 reports, by its hours; a sibling's name stays in sight all the while.

    Hour 5: a service is named. Hour 8: the summary paraphrases the name. Hour 12: a lifetime that goes by the clock
    wants the original gone. Hour 20: the summary of the summary has lost even the paraphrase. Hour 31: whoever asks
    must get the name, or be told that it cannot be had; never the sibling's.
    """
    service = plan.planter.fact("identifier", attribute="affected service")
    sibling = plan.planter.sibling(service)
    told: Append = plan.planter.say(service, speaker="tool")
    return (
        Expire(seconds=5 * HOUR),
        told,
        Expire(seconds=3 * HOUR),
        *plan.compacted("paraphrase", *plan.facts(1)),
        Expire(seconds=4 * HOUR),
        Evict(turn=told.turn.id),
        Expire(seconds=8 * HOUR),
        *plan.compacted("drop", *plan.facts(1)),
        plan.planter.say(sibling, speaker="user"),
        *_asks(service, sibling),
        Expire(seconds=11 * HOUR),
        *plan.compacted("drop"),
        *_asks(service, sibling),
    )


def _misspelt(literal: str) -> tuple[str, ...]:
    """Literals that differ from one in a single character: one more, another one, one less, the other case.

    None of them is a part of it. Whoever looks for words as `grep` does finds each of them exactly where it stands.
    """
    last = literal[-1]
    other = ("z" if last == "y" else "y") if last.isalpha() else ("7" if last == "3" else "3")
    shorter = (literal[:at] + literal[at + 1 :] for at in range(len(literal) // 2, len(literal) - 1))
    made = (
        literal + other,
        literal[:-1] + other,
        next((word for word in shorter if word not in literal), literal),
        literal.swapcase(),
    )
    return tuple(word for word in dict.fromkeys(made) if word not in literal)


def _scattered(fact: Fact) -> str:
    """The words of one sentence, with the last three the other way round: its turn has all of them, and not this."""
    return " ".join(reversed(fact.text.rstrip(".").split()[-3:]))


def _unasserted(fact: Fact, others: Sequence[Fact]) -> tuple[AnyStep, ...]:
    """Questions that differ from an answerable one in one respect each, whatever the seed.

    The same subject and another attribute, the beginning of the subject's name, that name and one character more,
    the name in another case; and literals that are nearly the planted one.
    """
    subject, attribute = fact.subject or "", fact.attribute or ""
    said = {(other.subject, other.attribute) for other in others}
    elsewhere = next(a for a in ATTRIBUTES if (subject, a) not in said and a != attribute)
    slots = (
        (subject, elsewhere),
        (subject, attribute.split()[0]),
        (subject[:-1], attribute),
        (subject.split("-")[0], attribute),
        (f"{subject}0", attribute),
        (subject.upper(), attribute),
    )
    words = _misspelt(fact.literal)
    return tuple(
        Ask(
            fact=Fact(text=f"{who}: {what} = {word}.", literal=word, kind=fact.kind, subject=who, attribute=what),
            evidence=number % 2 == 0,
        )
        for number, ((who, what), word) in enumerate(zip(slots, cycle(words), strict=False))
        if (who, what) not in said
    )


def _neighbours(plan: Plan) -> tuple[AnyStep, ...]:
    """Near-identical names: one dropped from the window, one live, one never spoken of; and near-identical words."""
    facts = plan.facts(3)
    siblings = tuple(plan.planter.sibling(fact) for fact in facts)
    strangers = tuple(plan.planter.sibling(fact) for fact in facts)
    others = plan.facts(2)
    never = tuple(plan.planter.again(fact) for fact in facts)
    unasserted = [step for fact in (facts[0], siblings[1]) for step in _unasserted(fact, (*facts, *siblings))]
    loose = tuple(plan.planter.loose(kind) for kind in ("path", "identifier", "timestamp"))
    near = [
        Ask(fact=Fact(text=word, literal=word, kind=fact.kind))
        for fact in (*facts, *loose)
        for word in (*_misspelt(fact.literal), _scattered(fact))
    ]
    return (
        *plan.said(*facts, *loose),
        *plan.compacted("drop"),
        *plan.said(*siblings),
        *_asks(*facts, *siblings, *strangers, *others),
        *(Ask(fact=Fact(text=f.text, literal=f.literal, kind=f.kind)) for f in never),
        *unasserted,
        *near,
        *plan.compacted("paraphrase"),
        *_asks(*facts, *siblings, *strangers, *others),
    )


def _tombstones(plan: Plan) -> tuple[AnyStep, ...]:
    """One assertion is dropped on a caller's word; the same fact is asserted again later (MAN-4)."""
    fact, kept = plan.facts(2)
    first, other = plan.planter.say(fact), plan.planter.say(kept)
    again = plan.planter.say(fact)
    return (
        first,
        other,
        *plan.compacted("drop"),
        DropFact(fact=fact, turn=first.turn.id, reason="the caller no longer needs it"),
        *_asks(fact, kept),
        Evict(turn=first.turn.id),
        Evict(turn=other.turn.id),
        *_asks(fact, kept),
        again,
        *plan.compacted("drop"),
        Evict(turn=again.turn.id),
        *_asks(fact, kept),
    )


def _other_words(plan: Plan) -> tuple[AnyStep, ...]:
    """All words of two statements stand in the window, and neither of the statements: the values are exchanged."""
    planter = plan.planter
    one, two = planter.fact("identifier"), planter.fact("identifier")
    first, second = planter.say(one), planter.say(two)
    exchanged = tuple(
        replace(fact, text=fact.text.replace(fact.literal, other.literal), literal=other.literal)
        for fact, other in ((one, two), (two, one))
    )
    return (
        first,
        second,
        *plan.compacted("drop"),
        planter.say(*exchanged),
        Evict(turn=first.turn.id),
        Evict(turn=second.turn.id),
        *_asks(*exchanged),
        *plan.compacted("drop"),
        Probe(),
    )


def _same_again(plan: Plan) -> tuple[AnyStep, ...]:
    """One of two turns of the same text is archived, the other is in the window: each is an entry of its own."""
    planter = plan.planter
    fact = plan.facts(1)[0]
    first = planter.say(fact)
    return (
        first,
        *plan.compacted("drop"),
        planter.utter(first.turn.text or "", fact, speaker=first.turn.speaker),
        Evict(turn=first.turn.id),
        Probe(),
        *plan.compacted("drop", *plan.facts(1)),
        *_asks(fact),
    )


def _superseded(plan: Plan) -> tuple[AnyStep, ...]:
    """A value is dropped because a later turn gave another; who took its place has to be anchored (MAN-4)."""
    planter = plan.planter
    old, kept, new = plan.facts(3)
    newer = planter.fact(old.kind, subject=old.subject, attribute=old.attribute)
    first, second, other = planter.say(old), planter.say(newer), planter.say(kept, new)
    reason = "it has another value by now"
    return (
        first,
        second,
        other,
        *plan.compacted("drop"),
        # Nobody has said that: a decision that rests on it is none.
        Supersede(fact=kept, turn=other.turn.id, superseder="never-appended", reason=reason),
        *_asks(kept),
        Supersede(fact=old, turn=first.turn.id, superseder=second.turn.id, reason=reason),
        *_asks(old, newer, kept),
        Evict(turn=first.turn.id),
        Evict(turn=second.turn.id),
        Evict(turn=other.turn.id),
        *_asks(newer, kept, new),
        *plan.compacted("drop", *plan.facts(1)),
        *_asks(newer, kept, new),
    )


def _no_authority(plan: Plan) -> tuple[AnyStep, ...]:
    """The same without anybody's word: nothing may be tombstoned, and nothing may come loose (MAN-6)."""
    fact, kept = plan.facts(2)
    first, other, again = plan.planter.say(fact), plan.planter.say(kept), plan.planter.say(fact)
    return (
        first,
        other,
        *plan.compacted("drop"),
        Evict(turn=first.turn.id),
        Evict(turn=other.turn.id),
        again,
        *plan.compacted("drop"),
        Evict(turn=again.turn.id),
        *_asks(fact, kept),
    )


def _recycled_key(plan: Plan) -> tuple[AnyStep, ...]:
    """What may go goes, more is archived in its place, and the old pointers are followed (EPO-1).

    What goes says one statement and nothing else: the faithful summary carries it, so that a careful store may let
    the original go. It need not let go of a turn whose asides hedge or deny something.
    """
    steps: list[AnyStep] = []
    for _ in range(3):
        bare = tuple(plan.planter.utter(fact.text, fact) for fact in plan.facts(4))
        steps.extend((*bare, plan.fill(), Compact(until_idle=3)))
        steps.extend(Evict(turn=append.turn.id) for append in bare)
        steps.append(Probe())
    return tuple(steps)


def _lifetime(plan: Plan) -> tuple[AnyStep, ...]:
    """Time passes; what it takes away must not be what alone held a fact (ANC-2)."""
    facts = plan.facts(3)
    return (
        *plan.compacted("drop", *facts),
        Expire(seconds=A_YEAR),
        *_asks(*facts),
        *plan.compacted("drop", *plan.facts(2)),
        Expire(seconds=A_YEAR),
        *_asks(*facts),
    )


def _never_issued(plan: Plan) -> tuple[AnyStep, ...]:
    """Pointers that are made up, and pointers of another store of the same kind (EPO-2)."""
    made_up = ("anchorhold-never-issued", "0", "sum-1", "span:0", "/conversation_history/nowhere.md", "")
    return (
        *plan.compacted("faithful", *plan.facts(2)),
        *(Follow(token=token) for token in (*made_up, *plan.tokens[:12])),
        *plan.compacted("drop", *plan.facts(2)),
        *(Follow(token=token) for token in (*made_up[:1], *plan.tokens[-12:])),
    )


LOOSENING = (
    Scenario(name="last-carrier", aims=("ANC-1", "ANC-2", "ANC-5", "PTR-2"), build=_last_carrier, needs=EVICT),
    Scenario(name="carried-for-a-while", aims=("ANC-1", "ANC-4", "MAN-1"), build=_carried_for_a_while, needs=EVICT),
    Scenario(name="two-carriers", aims=("ANC-1", "ANC-3", "IDX-2"), build=_two_carriers, needs=EVICT),
    Scenario(name="incident-timeline", aims=("ANC-1", "ANC-4", "REC-1", "MAN-1"), build=_incident),
    Scenario(name="neighbours", aims=("REC-1", "REC-2", "REC-4"), build=_neighbours),
    Scenario(
        name="tombstones",
        aims=("MAN-4", "MAN-6", "ANC-1", "REC-2"),
        build=_tombstones,
        needs=frozenset({"tombstone"}),
    ),
    Scenario(name="superseded", aims=("MAN-4", "ANC-1"), build=_superseded, needs=frozenset({"supersede"})),
    Scenario(name="other-words", aims=("ANC-1", "ANC-2"), build=_other_words, needs=EVICT),
    Scenario(name="same-again-and-evict", aims=("IDX-1", "IDX-2", "ANC-1"), build=_same_again, needs=EVICT),
    Scenario(name="no-authority", aims=("MAN-6", "ANC-1"), build=_no_authority, needs=EVICT),
    Scenario(name="recycled-key", aims=("EPO-1", "EPO-2", "ANC-1"), build=_recycled_key, needs=EVICT),
    Scenario(name="lifetime", aims=("ANC-1", "ANC-2", "EVI-3"), build=_lifetime, needs=frozenset({"expire"})),
    Scenario(name="never-issued", aims=("EPO-2", "REC-2"), build=_never_issued, needs=frozenset({"get"})),
)
