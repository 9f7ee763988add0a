"""`anchorhold adequacy`: the suite, checked on compactors of which it is known what is wrong with them."""

import sys
import time
from collections import Counter
from pathlib import Path
from typing import Annotated, NoReturn

import msgspec
import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from anchorhold.adequacy.catalogue import CatalogueError
from anchorhold.adequacy.measure import Adequacy, Alarm, Asked, measure
from anchorhold.effort import BUDGETS, Effort
from anchorhold.scenarios import AUDITED, DIRECTED
from anchorhold_spec.catalogue import RULES

CATALOGUE = Path("tests/adequacy/catalogue.py")


def adequacy(
    catalogue: Annotated[
        Path,
        typer.Argument(help="A Python file that lists WRONG and RIGHT compactors; the default is the project's."),
    ] = CATALOGUE,
    *,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="Seeds with which each wrong one is sought.")] = 1,
    right_seeds: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Seeds with which each right one is checked [as --seeds].")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The first of them.")] = 0,
    effort: Annotated[Effort, typer.Option(help="How much is tried.")] = Effort.STANDARD,
    undirected: Annotated[
        bool, typer.Option("--undirected", help="Play only seeded mixtures, and no scenario that aims at a rule.")
    ] = False,
    rule: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only what breaks this rule.")] = None,
    only: Annotated[list[str] | None, typer.Option(metavar="CLASS", help="Only this compactor.")] = None,
    scenario: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Play only this scenario: does a new one blame anybody?")
    ] = None,
    right: Annotated[
        bool, typer.Option("--right", help="Only the right ones, each with --seeds seeds: are there false alarms?")
    ] = False,
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Processes at once.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Check wrong compactors and right ones: is each wrong one caught, and no right one blamed?

    A crash of a wrong compactor is no catch. What is found does not depend on the number of workers. Scenarios that
    are the same whatever the seed are played once to each compactor. With --effort quick each is played what a quick
    check plays, and nothing else: so many a quick check would catch.

    Ends with 0 where every wrong one was caught with every seed, by a rule that it breaks, no right one was blamed,
    and every rule has a wrong one; with 1 where not, 2 for a usage error or a catalogue that cannot be read.
    """
    budget = BUDGETS[effort]
    unknown = sorted(set(rule or ()) - set(RULES))
    if unknown:
        _usage(f"there is no rule {unknown[0]}; `anchorhold spec list` gives them all")
    drawn = (*(f"mixture-{n}" for n in range(budget.mixtures)), *(f"journey-{n}" for n in range(budget.journeys)))
    strange = sorted(set(scenario or ()) - {*(each.name for each in (*DIRECTED, AUDITED)), *drawn})
    if strange:
        _usage(f"there is no scenario {strange[0]}")
    if scenario and (undirected or budget.aimed is not None):
        _usage("--scenario names what is played, and --undirected and --effort quick choose that by themselves")
    asked = Asked(
        path=catalogue,
        seeds=seeds,
        right_seeds=seeds if right_seeds is None else right_seeds,
        first_seed=seed,
        effort=effort,
        directed=not undirected,
        rules=frozenset(rule or ()),
        names=frozenset(only or ()),
        wrong=not right,
        scenarios=frozenset(scenario or ()),
    )
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
    try:
        with bar:
            task = bar.add_task("compactors × seeds", total=None)
            found = measure(
                asked,
                workers=workers,
                tell=_Teller(bar, task, console),
                heard=lambda alarm: console.print(_blamed(alarm)),
            )
    except CatalogueError as error:
        _usage(str(error))
    if not found.defects and not found.right:
        _usage("the catalogue has no compactor of these names or rules")
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
    else:
        _tell(found)
    whole = not (rule or only or right or scenario)
    bites = found.caught_always and not found.alarms and not (whole and found.rules_without_defect)
    raise typer.Exit(0 if bites else 1)


class _Teller:
    """Says how far it has come: with the bar on a terminal, and elsewhere with a line for each twentieth."""

    def __init__(self, bar: Progress, task: TaskID, console: Console) -> None:
        self._bar, self._task, self._console = bar, task, console
        self._begun = time.monotonic()
        self._told = 0

    def __call__(self, done: int, total: int) -> None:
        self._bar.update(self._task, completed=done, total=total)
        twentieths = 20 * done // max(total, 1)
        if not self._console.is_terminal and twentieths > self._told:
            self._told = twentieths
            self._console.print(f"{done} of {total} done after {time.monotonic() - self._begun:.0f} s")


def _blamed(alarm: Alarm) -> str:
    seed = "any seed" if alarm.seed is None else f"seed {alarm.seed}"
    return f"blamed  {alarm.id}, {seed}, {alarm.rule}: {alarm.sentence}"


def _tell(found: Adequacy) -> None:
    console = Console(highlight=False)
    if found.defects:
        _tell_defects(found, console)
    for alarm in found.alarms:
        console.print(_blamed(alarm))
    console.print(
        f"{found.right} right ones, {found.right_seeds} seed{'s' if found.right_seeds != 1 else ''} each: "
        f"{found.false_alarms} false alarms"
    )
    if found.rules_without_defect:
        console.print(f"rules without a wrong compactor: {', '.join(found.rules_without_defect)}")
    if found.played_once:
        console.print(f"the same whatever the seed, and played once to each: {', '.join(found.played_once)}")
    console.print(
        f"({found.effort}{' as a check plays it' if found.as_checked else ''}, "
        f"{'directed scenarios too' if found.directed else 'mixtures alone'}, {found.seconds:.0f} s)"
    )


def _tell_defects(found: Adequacy, console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("rule", "wrong", "caught in every seed", "operations, median"):
        table.add_column(name, justify="left" if name == "rule" else "right")
    for rule in RULES:
        those = [defect for defect in found.defects if rule in defect.breaks]
        if those:
            always = sum(defect.seeds_caught == defect.seeds for defect in those)
            played = sorted(defect.operations for defect in those if defect.operations is not None)
            middle = str(played[len(played) // 2]) if played else "—"
            table.add_row(rule, str(len(those)), str(always), middle)
    console.print(table)
    for defect in found.defects:
        if defect.seeds_caught < defect.seeds:
            why = f"; {defect.crashed}" if defect.crashed else ""
            console.print(
                f"missed  {defect.id} ({', '.join(defect.breaks)}): {defect.seeds_caught} of {defect.seeds}{why}"
            )
        elif defect.missed:
            console.print(f"partly  {defect.id}: never by {', '.join(defect.missed)}")
    built = Counter(defect.architecture for defect in found.defects)
    console.print(
        f"{len(found.defects)} wrong compactors ("
        + ", ".join(f"{count} of {name}" for name, count in built.most_common())
        + f"), {found.seeds} seed{'s' if found.seeds != 1 else ''} each: "
        f"{sum(d.seeds_caught for d in found.defects)} of {sum(d.seeds for d in found.defects)} caught"
    )
    blind = [defect for defect in found.defects if defect.blind]
    if blind:
        console.print(
            f"{found.blind} of them written without sight of the checkers: "
            f"{sum(d.seeds_caught for d in blind)} of {sum(d.seeds for d in blind)} caught"
        )


def _usage(message: str) -> NoReturn:
    typer.echo(f"anchorhold: {message}", err=True)
    raise typer.Exit(2)
