"""`anchorhold explore`: what may be asked for; `exploring` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def explore(
    machine: Annotated[
        list[str] | None,
        typer.Argument(metavar="MACHINE", help="A machine's name, or path.py:machine. With --designs: sources."),
    ] = None,
    *,
    designs: Annotated[
        bool, typer.Option("--designs", help="The decision tables of S0, S1, S2, S4: the sources' claims, computed.")
    ] = False,
    size: Annotated[
        list[str] | None,
        typer.Option(metavar="SORT=N,…", help="As in spans=6,keys=3,epochs=3; the rest as in the default instance."),
    ] = None,
    switch: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Variant of the design; may be repeated.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="ACTION:GUARD", help="Leave a guard out; may be repeated.")
    ] = None,
    symmetry: Annotated[
        bool, typer.Option("--symmetry", help="Keep one of the states that differ only in who is who.")
    ] = False,
    auxiliary: Annotated[
        bool, typer.Option("--auxiliary", help="Look at the invariants that only proofs need, too.")
    ] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Do not end at the first violation: find each property's shortest.")
    ] = False,
    walks: Annotated[int | None, typer.Option(min=1, metavar="N", help="Random walks instead of all states.")] = None,
    walk_length: Annotated[int, typer.Option(min=1, metavar="N", help="Most steps of a random walk.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of the random walks.")] = 0,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="End after the layer in which so many states are reached.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, metavar="N", help="All processors if left out.")] = None,
    memory: Annotated[
        float | None, typer.Option(min=0.05, metavar="GB", help="Most memory; half of the machine's if left out.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the search here now and then, and when it is stopped.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint, if it is there.")] = False,
    itf: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the counterexample in ITF.")] = None,
    dot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the states nearest to the first as a graph in DOT.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the counterexample as a page with a sequence diagram.")
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Do not compile: the same generated code, slowly, without numba.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON document alone on standard output.")
    ] = False,
) -> None:
    """Go through all reachable states of a machine at a finite size; show a shortest run to what is broken.

    Exit status: 0 nothing broken, 1 something broken, 2 usage, also of a size that does not fit into the memory that
    is allowed, 3 stopped by a limit before it was known.
    With --designs: 0 everything known (it may differ from a source), 1 something not known, 2 usage.
    """
    # Asking for help must not wait for what only the work needs.
    from anchorhold.cli import exploring

    exploring.run(
        machine,
        designs=designs,
        size=size,
        switch=switch,
        drop=drop,
        symmetry=symmetry,
        auxiliary=auxiliary,
        keep_going=keep_going,
        walks=walks,
        walk_length=walk_length,
        seed=seed,
        limit=limit,
        threads=threads,
        memory=memory,
        checkpoint=checkpoint,
        resume=resume,
        itf=itf,
        dot=dot,
        html=html,
        plain=plain,
        as_json=as_json,
    )
