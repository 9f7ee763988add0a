"""`anchorhold replay-corpus`: real transcripts, replayed through the reference compactor."""

import json
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from anchorhold.corpus.replay import Tally, choose_queries, replay
from anchorhold.corpus.turns import UnknownFormatError, transcripts, turns_of
from anchorhold_spec.vocabulary import Turn


def replay_corpus(
    paths: Annotated[
        list[Path], typer.Argument(help="Transcripts, or folders of them: Claude Code, chat logs; .xz too.")
    ],
    *,
    budget: Annotated[int, typer.Option(help="Tokens of the model's window; compacted at 70 %.", min=1000)] = 100_000,
    queries: Annotated[int, typer.Option(help="Texts that are looked up in each pass, a transcript.", min=1)] = 200,
    gate: Annotated[
        str,
        typer.Option(help="`on`; `off`: a reaper deletes what is old without asking; `both`, one after the other."),
    ] = "both",
    limit: Annotated[int, typer.Option(help="Of each transcript only so many turns; 0: all.", min=0)] = 0,
    work: Annotated[Path | None, typer.Option(help="Where the databases are made, and removed again.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Replay transcripts through the reference, with a lossy summariser and lifetimes; count what is lost.

    An interrupt (Ctrl-C) ends it early, with the figures of the turns so far.

    Exit status: 0 nothing drifted and every pointer resolved with the gate on, 1 otherwise, 2 a usage error.
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
    if as_json:
        main = next(iter(tallies.values()))
        document = {"schema": 1, "gate": next(iter(tallies)), **_figures(main)}
        if len(tallies) > 1:
            document["without_gate"] = _figures(tallies["off"])
        typer.echo(json.dumps(document, indent=2))
    else:
        _print(tallies)
    held = tallies.get("on")
    if held is not None and (held.drift or held.unresolvable or held.wrong):
        raise typer.Exit(1)


def _replay_all(
    found: list[tuple[Path, list[Turn]]], *, budget: int, queries: int, gate: bool, work: Path | None
) -> Tally:
    total = Tally()
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
            total.add(
                replay(
                    turns,
                    Path(directory) / f"{i}.db",
                    budget=budget,
                    gate=gate,
                    queries=choose_queries(turns, count=queries),
                    progress=lambda n, task=task: progress.advance(task, n),  # type: ignore[misc]
                    stopped=stop.is_set,
                )
            )
    signal.signal(signal.SIGINT, before)
    if stop.is_set():
        typer.echo(f"anchorhold: stopped after {total.turns} turns; the figures are of those", err=True)
    return total


def _figures(tally: Tally) -> dict[str, object]:
    return {
        "turns": tally.turns,
        "compactions": tally.compactions,
        "generations": tally.generations,
        "drift": tally.drift,
        "unresolvable": tally.unresolvable,
        "hit_rate": _rates(tally),
        "misses_reported": tally.misses_reported,
        "overhead_percent": round(tally.overhead_percent, 2),
        "audits": tally.audits,
        "seconds": round(tally.seconds, 1),
        "assertions": tally.assertions,
        "assertions_lost": tally.lost,
        "misses_asked": tally.misses,
        "wrong_answers": tally.wrong,
        "window_tokens": round(tally.window / max(tally.turns, 1)),
        "overhead_tokens": {kind: round(size / max(tally.turns, 1), 1) for kind, size in tally.overhead.items()},
        "overhead_percent_right_after_compaction": round(
            100 * tally.compacted_overhead / max(tally.compacted - tally.compacted_overhead, 1), 2
        ),
        "evictions": {"proposed": tally.proposed, "carried_out": tally.evicted, "refused": tally.refused},
    }


def _rates(tally: Tally) -> list[float]:
    return [round(hits / max(asked, 1), 4) for hits, asked in zip(tally.hits, tally.asked, strict=True)]


def _print(tallies: dict[str, Tally]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for mode in tallies:
        table.add_column(f"gate {mode}", justify="right")
    figures = {mode: _figures(tally) for mode, tally in tallies.items()}
    for key in next(iter(figures.values())):
        rows = [figures[mode][key] for mode in tallies]
        if isinstance(rows[0], dict):
            for inner in rows[0]:
                table.add_row(f"{_words(key)}: {inner}", *(str(row[inner]) for row in rows if isinstance(row, dict)))
        else:
            table.add_row(_words(key), *(", ".join(map(str, r)) if isinstance(r, list) else str(r) for r in rows))
    Console().print(table)


def _words(key: str) -> str:
    return key.replace("_", " ")
