"""The facts of the turns that a compaction replaced: who said each, in which turn, read from which file.

Read with the reference's extractor, line by line, and each different line once: agents read the same files again and
again. A sentence never spans lines, so nothing is lost by that.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from anchorhold.audit.model import Piece, Role, Turn
from anchorhold_reference.extract import Mention, mentions
from anchorhold_reference.extract.mention import key_of

NUMBERED = re.compile(r"^\s*\d+(?:→|\t|\s*\|)\s?", re.MULTILINE)
"""What a tool puts before each line of a file that it shows: no fact of the file."""
SENTENCED = frozenset({"number", "negation", "hedge", "timestamp"})
"""Kinds that say nothing without their sentence."""
HASH = re.compile(r"[0-9a-fA-F]{12,64}")
SHORT_HASH = re.compile(r"(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{7,39}")
"""How the beginning of a long hash is written in its place."""
LONGEST = 20_000
"""Characters of a line that are read; what is longer is data, and its beginning stands for it."""


@dataclass(slots=True)
class Fact:
    """A fact of replaced turns, said once or many times."""

    kind: str
    literal: str
    first: int
    """Index of the first turn that says it, in the segment."""
    turns: set[int] = field(default_factory=set)
    files: dict[str, int] = field(default_factory=dict)
    """Files that it was read from, each with the last record that did."""
    heard: bool = False
    """Said by a person, a result or a system message: not only by the agent itself."""
    loose: bool = False
    """Stands somewhere as more than the name of a field."""


def shown_lines(piece: Piece) -> Iterator[str]:
    """The lines of a piece as the file or the speaker has them, without a tool's numbering."""
    for line in piece.text.split("\n"):
        text = line.strip()
        if text:
            yield NUMBERED.sub("", text, count=1) if piece.role is Role.RESULT else text


_CACHE_LINES = 60_000


class Lines:
    """What each line says; kept for as long as it is likely to be met again."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self._known: dict[str, tuple[tuple[str, str, str, bool], ...]] = {}

    def read(self, line: str) -> tuple[tuple[str, str, str, bool], ...]:
        """The facts of a line: kind, literal, its sentence where it needs one, whether it is a field's name."""
        found = self._known.get(line)
        if found is None:
            if len(self._known) > _CACHE_LINES:
                self._known.clear()
            found = self._known[line] = tuple(_facts(line[:LONGEST]))
        return found


def _facts(line: str) -> Iterator[tuple[str, str, str, bool]]:
    if not readable(line):
        return
    for mention in named(line):
        if not mention.part or mention.kind in {"path", "identifier", "entity"}:
            said = mention.said if mention.kind in SENTENCED or mention.kind == "slot" else ""
            yield (
                mention.kind,
                mention.literal,
                said,
                line[mention.end : mention.end + 3].lstrip('\\"').startswith(":"),
            )


_HEADER = re.compile(r"(?<![\w-])[A-Z][a-z]+(?:-[A-Z][a-z]+)+(?![\w-])")


_PLAIN = r"[^\s'\"`/\\:*?<>|=]+"
_SPACED = re.compile(
    rf"(['\"`])((?:~|\.{{1,2}}|[A-Za-z]:)?(?:[/\\]{_PLAIN}(?: (?!-){_PLAIN})*)+)\1"
    rf"|(?<![\w\\/.])((?:~|\.{{1,2}})?/(?:[^\s'\"`\\;|&<>]|\\ )*\\ (?:[^\s'\"`\\;|&<>]|\\ )+)"
)
"""Paths with spaces in them, in quotes, or with each space escaped as a shell wants it."""


def spaced(text: str) -> Iterator[tuple[int, int, str]]:
    """Where paths with spaces in them stand, each as it is called."""
    for match in _SPACED.finditer(text) if " " in text and ("/" in text or "\\" in text) else ():
        group = 2 if match.group(2) else 3
        path = match.group(group)
        if " " in path:
            yield *match.span(group), path.replace("\\ ", " ")


def named(text: str) -> Iterator[Mention]:
    """The mentions of a text: paths with spaces as one, and names of fields as headers have them ("Signed-Off")."""
    whole = list(spaced(text))
    for mention in mentions(text):
        if not any(start <= mention.start and mention.end <= end for start, end, _ in whole):
            yield mention
    for start, end, path in whole:
        yield Mention(kind="path", literal=path, start=start, end=end, said=path, key=key_of("path", path, path))
    for match in _HEADER.finditer(text) if "-" in text else ():
        literal = match.group()
        yield Mention(
            kind="identifier",
            literal=literal,
            start=match.start(),
            end=match.end(),
            said=literal,
            key=key_of("identifier", literal, literal),
        )


def readable(text: str) -> bool:
    """Whether the extractor can read a text."""
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


class Table:
    """The facts of a run of turns."""

    def __init__(self, lines: Lines) -> None:
        """Start empty; `lines` may be shared between tables."""
        self._lines = lines
        self.facts: dict[tuple[str, str, str], Fact] = {}
        self.by_literal: dict[str, Fact] = {}
        """Facts that stand for themselves, by their words."""
        self.hashes: dict[str, str] = {}
        """Long hashes by their first seven digits."""

    def add(self, index: int, turn: Turn, *, files: Mapping[str, str]) -> None:
        """Read a turn; `files` says for each call which file it reads."""
        for piece in turn.pieces:
            if piece.role in {Role.THINKING, Role.SYSTEM}:
                continue
            # What a failed call answers does not stand in the file.
            shows = piece.role is Role.RESULT and not piece.failed
            file = files.get(piece.call or "") if shows else None
            at = None if file is None else (file, turn.record)
            heard = piece.role in {Role.RESULT, Role.USER}
            for line in shown_lines(piece):
                for kind, literal, said, named in self._lines.read(line):
                    self._note(index, kind, literal, said, read=at, heard=heard, loose=heard and not named)
            if piece.role is Role.CALL:
                self._note(index, "argument", piece.text[:400], piece.field, read=None, heard=False, loose=True)

    def _note(
        self,
        index: int,
        kind: str,
        literal: str,
        said: str,
        *,
        read: tuple[str, int] | None,
        heard: bool,
        loose: bool,
    ) -> None:
        key = (kind, literal, said)
        fact = self.facts.get(key)
        if fact is None:
            fact = self.facts[key] = Fact(kind=kind, literal=literal, first=index)
            if not said:
                self.by_literal.setdefault(literal, fact)
                if HASH.fullmatch(literal):
                    self.hashes[literal[:7].lower()] = literal
        fact.turns.add(index)
        fact.heard = fact.heard or heard
        fact.loose = fact.loose or loose
        if read is not None:
            fact.files[read[0]] = read[1]
