"""`anchorhold prove`: the machines of the specification, proved for sorts of any size."""

from __future__ import annotations

import importlib.util
import json as json_format
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from anchorhold_spec import machines as registry
from anchorhold_spec.language import Machine, MalformedMachine, Tag, UnknownChoice
from anchorhold_spec.run import show_change, show_state, show_step

if TYPE_CHECKING:
    from anchorhold_spec.prove import Counterexample, GuardVerdict, Obligation, Report

PROVED, FAILED, USAGE = 0, 1, 2

_COLOURS = {"proved": "green", "refuted": "red", "unknown": "yellow"}


def prove(
    machines: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MACHINE]...", help="Names, or path.py:machine. All machines if none is given."),
    ] = None,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON document alone on standard output.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds for each question to Z3; what takes longer is not proved.")
    ] = 10.0,
) -> None:
    """Prove every invariant of the machines, show each guard necessary, and that nothing holds vacuously.

    Exit status: 0 all proved, 1 something refuted or unknown, 2 usage.
    """
    if importlib.util.find_spec("z3") is None:
        _refuse("proving needs Z3: pip install 'anchorhold[prove]'")
    names = machines or list(registry.names())
    weights = {name: _weight(machine) for name, machine in zip(names, _load(names), strict=True)}
    console = Console(stderr=as_json)
    started = time.perf_counter()
    outcomes: list[_Outcome] = []
    with Console(stderr=True).status("…") as status:
        for outcome in _verify_all(names, weights, timeout=timeout, say=status.update):
            outcomes.append(outcome)
            if not as_json:
                console.print(outcome.shown)
    seconds = time.perf_counter() - started
    if as_json:
        document = {
            "obligations": [row for outcome in outcomes for row in outcome.obligations],
            "guards": [row for outcome in outcomes for row in outcome.guards],
            "seconds": round(seconds, 6),
        }
        sys.stdout.write(json_format.dumps(document, indent=2) + "\n")
    else:
        console.print(_summary(outcomes, seconds))
    raise typer.Exit(PROVED if all(outcome.proved for outcome in outcomes) else FAILED)


@dataclass(frozen=True)
class _Outcome:
    """What is kept of a report: plain values, as it may have been made by another process."""

    obligations: list[dict[str, object]]
    guards: list[dict[str, object]]
    counts: tuple[int, int, int, int]
    """Obligations proved, of how many; guards justified, of how many."""
    proved: bool
    shown: Group


def _verify(name: str, timeout: float, say: Callable[[str], None] = lambda _: None) -> _Outcome:
    from anchorhold_spec.prove import as_json as document
    from anchorhold_spec.prove import verify

    report = verify(registry.load(name), timeout=timeout, progress=lambda what: say(f"{name}: {what}"))
    rows: Any = document([report], seconds=0)
    good = sum(each.result == "proved" for each in report.obligations)
    justified = sum(guard.justified for guard in report.guards)
    counts = (good, len(report.obligations), justified, len(report.guards))
    return _Outcome(rows["obligations"], rows["guards"], counts, report.proved, _show(report))


def _verify_all(
    names: list[str], weights: Mapping[str, int], *, timeout: float, say: Callable[[str], None]
) -> Iterator[_Outcome]:
    """In the order of the names. Several machines are divided among the processors, the heavy ones first."""
    processes = min(len(names), os.cpu_count() or 1)
    if processes == 1:
        for name in names:
            yield _verify(name, timeout, say)
        return
    # Not forked: Z3's threads and locks do not survive it.
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        heavy_first = sorted(set(names), key=lambda name: -weights[name])
        waiting = {name: pool.submit(_verify, name, timeout) for name in heavy_first}
        for name in names:
            say(name)
            yield waiting[name].result()


def _weight(machine: Machine) -> int:
    """How long it will take, roughly and in no unit."""
    return len(machine.actions) * (len(machine.invariants) + len(machine.transitions))


def _load(names: list[str]) -> list[Machine]:
    try:
        return [registry.load(name) for name in names]
    except (UnknownChoice, MalformedMachine) as problem:
        _refuse(str(problem))


def _refuse(message: str) -> NoReturn:
    Console(stderr=True, soft_wrap=True).print(f"anchorhold prove: {message}", markup=False, highlight=False)
    raise typer.Exit(USAGE)


def _show(report: Report) -> Group:
    parts: list[Table | Panel | Text] = [_properties(report), _guards(report)]
    parts.extend(_failures(report))
    return Group(*parts)


def _properties(report: Report) -> Table:
    """One line a property, however many actions it is proved for."""
    table = Table(title=report.machine.name, caption=report.machine.doc, title_justify="left", expand=True)
    for column in ("property", "rules", "proved", "seconds"):
        table.add_column(column, justify="right" if column in ("proved", "seconds") else "left")
    by_property: dict[str, list[Obligation]] = {}
    for each in report.obligations:
        by_property.setdefault(each.property, []).append(each)
    for name, obligations in by_property.items():
        good = sum(each.result == "proved" for each in obligations)
        worst = "proved" if good == len(obligations) else _worst(obligations)
        table.add_row(
            name,
            ", ".join(obligations[0].rules) or "[dim]–[/]",
            f"[{_COLOURS[worst]}]{good} of {len(obligations)}[/]",
            f"{sum(each.seconds for each in obligations):.2f}" if any(each.used for each in obligations) else "",
        )
    return table


def _worst(obligations: list[Obligation]) -> str:
    return "refuted" if any(each.result == "refuted" for each in obligations) else "unknown"


def _guards(report: Report) -> Table:
    table = Table(title="guards", title_justify="left", expand=True)
    for column in ("action", "guard", "tag", "without it"):
        table.add_column(column)
    for guard in report.guards:
        colour = "default" if guard.justified else "red"
        table.add_row(guard.action, guard.guard, str(guard.tag), f"[{colour}]{_without(guard)}[/]")
    return table


def _without(guard: GuardVerdict) -> str:
    if guard.problem:
        return f"not known: {guard.problem}"
    if guard.violation:
        steps = len(guard.violation.trace.steps)
        found = f"{', '.join(guard.violation.rules)} broken in {steps} step{'s' * (steps != 1)}"
        return found if guard.tag is Tag.SAFETY else f"{found}, although tagged {guard.tag}"
    if guard.tag is Tag.SAFETY:
        return "nothing breaks: tag it bound or realism with a reason, or remove it"
    return f"nothing breaks: {guard.reason}"


def _failures(report: Report) -> list[Panel | Text]:
    found: list[Panel | Text] = []
    for each in report.obligations:
        if each.result == "proved":
            continue
        rules = f" ({', '.join(each.rules)})" if each.rules else ""
        title = f"{each.result}: {each.property}{rules} – {each.action}"
        if each.counterexample:
            found.append(Panel(_counterexample(each.counterexample), title=Text(title), border_style="red"))
        else:
            found.append(Text(f"{title}: {each.reason}", style=_COLOURS[each.result]))
    return found


def _counterexample(found: Counterexample) -> Table:
    """The two states side by side: what is so before, and what the step changes."""
    table = Table(box=None, expand=True)
    if found.step is None:
        table.add_column("in the first state")
        table.add_row(Text("\n".join(show_state(found.instance, found.after)) or "everything is as at first"))
        return table
    table.add_column("before: every invariant holds")
    table.add_column(Text(f"after {show_step(found.instance, found.step)}: it does not"))
    before = Text("\n".join(show_state(found.instance, found.before)) or "everything is as at first")
    after = Text("\n".join(show_change(found.instance, found.before, found.after)) or "no change")
    table.add_row(before, after)
    return table


def _summary(outcomes: list[_Outcome], seconds: float) -> Text:
    good, all_, justified, guards = (sum(column) for column in zip(*(each.counts for each in outcomes), strict=True))
    return Text(
        f"{good} of {all_} obligations proved, {justified} of {guards} guards justified, "
        f"{len(outcomes)} machines, {seconds:.1f} s",
        style="green" if all(outcome.proved for outcome in outcomes) else "red",
    )
