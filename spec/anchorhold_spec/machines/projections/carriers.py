"""Machines of carriers: what a summary stands for and repeats, and what it leads to."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from anchorhold_spec.machines.alphabet import Occurrence
from anchorhold_spec.machines.projections.meaning import Look, Meaning, Who, take
from anchorhold_spec.machines.projections.withdrawals import Over, Withdrawn


@dataclass
class Generations:
    """PTR-3, PTR-4. Only what its summary is declared to stand for is known; what was not seen being shown was.

    Whether an original is still there is not this machine's to say once nobody may ask for it any more.
    """

    committed: set[str] = field(default_factory=set)
    open: set[str] = field(default_factory=set)
    over: Over = field(default_factory=Over)
    withdrawn: Withdrawn = field(default_factory=Withdrawn)

    def __call__(self, seen: Occurrence) -> Iterator[Meaning]:
        self.over.note(seen)
        self.withdrawn.note(seen)
        match seen:
            case Occurrence(event="stage", summary=str(summary)):
                x = Who("summary", summary)
                self.open.add(summary)
                declared = [Who("raw", span) for span in seen.spans] + [Who("summary", o) for o in seen.summaries]
                for carrier in declared:
                    if carrier.sort == "raw":
                        yield take("declare a span", x=x, r=carrier)
                    else:
                        yield take("declare a summary", x=x, o=carrier)
                yield from (
                    take("show", x=x, c=carrier)
                    for carrier in declared
                    if seen.shown is None or carrier.name in seen.shown
                )
                yield take("write", x=x)
            case Occurrence(event="commit", summary=str(summary)):
                x = Who("summary", summary)
                self.open.discard(summary)
                self.committed.add(summary)
                leaving = [Who("raw", span) for span in seen.spans] + [Who("summary", o) for o in seen.summaries]
                yield from (take("settle", x=x, c=carrier) for carrier in leaving)
                yield take("commit", x=x)
            case Occurrence(event="refuse", summary=str(summary)) if summary in self.open:
                self.open.discard(summary)
                yield take("abandon", x=Who("summary", summary))
            case Occurrence(event="evict", span=str(span)) if span not in self.withdrawn:
                yield (Look("in_window", (Who("raw", span),), False),)
            case Occurrence(event="evict", summary=str(summary)):
                yield (Look("in_window", (Who("summary", summary),), False),)
            case Occurrence(event="resolve", summary=str(summary), span=str(span)) if summary in self.committed:
                if span not in self.over and seen.answer != "pending" and seen.found in (None, span):
                    yield (Look("pointer", (Who("summary", summary), Who("raw", span)), seen.found == span),)
            case Occurrence(event="crash"):
                self.open.clear()
                yield take("crash")


@dataclass
class Anchoring:
    """ANC-1, ANC-4, MAN-1, REC-1. A raw carrier is what a span says in one assertion: each may be held otherwise.

    To be in the index is to be held by anything but a carrier of the window: a pointer, a search, other words.
    """

    asserted: dict[str, list[str]] = field(default_factory=dict)
    """By span."""
    raw_of: dict[str, Who] = field(default_factory=dict)
    """By assertion."""
    repeats: dict[Who, set[str]] = field(default_factory=dict)
    indexed: set[Who] = field(default_factory=set)
    gone: set[Who] = field(default_factory=set)
    decided: set[str] = field(default_factory=set)
    withdrawn: Withdrawn = field(default_factory=Withdrawn)

    def __call__(self, seen: Occurrence) -> Iterator[Meaning]:
        for span in self.withdrawn.note(seen):
            # The caller's own word, as a tombstone is: it may go. Whether it does is for `erasure` to say.
            yield from self._bury(self.asserted.get(span, ()))
        match seen:
            case Occurrence(event="append", span=str(span)):
                for name in seen.asserts:
                    raw = self.raw_of[name] = Who("raw", f"{span} ({name})")
                    self.asserted.setdefault(span, []).append(name)
                    self.repeats[raw] = {name}
                    yield take("say", s=raw, a=Who("assertion", name))
                    yield take("append", s=raw)
                    yield take("read", s=raw)
            case Occurrence(event="copy", span=str(span)):
                for name in seen.asserts:
                    if name in self.raw_of:
                        yield from self._index(self.raw_of[name])
            case Occurrence(event="stage", summary=str(summary)):
                yield from self._stage(Who("summary", summary), seen)
            case Occurrence(event="commit", summary=str(summary)):
                yield take("commit", m=Who("summary", summary))
                yield from self._leave(seen)
            case Occurrence(event="refuse", summary=str(summary)):
                yield take("refuse", m=Who("summary", summary))
            case Occurrence(event="evict"):
                yield from self._leave(seen)
            case Occurrence(event="tombstone"):
                yield from self._bury(seen.asserts)
            case Occurrence(event="reconstitute", found=None):
                raws = [self.raw_of[name] for name in seen.asserts if name in self.raw_of]
                for raw in (raw for raw in raws if raw in self.indexed):
                    # However it went, it had to be let pass.
                    self.indexed.discard(raw)
                    yield take("claim", c=raw)
                    yield take("reap", c=raw)
            case Occurrence(event="reconstitute", found=str(found)):
                for name in seen.asserts:
                    # What was dropped has an answer of its own: see `reconstitution`.
                    if name not in self.decided:
                        yield take("reconstitute", a=Who("assertion", name), c=self._carrier(found, name))
            case Occurrence(event="crash"):
                yield take("crash")

    def _bury(self, names: Iterable[str]) -> Iterator[Meaning]:
        for name in names:
            if name in self.raw_of and name not in self.decided:
                self.decided.add(name)
                yield take("decide", a=Who("assertion", name))
                yield take("bury", a=Who("assertion", name))

    def _carrier(self, found: str, name: str) -> Who:
        """What came back: an assertion's own span, a span that may have said this one too, or a summary."""
        if found in self.raw_of:
            return self.raw_of[found]
        if said := self.asserted.get(found):
            return self.raw_of[name if name in said else said[0]]
        return Who("summary" if Who("summary", found) in self.repeats else "raw", found)

    def _index(self, raw: Who) -> Iterator[Meaning]:
        if raw in self.indexed:
            return
        self.indexed.add(raw)
        # What lands late (a copy that was outstanding) is no longer live: that it is there can only be seen.
        yield (Look("in_index", (raw,), True),) if raw in self.gone else take("index", c=raw)

    def _carriers(self, seen: Occurrence) -> list[Who]:
        raws = [self.raw_of[name] for span in seen.spans for name in self.asserted.get(span, ())]
        return raws + [Who("summary", each) for each in seen.summaries]

    def _stage(self, summary: Who, seen: Occurrence) -> Iterator[Meaning]:
        yield take("open", m=summary)
        self.repeats.setdefault(summary, set())
        from_ = self._carriers(seen)
        yield from (take("show", m=summary, c=carrier) for carrier in from_)
        for name in seen.asserts:
            source = next((carrier for carrier in from_ if name in self.repeats.get(carrier, ())), None)
            if source is not None:
                self.repeats[summary].add(name)
                yield take("carry", m=summary, c=source, a=Who("assertion", name))

    def _leave(self, seen: Occurrence) -> Iterator[Meaning]:
        leaving = self._carriers(seen)
        if seen.event == "evict":
            names = self.asserted.get(seen.span or "", ())
            leaving += [self.raw_of[name] for name in names if seen.span not in self.withdrawn]
            leaving += [Who("summary", seen.summary)] if seen.summary is not None else []
        self.gone.update(leaving)
        yield tuple(Look("in_window", (carrier,), False) for carrier in leaving)
