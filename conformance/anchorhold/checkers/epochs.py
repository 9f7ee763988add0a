"""EPO: a token leads to what it was issued for, or says that it does not; never to something else."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from anchorhold.checkers.keys import NO_TURNS, Key, Keys, among
from anchorhold.checkers.reading import Known, Reading
from anchorhold.checkers.record import CONTENT, Observation, Operation
from anchorhold.checkers.rule import RuleChecker, WatchChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.watch import Watch
from anchorhold.checkers.words import content, plain, shorten
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import Answer, AnswerKind, Pointer

DIGITS = "0123456789"
NUMBER = re.compile(r"\d+")
IDENTIFIER = re.compile(r"[\w:@/.+=-]*\d[\w:@/.+=-]*")
"""Something that names one thing of many: it has a figure in it."""
LEAVING = frozenset({"evict", "expire"})
SHAPES = 4096
"""Shapes of tokens that are told apart: where there are more, tokens are no numbers that somebody counts up."""


class RecycledKeys(Watch):
    """A token is followed after something left the store and something else was stored."""

    operations = LEAVING

    def __init__(self, known: Known, keys: Keys, tally: Tally) -> None:
        super().__init__(known, keys, tally)
        self._left: int | None = None
        self._stored_after_leaving = False
        self._right: object = None
        """The answers of the last look, where all of them were right."""
        self._recycled = 0
        """How many of them were of recycled keys."""
        self._quiet: tuple[int, int | None] = (0, None)

    def operation(self, operation: Operation) -> None:
        if operation.committed and (self._left is None or operation.start > self._left):
            self._left = operation.start

    def look(self, look: Observation) -> None:
        if self.keys.new and self._left is not None:
            self._stored_after_leaving = True
        lost = look.exempt - look.withdrawn if look.exempt else look.exempt
        if self._right is look.answers and not lost and self._quiet == (self.keys.number, self._left):
            self.tally.trigger(self._recycled)
            return
        before = self.tally.triggered
        self._right = self._go_through(look, lost)
        self._recycled, self._quiet = self.tally.triggered - before, (self.keys.number, self._left)

    def _go_through(self, look: Observation, lost: frozenset[str]) -> object:
        """Answers with the look's answers, where none of them has to be looked at again while it stays as it is."""
        get, right = self.keys.getter(), not lost
        for name, answer in look.answers.items():
            key = get(name)
            if key is None or (lost and lost & key.bound):
                continue
            there = answer.kind in CONTENT
            if there:
                if key.first is None:
                    self._bind(key, answer)
            elif key.answered and self._left is None:
                self._left = look.start
            key.answered = there
            if (
                self.keys.reused(key)
                if key.pointer.key is not None
                else self._left is not None and self._stored_after_leaving and key.issued < self._left
            ):
                self.tally.trigger()
            # What is answered as it was answered before is as right as it was.
            if there and answer is not key.right and answer != key.right:
                wrong = self._instead(key, answer)
                if wrong:
                    right = False
                    self._fail(look, name, key, wrong)
                else:
                    key.right = answer
        return look.answers if right else None

    def _bind(self, key: Key, answer: Answer) -> None:
        """Bind a token by what it declares, otherwise by what it first resolves to."""
        key.first = content(answer)
        if not key.bound and key.packed is None:
            key.bound = self.known.contained(key.first)

    def _instead(self, key: Key, answer: Answer) -> frozenset[str]:
        """The turns that an answer holds in place of those that the token is bound to; none where it is right."""
        text, said = content(answer), self.known.said
        if key.packed is not None:
            there = self.known.contained(text)
            return frozenset() if not there or among(self.known, there, key.packed) else there
        for turn in key.bound:
            if not said[turn].stands_in(text):
                break
        else:
            return NO_TURNS
        there = self.known.contained(text)
        others, missing = there - key.bound, key.bound - there
        if key.first is not None:
            first = self.known.contained(key.first)
            if missing != key.bound:
                # What it never led to is missing, which is no fault of a key that was used again.
                missing &= first
                # A file may hold other turns beside, and may have held them from the start.
                others -= first if missing != key.bound else frozenset()
        if not missing or not others:
            return frozenset()
        if answer.kind is AnswerKind.PARTIAL and missing != key.bound:
            return frozenset()
        return others

    def _fail(self, look: Observation, name: str, key: Key, wrong: frozenset[str]) -> None:
        order = self.known.order
        bound = key.bound
        if key.packed is not None:
            bound = frozenset(turn for turn, number in order.items() if number == key.packed[0])
        if not bound:
            return
        mine, other = min(bound, key=order.__getitem__), min(wrong, key=order.__getitem__)
        self.tally.fail(
            f"Pointer {name}, issued for {self.known.quote(mine)}, now resolves to {self.known.quote(other)}.",
            fact=mine,
            event=look.end,
        )


def _never_issued(reading: Reading) -> Iterator[tuple[str, Answer | None, int]]:
    handed = _continuations(reading)
    for operation in reading.operations:
        token = str(operation.arguments.get("token", ""))
        if operation.op != "get" or token in reading.issued or token in handed:
            continue
        answer = next(
            (
                o.answers[token]
                for o in reading.observations
                if o.start <= operation.start <= o.end and token in o.answers
            ),
            None,
        )
        yield token, answer, operation.end


def _continuations(reading: Reading) -> frozenset[str]:
    return frozenset().union(*(observation.continuations for observation in reading.observations))


def _shape(token: str) -> str:
    """A token with its numbers taken out: addresses of one store look alike."""
    return NUMBER.sub("#", token)


def addresses(reading: Reading) -> frozenset[str]:
    """Tokens of elsewhere that are the address of something that this store has as well.

    Where a token is the address of what it names (a number, a range), one of another store may be the address of
    something here. What is no address, and what leads where others lead, is none.
    """
    shapes = {_shape(token) for token in reading.issued}
    return _local(tuple(_never_issued(reading)), shapes, reading.contained)


def _local(
    strangers: Sequence[tuple[str, Answer | None, int]],
    shapes: AbstractSet[str],
    contained: Callable[[str], frozenset[str]],
) -> frozenset[str]:
    found: set[str] = set()
    for name, answer, _ in strangers:
        if answer is None or answer.kind not in CONTENT or _shape(name) not in shapes:
            continue
        led = [a for other, a, _ in strangers if other != name and a is not None and a.kind in CONTENT]
        if contained(content(answer)) and all(content(a) != content(answer) for a in led):
            found.add(name)
    return frozenset(found)


@dataclass(slots=True, kw_only=True)
class _Stranger:
    """A token that was followed before it was ever given out, if it ever was."""

    token: str
    answer: Answer | None
    event: int
    """At which following it ended."""
    times: int = 1
    """How often it was answered so."""


class Epochs(Watch):
    """No key stands for two things, or its epoch grows; a token that was never issued is foreign."""

    def __init__(self, known: Known, keys: Keys, tally: Tally) -> None:
        super().__init__(known, keys, tally)
        self._strangers: list[_Stranger] = []
        self._asked: object = None
        self._failed: object = None
        self._latest: list[_Stranger] = []
        """Strangers of the look with these answers and errors, which was the last."""
        self._handed: set[str] = set()
        self._shapes: set[str] = set()
        """How the tokens look that were given out, as far as they look alike."""
        self._counted: set[str] = set()
        """What stands before the number at a token's end."""

    @property
    def steady(self) -> bool:
        # Strangers are counted at the end.
        return not self._latest

    def look(self, look: Observation) -> None:
        if look.continuations:
            self._handed |= look.continuations
        if self.keys.new and len(self._shapes) < SHAPES:
            self._note_shapes(self.keys.new)
        for pointer in self.keys.unlike:
            self._pointer(look, pointer)
        if not look.ended:
            return
        if self._asked is look.answers and self._failed is look.errors:
            for stranger in self._latest:
                stranger.times += 1
            return
        get = self.keys.getter()
        self._asked, self._failed = look.answers, look.errors
        self._latest = [
            _Stranger(token=token, answer=look.answers.get(token), event=event)
            for token, event in look.ended.items()
            if get(token) is None and token not in self._handed
        ]
        self._strangers += self._latest

    def _note_shapes(self, new: Iterable[Key]) -> None:
        for key in new:
            token = key.pointer.token
            # Tokens that differ in the number at their end look alike: they need not be looked at one by one.
            bare = token.rstrip(DIGITS)
            if bare == token:
                self._shapes.add(_shape(token))
            elif bare not in self._counted:
                if len(self._counted) < SHAPES:
                    self._counted.add(bare)
                self._shapes.add(_shape(token))

    def _pointer(self, look: Observation, pointer: Pointer) -> None:
        key = self.keys.get(pointer.token)
        assert key is not None
        if key.told:
            if pointer is not key.pointer and pointer.covers != key.pointer.covers:
                self._again(look, pointer, key)
            return
        key.told = True
        if pointer.key is None:
            return
        if pointer.covers is None:
            answer = look.answers.get(pointer.token)
            held = answer is not None and answer.kind in CONTENT
            key.declared = self.known.contained(content(answer)) if answer is not None and held else frozenset()
        self._recycled(look, pointer, key.declared)

    def _again(self, look: Observation, pointer: Pointer, key: Key) -> None:
        bound, first = self.known.turns_of(pointer.covers), key.declared
        if key.packed is not None:
            numbers = self.known.order
            first = frozenset(turn for turn, n in numbers.items() if key.packed[0] <= n <= key.packed[1])
        if bound and first and not bound & first:
            self.tally.fail(
                f"Pointer {pointer.token} was given out for {self.known.quote(min(first))} and again for "
                f"{self.known.quote(min(bound))}.",
                fact=pointer.token,
                event=look.end,
            )

    def _recycled(self, look: Observation, pointer: Pointer, bound: frozenset[str]) -> None:
        assert pointer.key is not None
        if not bound:
            return
        for other in self.keys.of_store(pointer.key):
            if other.pointer.token == pointer.token or not other.told or not other.declared:
                continue
            if not bound & other.declared:
                self.tally.trigger()
                self._grew(look, pointer, other.pointer.epoch, self.known.quote(min(other.declared)), bound)
        before = self.keys.before(pointer.key)
        if before is not None and before[1] is not None and not among(self.known, bound, before[1]):
            self.tally.trigger()
            self._grew(look, pointer, before[0], "something else", bound)

    def _grew(
        self, look: Observation, pointer: Pointer, before: int | None, whom: str, bound: frozenset[str]
    ) -> None:
        now = pointer.epoch
        if before is None or now is None or now <= before:
            self.tally.fail(
                f"Key {pointer.key} was given out for {whom} and again for {self.known.quote(min(bound))}, and its "
                f"epoch did not grow ({before}, then {now}).",
                fact=str(pointer.key),
                event=look.end,
            )

    def finish(self) -> None:
        strangers = [
            one for one in self._strangers if self.keys.get(one.token) is None and one.token not in self._handed
        ]
        told = [(one.token, one.answer, one.event) for one in strangers]
        local = _local(told, self._shapes, self.known.contained)
        for one in strangers:
            name, answer, event = one.token, one.answer, one.event
            if name in local:
                continue
            self.tally.trigger(one.times)
            if answer is None or answer.kind is not AnswerKind.FOREIGN:
                said = "an error" if answer is None else f"“{answer.kind}”"
                what = f" (“{shorten(content(answer))}”)" if answer is not None and content(answer) else ""
                self.tally.fail(
                    f"Pointer “{name}” was never issued here, and following it answers with {said}{what} "
                    "instead of “foreign”.",
                    fact=name,
                    event=event,
                )


def _names_both(reading: Reading, token: str, error: str) -> bool:
    """Whether an error names two things: the pointer, or what it names, and what was found instead of it.

    How a store names things is its own affair: a token, a key, a digest, a path, the id of a turn.
    """
    pointer = reading.pointers.get(token)
    known = [token, *((pointer.key or "", *(pointer.covers or ())) if pointer is not None else ())]
    named = {name for name in known if name and name in error}
    rest = error
    for name in sorted(named, key=len, reverse=True):
        rest = rest.replace(name, " ")
    return bool(named) + len(set(IDENTIFIER.findall(rest))) >= 2


def epo_3(reading: Reading, tally: Tally) -> None:
    """Stored bytes were damaged: following the pointer must not pass them off as the original."""
    good: dict[str, str] = {}
    damaged: set[str] = set()
    corrupting = [o for o in reading.operations if o.op == "corrupt" and o.ok and o.value is True]
    for observation in reading.observations:
        damaged |= {str(o.arguments.get("token", "")) for o in corrupting if o.start < observation.start}
        for name in sorted(damaged & observation.errors.keys()):
            tally.trigger()
            error = observation.errors[name]
            if not _names_both(reading, name, error):
                tally.fail(
                    f"The stored bytes under pointer {name} were damaged, and following it ends with an error that "
                    f"does not name both what was asked for and what was found (“{shorten(error)}”).",
                    fact=name,
                    event=observation.end,
                )
        for name, answer in observation.answers.items():
            if name not in damaged:
                if answer.kind in CONTENT and name in reading.issued:
                    good[name] = content(answer)
                continue
            tally.trigger()
            if answer.kind not in CONTENT:
                continue
            original, now = plain(good.get(name, "")), plain(content(answer))
            intact = original in now if answer.kind is AnswerKind.FOUND else now in original
            if name not in good:
                bound = reading.turns_of(reading.pointers[name].covers) if name in reading.pointers else None
                intact = bound is None or bound <= reading.contained(content(answer))
            if not intact:
                tally.fail(
                    f"The stored bytes under pointer {name} were damaged, and following it still answers "
                    f"“{answer.kind}” with other content than before (“{shorten(content(answer))}”).",
                    fact=name,
                    event=observation.end,
                )


CHECKERS = (
    WatchChecker(
        rule="EPO-1", minimum=3, mechanisms=(Mechanism.POINTERS, Mechanism.KEY_RECYCLING), watch=RecycledKeys
    ),
    WatchChecker(rule="EPO-2", minimum=3, mechanisms=(Mechanism.POINTERS,), watch=Epochs),
    RuleChecker(rule="EPO-3", minimum=1, mechanisms=(Mechanism.POINTERS, Mechanism.STORE_FAULTS), examine=epo_3),
)
