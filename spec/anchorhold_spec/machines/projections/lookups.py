"""Machines of what can be had when it is asked for: values, evidence, entries of the index."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from anchorhold_spec.machines.alphabet import Occurrence
from anchorhold_spec.machines.projections.meaning import Given, Look, Meaning, Who, take
from anchorhold_spec.machines.projections.withdrawals import Over, Withdrawn

_FINDS = ("find nothing held", "find nothing pending", "find nothing tombstoned", "find nothing expired")
_BEFORE = {"pending": 1, "tombstoned": 2, "expired": 3, "unanchored": 4, "absent": 4}
"""How many of these a lookup has gone through before it can give each answer that has no content."""


@dataclass
class Reconstitution:
    """REC-1, REC-2. A lookup is seen by its answer alone: it has read everything that comes before that answer.

    A value is known to be held while its span is in the window or something else than a summary holds it. Of others
    nobody has seen whether they are: if an answer says that they are not, they are taken to have gone before.
    """

    slots: dict[str, str] = field(default_factory=dict)
    """By assertion, as all the following."""
    span_of: dict[str, str] = field(default_factory=dict)
    window: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)
    state: dict[str, str] = field(default_factory=dict)
    tombstoned: set[str] = field(default_factory=set)
    outstanding: set[str] = field(default_factory=set)
    """Spans."""
    withdrawn: Withdrawn = field(default_factory=Withdrawn)
    silent: set[str] = field(default_factory=set)
    """Slots of which a value was withdrawn: what is answered then is for `erasure` to judge."""

    def __call__(self, seen: Occurrence) -> Iterator[Meaning]:
        for name in self._said_by(self.withdrawn.note(seen)):
            self.silent.add(self.slots[name])
        match seen:
            case Occurrence(event="append", span=str(span)):
                slots = seen.slots or seen.asserts
                for name, slot in zip(seen.asserts, slots, strict=True):
                    self.slots[name], self.span_of[name] = slot, span
                    self.window.add(name)
                    self.state[name] = "held"
                    yield Given("slot_of", (self._who(name),), Who("slot", slot))
                    yield take("assert", a=self._who(name))
            case Occurrence(event="copy"):
                for name in seen.asserts:
                    self.elsewhere.add(name)
                    if self.state.get(name) == "pending":
                        self.state[name] = "held"
                        yield take("land", a=self._who(name))
            case Occurrence(event="commit"):
                self.window.difference_update(self._said_by(seen.spans))
                self.outstanding.update(seen.pending)
            case Occurrence(event="point", span=str(span)):
                self.outstanding.discard(span)
            case Occurrence(event="evict", span=str(span)):
                self.window.difference_update(self._said_by([span]))
            case Occurrence(event="tombstone"):
                for name in seen.asserts:
                    if name in self.slots and name not in self.tombstoned:
                        self.tombstoned.add(name)
                        yield take("bury", a=self._who(name))
            case Occurrence(event="expire", span=str(span)):
                self.elsewhere.difference_update(self._said_by([span]))
            case Occurrence(event="reconstitute", slot=str(slot), answer=str()) if slot not in self.silent:
                yield from self._answered(slot, seen)
            case Occurrence(event="reconstitute", found=None, answer=None):
                self.elsewhere.difference_update(seen.asserts)

    def _who(self, name: str) -> Who:
        return Who("assertion", name)

    def _said_by(self, spans: Iterable[str]) -> list[str]:
        wanted = set(spans)
        return [name for name, span in self.span_of.items() if span in wanted]

    def _answered(self, slot: str, seen: Occurrence) -> Iterator[Meaning]:
        q = Who("slot", slot)
        if seen.answer == "found":
            found = seen.found or "nothing"
            if found not in self.slots:
                # Not of this slot: nobody has ever said it.
                yield Given("slot_of", (self._who(found),), Who("slot", "none that was asked for"))
            if self.state.get(found, "held") != "held":
                self.state[found] = "held"
                yield (Look("state_of", (self._who(found),), "held"),)
            yield take("ask", q=q)
            yield take("see", q=q, a=self._who(found))
            yield take("fetch", q=q, a=self._who(found))
        elif seen.answer in _BEFORE:
            for name in [name for name, of in self.slots.items() if of == slot]:
                yield from self._before(name, seen.answer)
            yield take("ask", q=q)
            yield from (take(step, q=q) for step in _FINDS[: _BEFORE[seen.answer]])
            yield take(f"answer {seen.answer}", q=q)

    def _before(self, name: str, answer: str) -> Iterator[Meaning]:
        """What has become of a value that nobody has seen since, if it was not what an answer says."""
        outstanding = self.span_of[name] in self.outstanding and name not in self.window
        if self.state[name] != "held":
            return
        if name in (self.window | self.elsewhere) - self.tombstoned and not outstanding:
            return
        a = self._who(name)
        if outstanding:
            self.state[name] = "pending"
            yield take("put off", a=a)
        elif name in self.tombstoned:
            self.state[name] = "gone"
            yield take("evict", a=a)
        elif answer == "expired":
            self.state[name] = "expired"
            yield take("expire", a=a)
        elif answer in ("unanchored", "tombstoned"):
            self.state[name] = "gone"
            yield take("lose", a=a)


@dataclass
class Evidence:
    """EVI-1, EVI-2, EVI-3. A span is reclaimed with loss once it has left and no summary repeats all that it says.

    Of which class a span is has to be seen when it is appended; of others nothing is said. Copies are taken to last
    to the horizon until something shows that they do not, and omissions to be named unless it was seen that they
    are not.
    """

    asserted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    repeats: dict[str, set[str]] = field(default_factory=dict)
    """By live summary."""
    omits: dict[str, bool | None] = field(default_factory=dict)
    under: dict[str, set[str]] = field(default_factory=dict)
    copied: set[str] = field(default_factory=set)
    pointed: set[str] = field(default_factory=set)
    reclaimed: set[str] = field(default_factory=set)
    dropped: set[str] = field(default_factory=set)
    outstanding: set[str] = field(default_factory=set)
    over: Over = field(default_factory=Over)

    def __call__(self, seen: Occurrence) -> Iterator[Meaning]:
        now_over = self.over.note(seen)
        match seen:
            case Occurrence(event="append", span=str(span), kind=str(kind)) if span not in self.asserted:
                self.asserted[span] = seen.asserts
                yield Given("class_of", (Who("span", span),), kind)
            case Occurrence(event="copy", span=str(span), key=str()) if span in self.asserted.keys() - self.copied:
                self.copied.add(span)
                yield take("store", s=Who("span", span))
                yield take("keep", s=Who("span", span))
            case Occurrence(event="point", span=str(span)) if span in self.asserted.keys() - self.pointed:
                self.pointed.add(span)
                self.outstanding.discard(span)
                yield take("point", s=Who("span", span))
                yield take("make durable", s=Who("span", span))
            case Occurrence(event="stage", summary=str(summary)):
                self.repeats[summary] = set(seen.asserts)
                self.omits[summary] = seen.omissions_named
                self.under[summary] = set(seen.spans).union(*(self.under.get(o, ()) for o in seen.summaries))
            case Occurrence(event="commit", summary=str(summary)):
                self.outstanding.update(seen.pending)
                for each in seen.summaries:
                    self.repeats.pop(each, None)
                stands_for = self.under.get(summary, set()) | set(seen.spans)
                for span in [span for span in self.asserted if span in stands_for]:
                    yield from self._reclaim(span, summary)
            case Occurrence(event="tombstone"):
                self.dropped.update(seen.asserts)
            case Occurrence(event="resolve", span=str(span), found=None):
                if span in self.reclaimed and span not in self.over and seen.answer != "pending":
                    yield (Look("original_of", (Who("span", span),), "missing"),)
            case Occurrence(event="crash"):
                yield take("crash")
        for span in now_over:
            if span in self.reclaimed:
                yield take("horizon ends", s=Who("span", span))

    def _reclaim(self, span: str, summary: str) -> Iterator[Meaning]:
        said = set[str]().union(*self.repeats.values()) | self.dropped
        if (
            span in self.reclaimed
            or span in self.over
            or span in self.outstanding
            or said >= set(self.asserted[span])
        ):
            return
        self.reclaimed.add(span)
        if self.omits.get(summary) is not False:
            yield take("name omissions", s=Who("span", span))
        yield take("clear", s=Who("span", span))
        yield take("reclaim", s=Who("span", span))


@dataclass
class Index:
    """IDX-1, IDX-4, RET-1, RET-3. A span whose original is elsewhere when it leaves has an entry there.

    Which key that has is the compactor's affair, so that each is taken to have one of its own; audits are taken to
    be made in time unless they are seen to fail.
    """

    copied: set[str] = field(default_factory=set)
    entries: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    over: Over = field(default_factory=Over)

    def __call__(self, seen: Occurrence) -> Iterator[Meaning]:
        now_over = self.over.note(seen)
        for span in now_over:
            if span in self.entries and seen.event == "expire":
                yield take("horizon ends", s=Who("span", span))
        match seen:
            case Occurrence(event="copy", span=str(span), key=str()):
                self.copied.add(span)
            case Occurrence(event="commit"):
                for span in seen.spans:
                    yield from self._evict(span)
            case Occurrence(event="evict", span=str(span)):
                yield from self._evict(span)
            case Occurrence(event="audit", span=str(span)) if span in self.entries and span not in self.over:
                yield (Look("entry", (self._key(span),), Who("span", span) if seen.found == span else None),)
            case Occurrence(event="resolve", span=str(span)) if self._owed(span) and seen.answer != "pending":
                if seen.found in (None, span):
                    if seen.found is None:
                        self.missing.add(span)
                    yield (Look("entry", (self._key(span),), None if seen.found is None else Who("span", span)),)
            case Occurrence(event="degrade", span=str(span)) if self._owed(span):
                if span not in self.missing:
                    self.missing.add(span)
                    yield take("damage", s=Who("span", span), k=self._key(span))
                yield take("fetch in vain", s=Who("span", span), k=self._key(span))
            case Occurrence(event="repair", span=str(span)) if span in self.missing:
                self.missing.discard(span)
                yield take("repair", s=Who("span", span), k=self._key(span))

    def _key(self, span: str) -> Who:
        return Who("key", f"of {span}")

    def _owed(self, span: str) -> bool:
        return span in self.entries and span not in self.over

    def _evict(self, span: str) -> Iterator[Meaning]:
        if span not in self.copied or span in self.entries or span in self.over:
            return
        whole = [each for each in self.entries if each not in self.missing and each not in self.over]
        if self.entries and not whole:
            # No audit can have been made: what the machine would have to say has been said already.
            return
        if whole:
            yield take("audit", s=Who("span", whole[-1]), k=self._key(whole[-1]))
        self.entries.append(span)
        yield take("evict", s=Who("span", span), k=self._key(span), c=0, d=1)
