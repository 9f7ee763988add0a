"""What a compactor offers to be checked: the operations, and what it says of itself.

The first four operations are all that most compactors have. Everything else is a capability: a class that
defines the method offers it. A mechanism that the compactor *has* but that cannot be driven through the adapter
is declared in `Description.hidden`, so that its rules are reported as not observable instead of vacuous.

The suite owns the summariser: `open` is handed a callable, and every model call of the compactor must be routed
to it. An adapter translates and never repairs: what the compactor under test loses stays lost.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from anchorhold_spec.vocabulary import Answer, Entry, Item, Outcome, Pointer, Tombstone, Turn


class Mechanism(StrEnum):
    """What a rule may restrain. Absent: the rule is vacuous. Hidden: it is not observable."""

    SUMMARISER = "summariser"
    """A model writes the summaries."""
    POINTERS = "pointers"
    """Summaries carry tokens that resolve to originals: `pointers` and `get`."""
    RETRIEVAL = "retrieval"
    """Something can be asked for: `get`, `search` or `reconstitute`."""
    QUESTIONS = "questions"
    """The value of a slot can be asked for, with evidence or without: `reconstitute`."""
    MANIFESTS = "manifests"
    """Carriers say which assertions they carry: `manifest`."""
    TOMBSTONES = "tombstones"
    """Assertions can be dropped on the record: `tombstone` and `tombstones`."""
    SUPERSEDERS = "superseders"
    """A tombstone can name the turn that took the assertion's place: `supersede`."""
    EVICTION = "eviction"
    """Originals can be removed from the store on request: `evict`."""
    KEY_RECYCLING = "key-recycling"
    """A key of the store can come to name another span."""
    PERSISTENCE = "persistence"
    """State outlives the process: `reopen`."""
    CRASHES = "crashes"
    """The compactor can be stopped at a named durable step: `crash`."""
    STORE_FAULTS = "store-faults"
    """Stored bytes can be damaged behind the compactor's back: `corrupt`."""
    STATUS = "status"
    """Lossless or degraded can be read: `status`."""
    DEGRADED_SINCE = "degraded-since"
    """Since when the status is degraded can be read: `degraded_since`."""
    EXPIRY = "expiry"
    """A lifetime removes entries by time: `expire`."""
    SESSIONS = "sessions"
    """Several sessions share one store: `switch`."""
    CLEARING = "clearing"
    """The caller can empty the window: `clear`."""
    REWINDING = "rewinding"
    """The caller can take the latest turns back: `rewind`."""
    FORKS = "forks"
    """A session can branch: `fork`; `switch` goes between the branches."""
    ERASURE = "erasure"
    """What a turn says can be erased: `forget`, and `files` to look for what is left of it."""
    BACKGROUND_COPY = "background-copy"
    """Originals are copied after the commit: `hold_copies`, `settle` and `ratios`."""
    CLOCKS = "clocks"
    """The wall clock can be made to jump: `clock`."""
    POWER_LOSS = "power-loss"
    """What was not synced can be made to go: `lose_power`."""
    STORE_ERRORS = "store-errors"
    """A write of the store can be made to fail: `fail_store`."""
    AUDITS = "audits"
    """Evicted facts are fetched from time to time to see that they can be: `audits`."""
    OVERRIDES = "overrides"
    """While degraded the caller can accept a loss on the record: `override`."""
    WORKERS = "workers"
    """Operations can be run as workers, one access to a store at a time: `begin` and `advance`."""
    CONCURRENCY = "concurrency"
    """While `compact` waits for its model other operations may be called. Declared: no operation shows it."""


OPERATIONS_OF: dict[Mechanism, tuple[str, ...]] = {
    Mechanism.POINTERS: ("pointers", "get"),
    Mechanism.RETRIEVAL: ("get", "search", "reconstitute"),
    Mechanism.QUESTIONS: ("reconstitute",),
    Mechanism.MANIFESTS: ("manifest",),
    Mechanism.TOMBSTONES: ("tombstone", "tombstones"),
    Mechanism.SUPERSEDERS: ("supersede", "tombstones"),
    Mechanism.EVICTION: ("evict",),
    Mechanism.PERSISTENCE: ("reopen",),
    Mechanism.CRASHES: ("crash",),
    Mechanism.STORE_FAULTS: ("corrupt",),
    Mechanism.STATUS: ("status",),
    Mechanism.DEGRADED_SINCE: ("status", "degraded_since"),
    Mechanism.EXPIRY: ("expire",),
    Mechanism.SESSIONS: ("switch",),
    Mechanism.CLEARING: ("clear",),
    Mechanism.REWINDING: ("rewind",),
    Mechanism.FORKS: ("fork",),
    Mechanism.ERASURE: ("forget", "files"),
    Mechanism.BACKGROUND_COPY: ("hold_copies", "settle", "ratios"),
    Mechanism.CLOCKS: ("clock",),
    Mechanism.POWER_LOSS: ("lose_power",),
    Mechanism.STORE_ERRORS: ("fail_store",),
    Mechanism.AUDITS: ("audits",),
    Mechanism.OVERRIDES: ("override",),
    Mechanism.WORKERS: ("begin", "advance"),
}
"""Operations through which a mechanism is seen; for RETRIEVAL one of them is enough."""


class Unit(StrEnum):
    """What a window's size is counted in."""

    TOKENS = "tokens"
    """Four characters of text are a token, rounded up: the suite's own counter."""
    ITEMS = "items"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a session is opened with. `open` answers with the settings that it could take."""

    session: str = "s"
    user: str | None = "u"
    """Whose session it is. None in what `open` answers: the compactor knows no users, and a session's name is all
    that tells one session from another."""
    branch: str = "main"
    budget: int | None = None
    """Size of the window, in `unit`; none where the compactor cannot be told one."""
    watermark: float | None = None
    """Share of the budget above which the window is compacted."""
    unit: Unit = Unit.TOKENS
    horizon: float | None = None
    """Seconds for which evidence may be asked for; none means until the session's end."""
    lifetime: float | None = None
    """Seconds after which the store may expire an entry; none means never."""
    keep: int | None = None
    """How many of the newest turns stay in the window as they are; none where the compactor cannot be told, and where
    it is to do as it always does. The suite asks for few only to show a failure with few turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the compactor handed to its model for one summary, as text, in order."""

    messages: tuple[str, ...]
    """The text of each message of the request, instructions included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model answered."""

    text: str
    finish: str = "stop"
    """`stop`, `length` (cut at the token limit), `refusal`, `content-filter`, or `tool-call`."""


class SummariserError(RuntimeError):
    """The model call failed (rate limit, time-out, connection). Adapters raise it where the model client would."""


Summarise: TypeAlias = Callable[[Shown], Reply]
"""Raises `SummariserError` where the scripted model is to fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """Who the compactor is, and what of it cannot be driven."""

    name: str
    version: str
    mechanisms: frozenset[Mechanism] = frozenset()
    """Mechanisms that exist beyond those that the offered operations show (SUMMARISER, KEY_RECYCLING)."""
    hidden: dict[Mechanism, str] = field(default_factory=dict)
    """Mechanisms that exist and cannot be seen or driven, each with the reason."""
    crash_points: tuple[str, ...] = ()
    """Durable steps of a compaction at which `crash` can stop it, in order."""
    irreversible: str | None = None
    """Where the compactor publicly declares that originals cannot be had back: its own words."""
    operations: frozenset[str] = frozenset()
    """Filled in by the suite: the operations that the compactor offers."""


class StoreFault(StrEnum):
    """How a write of the store fails (OUT-3)."""

    ERROR = "error"
    """It says that it failed."""
    SILENT = "silent"
    """It says that it succeeded, and wrote nothing."""
    SHORT = "short"
    """It wrote a part, and says that it succeeded."""
    FULL = "full"
    """It and every later one of this compaction say that there is no room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratios:
    """Counts of summaries (PTR-5)."""

    committed: int
    """Summaries that were ever committed, pending ones included."""
    pending: int
    """Of these: with a source whose copy is outstanding."""
    unresolvable: int
    """Of these: with a source that neither landed nor will. More than none is a breach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """One fetch of a fact of an evicted span, through the path that reconstitution uses (RET-2)."""

    compaction: int
    """After how many compactions it was run."""
    turn: str | None = None
    """Id of the turn whose fact was fetched, where there was one to fetch."""
    passed: bool
    """Whether the fact came back verbatim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """How far a single-stepped worker has come."""

    done: bool
    at: str | None = None
    """The access to a store before which it stands; none where it is done."""
    outcome: Outcome | None = None
    """The result, where the operation has an outcome."""
    answer: Answer | None = None
    """The result, where it is an answer."""


class OperationError(Exception):
    """An operation did not succeed. Definite: it did not happen. Indefinite: it may have (OUT-2).

    A compactor's own exception that crosses `append`, `compact` and the like is taken as indefinite.
    """

    def __init__(self, message: str, *, definite: bool = True) -> None:
        super().__init__(message)
        self.definite = definite


class Foresees(Protocol):
    """An adapter in Python that wants to know beforehand what it may be asked for. No operation, and never needed."""

    def foresee(self, operations: frozenset[str]) -> None:
        """Called before `open`, with the operations besides the required ones and the looks that this run may call.

        So that what takes time to make possible (a disk that can lose power) need not be there where nobody will ask
        for it. Where this was not called, anything may be asked for.
        """


class Compactor(Protocol):
    """The operations that every compactor under test has."""

    def describe(self) -> Description:
        """Say who this is."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        """Start an empty session on a fresh store, and answer with the settings that were taken."""

    def append(self, turn: Turn) -> str | None:
        """Add a turn; answers with the compactor's own id for it, where there is one."""

    def compact(self) -> Outcome:
        """Run one compaction. Where compaction is automatic: let the compactor do what it would do now."""

    def live(self) -> Sequence[Item]:
        """Exactly what the model would see now, in order."""

    def close(self) -> None:
        """Release everything that `open` took."""


class Capabilities(Protocol):
    """Signatures of the optional operations. A compactor defines those that it has."""

    def pointers(self) -> Sequence[Pointer]:
        """Every pointer that a committed, live summary carries."""

    def get(self, token: str) -> Answer:
        """Follow a pointer."""

    def search(self, literal: str) -> Answer:
        """Look a literal up in whatever the compactor searches. `found` only with content that carries it."""

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        """Ask for the value of a slot. With `evidence`, a summary's words alone are not enough (EVI-5)."""

    def manifest(self, carrier: str) -> Sequence[Entry]:
        """Which assertions a live item carries verbatim."""

    def tombstones(self) -> Sequence[Tombstone]:
        """Every tombstone of the session."""

    def tombstone(self, literal: str, source: str, reason: str) -> Outcome:
        """Drop one assertion on the caller's explicit decision: the literal that turn `source` asserts."""

    def supersede(self, literal: str, source: str, superseder: str, reason: str) -> Outcome:
        """As `tombstone`, because turn `superseder` took its place: refused unless that one is anchored (MAN-4)."""

    def evict(self, token: str) -> Outcome:
        """Ask that the original under a pointer be removed from the store. The gate may refuse (ANC-1)."""

    def expire(self, seconds: float) -> None:
        """Move the clock of the store forward and let its lifetime policy run."""

    def reopen(self) -> None:
        """Close everything and open the same session again from durable state, as a fresh process would."""

    def resume(self, settings: Settings, summarise: Summarise) -> None:
        """In a fresh process, instead of `open`: go on with the session of one that was killed in this `TMPDIR`."""

    def kill(self) -> None:
        """The process is killed now; the suite then calls `reopen`. It does so itself: no adapter is asked."""

    def crash(self, point: str) -> None:
        """Arm: the next `compact` dies at this durable step, with nothing flushed that was not yet durable.

        That `compact` raises `OperationError(definite=False)`; the suite then calls `reopen`.
        """

    def corrupt(self, token: str) -> bool:
        """Damage the stored bytes under a pointer, behind the compactor's back. False where none were found."""

    def switch(self, session: str, user: str, branch: str = "main") -> None:
        """Go over to another session of the same store, or to another branch of this one."""

    def status(self) -> str:
        """`lossless`, or `degraded: ` and the reason."""

    def degraded_since(self) -> float | None:
        """Since when it is degraded, in seconds since the epoch; none while it is lossless (RET-5)."""

    def clear(self) -> None:
        """The caller empties the window; a compaction under way must not bring anything back (CON-3).

        No erasure: originals that were reachable may stay reachable.
        """

    def rewind(self, turn: str) -> None:
        """Take back everything that was appended after a turn: not in the window, not found, not pointed at."""

    def fork(self, branch: str) -> None:
        """Begin a branch from the present state, and go over to it.

        What the parent appends afterwards is not of the branch's lineage, and the other way round (ISO-1).
        """

    def forget(self, turn: str) -> Outcome:
        """Erase what a turn says, everywhere (ERA-1)."""

    def files(self) -> Sequence[str]:
        """Absolute paths of every file that holds state or logs of the session, and of what lies beside them."""

    def hold_copies(self, held: bool) -> None:
        """While held, background copies do not land."""

    def settle(self) -> None:
        """Let outstanding background work run to its end; the hold is lifted."""

    def ratios(self) -> Ratios:
        """Counts of summaries."""

    def clock(self, shift: float) -> None:
        """The wall clock jumps by so many seconds, forward or back, without time passing."""

    def lose_power(self) -> None:
        """Power is lost now: what was not synced is gone, and so is the process. The suite then calls `reopen`."""

    def fail_store(self, point: str, fault: str) -> None:
        """Arm: the write of the next `compact` at this crash point fails, in one of the ways of `StoreFault`."""

    def audits(self) -> Sequence[Audit]:
        """Audits run so far, in order."""

    def override(self, reason: str) -> Outcome:
        """While degraded: the caller accepts the loss, on the record (RET-3)."""

    def begin(self, worker: str, op: str, arguments: Mapping[str, Any]) -> None:
        """Start an operation as a worker of this name, stopped before its first access to a store."""

    def advance(self, worker: str) -> Advance:
        """Let a worker go on up to its next access to a store, or to its end."""


def mechanisms_of(description: Description, *, summarised: bool) -> frozenset[Mechanism]:
    """What the compactor has: by its own word, by the operations that it offers, and by what it was seen to do."""
    offered = description.operations
    shown = {
        mechanism
        for mechanism, operations in OPERATIONS_OF.items()
        if (offered.intersection(operations) if mechanism is Mechanism.RETRIEVAL else offered.issuperset(operations))
    }
    if summarised:
        shown.add(Mechanism.SUMMARISER)
    return description.mechanisms | shown
