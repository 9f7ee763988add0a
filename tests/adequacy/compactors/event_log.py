"""An append-only log of events, in which a condensation is one more event; the window is derived from the log.

Every event stays in the log, so that a pointer is the number of an event, and compaction is a single durable write.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import msgspec

from anchorhold.compactor import (
    Description,
    Mechanism,
    OperationError,
    Settings,
    Shown,
    Summarise,
    SummariserError,
)
from anchorhold_spec.vocabulary import Answer, AnswerKind, CarrierKind, Item, Outcome, Pointer, Turn
from compactors.common import (
    bare,
    committed,
    failed,
    limit,
    noted,
    nothing,
    objection,
    raw,
    refused,
    replaceable,
    size,
    whole,
)


@dataclass(frozen=True)
class Condensation:
    """What is no longer shown, and what is shown instead."""

    id: str
    forgotten: tuple[str, ...]
    """Numbers of the events, those under earlier condensations included."""
    covers: tuple[str, ...]
    text: str
    generation: int


class EventLog:
    """The log, done right."""

    points = ("before-condensation", "after-condensation")

    def describe(self) -> Description:
        return Description(
            name=type(self).__name__,
            version="1",
            mechanisms=frozenset({Mechanism.SUMMARISER}),
            crash_points=self.points,
        )

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.settings, self.summarise = settings, summarise
        self.disk: list[bytes] = []
        self.armed: str | None = None
        return settings

    def close(self) -> None:
        self.disk = []

    # The log

    def write(self, record: dict[str, Any]) -> str:
        body = json.dumps(record)
        self.disk.append(f"{hashlib.sha256(body.encode()).hexdigest()} {body}".encode())
        return f"e{len(self.disk) - 1}"

    def read(self, name: str) -> dict[str, Any]:
        digest, _, body = self.disk[int(name[1:])].decode(errors="replace").partition(" ")
        if hashlib.sha256(body.encode()).hexdigest() != digest:
            raise OperationError(f"event {name} does not have the digest {digest[:12]} that it was written with")
        record: dict[str, Any] = json.loads(body)
        return record

    def turn(self, name: str) -> Turn | None:
        record = self.read(name)
        return msgspec.convert(record["turn"], Turn) if "turn" in record else None

    def names(self) -> list[str]:
        return [f"e{number}" for number in range(len(self.disk))]

    def die(self, point: str) -> None:
        if self.armed == point:
            self.armed = None
            raise OperationError(f"died at {point}", definite=False)

    # The window

    def condensation(self) -> Condensation | None:
        for name in reversed(self.names()):
            record = self.readable(name)
            if record is not None and "forgotten" in record:
                return Condensation(
                    f"sum-{name}",
                    tuple(record["forgotten"]),
                    tuple(record["covers"]),
                    record["text"],
                    record["generation"],
                )
        return None

    def readable(self, name: str) -> dict[str, Any] | None:
        try:
            return self.read(name)
        except OperationError:
            return None

    def visible(self) -> list[tuple[str, Turn]]:
        last = self.condensation()
        hidden = set(last.forgotten) if last else set()
        turns = []
        for name in self.names():
            record = self.readable(name)
            if name not in hidden and record is not None and "turn" in record:
                turns.append((name, msgspec.convert(record["turn"], Turn)))
        return turns

    def append(self, turn: Turn) -> str:
        for name in self.names():
            record = self.readable(name)
            if record is not None and "turn" in record and record["turn"]["id"] == turn.id:
                return name
        return self.add(turn)

    def add(self, turn: Turn) -> str:
        return self.write({"turn": msgspec.to_builtins(turn)})

    def live(self) -> list[Item]:
        last = self.condensation()
        items = [raw(turn) for _, turn in self.visible()]
        if last is None:
            return items
        summary = Item(
            id=last.id,
            kind=CarrierKind.SUMMARY,
            text=last.text,
            covers=self.covers(last),
            generation=last.generation,
        )
        return [summary, *items]

    def covers(self, condensation: Condensation) -> tuple[str, ...]:
        return condensation.covers

    def compact(self) -> Outcome:
        last, visible = self.condensation(), self.visible()
        if size([last.text if last else "", *(turn for _, turn in visible)]) <= limit(self.settings):
            return nothing("the window is under its watermark")
        old = self.choose(visible)
        if not old:
            return nothing("nothing but the latest turns is left")
        shown = self.show(last, [turn for _, turn in old])
        try:
            reply = self.summarise(shown)
        except SummariserError as error:
            return failed(str(error))
        why = objection(reply, shown, [bare(last.text)] if last else [])
        if why is not None:
            return refused(why)
        names = (*(last.forgotten if last else ()), *(name for name, _ in old))
        covers = (*(last.covers if last else ()), *(turn.id for _, turn in old))
        summary = self.condense(names, covers, self.compose(reply.text, names), 1 + (last.generation if last else 0))
        return committed(summary, (turn.id for _, turn in old))

    def compose(self, text: str, names: tuple[str, ...]) -> str:
        return noted(text, len(names))

    def choose(self, visible: list[tuple[str, Turn]]) -> list[tuple[str, Turn]]:
        free = replaceable([turn for _, turn in visible], opaque_too=True, keep=self.settings.keep)
        return [(name, turn) for name, turn in visible if turn in free]

    def show(self, last: Condensation | None, old: list[Turn]) -> Shown:
        earlier = [bare(last.text)] if last else []
        return Shown(messages=("Condense these events.", *earlier, *(whole(turn) for turn in old)))

    def condense(self, names: tuple[str, ...], covers: tuple[str, ...], text: str, generation: int) -> str:
        self.die("before-condensation")
        name = self.write({"forgotten": names, "covers": covers, "text": text, "generation": generation})
        self.die("after-condensation")
        return f"sum-{name}"

    # Getting back

    def pointers(self) -> list[Pointer]:
        last = self.condensation()
        if last is None:
            return []
        return [
            Pointer(summary=last.id, token=name, covers=(turn,), key=name)
            for name, turn in zip(last.forgotten, last.covers, strict=True)
            if name in self.carried(last)
        ]

    def carried(self, last: Condensation) -> tuple[str, ...]:
        return last.forgotten

    def get(self, token: str) -> Answer:
        if token not in self.names():
            return self.unknown(token)
        turn = self.turn(token)
        if turn is None:
            return Answer(kind=AnswerKind.FOREIGN)
        return Answer(
            kind=AnswerKind.FOUND,
            text=whole(turn) or None,
            data=turn.data,
            source=turn.id,
            carrier=token,
            evidence=True,
        )

    def unknown(self, token: str) -> Answer:
        return Answer(kind=AnswerKind.FOREIGN)

    def search(self, literal: str) -> Answer:
        for name in reversed(self.names()):
            record = self.readable(name)
            if record is not None and "turn" in record and literal in whole(msgspec.convert(record["turn"], Turn)):
                return self.get(name)
        return self.not_found(literal)

    def not_found(self, literal: str) -> Answer:
        return Answer(kind=AnswerKind.ABSENT)

    # Faults

    def reopen(self) -> None:
        self.armed = None

    def crash(self, point: str) -> None:
        self.armed = point

    def corrupt(self, token: str) -> bool:
        if token not in self.names():
            return False
        record = bytearray(self.disk[int(token[1:])])
        at = record.find(b'"text": "') + len(b'"text": "')
        record[at : at + 4] = b"XXXX"
        self.disk[int(token[1:])] = bytes(record)
        return True


class ServesDamagedEvents(EventLog):
    def read(self, name: str) -> dict[str, Any]:
        record: dict[str, Any] = json.loads(self.disk[int(name[1:])].decode().partition(" ")[2])
        return record


class PointsOnlyAtTheLatest(EventLog):
    """The pointers of the summary before are not carried on."""

    def carried(self, last: Condensation) -> tuple[str, ...]:
        earlier = [
            set(record["forgotten"])
            for name in self.names()
            if (record := self.readable(name)) and "forgotten" in record and f"sum-{name}" != last.id
        ]
        return tuple(n for n in last.forgotten if not earlier or n not in earlier[-1])


class SearchAnswersWithTheNewest(EventLog):
    def not_found(self, literal: str) -> Answer:
        newest = next((n for n in reversed(self.names()) if "turn" in (self.readable(n) or {})), None)
        return self.get(newest) if newest else Answer(kind=AnswerKind.ABSENT)


class SearchAnswersWithAnEmptyFinding(EventLog):
    def not_found(self, literal: str) -> Answer:
        return Answer(kind=AnswerKind.FOUND, text="")


class SearchAnswersWithAnErrorText(EventLog):
    def not_found(self, literal: str) -> Answer:
        return Answer(kind=AnswerKind.FOUND, text=f"No results found for '{literal}'.")


class ResolvesUnknownPointersToTheLast(EventLog):
    def unknown(self, token: str) -> Answer:
        return self.get("e0") if self.disk else Answer(kind=AnswerKind.FOREIGN)


class SaysUnanchoredOfWhatWasNeverIssued(EventLog):
    def unknown(self, token: str) -> Answer:
        return Answer(kind=AnswerKind.UNANCHORED)


class ForgetsInOneWriteAndSummarisesInAnother(EventLog):
    points = ("before-condensation", "between", "after-condensation")

    def condense(self, names: tuple[str, ...], covers: tuple[str, ...], text: str, generation: int) -> str:
        last = self.condensation()
        said = last.text if last else ""
        self.write({"forgotten": names, "covers": covers, "text": said, "generation": generation})
        self.die("between")
        return super().condense(names, covers, text, generation)


class RecoversByWritingAgain(EventLog):
    """Every reopening repeats the newest turn, since it might have been lost."""

    def reopen(self) -> None:
        super().reopen()
        visible = self.visible()
        if visible:
            self.add(visible[-1][1])


class CoversMoreThanItReplaces(EventLog):
    def covers(self, condensation: Condensation) -> tuple[str, ...]:
        more = [turn.id for _, turn in self.visible()[:2]]
        return (*super().covers(condensation), *more)
