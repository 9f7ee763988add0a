"""EVI-5 and EVI-6: a question that demands evidence is answered by an original, or not at all."""

from collections.abc import Iterator

from anchorhold.checkers.evidence import names_omissions
from anchorhold.checkers.holding import HELD, Hold, asks_for, through_pointers
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, Assertion, Observation, Question
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content, plain, shorten, words
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import Item


def _asked(reading: Reading, observation: Observation) -> Iterator[tuple[Question, list[Assertion]]]:
    """Questions about what was said, and was not only said in the window."""
    for question in observation.questions:
        about = [
            a
            for a in reading.assertions
            if a.at < question.operation.start and a.session == observation.session and asks_for(question, a)
        ]
        if about and not any(a.turn in observation.raw or reading.excused(observation, a.turn) for a in about):
            yield question, about


def _demanding(question: Question) -> bool:
    return question.operation.op == "reconstitute" and question.operation.arguments.get("evidence") is True


def _out_of_reach(reading: Reading, observation: Observation, about: list[Assertion]) -> bool:
    """Whether no pointer leads to any turn that says it. Where no pointers are shown, that cannot be told."""
    if not reading.offers("pointers", "get") or observation.pointers is None:
        return False
    held = [through_pointers(reading, observation, a.turn) for a in about]
    return not any(h in HELD | {Hold.UNKNOWN, Hold.PENDING} for h in held)


def _no_original(
    reading: Reading, observation: Observation, question: Question, about: list[Assertion]
) -> str | None:
    """Why what was answered is not the original's, in words; none where it is."""
    answer = question.answer
    if answer.evidence is False:
        return "and says itself that these are a summary's words"
    text = plain(content(answer))
    if not text:
        return "with a value alone, and without the words that say it"
    turns = [a.turn for a in about]
    if reading.contained(content(answer)) & frozenset(turns):
        return None
    if not any(text in plain(words(reading.said[turn].turn)) for turn in turns):
        return "with words of no turn that says it"
    if _out_of_reach(reading, observation, about):
        return "with a sentence of it, while the original is out of reach"
    return None


def evi_5(reading: Reading, tally: Tally) -> None:
    """Each question that demands evidence of something that left the window."""
    for observation in reading.observations:
        for question, about in _asked(reading, observation):
            if not _demanding(question):
                continue
            tally.trigger()
            if question.answer.kind not in CONTENT:
                continue
            why = _no_original(reading, observation, question, about)
            if why is not None:
                tally.fail(
                    f"Asked for evidence of {about[-1]}, the compactor answers “{question.answer.kind}” "
                    f"(“{shorten(content(question.answer) or question.answer.value or '')}”) {why}.",
                    fact=about[-1].fact.text,
                    event=question.operation.end,
                )


def _source(observation: Observation, question: Question) -> Item | None:
    """The live summary whose words an answer is, where it is one."""
    text = plain(content(question.answer)) or plain(question.answer.value or "")
    return next((i for i in observation.summaries if text and text in plain(content(i))), None)


def evi_6(reading: Reading, tally: Tally) -> None:
    """Each answer about something that left the window: a summary that admits no omission does not vouch for it."""
    for observation in reading.observations:
        for question, about in _asked(reading, observation):
            if question.operation.op != "reconstitute":
                continue
            tally.trigger()
            answer, demanding = question.answer, _demanding(question)
            if answer.kind not in CONTENT or not (demanding or answer.evidence is True):
                continue
            item = _source(observation, question)
            if item is None or names_omissions(reading, observation, item):
                continue
            if _no_original(reading, observation, question, about) is None:
                continue
            tally.fail(
                f"Summary {item.id} names nothing that it leaves out, and its words “{shorten(content(answer))}” "
                f"are passed off as evidence of {about[-1]}.",
                fact=about[-1].fact.text,
                event=question.operation.end,
            )


CHECKERS = (
    RuleChecker(rule="EVI-5", minimum=3, mechanisms=(Mechanism.QUESTIONS,), examine=evi_5),
    RuleChecker(rule="EVI-6", minimum=3, mechanisms=(Mechanism.QUESTIONS,), examine=evi_6),
)
