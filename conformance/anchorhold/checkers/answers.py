"""REC-3 and REC-4: a part is not passed off as the whole, and "no" comes from an index that would know."""

from collections.abc import Iterator

from anchorhold.checkers.holding import Hold, asks_for, through_pointers
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, Observation, Question
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content, decoded, piece_of, plain, quotes, shorten, words
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import Answer, AnswerKind

LONG = 1500
"""Characters of a turn that somebody may want to cut."""
RUN = 25
"""Words in a row by which an answer is known to be about a turn, where its pointer does not say so."""
NEGATIVE = frozenset({AnswerKind.ABSENT, AnswerKind.UNANCHORED, AnswerKind.FOREIGN})
"""Answers that say that there is nothing."""


def _clipped(reading: Reading, answer: Answer, turn: str) -> str | None:
    """What an answer that is to be a turn leaves out of it, in words; none where it leaves out nothing."""
    text, source = content(answer), words(reading.said[turn].turn)
    if turn in reading.contained(text):
        if reading.with_calls(text, turn):
            return None
        return "without the arguments of its calls"
    if not text.strip():
        return "without a body"
    if piece_of(text, source):
        return f"with {len(plain(text))} of its {len(plain(source))} characters"
    return None


def rec_3(reading: Reading, tally: Tally) -> None:
    """Each pointer to a long turn that was followed, and each answer that says that it is a part."""
    for observation in reading.observations:
        for token, answer in observation.answers.items():
            pointer = reading.pointers.get(token)
            covers = reading.turns_of(pointer.covers) if pointer is not None else None
            if answer.kind not in CONTENT or pointer is None or observation.exempt & (covers or frozenset()):
                continue
            for turn in _candidates(reading, answer, covers):
                _judge_piece(reading, tally, observation, token, answer, turn)
        for question in observation.questions:
            if question.answer.kind is AnswerKind.PARTIAL:
                tally.trigger()
                _judge_part(tally, question)


def _candidates(reading: Reading, answer: Answer, covers: frozenset[str] | None) -> Iterator[str]:
    """Turns that an answer is to be: those that its pointer declares, otherwise the one that it quotes."""
    for turn, said in reading.said.items():
        if not said.forms or (covers is not None and turn not in covers):
            continue
        long = len(words(said.turn)) >= LONG
        alone = covers is not None and len(covers) == 1 and answer.kind is AnswerKind.PARTIAL
        told = covers is not None or (long and quotes(content(answer), words(said.turn), RUN))
        if alone or (long and told):
            yield turn


def _judge_piece(
    reading: Reading, tally: Tally, observation: Observation, token: str, answer: Answer, turn: str
) -> None:
    tally.trigger()
    if answer.kind is AnswerKind.PARTIAL and answer.continuation is not None:
        # More is promised than was fetched: where it ends is not known.
        return
    missing = _clipped(reading, answer, turn)
    if missing is None:
        if not answer.text or answer.kind is AnswerKind.PARTIAL or _exact(reading, answer, turn):
            return
        missing = "in pieces that do not join to its exact characters"
    how = "and names no continuation" if answer.kind is AnswerKind.PARTIAL else "as if that were all"
    tally.fail(
        f"Pointer {token} stands for {reading.quote(turn)}; following it answers “{answer.kind}” {missing}, {how}.",
        fact=turn,
        event=observation.end,
    )


def _exact(reading: Reading, answer: Answer, turn: str) -> bool:
    """Whether the words of a turn stand in a joined text as they are, white space included; only long text is cut."""
    said = reading.said[turn].turn
    own = decoded(said.text, said.data)
    return len(own) < LONG or own in content(answer) or plain(own) != plain(content(answer))


def _judge_part(tally: Tally, question: Question) -> None:
    """A part of an answer to a question has what was asked for, or says how to go on."""
    answer, arguments = question.answer, question.operation.arguments
    literal = str(arguments.get("literal", ""))
    if answer.continuation is not None or (literal and plain(literal) in plain(content(answer))) or answer.value:
        return
    asked = literal or f"the {arguments.get('attribute')} of {arguments.get('subject')}"
    tally.fail(
        f"Asked for “{asked}”, the compactor answered “partial” with “{shorten(content(answer))}”, in which it does "
        "not stand, and names no continuation.",
        fact=asked,
        event=question.operation.end,
    )


def rec_4(reading: Reading, tally: Tally) -> None:
    """Each "no": about what was never said, or about what can be had back at the same moment by other means."""
    for observation in reading.observations:
        for question in observation.questions:
            if question.answer.kind in NEGATIVE:
                tally.trigger()
                _judge_negative(reading, tally, observation, question)
    _judge_tokens(reading, tally)


def _judge_negative(reading: Reading, tally: Tally, observation: Observation, question: Question) -> None:
    asked = [
        a
        for a in reading.assertions
        if a.at < question.operation.start and a.session == observation.session and asks_for(question, a)
    ]
    for assertion in asked:
        if reading.excused(observation, assertion.turn):
            continue
        if question.answer.kind is AnswerKind.ABSENT:
            why = "that it was never said"
        elif (
            assertion.turn not in observation.raw
            and through_pointers(reading, observation, assertion.turn) is Hold.POINTER
        ):
            why = "that nothing holds it, while a pointer leads to it"
        else:
            continue
        tally.fail(
            f"Asked for “{plain(assertion.fact.literal)}”, which {reading.quote(assertion.turn)} says, the compactor "
            f"answers “{question.answer.kind}”: {why}.",
            fact=assertion.fact.text,
            event=question.operation.end,
        )


def _judge_tokens(reading: Reading, tally: Tally) -> None:
    """A pointer that is denied and later leads somewhere was denied by an index that did not know."""
    denied: dict[str, tuple[AnswerKind, int]] = {}
    homes = reading.homes
    for observation in reading.observations:
        for token, answer in observation.answers.items():
            if homes.get(token, observation.session) != observation.session:
                continue
            if answer.kind in NEGATIVE:
                tally.trigger()
                # Asked for before it was given out, a made-up token may come to mean something.
                if token in reading.issued and reading.issued[token] <= observation.start:
                    denied.setdefault(token, (answer.kind, observation.end))
            elif answer.kind in CONTENT and token in denied:
                kind, event = denied.pop(token)
                tally.fail(
                    f"Pointer {token} was answered with “{kind}”, and later with its content: the index was asked "
                    "while it was not complete, and did not say so.",
                    fact=token,
                    event=event,
                )


CHECKERS = (
    RuleChecker(rule="REC-3", minimum=1, mechanisms=(Mechanism.RETRIEVAL,), examine=rec_3),
    RuleChecker(rule="REC-4", minimum=3, mechanisms=(Mechanism.RETRIEVAL,), examine=rec_4),
)
