"""What comes back that should not: ids, keys and turns that were given up, arguments that were written anew, and
losses that go on while something is broken; one defect each."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec

from anchorhold.compactor import Reply, Settings, Summarise
from anchorhold_spec.vocabulary import Answer, AnswerKind, Item, Outcome, Pointer, Turn
from compactors.common import limit, nothing, refused, size
from compactors.journal import Journal, Record
from compactors.plain_list import Note, PlainList, words
from compactors.vault import Summary, Vault

# STR-2


class CountsSummariesInTheProcess(Vault):
    """After a restart summaries are numbered from one again."""

    def reopen(self) -> None:
        super().reopen()
        self.state.summaries = 0


class TakesTheLowestFreeNumber(PlainList):
    """A number is free as soon as nothing in the list has it."""

    def commit(self, old: list[Turn | Note], text: str) -> Outcome:
        taken = {message.id for message in self.messages}
        self.notes = next(n for n in range(len(taken) + 1) if f"note-{n + 1}" not in taken)
        return super().commit(old, text)


class CallsItAlwaysTheSame(PlainList):
    """There is one summary, which is written anew each time, and has a name."""

    def live(self) -> list[Item]:
        return [replace(item, id="the-summary") if item.turn is None else item for item in super().live()]

    def commit(self, old: list[Turn | Note], text: str) -> Outcome:
        return replace(super().commit(old, text), summary="the-summary")


class NumbersItsWindow(Vault):
    """The id of an item is its place in the window, as of messages in a request."""

    def place(self, summary: str | None) -> str | None:
        ids = [item.id for item in super().live()]
        return f"m{ids.index(summary)}" if summary in ids else None

    def live(self) -> list[Item]:
        return [replace(item, id=f"m{number}") for number, item in enumerate(super().live())]

    def pointers(self) -> list[Pointer]:
        return [replace(p, summary=self.place(p.summary) or p.summary) for p in super().pointers()]

    def compact(self) -> Outcome:
        outcome = super().compact()
        return replace(outcome, summary=self.place(outcome.summary))


# EPO-1


class TokensAreTurnNumbers(Journal):
    """A token is a turn's place in the transcript: when turns are taken back others come to stand there."""

    def token(self, turn: str) -> str:
        return f"journal:{list(self.view().turns).index(turn)}"

    def get(self, token: str) -> Answer:
        turns, place = list(self.view().turns), token.removeprefix("journal:")
        known = token.startswith("journal:") and place.isdecimal() and int(place) < len(turns)
        return super().get(f"{token}:{turns[int(place)]}") if known else Answer(kind=AnswerKind.FOREIGN)

    def unknown(self, turn: str) -> Answer:
        return self.found(self.view().turns[turn])


# ERA-1


class TakesAnErasedTurnInAgain(Journal):
    """What was erased is not known any more, not even by its id."""

    def append(self, turn: Turn) -> str | None:
        with self.guard:
            if turn.id not in self.view().turns:
                self.add("turn", given=turn.id, name=turn.id, turn=msgspec.to_builtins(turn))
            return turn.id


class ForgetsThatItForgot(Vault):
    """The list of erased ids lives in the process."""

    def reopen(self) -> None:
        super().reopen()
        self.state.forgotten.clear()


# RET-3


class WritesTheSummaryAsEver(Vault):
    """While originals are damaged nothing is evicted; whether a summary is the last to say something nobody asks."""

    def careful(self, before: Summary | None, reply: Reply) -> Reply:
        return reply


class KnowsDegradedOnlyAtTheGate(Journal):
    """The status is asked by the gate that lets originals go, and not by whoever writes summaries."""

    def careful(self, before: Record | None, text: str) -> str:
        return text


# STR-3


def anew(turn: Turn, read: Callable[[str], Any], write: Callable[[Any], str]) -> Turn:
    """A turn whose calls' arguments were parsed and written again."""

    def again(arguments: str) -> str:
        try:
            return write(read(arguments))
        except ValueError:
            return arguments

    return replace(turn, calls=tuple(replace(call, arguments=again(call.arguments)) for call in turn.calls))


def tidied(value: Any) -> Any:
    """Every string without the spaces that nobody needs."""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, dict):
        return {name: tidied(each) for name, each in value.items()}
    return [tidied(each) for each in value] if isinstance(value, list) else value


class HoldsArgumentsParsed(Journal):
    """Arguments are an object from the start, and written down when they are shown: no spaces, names in order."""

    def append(self, turn: Turn) -> str | None:
        write = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, sort_keys=True).encode
        return super().append(anew(turn, json.loads, write))


class HoldsArgumentsInDoubles(Journal):
    """Arguments are an object, and every number in it a double: of a long id the last digits are others."""

    def append(self, turn: Turn) -> str | None:
        return super().append(
            anew(turn, lambda text: json.loads(text, parse_int=lambda n: int(float(n))), json.dumps)
        )


class ArchivesArgumentsParsed(Vault):
    """The window shows arguments as the model wrote them, and the archive has a column of JSON."""

    def read(self, token: str) -> Answer:
        turn = self.state.cells.get(token)
        if turn is None:
            return super().read(token)
        kept, self.state.cells[token] = turn, anew(turn, json.loads, json.dumps)
        try:
            return super().read(token)
        finally:
            self.state.cells[token] = kept


class TidiesArguments(Journal):
    """Strings in arguments lose the spaces that nobody needs."""

    def append(self, turn: Turn) -> str | None:
        return super().append(anew(turn, json.loads, lambda value: json.dumps(tidied(value))))


# PRO-1, PRO-2


class SaysThatItKeepsAThousand(PlainList):
    """Every compaction is refused, as it said when it was opened."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        return replace(super().open(settings, summarise), keep=1000)

    def compact(self) -> Outcome:
        if size(words(message) for message in self.messages) <= limit(self.settings):
            return nothing("the window is under its watermark")
        return refused("nothing but the latest thousand turns is in the window")


HONEST: tuple[type[Any], ...] = (CallsItAlwaysTheSame, NumbersItsWindow, HoldsArgumentsParsed)
WRONG: tuple[tuple[type[Any], str], ...] = (
    (CountsSummariesInTheProcess, "STR-2"),
    (TakesTheLowestFreeNumber, "STR-2"),
    (TokensAreTurnNumbers, "EPO-1"),
    (TakesAnErasedTurnInAgain, "ERA-1"),
    (ForgetsThatItForgot, "ERA-1"),
    (WritesTheSummaryAsEver, "RET-3"),
    (KnowsDegradedOnlyAtTheGate, "RET-3"),
    (HoldsArgumentsInDoubles, "STR-3"),
    (ArchivesArgumentsParsed, "STR-3"),
    (TidiesArguments, "STR-3"),
)
"""Each with the rule that it breaks."""
