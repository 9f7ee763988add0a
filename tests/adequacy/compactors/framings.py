"""Right ones that write their notes in other forms, and that go about a compaction in other ways: a list under
rolling notes whose window, prompt or choice is another."""

import html
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anchorhold.compactor import Reply, Shown, SummariserError
from anchorhold_spec.vocabulary import Item, Outcome, OutcomeKind, Turn
from compactors.common import committed, limit, replaceable, whole
from compactors.rolling import Rolling


class WritesItsNotesAsJson(Rolling):
    """What the model wrote is a member of an object: its lines end with escapes."""

    def text(self) -> str:
        return json.dumps({"notes": self.state.summary, "omitted": self.note()}, ensure_ascii=False)


class WritesItsNotesAsPoints(Rolling):
    """Each line of what the model wrote is a point of a list, in a message of the assistant's."""

    def text(self) -> str:
        points = (f"- {line}" for line in (self.state.summary or "").splitlines())
        return "\n".join(["assistant: This is what happened so far.", *points, self.note()])


class WritesItsNotesInOneLine(Rolling):
    """The lines of what the model wrote, one behind the other, without the full stops at their ends."""

    def text(self) -> str:
        lines = (line.rstrip(".") for line in (self.state.summary or "").splitlines())
        return f"{' | '.join(lines)}\n{self.note()}"


class WritesItsNotesWithNumbers(Rolling):
    """Each line of what the model wrote has a number, and a time before it."""

    def text(self) -> str:
        lines = (self.state.summary or "").splitlines()
        return "\n".join([*(f"{n}. [12:0{n % 10}] {line}" for n, line in enumerate(lines, start=1)), self.note()])


class WritesItsNotesAsMarkup(Rolling):
    """What the model wrote stands in an element, escaped."""

    def text(self) -> str:
        return f"<notes>{html.escape(self.state.summary or '')}</notes>\n<omitted>{self.note()}</omitted>"


class FramesTurns(Rolling):
    """Each turn stands in an element with who says it, escaped; a window is as full as it then is."""

    def frame(self, turn: Turn) -> str:
        return f'<turn id="{turn.id}" role="{turn.speaker}">{html.escape(whole(turn))}</turn>'

    def shown(self, turn: Turn) -> Item:
        item = super().shown(turn)
        return item if turn.data is not None else replace(item, text=self.frame(turn))

    def size(self, parts: Sequence[str | Turn]) -> int:
        return super().size([p if isinstance(p, str) or p.data is not None else self.frame(p) for p in parts])


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
        calls = {call.id for call in old[0].calls}
        if calls:
            return [old[0], *(turn for turn in old if turn.result_of in calls)]
        return [turn for turn in old[: self.FEW] if not turn.calls and turn.result_of is None] or old

    def compact(self) -> Outcome:
        covered: list[str] = []
        while (outcome := super().compact()).kind is OutcomeKind.COMMITTED:
            covered += outcome.covered or ()
        return committed(self.summary_id(), covered) if covered else outcome


class ReplacesToolsFirst(Rolling):
    """Calls and their results go first, and what was said only where that does not do."""

    def chosen(self) -> list[Turn]:
        old = replaceable(self.turns(), keep=None, opaque_too=self.OPAQUE_TOO)
        tools = [turn for turn in old if turn.calls or turn.result_of is not None]
        left: list[str | Turn] = [turn for turn in self.turns() if turn not in tools]
        notes: list[str | Turn] = [] if self.state.summary is None else [self.text()]
        return tools if tools and self.size([*notes, *left]) * 4 <= limit(self.settings) * 3 else old


HONEST: tuple[type[Any], ...] = (
    WritesItsNotesAsJson,
    WritesItsNotesAsPoints,
    WritesItsNotesInOneLine,
    WritesItsNotesWithNumbers,
    WritesItsNotesAsMarkup,
    FramesTurns,
    AsksASecondTime,
    SummarisesHalves,
    TakesOneGroupAtATime,
    ReplacesToolsFirst,
)
