"""What a history shows, read once: turns and assertions, and what could be seen between two changes.

Reading pairs every `invoke` with its end, takes all looking around between two changing operations together as one
`Observation`, and joins consecutive observations of the same session by the `Stretch` of operations between them.
It judges nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import msgspec

from anchorhold.checkers.words import content, forms, holds, plain, says, shorten, words
from anchorhold.history import Event, EventType, Header
from anchorhold.verdict import History
from anchorhold.workload import Append
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

READS = frozenset({"live", "pointers", "get", "search", "reconstitute", "manifest", "tombstones", "status"})
COMMON = frozenset({"open", "reopen", "crash", "expire"})
"""Operations that concern every session of a store."""
OUTCOMES = frozenset({"compact", "evict", "tombstone"})
SIDELINES = frozenset({"describe", "note", "close"})
"""Operations that neither look nor change anything."""
CONTENT = frozenset({AnswerKind.FOUND, AnswerKind.PARTIAL})

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
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

    @property
    def ok(self) -> bool:
        """Whether it ended without an error."""
        return self.ended is EventType.OK

    @property
    def committed(self) -> bool:
        """Whether it happened: by its outcome where it has one, otherwise by ending without an error."""
        if self.op in OUTCOMES:
            outcome = self.outcome()
            return outcome is not None and outcome.kind is OutcomeKind.COMMITTED
        return self.ok

    def outcome(self) -> Outcome | None:
        """The outcome that it answered with, where it did."""
        return convert(self.value, Outcome) if self.ok and self.value is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A turn that was handed to the compactor."""

    turn: Turn
    facts: tuple[Fact, ...]
    at: int
    """Event at which it was acknowledged."""
    certain: bool
    """Whether the append was acknowledged; otherwise it may or may not be there."""
    session: str
    forms: tuple[tuple[str, ...], ...]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A `search` or `reconstitute` that was answered."""

    operation: Operation
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Everything that was seen between two changes."""

    start: int
    end: int
    session: str
    live: tuple[Item, ...] | None = None
    pointers: tuple[Pointer, ...] | None = None
    answers: Mapping[str, Answer] = field(default_factory=dict)
    """What each followed token was answered with; pieces are joined."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """Tokens whose `get` ended with an error."""
    manifests: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    tombstones: tuple[Tombstone, ...] | None = None
    status: str | None = None
    questions: tuple[Question, ...] = ()
    raw: frozenset[str] = frozenset()
    """Turns that stand in the window as they were."""
    exempt: frozenset[str] = frozenset()
    """Turns whose original the suite itself put out of reach (damaged store, horizon over)."""

    @property
    def items(self) -> tuple[Item, ...]:
        """The live window, empty where it was not read."""
        return self.live or ()

    @property
    def summaries(self) -> tuple[Item, ...]:
        """The live summaries."""
        return tuple(item for item in self.items if item.kind is CarrierKind.SUMMARY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
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
    def calls(self) -> tuple[Operation, ...]:
        """Every call of the summariser."""
        return tuple(c for o in self.operations for c in o.calls if c.op == "summarise")

    @property
    def new_summaries(self) -> tuple[Item, ...]:
        """Summaries that were not there before, in this form."""
        known = {(item.id, content(item)) for item in self.before.summaries}
        return tuple(item for item in self.after.summaries if (item.id, content(item)) not in known)

    @property
    def gone_summaries(self) -> tuple[Item, ...]:
        """Summaries that are no longer there, and whose text stands in no other item either."""
        known = {(item.id, content(item)) for item in self.after.summaries}
        texts = [plain(content(item)) for item in self.after.items]
        return tuple(
            item
            for item in self.before.summaries
            if (item.id, content(item)) not in known
            and not any(plain(content(item)) and plain(content(item)) in text for text in texts)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A caller's explicit decision that an assertion may go."""

    literal: str
    source: str
    reason: str
    operation: Operation


def convert(value: Any, kind: type[T]) -> T:
    """A value of the vocabulary from its builtins, whether the history came from memory or from a file."""
    return msgspec.convert(value, kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A history as the checkers see it."""

    header: Header
    operations: tuple[Operation, ...]
    said: Mapping[str, Said]
    aliases: Mapping[str, str]
    assertions: tuple[Assertion, ...]
    observations: tuple[Observation, ...]
    stretches: tuple[Stretch, ...]
    drops: tuple[Drop, ...]
    pointers: Mapping[str, Pointer]
    """Every token ever seen, with the pointer as first seen."""
    issued: Mapping[str, int]
    """Event at which each token was first seen."""
    _contained: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    _stated: dict[str, frozenset[int]] = field(default_factory=dict, repr=False)

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
        return frozenset(turn for turn in map(self.turn_of, names) if turn is not None)

    def contained(self, text: str) -> frozenset[str]:
        """The turns whose words stand in a text."""
        if text not in self._contained:
            flat = plain(text)
            self._contained[text] = frozenset(i for i, said in self.said.items() if holds(flat, said.forms))
        return self._contained[text]

    def stated(self, text: str) -> frozenset[int]:
        """The assertions (by number) whose statement a text makes."""
        if text not in self._stated:
            self._stated[text] = frozenset(a.number for a in self.assertions if says(text, a.fact))
        return self._stated[text]

    def quote(self, turn: str, *, first: bool = False) -> str:
        """A turn in a sentence of a report; `first` where the sentence begins with it."""
        return f"{'Turn' if first else 'turn'} {turn} (“{shorten(words(self.said[turn].turn))}”)"

    @property
    def lanes(self) -> tuple[tuple[Stretch, ...], ...]:
        """The stretches of each session, in order."""
        sessions = dict.fromkeys(stretch.after.session for stretch in self.stretches)
        return tuple(tuple(s for s in self.stretches if s.after.session == session) for session in sessions)

    def present(self, observation: Observation) -> tuple[Said, ...]:
        """The acknowledged turns of the session that is being looked at."""
        return tuple(
            said
            for said in self.said.values()
            if said.certain and said.at < observation.start and said.session == observation.session
        )

    def standing(self, observation: Observation) -> frozenset[str]:
        """Turns that stand in the window word for word, as items of their own or inside others."""
        inside = (self.contained(content(item)) for item in observation.items if content(item))
        return observation.raw.union(*inside)

    def removed(self, stretch: Stretch) -> tuple[str, ...]:
        """Turns that were in the window (or came in meanwhile) and are no longer there word for word, in order."""
        came = {
            i
            for i, said in self.said.items()
            if said.certain
            and stretch.before.start <= said.at <= stretch.after.start
            and said.session == stretch.after.session
        }
        gone = (stretch.before.raw | came) - self.standing(stretch.after)
        return tuple(i for i in self.said if i in gone)


def operations(events: tuple[Event, ...]) -> tuple[Operation, ...]:
    """Pair every `invoke` with its end; what is called inside an operation becomes part of it."""
    open_: dict[str, list[tuple[Event, list[Operation]]]] = {}
    found: list[Operation] = []

    def close(stack: list[tuple[Event, list[Operation]]], end: Event, ended: EventType) -> None:
        invoke, calls = stack.pop()
        done = Operation(
            op=invoke.op,
            step=invoke.step,
            start=invoke.index,
            end=end.index,
            ended=ended,
            arguments=invoke.value if isinstance(invoke.value, Mapping) else {},
            value=end.value if ended is EventType.OK else None,
            error=end.error,
            calls=tuple(calls),
        )
        (stack[-1][1] if stack else found).append(done)

    for event in events:
        stack = open_.setdefault(event.process, [])
        if event.type is EventType.INVOKE:
            stack.append((event, []))
            continue
        # An end without its invoke is a remark of the runner's, not an operation.
        if any(invoke.op == event.op for invoke, _ in stack):
            while stack[-1][0].op != event.op:
                close(stack, event, EventType.INFO)
            close(stack, event, event.type)
    for stack in open_.values():
        while stack:
            close(stack, events[-1], EventType.INFO)
    return tuple(sorted(found, key=lambda operation: operation.start))


def read(history: History) -> Reading:
    """Read a whole history."""
    done = operations(history.events)
    said, aliases = _turns(history.header, done)
    observations = tuple(_observations(history.header, done, said, aliases))
    pointers: dict[str, Pointer] = {}
    issued: dict[str, int] = {}
    for observation in observations:
        for pointer in observation.pointers or ():
            pointers.setdefault(pointer.token, pointer)
            issued.setdefault(pointer.token, observation.start)
    return Reading(
        header=history.header,
        operations=done,
        said=said,
        aliases=aliases,
        assertions=tuple(
            Assertion(number=n, fact=fact, turn=i, at=s.at, session=s.session)
            for n, (i, s, fact) in enumerate((i, s, fact) for i, s in said.items() for fact in s.facts)
        ),
        observations=observations,
        stretches=tuple(_stretches(history.header, observations, done)),
        drops=tuple(
            Drop(
                literal=str(o.arguments.get("literal", "")),
                source=str(o.arguments.get("source", "")),
                reason=str(o.arguments.get("reason", "")),
                operation=o,
            )
            for o in done
            if o.op == "tombstone"
        ),
        pointers=pointers,
        issued=issued,
    )


def _turns(header: Header, done: tuple[Operation, ...]) -> tuple[dict[str, Said], dict[str, str]]:
    session = header.settings.session
    said: dict[str, Said] = {}
    aliases: dict[str, str] = {}
    for operation in done:
        if operation.op == "switch" and operation.ok:
            session = str(operation.arguments.get("session", session))
        if operation.op != "append" or operation.ended is EventType.FAIL:
            continue
        turn = convert(operation.arguments["turn"], Turn)
        steps = header.workload.steps
        step = steps[operation.step] if operation.step < len(steps) else None
        facts = step.facts if isinstance(step, Append) and step.turn.id == turn.id else ()
        if turn.id not in said or not said[turn.id].certain:
            said[turn.id] = Said(
                turn=turn,
                facts=facts,
                at=operation.end,
                certain=operation.ok,
                session=session,
                forms=forms(turn),
            )
        if operation.ok and isinstance(operation.value, str):
            aliases.setdefault(operation.value, turn.id)
    return said, aliases


def _raw(items: tuple[Item, ...], said: Mapping[str, Said], aliases: Mapping[str, str]) -> frozenset[str]:
    """Which turns stand in the window as they were: by their id where it is told, otherwise by their words.

    Several turns may have been merged into one item, and an item may frame a turn (a name before it), so words that
    stand inside a raw item count.
    """
    found: set[str] = set()
    loose: list[str] = []
    for item in items:
        if item.kind is not CarrierKind.RAW:
            continue
        flat = plain(content(item))
        name = item.turn if item.turn in said else aliases.get(item.turn or "")
        if name is not None:
            if not said[name].forms or holds(flat, said[name].forms) or (not flat and said[name].turn.calls):
                found.add(name)
            continue
        twins = [i for i, s in said.items() if i not in found and s.forms and flat in s.forms[0]]
        if twins:
            found.add(twins[0])
        else:
            loose.append(flat)
    found.update(i for i, s in said.items() if any(holds(flat, s.forms) for flat in loose))
    return frozenset(found)


def _joined(token: str, answers: Mapping[str, Answer]) -> Answer:
    """A partial answer with the pieces that were fetched by following its continuations."""
    answer, seen = answers[token], {token}
    while answer.kind is AnswerKind.PARTIAL:
        following = answer.continuation
        if following is None or following in seen or following not in answers:
            break
        seen.add(following)
        rest = answers[following]
        if rest.kind not in CONTENT:
            break
        answer = replace(
            rest,
            text=(answer.text or "") + (rest.text or "") if answer.text or rest.text else None,
            data=(answer.data or b"") + (rest.data or b"") if answer.data or rest.data else None,
        )
    return answer


class _Look:
    """Gathers what is read until something changes."""

    def __init__(self) -> None:
        self.live: tuple[Item, ...] | None = None
        self.pointers: tuple[Pointer, ...] | None = None
        self.answers: dict[str, Answer] = {}
        self.errors: dict[str, str] = {}
        self.manifests: dict[str, tuple[Entry, ...]] = {}
        self.tombstones: tuple[Tombstone, ...] | None = None
        self.status: str | None = None
        self.questions: list[Question] = []
        self.start: int | None = None
        self.end = 0

    def take(self, operation: Operation) -> None:
        self.start = operation.start if self.start is None else self.start
        self.end = operation.end
        token = str(operation.arguments.get("token", ""))
        if not operation.ok:
            if operation.op == "get":
                self.errors[token] = operation.error or "an error"
                self.answers.pop(token, None)
            return
        value = operation.value
        match operation.op:
            case "live":
                self.live = convert(value, tuple[Item, ...])
            case "pointers":
                self.pointers = convert(value, tuple[Pointer, ...])
            case "get":
                self.answers[token] = convert(value, Answer)
                self.errors.pop(token, None)
            case "manifest":
                carrier = str(operation.arguments.get("carrier", ""))
                self.manifests[carrier] = convert(value, tuple[Entry, ...])
            case "tombstones":
                self.tombstones = convert(value, tuple[Tombstone, ...])
            case "status":
                self.status = str(value)
            case _:
                self.questions.append(Question(operation=operation, answer=convert(value, Answer)))


def _observations(
    header: Header, done: tuple[Operation, ...], said: Mapping[str, Said], aliases: Mapping[str, str]
) -> Iterator[Observation]:
    session, look = header.settings.session, _Look()
    raw: frozenset[str] = frozenset()
    exempt: frozenset[str] = frozenset()
    waited = 0.0

    def flush() -> Iterator[Observation]:
        nonlocal raw
        if look.start is None:
            return
        if look.live is not None:
            raw = _raw(look.live, {i: s for i, s in said.items() if s.at < look.end}, aliases)
        yield Observation(
            start=look.start,
            end=look.end,
            session=session,
            live=look.live,
            pointers=look.pointers,
            answers={token: _joined(token, look.answers) for token in look.answers},
            errors=look.errors,
            manifests=look.manifests,
            tombstones=look.tombstones,
            status=look.status,
            questions=tuple(look.questions),
            raw=raw if look.live is not None else frozenset(),
            exempt=exempt,
        )

    for operation in done:
        if operation.op in READS:
            look.take(operation)
            continue
        if operation.op in SIDELINES:
            continue
        yield from flush()
        look = _Look()
        if operation.op == "switch" and operation.ok:
            session = str(operation.arguments.get("session", session))
        if operation.op == "corrupt" and operation.ok and operation.value is True:
            # What else lies under the damaged bytes is not known, so whatever is no longer in the window is exempt.
            exempt |= frozenset(i for i, s in said.items() if s.at < operation.start) - raw
        if operation.op == "expire":
            waited += float(operation.arguments.get("seconds", 0.0))
            horizon = header.settings.horizon
            if horizon is not None and waited >= horizon:
                exempt |= frozenset(i for i, s in said.items() if s.at < operation.start)
    yield from flush()


def _stretches(
    header: Header, observations: tuple[Observation, ...], done: tuple[Operation, ...]
) -> Iterator[Stretch]:
    last: dict[str, Observation] = {}
    session = header.settings.session
    changes: list[tuple[str, Operation]] = []
    for operation in done:
        if operation.op == "switch" and operation.ok:
            session = str(operation.arguments.get("session", session))
        elif operation.op not in READS and operation.op not in SIDELINES:
            changes.append((session, operation))
    for after in observations:
        if after.live is None:
            continue
        # Every session starts with an empty window, whether or not anybody looked at it.
        before = last.get(after.session, Observation(start=0, end=0, session=after.session, live=()))
        between = tuple(
            o for of, o in changes if before.end <= o.start < after.start and (of == after.session or o.op in COMMON)
        )
        yield Stretch(before=before, operations=between, after=after)
        last[after.session] = after
