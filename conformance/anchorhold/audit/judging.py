"""One session, turn by turn: what each compaction replaced, and what the agent needed of it afterwards."""

import re

from anchorhold.audit import claims
from anchorhold.audit.dropped import Dropped
from anchorhold.audit.facts import Lines, Table, readable
from anchorhold.audit.finding import Example, Fate, Finding, Place
from anchorhold.audit.model import Compaction, Piece, Role, Turn
from anchorhold.audit.reach import Files, Reach
from anchorhold.audit.view import View
from anchorhold.audit.watch import Watch
from anchorhold_reference.extract import mentions

MOST_SEGMENT = 12 << 20
"""Characters between two compactions that are held: more than any model's window."""
MOST_RECORDED = 2 << 20
"""Characters that the harness wrote down beside those turns, each different line once."""
SHOWN_SUMMARY = 6_000
"""Characters of a summary that reports show."""
COMPLETE = 0.2
"""Share of the tokens that the harness counted which must be in the file for the summary to be judged by it."""
INSTRUCTIONS = re.compile(r"(?:^|/)(?:CLAUDE|AGENTS|GEMINI|CONVENTIONS|\.cursorrules)(?:\.local)?(?:\.md)?$")
_STATED = re.compile(r"<system-reminder>.*(?:claudeMd|CLAUDE\.md|AGENTS\.md)", re.DOTALL)


class SessionAudit:
    """One session. Feed it events in order, then `close` it."""

    def __init__(self, lines: Lines) -> None:
        """Start before the first turn."""
        self._lines = lines
        self._turns: list[Turn] = []
        self._size = 0
        self._recorded_size = 0
        self._recorded: dict[str, None] = {}
        self._files = Files()
        self._dropped = Dropped()
        self._heard: set[str] = set()
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
        if turn.recorded:
            self._record(turn.recorded)
        self._files.follow(turn)
        turn = self._stated(turn)
        if self._watch is not None:
            self._watch.follow(turn)
        self._turns.append(turn)
        self._size += sum(len(piece.text) for piece in turn.pieces)
        while self._size > MOST_SEGMENT and len(self._turns) > 1:
            gone = self._turns.pop(0)
            self._size -= sum(len(piece.text) for piece in gone.pieces)
            self.left_out += 1

    def _record(self, recorded: tuple[str, ...]) -> None:
        """Keep what the harness wrote down beside a turn. It repeats whole files: each line once."""
        for text in recorded:
            for line in text.split("\n"):
                if line not in self._recorded and self._recorded_size < MOST_RECORDED:
                    self._recorded[line] = None
                    self._recorded_size += len(line)

    def _stated(self, turn: Turn) -> Turn:
        """Project instructions are always in sight, however they came in."""
        pieces = []
        for piece in turn.pieces:
            always = piece.role is Role.SYSTEM
            if piece.role is Role.RESULT:
                always = INSTRUCTIONS.search(self._files.calls.get(piece.call or "", "")) is not None
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
        return turn if tuple(pieces) == turn.pieces and not turn.recorded else _with(turn, tuple(pieces))

    def compaction(self, compaction: Compaction) -> None:
        """A compaction: judge it against the turns since the last one."""
        if self._watch is not None:
            self._watch.close()
            self._watch.pass_on()
            self.findings.append(self._watch.settled())
        replaced, kept = self._split(compaction)
        self._generation += 1
        self._watch = self._judge(compaction, replaced, kept)
        self._turns = list(kept)
        self._size = sum(len(piece.text) for turn in kept for piece in turn.pieces)
        self._recorded, self._recorded_size = {}, 0
        self._before = compaction

    def close(self) -> list[Finding]:
        """The session has ended: what was found."""
        if self._watch is not None:
            self.findings.append(self._watch.settled())
            self._watch = None
        self._turns, self._recorded, self._dropped = [], {}, Dropped()
        return self.findings

    def before(self) -> Turn | None:
        """The summary that stands where earlier turns stood: the next compaction replaces it, too."""
        if self._before is None:
            return None
        said = Piece(role=Role.ASSISTANT, text=self._before.summary, field=self._before.field)
        return Turn(session=self._before.session, record=self._before.summary_record, pieces=(said,), counted=False)

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

    def _judge(self, compaction: Compaction, turns: list[Turn], kept: list[Turn]) -> Watch:
        context = tuple(self._context)
        table = Table(self._lines)
        said = View(context=context)
        before = self.before()
        replaced = turns if before is None else [before, *turns]
        for index, turn in enumerate(replaced):
            table.add(index, turn, files=self._files.calls)
            for piece in turn.pieces:
                said.add(piece.text)
        for fact in table.facts.values():
            # What was heard once stays heard, though by now only the agent or a summary repeats it.
            if not fact.heard and (fact.literal in self._heard or fact.literal in self._dropped):
                fact.heard = fact.loose = True
        view = View(context=context)
        for text in (
            *self._standing,
            compaction.summary,
            *(p.text for t in kept for p in t.pieces if p.role is not Role.THINKING),
        ):
            view.add(text)
        for text in (*self._standing, *(p.text for t in kept for p in t.pieces)):
            said.add(text)
        size = sum(len(piece.text) for turn in replaced for piece in turn.pieces if piece.role is not Role.THINKING)
        finding = Finding(
            session=compaction.session,
            at=compaction.time or f"record {compaction.record}",
            record=compaction.record,
            summary_record=compaction.summary_record,
            generation=self._generation,
            trigger=compaction.trigger,
            replaced=len(turns),
            first_record=turns[0].record if turns else compaction.record,
            summary_text=compaction.summary.strip()[:SHOWN_SUMMARY],
            summary_tokens=-(-len(compaction.summary.strip()) // 4),
            replaced_tokens=-(-size // 4),
            # Nothing before it in the file: what it says beyond that cannot be told from inventions.
            incomplete=not turns
            or (compaction.tokens_before is not None and size / 4 < COMPLETE * compaction.tokens_before),
        )
        reach = Reach(compaction, self._files, context)
        fates = self._fates(finding, compaction, table, reach)
        if not finding.incomplete:
            recorded = View()
            recorded.add("\n".join(self._recorded))
            times = tuple(turn.time for turn in turns if turn.time)
            for example in claims.unsupported(compaction, said, recorded=recorded, times=times):
                finding.unsupported += 1
                finding.examples.append(example)
        for example in claims.flipped(compaction, replaced):
            finding.flipped += 1
            finding.examples.append(example)
        for example in claims.unprotected(compaction, turns, kept):
            finding.protected_lost += 1
            finding.examples.append(example)
        self._drift(finding, compaction, view)
        self._heard = {f.literal for f in table.facts.values() if f.heard and fates.get(id(f)) is Fate.CARRIED}
        return Watch(
            finding, table=table, replaced=replaced, view=view, fates=fates, reach=reach, dropped=self._dropped
        )

    def _fates(self, finding: Finding, compaction: Compaction, table: Table, reach: Reach) -> dict[int, Fate]:
        """Count every fact once: carried, reachable or lost. What is always in sight is none of them."""
        summary, always = View(), View(context=tuple(self._context))
        summary.add(compaction.summary)
        for text in self._standing:
            always.add(text)
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
            elif reach.of(fact.files):
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


def _with(turn: Turn, pieces: tuple[Piece, ...]) -> Turn:
    return Turn(
        session=turn.session, record=turn.record, pieces=pieces, time=turn.time, human=turn.human,
        context=turn.context, counted=turn.counted,
    )  # fmt: skip
