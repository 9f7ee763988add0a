"""The words of the field as values: turns, facts, answers, outcomes, pointers, tombstones.

One word for one thing: the reference compactor, the wire protocol and the checkers all use these
types, and the values of the enumerations are what travels on the wire and stands in reports.
Everything here is frozen and free of behaviour that could fail.
"""

from dataclasses import dataclass
from enum import StrEnum


class AnswerKind(StrEnum):
    """What `resolve` and `reconstitute` may answer, in order of precedence (REC-2).

    Bytes that are not what the pointer names are no answer but an error, which names both (EPO-3).
    """

    FOUND = "found"
    """The content, with the carrier that holds it."""
    PARTIAL = "partial"
    """Some of the content, with a continuation that joins to the exact bytes (REC-3)."""
    PENDING = "pending"
    """Will become another answer: a copy is outstanding (PTR-5)."""
    TOMBSTONED = "tombstoned"
    """Dropped on purpose, with the reason. Reads as unknown, never as absent (MAN-4, MAN-6)."""
    EXPIRED = "expired"
    """Was here; its lifetime has ended."""
    FOREIGN = "foreign"
    """A pointer that this store never issued (EPO-2)."""
    INSUFFICIENT = "insufficient"
    """A summary speaks of it, evidence does not exist (EVI-5)."""
    DEGRADED = "degraded"
    """Something that should have been searched was not (RET-3)."""
    UNANCHORED = "unanchored"
    """Nothing holds it, and whether it was ever said is not known."""
    ABSENT = "absent"
    """Never asserted. Only a complete index that keeps record of it may say so (REC-4)."""


class OutcomeKind(StrEnum):
    """How an operation that may change something ended (OUT-2)."""

    COMMITTED = "committed"
    """It happened and is durable."""
    NOTHING = "nothing-to-do"
    """There was nothing to be done, and nothing changed."""
    REFUSED = "refused"
    """A rule forbids it; `reason` and `facts` say which facts stood in the way (ANC-2)."""
    FAILED = "failed"
    """It was tried and did not succeed; nothing changed (ANC-5)."""


class CarrierKind(StrEnum):
    """What an item of the live window is."""

    RAW = "raw"
    """A turn exactly as it entered the transcript."""
    SUMMARY = "summary"
    """Text that stands for turns that it replaced."""
    OTHER = "other"
    """Neither: instructions, notices, scaffolding of the compactor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that a turn issues."""

    id: str
    name: str
    arguments: str
    """The arguments exactly as the model wrote them, usually JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message, tool call or tool result, exactly as it entered the transcript."""

    id: str
    speaker: str
    """`user`, `assistant`, `system` or `tool`."""
    text: str | None = None
    data: bytes | None = None
    """The content where it is not valid Unicode text: UTF-8 with surrogates passed, or an attachment."""
    time: float | None = None
    """Seconds since the epoch, by the suite's clock."""
    calls: tuple[ToolCall, ...] = ()
    result_of: str | None = None
    """The id of the call that this turn answers."""
    status: str | None = None
    """`consumed`, `killed`, `unfinished`, or none."""
    protected: bool = False
    """Must stay verbatim in the window (STR-4)."""
    declared: str | None = None
    """The evidential class that whoever wrote the turn declares for it: `narrative`, `structured`, `side-effecting`,
    or none. A claim, which the content may contradict (EVI-4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A value in a slot, or a literal; its text stands verbatim in the turn that asserts it."""

    text: str
    """The words that say it, verbatim: what has to survive."""
    literal: str
    """The part that must not change: the value, identifier, path, number with unit, negated phrase."""
    kind: str = "slot"
    """`slot`, `entity`, `identifier`, `path`, `number`, `negation`, `quotation`, `argument`, `timestamp`."""
    subject: str | None = None
    attribute: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a manifest: an assertion that the carrier claims to carry verbatim."""

    literal: str
    """Verbatim in the carrier's own text and in the source's (MAN-2)."""
    source: str | None = None
    """The id of the turn (or span) that asserts it."""
    kind: str = "slot"
    subject: str | None = None
    attribute: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A carrier in the live window, as the model sees it."""

    id: str
    kind: CarrierKind
    text: str | None = None
    data: bytes | None = None
    turn: str | None = None
    """The id of the turn, where this is a raw one and the compactor keeps the id."""
    speaker: str | None = None
    covers: tuple[str, ...] | None = None
    """Ids of the turns that a summary declares to stand for; none where it declares nothing."""
    generation: int | None = None
    pending: bool = False
    """The summary is declared pending: a source's copy is outstanding (PTR-1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """An opaque token from a summary to the original of what it replaced."""

    summary: str
    """Id of the live item, or of the summary under it (PTR-4), that carries the pointer."""
    token: str
    covers: tuple[str, ...] | None = None
    """Ids of the turns whose original it resolves to, where the compactor says."""
    key: str | None = None
    """The store's key inside the token, where it can be seen: shows whether keys are recycled."""
    epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a question was answered with. A text that says "not found" is no content: see `kind`."""

    kind: AnswerKind
    text: str | None = None
    """The content (`found`, `partial`)."""
    data: bytes | None = None
    value: str | None = None
    """The value of the slot, where one was asked for."""
    carrier: str | None = None
    """Which carrier or store entry the content came from."""
    source: str | None = None
    """Id of the turn (or span) whose words these are."""
    evidence: bool | None = None
    """Whether the content is original (true) or a summary's words (false); none where not told."""
    continuation: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an operation ended."""

    kind: OutcomeKind
    reason: str | None = None
    summary: str | None = None
    """Id of the summary that was committed."""
    covered: tuple[str, ...] | None = None
    """Ids of the turns that were replaced, where the compactor says."""
    facts: tuple[str, ...] = ()
    """The facts that stood in the way of a refused operation, in words."""
    pending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """The record that one assertion was dropped on purpose (MAN-4, MAN-6)."""

    literal: str
    source: str | None
    """Id of the turn whose assertion it is."""
    decided_by: str
    reason: str
    time: float | None = None
    subject: str | None = None
    attribute: str | None = None
    superseder: str | None = None
    """Id of the turn that is said to have taken the assertion's place; it has to be anchored itself (MAN-4)."""
