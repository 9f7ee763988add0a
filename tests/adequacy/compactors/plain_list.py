"""A list of messages whose older part is replaced by a summary: no store, no pointers, nothing to ask.

The correct one repeats every statement of what it replaces word for word in the summary, since nothing else holds it.
"""

from dataclasses import dataclass, replace

from anchorhold.compactor import Description, Mechanism, Reply, Settings, Shown, Summarise, SummariserError
from anchorhold_spec.vocabulary import CarrierKind, Item, Outcome, OutcomeKind, Turn
from compactors.common import (
    committed,
    failed,
    kept,
    limit,
    nothing,
    objection,
    raw,
    refused,
    replaceable,
    size,
    verifiable,
    whole,
)


@dataclass(frozen=True)
class Note:
    """A summary in the list."""

    id: str
    text: str
    reply: str
    generation: int


def words(message: Turn | Note) -> str:
    """What a message of either kind says."""
    return message.text if isinstance(message, Note) else whole(message)


class PlainList:
    """The list, done right."""

    def describe(self) -> Description:
        return Description(name=type(self).__name__, version="1", mechanisms=frozenset({Mechanism.SUMMARISER}))

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.settings, self.summarise = settings, summarise
        self.messages: list[Turn | Note] = []
        self.known: set[str] = set()
        self.notes = 0
        return settings

    def close(self) -> None:
        self.messages = []

    def append(self, turn: Turn) -> None:
        if turn.id not in self.known:
            self.known.add(turn.id)
            self.messages.append(turn)

    def live(self) -> list[Item]:
        return [
            Item(id=m.id, kind=CarrierKind.SUMMARY, text=m.text, generation=m.generation)
            if isinstance(m, Note)
            else raw(m)
            for m in self.messages
        ]

    def compact(self) -> Outcome:
        if size(m.text if isinstance(m, Note) else m for m in self.messages) <= limit(self.settings):
            return nothing("the window is under its watermark")
        old = self.choose()
        if not any(isinstance(m, Turn) for m in old):
            return nothing("only the summary is left, and it is as short as it can be")
        shown = self.show(old)
        try:
            reply = self.summarise(shown)
        except SummariserError as error:
            return self.on_error(old, error)
        why = self.objection(reply, shown)
        if why is not None:
            return self.on_objection(old, reply, why)
        return self.commit(old, reply.text)

    def choose(self) -> list[Turn | Note]:
        free = replaceable([m for m in self.messages if isinstance(m, Turn)], keep=self.settings.keep)
        return [m for m in self.messages if isinstance(m, Note) or m in free]

    def show(self, old: list[Turn | Note]) -> Shown:
        return Shown(messages=("Summarise what follows.", *(words(m) for m in old)))

    def objection(self, reply: Reply, shown: Shown) -> str | None:
        return objection(reply, shown, [m.reply for m in self.messages if isinstance(m, Note)])

    def on_error(self, old: list[Turn | Note], error: Exception) -> Outcome:
        return failed(str(error))

    def on_objection(self, old: list[Turn | Note], reply: Reply, why: str) -> Outcome:
        return refused(why)

    def commit(self, old: list[Turn | Note], text: str) -> Outcome:
        self.notes += 1
        generation = 1 + max(m.generation if isinstance(m, Note) else 0 for m in old)
        note = Note(f"note-{self.notes}", self.compose(old, text), text, generation)
        self.messages = [note, *self.rest(old)]
        return committed(note.id, (m.id for m in old if isinstance(m, Turn)))

    def rest(self, old: list[Turn | Note]) -> list[Turn | Note]:
        return [m for m in self.messages if m not in old]

    def compose(self, old: list[Turn | Note], text: str) -> str:
        return kept(text, (s for m in old for s in verifiable(words(m))))


class ForgetsWhatTheSummaryLeftOut(PlainList):
    def compose(self, old: list[Turn | Note], text: str) -> str:
        return text


class LosesOneStatementEachTime(PlainList):
    """Keeps all statements but the first: a fault that shows in one fact only."""

    def compose(self, old: list[Turn | Note], text: str) -> str:
        first = next((s for m in old for s in verifiable(words(m))), None)
        return kept(text, (s for m in old for s in verifiable(words(m)) if s != first))


class DropsHedgesAndNegations(PlainList):
    def compose(self, old: list[Turn | Note], text: str) -> str:
        return super().compose(old, text).replace(" is not ", " is ")


class ForgetsWhatOldNotesSaid(PlainList):
    """Counts a summary that is about to go as if it stayed."""

    def compose(self, old: list[Turn | Note], text: str) -> str:
        return super().compose([m for m in old if isinstance(m, Turn)], text)


class ReplacesTwoMoreThanItShows(PlainList):
    def rest(self, old: list[Turn | Note]) -> list[Turn | Note]:
        return super().rest(old)[2:]


class ShowsOnlyTheEnd(PlainList):
    """Cuts what it shows its model to what fits, and replaces everything all the same."""

    def show(self, old: list[Turn | Note]) -> Shown:
        return Shown(messages=("Summarise what follows.", *(words(m) for m in old[-6:])))


class CommitsTheErrorText(PlainList):
    def on_error(self, old: list[Turn | Note], error: Exception) -> Outcome:
        return self.commit(old, f"Error generating summary: {error}")


class CommitsWhateverComes(PlainList):
    def objection(self, reply: Reply, shown: Shown) -> str | None:
        return None


class TakesWhatWasCutWhereALineEnds(PlainList):
    """Sees by a half word that a reply was cut off, and not by what the model says of it."""

    def objection(self, reply: Reply, shown: Shown) -> str | None:
        *_, last = reply.text.strip().splitlines() or [""]
        whole = any(last in message for message in shown.messages)
        return super().objection(replace(reply, finish="stop") if whole else reply, shown)


class TruncatesWhenTheModelFails(PlainList):
    """Makes room at any price: without a summary the oldest messages go."""

    def on_error(self, old: list[Turn | Note], error: Exception) -> Outcome:
        self.messages = self.rest(old)
        return failed(str(error))


class SaysCommittedWhenItFailed(PlainList):
    def on_error(self, old: list[Turn | Note], error: Exception) -> Outcome:
        return Outcome(kind=OutcomeKind.COMMITTED)

    def on_objection(self, old: list[Turn | Note], reply: Reply, why: str) -> Outcome:
        return Outcome(kind=OutcomeKind.COMMITTED)


class SaysNothingToDoWhenItFailed(PlainList):
    def on_error(self, old: list[Turn | Note], error: Exception) -> Outcome:
        return nothing("no summary was written")


class SaysFailedWhenItCommitted(PlainList):
    def commit(self, old: list[Turn | Note], text: str) -> Outcome:
        super().commit(old, text)
        return failed("it took too long")


class RegistersTheSummaryBeforeItChecks(PlainList):
    """A refused reply stays behind in the list."""

    def on_objection(self, old: list[Turn | Note], reply: Reply, why: str) -> Outcome:
        self.notes += 1
        self.messages.insert(len(old), Note(f"note-{self.notes}", reply.text, reply.text, 1))
        return refused(why)


class NeverCompacts(PlainList):
    def compact(self) -> Outcome:
        return Outcome(kind=OutcomeKind.NOTHING)


class RefusesEverything(PlainList):
    def compact(self) -> Outcome:
        return refused("something might be lost")


class GivesUpSilently(PlainList):
    """Compacts once, and then never again."""

    def compact(self) -> Outcome:
        if self.notes:
            return Outcome(kind=OutcomeKind.NOTHING)
        return super().compact()


class MergesEqualTurns(PlainList):
    def append(self, turn: Turn) -> None:
        if not any(isinstance(m, Turn) and m.text == turn.text for m in self.messages):
            super().append(turn)
