"""Wrong compactors that give an answer under which nothing seems to be wrong yet, and that have nothing behind it.

Beside them honest ones of the same outward shape, which must not be blamed.
"""

from dataclasses import replace

from anchorhold.compactor import Description, Settings, Shown, Summarise
from anchorhold_spec.vocabulary import (
    Answer,
    AnswerKind,
    CarrierKind,
    Entry,
    Item,
    Outcome,
    OutcomeKind,
    Pointer,
    Turn,
)
from compactors.common import KEEP, bare, committed, kept, limit, nothing, opaque, refused, size, statements, whole
from compactors.event_log import Condensation, EventLog
from compactors.file_archive import FileArchive
from compactors.plain_list import ForgetsWhatTheSummaryLeftOut, Note, PlainList, words
from compactors.slot_cache import SlotCache, Summary

PIECE = 100
"""Characters of a piece."""


class AnswersPendingForEver(EventLog):
    """Keeps nothing of what it condensed, and says of everything that it is on its way."""

    def live(self) -> list[Item]:
        return [replace(item, pending=item.kind is CarrierKind.SUMMARY) for item in super().live()]

    def get(self, token: str) -> Answer:
        answer = super().get(token)
        return Answer(kind=AnswerKind.PENDING) if answer.kind is AnswerKind.FOUND else answer

    def search(self, literal: str) -> Answer:
        answer = super().search(literal)
        return Answer(kind=AnswerKind.PENDING) if answer.kind is AnswerKind.FOUND else answer


class AnswersPendingUndeclared(EventLog):
    """A copy lands with the next event that is written, and until then nothing says that it is outstanding."""

    def get(self, token: str) -> Answer:
        answer, last = super().get(token), self.condensation()
        outstanding = last is not None and last.id == f"sum-e{len(self.disk) - 1}"
        return Answer(kind=AnswerKind.PENDING) if answer.kind is AnswerKind.FOUND and outstanding else answer


class PendingOnceAndDeclared(EventLog):
    """Honest: a copy lands when it is first asked for, and until then the summary says so."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.landed: set[str] = set()
        return super().open(settings, summarise)

    def live(self) -> list[Item]:
        last = self.condensation()
        outstanding = last is not None and not set(last.forgotten) <= self.landed
        return [
            replace(item, pending=outstanding) if item.kind is CarrierKind.SUMMARY else item
            for item in super().live()
        ]

    def get(self, token: str) -> Answer:
        answer = super().get(token)
        if answer.kind is AnswerKind.FOUND and token not in self.landed:
            self.landed.add(token)
            return Answer(kind=AnswerKind.PENDING)
        return answer

    def search(self, literal: str) -> Answer:
        """What is outstanding is held all the while, and asking for it finds it."""
        for name in reversed(self.names()):
            turn = self.turn(name) if self.readable(name) else None
            if turn is not None and literal in whole(turn):
                return super().get(name)
        return self.not_found(literal)


class PromisesTheRest(EventLog):
    """Keeps nothing: a note that something is archived, and a continuation that leads to the next note."""

    def get(self, token: str) -> Answer:
        answer = super().get(token.split("+")[0])
        if answer.kind is not AnswerKind.FOUND:
            return answer
        return Answer(kind=AnswerKind.PARTIAL, text="(archived)", continuation=f"{token}+")


class InPieces(EventLog):
    """Honest: originals come in pieces of a hundred characters, each with the token of the next; very long ones in a
    hundred pieces."""

    def get(self, token: str) -> Answer:
        name, _, at = token.partition("+")
        answer, start = super().get(name), int(at or 0)
        text = answer.text or ""
        end = start + max(PIECE, len(text) // 100)
        if answer.kind is not AnswerKind.FOUND or len(text) <= PIECE:
            return answer
        if end >= len(text):
            return replace(answer, text=self.rest(text, start))
        return replace(answer, kind=AnswerKind.PARTIAL, text=text[start:end], continuation=f"{name}+{end}")

    def rest(self, text: str, start: int) -> str:
        return text[start:]


class FindsANeighbourInPieces(SlotCache):
    """Where it does not know it answers with the beginning of something else."""

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        answer = super().reconstitute(subject, attribute, evidence)
        if answer.kind is not AnswerKind.FOUND:
            return answer
        return Answer(kind=AnswerKind.PARTIAL, text="The port of somebody else is 1.", continuation="more")


class ClaimsSwappedValues(SlotCache):
    """The summary gives the values of two statements to each other's subjects, and the manifest vouches for both."""

    def commit(self, old: list[Turn], text: str) -> None:
        super().commit(old, text)
        summary = self.session.summary
        assert summary is not None
        told = [s for s in statements(summary.text) if summary.text.count(s.value) == 1]
        if len(told) > 1:
            first, second = told[0].value, told[1].value
            swapped = summary.text.replace(first, "\0").replace(second, first).replace("\0", second)
            self.session.summary = replace(summary, text=swapped)

    def manifest(self, carrier: str) -> list[Entry]:
        summary = self.session.summary
        return [] if summary is None or summary.id != carrier else self.vouch(summary)

    def vouch(self, summary: Summary) -> list[Entry]:
        return [
            Entry(literal=s.value, source=turn.id, subject=s.subject, attribute=s.attribute)
            for turn in self.session.said
            if turn.id in summary.covers
            for s in statements(whole(turn))
            if s.value in summary.text and s.subject in summary.text
        ]


class ClaimsForNobody(SlotCache):
    """Entries that name no source and a subject that nobody ever spoke of."""

    def manifest(self, carrier: str) -> list[Entry]:
        return [replace(entry, source=None, subject="zzz") for entry in super().manifest(carrier)]


class AnswersWithTheOldestAndItsSource(SlotCache):
    """The first value of a slot, true once, with the turn that said it."""

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        for turn in self.known():
            for statement in statements(whole(turn)):
                if statement.subject == subject and statement.attribute == attribute:
                    return Answer(
                        kind=AnswerKind.FOUND, text=whole(turn), value=statement.value, source=turn.id, evidence=True
                    )
        return self.unheard(subject, attribute)


class StopsWithAnyExcuse(PlainList):
    """Compacts twice, and from then on has a reason."""

    def compact(self) -> Outcome:
        return nothing("-") if self.notes >= 2 else super().compact()


class RefusesForAFactOfItsOwn(PlainList):
    """Compacts once, and from then on names a fact that nobody ever spoke of."""

    def commit(self, old: list[Turn | Note], text: str) -> Outcome:
        return refused("something might be lost", "x") if self.notes else super().commit(old, text)


class SaysItCoveredSomethingElse(PlainList):
    def commit(self, old: list[Turn | Note], text: str) -> Outcome:
        return replace(super().commit(old, text), covered=("t1",))


class NamesASummaryThatIsNotThere(PlainList):
    def commit(self, old: list[Turn | Note], text: str) -> Outcome:
        return replace(super().commit(old, text), summary="note-0")


class DeclaresTurnsThatNeverWere(EventLog):
    def covers(self, condensation: Condensation) -> tuple[str, ...]:
        return (*condensation.covers, "t9999")


class CallsItsSummaryANotice(ForgetsWhatTheSummaryLeftOut):
    """Loses what the model left out, and shows the summary as if it were scaffolding."""

    def live(self) -> list[Item]:
        return [
            replace(item, kind=CarrierKind.OTHER) if item.kind is CarrierKind.SUMMARY else item
            for item in super().live()
        ]


class TruncatesWithoutAWord(PlainList):
    """No model, no summary: the oldest turns go."""

    def compact(self) -> Outcome:
        if size(m.text if isinstance(m, Note) else m for m in self.messages) <= limit(self.settings):
            return nothing("the window is under its watermark")
        self.messages = self.messages[-(self.settings.keep or KEEP) :]
        return Outcome(kind=OutcomeKind.COMMITTED)


class ArchivesNoArguments(FileArchive):
    """The file holds what was said, and not with what the tools were called."""

    def put(self, old: list[Turn]) -> None:
        super().put([replace(turn, calls=()) for turn in old])


class BuriesTheWordsWherever(SlotCache):
    """A tombstone that names no turn, and takes the same words in every other turn with it."""

    def tombstone(self, literal: str, source: str, reason: str) -> Outcome:
        outcome = super().tombstone(literal, source, reason)
        self.session.tombstones[-1] = replace(self.session.tombstones[-1], source=None)
        self.save()
        return outcome

    def spread(self, text: str | None) -> bool:
        return any(stone.literal in (text or "") for stone in self.session.tombstones)

    def get(self, token: str) -> Answer:
        answer = super().get(token)
        return Answer(kind=AnswerKind.TOMBSTONED) if self.spread(answer.text) else answer

    def search(self, literal: str) -> Answer:
        answer = super().search(literal)
        return Answer(kind=AnswerKind.TOMBSTONED) if self.spread(answer.text) else answer

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        answer = super().reconstitute(subject, attribute, evidence)
        return Answer(kind=AnswerKind.TOMBSTONED) if self.spread(answer.text) else answer


class ArchivesWithoutAModel(EventLog):
    """Honest: what leaves the window stays in the log, and a notice stands in its place. No model is asked."""

    def describe(self) -> Description:
        return replace(super().describe(), mechanisms=frozenset())

    def live(self) -> list[Item]:
        return [
            replace(item, kind=CarrierKind.OTHER, covers=None) if item.kind is CarrierKind.SUMMARY else item
            for item in super().live()
        ]

    def compact(self) -> Outcome:
        last, visible = self.condensation(), self.visible()
        if size([last.text if last else "", *(turn for _, turn in visible)]) <= limit(self.settings):
            return nothing("the window is under its watermark")
        old = self.choose(visible)
        if not old:
            return nothing("nothing but the latest turns is left")
        names = (*(last.forgotten if last else ()), *(name for name, _ in old))
        covers = (*(last.covers if last else ()), *(turn.id for _, turn in old))
        notice = f"[{len(names)} earlier turns are in the log: ask for them]"
        return committed(self.condense(names, covers, notice, 1), (turn.id for _, turn in old))


class PointsAtRanges(EventLog):
    """Honest: one pointer for each summary, the range of the log that it stands for. Bytes stay in the window."""

    def choose(self, visible: list[tuple[str, Turn]]) -> list[tuple[str, Turn]]:
        return [(name, turn) for name, turn in super().choose(visible) if not opaque(turn)]

    def pointers(self) -> list[Pointer]:
        last = self.condensation()
        return [Pointer(summary=last.id, token=f"log:{last.forgotten[0]}:{last.forgotten[-1]}")] if last else []

    def get(self, token: str) -> Answer:
        if token in self.names():
            return super().get(token)
        scheme, first, last = (*token.split(":"), "", "", "")[:3]
        if scheme != "log" or first not in self.names() or last not in self.names():
            return Answer(kind=AnswerKind.FOREIGN)
        names = self.names()[int(first[1:]) : int(last[1:]) + 1]
        turns = [turn for turn in map(self.turn, names) if turn is not None]
        return Answer(kind=AnswerKind.FOUND, text="\n\n".join(map(whole, turns)), evidence=True)

    def corrupt(self, token: str) -> bool:
        return super().corrupt(token.split(":")[1]) if token.startswith("log:") else super().corrupt(token)


class ShowsTheWholeWindow(EventLog):
    """Honest: the model reads the turns that stay as well, to know where things are going."""

    def show(self, last: Condensation | None, old: list[Turn]) -> Shown:
        earlier = [bare(last.text)] if last else []
        return Shown(messages=("Condense these events.", *earlier, *(whole(turn) for _, turn in self.visible())))


class KeepsOnlyTheSuitesForms(PlainList):
    """Looks for sentences of two forms, and drops everything else that could be looked up."""

    def compose(self, old: list[Turn | Note], text: str) -> str:
        return kept(text, (s.sentence for m in old for s in statements(words(m))))
