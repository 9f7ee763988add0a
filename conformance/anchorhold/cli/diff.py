"""`anchorhold diff`: compare two results."""

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console, Group
from rich.padding import Padding
from rich.text import Text

from anchorhold.cli.places import usage
from anchorhold.diff import Change, Diff, RuleChange, Side, compare
from anchorhold.level import ExitStatus
from anchorhold.report.text import ascii_only, one_line
from anchorhold.result import Result, decode
from anchorhold.verdict import VerdictKind

WIDTH = 80
MOST_REASON = 150
"""Characters of a reason that are told: two lines."""
HEADINGS = {
    Change.WORSE: ("worse", "bold red"),
    Change.UNDECIDED: ("no longer decided", "yellow"),
    Change.GONE: ("no longer there", "yellow"),
    Change.NEW: ("newly judged", "bold"),
    Change.BETTER: ("better", "green"),
    Change.OTHER: ("another verdict, of the same worth", "dim"),
}
"""In the order in which they are told."""


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="result.json of the run before.", show_default=False)],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="result.json of this run.", show_default=False)],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON document alone on standard output.")
    ] = False,
) -> None:
    """Say which rules got worse, better, undecided or new from one result to the next.

    Ends with 1 where a rule or the level got worse, 0 where none did, 2 where a file is no result.
    """
    found = compare(_read(old), _read(new))
    if as_json:
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
        sys.stdout.buffer.flush()
    else:
        render(found, Console(highlight=False))
    raise typer.Exit(ExitStatus.FAILED if found.worse else ExitStatus.HELD)


def render(found: Diff, console: Console) -> None:
    """Print within 80 columns; text of a compactor reaches neither rich's markup nor the terminal's sequences."""
    plain = console.options.ascii_only
    arrow = "->" if plain else "→"

    def shown(text: str, style: str = "") -> Text:
        line = one_line(text)
        return Text(ascii_only(line) if plain else line, style)

    parts: list[Text | Padding] = [
        shown(f"{_side(found.before)}  {arrow}  {_side(found.after)}", "bold"),
        *(shown(f"note: {each}", "yellow") for each in found.warnings),
        *(shown(f"{side.compactor}: no verdict, {side.error}", "red") for side in _broken(found)),
    ]
    for change, (heading, style) in HEADINGS.items():
        those = [each for each in found.changes if each.change is change]
        if not those:
            continue
        parts += [Text(), Text(f"{heading} ({len(those)})", style)]
        for each in those:
            parts.append(Text(f"  {each.rule:<6} {_verdict(each.before)} {arrow} {_verdict(each.after)}"))
            if change is not Change.OTHER:
                parts.append(Padding(shown(_clipped(each), "dim"), (0, 0, 0, 9)))
            if change is Change.WORSE and each.replay:
                # On one line, however long the path is: it is there to be copied.
                line = Text("         replay  ", "dim") + shown(each.replay)
                line.no_wrap, line.overflow = True, "ignore"
                parts.append(line)
    parts += [Text(), Text(_rest(found), "dim")]
    console.print(Group(*parts), width=min(console.width, WIDTH), highlight=False, crop=False)


def _rest(found: Diff) -> str:
    if _broken(found):
        return "nothing is compared: without verdicts there is nothing that could have changed"
    return f"{found.same} rules as before" if found.changes else "every rule as before"


def _side(side: Side) -> str:
    level = "no verdict" if side.error else f"level {side.level}" if side.level else "no level"
    return f"{side.compactor} {side.version}".strip() + f" ({level})"


def _broken(found: Diff) -> list[Side]:
    return [side for side in (found.before, found.after) if side.error]


def _verdict(kind: VerdictKind | None) -> str:
    return "not there" if kind is None else kind.value.replace("-", " ")


def _clipped(each: RuleChange) -> str:
    line = one_line(each.reason)
    return line if len(line) <= MOST_REASON else f"{line[: MOST_REASON - 1]}…"


def _read(path: Path) -> Result:
    try:
        return decode(path.read_bytes())
    except OSError as error:
        usage(f"{path}: {error.strerror or error}")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        usage(f"{path} is no result of anchorhold check: {error}")
