"""Right ones that go about a compaction in other ways: when it is done, what is chosen, how the model is asked."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anchorhold.compactor import Reply, Settings, Shown, Summarise, SummariserError
from anchorhold_spec.vocabulary import Answer, CarrierKind, Entry, Item, Outcome, OutcomeKind, Pointer, Turn
from compactors.common import (
    committed,
    failed,
    in_anothers_mouth,
    limit,
    nothing,
    objection,
    paired,
    refused,
    replaceable,
    statements,
    whole,
)
from compactors.driven import AnswersLateWhileItCompacts
from compactors.rolling import Outstanding, Rolling, State
from compactors.vault import Lane, Vault


class AsksASecondTime(Rolling):
    """Where the first answer is no summary, or does not come, the model is asked once more."""

    def ask(self, shown: Shown) -> Reply:
        try:
            reply = super().ask(shown)
        except SummariserError:
            return super().ask(shown)
        if self.objection(reply, shown) is None:
            return reply
        return super().ask(replace(shown, messages=(*shown.messages, "That was no summary. Once more, please.")))


class SummarisesHalves(Rolling):
    """A long window is summarised in halves, and their notes together."""

    LEAST = 4

    def ask(self, shown: Shown) -> Reply:
        asked, *turns = shown.messages
        if len(turns) < self.LEAST:
            return super().ask(shown)
        middle = len(turns) // 2
        notes = []
        for half in (turns[:middle], turns[middle:]):
            part = Shown(messages=(asked, *half))
            reply = super().ask(part)
            if self.objection(reply, part) is not None:
                return reply
            notes.append(reply.text.strip())
        return super().ask(Shown(messages=("Make one set of notes of these.", *notes)))


class TakesOneGroupAtATime(Rolling):
    """One call with its results, or a few turns, and that again until the window is under its watermark."""

    FEW = 4

    def chosen(self) -> list[Turn]:
        old = super().chosen()
        if not old:
            return []
        if old[0].calls:
            return [old[0], *(result for asking, result in paired(old) if asking == old[0].id)]
        return [turn for turn in old[: self.FEW] if not turn.calls and turn.result_of is None] or old

    def compact(self) -> Outcome:
        covered: list[str] = []
        while (outcome := super().compact()).kind is OutcomeKind.COMMITTED:
            covered += outcome.covered or ()
        return committed(self.summary_id(), covered) if covered else outcome


class ReplacesToolsFirst(Rolling):
    """Calls and their results go first, and what was said only where that does not do."""

    def chosen(self) -> list[Turn]:
        old = super().chosen()
        tools = [turn for turn in old if turn.calls or turn.result_of is not None]
        left: list[str | Turn] = [turn for turn in self.turns() if turn not in tools]
        notes: list[str | Turn] = [] if self.state.summary is None else [self.text()]
        return tools if tools and self.size([*notes, *left]) * 4 <= limit(self.settings) * 3 else old


class KeepsTheLatestTurnAlone(Rolling):
    """All but the latest turn goes, so that a branch begins with next to nothing in its window."""

    def chosen(self) -> list[Turn]:
        free = {turn.id for turn in replaceable(self.judged(), keep=1, opaque_too=True)}
        return [turn for turn in self.turns() if turn.id in free]


class CompactsWhileItAppends(Rolling):
    """What brings the window over its watermark has it compacted at once; asked for, there is little left to do."""

    def append(self, turn: Turn) -> str:
        name = super().append(turn)
        self.compact()
        return name


class CompactsAsTurnsComeIn(AnswersLateWhileItCompacts):
    """The same, where others may call while a compaction that was asked for is under way."""

    def append(self, turn: Turn) -> str | None:
        with self.guard:
            name = super().append(turn)
            if self.armed is None:
                self.compact()
            return name


class NotesByItselfWhereTheModelFails(Rolling):
    """What the model should have summarised is filed under a note of the compactor's own, with a few words of it."""

    FEW = 4

    def ask(self, shown: Shown) -> Reply:
        try:
            return super().ask(shown)
        except SummariserError:
            begins = (message.split()[: self.FEW] for message in reversed(shown.messages[1:]))
            words = next((few for few in begins if len(few) == self.FEW), None)
            if words is None:
                raise
            return Reply(text=f"{len(shown.messages) - 1} messages were filed. The last began: {' '.join(words)}")


class LandsAFewWithEachTurn(Outstanding):
    """Originals are copied two at a time, whenever a turn comes in; until then what they are of is pending."""

    FEW = 2

    def append(self, turn: Turn) -> str:
        if not self.held:
            self.queue = self.queue[self.FEW :]
        return super().append(turn)

    def commit(self, old: Sequence[Turn], text: str) -> Outcome:
        there = set(self.state.tokens)
        outcome = Rolling.commit(self, old, text)
        self.commits += 1
        self.queue += [(self.at, turn.id) for turn in old if turn.id not in there]
        return replace(outcome, pending=bool(self.mine()))

    def hold_copies(self, held: bool) -> None:
        self.held = held

    def settle(self) -> None:
        self.held, self.queue = False, []


class MakesTokensAnew(Rolling):
    """A pointer goes by another token each time that it is listed, and all of them work, as signed addresses do."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.issued: dict[str, str] = {}
        return super().open(settings, summarise)

    def anew(self, token: str) -> str:
        fresh = self.token(token)
        self.issued[fresh] = token
        return fresh

    def pointers(self) -> Sequence[Pointer]:
        return [replace(pointer, token=self.anew(pointer.token)) for pointer in super().pointers()]

    def get(self, token: str) -> Answer:
        return super().get(self.issued.get(token, token))


class ListsSomeOfWhatItSays(Vault):
    """Of the statements that its summary makes every other one is in the manifest; the originals are there anyway."""

    def choose(self, lane: Lane) -> list[str]:
        return [turn for turn in super().choose(lane) if self.said(turn).data is None]

    def manifest(self, carrier: str) -> Sequence[Entry]:
        with self.guard:
            summary = self.lane.summary
            if summary is None or summary.id != carrier:
                return []
            turns = [turn for turn in map(self.original, summary.covers) if turn is not None]
            entries = []
            for said in statements(summary.text)[::2]:
                source = next((t.id for t in reversed(turns) if said.sentence.strip() in whole(t)), None)
                if source is not None and not in_anothers_mouth(summary.text, said, self.said(source)):
                    slot = {"subject": said.subject, "attribute": said.attribute}
                    entries.append(Entry(literal=said.value, source=source, **slot))
            return entries


class KeepsRequestsApart(Rolling):
    """Two summaries: one of what users asked for, one of the work."""

    def open(self, *args: Any) -> Any:
        self.notes: dict[int, dict[str, str]] = {}
        return super().open(*args)

    def side(self, turn: Turn) -> str:
        return "asked" if turn.speaker == "user" else "done"

    def of(self, side: str) -> list[str]:
        return [name for name in self.state.covered if self.side(self.state.turns[name]) == side]

    def written(self) -> dict[str, str]:
        """By side; whatever was withdrawn is written no more."""
        return self.notes.get(id(self.state), {})

    def words(self, side: str) -> str:
        told = self.written().get(side, "Notes were withdrawn.")
        return f"{told}\n[The full words of {len(self.of(side))} earlier turns are left out here.]"

    def summaries(self) -> list[Item]:
        at = self.state.generation
        return [
            Item(
                id=f"{side}-{at}",
                kind=CarrierKind.SUMMARY,
                text=self.words(side),
                covers=tuple(self.of(side)),
                generation=at,
            )
            for side in ("asked", "done")
            if self.of(side)
        ]

    def live(self) -> Sequence[Item]:
        return [*self.summaries(), *(self.shown(turn) for turn in self.turns())]

    def compact(self) -> Outcome:
        notes = [item.text or "" for item in self.summaries()]
        if self.size([*notes, *self.turns()]) <= limit(self.settings):
            return nothing("the window is under its watermark")
        old = self.chosen()
        if not old:
            return refused("what is left are the latest turns and what is protected")
        new = dict(self.written())
        for side in ("asked", "done"):
            mine = [turn for turn in old if self.side(turn) == side]
            if not mine:
                continue
            before = [self.words(side)] if self.of(side) else []
            shown = Shown(messages=("Summarise these turns.", *before, *map(whole, mine)))
            try:
                reply = self.notes_of(side, shown)
            except SummariserError as error:
                return failed(f"the model failed: {error}")
            wrong = objection(reply, shown, list(self.written().values()))
            if wrong is not None:
                return refused(wrong)
            new[side] = reply.text.strip()
        outcome = self.commit(old, "in two parts")
        self.notes[id(self.state)] = new
        return replace(outcome, summary=self.summaries()[-1].id)

    def notes_of(self, side: str, shown: Shown) -> Reply:
        return self.ask(shown)

    def pointers(self) -> Sequence[Pointer]:
        at = self.state.generation
        return [
            replace(pointer, summary=f"{self.side(self.state.turns[name])}-{at}")
            for pointer in super().pointers()
            for name in pointer.covers or ()
        ]

    def fork(self, branch: str) -> None:
        before = self.written()
        super().fork(branch)
        self.notes[id(self.state)] = dict(before)

    def clear(self) -> None:
        super().clear()
        self.notes.pop(id(self.state), None)

    def withdraw(self, back: set[str]) -> None:
        super().withdraw(back)
        self.notes.pop(id(self.state), None)

    def erase(self, state: State, turn: str) -> bool:
        erased = super().erase(state, turn)
        if erased:
            self.notes.pop(id(state), None)
        return erased


class StubsCallsByItself(KeepsRequestsApart):
    """What tools were asked and answered gives way to a line of its own making; a model summarises the talk alone."""

    def side(self, turn: Turn) -> str:
        return "done" if turn.calls or turn.result_of is not None else "asked"

    def notes_of(self, side: str, shown: Shown) -> Reply:
        if side == "asked":
            return super().notes_of(side, shown)
        count = len(self.of(side)) + len(shown.messages) - 1
        return Reply(text=f"{count} calls and results of tools were filed.")


HONEST: tuple[type[Any], ...] = (
    AsksASecondTime,
    SummarisesHalves,
    TakesOneGroupAtATime,
    ReplacesToolsFirst,
    KeepsTheLatestTurnAlone,
    CompactsWhileItAppends,
    CompactsAsTurnsComeIn,
    NotesByItselfWhereTheModelFails,
    LandsAFewWithEachTurn,
    MakesTokensAnew,
    ListsSomeOfWhatItSays,
    KeepsRequestsApart,
    StubsCallsByItself,
)
