"""`anchorhold prove`: the machines of the specification, proved for sorts of any size."""

from __future__ import annotations

import importlib.util
import json as json_format
import sys
import time
from typing import TYPE_CHECKING, Annotated, NoReturn

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
    from anchorhold_spec.prove import as_json as document
    from anchorhold_spec.prove import verify

    chosen = _load(machines or list(registry.names()))
    console = Console(stderr=as_json)
    started = time.perf_counter()
    reports: list[Report] = []
    for machine in chosen:
        with Console(stderr=True).status(f"{machine.name}") as status:
            reports.append(
                verify(
                    machine,
                    timeout=timeout,
                    progress=lambda what, name=machine.name: status.update(f"{name}: {what}"),  # type: ignore[misc]
                )
            )
        if not as_json:
            console.print(_show(reports[-1]))
    seconds = time.perf_counter() - started
    good = all(report.proved for report in reports)
    if as_json:
        sys.stdout.write(json_format.dumps(document(reports, seconds=seconds), indent=2) + "\n")
    else:
        console.print(_summary(reports, seconds))
    raise typer.Exit(PROVED if good else FAILED)


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


def _summary(reports: list[Report], seconds: float) -> Text:
    obligations = [each for report in reports for each in report.obligations]
    guards = [guard for report in reports for guard in report.guards]
    good = sum(each.result == "proved" for each in obligations)
    justified = sum(guard.justified for guard in guards)
    return Text(
        f"{good} of {len(obligations)} obligations proved, {justified} of {len(guards)} guards justified, "
        f"{len(reports)} machines, {seconds:.1f} s",
        style="green" if good == len(obligations) and justified == len(guards) else "red",
    )
