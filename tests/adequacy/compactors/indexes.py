"""Indexes that are written over, keys that are given anew, and summaries without end (IDX, PRO-4)."""

import hashlib
from dataclasses import replace
from typing import Any

from anchorhold.compactor import Settings, Summarise
from anchorhold_spec.vocabulary import Answer, AnswerKind, Entry, Item, Outcome, Pointer, Turn
from compactors.common import bare, limit, size, whole
from compactors.dodges import PointsAtRanges
from compactors.event_log import EventLog
from compactors.file_archive import PATH, FileArchive
from compactors.plain_list import PlainList
from compactors.slot_cache import SlotCache, Stored


class KeepsTheLatestEntries(EventLog):
    """The index has room for thirty events; what is older is dropped without anybody asking."""

    def get(self, token: str) -> Answer:
        if token in self.names() and int(token[1:]) < len(self.disk) - 30:
            return Answer(kind=AnswerKind.EXPIRED)
        return super().get(token)


class CountsItsReaders(SlotCache):
    """Each entry notes how often it was read, inside the text that it hands out."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.read: dict[str, int] = {}
        return super().open(settings, summarise)

    def get(self, token: str) -> Answer:
        answer = super().get(token)
        self.read[token] = self.read.get(token, 0) + 1
        return replace(answer, text=f"{answer.text}\n(read {self.read[token]} times)") if answer.text else answer


class GivesNewKeysOnEveryPass(SlotCache):
    """Each compaction archives everything under it once more, and lets the entries of the pass before go."""

    def archive(self, old: list[Turn]) -> None:
        under = [turn for turn in self.session.said if turn.id in self.session.tokens]
        for token in tuple(self.session.tokens.values()):
            self.release(token)
        super().archive([*under, *old])


class UpsertsByWords(SlotCache):
    """The key of an entry is a digest of what the turn says; who says the same later takes the entry over."""

    def archive(self, old: list[Turn]) -> None:
        for turn in old:
            key = hashlib.sha256(whole(turn).encode()).hexdigest()[:12]
            digest = hashlib.sha256(whole(turn).encode()).hexdigest()
            number = int(key, 16)
            same = [i for i, token in self.session.tokens.items() if token == f"{number}@1"]
            for earlier in same:
                del self.session.tokens[earlier]
            self.state.slots[number] = Stored(turn, self.name, 1, digest)
            self.state.epochs[number] = 1
            self.session.tokens[turn.id] = f"{number}@1"


class KnowsTheLatestRangeOnly(PointsAtRanges):
    """A range is looked up by the summary that stands for it, and only the latest summary is known."""

    def get(self, token: str) -> Answer:
        if token.startswith("log:") and token not in [pointer.token for pointer in self.pointers()]:
            return Answer(kind=AnswerKind.FOREIGN)
        return super().get(token)


class WritesTheCoarserFile(FileArchive):
    """A file for each summary, with everything under it; the finer one is removed as soon as the coarser is there."""

    def path(self) -> str:
        return f"/upto-{self.window.number}.md"

    def pointers(self) -> list[Pointer]:
        return [replace(pointer, token=self.path()) for pointer in super().pointers()]

    def get(self, token: str) -> Answer:
        return super().get(PATH) if token == self.path() and self.window.number else self.missing(token)

    def corrupt(self, token: str) -> bool:
        return super().corrupt(PATH) if token == self.path() else False


class RenamesWhatItCarriesOver(EventLog):
    """A pointer is called by the summary that carries it, so that every condensation renames all of them."""

    def pointers(self) -> list[Pointer]:
        return [replace(pointer, token=f"{pointer.summary}/{pointer.token}") for pointer in super().pointers()]

    def get(self, token: str) -> Answer:
        last = self.condensation()
        summary, _, name = token.rpartition("/")
        if last is None or summary != last.id:
            return Answer(kind=AnswerKind.FOREIGN)
        return super().get(name)

    def corrupt(self, token: str) -> bool:
        return super().corrupt(token.rpartition("/")[2])


class IngestsAgain(PlainList):
    """A turn is a message, and a message that comes is added."""

    def append(self, turn: Turn) -> None:
        self.messages.append(turn)


class LogsAgain(EventLog):
    def append(self, turn: Turn) -> str:
        return self.add(turn)


class KnowsOnlyItsWindow(FileArchive):
    """Recognises a turn that stands in the window, and not one that has left it."""

    def append(self, turn: Turn) -> None:
        self.window.known = [one.id for one in self.window.turns]
        super().append(turn)


class AddsToItsSummary(EventLog):
    """The new summary is the old one with the new reply below it."""

    def condense(self, names: tuple[str, ...], covers: tuple[str, ...], text: str, generation: int) -> str:
        last = self.condensation()
        earlier = [bare(last.text)] if last else []
        return super().condense(names, covers, "\n".join([*earlier, text]), generation)


class ListsWhatItArchived(FileArchive):
    """The summary has a table of contents of the archive, with a line for each turn."""

    def text(self) -> str:
        gone = [turn for turn in self.window.known if turn not in {t.id for t in self.window.turns}]
        return "\n".join([super().text(), *(f"- section of turn {turn} in {PATH}" for turn in gone)])


class ClaimsOnceMoreEachTime(SlotCache):
    """A manifest is the manifest before and the new one, whether or not they say the same."""

    def manifest(self, carrier: str) -> list[Entry]:
        summary = self.session.summary
        return super().manifest(carrier) * (summary.generation if summary else 1)


class ArchivesBeforeItAsks(FileArchive):
    """What is to be replaced is archived before the model is asked, and once more when it is asked again."""

    def compact(self) -> Outcome:
        turns = [self.text() if self.window.number else "", *self.window.turns]
        old = self.choose(self.window.turns) if size(turns) > limit(self.settings) else []
        self.put(old)
        return super().compact()

    def carry_out(self, old: list[Turn], text: str) -> None:
        self.die("archive")
        self.commit(old, text)
        self.die("window")


class ArchivesBeforeItAsksOnce(ArchivesBeforeItAsks):
    """Honest: the same, and what is in the archive already is not added again."""

    def put(self, old: list[Turn]) -> None:
        there = {turn for turn, _ in self.sections()}
        super().put([turn for turn in old if turn.id not in there])


class ShowsNoArguments(PlainList):
    """The window has what the turns say, and not with what they call their tools."""

    def live(self) -> list[Item]:
        said = {m.id: m.text for m in self.messages if isinstance(m, Turn) and m.calls}
        return [replace(i, text=said[i.turn]) if i.turn in said else i for i in super().live()]


HONEST: tuple[type[Any], ...] = (ArchivesBeforeItAsksOnce,)
WRONG: tuple[tuple[type[Any], str], ...] = (
    (ArchivesBeforeItAsks, "ANC-5"),
    (ShowsNoArguments, "ANC-1"),
    (KeepsTheLatestEntries, "IDX-1"),
    (CountsItsReaders, "IDX-1"),
    (GivesNewKeysOnEveryPass, "IDX-3"),
    (UpsertsByWords, "IDX-3"),
    (RenamesWhatItCarriesOver, "IDX-3"),
    (KnowsTheLatestRangeOnly, "IDX-4"),
    (WritesTheCoarserFile, "IDX-4"),
    (GivesNewKeysOnEveryPass, "IDX-4"),
    (IngestsAgain, "IDX-5"),
    (LogsAgain, "IDX-5"),
    (KnowsOnlyItsWindow, "IDX-5"),
    (AddsToItsSummary, "PRO-4"),
    (ListsWhatItArchived, "PRO-4"),
    (ClaimsOnceMoreEachTime, "PRO-4"),
)
