"""What events mean to `anchored-release`: the gate and the order of writes together."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from anchorhold_spec.machines.alphabet import Occurrence
from anchorhold_spec.machines.projections.meaning import Look, Meaning, Who, take
from anchorhold_spec.machines.projections.withdrawals import Over, Withdrawn


@dataclass
class AnchoredRelease:
    """ANC-1, PTR-1, PTR-2, PTR-4, EPO-1. What a span says in one assertion is a span of its own here.

    A source is there as long as the window or the index has it, and goes through the gate. What is tombstoned has
    been decided elsewhere (this machine has no tombstones), what a caller has withdrawn is no longer spoken of, and
    in this machine no copy lands after the commit: of all these the source is left where it is.
    """

    asserted: dict[str, list[str]] = field(default_factory=dict)
    """By span."""
    span_of: dict[str, str] = field(default_factory=dict)
    """By assertion, as all the following."""
    window: set[str] = field(default_factory=set)
    indexed: set[str] = field(default_factory=set)
    """Held by something else than a summary or a pointer."""
    pointed: set[str] = field(default_factory=set)
    released: set[str] = field(default_factory=set)
    unspoken: set[str] = field(default_factory=set)
    drafts: dict[str, Occurrence] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    """Drafts that nobody is at work on."""
    covers: dict[str, set[str]] = field(default_factory=dict)
    live: set[str] = field(default_factory=set)
    """Summaries, but for those of nothing that is spoken of here."""
    key_of: dict[str, str] = field(default_factory=dict)
    """By span: where its original is said to be."""
    pointing: dict[str, dict[str, str | None]] = field(default_factory=dict)
    """By summary that may still be committed: the keys of its pointers, by span."""
    anew: dict[str, str] = field(default_factory=dict)
    """By assertion: what the machine has it be since its copy was reaped."""
    over: Over = field(default_factory=Over)
    withdrawn: Withdrawn = field(default_factory=Withdrawn)

    def __call__(self, seen: Occurrence) -> Iterator[Meaning]:
        self.unspoken.update(self._said_by(self.withdrawn.note(seen)))
        now_over = self.over.note(seen)
        match seen:
            case Occurrence(event="append", span=str(span)):
                for name in seen.asserts:
                    self.asserted.setdefault(span, []).append(name)
                    self.span_of[name] = span
                    self.window.add(name)
                    yield take("append", s=self._who(name))
            case Occurrence(event="copy", key=None):
                self.indexed.update(name for name in seen.asserts if name in self.span_of)
            case Occurrence(event="copy", span=str(span), key=str(key)):
                self.key_of.setdefault(span, key)
            case Occurrence(event="point", span=str(span)):
                waits = seen.summary is not None and seen.summary not in self.covers
                if seen.summary is not None and waits:
                    self.pointing.setdefault(seen.summary, {})[span] = seen.key
                if not (waits and self._committed().intersection(self._said_by([span]))):
                    self._lies_at(span, seen.key)
                yield from self._point(span)
            case Occurrence(event="stage", summary=str(summary)):
                self.drafts[summary] = seen
                self.refused.discard(summary)
            case Occurrence(event="refuse", summary=str(summary)):
                self.pointing.pop(summary, None)
                self.refused.add(summary)
            case Occurrence(event="commit", summary=str(summary)):
                self.unspoken.update(self._said_by(seen.pending))
                yield from self._commit(summary)
                for each, at in self.pointing.pop(summary, {}).items():
                    self._lies_at(each, at)
                yield from self._leave(seen.spans)
                for each in seen.summaries:
                    yield from self._evict(each)
            case Occurrence(event="evict", span=str(span)):
                yield from self._leave([span])
            case Occurrence(event="evict", summary=str(summary)):
                yield from self._evict(summary)
            case Occurrence(event="tombstone"):
                self.unspoken.update(seen.asserts)
            case Occurrence(event="reconstitute", found=None, answer=None):
                for name in seen.asserts:
                    self.indexed.discard(name)
                    yield from self._release(name)
            case Occurrence(event="resolve", span=str(span)) if seen.answer != "pending":
                yield from self._resolve(span, seen.found)
            case Occurrence(event="reap", key=str(key)):
                for name in self._said_by(span for span, place in self.key_of.items() if place == key):
                    if name not in self.pointed - self.unspoken:
                        continue
                    if name not in self._committed() | self.released and not self._under_way(self.span_of[name]):
                        # No pointer of an attempt that has ended is ever taken away there: to the machine this is
                        # said again, and has neither copy nor pointer.
                        self.pointed.discard(name)
                        self.key_of.pop(self.span_of[name], None)
                        self.anew[name] = f"{self.anew.get(name, name)} anew"
                        yield take("append", s=self._who(name))
                    else:
                        yield take("mark", k=self._key(name))
                        yield take("reap", k=self._key(name))
            case Occurrence(event="expire"):
                for name in self._said_by(now_over):
                    if name in self._committed() & self.pointed - self.unspoken:
                        yield take("horizon ends", s=self._who(name))
            case Occurrence(event="crash"):
                self.drafts.clear()
                self.pointing.clear()
                yield take("crash")

    def _lies_at(self, span: str, key: str | None) -> None:
        if span in self.key_of and key is not None:
            # Nobody follows an earlier pointer any more.
            self.key_of[span] = key

    def _under_way(self, span: str) -> bool:
        """Some attempt may still commit what stands for it."""
        drafts = (draft for summary, draft in self.drafts.items() if summary not in self.refused)
        return any(span in draft.spans for draft in drafts) or any(span in spans for spans in self.pointing.values())

    def _who(self, name: str) -> Who:
        return Who("span", f"{self.span_of[name]} ({self.anew.get(name, name)})")

    def _key(self, name: str) -> Who:
        return Who("key", f"of {self.span_of[name]} ({self.anew.get(name, name)})")

    def _said_by(self, spans: Iterable[str]) -> list[str]:
        return [name for span in spans for name in self.asserted.get(span, ())]

    def _committed(self) -> set[str]:
        """What is under a summary that has taken effect."""
        return set[str]().union(*self.covers.values())

    def _point(self, span: str) -> Iterator[Meaning]:
        for name in self._said_by([span]):
            if name in self.pointed | self.released | self.unspoken:
                continue
            self.pointed.add(name)
            if span in self.key_of:
                yield take("begin copy", s=self._who(name), k=self._key(name), f=1)
                yield take("land", s=self._who(name), k=self._key(name))
            yield take("point", s=self._who(name), k=self._key(name))

    def _commit(self, summary: str) -> Iterator[Meaning]:
        """What is staged is in memory only: that it was, is seen at the commit."""
        draft, n = self.drafts.pop(summary, None), Who("summary", summary)
        if draft is not None:
            under = [name for name in self._said_by(draft.spans) if name not in self.released | self.unspoken]
            inherited = [name for each in draft.summaries for name in self.covers.get(each, ())]
            self.covers[summary] = {*under, *inherited}
            replaced = [each for each in draft.summaries if each in self.live]
            yield from (take("take a summary", m=n, o=Who("summary", each)) for each in replaced)
            yield from (take("take a span", m=n, s=self._who(name)) for name in under)
            for name in draft.asserts:
                if name in self.covers[summary]:
                    yield take("carry", m=n, s=self._who(name))
            if under or replaced:
                self.live.add(summary)
                yield take("commit", m=n)

    def _evict(self, summary: str) -> Iterator[Meaning]:
        if summary not in self.live:
            return
        self.live.discard(summary)
        yield take("propose a summary", m=Who("summary", summary))
        yield take("evict", m=Who("summary", summary))

    def _leave(self, spans: Iterable[str]) -> Iterator[Meaning]:
        for name in self._said_by(spans):
            self.window.discard(name)
            yield from self._release(name)

    def _release(self, name: str) -> Iterator[Meaning]:
        if name in self.window | self.indexed | self.released | self.unspoken or name not in self.span_of:
            return
        self.released.add(name)
        yield take("propose a source", s=self._who(name))
        yield take("release", s=self._who(name))

    def _resolve(self, span: str, found: str | None) -> Iterator[Meaning]:
        other = None if found in (None, span) else next(iter(self._said_by([found or ""])), None)
        for name in self._said_by([span]):
            if name not in self.pointed - self.unspoken:
                continue
            if found is None:
                if name in self._committed() and span not in self.over:
                    yield (Look("slot", (self._key(name),), None),)
            elif found == span or other is not None:
                there = self._who(name if other is None else other)
                yield take("resolve", s=self._who(name), k=self._key(name), t=there)
