"""Sentences, clauses, polarity and certainty: the frame in which a literal stands."""

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

_ABBREVIATED = re.compile(
    # A title has its capital and an initial no number before it, nor a part of a unit: "30 ms.", "5 s.", "9 req/s."
    # and "20 °C." end their sentences.
    r"(?:\b(?i:e\.g|i\.e|etc|vs|cf|approx|no|nr|fig|inc|ltd|resp)|\b(?:Dr|Mr|Mrs|Ms|Prof|St)"
    # Nor is what ends a file's name an initial: "conf.d."
    r"|(?<!\d )(?<!\w\w\.)(?<![^\s.(\[{\"'“‘*])[A-Za-z])\.$"
)
_ENUMERATOR = re.compile(r"\s*(?:[-*•>]+\s+)*\d{1,3}\.\s+")
_STOP = re.compile(r"(?<![.!?])[.!?]+[\"'”’)\]]*\s+")
_NEGATING = (
    r"(?:not|never|no|non|nope|none|nothing|nobody|neither|nor|without|w/o|cannot|nowhere"
    r"|(?:ca|wo|do|does|did|is|are|was|were|has|have|had|could|would|should|might|must|need|ai|sha|ought|dare)n['’]t"
    r"|dont|doesnt|didnt|isnt|arent|wasnt|werent|cant|wont|couldnt|shouldnt|wouldnt|havent|hasnt|hadnt"
    r"|mustnt|mightnt|neednt|shant|aint)"
)
NEGATOR = re.compile(rf"\b{_NEGATING}\b", re.IGNORECASE)
"""Whatever may negate, inside longer words too: what decides whether two texts say the same errs towards "no"."""
NEGATION = re.compile(rf"(?<![\w\-./\\$#@]){_NEGATING}(?!\w|[\-/.]\w)", re.IGNORECASE)
"""What negates by itself, and is no part of a name or an option."""
NEGATING_WORDS = frozenset(
    [
        "not",
        "never",
        "no",
        "non",
        "nope",
        "none",
        "nothing",
        "nobody",
        "neither",
        "nor",
        "without",
        "cannot",
        "nowhere",
        "dont",
        "doesnt",
        "didnt",
        "isnt",
        "arent",
        "wasnt",
        "werent",
        "cant",
        "wont",
        "couldnt",
        "shouldnt",
        "wouldnt",
        "havent",
        "hasnt",
        "hadnt",
        "mustnt",
        "mightnt",
        "neednt",
        "shant",
        "aint",
    ]
) | {
    f"{verb}n{mark}t"
    for verb in [
        "ca",
        "wo",
        "do",
        "does",
        "did",
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "had",
        "could",
        "would",
        "should",
        "might",
        "must",
        "need",
        "ai",
        "sha",
        "ought",
        "dare",
    ]
    for mark in "'’"
}
"""Where none of these is a word of a text, and no `w/o`, `NEGATOR` finds nothing."""
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


Spans: TypeAlias = tuple[tuple[int, int], ...]
"""Where something begins and ends, in order."""


class Sentence(NamedTuple):
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
    negators: Spans
    """What negates in it."""
    hedges: Spans
    question: bool

    @property
    def negated(self) -> bool:
        """Whether anything negates in it."""
        return bool(self.negators)

    @property
    def hedged(self) -> bool:
        """Whether anything hedges in it."""
        return bool(self.hedges)


def bounds(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the sentences of a line begin and end."""
    line = start
    for stop in _STOP.finditer(text, line, end):
        head = text[max(start, stop.start() - 8) : stop.start() + 1]
        if text[stop.start()] == "." and (_ABBREVIATED.search(head) or _ENUMERATOR.fullmatch(text, line, stop.end())):
            continue
        yield start, stop.end()
        start = stop.end()
    if start < end:
        yield start, end


def plain(text: str, negators: Spans, hedges: Spans) -> Sentence:
    """A line that is one sentence and says nothing of bullets and speakers."""
    end = len(text.rstrip())
    return Sentence(0, 0, 0, end, None, negators, hedges, text[end - 1] == "?")


def read_sentence(
    text: str, start: int, end: int, *, bulleted: bool, attributed: bool, negators: Spans, hedges: Spans
) -> Sentence:
    """The sentence between two places of one line.

    `bulleted` and `attributed` say whether a bullet or a speaker's name may stand before it; `negators` and `hedges`
    are those of the line.
    """
    stop = end
    while stop > start and text[stop - 1].isspace():
        stop -= 1
    line = start
    if bulleted:
        bullet = _BULLET.match(text, start, stop)
        line = bullet.end() if bullet else start
    else:
        while line < stop and text[line].isspace():
            line += 1
    body = line
    speaker = None
    attribution = _ATTRIBUTION.match(text, body, stop) if attributed else None
    if attribution:
        speaker = SPEAKERS[attribution.group(1).lower()]
        body = attribution.end()
    return Sentence(
        start,
        line,
        body,
        stop,
        speaker,
        tuple(span for span in negators if body <= span[0] < stop) if negators else (),
        tuple(span for span in hedges if body <= span[0] < stop) if hedges else (),
        stop > start and text[stop - 1] == "?",
    )
