"""What is known of every token that was ever given out, while a history goes by.

Of tokens that are listed in some window, and of the last thousand that no longer are, everything is known. Of those
before, only what the rules need that speak of every key ever issued is kept, packed.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from anchorhold.checkers.packed import Packed
from anchorhold.checkers.reading import Known
from anchorhold.checkers.record import Observation
from anchorhold_spec.vocabulary import Pointer

IDLE: Final = 1024
"""Tokens that no window lists and of which everything is still known."""
NOBODY: Final = 0xFFFF_FFFF
WIDEST: Final = 0xFFFF
NO_TURNS: Final = frozenset[str]()
UNKNOWN: Final = object()
"""What a token that is not known declared."""


class Key:
    """What is known of one token."""

    first: str | None = None
    """The content that it first resolved to."""
    right: object = None
    """The answer that was last found to be right."""
    answered: bool = False
    """Whether it led somewhere when it was followed last."""
    led: int = 0
    """End of the first look, of the session in which it was first seen, in which it led to its original."""
    led_in: dict[str, int] | None = None
    """The same, of other sessions."""
    told: bool = False
    """Whether its first listing was judged."""
    promised: bool = False
    """Whether it was given out while copies were held back."""
    released: bool = False
    """Whether the caller evicted it, and it was carried out or may have been."""
    let_go: int | None = None
    """Event at which the caller last asked that it be evicted."""
    listed: int = 0
    """In how many sessions it is listed."""
    reused: bool = False
    """Whether the key of the store inside it is known to have been given out again for something else."""
    compared: int = -1
    """Number of the latest token with the same key of the store of which that is known not to be so."""
    packed: tuple[int, int] | None = None
    """Where it was packed away in between: numbers of the first and the last turn that it is bound to."""

    def __init__(
        self, pointer: Pointer, *, issued: int, home: str, declared: frozenset[str], number: int = 0
    ) -> None:
        self.pointer = pointer
        """As first seen."""
        self.issued = issued
        """Event of the look that first listed it."""
        self.home = home
        """The session in which it was first seen."""
        self.declared = declared
        """The turns that it said that it stands for."""
        self.bound = declared
        """The turns that it is bound to: those that it declared, otherwise those that it first led to."""
        self.number = number
        """Tokens that were known before it."""


class Keys:
    """Every token ever given out."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._keys: dict[str, Key] = {}
        self._covers: dict[str, tuple[str, ...] | None] = {}
        """What each of these declared when it was first seen."""
        # A dict finds its first entry the more slowly the more that stood before it were taken out.
        self._idle: OrderedDict[str, None] = OrderedDict()
        self._listed: dict[str, tuple[Pointer, ...]] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._packed = Packed("IIIHH")
        self._any_packed = False
        self._homes: dict[str, int] = {}
        self._same: dict[str, dict[str, Key]] = {}
        self.number = 0
        """How many were ever given out."""
        self._stored = Packed("qIH")
        self.new: Sequence[Key] = ()
        """Those that the last look listed for the first time."""
        self.unlike: Sequence[Pointer] = ()
        """Pointers of the last look that say what was not known: their tokens are new, or declare other turns than
        when they were first seen. Of the rest, which is most of a window, nothing has to be found out again."""

    def __len__(self) -> int:
        """How many were ever given out."""
        return self.number

    def get(self, token: str) -> Key | None:
        """What is known of a token; none where it was never given out."""
        key = self._keys.get(token)
        return self._unpack(token) if key is None and self._any_packed else key

    def getter(self) -> Callable[[str], Key | None]:
        """As `get`, for whoever asks for many tokens before anything else is looked at."""
        return self.get if self._any_packed else self._keys.get

    def of_store(self, name: str) -> Collection[Key]:
        """The tokens with one key of the store that are not packed away, oldest first."""
        same = self._same.get(name)
        return () if same is None else same.values()

    def reused(self, key: Key) -> bool:
        """Whether the key of the store inside a token was given out again for something else."""
        if key.reused or key.pointer.key is None:
            return key.reused
        same = self._same.get(key.pointer.key)
        if same is None:
            return False
        newest = key.compared
        for other in reversed(same.values()):
            # Each is compared with each once, unless what one of them stands for is not known yet.
            if other.number <= key.compared or other.issued <= key.issued:
                break
            newest = max(newest, other.number)
            if other.pointer.epoch != key.pointer.epoch:
                key.reused = True
                return True
            if other.bound.isdisjoint(key.bound):
                key.reused = bool(other.bound and key.bound)
                return True
        key.compared = newest
        return False

    def before(self, name: str) -> tuple[int, tuple[int, int] | None] | None:
        """Of tokens with one key of the store that are packed away: the highest epoch, and between which turns all
        lie that they stand for (numbers of the first and the last)."""
        row = self._stored.get(name) if self._any_packed else None
        if row is None:
            return None
        epoch, low, wide = row
        return epoch, None if low == NOBODY else (low, low + wide)

    def see(self, look: Observation) -> None:
        """Take in what a look lists."""
        pointers = look.pointers
        self.new, self.unlike = (), ()
        if pointers is None or (self._listed.get(look.session) is pointers and not look.relisted):
            return
        new: list[Key] = []
        declared_first = self._covers.get
        told = (*pointers, *look.relisted) if look.relisted else pointers
        self.unlike = [each for each in told if declared_first(each.token, UNKNOWN) != each.covers]
        for pointer in self.unlike:
            if pointer.token not in self._keys and self.get(pointer.token) is None:
                declared = self._known.turns_of(pointer.covers) or NO_TURNS
                key = Key(pointer, issued=look.start, home=look.session, declared=declared, number=self.number)
                self.number += 1
                self._keys[pointer.token], self._covers[pointer.token] = key, pointer.covers
                new.append(key)
                if pointer.key is not None:
                    self._same.setdefault(pointer.key, {})[pointer.token] = key
        names = frozenset([pointer.token for pointer in pointers])
        before = self._names.get(look.session, NO_TURNS)
        for token in names - before:
            self._keys[token].listed += 1
            self._idle.pop(token, None)
        for token in before - names:
            key = self._keys[token]
            key.listed -= 1
            if not key.listed:
                self._idle[token] = None
        for pointer in look.relisted:
            if not self._keys[pointer.token].listed:
                self._idle[pointer.token] = None
        self._listed[look.session], self._names[look.session] = pointers, names
        while len(self._idle) > IDLE:
            self._pack(self._idle.popitem(last=False)[0])
        self.new = new

    def _pack(self, token: str) -> None:
        key = self._keys.pop(token)
        del self._covers[token]
        self._any_packed = True
        low, wide = NOBODY, 0
        if key.packed is not None:
            low, wide = key.packed[0], key.packed[1] - key.packed[0]
        elif len(key.bound) == 1:
            low = self._known.order[next(iter(key.bound))]
        elif key.bound:
            numbers = [*map(self._known.order.__getitem__, key.bound)]
            low = min(numbers)
            wide = max(numbers) - low
        wide = min(wide, WIDEST)
        home = self._homes.setdefault(key.home, len(self._homes))
        self._packed.put(token, key.issued, 0 if key.released else key.led, low, wide, min(home, WIDEST))
        name = key.pointer.key
        if name is None:
            return
        same = self._same.get(name)
        if same is not None and same.pop(token, None) is not None and not same:
            del self._same[name]
        epoch = key.pointer.epoch or 0
        if self._stored.add(name, epoch, low, wide):
            return
        row = self._stored.get(name)
        if row is not None:
            epoch = max(epoch, row[0])
            if row[1] != NOBODY:
                high = max(row[1] + row[2], low + wide) if low != NOBODY else row[1] + row[2]
                low = min(row[1], low)
                wide = min(high - low, WIDEST)
        self._stored.put(name, epoch, low, wide)

    def _unpack(self, token: str) -> Key | None:
        row = self._packed.get(token)
        if row is None:
            return None
        issued, led, low, wide, home = row
        session = next((name for name, number in self._homes.items() if number == home), "")
        pointer = Pointer(summary="", token=token)
        key = Key(pointer, issued=issued, home=session, declared=NO_TURNS)
        key.led, key.told = led, True
        key.packed = (low, low + wide) if low != NOBODY else (0, -1)
        self._keys[token], self._covers[token] = key, pointer.covers
        self._idle[token] = None
        return key


def among(known: Known, turns: Iterable[str], numbers: tuple[int, int]) -> bool:
    """Whether any of the turns lies between two turns, by their numbers."""
    low, high = numbers
    return any(low <= known.order[turn] <= high for turn in turns)
