"""Facts of a text and of a turn. A summary's manifest and a span's are read by the same code, so that what counts as
carried is what can be read out of the summary's own words, whatever the summariser claims (MAN-2).

Two mentions are the same fact when their keys are equal. A key holds what was said with its polarity, certainty,
number, unit and bound. A number, a negation, a hedge or a time means nothing without its sentence ("30 ms" of
what?), so the sentence belongs to its key; an identifier, a path, an entity or a quotation stands for itself.
"""

import hashlib
import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from anchorhold_reference.extract.patterns import BOUND, QUOTATION, TIMESTAMP
from anchorhold_reference.extract.slots import Slot, name, slot_in
from anchorhold_reference.extract.text import HEDGE, NEGATION, NEGATOR, Sentence, Spans, bounds, read_sentence
from anchorhold_reference.extract.words import (
    BOUND_END,
    BULLET,
    CAPITAL,
    EQUALS,
    JOINER,
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
from anchorhold_spec.vocabulary import ToolCall, Turn

_NEEDS_SENTENCE = frozenset({"number", "negation", "hedge", "timestamp"})
_LINE = "line"
"""Frame of a line's number: it says where the line stands whose text follows, and nothing else."""
_CLAUSE_END = re.compile(r"[;,:()\[\]]|\s[-–—]\s|\b(?:but|however|although|though|whereas|because)\b", re.IGNORECASE)
_BEFORE = re.compile(
    r"(?:\b(?:is|was|are|were|has|have|had|do|does|did|can|could|will|would|should|must)\s+)$", re.IGNORECASE
)
_AFTER = re.compile(r"(?:\s+[^\s;,:()\[\].!?]+){1,4}")


class Mention(NamedTuple):
    """A fact where it stands in a text. A tuple, because there are very many of them."""

    kind: str
    literal: str
    start: int
    end: int
    """Where the literal stands."""
    said: str
    """The sentence that says it, verbatim, without bullets: what has to be repeated to carry it."""
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    """A slot's value without its negation."""
    negated: bool = False
    hedged: bool = False
    frame: str = ""
    """What else belongs to the fact: bound, tense, polarity and certainty of the whole sentence."""
    speaker: str | None = None
    """Whose words the text says these are."""
    part: bool = False
    """Stands inside a slot's statement and is part of that assertion, not one of its own."""

    @property
    def identity(self) -> "Identity":
        """Equal for mentions of the same fact, as a value to look up by."""
        kind, literal, _, _, said, subject, attribute, _, negated, hedged, frame, _, _ = self
        if kind in _NEEDS_SENTENCE:
            return (kind, literal, negated, hedged, frame, said if frame == _LINE else _level(said))
        if subject is None and attribute is None:
            return (kind, literal, negated, hedged, frame)
        return (kind, literal, negated, hedged, frame, name(subject or ""), name(attribute or ""))

    @property
    def key(self) -> bytes:
        """Equal for mentions of the same fact, and of one size."""
        joined = "\x1f".join(map(str, self.identity)).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(joined, digest_size=16).digest()


Identity: TypeAlias = tuple[object, ...]


@lru_cache(maxsize=64)
def _level(said: str) -> str:
    """A sentence with its white space levelled. One sentence holds many facts, mostly one after the other."""
    return " ".join(said.split())


def mentions(text: str) -> list[Mention]:
    """Every fact that a text says, parts of slots included, line by line."""
    return [
        _make(Mention, (kind, literal, at + begin, at + end, *rest))
        for at, facts in _lines(text)
        for _, (kind, literal, begin, end, *rest) in facts
    ]


# What a named tuple's own constructor does after it has sorted out its arguments.
_make = tuple.__new__

Facts: TypeAlias = tuple[tuple[Identity, Mention], ...]
_NUMBERED = re.compile(r"\s*(?:(\d{1,7})(?:→|\t|:(?![\d/])))?\s*")
"""White space and the line's number at the start of a line, as tools print them that show files."""
_REMEMBERED = 1000
"""Lines of up to so many characters are remembered."""


def _lines(text: str) -> Iterator[tuple[int, Facts]]:
    """The facts of each line, with the place from which theirs are counted."""
    start = 0
    lines = text.replace("\r", "\n").split("\n") if "\r" in text else text.split("\n")
    for line in lines:
        if line:
            prefix = _NUMBERED.match(line)
            assert prefix is not None  # it matches nothing, too
            at = prefix.end()
            if prefix.lastindex:
                begin, end = prefix.span(1)
                digits = line[begin:end]
                fields = (
                    "number",
                    digits,
                    begin,
                    end,
                    line[begin:],
                    None,
                    None,
                    None,
                    False,
                    False,
                    _LINE,
                    None,
                    False,
                )
                yield start, ((("number", digits, False, False, _LINE, fields[4]), _make(Mention, fields)),)
            if at < len(line):
                rest = line[at:]
                facts = _remembered(rest) if len(rest) <= _REMEMBERED else _line(rest)
                if facts:
                    yield start + at, facts
        start += len(line) + 1


def _line(line: str) -> Facts:
    """The facts of one line."""
    found, known = words(line)
    flags = 0
    for word in known:
        if word is not None:
            flags |= word[0]
    if not flags & _TELLING:
        return ()
    result: list[Mention] = []
    _read_line(line, found, known, flags, result)
    return tuple([(fact.identity, fact) for fact in result])


# The same line is shown again and again: a file that is read a second time, the output of a test that is run again.
_remembered = lru_cache(maxsize=1 << 14)(_line)

_TELLING = LITERAL | NEGATES | HEDGES | TIME | CAPITAL | QUOTE | EQUALS | VERB
"""Without any of these hints no fact stands in a line."""
_SLOT_HINT = re.compile(r":\s|\bthe\s", re.IGNORECASE)
"""Stands in every sentence that states a slot."""
_FRAMES = {(False, False): "|00", (False, True): "|01", (True, False): "|10", (True, True): "|11"}


def _read_line(text: str, found: list[str], known: list[Word | None], flags: int, result: list[Mention]) -> None:
    """The facts of one line, from what its words hint at."""
    end = len(text)
    places = _places(text, found)
    literals = _literals(text, found, known, flags, places)
    may_hold = (flags & EQUALS or (flags & OF and flags & VERB)) and _SLOT_HINT.search(text) is not None
    if not literals and not may_hold and not flags & (NEGATES | HEDGES):
        return
    several = flags & STOP and any(word is not None and word[0] & STOP for word in known[:-1])
    negators = _near(NEGATOR, NEGATES, text, found, known, places) if flags & NEGATES else ()
    hedges = _near(HEDGE, HEDGES, text, found, known, places) if flags & HEDGES else ()
    said = [
        read_sentence(
            text,
            one,
            other,
            bulleted=flags & BULLET != 0,
            attributed=flags & SPEAKER != 0,
            negators=negators,
            hedges=hedges,
        )
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
    at = -1
    stop = -1
    for kind, begin, finish in literals:
        if begin >= stop and at + 1 < len(said):
            while begin >= stop and at + 1 < len(said):
                at += 1
                sentence = said[at]
                stop = sentence.end if at + 1 < len(said) else end
            body = sentence.body
            words_of = text[body : sentence.end]
            clauses = _Clauses(text, sentence) if sentence.negated or sentence.hedged else None
            frame = _FRAMES[sentence.negated, sentence.hedged]
            inside = slots.get(sentence.start)
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
        fields = (
            kind,
            text[begin:finish],
            begin,
            finish,
            words_of,
            None,
            None,
            None,
            negated,
            hedged,
            own,
            sentence.speaker,
            part,
        )
        result.append(_make(Mention, fields))


def _stated(text: str, sentence: Sentence, slot: Slot) -> Mention:
    return Mention(
        kind="slot",
        literal=text[slot.value_start : slot.end],
        start=slot.value_start,
        end=slot.end,
        said=text[slot.start : sentence.end],
        subject=slot.subject,
        attribute=slot.attribute,
        value=slot.value,
        negated=slot.negated,
        hedged=sentence.hedged,
        # "is", "are" and "=" say the same of now; "was" may have ended since.
        frame="past" if slot.verb in {"was", "were"} else "",
        speaker=sentence.speaker if slot.start == sentence.body else None,
    )


def _places(text: str, found: list[str]) -> list[int]:
    """Where each word of a line stands."""
    places: list[int] = []
    find = text.find
    at = 0
    for word in found:
        at = find(word, at)
        places.append(at)
        at += len(word)
    return places


def _near(
    pattern: re.Pattern[str], hint: int, text: str, found: list[str], known: list[Word | None], places: list[int]
) -> Spans:
    """Where a pattern stands in a line, looked for only beside the words that hint at it."""
    spans: list[tuple[int, int]] = []
    done = 0
    for i, word in enumerate(known):
        if word is not None and word[0] & hint:
            after = min(i + 1, len(known) - 1)
            low, high = max(done, places[i - 1] if i else 0), places[after] + len(found[after])
            for match in pattern.finditer(text, low, high):
                spans.append(match.span())
                done = match.end()
    return tuple(spans)


def _literals(
    text: str, found: list[str], known: list[Word | None], flags: int, places: list[int]
) -> list[tuple[str, int, int]]:
    """The literals of a line, in order."""
    times = [match.span() for match in TIMESTAMP.finditer(text)] if flags & TIME else []
    literals: list[tuple[str, int, int]] = []
    last = len(known) - 1
    for i, word in enumerate(known):
        if word is not None and word[1]:
            at, own = places[i], found[i]
            for kind, begin, finish in word[1]:
                begin += at
                finish += at
                if kind == "number":
                    if i < last and finish == at + len(own) and own[-1].isdigit() and text[begin] not in "$€£":
                        after = known[i + 1]
                        if after is not None and after[3] and text.startswith(found[i + 1], finish + 1):
                            finish += 1 + after[3]
                elif kind == "option":
                    kind = "identifier"
                    if begin == 0:  # a line that was removed, in a difference of two files
                        continue
                elif kind == "timestamp":  # read whole above
                    continue
                if not times or not _overlap(times, begin, finish):
                    literals.append((kind, begin, finish))
    literals += [("timestamp", begin, finish) for begin, finish in times]
    if flags & CAPITAL:
        literals += [
            ("entity", begin, finish)
            for begin, finish in _names(text, found, known, places)
            if not (times and _overlap(times, begin, finish))
        ]
    if flags & QUOTE:
        literals += [("quotation", *match.span()) for match in QUOTATION.finditer(text)]
    if times or flags & (CAPITAL | QUOTE):
        literals.sort(key=_place)
    return literals


def _place(literal: tuple[str, int, int]) -> int:
    return literal[1]


def _overlap(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    return any(begin < end and start < finish for begin, finish in spans)


def _names(text: str, found: list[str], known: list[Word | None], places: list[int]) -> Iterator[tuple[int, int]]:
    """Names: capitalised words in a row, or one by itself inside a sentence."""
    run: list[int] = []
    for i in range(len(known) + 1):
        word = known[i] if i < len(known) else None
        capital = None if word is None else word.capital
        if run and i < len(known):
            last = known[run[-1]]
            assert last is not None
            assert last.capital is not None
            joined = places[i] == places[i - 1] + len(found[i - 1]) + 1
            clean = last.capital[1] == len(found[run[-1]]) and joined
            if clean and capital is not None and capital[0] == 0 and i - run[-1] <= 2:
                run.append(i)
                continue
            if (
                clean
                and i - run[-1] == 1
                and word is not None
                and word.flags & JOINER
                and i + 1 < len(known)
                and places[i + 1] == places[i] + len(found[i]) + 1
            ):
                continue
        if run:
            yield from _name(text, found, known, places, run)
            run = []
        if capital is not None:
            run = [i]


def _name(
    text: str, found: list[str], known: list[Word | None], places: list[int], run: list[int]
) -> Iterator[tuple[int, int]]:
    first, last = known[run[0]], known[run[-1]]
    assert first is not None
    assert first.capital is not None
    assert last is not None
    assert last.capital is not None
    begin, finish = places[run[0]] + first.capital[0], places[run[-1]] + last.capital[1]
    if len(run) > 1:
        yield begin, finish
    elif run[0] > 0 and first.capital[0] == 0 and finish - begin > 2 and text[begin + 1 : finish].islower():
        before = found[run[0] - 1][-1]
        if "a" <= before <= "z" or before in ",;":
            yield begin, finish


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
        return (
            any(low <= first and last <= high for first, last in self._negators),
            any(low <= first and last <= high for first, last in self._hedges),
        )


def _polarity(text: str, sentence: Sentence, kind: str, spans: Spans, *, part: bool) -> Iterator[Mention]:
    """Negations or hedges, each with the words that it governs."""
    done = sentence.body
    for start, end in spans:
        if start < done or (kind == "negation" and NEGATION.match(text, start) is None):
            continue
        before = _BEFORE.search(text, max(sentence.body, start - 12), start)
        after = _AFTER.match(text, end, sentence.end)
        begin = before.start() if before else start
        done = after.end() if after else end
        yield Mention(
            kind,
            text[begin:done],
            begin,
            done,
            text[sentence.body : sentence.end],
            negated=sentence.negated,
            hedged=sentence.hedged,
            speaker=sentence.speaker,
            part=part,
        )


def _arguments(call: ToolCall) -> Iterator[Mention]:
    """The arguments of a call, leaf by leaf where they are JSON, else as they stand."""
    if not call.arguments.strip():
        return
    try:
        parsed = json.loads(call.arguments)
        json.dumps(parsed, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):  # not JSON, or escapes that make no valid Unicode: as it stands
        parsed = call.arguments
    for path, leaf in _leaves(parsed, ""):
        literal = leaf if isinstance(leaf, str) else json.dumps(leaf)
        if literal:
            yield Mention(
                kind="argument",
                literal=literal,
                start=0,
                end=0,
                said=f"{call.name}({call.arguments})",
                subject=call.name,
                attribute=path or "arguments",
                value=literal,
                frame=call.id,
            )


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value:
        for i, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{i}]")
    else:
        yield path, value


def facts_of(turn: Turn) -> list[Mention]:
    """The assertions of a turn: facts of its text and of its calls, each once, without the parts of slots.

    Raises `UnreadableError` where they cannot be computed: such a span is retained raw (MAN-3).
    """
    if turn.data is not None:
        raise UnreadableError("its content is bytes, not text")
    text = turn.text or ""
    for part in (text, *(call.arguments for call in turn.calls)):
        try:
            part.encode("utf-8")
        except UnicodeEncodeError as error:
            raise UnreadableError(f"its text is not valid Unicode at character {error.start}") from None
    if "\x00" in text:
        raise UnreadableError("its text holds a null character: it is not prose that patterns can read")
    seen: dict[Identity, Mention] = {}
    for at, facts in _lines(text):
        for identity, fact in facts:
            if identity not in seen and not fact[12]:
                seen[identity] = _make(Mention, (*fact[:2], at + fact[2], at + fact[3], *fact[4:]))
    for call in turn.calls:
        for mention in _arguments(call):
            seen.setdefault(mention.identity, mention)
    return list(seen.values())


class UnreadableError(ValueError):
    """The facts of a span cannot be computed; the message says why."""
