"""A history as it comes in, event by event: what the watches are told, and what they may know of it.

It makes the looks and operations that `anchorhold.checkers.observe.read` makes of a whole history, from what has come
so far, and holds what is alive: the turns, what is listed in some window, and the latest look at each.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from anchorhold.checkers.finding import Finder
from anchorhold.checkers.lanes import Lanes, withdrawal_by
from anchorhold.checkers.looking import ABOUT, NONE, REACHING, READ_AS, Look, Reach
from anchorhold.checkers.observe import beginning
from anchorhold.checkers.reading import Knowing
from anchorhold.checkers.record import (
    LEADING,
    READS,
    SIDELINES,
    WITHDRAWING,
    Forked,
    Observation,
    Operation,
    Said,
    Stretch,
    Withdrawal,
    convert,
)
from anchorhold.checkers.turns import Stood, as_summary, raw_turns, say, written_in
from anchorhold.checkers.watch import Watch, Watching
from anchorhold.checkers.words import content, plain, words
from anchorhold.compactor import Advance
from anchorhold.history import MAIN, Event, EventType, Header
from anchorhold.verdict import Judgement
from anchorhold_spec.vocabulary import Answer, CarrierKind, Item

INVOKE: Final = EventType.INVOKE
OK: Final = EventType.OK
QUIET: Final = READS | SIDELINES
REPLIES: Final = 1000
"""Calls of a model by whose replies an item is known as a summary where the compactor calls it something else: the
latest."""
TEXTS: Final = 4096
"""Texts of which it is remembered which turns stand in them."""
LEAST: Final = 12
"""Characters that a reply has at least, for an item to be told by it."""


class _Open:
    """An operation that was invoked and has not ended."""

    __slots__ = ("asked", "calls", "index", "op", "session", "step")

    def __init__(self, asked: "Heard", session: str) -> None:
        self.asked, self.op, self.index, self.step, self.session = asked, asked.op, asked.index, asked.step, session
        self.calls: list[Operation] = []

    @property
    def arguments(self) -> Mapping[str, Any]:
        """Of its invocation."""
        return self.asked.arguments()


class Heard(Protocol):
    """An event with what it says, in the vocabulary's types where it is a read."""

    @property
    def index(self) -> int:
        """As in `Event`."""

    @property
    def step(self) -> int:
        """As in `Event`."""

    @property
    def type(self) -> EventType:
        """As in `Event`."""

    @property
    def process(self) -> str:
        """As in `Event`."""

    @property
    def op(self) -> str:
        """As in `Event`."""

    @property
    def value(self) -> Any:
        """As in `Event`."""

    @property
    def error(self) -> str | None:
        """As in `Event`."""

    @property
    def about(self) -> str:
        """What a read is about, where this asks for one: a token, or a carrier."""

    def arguments(self) -> Mapping[str, Any]:
        """Of an invocation."""

    def result(self) -> Any:
        """What it ended with, where that is `ok`."""


class Told:
    """An event that was read with a value of builtins."""

    __slots__ = ("error", "index", "op", "process", "step", "type", "value")

    def __init__(self, event: Event) -> None:
        self.index, self.step, self.type, self.op = event.index, event.step, event.type, event.op
        self.process, self.error, self.value = event.process, event.error, event.value
        if self.type is OK and self.op in READS:
            self.value = convert(self.value, READ_AS.get(self.op, Answer))

    @property
    def about(self) -> str:
        """As in `Heard`."""
        return str(self.arguments().get(ABOUT[self.op], "")) if self.op in ABOUT else ""

    def arguments(self) -> Mapping[str, Any]:
        """As in `Heard`."""
        return self.value if isinstance(self.value, dict) else {}

    def result(self) -> Any:
        """As in `Heard`."""
        return self.value


class _Window:
    """How a session was looked at last, and what was made of it."""

    __slots__ = ("look", "seen", "state", "stood")

    def __init__(self, seen: Observation, look: Look, state: object, stood: Stood) -> None:
        self.seen, self.look, self.state, self.stood = seen, look, state, stood


def _whole(asked: Heard, ended: Heard) -> Operation:
    """One operation that nothing came between."""
    return Operation(
        op=asked.op,
        step=asked.step,
        start=asked.index,
        end=ended.index,
        ended=ended.type,
        arguments=asked.arguments(),
        value=ended.result() if ended.type is OK else None,
        error=ended.error,
    )


def _looked(reads: Sequence[Heard]) -> Look:
    """One look, of what was asked and what was answered in turn."""
    look = Look()
    look.start = reads[0].index
    answers, ended_at = look.answers, look.ended
    pairs = iter(reads)
    for asked, ended in zip(pairs, pairs, strict=True):
        op, ok = ended.op, ended.type is OK
        if op == "get":
            token = asked.about
            if token not in ended_at:
                ended_at[token] = ended.index
            if not ok:
                look.errors[token] = ended.error or "an error"
                answers.pop(token, None)
                continue
            answer = answers[token] = ended.value
            if answer.continuation is not None:
                look.handed.add(answer.continuation)
            if look.errors:
                look.errors.pop(token, None)
        elif op == "live":
            if ok:
                look.show(ended.value)
        elif op == "pointers":
            if ok:
                look.list_pointers(ended.value)
        elif op in READ_AS:
            value = ended.value
            if ok:
                value = convert(value, READ_AS[op])
            look.read(op, asked.about, value, ended.error, ok=ok, at=(asked.index, ended.index))
        elif ok and ended.value.continuation is not None:
            look.found.append(ended.value)
            look.more = True
    look.end = reads[-1].index
    return look


def _cut_short(asked: Heard, by: Heard | None) -> Heard:
    """The end of what never ended by itself."""
    index, error = (asked.index, None) if by is None else (by.index, by.error)
    return Told(
        Event(index=index, step=asked.step, process=asked.process, type=EventType.INFO, op=asked.op, error=error)
    )


class Course(Knowing):
    """One history, as far as it has come."""

    __deletable__ = ("watching",)
    """For mypyc, which may compile this."""

    def __init__(self, header: Header, rules: Iterable[tuple[str, type[Watch]]]) -> None:
        self.header = header
        self.said: dict[str, Said] = {}
        self.aliases: dict[str, str] = {}
        self.order: dict[str, int] = {}
        self._lanes = Lanes(header)
        self.forks: Mapping[str, Forked] = self._lanes.forks
        self._reach = Reach(header)
        self._withdrawals: list[Withdrawal] = []
        self._away: dict[str, tuple[int, frozenset[str]]] = {}
        self._finder = Finder()
        self._contained: dict[str, frozenset[str]] = {}
        self._calls: deque[Operation] = deque(maxlen=REPLIES)
        self._open: dict[str, list[_Open]] = {}
        self._workers: dict[str, tuple[_Open, list[Operation]]] = {}
        self._main = self._open[MAIN] = []
        self._asked: Heard | None = None
        """A read of the main process that has not ended."""
        self._reads: list[Heard] = []
        """What was read since something was done last: in turn what was asked and what was answered."""
        self._written = 0
        self._over = False
        """Whether something was begun while a read was under way: the look is over when the read has ended."""
        self._ended = -1
        """When the last of the operations that may change something ended."""
        self._led = -1
        """When another process was last done with going over to another session."""
        self._took = -1
        """When the last operation ended by which the caller takes something away."""
        self._windows: dict[str, _Window] = {}
        self._raw = NONE
        self._last: Heard | None = None
        self.watching = Watching(rules, self, self._first)
        self._plain = READS - self.watching.wants
        """Reads of which nobody is told but by the look that they are part of."""

    @property
    def summarised(self) -> bool:
        """Whether a model was asked for anything."""
        return bool(self._written)

    # What is known

    def contained(self, text: str) -> frozenset[str]:
        """The turns whose words stand in a text."""
        known = self._contained.get(text)
        if known is None:
            if len(self._contained) >= TEXTS:
                self._contained.clear()
            known = self._contained[text] = self._finder.find(plain(text))
        return known

    def removed(self, stretch: Stretch) -> tuple[str, ...]:
        """Turns that were in the window (or came in meanwhile) and are no longer there word for word, in order."""
        before, after = stretch.before, stretch.after
        came = {
            turn
            for turn, said in self.said.items()
            if said.certain and before.start <= said.at <= after.start and said.session == after.session
        }
        gone = (before.raw | came) - after.raw - after.withdrawn
        gone -= frozenset().union(*(self.contained(content(item)) for item in after.items if content(item)))
        return tuple(sorted(gone, key=self.order.__getitem__))

    # What happens

    def go(self, events: Sequence[Heard], begun: Iterable[tuple[str, str]] = ()) -> list[Heard]:
        """Events that follow each other, those of one operation of one class.

        Answers with those whose other half does not stand beside them, and with the ends of what had begun so before,
        in their order. `begun`: processes and operations of the latter.
        """
        alone, unended, plain, at, number = list[Heard](), set(begun), self._plain, 0, len(events)
        free, reads = self._free(), self._reads
        while at < number:
            event = events[at]
            at += 1
            if event.type is INVOKE and at < number:
                ended = events[at]
                same = ended.__class__ is event.__class__ and ended.type is not INVOKE
                if same and ended.process == event.process:
                    at += 1
                    if free and event.op in plain and event.process == MAIN:
                        reads += (event, ended)
                    else:
                        self._both(event, ended)
                        free, reads = self._free(), self._reads
                    if unended and (ended.process, ended.op) in unended:
                        unended.remove((ended.process, ended.op))
                        alone.append(ended)
                    continue
            (unended.add if event.type is INVOKE else unended.discard)((event.process, event.op))
            alone.append(event)
            self.take(event)
            free, reads = self._free(), self._reads
        self._last = events[-1]
        return alone

    def _free(self) -> bool:
        """Whether the main process is in the midst of nothing."""
        return self._asked is None and not self._main

    def _both(self, asked: Heard, ended: Heard) -> None:
        """One operation that nothing came between."""
        if self._asked is None and asked.process == MAIN:
            op, main = asked.op, self._main
            if main:
                main[-1].calls.append(_whole(asked, ended))
                return
            if op in READS and not self._over:
                if op in self.watching.wants:
                    self.watching.operation(_whole(asked, ended), self._lanes.of(asked.index))
                self._reads += (asked, ended)
                return
            if op not in QUIET and not self._over:
                if self._reads:
                    self._flush()
                self._done(_whole(asked, ended), self._lanes.of(asked.index))
                return
        self.take(asked)
        self.take(ended)

    def take(self, event: Heard) -> None:
        """One event."""
        self._last = event
        process, op = event.process, event.op
        if process == MAIN:
            asked = self._asked
            if event.type is not INVOKE:
                if asked is not None and asked.op == op:
                    self._asked = None
                    self._reads += (asked, event)
                    self._read_over()
                    return
            elif asked is None and op in self._plain and not self._main:
                self._asked = event
                return
            if asked is not None:
                self._main.insert(0, _Open(asked, ""))
                self._asked = None
        stack = self._open.get(process)
        if stack is None:
            stack = self._open[process] = []
        if event.type is INVOKE:
            if not stack and (op not in QUIET or op == "begin"):
                self._change()
            stack.append(_Open(event, self._lanes.of(event.index)))
            return
        # An end without its invoke is a remark of the runner's, not an operation.
        if not stack:
            return
        if stack[-1].op != op:
            if all(open_.op != op for open_ in stack):
                return
            while stack[-1].op != op:
                self._close(stack, _cut_short(stack[-1].asked, event))
        self._close(stack, event)

    def finish(self, *, torn: bool = False) -> tuple[Judgement, ...]:
        """The history is over; what each rule comes to.

        `torn`: its end is missing. A look that may not be over shows less than there was, and is left out.
        """
        if self._asked is not None:
            self._reads += (self._asked, _cut_short(self._asked, self._last))
        for stack in self._open.values():
            while stack:
                self._close(stack, _cut_short(stack[-1].asked, self._last))
        if torn:
            self._reads = []
        self._flush()
        found = self.watching.finish()
        # The watches know the course as well: of a circle the collector would have to find out that it can go.
        del self.watching
        return found

    def _close(self, stack: list[_Open], event: Heard) -> None:
        opened, ended, process = stack.pop(), event.type, event.process
        op = opened.op
        if not stack and op in self._plain:
            if process == MAIN:
                self._reads += (opened.asked, event)
                self._read_over()
            return
        done = Operation(
            op=op,
            step=opened.step,
            start=opened.index,
            end=event.index,
            ended=ended,
            arguments=opened.arguments,
            value=event.result() if ended is OK else None,
            error=event.error,
            calls=tuple(opened.calls),
            process=process,
        )
        if stack:
            stack[-1].calls.append(done)
        elif op in READS:
            if op in self.watching.wants:
                self.watching.operation(done, opened.session)
            if process == MAIN:
                self._reads += (opened.asked, event)
                self._read_over()
        elif op in SIDELINES:
            self._of_worker(opened, done)
        else:
            self._done(done, opened.session)

    def _read_over(self) -> None:
        if self._over:
            self._over = False
            self._flush()

    def _of_worker(self, opened: _Open, done: Operation) -> None:
        """What single-stepped workers did, each as the operation that it is: from `begin` to its last `advance`."""
        worker = str(done.arguments.get("worker", ""))
        if done.op == "begin" and done.ok:
            self._workers[worker] = (opened, [])
        if done.op != "advance" or worker not in self._workers:
            return
        begin, steps = self._workers[worker]
        steps.append(done)
        come = convert(done.value, Advance) if done.ok else None
        if come is not None and not come.done:
            return
        del self._workers[worker]
        result = None if come is None else come.outcome or come.answer
        arguments = begin.arguments if isinstance(begin.arguments, Mapping) else {}
        operation = Operation(
            op=str(arguments.get("op", "")),
            step=begin.step,
            start=begin.index,
            end=done.end,
            ended=done.ended,
            arguments=arguments.get("arguments", {}),
            value=None if result is None else msgspec.to_builtins(result),
            error=done.error,
            calls=tuple(call for step in steps for call in step.calls),
            process=worker,
        )
        if operation.op not in QUIET:
            self._done(operation, begin.session)

    def _done(self, operation: Operation, session: str) -> None:
        """An operation ended that may have changed something."""
        op = operation.op
        self._ended = operation.end
        if op == "append":
            amid = self._took > operation.start or (len(self._open) > 1 and self._beside(WITHDRAWING))
            new = say(self.header, operation, session, self.said, self.aliases, amid=amid)
            if new is not None and new not in self.order:
                self.order[new] = len(self.order)
                self._finder.add(self.said[new])
                if self._contained:
                    self._contained.clear()
        elif op in LEADING:
            self._lanes.follow(operation)
            if operation.process != MAIN:
                self._led = operation.end
        elif op in WITHDRAWING:
            self._took = operation.end
            withdrawal = withdrawal_by(operation, self.said, self._lanes)
            if withdrawal is not None:
                self._withdrawals.append(withdrawal)
        elif op in REACHING:
            self._reach.follow(operation, self.said, self._raw)
        if operation.calls:
            self._written = operation.end
            self._calls.extend(operation.calls)
        self.watching.operation(operation, session)

    # What is seen

    def _first(self, session: str) -> Observation:
        return beginning(session, self.watching.last, self.forks)

    def _change(self) -> None:
        """Something is begun that may change what there is to see."""
        if self._asked is not None or (self._main and self._main[0].op in READS):
            self._over = True
        else:
            self._flush()

    def _flush(self) -> None:
        """The look is over."""
        reads = self._reads
        if not reads:
            return
        self._reads = []
        start = reads[0].index
        if self._led > start or (len(self._open) > 1 and self._beside(LEADING)):
            return
        session = self._lanes.of(start)
        window = self._windows.get(session)
        amid = self._amid(start)
        # What could make the same answers mean something else.
        state = (len(self.said), len(self._withdrawals), self._written, self._reach.changes, amid)
        look = _looked(reads)
        if window is not None and look.like(window.look) and window.state == state:
            seen = window.seen = msgspec.structs.replace(window.seen, start=start, end=look.end)
            if seen.live is not None:
                self._raw = seen.raw
            self.watching.look(seen, same=True)
            return
        stood = {} if window is None else window.stood
        seen = self._seen(look, session, window, stood, amid=amid)
        self._windows[session] = _Window(seen, look, state, stood)
        self.watching.look(seen)

    def _beside(self, operations: frozenset[str]) -> bool:
        """Whether some process is in the midst of one of these. Where one is on its way to another session, it is not
        known which one is looked at; where one takes something away, not whether a turn that comes in is among it."""
        return any(stack and stack[0].op in operations for stack in self._open.values())

    def _amid(self, start: int) -> bool:
        """Whether something that may change what there is to see was under way in a look that is over."""
        if self._ended > start or self._workers:
            return True
        for stack in self._open.values():  # noqa: SIM110 - asked at every look, and a generator takes longer
            if stack and stack[0].op not in QUIET:
                return True
        return False

    def _seen(self, look: Look, session: str, window: "_Window | None", stood: Stood, *, amid: bool) -> Observation:
        assert look.start is not None
        shown, last = look.live, None if window is None else window.seen
        if shown is None:
            live, raw = None, NONE
        else:
            live = self._kinds(shown, look.end)
            raw = raw_turns(live, self.said, self.aliases, stood)
            # Turns that stand as they stood are the same ones, for whoever asks for that.
            if last is not None and raw == last.raw:
                raw = last.raw
            self._raw = raw
        away = self._taken_away(session, look.start) if self._withdrawals else NONE
        return look.seen(session, live=live, raw=raw, away=away, reach=self._reach, amid=amid)

    def _kinds(self, shown: tuple[Item, ...], end: int) -> tuple[Item, ...]:
        """The items, each as what it is."""
        said, aliases = self.said, self.aliases
        for item in shown:
            if item.kind is not CarrierKind.SUMMARY and item.turn not in said and (item.turn or "") not in aliases:
                break
        else:
            return shown
        replies = [text for at, text in written_in(self._calls) if at < end and len(text) >= LEAST]
        odd = [i for i in shown if i.kind is not CarrierKind.SUMMARY and any(r in plain(content(i)) for r in replies)]
        if not odd:
            return shown
        turns = [plain(words(one.turn)) for one in said.values()]
        own = [reply for reply in replies if not any(reply in turn for turn in turns)]
        return tuple(as_summary(item, said, aliases, own) for item in shown)

    def _taken_away(self, session: str, until: int) -> frozenset[str]:
        known = self._away.get(session)
        if known is None or known[0] != len(self._withdrawals):
            away = self._lanes.withdrawn(session, self._withdrawals, until)
            known = self._away[session] = (len(self._withdrawals), away)
        return known[1]
