"""`anchorhold replay`: play a history again."""

from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from anchorhold.checkers import CHECKERS
from anchorhold.errors import AdapterError, one_line
from anchorhold.history import HistoryError
from anchorhold.level import ExitStatus
from anchorhold.load import load
from anchorhold.replay import Replayed, lines, read
from anchorhold.replay import replay as play_again
from anchorhold.report.showing import showing
from anchorhold.wire.process import Limits

MOST_LINES = 120
"""Operations shown without `--all`: the last ones, which lead up to the failure."""
AROUND = 40
"""Characters that are shown before the first difference of two events."""


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A history: JSON lines.", show_default=False)],
    *,
    compactor: Annotated[
        str | None,
        typer.Option(metavar="COMPACTOR", help="Play it against another compactor than the one it was kept of."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show every operation, however many there are.")] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="End with 3 where no rule is broken and an event is not as in the file.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="S", min=0.1, help="Seconds that one operation of the compactor may take."),
    ] = None,
) -> None:
    """Play a history again, show each step, and say whether the rule that it breaks is broken again.

    Also says whether every event is the same as in the file, byte for byte or but for names that the compactor makes
    anew each time, or where it first went otherwise. Ends with 1 where the rule is broken again, 0 where it is not (3
    with --exact, where an event is not the same byte for byte), 2 where the file is no whole history or the compactor
    cannot be driven.
    """
    try:
        kept = read(file)
    except HistoryError as error:
        _end(str(error))
    except OSError as error:
        _end(f"{file}: {error.strerror or error}")
    limits = None if timeout is None else Limits(call=timeout)
    try:
        with load(compactor or kept.header.compactor, limits=limits) as loaded:
            replayed = play_again(kept, loaded=loaded, checkers=CHECKERS)
    except AdapterError as error:
        _end(f"{error}{_elsewhere(compactor, kept.header.compactor)}")
    except ValueError as error:
        _end(str(error))
    _show(replayed, everything=everything)
    parted = _say_whether_exact(replayed)
    if replayed.failures:
        raise typer.Exit(ExitStatus.FAILED)
    raise typer.Exit(ExitStatus.BLOCKED if exact and parted else ExitStatus.HELD)


def _say_whether_exact(replayed: Replayed) -> bool:
    """Say it; answers with whether it went otherwise."""
    console = Console(highlight=False, soft_wrap=True)
    parted = replayed.divergence
    if parted is None:
        console.print(Text(f"all {len(replayed.history.events)} events as in the file, byte for byte", style="dim"))
        return False
    if replayed.renamed:
        told = (
            f"as in the file but for names: this compactor makes ids or tokens anew each time, first in event "
            f"{parted.index}. What happened, and what is judged, is the same"
        )
        console.print(Text(told, style="dim"))
    else:
        told = f"event {parted.index} is not as in the file: from there on it went otherwise"
        console.print(Text(f"{told}, and the judgement is of how it went now", style="yellow"))
    at = next((n for n, pair in enumerate(zip(parted.kept, parted.now, strict=False)) if pair[0] != pair[1]), 0)
    for name, line in (("file", parted.kept), ("now ", parted.now)):
        start = max(0, at - AROUND)
        shown = ("…" if start else "") + line[start : at + 2 * AROUND] + ("…" if at + 2 * AROUND < len(line) else "")
        console.print(Text(f"  {name}  {one_line(shown, limit=4 * AROUND)}", style="dim"))
    return True


def _elsewhere(given: str | None, kept: str) -> str:
    """What a program or a module is given by may mean something only in the directory of the check."""
    where = kept.rpartition(":")[0]
    if given is not None or not where or where.endswith(".py"):
        return ""
    return f" (the history was kept of {kept}: replay it where that was checked, or name it with --compactor)"


def _show(replayed: Replayed, *, everything: bool) -> None:
    console = Console(highlight=False, soft_wrap=True)
    header = replayed.history.header
    told = list(lines(replayed.history.events))
    console.print(
        Text.assemble(
            (header.workload.name, "bold"), f" against {header.compactor} {header.version}, {len(told)} operations"
        )
    )
    hidden = 0 if everything else max(0, len(told) - MOST_LINES)
    if hidden:
        console.print(Text(f"  … {hidden} operations before these; --all shows them", style="dim"))
    events = replayed.history.events
    failing = {showing(events, sentence=each.sentence, event=each.event): each for each in replayed.failures}
    for line in told[hidden:]:
        broken = next((failing[at] for at in range(line.first, line.last + 1) if at in failing), None)
        # Inside another operation, the failure is told at the one that holds it.
        broken = None if line.depth else broken
        mark = "✗" if broken else " "
        console.print(
            Text.assemble(
                (f"{mark} {line.first:>4}  ", "bold red" if broken else "dim"),
                "  " * line.depth,
                (line.call, "bold red" if broken else ""),
                (f"  →  {line.end}", "dim"),
            )
        )
    rule = header.rule
    if not replayed.failures:
        which = f"{rule} holds" if rule else "every rule that has a checker holds"
        console.print(Text(f"{which} this time.", style="green"))
        return
    for failure in replayed.failures:
        again = "fails again" if rule else "fails"
        console.print(Text.assemble((f"{failure.rule} {again}. ", "bold red"), one_line(failure.sentence)))


def _end(message: str) -> NoReturn:
    typer.echo(f"anchorhold: {message}", err=True)
    raise typer.Exit(ExitStatus.ERROR)
