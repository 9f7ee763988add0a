"""`anchorhold prove`: the machines of the specification, proved for sorts of any size."""

from __future__ import annotations

import importlib.util
import json as json_format
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from anchorhold.cli.pairs import pairs
from anchorhold_spec import machines as registry
from anchorhold_spec.language import Machine, MalformedMachine, Tag, UnknownChoice, alternation_cycles
from anchorhold_spec.run import show_change, show_state, show_step

if TYPE_CHECKING:
    from anchorhold_spec.prove import Counterexample, GuardVerdict, Obligation, Report

PROVED, FAILED, USAGE = 0, 1, 2

_COLOURS = {"proved": "green", "refuted": "red", "unknown": "yellow"}


def run(
    machines: list[str] | None,
    *,
    switch: list[str] | None,
    as_json: bool,
    timeout: float,
) -> NoReturn:
    """See `prove`. Ends the command: raises typer.Exit."""
    if importlib.util.find_spec("z3") is None:
        _refuse("proving needs Z3: pip install 'anchorhold[prove]'")
    names = machines or list(registry.names())
    switches = dict(pairs(switch, "--switch", refuse=_refuse))
    weights = {name: _weight(machine) for name, machine in zip(names, _load(names, switches), strict=True)}
    console, warned = Console(stderr=as_json), Console(stderr=True, soft_wrap=True)
    started = time.perf_counter()
    outcomes: list[_Outcome] = []
    try:
        with Console(stderr=True).status("…") as status:
            for outcome in _verify_all(names, weights, switches, timeout=timeout, say=status.update):
                outcomes.append(outcome)
                for warning in outcome.warnings:
                    warned.print(Text(f"warning: {warning}", style="yellow"))
                if not as_json:
                    console.print(_show(outcome))
    except (UnknownChoice, MalformedMachine) as problem:
        # What can be seen only by trying: the axioms contradict each other, or hold in no instance.
        _refuse(str(problem))
    seconds = time.perf_counter() - started
    if as_json:
        document = {
            "obligations": [row for outcome in outcomes for row in outcome.obligations],
            "guards": [guard.row for outcome in outcomes for guard in outcome.guards],
            "seconds": round(seconds, 6),
        }
        sys.stdout.write(json_format.dumps(document, indent=2) + "\n")
    else:
        console.print(_summary(outcomes, seconds))
    raise typer.Exit(PROVED if all(outcome.proved for outcome in outcomes) else FAILED)


@dataclass(frozen=True)
class _Guard:
    """What is shown of a guard."""

    place: int
    """In the machine."""
    row: dict[str, object]
    line: tuple[str, ...]


@dataclass(frozen=True)
class _Outcome:
    """What is kept of a report, or of a part of one: plain values, as it may have been made by another process."""

    title: str
    caption: str
    obligations: list[dict[str, object]]
    guards: list[_Guard]
    counts: tuple[int, int, int, int]
    """Obligations proved, of how many; guards justified, of how many."""
    properties: list[tuple[str, ...]]
    """Lines of the table of properties."""
    failures: list[Panel | Text]
    warnings: list[str]

    @property
    def proved(self) -> bool:
        """Everything is."""
        good, obligations, justified, guards = self.counts
        return good == obligations and justified == guards

    def __add__(self, other: _Outcome) -> _Outcome:
        first, second = self.counts, other.counts
        return replace(
            self,
            obligations=self.obligations + other.obligations,
            guards=sorted(self.guards + other.guards, key=lambda guard: guard.place),
            counts=(first[0] + second[0], first[1] + second[1], first[2] + second[2], first[3] + second[3]),
            properties=self.properties + other.properties,
            failures=self.failures + other.failures,
            warnings=self.warnings + other.warnings,
        )


PARTS = ("proofs", "searches")
"""Of a report, in its order. They are worked on side by side."""


def _verify(
    name: str, part: str, switches: Mapping[str, str], timeout: float, say: Callable[[str], None] = lambda _: None
) -> _Outcome:
    """One part of one machine. Raises MalformedMachine where its axioms cannot hold."""
    from anchorhold_spec.prove import as_json as document
    from anchorhold_spec.prove import verify_proofs, verify_small_sizes

    def progress(what: str) -> None:
        say(f"{name}: {what}")

    machine = registry.load(name).with_switches(**switches)
    if part == "proofs":
        report = verify_proofs(machine, timeout=timeout, progress=progress)
    else:
        report = verify_small_sizes(machine, progress=progress)
    rows: Any = document([report], seconds=0)
    good = sum(each.result == "proved" for each in report.obligations)
    justified = sum(guard.justified for guard in report.guards)
    order = [(action.name, guard.name) for action in machine.actions for guard in action.guards]
    places = [order.index((guard.action, guard.guard)) for guard in report.guards]
    return _Outcome(
        title=machine.name,
        caption=machine.doc,
        obligations=rows["obligations"],
        guards=[
            _Guard(place, row, line) for place, row, line in zip(places, rows["guards"], _guards(report), strict=True)
        ],
        counts=(good, len(report.obligations), justified, len(report.guards)),
        properties=list(_properties(report)),
        failures=_failures(report),
        warnings=[str(cycle) for cycle in alternation_cycles(machine)] if part == "proofs" else [],
    )


def _verify_all(
    names: list[str],
    weights: Mapping[str, int],
    switches: Mapping[str, str],
    *,
    timeout: float,
    say: Callable[[str], None],
) -> Iterator[_Outcome]:
    """In the order of the names. The parts are divided among the processors, those of heavy machines first."""
    processes = os.cpu_count() or 1
    if processes == 1:
        for name in names:
            yield _together(_verify(name, part, switches, timeout, say) for part in PARTS)
        return
    # Not forked: Z3's threads and locks do not survive it.
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        heavy_first = sorted(set(names), key=lambda name: -weights[name])
        waiting = {
            (name, part): pool.submit(_verify, name, part, switches, timeout)
            for name in heavy_first
            for part in PARTS
        }
        try:
            for name in names:
                say(name)
                yield _together(waiting[name, part].result() for part in PARTS)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _together(parts: Iterable[_Outcome]) -> _Outcome:
    return reduce(add, parts)


def _weight(machine: Machine) -> int:
    """How long it will take, roughly and in no unit."""
    return len(machine.actions) * (len(machine.invariants) + len(machine.transitions))


def _load(names: list[str], switches: Mapping[str, str]) -> list[Machine]:
    try:
        return [registry.load(name).with_switches(**switches) for name in names]
    except (UnknownChoice, MalformedMachine) as problem:
        _refuse(str(problem))


def _refuse(message: str) -> NoReturn:
    Console(stderr=True, soft_wrap=True).print(f"anchorhold prove: {message}", markup=False, highlight=False)
    raise typer.Exit(USAGE)


def _show(outcome: _Outcome) -> Group:
    properties = Table(title=outcome.title, caption=outcome.caption, title_justify="left", expand=True)
    for column in ("property", "rules", "proved", "seconds"):
        properties.add_column(column, justify="right" if column in ("proved", "seconds") else "left")
    for line in outcome.properties:
        properties.add_row(*line)
    guards = Table(title="guards", title_justify="left", expand=True)
    for column in ("action", "guard", "tag", "without it"):
        guards.add_column(column)
    for guard in outcome.guards:
        guards.add_row(*guard.line)
    return Group(properties, guards, *outcome.failures)


def _properties(report: Report) -> Iterator[tuple[str, ...]]:
    """One line a property, however many actions it is proved for."""
    by_property: dict[str, list[Obligation]] = {}
    for each in report.obligations:
        by_property.setdefault(each.property, []).append(each)
    for name, obligations in by_property.items():
        good = sum(each.result == "proved" for each in obligations)
        worst = "proved" if good == len(obligations) else _worst(obligations)
        yield (
            name,
            ", ".join(obligations[0].rules) or "[dim]–[/]",
            f"[{_COLOURS[worst]}]{good} of {len(obligations)}[/]",
            f"{sum(each.seconds for each in obligations):.2f}" if any(each.used for each in obligations) else "",
        )


def _worst(obligations: list[Obligation]) -> str:
    return "refuted" if any(each.result == "refuted" for each in obligations) else "unknown"


def _guards(report: Report) -> Iterator[tuple[str, ...]]:
    for guard in report.guards:
        colour = "default" if guard.justified else "red"
        yield guard.action, guard.guard, str(guard.tag), f"[{colour}]{_without(guard)}[/]"


def _without(guard: GuardVerdict) -> str:
    from anchorhold_spec.publish.guards import without

    if guard.problem:
        return f"not known: {guard.problem}"
    if guard.violation:
        steps = len(guard.violation.trace.steps)
        found = f"{', '.join(guard.violation.rules)} broken in {steps} step{'s' * (steps != 1)}"
        return found if guard.tag is Tag.SAFETY else f"{found}, although tagged {guard.tag}"
    if guard.tag is Tag.SAFETY:
        return "nothing breaks: tag it bound or realism with a reason, or remove it"
    return f"{without(guard)}: {guard.advice or guard.reason}"


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
        f"{len(outcomes)} machine{'s' if len(outcomes) != 1 else ''}, {seconds:.1f} s",
        style="green" if all(outcome.proved for outcome in outcomes) else "red",
    )
