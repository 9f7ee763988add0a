"""`anchorhold audit`: what may be asked for; `auditing` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


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
    replay: Annotated[
        bool, typer.Option("--replay", help="Show what another compactor would have kept within reach, at what cost.")
    ] = False,
    compactor: Annotated[
        str | None,
        typer.Option(metavar="COMPACTOR", help="For --replay: as in `anchorhold check`; the reference unless given."),
    ] = None,
    histories: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="Write each compaction as a history, and judge it by the suite's rules.",
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show every compaction, however many there are.")] = False,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Files at a time; as many as there are processors.")
    ] = None,
) -> None:
    """Say what the compactions in transcripts lost, made up, and made the agent need or do again.

    Reads Claude Code, pi, Codex, Gemini CLI, OpenHands, SWE-agent, OpenAI chat, aider, OpenTelemetry spans and text;
    the format is told from the content. In folders only files with the marks of a transcript are read. Nothing
    leaves the machine. Ends with 0, with 1 where a condition of --fail-on holds, with 2 where nothing could be read,
    and else with 3 where a file could not be read or judged.
    """
    # Asking for help must not wait for what only the work needs.
    from anchorhold.cli import auditing

    auditing.run(
        paths,
        as_json=as_json,
        page=page,
        fail_on=fail_on,
        redact=redact,
        replay=replay,
        compactor=compactor,
        histories=histories,
        everything=everything,
        workers=workers,
    )
