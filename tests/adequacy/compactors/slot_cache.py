"""A cache of numbered slots that are used again: slot and epoch make the key, an eviction goes through a gate.

It computes manifests, keeps tombstones, answers questions for slots of facts, and holds several sessions.
"""

import copy
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from anchorhold.compactor import (
    Description,
    Mechanism,
    OperationError,
    Reply,
    Settings,
    Shown,
    Summarise,
    SummariserError,
)
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
from compactors.common import (
    Statement,
    bare,
    committed,
    failed,
    in_anothers_mouth,
    kept,
    limit,
    noted,
    nothing,
    objection,
    raw,
    refused,
    replaceable,
    size,
    statements,
    verifiable,
    whole,
    without,
)


@dataclass(frozen=True)
class Stored:
    """The original of one turn in a slot."""

    turn: Turn
    session: str
    epoch: int
    digest: str

    def intact(self) -> bool:
        return hashlib.sha256(whole(self.turn).encode()).hexdigest() == self.digest


@dataclass(frozen=True)
class Summary:
    """The one live summary of a session."""

    id: str
    text: str
    reply: str
    covers: tuple[str, ...]
    generation: int


@dataclass
class Session:
    """Everything of one session but the originals."""

    turns: list[Turn] = field(default_factory=list)
    """The window."""
    said: list[Turn] = field(default_factory=list)
    """A record of what every turn asserted, for answers; no original is served from it."""
    summary: Summary | None = None
    tokens: dict[str, str] = field(default_factory=dict)
    """Token of each archived turn."""
    tombstones: list[Tombstone] = field(default_factory=list)


@dataclass
class State:
    """What is durable."""

    slots: dict[int, Stored] = field(default_factory=dict)
    epochs: dict[int, int] = field(default_factory=dict)
    free: list[int] = field(default_factory=list)
    sessions: dict[str, Session] = field(default_factory=dict)
    summaries: int = 0


class SlotCache:
    """The cache, done right."""

    points = ("put", "commit")

    def describe(self) -> Description:
        return Description(
            name=type(self).__name__,
            version="1",
            mechanisms=frozenset({Mechanism.SUMMARISER, Mechanism.KEY_RECYCLING}),
            crash_points=self.points,
        )

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        # A session's name is all that it goes by.
        settings = replace(settings, horizon=None, lifetime=None, user=None)
        self.settings, self.summarise = settings, summarise
        self.state = State()
        self.name = settings.session
        self.armed: str | None = None
        self.save()
        return settings

    def close(self) -> None:
        self.state = State()

    def save(self) -> None:
        self.disk = copy.deepcopy(self.state)

    def die(self, point: str) -> None:
        if self.armed == point:
            raise OperationError(f"died at {point}", definite=False)

    @property
    def session(self) -> Session:
        return self.state.sessions.setdefault(self.name, Session())

    # The window

    def append(self, turn: Turn) -> None:
        if any(known.id == turn.id for known in self.session.said):
            return
        self.session.turns.append(turn)
        self.session.said.append(turn)
        self.save()

    def live(self) -> list[Item]:
        items = [raw(turn) for turn in self.session.turns]
        summary = self.session.summary
        if summary is None:
            return items
        first = Item(
            id=summary.id,
            kind=CarrierKind.SUMMARY,
            text=summary.text,
            covers=summary.covers,
            generation=summary.generation,
        )
        return [first, *items]

    def compact(self) -> Outcome:
        session = self.session
        parts = [session.summary.text if session.summary else "", *session.turns]
        if size(parts) <= limit(self.settings):
            return nothing("the window is under its watermark")
        old = self.choose(session.turns)
        if not old:
            return nothing("nothing but the latest turns is left")
        earlier = session.summary
        shown = Shown(
            messages=(
                "Summarise what follows.",
                *([bare(earlier.text)] if earlier else []),
                *(whole(turn) for turn in old),
            )
        )
        try:
            reply = self.summarise(shown)
        except SummariserError as error:
            return failed(str(error))
        why = self.objection(reply, shown, earlier)
        if why is not None:
            return refused(why)
        self.carry_out(old, reply.text)
        assert self.session.summary is not None
        return committed(self.session.summary.id, (turn.id for turn in old))

    def choose(self, turns: list[Turn]) -> list[Turn]:
        return replaceable(turns, keep=self.settings.keep)

    def objection(self, reply: Reply, shown: Shown, earlier: Summary | None) -> str | None:
        return objection(reply, shown, [earlier.reply, bare(earlier.text)] if earlier else [])

    def carry_out(self, old: list[Turn], text: str) -> None:
        self.archive(old)
        self.save()
        self.die("put")
        self.commit(old, text)
        self.save()
        self.die("commit")

    def archive(self, old: list[Turn]) -> None:
        for turn in old:
            if turn.id not in self.session.tokens:
                self.session.tokens[turn.id] = self.put(turn)

    def put(self, turn: Turn) -> str:
        state = self.state
        slot = state.free.pop() if state.free else len(state.epochs)
        epoch = state.epochs.get(slot, 0) + 1
        state.epochs[slot] = epoch
        digest = hashlib.sha256(whole(turn).encode()).hexdigest()
        state.slots[slot] = Stored(turn, self.name, epoch, digest)
        return f"{slot}@{epoch}"

    def commit(self, old: list[Turn], text: str) -> None:
        session, earlier = self.session, self.session.summary
        covers = (*(earlier.covers if earlier else ()), *(turn.id for turn in old))
        self.state.summaries += 1
        session.summary = Summary(
            id=f"sum-{self.state.summaries}",
            text=self.compose(kept(text, self.needed(earlier)), covers),
            reply=text,
            covers=covers,
            generation=1 + (earlier.generation if earlier else 0),
        )
        session.turns = without(session.turns, old)

    def compose(self, text: str, covers: tuple[str, ...]) -> str:
        return noted(text, len(covers))

    def needed(self, earlier: Summary | None) -> list[str]:
        """What only the summary that is about to go still says."""
        if earlier is None:
            return []
        return [
            sentence
            for turn in self.session.said
            if turn.id in earlier.covers and turn.id not in self.session.tokens
            for sentence in verifiable(whole(turn))
            if sentence in earlier.text and not self.dropped(turn.id, sentence)
        ]

    # Getting back

    def parse(self, token: str) -> tuple[int, int] | None:
        slot, at, epoch = token.partition("@")
        return (int(slot), int(epoch)) if at and slot.isdigit() and epoch.isdigit() else None

    def stored(self, token: str) -> Stored | None:
        parsed = self.parse(token)
        entry = self.state.slots.get(parsed[0]) if parsed else None
        return entry if parsed and entry and entry.epoch == parsed[1] else None

    def pointers(self) -> list[Pointer]:
        summary = self.session.summary
        if summary is None:
            return []
        return [
            Pointer(summary=summary.id, token=token, covers=(turn,), key=token.split("@")[0], epoch=self.epoch(token))
            for turn, token in self.session.tokens.items()
            if turn in summary.covers
        ]

    def epoch(self, token: str) -> int | None:
        parsed = self.parse(token)
        return parsed[1] if parsed else None

    def get(self, token: str) -> Answer:
        parsed, entry = self.parse(token), self.stored(token)
        if entry is None:
            issued = parsed is not None and 0 < parsed[1] <= self.state.epochs.get(parsed[0], 0)
            # Whose it was is no longer known, so that every session is told the same of a key that is gone.
            return Answer(kind=AnswerKind.EXPIRED) if issued else Answer(kind=AnswerKind.FOREIGN)
        if not self.mine(entry):
            return Answer(kind=AnswerKind.FOREIGN)
        if not self.sound(entry):
            raise OperationError(f"{token} does not have the digest {entry.digest[:12]} that it was written with")
        return Answer(
            kind=AnswerKind.FOUND, text=whole(entry.turn), source=entry.turn.id, carrier=token, evidence=True
        )

    def mine(self, entry: Stored) -> bool:
        return entry.session == self.name

    def sound(self, entry: Stored) -> bool:
        return entry.intact()

    def original(self, turn: Turn) -> Turn | None:
        """The original of a turn, from the window or from its slot."""
        if turn in self.session.turns:
            return turn
        entry = self.stored(self.session.tokens.get(turn.id, ""))
        return entry.turn if entry is not None and entry.intact() else None

    def search(self, literal: str) -> Answer:
        known = False
        for turn in reversed(self.known()):
            if literal not in whole(turn):
                continue
            known = True
            if self.original(turn) is not None:
                return Answer(kind=AnswerKind.FOUND, text=whole(turn), source=turn.id, evidence=True)
        summary = self.session.summary
        if summary is not None and literal in summary.text:
            line = next(line for line in summary.text.splitlines() if literal in line)
            return Answer(kind=AnswerKind.FOUND, text=line, carrier=summary.id, evidence=False)
        dropped = next((t for t in self.session.tombstones if t.literal == literal), None)
        if dropped is not None:
            return Answer(kind=AnswerKind.TOMBSTONED, reason=dropped.reason)
        return Answer(kind=AnswerKind.UNANCHORED if known else AnswerKind.ABSENT)

    def known(self) -> list[Turn]:
        return self.session.said

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        asserting = [
            (turn, s)
            for turn in self.known()
            for s in statements(whole(turn))
            if self.means(s, subject) and s.attribute == attribute
        ]
        if not asserting:
            return self.unheard(subject, attribute)
        turn, statement = asserting[-1]
        if self.buried(turn.id, statement):
            return Answer(kind=AnswerKind.TOMBSTONED, reason="dropped by the caller")
        for other, same in reversed(asserting):
            if same.value == statement.value and self.original(other) is not None:
                return Answer(
                    kind=AnswerKind.FOUND, text=whole(other), value=same.value, source=other.id, evidence=True
                )
        summary = self.session.summary
        if summary is None or statement.sentence not in summary.text:
            return Answer(kind=AnswerKind.UNANCHORED)
        if evidence:
            return Answer(kind=AnswerKind.INSUFFICIENT, reason="only a summary speaks of it")
        return Answer(
            kind=AnswerKind.FOUND,
            text=statement.sentence,
            value=statement.value,
            carrier=summary.id,
            source=turn.id,
            evidence=False,
        )

    def means(self, statement: Statement, subject: str) -> bool:
        return statement.subject == subject

    def unheard(self, subject: str, attribute: str) -> Answer:
        return Answer(kind=AnswerKind.ABSENT)

    # Manifests, tombstones, evictions

    def manifest(self, carrier: str) -> list[Entry]:
        summary = self.session.summary
        if summary is None or summary.id != carrier:
            return []
        return [
            Entry(literal=s.value, source=turn.id, subject=s.subject, attribute=s.attribute)
            for turn in self.session.said
            if turn.id in summary.covers
            for s in statements(whole(turn))
            if self.claims(summary, s) and not self.said_by_another(summary, s, turn)
        ]

    def claims(self, summary: Summary, statement: Statement) -> bool:
        return statement.sentence in summary.text

    def said_by_another(self, summary: Summary, statement: Statement, turn: Turn) -> bool:
        return in_anothers_mouth(summary.text, statement, turn)

    def tombstones(self) -> list[Tombstone]:
        return list(self.session.tombstones)

    def tombstone(self, literal: str, source: str, reason: str) -> Outcome:
        self.session.tombstones.append(Tombstone(literal=literal, source=source, decided_by="caller", reason=reason))
        self.save()
        return Outcome(kind=OutcomeKind.COMMITTED)

    def buried(self, turn: str, statement: Statement) -> bool:
        return any(t.source == turn and t.literal == statement.value for t in self.session.tombstones)

    def evict(self, token: str) -> Outcome:
        entry = self.stored(token)
        if entry is None or not self.mine(entry):
            return nothing("there is nothing under this pointer")
        if any(turn.id == entry.turn.id for turn in self.session.turns):
            return refused("the turn is still in the window")
        loose = self.loose(entry.turn, token)
        if loose:
            return refused("nothing else holds what the turn says", *loose)
        self.release(token)
        self.save()
        return Outcome(kind=OutcomeKind.COMMITTED)

    def loose(self, turn: Turn, token: str) -> list[str]:
        """What only this original still says."""
        elsewhere = [self.session.summary.text] if self.session.summary else []
        elsewhere += [whole(t) for t in self.session.turns]
        for other in self.session.tokens.values():
            stored = self.stored(other)
            if other != token and stored is not None and stored.intact():
                elsewhere.append(whole(stored.turn))
        return [
            sentence
            for sentence in verifiable(whole(turn))
            if not self.dropped(turn.id, sentence) and not any(sentence in text for text in elsewhere)
        ]

    def dropped(self, turn: str, sentence: str) -> bool:
        return any(t.source == turn and t.literal in sentence for t in self.session.tombstones)

    def release(self, token: str) -> None:
        slot = int(token.split("@")[0])
        del self.state.slots[slot]
        self.state.free.append(slot)
        self.session.tokens = {turn: t for turn, t in self.session.tokens.items() if t != token}

    # Other sessions, faults

    def switch(self, session: str, user: str) -> None:
        self.name = session
        self.save()

    def reopen(self) -> None:
        self.armed = None
        self.state = copy.deepcopy(self.disk)

    def crash(self, point: str) -> None:
        self.armed = point

    def corrupt(self, token: str) -> bool:
        entry = self.stored(token)
        if entry is None:
            return False
        text = whole(entry.turn)
        damaged = replace(entry.turn, text=f"####{text[4:]}", calls=())
        self.state.slots[int(token.split("@")[0])] = replace(entry, turn=damaged)
        self.save()
        return True


class EvictsTheLastCarrier(SlotCache):
    def loose(self, turn: Turn, token: str) -> list[str]:
        return []


class CountsASiblingAsTheSame(SlotCache):
    """The gate looks for the value's first characters only."""

    def loose(self, turn: Turn, token: str) -> list[str]:
        return [s for s in super().loose(turn, token) if s.startswith("The ")]


class CountsTheSummaryThatGoes(SlotCache):
    """What only the replaced summary said is not carried on."""

    def needed(self, earlier: Summary | None) -> list[str]:
        return []


class ReleasesAndThenRefuses(SlotCache):
    """The check comes after the removal."""

    def evict(self, token: str) -> Outcome:
        entry = self.stored(token)
        outcome = super().evict(token)
        if outcome.kind is OutcomeKind.REFUSED and entry is not None and "window" not in (outcome.reason or ""):
            self.release(token)
            self.save()
        return outcome


class SaysEvictedAndKeeps(SlotCache):
    def release(self, token: str) -> None:
        pass


class TombstonesWhatWasLeftOut(SlotCache):
    def commit(self, old: list[Turn], text: str) -> None:
        super().commit(old, text)
        self.bury(s for turn in old for s in [(turn, each) for each in statements(whole(turn))])

    def bury(self, said: Iterable[tuple[Turn, Statement]]) -> None:
        summary = self.session.summary
        for turn, statement in said:
            if summary is not None and statement.sentence not in summary.text:
                self.session.tombstones.append(
                    Tombstone(
                        literal=statement.value,
                        source=turn.id,
                        decided_by="compactor",
                        reason="not in the summary",
                    )
                )


class TombstonesEverythingWhenAskedForOne(SlotCache):
    """One decision of the caller buries the same words wherever they stand."""

    def tombstone(self, literal: str, source: str, reason: str) -> Outcome:
        outcome = super().tombstone(literal, source, reason)
        for turn in self.session.said:
            for statement in statements(whole(turn)):
                if turn.id != source:
                    self.session.tombstones.append(
                        Tombstone(literal=statement.value, source=turn.id, decided_by="caller", reason=reason)
                    )
        self.save()
        return outcome


class ClaimsWhatItDoesNotSay(SlotCache):
    def claims(self, summary: Summary, statement: Statement) -> bool:
        return True


class ClaimsByTheSubject(SlotCache):
    """A manifest entry for everything whose subject the summary mentions."""

    def claims(self, summary: Summary, statement: Statement) -> bool:
        return statement.sentence in summary.text or statement.attribute in summary.text

    def manifest(self, carrier: str) -> list[Entry]:
        return [replace(entry, source=None) for entry in super().manifest(carrier)]


class BelievesWhomItNames(SlotCache):
    """What the reply says goes into the manifest, whoever it has say it."""

    def said_by_another(self, summary: Summary, statement: Statement, turn: Turn) -> bool:
        return False


class BelievesItsModel(SlotCache):
    """Whatever statement the reply makes goes into the manifest, as if the latest turn had made it."""

    def manifest(self, carrier: str) -> list[Entry]:
        summary = self.session.summary
        if summary is None or summary.id != carrier:
            return []
        return [
            Entry(literal=s.value, source=summary.covers[-1], subject=s.subject, attribute=s.attribute)
            for s in statements(summary.text)
        ]


class CommitsBeforeThePointer(SlotCache):
    points = ("commit", "put")

    def carry_out(self, old: list[Turn], text: str) -> None:
        self.commit(old, text)
        self.save()
        self.die("commit")
        self.archive(old)
        self.save()
        self.die("put")


class PutsWithoutSaving(SlotCache):
    """The originals are written with the next append, as if they were telemetry."""

    def carry_out(self, old: list[Turn], text: str) -> None:
        self.commit(old, text)
        self.save()
        self.archive(old)
        self.die("commit")


class PointsFromTheLatestSummaryOnly(SlotCache):
    """A summary points at what it replaced itself, and not at what lies under the summary before."""

    def commit(self, old: list[Turn], text: str) -> None:
        super().commit(old, text)
        assert self.session.summary is not None
        new = {turn.id for turn in old}
        self.session.tokens = {turn: token for turn, token in self.session.tokens.items() if turn in new}


class IgnoresEpochs(SlotCache):
    def put(self, turn: Turn) -> str:
        return super().put(turn).split("@")[0]

    def parse(self, token: str) -> tuple[int, int] | None:
        return (int(token), self.state.epochs.get(int(token), 0)) if token.isdigit() else None

    def epoch(self, token: str) -> int | None:
        return None


class RestartsItsEpochs(SlotCache):
    """A slot that becomes free starts from the first epoch again."""

    def release(self, token: str) -> None:
        super().release(token)
        self.state.epochs[int(token.split("@")[0])] = 0


class ServesDamagedBytes(SlotCache):
    def sound(self, entry: Stored) -> bool:
        return True


class KeysByContent(SlotCache):
    """An upsert by what the turn says: equal words are one entry, of the latest turn."""

    def archive(self, old: list[Turn]) -> None:
        for turn in old:
            same = next((i for i, t in self.session.tokens.items() if self.text(t) == whole(turn)), None)
            self.session.tokens[turn.id] = self.session.tokens[same] if same is not None else self.put(turn)

    def text(self, token: str) -> str | None:
        entry = self.stored(token)
        return whole(entry.turn) if entry else None


class AnswersWithANeighbour(SlotCache):
    def means(self, statement: Statement, subject: str) -> bool:
        return statement.subject[:-1] == subject[:-1]


class AnswersWithTheLikeliest(SlotCache):
    """Whoever asks for something that was never said gets the newest value of such an attribute."""

    def unheard(self, subject: str, attribute: str) -> Answer:
        for turn in reversed(self.session.said):
            for statement in statements(whole(turn)):
                if statement.attribute == attribute:
                    return Answer(kind=AnswerKind.FOUND, text=whole(turn), value=statement.value, evidence=True)
        return super().unheard(subject, attribute)


class AnswersWithTheOldest(SlotCache):
    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        for turn in self.session.said:
            for statement in statements(whole(turn)):
                if (statement.subject, statement.attribute) == (subject, attribute):
                    return Answer(kind=AnswerKind.FOUND, value=statement.value, text=statement.sentence)
        return Answer(kind=AnswerKind.ABSENT)


class SearchesEverySession(SlotCache):
    def known(self) -> list[Turn]:
        return [turn for session in self.state.sessions.values() for turn in session.said]

    def original(self, turn: Turn) -> Turn | None:
        return turn


class ServesEverySession(SlotCache):
    def mine(self, entry: Stored) -> bool:
        return True
