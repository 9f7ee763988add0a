"""`anchorhold replay-corpus`: real transcripts, replayed through the reference compactor."""

import json
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from anchorhold.corpus.replay import ENOUGH_GENERATIONS, replay
from anchorhold.corpus.tally import Tally
from anchorhold.corpus.turns import UnknownFormatError, transcripts, turns_of
from anchorhold_spec.vocabulary import Turn


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
        found = [(path, turns_of(path)) for path in transcripts(paths)]
    except (UnknownFormatError, OSError) as error:
        typer.echo(f"anchorhold: {error}", err=True)
        raise typer.Exit(2) from None
    found = [(path, turns[:limit] if limit else turns) for path, turns in found if turns]
    if not found:
        typer.echo("anchorhold: no turns in these files; give transcripts, or folders of them", err=True)
        raise typer.Exit(2)
    tallies = {
        mode: _replay_all(found, budget=budget, queries=queries, gate=mode == "on", work=work)
        for mode in (("on", "off") if gate == "both" else (gate,))
    }
    totals = {mode: total for mode, (total, _) in tallies.items()}
    if as_json:
        typer.echo(json.dumps(document(totals), indent=2))
    else:
        _print(totals)
    held = totals.get("on")
    if held is not None and (held.drift or held.unresolvable or held.wrong):
        raise typer.Exit(1)
    few = sorted({name for _, shown in tallies.values() for name in shown})
    if few:
        typer.echo(
            f"anchorhold: fewer than {ENOUGH_GENERATIONS} generations in {', '.join(few)}: the figures show nothing "
            "of many compactions; give a smaller --budget, or a longer transcript",
            err=True,
        )
        raise typer.Exit(3)


def document(totals: Mapping[str, Tally]) -> dict[str, object]:
    """The JSON document: the figures of the first mode, and beside them those without the gate where both ran."""
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
    }


def _replay_all(
    found: list[tuple[Path, list[Turn]]], *, budget: int, queries: int, gate: bool, work: Path | None
) -> tuple[Tally, list[str]]:
    """What was counted over all files, and which of them had too few generations."""
    total = Tally()
    few: list[str] = []
    stop = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: stop.set())
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        tempfile.TemporaryDirectory(dir=work, prefix="anchorhold-replay-") as directory,
        Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as progress,
    ):
        for i, (path, turns) in enumerate(found):
            if stop.is_set():
                break
            name = f"{path.name}, gate {'on' if gate else 'off'}"
            task = progress.add_task(name, total=len(turns))
            one = replay(
                turns,
                Path(directory) / f"{i}.db",
                budget=budget,
                gate=gate,
                queries=queries,
                progress=_told(name, len(turns)) if progress.disable else partial(_shown, progress, task),
                stopped=stop.is_set,
            )
            total.add(one)
            if one.generations < ENOUGH_GENERATIONS:
                few.append(path.name)
    signal.signal(signal.SIGINT, before)
    if stop.is_set():
        typer.echo(f"anchorhold: stopped after {total.turns} turns; the figures are of those", err=True)
    return total, few


def _shown(progress: Progress, task: TaskID, done: int) -> None:
    progress.update(task, completed=done)


def _told(name: str, turns: int) -> Callable[[int], None]:
    """Progress for who reads a log: a line a tenth."""
    marks = {turns * (i + 1) // 10 for i in range(10)}

    def tell(done: int) -> None:
        if done in marks:
            typer.echo(f"{name}: {done} of {turns} turns", err=True)

    return tell


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
