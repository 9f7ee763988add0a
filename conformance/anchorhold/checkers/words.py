"""Does a text say a thing? The comparisons that the checkers make on words.

They are lenient where honest designs differ (white space, escaping, sentence frame) and strict where a fact would
change (a longer number, a longer path, a lost or added negation).
"""

import html
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from anchorhold_spec.vocabulary import Answer, Fact, Item, ToolCall, Turn

NEGATION = re.compile(
    r"\b(?:not|no)\b(?!\s+(?:more|greater|higher|larger|longer|later|less|fewer|lower|smaller|shorter|earlier|sooner)"
    r"\s+than\b)|\b(?:never|without|cannot|nor|neither|none)\b"
    r"|n(?:\\*['’]|&#x27;|&#39;|&apos;|&rsquo;|\\+u2019|\\+u0027)t\b",
    re.IGNORECASE,
)
"""What denies, also where HTML or JSON writes the apostrophe. "No more than" denies nothing: it is a bound."""
SENTENCE_END = re.compile(
    r"\n+|(?<=[.!?;])(?:\s|\\+[nrt])+"
    r"|(?:\\+[nr])+(?=(?:\s|\\+t)*(?:[-*•#>|]|\d{1,3}[.)])\s)"
)
"""Also in text that stands inside a JSON string, or a JSON string within another: there a line ends with the two
signs of an escape. They end one behind a full stop, and before the next point of a list or row of a table; elsewhere
they may be part of a path (C:\\new)."""
JOINTS = frozenset("-/.")
"""Between two word characters these continue a word: `a7` is not said by `a7-b`, nor `/srv/a` by `/srv/a/b`."""
MINUS = frozenset("-−")
ALIKE = re.compile(r"[ !#-%(-;=?-\[\]-~]*")
"""Text that neither JSON nor HTML writes otherwise: printable, without quotes, ampersands, brackets, backslashes."""
NEARBY = 16
"""Characters before a statement in which a negation belongs to it."""


@lru_cache(maxsize=4096)  # The same few texts are asked for again at every look.
def plain(text: str) -> str:
    """A text with every run of white space made one space."""
    return " ".join(text.split())


def shorten(text: str, limit: int = 90) -> str:
    """The beginning of a text, for a sentence in a report."""
    flat = plain(text)
    return flat if len(flat) <= limit else f"{flat[: limit - 1].rstrip()}…"


def _word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _starts_clean(text: str, start: int, first: str) -> bool:
    if start == 0 or not (_word(first) or first in JOINTS):
        return True
    before = text[start - 1]
    # In escaped text the character before may be the letter of an escape: \n, \t, \r.
    if before in "nrt" and start >= 2 and text[start - 2] == "\\":
        return True
    if _word(before):
        return False
    if before in MINUS and first.isdigit() and (start == 1 or not _word(text[start - 2])):
        # The same figures with a sign are another number.
        return False
    joined = before in JOINTS or (before == "," and first.isdigit())
    return not (joined and start >= 2 and _word(text[start - 2]))


def _ends_clean(text: str, end: int, last: str) -> bool:
    if end == len(text) or not (_word(last) or last in "/-"):
        return True
    after = text[end]
    if _word(after):
        return False
    if end + 1 == len(text) or not _word(text[end + 1]):
        return True
    return not (after in JOINTS or (after == "," and last.isdigit() and text[end + 1].isdigit()))


def places(needle: str, text: str) -> Iterator[int]:
    """Where a literal stands as a whole: not as part of a longer number, name or path."""
    if not needle:
        return
    start = text.find(needle)
    while start >= 0:
        end = start + len(needle)
        if _starts_clean(text, start, needle[0]) and _ends_clean(text, end, needle[-1]):
            yield start
        start = text.find(needle, start + 1)


def stands(needle: str, text: str) -> bool:
    """Whether a literal stands in a text as a whole, white space aside."""
    return next(places(plain(needle), plain(text)), None) is not None


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text."""
    return [plain(part) for part in SENTENCE_END.split(text) if part.strip()]


def negative(text: str) -> bool:
    """Whether a text holds a negation."""
    return NEGATION.search(text) is not None


def statements(sentence: str, subject: str, literal: str) -> Iterator[bool]:
    """For each way in which a sentence brings subject and literal together: whether it denies it."""
    low, subject, literal = sentence.casefold(), plain(subject).casefold(), plain(literal)
    for there in places(literal, sentence):
        for here in places(subject, low):
            start, end = min(here, there), max(here + len(subject), there + len(literal))
            yield negative(sentence[max(0, start - NEARBY) : end])


def says(text: str, fact: Fact) -> bool:
    """Whether a text makes a statement: in its own words, or subject and literal in one sentence.

    A sentence that denies what the statement affirms, or the reverse, does not make it.
    """
    flat = plain(text)
    if plain(fact.literal) not in flat:
        return False
    if stands(fact.text, flat):
        return True
    if fact.subject is None:
        return stands(fact.literal, flat)
    own = list(statements(plain(fact.text), fact.subject, fact.literal))
    denies = own[0] if own else negative(fact.text)
    return any(
        denial is denies
        for sentence in sentences(text)
        for denial in statements(sentence, fact.subject, fact.literal)
    )


def decoded(text: str | None, data: bytes | None) -> str:
    """Content as text, also where it travelled as bytes."""
    if text is not None:
        return text
    return "" if data is None else data.decode("utf-8", "surrogateescape")


def content(value: Answer | Item) -> str:
    """What an answer or an item holds, as text."""
    return decoded(value.text, value.data)


def words(turn: Turn) -> str:
    """Everything that a turn says, its calls' arguments included."""
    return "\n".join(
        part for part in (decoded(turn.text, turn.data), *(call.arguments for call in turn.calls)) if part
    )


def forms(turn: Turn) -> tuple[tuple[str, ...], ...]:
    """For each part of a turn that a copy must hold, the ways in which it may be written down.

    Calls are asked for only where the turn has no other words: transcripts render calls in many ways. Who holds their
    arguments parsed writes them down anew.
    """
    own = decoded(turn.text, turn.data)
    if own.strip():
        return (tuple(_escaped(own)),)
    given = [call.arguments for call in turn.calls if call.arguments.strip()]
    return tuple(tuple(dict.fromkeys((*_escaped(each), *_serialised(each)))) for each in given)


_WAYS = tuple(
    json.JSONEncoder(ensure_ascii=ascii_only, separators=separators, sort_keys=sort_keys).encode
    for ascii_only in (True, False)
    for separators in ((",", ":"), (", ", ": "))
    for sort_keys in (False, True)
)


def _serialised(arguments: str) -> Iterator[str]:
    """Arguments as they are written by whoever parsed them: with and without spaces and escapes, and with the names
    of members in their order; and each of these as JSON inside JSON."""
    try:
        parsed = json.loads(arguments)
        ways = {write(parsed): None for write in (_WAYS[:4] if arguments.isascii() else _WAYS)}
    except (ValueError, RecursionError):
        return
    ways.pop(arguments, None)
    for way in ways:
        yield plain(way)
        yield plain(json.dumps(way)[1:-1])


def _escaped(part: str) -> set[str]:
    if ALIKE.fullmatch(part):
        return {plain(part)}
    return {
        plain(part),
        *(plain(json.dumps(part, ensure_ascii=a)[1:-1]) for a in (True, False)),
        *(plain(html.escape(part, quote=q)) for q in (True, False)),
    }


def holds(flat: str, turn_forms: tuple[tuple[str, ...], ...]) -> bool:
    """Whether a text (already `plain`) holds a turn's words. A turn without words is held by nothing."""
    return bool(turn_forms) and all(any(form in flat for form in part) for part in turn_forms)


def written(text: str) -> Iterator[str]:
    """The ways in which a string may stand in a text: as it is, or escaped once or twice, as JSON inside JSON is."""
    yield plain(text)
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield plain(once)
        yield plain(json.dumps(once, ensure_ascii=ascii_only)[1:-1])
    yield plain(repr(text)[1:-1])


def leaves(value: Any) -> Iterator[str]:
    """Every string inside a value, names of members aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each)


def carries_calls(flat: str, calls: tuple[ToolCall, ...]) -> bool:
    """Whether a text (already `plain`) holds the arguments of these calls.

    They may stand there as the model wrote them, serialised anew, escaped, or laid out in another way, as long as
    each string in them can be had back.
    """
    for call in calls:
        if any(form in flat for form in written(call.arguments)):
            continue
        try:
            parsed = json.loads(call.arguments)
        except ValueError:
            return False
        if not all(any(form in flat for form in written(leaf)) for leaf in leaves(parsed) if leaf.strip()):
            return False
    return True


def piece_of(text: str, source: str, run: int = 8) -> bool:
    """Whether a text can be a piece of a source: it stands in it, holds it whole, or repeats a long run of its words.

    A piece may have been cut anywhere, and may have a frame of the store's own around it.
    """
    flat, whole = plain(text), plain(source)
    if not flat or not whole:
        return False
    written = {whole, *(plain(json.dumps(source, ensure_ascii=a)[1:-1]) for a in (True, False))}
    return any(flat in form or form in flat for form in written) or quotes(text, source, run)


def quotes(text: str, source: str, run: int = 3) -> bool:
    """Whether a text repeats some run of words of a source."""
    flat = f" {plain(text).casefold()} "
    parts = plain(source).casefold().split()
    return any(f" {' '.join(parts[i : i + run])} " in flat for i in range(len(parts) - run + 1))
