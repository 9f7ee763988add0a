"""The facts of one line, each with its sentence, its polarity and its certainty."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import takewhile
from typing import Final

from anchorhold_reference.extract.literals import Telling, hedges, literals, negators, places
from anchorhold_reference.extract.memo import Memo
from anchorhold_reference.extract.mention import NEEDS_SENTENCE, PLAIN, Fact, Mention, key_of, level
from anchorhold_reference.extract.patterns import BOUND
from anchorhold_reference.extract.slots import Slot, slot_in
from anchorhold_reference.extract.text import NEGATION, Sentence, Spans, bounds, plain, read_sentence
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
    words,
)
from anchorhold_reference.extract.words import HEDGE as HEDGES
from anchorhold_reference.extract.words import NEGATION as NEGATES

_CLAUSE_END = re.compile(r"[;,:()\[\]]|\s[-–—]\s|\b(?:but|however|although|though|whereas|because)\b", re.IGNORECASE)
_BEFORE = re.compile(
    r"(?:\b(?:is|was|are|were|has|have|had|do|does|did|can|could|will|would|should|must)\s+)$", re.IGNORECASE
)
_AFTER = re.compile(r"(?:\s+[^\s;,:()\[\].!?]+(?:[.:][^\s;,:()\[\].!?]+)*){1,4}")
"""The words that a negation governs; a name with a point in it is one of them, and not cut there."""
_TELLING: Final = LITERAL | NEGATES | HEDGES | TIME | CAPITAL | QUOTE | EQUALS | VERB
"""Without any of these hints no fact stands in a line."""
_COLON = re.compile(r":\s")
_THE = re.compile(r"\bthe\s", re.IGNORECASE)
_FRAMES = {(False, False): PLAIN, (False, True): "|01", (True, False): "|10", (True, True): "|11"}
_DENYING = frozenset(frame for (negated, _), frame in _FRAMES.items() if negated)
_DOUBTING = frozenset(frame for (_, hedged), frame in _FRAMES.items() if hedged)
_BOUND_TAILS = (
    *("t", "n", "to", "of", "um", "ax", "x.", "n.", "er", "ow", "ve", "ly"),
    *("<=", "≤", "<", ">=", "≥", ">"),
)
"""Wherever `BOUND` stands one of these stands at its end."""
_LONGEST: Final = 1000
"""Lines of up to so many characters are remembered."""
_WHOLE: Final = 2000
"""Characters up to which a sentence is read, and kept beside each of its facts, as a whole. What is longer is no
sentence but data on one line, thousands of facts of it: its square is more than any disk holds."""


def facts_in(line: str) -> tuple[Fact, ...]:
    """The facts of a line that begins with a word, parts of slots included, by places in the line."""
    return MEMO[line] if len(line) <= _LONGEST else read_line(line)


def read_line(text: str) -> tuple[Fact, ...]:
    """The same, read anew."""
    found, known, whole = words(text)
    told: Telling = [(i, word) for i, word in enumerate(known) if word is not None]
    flags = 0
    for _, word in told:
        flags |= word.flags
    if not flags & _TELLING:
        return ()
    at = places(text, found, whole=whole)
    held = literals(text, found, known, told, flags, at)
    states = (flags & EQUALS and _COLON.search(text) is not None) or (
        flags & OF and flags & VERB and _THE.search(text) is not None
    )
    if not held and not states and not flags & (NEGATES | HEDGES):
        return ()
    said = _sentences(text, found, told, flags, at)
    frames = [_FRAMES[bool(one.negators), bool(one.hedges)] for one in said]
    if len(text) > _WHOLE:
        said, frames = _cut(said, frames, held)
    result: list[Fact] = []
    slots: dict[int, tuple[int, int]] = {}
    if states or flags & (NEGATES | HEDGES):
        for sentence, frame in zip(said, frames, strict=True):
            slot = slot_in(text, sentence) if states else None
            if slot is not None:
                slots[sentence.start] = (slot.start, slot.end)
                result.append(_stated(text, sentence, slot))
            if sentence.negators:
                result += _polarity(text, sentence, "negation", sentence.negators, frame, part=slot is not None)
            if sentence.hedges:
                result += _polarity(text, sentence, "hedge", sentence.hedges, frame, part=slot is not None)
    number = stop = -1
    sentence = said[0]
    for kind, begin, finish, literal, key in held:
        if begin >= stop and number + 1 < len(said):
            while begin >= stop and number + 1 < len(said):
                number += 1
                sentence = said[number]
                stop = sentence.end if number + 1 < len(said) else len(text)
            body = sentence.body
            words_of = text[body : sentence.end]
            levelled = ""
            clauses = _Clauses(text, sentence) if sentence.negators or sentence.hedges else None
            frame = frames[number]
            inside = slots.get(sentence.start) if slots else None
            speaker = sentence.speaker
        own = frame
        if kind == "number":
            if begin < body:  # the number of an item in a list says nothing
                continue
            if flags & BOUND_END and text[max(body, begin - 20) : begin].rstrip().lower().endswith(_BOUND_TAILS):
                bound = BOUND.search(text, max(body, begin - 20), begin)
                own = f"{bound.lastgroup}{frame}" if bound else frame
        negated = hedged = False
        if clauses is not None:
            negated, hedged = clauses.governed(begin, finish)
        if not key or own is not PLAIN:
            # `key_of`, without the call: of a line that was not read before, this is done for nearly every number.
            identity = f"{kind}\x1f{literal}\x1f{negated}\x1f{hedged}\x1f{own}"
            if kind in NEEDS_SENTENCE:
                levelled = levelled or level(words_of)
                identity = f"{identity}\x1f{levelled}"
            key = blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        part = inside is not None and inside[0] <= begin and finish <= inside[1]
        result.append(
            (kind, literal, begin, finish, words_of, key, None, None, None, negated, hedged, own, speaker, part)
        )
    return tuple(result)


# The same line is shown again and again: a file that is read a second time, the output of a test that is run again.
_USUAL: Final = 16
"""A line of more facts counts for several, or rows of numbers would take hundreds of megabytes to remember."""
MEMO: Memo[tuple[Fact, ...]] = Memo(read_line, 1 << 14, weigh=lambda facts: 1 + len(facts) // _USUAL)


def _sentences(text: str, found: list[str], told: Telling, flags: int, at: list[int]) -> list[Sentence]:
    """The sentences of a line."""
    last = len(found) - 1
    several = flags & STOP and any(word.flags & STOP for i, word in told if i < last)
    first, word = told[0]
    bulleted = flags & BULLET != 0 and (several or (first == 0 and word.flags & BULLET != 0))
    attributed = flags & SPEAKER != 0
    if attributed and not several and not bulleted:
        # A speaker's name is the first word or, behind an article, the second.
        attributed = any(word.flags & SPEAKER for i, word in told[:2] if i < 2)
    denies = negators(told, at) if flags & NEGATES else ()
    doubts = hedges(text, found, told, flags, at) if flags & HEDGES else ()
    if not (several or bulleted or attributed):
        return [plain(text, denies, doubts)]
    return [
        read_sentence(text, one, other, bulleted=bulleted, attributed=attributed, negators=denies, hedges=doubts)
        for one, other in (bounds(text, 0, len(text)) if several else ((0, len(text)),))
    ]


def _cut(
    said: list[Sentence], frames: list[str], held: Sequence[tuple[str, int, int, str, bytes]]
) -> tuple[list[Sentence], list[str]]:
    """Sentences that are too long, in pieces: each begins with a literal, a negation or a hedge, and none is cut
    within one. A piece keeps whether its whole sentence denies or doubts anything (MAN-5), and states no slot: what
    came before it is not there to say so."""
    pieces: list[Sentence] = []
    kept: list[str] = []
    at = 0
    literals = [(begin, finish) for _, begin, finish, *_ in held]
    for sentence, frame in zip(said, frames, strict=True):
        starts = [sentence.start]
        finished = sentence.body
        since = at
        while at < len(literals) and literals[at][0] < sentence.end:
            at += 1
        for begin, finish in sorted([*literals[since:at], *sentence.negators, *sentence.hedges]):
            if begin - max(starts[-1], sentence.body) >= _WHOLE // 2 and begin >= finished:
                starts.append(begin)
            finished = max(finished, finish)
        if sentence.end - sentence.body <= _WHOLE or len(starts) == 1:
            pieces.append(sentence)
            kept.append(frame)
            continue
        for start, end in zip(starts, [*starts[1:], sentence.end], strict=True):
            first = start == sentence.start
            pieces.append(
                sentence._replace(
                    start=start,
                    line=sentence.line if first else start,
                    body=sentence.body if first else start,
                    end=end,
                    negators=_within(sentence.negators, start, end),
                    hedges=_within(sentence.hedges, start, end),
                    question=True,  # a question asserts nothing, and neither does a piece
                )
            )
            kept.append(frame)
    return pieces, kept


def _within(spans: Spans, start: int, end: int) -> Spans:
    """Those of the places, which are in order, that lie within bounds."""
    first = bisect_left(spans, (start, start))
    return tuple(takewhile(lambda span: span[1] <= end, spans[first : bisect_left(spans, (end, end))]))


def _stated(text: str, sentence: Sentence, slot: Slot) -> Fact:
    literal, said = text[slot.value_start : slot.end], text[slot.start : sentence.end]
    # "is", "are" and "=" say the same of now; "was" may have ended since.
    frame = "past" if slot.verb in {"was", "were"} else ""
    key = key_of(
        "slot",
        literal,
        said,
        subject=slot.subject,
        attribute=slot.attribute,
        negated=slot.negated,
        hedged=sentence.hedged,
        frame=frame,
    )
    # In the order of a `Mention`, without making one that is taken apart again.
    return (
        "slot",
        literal,
        slot.value_start,
        slot.end,
        said,
        key,
        slot.subject,
        slot.attribute,
        slot.value,
        slot.negated,
        sentence.hedged,
        frame,
        sentence.speaker if slot.start == sentence.body else None,
        False,
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


def _polarity(text: str, sentence: Sentence, kind: str, spans: Spans, frame: str, *, part: bool) -> Iterator[Fact]:
    """Negations or hedges, each with the words that it governs, and whether the whole sentence denies and doubts."""
    negated, hedged = frame in _DENYING, frame in _DOUBTING
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
        yield tuple(
            Mention(
                kind,
                literal,
                begin,
                done,
                said,
                key_of(kind, literal, said, negated=negated, hedged=hedged),
                negated=negated,
                hedged=hedged,
                speaker=sentence.speaker,
                part=part,
            )
        )
