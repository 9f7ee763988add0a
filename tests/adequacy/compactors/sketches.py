"""What the four sources sketch, each as a compactor of its own, in our words and with the defects that it has.

None shares code with the other architectures: a set of facts for each span (S0), an index by digest (S1), spans with
flags (S2), a store of spans under numbers (S4).
"""

import hashlib
from dataclasses import dataclass, field
from typing import Any

from anchorhold.compactor import Description, Mechanism, Settings, Shown, Summarise, SummariserError
from anchorhold_spec.vocabulary import (
    Answer,
    AnswerKind,
    CarrierKind,
    Entry,
    Item,
    Outcome,
    OutcomeKind,
    Pointer,
    Tombstone,
    Turn,
)
from compactors.common import committed, failed, limit, nothing, raw, refused, size, statements, whole

LATEST = 5


@dataclass
class Window:
    """Turns, and before them the summaries that are live."""

    turns: list[Turn] = field(default_factory=list)
    summaries: dict[str, str] = field(default_factory=dict)

    def over(self, settings: Settings) -> bool:
        return size([*self.summaries.values(), *self.turns]) > limit(settings)

    def items(self, covers: dict[str, tuple[str, ...]] | None = None) -> list[Item]:
        return [
            *(
                Item(id=name, kind=CarrierKind.SUMMARY, text=text, covers=(covers or {}).get(name))
                for name, text in self.summaries.items()
            ),
            *map(raw, self.turns),
        ]


class Sketch:
    """What all four need around them: a window, and a model to ask."""

    mechanisms = frozenset({Mechanism.SUMMARISER})

    def describe(self) -> Description:
        return Description(name=type(self).__name__, version="0", mechanisms=self.mechanisms)

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.settings, self.summarise, self.window = settings, summarise, Window()
        return settings

    def close(self) -> None:
        self.window = Window()

    def append(self, turn: Turn) -> None:
        self.window.turns.append(turn)

    def live(self) -> list[Item]:
        return self.window.items()

    def compact(self) -> Outcome:
        if not self.window.over(self.settings) or len(self.window.turns) <= LATEST:
            return nothing("there is room")
        old = self.window.turns[:-LATEST]
        try:
            reply = self.summarise(Shown(messages=(*self.window.summaries.values(), *map(whole, old))))
        except SummariserError as error:
            return failed(str(error))
        if not reply.text.strip() or reply.finish != "stop":
            return failed("no summary")
        return self.replace(old, reply.text)

    def replace(self, old: list[Turn], text: str) -> Outcome:
        raise NotImplementedError


class ManifestAndAnchor(Sketch):
    """S0: every carrier has a set of facts; eviction asks whether another carrier has them too.

    The summary is registered before anything is checked, so that a refusal leaves it in the chain. A span of which
    nothing was extracted goes without a question. Tombstones are facts, whoever said them and whenever.
    """

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.carriers: dict[str, set[str]] = {}
        self.dropped: dict[str, tuple[str, str]] = {}
        self.number = 0
        return super().open(settings, summarise)

    def append(self, turn: Turn) -> None:
        super().append(turn)
        self.carriers[turn.id] = {s.sentence for s in statements(whole(turn))}

    def replace(self, old: list[Turn], text: str) -> Outcome:
        self.number += 1
        name, carried = f"summary-{self.number}", {s.sentence for s in statements(text)}
        before = tuple(self.window.summaries)
        self.carriers[name] = carried
        self.window.summaries[name] = text
        going = [*(turn.id for turn in old), *before]
        lost = set().union(*(self.carriers[carrier] for carrier in going)) - carried
        unmarked = sorted(fact for fact in lost if not self.buried(fact))
        if unmarked:
            return refused("facts were dropped without a tombstone", *unmarked)
        for carrier in going:
            del self.carriers[carrier]
            self.window.summaries.pop(carrier, None)
        del self.window.turns[: len(old)]
        return committed(name, (turn.id for turn in old))

    def buried(self, fact: str) -> bool:
        return any(literal in fact for literal in self.dropped)

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        for carrier, facts in reversed(self.carriers.items()):
            for fact in facts:
                for s in statements(fact):
                    if (s.subject, s.attribute) == (subject, attribute):
                        if self.buried(fact):
                            return Answer(kind=AnswerKind.TOMBSTONED)
                        original = carrier not in self.window.summaries
                        if evidence and not original:
                            return Answer(kind=AnswerKind.INSUFFICIENT)
                        return Answer(
                            kind=AnswerKind.FOUND, text=fact, value=s.value, carrier=carrier, evidence=original
                        )
        return Answer(kind=AnswerKind.UNANCHORED)

    def manifest(self, carrier: str) -> list[Entry]:
        return [
            Entry(literal=s.value, subject=s.subject, attribute=s.attribute)
            for fact in sorted(self.carriers.get(carrier, ()))
            for s in statements(fact)
        ]

    def tombstone(self, literal: str, source: str, reason: str) -> Outcome:
        self.dropped[literal] = (source, reason)
        return Outcome(kind=OutcomeKind.COMMITTED)

    def tombstones(self) -> list[Tombstone]:
        return [
            Tombstone(literal=literal, source=source, decided_by="caller", reason=reason)
            for literal, (source, reason) in self.dropped.items()
        ]


class UpsertsByContentHash(Sketch):
    """S1: one entry for the span under a summary, under a digest of the summary's own words.

    A coarser span takes the place of the finer ones inside it, and what was pointed at before is no longer there.
    """

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.index: dict[str, list[Turn]] = {}
        self.current = ""
        return super().open(settings, summarise)

    def replace(self, old: list[Turn], text: str) -> Outcome:
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        under = [turn for span in self.index.values() for turn in span]
        self.index = {key: [*under, *old]}
        self.window.summaries = {f"sum-{key}": text}
        self.current = key
        del self.window.turns[: len(old)]
        return committed(f"sum-{key}", (turn.id for turn in old))

    def pointers(self) -> list[Pointer]:
        return [Pointer(summary=f"sum-{key}", token=key, key=key) for key in self.index]

    def get(self, token: str) -> Answer:
        if token not in self.index:
            return Answer(kind=AnswerKind.FOREIGN)
        return Answer(kind=AnswerKind.FOUND, text="\n\n".join(map(whole, self.index[token])), evidence=True)


class BelievesFlags(Sketch):
    """S2: the gate goes by what somebody wrote on the span: plain words are narrative, and tools are not.

    A pointer is a digest of the body, and nobody keeps the body.
    """

    mechanisms = frozenset[Mechanism]()

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.folded: list[Turn] = []
        return super().open(settings, summarise)

    def compact(self) -> Outcome:
        old = [turn for turn in self.window.turns[:-LATEST] if turn.speaker in ("user", "assistant")]
        if not self.window.over(self.settings) or not old:
            return nothing("there is room")
        self.folded += old
        gone = {turn.id for turn in old}
        self.window.turns = [turn for turn in self.window.turns if turn.id not in gone]
        self.window.summaries = {f"lossy-{len(self.folded)}": f"[lossy: {len(self.folded)} narrative spans]"}
        return committed(f"lossy-{len(self.folded)}", gone)

    def digest(self, turn: Turn) -> str:
        return hashlib.sha256(whole(turn).encode()).hexdigest()

    def pointers(self) -> list[Pointer]:
        return [
            Pointer(summary=next(iter(self.window.summaries)), token=self.digest(turn), covers=(turn.id,))
            for turn in self.folded
        ]

    def get(self, token: str) -> Answer:
        if any(self.digest(turn) == token for turn in self.folded):
            return Answer(kind=AnswerKind.UNANCHORED, reason="the body is not stored")
        return Answer(kind=AnswerKind.FOREIGN)


class EvictsWhatItResolvesFrom(Sketch):
    """S4: a source has to be in the store when its summary is committed, and is then let go from that very store."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.store: dict[tuple[str, int], Turn] = {}
        self.sources: dict[str, tuple[str, int]] = {}
        self.summary = ""
        return super().open(settings, summarise)

    def replace(self, old: list[Turn], text: str) -> Outcome:
        self.summary = f"sum-{old[0].id}"
        for turn in old:
            self.store[turn.id, 1] = turn
            if (turn.id, 1) not in self.store:
                return failed("the source is not durable")
            self.sources[f"sum-{turn.id}"] = (turn.id, 1)
        self.window.summaries = {self.summary: text}
        del self.window.turns[: len(old)]
        for turn in old:
            self.release(turn)
        return committed(self.summary, (turn.id for turn in old))

    def release(self, turn: Turn) -> None:
        self.store.pop((turn.id, 1), None)  # a turn may have been handed in twice

    def pointers(self) -> list[Pointer]:
        return [
            Pointer(summary=self.summary, token=name, covers=(source[0],)) for name, source in self.sources.items()
        ]

    def get(self, token: str) -> Answer:
        if token not in self.sources:
            return Answer(kind=AnswerKind.FOREIGN)
        turn = self.store.get(self.sources[token])
        if turn is None:
            return Answer(kind=AnswerKind.EXPIRED)
        return Answer(kind=AnswerKind.FOUND, text=whole(turn) or None, data=turn.data, source=turn.id, evidence=True)


class RecyclesSummaryIds(EvictsWhatItResolvesFrom):
    """S4: spans are numbered within one compaction, so that the ids of summaries come again with the next one."""

    mechanisms = frozenset({Mechanism.SUMMARISER, Mechanism.KEY_RECYCLING})

    def replace(self, old: list[Turn], text: str) -> Outcome:
        self.sources = {}
        outcome = super().replace(old, text)
        self.sources = {f"sum-{number}": source for number, source in enumerate(self.sources.values())}
        return outcome

    def release(self, turn: Turn) -> None:
        """This one keeps its sources."""


HONEST: tuple[type[Any], ...] = ()
WRONG: tuple[tuple[type[Any], str], ...] = (
    (ManifestAndAnchor, "ANC-5"),
    (ManifestAndAnchor, "MAN-1"),
    (ManifestAndAnchor, "MAN-4"),
    (UpsertsByContentHash, "IDX-4"),
    (BelievesFlags, "EVI-1"),
    (BelievesFlags, "EVI-4"),
    (BelievesFlags, "PTR-1"),
    (EvictsWhatItResolvesFrom, "PTR-1"),
    (EvictsWhatItResolvesFrom, "EVI-1"),
    (RecyclesSummaryIds, "EPO-2"),
    (RecyclesSummaryIds, "EPO-1"),
)
