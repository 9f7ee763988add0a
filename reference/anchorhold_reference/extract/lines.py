"""The facts of one line, each with its sentence, its polarity and its certainty."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b

from anchorhold_reference.extract.literals import Telling, literals, near, places
from anchorhold_reference.extract.mention import NEEDS_SENTENCE, Mention, key_of, level, make
from anchorhold_reference.extract.patterns import BOUND
from anchorhold_reference.extract.slots import Slot, slot_in
from anchorhold_reference.extract.text import HEDGE, NEGATION, NEGATOR, Sentence, Spans, bounds, read_sentence
from anchorhold_reference.extract.words import (
    BOUND_END,
    BULLET,
    CAPITAL,
    EQUALS,
    LITERAL,
    OF,
    QUOTE,
    SPEAKER,
    STOP,
    TIME,
    VERB,
    Word,
    words,
)
from anchorhold_reference.extract.words import HEDGE as HEDGES
from anchorhold_reference.extract.words import NEGATION as NEGATES

_CLAUSE_END = re.compile(r"[;,:()\[\]]|\s[-–—]\s|\b(?:but|however|although|though|whereas|because)\b", re.IGNORECASE)
_BEFORE = re.compile(
    r"(?:\b(?:is|was|are|were|has|have|had|do|does|did|can|could|will|would|should|must)\s+)$", re.IGNORECASE
)
_AFTER = re.compile(r"(?:\s+[^\s;,:()\[\].!?]+){1,4}")
_TELLING = LITERAL | NEGATES | HEDGES | TIME | CAPITAL | QUOTE | EQUALS | VERB
"""Without any of these hints no fact stands in a line."""
_SLOT_HINT = re.compile(r":\s|\bthe\s", re.IGNORECASE)
"""Stands in every sentence that states a slot."""
_FRAMES = {(False, False): "|00", (False, True): "|01", (True, False): "|10", (True, True): "|11"}
_REMEMBERED = 1000
"""Lines of up to so many characters are remembered."""


def facts_in(line: str) -> tuple[Mention, ...]:
    """The facts of a line that begins with a word, parts of slots included, by places in the line."""
    return _remembered(line) if len(line) <= _REMEMBERED else _read(line)


def _read(line: str) -> tuple[Mention, ...]:
    found, known, whole = words(line)
    told: Telling = [(i, word) for i, word in enumerate(known) if word is not None]
    flags = 0
    for _, word in told:
        flags |= word[0]
    if not flags & _TELLING:
        return ()
    return tuple(_facts(line, found, known, told, flags, whole=whole))


# The same line is shown again and again: a file that is read a second time, the output of a test that is run again.
_remembered = lru_cache(maxsize=1 << 14)(_read)


def _facts(
    text: str, found: list[str], known: list[Word | None], told: Telling, flags: int, *, whole: bool
) -> list[Mention]:
    """The facts of a line, from what its words hint at."""
    result: list[Mention] = []
    end = len(text)
    at = places(text, found, whole=whole)
    held = literals(text, found, known, told, flags, at)
    may_hold = (flags & EQUALS or (flags & OF and flags & VERB)) and _SLOT_HINT.search(text) is not None
    if not held and not may_hold and not flags & (NEGATES | HEDGES):
        return result
    last = len(found) - 1
    several = flags & STOP and any(word[0] & STOP for i, word in told if i < last)
    negators = near(NEGATOR, NEGATES, text, found, told, at) if flags & NEGATES else ()
    hedges = near(HEDGE, HEDGES, text, found, told, at) if flags & HEDGES else ()
    bulleted, attributed = flags & BULLET != 0, flags & SPEAKER != 0
    said = [
        read_sentence(text, one, other, bulleted=bulleted, attributed=attributed, negators=negators, hedges=hedges)
        for one, other in (bounds(text, 0, end) if several else ((0, end),))
    ]
    slots: dict[int, tuple[int, int]] = {}
    if may_hold or negators or hedges:
        for sentence in said:
            slot = slot_in(text, sentence) if may_hold else None
            if slot is not None:
                slots[sentence.start] = (slot.start, slot.end)
                result.append(_stated(text, sentence, slot))
            if sentence.negators:
                result += _polarity(text, sentence, "negation", sentence.negators, part=slot is not None)
            if sentence.hedges:
                result += _polarity(text, sentence, "hedge", sentence.hedges, part=slot is not None)
    number = -1
    stop = -1
    for kind, begin, finish in held:
        if begin >= stop and number + 1 < len(said):
            while begin >= stop and number + 1 < len(said):
                number += 1
                sentence = said[number]
                stop = sentence.end if number + 1 < len(said) else end
            body = sentence.body
            words_of = text[body : sentence.end]
            levelled = None
            clauses = _Clauses(text, sentence) if sentence.negated or sentence.hedged else None
            frame = _FRAMES[sentence.negated, sentence.hedged]
            inside = slots.get(sentence.start)
            speaker = sentence.speaker
        own = frame
        if kind == "number":
            if begin < body:  # the number of an item in a list says nothing
                continue
            if flags & BOUND_END:
                bound = BOUND.search(text, max(body, begin - 20), begin)
                own = f"{bound.lastgroup}{frame}" if bound else frame
        negated = hedged = False
        if clauses is not None:
            negated, hedged = clauses.governed(begin, finish)
        part = inside is not None and inside[0] <= begin and finish <= inside[1]
        literal = text[begin:finish]
        # `key_of`, without the call: this line is reached for nearly every fact of a transcript.
        identity = f"{kind}\x1f{literal}\x1f{negated}\x1f{hedged}\x1f{own}"
        if kind in NEEDS_SENTENCE:
            if levelled is None:
                levelled = level(words_of)
            identity = f"{identity}\x1f{levelled}"
        key = blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        result.append(
            make(
                Mention,
                (kind, literal, begin, finish, words_of, key, None, None, None, negated, hedged, own, speaker, part),
            )
        )
    return result


def _stated(text: str, sentence: Sentence, slot: Slot) -> Mention:
    literal, said = text[slot.value_start : slot.end], text[slot.start : sentence.end]
    # "is", "are" and "=" say the same of now; "was" may have ended since.
    frame = "past" if slot.verb in {"was", "were"} else ""
    return Mention(
        kind="slot",
        literal=literal,
        start=slot.value_start,
        end=slot.end,
        said=said,
        key=key_of(
            "slot",
            literal,
            said,
            subject=slot.subject,
            attribute=slot.attribute,
            negated=slot.negated,
            hedged=sentence.hedged,
            frame=frame,
        ),
        subject=slot.subject,
        attribute=slot.attribute,
        value=slot.value,
        negated=slot.negated,
        hedged=sentence.hedged,
        frame=frame,
        speaker=sentence.speaker if slot.start == sentence.body else None,
    )


class _Clauses:
    """The clauses of a sentence, with what negates and what hedges in each."""

    def __init__(self, text: str, sentence: Sentence) -> None:
        """Read a sentence in which one of the two stands."""
        self._marks = [mark.span() for mark in _CLAUSE_END.finditer(text, sentence.body, sentence.end)]
        self._starts = [start for start, _ in self._marks]
        self._negators = sentence.negators
        self._hedges = sentence.hedges
        self._bounds = (sentence.body, sentence.end)

    def governed(self, start: int, end: int) -> tuple[bool, bool]:
        """Whether a negation, and whether a hedge, stands in the clause around a literal."""
        low, high = self._bounds
        before = bisect_left(self._starts, start)
        if before:
            low = self._marks[before - 1][1]
        after = bisect_left(self._starts, end)
        if after < len(self._starts):
            high = self._starts[after]
        negated = hedged = False
        for first, last in self._negators:
            if low <= first and last <= high:
                negated = True
                break
        for first, last in self._hedges:
            if low <= first and last <= high:
                hedged = True
                break
        return negated, hedged


def _polarity(text: str, sentence: Sentence, kind: str, spans: Spans, *, part: bool) -> Iterator[Mention]:
    """Negations or hedges, each with the words that it governs."""
    done = sentence.body
    said = text[sentence.body : sentence.end]
    for start, end in spans:
        if start < done or (kind == "negation" and NEGATION.match(text, start) is None):
            continue
        before = _BEFORE.search(text, max(sentence.body, start - 12), start)
        after = _AFTER.match(text, end, sentence.end)
        begin = before.start() if before else start
        done = after.end() if after else end
        literal = text[begin:done]
        yield Mention(
            kind,
            literal,
            begin,
            done,
            said,
            key_of(kind, literal, said, negated=sentence.negated, hedged=sentence.hedged),
            negated=sentence.negated,
            hedged=sentence.hedged,
            speaker=sentence.speaker,
            part=part,
        )
