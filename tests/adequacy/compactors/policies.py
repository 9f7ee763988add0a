"""Whoever wants room, and the gate that it goes through or around (ANC-2, ANC-3, MAN-4, EPO-1)."""

import json
from dataclasses import replace
from typing import Any

from anchorhold.compactor import Settings, Summarise
from anchorhold_spec.vocabulary import Answer, AnswerKind, Outcome, OutcomeKind, Turn
from compactors.common import Statement, bare, noted, nothing, refused, verifiable, whole
from compactors.event_log import Condensation, EventLog
from compactors.slot_cache import SlotCache

LIFETIME = 6 * 3600.0


class ExpiresThroughTheGate(SlotCache):
    """Honest: what has lived its time is proposed to the gate, which lets it go or not."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.now = 0.0
        self.born: dict[str, float] = {}
        self.aged: set[str] = set()
        return super().open(settings, summarise)

    def put(self, turn: Turn) -> str:
        token = super().put(turn)
        self.born[token] = self.now
        return token

    def expire(self, seconds: float) -> None:
        self.now += seconds
        for token in [t for t, born in self.born.items() if self.now - born > LIFETIME and self.stored(t)]:
            self.let_go(token)

            self.aged.add(token)

    def let_go(self, token: str) -> None:
        self.evict(token)

    def get(self, token: str) -> Answer:
        answer = super().get(token)
        if answer.kind is AnswerKind.EXPIRED and token not in self.aged:
            return Answer(kind=AnswerKind.UNANCHORED, reason="it was let go on request")
        return answer


class ExpiresByAge(ExpiresThroughTheGate):
    """The lifetime goes by the clock, and not by who else holds it."""

    def let_go(self, token: str) -> None:
        self.release(token)
        self.save()


class MakesRoomAtAnyPrice(SlotCache):
    """Above twelve entries the size cap has its way, whatever the gate says."""

    def loose(self, turn: Turn, token: str) -> list[str]:
        return [] if len(self.state.slots) > 12 else super().loose(turn, token)


class RefusesWithoutNaming(SlotCache):
    def evict(self, token: str) -> Outcome:
        outcome = super().evict(token)
        return refused("not now") if outcome.facts else outcome


class ChecksAtTheStartOfCompactionOnly(SlotCache):
    """Who else holds what is looked up once, when a compaction begins; evictions in between go by that."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.seen: dict[str, set[str]] = {}
        return super().open(settings, summarise)

    def commit(self, old: list[Turn], text: str) -> None:
        super().commit(old, text)
        self.seen = {}
        for turn in self.session.said:
            for sentence in verifiable(whole(turn)):
                self.seen.setdefault(sentence, set()).add(turn.id)

    def loose(self, turn: Turn, token: str) -> list[str]:
        return [s for s in super().loose(turn, token) if not self.seen.get(s, set()) - {turn.id}]


class TombstonesTheWords(SlotCache):
    """A tombstone is kept by its words, and buries whoever says them again."""

    def buried(self, turn: str, statement: Statement) -> bool:
        return any(t.literal == statement.value for t in self.session.tombstones)


class ReleasesWhatWasDroppedElsewhere(SlotCache):
    """The gate takes a tombstone of the same words in another turn for one of this turn."""

    def dropped(self, turn: str, sentence: str) -> bool:
        return any(t.literal in sentence for t in self.session.tombstones)


class PrunedLog(EventLog):
    """Honest: an event may be blanked where another one, or the summary, says every verifiable thing in it."""

    def evict(self, token: str) -> Outcome:
        turn = self.turn(token) if token in self.names() and self.readable(token) is not None else None
        if turn is None:
            return nothing("there is nothing under this name")
        if any(name == token for name, _ in self.visible()):
            return refused("the turn is still in the window")
        loose = self.loose(token, turn)
        if loose:
            return refused("nothing else says it", *loose)
        self.blank(token)
        return Outcome(kind=OutcomeKind.COMMITTED)

    def loose(self, token: str, turn: Turn) -> list[str]:
        elsewhere = self.elsewhere(token)
        return [sentence for sentence in verifiable(whole(turn)) if not any(sentence in text for text in elsewhere)]

    def elsewhere(self, token: str) -> list[str]:
        last = self.condensation()
        texts = [last.text] if last else []
        for name in self.names():
            record = self.readable(name)
            if name != token and record is not None and "turn" in record:
                other = self.turn(name)
                assert other is not None
                texts.append(whole(other))
        return texts

    def condense(self, names: tuple[str, ...], covers: tuple[str, ...], text: str, generation: int) -> str:
        return super().condense(names, covers, self.complete(text, names), generation)

    def complete(self, text: str, names: tuple[str, ...]) -> str:
        """What only the summary before still says is said again."""
        last = self.condensation()
        gone = [name for name in names if "blank" in (self.readable(name) or {})]
        if last is None or not gone:
            return text
        missing = [s for s in verifiable(bare(last.text)) if s not in text]
        return noted("\n".join([bare(text), *missing]), len(names))

    def blank(self, token: str) -> None:
        number = int(token[1:])
        self.disk[number] = self.sealed({"blank": token})

    def sealed(self, record: dict[str, Any]) -> bytes:
        kept = self.disk
        self.disk = []
        self.write(record)
        (line,), self.disk = self.disk, kept
        return line

    def get(self, token: str) -> Answer:
        if token in self.names() and "blank" in (self.readable(token) or {}):
            return Answer(kind=AnswerKind.UNANCHORED, reason="the event was blanked on request")
        return super().get(token)

    def not_found(self, literal: str) -> Answer:
        last = self.condensation()
        line = next((one for one in (last.text if last else "").splitlines() if literal in one), None)
        if line is not None:
            return Answer(kind=AnswerKind.FOUND, text=line, evidence=False)
        blanks = any("blank" in (self.readable(name) or {}) for name in self.names())
        return Answer(kind=AnswerKind.UNANCHORED) if blanks else super().not_found(literal)


class PrunesByAnIndexOfYesterday(PrunedLog):
    """The gate looks at an index of who says what that is made when something is condensed, and not when it goes."""

    index: tuple[tuple[str, str], ...] = ()

    def condense(self, names: tuple[str, ...], covers: tuple[str, ...], text: str, generation: int) -> str:
        made = super().condense(names, covers, text, generation)
        turns = [(name, self.turn(name)) for name in self.names() if self.readable(name)]
        self.index = tuple((name, whole(turn)) for name, turn in turns if turn is not None)
        return made

    def elsewhere(self, token: str) -> list[str]:
        return [*super().elsewhere(token), *(text for name, text in self.index if name != token)]


class PrunesWhatIsOld(PrunedLog):
    """Everything but the latest twenty events may go."""

    def loose(self, token: str, turn: Turn) -> list[str]:
        return super().loose(token, turn) if int(token[1:]) > len(self.disk) - 20 else []


class RenumbersAfterPruning(PrunedLog):
    """An event that goes closes the gap: every later number then names the event after it."""

    def blank(self, token: str) -> None:
        number = int(token[1:])

        def moved(name: str) -> str:
            return f"e{int(name[1:]) - (int(name[1:]) > number)}"

        del self.disk[number]
        for at, line in enumerate(self.disk):
            record = json.loads(line.decode().partition(" ")[2])
            if "forgotten" in record:
                pairs = [
                    (name, turn)
                    for name, turn in zip(record["forgotten"], record["covers"], strict=True)
                    if name != token
                ]
                record["forgotten"] = [moved(name) for name, _ in pairs]
                record["covers"] = [turn for _, turn in pairs]
                self.disk[at] = self.sealed(record)

    def covers(self, condensation: Condensation) -> tuple[str, ...]:
        return condensation.covers


class ReusesTheNumbersOfBlanks(PrunedLog):
    """A blank event is filled with the next turn that comes: the number names another turn from then on."""

    def add(self, turn: Turn) -> str:
        blank = next((n for n in self.names() if "blank" in (self.readable(n) or {})), None)
        if blank is None:
            return super().add(turn)
        name = super().add(turn)
        line = self.disk.pop()
        last = self.condensation()
        self.disk[int(blank[1:])] = line
        if last is not None and blank in last.forgotten:
            at = last.forgotten.index(blank)
            kept = replace(
                last,
                forgotten=(*last.forgotten[:at], *last.forgotten[at + 1 :]),
                covers=(*last.covers[:at], *last.covers[at + 1 :]),
            )
            record = {
                "forgotten": kept.forgotten,
                "covers": kept.covers,
                "text": kept.text,
                "generation": kept.generation,
            }
            self.disk[int(last.id.removeprefix("sum-e"))] = self.sealed(record)
        return blank if name else name


HONEST: tuple[type[Any], ...] = (ExpiresThroughTheGate, PrunedLog)
WRONG: tuple[tuple[type[Any], str], ...] = (
    (ExpiresByAge, "ANC-2"),
    (MakesRoomAtAnyPrice, "ANC-2"),
    (RefusesWithoutNaming, "ANC-2"),
    (PrunesWhatIsOld, "ANC-2"),
    (ChecksAtTheStartOfCompactionOnly, "ANC-3"),
    (PrunesByAnIndexOfYesterday, "ANC-3"),
    (TombstonesTheWords, "MAN-4"),
    (ReleasesWhatWasDroppedElsewhere, "MAN-4"),
    (RenumbersAfterPruning, "EPO-1"),
    (ReusesTheNumbersOfBlanks, "EPO-1"),
)
