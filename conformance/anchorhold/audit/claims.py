"""What a summary says: whether the turns that it replaced say it, and say it the same way round."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from anchorhold.audit.facts import readable, shown_lines
from anchorhold.audit.figures import about, day_of, figure_at, spellings
from anchorhold.audit.finding import Example, Place
from anchorhold.audit.general import code_name, known, placeholder, prose
from anchorhold.audit.model import Compaction, Role, Turn
from anchorhold.audit.polarity import Statement, beginnings, mark, statements
from anchorhold.audit.view import View
from anchorhold_reference.extract import Mention, mentions
from anchorhold_reference.extract.text import bounds

STANDING = re.compile(
    r"\b(?:always|never|from now on|at all times|under no circumstances|don['’]t ever|do not ever|must not|"
    r"must never|only ever|in future|going forward)\b",
    re.IGNORECASE,
)
_OPEN = ("<", "{", "~", "≈")
"""What stands before placeholders and estimates."""
_UNIT = re.compile(r"[A-Za-z%°$€£×]")
_SHARE = re.compile(
    r"(?<![\w.,/#-])(\d{2,6})(?: of | out of |/(?=\d+ (?:tests?|checks?|specs?|cases?|pass)))"
    r"(\d{2,6})(?![\w/-]|[.,]\d)"
)
_QUOTED = re.compile(r"\w+")
FEWEST_QUOTED = 4
"""Words of more than three letters in a quotation that is checked: fewer are a name or a manner of speaking."""
MOST_LINE = 2_000
"""Characters of a line that is compared with what a summary states."""


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


def unsupported(
    compaction: Compaction, said: View, *, recorded: View, times: Sequence[str] = ()
) -> Iterator[Example]:
    """What the summary says and nothing before it does.

    `times` are those of the replaced turns. `recorded` is what the harness wrote down beside them: whole files, in
    which parts of any name lie about; so it supports what stands there word for word, and nothing derived.
    """
    text = compaction.summary
    if not readable(text):
        return
    seen: set[str] = set()
    shares = list(_SHARE.finditer(text))
    for mention in mentions(text):
        if mention.literal in seen or _elided(text, mention):
            continue
        seen.add(mention.literal)
        if _unsupported(mention, compaction, said, times) and not recorded.has(mention.literal):
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
        # Summaries mend the spelling of what they quote, and shorten it: only words that nobody said are invented.
        words = [word for word in _QUOTED.findall(mention.literal.lower()) if len(word) > 3]
        return len(words) >= FEWEST_QUOTED and 2 * sum(map(said.knows, words)) < len(words)
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
    """Statements that the summary repeats the other way round, where no turn says them its way."""
    if not readable(compaction.summary):
        return
    claims: dict[tuple[str, ...], list[Statement]] = {}
    for claim in statements(compaction.summary):
        claims.setdefault(claim.bones, []).append(claim)
    if not claims:
        return
    # Most lines of results are no sentences, and of those most speak of something else.
    marks: dict[str, set[str]] = {}
    for bones in claims:
        one, other = mark(bones)
        marks.setdefault(one, set()).add(other)
    said: dict[tuple[str, ...], dict[bool, tuple[int, str]]] = {}
    for turn in turns:
        for piece in turn.pieces:
            if piece.role in {Role.THINKING, Role.CALL} or not readable(piece.text):
                continue
            for line in shown_lines(piece):
                if len(line) > MOST_LINE or not _may_say(line, marks):
                    continue
                for statement in statements(line):
                    if statement.bones in claims:
                        ways = said.setdefault(statement.bones, {})
                        ways[statement.turned] = turn.record, line[statement.start : statement.end]
    for bones, ways in said.items():
        claimed = {claim.turned for claim in claims[bones]}
        if claimed & set(ways):
            continue
        claim = claims[bones][0]
        record, sentence = next(iter(ways.values()))
        yield Example(
            what="flipped",
            kind="bound" if claim.bound else "negation",
            literal=compaction.summary[claim.start : claim.end].strip(),
            said=Place(record=record, excerpt=sentence.strip()),
            summary=place(compaction.summary_record, compaction.field, compaction.summary, claim.start, claim.end),
        )


def _may_say(line: str, marks: dict[str, set[str]]) -> bool:
    words = beginnings(line)
    return any(not words.isdisjoint(marks[word]) for word in words & marks.keys())


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
            for sentence in _sentences(piece.text):
                flat = _flat(sentence)
                if len(flat) > 12 and STANDING.search(sentence) and flat not in sight and flat not in done:
                    done.add(flat)
                    yield Example(
                        what="protected",
                        kind="standing rule",
                        literal=sentence.strip()[:200],
                        said=Place(record=turn.record, field=piece.field, excerpt=sentence.strip()[:400]),
                    )


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a text; a point inside a name ends none."""
    for line in text.split("\n"):
        for start, end in bounds(line, 0, len(line)):
            yield line[start:end]


def _flat(text: str) -> str:
    return " ".join(text.split()).strip(" .!?\"'“”").lower()
