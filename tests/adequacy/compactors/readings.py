"""What is made of words and bytes: doubts that go, turns that cannot be read, parts that pass for wholes, and indexes
that do not know yet (MAN-3, MAN-5, PRO-2, REC-3, REC-4)."""

from dataclasses import replace
from typing import Any

from anchorhold.compactor import Settings, Summarise
from anchorhold_spec.vocabulary import Answer, AnswerKind, Entry, Outcome, Turn
from compactors.common import Statement, opaque, refused, replaceable, statements, verifiable, whole
from compactors.dodges import InPieces
from compactors.event_log import EventLog
from compactors.file_archive import FileArchive
from compactors.plain_list import Note, PlainList, words
from compactors.slot_cache import SlotCache, Summary
from compactors.unseen_likeness import ManifestsWhatItSays

CAP = 400


class ReplacesWhatItCannotRead(SlotCache):
    """Bytes are archived like anything else, with a manifest that has nothing of them."""

    def choose(self, turns: list[Turn]) -> list[Turn]:
        return replaceable(turns, opaque_too=True, keep=self.settings.keep)


class ReadsBytesAsText(SlotCache):
    """Whatever is no text is made text on its way in, and what does not fit is replaced by a question mark."""

    def append(self, turn: Turn) -> None:
        text = turn.text if turn.data is None else turn.data.decode("utf-8", "replace")
        super().append(replace(turn, text=text, data=None))


class ChokesOnBytes(PlainList):
    """One attachment in the window, and nothing is compacted any more."""

    def compact(self) -> Outcome:
        if any(isinstance(m, Turn) and opaque(m) for m in self.messages):
            return refused("the window has a turn that cannot be read")
        return super().compact()


class StopsAtTheFirstThatStays(EventLog):
    """Replaces a run from the start of the window, so that the first turn that has to stay ends all progress."""

    def choose(self, visible: list[tuple[str, Turn]]) -> list[tuple[str, Turn]]:
        free = replaceable([turn for _, turn in visible], keep=self.settings.keep)
        run = []
        for name, turn in visible:
            if turn not in free:
                break
            run.append((name, turn))
        return run


class WaitsForTheDeadCall(FileArchive):
    """As long as a call has no result, whatever became of it, nothing is replaced."""

    def choose(self, turns: list[Turn]) -> list[Turn]:
        answered = {turn.result_of for turn in turns}
        if any(call.id not in answered for turn in turns for call in turn.calls):
            return []
        return super().choose(turns)


class StripsDoubts(PlainList):
    """What it repeats word for word it repeats without the doubts, since they take room."""

    def compose(self, old: list[Turn | Note], text: str) -> str:
        return super().compose(old, text).replace(" is probably ", " is ")


class KeepsByPieces(PlainList):
    """Takes a statement for carried where its subject and its value stand somewhere in the reply."""

    def compose(self, old: list[Turn | Note], text: str) -> str:
        needed = [s for m in old for s in verifiable(words(m)) if not self.carried(s, text)]
        return "\n".join([text, *dict.fromkeys(needed)])

    def carried(self, sentence: str, text: str) -> bool:
        told = statements(sentence)
        if not told:
            return sentence in text
        return all(s.subject in text and s.value.removeprefix("probably ") in text for s in told)


class ClaimsWithoutTheDoubt(SlotCache):
    """The manifest lists a value that the summary states, whether or not the turn was sure of it."""

    def claims(self, summary: Summary, statement: Statement) -> bool:
        return statement.sentence.replace(" probably ", " ") in summary.text.replace(" probably ", " ")

    def manifest(self, carrier: str) -> list[Entry]:
        return [
            replace(entry, literal=entry.literal.removeprefix("probably ")) for entry in super().manifest(carrier)
        ]


class ManifestsWhoeverSaysIt(ManifestsWhatItSays):
    """A statement that a source makes is supported, whoever the summary has make it."""

    def supports(self, turn: Turn, said: Statement) -> bool:
        return True


class AnswersWithoutTheDoubt(SlotCache):
    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        answer = super().reconstitute(subject, attribute, evidence)
        if answer.kind is not AnswerKind.FOUND or not answer.value:
            return answer
        value = answer.value.removeprefix("probably ")
        return replace(answer, value=value, text=f"The {attribute} of {subject} is {value}.")


class ReadsTheFirstFourHundred(EventLog):
    """The reader caps what it hands out, and does not say so."""

    def get(self, token: str) -> Answer:
        answer = super().get(token)
        return replace(answer, text=answer.text[:CAP]) if answer.text else answer


class SaysPartialAndNoMore(EventLog):
    """The reader caps what it hands out, says so, and has no way to go on."""

    def get(self, token: str) -> Answer:
        answer = super().get(token)
        if answer.kind is not AnswerKind.FOUND or not answer.text or len(answer.text) <= CAP:
            return answer
        return replace(answer, kind=AnswerKind.PARTIAL, text=answer.text[:CAP])


class LosesACharacterBetweenPieces(InPieces):
    """Each piece begins one character after the one before it ended."""

    def get(self, token: str) -> Answer:
        answer = super().get(token)
        if answer.continuation is None or answer.text is None:
            return answer
        name, _, at = answer.continuation.partition("+")
        return replace(answer, text=answer.text[:-1], continuation=f"{name}+{at}")


class SearchesWhatWasThereBefore(EventLog):
    """The index of the search is built before each condensation, and does not know what that one hides."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.indexed = 0
        return super().open(settings, summarise)

    def condense(self, names: tuple[str, ...], covers: tuple[str, ...], text: str, generation: int) -> str:
        last = self.condensation()
        self.indexed = int(last.id.removeprefix("sum-e")) if last else 0
        return super().condense(names, covers, text, generation)

    def search(self, literal: str) -> Answer:
        for number in reversed(range(self.indexed)):
            turn = self.turn(f"e{number}") if self.readable(f"e{number}") else None
            if turn is not None and literal in whole(turn):
                return super().get(f"e{number}")
        return self.unknown_yet(literal)

    def unknown_yet(self, literal: str) -> Answer:
        return Answer(kind=AnswerKind.ABSENT)


class SaysThatItsIndexLags(SearchesWhatWasThereBefore):
    """Honest: the same index, and whatever it does not find it does not deny."""

    def unknown_yet(self, literal: str) -> Answer:
        return Answer(kind=AnswerKind.DEGRADED, reason="the latest turns are not indexed yet")


class ForgetsItsIndexWhenReopened(SlotCache):
    """Who said what is known in memory only; after a restart it says of everything that it was never said."""

    def reopen(self) -> None:
        super().reopen()
        self.forgot = len(self.session.said)

    def known(self) -> list[Turn]:
        return super().known()[getattr(self, "forgot", 0) :]


HONEST: tuple[type[Any], ...] = (SaysThatItsIndexLags,)
WRONG: tuple[tuple[type[Any], str], ...] = (
    (ReplacesWhatItCannotRead, "MAN-3"),
    (ReadsBytesAsText, "MAN-3"),
    (ChokesOnBytes, "PRO-2"),
    (StopsAtTheFirstThatStays, "PRO-2"),
    (WaitsForTheDeadCall, "PRO-2"),
    (StripsDoubts, "MAN-5"),
    (KeepsByPieces, "MAN-5"),
    (ClaimsWithoutTheDoubt, "MAN-5"),
    (AnswersWithoutTheDoubt, "MAN-5"),
    (ManifestsWhoeverSaysIt, "MAN-2"),
    (ReadsTheFirstFourHundred, "REC-3"),
    (SaysPartialAndNoMore, "REC-3"),
    (LosesACharacterBetweenPieces, "REC-3"),
    (SearchesWhatWasThereBefore, "REC-4"),
    (ForgetsItsIndexWhenReopened, "REC-4"),
)
