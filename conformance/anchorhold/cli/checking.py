"""What `anchorhold check` does; `check` says what may be asked for."""

import sys
import tempfile
import time
import traceback
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

import msgspec
import typer
from rich.console import Console

from anchorhold import horizon, report
from anchorhold.check import Checked
from anchorhold.check import check as run_check
from anchorhold.checkers import CHECKERS
from anchorhold.claims import Claims, ClaimsError, judge_claims, read_claims
from anchorhold.cli.places import ready, rule_id, usage
from anchorhold.effort import Effort
from anchorhold.errors import AdapterError, one_line
from anchorhold.expectations import NOTHING, ExpectationError, Expected, Met, meet, read_expectations
from anchorhold.level import ExitStatus, exit_status, standing
from anchorhold.load import Loaded, load
from anchorhold.playing import UnknownScenario
from anchorhold.progress import OnTerminal
from anchorhold.result import OWN_FAULT, ClaimVerdict, Result, broken, encode, own_fault
from anchorhold.verdict import Verdict, VerdictKind
from anchorhold.wire.process import Limits
from anchorhold_spec.catalogue import LEVELS


def run(
    compactor: str,
    *,
    directory: Path | None,
    as_json: bool,
    seed: int,
    effort: Effort,
    rule: list[str] | None,
    scenario: list[str] | None,
    level: int | None,
    expect: Path | None,
    claims: Path | None,
    workers: int,
    examples: Path | None,
    timeout: float | None,
) -> None:
    """Check it, tell it, and end with the status that `anchorhold check` documents."""
    wanted = None if not rule else tuple(rule_id(each) for each in rule)
    if level is not None and level not in LEVELS:
        usage(f"level {level} does not exist; there are {', '.join(map(str, LEVELS))}")
    try:
        expected = NOTHING if expect is None else read_expectations(expect)
        claimed = None if claims is None else read_claims(claims)
    except (ExpectationError, ClaimsError) as error:
        usage(str(error))
    told = Console(stderr=True, highlight=False)
    kept_in = ready(directory)
    begun = time.monotonic()
    stderr = ""
    try:
        with load(compactor, limits=_limits(timeout)) as loaded:
            try:
                with OnTerminal(told, quiet=as_json) as progress:
                    checked = run_check(
                        loaded,
                        checkers=CHECKERS,
                        histories=kept_in,
                        seed=seed,
                        effort=effort,
                        rules=wanted,
                        named=scenario or None,
                        progress=progress,
                        again=partial(load, compactor, limits=_limits(timeout)),
                        workers=workers,
                        examples=examples,
                    )
                    if claimed is not None:
                        checked = _with_claims(checked, claimed, loaded, kept_in, seed=seed)
            finally:
                stderr = loaded.stderr
    except AdapterError as error:
        document = broken(
            compactor=compactor,
            error=str(error),
            seconds=round(time.monotonic() - begun, 3),
            seed=seed,
            stderr=error.stderr or stderr,
        )
        _end_without_verdict(document, directory, as_json=as_json)
    except UnknownScenario as error:
        usage(str(error))
    except OSError as error:
        usage(f"cannot write: {error}")
    except Exception as error:  # noqa: BLE001 - whatever it is: it says nothing of the compactor, and must not look so
        document = broken(
            compactor=compactor,
            error=f"{OWN_FAULT}: {one_line(f'{type(error).__name__}: {error}')}",
            seconds=round(time.monotonic() - begun, 3),
            seed=seed,
            stderr="".join(traceback.format_exception(error)),
        )
        _end_without_verdict(document, directory, as_json=as_json)
    checked = replace(checked, result=msgspec.structs.replace(checked.result, expected=dict(expected)))
    _tell(checked, directory, as_json=as_json, told=told)
    stale = _stale(checked.result, expected, wanted)
    for rule_, why in stale.items():
        told.print(
            f"anchorhold: {rule_} is expected to fail ({why}), and is held: take it out of {expect}", markup=False
        )
    raise typer.Exit(_status(checked.result, level, wanted or (), expected, stale))


def _with_claims(checked: Checked, claimed: Claims, loaded: Loaded, histories: Path, *, seed: int) -> Checked:
    seen = None
    if claimed.horizon is not None:
        seen = horizon.look(loaded, checked.description, claimed.horizon, seed=seed, histories=histories)
    judged = judge_claims(claimed, checked.result, checked.description, horizon=seen)
    return replace(checked, result=msgspec.structs.replace(checked.result, claims=judged))


def _stale(document: Result, expected: Expected, wanted: tuple[str, ...] | None) -> dict[str, str]:
    """Rules that were expected to fail, and are held."""
    return {
        rule: why
        for rule, why in expected.items()
        if (wanted is None or rule in wanted) and meet(document.rules[rule].verdict, expected=True) is Met.HELD
    }


def _tell(checked: Checked, directory: Path | None, *, as_json: bool, told: Console) -> None:
    if as_json:
        _print_document(checked.result)
    else:
        report.terminal.render(checked.result, checked.histories, Console(highlight=False))
    if directory is not None:
        try:
            written = report.write(directory, checked.result, checked.histories)
        except OSError as error:
            usage(f"cannot write the report: {error}")
        told.print(f"report: {written.html}", markup=False)


def _end_without_verdict(document: Result, directory: Path | None, *, as_json: bool) -> NoReturn:
    """One line that says what is wrong; what the adapter wrote to its standard error goes into the report.

    Of a fault of the suite that is its traceback, which is to be reported.
    """
    what = "traceback" if own_fault(document) else "the adapter's standard error"
    name = "traceback.txt" if own_fault(document) else "adapter-stderr.txt"
    if as_json:
        _print_document(document)
    typer.echo(f"anchorhold: {document.error}", err=True)
    if directory is not None:
        try:
            written = report.write(directory, document, {})
            kept = directory / name
            kept.write_text(document.stderr, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            usage(f"cannot write the report: {error}")
        typer.echo(f"anchorhold: report: {written.html}; {what}: {kept}", err=True)
    elif document.stderr.strip():
        kept = Path(tempfile.mkdtemp(prefix="anchorhold-")) / name
        kept.write_text(document.stderr, encoding="utf-8", errors="backslashreplace")
        typer.echo(f"anchorhold: {what}: {kept}", err=True)
    raise typer.Exit(ExitStatus.ERROR)


def _print_document(document: Result) -> None:
    sys.stdout.buffer.write(encode(document))
    sys.stdout.buffer.flush()


def _status(
    document: Result, level: int | None, wanted: tuple[str, ...], expected: Expected, stale: Collection[str]
) -> int:
    verdicts = {
        rule: Verdict(rule=rule, kind=each.verdict, reason=each.reason, triggered=each.triggered)
        for rule, each in document.rules.items()
    }
    status = exit_status(verdicts, asked=level, rules=wanted, irreversible=document.out_of_scope)
    if status is ExitStatus.FAILED and all(
        rule in expected for rule, verdict in verdicts.items() if verdict.kind is VerdictKind.FAIL
    ):
        # Known failures fail nothing; what they hold back is held back all the same.
        rest = {rule: verdict for rule, verdict in verdicts.items() if rule not in expected}
        where = standing(verdicts, irreversible=document.out_of_scope)
        status = exit_status(rest, rules=tuple(rule for rule in wanted if rule not in expected))
        if level is not None and not where.reaches(level):
            status = ExitStatus.BLOCKED
    unkept = {claim.verdict for claim in document.claims}
    if stale or ClaimVerdict.BROKEN in unkept:
        return ExitStatus.FAILED
    if status is ExitStatus.HELD and ClaimVerdict.UNDECIDED in unkept:
        return ExitStatus.BLOCKED
    return status


def _limits(timeout: float | None) -> Limits | None:
    return None if timeout is None else Limits(call=timeout)
