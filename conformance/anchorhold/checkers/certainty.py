"""MAN-5: certainty never rises. A hedge, a "not" and whose value it is are part of what was said.

What the model writes is the model's word. It becomes the compactor's where a manifest vouches for it, where the
compactor wrote the sentence itself, where an answer hands it out, or where nothing else is left of what was said.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from anchorhold.checkers.holding import HELD, Hold, asks_for, hold, same_literal, through_pointers
from anchorhold.checkers.provenance import reply_of
from anchorhold.checkers.qualifiers import Qualifier, around, core, lost, qualified, unqualified
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, Assertion, Observation, Stretch
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content, negative, plain, sentences, shorten, stands, statements
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """How a sentence speaks of a value of some subject."""

    sentence: str
    negated: bool
    """Whether it has a negation anywhere."""
    denied: bool
    """Whether it has one where it brings subject and value together: others may be of what else stands in it."""
    qualified: frozenset[Qualifier]
    """Its doubts, bounds and conditions, of whatever in it."""
    attributes: frozenset[str]

    def same(self, other: "Saying") -> bool:
        """Whether another sentence says it too, no more certainly and of the same attributes."""
        alike = (self.denied, self.attributes) == (other.denied, other.attributes)
        return alike and self.qualified <= other.qualified


def _slots(reading: Reading) -> dict[str, list[Assertion]]:
    """The assertions about each subject."""
    found: dict[str, list[Assertion]] = {}
    for assertion in reading.assertions:
        if assertion.fact.subject is not None:
            found.setdefault(assertion.fact.subject, []).append(assertion)
    return found


def _sayings(text: str, assertion: Assertion, attributes: frozenset[str]) -> Iterator[Saying]:
    """Each sentence of a text that brings the subject and the value together."""
    subject = plain(assertion.fact.subject or "").casefold()
    value = core(assertion.fact.literal)
    for sentence in sentences(text):
        low = sentence.casefold()
        if stands(subject, low) and stands(value, sentence):
            denials = [*statements(sentence, subject, value)]
            yield Saying(
                sentence=sentence,
                negated=negative(sentence),
                denied=bool(denials) and all(denials),
                qualified=qualified(sentence),
                attributes=frozenset(a for a in attributes if a.casefold() in low),
            )


def _wrong(saying: Saying, alike: list[Assertion]) -> str | None:
    """Why none of the assertions of this value makes a sentence true, in words; none where one does."""
    fitting = [a for a in alike if not saying.attributes or a.fact.attribute in {None, *saying.attributes}]
    if not fitting:
        there = " and ".join(sorted(saying.attributes))
        return f"it is said of the {there}, and was said of the {alike[0].fact.attribute}"
    # What stands in one sentence with it may have a "not" of its own: then neither is sure.
    unlike = [a for a in fitting if (not saying.negated if negative(a.fact.text) else saying.denied)]
    if len(unlike) == len(fitting):
        return "a “not” has come" if saying.denied else "the “not” is gone"
    certain = [a for a in fitting if a not in unlike]
    gone = [lost(a.fact.literal, saying.sentence) for a in certain]
    return gone[0] if all(gone) else None


def _vouched(observation: Observation, item: Item, assertion: Assertion, saying: Saying) -> bool:
    """Whether a manifest claims what a sentence says. An entry without a subject, as of a unit alone, may be of
    another sentence in which it stands as well."""
    others = [sentence for sentence in sentences(content(item)) if sentence != saying.sentence]
    return any(
        same_literal(entry.literal, core(assertion.fact.literal))
        and entry.subject in (None, assertion.fact.subject)
        and (entry.subject is not None or not any(stands(entry.literal, sentence) for sentence in others))
        and (entry.attribute is None or not saying.attributes or entry.attribute in saying.attributes)
        and not _keeps(assertion.fact.literal, entry.literal)
        for entry in observation.manifests.get(item.id, ())
    )


def _keeps(literal: str, given: str) -> bool:
    """Whether what is given of a literal has the doubt, bound or condition that the literal has."""
    return bool(qualified(around(literal))) and lost(literal, given) is None


def _the_models(
    reading: Reading, saying: Saying, assertion: Assertion, attributes: frozenset[str], until: int
) -> bool:
    """Whether a model said so before an event: in these words, or with what the compactor put around them."""
    replies = (
        reply_of(call)
        for operation in reading.operations
        for call in operation.calls
        if call.op == "summarise" and call.ok and call.end < until
    )
    return any(
        saying.sentence in plain(reply) or any(told.same(saying) for told in _sayings(reply, assertion, attributes))
        for reply in replies
    )


def _truly(reading: Reading, observation: Observation, assertion: Assertion, attributes: frozenset[str]) -> bool:
    """Whether the assertion itself is still held: not by a sentence that says something else of its value."""
    held = hold(reading, observation, assertion)
    if held in (Hold.RAW, Hold.TOMBSTONE, Hold.POINTER, Hold.SEARCH, Hold.UNKNOWN, Hold.PENDING):
        return True
    if through_pointers(reading, observation, assertion.turn) in HELD | {Hold.UNKNOWN, Hold.PENDING}:
        return True
    return any(
        _wrong(saying, [assertion]) is None
        for item in observation.items
        for saying in _sayings(content(item), assertion, attributes)
    )


def man_5(reading: Reading, tally: Tally) -> None:
    """Each statement of a live summary about a value that was said, once for each text that it stands in."""
    slots = _slots(reading)
    seen: set[tuple[str, int]] = set()
    for stretch in reading.stretches:
        for item in stretch.after.summaries:
            text = content(item)
            for subject, assertions in slots.items():
                if not stands(subject.casefold(), plain(text).casefold()):
                    continue
                told = [a for a in assertions if a.at < stretch.after.start and a.session == stretch.after.session]
                for assertion in told:
                    if (text, assertion.number) not in seen:
                        seen.add((text, assertion.number))
                        _judge(reading, tally, stretch, item, assertion, told)
    _answers(reading, tally)


def _judge(
    reading: Reading, tally: Tally, stretch: Stretch, item: Item, assertion: Assertion, told: list[Assertion]
) -> None:
    observation = stretch.after
    attributes = frozenset(a.fact.attribute for a in told if a.fact.attribute is not None)
    alike = [a for a in told if core(a.fact.literal) == core(assertion.fact.literal)]
    for saying in _sayings(content(item), assertion, attributes):
        tally.trigger()
        why = _wrong(saying, alike)
        if why is None:
            continue
        said = f"Summary {item.id} says “{shorten(saying.sentence)}”, but {why}"
        if _vouched(observation, item, assertion, saying):
            end = "and its manifest vouches for it"
        elif not _the_models(reading, saying, assertion, attributes, observation.end):
            end = "and that was not the model's doing"
        elif not _truly(reading, observation, assertion, attributes):
            end = f"and nothing else holds what turn {assertion.turn} said"
        else:
            continue
        tally.fail(
            f"{said} (turn {assertion.turn}: “{plain(assertion.fact.text)}”), {end}.",
            fact=assertion.fact.text,
            event=observation.end,
        )


def _answers(reading: Reading, tally: Tally) -> None:
    """What is answered of an assertion that is doubted, bounded, denied or tied to a condition keeps that; so does a
    value beside the text, for who asks for a value may read no more."""
    for observation in reading.observations:
        for question in observation.questions:
            answer = question.answer
            if answer.kind not in CONTENT or question.operation.op != "reconstitute":
                continue
            asked = [a for a in reading.assertions if a.at < question.operation.start and asks_for(question, a)]
            if not asked or core(asked[-1].fact.literal) == plain(asked[-1].fact.literal):
                continue
            last = asked[-1]
            tally.trigger()
            # What it answers of another turn is REC-1's.
            other = reading.turn_of(answer.source) not in (None, last.turn)
            for said in (content(answer), answer.value or ""):
                why = None if other else _weakened(last.fact.literal, said, value=said == answer.value)
                if why is not None:
                    tally.fail(
                        f"Asked for the {last.fact.attribute} of {last.fact.subject}, of which turn {last.turn} says "
                        f"“{plain(last.fact.text)}”, the compactor answers “{shorten(said)}”: {why}.",
                        fact=last.fact.text,
                        event=question.operation.end,
                    )
                    break


def _weakened(literal: str, said: str, *, value: bool) -> str | None:
    """What is gone of a literal in what is answered, in words; none where nothing is."""
    if value and unqualified(literal, said):
        return lost(literal, said) or "the “not” is gone"
    return lost(literal, said) if stands(core(literal), said) else None


CHECKERS = (RuleChecker(rule="MAN-5", minimum=3, mechanisms=(Mechanism.SUMMARISER,), examine=man_5),)
