"""PTR-2, PTR-5, PTR-6: what a pointer leads to stays there, outstanding copies end, nothing uncommitted counts."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from anchorhold.checkers.keys import Keys
from anchorhold.checkers.provenance import reply_of
from anchorhold.checkers.reading import Known, Reading
from anchorhold.checkers.record import CONTENT, Observation, Operation
from anchorhold.checkers.rule import RuleChecker, WatchChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.watch import Watch
from anchorhold.checkers.words import content, plain, shorten
from anchorhold.compactor import Mechanism
from anchorhold.history import MAIN
from anchorhold_spec.vocabulary import Answer, AnswerKind, OutcomeKind, Pointer

REMOVING = frozenset(
    {
        "compact",
        "evict",
        "expire",
        "reopen",
        "settle",
        "clock",
        "kill",
        "lose_power",
        "tombstone",
        "supersede",
        "rewind",
        "clear",
        "forget",
    }
)
"""Operations in the course of which some worker might let go of an original."""


class _Reached(Watch):
    """What both rules of pointers that lead somewhere have to know of what the caller let go of."""

    operations = frozenset({"tombstone"})

    def __init__(self, known: Known, keys: Keys, tally: Tally) -> None:
        super().__init__(known, keys, tally)
        self._dropped: set[str] = set()
        """Turns of which something was dropped on the record."""

    def operation(self, operation: Operation) -> None:
        if operation.op == "tombstone" and operation.ok:
            self._dropped.add(str(operation.arguments.get("source", "")))

    def excused(self, look: Observation, pointer: Pointer) -> bool:
        """Whether the suite itself, or the caller, put what a pointer leads to out of reach."""
        if look.damaged:
            return True
        if not look.exempt and not self._dropped:
            return False
        covers = self.known.turns_of(pointer.covers)
        if covers is None:
            return bool(look.exempt)
        return bool(covers & self._dropped) or bool(covers & look.exempt)


class _Right(msgspec.Struct, frozen=True, kw_only=True):
    """A look in which every pointer led to its original."""

    look: Observation
    dropped: int
    led: int
    """Pointers that had led there before."""
    latest: int
    """End of the latest look in which one of them led there for the first time."""


class StayingPointers(_Reached):
    """A pointer that a summary carries and that led to its original, looked at again after something was done."""

    operations = REMOVING

    def __init__(self, known: Known, keys: Keys, tally: Tally) -> None:
        super().__init__(known, keys, tally)
        self._done: deque[Operation] = deque(maxlen=3)
        """The last operations by which something might have gone, and when the last of them ended."""
        self._ended = -1
        self._right: dict[str, _Right] = {}
        self._released: set[tuple[str, tuple[str, ...] | None]] = set()
        """Of pointers that the caller evicted: whose they were, and what they stood for, by whatever token."""

    def operation(self, operation: Operation) -> None:
        super().operation(operation)
        if operation.op == "evict" and (operation.committed or not operation.ok):
            key = self.keys.get(str(operation.arguments.get("token", "")))
            if key is not None:
                key.released = True
                self._released.add((key.pointer.summary, key.pointer.covers))
                self._right.clear()
        self._done.append(operation)
        self._ended = max(self._ended, operation.end)

    def look(self, look: Observation) -> None:
        if not look.pointers:
            return
        right = self._right.get(look.session)
        if right is not None and self._as_before(right, look):
            self.tally.trigger(right.led)
            return
        ended, answers, session, own = self._ended, look.answers, look.session, look.session
        asked: Sequence[Pointer] = look.pointers
        if len(answers) + len(look.errors) < len(asked):
            # Of a pointer that nobody followed nothing is seen.
            followed = answers.keys() | look.errors.keys()
            asked = [p for p in asked if p.token in followed]
        elif len(answers) + len(look.errors) > len(asked):
            asked = [*asked, *self._made_anew(look)]
        lenient = bool(look.exempt or look.damaged or self._dropped)
        led = latest = 0
        all_right = True
        for pointer in asked:
            key, answer = self.keys.get(pointer.token), answers.get(pointer.token)
            assert key is not None
            mine = key.home == own
            before = key.led if mine else 0 if key.led_in is None else key.led_in.get(session, 0)
            there = answer is not None and answer.kind in CONTENT
            if there and not before:
                if mine:
                    key.led = look.end
                elif key.led_in is None:
                    key.led_in = {session: look.end}
                else:
                    key.led_in[session] = look.end
            all_right &= there
            latest = max(latest, before or look.end)
            if not before or key.released or (lenient and self.excused(look, pointer)):
                continue
            led += 1
            if ended <= before or (answer is None and pointer.token not in look.errors):
                continue
            self.tally.trigger()
            if not there:
                self._fail(look, pointer, answer, before)
        # The next look may be counted as a whole only where each pointer counted in this one.
        self._right.pop(session, None)
        if all_right and led == len(look.pointers) == len(asked):
            self._right[session] = _Right(look=look, dropped=len(self._dropped), led=led, latest=latest)

    def _made_anew(self, look: Observation) -> Iterator[Pointer]:
        """Pointers that are listed under other tokens now: what led there under the earlier ones goes on to."""
        listed = {pointer.token for pointer in look.pointers or ()}
        same = {(p.summary, p.covers) for p in look.pointers or () if p.covers is not None} - self._released
        for token in (*look.answers, *look.errors):
            key = None if token in listed else self.keys.get(token)
            if key is not None and (key.pointer.summary, key.pointer.covers) in same:
                yield key.pointer

    def _as_before(self, right: _Right, look: Observation) -> bool:
        was = right.look
        return (
            was.pointers is look.pointers
            and was.answers is look.answers
            and was.exempt is look.exempt
            and was.damaged is look.damaged
            and right.dropped == len(self._dropped)
            and right.latest < self._ended
        )

    def _fail(self, look: Observation, pointer: Pointer, answer: Answer | None, before: int) -> None:
        now = f"“{answer.kind}”" if answer is not None else f"an error ({look.errors[pointer.token]})"
        since = sorted((o for o in self._done if o.end > before), key=lambda o: o.start)
        self.tally.fail(
            f"Pointer {pointer.token} of summary {pointer.summary} led to its original, and after "
            f"{', '.join(dict.fromkeys(_named(o) for o in since))} it answers with {now}, although nobody let it go.",
            fact=pointer.token,
            event=look.end,
        )


def _named(operation: Operation) -> str:
    return operation.op if operation.process == MAIN else f"{operation.op} (by {operation.process})"


@dataclass(slots=True)
class _Copies:
    """What is known of outstanding copies."""

    held: bool = False
    settled: int | None = None
    """When everything outstanding last ran to its end."""


class OutstandingCopies(_Reached):
    """Copies that are held back, that are let go, and what the compactor counts."""

    operations = frozenset({"hold_copies", "settle", "compact", "evict", "tombstone"})

    def __init__(self, known: Known, keys: Keys, tally: Tally) -> None:
        super().__init__(known, keys, tally)
        self._copies = _Copies()
        self._promised = False
        self._evicted: set[str] = set()

    def operation(self, operation: Operation) -> None:
        super().operation(operation)
        copies = self._copies
        if operation.op == "hold_copies" and operation.ok:
            copies.held = bool(operation.arguments.get("held"))
            copies.settled = None
        elif operation.op == "settle" and operation.ok:
            copies.held, copies.settled = False, operation.end
        elif operation.op == "compact":
            copies.settled = None
        elif operation.op == "evict" and operation.committed and (copies.held or self._promised):
            self._evicted.add(str(operation.arguments.get("token", "")))

    def look(self, look: Observation) -> None:
        copies = self._copies
        _counts(self.tally, look, copies)
        if not copies.held and not self._promised:
            return
        for pointer in look.pointers or ():
            key, answer = self.keys.get(pointer.token), look.answers.get(pointer.token)
            assert key is not None
            if pointer.token in self._evicted or self.excused(look, pointer):
                continue
            if copies.held:
                key.promised = self._promised = True
            if not key.promised or (answer is None and pointer.token not in look.errors):
                continue
            self.tally.trigger()
            if answer is not None and (answer.kind in CONTENT or (copies.held and answer.kind is AnswerKind.PENDING)):
                continue
            _unkept(self.tally, look, pointer, answer, copies)


def _unkept(tally: Tally, observation: Observation, pointer: Pointer, answer: Answer | None, copies: _Copies) -> None:
    now = "an error" if answer is None else f"“{answer.kind}”"
    declared = observation.ratios is not None and observation.ratios.unresolvable > 0
    if copies.held:
        tally.fail(
            f"The copy that pointer {pointer.token} of summary {pointer.summary} names is outstanding, and following "
            f"it answers with {now} instead of “pending”.",
            fact=pointer.token,
            event=observation.end,
        )
    elif copies.settled is not None and answer is not None and answer.kind is AnswerKind.PENDING:
        tally.fail(
            f"All background work has ended, and pointer {pointer.token} of summary {pointer.summary} still answers "
            "with “pending”: it ends nowhere.",
            fact=pointer.token,
            event=observation.end,
        )
    elif copies.settled is not None and not declared:
        tally.fail(
            f"The copy that pointer {pointer.token} of summary {pointer.summary} names did not land (following it "
            f"answers with {now}), and no summary is counted as unresolvable.",
            fact=pointer.token,
            event=observation.end,
        )


def _counts(tally: Tally, observation: Observation, copies: _Copies) -> None:
    ratios = observation.ratios
    if ratios is None:
        return
    end, said = observation.end, f"{ratios.committed} committed, {ratios.pending} pending"
    pending = {
        pointer.summary
        for pointer in observation.pointers or ()
        if (a := observation.answers.get(pointer.token)) is not None and a.kind is AnswerKind.PENDING
    }
    if ratios.unresolvable > 0:
        tally.trigger()
        tally.fail(
            f"{ratios.unresolvable} of {ratios.committed} summaries are counted as unresolvable: their originals are "
            "neither there nor on the way.",
            fact="unresolvable summaries",
            event=end,
        )
    if pending and ratios.pending == 0:
        tally.fail(
            f"Summary {min(pending)} has a pointer that answers with “pending”, and none is counted ({said}).",
            fact="count of pending summaries",
            event=end,
        )
    if copies.settled is not None and ratios.pending > 0 and not pending:
        tally.fail(
            f"All background work has ended and no pointer is pending, and the count says otherwise ({said}).",
            fact="count of pending summaries",
            event=end,
        )
    if ratios.committed < max(ratios.pending + ratios.unresolvable, len(observation.summaries)):
        tally.fail(
            f"{len(observation.summaries)} summaries are live, and the counts are {said}, "
            f"{ratios.unresolvable} unresolvable.",
            fact="count of committed summaries",
            event=end,
        )


LEAST = 20
"""Characters of a reply, below which it could stand anywhere by accident."""


def ptr_6(reading: Reading, tally: Tally) -> None:
    """What a model wrote for a compaction that did not commit: it is nowhere."""
    turns = [text for said in reading.said.values() for part in said.forms for text in part]
    for operation, reply in _uncommitted(reading):
        flat = plain(reply)
        if len(flat) < LEAST or any(flat in text for text in turns) or _written_again(reading, operation, flat):
            continue
        tally.trigger()
        refused = operation.ok
        for observation in reading.observations:
            if observation.start < operation.end:
                continue
            live = any(flat in plain(content(item)) for item in observation.items)
            if live and not refused:
                # It died after the commit, or recovery finished it: that is a new state like any other.
                break
            where = "in the window" if live else _where(observation, flat)
            if where is not None:
                how = operation.error or "it says itself that it did not commit"
                tally.fail(
                    f"A compaction did not commit ({shorten(how)}), and its summary (“{shorten(reply, 60)}”) is "
                    f"{where}.",
                    fact=f"summary of the compaction at {operation.start}",
                    event=observation.end,
                )
                break


def _uncommitted(reading: Reading) -> Iterator[tuple[Operation, str]]:
    for operation in reading.operations:
        if operation.op != "compact":
            continue
        outcome = operation.outcome()
        if outcome is not None and outcome.kind is OutcomeKind.COMMITTED:
            continue
        for call in operation.calls:
            if call.op == "summarise" and call.ok:
                yield operation, reply_of(call)


def _written_again(reading: Reading, operation: Operation, flat: str) -> bool:
    """Whether the same words were written for another compaction as well: whose they are cannot be told then."""
    return any(
        flat in plain(reply_of(call))
        for other in reading.operations
        if other is not operation
        for call in other.calls
        if call.op == "summarise"
    )


def _where(observation: Observation, flat: str) -> str | None:
    """Where a text that is not live is handed out, in words."""
    for token, answer in observation.answers.items():
        if answer.kind in CONTENT and flat in plain(content(answer)):
            return f"what pointer {token} leads to"
    for question in observation.questions:
        if question.answer.kind in CONTENT and flat in plain(content(question.answer)):
            return f"what a {question.operation.op} finds"
    return None


CHECKERS = (
    WatchChecker(rule="PTR-2", minimum=3, mechanisms=(Mechanism.POINTERS,), watch=StayingPointers),
    WatchChecker(rule="PTR-5", minimum=2, mechanisms=(Mechanism.BACKGROUND_COPY,), watch=OutstandingCopies),
    RuleChecker(rule="PTR-6", minimum=2, mechanisms=(Mechanism.SUMMARISER,), examine=ptr_6),
)
