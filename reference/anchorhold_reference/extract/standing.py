"""Where a literal stands in a text as a whole: what is found where one is looked for (REC-1)."""

import re
import unicodedata

from anchorhold_reference.extract.patterns import WORD
from anchorhold_reference.extract.words import LONGEST, OPTION, PIECE, in_form

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Characters of scripts that put nothing between words (Han, kana, Thai, Lao, Khmer, Myanmar), as within brackets of
a pattern: where a word ends there no text says, so each character is taken for one."""
_UNSPACED = re.compile(f"[{UNSPACED}]")
_JOINERS = "-_/"


def _alone(character: str) -> bool:
    """Whether a character makes no word with its neighbours."""
    return character > "\x7f" and _UNSPACED.match(character) is not None


def _mark(character: str) -> bool:
    """Whether a character changes the one before it: an accent, a vowel sign."""
    return character > "\x7f" and unicodedata.category(character).startswith("M")


def _joined(text: str, outer: int, inner: int) -> bool:
    """Whether the character at `outer` makes one word with that at `inner`, its neighbour inside a literal."""
    if not 0 <= outer < len(text):
        return False
    near, own = text[outer], text[inner]
    if outer > inner and _mark(near):
        return True
    if not (own.isalnum() or own in _JOINERS or _mark(own)) or _alone(near) or _alone(own):
        return False
    step = 1 if outer > inner else -1
    beyond = text[outer + step] if 0 <= outer + step < len(text) else " "
    if near.isalnum() or near == "_" or _mark(near):
        return True
    if near in _JOINERS:
        return beyond.isalnum()
    # A point or comma inside a number or a dotted name; at the end of a sentence it is punctuation.
    return near in ".," and own.isalnum() and (beyond.isdigit() if near == "," else beyond.isalnum())


def stands_in(text: str, literal: str, start: int = 0) -> int:
    """Where a literal stands in a text as a whole word or words; -1 where it does not.

    `J-8` does not stand in `J-88`, nor `30` in `300` or `30.5`, nor `/srv/a` in `/srv/a/b`: each of those is a
    neighbour, and REC-1 allows none. Nor does it where it is a piece of what the extractor reads as another fact:
    `/srv/a` in `~/srv/a`, `5 ms` in `-5 ms`, `12:30` in `12:30:45`.
    """
    if not literal:
        return -1
    at = text.find(literal, start)
    while at >= 0:
        end = at + len(literal)
        if (
            not _joined(text, at - 1, at)
            and not _joined(text, end, end - 1)
            and not _signed(text, at)
            and not _grouped(text, at)
            and not _cuts(text, at, end)
        ):
            return at
        at = text.find(literal, at + 1)
    return -1


_DASHES = "\u2212\u2013\u2014"
"""A minus sign, and dashes that stand for one where no number is before them; "-" and "+" the extractor reads."""
_GROUPS = re.compile(r"\d(?:[\u00a0\u202f\u2009'’]\d{3}| 0\d{2})(?!\d)")


def _signed(text: str, at: int) -> bool:
    """Whether a sign that the extractor does not read stands before a number. Between numbers a dash is a range."""
    if not (text[at].isdigit() and at and text[at - 1] in _DASHES):
        return False
    return text[at - 1] == "\u2212" or not (at > 1 and (text[at - 2].isalnum() or text[at - 2] in "%°"))


def _grouped(text: str, at: int) -> bool:
    """Whether what begins here is one of the groups of three digits that a longer number is written in: behind what
    is no blank between words, or with a zero in front, with which no number of its own begins."""
    return at > 1 and _GROUPS.match(text, at - 2) is not None


def _cuts(text: str, at: int, end: int) -> bool:
    """Whether one of the two ends of a piece of a text lies within a fact that is one word, so that the piece has
    only a part of it."""
    return _cut_at(text, at, at, end) or (end != at and _cut_at(text, end, at, end))


def _cut_at(text: str, border: int, at: int, end: int) -> bool:
    if not 0 < border < len(text) or text[border - 1].isspace() or text[border].isspace():
        return False
    start, stop = border, border
    while start and border - start < _FARTHEST and not text[start - 1].isspace():
        start -= 1
    while stop < len(text) and stop - border < _FARTHEST and not text[stop].isspace():
        stop += 1
    word = text[start:stop]
    if len(word) > LONGEST:  # the extractor takes such words apart
        for piece in PIECE.finditer(word):
            if start + piece.start() < border < start + piece.end():
                start, word = start + piece.start(), piece.group()
                break
        else:
            return False
    for match in WORD.finditer(word):
        for first, last in _whole(match):
            if start + first < border < start + last and not (
                # A slash behind a directory's name names the same directory.
                border == end and start + last == end + 1 and text[end] == "/" and start + first >= at
            ):
                return True
    return False


_FARTHEST = 512
"""Characters around a place that are looked at; no fact that is one word is longer, but data is."""


def _whole(match: re.Match[str]) -> list[tuple[int, int]]:
    """Where the facts in what may be one stand, of those forms of which a part is another fact: of a host and its
    port, a tag of a name and an option each part says the same by itself."""
    form, text = match.lastgroup, match.group()
    if form in {"port", "option", "chain"}:
        return []
    if form == "tag":
        return [match.span()] if text[1:].isdigit() else []
    return [(start, end) for kind, start, end in in_form(match) if kind != OPTION]
