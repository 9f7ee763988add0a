"""What a vendor promises, and whether a check bears it out. A claims file is TOML:

    level = 2                          # the level that it reaches, 1 to 5
    irreversible = false               # or, in words, that originals cannot be had back
    horizon = "session"                # or seconds: how far back evidence may be asked for
    mechanisms = ["pointers"]          # what it has, by the names of PROTOCOL.md
    holds = ["ANC-1"]                  # rules that are promised beside the level

Claims and rules are judged apart: a claim that is not borne out fails as a claim, whatever the rules come to.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from anchorhold.compactor import Description, Mechanism, mechanisms_of
from anchorhold.errors import one_line
from anchorhold.level import HELD, every_rule
from anchorhold.result import ClaimResult, ClaimVerdict, Result
from anchorhold.verdict import Verdict, VerdictKind
from anchorhold_spec.catalogue import LEVELS, RULES, near

SESSION: Literal["session"] = "session"
HORIZON: Final = ("ANC-1", "PTR-2")
"""What breaks where something is gone too early: it comes loose, or its pointer leads nowhere any more."""


class ClaimsError(ValueError):
    """The file cannot be read, or is no claims file."""


class Claims(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is promised; what is left out is not claimed."""

    level: int | None = None
    irreversible: bool | str | None = None
    horizon: Literal["session"] | float | int | None = None
    """Seconds, or the session's end."""
    mechanisms: tuple[Mechanism, ...] = ()
    holds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HorizonSeen:
    """What came of asking for evidence shortly before the horizon (`anchorhold.horizon`)."""

    verdict: ClaimVerdict
    reason: str


def read_claims(path: Path) -> Claims:
    """Read a file. Raises `ClaimsError`, which says what is wrong."""
    try:
        content: Any = tomllib.loads(path.read_text(encoding="utf-8"))
        claims = msgspec.convert(content, Claims)
    except OSError as error:
        raise ClaimsError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ClaimsError(f"{path} is not TOML: {error}") from None
    except msgspec.ValidationError as error:
        names = ", ".join(Claims.__struct_fields__)
        raise ClaimsError(f"{path} is no claims file: {error}; there are {names}") from None
    for wrong in _wrong(claims):
        raise ClaimsError(f"{path}: {wrong}")
    return claims


def _wrong(claims: Claims) -> Iterator[str]:
    if claims.level is not None and claims.level not in LEVELS:
        yield f"level {claims.level} does not exist; there are {', '.join(map(str, LEVELS))}"
    if claims.level is not None and claims.irreversible:
        yield "an irreversible compactor is given no level: claim rules, by holds, and not a level"
    if isinstance(claims.horizon, int | float) and claims.horizon <= 0:
        yield 'horizon is a number of seconds above 0, or "session"'
    for rule in claims.holds:
        if rule not in RULES:
            meant = near(rule)
            yield f"no rule is called {rule!r}" + (f": did you mean {' or '.join(meant)}?" if meant else "")
    if claims == Claims():
        yield "nothing is claimed"


def judge_claims(
    claims: Claims, result: Result, description: Description, *, horizon: HorizonSeen | None = None
) -> tuple[ClaimResult, ...]:
    """Each claim, and whether the result of a check bears it out.

    `horizon`: needed where a horizon is claimed. A rule that was not decided bears nothing out and breaks nothing.
    """
    return tuple(_judged(claims, result, description, horizon))


def _judged(
    claims: Claims, result: Result, description: Description, horizon: HorizonSeen | None
) -> Iterator[ClaimResult]:
    verdicts = {rule: each.verdict for rule, each in result.rules.items()}
    if claims.irreversible is not None:
        yield _irreversible(claims.irreversible, description)
    if claims.level is not None:
        yield _level(claims.level, verdicts, description)
    if claims.horizon is not None:
        assert horizon is not None, "a claimed horizon is looked at before it is judged"
        until = "to the session's end" if claims.horizon == SESSION else f"{claims.horizon:g} s"
        claim = ClaimResult(claim=f"horizon {until}", verdict=horizon.verdict, reason=horizon.reason)
        # What came loose in a scenario of the check was not to be had either.
        lost = _rules(claim.claim, HORIZON, verdicts)
        broken = horizon.verdict is not ClaimVerdict.BROKEN and lost.verdict is ClaimVerdict.BROKEN
        yield lost if broken else claim
    for mechanism in claims.mechanisms:
        yield _mechanism(mechanism, description)
    for rule in claims.holds:
        yield _rules(f"holds {rule}", (rule,), verdicts)


def _irreversible(claimed: bool | str, description: Description) -> ClaimResult:
    name = "irreversible" if claimed else "not irreversible"
    declares = description.irreversible
    if bool(claimed) is (declares is not None):
        why = f"its adapter declares: {one_line(declares)}" if declares else "its adapter declares nothing else"
        return ClaimResult(claim=name, verdict=ClaimVerdict.BORNE_OUT, reason=why)
    why = f"its adapter declares: {one_line(declares)}" if declares else "its adapter does not declare it"
    return ClaimResult(claim=name, verdict=ClaimVerdict.BROKEN, reason=why)


def _level(level: int, verdicts: Mapping[str, VerdictKind], description: Description) -> ClaimResult:
    name = f"level {level}"
    if description.irreversible is not None:
        why = "its adapter declares it irreversible, and such a compactor is given no level"
        return ClaimResult(claim=name, verdict=ClaimVerdict.BROKEN, reason=why)
    demanded = tuple(
        rule for number, each in sorted(LEVELS.items()) if number <= level for rule in each.first_demanded
    )
    return _rules(name, demanded, verdicts)


def _mechanism(mechanism: Mechanism, description: Description) -> ClaimResult:
    name = f"mechanism {mechanism}"
    if mechanism in description.hidden:
        why = f"it cannot be driven: {one_line(description.hidden[mechanism])}"
        return ClaimResult(claim=name, verdict=ClaimVerdict.UNDECIDED, reason=why)
    if mechanism in mechanisms_of(description, summarised=False):
        return ClaimResult(claim=name, verdict=ClaimVerdict.BORNE_OUT, reason="its adapter offers or declares it")
    why = "its adapter neither offers the operations for it nor declares it"
    return ClaimResult(claim=name, verdict=ClaimVerdict.BROKEN, reason=why)


def _rules(name: str, rules: Iterable[str], verdicts: Mapping[str, VerdictKind]) -> ClaimResult:
    known = every_rule(
        Verdict(rule=rule, kind=kind, reason="", triggered=0) for rule, kind in verdicts.items() if rule in RULES
    )
    rules = tuple(rules)
    failed = tuple(rule for rule in rules if known[rule].kind is VerdictKind.FAIL)
    if failed:
        what = f"{', '.join(failed)} failed"
        return ClaimResult(claim=name, verdict=ClaimVerdict.BROKEN, reason=what, rules=failed)
    unknown = tuple(rule for rule in rules if known[rule].kind not in HELD)
    if unknown:
        what = f"not decided: {', '.join(unknown)}"
        return ClaimResult(claim=name, verdict=ClaimVerdict.UNDECIDED, reason=what, rules=unknown)
    many = "every rule of it is held" if len(rules) > 1 else f"{known[rules[0]].kind.value}"
    return ClaimResult(claim=name, verdict=ClaimVerdict.BORNE_OUT, reason=many)
