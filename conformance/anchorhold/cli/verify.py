"""`anchorhold verify`: judge recorded histories."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from anchorhold import report
from anchorhold.checkers import CHECKERS, STRUCTURAL
from anchorhold.cli.places import ready, rule_id, usage
from anchorhold.history import write_history
from anchorhold.level import ExitStatus, exit_status
from anchorhold.result import FailureResult, Result, encode
from anchorhold.verify.run import MEMORY, NOTHING_JUDGED, Verified, Verifier, in_short, kept
from anchorhold.verify.segments import SEGMENT
from anchorhold_spec.catalogue import LEVELS

MEBIBYTE = 1024 * 1024


def verify(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="HISTORY...", help="JSON lines, one history or several after another; - reads standard input."
        ),
    ],
    *,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="DIR",
            file_okay=False,
            help="Write result.json, junit.xml, badge.svg, report.html and what shows each failure into this "
            "directory. Without it, what shows a failure goes to ./anchorhold-report/histories.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON document alone on standard output.")
    ] = False,
    rule: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Judge only this rule; may be given several times."),
    ] = None,
    level: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=5, help="Exit with 3 unless this level is reached.")
    ] = None,
    structural: Annotated[
        bool,
        typer.Option(
            "--structural",
            help=f"Judge only the structural rules: those that look for no words in texts, and are judged as fast as "
            f"the file is read ({', '.join(sorted(STRUCTURAL))}).",
        ),
    ] = False,
    segment: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=2,
            help="Events of one history that are judged together by the rules that look for words.",
            show_default=True,
        ),
    ] = SEGMENT,
    memory: Annotated[
        int,
        typer.Option(
            metavar="MIB",
            min=1,
            help="Lines of one history that may be held, in MiB; in memory they take about four times as much.",
            show_default=True,
        ),
    ] = MEMORY // MEBIBYTE,
) -> None:
    """Judge recorded histories, from a run or from production, with the checkers of `check`.

    Reads each file once, from its beginning to its end, and what shows the first failure of a structural rule a
    second time. Lines that cannot be used are told on standard error with
    their numbers. Ends with 0 where no rule failed (and the rules and the level asked for are held), 1 where one
    failed, 2 where none failed and a history could not be judged to its end, 3 where none failed and a rule or level
    asked for is not held, or nothing was judged.
    """
    wanted = tuple(rule_id(each) for each in rule or ())
    if level is not None and level not in LEVELS:
        usage(f"level {level} does not exist; there are {', '.join(map(str, LEVELS))}")
    told = Console(stderr=True, highlight=False, soft_wrap=True)
    keep_in = ready(directory)
    judges = [
        checker
        for checker in CHECKERS
        if (not wanted or checker.rule in wanted) and (not structural or checker.rule in STRUCTURAL)
    ]
    if not judges:
        usage(f"{', '.join(wanted)} cannot be judged with --structural: words have to be looked for in texts")
    verifier = Verifier(judges, longest=segment, memory=memory * MEBIBYTE)
    for path in files:
        try:
            if str(path) == "-":
                verifier.take(sys.stdin.buffer, name="-")
            else:
                with path.open("rb") as file:
                    verifier.take(file, name=str(path))
        except OSError as error:
            usage(f"{path}: {error.strerror or error}")
    verified = verifier.done(left_out=[checker for checker in CHECKERS if checker not in judges])
    for remark in verified.remarks:
        told.print(f"anchorhold: {remark}", markup=False)
    if verified.unused > len(verified.remarks):
        told.print(f"anchorhold: and {verified.unused - len(verified.remarks)} more lines", markup=False)
    if verified.header is None:
        usage(f"{NOTHING_JUDGED}: {verified.remarks[0] if verified.remarks else 'the files are empty'}")
    document = _kept(verified, keep_in)
    _tell(document, verified, directory, as_json=as_json, told=told)
    status = exit_status(
        {verdict.rule: verdict for verdict in verified.verdicts},
        asked=level,
        rules=wanted,
        irreversible=document.out_of_scope,
    )
    if status is not ExitStatus.FAILED and verified.cut:
        status = ExitStatus.ERROR
    raise typer.Exit(status)


def _kept(verified: Verified, directory: Path) -> Result:
    """The document; what shows each failure is written down as a history of its own."""
    entries: dict[str, FailureResult] = {}
    for rule, shown in verified.shown.items():
        path = directory / f"{rule}.jsonl"
        try:
            write_history(path, shown.history.header, shown.history.events)
        except OSError as error:
            usage(f"cannot write: {error}")
        command = f"anchorhold verify {shlex.quote(str(path.absolute()))} --rule {rule}"
        entries[rule] = kept(shown, path=str(path), command=command)
    return verified.document(kept=entries)


def _tell(document: Result, verified: Verified, directory: Path | None, *, as_json: bool, told: Console) -> None:
    if as_json:
        sys.stdout.buffer.write(encode(document))
        sys.stdout.buffer.flush()
    else:
        histories = {
            each.history: in_short(verified.shown[each.rule].history, verified.shown[each.rule].failure)
            for each in document.failures
        }
        report.terminal.render(document, histories, Console(highlight=False))
    told.print(
        f"{verified.histories:,} histories, {verified.events:,} events; "
        f"at most {verified.most_held / MEBIBYTE:.1f} MiB of lines held at a time",
        markup=False,
    )
    if directory is not None:
        try:
            full = {each.history: verified.shown[each.rule].history for each in document.failures}
            written = report.write(directory, document, full)
        except OSError as error:
            usage(f"cannot write the report: {error}")
        told.print(f"report: {written.html}", markup=False)
