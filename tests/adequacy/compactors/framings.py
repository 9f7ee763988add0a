"""Right ones that write down in other forms what others write plainly: notes, turns, originals, names."""

import html
import json
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anchorhold_spec.vocabulary import Answer, AnswerKind, Item, Outcome, Pointer, Turn
from compactors.common import whole
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


class ServesMessagesInJson(Rolling):
    """An original comes back as the message that it is, in JSON."""

    def original(self, name: str) -> Answer:
        answer, turn = super().original(name), self.state.turns[name]
        if turn.data is not None:
            return answer
        calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in turn.calls]
        return replace(answer, text=json.dumps({"role": turn.speaker, "content": turn.text, "tool_calls": calls}))


class FindsTheBeginning(Rolling):
    """What search finds is a beginning of the turn that ends with what was asked for, and where its rest is."""

    LEAST = 80

    def search(self, literal: str) -> Answer:
        answer = super().search(literal)
        text = answer.text or ""
        end = max(self.LEAST, text.find(literal) + len(literal))
        if end >= len(text) or literal not in text:
            return answer
        rest = f"from {end} of {answer.source}"
        return replace(answer, kind=AnswerKind.PARTIAL, text=text[:end], continuation=rest)

    def get(self, token: str) -> Answer:
        _, _, place = token.partition("from ")
        end, _, name = place.partition(" of ")
        if name not in self.state.turns:
            return super().get(token)
        answer = self.original(name)
        return replace(answer, text=(answer.text or "")[int(end) :])


class CallsSpeakersOtherwise(Rolling):
    """Speakers have the names that its library has for them."""

    def shown(self, turn: Turn) -> Item:
        names = {"user": "human", "assistant": "ai", "tool": "function", "system": "developer"}
        return replace(super().shown(turn), speaker=names.get(turn.speaker))


class DeclaresNoCoverage(Rolling):
    """Neither summaries nor pointers nor outcomes say for which turns they stand."""

    def item(self) -> Item:
        return replace(super().item(), covers=None)

    def pointers(self) -> Sequence[Pointer]:
        return [replace(pointer, covers=None) for pointer in super().pointers()]

    def commit(self, old: Sequence[Turn], text: str) -> Outcome:
        return replace(super().commit(old, text), covered=None)


class GivesTurnsItsOwnIds(Rolling):
    """Whatever names a turn has the id that it was given when it came in."""

    def own(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.made}/{name}")) for name in names)

    def append(self, turn: Turn) -> str:
        return self.own([super().append(turn)])[0]

    def shown(self, turn: Turn) -> Item:
        (name,) = self.own([turn.id])
        return replace(super().shown(turn), id=name, turn=name)

    def item(self) -> Item:
        item = super().item()
        return replace(item, covers=self.own(item.covers or ()))

    def pointers(self) -> Sequence[Pointer]:
        return [replace(pointer, covers=self.own(pointer.covers or ())) for pointer in super().pointers()]

    def commit(self, old: Sequence[Turn], text: str) -> Outcome:
        outcome = super().commit(old, text)
        return replace(outcome, covered=self.own(outcome.covered or ()))

    def original(self, name: str) -> Answer:
        return replace(super().original(name), source=self.own([name])[0])


HONEST: tuple[type[Any], ...] = (
    WritesItsNotesAsJson,
    WritesItsNotesAsPoints,
    WritesItsNotesInOneLine,
    WritesItsNotesWithNumbers,
    WritesItsNotesAsMarkup,
    FramesTurns,
    ServesMessagesInJson,
    FindsTheBeginning,
    CallsSpeakersOtherwise,
    DeclaresNoCoverage,
    GivesTurnsItsOwnIds,
)
