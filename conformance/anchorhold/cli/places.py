"""Where a command keeps the histories that show a failure, and what its usage errors look like."""

import tempfile
from pathlib import Path
from typing import NoReturn

import typer

from anchorhold.level import ExitStatus
from anchorhold_spec.catalogue import RULES, near

DEFAULT_DIRECTORY = Path("anchorhold-report")
"""Where failing histories go when no directory was named; where it cannot be made, a temporary one."""


def ready(directory: Path | None) -> Path:
    """Where failing histories go, free of those of an earlier run: beside this one's result they would mislead.

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
        usage(f"cannot write the report: {error}")
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


def rule_id(given: str) -> str:
    """The rule that is meant; ends the command where there is none."""
    name = given.strip().upper()
    if name not in RULES:
        meant = near(given)
        usage(
            f"no rule is called {given!r}: "
            + (f"did you mean {' or '.join(meant)}?" if meant else "`anchorhold spec list` lists them.")
        )
    return name


def usage(message: str) -> NoReturn:
    """End with one line and exit status 2."""
    typer.echo(f"anchorhold: {message}", err=True)
    raise typer.Exit(ExitStatus.ERROR)
