"""Wrong ones written from the rules' texts and public reports alone, before their author had seen a checker.

Here: those whose fault lies in the store, its gate, its keys or its status. See `unseen_windows` for the others.
What they do was not changed after it was known what catches it; where the suite missed one, the suite was mended.
Two were taken out, one that could not do what it was written for and one that answers out of the protocol's form, and
one stands under another rule than at first (`ForksTheWindowOnly`: ANC-1, first PTR-1).
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anchorhold.compactor import Audit, Settings, Summarise
from anchorhold_spec.vocabulary import Answer, AnswerKind, Entry, Outcome, OutcomeKind, Tombstone, Turn
from compactors.common import Statement, statements, whole
from compactors.slot_cache import SlotCache
from compactors.vault import Lane, StoreError, Vault

# A cache


class FindsAllTheWordsSomewhere(SlotCache):
    """A full-text index: a turn that has each word of the query, in whatever order and place, is found."""

    def search(self, literal: str) -> Answer:
        answer = super().search(literal)
        if answer.kind is AnswerKind.FOUND:
            return answer
        wanted = set(re.findall(r"\w+", literal))
        for turn in reversed(self.known()):
            if wanted and wanted <= set(re.findall(r"\w+", whole(turn))) and self.original(turn) is not None:
                return Answer(kind=AnswerKind.FOUND, text=whole(turn), source=turn.id, evidence=True)
        return answer


class TakesTheFirstOfATurn(SlotCache):
    """Of later turns the last one holds, and of each turn its first word on the matter."""

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        answer = super().reconstitute(subject, attribute, evidence)
        same = [s.value for s in statements(answer.text or "") if self.means(s, subject) and s.attribute == attribute]
        return replace(answer, value=same[0]) if same else answer


class StripsTheEnds(SlotCache):
    """What stands before the first word and after the last is not archived."""

    def put(self, turn: Turn) -> str:
        return super().put(replace(turn, text=turn.text.strip()) if turn.text is not None else turn)


class AnswersWithEveryValue(SlotCache):
    """A slot's values are joined, so that nothing is lost; which of them holds is for the caller to find out."""

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        answer = super().reconstitute(subject, attribute, evidence)
        if answer.kind is not AnswerKind.FOUND:
            return answer
        same = [
            s.value
            for turn in self.known()
            for s in statements(whole(turn))
            if self.means(s, subject) and s.attribute == attribute and self.original(turn) is not None
        ]
        return replace(answer, value=" / ".join(dict.fromkeys(same)) or answer.value)


class KeysByAShortDigest(SlotCache):
    """Two hexadecimal digits of the content are the key; who comes first has it."""

    def put(self, turn: Turn) -> str:
        slot = int(hashlib.sha256(whole(turn).encode()).hexdigest()[:2], 16) % 64
        if slot not in self.state.slots:
            self.state.epochs[slot] = 0
            self.state.free = [slot]
            return super().put(turn)
        return f"{slot}@{self.state.epochs[slot]}"


class CountsFromOneAfterARestart(SlotCache):
    """The counter of its slots lives in the process; a fresh process writes over what is there."""

    def reopen(self) -> None:
        super().reopen()
        self.state.epochs, self.state.free = {}, []


class FindsAPlaceholder(SlotCache):
    """What is no longer there is found to be no longer there."""

    def get(self, token: str) -> Answer:
        answer = super().get(token)
        if answer.kind is not AnswerKind.EXPIRED:
            return answer
        return Answer(kind=AnswerKind.FOUND, text="[This content is no longer available.]", carrier=token)


class PutsItInTheUsersMouth(SlotCache):
    """Whatever a summary carries, the user said it."""

    def manifest(self, carrier: str) -> list[Entry]:
        user = next((t.id for t in reversed(self.session.said) if t.speaker == "user"), None)
        return [replace(entry, source=user or entry.source) for entry in super().manifest(carrier)]


class RetiresTheWholeSubject(SlotCache):
    """One value of a subject was dropped, and the rest of it is taken for dropped too."""

    def buried(self, turn: str, statement: Statement) -> bool:
        said = {t.id: t for t in self.session.said}
        subjects = {
            s.subject
            for t in self.session.tombstones
            if t.source in said
            for s in statements(whole(said[t.source]))
            if s.value == t.literal
        }
        return statement.subject in subjects


class RetiresWhatWasSaidBefore(SlotCache):
    """A later turn about the same subject supersedes the earlier one, whatever it says, and the gate believes it."""

    def append(self, turn: Turn) -> None:
        new = {s.subject for s in statements(whole(turn))}
        for earlier in self.session.said:
            for statement in statements(whole(earlier)):
                if statement.subject in new and earlier.id != turn.id:
                    self.session.tombstones.append(
                        Tombstone(
                            literal=statement.value,
                            source=earlier.id,
                            decided_by="compactor",
                            reason=f"superseded by {turn.id}",
                        )
                    )
        super().append(turn)


class RemembersAnswersForEverybody(SlotCache):
    """What was searched once is not searched again, whoever asks."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.answers: dict[str, Answer] = {}
        return super().open(settings, summarise)

    def search(self, literal: str) -> Answer:
        if literal not in self.answers:
            answer = super().search(literal)
            if answer.kind is not AnswerKind.FOUND:
                return answer
            self.answers[literal] = answer
        return self.answers[literal]


class SaysExpiredOfEveryUnknownKey(SlotCache):
    """A key that it does not have must have had its time."""

    def get(self, token: str) -> Answer:
        answer = super().get(token)
        return Answer(kind=AnswerKind.EXPIRED) if answer.kind is AnswerKind.FOREIGN else answer


class LetsTheOldGo(SlotCache):
    """What is twenty turns old is not asked for any more."""

    def loose(self, turn: Turn, token: str) -> list[str]:
        ids = [t.id for t in self.session.said]
        old = turn.id in ids and len(ids) - ids.index(turn.id) > 20
        return [] if old else super().loose(turn, token)


class TakesTheNeighboursWord(SlotCache):
    """The gate looks whether the words stand elsewhere, and not whether all of the sentence does."""

    def loose(self, turn: Turn, token: str) -> list[str]:
        said = " ".join(
            [*(whole(t) for t in self.session.turns), self.session.summary.text if self.session.summary else ""]
        )
        known = set(re.findall(r"\w+", said))
        return [s for s in super().loose(turn, token) if not set(re.findall(r"\w+", s)) <= known]


class AnswersWithTheMostSaid(SlotCache):
    """The value that was said most often is the likeliest."""

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        said = [
            (s.value, turn)
            for turn in self.session.said
            for s in statements(whole(turn))
            if (s.subject, s.attribute) == (subject, attribute) and self.original(turn) is not None
        ]
        answer = super().reconstitute(subject, attribute, evidence)
        if answer.kind is not AnswerKind.FOUND or not said:
            return answer
        values = [value for value, _ in said]
        value, turn = max(said, key=lambda one: values.count(one[0]))
        return Answer(kind=AnswerKind.FOUND, text=whole(turn), value=value, source=turn.id, evidence=True)


# A vault


class VerifiesTheFirstOnly(Vault):
    """What it wrote is read back: the first of it."""

    def verify_put(self, old: Sequence[str], target: Any) -> None:
        super().verify_put(old[:1], target)


class TriesOnceAndGoesOn(Vault):
    """Where the copies cannot be written, the summary is committed all the same."""

    def put(self, old: Sequence[str]) -> None:
        try:
            super().put(old)
        except StoreError:
            self.state.tokens |= {turn: f"cell-lost-{turn}" for turn in old if turn not in self.state.tokens}


class CommitsWhatWasForgottenMeanwhile(Vault):
    """What is forgotten while the model writes is gone from the store, and stands in the summary."""

    def forget(self, turn: str) -> Outcome:
        before = {name: lane.cleared for name, lane in self.state.lanes.items()}
        outcome = super().forget(turn)
        for name, count in before.items():
            self.state.lanes[name].cleared = count
        return outcome

    def overtaken(self, lane: Lane, old: Sequence[str], began: int) -> bool:
        return lane.cleared != began

    def said(self, turn: str) -> Turn:
        return self.original(turn) or Turn(id=turn, speaker="user", text="")


class RewindsByCount(Vault):
    """A rewind takes back as many entries as there are behind the turn, and counts the summary as one."""

    def rewind(self, turn: str) -> None:
        said = list(self.lane.said)
        at = said.index(turn) if turn in said else -1
        if at >= 0 and self.lane.summary is not None:
            turn = said[min(at + 1, len(said) - 1)]
        super().rewind(turn)


class KeepsItsSummaryThroughARewind(Vault):
    """The window is taken back, and the summary is what it was."""

    def rewind(self, turn: str) -> None:
        summary = self.lane.summary
        super().rewind(turn)
        self.lane.summary = summary
        self.save()


class ForksTheWindowOnly(Vault):
    """A branch begins with what is in the window; whose originals the summary points at is the parent's business."""

    def branched(self, lane: Lane) -> Lane:
        fresh = super().branched(lane)
        return replace(fresh, said=[turn for turn in fresh.said if turn in fresh.window])


class KeepsABackup(Vault):
    """Before anything is erased the store is copied aside: one never knows."""

    def forget(self, turn: str) -> Outcome:
        self.backup = repr(self.disk)
        return super().forget(turn)

    def logs(self, folder: Path) -> list[str]:
        path = folder / "vault.bak"
        path.write_text(getattr(self, "backup", ""))
        return [str(path)]


class ErasesTheWholeBlock(Vault):
    """Cells are erased in blocks of four."""

    def forget(self, turn: str) -> Outcome:
        token = self.state.tokens.get(turn, "")
        outcome = super().forget(turn)
        if token.startswith("cell-"):
            block = (int(token[5:]) - 1) // 4
            for number in range(4 * block + 1, 4 * block + 5):
                self.state.cells.pop(f"cell-{number}", None)
            self.save()
        return outcome


class AuditsWhatNeverLeft(Vault):
    """An audit fetches what is easiest to fetch: a turn of the window."""

    def audit(self) -> None:
        before = len(self.state.audits)
        super().audit()
        if len(self.state.audits) > before:
            turn = self.lane.window[-1] if self.lane.window else None
            self.state.audits[-1] = Audit(compaction=self.state.summaries, turn=turn, passed=turn is not None)
            self.save()


class AcceptsItsLossesItself(Vault):
    """Once it has said that it is degraded it takes the loss for accepted."""

    def objection(self, turn: Turn) -> str | None:
        if getattr(self, "told", False) or self.state.accepted:
            return None
        return super().objection(turn)

    def status(self) -> str:
        self.told = self.degraded() is not None
        return super().status()


class ForgetsThatItWasDamaged(Vault):
    """A restart mends everything: what was found to be damaged is not known any more, and is damaged."""

    def reopen(self) -> None:
        super().reopen()
        self.before = set(self.damaged)

    def degraded(self) -> str | None:
        damaged, self.damaged = self.damaged, self.damaged - getattr(self, "before", set())
        try:
            return super().degraded()
        finally:
            self.damaged = damaged


class ExpiresWhenTheClockGoesBack(Vault):
    """Age is the distance between two clock readings, whichever is later."""

    def clock(self, shift: float) -> None:
        super().clock(shift)
        lifetime = self.settings.lifetime
        if lifetime is not None and shift < 0 and -shift >= lifetime:
            for token in list(self.state.cells):
                del self.state.cells[token]
                self.state.gone[token] = "expired"
            self.save()


class SaysLosslessUntilItHappens(Vault):
    """That entries will expire before the horizon is no reason to say so before they have."""

    def degraded(self) -> str | None:
        why = super().degraded()
        return None if why == "entries may expire before the horizon" else why


class EvictsInTheGapOfItsCheck(Vault):
    """The gate lets a cell go where a turn of the window says the same, and does not look again at the removal."""

    def objection(self, turn: Turn) -> str | None:
        shown = {whole(t) for name in self.lane.window if (t := self.original(name)) is not None and name != turn.id}
        return None if whole(turn) in shown else super().objection(turn)


class UndoesTheWrongHalf(Vault):
    """Where the commit fails the copies are kept, and the turns are not put back."""

    def undo(self, restore: Any, old: Sequence[str]) -> None:
        self.lane.window = [turn for turn in self.lane.window if turn not in old[:1]]
        self.save()


class SaysCommittedOfAnErasureThatItDidNotFinish(Vault):
    """A forget that finds nothing in the window says that it is done."""

    def forget(self, turn: str) -> Outcome:
        if turn in self.lane.window:
            return super().forget(turn)
        return Outcome(kind=OutcomeKind.COMMITTED)


WRONG: tuple[tuple[type[Any], str], ...] = (
    (KeysByAShortDigest, "PTR-1"),
    (CountsFromOneAfterARestart, "EPO-1"),
    (FindsAPlaceholder, "REC-1"),
    (PutsItInTheUsersMouth, "MAN-2"),
    (RetiresTheWholeSubject, "MAN-4"),
    (RetiresWhatWasSaidBefore, "MAN-6"),
    (RemembersAnswersForEverybody, "ISO-1"),
    (SaysExpiredOfEveryUnknownKey, "EPO-2"),
    (LetsTheOldGo, "EVI-7"),
    (TakesTheNeighboursWord, "ANC-1"),
    (AnswersWithTheMostSaid, "REC-1"),
    (VerifiesTheFirstOnly, "OUT-3"),
    (TriesOnceAndGoesOn, "OUT-3"),
    (CommitsWhatWasForgottenMeanwhile, "CON-3"),
    (RewindsByCount, "CON-3"),
    (KeepsItsSummaryThroughARewind, "CON-3"),
    (ForksTheWindowOnly, "ANC-1"),
    (KeepsABackup, "ERA-1"),
    (ErasesTheWholeBlock, "ERA-1"),
    (AuditsWhatNeverLeft, "RET-2"),
    (AcceptsItsLossesItself, "RET-3"),
    (ForgetsThatItWasDamaged, "RET-1"),
    (ExpiresWhenTheClockGoesBack, "RET-4"),
    (SaysLosslessUntilItHappens, "RET-1"),
    (EvictsInTheGapOfItsCheck, "IDX-1"),
    (UndoesTheWrongHalf, "ANC-5"),
    (SaysCommittedOfAnErasureThatItDidNotFinish, "ERA-1"),
)
"""Each with a rule that its text says it breaks."""

SEEN: tuple[tuple[type[Any], str], ...] = (
    (FindsAllTheWordsSomewhere, "REC-1"),
    (TakesTheFirstOfATurn, "REC-1"),
    (AnswersWithEveryValue, "REC-1"),
    (StripsTheEnds, "STR-3"),
)
"""Thought of without sight of the checkers, and written down with it."""
