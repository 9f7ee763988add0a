"""Wrong ones written from the rules' texts and public reports alone, before their author had seen a checker.

Here: those whose fault lies in the window, the summary or the record beside it. See `unseen_stores` for the others.
What they do was not changed after it was known what catches it; where the suite missed one, the suite was mended.
Two were taken out, one that could not do what it was written for and one that answers out of the protocol's form, and
one stands under another rule than at first (`ForksTheWindowOnly`: ANC-1, first PTR-1).
"""

import hashlib
import re
import unicodedata
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from anchorhold.compactor import Description, Mechanism, Reply, Settings, Shown, Summarise
from anchorhold_spec.vocabulary import Answer, AnswerKind, Outcome, Turn
from compactors.common import failed, kept, limit, nothing, refused, replaceable, size, verifiable, whole
from compactors.event_log import EventLog
from compactors.file_archive import SECTION, FileArchive, Window
from compactors.plain_list import Note, PlainList, words

# A plain list


class GivesUpAfterThreeFailures(PlainList):
    """Two failures are bad luck; with the third a placeholder takes the place of the summary."""

    def on_error(self, old: list[Turn | Note], error: Exception) -> Outcome:
        self.failures: int = getattr(self, "failures", 0) + 1
        if self.failures < 3:
            return failed(str(error))
        self.failures = 0
        self.notes += 1
        note = Note(f"note-{self.notes}", "(Summary unavailable.)", "", 1)
        self.messages = [note, *self.rest(old)]
        return failed(f"{error}; a placeholder was put in its place")


class TakesWhatWasCut(PlainList):
    """A reply that stopped at its token limit is a reply."""

    def objection(self, reply: Reply, shown: Shown) -> str | None:
        return super().objection(replace(reply, finish="stop"), shown)


class CutsItsPromptAtTheEnd(PlainList):
    """What does not fit into the model's own window is cut off at the end, and replaced with the rest."""

    def show(self, old: list[Turn | Note]) -> Shown:
        shown: list[str] = []
        room = 1500
        for text in super().show(old).messages:
            shown.append(text[:room])
            room -= len(text)
            if room <= 0:
                break
        return Shown(messages=tuple(shown))


class RoundsWhatItCarriesOn(PlainList):
    """Figures are kept to the nearest ten: who needs the last digit?"""

    def compose(self, old: list[Turn | Note], text: str) -> str:
        needed = [re.sub(r"(?<=\d)\d\b", "0", s) for m in old for s in verifiable(words(m))]
        return kept(text, needed)


class WritesBackItsSnapshot(PlainList):
    """The list is read, the model writes, the list is written back: as it was read."""

    def describe(self) -> Description:
        return _concurrent(super().describe())

    def choose(self) -> list[Turn | Note]:
        self.snapshot = list(self.messages)
        return super().choose()

    def rest(self, old: list[Turn | Note]) -> list[Turn | Note]:
        return [m for m in self.snapshot if m not in old]


class ComesBackAfterTheClear(PlainList):
    """A summary of what was cleared while it was being written is put into the empty list."""

    def describe(self) -> Description:
        return _concurrent(super().describe())

    def clear(self) -> None:
        self.messages = []


class SplitsBatches(PlainList):
    """Of a turn with several calls it knows only the first."""

    def choose(self) -> list[Turn | Note]:
        turns = [m for m in self.messages if isinstance(m, Turn)]
        later = {call.id for turn in turns for call in turn.calls[1:]}
        single = [
            replace(t, calls=t.calls[:1], result_of=None if t.result_of in later else t.result_of) for t in turns
        ]
        free = {turn.id for turn in replaceable(single, keep=self.settings.keep)}
        return [m for m in self.messages if isinstance(m, Note) or m.id in free]


class HardensOnTheSecondPass(PlainList):
    """What was doubtful is repeated without the doubt once it comes out of a summary and not out of a turn."""

    DOUBT = re.compile(r"\b(?:probably|perhaps|possibly|maybe|likely|apparently|about|roughly|may|might)\b ?")

    def compose(self, old: list[Turn | Note], text: str) -> str:
        said = [s for m in old if isinstance(m, Turn) for s in verifiable(words(m))]
        again = [self.DOUBT.sub("", s) for m in old if isinstance(m, Note) for s in verifiable(words(m))]
        return kept(self.DOUBT.sub("", text) if again else text, [*again, *said])


class GivesUpTheRulesWhenItIsTight(PlainList):
    """What is protected is protected as long as the rest makes room enough."""

    def commit(self, old: list[Turn | Note], text: str) -> Outcome:
        outcome = super().commit(old, text)
        while self.over() and any(isinstance(m, Turn) and m.protected for m in self.messages):
            first = next(m for m in self.messages if isinstance(m, Turn) and m.protected)
            self.messages = [m for m in self.messages if m is not first]
        return outcome

    def over(self) -> bool:
        return size(m.text if isinstance(m, Note) else m for m in self.messages) > limit(self.settings)


class CompactsOneTurnAtATime(PlainList):
    """One turn at a time, and the window stays as full as it was."""

    def choose(self) -> list[Turn | Note]:
        chosen = super().choose()
        turns = [m for m in chosen if isinstance(m, Turn)]
        return [*(m for m in chosen if isinstance(m, Note)), *turns[:1]]


def _concurrent(description: Description) -> Description:
    return replace(description, mechanisms=description.mechanisms | {Mechanism.CONCURRENCY})


# An event log


class SaysRefusedWhenTheModelIsDown(EventLog):
    """There is one word for everything that did not work."""

    def compact(self) -> Outcome:
        outcome = super().compact()
        return refused(outcome.reason or "") if outcome.kind == "failed" else outcome


class SealsItsSummary(EventLog):
    """The summary is a token that only the provider can read; nothing in it says what is left out."""

    def compose(self, text: str, names: tuple[str, ...]) -> str:
        return "sealed:" + text.encode().hex()


class ChokesOnALongMessage(EventLog):
    """One message that is too long for the model, and nothing is compacted any more."""

    def choose(self, visible: list[tuple[str, Turn]]) -> list[tuple[str, Turn]]:
        chosen = super().choose(visible)
        return [] if any(len(whole(turn)) > 600 for _, turn in chosen) else chosen


class WritesItsTurnsLate(EventLog):
    """An event is synced together with the one after it, and acknowledged at once."""

    def write(self, record: dict[str, Any]) -> str:
        self.synced = len(self.disk)
        return super().write(record)

    def lose_power(self) -> None:
        self.disk = self.disk[: self.synced]


class PointsAtTheLatestOfTheKind(EventLog):
    """Where a later turn says the same and more, the pointer leads there: one copy is enough."""

    def get(self, token: str) -> Answer:
        answer = super().get(token)
        if answer.kind is not AnswerKind.FOUND or not answer.text:
            return answer
        for name in reversed(self.names()):
            turn = self.turn(name)
            if turn is not None and answer.text in whole(turn):
                return super().get(name)
        return answer


class PointsByPlace(EventLog):
    """A pointer is the place in the list of what is hidden, counted from its end."""

    def pointers(self) -> list[Any]:
        found = super().pointers()
        return [replace(p, token=f"e{len(found) - at}-back", key=None) for at, p in enumerate(found)]

    def get(self, token: str) -> Answer:
        match = re.fullmatch(r"e(\d+)-back", token)
        last = self.condensation()
        if match is None or last is None or not 0 < int(match[1]) <= len(last.forgotten):
            return Answer(kind=AnswerKind.FOREIGN)
        return super().get(last.forgotten[-int(match[1])])


# A file archive


class LeavesTheLastOneOut(FileArchive):
    """An off by one: the last of the turns that are replaced is not archived."""

    def put(self, old: list[Turn]) -> None:
        super().put(old[:-1])


class FindsTheHeadingOnly(FileArchive):
    """Searching gives the heading under which it was found, and nothing of what stands there."""

    def search(self, literal: str) -> Answer:
        answer = super().search(literal)
        if answer.kind is not AnswerKind.FOUND:
            return answer
        return replace(answer, text=f"## {answer.source}: 1 match in {len(answer.text or '')} characters")


class SearchesTheLastTenSections(FileArchive):
    """The first ten hits would do; it takes the last ten sections, and says that there is no more."""

    def search(self, literal: str) -> Answer:
        for turn, text in reversed(self.sections()[-10:]):
            if literal in text:
                return Answer(kind=AnswerKind.FOUND, text=text, source=turn, evidence=True)
        return Answer(kind=AnswerKind.ABSENT)


class WritesItsWindowInPlace(FileArchive):
    """The file is emptied, and then written."""

    points = ("archive", "emptied", "window")

    def commit(self, old: list[Turn], text: str) -> None:
        self.file.write_bytes(b"")
        self.die("emptied")
        super().commit(old, text)

    def reopen(self) -> None:
        if self.file.read_bytes():
            super().reopen()
        else:
            self.armed, self.window = None, Window()


class ForgetsItsIdsAtARestart(FileArchive):
    """Which turns it has had it knows from its window, once it was started again."""

    def reopen(self) -> None:
        super().reopen()
        self.window.known = [turn.id for turn in self.window.turns]


class NotesEachRecovery(FileArchive):
    """Every start leaves a line in the window, so that the model knows."""

    def reopen(self) -> None:
        super().reopen()
        self.restarts: int = getattr(self, "restarts", 0) + 1
        note = Turn(id=f"restart-{self.restarts}", speaker="assistant", text="The session was restored.")
        self.window.turns.append(note)
        self.save()


class TidiesLetters(FileArchive):
    """Text is brought into one normal form before it is archived."""

    def put(self, old: list[Turn]) -> None:
        super().put([replace(t, text=t.text and unicodedata.normalize("NFKC", t.text)) for t in old])


class FilesItsDrafts(FileArchive):
    """Each reply is filed before anybody has looked whether it is a summary."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        def filed(shown: Shown) -> Reply:
            reply = summarise(shown)
            self.drafts.append(reply.text)
            return reply

        self.drafts: list[str] = []
        return super().open(settings, filed)

    def search(self, literal: str) -> Answer:
        answer = super().search(literal)
        draft = next((text for text in self.drafts if literal in text), None)
        if answer.kind is AnswerKind.FOUND or draft is None:
            return answer
        return Answer(kind=AnswerKind.FOUND, text=draft, evidence=False)


class ServesTheNextSection(FileArchive):
    """Sections are read by the number that the index has for them, and the index counts the title."""

    def search(self, literal: str) -> Answer:
        sections = self.sections()
        at = next((n for n, (_, text) in enumerate(sections) if literal in text), None)
        if at is None:
            return Answer(kind=AnswerKind.UNANCHORED)
        turn, text = sections[min(at + 1, len(sections) - 1)]
        return Answer(kind=AnswerKind.FOUND, text=text, source=turn, evidence=True)


class StopsAtTheFirstBadSection(FileArchive):
    """One section that is not what it was, and the file is taken to end there; nobody is told."""

    def sections(self) -> list[tuple[str, str]]:
        content = self.archive.read_bytes().decode(errors="replace") if self.archive.exists() else ""
        found = []
        for match in SECTION.finditer(content):
            text = content[match.end() : match.end() + int(match["length"])]
            if hashlib.sha256(text.encode()).hexdigest() != match["digest"]:
                break
            found.append((unquote(match["turn"]), text))
        return found


class SaysNothingToDoWhenItIsTight(FileArchive):
    """Above twice its watermark it takes itself for broken, and does nothing any more."""

    def compact(self) -> Outcome:
        if size([self.text() if self.window.number else "", *self.window.turns]) > 1.5 * limit(self.settings):
            return nothing("the window is too large to be compacted safely")
        return super().compact()


WRONG: tuple[tuple[type[Any], str], ...] = (
    (GivesUpAfterThreeFailures, "OUT-1"),
    (TakesWhatWasCut, "OUT-1"),
    (CutsItsPromptAtTheEnd, "PTR-3"),
    (RoundsWhatItCarriesOn, "MAN-1"),
    (WritesBackItsSnapshot, "CON-1"),
    (ComesBackAfterTheClear, "CON-3"),
    (SplitsBatches, "STR-1"),
    (HardensOnTheSecondPass, "MAN-5"),
    (GivesUpTheRulesWhenItIsTight, "STR-4"),
    (CompactsOneTurnAtATime, "PRO-1"),
    (SaysRefusedWhenTheModelIsDown, "OUT-2"),
    (SealsItsSummary, "EVI-2"),
    (ChokesOnALongMessage, "PRO-2"),
    (WritesItsTurnsLate, "CRA-3"),
    (PointsAtTheLatestOfTheKind, "IDX-2"),
    (PointsByPlace, "EPO-1"),
    (LeavesTheLastOneOut, "PTR-1"),
    (FindsTheHeadingOnly, "REC-1"),
    (SearchesTheLastTenSections, "REC-4"),
    (WritesItsWindowInPlace, "CRA-1"),
    (ForgetsItsIdsAtARestart, "IDX-5"),
    (NotesEachRecovery, "CRA-2"),
    (TidiesLetters, "STR-3"),
    (FilesItsDrafts, "PTR-6"),
    (ServesTheNextSection, "REC-1"),
    (StopsAtTheFirstBadSection, "EPO-3"),
    (SaysNothingToDoWhenItIsTight, "PRO-1"),
)
"""Each with a rule that its text says it breaks."""
