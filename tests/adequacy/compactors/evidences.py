"""Gates that go by something else than the content, and summaries that pass for evidence (EVI)."""

from dataclasses import replace
from typing import Any

from anchorhold.compactor import Settings, Summarise
from anchorhold_spec.vocabulary import Answer, AnswerKind, Outcome, OutcomeKind, Pointer, Turn
from compactors.common import refused, verifiable, whole
from compactors.event_log import Condensation, EventLog
from compactors.file_archive import FileArchive
from compactors.plain_list import ForgetsWhatTheSummaryLeftOut
from compactors.policies import ExpiresByAge, ExpiresThroughTheGate, PrunedLog, PrunesWhatIsOld
from compactors.slot_cache import SlotCache

LARGE = 1000


class PointsAtWhatWasSaidOnly(EventLog):
    """Everything is in the log; calls and their results have no pointer, so that nothing leads there."""

    def carried(self, last: Condensation) -> tuple[str, ...]:
        turns = [(name, self.turn(name)) for name in super().carried(last) if self.readable(name)]
        return tuple(name for name, turn in turns if turn is not None and not turn.calls and turn.result_of is None)


class ArchivesNoResults(FileArchive):
    """What tools answered is too long for the file."""

    def put(self, old: list[Turn]) -> None:
        super().put([turn for turn in old if turn.result_of is None])


class SaysNothingOfWhatIsMissing(EventLog):
    def compose(self, text: str, names: tuple[str, ...]) -> str:
        return text


class SaysThatThereWasMore(FileArchive):
    """Every summary ends with the same remark, whatever it is that is missing."""

    def text(self) -> str:
        return f"{self.window.summary}\nThere was more to it. Everything before is in /history.md."


class LogWithALifetime(EventLog):
    """Events are blanked an hour after they were condensed, however long they may be asked for."""

    def expire(self, seconds: float) -> None:
        last = self.condensation()
        if seconds < 3600 or last is None:
            return
        for name in last.forgotten:
            self.disk[int(name[1:])] = b"0 {}"

    def get(self, token: str) -> Answer:
        if token in self.names() and self.disk[int(token[1:])] == b"0 {}":
            return Answer(kind=AnswerKind.EXPIRED)
        return super().get(token)


class KeepsWhatMayExpire(ExpiresByAge):
    """Honest: where originals may expire too early, what can be verified stays in the window, and that is said."""

    def choose(self, turns: list[Turn]) -> list[Turn]:
        if self.settings.lifetime is None:
            return super().choose(turns)
        bound = [replace(turn, protected=True) if verifiable(whole(turn)) else turn for turn in turns]
        free = {turn.id for turn in super().choose(bound)}
        return [turn for turn in turns if turn.id in free]

    def let_go(self, token: str) -> None:
        """Without a lifetime nothing expires."""
        if self.settings.lifetime is not None:
            super().let_go(token)

    def compact(self) -> Outcome:
        outcome = super().compact()
        if outcome.kind is OutcomeKind.NOTHING and self.settings.lifetime is not None:
            return refused("insufficient provenance, originals retained")
        return outcome


class BelievesTheLabel(SlotCache):
    """A turn that says of itself that it is narrative is not archived."""

    def archive(self, old: list[Turn]) -> None:
        super().archive([turn for turn in old if "[narrative]" not in (turn.text or "")])


class SkipsWhatIsLabelled(FileArchive):
    def put(self, old: list[Turn]) -> None:
        super().put([turn for turn in old if "class: narrative" not in whole(turn)])


class AnswersFromTheSummary(SlotCache):
    """Whether or not evidence is demanded, the summary's sentence will do."""

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        return super().reconstitute(subject, attribute, False)


class SaysThatItIsEvidence(SlotCache):
    """The sentence of the summary, with the word that it is the original's."""

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        answer = super().reconstitute(subject, attribute, False)
        return replace(answer, evidence=True) if answer.kind is AnswerKind.FOUND else answer


class VouchesForItsFluency(SaysThatItIsEvidence):
    """The same, over a summary that says nothing of what it leaves out."""

    def compose(self, text: str, covers: tuple[str, ...]) -> str:
        return text


class DemandsNothing(AnswersFromTheSummary):
    def compose(self, text: str, covers: tuple[str, ...]) -> str:
        return text


class ArchivesWhatIsSmall(EventLog):
    """A large event is not worth its room once it was condensed."""

    def condense(self, names: tuple[str, ...], covers: tuple[str, ...], text: str, generation: int) -> str:
        made = super().condense(names, covers, text, generation)
        for name in names:
            turn = self.turn(name) if self.readable(name) else None
            if turn is not None and len(whole(turn)) > LARGE:
                self.disk[int(name[1:])] = b"0 {}"
        return made

    def get(self, token: str) -> Answer:
        if token in self.names() and self.readable(token) is None:
            return Answer(kind=AnswerKind.UNANCHORED)
        return super().get(token)


class KeepsTheImportant(SlotCache):
    """The gate lets go of whatever has a low score: few figures, and not much text."""

    def loose(self, turn: Turn, token: str) -> list[str]:
        score = len(whole(turn)) // 100 + sum(character.isdigit() for character in whole(turn)) // 12
        return super().loose(turn, token) if score >= 4 else []


class NeverLetsGo(PrunedLog):
    """Honest: whoever asks that something go is refused, whatever it is."""

    def evict(self, token: str) -> Outcome:
        return refused("originals are kept until the end of the session")


class TakesNoLifetime(ExpiresThroughTheGate):
    """Honest: it has a clock and no lifetime, and says so when it is opened."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        return replace(super().open(settings, summarise), lifetime=None)

    def expire(self, seconds: float) -> None:
        self.now += seconds


class PointsOnlyAtUsers(SlotCache):
    """A pointer is worth having for what people said."""

    def pointers(self) -> list[Pointer]:
        people = {turn.id for turn in self.session.said if turn.speaker == "user"}
        return [pointer for pointer in super().pointers() if people & set(pointer.covers or ())]


HONEST: tuple[type[Any], ...] = (KeepsWhatMayExpire, NeverLetsGo, TakesNoLifetime)
WRONG: tuple[tuple[type[Any], str], ...] = (
    (PointsAtWhatWasSaidOnly, "EVI-1"),
    (ArchivesNoResults, "EVI-1"),
    (ForgetsWhatTheSummaryLeftOut, "EVI-1"),
    (PointsOnlyAtUsers, "EVI-1"),
    (SaysNothingOfWhatIsMissing, "EVI-2"),
    (SaysThatThereWasMore, "EVI-2"),
    (ExpiresByAge, "EVI-3"),
    (LogWithALifetime, "EVI-3"),
    (BelievesTheLabel, "EVI-4"),
    (SkipsWhatIsLabelled, "EVI-4"),
    (AnswersFromTheSummary, "EVI-5"),
    (SaysThatItIsEvidence, "EVI-5"),
    (VouchesForItsFluency, "EVI-6"),
    (DemandsNothing, "EVI-6"),
    (ArchivesWhatIsSmall, "EVI-7"),
    (KeepsTheImportant, "EVI-7"),
    (PrunesWhatIsOld, "EVI-7"),
)
