"""MAN-4: a tombstone speaks for one assertion by one turn, and for nobody who says the same again."""

from anchorhold.checkers.anchoring import where_looked
from anchorhold.checkers.holding import HELD, Hold, asks_for, hold, same_literal
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import Assertion, Drop, Observation
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import plain
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import AnswerKind, Tombstone


def _again(reading: Reading, drop: Drop) -> list[Assertion]:
    """Assertions of the same words by other turns, after the one that was dropped, that nobody dropped."""
    order = list(reading.said)
    mine = next((a for a in reading.assertions if _is(drop, a)), None)
    if mine is None:
        return []
    return [
        a
        for a in reading.assertions
        if a.fact.text == mine.fact.text
        and a.session == mine.session
        and order.index(a.turn) > order.index(mine.turn)
        and not any(_is(other, a) for other in reading.drops)
    ]


def _is(drop: Drop, assertion: Assertion) -> bool:
    return drop.source == assertion.turn and same_literal(drop.literal, assertion.fact.literal)


def man_4(reading: Reading, tally: Tally) -> None:
    """What is said again after a tombstone: held by something of its own, and found."""
    for drop in reading.drops:
        if not drop.operation.committed:
            continue
        for assertion in _again(reading, drop):
            for observation in reading.observations:
                if _due(reading, drop, assertion, observation):
                    _look(reading, tally, drop, assertion, observation)


def _due(reading: Reading, drop: Drop, assertion: Assertion, observation: Observation) -> bool:
    """Whether a look came after both; while the turn stands in the window, nothing is at stake."""
    return (
        observation.start > max(assertion.at, drop.operation.end)
        and observation.live is not None
        and observation.session == assertion.session
        and assertion.turn not in observation.raw
        and not reading.excused(observation, assertion.turn)
    )


def _look(reading: Reading, tally: Tally, drop: Drop, assertion: Assertion, observation: Observation) -> None:
    held = hold(reading, observation, assertion)
    if held not in (Hold.UNKNOWN, Hold.PENDING):
        tally.trigger()
    if held is Hold.LOOSE:
        tally.fail(
            f"What turn {drop.source} says was tombstoned, turn {assertion.turn} says it again "
            f"(“{plain(assertion.fact.text)}”), and nothing holds it: {where_looked(reading)}.",
            fact=assertion.fact.text,
            event=observation.end,
        )
    for question in observation.questions:
        if not asks_for(question, assertion) or _newer(reading, assertion, question.operation.start):
            continue
        tally.trigger()
        if question.answer.kind is AnswerKind.TOMBSTONED:
            tally.fail(
                f"What turn {drop.source} says was tombstoned, turn {assertion.turn} says it again, and asking for "
                f"“{plain(assertion.fact.literal)}” is still answered with “tombstoned”.",
                fact=assertion.fact.text,
                event=question.operation.end,
            )


def _newer(reading: Reading, assertion: Assertion, until: int) -> bool:
    """Whether a later turn gave the slot another value, or was dropped itself: the answer may be about that one."""
    fact, order = assertion.fact, list(reading.said)
    return any(
        other.at < until
        and order.index(other.turn) > order.index(assertion.turn)
        and other.session == assertion.session
        and (
            (
                fact.subject is not None
                and (other.fact.subject, other.fact.attribute) == (fact.subject, fact.attribute)
            )
            or other.fact.text == fact.text
        )
        for other in reading.assertions
    )


def _superseded(reading: Reading, tally: Tally) -> None:
    """A tombstone that names what took its place: that turn was there, and is held by something of its own."""
    for drop in reading.drops:
        by = drop.superseder
        if by is None:
            continue
        tally.trigger()
        if drop.operation.committed and (by not in reading.said or reading.said[by].at > drop.operation.end):
            tally.fail(
                f"What turn {drop.source} says was tombstoned because turn {by} took its place, and no turn {by} had "
                f"been appended.",
                fact=drop.literal,
                event=drop.operation.end,
            )
    for observation in reading.observations:
        for tombstone in observation.tombstones or ():
            if tombstone.superseder is not None:
                _anchored(reading, tally, tombstone, observation)


def _anchored(reading: Reading, tally: Tally, tombstone: Tombstone, observation: Observation) -> None:
    """What took an assertion's place is anchored for as long as the tombstone names it."""
    for assertion in reading.assertions:
        if (
            assertion.turn != tombstone.superseder
            or assertion.session != observation.session
            or assertion.at > observation.start
            or observation.live is None
            or reading.excused(observation, assertion.turn)
            # Dropped in its turn: the caller decided on that as well.
            or any(_is(drop, assertion) for drop in reading.drops)
        ):
            continue
        held = hold(reading, observation, assertion)
        if held in HELD or held is Hold.LOOSE:
            tally.trigger()
        if held is Hold.LOOSE:
            tally.fail(
                f"A tombstone says that turn {assertion.turn} took the place of what turn {tombstone.source} "
                f"said, and nothing holds “{plain(assertion.fact.text)}”: {where_looked(reading)}.",
                fact=assertion.fact.text,
                event=observation.end,
            )


def man_4_whole(reading: Reading, tally: Tally) -> None:
    """One assertion and no other; and what is named as having taken its place is anchored."""
    man_4(reading, tally)
    _superseded(reading, tally)


CHECKERS = (RuleChecker(rule="MAN-4", minimum=1, mechanisms=(Mechanism.TOMBSTONES,), examine=man_4_whole),)
