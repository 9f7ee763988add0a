"""`anchorhold prove`: what may be asked for; `proving` does it."""

from __future__ import annotations

from typing import Annotated

import typer


def prove(
    machines: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MACHINE]...", help="Names, or path.py:machine. All machines if none is given."),
    ] = None,
    *,
    switch: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Variant of the design, of each machine named; may be repeated."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON document alone on standard output.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds for each question to Z3; what takes longer is not proved.")
    ] = 10.0,
) -> None:
    """Prove every invariant of the machines, show each guard necessary, and that nothing holds vacuously.

    A question outside the fragment that is decided is warned of: it may come back `unknown`.

    Exit status: 0 all proved, 1 something refuted or unknown, 2 usage.
    """
    # Asking for help must not wait for what only the work needs.
    from anchorhold.cli import proving

    proving.run(
        machines,
        switch=switch,
        as_json=as_json,
        timeout=timeout,
    )
