"""One run of the race: a compactor and a reaper share a store whose keys are taken again.

Three workers. The *agent* puts spans into the store, and each span that the reaper removes makes room for another.
The *compactor* is triggered at intervals, summarises the oldest span that it still holds, and commits; a persister
beside it makes the original durable (a copy and the pointer to it). The *reaper* removes, at its own rate, a span
that nobody holds. Later a *reader* follows the summary's pointer.

What differs between designs is when the source stops being held, what a key can be taken for, and whether the reader
is told that a copy is still under way.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Literal

import simpy

Keys = Literal["recycled", "epochs", "monotonic"]
Release = Literal["at commit", "when durable"]
Commit = Literal["at once", "after the pointer", "after the copy"]
Victims = Literal["summarised", "oldest", "random"]


@dataclass(frozen=True)
class Design:
    """A write order, as far as time can tell it from another."""

    name: str
    title: str
    keys: Keys
    release: Release
    """When the reaper may take the source."""
    commit: Commit
    """What the commit waits for, once the summary is written."""


DESIGNS: tuple[Design, ...] = (
    Design("unordered", "unordered, recycled keys", "recycled", "at commit", "at once"),
    Design("epochs", "epoch tags only", "epochs", "at commit", "at once"),
    Design("monotonic", "monotonic keys only", "monotonic", "at commit", "at once"),
    Design("ordered", "ordered: durable before it may go", "epochs", "when durable", "at once"),
    Design("two-phase", "two-phase: durable before commit", "epochs", "when durable", "after the copy"),
    Design("asynchronous", "asynchronous cold copy, reconciled", "monotonic", "when durable", "after the pointer"),
)


@dataclass(frozen=True)
class Parameters:
    """Rates and sizes. Times are in seconds; `PROVENANCE` says where each comes from."""

    evictions_per_minute: float = 2.0
    """Attempts of the reaper, exponentially apart. Nothing to take: it tries again."""
    shortest_interval: float = 40.0
    longest_interval: float = 90.0
    """Between two triggers of compaction, uniformly."""
    summary_tokens: int = 500
    tokens_per_second: float = 50.0
    """A summary takes tokens ÷ rate to write."""
    held_while_summarised: bool = True
    """Otherwise the reaper may take the source as soon as its compaction is triggered."""
    persist_median: float = 0.1
    persist_sigma: float = 1.0
    """Time to make the original durable: log-normal, median and shape."""
    pointer_median: float = 0.005
    """Time for the pointer alone, with the same shape (asynchronous design)."""
    read_delay: float = 600.0
    """From the commit to the reader's question, on average, exponentially."""
    free_keys: int = 8
    """A freed key is taken again once as many others have been."""
    background_spans: int = 200
    """Spans of other work in the store that the reaper may take."""
    window: int = 8
    """Spans that the compactor still holds."""
    victims: Victims = "summarised"
    """Which of the spans that nobody holds the reaper takes first: those that a summary replaced, the oldest, any."""
    commits: int = 1000
    """Summaries a run."""


PROVENANCE = {
    "compaction interval": "40 to 90 s: S4, the system that it observed",
    "eviction rate": "swept; S4 gives none, only that the loss grows with it",
    "time to persist": "log-normal, median 0.1 s, shape 1 (mean 0.16 s): assumed, a write to a store over a network",
    "pointer alone": "median 5 ms: assumed, one synchronous local write",
    "writing a summary": "500 tokens at 50 a second: assumed; the length is swept",
    "time until the pointer is read": "exponential, mean 600 s: assumed",
    "keys": "a freed key is taken again after 8 others: assumed; decides only between empty and wrong answers",
    "other spans in the store": "200, and 8 that the compactor holds: assumed",
    "whom the reaper takes": "first what a summary replaced, which is there to go: assumed; others are shown too",
}


@dataclass(frozen=True)
class Outcome:
    """What the readers of one run were answered, and what the order of writes cost."""

    committed: int
    found: int
    empty: int
    """Nothing there, and the reader can tell."""
    wrong: int
    """Another span, and the reader cannot tell."""
    pending: int
    """Told that the copy is under way: it became `found` later. Counted as found too."""
    evicted: int
    mean_commit_delay: float
    """Seconds that the commit waited after the summary was written."""
    mean_hold: float
    """Seconds that the source was held after its compaction was triggered; until the end, where it never ended."""

    @property
    def unresolvable(self) -> int:
        """Committed summaries whose pointer does not lead to their source, whatever the reader was told."""
        return self.empty + self.wrong


@dataclass
class _Span:
    number: int
    key: int
    epoch: int


@dataclass
class _Summary:
    source: _Span
    copied: _Span | None = None
    """What the durable copy is of."""
    attempted: bool = False
    """The persister is through with it, whether or not it found anything."""


class _Store:
    """Keys, what lies there, and which of it the reaper may take, oldest first."""

    def __init__(self, parameters: Parameters, design: Design, chance: random.Random) -> None:
        self._parameters, self._design, self._chance = parameters, design, chance
        self.slots: dict[int, _Span] = {}
        self._epochs: dict[int, int] = {}
        self._free: deque[int] = deque()
        self._next_key = self._next_number = 0
        self._candidates: list[tuple[int, int, _Span]] = []
        """A heap by what the reaper takes first, or in any order where it takes any."""

    def append(self) -> _Span:
        if self._design.keys != "monotonic" and len(self._free) > self._parameters.free_keys:
            key = self._free.popleft()
        else:
            key, self._next_key = self._next_key, self._next_key + 1
        epoch = self._epochs[key] = self._epochs.get(key, 0) + 1
        span = _Span(self._next_number, key, epoch)
        self._next_number += 1
        self.slots[key] = span
        return span

    def release(self, span: _Span, *, summarised: bool) -> None:
        first = summarised and self._parameters.victims == "summarised"
        heapq.heappush(self._candidates, (0 if first else 1, span.number, span))

    def evict(self) -> bool:
        """The reaper takes one, if there is one to take."""
        if not self._candidates:
            return False
        if self._parameters.victims == "random":
            chosen = self._chance.randrange(len(self._candidates))
            self._candidates[chosen], self._candidates[-1] = self._candidates[-1], self._candidates[chosen]
            *_, span = self._candidates.pop()
        else:
            *_, span = heapq.heappop(self._candidates)
        del self.slots[span.key]
        self._free.append(span.key)
        return True

    def read(self, source: _Span) -> _Span | None:
        """What lies where the pointer leads, as far as the reader accepts it."""
        found = self.slots.get(source.key)
        if found is None or (self._design.keys != "recycled" and found.epoch != source.epoch):
            return None
        return found


class _Race:
    """The workers of one run."""

    def __init__(self, design: Design, parameters: Parameters, seed: str) -> None:
        self._design, self._parameters = design, parameters
        self.environment = simpy.Environment()
        # A stream of chance for each worker: the designs of one seed meet the same triggers and the same reaper.
        self._streams = {
            worker: random.Random(f"{seed}/{worker}")  # noqa: S311 - chance, not secrecy
            for worker in ("compactor", "persister", "reaper", "victims", "reader", "pointer")
        }
        self.store = _Store(parameters, design, self._streams["victims"])
        self.found = self.empty = self.wrong = self.pending = self.evicted = self.answered = 0
        self.delays: list[float] = []
        self.holds: list[float] = []
        self.done = self.environment.event()

    def run(self) -> Outcome:
        for _ in range(self._parameters.background_spans):
            self.store.release(self.store.append(), summarised=False)
        self.environment.process(self._reaper())
        self.environment.process(self._compactor())
        self.environment.run(until=self.done)
        return Outcome(
            committed=self.answered,
            found=self.found,
            empty=self.empty,
            wrong=self.wrong,
            pending=self.pending,
            evicted=self.evicted,
            mean_commit_delay=math.fsum(self.delays) / len(self.delays),
            mean_hold=math.fsum(self.holds) / len(self.holds) if self.holds else 0.0,
        )

    def _reaper(self) -> Generator[simpy.Event, Any, None]:
        chance, rate = self._streams["reaper"], self._parameters.evictions_per_minute / 60
        while True:
            yield self.environment.timeout(chance.expovariate(rate))
            if self.store.evict():
                self.evicted += 1
                # What waited for room comes in, and is nobody's to hold.
                self.store.release(self.store.append(), summarised=False)

    def _compactor(self) -> Generator[simpy.Event, Any, None]:
        parameters, chance = self._parameters, self._streams["compactor"]
        held = deque(self.store.append() for _ in range(parameters.window))
        for _ in range(parameters.commits):
            interval = chance.uniform(parameters.shortest_interval, parameters.longest_interval)
            yield self.environment.timeout(interval)
            held.append(self.store.append())
            # A long summary does not delay the next trigger: the rate of compactions stays what it is.
            self.environment.process(self._compact(held.popleft()))

    def _compact(self, source: _Span) -> Generator[simpy.Event, Any, None]:
        parameters, design = self._parameters, self._design
        triggered = self.environment.now
        summary = _Summary(source)
        if not parameters.held_while_summarised and design.release == "at commit":
            self._release(source, triggered)
        yield self.environment.timeout(parameters.summary_tokens / parameters.tokens_per_second)
        written = self.environment.now
        persisting = self.environment.process(self._persist(summary, triggered))
        if design.commit == "after the copy":
            yield persisting
        elif design.commit == "after the pointer":
            yield self.environment.timeout(self._lasting("pointer", parameters.pointer_median))
        self.delays.append(self.environment.now - written)
        if parameters.held_while_summarised and design.release == "at commit":
            self._release(source, triggered)
        self.environment.process(self._read(summary))

    def _persist(self, summary: _Summary, triggered: float) -> Generator[simpy.Event, Any, None]:
        yield self.environment.timeout(self._lasting("persister", self._parameters.persist_median))
        summary.copied = self.store.read(summary.source)
        summary.attempted = True
        if self._design.release == "when durable":
            self._release(summary.source, triggered)

    def _read(self, summary: _Summary) -> Generator[simpy.Event, Any, None]:
        yield self.environment.timeout(self._streams["reader"].expovariate(1 / self._parameters.read_delay))
        if self._design.commit == "after the pointer" and not summary.attempted:
            self.pending += 1
            while not summary.attempted:
                yield self.environment.timeout(self._parameters.persist_median)
        found = summary.copied or self.store.read(summary.source)
        if found is None:
            self.empty += 1
        elif found is summary.source:
            self.found += 1
        else:
            self.wrong += 1
        self.answered += 1
        if self.answered == self._parameters.commits:
            self.done.succeed()

    def _release(self, source: _Span, triggered: float) -> None:
        self.holds.append(self.environment.now - triggered)
        self.store.release(source, summarised=True)

    def _lasting(self, stream: str, median: float) -> float:
        return self._streams[stream].lognormvariate(math.log(median), self._parameters.persist_sigma)


def simulate(design: Design, parameters: Parameters, *, seed: int) -> Outcome:
    """One run. The same seed gives the same run; other designs with it meet the same triggers and the same reaper.

    Raises ValueError for parameters that mean nothing.
    """
    positive = {
        "evictions_per_minute": parameters.evictions_per_minute,
        "shortest_interval": parameters.shortest_interval,
        "tokens_per_second": parameters.tokens_per_second,
        "persist_median": parameters.persist_median,
        "pointer_median": parameters.pointer_median,
        "read_delay": parameters.read_delay,
        "commits": parameters.commits,
        "window": parameters.window,
    }
    for name, value in positive.items():
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"{name} must be more than 0, not {value}")
    if parameters.longest_interval < parameters.shortest_interval:
        raise ValueError(
            f"the longest interval ({parameters.longest_interval} s) is shorter than the shortest "
            f"({parameters.shortest_interval} s)"
        )
    if min(parameters.summary_tokens, parameters.free_keys, parameters.background_spans) < 0:
        raise ValueError("summary_tokens, free_keys and background_spans cannot be negative")
    return _Race(design, parameters, f"{seed}").run()
