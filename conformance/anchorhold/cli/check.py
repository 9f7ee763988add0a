"""`anchorhold check`: what may be asked for; `checking` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anchorhold.effort import Effort
from anchorhold.examples import usual_place


def check(
    compactor: Annotated[
        str,
        typer.Argument(
            metavar="[COMPACTOR]",
            help="reference, the name of a shipped adapter, pkg.module:Class, path.py:Class, or 'cmd:PROGRAM ARGS' "
            "(cmd+clock:, cmd+store:, cmd+clock+store: also move its clock, or make its disk fail, from outside).",
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
            help="Write result.json, junit.xml, badge.svg, report.html and the failing histories into this "
            "directory, in place of those of an earlier check. Without it, failing histories go to "
            "./anchorhold-report/histories.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON document alone on standard output.")
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed plants other facts in other turns.")] = 0,
    effort: Annotated[
        Effort,
        typer.Option(
            help="How much is tried. Quick: only as many of the directed scenarios as it takes to say something of "
            "each rule, and not the long one that RET-2 takes; all that aim at it for a --rule that is asked for. "
            "Standard: every directed scenario, mixtures and journeys. Thorough: each five times, and walks by "
            "Hypothesis."
        ),
    ] = Effort.STANDARD,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID", help="Judge only this rule, by the scenarios that aim at it; may be given several times."
        ),
    ] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Play only this scenario; may be given several times."),
    ] = None,
    level: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=5, help="Exit with 3 unless this level is reached.")
    ] = None,
    expect: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Rules that are known to fail (TOML): they do not count, and one that holds does."
        ),
    ] = None,
    claims: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What the vendor promises (TOML): judged too, apart from the rules."),
    ] = None,
    workers: Annotated[
        int, typer.Option(metavar="N", min=1, help="Play in so many processes at once; what is found is the same.")
    ] = 1,
    examples: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="Where walks that failed are kept (--effort thorough), and found by the next check, which plays "
            "them first: a database of Hypothesis'. Default: where Hypothesis keeps its own, .hypothesis/examples.",
        ),
    ] = None,
    no_examples: Annotated[
        bool, typer.Option("--no-examples", help="Neither keep walks that failed nor play those that were kept.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="S", min=0.1, help="Seconds that one operation of the compactor may take."),
    ] = None,
) -> None:
    """Check a compactor: which rules it holds, and to which level.

    Ends with 0 where no rule failed (and the rules and the level asked for are held), 1 where one failed that was not
    expected to, or a claim is broken, 2 where the compactor could not be driven, 3 where none failed and a rule or
    level asked for is not held, a claim could not be decided, or nothing was judged.
    """
    # Asking for help must not wait for what only the work needs.
    from anchorhold.cli import checking

    checking.run(
        compactor,
        directory=directory,
        as_json=as_json,
        seed=seed,
        effort=effort,
        rule=rule,
        scenario=scenario,
        level=level,
        expect=expect,
        claims=claims,
        workers=workers,
        examples=None if no_examples else examples or usual_place(),
        timeout=timeout,
    )
