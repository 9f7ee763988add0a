"""REC-2: the kinds of nothing are told apart, each by the answer that is due in its situation.

What a situation is, is known from what the suite did: a token that was never issued, an original that a lifetime
removed, one that the caller let go of, an assertion that was dropped on the record, something that nobody ever said.
Content is always an answer (whether it is the right one is REC-1's business), and an error is none.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from anchorhold.checkers.epochs import addresses
from anchorhold.checkers.holding import asks_for, same_literal
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, Assertion, Observation, Question
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import plain, shorten, stands
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import Answer, AnswerKind, OutcomeKind

K = AnswerKind


@dataclass(frozen=True, slots=True)
class Situation:
    """What a question was about, in words, and the kinds of answer that say so."""

    what: str
    due: frozenset[AnswerKind]


NEVER_ISSUED = Situation("was never issued here", frozenset({K.FOREIGN}))
EXPIRED = Situation(
    "led to an original that its lifetime has removed", frozenset({K.EXPIRED, K.PENDING, K.TOMBSTONED})
)
LET_GO = Situation(
    "led to an original that was evicted on request",
    frozenset({K.UNANCHORED, K.INSUFFICIENT, K.TOMBSTONED, K.EXPIRED, K.DEGRADED}),
)
FORGOTTEN = Situation("led to a turn that was erased", frozenset({K.TOMBSTONED}))
DROPPED = Situation("was dropped on the record", frozenset({K.TOMBSTONED, K.PENDING}))
NEVER_SAID = Situation("was never said", frozenset({K.UNANCHORED, K.ABSENT, K.DEGRADED, K.PENDING}))
REASONED = frozenset({K.TOMBSTONED, K.DEGRADED})
"""Answers that say why (tombstoned) or what was not searched (degraded)."""


def rec_2(reading: Reading, tally: Tally) -> None:
    """Every answer without content, against the situation that the suite knows of."""
    for asked, situation, answer, event in _situations(reading):
        tally.trigger()
        if answer.kind in CONTENT:
            continue
        if answer.kind not in situation.due:
            due = " or ".join(f"“{kind}”" for kind in AnswerKind if kind in situation.due)
            tally.fail(
                f"{asked} {situation.what}, and the answer is “{answer.kind}”, as if it were something else; "
                f"due is {due}.",
                fact=asked,
                event=event,
            )
    for asked, answer, event in _answers(reading):
        if answer.kind in REASONED and not (answer.reason or "").strip():
            tally.fail(f"{asked} was answered with “{answer.kind}” and no reason.", fact=asked, event=event)


def _answers(reading: Reading) -> Iterator[tuple[str, Answer, int]]:
    for observation in reading.observations:
        for token, answer in observation.answers.items():
            yield f"Pointer “{token}”", answer, observation.end
        for question in observation.questions:
            yield _asked(question), question.answer, question.operation.end


def _asked(question: Question) -> str:
    arguments = question.operation.arguments
    if question.operation.op == "search":
        return f"“{shorten(str(arguments.get('literal')))}”"
    return f"The {arguments.get('attribute')} of {arguments.get('subject')}"


def _situations(reading: Reading) -> Iterator[tuple[str, Situation, Answer, int]]:
    yield from _of_tokens(reading)
    for observation in reading.observations:
        for question in observation.questions:
            situation = _of_question(reading, observation, question)
            if situation is not None:
                yield _asked(question), situation, question.answer, question.operation.end


@dataclass(slots=True)
class _Known:
    """A token that led somewhere, in which session, and when it was last seen to."""

    session: str
    at: int
    turns: frozenset[str]


def _of_tokens(reading: Reading) -> Iterator[tuple[str, Situation, Answer, int]]:
    known: dict[str, _Known] = {}
    evicted = {
        str(o.arguments.get("token", "")): o.end for o in reading.operations if o.op == "evict" and o.committed
    }
    expiries = [o.end for o in reading.operations if o.op == "expire" and o.ok]
    forgotten = {
        turn: withdrawal.operation.end
        for withdrawal in reading.withdrawals
        if withdrawal.operation.op == "forget" and withdrawal.operation.ok
        for turn in withdrawal.turns
    }
    local = addresses(reading)
    for observation in reading.observations:
        for token, answer in observation.answers.items():
            if token not in reading.issued:
                if token not in local and token not in observation.continuations:
                    yield f"Pointer “{token}”", NEVER_ISSUED, answer, observation.end
                continue
            if observation.damaged:
                # A damaged store may have lost its own record.
                continue
            asked = f"Pointer “{token}”"
            if answer.kind in CONTENT:
                turns = reading.turns_of(reading.pointers[token].covers) or frozenset()
                known[token] = _Known(session=observation.session, at=observation.end, turns=turns)
                continue
            before = known.get(token)
            if before is None or before.session != observation.session:
                continue
            if any(reading.taken_back(turn, observation.start) for turn in before.turns):
                continue
            if len(before.turns) == 1 and any(
                forgotten.get(turn, observation.end) < observation.start for turn in before.turns
            ):
                yield asked, FORGOTTEN, answer, observation.end
            elif before.turns & observation.withdrawn:
                continue
            elif evicted.get(token, observation.end) < observation.start:
                yield asked, LET_GO, answer, observation.end
            elif any(before.at < at < observation.start for at in expiries):
                yield asked, EXPIRED, answer, observation.end


def _of_question(reading: Reading, observation: Observation, question: Question) -> Situation | None:
    begun = question.operation.start
    if observation.damaged or observation.withdrawn:
        return None
    about = [a for a in reading.assertions if a.at < begun and asks_for(question, a)]
    if question.operation.op == "search":
        literal = str(question.operation.arguments.get("literal", ""))
        if any(literal and plain(literal) in source.flat for source in reading.sources if source.at < begun):
            # Words of a turn that were planted as no fact of it, or in part.
            about += [a for a in reading.assertions if a.at < begun and stands(a.fact.literal, literal)]
        elif not about:
            return NEVER_SAID
    elif not about and not _near(reading, question):
        return NEVER_SAID
    own = [a for a in about if reading.belongs(a.turn, observation.session)]
    if about and len(own) == len(about) and all(_dropped(reading, a, begun) for a in about):
        return DROPPED
    return None


def _near(reading: Reading, question: Question) -> bool:
    """Whether the slot is asserted when the case of its words is left aside: then somebody may have meant it."""
    subject = plain(str(question.operation.arguments.get("subject", ""))).casefold()
    attribute = plain(str(question.operation.arguments.get("attribute", ""))).casefold()
    return any(
        plain(a.fact.subject or "").casefold() == subject and plain(a.fact.attribute or "").casefold() == attribute
        for a in reading.assertions
    )


def _dropped(reading: Reading, assertion: Assertion, until: int) -> bool:
    return any(
        drop.source == assertion.turn
        and same_literal(drop.literal, assertion.fact.literal)
        and drop.operation.end < until
        and drop.operation.committed
        and (outcome := drop.operation.outcome()) is not None
        and outcome.kind is OutcomeKind.COMMITTED
        for drop in reading.drops
    )


CHECKERS = (RuleChecker(rule="REC-2", minimum=4, mechanisms=(Mechanism.RETRIEVAL,), examine=rec_2),)
