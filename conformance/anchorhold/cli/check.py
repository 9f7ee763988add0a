"""`anchorhold check`: check a compactor."""

import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from anchorhold import report
from anchorhold.check import Checked, UnknownScenario
from anchorhold.check import check as run_check
from anchorhold.checkers import CHECKERS
from anchorhold.errors import AdapterError
from anchorhold.level import ExitStatus, exit_status
from anchorhold.load import load
from anchorhold.progress import OnTerminal
from anchorhold.result import Result, broken, encode
from anchorhold.scenarios import Effort
from anchorhold.verdict import Verdict
from anchorhold.wire.process import Limits
from anchorhold_spec.catalogue import LEVELS, RULES, near

DEFAULT_DIRECTORY = Path("anchorhold-report")
"""Where failing histories go when no directory was named; where it cannot be made, a temporary one."""


def check(
    compactor: Annotated[
        str,
        typer.Argument(
            metavar="[COMPACTOR]",
            help="reference, the name of a shipped adapter, pkg.module:Class, path.py:Class, or 'cmd:PROGRAM ARGS'.",
            show_default=True,
        ),
    ] = "reference",
    *,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="DIR",
            file_okay=False,
            help="Write result.json, junit.xml, report.html and the failing histories into this directory, in place "
            "of those of an earlier check. Without it, failing histories go to ./anchorhold-report/histories.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON document alone on standard output.")
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed plants other facts in other turns.")] = 0,
    effort: Annotated[Effort, typer.Option(help="How much is tried.")] = Effort.STANDARD,
    rule: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Judge only this rule; may be given several times."),
    ] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Play only this scenario; may be given several times."),
    ] = None,
    level: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=5, help="Exit with 3 unless this level is reached.")
    ] = None,
    workers: Annotated[
        int, typer.Option(metavar="N", min=1, help="Play in so many processes at once; what is found is the same.")
    ] = 1,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="S", min=0.1, help="Seconds that one operation of the compactor may take."),
    ] = None,
) -> None:
    """Check a compactor: which rules it holds, and to which level.

    Ends with 0 where no rule failed (and the rules and the level asked for are held), 1 where one failed, 2 where the
    compactor could not be driven, 3 where none failed and a rule or level asked for is not held, or nothing was
    judged.
    """
    wanted = None if not rule else tuple(_rule(each) for each in rule)
    if level is not None and level not in LEVELS:
        _usage(f"level {level} does not exist; there are {', '.join(map(str, LEVELS))}")
    told = Console(stderr=True, highlight=False)
    kept_in = _ready(directory)
    begun = time.monotonic()
    stderr = ""
    try:
        with load(compactor, limits=_limits(timeout)) as loaded:
            try:
                with OnTerminal(told) as progress:
                    checked = run_check(
                        loaded,
                        checkers=CHECKERS,
                        histories=kept_in,
                        seed=seed,
                        effort=effort,
                        rules=wanted,
                        named=scenario or None,
                        progress=progress,
                        again=partial(load, compactor, limits=_limits(timeout)),
                        workers=workers,
                    )
            finally:
                stderr = loaded.stderr
    except AdapterError as error:
        document = broken(
            compactor=compactor,
            error=str(error),
            seconds=round(time.monotonic() - begun, 3),
            seed=seed,
            stderr=error.stderr or stderr,
        )
        _end_without_verdict(document, directory, as_json=as_json)
    except UnknownScenario as error:
        _usage(str(error))
    except OSError as error:
        _usage(f"cannot write: {error}")
    _tell(checked, directory, as_json=as_json, told=told)
    raise typer.Exit(_status(checked.result, level, wanted or ()))


def _tell(checked: Checked, directory: Path | None, *, as_json: bool, told: Console) -> None:
    if as_json:
        _print_document(checked.result)
    else:
        report.terminal.render(checked.result, checked.histories, Console(highlight=False))
    if directory is not None:
        try:
            written = report.write(directory, checked.result, checked.histories)
        except OSError as error:
            _usage(f"cannot write the report: {error}")
        told.print(f"report: {written.html}", markup=False)


def _end_without_verdict(document: Result, directory: Path | None, *, as_json: bool) -> NoReturn:
    """One line that says what is wrong; what the adapter wrote to its standard error goes into the report."""
    if as_json:
        _print_document(document)
    typer.echo(f"anchorhold: {document.error}", err=True)
    if directory is not None:
        try:
            written = report.write(directory, document, {})
            kept = directory / "adapter-stderr.txt"
            kept.write_text(document.stderr, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            _usage(f"cannot write the report: {error}")
        typer.echo(f"anchorhold: report: {written.html}; the adapter's standard error: {kept}", err=True)
    elif document.stderr.strip():
        kept = Path(tempfile.mkdtemp(prefix="anchorhold-")) / "adapter-stderr.txt"
        kept.write_text(document.stderr, encoding="utf-8", errors="backslashreplace")
        typer.echo(f"anchorhold: the adapter's standard error: {kept}", err=True)
    raise typer.Exit(ExitStatus.ERROR)


def _print_document(document: Result) -> None:
    sys.stdout.buffer.write(encode(document))
    sys.stdout.buffer.flush()


def _status(document: Result, level: int | None, wanted: tuple[str, ...]) -> int:
    verdicts = {
        rule: Verdict(rule=rule, kind=each.verdict, reason=each.reason, triggered=each.triggered)
        for rule, each in document.rules.items()
    }
    return exit_status(verdicts, asked=level, rules=wanted, irreversible=document.out_of_scope)


def _ready(directory: Path | None) -> Path:
    """Where failing histories go, free of those of an earlier check: beside this one's result they would mislead.

    Whether the report can be written is found out now, and not after all the work.
    """
    try:
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                pass
        histories = _histories(directory)
        for rule in RULES:
            (histories / f"{rule}.jsonl").unlink(missing_ok=True)
    except OSError as error:
        _usage(f"cannot write the report: {error}")
    return histories


def _histories(directory: Path | None) -> Path:
    """Where failing histories go: made only when there is one."""
    if directory is not None:
        return directory / "histories"
    here = DEFAULT_DIRECTORY / "histories"
    try:
        here.mkdir(parents=True, exist_ok=True)
        # Empty so far: it stays only if something is put into it.
        _remove_empty(here)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="anchorhold-")) / "histories"
    return here


def _remove_empty(directory: Path) -> None:
    for each in (directory, directory.parent):
        if not any(each.iterdir()):
            each.rmdir()


def _limits(timeout: float | None) -> Limits | None:
    return None if timeout is None else Limits(call=timeout)


def _rule(given: str) -> str:
    name = given.strip().upper()
    if name not in RULES:
        meant = near(given)
        _usage(
            f"no rule is called {given!r}: "
            + (f"did you mean {' or '.join(meant)}?" if meant else "`anchorhold spec list` lists them.")
        )
    return name


def _usage(message: str) -> NoReturn:
    typer.echo(f"anchorhold: {message}", err=True)
    raise typer.Exit(ExitStatus.ERROR)
