"""A history as it comes in, event by event: what the watches are told, and what they may know of it.

It makes the looks and operations that `anchorhold.checkers.observe.read` makes of a whole history, from what has come
so far, and holds what is alive: the turns, what is listed in some window, and the latest look at each.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from anchorhold.checkers.finding import Finder
from anchorhold.checkers.observe import (
    ABOUT,
    NONE,
    READ_AS,
    Lanes,
    Look,
    Reach,
    as_summary,
    beginning,
    raw_turns,
    say,
    withdrawal_by,
    written_in,
)
from anchorhold.checkers.reading import (
    MAIN,
    READS,
    SIDELINES,
    WITHDRAWING,
    Forked,
    Knowing,
    Observation,
    Operation,
    Said,
    Stretch,
    Withdrawal,
    convert,
)
from anchorhold.checkers.watch import Watch, Watching
from anchorhold.checkers.words import content, plain, words
from anchorhold.compactor import Advance
from anchorhold.history import EventType, Header
from anchorhold.verdict import Judgement
from anchorhold_spec.vocabulary import CarrierKind, Item

INVOKE: Final = EventType.INVOKE
OK: Final = EventType.OK
BUILTINS: Final = frozenset({list, dict})
"""Types that a value has before it has one of the vocabulary's."""
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

    __slots__ = ("arguments", "calls", "index", "op", "session", "step")

    def __init__(self, op: str, index: int, step: int, arguments: Any, session: str) -> None:
        self.op, self.index, self.step, self.arguments, self.session = op, index, step, arguments, session
        self.calls: list[Operation] = []


class Heard:
    """What an event says besides its numbers. One that says what another said may be the same object."""

    __slots__ = ("about", "error", "kind", "op", "process", "value")

    def __init__(self, kind: EventType, process: str, op: str, value: Any, error: str | None) -> None:
        """`value` may be of the vocabulary's types already, where it is what a read of `READ_AS` answered."""
        self.kind, self.process, self.op, self.value, self.error = kind, process, op, value, error
        self.about = str(value.get(ABOUT[op], "")) if kind is INVOKE and op in ABOUT and value else ""
        """What a read is about, where this asks for one: a token, or a carrier."""

    @property
    def key(self) -> tuple[str, str]:
        """By which an event is known as the end of another."""
        return self.process, self.op


class _Window:
    """How a session was looked at last, and what was made of it."""

    __slots__ = ("reads", "seen", "state")

    def __init__(self, seen: Observation, reads: list[Any], state: object) -> None:
        self.seen, self.reads, self.state = seen, reads, state


def vocabulary(answered: Heard) -> Any:
    """What a read of `READ_AS` answered, in the vocabulary's types."""
    value = answered.value = convert(answered.value, READ_AS[answered.op])
    return value


class Course(Knowing):
    """One history, as far as it has come."""

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
        self._asked_at = 0
        self._reads: list[Any] = []
        """What was read since something was done last: in turn what was asked and what was answered, or one whole
        operation and none."""
        self._at: list[int] = []
        """The events of each."""
        self._written = 0
        self._over = False
        """Whether something was begun while a read was under way: the look is over when the read has ended."""
        self._ended = -1
        """When the last of the operations that may change something ended."""
        self._windows: dict[str, _Window] = {}
        self._raw = NONE
        self._last = 0
        self.watching = Watching(rules, self, self._first)
        self._plain = frozenset(READ_AS) - self.watching.wants
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

    def both(self, asked: Heard, ended: Heard, index: int, step: int) -> None:
        """One operation that nothing came between: the event with which it began, and the next, with which it ended;
        with the index of the first."""
        if self._asked is None and asked.process == MAIN:
            op, main = asked.op, self._main
            if main:
                self._last = index + 1
                main[-1].calls.append(self._whole(asked, ended, index, step))
                return
            if op in self._plain:
                self._last = index + 1
                self._reads += (asked, ended)
                self._at += (index, index + 1)
                return
            if op in READS and not self._over:
                self._last = index + 1
                done = self._whole(asked, ended, index, step)
                if op in self.watching.wants:
                    self.watching.operation(done, self._lanes.of(index))
                self._reads += (done, None)
                self._at += (index, index + 1)
                return
            if op not in QUIET and not self._over:
                self._last = index + 1
                self._flush()
                self._done(self._whole(asked, ended, index, step), self._lanes.of(index))
                return
        self.take(asked, index, step)
        self.take(ended, index + 1, step)

    def _whole(self, asked: Heard, ended: Heard, index: int, step: int) -> Operation:
        arguments = asked.value
        return Operation(
            op=asked.op,
            step=step,
            start=index,
            end=index + 1,
            ended=ended.kind,
            arguments=arguments if isinstance(arguments, dict) else {},
            value=ended.value if ended.kind is OK else None,
            error=ended.error,
        )

    def take(self, event: Heard, index: int, step: int) -> None:
        """One event, with its index and the step that it belongs to."""
        self._last = index
        process, op = event.process, event.op
        if process == MAIN:
            asked = self._asked
            if event.kind is not INVOKE:
                if asked is not None and asked.op == op:
                    self._asked = None
                    self._reads += (asked, event)
                    self._at += (self._asked_at, index)
                    if self._over:
                        self._over = False
                        self._flush()
                    return
            elif asked is None and op in self._plain and not self._main:
                self._asked, self._asked_at = event, index
                return
            if asked is not None:
                self._main.insert(0, _Open(asked.op, self._asked_at, step, asked.value, ""))
                self._asked = None
        stack = self._open.get(process)
        if stack is None:
            stack = self._open[process] = []
        if event.kind is INVOKE:
            if not stack and (op not in QUIET or op == "begin"):
                self._change()
            stack.append(_Open(op, index, step, event.value, self._lanes.of(index)))
            return
        # An end without its invoke is a remark of the runner's, not an operation.
        if not stack:
            return
        if stack[-1].op != op:
            if all(open_.op != op for open_ in stack):
                return
            while stack[-1].op != op:
                self._close(stack, Heard(EventType.INFO, process, op, None, event.error), index)
        self._close(stack, event, index)

    def finish(self, *, torn: bool = False) -> tuple[Judgement, ...]:
        """The history is over; what each rule comes to.

        `torn`: its end is missing. A look that may not be over shows less than there was, and is left out.
        """
        if self._asked is not None:
            unanswered = Heard(EventType.INFO, MAIN, self._asked.op, None, None)
            self._reads += (self._asked, unanswered)
            self._at += (self._asked_at, self._last)
        for process, stack in self._open.items():
            while stack:
                self._close(stack, Heard(EventType.INFO, process, "", None, None), self._last)
        if torn:
            self._reads, self._at = [], []
        self._flush()
        return self.watching.finish()

    def _close(self, stack: list[_Open], event: Heard, index: int) -> None:
        opened, ended, process = stack.pop(), event.kind, event.process
        op = opened.op
        if not stack and op in self._plain:
            if process == MAIN:
                asked = Heard(INVOKE, MAIN, op, opened.arguments, None)
                self._reads += (asked, event)
                self._at += (opened.index, index)
                self._read_over()
            return
        done = Operation(
            op=op,
            step=opened.step,
            start=opened.index,
            end=index,
            ended=ended,
            arguments=opened.arguments if isinstance(opened.arguments, dict) else {},
            value=event.value if ended is OK else None,
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
                self._reads += (done, None)
                self._at += (done.start, done.end)
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
            new = say(self.header, operation, session, self.said, self.aliases)
            if new is not None and new not in self.order:
                self.order[new] = len(self.order)
                self._finder.add(self.said[new])
                if self._contained:
                    self._contained.clear()
        elif op in ("switch", "fork"):
            self._lanes.follow(operation)
        elif op in WITHDRAWING:
            withdrawal = withdrawal_by(operation, self.said, self._lanes)
            if withdrawal is not None:
                self._withdrawals.append(withdrawal)
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
        reads, at = self._reads, self._at
        if not reads:
            return
        self._reads, self._at = [], []
        start, end = at[0], at[-1]
        session = self._lanes.of(start)
        window = self._windows.get(session)
        # What could make the same answers mean something else.
        amid = self._amid(start)
        state = (len(self.said), len(self._withdrawals), self._written, self._reach.changes, amid)
        if window is not None and window.state == state and window.reads == reads:
            seen = window.seen = msgspec.structs.replace(window.seen, start=start, end=end)
            if seen.live is not None:
                self._raw = seen.raw
            self.watching.look(seen, same=True)
            return
        look = Look()
        for n in range(0, len(reads), 2):
            asked, answered = reads[n], reads[n + 1]
            if answered is None:
                look.take(asked)
            else:
                ok = answered.kind is OK
                value = answered.value if ok else None
                if type(value) in BUILTINS:
                    value = vocabulary(answered)
                look.read(asked.op, asked.about, value, answered.error, ok=ok, at=(at[n], at[n + 1]))
        seen = self._seen(look, session, window, amid=amid)
        self._windows[session] = _Window(seen, reads, state)
        self.watching.look(seen)

    def _amid(self, start: int) -> bool:
        """Whether something that may change what there is to see was under way in a look that is over."""
        if self._ended > start or self._workers:
            return True
        return any(stack and stack[0].op not in QUIET for stack in self._open.values())

    def _seen(self, look: Look, session: str, window: "_Window | None", *, amid: bool) -> Observation:
        assert look.start is not None
        shown, last = look.live, None if window is None else window.seen
        if shown is None:
            live, raw = None, NONE
        else:
            live = self._kinds(shown, look.end)
            raw = raw_turns(live, self.said, self.aliases)
            # Turns that stand as they stood are the same ones, for whoever asks for that.
            if last is not None and raw == last.raw:
                raw = last.raw
            self._raw = raw
        if last is not None and look.answers == last.answers and look.errors == last.errors:
            # Nothing that was followed leads elsewhere than before: whoever has gone through it need not again.
            look.answers, look.errors = last.answers, last.errors  # type: ignore[assignment]
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
