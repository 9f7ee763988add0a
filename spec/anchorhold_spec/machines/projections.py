"""What the events of the alphabet mean to each machine that a recorded history can be held against.

A projection reads occurrences one after another and gives, for each, what the machine is asked to do (`Take`: one of
its actions, with the parameters that are known) and what the machine's state is seen to be (`Look`). It judges
nothing: whether the machine can do it, and is as it was seen to be, `anchorhold_spec.run.oracle` finds out. What a
machine does not speak of has no meaning to it.

A projection remembers what it has read, since an event may mean nothing the second time: call `PROJECTIONS[name]()`
once for each history.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from anchorhold_spec.machines.alphabet import Occurrence


@dataclass(frozen=True, slots=True)
class Who:
    """An individual: the sort (or part) that it belongs to, and what the observer calls it."""

    sort: str
    name: str

    def __str__(self) -> str:
        return f"{self.sort} {self.name}"


@dataclass(frozen=True, slots=True)
class Take:
    """An action is taken. Parameters that are left out are whatever the machine can have them be."""

    action: str
    known: Mapping[str, Who | int]


@dataclass(frozen=True, slots=True)
class Look:
    """A symbol is seen to have this value: of an enumeration its name, of a partial function none if undefined."""

    symbol: str
    arguments: tuple[Who, ...]
    value: Who | int | str | bool | None


Meaning: TypeAlias = Take | tuple[Look, ...]
"""Looks that stand together were seen at once."""
Projection: TypeAlias = Callable[[Occurrence], Iterator[Meaning]]


def _take(action: str, **known: Who | int) -> Take:
    return Take(action, known)


def _span(name: str) -> Who:
    return Who("span", name)


@dataclass
class _PointerBeforeCommit:
    """PTR-1, PTR-2, PTR-6, EPO-1, EPO-2. A span is committed with the first summary that stands for it.

    A summary that is declared pending commits what has no pointer yet when the pointer comes.
    """

    stands_for: dict[str, tuple[str, ...]] = field(default_factory=dict)
    key_of: dict[str, str] = field(default_factory=dict)
    copied: set[str] = field(default_factory=set)
    pointed: set[str] = field(default_factory=set)
    committed: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    epochs: dict[str, list[int]] = field(default_factory=dict)

    def __call__(self, seen: Occurrence) -> Iterator[Meaning]:
        match seen:
            case Occurrence(event="append", span=str(span)):
                yield _take("append", s=_span(span))
            case Occurrence(event="stage", summary=str(summary)):
                inherited = (span for each in seen.summaries for span in self.stands_for.get(each, ()))
                self.stands_for[summary] = tuple(dict.fromkeys((*seen.spans, *inherited)))
            case Occurrence(event="copy", span=str(span), key=str(key)) if span not in self.copied:
                self.copied.add(span)
                self.key_of[span] = key
                yield _take("copy", s=_span(span), k=Who("key", key), n=self._rank(key, seen.epoch))
            case Occurrence(event="point", span=str(span), key=str(key)) if span not in self.pointed:
                self.pointed.add(span)
                yield _take("point", s=_span(span), k=Who("key", key))
                if span in self.pending:
                    self.pending.discard(span)
                    yield from self._commit(span)
                    yield _take("leave", s=_span(span))
            case Occurrence(event="commit", summary=str(summary)):
                for span in self.stands_for.get(summary, ()):
                    if span in seen.pending and span not in self.pointed:
                        self.pending.add(span)
                    elif span not in self.committed:
                        yield from self._commit(span)
                yield from (_take("leave", s=_span(span)) for span in seen.spans if span not in self.pending)
            case Occurrence(event="evict", span=str(span)) if span not in self.pending:
                yield _take("leave", s=_span(span))
            case Occurrence(event="reap", key=str(key)):
                yield _take("mark", k=Who("key", key))
                yield _take("reap", k=Who("key", key))
            case Occurrence(event="resolve", span=str(span), found=None) if span in self.pending:
                # Pending has ended, and not in a pointer: then this was no commit.
                self.pending.discard(span)
                yield from self._commit(span)
            case Occurrence(event="resolve", span=str(span), found=str(found)) if found != span:
                # Wherever the pointer leads, and whether or not anybody saw it made: to another span is wrong.
                place = {"k": Who("key", self.key_of[span])} if span in self.key_of else {}
                yield _take("resolve", s=_span(span), t=_span(found), **place)
            case Occurrence(event="resolve", span=str(span)) if span in self.key_of and span not in self.pending:
                there = Who("key", self.key_of[span])
                if seen.found is not None:
                    yield _take("resolve", s=_span(span), k=there, t=_span(span))
                elif span in self.committed:
                    yield (Look("slot", (there,), None),)
            case Occurrence(event="expire", span=str(span)) if span in self.committed:
                yield _take("horizon ends", s=_span(span))
            case Occurrence(event="crash"):
                self.copied &= self.pointed
                self.pointed &= self.committed
                yield _take("crash")

    def _commit(self, span: str) -> Iterator[Meaning]:
        self.committed.add(span)
        yield _take("commit", s=_span(span))

    def _rank(self, key: str, epoch: int | None) -> int:
        """How often the key has been taken, as far as its epochs tell: a store may count as it likes."""
        taken = self.epochs.setdefault(key, [])
        if epoch is None:
            epoch = max(taken, default=0) + 1
        if epoch > max(taken, default=epoch - 1):
            taken.append(epoch)
        return sum(each <= epoch for each in taken)


@dataclass
class _Generations:
    """PTR-3, PTR-4. Only what its summary is declared to stand for is known; what was not seen being shown was."""

    committed: set[str] = field(default_factory=set)
    open: set[str] = field(default_factory=set)

    def __call__(self, seen: Occurrence) -> Iterator[Meaning]:
        match seen:
            case Occurrence(event="stage", summary=str(summary)):
                x = Who("summary", summary)
                self.open.add(summary)
                declared = [Who("raw", span) for span in seen.spans] + [Who("summary", o) for o in seen.summaries]
                for carrier in declared:
                    if carrier.sort == "raw":
                        yield _take("declare a span", x=x, r=carrier)
                    else:
                        yield _take("declare a summary", x=x, o=carrier)
                yield from (
                    _take("show", x=x, c=carrier)
                    for carrier in declared
                    if seen.shown is None or carrier.name in seen.shown
                )
                yield _take("write", x=x)
            case Occurrence(event="commit", summary=str(summary)):
                x = Who("summary", summary)
                self.open.discard(summary)
                self.committed.add(summary)
                leaving = [Who("raw", span) for span in seen.spans] + [Who("summary", o) for o in seen.summaries]
                yield from (_take("settle", x=x, c=carrier) for carrier in leaving)
                yield _take("commit", x=x)
            case Occurrence(event="refuse", summary=str(summary)) if summary in self.open:
                self.open.discard(summary)
                yield _take("abandon", x=Who("summary", summary))
            case Occurrence(event="evict", span=str(span)):
                yield (Look("in_window", (Who("raw", span),), False),)
            case Occurrence(event="evict", summary=str(summary)):
                yield (Look("in_window", (Who("summary", summary),), False),)
            case Occurrence(event="resolve", summary=str(summary), span=str(span)) if summary in self.committed:
                if seen.found in (None, span):
                    yield (Look("pointer", (Who("summary", summary), Who("raw", span)), seen.found == span),)
            case Occurrence(event="crash"):
                self.open.clear()
                yield _take("crash")


@dataclass
class _Anchoring:
    """ANC-1, ANC-4, MAN-1, REC-1. A raw carrier is what a span says in one assertion: each may be held otherwise.

    To be in the index is to be held by anything but a carrier of the window: a pointer, a search, other words.
    """

    raws_of: dict[str, list[Who]] = field(default_factory=dict)
    raw_of: dict[str, Who] = field(default_factory=dict)
    repeats: dict[Who, set[str]] = field(default_factory=dict)
    indexed: set[Who] = field(default_factory=set)
    gone: set[Who] = field(default_factory=set)
    decided: set[str] = field(default_factory=set)

    def __call__(self, seen: Occurrence) -> Iterator[Meaning]:
        match seen:
            case Occurrence(event="append", span=str(span)):
                for name in seen.asserts:
                    raw = self.raw_of[name] = Who("raw", f"{span} ({name})")
                    self.raws_of.setdefault(span, []).append(raw)
                    self.repeats[raw] = {name}
                    yield _take("say", s=raw, a=Who("assertion", name))
                    yield _take("append", s=raw)
                    yield _take("read", s=raw)
            case Occurrence(event="copy", span=str(span)):
                for name in seen.asserts:
                    if name in self.raw_of:
                        yield from self._index(self.raw_of[name])
            case Occurrence(event="stage", summary=str(summary)):
                yield from self._stage(Who("summary", summary), seen)
            case Occurrence(event="commit", summary=str(summary)):
                yield _take("commit", m=Who("summary", summary))
                yield from self._leave(seen)
            case Occurrence(event="refuse", summary=str(summary)):
                yield _take("refuse", m=Who("summary", summary))
            case Occurrence(event="evict"):
                yield from self._leave(seen)
            case Occurrence(event="tombstone"):
                for name in seen.asserts:
                    if name in self.raw_of and name not in self.decided:
                        self.decided.add(name)
                        yield _take("decide", a=Who("assertion", name))
                        yield _take("bury", a=Who("assertion", name))
            case Occurrence(event="reconstitute", found=None):
                raws = [self.raw_of[name] for name in seen.asserts if name in self.raw_of]
                for raw in (raw for raw in raws if raw in self.indexed):
                    # However it went, it had to be let pass.
                    self.indexed.discard(raw)
                    yield _take("claim", c=raw)
                    yield _take("reap", c=raw)
            case Occurrence(event="reconstitute", found=str(found)) if seen.asserts:
                carrier = self.raw_of.get(found, Who("raw", found))
                yield _take("reconstitute", a=Who("assertion", seen.asserts[0]), c=carrier)
            case Occurrence(event="crash"):
                yield _take("crash")

    def _index(self, raw: Who) -> Iterator[Meaning]:
        if raw in self.indexed:
            return
        self.indexed.add(raw)
        # What lands late (a copy that was outstanding) is no longer live: that it is there can only be seen.
        yield (Look("in_index", (raw,), True),) if raw in self.gone else _take("index", c=raw)

    def _carriers(self, seen: Occurrence) -> list[Who]:
        raws = [raw for span in seen.spans for raw in self.raws_of.get(span, ())]
        return raws + [Who("summary", each) for each in seen.summaries]

    def _stage(self, summary: Who, seen: Occurrence) -> Iterator[Meaning]:
        yield _take("open", m=summary)
        from_ = self._carriers(seen)
        yield from (_take("show", m=summary, c=carrier) for carrier in from_)
        for name in seen.asserts:
            source = next((carrier for carrier in from_ if name in self.repeats.get(carrier, ())), None)
            if source is not None:
                self.repeats.setdefault(summary, set()).add(name)
                yield _take("carry", m=summary, c=source, a=Who("assertion", name))

    def _leave(self, seen: Occurrence) -> Iterator[Meaning]:
        leaving = self._carriers(seen)
        if seen.event == "evict":
            leaving += self.raws_of.get(seen.span or "", [])
            leaving += [Who("summary", seen.summary)] if seen.summary is not None else []
        self.gone.update(leaving)
        yield tuple(Look("in_window", (carrier,), False) for carrier in leaving)


@dataclass
class _Concurrency:
    """CON-1, CON-2, CON-3. A summary is one compaction; staging it is taking the snapshot."""

    covers: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __call__(self, seen: Occurrence) -> Iterator[Meaning]:
        match seen:
            case Occurrence(event="append", span=str(span)):
                yield _take("append", t=Who("turn", span))
            case Occurrence(event="stage", summary=str(summary)):
                self.covers[summary] = seen.spans
                yield _take("snapshot", p=Who("pass", summary))
                yield from (_take("choose", p=Who("pass", summary), t=Who("turn", span)) for span in seen.spans)
            case Occurrence(event="commit", summary=str(summary)) if self.covers.get(summary):
                yield _take("commit", p=Who("pass", summary))
                lost = [span for span in seen.spans if span not in self.covers[summary]]
                yield tuple(Look("place_of", (Who("turn", span),), "lost") for span in lost)
            case Occurrence(event="refuse", summary=str(summary)) if summary in self.covers:
                yield _take("give up", p=Who("pass", summary))
            case Occurrence(event="forget" | "rewind", span=str(span)):
                yield _take(seen.event, t=Who("turn", span))
            case Occurrence(event="clear" | "crash"):
                yield _take(seen.event)


PROJECTIONS: Mapping[str, Callable[[], Projection]] = MappingProxyType(
    {
        "anchoring": _Anchoring,
        "concurrency": _Concurrency,
        "generations": _Generations,
        "pointer-before-commit": _PointerBeforeCommit,
    }
)
"""By machine. What the others speak of (workers' memory, audits, lookups step by step) is not seen from outside."""
