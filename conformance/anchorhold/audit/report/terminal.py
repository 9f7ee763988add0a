"""What a person understands in ten seconds, on a terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from anchorhold.audit.finding import Example
from anchorhold.audit.result import Document, Replay, ranked
from anchorhold.audit.run import Audited

MOST_ROWS = 12
MOST_EXAMPLES = 5


def render(document: Document, audited: list[Audited], console: Console, *, everything: bool = False) -> None:
    """Print the audit."""
    totals = document.totals
    read = sum(not each.error for each in audited)
    console.print(
        f"{_many(read, 'file')}, {_many(document.sessions, 'session')}, {_many(totals['turns'], 'turn')}, "
        f"{_many(totals['compactions'], 'compaction')}  [dim]({document.seconds:.1f} s)[/dim]"
    )
    if not totals["compactions"]:
        console.print("No compaction: nothing was replaced by a summary.")
        _damage(document, console)
        return
    share = 100 * totals["carried"] / totals["facts"] if totals["facts"] else 0.0
    console.print(
        Text.assemble(
            "Of ", (f"{totals['facts']:,}", "bold"), " facts in the replaced turns the summaries carry ",
            (f"{share:.1f} %", "bold"), f"; {totals['reachable']:,} ",
            "can be read again from a file that a summary names; ",
            (f"{totals['lost']:,}", "bold"), " are lost.",
        )
    )  # fmt: skip
    colour = "bold red" if totals["needed_lost"] else "bold yellow" if totals["needed"] else "bold green"
    console.print(
        Text.assemble(
            "The agent then needed ", (f"{totals['needed']:,}", colour), " of them without having them in sight: ",
            (f"{totals['needed_lost']:,} lost", colour), f", {totals['needed_reachable']:,} within reach. ",
            f"It read {totals['reread_tokens']:,} tokens again.",
        )
    )  # fmt: skip
    protected = _many(
        totals["protected_lost"], "standing rule or latest request", "standing rules or latest requests"
    )
    console.print(
        f"{_unsupported(totals)} They turn {_many(totals['flipped'], 'statement')} around, and leave out {protected}."
    )
    _rows(audited, console, everything=everything)
    _examples(audited, console)
    _damage(document, console)


def _unsupported(totals: dict[str, int]) -> str:
    if totals["incomplete"] == totals["compactions"]:
        return "What the summaries say beyond the turns is not judged: most of those are not in the file."
    said = f"The summaries say {_many(totals['unsupported'], 'thing')} that the turns do not"
    if totals["incomplete"]:
        said += f" ({_many(totals['incomplete'], 'summary', 'summaries')} not judged: most turns are not in the file)"
    return said + "."


def render_replay(done: Replay, console: Console) -> None:
    """Print what another compactor would have kept."""
    kept = (
        f"\nReplayed through {done.compactor}, with the recorded summaries as its model's replies: "
        f"of {done.needed:,} facts that were needed {done.needed_kept:,} would have stayed in the window "
        f"or been found by its search. The recorded summaries do not carry {done.not_carried:,} paths and "
        f"identifiers; {done.asked:,} of them were asked for (at most {done.asked_at_most} of a compaction), "
        f"{done.asked_kept:,} were there."
    )
    lines = (
        kept,
        f"The window after compaction: {done.window:,} tokens in place of {done.window_recorded:,}.",
        "Compactions ended: " + ", ".join(f"{n} {name}" for name, n in done.outcomes.items()),
    )
    for line in lines:
        console.print(line, markup=False)


def _rows(audited: list[Audited], console: Console, *, everything: bool) -> None:
    findings = [finding for each in audited for finding in each.findings]
    findings.sort(key=lambda f: (-f.needed_lost, -f.needed, -f.unsupported, -f.reread_tokens))
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("session", "at", "facts", "carried", "reach", "lost", "needed", "gone", "unsup.", "re-read"):
        table.add_column(name, justify="left" if name in {"session", "at"} else "right", no_wrap=True)
    for finding in findings if everything else findings[:MOST_ROWS]:
        table.add_row(
            Text(_short(finding.session, 8)), Text(_short(finding.at, 10)), str(sum(finding.facts.values())),
            str(finding.carried), str(finding.reachable), str(finding.lost), str(finding.needed),
            Text(str(finding.needed_lost), style="bold red" if finding.needed_lost else ""),
            "—" if finding.incomplete else str(finding.unsupported), f"{finding.reread_tokens:,}",
        )  # fmt: skip
    console.print()
    console.print(table)
    console.print(
        "[dim]reach: in a file that the summary names · needed: used with nothing in sight that says it · "
        "gone: needed and lost · unsup.: said by the summary alone (—: its turns are not in the file) · "
        "re-read: tokens[/dim]"
    )
    hidden = 0 if everything else len(findings) - MOST_ROWS
    if hidden > 0:
        console.print(f"[dim]… and {_many(hidden, 'compaction')} with less; --all shows them[/dim]")


def _short(name: str, size: int) -> str:
    """The beginning of a name; a placeholder says nothing without its number: `<session 23>` is `<s 23>`."""
    kind, space, number = name.partition(" ")
    return f"{kind[:2]} {number}" if name.startswith("<") and space else name[:size]


def _examples(audited: list[Audited], console: Console) -> None:
    shown: list[Example] = [e for each in audited for f in each.findings for e in ranked(f) if e.what == "needed"]
    shown.sort(key=lambda e: e.fate != "lost")
    if shown:
        console.print()
    for example in shown[:MOST_EXAMPLES]:
        said = f"record {example.said.record}" if example.said else "?"
        used = f"record {example.used.record}" if example.used else "?"
        console.print(
            Text.assemble(
                ("✗ " if example.fate == "lost" else "• ", "bold red" if example.fate == "lost" else "yellow"),
                (example.literal[:90], "bold"),
                f"  {example.kind}: said in {said}, left out, ",
                f"needed in {used} ({example.fate})",
            )
        )  # fmt: skip
    if len(shown) > MOST_EXAMPLES:
        console.print(f"[dim]… and {len(shown) - MOST_EXAMPLES} more; --html FILE shows each side by side[/dim]")


def _damage(document: Document, console: Console) -> None:
    if document.unreadable:
        console.print()
        console.print(f"[dim]Could not be read as it should be ({document.totals['unreadable']}):[/dim]")
        for each in document.unreadable[:6]:
            console.print(
                Text(
                    f"  {each['file']}: {each['count']} × {each['kind']}{each['detail'] and ': '}{each['detail']}",
                    style="dim",
                    no_wrap=True,
                    overflow="ellipsis",
                )
            )
        if len(document.unreadable) > 6:
            console.print(f"[dim]  … and {len(document.unreadable) - 6} more; --json lists them[/dim]")


def _many(count: int, one: str, more: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"
