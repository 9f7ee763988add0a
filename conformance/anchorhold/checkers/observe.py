"""Reads a history once, for all checkers: pairs every `invoke` with its end, and takes looks together.

It judges nothing.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

import msgspec

from anchorhold.checkers.reading import (
    COMMON,
    CONTENT,
    DROPPING,
    LEADING,
    MAIN,
    READS,
    SIDELINES,
    WITHDRAWING,
    Assertion,
    Drop,
    Forked,
    Observation,
    Operation,
    Place,
    Question,
    Reading,
    Said,
    SinceRead,
    Source,
    Stretch,
    Withdrawal,
    changed,
    convert,
)
from anchorhold.checkers.words import carries_calls, content, holds, plain, words
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
    """In which session, of which user, and in which branch each operation was done."""

    def __init__(self, header: Header, done: Iterable[Operation] = ()) -> None:
        self.forks: dict[str, Forked] = {}
        self._place = Place.first(header)
        self._starts = [0]
        self._names = [self._place.lane]
        for operation in done:
            self.follow(operation)

    def follow(self, operation: Operation) -> None:
        """Go where an operation leads, in the order in which they began."""
        if operation.op not in LEADING or not operation.ok:
            return
        self._place = self._place.after(operation.op, operation.arguments)
        name = self._place.lane
        if operation.op == "fork":
            beside = operation.process != MAIN
            self.forks.setdefault(name, Forked(parent=self._names[-1], at=operation.end, beside=beside))
        # Operations that began before it ended were asked of the session that was left.
        self._starts.append(operation.end)
        self._names.append(name)

    def of(self, event: int) -> str:
        """The lane in which what begins at this event is done."""
        if event >= self._starts[-1]:
            return self._names[-1]
        return self._names[bisect_right(self._starts, event) - 1]

    def lineage(self, said: Said, session: str) -> bool:
        """Whether a turn was said in a session, or in an ancestor before the session branched off."""
        while said.session != session:
            forked = self.forks.get(session)
            if forked is None or forked.at < said.at:
                return False
            session = forked.parent
        return True

    def withdrawn(self, session: str, withdrawals: Sequence[Withdrawal], until: int) -> frozenset[str]:
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
        facts = operation.arguments["facts"]
        if type(facts) is tuple and (not facts or isinstance(facts[0], msgspec.Struct)):
            return facts
        return convert(facts, tuple[Fact, ...])
    steps = header.workload.steps
    here = steps[operation.step] if operation.step < len(steps) else None
    if isinstance(here, Append):
        return here.facts if here.turn.id == turn else ()
    # What is taken beside stands in a step before the one that it is taken in.
    inside = (s for step in reversed(steps[: operation.step]) if isinstance(step, Meanwhile) for s in step.steps)
    return next((s.facts for s in inside if isinstance(s, Append) and s.turn.id == turn), ())


def _withdrawals(done: tuple[Operation, ...], said: Mapping[str, Said], lanes: Lanes) -> Iterator[Withdrawal]:
    for operation in done:
        withdrawal = withdrawal_by(operation, said, lanes)
        if withdrawal is not None:
            yield withdrawal


def withdrawal_by(operation: Operation, said: Mapping[str, Said], lanes: Lanes) -> Withdrawal | None:
    """What a clear, rewind or forget took away; where it is not known whether it happened, as well."""
    if operation.op not in WITHDRAWING or operation.ended is EventType.FAIL:
        return None
    outcome = operation.outcome() if operation.op == "forget" else None
    if outcome is not None and outcome.kind is not OutcomeKind.COMMITTED:
        return None
    session = lanes.of(operation.start)
    named = str(operation.arguments.get("turn", ""))
    if operation.op == "forget":
        return Withdrawal(operation=operation, session=session, turns=frozenset({named} & said.keys()))
    before = {i: s for i, s in said.items() if s.at < operation.start and lanes.lineage(s, session)}
    if operation.op == "rewind":
        order = list(before)
        turns = frozenset(order[order.index(named) + 1 :]) if named in before else frozenset()
    else:
        turns = frozenset(before)
    return Withdrawal(operation=operation, session=session, turns=turns)


def _turns(header: Header, done: tuple[Operation, ...], lanes: Lanes) -> tuple[dict[str, Said], dict[str, str]]:
    said: dict[str, Said] = {}
    aliases: dict[str, str] = {}
    for operation in done:
        if operation.op == "append":
            say(header, operation, lanes.of(operation.start), said, aliases)
    return said, aliases


def say(
    header: Header, append: Operation, session: str, said: dict[str, Said], aliases: dict[str, str]
) -> str | None:
    """Take the turn of an append in; answers with its id where it is new, or is certain now."""
    if append.ended is EventType.FAIL:
        return None
    turn = convert(append.arguments["turn"], Turn)
    new = turn.id not in said or not said[turn.id].certain
    if new:
        said[turn.id] = Said(
            turn=turn,
            facts=_planted(header, append, turn.id),
            at=append.end,
            certain=append.ok,
            session=session,
        )
    if append.ok and isinstance(append.value, str):
        aliases.setdefault(append.value, turn.id)
    return turn.id if new else None


REPLY = 12
"""Characters that a reply has at least, for an item to be told by it."""


def _replies(done: tuple[Operation, ...], said: Mapping[str, Said]) -> list[tuple[int, str]]:
    """What the model wrote, and when; not where it repeats words of the transcript, and not where it is too short."""
    turns = [plain(words(one.turn)) for one in said.values()]
    written = [reply for operation in done for reply in written_in(operation.calls)]
    return [(at, text) for at, text in written if len(text) >= REPLY and not any(text in turn for turn in turns)]


def written_in(calls: Iterable[Operation]) -> Iterator[tuple[int, str]]:
    """What the model wrote when it was called, and when."""
    for call in calls:
        if call.op == "summarise" and call.ok and isinstance(call.value, dict):
            yield call.end, plain(str(call.value["text"]))


def as_summary(item: Item, said: Mapping[str, Said], aliases: Mapping[str, str], replies: list[str]) -> Item:
    """An item with its kind; what holds what the model wrote is a summary, whatever the compactor calls it."""
    if item.kind is CarrierKind.SUMMARY or item.turn in said or (item.turn or "") in aliases:
        return item
    flat = plain(content(item))
    if any(reply in flat for reply in replies):
        return changed(item, kind=CarrierKind.SUMMARY)
    return item


Stood: TypeAlias = dict[str, tuple[Item, Said, bool]]
"""Of turns: an item of theirs, and whether the turn stood there as it was."""


def raw_turns(
    items: tuple[Item, ...], said: Mapping[str, Said], aliases: Mapping[str, str], stood: Stood | None = None
) -> frozenset[str]:
    """Which turns stand in the window as they were: by their id where it is told, otherwise by their words.

    Several turns may have been merged into one item, and an item may frame a turn (a name before it), so words that
    stand inside a raw item count. A turn with calls is there as it was only with the arguments of its calls.
    `stood`: what was found out for an earlier window, which is made use of; it is left with what is found out now.
    """
    before: Stood = {} if stood is None else dict(stood)
    if stood is not None:
        stood.clear()

    def called(flat: str, turn: str) -> bool:
        return carries_calls(flat, said[turn].turn.calls)

    found: set[str] = set()
    loose: list[str] = []
    for item in items:
        if item.kind is not CarrierKind.RAW:
            continue
        name = item.turn if item.turn in said else aliases.get(item.turn or "")
        # Ids are known of the whole history, also of a turn that is only being appended.
        if name is not None and name in said:
            one = said[name]
            turn, text = one.turn, item.text
            if text is not None and text == turn.text and not turn.calls and turn.data is None and text.strip():
                found.add(name)
                continue
            known = before.get(name)
            if known is not None and known[1] is one and known[0] == item:
                there = known[2]
            else:
                text = content(item)
                there = one.stands_in(text) or not one.forms
                there = there and (not one.turn.calls or called(plain(text), name))
            if stood is not None:
                stood[name] = item, one, there
            if there:
                found.add(name)
            continue
        flat = plain(content(item))
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
            return changed(answer, continuation=None)
        if following not in answers:
            break
        seen.add(following)
        rest = answers[following]
        if rest.kind is AnswerKind.PENDING:
            return rest
        if rest.kind not in CONTENT:
            return changed(answer, continuation=None)
        answer = changed(
            rest,
            text=(answer.text or "") + (rest.text or "") if answer.text or rest.text else None,
            data=(answer.data or b"") + (rest.data or b"") if answer.data or rest.data else None,
        )
    return answer


NONE = frozenset[str]()


class Look:
    """Gathers what is read until something changes."""

    live: tuple[Item, ...] | None = None
    pointers: tuple[Pointer, ...] | None = None
    tombstones: tuple[Tombstone, ...] | None = None
    status: str | None = None
    since: SinceRead | None = None
    ratios: Ratios | None = None
    audits: tuple[Audit, ...] | None = None
    start: int | None = None
    end = 0

    def __init__(self) -> None:
        self.earlier: list[tuple[Item, ...]] = []
        """What `live` showed before it was read again."""
        self.answers: dict[str, Answer] = {}
        self.errors: dict[str, str] = {}
        self.ended: dict[str, int] = {}
        self.manifests: dict[str, tuple[Entry, ...]] = {}
        self.questions: list[Question] = []
        self.found: list[Answer] = []
        """Answers to other questions, of which no more is known here than that they have continuations."""
        self.more = False
        """Whether anything else was read than window, pointers and what they lead to."""
        self.pieces = False
        """Whether an answer of a pointer has a continuation."""

    @property
    def carried(self) -> frozenset[str]:
        """Tokens of the pointers that were listed."""
        return frozenset(pointer.token for pointer in self.pointers or ())

    @property
    def every(self) -> tuple[Answer, ...]:
        """Every answer, in pieces."""
        return (*self.answers.values(), *(question.answer for question in self.questions), *self.found)

    def like(self, last: "Look") -> bool:
        """Whether it shows what another one showed. Parts that are equal become the same objects: whoever has gone
        through them need not again."""
        same = True
        if self.live is not last.live:
            if self.live == last.live:
                self.live = last.live
            else:
                same = False
        if self.pointers is not last.pointers:
            if self.pointers == last.pointers:
                self.pointers = last.pointers
            else:
                same = False
        if self.answers == last.answers and self.errors == last.errors:
            self.answers, self.errors = last.answers, last.errors
        else:
            same, answers = False, self.answers
            for token, before in last.answers.items():
                if token in answers and answers[token] == before:
                    answers[token] = before
        if not (self.more or last.more):
            return same
        return same and self.rest() == last.rest()

    def rest(self) -> tuple[Any, ...]:
        """What was read besides window, pointers and what they lead to."""
        since = None if self.since is None else (self.since.value,)
        return self.earlier, since, self.status, self.ratios, self.audits, self.tombstones, self.manifests, self.found

    def take(self, operation: Operation) -> None:
        """Take the end of a read in."""
        arguments = operation.arguments
        if operation.op not in READ_AS:
            self.began(operation.start, operation.end)
            if operation.ok:
                self.questions.append(Question(operation=operation, answer=convert(operation.value, Answer)))
            return
        value = convert(operation.value, READ_AS[operation.op]) if operation.ok else None
        about = str(arguments.get(ABOUT[operation.op], "")) if operation.op in ABOUT else ""
        self.read(operation.op, about, value, operation.error, ok=operation.ok, at=(operation.start, operation.end))

    def show(self, live: tuple[Item, ...]) -> None:
        """Take in what the window shows."""
        if self.live is not None:
            self.earlier.append(self.live)
            self.more = True
        self.live = live

    def began(self, start: int, end: int) -> None:
        """Note that something was read in these events."""
        self.start = start if self.start is None else self.start
        self.end = end

    def read(self, op: str, about: str, value: Any, error: str | None, *, ok: bool, at: tuple[int, int]) -> None:
        """Take in what one of the reads of `READ_AS` came to; `value` has the type that stands there."""
        if self.start is None:
            self.start = at[0]
        self.end = at[1]
        if op == "get":
            self.ended.setdefault(about, at[1])
            if ok:
                self.answers[about] = value
                self.pieces |= value.continuation is not None
                self.errors.pop(about, None)
            else:
                self.errors[about] = error or "an error"
                self.answers.pop(about, None)
            return
        if not ok:
            return
        if op == "live":
            self.show(value)
            return
        if op == "pointers":
            self.pointers = value
            return
        self.more = True
        if op == "manifest":
            self.manifests[about] = value
        elif op == "tombstones":
            self.tombstones = value
        elif op == "status":
            self.status = str(value)
        elif op == "ratios":
            self.ratios = value
        elif op == "degraded_since":
            self.since = SinceRead(value=value, at=at[1])
        else:
            self.audits = value

    def _pending(self) -> frozenset[str]:
        found = NONE
        for shown in (*self.earlier, self.live or ()):
            for item in shown:
                if item.pending:
                    found |= {item.id}
        return found

    def seen(
        self,
        session: str,
        *,
        live: tuple[Item, ...] | None,
        raw: frozenset[str],
        away: frozenset[str],
        reach: "Reach",
        amid: bool,
    ) -> Observation:
        """All of it together. `live`: with the kinds that the items have; `away`: what the caller took away; `amid`:
        whether something that may change it was under way."""
        assert self.start is not None
        handed = NONE
        answers, errors, questions = self.answers, self.errors, tuple(self.questions)
        if self.pieces or self.found or any(question.answer.continuation is not None for question in questions):
            handed = frozenset(a.continuation for a in self.every if a.continuation is not None) - self.carried
            pieces = {token: joined(answer, answers, errors) for token, answer in answers.items()}
            questions = tuple(
                Question(operation=q.operation, answer=joined(q.answer, answers, errors)) for q in questions
            )
            answers = {token: answer for token, answer in pieces.items() if token not in handed}
            errors = {token: error for token, error in errors.items() if token not in handed}
        # In the order of the fields: a struct finds them the more quickly.
        return Observation(
            start=self.start,
            end=self.end,
            session=session,
            live=live,
            pointers=self.pointers,
            answers=answers,
            pending=self._pending(),
            continuations=handed,
            ended=self.ended,
            errors=errors,
            manifests=self.manifests,
            tombstones=self.tombstones,
            status=self.status,
            since=self.since,
            ratios=self.ratios,
            audits=self.audits,
            questions=questions,
            raw=raw,
            exempt=reach.exempt | away if away else reach.exempt,
            withdrawn=away,
            copies_held=reach.copies_held,
            damaged=reach.damaged,
            amid=amid,
        )


READ_AS: Mapping[str, Any] = {
    "live": tuple[Item, ...],
    "pointers": tuple[Pointer, ...],
    "get": Answer,
    "manifest": tuple[Entry, ...],
    "tombstones": tuple[Tombstone, ...],
    "status": object,
    "degraded_since": object,
    "ratios": Ratios,
    "audits": tuple[Audit, ...],
}
"""What the reads answer with; those that are left out are questions."""
ABOUT: Mapping[str, str] = {"get": "token", "manifest": "carrier"}
"""Which argument says what a read is about."""


REACHING = frozenset({"corrupt", "hold_copies", "settle", "expire"})


class Reach:
    """What the suite itself put out of reach, as a history goes on."""

    def __init__(self, header: Header) -> None:
        self._horizon = header.settings.horizon
        self._waited = 0.0
        self.exempt = frozenset[str]()
        """Turns whose original is out of reach."""
        self.damaged = frozenset[str]()
        """Tokens under which stored bytes were damaged."""
        self.copies_held = False
        """Whether background copies are held back."""
        self.changes = 0
        """Operations so far by which any of this may have changed."""

    def follow(self, operation: Operation, said: Mapping[str, Said], raw: frozenset[str]) -> None:
        """Note what an operation does; `raw`: the turns that stood in the window when it was looked at last."""
        if operation.op not in REACHING:
            return
        self.changes += 1
        if operation.op == "corrupt" and operation.ok and operation.value is True:
            # What else lies under the damaged bytes is not known, so whatever is no longer in the window is exempt.
            self.exempt |= frozenset(i for i, s in said.items() if s.at < operation.start) - raw
            self.damaged |= {str(operation.arguments.get("token", ""))}
        if operation.op == "hold_copies" and operation.ok:
            self.copies_held = bool(operation.arguments.get("held"))
        elif operation.op == "settle" and operation.ok:
            self.copies_held = False
        if operation.op == "expire":
            self._waited += float(operation.arguments.get("seconds", 0.0))
            if self._horizon is not None and self._waited >= self._horizon:
                self.exempt |= frozenset(i for i, s in said.items() if s.at < operation.start)


def _observations(
    header: Header,
    done: tuple[Operation, ...],
    said: Mapping[str, Said],
    aliases: Mapping[str, str],
    lanes: Lanes,
    withdrawals: tuple[Withdrawal, ...],
) -> Iterator[Observation]:
    look = Look()
    raw: frozenset[str] = frozenset()
    reach = Reach(header)

    replies = _replies(done, said)
    coming = deque(sorted(said.items(), key=lambda pair: pair[1].at))
    known: dict[str, Said] = {}
    """What had been said when a look ended, in order; it grows from look to look."""
    changing = [o for o in done if o.op not in READS and o.op not in SIDELINES]
    leading = [(o.start, o.end) for o in done if o.op in LEADING and o.process != MAIN]
    begun, over = [o.start for o in changing], list(accumulate((o.end for o in changing), max))

    def under_way(look: Look) -> bool:
        assert look.start is not None
        before = bisect_left(begun, look.end)
        return before > 0 and over[before - 1] > look.start

    def flush() -> Iterator[Observation]:
        nonlocal raw
        # While somebody else goes over to another session it is not known which one is looked at.
        if look.start is None or any(start < look.end and end > look.start for start, end in leading):
            return
        live = look.live
        if live is not None:
            written = [text for at, text in replies if at < look.end]
            live = tuple(as_summary(item, said, aliases, written) for item in live)
            while coming and coming[0][1].at < look.end:
                known.update([coming.popleft()])
            raw = raw_turns(live, known, aliases)
        session = lanes.of(look.start)
        yield look.seen(
            session,
            live=live,
            raw=raw if live is not None else frozenset(),
            away=lanes.withdrawn(session, withdrawals, look.start),
            reach=reach,
            amid=under_way(look),
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
        look = Look()
        reach.follow(operation, said, raw)
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
        before = last.get(after.session) or beginning(after.session, last, lanes.forks)
        first, behind = bisect_left(begun, before.end), bisect_left(begun, after.start)
        between = tuple(o for of, o in changes[first:behind] if of == after.session or o.op in COMMON)
        yield Stretch(before=before, operations=between, after=after)
        last[after.session] = after


def beginning(session: str, last: Mapping[str, Observation], forks: Mapping[str, Forked]) -> Observation:
    """How the window of a session stood before anybody looked at it: empty, or as that of which it is a branch."""
    forked = forks.get(session)
    if forked is None or forked.parent not in last:
        return Observation(start=0, end=0, session=session, live=())
    parent = last[forked.parent]
    if parent.start > forked.at or forked.beside:
        # The parent was looked at again since, or changed meanwhile; what it was like then is not known any more.
        return Observation(start=forked.at, end=forked.at, session=session, live=())
    return msgspec.structs.replace(parent, session=session)
