"""A history as it comes in, event by event: what the watches are told, and what they may know of it.

It makes the looks and operations that `anchorhold.checkers.observe.read` makes of a whole history, from what has come
so far, and holds what is alive: the turns, what is listed in some window, and the latest look at each.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from anchorhold.checkers.finding import Finder
from anchorhold.checkers.observe import (
    ABOUT,
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
"""Replies by which an item is known as a summary where the compactor calls it something else: the latest."""
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


class _Window:
    """How a window was shown last, and what was made of it."""

    __slots__ = ("known", "live", "raw", "seen", "shown")

    def __init__(self, shown: object, live: tuple[Item, ...], raw: frozenset[str], known: int) -> None:
        self.shown, self.live, self.raw, self.known = shown, live, raw, known
        self.seen: Observation | None = None


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
        self._replies: list[tuple[int, str]] = []
        self._open: dict[str, list[_Open]] = {}
        self._workers: dict[str, tuple[_Open, list[Operation]]] = {}
        self._asked: tuple[str, Any, int] | None = None
        """A read of the main process that has not ended: operation, arguments, event."""
        self._look = Look()
        self._over = False
        """Whether something was begun while a read was under way: the look is over when the read has ended."""
        self._windows: dict[str, _Window] = {}
        self._raw = frozenset[str]()
        self._last = 0
        self.watching = Watching(rules, self, self._first)
        self._plain = frozenset(READ_AS) - self.watching.wants
        """Reads of which nobody is told but by the look that they are part of."""

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

    def take(
        self, kind: EventType, process: str, op: str, value: Any, error: str | None, at: tuple[int, int]
    ) -> None:
        """One event. `value` may be of the vocabulary's types already; `at`: its index and its step."""
        index = self._last = at[0]
        if process == MAIN:
            asked = self._asked
            if kind is not INVOKE:
                if asked is not None and asked[0] == op:
                    self._asked = None
                    self._read(asked, kind, value, error, index)
                    return
            elif op in self._plain and not self._open.get(MAIN) and asked is None:
                self._asked = (op, value, index)
                return
            if asked is not None:
                self._open.setdefault(MAIN, []).insert(0, _Open(asked[0], asked[2], at[1], asked[1], ""))
                self._asked = None
        stack = self._open.get(process)
        if stack is None:
            stack = self._open[process] = []
        if kind is INVOKE:
            if not stack and (op not in QUIET or op == "begin"):
                self._change()
            stack.append(_Open(op, index, at[1], value, self._lanes.of(index)))
            return
        # An end without its invoke is a remark of the runner's, not an operation.
        if not stack:
            return
        if stack[-1].op != op:
            if all(open_.op != op for open_ in stack):
                return
            while stack[-1].op != op:
                self._close(process, stack, EventType.INFO, None, error, index)
        self._close(process, stack, kind, value, error, index)

    def finish(self, *, torn: bool = False) -> tuple[Judgement, ...]:
        """The history is over; what each rule comes to.

        `torn`: its end is missing. A look that may not be over shows less than there was, and is left out.
        """
        if self._asked is not None:
            self._read(self._asked, EventType.INFO, None, None, self._last)
        for process, stack in self._open.items():
            while stack:
                self._close(process, stack, EventType.INFO, None, None, self._last)
        if torn:
            self._look = Look()
        self._flush()
        return self.watching.finish()

    def _close(
        self, process: str, stack: list[_Open], kind: EventType, value: Any, error: str | None, index: int
    ) -> None:
        opened = stack.pop()
        op = opened.op
        if not stack and op in self._plain:
            if process == MAIN:
                self._read((op, opened.arguments, opened.index), kind, value, error, index)
            return
        done = Operation(
            op=op,
            step=opened.step,
            start=opened.index,
            end=index,
            ended=kind,
            arguments=opened.arguments if isinstance(opened.arguments, Mapping) else {},
            value=value if kind is EventType.OK else None,
            error=error,
            calls=tuple(opened.calls),
            process=process,
        )
        if stack:
            stack[-1].calls.append(done)
        elif op in READS:
            if op in self.watching.wants:
                self.watching.operation(done, opened.session)
            if process == MAIN:
                self._look.take(done)
                self._read_over()
        elif op in SIDELINES:
            self._of_worker(opened, done)
        else:
            self._done(done, opened.session)

    def _read(self, asked: tuple[str, Any, int], kind: EventType, value: Any, error: str | None, index: int) -> None:
        op, arguments, start = asked
        about = ""
        if op in ABOUT and isinstance(arguments, Mapping):
            about = str(arguments.get(ABOUT[op], ""))
        ok = kind is OK
        if ok and type(value) in BUILTINS:
            value = convert(value, READ_AS[op])
        self._look.read(op, about, value, error, ok=ok, at=(start, index))
        if self._over:
            self._read_over()

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
        if op == "append":
            new = say(self.header, operation, session, self.said, self.aliases)
            if new is not None and new not in self.order:
                self.order[new] = len(self.order)
                forms = self.said[new].forms
                self._finder.add(new, forms)
                if self._contained:
                    self._contained.clear()
        elif op in ("switch", "fork"):
            self._lanes.follow(operation)
        else:
            withdrawal = withdrawal_by(operation, self.said, self._lanes)
            if withdrawal is not None:
                self._withdrawals.append(withdrawal)
        self._reach.follow(operation, self.said, self._raw)
        if operation.calls:
            self._replies += [reply for reply in written_in(operation) if len(reply[1]) >= LEAST]
            del self._replies[:-REPLIES]
        self.watching.operation(operation, session)

    # What is seen

    def _first(self, session: str) -> Observation:
        return beginning(session, self.watching.last, self.forks)

    def _change(self) -> None:
        """Something is begun that may change what there is to see."""
        main = self._open.get(MAIN)
        if self._asked is not None or (main and main[0].op in READS):
            self._over = True
        else:
            self._flush()

    def _flush(self) -> None:
        look = self._look
        if look.start is None:
            return
        self._look = Look()
        session = self._lanes.of(look.start)
        window = self._windows.get(session)
        shown, last = look.live, None if window is None else window.seen
        if shown is None:
            live, raw = None, frozenset[str]()
        elif window is not None and window.shown is shown and window.known == len(self.said):
            live, raw = window.live, window.raw
        else:
            live = self._kinds(shown, look.end)
            raw = raw_turns(live, self.said, self.aliases)
            window = self._windows[session] = _Window(shown, live, raw, len(self.said))
        if shown is not None:
            self._raw = raw
        if last is not None and look.answers == last.answers:
            # Nothing that was followed leads elsewhere than before: whoever has gone through it need not again.
            look.answers = last.answers  # type: ignore[assignment]
        seen = look.seen(session, live=live, raw=raw, away=self._taken_away(session, look.start), reach=self._reach)
        if window is not None:
            window.seen = seen
        self.watching.look(seen)

    def _kinds(self, shown: tuple[Item, ...], end: int) -> tuple[Item, ...]:
        """The items, each as what it is."""
        said, aliases = self.said, self.aliases
        if all(i.kind is CarrierKind.SUMMARY or i.turn in said or (i.turn or "") in aliases for i in shown):
            return shown
        replies = [text for at, text in self._replies if at < end]
        odd = [i for i in shown if i.kind is not CarrierKind.SUMMARY and any(r in plain(content(i)) for r in replies)]
        if not odd:
            return shown
        turns = [plain(words(one.turn)) for one in said.values()]
        own = [reply for reply in replies if not any(reply in turn for turn in turns)]
        return tuple(as_summary(item, said, aliases, own) for item in shown)

    def _taken_away(self, session: str, until: int) -> frozenset[str]:
        if not self._withdrawals:
            return frozenset()
        known = self._away.get(session)
        if known is None or known[0] != len(self._withdrawals):
            away = self._lanes.withdrawn(session, self._withdrawals, until)
            known = self._away[session] = (len(self._withdrawals), away)
        return known[1]
