"""A history as the checkers see it: turns and assertions, and what could be seen between two changes.

All looking around between two changing operations together is one `Observation`; consecutive observations of the
same session are joined by the `Stretch` of operations between them. `anchorhold.checkers.observe` makes all this.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar, cast, overload

import msgspec

from anchorhold.checkers.finding import Finder
from anchorhold.checkers.words import carries_calls, content, forms, holds, plain, says, shorten, words
from anchorhold.compactor import Audit, Ratios
from anchorhold.history import EventType, Header
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
MAIN = "main"
"""The process that does what the workload says, one step after the other."""
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

    def outcome(self) -> Outcome | None:
        """The outcome that it answered with, where it did."""
        value = self.value
        if value is None or self.ended is not EventType.OK:
            return None
        if type(value) is Outcome:
            return value
        # A struct like one is made by `verify`.
        return cast("Outcome", value) if isinstance(value, msgspec.Struct) else self._outcome

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
        if own is not None and own == text and self.turn.data is None:
            return bool(own.strip()) or bool(self.forms)
        return holds(plain(text), self.forms)


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


def said_by(known: "Known", append: Operation) -> Said | None:
    """The turn that an append brought in; none where it failed, or it was there before."""
    if append.ended is EventType.FAIL:
        return None
    said = known.said.get(convert(append.arguments["turn"], Turn).id)
    return said if said is not None and said.at == append.end else None


class Known(Protocol):
    """What is known of a history, all of it or as far as it has come."""

    @property
    def header(self) -> Header:
        """Its first line."""

    @property
    def said(self) -> Mapping[str, Said]:
        """The turns, in the order in which they came."""

    @property
    def order(self) -> Mapping[str, int]:
        """The number of each turn."""

    @property
    def forks(self) -> Mapping[str, Forked]:
        """Every branch that was begun, by its lane."""

    def turn_of(self, name: str | None) -> str | None:
        """The suite's id of a turn that the compactor names by the suite's id or by its own."""

    def turns_of(self, names: tuple[str, ...] | None) -> frozenset[str] | None:
        """The known turns among the names; none where nothing is declared."""

    def contained(self, text: str) -> frozenset[str]:
        """The turns whose words stand in a text."""

    def offers(self, *operations: str) -> bool:
        """Whether the compactor has all of these operations."""

    def removed(self, stretch: Stretch) -> tuple[str, ...]:
        """Turns that were in the window (or came in meanwhile) and are no longer there word for word, in order."""

    def belongs(self, turn: str, session: str) -> bool:
        """Whether a turn is of a session's lineage."""

    def quote(self, turn: str, *, first: bool = False) -> str:
        """A turn in a sentence of a report."""


class Knowing:
    """What `Known` says, for whatever holds the header, the turns, their other names and the branches."""

    header: Header
    said: Mapping[str, Said]
    aliases: Mapping[str, str]
    forks: Mapping[str, Forked]

    def offers(self, *operations: str) -> bool:
        """Whether the compactor has all of these operations."""
        return set(operations) <= set(self.header.operations)

    def turn_of(self, name: str | None) -> str | None:
        """The suite's id of a turn that the compactor names by the suite's id or by its own."""
        if name is None or name in self.said:
            return name
        return self.aliases.get(name)

    def turns_of(self, names: tuple[str, ...] | None) -> frozenset[str] | None:
        """The known turns among the names; none where nothing is declared."""
        if names is None:
            return None
        return frozenset([turn for turn in map(self.turn_of, names) if turn is not None])

    def belongs(self, turn: str, session: str) -> bool:
        """Whether a turn is of a session's lineage: said in it, or in an ancestor before it branched off."""
        said = self.said[turn]
        while said.session != session:
            forked = self.forks.get(session)
            if forked is None or forked.at < said.at:
                return False
            session = forked.parent
        return True

    def quote(self, turn: str, *, first: bool = False) -> str:
        """A turn in a sentence of a report; `first` where the sentence begins with it."""
        said = self.said[turn].turn
        what = f"“{shorten(words(said))}”" if said.data is None else f"{len(said.data)} bytes"
        return f"{'Turn' if first else 'turn'} {turn} ({what})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where operations are done: a session, whose it is, and a branch of it."""

    session: str
    branch: str
    user: str | None
    """None where the compactor knows no users: they tell no sessions apart then."""
    home: str | None
    """The user with whom the history begins."""

    @classmethod
    def first(cls, header: Header) -> "Place":
        """Where a history begins."""
        settings = header.settings
        return cls(session=settings.session, branch=settings.branch, user=settings.user, home=settings.user)

    def after(self, op: str, arguments: Mapping[str, Any]) -> "Place":
        """Where a `switch` or a `fork` leads that ended without an error."""
        if op == "fork":
            return replace(self, branch=str(arguments.get("branch", self.branch)))
        user = arguments.get("user", self.user)
        return replace(
            self,
            session=str(arguments.get("session", self.session)),
            branch=str(arguments.get("branch", "main")),
            user=self.user if self.home is None or user is None else str(user),
        )

    @property
    def lane(self) -> str:
        """All of it as one name, which no other place has; the first user goes without saying."""
        name = _unmistakable(self.session)
        if self.user != self.home:
            name = f"{name} of {_unmistakable(str(self.user))}"
        return name if self.branch == "main" else f"{name} ({self.branch})"


def _unmistakable(name: str) -> str:
    """A name as it is, or quoted where it could be taken for one that was put together of several."""
    return name if " " not in name and not name.startswith('"') else json.dumps(name)


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
    if type(value) is kind or (isinstance(kind, type) and isinstance(value, kind)):
        return value
    if isinstance(value, msgspec.Struct):
        # A struct with the same fields, as `verify` makes them.
        return cast("T", value)
    return msgspec.convert(value, kind)


def changed(value: T, **fields: Any) -> T:
    """A value of the vocabulary with other values in some fields, whether it is a dataclass or a struct like one."""
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(value, **fields)
    return replace(value, **fields)  # type: ignore[type-var]


@dataclass(frozen=True, kw_only=True)
class Reading(Knowing):
    """A history as the checkers see it."""

    header: Header
    operations: tuple[Operation, ...]
    said: Mapping[str, Said]
    aliases: Mapping[str, str]
    assertions: tuple[Assertion, ...]
    observations: tuple[Observation, ...]
    stretches: tuple[Stretch, ...]
    drops: tuple[Drop, ...]
    sources: tuple[Source, ...]
    """Everything that anything could be quoted from: turns, and what the model wrote."""
    pointers: Mapping[str, Pointer]
    """Every token ever seen, with the pointer as first seen."""
    issued: Mapping[str, int]
    """Event at which each token was first seen."""
    withdrawals: tuple[Withdrawal, ...] = ()
    """Everything that the caller took away, in order."""
    forks: Mapping[str, Forked] = field(default_factory=dict)
    """Every branch that was begun, by its lane."""
    _contained: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    _stated: dict[str, frozenset[int]] = field(default_factory=dict, repr=False)
    _called: dict[tuple[str, str], bool] = field(default_factory=dict, repr=False)
    _standing: dict[int, frozenset[str]] = field(default_factory=dict, repr=False)
    """By the look's `id`."""
    _removed: dict[int, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """By the stretch's `id`."""
    _present: dict[int, tuple[Said, ...]] = field(default_factory=dict, repr=False)
    """By the look's `id`."""
    _asked_of: list[object] = field(default_factory=list, repr=False)
    """What these were worked out for, so that nothing else gets its `id`: whoever asked may have made it for that."""

    @once
    def order(self) -> Mapping[str, int]:
        """The number of each turn, in the order in which they came."""
        return {turn: number for number, turn in enumerate(self.said)}

    @once
    def _finder(self) -> Finder:
        return Finder(self.said.values())

    @once
    def _came(self) -> tuple[list[int], list[Said]]:
        """The turns by the event at which they were acknowledged."""
        came = sorted(self.said.values(), key=lambda said: said.at)
        return [said.at for said in came], came

    @once
    def homes(self) -> Mapping[str, str]:
        """The session in which each token was first seen: another one has no business with it (ISO-1)."""
        found: dict[str, str] = {}
        for observation in self.observations:
            for pointer in observation.pointers or ():
                found.setdefault(pointer.token, observation.session)
        return found

    def contained(self, text: str) -> frozenset[str]:
        """The turns whose words stand in a text."""
        if text not in self._contained:
            self._contained[text] = self._finder.find(plain(text))
        return self._contained[text]

    def with_calls(self, text: str, turn: str) -> bool:
        """Whether a text holds the arguments of every call of a turn, however they are written down."""
        calls = self.said[turn].turn.calls
        if not calls:
            return True
        known = self._called.get((text, turn))
        if known is None:
            known = self._called[text, turn] = carries_calls(plain(text), calls)
        return known

    def stated(self, text: str) -> frozenset[int]:
        """The assertions (by number) whose statement a text makes."""
        if text not in self._stated:
            self._stated[text] = frozenset(a.number for a in self.assertions if says(text, a.fact))
        return self._stated[text]

    def excused(self, observation: Observation, turn: str) -> bool:
        """Whether the suite itself put a turn's original out of reach.

        What lies under one token with it, or comes to lie there later, may be lost by the same damage.
        """
        if turn in observation.exempt:
            return True
        if not observation.damaged:
            return False
        for pointer in observation.pointers or ():
            covers = self.turns_of(pointer.covers)
            if covers is not None and turn not in covers:
                continue
            if pointer.token in observation.damaged:
                return True
            # A later token may lead to the damaged bytes as well, and says so by an error.
            if pointer.token in observation.errors and (covers is None or covers & observation.exempt):
                return True
        return False

    @once
    def lanes(self) -> tuple[tuple[Stretch, ...], ...]:
        """The stretches of each session, in order."""
        sessions: dict[str, list[Stretch]] = {}
        for stretch in self.stretches:
            sessions.setdefault(stretch.after.session, []).append(stretch)
        return tuple(map(tuple, sessions.values()))

    def present(self, observation: Observation) -> tuple[Said, ...]:
        """The acknowledged turns of the session that is being looked at, without what was taken away."""
        known = self._present.get(id(observation))
        if known is None:
            self._asked_of.append(observation)
            known = self._present[id(observation)] = tuple(
                said
                for turn, said in self.said.items()
                if said.certain
                and said.at < observation.start
                and turn not in observation.withdrawn
                and self.belongs(turn, observation.session)
            )
        return known

    def standing(self, observation: Observation) -> frozenset[str]:
        """Turns that stand in the window word for word, as items of their own or inside others."""
        known = self._standing.get(id(observation))
        if known is None:
            self._asked_of.append(observation)
            inside = (self.contained(content(item)) for item in observation.items if content(item))
            known = self._standing[id(observation)] = observation.raw.union(*inside)
        return known

    def removed(self, stretch: Stretch) -> tuple[str, ...]:
        """Turns that were in the window (or came in meanwhile) and are no longer there word for word, in order."""
        known = self._removed.get(id(stretch))
        if known is None:
            self._asked_of.append(stretch)
            known = self._removed[id(stretch)] = self._gone(stretch)
        return known

    def _gone(self, stretch: Stretch) -> tuple[str, ...]:
        at, turns = self._came
        meanwhile = turns[bisect_left(at, stretch.before.start) : bisect_right(at, stretch.after.start)]
        session = stretch.after.session
        came = {said.turn.id for said in meanwhile if said.certain and said.session == session}
        gone = (stretch.before.raw | came) - stretch.after.raw - stretch.after.withdrawn
        if not gone:
            return ()
        return tuple(sorted(gone - self.standing(stretch.after), key=self.order.__getitem__))
