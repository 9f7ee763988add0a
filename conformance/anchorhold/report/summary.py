"""What every form of the report says first: the headline, the ladder, and the rules by family. Pure."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from anchorhold.level import HELD, NO_CHECKER, NOT_ASKED
from anchorhold.result import Result, RuleResult, own_fault
from anchorhold.verdict import VerdictKind
from anchorhold_spec.catalogue import FAMILIES, LEVELS, RULES, Family, Level, Rule

ORDER = (
    VerdictKind.FAIL,
    VerdictKind.PASS,
    VerdictKind.VACUOUS,
    VerdictKind.INCONCLUSIVE,
    VerdictKind.NOT_OBSERVABLE,
    VerdictKind.UNTESTED,
)
"""Verdicts in the order in which they matter to a reader."""

MEANING = {
    VerdictKind.PASS: "triggered often enough, and held each time",
    VerdictKind.FAIL: "broken at least once",
    VerdictKind.VACUOUS: "what it restrains does not exist here: counts as held",
    VerdictKind.INCONCLUSIVE: "triggered too seldom to say: not held",
    VerdictKind.NOT_OBSERVABLE: "exists here and cannot be seen or driven: not held",
    VerdictKind.UNTESTED: "the suite has no checker yet, or this run was not asked for it: not held",
}


class Tone(StrEnum):
    """How the headline is to be taken."""

    GOOD = "good"
    """No rule failed, and a level is reached or every rule that was asked for is held."""
    OPEN = "open"
    """No rule failed, and no level is reached, or there is none to give."""
    BAD = "bad"
    """A rule failed, or there are no verdicts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One level of the ladder."""

    level: Level
    reached: bool
    blocked_by: tuple[tuple[VerdictKind, tuple[str, ...]], ...]
    """What of its own rules is not held, by verdict. Empty and not reached: a lower level is in the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A rule and what was found of it."""

    rule: Rule
    found: RuleResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The report in short."""

    tone: Tone
    title: str
    """`level 2 of 5: ordered`, `2 rules failed, no level reached`, `no verdict`."""
    sentence: str
    counts: tuple[tuple[VerdictKind, int], ...]
    ladder: tuple[Rung, ...]
    """From level 1 up; empty where the run was asked for some rules, which says nothing of a level."""
    families: tuple[tuple[Family, tuple[Judged, ...]], ...]
    asked: int | None = None
    """How many rules the run was asked for, where it was asked for some only."""


def summarise(result: Result) -> Summary:
    """Weigh a result. Raises ValueError where it judges a rule that the catalogue does not have."""
    unknown = sorted(set(result.rules) - set(RULES))
    if unknown:
        raise ValueError(f"the result judges {', '.join(unknown)}, which the catalogue does not have")
    found = {
        rule: result.rules.get(
            rule, RuleResult(verdict=VerdictKind.UNTESTED, reason=result.error or NO_CHECKER, triggered=0)
        )
        for rule in RULES
    }
    counted = Counter(each.verdict for each in found.values())
    not_asked = sum(each.reason == NOT_ASKED for each in found.values() if each.verdict is VerdictKind.UNTESTED)
    # Where all rules of a level were asked for there is one to be told of.
    partial = bool(not_asked) and not result.level and result.out_of_scope is None
    tone, title, sentence = _partly(counted, not_asked) if partial else _headline(result, counted, not_asked)
    return Summary(
        tone=tone,
        title=title,
        sentence=sentence,
        counts=tuple((kind, counted[kind]) for kind in ORDER),
        ladder=() if partial else tuple(_rung(level, result, found) for level in LEVELS.values()),
        asked=len(RULES) - not_asked if partial else None,
        families=tuple(
            (family, tuple(Judged(rule=RULES[rule], found=found[rule]) for rule in family.rules))
            for family in FAMILIES.values()
        ),
    )


def _partly(counted: Counter[VerdictKind], not_asked: int) -> tuple[Tone, str, str]:
    """Of a run that was asked for some rules only."""
    asked = len(RULES) - not_asked
    failed = counted[VerdictKind.FAIL]
    held = sum(counted[kind] for kind in HELD)
    undecided = asked - held - failed
    rest = f"The other {not_asked} rules were not judged, and nothing is said of a level."
    rules = "the rule asked for" if asked == 1 else f"the {asked} rules asked for"

    def told(number: int) -> str:
        return rules if number == asked else f"{number} of {rules}"

    if failed:
        tally = f"{held} held, {failed} failed, and {undecided} could not be decided."
        return Tone.BAD, f"{told(failed)} failed", f"{tally} {rest}"
    if undecided:
        return Tone.OPEN, f"{told(undecided)} could not be decided", f"{held} held, and none failed. {rest}"
    return Tone.GOOD, f"{rules} {'is' if asked == 1 else 'are'} held", rest


def _headline(result: Result, counted: Counter[VerdictKind], not_asked: int) -> tuple[Tone, str, str]:
    if result.error is not None:
        told = result.error if own_fault(result) else f"the adapter did not work: {result.error}"
        return Tone.BAD, "no verdict", f"{told[0].upper()}{told[1:]}"
    failed = counted[VerdictKind.FAIL]
    held = sum(counted[kind] for kind in HELD)
    undecided = _undecided(sum(counted.values()) - held - failed, counted[VerdictKind.UNTESTED], not_asked)
    tally = f"Of {len(RULES)} rules {held} held, {failed} failed, and {undecided}."
    if result.out_of_scope is not None:
        title = "out of scope"
        tally = f"It declares itself irreversible ({result.out_of_scope}), and is given no level. {tally}"
    elif result.level:
        level = LEVELS[result.level]
        title = f"level {level.number} of {len(LEVELS)}: {level.name}"
        tally = f"{level.promise} {tally}"
    else:
        title = "no level reached"
    if failed:
        return Tone.BAD, f"{'1 rule' if failed == 1 else f'{failed} rules'} failed, {title}", tally
    return Tone.GOOD if result.level else Tone.OPEN, title, tally


def run_words(result: Result) -> str:
    """What the run took: `12.3 s, quick, seed 0`."""
    return ", ".join([f"{result.seconds:.1f} s", *([result.effort] if result.effort else []), f"seed {result.seed}"])


def _undecided(number: int, untested: int, not_asked: int) -> str:
    reasons = [
        *([f"{untested - not_asked} have no checker yet"] if untested > not_asked else []),
        *([f"{not_asked} were not asked for"] if not_asked else []),
    ]
    if reasons and untested == number:
        return " and ".join(reasons)
    return f"{number} could not be decided" + (f" ({', '.join(reasons)})" if reasons else "")


def _rung(level: Level, result: Result, found: dict[str, RuleResult]) -> Rung:
    not_held = {rule: found[rule].verdict for rule in level.first_demanded if found[rule].verdict not in HELD}
    return Rung(
        level=level,
        reached=result.level is not None and result.level >= level.number,
        blocked_by=tuple(
            (kind, tuple(rule for rule, verdict in not_held.items() if verdict is kind))
            for kind in ORDER
            if kind in not_held.values()
        ),
    )
