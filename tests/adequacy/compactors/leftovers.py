"""Wrong ones in which something of before is left: notes that were taken away, and what is never there twice."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anchorhold_spec.vocabulary import Turn
from compactors.common import Statement, whole
from compactors.rolling import Lane, Rolling


class _ShowsOldNotes(Rolling):
    """The model is shown the notes of before once more, since its conversation goes on."""

    def open(self, *args: Any) -> Any:
        self.earlier: dict[Lane, str] = {}
        return super().open(*args)

    def remember(self) -> None:
        if self.state.summary is not None:
            self.earlier[self.at] = self.state.summary

    def prompt(self, old: Sequence[Turn]) -> list[str]:
        asked, *shown = super().prompt(old)
        before = self.earlier.pop(self.at, None) if self.state.summary is None else None
        return [asked, *shown] if before is None else [asked, before, *shown]


class ShowsClearedNotes(_ShowsOldNotes):
    """After the window was emptied."""

    def clear(self) -> None:
        self.remember()
        super().clear()


class ShowsNotesOfWhatWasTakenBack(_ShowsOldNotes):
    """After a rewind."""

    def withdraw(self, back: set[str]) -> None:
        self.remember()
        super().withdraw(back)


class KeepsOneSystemTurn(Rolling):
    """Only the first one is an instruction."""

    def judged(self) -> list[Turn]:
        turns = super().judged()
        first = next((turn.id for turn in turns if turn.speaker == "system"), "")
        return [
            replace(turn, speaker="assistant") if turn.speaker == "system" and turn.id != first else turn
            for turn in turns
        ]


class TakesNoEmptyResults(Rolling):
    """A result that says nothing is no turn."""

    def append(self, turn: Turn) -> str:
        if turn.result_of is not None and not whole(turn).strip() and turn.data is None:
            return turn.id
        return super().append(turn)


class PassesOverDenials(Rolling):
    """A slot has the newest value that somebody gave it; that it has not is no value."""

    def speaks_of(self, said: Statement, subject: str, attribute: str) -> bool:
        return super().speaks_of(said, subject, attribute) and not said.value.startswith("not ")


WRONG: tuple[tuple[type[Any], str], ...] = (
    (ShowsClearedNotes, "CON-3"),
    (ShowsNotesOfWhatWasTakenBack, "CON-3"),
    (KeepsOneSystemTurn, "STR-4"),
    (TakesNoEmptyResults, "STR-1"),
    (PassesOverDenials, "REC-1"),
)
