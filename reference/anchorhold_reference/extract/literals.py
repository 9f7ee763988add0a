"""The literals of one line: what its words hold by themselves, and what reaches over several of them."""

from bisect import bisect_left
from itertools import accumulate
from typing import TypeAlias

from anchorhold_reference.extract.doubts import HEDGE as HEDGES
from anchorhold_reference.extract.patterns import QUOTATION, TIMESTAMP
from anchorhold_reference.extract.text import Spans
from anchorhold_reference.extract.words import (
    AMOUNT,
    CAPITAL,
    HEDGE,
    JOINER,
    OPTION,
    QUOTE,
    TIME,
    WIDE,
    Literal,
    Word,
)

Telling: TypeAlias = list[tuple[int, Word]]
"""The words of a line that say something by themselves, each with its number among all of them."""

_one_more = (1).__add__


def places(text: str, found: list[str], *, whole: bool) -> list[int]:
    """Where each word of a line stands; `whole` says that no word was taken apart."""
    if whole:
        # Mostly one blank stands between two words, and then their lengths say it all.
        ends = list(accumulate(map(_one_more, map(len, found))))
        if ends[-1] - 1 == len(text.rstrip()):
            return [0, *ends]
    standing: list[int] = []
    at = 0
    for word in found:
        at = text.find(word, at)
        standing.append(at)
        at += len(word)
    return standing


def negators(told: Telling, at: list[int]) -> Spans:
    """What negates in a line."""
    return tuple(
        [(at[i] + begin, at[i] + finish) for i, word in told if word.negators for begin, finish in word.negators]
    )


def hedges(text: str, found: list[str], told: Telling, flags: int, at: list[int]) -> Spans:
    """What hedges in a line."""
    if not flags & WIDE:
        return tuple(
            [(at[i] + begin, at[i] + finish) for i, word in told if word.hedges for begin, finish in word.hedges]
        )
    # Hedges of several words are looked for beside the words that hint at them.
    spans: list[tuple[int, int]] = []
    done = 0
    last = len(found) - 1
    for i, word in told:
        if word.flags & HEDGE:
            after = i + 1 if i < last else last
            low, high = max(done, at[i - 1] if i else 0), at[after] + len(found[after])
            for match in HEDGES.finditer(text, low, high):
                spans.append(match.span())
                done = match.end()
    return tuple(spans)


def literals(
    text: str, found: list[str], known: list[Word | None], told: Telling, flags: int, at: list[int]
) -> list[Literal]:
    """The literals of a line, in order."""
    times = [match.span() for match in TIMESTAMP.finditer(text)] if flags & TIME else []
    result: list[Literal] = []
    last = len(found) - 1
    unit = 0
    for i, word in told:
        if word.literals:
            here = at[i]
            for literal in word.literals:
                kind, begin, finish, own, key = literal
                begin += here
                finish += here
                if begin < unit:  # what belongs to the number before it is no literal of its own
                    continue
                if kind == AMOUNT:
                    kind = "number"
                    after = known[i + 1] if i < last else None
                    if after is not None and after.unit and at[i + 1] == finish + 1:
                        unit = finish = finish + 1 + after.unit
                        own = text[begin:finish]
                elif kind == OPTION:
                    kind = "identifier"
                    if begin == 0:  # a line that was removed, in a difference of two files
                        continue
                if not times or not _overlap(times, begin, finish):
                    result.append((kind, begin, finish, own, key))
    names = _names(found, known, told, at, text) if flags & CAPITAL else ()
    if times or names or flags & QUOTE:
        result += [("timestamp", begin, finish, text[begin:finish], b"") for begin, finish in times]
        result += [
            ("entity", begin, finish, text[begin:finish], b"")
            for begin, finish in names
            if not (times and _overlap(times, begin, finish))
        ]
        if flags & QUOTE:
            result += [("quotation", begin, finish, text[begin:finish], b"") for begin, finish in _quotations(text)]
        result.sort(key=_place)
    return result


def _quotations(text: str) -> list[tuple[int, int]]:
    """What `QUOTATION` finds; where only plain quotation marks stand, from mark to mark."""
    if "“" in text or "«" in text:
        return [match.span() for match in QUOTATION.finditer(text)]
    spans: list[tuple[int, int]] = []
    begin = text.find('"')
    while begin >= 0:
        match = QUOTATION.match(text, begin)
        if match is None:
            begin = text.find('"', begin + 1)
        else:
            spans.append(match.span())
            begin = text.find('"', match.end())
    return spans


def _place(literal: Literal) -> int:
    return literal[1]


def _overlap(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether one of these, which stand in order and apart, has a place in common with what is between these two."""
    before = bisect_left(spans, (end,))
    return before > 0 and start < spans[before - 1][1]


def _names(
    found: list[str], known: list[Word | None], told: Telling, at: list[int], text: str
) -> list[tuple[int, int]]:
    """Names: capitalised words in a row, or one by itself inside a sentence."""
    names: list[tuple[int, int]] = []
    end = len(found)
    done = 0
    for first, word in told:
        capital = word.capital
        if capital is None or first < done:
            continue
        start = at[first] + capital[0]
        latest, many = first, False
        i = first + 1
        while i < end:
            # A name goes on in the next word, with one blank between and nothing behind the last one.
            if capital[1] != len(found[latest]) or at[i] != at[i - 1] + len(found[i - 1]) + 1:
                break
            following = known[i]
            if following is None:
                break
            further = following.capital
            if further is not None and further[0] == 0:
                latest, capital, many = i, further, True
            elif not (
                i == latest + 1
                and following.flags & JOINER
                and i + 1 < end
                and at[i + 1] == at[i] + len(found[i]) + 1
            ):
                break
            i += 1
        done = i
        finish = at[latest] + capital[1]
        if many:
            names.append((start, finish))
        elif first > 0 and start == at[first] and finish - start > 2 and text[start + 1 : finish].islower():
            before = found[first - 1][-1]
            if "a" <= before <= "z" or before in ",;":
                names.append((start, finish))
    return names
