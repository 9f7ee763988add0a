"""From the verdicts on the rules to the level that is reached, and to the command's exit status. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from anchorhold.verdict import Verdict, VerdictKind
from anchorhold_spec.catalogue import LEVELS, RULES

HELD = frozenset({VerdictKind.PASS, VerdictKind.VACUOUS})
"""Verdicts that count as held. Every other one blocks each level that demands the rule."""

NO_CHECKER = "the suite has no checker for it yet"
NOT_ASKED = "this run was asked for other rules"
"""Why a rule is untested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a compactor stands on the ladder."""

    level: int | None
    """The highest level all of whose rules are held, 0 to 5; none where the compactor is out of scope."""
    blocked_by: Mapping[int, tuple[str, ...]]
    """For each level 1 to 5: the rules that it adds to the level before and that are not held.

    A level is reached when this is empty for it and for every level before it.
    """
    out_of_scope: str | None = None
    """Where the compactor declares itself irreversible: its own words."""

    def reaches(self, level: int) -> bool:
        """Whether that level is reached. Nothing is reached by what is out of scope."""
        return self.level is not None and self.level >= level


class ExitStatus(IntEnum):
    """What `anchorhold check` ends with."""

    HELD = 0
    """No rule failed, at least one was seen to hold, and every rule and the level that were asked for are held."""
    FAILED = 1
    """A rule failed."""
    ERROR = 2
    """Wrong usage, or the adapter did not work: there are no verdicts."""
    BLOCKED = 3
    """No rule failed, but a level or a rule that was asked for is not held, or nothing was judged at all."""


def every_rule(verdicts: Iterable[Verdict]) -> dict[str, Verdict]:
    """One verdict for each rule of the catalogue, in its order; a rule without one is `untested`.

    Raises ValueError for a verdict on a rule that is not in the catalogue, and for a second one on the same rule.
    """
    given: dict[str, Verdict] = {}
    for verdict in verdicts:
        if verdict.rule not in RULES:
            raise ValueError(f"verdict on {verdict.rule!r}, which is no rule of the catalogue")
        if verdict.rule in given:
            raise ValueError(f"two verdicts on {verdict.rule}: {given[verdict.rule].kind} and {verdict.kind}")
        given[verdict.rule] = verdict
    return {
        rule: given.get(rule, Verdict(rule=rule, kind=VerdictKind.UNTESTED, reason=NO_CHECKER, triggered=0))
        for rule in RULES
    }


def standing(verdicts: Mapping[str, Verdict], *, irreversible: str | None = None) -> Standing:
    """Weigh the verdicts; a rule without one counts as `untested`.

    `irreversible`: the compactor's own words where it declares that originals cannot be had back. It is then out of
    scope, and given no level.
    """
    verdicts = every_rule(verdicts.values())
    blocked = {
        level.number: tuple(rule for rule in level.first_demanded if verdicts[rule].kind not in HELD)
        for level in LEVELS.values()
    }
    reached = 0
    for number in sorted(blocked):
        if blocked[number]:
            break
        reached = number
    return Standing(
        level=None if irreversible is not None else reached, blocked_by=blocked, out_of_scope=irreversible
    )


def exit_status(
    verdicts: Mapping[str, Verdict],
    *,
    asked: int | None = None,
    rules: Collection[str] = (),
    irreversible: str | None = None,
) -> ExitStatus:
    """What a run that came to verdicts ends with.

    `asked`: the level that was asked for, 1 to 5. `rules`: ids of the rules that were asked for, each of which has to
    be held. A run in which no rule passed has judged nothing, and is never `HELD`.

    Never `ERROR`: a run that ends with an error has no verdicts to weigh. Raises ValueError for a level that does
    not exist.
    """
    if asked is not None and asked not in LEVELS:
        raise ValueError(f"level {asked} does not exist; there are {', '.join(map(str, LEVELS))}")
    where = standing(verdicts, irreversible=irreversible)
    if any(verdict.kind is VerdictKind.FAIL for verdict in verdicts.values()):
        return ExitStatus.FAILED
    if asked is not None and not where.reaches(asked):
        return ExitStatus.BLOCKED
    if any(rule not in verdicts or verdicts[rule].kind not in HELD for rule in rules):
        return ExitStatus.BLOCKED
    # What was named may be all vacuous, and that is an answer; without a name, nothing but that is none.
    if not rules and not any(verdict.kind is VerdictKind.PASS for verdict in verdicts.values()):
        return ExitStatus.BLOCKED
    return ExitStatus.HELD
