"""`anchorhold explore --designs`: what the sources claim of designs, beside what is so."""

from __future__ import annotations

import importlib.util
import json as json_format
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

if TYPE_CHECKING:
    from anchorhold_spec.designs import Answer, Answers, Cell, Table

KNOWN, UNKNOWN, USAGE = 0, 1, 2

_SIGN = {"holds": "✓", "breaks": "✗"}


def show(names: Sequence[str], *, as_json: bool) -> NoReturn:
    """Computes the tables of these sources (all, if none is named), prints them and ends the command.

    Exit status: 0 every cell is proved or has a run that breaks it (differing from a source is no failure),
    1 something is not known, 2 usage.
    """
    if importlib.util.find_spec("z3") is None:
        _refuse("the decision tables need Z3 for what holds: pip install 'anchorhold[prove]'")
    from anchorhold_spec.designs import TABLES
    from anchorhold_spec.designs.compute import compute

    if strange := [name for name in names if name not in TABLES]:
        _refuse(f"there is no decision table {', '.join(strange)}; there are {', '.join(TABLES)}")
    chosen = [TABLES[name] for name in dict.fromkeys(names)] or list(TABLES.values())
    console = Console(stderr=as_json)
    found: list[Answers] = []
    with Console(stderr=True).status("designs") as status:
        for answers in compute(chosen, progress=status.update):
            found.append(answers)
            if not as_json:
                console.print(_shown(answers))
    if as_json:
        sys.stdout.write(json_format.dumps(document(found), indent=2, ensure_ascii=False) + "\n")
    raise typer.Exit(KNOWN if all(answers.known for answers in found) else UNKNOWN)


def document(found: Sequence[Answers]) -> dict[str, Any]:
    """The JSON form. Why a cell differs from its source is said in the terminal's form alone."""
    return {"tables": {answers.table.source: [_row(answers.table, row) for row in answers.rows] for answers in found}}


def _row(table: Table, row: Answer) -> dict[str, Any]:
    return {
        **row.switches,
        "rules": {rule: _verdict(cell) for rule, cell in row.cells.items()},
        "source_claims": {
            column.rule: str(row.claims[column.rule][0]) if column.rule in row.claims else None
            for column in table.columns
        },
        "differs": list(row.differs),
    }


def _verdict(cell: Cell) -> str | dict[str, list[str]]:
    from anchorhold_spec.designs import Broken, Proved

    if isinstance(cell, Broken):
        return {"trace": list(cell.trace)}
    return "proved" if isinstance(cell, Proved) else "unknown"


def _refuse(message: str) -> NoReturn:
    Console(stderr=True, soft_wrap=True).print(f"anchorhold explore: {message}", markup=False, highlight=False)
    raise typer.Exit(USAGE)


# In the terminal


def _shown(answers: Answers) -> Group:
    table = answers.table
    heads = table.heads or tuple(answers.rows[0].switches)
    others = _unusual(answers.rows, heads)
    title = f"{table.source}  {table.title}"
    grid = Grid(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for head in heads:
        grid.add_column(head, no_wrap=True)
    if any(others):
        grid.add_column("and", min_width=16)
    for column in table.columns:
        grid.add_column(f"{column.rule}\n{column.asks}", min_width=12)
    for row, other in zip(answers.rows, others, strict=True):
        cells = [_cell(row, column.rule) for column in table.columns]
        grid.add_row(*(row.switches[head] for head in heads), *([other] if any(others) else []), *cells)
    legend = (
        f"✓ proved at every size · ✗ n: broken, in n steps at the shortest · (✓) (✗) (–) what {table.source} says · "
        "≠ it differs"
    )
    return Group(grid, Text(legend, style="dim"), Text(table.about), *_remarks(answers), Text(""))


def _unusual(rows: Sequence[Answer], heads: Sequence[str]) -> list[str]:
    """For each design, which of the other switches are not as in most designs."""
    rest = [name for name in rows[0].switches if name not in heads]
    usual = {name: Counter(row.switches[name] for row in rows).most_common(1)[0][0] for name in rest}
    return [
        ", ".join(f"{name} {row.switches[name]}" for name in rest if row.switches[name] != usual[name])
        for row in rows
    ]


def _cell(row: Answer, rule: str) -> Text:
    from anchorhold_spec.designs import Broken, Proved

    cell = row.cells[rule]
    if isinstance(cell, Proved):
        text = Text("✓ proved", style="green")
    elif isinstance(cell, Broken):
        text = Text(f"✗ {len(cell.trace)}", style="red")
    else:
        text = Text("? unknown", style="bold yellow")
    said = _SIGN[str(row.claims[rule][0])] if rule in row.claims else "–"
    text.append(f" ({said})", style="dim")
    if rule in row.differs:
        text.append(" ≠", style="bold magenta")
    return text


def _remarks(answers: Answers) -> Iterator[Text | Padding]:
    from anchorhold_spec.designs import Broken, Unknown

    told: dict[str, list[tuple[Answer, str]]] = {}
    for row in answers.rows:
        for cell in row.cells.values():
            if isinstance(cell, Unknown):
                yield Text(f"? {_design(row.switches)}: {cell.reason}", style="yellow")
        for rule in row.differs:
            told.setdefault(row.differs_because.get(rule, "not explained"), []).append((row, rule))
    for because, where in told.items():
        row, rule = where[0]
        rules = ", ".join(dict.fromkeys(rule for _, rule in where))
        yield Text(f"≠ {rules} ({len(where)} cells): {because}", style="magenta")
        yield Padding(Text(f"The source: {row.claims[rule][1]}", style="dim"), (0, 0, 0, 2))
        cell = row.cells[rule]
        if isinstance(cell, Broken):
            steps = "; ".join(line.partition("): ")[0] + ")" for line in cell.trace)
            yield Padding(Text(f"A shortest run that breaks {rule}: {steps}"), (0, 0, 0, 2))


def _design(switches: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in switches.items())
