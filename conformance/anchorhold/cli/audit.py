"""`anchorhold audit`: what the compactions in transcripts lost."""

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import Progress

from anchorhold.audit.redact import Redaction
from anchorhold.audit.report import html, terminal
from anchorhold.audit.result import ConditionError, document, encode, holds
from anchorhold.audit.run import audit_paths
from anchorhold.level import ExitStatus


def audit(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="Transcripts, or folders of them; .xz and .gz too.", show_default=False
        ),
    ],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON document alone on standard output.")
    ] = False,
    page: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", dir_okay=False, help="Write one page that opens from disk."),
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION", help="End with 1 where it holds, as needed-lost>0; may be given several times."
        ),
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Replace every value, name and text by a placeholder.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show every compaction, however many there are.")] = False,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Files at a time; as many as there are processors.")
    ] = None,
) -> None:
    """Say what the compactions in transcripts lost, made up, and made the agent need or do again.

    Reads Claude Code, pi, Codex, Gemini CLI, OpenHands, SWE-agent, OpenAI chat, aider, OpenTelemetry spans and text;
    the format is told from the content. Nothing leaves the machine. Ends with 0, with 1 where a condition of
    --fail-on holds, and with 2 where nothing could be read.
    """
    missing = [path for path in paths if not path.exists()]
    if missing:
        _end(f"there is no {missing[0]}")
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
            progress=lambda done, of, path: shown.update(task, completed=done, total=of, description=path.name[:40]),
        )
    if not audited or all(each.error for each in audited):
        why = f"{audited[0].path}: {audited[0].error}" if audited else "the folders hold no files"
        _end(f"no transcript was read: {why}")
    if redact:
        audited = Redaction().audited(audited)
    found = document(audited, seconds)
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
    failing = [condition for condition in fail_on or () if holds(condition, found.totals)]
    for condition in failing:
        typer.echo(f"anchorhold: {condition} holds", err=True)
    raise typer.Exit(ExitStatus.FAILED if failing else ExitStatus.HELD)


def _end(message: str) -> NoReturn:
    typer.echo(f"anchorhold: {message}", err=True)
    raise typer.Exit(ExitStatus.ERROR)
