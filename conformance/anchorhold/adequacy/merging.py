"""What several runs of `anchorhold adequacy --json` found, put together as if they had been one."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from anchorhold.adequacy.measure import Adequacy, Alarm, Checked, Defect


class MergeError(Exception):
    """Runs do not belong together; the text says why."""


def merged(runs: Sequence[Adequacy]) -> Adequacy:
    """Each wrong compactor and each right one of all runs, the right ones with all of their seeds.

    Raises MergeError where a wrong compactor stands in two of them, where they were not played in the same way, and
    where one does not say which right ones it checked, as an older version's.
    """
    first = runs[0]
    if any(run.right != len(run.checked) for run in runs):
        raise MergeError("one does not say which right ones it checked (`checked`): run it again")
    for run in runs[1:]:
        for name, one, other in (
            ("effort", first.effort, run.effort),
            ("directed scenarios", first.directed, run.directed),
            ("scenarios", first.scenarios or "all", run.scenarios or "all"),
        ):
            if one != other:
                raise MergeError(f"runs differ in {name}: {one} and {other}")
    wrong = [run for run in runs if run.defects]
    if len({run.seeds for run in wrong}) > 1:
        raise MergeError(
            f"wrong ones were sought with {' and '.join(sorted({str(run.seeds) for run in wrong}))} seeds"
        )
    defects = tuple(defect for run in wrong for defect in run.defects)
    twice = sorted(_twice(defect.id for defect in defects))
    if twice:
        raise MergeError(f"{twice[0]} stands in two runs")
    checked = _together([each for run in runs for each in run.checked])
    alarms = _distinct([alarm for run in runs for alarm in run.alarms])
    return msgspec.structs.replace(
        wrong[0] if wrong else first,
        defects=defects,
        blind=sum(defect.blind for defect in defects),
        rules_without_defect=tuple(rule for rule in first.rules_without_defect if _without(rule, runs)),
        checked=checked,
        right=len(checked),
        right_seeds=min((len(each.seeds) for each in checked), default=0),
        alarms=alarms,
        false_alarms=len(alarms),
        seconds=round(sum(run.seconds for run in runs), 3),
    )


def rates(defects: Iterable[Defect]) -> Mapping[str, tuple[int, int]]:
    """With how many of how many seeds each wrong compactor was caught."""
    return {defect.id: (defect.seeds_caught, defect.seeds) for defect in defects}


def _without(rule: str, runs: Collection[Adequacy]) -> bool:
    return all(rule in run.rules_without_defect for run in runs)


def _twice(names: Iterable[str]) -> set[str]:
    return {name for name, times in Counter(names).items() if times > 1}


def _together(parts: Iterable[Checked]) -> tuple[Checked, ...]:
    found: dict[str, Checked] = {}
    for part in parts:
        seeds = {*found[part.id].seeds, *part.seeds} if part.id in found else part.seeds
        found[part.id] = msgspec.structs.replace(part, seeds=tuple(sorted(seeds)))
    return tuple(found.values())


def _distinct(alarms: Iterable[Alarm]) -> tuple[Alarm, ...]:
    """What is the same with every seed is heard in each run."""
    return tuple({(alarm.id, alarm.rule, alarm.seed): alarm for alarm in alarms}.values())
