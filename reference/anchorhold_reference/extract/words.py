"""One word at a time: which literals stand in it, and what it hints at for the line that it stands in.

A transcript says the same words again and again, so each is read once and remembered: that is what makes extraction
fast. Everything here depends on the word alone.
"""

import re
from typing import Final, TypeAlias

from anchorhold_reference.extract.doubts import HEDGE as HEDGES
from anchorhold_reference.extract.doubts import HEDGING_WORDS, WIDE_WORDS
from anchorhold_reference.extract.memo import Memo
from anchorhold_reference.extract.mention import PLAIN, key_of
from anchorhold_reference.extract.patterns import (
    BOUND_WORDS,
    MONTHS,
    PATH_SIGNS,
    SIMPLE_WORD,
    TIMESTAMP,
    UNIT,
    WORD,
)
from anchorhold_reference.extract.text import NEGATING_WORDS, NEGATOR, SPEAKERS, Spans

LITERAL: Final = 1
STOP: Final = 2
"""A sentence may end behind it."""
NEGATION: Final = 4
HEDGE: Final = 8
TIME: Final = 16
"""A time may be there."""
CAPITAL: Final = 32
JOINER: Final = 64
"""Joins capitalised words to one name."""
QUOTE: Final = 128
OF: Final = 256
VERB: Final = 512
"""The verb of a slot; `OF` and `EQUALS` are its other signs."""
EQUALS: Final = 1024
SPEAKER: Final = 2048
BOUND_END: Final = 4096
"""A bound of a number may end with it."""
BULLET: Final = 8192
"""At the start of a line it may be a bullet, or end there with one."""
WIDE: Final = 16384
"""Belongs to a hedge of several words."""

LONGEST: Final = 64
"""Words that are longer are taken apart at punctuation, as compact JSON has to be, and are not remembered whole."""


Literal: TypeAlias = tuple[str, int, int, str, bytes]
"""Kind, where it begins and ends, its text, and its key where it stands in a plain sentence: a key that needs the
sentence is empty."""

AMOUNT: Final = "amount"
"""A number behind which a unit may stand, in the next word."""
OPTION: Final = "option"
"""An identifier, but not at the start of a line, where `-x` is a line that was removed."""


class Word:
    """What is to be known of a word."""

    __slots__ = ("capital", "flags", "hedges", "literals", "negators", "unit")

    def __init__(
        self,
        flags: int,
        literals: tuple[Literal, ...],
        capital: tuple[int, int] | None,
        unit: int,
        negators: Spans,
        hedges: Spans,
    ) -> None:
        self.flags = flags
        self.literals = literals
        """With their places in the word; `AMOUNT` and `OPTION` are kinds here, too."""
        self.capital = capital
        """Where a capitalised word stands in it, that may be a name or a part of one."""
        self.unit = unit
        """How many of its characters are a unit, if a number stands before it."""
        self.negators = negators
        """Where in it something negates."""
        self.hedges = hedges
        """Where in it something hedges; of a line in which a word is `WIDE` only the line tells."""


_PARTS = re.compile(r"\w+(?:['’]t)?")
_UNIT = re.compile(UNIT)
_CAPITAL = re.compile(r"[(\"'“*_]{0,3}([A-Z][A-Za-z0-9]*)(?![\w/.@-]\w|[/@])")
_BULLET = re.compile(r"[-*•>]+$|\d{1,3}[.)]$|#{1,6}$")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)
_CODE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])\w+")
_LEADING = re.compile(r"\d+(?:\.\d+)?(?=-[a-z]+$)")
_HUMPS = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_ALTERNATIVES = frozenset(
    [
        "and/or",
        "either/or",
        "yes/no",
        "true/false",
        "on/off",
        "read/write",
        "input/output",
        "his/her",
        "him/her",
        "she/her",
        "they/them",
        "client/server",
        "start/stop",
        "open/close",
        "pass/fail",
        "success/failure",
        "before/after",
        "old/new",
        "left/right",
        "add/remove",
        "and/not",
    ]
)
_VERBS = frozenset(
    ["is", "was", "are", "were", "isn't", "wasn't", "aren't", "weren't", "isn’t", "wasn’t", "aren’t", "weren’t"]
)
_JOINERS = frozenset({"of", "de", "van", "der", "and", "&"})
PIECE = re.compile(r"[^\"{}(),;|<>\s]+|[\"{}(),;|<>]")


def words(line: str) -> tuple[list[str], list[Word | None], bool]:
    """The words of a line, what is to be known of each, None of a word that says nothing by itself; and whether all
    are whole, because none was so long that it was taken apart."""
    found = line.split()
    if len(line) > LONGEST and max(map(len, found), default=0) > LONGEST:
        found = [piece for one in found for piece in (PIECE.findall(one) if len(one) > LONGEST else (one,))]
        return found, [MEMO[one] if len(one) <= LONGEST else read_word(one) for one in found], False
    return found, list(map(_remembered, found)), True


def read_word(word: str) -> Word | None:
    """Read one word."""
    core = word.strip(_AROUND)
    begin = word.find(core)
    capital: tuple[int, int] | None = None
    if core.isidentifier() and word[begin - 1 : begin] != ".":
        kind = _kind(core)
        lower = core.lower()
        flags = _SAYS_ALONE.get(lower, 0)
        literals: tuple[Literal, ...] = ()
        if kind is not None:
            flags |= LITERAL
            literals = (_literal(kind, begin, begin + len(core), core, word),)
        elif core[0].isupper() and core.isascii():
            capital = (begin, begin + len(core))
            flags |= CAPITAL
        if core in MONTHS:
            flags |= TIME
        if word in _JOINERS:
            flags |= JOINER
    else:
        places = [
            place
            for match in (WORD if PATH_SIGNS.search(word) else SIMPLE_WORD).finditer(word)
            for place in in_form(match)
        ]
        flags = LITERAL if places else 0
        for kind, _, _ in places:
            if kind == "timestamp":
                flags |= TIME
        if "/" in word and TIMESTAMP.search(word):
            flags |= TIME
        if "=" in word or "≠" in word:
            flags |= EQUALS
        if word[-1] in "<>≤≥=":
            flags |= BOUND_END
        if _BULLET.match(word):
            flags |= BULLET
        found = _CAPITAL.match(word)
        if found is not None and not any(start < found.end(1) and found.start(1) < end for _, start, end in places):
            capital = found.span(1)
            flags |= CAPITAL
        lower = word.lower()
        if "w/o" in lower:
            flags |= NEGATION
        if "~" in word:
            flags |= HEDGE
        if lower in _VERBS:
            flags |= VERB
        if word == "&":
            flags |= JOINER
        for part in _PARTS.findall(lower):
            flags |= _SAYS.get(part, 0)
        # A time may reach over several words, and is read in the line.
        literals = tuple(
            [_literal(kind, start, end, word[start:end], word) for kind, start, end in places if kind != "timestamp"]
        )
    if len(core) < len(word):
        if word.rstrip("\"'”’)]")[-1:] in _STOPS:
            flags |= STOP
        if '"' in word:
            flags |= QUOTE
    if "“" in word or "«" in word:
        flags |= QUOTE
    measured = _UNIT.match(word)
    unit = 0 if measured is None else measured.end()
    if not flags and not unit:
        return None
    negators = tuple([match.span() for match in NEGATOR.finditer(word)]) if flags & NEGATION else ()
    hedges = tuple([match.span() for match in HEDGES.finditer(word)]) if flags & HEDGE else ()
    return Word(flags, literals, capital, unit, negators, hedges)


def _literal(kind: str, begin: int, end: int, text: str, word: str) -> Literal:
    if kind == "number":
        last = end == len(word) and word[-1].isdigit() and text[0] not in "$€£"
        return (AMOUNT if last else kind, begin, end, text, b"")
    return (kind, begin, end, text, key_of("identifier" if kind == OPTION else kind, text, "", frame=PLAIN))


_AROUND = "()[]{}\"'`,;:.!?*"
"""What stands around words and is no part of them."""
_STOPS = frozenset(".!?")
_SAYS = {
    word: (NEGATION if word in NEGATING_WORDS else 0)
    | (HEDGE if word in HEDGING_WORDS else 0)
    | (WIDE if word in WIDE_WORDS else 0)
    | (SPEAKER if word in SPEAKERS else 0)
    | (BOUND_END if word in BOUND_WORDS else 0)
    for word in NEGATING_WORDS | HEDGING_WORDS | frozenset(SPEAKERS) | BOUND_WORDS
}
"""What a word hints at by what it is, also inside a longer one."""
_SAYS_ALONE = {
    word: _SAYS.get(word, 0) | (VERB if word in _VERBS else 0) | (OF if word == "of" else 0)
    for word in _VERBS | frozenset([*_SAYS, "of"])
}
"""The same of a word that stands by itself."""
MEMO: Memo[Word | None] = Memo(read_word, 1 << 16)
_remembered = MEMO.__getitem__


def in_form(match: re.Match[str]) -> list[tuple[str, int, int]]:
    """The literals in what may be one."""
    form, start, end = match.lastgroup, match.start(), match.end()
    text = match.group()
    if form == "url":
        return [("path", start, end)]
    if form in {"email", "port"}:
        return [("identifier", start, end)]
    if form == "tag":
        return [("entity" if text[0] == "@" else "identifier", start, end)]
    if form == "option":
        return [(OPTION if text[1] != "-" else "identifier", start, end)]
    if form == "time":
        return [("timestamp", start, end)]
    if form == "path":
        return [("path", start, end)] if _is_path(text) else _chains(match.string, start, end)
    if form == "number" and not _counts_nothing(text):
        return [("number", start, end)]
    return _chain(match.string, start, end)


def _is_path(text: str) -> bool:
    """Whether what has the form of a path is one, and not two words to choose from, a date or a fraction."""
    parts = text.split("/")
    if len(parts) == 1 or not all(part.isalnum() for part in parts):
        return len(parts) > 1 or text.strip(".*") != ""
    if all(part.isdigit() for part in parts):
        return False
    if len(parts) == 2 and all(part.isalpha() for part in parts):
        return text.islower() and min(map(len, parts)) > 2 and text not in _ALTERNATIVES
    return True


def _chains(text: str, start: int, end: int) -> list[tuple[str, int, int]]:
    """What stands on both sides of slashes that make no path."""
    found: list[tuple[str, int, int]] = []
    for part in re.finditer(r"[^/]+", text[start:end]):
        found += _chain(text, start + part.start(), start + part.end())
    return found


def _counts_nothing(digits: str) -> bool:
    """Whether digits are a name: a leading zero, or more of them than anybody counts to without separators."""
    return digits.isdigit() and (len(digits) > 9 or (len(digits) > 1 and digits[0] == "0"))


def _chain(text: str, start: int, end: int) -> list[tuple[str, int, int]]:
    """The literals in words that are joined by points and hyphens, or in one by itself."""
    chain = text[start:end]
    if _counts_nothing(chain):
        return [("identifier", start, end)]
    if _ORDINAL.fullmatch(chain):
        return []
    if "-" not in chain and "." not in chain:
        kind = _kind(chain)
        return [(kind, start, end)] if kind else []
    parts = re.split(r"[.\-]", chain)
    if all(part.isdigit() for part in parts):
        if len(parts) == 2 and "-" in chain:  # a range
            return [("number", start, start + len(parts[0])), ("number", end - len(parts[1]), end)]
        return [("identifier" if len(parts) > 2 else "number", start, end)]
    if "-" in chain:
        leading = _LEADING.match(chain)
        if leading:  # "24-hour"
            return [("number", start, start + leading.end())]
        if any(character.isdigit() for character in chain) or "_" in chain:
            return [("identifier", start, end)]
        found: list[tuple[str, int, int]] = []
        for part in re.finditer(r"[^-]+", chain):
            found += _chain(text, start + part.start(), start + part.end())
        return found
    if all(len(part) > 1 or part.isdigit() for part in parts) or any(_kind(part) == "identifier" for part in parts):
        return [("identifier", start, end)]
    if len(parts) == 2 and min(map(len, parts)) == 1 and max(map(len, parts)) > 2:  # "t.Parallel"
        return [("identifier", start, end)]
    return []


def _kind(word: str) -> str | None:
    """Of what kind a single word is by its form."""
    if word.isdigit():
        return "number"
    if "_" in word:
        inner = word.strip("_")
        emphasis = word[0] == "_" == word[-1] and word[1:2] != "_" and "_" not in inner and inner.isalpha()
        return "identifier" if inner and not emphasis else None
    if not word.isascii():
        return None
    if _CODE.fullmatch(word) or (_HUMPS.search(word) and not (word[-1] == "s" and word[:-1].isupper())):
        return "identifier"
    if len(word) > 1 and word.isupper():
        return "entity"
    return None
