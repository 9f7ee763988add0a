"""`anchorhold compactors`: the adapters that ship."""

import json
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anchorhold.errors import AdapterError
from anchorhold.shipped import shipped


def compactors(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """List the compactors that `anchorhold check NAME` knows, each with the version that it pins."""
    try:
        entries = shipped()
    except AdapterError as error:
        typer.echo(f"anchorhold: {error}", err=True)
        raise typer.Exit(2) from None
    if as_json:
        rows = [
            {
                "name": entry.name,
                "distribution": entry.distribution,
                "version": entry.version,
                "summary": entry.summary,
                "runs": "in-process" if entry.program is None else "environment",
            }
            for entry in entries
        ]
        typer.echo(json.dumps({"schema": 1, "compactors": rows}, indent=2, ensure_ascii=False))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("name", "version", "what it is"):
        table.add_column(heading)
    for entry in entries:
        pin = f"{entry.distribution} {entry.version}"
        table.add_row(entry.name, pin, Text(entry.summary))
    console = Console()
    console.print(table)
    console.print("Others are checked as pkg.module:Class, path.py:Class, or cmd:PROGRAM ARGS.", markup=False)
