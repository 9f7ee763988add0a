"""Whether two sentences say the same thing the opposite way round.

A sentence is brought to what it speaks of and to one bit. "Not", "never" and the negative one of two opposites
("disabled", "without", "after", "at least") each turn the bit; the words that remain are compared. So "must not be
less than 512" is "must be at least 512", and the opposite of "must be at most 512".
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from anchorhold_reference.extract.text import bounds

LONGEST = 400
"""Characters of a sentence that is compared."""
_OPPOSITES = (
    ("enabled", "disabled"), ("enable", "disable"), ("enables", "disables"), ("before", "after"),
    ("with", "without"), ("including", "excluding", "except"), ("include", "exclude"), ("included", "excluded"),
    ("allow", "forbid"), ("allowed", "forbidden"), ("accept", "reject"), ("accepted", "rejected"),
    ("required", "optional"), ("possible", "impossible"), ("valid", "invalid"), ("safe", "unsafe"),
    ("mutable", "immutable"), ("supported", "unsupported"), ("earlier", "later"), ("ascending", "descending"),
    ("synchronous", "asynchronous"), ("true", "false"), ("inclusive", "exclusive"),
)  # fmt: skip
_POSITIVE = {positive: positive for positive, *_ in _OPPOSITES}
_NEGATIVE = {negative: positive for positive, *negatives in _OPPOSITES for negative in negatives}
_UPPER = (
    r"at most|up to|maximum of|maximum|max\.?|under|below|less than|fewer than|smaller than|lower than|≤|<=|<|within"
)
_LOWER = (
    r"at least|minimum of|minimum|min\.?|over|above|more than|greater than|larger than|higher than|exceeds?|exceeding"
    r"|≥|>=|>"
)
_BOUND = re.compile(
    rf"(?<![\w<>=-])(?:(?P<upper>{_UPPER})|(?P<lower>{_LOWER}))(?![\w<>=-])(?:\s+(?:of|or equal to)\b)?",
    re.IGNORECASE,
)
_NEGATING = re.compile(
    r"\b(?:not only\b)|\b(?P<no>can\s?not|(?:ca|wo|sha)n['’]?t|(?:do|does|did|is|are|was|were|has|have|had|could"
    r"|would|should|might|must|need)n['’]?t|not|never|no longer|no|none|neither|nobody|nothing)\b(?![-/.]\w)",
    re.IGNORECASE,
)
_MODAL = {"can": "can", "ca": "can", "wo": "will", "sha": "shall", "could": "could", "would": "would",
          "should": "should", "might": "might", "must": "must", "need": "need"}  # fmt: skip
_WORD = re.compile(r"[\w./@#$%]*\w%?|\x01")
_RUN = re.compile(r"\w+")
_IDLE = frozenset(
    ["a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "do", "does", "did", "has", "have", "had",
     "it", "that", "this", "always", "nor", "and", "to", "of", "will", "shall", "please"]
)  # fmt: skip
"""Words that a sentence may have or lack and still say the same; "always" is what "never" turns around."""
_LABEL = re.compile(r"\s*(?:[-*•>#]+\s+|\d{1,3}[.)]\s+)*")
FEWEST = 3
"""Words that must remain for a sentence to be known again: a bound counts as one."""


class Statement(NamedTuple):
    """A sentence, as far as it is compared."""

    bones: tuple[str, ...]
    """What it speaks of."""
    turned: bool
    bound: bool
    start: int
    end: int
    """Where the sentence stands."""


def statements(text: str) -> Iterator[Statement]:
    """The statements of a text, line by line."""
    start = 0
    for line in text.split("\n"):
        if line and len(line) <= 20 * LONGEST:
            for low, high in bounds(line, 0, len(line)):
                if high - low <= LONGEST:
                    yield from _statement(line, low, high, start)
        start += len(line) + 1


def mark(bones: tuple[str, ...]) -> tuple[str, str]:
    """The beginnings of two words that every sentence with these bones has: see `beginnings`."""
    runs = [run for bone in bones if bone not in _POSITIVE for run in _RUN.findall(bone)]
    longest = [run[:4] for run in sorted(runs, key=len, reverse=True)] or [""]
    return longest[0], longest[min(1, len(longest) - 1)]


def beginnings(line: str) -> set[str]:
    """The beginnings of a line's words, by which most lines are told to speak of something else."""
    words = _RUN.findall(line.lower())
    return {word[:4] for word in words} | {word[:3] for word in words}


def _statement(line: str, low: int, high: int, offset: int) -> Iterator[Statement]:
    label = _LABEL.match(line, low, high)
    low = label.end() if label else low
    words = line[low:high].replace("`", "").replace("*", "")
    turned = False
    bound = False

    def negate(match: re.Match[str]) -> str:
        nonlocal turned
        said = match.group("no")
        if said is None:
            return " "
        turned = not turned
        modal = re.match(r"[a-z]+?(?=\s?not$|n['’]?t$)", said.lower())
        return f" {_MODAL.get(modal.group(), '')} " if modal else " "

    def limit(match: re.Match[str]) -> str:
        nonlocal turned, bound
        bound = True
        turned ^= match.group("lower") is not None
        return " \x01 "

    words = _NEGATING.sub(negate, words)
    # "a maximum of", "must be at most": the negation may stand before the bound or be part of it.
    words = _BOUND.sub(limit, words)
    bones = []
    for word in _WORD.findall(words.replace("-", " ").lower()):
        if word in _NEGATIVE:
            turned = not turned
        word = _NEGATIVE.get(word, word)
        if word not in _IDLE:
            bones.append(_stem(word))
    if len(bones) >= FEWEST:
        yield Statement(tuple(bones), turned, bound, offset + low, offset + high)


def _stem(word: str) -> str:
    plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) and word.isalpha()
    return word[:-1] if plural else word
