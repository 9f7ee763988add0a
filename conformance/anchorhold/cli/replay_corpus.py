"""`anchorhold replay-corpus`: real transcripts, replayed through the reference compactor."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from anchorhold.corpus.jobs import Job, run_jobs
from anchorhold.corpus.replay import ENOUGH_GENERATIONS
from anchorhold.corpus.tally import Tally
from anchorhold.corpus.turns import UnknownFormatError, transcripts, turns_of


def replay_corpus(
    paths: Annotated[
        list[Path], typer.Argument(help="Transcripts, or folders of them: Claude Code, chat logs; .xz too.")
    ],
    *,
    budget: Annotated[int, typer.Option(help="Tokens of the model's window; compacted at 70 %.", min=1000)] = 100_000,
    queries: Annotated[
        int, typer.Option(help="Texts, and sets of words, looked up in each pass, a transcript.", min=1)
    ] = 200,
    gate: Annotated[
        str,
        typer.Option(help="`on`; `off`: a reaper deletes what is old without asking; `both`, one after the other."),
    ] = "both",
    limit: Annotated[int, typer.Option(help="Of each transcript only so many turns; 0: all.", min=0)] = 0,
    processes: Annotated[int, typer.Option(help="How many transcripts at a time.", min=1)] = 1,
    work: Annotated[Path | None, typer.Option(help="Where the databases are made, and removed again.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Replay transcripts through the reference, with a lossy summariser and lifetimes; count what is lost.

    Each file is one session. An interrupt (Ctrl-C) ends it early, with the figures of the turns so far.

    Exit status: 0 nothing drifted, every pointer resolved and no question got a wrong answer with the gate on, 1
    otherwise, 2 a usage error, 3 a transcript was compacted fewer than three times, so that the figures show nothing:
    give a smaller --budget.
    """
    if gate not in {"on", "off", "both"}:
        raise typer.BadParameter(f"{gate!r} is none of on, off, both", param_hint="--gate")
    try:
        found = [path for path in transcripts(paths) if turns_of(path)]
    except (UnknownFormatError, OSError) as error:
        typer.echo(f"anchorhold: {error}", err=True)
        raise typer.Exit(2) from None
    if not found:
        typer.echo("anchorhold: no turns in these files; give transcripts, or folders of them", err=True)
        raise typer.Exit(2)
    modes = ("on", "off") if gate == "both" else (gate,)
    todo = [
        Job(path=path, gate=mode == "on", budget=budget, queries=queries, limit=limit)
        for mode in modes
        for path in found
    ]
    tallies, interrupted = run_jobs(todo, work=work, processes=processes)
    totals = {mode: Tally() for mode in modes}
    for job, tally in zip(todo, tallies, strict=True):
        totals["on" if job.gate else "off"].add(tally)
    if interrupted:
        typer.echo(f"anchorhold: stopped after {totals[modes[0]].turns} turns; the figures are of those", err=True)
    if as_json:
        each = [(job.path.name, job.gate, tally) for job, tally in zip(todo, tallies, strict=True)]
        typer.echo(json.dumps(document(totals, each), indent=2))
    else:
        _print(totals)
    held = totals.get("on")
    if held is not None and (held.drift or held.unresolvable or held.wrong):
        raise typer.Exit(1)
    few = sorted(
        {job.path.name for job, one in zip(todo, tallies, strict=True) if one.generations < ENOUGH_GENERATIONS}
    )
    if few:
        typer.echo(
            f"anchorhold: fewer than {ENOUGH_GENERATIONS} generations in {', '.join(few)}: the figures show nothing "
            "of many compactions; give a smaller --budget, or a longer transcript",
            err=True,
        )
        raise typer.Exit(3)


def document(totals: Mapping[str, Tally], each: Sequence[tuple[str, bool, Tally]]) -> dict[str, object]:
    """The JSON document: the figures of the first mode, and beside them those without the gate where both ran, and
    those of each transcript."""
    first, *others = totals
    without = (
        {"without_gate": {**figures(totals[others[0]]), "details": details(totals[others[0]])}} if others else {}
    )
    return {
        "schema": 1,
        "gate": first,
        **figures(totals[first]),
        "details": details(totals[first]),
        **without,
        "transcripts": [
            {"file": name, "gate": "on" if gate else "off", **figures(tally), "details": details(tally)}
            for name, gate, tally in each
        ],
    }


def figures(tally: Tally) -> dict[str, object]:
    """The headline figures."""
    return {
        "turns": tally.turns,
        "compactions": tally.compactions,
        "generations": tally.generations,
        "drift": tally.drift,
        "unresolvable": tally.unresolvable,
        "hit_rate": [round(rate, 4) for rate in tally.hit_rate],
        "misses_reported": tally.misses_reported,
        "overhead_percent": round(tally.overhead_percent, 2),
        "audits": tally.audits,
        "seconds": round(tally.seconds, 1),
    }


def details(tally: Tally) -> dict[str, object]:
    """What the headline figures are made of."""
    steady = max(tally.steady, 1)
    return {
        "spans_replaced": tally.spans,
        "spans_asked_for": tally.asked_again,
        "assertions": tally.assertions,
        "assertions_lost": tally.lost,
        "assertions_held_by_a_manifest_alone": tally.carried,
        "slots_asked_for": tally.slots,
        "queries_asked": tally.asked,
        "hit_rate_of_queries_in_words": [round(rate, 4) for rate in tally.hit_rate_by_words],
        "misses_asked": tally.misses,
        "wrong_answers": tally.wrong,
        "window_tokens": round(tally.window / steady),
        "window_tokens_without_gate": round(tally.plain / steady),
        "overhead_tokens": {kind: round(size / steady, 1) for kind, size in tally.consists.items()},
        "overhead_percent_right_after_compaction": round(tally.overhead_percent_after, 2),
        "evictions": {"proposed": tally.proposed, "carried_out": tally.evicted, "refused": tally.refused},
        "audits_failed": tally.failed_audits,
        "tombstones": tally.tombstones,
        "losses_accepted": tally.overrides,
    }


def _print(totals: Mapping[str, Tally]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for mode in totals:
        table.add_column(f"gate {mode}", justify="right")
    rows = {mode: {**figures(tally), **details(tally)} for mode, tally in totals.items()}
    for key in next(iter(rows.values())):
        row = [rows[mode][key] for mode in totals]
        kinds = dict.fromkeys(kind for cell in row if isinstance(cell, dict) for kind in cell)
        for kind in kinds:
            cells = [str(cell.get(kind, "")) for cell in row if isinstance(cell, dict)]
            table.add_row(f"{_words(key)}: {kind.replace('_', ' ')}", *cells)
        if not kinds and not isinstance(row[0], dict):
            table.add_row(_words(key), *(", ".join(map(str, r)) if isinstance(r, list) else str(r) for r in row))
    Console().print(table)


def _words(key: str) -> str:
    return key.replace("_", " ")
