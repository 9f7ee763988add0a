"""A whole check: play every scenario, judge every history, decide every rule, shorten what failed.

Scenarios are played one after another on compactors that `anchorhold.load` makes, each on a fresh store. For each
rule that fails the smallest failing history is played again, shortened, and kept as a file for `anchorhold replay`.
"""

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

import msgspec

from anchorhold.compactor import Description, mechanisms_of
from anchorhold.effort import BUDGETS
from anchorhold.found import Found
from anchorhold.history import write_history
from anchorhold.level import NOT_ASKED
from anchorhold.load import Loaded
from anchorhold.playing import Playing, Settled
from anchorhold.progress import Progress, Silent
from anchorhold.result import FailureResult, Result, failure, result
from anchorhold.scenarios import Effort
from anchorhold.shortening import Replays, Shortening
from anchorhold.shrink import Failing
from anchorhold.trouble import explained
from anchorhold.verdict import Checker, Failure, History, Judgement, Verdict, VerdictKind, decide

NOTHING_PLAYED = "nothing was played: the compactor does not offer what the scenarios asked for need"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check came to."""

    result: Result
    histories: Mapping[str, History]
    """The history of each failure, by its path."""
    description: Description
    """What the compactor says of itself."""


def check(
    loaded: Loaded,
    *,
    checkers: Sequence[Checker],
    histories: Path,
    seed: int = 0,
    effort: Effort = Effort.STANDARD,
    rules: Collection[str] | None = None,
    named: Collection[str] | None = None,
    progress: Progress | None = None,
    again: Callable[[], Loaded] | None = None,
    workers: int = 1,
    examples: Path | None = None,
) -> Checked:
    """Check a compactor. `histories`: the directory in which failing histories are kept, made where one is needed.

    `rules`: only these are judged, and the others are untested. `named`: only the scenarios of these names are
    played; a verdict then says no more than they can show. `workers`: so many processes play at once, each of which
    loads the compactor by `again`; without that there is one. What is found is the same however many there are.
    `examples`: the directory of a Hypothesis database in which walks that fail are kept, to be played first by the
    next check; None keeps none.
    Raises `AdapterError` where the adapter does not work: there is then no verdict on anything. Raises
    `UnknownScenario` where no scenario of a name exists, and `OSError` where a history cannot be written.
    """
    begun = monotonic()
    listener = progress or Silent()
    run = Playing(loaded, seed=seed, effort=effort, progress=listener)
    found = [Found(checker) for checker in checkers if rules is None or checker.rule in rules]
    run.all(found, wanted=rules, named=named, again=again, workers=workers)
    if named is None:
        run.walk(found, examples=examples)
    present = mechanisms_of(run.description, summarised=run.summarised)
    verdicts: list[Verdict] = []
    failures: list[FailureResult] = []
    kept: dict[str, History] = {}
    broken = [each for each in found if each.starts]
    shortening = Shortening(run.play, effort=BUDGETS[effort].shrinking, progress=listener)
    for each in found:
        verdict = (
            decide(each.checker, present=present, hidden=run.description.hidden, judgements=each.judgements)
            if run.played
            else Verdict(rule=each.checker.rule, kind=VerdictKind.INCONCLUSIVE, reason=NOTHING_PLAYED, triggered=0)
        )
        if each.starts:
            broken.remove(each)
            shortest, replays = shortening.shortest(each, broken)
            shown = _told(shortest.failure, each.judgements, replays)
            entry, history = _keep(shortest.history, shown, histories, anywhere=loaded.anywhere)
            failures.append(entry)
            kept[entry.history] = history
            verdict = replace(verdict, reason=shown.sentence)
        elif verdict.kind is VerdictKind.INCONCLUSIVE:
            verdict = replace(
                verdict, reason=explained(verdict.reason, run.ends.missing(each.checker, run.description.operations))
            )
        verdicts.append(verdict)
    verdicts.extend(_left_out(checkers, rules))
    document = result(
        compactor=loaded.target,
        version=run.description.version,
        verdicts=verdicts,
        failures=failures,
        seconds=round(monotonic() - begun, 3),
        seed=seed,
        effort=effort.value,
        irreversible=run.description.irreversible,
        stderr=loaded.stderr,
    )
    return Checked(result=document, histories=kept, description=run.description)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """What failed in a check, before anything is shortened."""

    failures: Mapping[str, Failing]
    """The smallest history in which each rule failed."""
    after: Mapping[str, int]
    """How many operations had been played when it failed for the first time."""


def survey(
    loaded: Loaded, *, checkers: Sequence[Checker], seed: int, effort: Effort, until: frozenset[str] = frozenset()
) -> Surveyed:
    """Play what a check of this effort plays, and shorten nothing. Raises `AdapterError` as `check` does.

    `until`: rules; once all of them have failed the rest is left out.
    """
    run = Playing(loaded, seed=seed, effort=effort, progress=Silent())
    run.until = until
    found = [Found(checker) for checker in checkers]
    with suppress(Settled):
        run.all(found, wanted=None, named=None, again=None, workers=1)
        run.walk(found)
    return Surveyed(
        failures={each.checker.rule: each.starts[0] for each in found if each.starts},
        after={each.checker.rule: each.after for each in found if each.after is not None},
    )


def _left_out(checkers: Sequence[Checker], rules: Collection[str] | None) -> list[Verdict]:
    """Rules that have a checker and were not asked for: untested too, for another reason."""
    return [
        Verdict(rule=c.rule, kind=VerdictKind.UNTESTED, reason=NOT_ASKED, triggered=0)
        for c in checkers
        if rules is not None and c.rule not in rules
    ]


def _told(shown: Failure, judgements: Sequence[Judgement], replays: Replays) -> Failure:
    """The failure as it is reported; that it does not happen every time is part of it."""
    if replays.always:
        return shown
    times = sum(1 for judgement in judgements if judgement.failures)
    return replace(
        shown,
        sentence=f"{shown.sentence} (Not every time: it was seen in {times} of {len(judgements)} histories, and in "
        f"{replays.failed} of {replays.played} replays of this one, each in a fresh instance.)",
    )


def _keep(history: History, shown: Failure, directory: Path, *, anywhere: bool) -> tuple[FailureResult, History]:
    """Write the history down as the counterexample to the rule."""
    path = directory / f"{shown.rule}.jsonl"
    named = History(header=msgspec.structs.replace(history.header, rule=shown.rule), events=history.events)
    write_history(path, named.header, named.events)
    return failure(shown, history=str(path), replay=_replay(path, anywhere=anywhere)), named


def _replay(path: Path, *, anywhere: bool) -> str:
    """The command that plays a history again, from whatever directory it is given in.

    What a program or a module is given by cannot be told from the words of the command line: it is run where the
    check was run.
    """
    command = f"anchorhold replay {shlex.quote(str(path.absolute()))}"
    return command if anywhere else f"cd {shlex.quote(str(Path.cwd()))} && {command}"
