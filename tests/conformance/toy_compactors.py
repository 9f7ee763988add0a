"""Small compactors in memory for the tests of the runner: one that does well, and some that do not."""

import secrets
import time
from collections.abc import Sequence
from dataclasses import replace

from anchorhold.compactor import Description, OperationError, Settings, Shown, Summarise, SummariserError, Unit
from anchorhold_spec.vocabulary import (
    Answer,
    AnswerKind,
    CarrierKind,
    Item,
    Outcome,
    OutcomeKind,
    Pointer,
    Turn,
)

NO_SUMMARY = ("error code", "i'm sorry")


def said(turn: Turn) -> str:
    """Everything that a turn says, the arguments of its calls included."""
    return " ".join(part for part in (turn.text, *(call.arguments for call in turn.calls)) if part)


class Archive:
    """Keeps every original by its turn's id, for ever, and looks at what the model answers."""

    least = 8
    keep = 4

    def describe(self) -> Description:
        return Description(name="toy archive", version="1")

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.summarise = summarise
        self.items: list[Item] = []
        self.originals: dict[str, str] = {}
        self.summaries = 0
        self.turns: list[str] = []
        return settings

    def append(self, turn: Turn) -> str | None:
        text = said(turn)
        self.turns.append(text)
        self.items.append(Item(id=turn.id, kind=CarrierKind.RAW, text=text, turn=turn.id, speaker=turn.speaker))
        return turn.id

    def compact(self) -> Outcome:
        if len(self.items) < self.least:
            return Outcome(kind=OutcomeKind.NOTHING)
        old = self.items[: -self.keep]
        try:
            reply = self.summarise(Shown(messages=("Summarise this.", *(item.text or "" for item in old))))
        except SummariserError as error:
            return Outcome(kind=OutcomeKind.FAILED, reason=str(error))
        text = reply.text.strip()
        known = {item.text for item in self.items} | set(self.turns)
        if not text or reply.finish != "stop" or text in known or text.lower().startswith(NO_SUMMARY):
            return Outcome(kind=OutcomeKind.REFUSED, reason="the model answered with no summary")
        self.summaries += 1
        covers: list[str] = []
        for item in old:
            covers.extend((item.id,) if item.kind is CarrierKind.RAW else item.covers or ())
            if item.kind is CarrierKind.RAW:
                self.store(item)
        summary = Item(
            id=f"s{self.summaries}",
            kind=CarrierKind.SUMMARY,
            text=reply.text,
            covers=tuple(covers),
            generation=1 + max(item.generation or 0 for item in old),
        )
        self.items = [summary, *self.items[-self.keep :]]
        return Outcome(kind=OutcomeKind.COMMITTED, summary=summary.id, covered=summary.covers)

    def store(self, item: Item) -> None:
        self.originals[item.id] = item.text or ""

    def live(self) -> Sequence[Item]:
        return tuple(self.items)

    def close(self) -> None:
        self.items = []

    def pointers(self) -> Sequence[Pointer]:
        return [
            Pointer(summary=item.id, token=f"original:{turn}", covers=(turn,))
            for item in self.items
            for turn in item.covers or ()
        ]

    def get(self, token: str) -> Answer:
        text = self.originals.get(token.removeprefix("original:"))
        if text is None:
            return Answer(kind=AnswerKind.FOREIGN)
        return Answer(kind=AnswerKind.FOUND, text=text, source=token.removeprefix("original:"), evidence=True)

    def search(self, literal: str) -> Answer:
        for text in (*(item.text or "" for item in self.items), *self.originals.values()):
            if literal in text:
                return Answer(kind=AnswerKind.FOUND, text=text)
        return Answer(kind=AnswerKind.UNANCHORED)


class Loses(Archive):
    """Commits the summary and never stores the original of the last turn that it covers."""

    def compact(self) -> Outcome:
        outcome = super().compact()
        if outcome.covered:
            self.originals.pop(outcome.covered[-1], None)
        return outcome


class LosesUnderNewNames(Loses):
    """The same, and names its turns and pointers anew each time that it is started."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.made = secrets.token_hex(6)
        return super().open(settings, summarise)

    def append(self, turn: Turn) -> str | None:
        return f"{super().append(turn)}-{self.made}"

    def pointers(self) -> Sequence[Pointer]:
        return [replace(pointer, token=f"{pointer.token}-{self.made}") for pointer in super().pointers()]

    def get(self, token: str) -> Answer:
        return super().get(token.removesuffix(f"-{self.made}"))


class LosesOnce(Archive):
    """Loses everything, in one compaction of its whole life, and never again: nobody can make it happen twice."""

    compactions = 0

    def compact(self) -> Outcome:
        outcome = super().compact()
        LosesOnce.compactions += 1
        if LosesOnce.compactions == 5:
            self.originals.clear()
        return outcome


class LosesAtTimes(Archive):
    """Loses everything in every third session of the process: whether it does is not up to the workload."""

    sessions = 0

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        LosesAtTimes.sessions += 1
        self.odd = LosesAtTimes.sessions % 3 == 0
        return super().open(settings, summarise)

    def compact(self) -> Outcome:
        outcome = super().compact()
        if self.odd:
            self.originals.clear()
        return outcome


class Automatic(Archive):
    """Compacts by itself when a turn comes in, counts items, and has nothing else to do."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        super().open(settings, summarise)
        return Settings(budget=12, watermark=None, unit=Unit.ITEMS)

    def append(self, turn: Turn) -> str | None:
        added = super().append(turn)
        if len(self.items) > 12:
            super().compact()
        return added

    def compact(self) -> Outcome:
        return Outcome(kind=OutcomeKind.NOTHING)


class Plain:
    """The least that can be checked: it drops the oldest and says nothing."""

    def describe(self) -> Description:
        return Description(name="plain", version="1")

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.items: list[Item] = []
        return Settings()

    def append(self, turn: Turn) -> str | None:
        self.items.append(Item(id=turn.id, kind=CarrierKind.RAW, text=turn.text))
        return None

    def compact(self) -> Outcome:
        self.items = self.items[-6:]
        return Outcome(kind=OutcomeKind.COMMITTED)

    def live(self) -> Sequence[Item]:
        return self.items

    def close(self) -> None:
        pass


class Raises(Archive):
    """Compaction and retrieval raise what they like; reads raise a definite error."""

    def compact(self) -> Outcome:
        raise ZeroDivisionError("in the middle")

    def search(self, literal: str) -> Answer:
        raise KeyError(literal)

    def pointers(self) -> Sequence[Pointer]:
        raise OperationError("not now", definite=True)


class Crashes(Archive):
    """Can be stopped at two steps, and evicts on demand; reopening brings back what was stored."""

    armed: str | None = None

    def describe(self) -> Description:
        return Description(name="crashes", version="1", crash_points=("before-store", "after-store"))

    def crash(self, point: str) -> None:
        self.armed = point

    def compact(self) -> Outcome:
        if self.armed is not None:
            point, self.armed = self.armed, None
            raise OperationError(f"died at {point}", definite=False)
        return super().compact()

    def reopen(self) -> None:
        self.armed = None

    def evict(self, token: str) -> Outcome:
        return Outcome(kind=OutcomeKind.REFUSED, reason="it is the last carrier")


class OutOfSchema(Archive):
    """Answers with something else than items."""

    def live(self) -> Sequence[Item]:
        return [{"nothing": "that is an item"}]  # type: ignore[list-item]


class Hangs(Archive):
    """Never comes back from a compaction."""

    def compact(self) -> Outcome:
        time.sleep(60)
        return Outcome(kind=OutcomeKind.NOTHING)


class CannotOpen(Archive):
    """Has no store to open."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        raise FileNotFoundError("no store here")
