"""`anchorhold smoke`: try an adapter itself."""

import sys
from importlib import import_module
from typing import Annotated

import msgspec
import typer

from anchorhold.errors import AdapterError
from anchorhold.level import ExitStatus


def smoke(
    adapter: Annotated[
        str, typer.Argument(metavar="ADAPTER", help="'cmd:PROGRAM ARGS', or the name of a shipped adapter.")
    ],
    *,
    timeout: Annotated[
        float, typer.Option(metavar="S", min=0.1, help="Seconds that one answer of the adapter may take.")
    ] = 10.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON document alone on standard output.")
    ] = False,
) -> None:
    """Try an adapter itself: does it speak the wire protocol, whatever its compactor does?

    Each finding is about the adapter and says where it came up; what the compactor answers is not judged. That an
    operation fails is only noted; one that is offered and never works is a finding. Ends with 0 where nothing was
    found, 1 where something was, 2 where the adapter cannot be started.
    """
    run = import_module("anchorhold.smoke").smoke
    try:
        smoked = run(adapter, seconds=timeout)
    except AdapterError as error:
        typer.echo(f"anchorhold: {error}", err=True)
        raise typer.Exit(ExitStatus.ERROR) from None
    if as_json:
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(smoked), indent=2) + b"\n")
        sys.stdout.buffer.flush()
    else:
        for line in (*smoked.findings, *smoked.notes):
            typer.echo(str(line))
        found = len(smoked.findings)
        verdict = f"{found} fault{'s' if found != 1 else ''} found" if found else "no fault found"
        who = f"; it drives {smoked.compactor}" if smoked.compactor else ""
        tried = len(smoked.operations)
        typer.echo(f"adapter {adapter}: {verdict} by {tried} method{'s' if tried != 1 else ''}{who}")
    raise typer.Exit(1 if smoked.findings else 0)
