"""What a summary says: whether the turns that it replaced say it, and say it the same way round."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from anchorhold.audit.facts import readable, spoken
from anchorhold.audit.figures import about, day_of, figure_at, spellings
from anchorhold.audit.finding import Example, Place
from anchorhold.audit.general import code_name, known, placeholder, prose
from anchorhold.audit.model import Compaction, Turn
from anchorhold.audit.view import View
from anchorhold_reference.extract import Mention, mentions

_WORD = re.compile(r"[\w./@#-]*\w")
_TURNED = re.compile(
    r"(?:not|no|never|without|cannot|can't|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|won't|shouldn't"
    r"|mustn't|couldn't|wouldn't|hasn't|haven't|nor|neither|none|longer|do|does|did"
    r"|most|least|more|less|fewer|than|up|to|at|under|over|above|below|within|exactly|minimum|maximum|max|min)",
    re.IGNORECASE,
)
STANDING = re.compile(
    r"\b(?:always|never|from now on|at all times|under no circumstances|don['’]t ever|do not ever|must not|"
    r"must never|only ever|in future|going forward)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^\n.!?]+[.!?]*")
_OPEN = ("<", "{", "~", "≈")
"""What stands before placeholders and estimates."""
_UNIT = re.compile(r"[A-Za-z%°$€£×]")
_SHARE = re.compile(
    r"(?<![\w.,/#-])(\d{2,6})(?: of | out of |/(?=\d+ (?:tests?|checks?|specs?|cases?|pass)))"
    r"(\d{2,6})(?![\w/-]|[.,]\d)"
)
_LEFT_OUT = re.compile(r"…|\.{3}|\[|\]")
FEWEST_QUOTED = 4
"""Words of a quotation that is checked: fewer are a name or a manner of speaking."""
FEWEST_WORDS = 4
"""Content words that a sentence needs to be recognised in another."""


def verifiable(mention: Mention) -> bool:
    """Whether a mention can be checked against the turns: paths, identifiers, names of code, telling numbers."""
    if placeholder(mention.literal):
        return False
    if mention.kind == "path" and prose(mention.literal):
        return False
    if mention.kind in {"path", "identifier"}:
        return not known(mention.literal, mention.kind)
    if mention.kind == "entity":
        return code_name(mention.literal) and not known(mention.literal, mention.kind)
    return mention.kind == "number" and telling(mention.literal)


def telling(number: str) -> bool:
    """Whether a number says something by itself: three digits or more, or two with a unit."""
    digits = sum(c.isdigit() for c in number)
    return digits >= 3 or (digits >= 2 and _UNIT.search(number) is not None)


def unsupported(compaction: Compaction, said: View, *, times: Iterable[str] = ()) -> Iterator[Example]:
    """What the summary says and nothing before it does. `times` are those of the replaced turns."""
    text = compaction.summary
    if not readable(text):
        return
    seen: set[str] = set()
    stamps = tuple(times)
    shares = list(_SHARE.finditer(text))
    for mention in mentions(text):
        if mention.literal in seen or _elided(text, mention):
            continue
        seen.add(mention.literal)
        if _unsupported(mention, compaction, said, stamps):
            yield Example(
                what="unsupported",
                kind=mention.kind,
                literal=mention.literal,
                summary=place(compaction.summary_record, compaction.field, text, mention.start, mention.end),
            )
            shares = [share for share in shares if not share.start() <= mention.start < share.end()]
    for share in shares:
        # "43 of 43": neither number tells by itself, both together do.
        ends = [figure_at(text, share.start(group)) for group in (1, 2)]
        if share.group() not in seen and not all(end is None or said.amounts(end) for end in ends):
            seen.add(share.group())
            yield Example(
                what="unsupported",
                kind="number",
                literal=share.group(),
                summary=place(compaction.summary_record, compaction.field, text, *share.span()),
            )


def _unsupported(mention: Mention, compaction: Compaction, said: View, stamps: Sequence[str]) -> bool:
    """Whether a mention of the summary can be checked, and nothing says it."""
    if mention.kind == "timestamp":
        day = day_of(mention.literal)
        return day is not None and not about(day, stamps) and not said.mentions(spellings(day))
    if mention.kind == "quotation":
        parts = [part for part in _LEFT_OUT.split(mention.literal) if len(part.split()) >= FEWEST_QUOTED]
        return not all(said.quotes(part) for part in parts)
    if not verifiable(mention):
        return False
    if mention.kind == "path" and PurePath(mention.literal).stem == compaction.session.partition("/")[0]:
        return False  # its own transcript: the harness tells where that is
    figure = figure_at(compaction.summary, mention.start) if mention.kind == "number" else None
    return not said.supports(mention.literal, mention.kind, figure)


def _elided(text: str, mention: Mention) -> bool:
    """Whether it is a placeholder, an estimate, or runs on into something left out."""
    before, after = text[max(0, mention.start - 1) : mention.start], text[mention.end : mention.end + 3]
    return before in _OPEN or after.startswith(("<", "{", "…", "...", "*"))


def place(record: int, field: str, text: str, start: int, end: int, *, around: int = 100) -> Place:
    """A place, with its surroundings."""
    low, high = max(0, start - around), min(len(text), end + around)
    excerpt = ("…" if low else "") + text[low:high].strip() + ("…" if high < len(text) else "")
    return Place(record=record, field=field, start=start, end=end, excerpt=excerpt)


def flipped(compaction: Compaction, turns: Sequence[Turn]) -> Iterator[Example]:
    """Statements that the summary repeats with another polarity or another bound."""
    if not readable(compaction.summary):
        return
    claims: dict[tuple[str, ...], tuple[set[tuple[bool, str]], Mention]] = {}
    for mention in mentions(compaction.summary):
        bones = _bones(mention.said)
        if len(bones) >= FEWEST_WORDS:
            claims.setdefault(bones, (set(), mention))[0].add(_way(mention))
    if not claims:
        return
    said: dict[tuple[str, ...], tuple[set[tuple[bool, str]], int, str]] = {}
    for turn in turns:
        for mention in spoken(turn.pieces):
            bones = _bones(mention.said)
            if bones in claims:
                said.setdefault(bones, (set(), turn.record, mention.said))[0].add(_way(mention))
    for bones, (ways, record, sentence) in said.items():
        claimed, mention = claims[bones]
        if (not (claimed & ways) and {w[0] for w in claimed} != {w[0] for w in ways}) or _bounds(claimed, ways):
            yield Example(
                what="flipped",
                kind=mention.kind,
                literal=mention.said.strip(),
                said=Place(record=record, excerpt=sentence.strip()),
                summary=place(
                    compaction.summary_record, compaction.field, compaction.summary, mention.start, mention.end
                ),
            )


def _bones(sentence: str) -> tuple[str, ...]:
    return tuple(w for w in (m.group().lower() for m in _WORD.finditer(sentence)) if not _TURNED.fullmatch(w))


def _way(mention: Mention) -> tuple[bool, str]:
    if mention.kind == "negation":
        return True, ""
    bound, _, flags = mention.frame.partition("|")
    return flags[:1] == "1" or mention.negated, bound


def _bounds(claimed: set[tuple[bool, str]], ways: set[tuple[bool, str]]) -> bool:
    theirs, ours = {w[1] for w in claimed if w[1]}, {w[1] for w in ways if w[1]}
    return bool(theirs and ours and not theirs & ours)


def unprotected(compaction: Compaction, turns: Sequence[Turn], kept: Iterable[Turn]) -> Iterator[Example]:
    """The latest request and the standing rules of the person, where they no longer stand verbatim (STR-4)."""
    asked = [turn for turn in turns if turn.human]
    sight = _flat(" ".join([compaction.summary, *(p.text for turn in kept for p in turn.pieces)]))
    if asked and not any(turn.human for turn in kept):
        latest = " ".join(piece.text for piece in asked[-1].pieces)
        if _flat(latest) and _flat(latest) not in sight:
            yield Example(
                what="protected",
                kind="latest request",
                literal=latest.strip()[:200],
                said=Place(record=asked[-1].record, excerpt=latest.strip()[:400]),
            )
    done: set[str] = set()
    for turn in asked:
        for piece in turn.pieces:
            if len(piece.text) > 4000:
                continue  # a pasted document is no rule
            for sentence in _SENTENCE.findall(piece.text):
                flat = _flat(sentence)
                if len(flat) > 12 and STANDING.search(sentence) and flat not in sight and flat not in done:
                    done.add(flat)
                    yield Example(
                        what="protected",
                        kind="standing rule",
                        literal=sentence.strip()[:200],
                        said=Place(record=turn.record, field=piece.field, excerpt=sentence.strip()[:400]),
                    )


def _flat(text: str) -> str:
    return " ".join(text.split()).strip(" .!?\"'“”").lower()
