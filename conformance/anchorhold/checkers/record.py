"""What a history tells, as values: operations, turns, looks, and what came between two looks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, overload

import msgspec

from anchorhold.checkers.words import content, forms, holds, plain
from anchorhold.compactor import Audit, Ratios
from anchorhold.history import MAIN, EventType
from anchorhold_spec.vocabulary import (
    Answer,
    AnswerKind,
    CarrierKind,
    Entry,
    Fact,
    Item,
    Outcome,
    OutcomeKind,
    Pointer,
    Tombstone,
    Turn,
)

READS = frozenset(
    {
        "live",
        "pointers",
        "get",
        "search",
        "reconstitute",
        "manifest",
        "tombstones",
        "status",
        "degraded_since",
        "ratios",
        "audits",
    }
)


COMMON = frozenset(
    {
        "open",
        "reopen",
        "crash",
        "expire",
        "forget",
        "clock",
        "kill",
        "lose_power",
        "fail_store",
        "hold_copies",
        "settle",
    }
)
"""Operations that concern every session of a store."""


DROPPING = frozenset({"tombstone", "supersede"})
"""Operations by which a caller decides that an assertion may go."""


OUTCOMES = frozenset({"compact", "evict", "tombstone", "supersede", "forget", "override"})


SIDELINES = frozenset({"describe", "note", "close", "files", "scan", "begin", "advance"})
"""Operations that neither look nor change anything. What a worker does in them is an operation of its own."""


WITHDRAWING = frozenset({"clear", "rewind", "forget"})
"""Operations by which the caller takes turns away."""


LEADING = frozenset({"switch", "fork"})
"""Operations that lead to another session or branch."""


CONTENT = frozenset({AnswerKind.FOUND, AnswerKind.PARTIAL})


T = TypeVar("T")


S = TypeVar("S")


class once(Generic[S, T]):  # noqa: N801 - stands where `property` stands
    """A property that is worked out when it is asked for first. Unlike `functools.cached_property` it takes no lock:
    nothing here is shared by threads before it is complete."""

    def __init__(self, work_out: Callable[[S], T]) -> None:
        self._work_out = work_out
        self.__doc__ = work_out.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "once[S, T]": ...
    @overload
    def __get__(self, instance: S, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        found = instance.__dict__[self._name] = self._work_out(instance)
        return found


class Operation(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One operation from its `invoke` to its end."""

    op: str
    step: int
    start: int
    end: int
    """Index of the event that ended it; of the last event of the history where nothing did."""
    ended: EventType
    """`info` where nothing ended it."""
    arguments: Mapping[str, Any]
    value: Any = None
    error: str | None = None
    calls: tuple["Operation", ...] = ()
    """What was called inside it: the summariser."""
    process: str = MAIN
    """Another than `main` where it was done beside, or by a worker, while something else went on."""

    @property
    def ok(self) -> bool:
        """Whether it ended without an error."""
        return self.ended is EventType.OK

    @once
    def committed(self) -> bool:
        """Whether it happened: by its outcome where it has one, otherwise by ending without an error."""
        if self.op in OUTCOMES:
            outcome = self.outcome()
            return outcome is not None and outcome.kind is OutcomeKind.COMMITTED
        return self.ok

    @once
    def turn(self) -> Turn:
        """The turn that an `append` hands in."""
        return convert(self.arguments["turn"], Turn)

    def outcome(self) -> Outcome | None:
        """The outcome that it answered with, where it did."""
        value = self.value
        if value is None or self.ended is not EventType.OK:
            return None
        if type(value) is Outcome:
            return value
        # A struct like one is made by `verify`.
        return value if isinstance(value, msgspec.Struct) else self._outcome  # type: ignore[return-value]

    @once
    def _outcome(self) -> Outcome | None:
        return convert(self.value, Outcome)


class Said(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A turn that was handed to the compactor."""

    turn: Turn
    facts: tuple[Fact, ...]
    at: int
    """Event at which it was acknowledged."""
    certain: bool
    """Whether the append was acknowledged; otherwise it may or may not be there."""
    session: str
    """Session and branch that it was said in, as `lane` writes them."""

    @once
    def forms(self) -> tuple[tuple[str, ...], ...]:
        """For each part of it that a copy must hold, the ways in which it may be written down."""
        return forms(self.turn)

    def stands_in(self, text: str) -> bool:
        """Whether its words stand in a text."""
        own = self.turn.text
        if own is not None and own == text and self.turn.data is None and own.strip():
            return True
        flat = plain(text)
        return self._as_given(flat) or holds(flat, self.forms)

    def _as_given(self, flat: str) -> bool:
        """Whether the calls of a turn without other words stand in a text as they were given: the first of the ways
        in which they may be written down, and the usual one. To find out all the others takes much longer."""
        turn = self.turn
        if not turn.calls or turn.data is not None or (turn.text or "").strip():
            return False
        given = [plain(call.arguments) for call in turn.calls if call.arguments.strip()]
        return bool(given) and all(each in flat for each in given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """A fact together with the turn that asserts it."""

    number: int
    fact: Fact
    turn: str
    at: int
    session: str

    def __str__(self) -> str:
        return f"“{plain(self.fact.text)}” (turn {self.turn})"


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A `search` or `reconstitute` that was answered."""

    operation: Operation
    answer: Answer


class Observation(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything that was seen between two changes."""

    start: int
    end: int
    session: str
    live: tuple[Item, ...] | None = None
    pointers: tuple[Pointer, ...] | None = None
    relisted: tuple[Pointer, ...] = ()
    """Pointers that were listed in this look and not when they were listed again, although nothing changed: tokens
    may be made anew for each listing, and those that were given out go on to lead where they led."""
    answers: Mapping[str, Answer] = {}
    """What each followed token was answered with; pieces are joined."""
    pending: frozenset[str] = frozenset()
    """Summaries that were declared pending at some time during this look: following their pointers may land them."""
    continuations: frozenset[str] = frozenset()
    """Tokens that are no pointers: they were handed out to fetch the rest of an answer."""
    ended: Mapping[str, int] = {}
    """Event at which following each token ended, the first time."""
    errors: Mapping[str, str] = {}
    """Tokens whose `get` ended with an error."""
    manifests: Mapping[str, tuple[Entry, ...]] = {}
    tombstones: tuple[Tombstone, ...] | None = None
    status: str | None = None
    since: "SinceRead | None" = None
    """Since when it was told to be degraded."""
    ratios: Ratios | None = None
    audits: tuple[Audit, ...] | None = None
    questions: tuple[Question, ...] = ()
    raw: frozenset[str] = frozenset()
    """Turns that stand in the window as they were."""
    exempt: frozenset[str] = frozenset()
    """Turns whose original the suite itself put out of reach (damaged store, horizon over), or took away."""
    withdrawn: frozenset[str] = frozenset()
    """Of these: turns that the caller took away from this session by a clear, a rewind or a forget."""
    copies_held: bool = False
    """Whether the suite holds background copies back."""
    settled: int = -1
    """When the suite last had outstanding background work run to its end; -1 where it never did."""
    damaged: frozenset[str] = frozenset()
    """Tokens under which the suite damaged the stored bytes."""
    amid: bool = False
    """Whether something that may change what there is to see was under way meanwhile: whether its effect is in this
    look is not known."""

    @property
    def items(self) -> tuple[Item, ...]:
        """The live window, empty where it was not read."""
        return self.live or ()

    @once
    def summaries(self) -> tuple[Item, ...]:
        """The live summaries."""
        return tuple(item for item in self.items if item.kind is CarrierKind.SUMMARY)


class Stretch(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What was done between two looks at the same window."""

    before: Observation
    operations: tuple[Operation, ...]
    after: Observation

    def of(self, op: str) -> tuple[Operation, ...]:
        """The operations of one name."""
        return tuple(o for o in self.operations if o.op == op)

    def named(self) -> str:
        """The operations in words."""
        names: dict[str, None] = {o.op: None for o in self.operations}
        return " + ".join(names) or "nothing"

    @property
    def alone(self) -> Operation | None:
        """The operation by which alone the second look can differ from the first; none where there were several, or
        where another that was begun before or beside may have had its effect in between."""
        if len(self.operations) != 1 or self.before.amid or self.after.amid:
            return None
        return self.operations[0]

    @once
    def calls(self) -> tuple[Operation, ...]:
        """Every call of the summariser."""
        return tuple(c for o in self.operations for c in o.calls if c.op == "summarise")

    @once
    def new_summaries(self) -> tuple[Item, ...]:
        """Summaries that were not there before, in this form."""
        if self.before.live is self.after.live:
            return ()
        known = {(item.id, content(item)) for item in self.before.summaries}
        return tuple(item for item in self.after.summaries if (item.id, content(item)) not in known)

    @once
    def gone_summaries(self) -> tuple[Item, ...]:
        """Summaries that are no longer there, and whose text stands in no other item either."""
        if self.before.live is self.after.live or not self.before.summaries:
            return ()
        known = {(item.id, content(item)) for item in self.after.summaries}
        texts = [plain(content(item)) for item in self.after.items]
        return tuple(
            item
            for item in self.before.summaries
            if (item.id, content(item)) not in known
            and not any(plain(content(item)) and plain(content(item)) in text for text in texts)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Something that was said to the compactor, or that its model wrote for it."""

    at: int
    text: str
    flat: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """A clear, rewind or forget: turns that the caller took away."""

    operation: Operation
    session: str
    turns: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forked:
    """Where a branch began."""

    parent: str
    at: int
    """Event at which it was acknowledged."""
    beside: bool = False
    """Whether another process than the main one began it, so that something may have been under way meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SinceRead:
    """One reading of since when the status is degraded."""

    value: float | None
    at: int
    """The event at which it was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A caller's explicit decision that an assertion may go."""

    literal: str
    source: str
    reason: str
    operation: Operation
    superseder: str | None = None
    """The turn that is said to have taken its place."""


def convert(value: Any, kind: type[T]) -> T:
    """A value of the vocabulary from its builtins, whether the history came from memory or from a file; one that is
    of the vocabulary already stays as it is."""
    if isinstance(value, msgspec.Struct):
        # Of this kind, or a struct with the same fields, as `verify` makes them.
        return value  # type: ignore[return-value]
    if type(value) is kind or (isinstance(kind, type) and isinstance(value, kind)):
        return value
    return msgspec.convert(value, kind)


def changed(value: T, **fields: Any) -> T:
    """A value of the vocabulary with other values in some fields, whether it is a dataclass or a struct like one."""
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(value, **fields)
    return replace(value, **fields)  # type: ignore[type-var]
