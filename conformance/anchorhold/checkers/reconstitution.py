"""REC: what is returned carries what was asked for, or the answer says that it does not."""

import re
from collections.abc import Iterator

from anchorhold.checkers.holding import credible
from anchorhold.checkers.provenance import reply_of
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, Question
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content, piece_of, plain, sentences, shorten, stands, words, written
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import Answer, AnswerKind

WORD = re.compile(r"\w{4,}")
SUPERSEDED = re.compile(r"supersed|replaced|outdated|older|newer|earlier|later|no longer", re.IGNORECASE)
"""Words by which the reason of an answer says that its value is not the newest."""


def _quoted(literal: str, text: str, sources: list[str]) -> bool:
    """Whether a text has a literal from one of the sources, and not merely repeats the question.

    Besides the literal, some word of the source's sentence has to be there too, where that sentence has others.
    """
    flat = {word.casefold() for word in WORD.findall(plain(text).replace(plain(literal), " "))}
    if not flat:
        return True
    for source in sources:
        flat_literal = plain(literal)
        # What has the end of a sentence in it ("a && b; c") stands in none.
        whole = [plain(source)] if flat_literal in plain(source) else []
        for sentence in [s for s in sentences(source) if flat_literal in s] or whole:
            others = {word.casefold() for word in WORD.findall(sentence.replace(flat_literal, " "))}
            if not others or others & flat:
                return True
    return False


def _empty(answer: Answer) -> bool:
    return not content(answer).strip() and not (answer.value or "").strip()


def _searched(reading: Reading, question: Question) -> str | None:
    literal = str(question.operation.arguments.get("literal", ""))
    answer = question.answer
    if _empty(answer):
        return "without any content"
    text = content(answer) or answer.value or ""
    if not any(stands(form, text) for form in written(literal)):
        # A piece of something longer may hold it further on, if it is a piece of what holds it.
        longer = [s.text for s in reading.sources if s.at < question.operation.start and stands(literal, s.text)]
        if _goes_on(answer) and any(piece_of(text, source) for source in longer):
            return None
        return f"with “{shorten(text)}”, which does not carry it"
    begun, flat = question.operation.start, plain(literal)
    sources = [source.text for source in reading.sources if source.at < begun and flat in source.flat]
    if not sources or not _quoted(literal, text, sources):
        return f"with “{shorten(text)}”, which nobody ever said"
    return None


def _slot(reading: Reading, question: Question) -> list[tuple[str, str]]:
    """Turn and value of each assertion of the slot that was asked for, oldest first."""
    subject = plain(str(question.operation.arguments.get("subject", ""))).casefold()
    attribute = plain(str(question.operation.arguments.get("attribute", ""))).casefold()
    return [
        (a.turn, a.fact.literal)
        for a in reading.assertions
        if a.at < question.operation.start
        and a.fact.subject is not None
        and a.fact.attribute is not None
        and plain(a.fact.subject).casefold() == subject
        and plain(a.fact.attribute).casefold() == attribute
    ]


def _means(value: str, literal: str) -> bool:
    """Whether a returned value is the asserted one; compactors may cut it out a little wider or narrower.

    A negated value stays negated: “not owned by X” is not meant by “owned by X”, unless the text says the rest.
    """
    return stands(literal, value) or plain(value) == plain(literal)


def _dropped(reading: Reading, turn: str, until: int) -> bool:
    return any(d.source == turn and d.operation.start < until and d.operation.committed for d in reading.drops)


def _reconstituted(reading: Reading, question: Question) -> str | None:
    answer = question.answer
    if _empty(answer):
        return "without any content"
    given = [part for part in (answer.value, content(answer)) if part]
    said = answer.value or content(answer)
    slot = _slot(reading, question)
    now = slot
    if not slot:
        return f"with “{shorten(said)}”, although nobody ever said anything of it"
    named = reading.turn_of(answer.source)
    if named is not None and named in reading.said:
        slot = [(turn, value) for turn, value in slot if turn == named]
        if not slot:
            return f"with “{shorten(said)}” of {reading.quote(named)}, which says nothing of it"
    # The answer speaks of now: the newest value, or an older one where the newest was dropped. That it names an older
    # turn as its source makes an older value no newer, unless it says itself that it is not the last word.
    kept = [(t, v) for t, v in now if not _dropped(reading, t, question.operation.start)]
    wanted = [pairs[-1][1] for pairs in (now, kept) if pairs]
    if _superseded(answer):
        wanted = [value for _, value in slot]
    if _goes_on(answer) and answer.value is None:
        speaking = [words(reading.said[turn].turn) for turn, value in slot if value in wanted]
        if any(piece_of(content(answer), source) for source in speaking):
            return None
    mixed = _mixed(reading, answer, [value for _, value in now], wanted, question.operation.start)
    if mixed is not None and not _superseded(answer):
        return f"with the value “{shorten(said)}”, which has “{mixed}” in it as well as what replaced that"
    # A value of its own beside the text has to be the right one as well.
    right = answer.value is None or any(_related(answer.value, value) for value in wanted)
    backed = any(_means(part, value) for part in given for _, value in slot)
    if right and backed and any(_means(part, value) for part in given for value in wanted):
        return None
    whose = _whose(reading, question, said)
    if whose:
        return f"with “{shorten(said)}”, which is what was said of {whose}"
    older = any(_means(part, value) for part in given for _, value in slot)
    if older:
        return f"with “{shorten(said)}”, which a later turn replaced by “{wanted[0]}”"
    return f"with “{shorten(said)}”, and what was said is “{wanted[0]}”"


def _mixed(reading: Reading, answer: Answer, values: list[str], wanted: list[str], until: int) -> str | None:
    """An older value that an answer's value has beside the newest one, although nobody ever said the two like that.

    Who has to choose between them was not answered. Words of a turn, cut out wide, are another matter.
    """
    value = answer.value
    if value is None or any(s.at < until and plain(value) in s.flat for s in reading.sources):
        return None
    if not any(_means(value, new) for new in wanted):
        return None
    old = (v for v in values if v not in wanted and not any(stands(v, new) for new in wanted))
    return next((v for v in old if stands(v, value)), None)


def _superseded(answer: Answer) -> bool:
    """Whether an answer says itself that something newer was said."""
    return SUPERSEDED.search(answer.reason or "") is not None


def _related(value: str, literal: str) -> bool:
    return stands(value, literal) or stands(literal, value)


def _whose(reading: Reading, question: Question, said: str) -> str | None:
    subject = str(question.operation.arguments.get("subject", ""))
    for assertion in reading.assertions:
        other = assertion.fact.subject
        if other is not None and other != subject and _means(said, assertion.fact.literal):
            return other
    return None


def _goes_on(answer: Answer) -> bool:
    """Whether more of it is promised and was not fetched."""
    return answer.kind is AnswerKind.PARTIAL and answer.continuation is not None


def _followed(reading: Reading, token: str, answer: Answer) -> str | None:
    covers = reading.turns_of(reading.pointers[token].covers) if token in reading.pointers else None
    if _empty(answer):
        # Some turns say nothing: results of tools that have nothing to say. Then that is their content.
        silent = {
            turn for turn, said in reading.said.items() if said.turn.data is None and not words(said.turn).strip()
        }
        return None if silent and (covers is None or covers <= silent) else "without any content"
    there = reading.contained(content(answer))
    if answer.kind is AnswerKind.PARTIAL and not there:
        mute = covers is not None and any(not reading.said[turn].forms for turn in covers)
        if mute or credible(reading, answer, covers):
            return None
        return f"with “{shorten(content(answer))}”, which is no piece of what it stands for"
    if covers and there and not covers & there:
        return f"with the words of {reading.quote(next(i for i in reading.said if i in there))}"
    if there or any(plain(reply) in plain(content(answer)) for reply in _replies(reading)):
        return None
    # A turn without words of its own cannot be recognised.
    if covers is not None and any(not reading.said[turn].forms for turn in covers):
        return None
    return f"with “{shorten(content(answer))}”, which is no turn's words"


def _replies(reading: Reading) -> Iterator[str]:
    for operation in reading.operations:
        yield from (reply for reply in map(reply_of, operation.calls) if reply.strip())


def rec_1(reading: Reading, tally: Tally) -> None:
    """Every answer to a search, to a question for a slot, and to a pointer that was followed."""
    for observation in reading.observations:
        for question in observation.questions:
            tally.trigger()
            if question.answer.kind not in CONTENT:
                continue
            arguments = question.operation.arguments
            if question.operation.op == "search":
                asked, wrong = f"“{arguments.get('literal')}”", _searched(reading, question)
            else:
                asked = f"the {arguments.get('attribute')} of {arguments.get('subject')}"
                wrong = _reconstituted(reading, question)
            if wrong is not None:
                tally.fail(
                    f"Asked for {asked}, the compactor answered “{question.answer.kind}” {wrong}.",
                    fact=asked,
                    event=question.operation.end,
                )
        for token, answer in observation.answers.items():
            if answer.kind not in CONTENT or observation.exempt - observation.withdrawn:
                continue
            tally.trigger()
            wrong = _followed(reading, token, answer)
            if wrong is not None:
                tally.fail(
                    f"Pointer {token} was followed, and the compactor answered “{answer.kind}” {wrong}.",
                    fact=token,
                    event=observation.end,
                )


CHECKERS = (RuleChecker(rule="REC-1", minimum=5, mechanisms=(Mechanism.RETRIEVAL,), examine=rec_1),)
