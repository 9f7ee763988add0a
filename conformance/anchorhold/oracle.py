"""A history held against the machines of the specification.

`occurrences` says in the events of the shared alphabet what a history shows of each session; the oracle
(`anchorhold_spec.run.oracle`) then says which of them a machine does not allow. The checkers judge the same history
without the machines, and are held against this.

What is seen here is decided as the checkers decide it (`observe`, `holding`): which turns stand in the window, what
leads where, what is not known because nobody looked. What it means is decided by the machines alone. A history shows
states between operations and not steps, so what can have come first is taken to have come first: where a pointer
leads to a turn after a commit, it is taken to have been durable at the commit.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

import msgspec

from anchorhold.checkers.erasure import Place, handed_out, own_to, says_any
from anchorhold.checkers.evidence import omissions_named
from anchorhold.checkers.holding import HELD, Hold, Waits, asks_for, hold, same_literal, through_pointers
from anchorhold.checkers.observe import read
from anchorhold.checkers.provenance import shown_to
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, Assertion, Observation, Question, Stretch
from anchorhold.checkers.words import content, holds, plain, says, stands
from anchorhold.history import EventType
from anchorhold.verdict import History
from anchorhold_spec.machines.alphabet import Occurrence
from anchorhold_spec.run.oracle import Ruling, judge_all
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, Item

MACHINES = ("anchoring", "concurrency", "generations", "progress", "reconstitution")
MACHINES_OF_POINTERS = (
    "anchored-release",
    "asynchronous-copy",
    "evidence",
    "index",
    "pointer-before-commit",
    "release-race",
    "write-order",
)
"""Only where there are pointers: they restrain what does not exist otherwise."""
MACHINE_OF_ERASURE = "erasure"
"""Has events of its own: it goes on after a `forget`, where the others end, and needs only what comes to light."""
UNTIL_THEN = ("anchored-release",)
"""Machines to which an original that may have been let go is no anchor any more. Whether it was is seen only later,
so that they say nothing from the first request to let one go."""
UNSPOKEN = (
    *("clear", "rewind", "fork", "forget", "override", "clock", "hold_copies", "settle", "corrupt", "fail_store"),
    *("kill", "lose_power", "begin", "advance"),
)
"""Operations for which the alphabet has no event: from the first of them on, a session is not judged."""
ELSE = "something else"
"""What came back where it is nothing that was ever said."""


def rule_on(history: History) -> tuple[Ruling, ...]:
    """What the machines say of each session of a history, one ruling for each machine and session."""
    reading = read(history)
    machines = [*MACHINES, *(MACHINES_OF_POINTERS if reading.offers("pointers", "get") else ())]
    rulings: list[Ruling] = []
    for lane in occurrences(reading):
        known = list(takewhile(lambda seen: seen.event != "expire", lane))
        for machine in machines:
            rulings += judge_all(known if machine in UNTIL_THEN else lane, machines=[machine])
    for lane in erasures(reading):
        rulings += judge_all(lane, machines=[MACHINE_OF_ERASURE])
    return tuple(rulings)


def occurrences(reading: Reading) -> tuple[tuple[Occurrence, ...], ...]:
    """The events of each session, in order. `Occurrence.at` is the index of the history's event that showed it."""
    # What a branch has from its parent was done in another lane, which the machines do not see.
    lanes = (lane for lane in reading.lanes if not any(stretch.after.session in reading.forks for stretch in lane))
    return tuple(tuple(_Session(reading).events(lane)) for lane in lanes)


def erasures(reading: Reading) -> tuple[tuple[Occurrence, ...], ...]:
    """The same as far as it is about contents that were forgotten and what came to light of them afterwards."""
    return tuple(tuple(_forgotten(reading, lane)) for lane in reading.lanes)


def _forgotten(reading: Reading, lane: tuple[Stretch, ...]) -> Iterator[Occurrence]:
    appended: set[str] = set()
    own: dict[str, tuple[str, ...]] = {}
    for stretch in lane:
        after, at = stretch.after, stretch.after.end
        for turn, said in reading.said.items():
            if turn not in appended and said.session == after.session and said.certain and said.at <= after.start:
                appended.add(turn)
                yield Occurrence(event="append", span=turn, at=at)
        if stretch.of("reopen"):
            yield Occurrence(event="crash", at=at)
        for withdrawal in reading.withdrawals:
            forget = withdrawal.operation
            if forget in stretch.operations and forget.op == "forget" and forget.ok:
                for turn in (turn for turn in reading.said if turn in withdrawal.turns and turn in appended):
                    # What others say as well may still be there for them.
                    own[turn] = own_to(reading, turn)
                    yield Occurrence(event="forget", span=turn, at=at)
        for place, _, text in handed_out(after):
            for turn in (turn for turn, words in own.items() if says_any(words, text) is not None):
                match place:
                    case Place.WINDOW:
                        yield Occurrence(event="append", span=turn, at=at)
                    case Place.POINTER:
                        yield Occurrence(event="resolve", span=turn, found=turn, at=at)
                    case Place.QUESTION | Place.RECORD:
                        yield Occurrence(event="reconstitute", found=turn, at=at)


class _Session:
    """What has been seen of one session so far."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._pointers = reading.offers("pointers", "get")
        self._appended: set[str] = set()
        self._gone: set[str] = set()
        self._names: dict[tuple[str, str], str] = {}
        """Of each item that is no turn, in each form in which it was seen."""
        self._under: dict[str, frozenset[str]] = {}
        self._live: dict[str, Item] = {}
        self._reached: set[str] = set()
        """Turns outside the window to which a pointer has led."""
        self._lost: set[str] = set()
        self._let_go: set[str] = set()
        """Turns whose originals may have been let go on request."""
        self._waits = Waits(settles=reading.offers("settle"))
        self._waiting: set[str] = set()
        self._elsewhere: set[int] = set()
        """Assertions that something else than a carrier of the window holds."""
        self._dropped: set[int] = set()
        self._bindings: dict[str, frozenset[str]] = {}
        """Turns that each token was first found to lead to, or is declared to."""

    def events(self, lane: tuple[Stretch, ...]) -> Iterator[Occurrence]:
        for stretch in lane:
            if self._gone & stretch.after.raw or self._appended & stretch.after.withdrawn:
                # A recovery undid a compaction, or a caller withdrew something: what becomes of the summaries over it
                # differs from one compactor to the next, so that from here on no machine says what it has to be.
                return
            if any(stretch.of(op) for op in UNSPOKEN):
                return
            at = stretch.after.end
            for seen in self._stretch(stretch):
                yield replace(seen, at=at)

    def _stretch(self, stretch: Stretch) -> Iterator[Occurrence]:
        after = stretch.after
        yield from self._appends(stretch)
        yield from self._tombstones(stretch)
        if stretch.of("reopen"):
            yield Occurrence(event="crash")
        if stretch.of("evict") or stretch.of("expire"):
            for turn in sorted(self._reached - self._let_go):
                self._let_go.add(turn)
                yield Occurrence(event="expire", span=turn)
        yield from self._window(stretch)
        if self._pointers:
            yield from self._led(after)
        yield from self._held(after)
        yield from (seen for question in after.questions for seen in self._asked(question))

    # What was said, and dropped

    def _appends(self, stretch: Stretch) -> Iterator[Occurrence]:
        reading, after = self._reading, stretch.after
        for turn, said in reading.said.items():
            if turn in self._appended or said.session != after.session:
                continue
            if turn in after.raw or (said.certain and said.at <= after.start):
                self._appended.add(turn)
                said_there = [a for a in reading.assertions if a.turn == turn]
                yield Occurrence(
                    event="append",
                    span=turn,
                    asserts=tuple(map(_name, said_there)),
                    slots=tuple(map(_slot, said_there)),
                    # Calls are structured too; whether a summary repeats them is no assertion.
                    kind="structured" if said_there else None,
                )

    def _tombstones(self, stretch: Stretch) -> Iterator[Occurrence]:
        for drop in self._reading.drops:
            if drop.operation in stretch.operations and drop.operation.committed:
                dropped = [
                    a
                    for a in self._reading.assertions
                    if a.turn == drop.source and same_literal(a.fact.literal, drop.literal)
                ]
                self._dropped.update(a.number for a in dropped)
                yield Occurrence(event="tombstone", asserts=tuple(map(_name, dropped)))

    # What came and went in the window

    def _window(self, stretch: Stretch) -> Iterator[Occurrence]:
        reading, after = self._reading, stretch.after
        removed = [turn for turn in reading.removed(stretch) if turn in self._appended and turn not in self._gone]
        new, live = self._items(after)
        gone = [name for name in self._live if name not in live]
        self._live = live
        takers = [(name, item) for name, item in new if removed or gone or reading.stated(content(item))]
        if not takers and removed and any(self._holds(after, turn) for turn in removed):
            # Put away without a summary: what the pointers lead to is all that stands for it.
            takers = [(f"archive at event {after.end}", Item(id="", kind=CarrierKind.OTHER))]
        leaving = {name: list[str]() for name, _ in takers}
        for turn in removed if takers else ():
            owner = next((n for n, item in takers if turn in (reading.turns_of(item.covers) or ())), takers[-1][0])
            leaving[owner].append(turn)
        self._gone.update(removed)
        for turn in removed:
            yield from self._copy(after, turn)
        for name, item in takers:
            replaced = tuple(gone) if name == takers[-1][0] else ()
            yield from self._commit(stretch, name, item, leaving[name], replaced)
        if takers:
            return
        for turn in removed:
            if any(a.turn == turn for a in reading.assertions) and not reading.excused(after, turn):
                yield Occurrence(event="evict", span=turn)
        yield from (Occurrence(event="evict", summary=name) for name in gone)

    def _items(self, after: Observation) -> tuple[list[tuple[str, Item]], dict[str, Item]]:
        """The items that are no turns: those not seen before in this form, and all."""
        new: list[tuple[str, Item]] = []
        live: dict[str, Item] = {}
        for item in after.items:
            if item.kind is CarrierKind.RAW:
                continue
            form = (item.id, content(item))
            if form not in self._names:
                before = sum(known == item.id for known, _ in self._names)
                self._names[form] = f"{item.id} (form {before + 1})" if before else item.id
            name = self._names[form]
            if name not in self._live and name not in live:
                new.append((name, item))
            live[name] = item
        return new, live

    def _commit(
        self, stretch: Stretch, name: str, item: Item, leaving: list[str], replaced: tuple[str, ...]
    ) -> Iterator[Occurrence]:
        reading, after = self._reading, stretch.after
        declared = reading.turns_of(item.covers) if item.covers else None
        if declared is None or not declared:
            spans = tuple(leaving)
        else:
            there = set(leaving) | (after.raw & self._appended)
            spans = tuple(turn for turn in reading.said if turn in declared & there)
        self._under[name] = frozenset(spans).union(*(self._under.get(each, frozenset()) for each in replaced))
        yield Occurrence(
            event="stage",
            summary=name,
            spans=spans,
            summaries=replaced,
            shown=self._shown(stretch, spans, replaced),
            # Where no model was asked, what is missing is what the notice in its place stands for.
            omissions_named=omissions_named(reading, stretch) if stretch.calls and stretch.new_summaries else None,
            asserts=tuple(_name(a) for a in reading.assertions if a.number in reading.stated(content(item))),
        )
        pending: list[str] = []
        for turn in (turn for turn in reading.said if turn in self._under[name] and turn in self._gone):
            if self._holds(after, turn):
                if turn in self._waiting:
                    self._waiting.discard(turn)
                    yield from self._copy(after, turn)
                self._reached.add(turn)
                yield Occurrence(event="point", summary=name, span=turn, key=self._key(turn))
            elif turn in self._reached:
                continue
            elif self._may_wait(stretch, item, turn):
                pending.append(turn)
        self._waiting.update(pending)
        yield Occurrence(
            event="commit", summary=name, spans=tuple(leaving), summaries=replaced, pending=tuple(pending)
        )

    def _shown(self, stretch: Stretch, spans: tuple[str, ...], replaced: tuple[str, ...]) -> tuple[str, ...] | None:
        """The carriers whose words the summariser was shown; none where it was not called."""
        calls = [call for call in stretch.calls if call.ended is EventType.OK]
        if not calls:
            return None
        texts = " ".join(shown_to(call) for call in calls)
        said = self._reading.said
        # Bytes cannot be shown as they are: requests to a model are text here.
        raw = [t for t in spans if not said[t].forms or said[t].turn.data is not None or holds(texts, said[t].forms)]
        # Whether a summary was shown, itself or what is under it, only its text could tell: PTR-3 has a checker.
        return (*raw, *replaced)

    def _may_wait(self, stretch: Stretch, item: Item, turn: str) -> bool:
        """Whether a pointer is declared outstanding, or nobody looked."""
        after = stretch.after
        held = through_pointers(self._reading, after, turn)
        outcomes = (operation.outcome() for operation in stretch.of("compact"))
        declared = item.id in after.pending or any(each is not None and each.pending for each in outcomes)
        return held is Hold.UNKNOWN or (declared and (held is Hold.PENDING or bool(after.pending)))

    # What pointers lead to

    def _holds(self, after: Observation, turn: str) -> bool:
        """Whether a pointer leads to a turn; also where the suite itself put the original out of reach."""
        if self._reading.excused(after, turn) or not self._reading.said[turn].forms:
            return True
        return through_pointers(self._reading, after, turn) in HELD

    def _key(self, turn: str) -> str:
        """The place in the store that holds a turn: of its own, as several turns may lie under one key."""
        return f"original of {turn}"

    def _copy(self, after: Observation, turn: str) -> Iterator[Occurrence]:
        """The original of a turn that leaves the window is elsewhere: taken to have been there before.

        Where its copy is declared outstanding the source is held meanwhile (PTR-1), at no key that could be seen.
        """
        landed = self._holds(after, turn)
        held = landed or (bool(after.pending) and through_pointers(self._reading, after, turn) is Hold.PENDING)
        if not (self._pointers and held):
            return
        asserts = [a for a in self._reading.assertions if a.turn == turn and a.number not in self._elsewhere]
        self._elsewhere.update(a.number for a in asserts)
        key = self._key(turn) if landed else None
        yield Occurrence(event="copy", span=turn, key=key, asserts=tuple(_name(a) for a in asserts))

    def _never_came(self, turn: str) -> Iterator[Occurrence]:
        """A copy was declared outstanding and did not land: what was taken to be held is not."""
        for assertion in self._reading.assertions:
            if assertion.turn == turn and assertion.number in self._elsewhere - self._dropped:
                self._elsewhere.discard(assertion.number)
                yield Occurrence(event="reconstitute", asserts=(_name(assertion),))

    def _led(self, after: Observation) -> Iterator[Occurrence]:
        """Where each original that was within reach, or is to come within reach, is now."""
        reading = self._reading
        carrier = next((name for name in reversed(self._live)), None)
        for turn in [turn for turn in reading.said if turn in self._waiting]:
            held = Hold.POINTER if self._holds(after, turn) else through_pointers(reading, after, turn)
            over = self._waits.over(turn, held, at=after)
            if held in HELD:
                self._waiting.discard(turn)
                self._reached.add(turn)
                yield from self._copy(after, turn)
                yield Occurrence(event="point", span=turn, key=self._key(turn))
            elif held is Hold.LOOSE or over:
                self._waiting.discard(turn)
                yield Occurrence(event="resolve", span=turn)
                yield from self._never_came(turn)
            elif held is Hold.PENDING:
                yield Occurrence(event="resolve", span=turn, answer=AnswerKind.PENDING)
        for turn in [turn for turn in reading.said if turn in self._reached - self._lost - self._let_go]:
            if reading.excused(after, turn) or turn in after.raw or not reading.said[turn].forms:
                continue
            held = through_pointers(reading, after, turn)
            over = self._waits.over(turn, held, at=after)
            owners: list[str | None] = [name for name in self._live if turn in self._under.get(name, ())]
            owners = owners or [carrier]
            if held in HELD:
                yield from (Occurrence(event="resolve", summary=o, span=turn, found=turn) for o in owners)
            elif held is Hold.LOOSE or (held is Hold.PENDING and over):
                self._lost.add(turn)
                yield from (Occurrence(event="resolve", summary=owner, span=turn) for owner in owners)
        yield from self._misled(after)

    def _misled(self, after: Observation) -> Iterator[Occurrence]:
        """Tokens that lead to other turns than those that they were given out for."""
        reading = self._reading
        for pointer in after.pointers or ():
            if declared := reading.turns_of(pointer.covers):
                self._bindings.setdefault(pointer.token, declared)
        for token, answer in after.answers.items():
            if answer.kind not in CONTENT or token not in reading.issued:
                continue
            there = reading.contained(content(answer))
            bound = self._bindings.setdefault(token, there)
            whole = answer.kind is AnswerKind.FOUND
            if not whole or not there or there & bound or after.exempt & bound:
                continue
            for turn in (turn for turn in reading.said if turn in bound & self._appended - after.raw):
                other = next((each for each in reading.said if each in there & self._appended), ELSE)
                yield Occurrence(event="resolve", span=turn, found=other)

    # What holds an assertion besides the window

    def _held(self, after: Observation) -> Iterator[Occurrence]:
        reading = self._reading
        for assertion in reading.assertions:
            number, turn = assertion.number, assertion.turn
            if turn not in self._gone or number in self._dropped or reading.excused(after, turn):
                continue
            besides = msgspec.structs.replace(
                after,
                raw=after.raw - {turn},
                live=tuple(item for item in after.items if item.kind is CarrierKind.RAW),
                tombstones=None,
            )
            held = hold(reading, besides, assertion)
            if held in HELD and number not in self._elsewhere:
                self._elsewhere.add(number)
                yield Occurrence(event="copy", span=turn, asserts=(_name(assertion),))
            elif held is Hold.LOOSE and number in self._elsewhere:
                self._elsewhere.discard(number)
                yield Occurrence(event="reconstitute", asserts=(_name(assertion),))

    def _asked(self, question: Question) -> Iterator[Occurrence]:
        """The value of a slot that was said, and whether what came back is what was asked for."""
        reading, answer, began = self._reading, question.answer, question.operation.start
        if answer.kind is not AnswerKind.FOUND:
            yield from self._without_content(question)
            return
        known = [a for a in reading.assertions if a.at < began and a.turn in self._appended]
        asked = [a for a in known if asks_for(question, a)]
        text = content(answer)
        if question.operation.op == "search":
            literal = str(question.operation.arguments.get("literal", ""))
            if stands(literal, text or answer.value or ""):
                return
        given = [
            a
            for a in known
            if says(text, a.fact) or (answer.value is not None and same_literal(answer.value, a.fact.literal))
        ]
        right = [a for a in asked if a in given or (text and plain(a.fact.literal) in plain(text))]
        if right:
            if question.operation.op == "reconstitute" and right[-1].fact.subject is not None:
                yield Occurrence(
                    event="reconstitute", slot=_slot(right[-1]), answer=answer.kind, found=_name(right[-1])
                )
            return
        about = _name(asked[0]) if asked else f"what was asked for at event {began}"
        found = _name(given[0]) if given else ELSE
        yield Occurrence(event="reconstitute", asserts=(about,), found=found)

    def _without_content(self, question: Question) -> Iterator[Occurrence]:
        """Why there is no value of a slot: told of what was said in this session alone."""
        began = question.operation.start
        asked = [a for a in self._reading.assertions if a.at < began and asks_for(question, a)]
        if question.operation.op == "reconstitute" and asked and all(a.turn in self._appended for a in asked):
            yield Occurrence(event="reconstitute", slot=_slot(asked[0]), answer=question.answer.kind)


def _name(assertion: Assertion) -> str:
    return f"assertion {assertion.number}"


def _slot(assertion: Assertion) -> str:
    """What it is a value of; a literal that is in no slot is one of its own."""
    fact = assertion.fact
    if fact.subject is None or fact.attribute is None:
        return _name(assertion)
    return f"{fact.attribute} of {fact.subject}"
