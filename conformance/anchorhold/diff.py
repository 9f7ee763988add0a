"""Two results of `anchorhold check` compared, rule by rule. Pure."""

from enum import StrEnum
from typing import Final

import msgspec

from anchorhold.level import HELD, NOT_ASKED
from anchorhold.result import Result
from anchorhold.verdict import VerdictKind
from anchorhold_spec.catalogue import RULES

SCHEMA: Final = 1


class Change(StrEnum):
    """What became of a rule."""

    WORSE = "worse"
    """It failed, and did not before; or it was held, and is no longer even decided where it can be."""
    UNDECIDED = "undecided"
    """It was held or failed, and is now inconclusive or untested: nothing is known any more."""
    NEW = "new"
    """The older result does not judge it: untested, or not in its catalogue."""
    GONE = "gone"
    """The newer result does not know it."""
    BETTER = "better"
    """It is held and was not, or it no longer fails and can be seen."""
    OTHER = "other"
    """The verdict is another one of the same worth."""
    SAME = "same"


class RuleChange(msgspec.Struct, frozen=True, kw_only=True):
    """One rule in both results."""

    rule: str
    change: Change
    before: VerdictKind | None
    """None where the result does not have the rule."""
    after: VerdictKind | None
    reason: str
    """Of the newer verdict; of the older where there is no newer."""
    replay: str | None = None
    """How the newer failure is played again."""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """Which result it is."""

    compactor: str
    version: str
    level: int | None
    seed: int
    error: str | None = None


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that differs."""

    schema: int
    before: Side
    after: Side
    worse: bool
    """Whether a rule or the level got worse, or the newer run came to no verdict where the older did."""
    changes: tuple[RuleChange, ...]
    """Rules of which anything differs, in the order of the catalogue."""
    same: int
    """How many rules have the same verdict in both."""
    warnings: tuple[str, ...] = ()
    """Why the two cannot be compared as they are: another compactor, seed, effort, other rules."""


UNKNOWN: Final = frozenset({VerdictKind.INCONCLUSIVE, VerdictKind.UNTESTED})
"""Nothing was found out."""


def change(before: VerdictKind | None, after: VerdictKind | None) -> Change:
    """What became of one rule. A rule that nobody judged before and that fails now is worse, not new.

    Held comes before not observable, and that before failed. From failed to undecided is no improvement.
    """
    if before is after:
        return Change.SAME
    if after is None:
        return Change.WORSE if before in HELD else Change.GONE
    if after is VerdictKind.FAIL:
        return Change.WORSE
    if before is None or before is VerdictKind.UNTESTED:
        if after is VerdictKind.UNTESTED:
            return Change.OTHER
        return Change.UNDECIDED if after in UNKNOWN and before is not None else Change.NEW
    if after in UNKNOWN:
        return Change.OTHER if before in UNKNOWN else Change.UNDECIDED
    if after in HELD:
        return Change.OTHER if before in HELD else Change.BETTER
    # Not observable.
    return Change.WORSE if before in HELD else Change.BETTER if before is VerdictKind.FAIL else Change.OTHER


def compare(before: Result, after: Result) -> Diff:
    """Compare two results. A run that ended with an error has no verdicts: all of the other's are then missing."""
    order = [*RULES, *sorted((before.rules.keys() | after.rules.keys()) - RULES.keys())]
    changes = [_change(rule, before, after) for rule in order if rule in before.rules or rule in after.rules]
    if after.error is not None or before.error is not None:
        changes = []
    level_fell = before.level is not None and (after.level is None or after.level < before.level)
    return Diff(
        schema=SCHEMA,
        before=_side(before),
        after=_side(after),
        worse=(
            any(each.change is Change.WORSE for each in changes)
            or (after.error is not None and before.error is None)
            or (level_fell and after.error is None and any(each.change is not Change.SAME for each in changes))
        ),
        changes=tuple(each for each in changes if each.change is not Change.SAME),
        same=sum(each.change is Change.SAME for each in changes),
        warnings=tuple(_warnings(before, after)),
    )


def _change(rule: str, before: Result, after: Result) -> RuleChange:
    old, new = before.rules.get(rule), after.rules.get(rule)
    told = new or old
    assert told is not None
    return RuleChange(
        rule=rule,
        change=change(old.verdict if old else None, new.verdict if new else None),
        before=old.verdict if old else None,
        after=new.verdict if new else None,
        reason=told.reason,
        replay=next((each.replay for each in after.failures if each.rule == rule), None),
    )


def _side(result: Result) -> Side:
    return Side(
        compactor=result.compactor,
        version=result.version,
        level=result.level,
        seed=result.seed,
        error=result.error,
    )


def _warnings(before: Result, after: Result) -> list[str]:
    found = []
    if before.compactor != after.compactor:
        found.append(f"these are two compactors: {before.compactor} and {after.compactor}")
    if before.effort != after.effort and None not in (before.effort, after.effort):
        found.append(f"the efforts differ, {before.effort} and {after.effort}: more was tried in one of them")
    for name, one, other in (("older", before, after), ("newer", after, before)):
        left = sorted(_not_asked(one) - _not_asked(other))
        if left and one.error is None and other.error is None:
            found.append(f"the {name} run was not asked for {len(left)} rules that the other judges")
    if before.seed != after.seed:
        found.append(f"the seeds differ, {before.seed} and {after.seed}: what was tried differs too")
    return found


def _not_asked(result: Result) -> set[str]:
    return {
        rule
        for rule, found in result.rules.items()
        if found.verdict is VerdictKind.UNTESTED and found.reason == NOT_ASKED
    }
