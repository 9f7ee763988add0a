"""Replays recorded transcripts through the reference compactor, and counts what can still be had.

A replay is rolling compaction at the watermark with a summariser that loses nearly everything, so that whatever
answers afterwards is the compactor's work. Nothing is ever tombstoned. A lifetime ends for every original; with the
gate on it only proposes, with the gate off a reaper deletes behind the compactor's back, as a store with a lifetime
of its own does, and each loss that is noticed is accepted on record, so that compaction goes on. Beside it runs the
same window without a gate (`plain`), which is what the overhead is measured against.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from anchorhold.corpus.lossy import summarise
from anchorhold.corpus.plain import Plain, in_window, replaced
from anchorhold.corpus.queries import Query, choose_queries, said_in
from anchorhold.corpus.tally import Tally
from anchorhold_reference import AnchorholdError, Candidate, Reply, Request, Settings, Transcript
from anchorhold_reference.extract import Mention, facts_of
from anchorhold_reference.extract.facts import UnreadableError
from anchorhold_reference.extract.slots import spelled, spelling
from anchorhold_reference.values import four_characters
from anchorhold_spec.vocabulary import Answer, AnswerKind, CarrierKind, Item, Outcome, OutcomeKind, Turn

PASSES = 4
"""How often the fixed set of queries is asked: after each quarter of the turns."""
SECONDS_A_TURN = 10.0
LIFETIME = 3600.0
SWEEP_EVERY = 5
"""Compactions from one sweep of the originals whose lifetime has ended to the next."""
AUDIT_EVERY = 10
"""Compactions from one audit to the next."""
ENOUGH_GENERATIONS = 3
"""Fewer show nothing of what many compactions do to a transcript."""
MISS = frozenset({AnswerKind.ABSENT, AnswerKind.UNANCHORED})
"""Answers by which a question for what was never said is reported as a miss."""


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
    queries: int = 200,
    opened: Callable[..., Transcript] = Transcript.open,
    progress: Callable[[int], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Tally:
    """Replay one transcript on a new database; as far as it got, where `stopped` says to stop.

    `queries` is how many texts, and how many sets of words, are looked up in each pass; `opened` opens the
    transcript; `progress` is told how many turns are done.
    """
    tally = Tally()
    started = time.perf_counter()
    now = 0.0
    settings = Settings(budget=budget, horizon=LIFETIME, audit_every=AUDIT_EVERY)
    replies: list[str] = []

    def remembered(request: Request) -> Reply:
        reply = summarise(request)
        replies.append(reply.text)
        return reply

    with opened(
        database, summarise=remembered, settings=settings, clock=lambda: now, uptime=lambda: ("replay", now)
    ) as transcript:
        run = _Run(transcript, database, tally, turns, gate=gate, settings=settings, replies=replies, queries=queries)
        plain = Plain(settings)
        ends = {len(turns) * (i + 1) // PASSES for i in range(PASSES)}
        for done, turn in enumerate(turns, 1):
            if stopped():
                run.ask()
                break
            now = done * SECONDS_A_TURN
            run.append(turn, now)
            plain.append(turn)
            run.measure(plain.size)
            if done in ends:
                run.ask()
            progress(done)
        run.at_the_end()
    tally.plain_after = plain.after
    tally.seconds = time.perf_counter() - started
    return tally


def _asserted(turn: Turn) -> list[Mention]:
    """What a turn asserts."""
    try:
        return facts_of(turn)
    except UnreadableError:
        return []


class _Run:
    """One replay under way."""

    def __init__(
        self,
        transcript: Transcript,
        database: Path,
        tally: Tally,
        turns: Sequence[Turn],
        *,
        gate: bool,
        settings: Settings,
        replies: Sequence[str],
        queries: int,
    ) -> None:
        assert settings.high_water is not None  # a replay has a budget
        self._transcript = transcript
        self._database = database
        self._tally = tally
        self._turns = turns
        self._by_id: dict[str, Turn] = {}
        self._gate = gate
        self._settings = settings
        self._high_water = settings.high_water
        self._replies = replies
        self._wanted = queries
        self._queries: list[Query] | None = None
        self._window: list[Turn | str] = []
        self._size = 0
        self._consists: dict[str, int] = {}
        self._replaced: dict[str, int] = {}
        """How many assertions each replaced turn makes."""
        self._lost: set[str] = set()
        self._slots: set[tuple[str, str]] = set()
        self._policy = _Lifetime(LIFETIME)

    # -- the window --

    def append(self, turn: Turn, now: float) -> None:
        """Append a turn, and compact where the window is over its watermark then."""
        self._transcript.append(turn)
        self._tally.turns += 1
        self._by_id[turn.id] = turn
        self._window.append(turn)
        self._size += four_characters(said_in(turn))
        if self._size > self._high_water:
            self._compact(now)

    def _compact(self, now: float) -> None:
        """Compact once, ask for everything that was ever replaced, and sweep."""
        outcome = self._outcome()
        live = self._transcript.live()
        before, self._window = self._window, [self._by_id[one.turn] if one.turn else one.text or "" for one in live]
        self._size = sum(four_characters(item.text or "") for item in live)
        if outcome.kind is not OutcomeKind.COMMITTED:
            return
        tally = self._tally
        tally.compactions += 1
        tally.generations = max(tally.generations, *(item.generation or 0 for item in live))
        for turn in outcome.covered or ():
            self._note(turn)
        entries = self._entries(live)
        self._ask_for_all(entries)
        self._take_apart(before, live)
        if tally.compactions % SWEEP_EVERY == 0:
            self._sweep(now)

    def _outcome(self) -> Outcome:
        outcome = self._transcript.compact()
        if outcome.kind is OutcomeKind.REFUSED and not self._gate and self._transcript.status().stopped:
            self._tally.overrides += 1
            self._transcript.override("the gate is off: whatever is lost is accepted")
            outcome = self._transcript.compact()
        return outcome

    def _note(self, turn_id: str) -> None:
        if turn_id in self._replaced:
            return
        facts = _asserted(self._by_id[turn_id])
        self._replaced[turn_id] = len(facts)
        self._slots |= {(m.subject, m.attribute) for m in facts if m.kind == "slot" and m.subject and m.attribute}
        self._tally.spans += 1
        self._tally.assertions += len(facts)

    def measure(self, plain: int) -> None:
        """Take the sizes of both windows after a turn, from the first compaction on."""
        if not self._tally.compactions:
            return
        self._tally.steady += 1
        self._tally.window += self._size
        self._tally.plain += plain
        for kind, share in self._consists.items():
            self._tally.consists[kind] = self._tally.consists.get(kind, 0) + share

    def _take_apart(self, before: Sequence[Turn | str], live: Sequence[Item]) -> None:
        """What the window holds beside the model's own summary and the turns that stay without a gate, too."""
        window = [in_window(i, one) for i, one in enumerate(before)]
        going = set(replaced(window, self._settings))
        stay = {one.turn.id for i, one in enumerate(window) if i not in going and one.turn is not None}
        written = set(self._replies[-1].split("\n"))
        marks = manifests = 0
        for item in live:
            if item.kind is CarrierKind.SUMMARY:
                *body, last = (item.text or "").split("\n")
                marks += four_characters(last)
                manifests += sum(four_characters(line) for line in body if line not in written)
        self._consists = {
            "raw retained": sum(
                four_characters(item.text or "")
                for item in live
                if item.kind is CarrierKind.RAW and item.turn not in stay
            ),
            "manifests: statements repeated because no original anchors them any more": manifests,
            "pointers": 0,  # they are had by asking, and stand outside the window
            "the line that names omissions": marks,
        }
        self._tally.after.append(self._size)

    def _sweep(self, now: float) -> None:
        tally = self._tally
        if self._gate:
            outcomes = self._transcript.sweep(self._policy)
            tally.proposed += len(outcomes)
            tally.evicted += sum(1 for one in outcomes if one.kind is OutcomeKind.COMMITTED)
            tally.refused += sum(1 for one in outcomes if one.kind is OutcomeKind.REFUSED)
            return
        with contextlib.closing(sqlite3.connect(self._database, timeout=30)) as reaper, reaper:
            removed = reaper.execute(
                "DELETE FROM cold WHERE epoch IN (SELECT epoch FROM pointer WHERE time < ?)", (now - LIFETIME,)
            ).rowcount
        tally.proposed += removed
        tally.evicted += removed

    # -- what is asked --

    def _entries(self, live: Sequence[Item]) -> dict[str, set[str]]:
        """What the manifests of the window's summaries say of each turn; every entry stands in the summary, and in
        the turn that it names, or it has drifted (MAN-2)."""
        said: dict[str, set[str]] = {}
        for item in live:
            if item.kind is not CarrierKind.SUMMARY:
                continue
            for entry in self._transcript.manifest(item.id):
                source = self._by_id.get(entry.source or "")
                if source is None or entry.literal not in (item.text or "") or entry.literal not in said_in(source):
                    self._tally.drift += 1
                elif entry.source:
                    said.setdefault(entry.source, set()).add(entry.literal)
        return said

    def _ask_for_all(self, entries: Mapping[str, set[str]]) -> None:
        """Ask for every assertion of every turn that was ever replaced: its original has to be there and to say it,
        or a manifest that says it.

        Where the original is word for word the turn each of them stands in it; where it is not each is looked for.
        What was found lost stays lost, and is not asked for again.
        """
        tally = self._tally
        tokens = {turn: one.token for one in self._transcript.pointers() for turn in one.covers or ()}
        tally.carried = 0
        for turn_id, count in self._replaced.items():
            if turn_id in self._lost:
                continue
            tally.asked_again += 1
            turn = self._by_id[turn_id]
            token = tokens.get(turn_id)
            text = None if token is None else self._original(token)
            if text is not None:
                if text != said_in(turn):
                    tally.drift += sum(1 for fact in _asserted(turn) if not _says(text, fact))
                continue
            held = entries.get(turn_id, set())
            missing = 0 if not count else sum(1 for fact in _asserted(turn) if fact.literal not in held)
            tally.carried += count - missing
            if missing:
                self._lost.add(turn_id)
                tally.unresolvable += 1
                tally.lost += missing

    def _original(self, token: str) -> str | None:
        with contextlib.suppress(AnchorholdError):
            answer = self._transcript.get(token)
            if answer.kind is AnswerKind.FOUND:
                return answer.text
        return None

    def ask(self) -> None:
        """Ask the fixed set once: for what was said, and for what never was. It is drawn when this is first called
        with something replaced."""
        if self._queries is None and self._replaced:
            self._queries = choose_queries(self._turns, list(self._replaced), count=self._wanted)
        hits = {False: 0, True: 0}
        asked = {False: 0, True: 0}
        for query in self._queries or ():
            if query.turn is None:
                self._ask_in_vain(query)
                continue
            answer = self._answer(query)
            found = answer is not None and answer.kind is AnswerKind.FOUND
            right = found and answer is not None and answer.source == query.turn and _fits(query, answer.text or "")
            asked[query.words] += 1
            hits[query.words] += right
            self._tally.wrong += found and not right and not query.words
        tally = self._tally
        tally.hits.append(sum(hits.values()))
        tally.asked.append(sum(asked.values()))
        tally.found_by_words.append(hits[True])
        tally.asked_by_words.append(asked[True])

    def _answer(self, query: Query) -> Answer | None:
        if not query.words:
            return self._transcript.search(query.text)
        return next(iter(self._transcript.retrieve(query.text, limit=1)), None)

    def _ask_in_vain(self, query: Query) -> None:
        answer = self._transcript.search(query.text)
        self._tally.misses += 1
        self._tally.misses_reported += answer.kind in MISS
        self._tally.wrong += answer.kind is AnswerKind.FOUND

    def at_the_end(self) -> None:
        """Ask for everything once more, and for each slot that was asserted."""
        tally = self._tally
        self._ask_for_all(self._entries(self._transcript.live()))
        for subject, attribute in sorted(self._slots):
            tally.slots += 1
            answer = self._transcript.reconstitute(subject, attribute, evidence=True)
            tally.drift += answer.kind is AnswerKind.FOUND and not self._asserts(answer, subject, attribute)
        audits = self._transcript.audits()
        tally.audits = len(audits)
        tally.failed_audits = sum(1 for one in audits if not one.passed)
        tally.tombstones = len(self._transcript.tombstones())

    def _asserts(self, answer: Answer, subject: str, attribute: str) -> bool:
        """Whether the turn that an answer names as its source asserts that value of that slot."""
        source = self._by_id.get(answer.source or "")
        return source is not None and any(
            m.kind == "slot"
            and spelled(subject) in spelling(m.subject or "", m.said)
            and spelled(attribute) in spelling(m.attribute or "", m.said)
            and m.literal == answer.value
            for m in _asserted(source)
        )


def _says(text: str, fact: Mention) -> bool:
    return fact.said in text and (fact.kind == "argument" or fact.literal in text)


def _fits(query: Query, text: str) -> bool:
    if not query.words:
        return query.text in text
    return all(word in text.casefold() for word in query.text.split())
