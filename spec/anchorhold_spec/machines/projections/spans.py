"""Machines of which each span has one compaction: copied, pointed at, committed, gone; and resolved."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from anchorhold_spec.machines.alphabet import Occurrence
from anchorhold_spec.machines.projections.meaning import Look, Meaning, Who, take
from anchorhold_spec.machines.projections.withdrawals import Withdrawn


@dataclass
class Spans(ABC):
    """What has been read of each span; what it means to one machine, its subclass says.

    A span is committed with the first summary that stands for it. A summary that is declared pending commits what has
    no pointer yet when the pointer comes, where the machine has nothing like pending itself. What a caller has
    withdrawn nobody may ask for, so that these machines have nothing more to say of it; `erasure` and `concurrency`
    have.
    """

    stands_for: dict[str, tuple[str, ...]] = field(default_factory=dict)
    appended: set[str] = field(default_factory=set)
    staged: set[str] = field(default_factory=set)
    at_work: dict[str, set[str]] = field(default_factory=dict)
    """By summary that is under way: the spans that it is to stand for, or has a pointer to."""
    copied: set[str] = field(default_factory=set)
    pointed: set[str] = field(default_factory=set)
    committed: set[str] = field(default_factory=set)
    effective: set[str] = field(default_factory=set)
    """Summaries that have been committed."""
    pending: set[str] = field(default_factory=set)
    over: set[str] = field(default_factory=set)
    """Their horizon has ended."""
    withdrawn: Withdrawn = field(default_factory=Withdrawn)

    def __call__(self, seen: Occurrence) -> Iterator[Meaning]:
        for span in self.withdrawn.note(seen):
            self.pending.discard(span)
            yield from self.withdraw(span, erased=seen.event == "forget")
        if seen.span is not None and seen.span in self.withdrawn:
            if seen.event == "resolve" and seen.found == seen.span:
                yield from self.found_again(seen.span)
            return
        match seen:
            case Occurrence(event="append", span=str(span)) if span not in self.appended:
                self.appended.add(span)
                yield from self.append(span)
            case Occurrence(event="stage", summary=str(summary)):
                inherited = (span for each in seen.summaries for span in self.stands_for.get(each, ()))
                self.stands_for[summary] = tuple(dict.fromkeys((*seen.spans, *inherited)))
                self.at_work[summary] = set(self.stands_for[summary])
                for span in self._open(self.stands_for[summary]):
                    yield from self.stage_once(span)
            case Occurrence(event="copy", span=str(span), key=str(key)):
                yield from self.copy(span, key, seen.epoch)
            case Occurrence(event="point", span=str(span), key=str(key)):
                if seen.summary is not None and seen.summary not in self.effective:
                    self.at_work.setdefault(seen.summary, set()).add(span)
                yield from self.point(span, key, seen.epoch)
                if span in self.pending:
                    self.pending.discard(span)
                    yield from self.arrived(span)
            case Occurrence(event="refuse", summary=str(summary)):
                yield from self.refuse(self.at_work.pop(summary, set()))
            case Occurrence(event="commit", summary=str(summary)):
                self.effective.add(summary)
                self.at_work.pop(summary, None)
                for span in self.stands_for.get(summary, ()):
                    if span in self.withdrawn:
                        continue
                    if span in seen.pending and span not in self.pointed:
                        self.pending.add(span)
                        yield from self.put_off(span)
                    elif span not in self.committed:
                        yield from self.commit_once(span)
                    else:
                        yield from self.commit_again(span)
                for span in seen.spans:
                    if span not in self.pending and span not in self.withdrawn:
                        yield from self.leave(span)
            case Occurrence(event="evict", span=str(span)) if span not in self.pending:
                yield from self.leave(span)
            case Occurrence(event="reap", key=str(key)):
                yield from self.reap(key)
            case Occurrence(event="resolve", span=str(span)):
                yield from self._resolved(span, seen)
            case Occurrence(event="expire", span=str(span)) if span in self.committed - self.over:
                self.over.add(span)
                yield from self.horizon_ends(span)
            case Occurrence(event="crash"):
                self.at_work.clear()
                yield from self.crash()

    def under_way(self, span: str) -> bool:
        """Some attempt may still commit what stands for it."""
        return span not in self.withdrawn and any(span in spans for spans in self.at_work.values())

    def _open(self, spans: Iterable[str]) -> list[str]:
        return [span for span in spans if span not in self.committed and span not in self.withdrawn]

    def _resolved(self, span: str, seen: Occurrence) -> Iterator[Meaning]:
        if seen.found is not None and seen.found != span:
            # Wherever the pointer leads, and whether or not anybody saw it made: to another span is wrong.
            yield from self.misled(span, seen.found)
        elif seen.found == span:
            yield from self.found(span, seen.key, seen.epoch)
        elif seen.answer == "pending":
            yield from self.said_pending(span)
        elif span in self.pending:
            # Pending has ended, and not in a pointer.
            self.pending.discard(span)
            yield from self.never_came(span)
        else:
            yield from self.nothing_there(span, seen.key)

    def stage_once(self, span: str) -> Iterator[Meaning]:
        """Of each attempt, the first time."""
        if span not in self.staged | self.committed:
            self.staged.add(span)
            yield from self.stage(span)

    def commit_once(self, span: str) -> Iterator[Meaning]:
        """Noted, and the machine's commit."""
        self.committed.add(span)
        yield from self.commit(span)

    # What a machine may have nothing to say of

    def refuse(self, spans: set[str]) -> Iterator[Meaning]:
        """An attempt at a summary that was to stand for them has ended."""
        yield from ()

    def commit_again(self, span: str) -> Iterator[Meaning]:
        """One more summary that stands for it takes effect."""
        yield from ()

    @abstractmethod
    def append(self, span: str) -> Iterator[Meaning]:
        """A span is in the window."""

    @abstractmethod
    def copy(self, span: str, key: str, epoch: int | None) -> Iterator[Meaning]:
        """Its original lies under a key."""

    @abstractmethod
    def point(self, span: str, key: str, epoch: int | None) -> Iterator[Meaning]:
        """A pointer leads to a key."""

    @abstractmethod
    def commit(self, span: str) -> Iterator[Meaning]:
        """A summary that stands for it takes effect."""

    @abstractmethod
    def nothing_there(self, span: str, key: str | None) -> Iterator[Meaning]:
        """Its pointer was followed in vain."""

    @abstractmethod
    def crash(self) -> Iterator[Meaning]:
        """What is not durable is lost."""

    def stage(self, span: str) -> Iterator[Meaning]:
        """An attempt begins."""
        yield from ()

    def leave(self, span: str) -> Iterator[Meaning]:
        """The raw span leaves the window."""
        yield from ()

    def reap(self, key: str) -> Iterator[Meaning]:
        """What lies under a key is deleted."""
        yield from ()

    def found(self, span: str, key: str | None, epoch: int | None) -> Iterator[Meaning]:
        """Its pointer led to it."""
        yield from ()

    def misled(self, span: str, found: str) -> Iterator[Meaning]:
        """Its pointer led to another span."""
        yield from ()

    def put_off(self, span: str) -> Iterator[Meaning]:
        """A summary commits, and its copy is declared outstanding."""
        yield from ()

    def arrived(self, span: str) -> Iterator[Meaning]:
        """What was outstanding has its pointer."""
        yield from self.commit_once(span)
        yield from self.leave(span)

    def never_came(self, span: str) -> Iterator[Meaning]:
        """What was outstanding has ended without a pointer: then this was no commit."""
        yield from self.commit_once(span)

    def said_pending(self, span: str) -> Iterator[Meaning]:
        """Its pointer was followed, and the answer was `pending`."""
        yield from ()

    def horizon_ends(self, span: str) -> Iterator[Meaning]:
        """Nobody may ask for it any more."""
        yield from ()

    def withdraw(self, span: str, *, erased: bool) -> Iterator[Meaning]:
        """The caller has taken it away; `erased`: so that nothing of it is left."""
        yield from ()

    def found_again(self, span: str) -> Iterator[Meaning]:
        """Its pointer leads to it although the caller has taken it away."""
        yield from ()


def _span(name: str) -> Who:
    return Who("span", name)


def _home(span: str) -> Who:
    """Where a span lies from the start: a place that nothing outside can see, and no other span has."""
    return Who("key", f"home of {span}")


@dataclass
class ReleaseRace(Spans):
    """PTR-1, PTR-2, CRA-3. A pointer leads to where the span lies, and the source goes when it leaves the window."""

    left: set[str] = field(default_factory=set)

    def append(self, span: str) -> Iterator[Meaning]:
        yield take("append", s=_span(span), k=_home(span), n=1)

    def stage(self, span: str) -> Iterator[Meaning]:
        yield take("stage", s=_span(span))

    def copy(self, span: str, key: str, epoch: int | None) -> Iterator[Meaning]:
        if span not in self.copied | self.left:
            self.copied.add(span)
            yield take("copy", s=_span(span))

    def point(self, span: str, key: str, epoch: int | None) -> Iterator[Meaning]:
        if span not in self.pointed | self.committed:
            yield from self.stage_once(span)
            self.pointed.add(span)
            yield take("point", s=_span(span), k=_home(span))

    def put_off(self, span: str) -> Iterator[Meaning]:
        # The pointer leads to the source, which is held.
        yield from self.point(span, "", None)
        if span not in self.committed:
            yield from self.commit_once(span)

    def arrived(self, span: str) -> Iterator[Meaning]:
        yield from self.leave(span)

    def never_came(self, span: str) -> Iterator[Meaning]:
        yield from self.leave(span)

    def commit(self, span: str) -> Iterator[Meaning]:
        yield take("commit", s=_span(span))

    def leave(self, span: str) -> Iterator[Meaning]:
        if span in self.committed - self.left:
            self.left.add(span)
            yield take("release", s=_span(span))
            yield take("evict", s=_span(span), k=_home(span))

    def nothing_there(self, span: str, key: str | None) -> Iterator[Meaning]:
        if span in self.committed & self.left - self.over:
            yield (Look("cold", (_span(span),), False),)

    def crash(self) -> Iterator[Meaning]:
        self.staged &= self.committed
        self.pointed &= self.committed
        yield take("crash")


@dataclass
class WriteOrder(Spans):
    """EPO-1, PTR-1, PTR-2, PTR-6, REC-1: the asynchronous design, which has the others' steps in it."""

    landed: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)

    def append(self, span: str) -> Iterator[Meaning]:
        yield take("append", s=_span(span), k=_home(span), n=1)

    def stage(self, span: str) -> Iterator[Meaning]:
        yield take("begin", s=_span(span), k=_home(span))

    def copy(self, span: str, key: str, epoch: int | None) -> Iterator[Meaning]:
        self.copied.add(span)
        yield from self._land(span)

    def _land(self, span: str) -> Iterator[Meaning]:
        # In this machine the pointer comes first: it is the number that the copy will have.
        if span in self.copied & self.pointed - self.landed:
            self.landed.add(span)
            yield take("copy", s=_span(span), k=_home(span))

    def point(self, span: str, key: str, epoch: int | None) -> Iterator[Meaning]:
        if span not in self.pointed:
            if span not in self.committed:
                yield from self.stage_once(span)
            self.pointed.add(span)
            yield take("point", s=_span(span), k=_home(span))
        yield from self._land(span)

    def put_off(self, span: str) -> Iterator[Meaning]:
        yield from self.point(span, "", None)
        if span not in self.committed:
            yield from self.commit_once(span)

    def arrived(self, span: str) -> Iterator[Meaning]:
        yield from self.leave(span)

    def never_came(self, span: str) -> Iterator[Meaning]:
        yield from self.leave(span)

    def commit(self, span: str) -> Iterator[Meaning]:
        yield take("commit", s=_span(span))

    def leave(self, span: str) -> Iterator[Meaning]:
        if span in self.committed - self.left:
            self.left.add(span)
            yield take("look", s=_span(span), k=_home(span))
            yield take("reap", k=_home(span))

    def found(self, span: str, key: str | None, epoch: int | None) -> Iterator[Meaning]:
        if span in self.pointed:
            yield take("resolve", s=_span(span), k=_home(span), t=_span(span))

    def misled(self, span: str, found: str) -> Iterator[Meaning]:
        yield take("resolve", s=_span(span), k=_home(span), t=_span(found))

    def nothing_there(self, span: str, key: str | None) -> Iterator[Meaning]:
        if span in self.committed & self.left - self.over:
            yield (Look("cold", (_span(span),), False),)

    def horizon_ends(self, span: str) -> Iterator[Meaning]:
        yield take("horizon ends", s=_span(span))

    def crash(self) -> Iterator[Meaning]:
        # Pointers are durable here, also those of attempts that are lost.
        self.staged &= self.committed
        yield take("crash")


@dataclass
class AsynchronousCopy(Spans):
    """PTR-1, PTR-2, PTR-5, PTR-6, EPO-1, REC-1, REC-2. Each attempt has a number of its own in the store."""

    attempts: dict[str, int] = field(default_factory=dict)
    queued: set[str] = field(default_factory=set)
    landed: set[str] = field(default_factory=set)

    def _number(self, span: str) -> Who:
        return Who("number", f"{self.attempts.get(span, 0)} of {span}")

    def append(self, span: str) -> Iterator[Meaning]:
        # There every span is in the window from the start.
        yield from ()

    def stage(self, span: str) -> Iterator[Meaning]:
        self.queued.add(span)
        yield take("stage", s=_span(span))

    def copy(self, span: str, key: str, epoch: int | None) -> Iterator[Meaning]:
        self.copied.add(span)
        yield from self._land(span)

    def _land(self, span: str) -> Iterator[Meaning]:
        if span not in self.copied & self.pointed or span in self.landed:
            return
        if span not in self.queued:
            # A crash has emptied the queue.
            self.queued |= self.committed - self.landed
            yield take("recover")
        self.queued.discard(span)
        self.landed.add(span)
        yield take("read source", s=_span(span), i=self._number(span))
        yield take("land", s=_span(span), i=self._number(span))
        if span in self.committed:
            yield take("reconcile", s=_span(span), i=self._number(span))

    def point(self, span: str, key: str, epoch: int | None) -> Iterator[Meaning]:
        if span not in self.pointed:
            yield from self.stage_once(span)
            self.pointed.add(span)
            yield take("point", s=_span(span), i=self._number(span))
        yield from self._land(span)

    def commit(self, span: str) -> Iterator[Meaning]:
        yield take("commit", s=_span(span))
        if span in self.landed:
            yield take("reconcile", s=_span(span), i=self._number(span))

    def put_off(self, span: str) -> Iterator[Meaning]:
        # The number is durable at once, and nobody can see it before the copy lands.
        yield from self.point(span, "", None)
        if span not in self.committed:
            yield from self.commit_once(span)

    def arrived(self, span: str) -> Iterator[Meaning]:
        self.copied.add(span)
        yield from self._land(span)

    def never_came(self, span: str) -> Iterator[Meaning]:
        yield (Look("told", (_span(span),), "empty"),)

    def found(self, span: str, key: str | None, epoch: int | None) -> Iterator[Meaning]:
        if span in self.pointed:
            self.copied.add(span)
            self.pending.discard(span)
            yield from self._land(span)
            yield take("resolve a copy", s=_span(span), i=self._number(span), t=_span(span))

    def misled(self, span: str, found: str) -> Iterator[Meaning]:
        yield take("resolve a copy", s=_span(span), i=self._number(span), t=_span(found))

    def said_pending(self, span: str) -> Iterator[Meaning]:
        if span in self.committed - self.over:
            yield take("resolve nothing", s=_span(span), i=self._number(span))

    def nothing_there(self, span: str, key: str | None) -> Iterator[Meaning]:
        if span in self.landed & self.committed - self.over:
            yield (Look("cold", (self._number(span),), None),)

    def crash(self) -> Iterator[Meaning]:
        for span in self.pointed - self.committed:
            self.attempts[span] = self.attempts.get(span, 0) + 1
        self.staged &= self.committed
        self.pointed &= self.committed
        self.landed &= self.committed
        self.queued.clear()
        yield take("crash")
