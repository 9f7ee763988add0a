"""The result document of `anchorhold check`: what a run found, for programs to read.

Its JSON Schema is `conformance/schemas/check-result.schema.json`, generated from these types by
`python -m anchorhold.result`. Fields may be added under the same schema number, never taken away or given
another meaning.
"""

import json
import sys
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from anchorhold.level import every_rule, standing
from anchorhold.verdict import Failure, Verdict, VerdictKind

SCHEMA: Final = 1
OWN_FAULT: Final = "the suite itself failed, and neither the adapter nor the compactor"
"""How the error of a run begins that ended by a fault of the suite."""

RuleId = Annotated[str, Meta(pattern="^[A-Z]{3}-[1-9][0-9]*$", description="Id of a rule of the catalogue.")]
Level = Annotated[int, Meta(ge=0, le=5)]


class RuleResult(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one rule."""

    verdict: VerdictKind
    reason: str
    triggered: Annotated[int, Meta(ge=0, description="How often the situation that the rule speaks of occurred.")]


class FailureResult(msgspec.Struct, frozen=True, kw_only=True):
    """One way in which a rule was broken, with the shortest history found."""

    rule: RuleId
    sentence: Annotated[str, Meta(description="Which fact or span, and what happened to it.")]
    fact: Annotated[str, Meta(description="The fact's words, or the span's id.")]
    history: Annotated[str, Meta(description="Path of the history file, JSON lines.")]
    replay: Annotated[str, Meta(description="The command that plays the history again.")]
    event: Annotated[
        int | None, Meta(description="Index of the event of the history at which it shows, where one is known.")
    ] = None


class ClaimVerdict(StrEnum):
    """What a check says of one claim of the vendor's."""

    BORNE_OUT = "borne-out"
    BROKEN = "broken"
    UNDECIDED = "undecided"


class ClaimResult(msgspec.Struct, frozen=True, kw_only=True):
    """One claim, judged apart from the rules."""

    claim: str
    verdict: ClaimVerdict
    reason: str
    rules: Annotated[tuple[RuleId, ...], Meta(description="Rules by which it is not borne out.")] = ()


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What one run of `anchorhold check` found."""

    schema: Literal[1]
    compactor: str
    version: str
    level: Annotated[
        Level | None,
        Meta(description="The level reached; null where there is none to give: see out_of_scope and error."),
    ]
    rules: Annotated[
        dict[RuleId, RuleResult], Meta(description="One for each rule of the catalogue; empty where error is given.")
    ]
    failures: tuple[FailureResult, ...]
    seconds: Annotated[float, Meta(ge=0)]
    seed: int
    blocked_by: Annotated[
        dict[str, tuple[RuleId, ...]],
        Meta(description="For each level 1 to 5: the rules that it adds and that are not held."),
    ] = {}
    out_of_scope: Annotated[
        str | None,
        Meta(description="Where the compactor declares itself irreversible, its own words: it is given no level."),
    ] = None
    error: Annotated[
        str | None, Meta(description="Why there are no verdicts, where the adapter did not work or the suite failed.")
    ] = None
    stderr: Annotated[
        str, Meta(description="What the adapter wrote to its standard error; where the suite failed, its traceback.")
    ] = ""
    expected: Annotated[
        dict[RuleId, str], Meta(description="Of `check --expect`: rules that are known to fail, with the reason.")
    ] = {}
    effort: Annotated[
        str | None,
        Meta(description="How much was tried: quick, standard or thorough; null where nothing was played."),
    ] = None
    claims: Annotated[
        tuple[ClaimResult, ...], Meta(description="Of `check --claims`: each claim, judged apart from the rules.")
    ] = ()


def failure(found: Failure, *, history: str, replay: str) -> FailureResult:
    """Put a checker's failure beside the file that shows it."""
    return FailureResult(
        rule=found.rule,
        sentence=found.sentence,
        fact=found.fact,
        history=history,
        replay=replay,
        event=found.event,
    )


def result(
    *,
    compactor: str,
    version: str,
    verdicts: Iterable[Verdict],
    failures: Iterable[FailureResult],
    seconds: float,
    seed: int,
    effort: str | None = None,
    irreversible: str | None = None,
    stderr: str = "",
) -> Result:
    """The document of a run that came to verdicts. Rules without a verdict are `untested`.

    Raises ValueError where the failures and the verdicts contradict each other: a failure of a rule that did not
    fail would be lost from the level, and a failed rule without a failure cannot be played again.
    """
    found = every_rule(verdicts)
    broken = tuple(failures)
    failed = {rule for rule, verdict in found.items() if verdict.kind is VerdictKind.FAIL}
    shown = {each.rule for each in broken}
    if shown - failed:
        raise ValueError(f"failures are given of {', '.join(sorted(shown - failed))}, whose verdict is not fail")
    if failed - shown:
        raise ValueError(f"no failure is given of {', '.join(sorted(failed - shown))}, whose verdict is fail")
    where = standing(found, irreversible=irreversible)
    return Result(
        schema=SCHEMA,
        compactor=compactor,
        version=version,
        level=where.level,
        rules={
            rule: RuleResult(verdict=verdict.kind, reason=verdict.reason, triggered=verdict.triggered)
            for rule, verdict in found.items()
        },
        failures=broken,
        seconds=seconds,
        seed=seed,
        effort=effort,
        blocked_by={str(number): rules for number, rules in where.blocked_by.items()},
        out_of_scope=where.out_of_scope,
        stderr=stderr,
    )


def broken(*, compactor: str, error: str, seconds: float, seed: int, version: str = "", stderr: str = "") -> Result:
    """The document of a run in which the adapter did not work: there is no verdict on anything."""
    return Result(
        schema=SCHEMA,
        compactor=compactor,
        version=version,
        level=None,
        rules={},
        failures=(),
        seconds=seconds,
        seed=seed,
        error=error,
        stderr=stderr,
    )


def own_fault(document: Result) -> bool:
    """Whether there is no verdict because the suite itself failed."""
    return (document.error or "").startswith(OWN_FAULT)


def encode(document: Result) -> bytes:
    """As JSON in UTF-8. Lone surrogates, which UTF-8 cannot hold, are written out as `\\udc80`."""
    plain = _encodable(msgspec.to_builtins(document))
    return msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n"


def decode(data: bytes) -> Result:
    """Read a document back. Raises `msgspec.ValidationError` where it is not one of this schema."""
    return msgspec.json.decode(data, type=Result)


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the document."""
    (reference,), definitions = msgspec.json.schema_components([Result], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Result of anchorhold check",
        **reference,
        "$defs": definitions,
    }


def schema_text() -> str:
    """The schema as the file in `conformance/schemas` holds it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_encodable(key): _encodable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(each) for each in value]
    return value


if __name__ == "__main__":
    sys.stdout.write(schema_text())
