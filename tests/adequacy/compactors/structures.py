"""Windows that are no valid transcript any more, and originals that are not what they were (STR)."""

from dataclasses import replace
from typing import Any

from anchorhold.compactor import Settings, Summarise
from anchorhold_spec.vocabulary import Answer, AnswerKind, CarrierKind, Item, Turn
from compactors.common import KEEP, opaque, replaceable
from compactors.dodges import InPieces
from compactors.event_log import EventLog
from compactors.file_archive import FileArchive
from compactors.plain_list import Note, PlainList
from compactors.readings import ReadsBytesAsText
from compactors.rolling import Rolling
from compactors.slot_cache import SlotCache


class CutsAnywhere(PlainList):
    """Everything but the last four messages, wherever that cut goes through."""

    def choose(self) -> list[Turn | Note]:
        return [
            m
            for m in self.messages[: -(self.settings.keep or KEEP)]
            if isinstance(m, Note) or not (opaque(m) or m.protected)
        ]


class ReplacesOpenCalls(FileArchive):
    """A call that nothing has answered yet is as good as any other turn."""

    def choose(self, turns: list[Turn]) -> list[Turn]:
        open_ = [replace(turn, calls=()) if turn.result_of is None else turn for turn in turns]
        free = {turn.id for turn in replaceable(open_, keep=self.settings.keep)}
        return [turn for turn in turns if turn.id in free]


class SaysTheRequestLast(EventLog):
    """What the user said last is moved to the end, where the model sees it best."""

    def live(self) -> list[Item]:
        items = super().live()
        latest = next((i for i in reversed(items) if i.speaker == "user"), None)
        if latest is None or self.condensation() is None:
            return items
        return [*(item for item in items if item is not latest), latest]


class RepeatsTheLatest(SlotCache):
    """The latest turn stands at the end, and once more right behind the summary."""

    def live(self) -> list[Item]:
        items = super().live()
        if self.session.summary is None or len(items) < 2:
            return items
        return [items[0], replace(items[-1], id=f"{items[-1].id}-again"), *items[1:]]


class NumbersItsItemsAnew(PlainList):
    """Items are called by their place counted from the last summary, which has the number of the first."""

    def live(self) -> list[Item]:
        items = super().live()
        return [replace(item, id=f"item-{max(1, at)}") for at, item in enumerate(items)]


class ForgetsTheMark(FileArchive):
    """A turn is shown with its mark until the first compaction."""

    def live(self) -> list[Item]:
        status = {turn.id: turn.status for turn in self.window.turns}
        return [
            replace(item, text=f"({status[item.turn]}) {item.text}")
            if item.turn is not None and status.get(item.turn) and not self.window.number
            else item
            for item in super().live()
        ]

    def choose(self, turns: list[Turn]) -> list[Turn]:
        return [turn for turn in super().choose(turns) if turn.status is None]


class TidiesWhiteSpace(EventLog):
    def get(self, token: str) -> Answer:
        answer = super().get(token)
        return replace(answer, text=" ".join(answer.text.split())) if answer.text else answer


class StripsControlCharacters(SlotCache):
    """What cannot be printed is not stored."""

    def append(self, turn: Turn) -> None:
        text = turn.text
        if text is not None:
            text = "".join(c for c in text if c.isprintable() or c in "\r\n\t")
        super().append(replace(turn, text=text))


class CutsInsideACharacter(InPieces):
    """Pieces are cut by bytes, and what is left of a character is replaced."""

    def get(self, token: str) -> Answer:
        name, _, at = token.partition("+")
        answer, start = EventLog.get(self, name), int(at or 0)
        raw = (answer.text or "").encode()
        if answer.kind is not AnswerKind.FOUND or len(raw) <= 64:
            return answer
        piece = raw[start : start + 64].decode("utf-8", "replace")
        if start + 64 >= len(raw):
            return replace(answer, text=piece)
        return replace(answer, kind=AnswerKind.PARTIAL, text=piece, continuation=f"{name}+{start + 64}")


class SummarisesTheRules(PlainList):
    """Turns are turns, whoever said them."""

    def append(self, turn: Turn) -> None:
        super().append(replace(turn, protected=False, speaker="user" if turn.speaker == "system" else turn.speaker))


class ForgetsTheRequest(FileArchive):
    """What is asked is as old as it is, and goes with the rest while the work on it is still under way."""

    def choose(self, turns: list[Turn]) -> list[Turn]:
        said = [replace(turn, speaker="assistant") if turn.speaker == "user" else turn for turn in turns]
        free = {turn.id for turn in replaceable(said, keep=self.settings.keep)}
        return [turn for turn in turns if turn.id in free]


class KeepsTwelveTurns(SlotCache):
    """Honest: the newest twelve turns always stay, whatever the watermark, and it says so at the start."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        return super().open(replace(settings, keep=12), summarise)


class KeepsTheFirstTwo(SlotCache):
    """Honest: the first turns of a session stay too, since they often say what it is about."""

    def choose(self, turns: list[Turn]) -> list[Turn]:
        first = {turn.id for turn in self.session.said[:2]}
        free = {t.id for t in super().choose([replace(t, protected=t.protected or t.id in first) for t in turns])}
        return [turn for turn in turns if turn.id in free]


class ShowsMarks(EventLog):
    """Honest: a turn's status stands before its words, for as long as it is in the window."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        return super().open(settings, summarise)

    def live(self) -> list[Item]:
        status = {turn.id: turn.status for _, turn in self.visible()}
        return [
            replace(item, text=f"({status[item.turn]}) {item.text}")
            if item.kind is CarrierKind.RAW and item.turn is not None and status.get(item.turn)
            else item
            for item in super().live()
        ]


class ProtectsTheFirstThree(Rolling):
    """There is room for three standing rules."""

    ROOM = 3

    def judged(self) -> list[Turn]:
        ruled, judged = 0, list[Turn]()
        for turn in super().judged():
            ruled += turn.protected
            judged.append(replace(turn, protected=turn.protected and ruled <= self.ROOM))
        return judged


class KeepsTheArgumentsOfOneCall(Rolling):
    """Of several calls that a turn makes the others are kept by their names."""

    def kept(self, turn: Turn) -> Turn:
        calls = [call if number == 0 else replace(call, arguments="{}") for number, call in enumerate(turn.calls)]
        return replace(turn, calls=tuple(calls))


HONEST: tuple[type[Any], ...] = (KeepsTwelveTurns, KeepsTheFirstTwo, ShowsMarks)
WRONG: tuple[tuple[type[Any], str], ...] = (
    (CutsAnywhere, "STR-1"),
    (ReplacesOpenCalls, "STR-1"),
    (SaysTheRequestLast, "STR-2"),
    (RepeatsTheLatest, "STR-2"),
    (NumbersItsItemsAnew, "STR-2"),
    (ForgetsTheMark, "STR-2"),
    (TidiesWhiteSpace, "STR-3"),
    (StripsControlCharacters, "STR-3"),
    (CutsInsideACharacter, "STR-3"),
    (ReadsBytesAsText, "STR-3"),
    (SummarisesTheRules, "STR-4"),
    (ProtectsTheFirstThree, "STR-4"),
    (KeepsTheArgumentsOfOneCall, "ANC-1"),
    (ForgetsTheRequest, "STR-4"),
    (CutsAnywhere, "STR-4"),
)
