"""Sentences, clauses, polarity and certainty: the frame in which a literal stands."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|nr|fig|dr|mr|mrs|ms|prof|st|inc|ltd|resp)|\b[A-Z])\.$", re.IGNORECASE
)
_LINE = re.compile(r"[^\n\r]+")
_STOP = re.compile(r"(?<![.!?])[.!?]+[\"'”’)\]]*\s+")
_CLAUSE = re.compile(
    r"[;,:()\[\]–—]|\s-\s|\b(?:but|however|although|though|while|whereas|and|or|so|because)\b", re.IGNORECASE
)

NEGATOR = re.compile(
    r"\b(?:not|never|no|none|nothing|nobody|neither|nor|without|cannot|no longer|nowhere)\b"
    r"|\b(?:ca|wo|do|does|did|is|are|was|were|has|have|had|could|would|should|must|need|ai|sha)n['’]t\b"
    r"|\b(?:dont|doesnt|didnt|isnt|wasnt|cant|wont|couldnt|shouldnt|havent|hasnt)\b",
    re.IGNORECASE,
)
HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|likely|unlikely|might|may|could|seems?|appears? to|apparently"
    r"|allegedly|supposedly|i (?:think|guess|believe|suspect|assume)|not sure|unsure|unclear|uncertain|unconfirmed"
    r"|unverified|roughly|approximately|about|around|tentatively|should be|would be|if|unless|whether|in case"
    r"|assuming|suspected)\b|~(?=\d)",
    re.IGNORECASE,
)
SPEAKERS = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "system": "system",
    "tool": "tool",
}
_BULLET = re.compile(r"\s*(?:[-*•>]+\s+|\d{1,3}[.)]\s+|#{1,6}\s+)*")
_ATTRIBUTION = re.compile(
    r"(?:\*\*)?\[?(?:the\s+)?(user|human|assistant|agent|ai|model|system|tool)\]?(?:\*\*)?\s*"
    r"(?::\s+|(?:said|says|asked|asks|wrote|writes|stated|states|told|confirmed|reported|requested|wants?|wanted"
    r"|noted)\b"
    r"(?:\s+that\b|:)?\s*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A run of text that says one thing, on one line."""

    start: int
    """Where it begins in the text, bullets and attribution included."""
    line: int
    """Where it begins without bullets."""
    body: int
    """Where its own words begin: after bullets and attribution."""
    end: int
    speaker: str | None
    """Whose words the text says these are."""
    negated: bool
    hedged: bool
    question: bool


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text, in order."""
    return [_read(text, start, end) for start, end in _bounds(text)]


def _bounds(text: str) -> Iterator[tuple[int, int]]:
    for line in _LINE.finditer(text):
        start = line.start()
        for stop in _STOP.finditer(text, line.start(), line.end()):
            head = text[max(start, stop.start() - 8) : stop.start() + 1]
            if text[stop.start()] == "." and _ABBREVIATED.search(head):
                continue
            yield start, stop.end()
            start = stop.end()
        if start < line.end():
            yield start, line.end()


def _read(text: str, start: int, end: int) -> Sentence:
    stop = end
    while stop > start and text[stop - 1].isspace():
        stop -= 1
    bullet = _BULLET.match(text, start, stop)
    body = bullet.end() if bullet else start
    line = body
    attribution = _ATTRIBUTION.match(text, body, stop)
    speaker = None
    if attribution:
        speaker = SPEAKERS[attribution.group(1).lower()]
        body = attribution.end()
    return Sentence(
        start=start,
        line=line,
        body=body,
        end=stop,
        speaker=speaker,
        negated=NEGATOR.search(text, body, stop) is not None,
        hedged=HEDGE.search(text, body, stop) is not None,
        question=text[:stop].endswith("?") if stop > start else False,
    )


def clause(text: str, sentence: Sentence, at: int) -> tuple[int, int]:
    """Bounds of the clause of a sentence in which a position lies."""
    start, end = sentence.body, sentence.end
    for mark in _CLAUSE.finditer(text, sentence.body, sentence.end):
        if mark.end() <= at:
            start = mark.end()
        elif mark.start() > at:
            end = mark.start()
            break
    return start, end


def sentence_at(found: list[Sentence], starts: list[int], at: int) -> Sentence | None:
    """The sentence in which a position lies; `starts` are their beginnings."""
    i = bisect_right(starts, at) - 1
    return found[i] if i >= 0 else None


_JOINERS = "-_/"


def _joined(text: str, outer: int, inner: int) -> bool:
    """Whether the character at `outer` makes one word with that at `inner`, its neighbour inside a literal."""
    if not 0 <= outer < len(text) or not (text[inner].isalnum() or text[inner] in _JOINERS):
        return False
    step = 1 if outer > inner else -1
    near = text[outer]
    beyond = text[outer + step] if 0 <= outer + step < len(text) else " "
    if near.isalnum() or near == "_":
        return True
    if near in _JOINERS:
        return beyond.isalnum()
    # A point or comma inside a number or a dotted name; at the end of a sentence it is punctuation.
    return near in ".," and text[inner].isalnum() and (beyond.isdigit() if near == "," else beyond.isalnum())


def stands_in(text: str, literal: str, start: int = 0) -> int:
    """Where a literal stands in a text as a whole word or words; -1 where it does not.

    `J-8` does not stand in `J-88`, nor `30` in `300` or `30.5`, nor `/srv/a` in `/srv/a/b`: each of those is a
    neighbour, and REC-1 allows none.
    """
    if not literal:
        return -1
    at = text.find(literal, start)
    while at >= 0:
        end = at + len(literal)
        if not _joined(text, at - 1, at) and not _joined(text, end, end - 1):
            return at
        at = text.find(literal, at + 1)
    return -1
