"""Reads a history once, for all checkers: pairs every `invoke` with its end, and takes looks together.

It judges nothing.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace

import msgspec

from anchorhold.checkers.reading import (
    COMMON,
    CONTENT,
    DROPPING,
    MAIN,
    READS,
    SIDELINES,
    WITHDRAWING,
    Assertion,
    Drop,
    Forked,
    Observation,
    Operation,
    Question,
    Reading,
    Said,
    SinceRead,
    Source,
    Stretch,
    Withdrawal,
    convert,
    lane,
)
from anchorhold.checkers.words import carries_calls, content, forms, holds, plain, words
from anchorhold.compactor import Advance, Audit, Ratios
from anchorhold.history import Event, EventType, Header
from anchorhold.verdict import History
from anchorhold.workload import Append, Meanwhile
from anchorhold_spec.vocabulary import (
    Answer,
    AnswerKind,
    CarrierKind,
    Entry,
    Fact,
    Item,
    OutcomeKind,
    Pointer,
    Tombstone,
    Turn,
)


def operations(events: tuple[Event, ...]) -> tuple[Operation, ...]:
    """Pair every `invoke` with its end; what is called inside an operation becomes part of it."""
    open_: dict[str, list[tuple[Event, list[Operation]]]] = {}
    found: list[Operation] = []

    def close(stack: list[tuple[Event, list[Operation]]], end: Event, ended: EventType) -> None:
        invoke, calls = stack.pop()
        done = Operation(
            process=invoke.process,
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
    return tuple(sorted((*found, *_of_workers(found)), key=lambda operation: (operation.start, operation.op)))


def _of_workers(found: list[Operation]) -> Iterator[Operation]:
    """What single-stepped workers did, each as the operation that it is: from its `begin` to its last `advance`."""
    begun: dict[str, tuple[Operation, list[Operation]]] = {}
    for operation in sorted(found, key=lambda operation: operation.start):
        worker = str(operation.arguments.get("worker", ""))
        if operation.op == "begin" and operation.ok:
            begun[worker] = (operation, [])
        if operation.op != "advance" or worker not in begun:
            continue
        begin, steps = begun[worker]
        steps.append(operation)
        come = convert(operation.value, Advance) if operation.ok else None
        if come is not None and not come.done:
            continue
        del begun[worker]
        result = None if come is None else come.outcome or come.answer
        yield Operation(
            op=str(begin.arguments.get("op", "")),
            step=begin.step,
            start=begin.start,
            end=operation.end,
            ended=operation.ended,
            arguments=begin.arguments.get("arguments", {}),
            value=None if result is None else msgspec.to_builtins(result),
            error=operation.error,
            calls=tuple(call for step in steps for call in step.calls),
            process=worker,
        )


def read(history: History) -> Reading:
    """Read a whole history."""
    done = operations(history.events)
    lanes = Lanes(history.header, done)
    said, aliases = _turns(history.header, done, lanes)
    withdrawals = tuple(_withdrawals(done, said, lanes))
    observations = tuple(_observations(history.header, done, said, aliases, lanes, withdrawals))
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
        stretches=tuple(_stretches(observations, done, lanes)),
        withdrawals=withdrawals,
        forks=lanes.forks,
        drops=tuple(
            Drop(
                literal=str(o.arguments.get("literal", "")),
                source=str(o.arguments.get("source", "")),
                reason=str(o.arguments.get("reason", "")),
                operation=o,
                superseder=o.arguments.get("superseder"),
            )
            for o in done
            if o.op in DROPPING
        ),
        sources=_sources(done, said),
        pointers=pointers,
        issued=issued,
    )


def _sources(done: tuple[Operation, ...], said: Mapping[str, Said]) -> tuple[Source, ...]:
    told = [(one.at, words(one.turn)) for one in said.values()]
    written = [
        (call.end, str(call.value["text"]))
        for operation in done
        for call in operation.calls
        if call.op == "summarise" and call.ok and isinstance(call.value, dict)
    ]
    return tuple(Source(at=at, text=text, flat=plain(text)) for at, text in (*told, *written))


class Lanes:
    """In which session and branch each operation was done."""

    def __init__(self, header: Header, done: tuple[Operation, ...]) -> None:
        self.forks: dict[str, Forked] = {}
        session, branch = header.settings.session, header.settings.branch
        self._starts = [0]
        self._names = [lane(session, branch)]
        for operation in done:
            if operation.op == "switch" and operation.ok:
                session = str(operation.arguments.get("session", session))
                branch = str(operation.arguments.get("branch", "main"))
            elif operation.op == "fork" and operation.ok:
                branch = str(operation.arguments.get("branch", branch))
                self.forks.setdefault(lane(session, branch), Forked(parent=self._names[-1], at=operation.end))
            else:
                continue
            # Operations that began before it ended were asked of the session that was left.
            self._starts.append(operation.end)
            self._names.append(lane(session, branch))

    def of(self, event: int) -> str:
        """The lane in which what begins at this event is done."""
        return self._names[bisect_right(self._starts, event) - 1]

    def lineage(self, said: Said, session: str) -> bool:
        """Whether a turn was said in a session, or in an ancestor before the session branched off."""
        while said.session != session:
            forked = self.forks.get(session)
            if forked is None or forked.at < said.at:
                return False
            session = forked.parent
        return True

    def withdrawn(self, session: str, withdrawals: tuple[Withdrawal, ...], until: int) -> frozenset[str]:
        """The turns that were taken away from a session before an event: what is forgotten is gone everywhere."""
        away = frozenset[str]()
        while True:
            for each in withdrawals:
                if each.operation.start < until and (each.session == session or each.operation.op == "forget"):
                    away |= each.turns
            forked = self.forks.get(session)
            if forked is None:
                return away
            session, until = forked.parent, min(until, forked.at)


def _planted(header: Header, operation: Operation, turn: str) -> tuple[Fact, ...]:
    """The facts that a turn asserts: as its `append` says, or as the workload does where an `append` says nothing."""
    if "facts" in operation.arguments:
        return convert(operation.arguments["facts"], tuple[Fact, ...])
    steps = header.workload.steps
    here = steps[operation.step] if operation.step < len(steps) else None
    if isinstance(here, Append):
        return here.facts if here.turn.id == turn else ()
    # What is taken beside stands in a step before the one that it is taken in.
    inside = (s for step in reversed(steps[: operation.step]) if isinstance(step, Meanwhile) for s in step.steps)
    return next((s.facts for s in inside if isinstance(s, Append) and s.turn.id == turn), ())


def _withdrawals(done: tuple[Operation, ...], said: Mapping[str, Said], lanes: Lanes) -> Iterator[Withdrawal]:
    """What each clear, rewind and forget took away; one of which it is not known whether it happened, as well."""
    for operation in done:
        if operation.op not in WITHDRAWING or operation.ended is EventType.FAIL:
            continue
        outcome = operation.outcome() if operation.op == "forget" else None
        if outcome is not None and outcome.kind is not OutcomeKind.COMMITTED:
            continue
        session = lanes.of(operation.start)
        named = str(operation.arguments.get("turn", ""))
        before = {i: s for i, s in said.items() if s.at < operation.start and lanes.lineage(s, session)}
        if operation.op == "forget":
            turns = frozenset({named} & said.keys())
        elif operation.op == "rewind":
            order = list(before)
            turns = frozenset(order[order.index(named) + 1 :]) if named in before else frozenset()
        else:
            turns = frozenset(before)
        yield Withdrawal(operation=operation, session=session, turns=turns)


def _turns(header: Header, done: tuple[Operation, ...], lanes: Lanes) -> tuple[dict[str, Said], dict[str, str]]:
    said: dict[str, Said] = {}
    aliases: dict[str, str] = {}
    for operation in done:
        if operation.op != "append" or operation.ended is EventType.FAIL:
            continue
        turn = convert(operation.arguments["turn"], Turn)
        if turn.id not in said or not said[turn.id].certain:
            said[turn.id] = Said(
                turn=turn,
                facts=_planted(header, operation, turn.id),
                at=operation.end,
                certain=operation.ok,
                session=lanes.of(operation.start),
                forms=forms(turn),
            )
        if operation.ok and isinstance(operation.value, str):
            aliases.setdefault(operation.value, turn.id)
    return said, aliases


REPLY = 12
"""Characters that a reply has at least, for an item to be told by it."""


def _replies(done: tuple[Operation, ...], said: Mapping[str, Said]) -> list[tuple[int, str]]:
    """What the model wrote, and when; not where it repeats words of the transcript, and not where it is too short."""
    turns = [plain(words(one.turn)) for one in said.values()]
    written = [
        (call.end, plain(str(call.value["text"])))
        for operation in done
        for call in operation.calls
        if call.op == "summarise" and call.ok and isinstance(call.value, dict)
    ]
    return [(at, text) for at, text in written if len(text) >= REPLY and not any(text in turn for turn in turns)]


def _summary(item: Item, said: Mapping[str, Said], aliases: Mapping[str, str], replies: list[str]) -> Item:
    """An item with its kind; what holds what the model wrote is a summary, whatever the compactor calls it."""
    if item.kind is CarrierKind.SUMMARY or item.turn in said or (item.turn or "") in aliases:
        return item
    flat = plain(content(item))
    if any(reply in flat for reply in replies):
        return replace(item, kind=CarrierKind.SUMMARY)
    return item


def _raw(items: tuple[Item, ...], said: Mapping[str, Said], aliases: Mapping[str, str]) -> frozenset[str]:
    """Which turns stand in the window as they were: by their id where it is told, otherwise by their words.

    Several turns may have been merged into one item, and an item may frame a turn (a name before it), so words that
    stand inside a raw item count. A turn with calls is there as it was only with the arguments of its calls.
    """

    def called(flat: str, turn: str) -> bool:
        return carries_calls(flat, said[turn].turn.calls)

    found: set[str] = set()
    loose: list[str] = []
    for item in items:
        if item.kind is not CarrierKind.RAW:
            continue
        flat = plain(content(item))
        name = item.turn if item.turn in said else aliases.get(item.turn or "")
        if name is not None:
            if (not said[name].forms or holds(flat, said[name].forms)) and called(flat, name):
                found.add(name)
            continue
        twins = [i for i, s in said.items() if i not in found and s.forms and flat in s.forms[0] and called(flat, i)]
        if twins:
            found.add(twins[0])
        else:
            loose.append(flat)
    if loose:
        found.update(i for i, s in said.items() if any(holds(flat, s.forms) and called(flat, i) for flat in loose))
    return frozenset(found)


def joined(first: Answer, answers: Mapping[str, Answer], errors: Mapping[str, str]) -> Answer:
    """A partial answer with the pieces that were fetched by following its continuations (REC-3).

    A continuation that leads to an error, to no content, or back to itself leads nowhere: the answer is then all that
    there is, and has no continuation any more. One that is answered `pending` makes the whole pending.
    """
    answer, seen = first, set[str]()
    while answer.kind is AnswerKind.PARTIAL and answer.continuation is not None:
        following = answer.continuation
        if following in seen or following in errors:
            return replace(answer, continuation=None)
        if following not in answers:
            break
        seen.add(following)
        rest = answers[following]
        if rest.kind is AnswerKind.PENDING:
            return rest
        if rest.kind not in CONTENT:
            return replace(answer, continuation=None)
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
        self.pending: set[str] = set()
        self.pointers: tuple[Pointer, ...] | None = None
        self.answers: dict[str, Answer] = {}
        self.errors: dict[str, str] = {}
        self.manifests: dict[str, tuple[Entry, ...]] = {}
        self.tombstones: tuple[Tombstone, ...] | None = None
        self.status: str | None = None
        self.since: SinceRead | None = None
        self.ratios: Ratios | None = None
        self.audits: tuple[Audit, ...] | None = None
        self.questions: list[Question] = []
        self.start: int | None = None
        self.end = 0

    @property
    def carried(self) -> frozenset[str]:
        """Tokens of the pointers that were listed."""
        return frozenset(pointer.token for pointer in self.pointers or ())

    @property
    def every(self) -> tuple[Answer, ...]:
        """Every answer, in pieces."""
        return (*self.answers.values(), *(question.answer for question in self.questions))

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
                self.pending |= {item.id for item in self.live if item.pending}
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
            case "degraded_since":
                self.since = SinceRead(value=value, at=operation.end)
            case "ratios":
                self.ratios = convert(value, Ratios)
            case "audits":
                self.audits = convert(value, tuple[Audit, ...])
            case _:
                self.questions.append(Question(operation=operation, answer=convert(value, Answer)))


def _observations(
    header: Header,
    done: tuple[Operation, ...],
    said: Mapping[str, Said],
    aliases: Mapping[str, str],
    lanes: Lanes,
    withdrawals: tuple[Withdrawal, ...],
) -> Iterator[Observation]:
    look = _Look()
    raw: frozenset[str] = frozenset()
    exempt: frozenset[str] = frozenset()
    damaged: frozenset[str] = frozenset()
    waited, held = 0.0, False

    replies = _replies(done, said)
    coming = deque(sorted(said.items(), key=lambda pair: pair[1].at))
    known: dict[str, Said] = {}
    """What had been said when a look ended, in order; it grows from look to look."""

    def flush() -> Iterator[Observation]:
        nonlocal raw
        if look.start is None:
            return
        if look.live is not None:
            written = [text for at, text in replies if at < look.end]
            look.live = tuple(_summary(item, said, aliases, written) for item in look.live)
            while coming and coming[0][1].at < look.end:
                known.update([coming.popleft()])
            raw = _raw(look.live, known, aliases)
        handed = frozenset(a.continuation for a in look.every if a.continuation is not None) - look.carried
        answers = {token: joined(look.answers[token], look.answers, look.errors) for token in look.answers}
        session = lanes.of(look.start)
        away = lanes.withdrawn(session, withdrawals, look.start)
        yield Observation(
            start=look.start,
            end=look.end,
            session=session,
            live=look.live,
            pointers=look.pointers,
            answers={token: answer for token, answer in answers.items() if token not in handed},
            pending=frozenset(look.pending),
            continuations=handed,
            errors={token: error for token, error in look.errors.items() if token not in handed},
            manifests=look.manifests,
            tombstones=look.tombstones,
            status=look.status,
            since=look.since,
            ratios=look.ratios,
            audits=look.audits,
            questions=tuple(replace(q, answer=joined(q.answer, look.answers, look.errors)) for q in look.questions),
            raw=raw if look.live is not None else frozenset(),
            exempt=exempt | away,
            withdrawn=away,
            damaged=damaged,
            copies_held=held,
        )

    for operation in done:
        if operation.op in READS:
            # What is looked at beside shows a state in the middle of something.
            if operation.process == MAIN:
                look.take(operation)
            continue
        if operation.op in SIDELINES:
            continue
        yield from flush()
        look = _Look()
        if operation.op == "corrupt" and operation.ok and operation.value is True:
            # What else lies under the damaged bytes is not known, so whatever is no longer in the window is exempt.
            exempt |= frozenset(i for i, s in said.items() if s.at < operation.start) - raw
            damaged |= {str(operation.arguments.get("token", ""))}
        if operation.op == "hold_copies" and operation.ok:
            held = bool(operation.arguments.get("held"))
        elif operation.op == "settle" and operation.ok:
            held = False
        if operation.op == "expire":
            waited += float(operation.arguments.get("seconds", 0.0))
            horizon = header.settings.horizon
            if horizon is not None and waited >= horizon:
                exempt |= frozenset(i for i, s in said.items() if s.at < operation.start)
    yield from flush()


def _stretches(observations: tuple[Observation, ...], done: tuple[Operation, ...], lanes: Lanes) -> Iterator[Stretch]:
    last: dict[str, Observation] = {}
    changes = [
        (lanes.of(operation.start), operation)
        for operation in done
        if operation.op not in READS
        and operation.op not in SIDELINES
        and not (operation.op in ("switch", "fork") and operation.ok)
    ]
    begun = [operation.start for _, operation in changes]
    for after in observations:
        if after.live is None:
            continue
        # Every session starts with an empty window, whether or not anybody looked at it.
        before = last.get(after.session) or _beginning(after.session, last, lanes)
        first, behind = bisect_left(begun, before.end), bisect_left(begun, after.start)
        between = tuple(o for of, o in changes[first:behind] if of == after.session or o.op in COMMON)
        yield Stretch(before=before, operations=between, after=after)
        last[after.session] = after


def _beginning(session: str, last: Mapping[str, Observation], lanes: Lanes) -> Observation:
    """How the window of a session stood before anybody looked at it: empty, or as that of which it is a branch."""
    forked = lanes.forks.get(session)
    if forked is None or forked.parent not in last:
        return Observation(start=0, end=0, session=session, live=())
    parent = last[forked.parent]
    if parent.start > forked.at:
        # The parent was looked at again since; what it was like before is not known any more.
        return Observation(start=forked.at, end=forked.at, session=session, live=())
    return replace(parent, session=session)
