"""Machines of the window: who takes what out of it, whether it stays out, and whether it gets out at all."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from anchorhold_spec.machines.alphabet import Occurrence
from anchorhold_spec.machines.projections.meaning import Given, Look, Meaning, Who, take


@dataclass
class Concurrency:
    """CON-1, CON-2, CON-3. A summary is one compaction; staging it is taking the snapshot."""

    covers: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __call__(self, seen: Occurrence) -> Iterator[Meaning]:
        match seen:
            case Occurrence(event="append", span=str(span)):
                yield take("append", t=Who("turn", span))
            case Occurrence(event="stage", summary=str(summary)):
                self.covers[summary] = seen.spans
                yield take("snapshot", p=Who("pass", summary))
                yield from (take("choose", p=Who("pass", summary), t=Who("turn", span)) for span in seen.spans)
            case Occurrence(event="commit", summary=str(summary)) if self.covers.get(summary):
                yield take("commit", p=Who("pass", summary))
                lost = [span for span in seen.spans if span not in self.covers[summary]]
                yield tuple(Look("place_of", (Who("turn", span),), "lost") for span in lost)
            case Occurrence(event="refuse", summary=str(summary)) if summary in self.covers:
                yield take("give up", p=Who("pass", summary))
            case Occurrence(event="forget" | "rewind", span=str(span)):
                yield take(seen.event, t=Who("turn", span))
            case Occurrence(event="clear" | "crash"):
                yield take(seen.event)


_WORKER = Who("worker", "the compactor")
"""Which of a compactor's workers does something cannot be seen."""


@dataclass
class Progress:
    """CRA-1, CRA-3: what a crash leaves. That compaction gets somewhere is about what can still come: see `prove`."""

    committed: set[str] = field(default_factory=set)
    window: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    """Spans whose going was decided by a caller, or that say nothing that could be missed."""
    said: dict[str, set[str]] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    interrupted: bool = False
    """Nothing has been begun since a crash."""

    def __call__(self, seen: Occurrence) -> Iterator[Meaning]:
        match seen:
            case Occurrence(event="append", span=str(span)) if span in self.committed - self.window - self.named:
                # It had left, and is back without anybody having said it again.
                yield (Look("stage_of", (Who("span", span),), "raw"),)
            case Occurrence(event="append", span=str(span)) if span not in self.said:
                self.said[span] = set(seen.asserts)
                self.window.add(span)
                yield Given("readable", (Who("span", span),), value=True)
                yield take("append", s=Who("span", span))
            case Occurrence(event="commit"):
                self.interrupted = False
                for span in seen.spans:
                    if span in self.window and span not in self.committed:
                        self.window.discard(span)
                        self.committed.add(span)
                        known = {"w": _WORKER, "s": Who("span", span)}
                        yield from (take(action, **known) for action in ("take", "write", "commit", "leave"))
            case Occurrence(event="stage"):
                self.interrupted = False
            case Occurrence(event="evict", span=str(span)) if span in self.window:
                self.window.discard(span)
                if self.interrupted and self.said[span] - self.dropped and span not in self.named:
                    yield (Look("in_window", (Who("span", span),), False),)
            case Occurrence(event="tombstone"):
                self.dropped.update(seen.asserts)
            case Occurrence(event="forget", span=str(span)):
                self.named.add(span)
            case Occurrence(event="rewind" | "clear"):
                self.named.update(self.said)
            case Occurrence(event="crash"):
                self.interrupted = True
                yield take("crash", w=_WORKER)
                yield take("restart", w=_WORKER)


_PLACES = ("window", "index", "cold", "summaries", "log")


@dataclass
class Erasure:
    """ERA-1. A forget that was acknowledged is through: every place was swept, as far as the compactor says.

    What is seen afterwards shows whether it was.
    """

    present: set[str] = field(default_factory=set)
    erased: set[str] = field(default_factory=set)
    said_by: dict[str, str] = field(default_factory=dict)
    drafts: dict[str, Occurrence] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    """Spans that have left the window."""

    def __call__(self, seen: Occurrence) -> Iterator[Meaning]:
        match seen:
            case Occurrence(event="append", span=str(span)) if span in self.erased:
                yield from self._there("window", span)
            case Occurrence(event="append", span=str(span)) if span not in self.present:
                self.present.add(span)
                self.said_by.update((name, span) for name in seen.asserts)
                yield take("append", t=Who("turn", span))
            case Occurrence(event="stage", summary=str(summary)):
                self.drafts[summary] = seen
            case Occurrence(event="commit", summary=str(summary)):
                yield from self._commit(summary, seen)
            case Occurrence(event="forget", span=str(span)) if span in self.present - self.erased:
                self.erased.add(span)
                t = Who("turn", span)
                yield take("forget", t=t)
                yield from (take("sweep", t=t, a=Who("place", place)) for place in _PLACES)
                yield take("finish", t=t)
            case Occurrence(event="resolve", found=str(found)) if found in self.erased:
                yield from self._there("cold", found)
            case Occurrence(event="reconstitute", found=str(found)):
                span = self.said_by.get(found, found)
                if span in self.erased:
                    yield from self._there("index", span)
            case Occurrence(event="crash"):
                self.drafts.clear()
                yield take("crash")

    def _there(self, place: str, span: str) -> Iterator[Meaning]:
        yield (Look("holds", (Who("place", place), Who("turn", span)), True),)

    def _commit(self, summary: str, seen: Occurrence) -> Iterator[Meaning]:
        """What is staged is in memory only: that it was, is seen at the commit."""
        x, draft = Who("summary", summary), self.drafts.pop(summary, None)
        said = [self.said_by[name] for name in draft.asserts if name in self.said_by] if draft else []
        for span in seen.spans:
            if span in self.present - self.erased - self.gone:
                yield take("draft", x=x, t=Who("turn", span))
                if span in said:
                    yield take("carry", x=x, t=Who("turn", span))
        self.gone.update(seen.spans)
        yield take("commit", x=x)
        for span in dict.fromkeys(said):
            if span in self.erased:
                yield (Look("says", (x, Who("turn", span)), True),)
