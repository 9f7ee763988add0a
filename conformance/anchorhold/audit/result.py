"""The document that `anchorhold audit --json` prints. Its schema is written from these types."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from anchorhold.audit.finding import Example, Finding
from anchorhold.audit.run import Audited

MOST_EXAMPLES = 20
"""Examples of one compaction in the document, needs first."""
_ORDER = {"needed": 0, "unsupported": 1, "flipped": 2, "protected": 3, "re-read": 4, "drifted": 5}


class Compaction(msgspec.Struct, frozen=True, kw_only=True):
    """One compaction."""

    session: str
    at: str
    """Its time, or `record N` where the format has none."""
    facts: dict[str, int]
    """Facts of the replaced turns, by class; what the agent always sees is not counted."""
    carried: int
    reachable: int
    lost: int
    needed: int
    """Used by the agent while nothing that it saw said it."""
    needed_lost: int
    """Of these, those that nothing leads back to."""
    unsupported: int
    unsupported_judged: bool
    """False where most of the replaced turns are not in the file: then `unsupported` is 0 and says nothing."""
    reread_tokens: int
    examples: list[dict[str, Any]]


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """What another compactor would have kept, with the recorded summaries as its model's replies."""

    compactor: str
    compactions: int
    needed: int
    """Needed facts of the compactions that were replayed."""
    needed_kept: int
    """Of these, in its window afterwards or found by its own search."""
    not_carried: int
    """Paths and identifiers that the recorded summaries do not carry."""
    asked: int
    """Of these, those that were asked for: at most `asked_at_most` of a compaction, evenly over its turns."""
    asked_at_most: int
    asked_kept: int
    window_recorded: int
    """Tokens of the recorded summaries."""
    window: int
    """Tokens of the compactor's windows afterwards."""
    outcomes: dict[str, int]
    """How its compactions ended."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """All that was audited."""

    files: int
    """Transcripts, and named files that could not be read; a copy of a file before it is none."""
    sessions: int
    compactions: list[Compaction]
    totals: dict[str, int]
    unreadable: list[dict[str, Any]]
    """Files and records that could not be read, with the reason; files of folders that are no transcripts."""
    seconds: float
    replay: Replay | msgspec.UnsetType = msgspec.UNSET
    """Only where `--replay` asked for it."""


FIGURES = (
    "compactions", "turns", "replaced", "facts", "carried", "reachable", "lost", "needed", "needed_lost",
    "needed_reachable", "unsupported", "flipped", "protected_lost", "drifted", "reread_tokens", "reread_turns",
    "incomplete", "summary_tokens", "unreadable", "not_transcripts",
)  # fmt: skip
"""The totals, and what `--fail-on` may name."""


def document(audited: Sequence[Audited], seconds: float) -> Document:
    """What was found, as a document."""
    findings = [finding for each in audited for finding in each.findings]
    unreadable = [
        {"file": str(each.path), "kind": "file", "count": 1, "detail": each.error}
        for each in audited
        if each.error and each.transcript
    ]
    beside = [each for each in audited if each.error and not each.transcript]
    if beside:
        detail = f"{len(beside)} files in the folders are no transcripts, and are left out; the first is this one"
        unreadable.append(
            {"file": str(beside[0].path), "kind": "not-transcript", "count": len(beside), "detail": detail}
        )
    for each in audited:
        for kind, count in sorted(each.damaged.items()):
            first = next(damage for damage in each.damages if damage.kind == kind)
            unreadable.append(
                {"file": str(each.path), "kind": kind, "count": count, "record": first.record, "detail": first.detail}
            )
    return Document(
        files=sum(each.transcript for each in audited),
        sessions=sum(each.sessions for each in audited),
        compactions=[_compaction(finding) for finding in findings],
        totals=totals(audited, findings),
        unreadable=unreadable,
        seconds=round(seconds, 3),
    )


def totals(audited: Sequence[Audited], findings: Sequence[Finding]) -> dict[str, int]:
    """Every figure over all compactions."""
    summed = {
        name: sum(getattr(finding, name) for finding in findings)
        for name in ("replaced", "carried", "reachable", "lost", "needed", "needed_lost", "unsupported", "flipped",
                     "protected_lost", "drifted", "reread_tokens", "reread_turns", "incomplete", "summary_tokens")
    }  # fmt: skip
    summed["compactions"] = len(findings)
    summed["turns"] = sum(each.turns for each in audited)
    summed["facts"] = sum(sum(finding.facts.values()) for finding in findings)
    summed["needed_reachable"] = summed["needed"] - summed["needed_lost"]
    summed["unreadable"] = sum(bool(each.error and each.transcript) + sum(each.damaged.values()) for each in audited)
    summed["not_transcripts"] = sum(bool(each.error) and not each.transcript for each in audited)
    return {name: summed[name] for name in FIGURES}


def ranked(finding: Finding) -> list[Example]:
    """The examples of a finding: what was needed and lost first."""
    return sorted(finding.examples, key=lambda e: (_ORDER.get(e.what, 9), e.fate != "lost"))


def _compaction(finding: Finding) -> Compaction:
    return Compaction(
        session=finding.session,
        at=finding.at,
        facts=dict(sorted(finding.facts.items())),
        carried=finding.carried,
        reachable=finding.reachable,
        lost=finding.lost,
        needed=finding.needed,
        needed_lost=finding.needed_lost,
        unsupported=finding.unsupported,
        unsupported_judged=not finding.incomplete,
        reread_tokens=finding.reread_tokens,
        examples=[
            {"file": finding.file, **msgspec.to_builtins(example)} for example in ranked(finding)[:MOST_EXAMPLES]
        ],
    )


def encode(value: Document) -> bytes:
    """The document as JSON, with an end of line."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


class ConditionError(ValueError):
    """A condition of `--fail-on` cannot be read."""


_CONDITION = re.compile(r"\s*([a-z][a-z_-]*)\s*(>=|<=|==|!=|>|<)\s*(\d+)\s*")
_COMPARE = {
    ">": int.__gt__, ">=": int.__ge__, "<": int.__lt__, "<=": int.__le__, "==": int.__eq__, "!=": int.__ne__,
}  # fmt: skip


def holds(condition: str, figures: dict[str, int]) -> bool:
    """Whether a condition like `needed-lost>0` holds of the totals. Raises `ConditionError`."""
    match = _CONDITION.fullmatch(condition)
    name = match.group(1).replace("-", "_") if match else ""
    if match is None or name not in figures:
        names = ", ".join(sorted(figure.replace("_", "-") for figure in figures))
        raise ConditionError(f"--fail-on {condition!r} is no condition: write FIGURE>N, FIGURE one of {names}")
    return bool(_COMPARE[match.group(2)](figures[name], int(match.group(3))))


def schema() -> dict[str, Any]:
    """The JSON schema of the document."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Document)}


def main(directory: Path) -> None:
    """Write the schema into a directory: `python -m anchorhold.audit.result conformance/schemas`."""
    text = msgspec.json.format(msgspec.json.encode(schema()), indent=2) + b"\n"
    (directory / "audit.schema.json").write_bytes(text)


if __name__ == "__main__":
    import sys

    main(Path(sys.argv[1]))
