"""Whose session it is, and in which one a summary lands that comes late; one defect each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anchorhold.compactor import Reply, Settings, Summarise
from anchorhold_spec.vocabulary import Answer, AnswerKind, Outcome, Pointer
from compactors.common import whole
from compactors.journal import Journal, Record
from compactors.vault import Lane, Summary, Vault


class TakesEveryUserForOne(Journal):
    """Says that it keeps users apart, and goes by a session's name: two who call theirs alike share it."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        super().open(replace(settings, user="everybody"), summarise)
        return settings

    def switch(self, session: str, user: str, branch: str = "main") -> None:
        super().switch(session, "everybody", branch)


class SearchesByTheSessionsName(Vault):
    """Windows and originals are kept apart; the index knows names of sessions, and no users."""

    def not_found(self, literal: str) -> Answer:
        _, session, _ = self.lane_name.split("/")
        for name, lane in self.state.lanes.items():
            for turn in (self.original(each) for each in lane.said if name.split("/")[1] == session):
                if turn is not None and literal in whole(turn):
                    return Answer(kind=AnswerKind.FOUND, text=whole(turn), source=turn.id, evidence=True)
        return super().not_found(literal)


class HasOneMemoryAUser(Vault):
    """What is kept is kept for a user, and all of his sessions are one."""

    def switch(self, session: str, user: str, branch: str = "main") -> None:
        super().switch(self.settings.session, user, branch)


class ListsThePointersOfAll(Vault):
    """Originals are given to nobody else, and the list of pointers is one for all sessions."""

    def pointers(self) -> list[Pointer]:
        found, here = [], self.lane_name
        for name in tuple(self.state.lanes):
            self.lane_name = name
            found += super().pointers()
        self.lane_name = here
        return found


class WritesToWhicheverIsOpen(Journal):
    """The record of a summary is written to the session that is open when the model has answered."""

    def write_summary(self, session: str, branch: str, old: Sequence[str], reply: Reply) -> Record | None:
        return super().write_summary(self.session, self.branch, old, reply)


class PutsItIntoTheWindowThatIsOpen(Vault):
    """What was shown is checked against the session that it was of, and the summary is put into the open one."""

    def commit(self, lane: Lane, old: Sequence[str], before: Summary | None, reply: Reply) -> Summary:
        return super().commit(self.lane, old, before, reply)


class LeavesItWhenAnotherIsOpened(Journal):
    """A summary that comes when another session is open is of no use to anybody, and says so."""

    def compact(self) -> Outcome:
        self.asked_in = (self.session, self.branch)
        return super().compact()

    def overtaken(self, length: int) -> bool:
        return super().overtaken(length) or (self.session, self.branch) != self.asked_in


class LetsNobodyLeave(Vault):
    """Another session is not opened before the compaction that is under way has ended."""

    def switch(self, session: str, user: str, branch: str = "main") -> None:
        with self.guard:
            super().switch(session, user, branch)

    def compact(self) -> Outcome:
        with self.guard:
            return super().compact()


class KnowsNoUsers(Journal):
    """One name is one session, and says so when it is opened."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        super().open(replace(settings, user="everybody"), summarise)
        return replace(settings, user=None)

    def switch(self, session: str, user: str, branch: str = "main") -> None:
        super().switch(session, "everybody", branch)


HONEST = (LeavesItWhenAnotherIsOpened, LetsNobodyLeave, KnowsNoUsers)
WRONG: tuple[tuple[type[Any], str], ...] = (
    (TakesEveryUserForOne, "ISO-1"),
    (SearchesByTheSessionsName, "ISO-1"),
    (HasOneMemoryAUser, "ISO-1"),
    (ListsThePointersOfAll, "ISO-1"),
    (WritesToWhicheverIsOpen, "ISO-1"),
    (PutsItIntoTheWindowThatIsOpen, "ISO-1"),
)
"""Each with the rule that it breaks."""
