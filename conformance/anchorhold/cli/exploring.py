"""`anchorhold explore`: every reachable state of a machine at a finite size."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from anchorhold.cli.pairs import pairs
from anchorhold_spec import machines as registry
from anchorhold_spec.language import Machine, MalformedMachine, UnknownChoice
from anchorhold_spec.run import GuardId, Violation, show_trace

if TYPE_CHECKING:
    from anchorhold_spec.explore import Exploration, Snapshot, Watcher
    from anchorhold_spec.explore.walks import Walks

HOLDS, BROKEN, USAGE, UNDECIDED = 0, 1, 2, 3


def run(
    machine: list[str] | None,
    *,
    designs: bool,
    size: list[str] | None,
    switch: list[str] | None,
    drop: list[str] | None,
    symmetry: bool,
    auxiliary: bool,
    keep_going: bool,
    walks: int | None,
    walk_length: int,
    seed: int,
    limit: int | None,
    threads: int | None,
    memory: float | None,
    checkpoint: Path | None,
    resume: bool,
    itf: Path | None,
    dot: Path | None,
    html: Path | None,
    plain: bool,
    as_json: bool,
) -> NoReturn:
    """See `explore`. Ends the command: raises typer.Exit."""
    if designs:
        from anchorhold.cli import designs as tables

        tables.show(machine or [], as_json=as_json)
    if machine is None or len(machine) != 1:
        _refuse("name one machine, or give --designs")
    if resume and checkpoint is None:
        _refuse("--resume needs --checkpoint FILE")
    if plain and checkpoint is not None:
        _refuse("--checkpoint cannot be used with --plain: only the compiled search is written to files")
    if walks is not None and (symmetry or checkpoint or keep_going or limit):
        _refuse("--walks goes with none of --symmetry, --keep-going, --limit and --checkpoint: it keeps no states")
    chosen = _machine(machine[0])
    sizes = {name: _number(name, value) for name, value in pairs(size, "--size", refuse=_refuse)}
    switches = dict(pairs(switch, "--switch", refuse=_refuse))
    dropped = tuple(_guard(text) for text in drop or [])
    from anchorhold_spec.explore import Engine, jit
    from anchorhold_spec.explore import explore as go_through
    from anchorhold_spec.explore import walks as random_walks

    if not plain and not jit.available():
        Console(stderr=True).print(
            "[yellow]numba is not installed: exploring without it, slowly[/] (pip install 'anchorhold\\[explore]')"
        )
    engine = Engine.UNCOMPILED if plain else None
    found: Exploration | None = None
    walked: Walks | None = None
    try:
        with _progress(quiet=as_json) as watcher:
            if walks is not None:
                walked = random_walks.walk(
                    chosen,
                    walks=walks,
                    seed=seed,
                    steps=walk_length,
                    sizes=sizes,
                    switches=switches,
                    dropped=dropped,
                    auxiliary=auxiliary,
                    engine=engine,
                    watcher=watcher,
                )
            else:
                found = go_through(
                    chosen,
                    sizes=sizes,
                    switches=switches,
                    dropped=dropped,
                    symmetry=symmetry,
                    engine=engine,
                    auxiliary=auxiliary,
                    keep_going=keep_going,
                    limit=limit,
                    threads=threads,
                    memory=None if memory is None else int(memory * 1e9),
                    checkpoint=checkpoint,
                    resume=resume,
                    watcher=watcher,
                )
        violation = (found or walked).violation  # type: ignore[union-attr]
        if dot is not None:
            from anchorhold_spec.explore.dot import graph

            lines = graph(chosen, sizes=sizes, switches=switches, dropped=dropped, symmetry=symmetry)
            dot.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except UnknownChoice as problem:
        _refuse(str(problem))
    except MemoryError:
        _refuse(f"{chosen.name} does not fit into this machine's memory at this size: choose smaller ones")
    except OSError as problem:
        _refuse(f"{problem.filename}: {problem.strerror}")
    except KeyboardInterrupt:
        kept = "" if checkpoint is None else f"; --checkpoint {checkpoint} --resume goes on from here"
        Console(stderr=True, soft_wrap=True).print(f"anchorhold explore: interrupted{kept}", markup=False)
        raise typer.Exit(130) from None
    console = Console(stderr=as_json)
    try:
        for line in _files(violation, itf=itf, html=html, settings=_settings(found, walked, dropped)):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
    except OSError as problem:
        _refuse(f"{problem.filename}: {problem.strerror}")
    if as_json:
        document = _walks_document(walked) if walked is not None else _document(found)
        if dropped:
            # Not the machine that the name says: a reader must not take the answer for its own.
            document["dropped"] = [{"action": each.action, "guard": each.guard} for each in dropped]
        sys.stdout.write(json_format.dumps(document, indent=2, ensure_ascii=False) + "\n")
    elif walked is not None:
        console.print(_show_walks(walked, dropped), soft_wrap=True)
    elif found is not None:
        console.print(_show(found, chosen, dropped), soft_wrap=True)
    if violation is not None:
        raise typer.Exit(BROKEN)
    raise typer.Exit(UNDECIDED if found is not None and not found.complete else HOLDS)


# What was asked for


def _machine(name: str) -> Machine:
    try:
        return registry.load(name)
    except (UnknownChoice, MalformedMachine) as problem:
        _refuse(str(problem))


def _number(name: str, text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        _refuse(f"--size {name}={text}: sizes are whole numbers, at least 1, and {text!r} is none")
    return int(text)


def _guard(text: str) -> GuardId:
    action, colon, guard = text.partition(":")
    if not colon:
        _refuse(f"--drop takes ACTION:GUARD, and {text!r} is none")
    return GuardId(action.strip(), guard.strip())


def _refuse(message: str) -> NoReturn:
    Console(stderr=True, soft_wrap=True).print(f"anchorhold explore: {message}", markup=False, highlight=False)
    raise typer.Exit(USAGE)


# What is shown meanwhile


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Watcher | None]:
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("compiling", total=None)

        def watch(now: Snapshot) -> None:
            bar.update(
                task,
                total=max(now.layer, 1),
                completed=now.layer - now.frontier,
                description=f"depth {now.depth}: {now.states:,} states, {now.memory / 1e9:.2f} GB",
            )

        yield watch


# What is told


def _files(violation: Violation | None, *, itf: Path | None, html: Path | None, settings: str) -> Iterator[str]:
    if violation is None:
        for path in (itf, html):
            if path is not None:
                yield f"{path} was not written: no rule is broken"
        return
    writers: list[tuple[Path | None, Callable[[], str]]] = [
        (itf, lambda: _itf(violation)),
        (html, lambda: _page(violation, settings)),
    ]
    for path, text in writers:
        if path is not None:
            path.write_text(text(), encoding="utf-8")
            yield f"wrote {path}"


def _itf(violation: Violation) -> str:
    from anchorhold_spec.explore.itf import document

    return json_format.dumps(document(violation.trace, violation=violation), indent=1, ensure_ascii=False) + "\n"


def _page(violation: Violation, settings: str) -> str:
    from anchorhold_spec.explore.diagram import page

    return page(violation, settings=settings)


def _settings(found: Exploration | None, walked: Walks | None, dropped: tuple[GuardId, ...]) -> str:
    parts: list[str] = []
    if found is not None:
        parts.append("explored with " + ", ".join(f"{count} {name}" for name, count in found.sizes.items()))
        parts += [f"{name}: {value}" for name, value in found.switches.items()]
    if walked is not None:
        parts.append(f"met on random walk {walked.walks} with seed {walked.seed}: not a shortest run")
    parts += [f"without {each}" for each in _without(dropped)]
    return "; ".join(parts)


def _without(dropped: tuple[GuardId, ...]) -> list[str]:
    return [f"the guard “{each.guard}” of {each.action}" for each in dropped]


def _broken(violation: Violation | None) -> dict[str, Any] | None:
    if violation is None:
        return None
    return {"rule": ", ".join(violation.rules) or violation.property, "steps": show_trace(violation.trace)}


def _document(found: Exploration | None) -> dict[str, Any]:
    assert found is not None, "without walks there is an exploration"
    document: dict[str, Any] = {
        "machine": found.machine,
        "states": found.states,
        "transitions": found.transitions,
        "seconds": round(found.seconds, 3),
        "symmetry": bool(found.symmetry),
        "violation": _broken(found.violation),
    }
    if found.stopped is not None:
        # Only where the answer is not known: a reader must not take null for "nothing is broken".
        document["stopped"] = found.stopped
    return document


def _walks_document(walked: Walks) -> dict[str, Any]:
    return {
        "machine": walked.machine,
        # Visits: a state that was met twice counts twice.
        "states": walked.steps + walked.walks,
        "transitions": walked.steps,
        "seconds": round(walked.seconds, 3),
        "symmetry": False,
        "violation": _broken(walked.violation),
        "walks": walked.walks,
        "seed": walked.seed,
    }


def _show(found: Exploration, machine: Machine, dropped: tuple[GuardId, ...]) -> Group:
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim")
    facts.add_column()
    what = "orbits" if found.symmetry else "states"
    rate = f"{found.states / found.seconds / 1e6:.2f} M {what}/s" if found.seconds > 0 else ""
    sizes = ", ".join(f"{name}={count}" for name, count in found.sizes.items())
    rows = [
        ("size", sizes),
        ("switches", ", ".join(f"{name}={value}" for name, value in found.switches.items())),
        *(("without", without) for without in _without(dropped)),
        (what, f"{found.states:,}"),
        ("transitions", f"{found.transitions:,}"),
        ("depth", f"{found.depth}"),
        ("time", f"{found.seconds:.2f} s, {rate}; {found.preparing:.2f} s to generate and compile"),
        ("symmetry", ", ".join(found.symmetry)),
        *(("not reduced", f"{name}: {reason}") for name, reason in found.not_reduced.items()),
    ]
    for name, value in rows:
        if value:
            facts.add_row(name, escape(value))
    parts: list[Any] = [Text(machine.name, style="bold"), facts, _coverage(found)]
    if found.unmet and found.complete:
        parts.append(Text(f"never met: {', '.join(found.unmet)}", style="yellow"))
    if found.deadlock is not None:
        parts.append(Text(f"deadlocks: {found.deadlocks:,} states; the nearest:", style="yellow"))
        parts += [Text(f"  {line}") for line in show_trace(found.deadlock)]
    for violation in found.violations:
        parts += _violation(violation, "a shortest run")
    if found.stopped:
        parts.append(Text(f"stopped: {found.stopped}. Not everything was seen.", style="bold yellow"))
    elif not found.violations:
        parts.append(Text("every reachable state was seen, and nothing is broken", style="green"))
    return Group(*parts)


def _coverage(found: Exploration) -> Table:
    table = Table(box=None, padding=(0, 2))
    table.add_column("action", style="cyan")
    table.add_column("happened", justify="right")
    for name, count in found.fired.items():
        table.add_row(escape(name), f"{count:,}" if count else "[yellow]never[/]")
    return table


def _show_walks(walked: Walks, dropped: tuple[GuardId, ...]) -> Group:
    told = f"{walked.machine}: {walked.walks:,} random walks of {walked.steps:,} steps together, seed {walked.seed}"
    parts: list[Any] = [Text(told), *(Text(f"without {each}") for each in _without(dropped))]
    if walked.violation is not None:
        parts += _violation(walked.violation, "the walk, not a shortest run")
    else:
        parts.append(Text("nothing broken on the way, which proves nothing about the rest", style="green"))
    return Group(*parts)


def _violation(violation: Violation, what: str) -> list[Text]:
    rules = f" ({', '.join(violation.rules)})" if violation.rules else ""
    count = len(violation.trace.steps)
    head = f"broken: {violation.property}{rules}, {what} of {count} step{'' if count == 1 else 's'}:"
    return [Text(head, style="bold red"), *(Text(f"  {line}") for line in show_trace(violation.trace))]
