"""IDX-1, IDX-3, IDX-4 and IDX-5: the index is added to, and nothing that it was given changes.

What one look shows of an entry is compared with what earlier looks showed of it. An entry is known by the token that
was given out for it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec

from anchorhold.checkers.difference import trace
from anchorhold.checkers.holding import HELD, Hold, through_pointers, unseen
from anchorhold.checkers.keys import Keys
from anchorhold.checkers.reading import Known, Reading
from anchorhold.checkers.record import CONTENT, Observation, Operation, Stretch
from anchorhold.checkers.rule import RuleChecker, WatchChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.watch import Watch
from anchorhold.checkers.words import content, shorten
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import Answer, AnswerKind, CarrierKind, Item


def _content(answer: Answer | None) -> str | None:
    """All of an entry; none where it is not known in full."""
    return content(answer) if answer is not None and answer.kind is AnswerKind.FOUND else None


def _gone(observation: Observation, token: str, turns: frozenset[str]) -> str | None:
    """How an entry of these turns is denied, in words; none where it is there, on its way, or was not looked at.

    Bytes that were damaged, and what a caller dropped on the record, are no fault of the index.
    """
    if token in observation.damaged or observation.exempt & turns:
        return None
    if token in observation.errors:
        return f"an error ({shorten(observation.errors[token], 60)})"
    answer = observation.answers.get(token)
    if answer is None or answer.kind in CONTENT | {AnswerKind.PENDING, AnswerKind.TOMBSTONED}:
        return None
    return f"“{answer.kind}”"


def _turns(reading: Reading, token: str, text: str) -> frozenset[str]:
    """The turns of an entry: those that its pointer declares, or else those in what it held before."""
    pointer = reading.pointers.get(token)
    declared = reading.turns_of(pointer.covers) if pointer is not None else None
    return reading.contained(text) if declared is None else declared


def _why(reading: Reading, since: int, until: int) -> str:
    """What took an entry away, where it is known."""
    asked = [
        o for o in reading.operations if since <= o.start < until and o.op in ("evict", "expire") and o.committed
    ]
    if not asked:
        return "and nobody asked that it go"
    what = "it was let go on request" if asked[-1].op == "evict" else "its lifetime ended"
    return f"{what}, and the horizon is not over: at this level no entry leaves before it"


def idx_1(reading: Reading, tally: Tally) -> None:
    """Each turn that left the window has an entry, and each entry stays what it was."""
    _kept(reading, tally)
    if not reading.offers("pointers", "get"):
        return
    for lane in reading.lanes:
        waiting: set[str] = set()
        for stretch in lane:
            if any(o.op in ("evict", "expire", "tombstone", "supersede") for o in stretch.operations):
                waiting.clear()
            waiting |= {turn for turn in reading.removed(stretch) if reading.said[turn].forms}
            after = stretch.after
            if unseen(after):
                waiting -= after.raw
                continue
            for turn in sorted(waiting):
                if turn in after.raw or reading.excused(after, turn):
                    waiting.discard(turn)
                    continue
                held = through_pointers(reading, after, turn)
                if held in (Hold.UNKNOWN, Hold.PENDING):
                    continue
                waiting.discard(turn)
                tally.trigger()
                if held not in HELD:
                    tally.fail(
                        f"{reading.quote(turn, first=True)} left the window, and no entry of the index has it.",
                        fact=turn,
                        event=after.end,
                    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What an entry was when it was first read in full."""

    text: str
    at: int


def _kept(reading: Reading, tally: Tally) -> None:
    first: dict[str, _Seen] = {}
    homes = reading.homes
    for observation in reading.observations:
        for token in reading.issued:
            if homes[token] != observation.session:
                continue
            known = first.get(token)
            now = _content(observation.answers.get(token))
            if now is not None and known is None:
                first[token] = _Seen(text=now, at=observation.end)
            if known is None or token in observation.damaged:
                continue
            turns = _turns(reading, token, known.text)
            if observation.exempt & turns:
                continue
            if now is not None:
                tally.trigger()
                if now != known.text:
                    tally.fail(
                        f"Entry {token} had {len(known.text)} characters and has {len(now)} now: its content is no "
                        f"longer what it was (“{shorten(now, 60)}”).",
                        fact=token,
                        event=observation.end,
                    )
                continue
            denied = _gone(observation, token, turns)
            if denied is not None:
                tally.trigger()
                tally.fail(
                    f"Entry {token} is answered with {denied} in place of its content; "
                    f"{_why(reading, known.at, observation.start)}.",
                    fact=token,
                    event=observation.end,
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pass:
    """Compactions between two looks at the index, with nothing else in between that could have touched it."""

    before: Observation
    after: Observation
    new: tuple[Item, ...]
    gone: tuple[Item, ...]

    def known(self, reading: Reading) -> Mapping[str, frozenset[str]]:
        """The entries that could be read before, with the turns in them."""
        return {
            token: reading.contained(content(answer))
            for token, answer in self.before.answers.items()
            if answer.kind in CONTENT and token in reading.issued and token not in self.after.damaged
        }


def _passes(reading: Reading) -> Iterator[_Pass]:
    for lane in reading.lanes:
        before: Observation | None = None
        worked, new, gone = False, list[Item](), list[Item]()
        for stretch in lane:
            if {o.op for o in stretch.operations} - {"compact", "append"}:
                before = None
            worked |= bool(stretch.new_summaries) or bool(reading.removed(stretch))
            new += stretch.new_summaries
            gone += stretch.gone_summaries
            if stretch.after.pointers is None:
                continue
            if before is not None and worked:
                yield _Pass(before=before, after=stretch.after, new=tuple(new), gone=tuple(gone))
            before, worked, new, gone = stretch.after, False, [], []


def idx_3(reading: Reading, tally: Tally) -> None:
    """Each pass over an index that has entries: none of them stands for something else afterwards, or goes by another
    name."""
    for one in _passes(reading):
        known = one.known(reading)
        if not known:
            continue
        tally.trigger()
        before = {pointer.token: reading.turns_of(pointer.covers) for pointer in one.before.pointers or ()}
        after = {pointer.token: reading.turns_of(pointer.covers) for pointer in one.after.pointers or ()}
        for token, turns in known.items():
            answer = one.after.answers.get(token)
            there = (
                reading.contained(content(answer))
                if answer is not None and answer.kind is AnswerKind.FOUND
                else frozenset[str]()
            )
            old, new = before.get(token), after.get(token)
            if there and turns - there:
                what = f"now has {reading.quote(min(there))} in place of {reading.quote(min(turns - there))}"
            elif old and new and not old <= new:
                what = f"stood for {reading.quote(min(old - new))}, and now stands for {reading.quote(min(new))}"
            elif token not in after and (other := _renamed(one.after, token, turns, after)):
                what = f"of {reading.quote(min(turns))} has become entry {other}, and its own name leads nowhere"
            else:
                continue
            tally.fail(f"A compaction went over the index: entry {token} {what}.", fact=token, event=one.after.end)


def _renamed(
    look: Observation, token: str, turns: frozenset[str], after: Mapping[str, frozenset[str] | None]
) -> str | None:
    """Under which new name the turns of an entry go, where its old name leads nowhere any more."""
    answer = look.answers.get(token)
    lost = token in look.errors or (
        answer is not None and answer.kind not in CONTENT | {AnswerKind.PENDING, AnswerKind.TOMBSTONED}
    )
    if not lost or not turns:
        return None
    return next((name for name, covers in after.items() if covers and covers & turns), None)


def idx_4(reading: Reading, tally: Tally) -> None:
    """Each pass that put a new summary over what an earlier one stood for: the earlier names still lead there."""
    for one in _passes(reading):
        known = one.known(reading) if one.new and one.gone else {}
        if not known:
            continue
        tally.trigger()
        for token, turns in known.items():
            before = _turns(reading, token, content(one.before.answers[token]))
            denied = _gone(one.after, token, before)
            if denied is None:
                continue
            gone, new = one.gone[0].id, one.new[-1].id
            tally.fail(
                f"Summary {new} took the place of {gone}, and pointer {token}, which led to "
                f"{reading.quote(min(turns)) if turns else 'an original'} before, is answered with {denied}.",
                fact=token,
                event=one.after.end,
            )


class Again(Watch):
    """Each time turns were handed in that are there already, in the window or behind a pointer: nothing changes."""

    operations = frozenset({"append"})

    def __init__(self, known: Known, keys: Keys, tally: Tally) -> None:
        super().__init__(known, keys, tally)
        self._came: set[str] = set()
        self._again: set[int] = set()
        """Where appends began of turns that had been acknowledged before."""

    def operation(self, operation: Operation) -> None:
        turn = operation.turn.id
        if turn in self._came:
            self._again.add(operation.start)
        elif operation.ok:
            self._came.add(turn)

    def stretch(self, stretch: Stretch) -> None:
        if not self._again or not stretch.operations or any(o.start not in self._again for o in stretch.operations):
            return
        self.tally.trigger()
        turns = [o.turn.id for o in stretch.operations]
        # A compactor may compact whenever a turn comes in, also one that it knows. That adds nothing by itself.
        compacted = bool(stretch.new_summaries) or any(o.calls for o in stretch.operations)
        change = self._added(stretch, turns) if compacted else trace(stretch.before, stretch.after)
        if change is not None:
            self.tally.fail(
                f"{self.known.quote(turns[0], first=True)}{f' and {len(turns) - 1} more' if len(turns) > 1 else ''} "
                f"came in again under a known id, and something was added: {change}.",
                fact=turns[0],
                event=stretch.after.end,
            )

    def _added(self, stretch: Stretch, turns: list[str]) -> str | None:
        """What is there anew of turns that came in again, where they set off a compaction as well."""
        before, after = stretch.before, stretch.after
        for turn in turns:
            stood, stand = (sum(self._is(item, turn) for item in look.items) for look in (before, after))
            if stand > stood:
                return f"it stands in the window {stand} times, and stood there {stood} times"
        # What a compaction changes of window and pointers has rules of its own; entries stay what they were.
        return trace(msgspec.structs.replace(before, live=after.live, pointers=after.pointers), after)

    def _is(self, item: Item, turn: str) -> bool:
        """Whether an item is a turn in the window."""
        if item.kind is not CarrierKind.RAW:
            return False
        name = self.known.turn_of(item.turn)
        return name == turn if name is not None else turn in self.known.contained(content(item))


CHECKERS = (
    RuleChecker(rule="IDX-1", minimum=5, mechanisms=(Mechanism.POINTERS,), examine=idx_1),
    RuleChecker(rule="IDX-3", minimum=2, mechanisms=(Mechanism.POINTERS,), examine=idx_3),
    RuleChecker(rule="IDX-4", minimum=2, mechanisms=(Mechanism.POINTERS,), examine=idx_4),
    WatchChecker(rule="IDX-5", minimum=2, mechanisms=(), watch=Again),
)
