"""The turns after a compaction: what of the replaced ones the agent uses before it sees it again."""

import re
from collections.abc import Iterator

from anchorhold.audit import claims, shell
from anchorhold.audit.dropped import MOST_AROUND, Drop, Dropped
from anchorhold.audit.facts import SHORT_HASH, Fact, Table, named, readable, shown_lines
from anchorhold.audit.finding import Example, Fate, Finding, Place
from anchorhold.audit.general import code_name, known, placeholder, prose
from anchorhold.audit.model import Piece, Role, Turn
from anchorhold.audit.reach import Reach
from anchorhold.audit.view import View

MOST_WATCHED = 4 << 20
"""Characters after a compaction in which needs are looked for."""
COPIED = 80
"""Characters that nobody repeats from memory: whoever does has the text in sight."""
AGENTS = frozenset({Role.CALL, Role.ASSISTANT, Role.THINKING})
"""What the agent writes: a copy tells that it had the text in sight, wherever it stands."""
_OFFERED = re.compile(r"[a-z]+(?:_[a-z]+)*")
_VERSION = re.compile(r"(?<=[@=])v?\d+\.\d+\.\d+[\w.+-]*$")
_LEAST_LINE = 12
"""Characters of a line that is told by itself."""


class Watch:
    """The turns after one compaction: what of the replaced ones the agent uses before it sees it again."""

    def __init__(
        self,
        finding: Finding,
        *,
        table: Table,
        replaced: list[Turn],
        view: View,
        fates: dict[int, Fate],
        reach: Reach,
        dropped: Dropped,
    ) -> None:
        """Start right after the compaction; `dropped` is what earlier ones dropped."""
        self.finding = finding
        self._table, self._replaced = table, replaced
        self._view, self._fates, self._reach, self._dropped = view, fates, reach, dropped
        self._settled: set[str] = set()
        self._uses: list[tuple[Fact | Drop, Example]] = []
        self._copied: set[int] = set()
        self._known_lines: dict[str, list[int]] = {}
        for index, turn in enumerate(replaced):
            for piece in turn.pieces:
                if piece.role is not Role.THINKING and not piece.addresses:
                    for line in shown_lines(piece):
                        if len(line) >= _LEAST_LINE:
                            self._known_lines.setdefault(line, []).append(index)
        # What the summary and the kept turns still have in full is not read "again".
        self._again = {line for line in view.lines() if line in self._known_lines}
        self.open = True

    def follow(self, turn: Turn) -> None:
        """The next turn."""
        if not self.open:
            return
        self.finding.watched += 1
        for piece in turn.pieces:
            if piece.role in AGENTS and not piece.addresses:
                self._copies(piece)
            if piece.role is Role.ASSISTANT or (piece.role is Role.CALL and not piece.product):
                self._needs(turn, piece)
            elif piece.role is Role.RESULT:
                self._reread(turn, piece)
            if piece.role is not Role.THINKING:
                self._view.add(piece.text)
                for line in shown_lines(piece):
                    if line in self._known_lines:
                        self._again.add(line)
        if self._view.size > MOST_WATCHED:
            self.close()

    def _needs(self, turn: Turn, piece: Piece) -> None:
        if len(piece.text) > 100_000 or not readable(piece.text):
            return
        command = piece.role is Role.CALL and piece.field.rpartition("/")[2] in shell.COMMANDS
        written = shell.products(piece.text) if command else []
        for literal, kind, start, end in _uses(piece.text):
            if literal in self._settled or any(low <= start and end <= high for low, high in written):
                continue
            fact = self._fact(literal, kind)
            if fact is None or _chosen(piece, literal) or (isinstance(fact, Fact) and not needable(fact)):
                continue
            self._settled.add(literal)
            if self._view.derives(fact.literal, fact.kind) or (
                literal != fact.literal and self._view.derives(literal, kind)
            ):
                continue
            used = claims.place(turn.record, piece.field, piece.text, start, end)
            self._uses.append((fact, self._example(fact, used)))

    def _example(self, fact: Fact | Drop, used: Place) -> Example:
        if isinstance(fact, Drop):
            # What the summary in sight leads to decides, not the one that dropped it.
            fate = Fate.REACHABLE if self._reach.of(dict(fact.files)) else Fate.LOST
            said = fact.said
        else:
            fate = self._fates.get(id(fact), Fate.LOST)
            said = where(self._replaced[max(fact.turns)], fact.literal)
        return Example(
            what="needed", kind=fact.kind, literal=fact.literal, fate=fate, said=said, used=used,
            later=isinstance(fact, Drop),
        )  # fmt: skip

    def _fact(self, literal: str, kind: str) -> Fact | Drop | None:
        """The fact that it speaks of: one that this compaction dropped, or else an earlier one.

        One path is one fact, written from the root or from the working directory; a hash is one fact, in full or as
        its beginning.
        """
        for spelled in self._spellings(literal, kind):
            fact = self._table.by_literal.get(spelled) or self._dropped.get(spelled)
            if fact is not None:
                return fact
        return None

    def _spellings(self, literal: str, kind: str) -> Iterator[str]:
        yield literal
        if kind == "path":
            for here in self._view.directories:
                yield literal.removeprefix(here) if literal.startswith(here) else here + literal.removeprefix("./")
        elif SHORT_HASH.fullmatch(literal):
            for hashes in (self._table.hashes, self._dropped.hashes):
                whole = hashes.get(literal[:7].lower(), "")
                if whole.lower().startswith(literal.lower()):
                    yield whole

    def _copies(self, piece: Piece) -> None:
        """Whether a replaced turn is copied so closely that the agent must have had it in sight."""
        if len(piece.text) < COPIED:
            return
        runs: dict[int, tuple[int, int, bool]] = {}
        for line in shown_lines(piece):
            if len(line) < _LEAST_LINE:
                continue
            fresh = line not in self._again
            before, runs = runs, {}
            for index in self._having(line):
                size, count, new = before.get(index, (0, 0, False))
                runs[index] = size + len(line), count + 1, new or fresh
            # One line may be a commonplace; several in a row are not. One of them must not be in sight otherwise.
            self._copied.update(i for i, (size, count, new) in runs.items() if size >= COPIED and count > 1 and new)

    def _having(self, line: str) -> list[int]:
        """Who had a line: indexes of replaced turns, and `-1 - record` for a turn that was replaced earlier."""
        if line in self._known_lines:
            return self._known_lines[line]
        record = self._dropped.had(line)
        return [] if record is None else [-1 - record]

    def _reread(self, turn: Turn, piece: Piece) -> None:
        """Work repeated to get back what the replaced turns had."""
        back = [line for line in shown_lines(piece) if line in self._known_lines and line not in self._again]
        size = sum(map(len, back))
        if size < COPIED:
            return
        tokens = -(-size // 4)
        self.finding.reread_tokens += tokens
        self.finding.reread_turns += 2
        if sum(e.what == "re-read" for e in self.finding.examples) < 5:
            source = self._replaced[self._known_lines[back[0]][-1]]
            self.finding.examples.append(
                Example(
                    what="re-read", kind=piece.tool or "result", literal=back[0][:120], tokens=tokens,
                    said=where(source, back[0]),
                    used=Place(record=turn.record, field=piece.field, excerpt=back[0][:200]),
                )
            )  # fmt: skip

    def _shown_again(self, fact: Fact | Drop) -> bool:
        """Whether it stands in what the agent was found to have in sight: contents of files, not their names."""
        if isinstance(fact, Drop):
            return any(-1 - record in self._copied for record in fact.records)
        return any(
            fact.literal in piece.text
            for index in fact.turns & self._copied
            for piece in self._replaced[index].pieces
            if piece.role is not Role.CALL or not piece.addresses
        )

    def close(self) -> None:
        """No more turns come: settle the needs, each with the compaction that dropped what was needed."""
        if not self.open:
            return
        self.open = False
        self.finding.restored = len(self._copied)
        for fact, example in self._uses:
            if self._shown_again(fact):
                continue
            finding = fact.finding if isinstance(fact, Drop) else self.finding
            finding.needed += 1
            finding.needed_lost += example.fate is Fate.LOST
            finding.examples.append(example)

    def pass_on(self) -> None:
        """Hand what this compaction dropped to the ledger, for the next one. Only after `close`."""
        for fact in self._table.by_literal.values():
            if fact.kind not in {"path", "identifier", "entity"} or not needable(fact):
                continue
            if self._fates.get(id(fact), Fate.CARRIED) is Fate.CARRIED:
                self._dropped.carried(fact.literal)
            elif not self._shown_again(fact):
                said = where(self._replaced[max(fact.turns)], fact.literal, around=MOST_AROUND // 2)
                records = tuple(self._replaced[index].record for index in sorted(fact.turns)[-4:])
                self._dropped.put(
                    Drop(fact.kind, fact.literal, tuple(fact.files.items()), said, records, self.finding)
                )
        self._dropped.shown((line, self._replaced[held[-1]].record) for line, held in self._known_lines.items())

    def settled(self) -> Finding:
        """The finding, when nothing more will be asked of this watch; its texts are let go."""
        self.close()
        self._known_lines, self._again, self._replaced = {}, set(), []
        return self.finding


def _uses(text: str) -> Iterator[tuple[str, str, int, int]]:
    """What a text uses: literal, kind, start and end. A version behind a package's name is one by itself, too."""
    for mention in named(text):
        if mention.kind in {"path", "identifier", "entity"}:
            yield mention.literal, mention.kind, mention.start, mention.end
            version = _VERSION.search(mention.literal)
            if version is not None:
                yield version.group(), "identifier", mention.start + version.start(), mention.end


def needable(fact: Fact) -> bool:
    """Whether a fact is one that an agent may need from its transcript, and nowhere else has."""
    if known(fact.literal, fact.kind) or placeholder(fact.literal):
        return False
    if fact.kind == "path":
        return ("/" in fact.literal or "\\" in fact.literal) and not prose(fact.literal)
    # What only the agent itself ever said it knows; names of fields are the service's, not the session's.
    if not fact.heard or not fact.loose:
        return False
    return fact.kind == "identifier" or code_name(fact.literal)


def _chosen(piece: Piece, literal: str) -> bool:
    """Whether it is one of the values that a tool offers: a word that is the whole argument."""
    return (
        piece.role is Role.CALL
        and piece.text == literal
        and _OFFERED.fullmatch(literal) is not None
        and piece.field.rpartition("/")[2] not in {"pattern", "query", "regex", "glob", "command", "symbol", "name"}
    )


def where(turn: Turn, words: str, *, around: int = 100) -> Place:
    """Where a turn says something, with so many characters around it on each side."""
    for piece in turn.pieces:
        at = piece.text.find(words)
        if at >= 0:
            return claims.place(turn.record, piece.field, piece.text, at, at + len(words), around=around)
    return Place(record=turn.record)
