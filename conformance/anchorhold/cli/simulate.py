"""`anchorhold simulate`: what a design that can go wrong looks like in time."""

from __future__ import annotations

import importlib.util
import json
import math
import os
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import Progress

app = typer.Typer(
    name="simulate",
    help="Simulate in time what the machines say can happen.",
    no_args_is_help=True,
)


@app.callback()
def _simulate() -> None:
    """Keeps `race` a sub-command while it is the only one."""


@app.command()
def race(
    *,
    seed: Annotated[int, typer.Option(help="The first seed; the same seeds give the same figures.")] = 1,
    seeds: Annotated[int, typer.Option(min=2, help="How many seeds, counted up from the first.")] = 10,
    commits: Annotated[int, typer.Option(min=1, help="Summaries in each run.")] = 500,
    rates: Annotated[
        str | None, typer.Option(metavar="N,N,…", help="Evictions a minute to go through; 0.5 to 30 if left out.")
    ] = None,
    persist: Annotated[float, typer.Option(help="Median seconds to make an original durable.")] = 0.1,
    victims: Annotated[
        str, typer.Option(help="Whom the reaper takes first: summarised, oldest or random.")
    ] = "summarised",
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write one self-contained page with the plots.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Simulate the race between a compactor and a reaper that share a store, for six write orders.

    Reports committed summaries whose pointer does not lead to their source, against the rate of eviction, with 95 %
    intervals over the seeds; wrong answers (a recycled key) apart from empty ones. No parameter is fitted to the
    figure that the source reports; each says where it comes from (--json, --html).
    """
    if importlib.util.find_spec("simpy") is None:
        _refuse("simulating needs SimPy: pip install 'anchorhold[simulate]'")
    from anchorhold.race import as_json as document
    from anchorhold.race import finding, page, tables
    from anchorhold_spec.simulate import RATES, Parameters, study
    from anchorhold_spec.simulate.measure import POLICIES

    policy = next((each for each in POLICIES if each == victims), None)
    if policy is None:
        _refuse(f"--victims is one of {', '.join(POLICIES)}, not {victims!r}")
    if not (persist > 0 and math.isfinite(persist)):
        _refuse(f"--persist takes seconds greater than 0, not {persist:g}")
    wanted = RATES if rates is None else _rates(rates)
    base = Parameters(commits=commits, persist_median=persist, victims=policy)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=as_json or not console.is_terminal) as bar:
        task = bar.add_task("simulating", total=None)
        try:
            found = study(
                base,
                seeds=range(seed, seed + seeds),
                rates=wanted,
                workers=os.cpu_count() or 1,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
        except ValueError as problem:
            _refuse(str(problem))
    if html is not None:
        try:
            html.write_text(page(found), encoding="utf-8")
        except OSError as problem:
            _refuse(f"the page cannot be written: {problem}")
    if as_json:
        typer.echo(json.dumps(document(found), indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False)
    for part in tables(found, width=console.width):
        console.print(part)
    for line in finding(found):
        console.print(f"• {line}", markup=False)
    if html is not None:
        console.print(f"Page: {html}", markup=False)


def _rates(text: str) -> tuple[float, ...]:
    try:
        found = tuple(sorted({float(each) for each in text.split(",")}))
    except ValueError:
        return _refuse(f"--rates takes numbers with commas between them, not {text!r}")
    if not all(each > 0 and math.isfinite(each) for each in found):
        _refuse("--rates takes numbers greater than 0")
    return found


def _refuse(message: str) -> NoReturn:
    Console(stderr=True, soft_wrap=True).print(f"anchorhold simulate: {message}", markup=False, highlight=False)
    raise typer.Exit(2)
