"""Replays recorded transcripts through the reference compactor, and counts what can still be had.

A replay is rolling compaction at the watermark with a summariser that loses nearly everything, so that whatever
answers afterwards is the compactor's work. A lifetime ends for every original; with the gate on it only proposes,
with the gate off a reaper deletes behind the compactor's back, as a store with a lifetime of its own does.
"""

import contextlib
import random
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anchorhold.corpus.lossy import summarise
from anchorhold_reference import AnchorholdError, Candidate, Reply, Request, Settings, Transcript
from anchorhold_reference.extract import Mention, facts_of, stands_in
from anchorhold_reference.extract.facts import UnreadableError
from anchorhold_reference.values import four_characters
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, Item, OutcomeKind, Turn

PASSES = 4
"""How often the fixed set of queries is asked: after each quarter of the turns."""
CODES = frozenset({"identifier", "path"})
"""Facts that are asked for by their text: each is one thing, and there is one right answer."""
SECONDS_A_TURN = 10.0
LIFETIME = 3600.0
SWEEP_EVERY = 5
"""Compactions from one sweep of the originals whose lifetime has ended to the next."""
SEED = 7


_SUMMED = (
    *("turns", "compactions", "assertions", "drift", "unresolvable", "lost", "misses", "misses_reported", "wrong"),
    *("audits", "proposed", "evicted", "refused", "window", "compacted", "compacted_overhead", "seconds"),
)


@dataclass(slots=True)
class Tally:
    """What was counted in one replay."""

    turns: int = 0
    compactions: int = 0
    generations: int = 0
    assertions: int = 0
    """Assertions of replaced spans, each asked for in the compaction that replaced it, and again at the end."""
    drift: int = 0
    """Answers that did not carry what they were asked for, and entries of a manifest that no source supports."""
    unresolvable: int = 0
    """Replaced spans that assert something and whose pointer did not lead to the original, when asked or at the
    end."""
    lost: int = 0
    """Their assertions."""
    hits: list[int] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    misses: int = 0
    """Questions for what was never said."""
    misses_reported: int = 0
    wrong: int = 0
    """Questions answered with another turn than the one that says it, or answered where nothing does."""
    audits: int = 0
    proposed: int = 0
    evicted: int = 0
    refused: int = 0
    window: int = 0
    """Tokens of the window, summed over all turns: divided by their number, its size in the steady state."""
    overhead: dict[str, int] = field(default_factory=dict)
    """Of these, what a compactor that only summarises would not have there, by what it is."""
    compacted: int = 0
    """Tokens of the window right after each compaction, summed."""
    compacted_overhead: int = 0
    seconds: float = 0.0

    def add(self, other: "Tally") -> None:
        """Take in another transcript's counts."""
        self.generations = max(self.generations, other.generations)
        for name in _SUMMED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.hits = [a + b for a, b in _aligned(self.hits, other.hits)]
        self.asked = [a + b for a, b in _aligned(self.asked, other.asked)]
        for kind, size in other.overhead.items():
            self.overhead[kind] = self.overhead.get(kind, 0) + size

    @property
    def overhead_percent(self) -> float:
        """What the steady-state window has more than one of summaries alone, in percent."""
        more = sum(self.overhead.values())
        return 100 * more / max(self.window - more, 1)


def _aligned(one: Sequence[int], other: Sequence[int]) -> list[tuple[int, int]]:
    longest = max(len(one), len(other))
    return list(zip([*one, *[0] * (longest - len(one))], [*other, *[0] * (longest - len(other))], strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A text to look up, and the turn that says it; None: nobody does."""

    text: str
    turn: str | None


class _Lifetime:
    """Proposes each original once, when its lifetime has ended."""

    def __init__(self, lifetime: float) -> None:
        self._lifetime = lifetime
        self._seen: set[str] = set()

    def __call__(self, stored: Sequence[Candidate], now: float) -> Sequence[str]:
        ended = [one.token for one in stored if now - one.stored > self._lifetime and one.token not in self._seen]
        self._seen.update(ended)
        return ended


def replay(
    turns: Sequence[Turn],
    database: Path,
    *,
    budget: int,
    gate: bool,
    queries: Sequence[Query],
    progress: Callable[[int], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Tally:
    """Replay one transcript on a new database; as far as it got, where `stopped` says to stop."""
    tally = Tally(turns=len(turns))
    started = time.perf_counter()
    now = 0.0
    settings = Settings(budget=budget, horizon=LIFETIME)
    replies: list[str] = []

    def remembered(request: Request) -> Reply:
        reply = summarise(request)
        replies.append(reply.text)
        return reply

    with Transcript.open(
        database, summarise=remembered, settings=settings, clock=lambda: now, uptime=lambda: ("replay", now)
    ) as transcript:
        run = _Run(transcript, database, tally, gate=gate, keep=settings.keep, replies=replies)
        assert settings.high_water is not None  # a budget was given
        size = 0
        ends = {len(turns) * (i + 1) // PASSES for i in range(PASSES)}
        for done, turn in enumerate(turns, 1):
            if stopped():
                tally.turns = done - 1
                run.ask(queries)
                break
            now = done * SECONDS_A_TURN
            transcript.append(turn)
            run.by_id[turn.id] = turn
            size += four_characters(_shown(turn))
            if size > settings.high_water:
                size = run.compact(now)
            tally.window += size
            for kind, share in run.overhead.items():
                tally.overhead[kind] = tally.overhead.get(kind, 0) + share
            if done in ends:
                run.ask(queries)
            progress(1)
        run.at_the_end()
        tally.audits = transcript.status().audits
    tally.seconds = time.perf_counter() - started
    return tally


def _shown(turn: Turn) -> str:
    return "\n".join([turn.text or "", *(f"{call.name}({call.arguments})" for call in turn.calls)])


def _asserted(turn: Turn) -> list[Mention]:
    """What a turn asserts, without the arguments of its calls, which stand in it in another form."""
    try:
        return [fact for fact in facts_of(turn) if fact.kind != "argument"]
    except UnreadableError:
        return []


class _Run:
    """One replay under way."""

    def __init__(
        self, transcript: Transcript, database: Path, tally: Tally, *, gate: bool, keep: int, replies: list[str]
    ) -> None:
        self.keep = keep
        self.replies = replies
        self.overhead: dict[str, int] = {}
        self.transcript = transcript
        self.database = database
        self.tally = tally
        self.gate = gate
        self.by_id: dict[str, Turn] = {}
        self.replaced: list[str] = []
        self._count: dict[str, int] = {}
        """How many assertions each of them makes."""
        self._lost: set[str] = set()
        self._policy = _Lifetime(LIFETIME)

    def compact(self, now: float) -> int:
        """Compact once, look at what became of what was replaced, and sweep; the size of the window."""
        outcome = self.transcript.compact()
        live = self.transcript.live()
        sizes = [four_characters(item.text or "") for item in live]
        if outcome.kind is not OutcomeKind.COMMITTED:
            return sum(sizes)
        tally = self.tally
        tally.compactions += 1
        tally.generations = max(tally.generations, *(item.generation or 0 for item in live))
        self.replaced += outcome.covered or ()
        for turn in outcome.covered or ():
            self._resolve(turn)
        for item in live:
            if item.kind is CarrierKind.SUMMARY:
                self._entries(item.id, item.text or "")
        self._measure(live, sizes)
        if tally.compactions % SWEEP_EVERY == 0:
            self._sweep(now)
        return sum(sizes)

    def _measure(self, live: Sequence[Item], sizes: Sequence[int]) -> None:
        """What the window holds beside the model's own summary and the newest turns."""
        written = set(self.replies[-1].split("\n"))
        marks = pins = 0
        for item in live:
            if item.kind is CarrierKind.SUMMARY:
                *body, last = (item.text or "").split("\n")
                marks += four_characters(last)
                pins += sum(four_characters(line) for line in body if line not in written)
        raw = [size for item, size in zip(live, sizes, strict=True) if item.kind is CarrierKind.RAW]
        self.overhead = {
            "raw retained": sum(raw[: -self.keep]),
            "lines that name omissions": marks,
            "statements repeated because nothing else anchors them": pins,
            "pointers": 0,  # they are had by asking, and stand outside the window
        }
        self.tally.compacted += sum(sizes)
        self.tally.compacted_overhead += sum(self.overhead.values())

    def _sweep(self, now: float) -> None:
        if self.gate:
            outcomes = self.transcript.sweep(self._policy)
            self.tally.proposed += len(outcomes)
            self.tally.evicted += sum(1 for one in outcomes if one.kind is OutcomeKind.COMMITTED)
            self.tally.refused += sum(1 for one in outcomes if one.kind is OutcomeKind.REFUSED)
            return
        with sqlite3.connect(self.database, timeout=30) as reaper:
            removed = reaper.execute(
                "DELETE FROM cold WHERE epoch IN (SELECT epoch FROM pointer WHERE time < ?)", (now - LIFETIME,)
            ).rowcount
        reaper.close()
        self.tally.proposed += removed
        self.tally.evicted += removed

    def _resolve(self, turn_id: str) -> None:
        """Ask for every assertion of a replaced turn: its original has to be there and to say it.

        Where the original is word for word the turn, each of them stands in it; where it is not, each is looked for.
        """
        turn = self.by_id[turn_id]
        tally = self.tally
        count = self._count.get(turn_id)
        if count is None:
            count = self._count[turn_id] = len(_asserted(turn))
            tally.assertions += count
        pointer = self.transcript.pointer(turn_id)
        text: str | None = None
        if pointer is not None:
            with contextlib.suppress(AnchorholdError):
                answer = self.transcript.get(pointer.token)
                text = answer.text if answer.kind is AnswerKind.FOUND else None
        if text is None:
            if count and turn_id not in self._lost:
                self._lost.add(turn_id)
                tally.unresolvable += 1
                tally.lost += count
        elif text != _shown(turn):
            tally.drift += sum(1 for fact in _asserted(turn) if fact.literal not in text or fact.said not in text)

    def _entries(self, summary: str, text: str) -> None:
        """Every entry of a manifest stands in the summary, and in the turn that it names (MAN-2)."""
        for entry in self.transcript.manifest(summary):
            source = self.by_id.get(entry.source or "")
            if entry.literal not in text or source is None or entry.literal not in _shown(source):
                self.tally.drift += 1

    def ask(self, queries: Sequence[Query]) -> None:
        """Ask the fixed set once: for what was said, and for what never was."""
        tally = self.tally
        hits = asked = 0
        for query in queries:
            answer = self.transcript.search(query.text)
            found = answer.kind is AnswerKind.FOUND
            if query.turn is None:
                tally.misses += 1
                tally.misses_reported += not found
                tally.wrong += found
                continue
            asked += 1
            right = found and answer.source == query.turn and query.text in (answer.text or "")
            hits += right
            tally.wrong += found and not right
        tally.hits.append(hits)
        tally.asked.append(asked)

    def at_the_end(self) -> None:
        """Ask for everything once more, over all generations."""
        for turn in self.replaced:
            self._resolve(turn)


def choose_queries(turns: Sequence[Turn], *, count: int) -> list[Query]:
    """Texts that exactly one turn of the first quarter says and no other turn at all, drawn by a seed; and as many
    again as a tenth of them that nobody says, each made of one of those by changing its last letter or digit."""
    early = turns[: len(turns) // PASSES]
    texts = {turn.id: _shown(turn) for turn in turns}
    whole = "\n".join(texts.values())
    drawn = random.Random(SEED)  # noqa: S311 - a fixed draw, not a secret
    order = list(early)
    drawn.shuffle(order)
    queries: list[Query] = []
    for turn in order:
        if len(queries) >= count:
            break
        try:
            facts = [fact for fact in facts_of(turn) if fact.kind in CODES and 5 <= len(fact.literal) <= 120]
        except UnreadableError:
            continue
        drawn.shuffle(facts)
        for fact in facts[:3]:
            if whole.count(fact.literal) == 1 and stands_in(texts[turn.id], fact.literal) >= 0:
                queries.append(Query(text=fact.literal, turn=turn.id))
                break
    never: list[Query] = []
    for query in queries:
        changed = query.text[:-1] + ("q" if query.text[-1] != "q" else "7")
        if len(never) < max(count // 10, 1) and changed not in whole:
            never.append(Query(text=changed, turn=None))
    return [*queries, *never]
