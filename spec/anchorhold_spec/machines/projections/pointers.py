"""What events mean to `pointer-before-commit`: keys that are taken again, pointers to several copies of a span."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from anchorhold_spec.machines.projections.meaning import Look, Meaning, Who, take
from anchorhold_spec.machines.projections.spans import Spans


@dataclass
class _Copy:
    """One copy of a span, and the pointer to it: to the machine a span of its own, with a compaction of its own."""

    name: str
    key: str | None = None
    epoch: int | None = None
    """As the store counts; none where it was not seen."""
    rank: int = 0
    """To the machine."""
    left_at: str | None = None
    """The key that the pointer of an interrupted attempt still leads to."""
    copied: bool = False
    pointed: bool = False
    committed: bool = False
    left: bool = False
    over: bool = False
    empty: bool = False

    @property
    def who(self) -> Who:
        """To the machine."""
        return Who("span", self.name)


@dataclass
class PointerBeforeCommit(Spans):
    """PTR-1, PTR-2, PTR-6, EPO-1, EPO-2. A pointer to another place is another pointer, which has to lead there too.

    Once a later pointer has been committed, nobody follows the earlier one any more. What only attempts hold
    that were interrupted or refused may be reaped. A summary that is committed afterwards without a new copy has no
    pointer.
    """

    copies: dict[str, list[_Copy]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """Of keys, where the machine is to take them for others."""
    bases: dict[str, int] = field(default_factory=dict)
    """By key: how many of its epochs were counted before the machine took it for another."""
    epochs: dict[str, list[int]] = field(default_factory=dict)
    orphans: set[tuple[str, str]] = field(default_factory=set)
    """Span and key of copies whose attempts a crash has ended."""

    def _latest(self, span: str) -> _Copy:
        return self.copies.setdefault(span, [_Copy(span)])[-1]

    def _of(self, span: str, key: str | None) -> _Copy:
        """The copy under a key; the latest one that a committed pointer, or any, leads to where none is."""
        copies = self.copies.setdefault(span, [_Copy(span)])
        if key is not None:
            return next((each for each in reversed(copies) if each.key == key), copies[-1])
        pointed = [each for each in reversed(copies) if each.pointed]
        return next((each for each in pointed if each.committed), pointed[0] if pointed else copies[-1])

    def _another(self, span: str, key: str) -> Iterator[Meaning]:
        copies = self.copies[span]
        copies.append(_Copy(f"{span} at {key}" + "'" * sum(each.key == key for each in copies), key))
        yield take("append", s=copies[-1].who)

    def _key(self, key: str) -> Who:
        return Who("key", self.names.get(key, key))

    def append(self, span: str) -> Iterator[Meaning]:
        yield take("append", s=self._latest(span).who)

    def copy(self, span: str, key: str, epoch: int | None) -> Iterator[Meaning]:
        one = self._latest(span)
        if any(each.copied and each.key == key for each in self.copies[span]):
            return
        if one.copied or one.committed:
            yield from self._another(span, key)
            one = self._latest(span)
        taken = self.epochs.get(key, [])
        if (span, key) in self.orphans and (epoch is None or epoch == max(taken, default=epoch)):
            # What an interrupted attempt left there is found again. The machine makes a new copy, elsewhere.
            self.names[key] = f"{self.names.get(key, key)} again"
            self.epochs[key], self.bases[key] = [], 0
        self.orphans.discard((span, key))
        one.copied, one.key, one.epoch, one.empty = True, key, epoch, False
        one.rank = self._rank(key, epoch)
        self.copied.add(span)
        yield take("copy", s=one.who, k=self._key(key), n=one.rank)

    def point(self, span: str, key: str, epoch: int | None) -> Iterator[Meaning]:
        one = self._of(span, key)
        if one.pointed and one.key == key:
            return
        if one.key != key and (one.copied or one.pointed):
            yield from self._another(span, key)
            one = self._latest(span)
        one.pointed, one.key, one.left_at = True, key, None
        self.pointed.add(span)
        yield take("point", s=one.who, k=self._key(key), **self._at(one, epoch))
        if span in self.committed and not one.committed and not self.under_way(span):
            yield from self.commit(span)

    def commit(self, span: str) -> Iterator[Meaning]:
        self._latest(span)
        waiting = [each for each in self.copies[span] if each.pointed and not each.committed]
        if not waiting and not any(each.committed for each in self.copies[span]):
            waiting = [self._latest(span)]
        for one in waiting:
            one.committed = True
            yield take("commit", s=one.who)
            for earlier in self.copies[span]:
                if earlier is not one and earlier.committed and not earlier.over:
                    earlier.over = True
                    yield take("horizon ends", s=earlier.who)

    def commit_again(self, span: str) -> Iterator[Meaning]:
        yield from self.commit(span)

    def refuse(self, spans: set[str]) -> Iterator[Meaning]:
        for span in spans & self.committed:
            for one in self.copies.get(span, ()):
                if not one.committed:
                    # The copy is there, and may be pointed at again.
                    one.pointed = False
        yield from ()

    def commit_once(self, span: str) -> Iterator[Meaning]:
        self.committed.add(span)
        yield from self.commit(span)

    def leave(self, span: str) -> Iterator[Meaning]:
        one = self.copies.setdefault(span, [_Copy(span)])[0]
        if not one.left:
            one.left = True
            yield take("leave", s=one.who)

    def reap(self, key: str) -> Iterator[Meaning]:
        held = [
            (copies, i)
            for span, copies in self.copies.items()
            for i, one in enumerate(copies)
            if one.key == key and (one.copied or one.pointed) and not one.committed and not self.under_way(span)
        ]
        needed = any(
            one.key == key
            and not one.over
            and (one.committed or ((one.copied or one.pointed) and self.under_way(span)))
            for span, copies in self.copies.items()
            for one in copies
        )
        if held and not needed:
            # The machine has attempts end in a crash only. To it the key stays taken for good, and what is to be
            # copied again is another span, which has neither copy nor pointer.
            for copies, i in held:
                copies[i] = _Copy(f"{copies[i].name} anew", left=copies[i].left)
                yield take("append", s=copies[i].who)
            self.bases[key] = len(self.epochs.get(key, ()))
            self.names[key] = f"{self.names.get(key, key)} again"
            return
        self.orphans = {(span, place) for span, place in self.orphans if place != key}
        for copies in self.copies.values():
            for one in copies:
                if one.left_at == key and not one.pointed:
                    one.left_at = None
                    yield take("clean up", s=one.who)
                # Following its pointer in vain shows nothing more then.
                one.empty |= one.key == key
        yield from self._reaped(key)

    def _reaped(self, key: str) -> Iterator[Meaning]:
        yield take("mark", k=self._key(key))
        yield take("reap", k=self._key(key))

    def found(self, span: str, key: str | None, epoch: int | None) -> Iterator[Meaning]:
        one = self._of(span, key)
        if one.key is not None and span not in self.pending:
            yield take("resolve", s=one.who, k=self._key(one.key), t=one.who, **self._at(one, epoch))

    def misled(self, span: str, found: str) -> Iterator[Meaning]:
        one = self._of(span, None)
        place = {} if one.key is None else {"k": self._key(one.key)}
        yield take("resolve", s=one.who, t=self._latest(found).who, **place)

    def nothing_there(self, span: str, key: str | None) -> Iterator[Meaning]:
        one = self._of(span, key)
        if one.key is None or not one.committed or one.empty:
            return
        if one.over:
            # It may be deleted now, and so it was.
            one.empty = True
            yield from self._reaped(one.key)
        else:
            yield (Look("slot", (self._key(one.key),), None),)

    def horizon_ends(self, span: str) -> Iterator[Meaning]:
        for one in self.copies.get(span, ()):
            if one.committed and not one.over:
                one.over = True
                yield take("horizon ends", s=one.who)

    def withdraw(self, span: str, *, erased: bool) -> Iterator[Meaning]:
        yield from self.horizon_ends(span)
        for one in self.copies.get(span, ()):
            if erased and one.committed and one.key is not None and not one.empty:
                one.empty = True
                yield from self._reaped(one.key)

    def found_again(self, span: str) -> Iterator[Meaning]:
        one = self._of(span, None)
        if one.key is not None and one.empty:
            yield take("resolve", s=one.who, k=self._key(one.key), t=one.who)

    def crash(self) -> Iterator[Meaning]:
        self.staged &= self.committed
        self.copied &= self.committed
        self.pointed &= self.committed
        for span, copies in self.copies.items():
            for one in copies:
                if not one.committed:
                    if one.copied and one.key is not None:
                        self.orphans.add((span, one.key))
                    if one.pointed:
                        one.left_at = one.key
                    one.copied = one.pointed = False
                    one.key = one.epoch = None
        yield take("crash")

    def _rank(self, key: str, epoch: int | None) -> int:
        """How often the key has been taken, as far as its epochs tell: a store may count as it likes."""
        taken = self.epochs.setdefault(key, [])
        if epoch is None:
            epoch = max(taken, default=0) + 1
        if epoch > max(taken, default=epoch - 1):
            taken.append(epoch)
        # One that was counted before the machine took the key for another is none that it could have now.
        return max(0, sum(each <= epoch for each in taken) - self.bases.get(key, 0))

    def _at(self, one: _Copy, epoch: int | None) -> dict[str, int]:
        """The machine's epoch of a pointer to a copy: whatever it is where one of the two was not seen."""
        if epoch is None or one.epoch is None:
            return {}
        if epoch > one.epoch:
            return {"e": one.rank + 1}
        return {"e": max(0, one.rank - (epoch < one.epoch))}
