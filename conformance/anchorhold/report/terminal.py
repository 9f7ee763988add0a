"""The result on a terminal, within 100 columns.

Everything that comes from a compactor passes through `Text`, so that rich reads no markup in it, and through
`visible`, so that the terminal reads no sequences in it.
"""

from collections.abc import Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from anchorhold.report.showing import showing
from anchorhold.report.story import Told, tell
from anchorhold.report.summary import ORDER, Judged, Rung, Summary, Tone, run_words, summarise
from anchorhold.report.text import ascii_only, clip, marked, one_line
from anchorhold.result import ClaimVerdict, FailureResult, Result
from anchorhold.verdict import History, VerdictKind
from anchorhold_spec.catalogue import RULES, Family

WIDTH = 100
MOST_FAILURES = 12
"""Failures told in full; those beyond are counted, and stand in the written report."""
MOST_IDS = 6
"""Ids listed beside a rung; those beyond are counted."""
STDERR_LINES = 12
"""Last lines of the adapter's standard error that are shown where it did not work."""

STYLE = {
    VerdictKind.PASS: "green",
    VerdictKind.FAIL: "bold red",
    VerdictKind.VACUOUS: "cyan",
    VerdictKind.INCONCLUSIVE: "yellow",
    VerdictKind.NOT_OBSERVABLE: "yellow",
    VerdictKind.UNTESTED: "dim",
}
TONE = {Tone.GOOD: "bold green", Tone.OPEN: "bold yellow", Tone.BAD: "bold red"}
MARK = {
    VerdictKind.PASS: "✓",
    VerdictKind.FAIL: "✗",
    VerdictKind.VACUOUS: "∅",
    VerdictKind.INCONCLUSIVE: "?",
    VerdictKind.NOT_OBSERVABLE: "⊘",
    VerdictKind.UNTESTED: "·",
}
MARK_ASCII = {
    VerdictKind.PASS: "+",
    VerdictKind.FAIL: "X",
    VerdictKind.VACUOUS: "0",
    VerdictKind.INCONCLUSIVE: "?",
    VerdictKind.NOT_OBSERVABLE: "/",
    VerdictKind.UNTESTED: ".",
}


def render(result: Result, histories: Mapping[str, History], console: Console) -> None:
    """Print a result.

    `histories`: the history of each failure, by its `history` path; where one is missing the report says so.
    Raises ValueError where the result judges a rule that the catalogue does not have.
    """
    _Page(result, histories, console).print()


class _Page:
    """One printing."""

    def __init__(self, result: Result, histories: Mapping[str, History], console: Console) -> None:
        self._result = result
        self._histories = histories
        self._console = console
        self._ascii = console.options.ascii_only
        self._marks = MARK_ASCII if self._ascii else MARK
        self._summary: Summary = summarise(result)

    def print(self) -> None:
        """Print from the whole to the detail: headline, ladder, rules, failures."""
        self._put(self._headline())
        if self._result.error is not None:
            self._put(*self._stderr())
            return
        ladder = (self._ladder(), Text()) if self._summary.ladder else ()
        self._put(Text(), *ladder, self._families(), self._legend())
        reasons = self._reasons()
        if reasons is not None:
            self._put(Text(), reasons)
        if self._result.claims:
            self._put(Text(), Text(" What is claimed", "bold"), self._claims())
        shown = self._result.failures[:MOST_FAILURES]
        for number, failure in enumerate(shown, start=1):
            self._put(Text(), self._failure(number, failure))
        if len(self._result.failures) > len(shown):
            self._put(Text(f"and {len(self._result.failures) - len(shown)} more failures, in the written report"))

    def _put(self, *parts: RenderableType) -> None:
        self._console.print(Group(*parts), width=min(self._console.width, WIDTH), highlight=False, crop=False)

    def _text(self, text: str, style: str = "") -> Text:
        """Text of any origin on one line."""
        shown = one_line(text)
        return Text(ascii_only(shown) if self._ascii else shown, style)

    def _headline(self) -> Text:
        name = f"{self._result.compactor} {self._result.version}".strip()
        tone = TONE[self._summary.tone]
        return Text.assemble(
            self._text(name, "bold"),
            "  ",
            self._text(self._summary.title, tone),
            "\n",
            self._text(self._summary.sentence),
            " ",
            self._text(f"({run_words(self._result)})", "dim"),
        )

    def _stderr(self) -> Sequence[Text]:
        lines = self._result.stderr.splitlines()[-STDERR_LINES:]
        if not lines:
            return (self._text("The adapter wrote nothing to its standard error.", "dim"),)
        return (
            self._text("The last that the adapter wrote to its standard error:", "dim"),
            *(Text("  ") + self._text(line) for line in lines),
        )

    def _ladder(self) -> Table:
        table = Table.grid(padding=(0, 1))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(ratio=1)
        for rung in reversed(self._summary.ladder):
            mark = self._marks[VerdictKind.PASS] if rung.reached else " "
            style = "green" if rung.reached else "dim"
            table.add_row(Text(f" {mark} {rung.level.number}", style), Text(rung.level.name, style), self._rung(rung))
        return table

    def _rung(self, rung: Rung) -> Text:
        if rung.reached:
            return Text(rung.level.promise, "green")
        if self._result.level is None:
            return Text("no level is given", "dim")
        if not rung.blocked_by:
            return Text("its own rules are held; a level below is not", "dim")
        parts = []
        for kind, rules in rung.blocked_by:
            ids = " ".join(rules) if len(rules) <= MOST_IDS and kind is not VerdictKind.UNTESTED else ""
            words = f"{len(rules)} {_verdict(kind)}" + (f": {ids}" if ids else "")
            parts.append(Text(words, STYLE[kind]))
        return Text("blocked by ", "dim") + Text(", ").join(parts)

    def _families(self) -> Table:
        table = Table.grid(padding=(0, 1))
        table.add_column(no_wrap=True, style="bold")
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        for family, rules in self._summary.families:
            table.add_row(f" {family.id}", self._text(family.title), self._cells(family, rules))
        return table

    def _cells(self, family: Family, rules: tuple[Judged, ...]) -> Text:
        cells = Text()
        for judged in rules:
            number = judged.rule.id.removeprefix(f"{family.id}-")
            cells.append(f" {number}{self._marks[judged.found.verdict]} ", STYLE[judged.found.verdict])
        return cells

    def _legend(self) -> Text:
        counts = dict(self._summary.counts)
        legend = Text(" ")
        for kind in ORDER:
            legend.append(f"{self._marks[kind]} {_verdict(kind)} {counts[kind]}   ", STYLE[kind])
        return legend

    def _reasons(self) -> Table | None:
        """Why a rule that has a checker was neither passed nor failed."""
        told = (VerdictKind.VACUOUS, VerdictKind.INCONCLUSIVE, VerdictKind.NOT_OBSERVABLE)
        table = Table.grid(padding=(0, 1))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(ratio=1)
        for _, rules in self._summary.families:
            for judged in rules:
                kind = judged.found.verdict
                if kind in told:
                    table.add_row(
                        f" {judged.rule.id}", Text(_verdict(kind), STYLE[kind]), self._text(judged.found.reason)
                    )
        return table if table.row_count else None

    def _claims(self) -> Table:
        """Apart from the rules: what the vendor promises, and whether it is so."""
        table = Table.grid(padding=(0, 1))
        table.add_column(no_wrap=True)
        table.add_column()
        table.add_column(ratio=1)
        for claim in self._result.claims:
            kind = OF_CLAIM[claim.verdict]
            mark = Text(f" {self._marks[kind]}", STYLE[kind])
            words = claim.verdict.value.replace("-", " ")
            table.add_row(mark, self._text(claim.claim), self._text(f"{words}: {claim.reason}", STYLE[kind]))
        return table

    def _failure(self, number: int, failure: FailureResult) -> Group:
        rule = RULES[failure.rule]
        head = Text.assemble(
            (f"{self._marks[VerdictKind.FAIL]} {number}  {rule.id}  ", "bold red"), (rule.title, "bold")
        )
        history = self._histories.get(failure.history)
        if history is None:
            steps: RenderableType = self._text(f"the history is not at hand: {failure.history}", "dim")
        else:
            event = showing(history.events, sentence=failure.sentence, event=failure.event)
            steps = self._story(tell(history, fact=failure.fact, event=event), failure)
        return Group(
            head,
            Padding(self._text(failure.sentence), (0, 0, 0, 5)),
            *self._known(rule.id),
            Padding(steps, (1, 0, 1, 2)),
            self._replay(failure.replay),
        )

    def _known(self, rule: str) -> Sequence[Padding]:
        """That the failure is one of those that the expectations list."""
        why = self._result.expected.get(rule)
        return () if why is None else (Padding(self._text(f"known to fail: {why}", "yellow"), (0, 0, 0, 5)),)

    def _replay(self, command: str) -> Text:
        """On one line, however long the path is: it is there to be copied."""
        line = Text("     replay  ", "dim") + self._text(command, "bold")
        line.no_wrap, line.overflow = True, "ignore"
        return line

    def _story(self, lines: Sequence[Told], failure: FailureResult) -> Table:
        table = Table.grid(padding=(0, 1))
        table.add_column(no_wrap=True, justify="right", style="dim", min_width=6)
        table.add_column(ratio=1)
        room = min(self._console.width, WIDTH) - 12
        for told in lines:
            number = str(told.first) if told.first == told.last else f"{told.first}-{told.last}"
            table.add_row(number, self._clipped(told.text, failure.fact, 2 * room))
            for remark in told.remarks:
                arrow = "->" if self._ascii else "→"
                mark = self._marks[VerdictKind.FAIL] if remark.failing else arrow
                style = "red" if remark.failing else "dim"
                line = self._clipped(remark.text, failure.fact, 2 * room, style)
                if remark.failing:
                    line.append(f"  ({failure.rule} is broken here)", "bold")
                table.add_row(Text(mark, style), line)
        return table

    def _clipped(self, text: str, fact: str, width: int, style: str = "") -> Text:
        """One line of a story, with the fact marked where it stands."""
        shown, wanted = one_line(text), one_line(fact)
        line = Text(style=style)
        for piece in marked(clip(shown, width, around=wanted), wanted):
            words = ascii_only(piece.text) if self._ascii else piece.text
            line.append(words, "bold underline" if piece.marked else "")
        return line


OF_CLAIM = {
    ClaimVerdict.BORNE_OUT: VerdictKind.PASS,
    ClaimVerdict.BROKEN: VerdictKind.FAIL,
    ClaimVerdict.UNDECIDED: VerdictKind.INCONCLUSIVE,
}
"""Marks and colours of claims are those of the verdicts that they resemble."""


def _verdict(kind: VerdictKind) -> str:
    return "failed" if kind is VerdictKind.FAIL else kind.value.replace("-", " ")
