"""One session, turn by turn: what each compaction replaced, and what the agent needed of it afterwards."""

import re
from collections.abc import Iterable

from anchorhold.audit import claims
from anchorhold.audit.facts import Fact, Lines, Table, named, readable, shown_lines
from anchorhold.audit.finding import Example, Fate, Finding, Place
from anchorhold.audit.general import code_name, known, placeholder, prose
from anchorhold.audit.model import Compaction, Piece, Role, Turn
from anchorhold.audit.view import View
from anchorhold_reference.extract import mentions

MOST_SEGMENT = 12 << 20
"""Characters between two compactions that are held: more than any model's window."""
MOST_WATCHED = 4 << 20
"""Characters after a compaction in which needs are looked for."""
COPIED = 80
"""Characters that nobody repeats from memory: whoever does has the text in sight."""
AGENTS = frozenset({Role.CALL, Role.ASSISTANT, Role.THINKING})
"""What the agent writes: a copy tells that it had the text in sight, wherever it stands."""
SHOWN_SUMMARY = 6_000
"""Characters of a summary that reports show."""
COMPLETE = 0.2
"""Share of the tokens that the harness counted which must be in the file for the summary to be judged by it."""
INSTRUCTIONS = re.compile(r"(?:^|/)(?:CLAUDE|AGENTS|GEMINI|CONVENTIONS|\.cursorrules)(?:\.local)?(?:\.md)?$")
_OFFERED = re.compile(r"[a-z]+(?:_[a-z]+)*")
_STATED = re.compile(r"<system-reminder>.*(?:claudeMd|CLAUDE\.md|AGENTS\.md)", re.DOTALL)


class Watch:
    """The turns after one compaction: what of the replaced ones the agent uses before it sees it again."""

    def __init__(
        self,
        finding: Finding,
        compaction: Compaction,
        table: Table,
        replaced: list[Turn],
        view: View,
        fates: dict[int, Fate],
    ) -> None:
        """Start right after the compaction."""
        self.finding = finding
        self._compaction, self._table, self._replaced = compaction, table, replaced
        self._view, self._fates = view, fates
        self._settled: set[str] = set()
        self._uses: list[tuple[Fact, Example]] = []
        self._copied: set[int] = set()
        self._known_lines: dict[str, list[int]] = {}
        for index, turn in enumerate(replaced):
            for piece in turn.pieces:
                if piece.role is not Role.THINKING and not piece.addresses:
                    for line in shown_lines(piece):
                        if len(line) >= 12:
                            self._known_lines.setdefault(line, []).append(index)
        self._again: set[str] = set()
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
        for mention in named(piece.text):
            if mention.literal in self._settled or mention.kind not in {"path", "identifier", "entity"}:
                continue
            fact = self._fact(mention.literal, mention.kind)
            if fact is None or not needable(fact) or _chosen(piece, mention.literal):
                continue
            self._settled.add(mention.literal)
            if self._view.derives(fact.literal, fact.kind):
                continue
            source = self._replaced[max(fact.turns)]
            self._uses.append(
                (
                    fact,
                    Example(
                        what="needed",
                        kind=fact.kind,
                        literal=fact.literal,
                        fate=self._fates.get(id(fact), Fate.LOST),
                        said=where(source, fact.literal),
                        used=claims.place(turn.record, piece.field, piece.text, mention.start, mention.end),
                    ),
                )
            )

    def _fact(self, literal: str, kind: str) -> Fact | None:
        """The fact that it speaks of. One path is one fact, written from the root or from the working directory."""
        fact = self._table.by_literal.get(literal)
        if fact is not None or kind != "path":
            return fact
        for here in self._view.directories:
            spelled = literal.removeprefix(here) if literal.startswith(here) else here + literal.removeprefix("./")
            fact = self._table.by_literal.get(spelled)
            if fact is not None:
                return fact
        return None

    def _copies(self, piece: Piece) -> None:
        """Whether a replaced turn is copied so closely that the agent must have had it in sight."""
        if len(piece.text) < COPIED:
            return
        runs: dict[int, tuple[int, int, bool]] = {}
        for line in shown_lines(piece):
            if len(line) < 12:
                continue
            fresh = line not in self._again
            before, runs = runs, {}
            for index in self._known_lines.get(line, ()):
                size, count, new = before.get(index, (0, 0, False))
                runs[index] = size + len(line), count + 1, new or fresh
            # One line may be a commonplace; several in a row are not. One of them must not be in sight otherwise.
            self._copied.update(i for i, (size, count, new) in runs.items() if size >= COPIED and count > 1 and new)

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

    def _shown_again(self, fact: Fact) -> bool:
        """Whether it stands in what the agent was found to have in sight: contents of files, not their names."""
        return any(
            fact.literal in piece.text
            for index in fact.turns & self._copied
            for piece in self._replaced[index].pieces
            if piece.role is not Role.CALL or not piece.addresses
        )

    def close(self) -> Finding:
        """No more turns come."""
        if self.open:
            self.open = False
            finding = self.finding
            finding.restored = len(self._copied)
            for fact, example in self._uses:
                if self._shown_again(fact):
                    continue
                finding.needed += 1
                finding.needed_lost += example.fate is Fate.LOST
                finding.examples.append(example)
            self._known_lines, self._again, self._replaced = {}, set(), []
        return self.finding


def needable(fact: Fact) -> bool:
    """Whether a fact is one that an agent may need from its transcript, and nowhere else has."""
    if known(fact.literal, fact.kind) or placeholder(fact.literal):
        return False
    if fact.kind == "path":
        return "/" in fact.literal and not prose(fact.literal)
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


def where(turn: Turn, words: str) -> Place:
    """Where a turn says something."""
    for piece in turn.pieces:
        at = piece.text.find(words)
        if at >= 0:
            return claims.place(turn.record, piece.field, piece.text, at, at + len(words))
    return Place(record=turn.record)


class SessionAudit:
    """One session. Feed it events in order, then `close` it."""

    def __init__(self, lines: Lines) -> None:
        """Start before the first turn."""
        self._lines = lines
        self._turns: list[Turn] = []
        self._size = 0
        self._files: dict[str, str] = {}
        self._context: dict[str, None] = {}
        self._standing: list[str] = []
        self._before: Compaction | None = None
        self._watch: Watch | None = None
        self._generation = 0
        self.left_out = 0
        self.findings: list[Finding] = []

    def turn(self, turn: Turn) -> None:
        """A turn."""
        self._context.update(dict.fromkeys(turn.context))
        turn = self._stated(turn)
        if self._watch is not None:
            self._watch.follow(turn)
        self._turns.append(turn)
        self._size += sum(len(piece.text) for piece in turn.pieces)
        for piece in turn.pieces:
            if piece.addresses and piece.call:
                self._files[piece.call] = piece.text
        while self._size > MOST_SEGMENT and len(self._turns) > 1:
            gone = self._turns.pop(0)
            self._size -= sum(len(piece.text) for piece in gone.pieces)
            self.left_out += 1

    def _stated(self, turn: Turn) -> Turn:
        """Project instructions are always in sight, however they came in."""
        pieces = []
        for piece in turn.pieces:
            always = piece.role is Role.SYSTEM
            if piece.role is Role.RESULT:
                always = INSTRUCTIONS.search(self._files.get(piece.call or "", "")) is not None
            elif piece.role is Role.USER:
                always = _STATED.match(piece.text.lstrip()) is not None
            if always:
                if sum(map(len, self._standing)) < 1 << 20 and piece.text not in self._standing:
                    self._standing.append(piece.text)
                pieces.append(
                    Piece(role=Role.SYSTEM, text=piece.text, field=piece.field, tool=piece.tool, call=piece.call)
                )
            else:
                pieces.append(piece)
        return turn if tuple(pieces) == turn.pieces else _with(turn, tuple(pieces))

    def compaction(self, compaction: Compaction) -> None:
        """A compaction: judge it against the turns since the last one."""
        if self._watch is not None:
            self.findings.append(self._watch.close())
        replaced, kept = self._split(compaction)
        self._generation += 1
        self._watch = self._judge(compaction, replaced, kept)
        self._turns = list(kept)
        self._size = sum(len(piece.text) for turn in kept for piece in turn.pieces)
        self._before = compaction

    def close(self) -> list[Finding]:
        """The session has ended: what was found."""
        if self._watch is not None:
            self.findings.append(self._watch.close())
            self._watch = None
        self._turns = []
        return self.findings

    def _split(self, compaction: Compaction) -> tuple[list[Turn], list[Turn]]:
        if compaction.left:
            self._turns = [t for t in self._turns if t.record not in compaction.left]
        if compaction.covers is not None:
            covers = compaction.covers
            return [t for t in self._turns if t.record in covers], [t for t in self._turns if t.record not in covers]
        if compaction.kept_from is None:
            return self._turns, []
        at = next((i for i, t in enumerate(self._turns) if t.record >= compaction.kept_from), len(self._turns))
        return self._turns[:at], self._turns[at:]

    def _judge(self, compaction: Compaction, replaced: list[Turn], kept: list[Turn]) -> Watch:
        context = tuple(self._context)
        table = Table(self._lines)
        said = View(context=context)
        for index, turn in enumerate(replaced):
            table.add(index, turn, files=self._files)
            for piece in turn.pieces:
                said.add(piece.text)
        view = View(context=context)
        for text in (
            *self._standing,
            compaction.summary,
            *(p.text for t in kept for p in t.pieces if p.role is not Role.THINKING),
        ):
            view.add(text)
        for text in (*self._standing, *(p.text for t in kept for p in t.pieces)):
            said.add(text)
        if self._before is not None:
            said.add(self._before.summary)
        size = sum(len(piece.text) for turn in replaced for piece in turn.pieces if piece.role is not Role.THINKING)
        finding = Finding(
            session=compaction.session,
            at=compaction.time or f"record {compaction.record}",
            record=compaction.record,
            summary_record=compaction.summary_record,
            generation=self._generation,
            trigger=compaction.trigger,
            replaced=len(replaced),
            first_record=replaced[0].record if replaced else compaction.record,
            summary_text=compaction.summary.strip()[:SHOWN_SUMMARY],
            summary_tokens=-(-len(compaction.summary.strip()) // 4),
            replaced_tokens=-(-size // 4),
            incomplete=compaction.tokens_before is not None and size / 4 < COMPLETE * compaction.tokens_before,
        )
        fates = self._fates(finding, compaction, table, context)
        if not finding.incomplete:
            for example in claims.unsupported(compaction, said):
                finding.unsupported += 1
                finding.examples.append(example)
        for example in claims.flipped(compaction, replaced):
            finding.flipped += 1
            finding.examples.append(example)
        for example in claims.unprotected(compaction, replaced, kept):
            finding.protected_lost += 1
            finding.examples.append(example)
        self._drift(finding, compaction, view)
        return Watch(finding, compaction, table, replaced, view, fates)

    def _fates(
        self, finding: Finding, compaction: Compaction, table: Table, context: tuple[str, ...]
    ) -> dict[int, Fate]:
        """Count every fact once: carried, reachable or lost. What is always in sight is none of them."""
        summary, always = View(), View(context=context)
        summary.add(compaction.summary)
        for text in self._standing:
            always.add(text)
        named = {file: names_file(summary, file, context) for file in set(self._files.values())}
        carried: dict[str, bool] = {}
        fates: dict[int, Fate] = {}
        for (_, _, said), fact in table.facts.items():
            if fact.kind not in {"argument", "number"} and always.has(fact.literal):
                continue
            finding.facts[fact.kind] = finding.facts.get(fact.kind, 0) + 1
            # "30" stands everywhere: a number that tells little by itself is carried with its sentence only.
            words = said if fact.kind == "number" and not claims.telling(fact.literal) else fact.literal
            if words not in carried:
                carried[words] = summary.has(words)
            if carried[words]:
                finding.carried += 1
                fates[id(fact)] = Fate.CARRIED
            elif compaction.transcript or any(named.get(file) for file in fact.files):
                finding.reachable += 1
                fates[id(fact)] = Fate.REACHABLE
            else:
                finding.lost += 1
                fates[id(fact)] = Fate.LOST
        return fates

    def _drift(self, finding: Finding, compaction: Compaction, view: View) -> None:
        """What the summary before said, and this one no longer does."""
        if self._before is None or not readable(self._before.summary):
            return
        seen: set[str] = set()
        for mention in mentions(self._before.summary):
            if mention.literal in seen or not claims.verifiable(mention):
                continue
            seen.add(mention.literal)
            if not view.derives(mention.literal, mention.kind):
                finding.drifted += 1
                if finding.drifted <= 5:
                    finding.examples.append(
                        Example(
                            what="drifted", kind=mention.kind, literal=mention.literal,
                            said=claims.place(
                                self._before.summary_record, self._before.field, self._before.summary,
                                mention.start, mention.end,
                            ),
                            summary=Place(record=compaction.summary_record),
                        )
                    )  # fmt: skip


def names_file(summary: View, file: str, context: Iterable[str]) -> bool:
    """Whether the summary names a file, from the root or from the working directory."""
    if summary.has(file):
        return True
    for here in context:
        if here.startswith("/") and file.startswith(here.rstrip("/") + "/"):
            return summary.has(file[len(here.rstrip("/")) + 1 :])
    return False


def _with(turn: Turn, pieces: tuple[Piece, ...]) -> Turn:
    return Turn(
        session=turn.session, record=turn.record, pieces=pieces, time=turn.time, human=turn.human,
        context=turn.context, counted=turn.counted,
    )  # fmt: skip
