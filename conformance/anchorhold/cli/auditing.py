"""What `anchorhold audit` does; `audit` says what may be asked for."""

import dataclasses
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NoReturn

import msgspec
import typer
from rich.console import Console
from rich.progress import Progress

from anchorhold.audit.cases import Case, cases_of
from anchorhold.audit.redact import Redaction
from anchorhold.audit.report import html, terminal
from anchorhold.audit.result import ConditionError, Replay, document, encode, holds
from anchorhold.audit.run import audit_paths
from anchorhold.errors import AdapterError
from anchorhold.level import ExitStatus


def run(
    paths: list[Path],
    *,
    as_json: bool,
    page: Path | None,
    fail_on: list[str] | None,
    redact: bool,
    replay: bool,
    compactor: str | None,
    histories: Path | None,
    everything: bool,
    workers: int | None,
) -> None:
    """Audit them, tell it, and end with the status that `anchorhold audit` documents."""
    if redact and histories is not None:
        _end("--histories writes the turns as they are: leave out --redact, or it")
    if compactor is not None and not replay:
        _end("--compactor says what --replay drives: add --replay, or leave it out")
    missing = [path for path in paths if not path.exists()]
    if missing:
        _end(f"there is no {'path of that name (--redact names none)' if redact else missing[0]}")
    try:
        for condition in fail_on or ():
            holds(condition, document([], 0.0).totals)
    except ConditionError as error:
        _end(str(error))
    told = Console(stderr=True, highlight=False)
    with Progress(console=told, transient=True, disable=not told.is_terminal) as shown:
        task = shown.add_task("reading", total=None)
        audited, seconds = audit_paths(
            paths,
            workers=workers,
            progress=lambda done, of, path: shown.update(
                task, completed=done, total=of, description="reading" if redact else path.name[:40]
            ),
        )
    complete = all(each.complete for each in audited)
    readable = [each.path for each in audited if each.format]
    if redact:
        audited = Redaction().audited(audited)
    if not readable:
        why = f"{audited[0].path}: {audited[0].error}" if audited else "the folders hold no files"
        _end(f"no transcript was read: {why}")
    found = document(audited, seconds)
    if replay:
        # A compactor's failure may quote what it was given.
        found = msgspec.structs.replace(found, replay=_replayed(readable, compactor, redact=redact))
    if as_json:
        sys.stdout.buffer.write(encode(found))
        sys.stdout.buffer.flush()
    else:
        terminal.render(found, audited, Console(highlight=False), everything=everything)
    if page is not None:
        try:
            page.write_text(html.page(found, audited), encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            _end(f"{page} cannot be written: {error.strerror or error}")
        told.print(f"page: {page}", markup=False)
    if not isinstance(found.replay, msgspec.UnsetType):
        terminal.render_replay(found.replay, told if as_json else Console(highlight=False))
    if histories is not None:
        _histories(readable, histories, told if as_json else Console(highlight=False))
    failing = [condition for condition in fail_on or () if holds(condition, found.totals)]
    for condition in failing:
        typer.echo(f"anchorhold: {condition} holds", err=True)
    if failing:
        raise typer.Exit(ExitStatus.FAILED)
    if not complete:
        typer.echo(
            "anchorhold: not every file could be read and judged to its end: see what is said of them", err=True
        )
    raise typer.Exit(ExitStatus.HELD if complete else ExitStatus.BLOCKED)


def _replayed(files: Iterable[Path], compactor: str | None, *, redact: bool) -> Replay:
    from anchorhold.audit.whatif import Replayed, replay, totalled
    from anchorhold.load import load

    name = compactor or "reference"
    done: list[Replayed] = []
    try:
        with load(name) as loaded:
            for path in files:
                done += [replay(case, loaded) for case in _cases(path)]
    except AdapterError as error:
        _end(str(error))
    if redact:
        done = [dataclasses.replace(each, outcome=each.outcome.partition(":")[0]) for each in done]
    return totalled(done, name)


def _histories(files: Iterable[Path], directory: Path, console: Console) -> None:
    from anchorhold.audit.histories import LACKING, judged, write

    counted: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    said: dict[str, str] = {}
    for path in files:
        for each in judged(_cases(path), name=path.name):
            try:
                where = write(directory, each)
            except OSError as error:
                _end(f"{directory} cannot be written: {error.strerror or error}")
            for judgement in each.judgements:
                counted[judgement.rule] += judgement.triggered
                broken[judgement.rule] += len(judgement.failures)
                if judgement.failures:
                    said.setdefault(judgement.rule, f"{judgement.failures[0].sentence} ({where.name})")
    console.print(f"\nAs histories, in {directory}:", markup=False)
    for rule, times in sorted(counted.items()):
        mark = "✗" if broken[rule] else "✓"
        console.print(f"  {mark} {rule}: triggered {times:,} times, broken {broken[rule]:,}", markup=False)
        if rule in said:
            console.print(f"      {said[rule][:300]}", markup=False)
    console.print(f"  {LACKING}", style="dim", markup=False)


def _cases(path: Path) -> Iterator[Case]:
    try:
        yield from cases_of(path)
    except (OSError, EOFError):
        return  # said already, as unreadable


def _end(message: str) -> NoReturn:
    typer.echo(f"anchorhold: {message}", err=True)
    raise typer.Exit(ExitStatus.ERROR)
