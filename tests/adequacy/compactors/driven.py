"""Wrong in what only faults, other threads and callers who change their minds bring out; one defect each."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anchorhold.compactor import Audit, OperationError, Ratios, Reply
from anchorhold_spec.vocabulary import Answer, AnswerKind, Outcome, OutcomeKind, Turn
from compactors.common import Shown, whole
from compactors.event_log import EventLog
from compactors.journal import Journal, Record, View
from compactors.plain_list import PlainList
from compactors.slot_cache import SlotCache
from compactors.vault import Lane, Steps, StoreError, Summary, Vault

# REC-2


class SaysForeignOfWhatWasErased(Vault):
    def known(self, token: str) -> bool:
        return self.state.gone.get(token) != "erased"


class SaysUnanchoredOfWhatWasDropped(SlotCache):
    def search(self, literal: str) -> Answer:
        answer = super().search(literal)
        return replace(answer, kind=AnswerKind.UNANCHORED) if answer.kind is AnswerKind.TOMBSTONED else answer


class SaysExpiredOfWhatWasNeverSaid(EventLog):
    def not_found(self, literal: str) -> Answer:
        return Answer(kind=AnswerKind.EXPIRED)


# PTR-2


class ReapsByAge(Vault):
    """The reaper goes by age and knows nothing of who points where."""

    def reap(self) -> None:
        for token, born in list(self.state.born.items()):
            if self.now - born >= 30:
                self.state.cells.pop(token, None)
        self.save()


class ReleasesBeforeTheCopyLands(Vault):
    """The source goes at the commit, whatever has become of its copy: a restart finds neither."""

    def reopen(self) -> None:
        super().reopen()
        self.state.spool = {}


class KeepsTheLatestThirty(Journal):
    """An archive of fixed size: what was archived first goes first, pointed at or not."""

    def found(self, turn: Turn) -> Answer:
        view = self.view()
        if turn.id in view.covered[:-30]:
            return Answer(kind=AnswerKind.UNANCHORED)
        return super().found(turn)


# PTR-5


class NeverLands(Vault):
    def land(self) -> None:
        pass


class SaysUnanchoredWhileOutstanding(Journal):
    def not_landed(self, view: View, turn: str) -> Answer:
        return Answer(kind=AnswerKind.UNANCHORED)


class CountsNothingPending(Journal):
    def count_pending(self, summaries: Sequence[Record]) -> int:
        return 0


class LosesOneCopyInThree(Vault):
    """A copy that fails is not tried again, and nobody counts it."""

    def land(self) -> None:
        lost = list(self.state.spool)[::3]
        for token in lost:
            del self.state.spool[token]
        super().land()

    def ratios(self) -> Ratios:
        return replace(super().ratios(), unresolvable=0)


# PTR-6


class FindsStagedSummaries(Vault):
    """The index takes a summary in as soon as it is written."""

    def staged(self, reply: Reply) -> None:
        self.index = [*getattr(self, "index", []), reply.text]

    def not_found(self, literal: str) -> Answer:
        for text in getattr(self, "index", []):
            if literal in text:
                return Answer(kind=AnswerKind.FOUND, text=text, evidence=False)
        return super().not_found(literal)


class SearchesDrafts(Journal):
    """A draft is a record too, and searching knows no difference."""

    def staged(self, reply: Reply) -> None:
        self.add("draft", text=reply.text)

    def not_found(self, literal: str) -> Answer:
        for record in self.records:
            if record["kind"] == "draft" and literal in record["text"]:
                return Answer(kind=AnswerKind.FOUND, text=record["text"], evidence=False)
        return super().not_found(literal)


# CRA-3


class AcknowledgesAppendsUnsynced(Vault):
    def acknowledge_append(self) -> None:
        pass


class AcknowledgesCommitsUnsynced(Vault):
    def acknowledge_commit(self) -> None:
        pass

    def verify_commit(self, summary: Summary) -> None:
        pass


class SyncsEveryFewRecords(Journal):
    def sync(self) -> None:
        if len(self.records) % 8 == 0:
            super().sync()

    def stands(self, record: Record) -> bool:
        return record in self.records


# CON-1


class RebuildsTheWindowFromItsSnapshot(Vault):
    """The window after the commit is what was left of the window before: what came in meanwhile is not in it."""

    def choose(self, lane: Lane) -> list[str]:
        self.snapshot = list(lane.window)
        return super().choose(lane)

    def left(self, lane: Lane, window: list[str], old: Sequence[str]) -> list[str]:
        return [turn for turn in self.snapshot if turn not in old]


class PutsLateTurnsFirst(Vault):
    def choose(self, lane: Lane) -> list[str]:
        self.snapshot = list(lane.window)
        return super().choose(lane)

    def left(self, lane: Lane, window: list[str], old: Sequence[str]) -> list[str]:
        late = [turn for turn in window if turn not in self.snapshot]
        return [*reversed(late), *(turn for turn in window if turn in self.snapshot)]


class CoversByCount(Journal):
    """Everything but the last six is covered, as the window is at the commit and not as it was shown."""

    def write_summary(self, session: str, branch: str, old: Sequence[str], reply: Reply) -> Record | None:
        return super().write_summary(session, branch, self.view().window[:-1], reply)


# CON-2


class ClaimsNothing(Vault):
    """Two compactions take the same turns, and each summary is added to the other."""

    def choose(self, lane: Lane) -> list[str]:
        self.claims = set()
        return super().choose(lane)

    def overtaken(self, lane: Lane, old: Sequence[str], began: int) -> bool:
        return False


class TwoAtOnce(Journal):
    def busy(self) -> bool:
        return False


# CON-3


class CommitsWhatWasCleared(Vault):
    def overtaken(self, lane: Lane, old: Sequence[str], began: int) -> bool:
        return False

    def show(self, before: Summary | None, old: Sequence[str]) -> Shown:
        self.kept = {turn: self.said(turn) for turn in old}
        return super().show(before, old)

    def put(self, old: Sequence[str]) -> None:
        for turn in old:
            self.state.turns.setdefault(turn, self.kept[turn])
        super().put(old)


class NeverLooksWhetherItWasOvertaken(Journal):
    def overtaken(self, length: int) -> bool:
        return False


class FindsWhatWasTakenBack(Journal):
    """Taking back changes the window, and the archive is searched as ever."""

    def not_found(self, literal: str) -> Answer:
        for record in self.records:
            if record["kind"] == "turn" and literal in (record["turn"].get("text") or ""):
                return Answer(kind=AnswerKind.FOUND, text=record["turn"]["text"], source=record["turn"]["id"])
        return super().not_found(literal)


# OUT-3


class TrustsTheStore(Vault):
    def verify_put(self, old: Sequence[str], target: Any) -> None:
        pass

    def verify_commit(self, summary: Summary) -> None:
        pass


class SwallowsTheError(Vault):
    def write(self, point: str, apply: Any) -> None:
        try:
            super().write(point, apply)
        except StoreError:
            self.acknowledge_append()

    def verify_put(self, old: Sequence[str], target: Any) -> None:
        pass

    def verify_commit(self, summary: Summary) -> None:
        pass


class BelievesItsRecords(Journal):
    """What it has in memory it takes for written."""

    def stands(self, record: Record) -> bool:
        return True


# RET


class AlwaysLossless(Vault):
    def degraded(self) -> str | None:
        return None


class LosslessByItsDeclaration(SlotCache):
    def status(self) -> str:
        return "lossless"


class NeverAudits(Vault):
    def audit(self) -> None:
        pass


class AuditsNobody(PlainList):
    """Each audit passes, since there is nothing that it looks at."""

    def audits(self) -> Sequence[Audit]:
        return [Audit(compaction=1, passed=True)]


class EvictsWhileDegraded(Vault):
    """The gate is for good days."""

    def objection(self, turn: Turn) -> str | None:
        return None if self.degraded() else super().objection(turn)


class DeniesWhatIsDamaged(Journal):
    def search(self, literal: str) -> Answer:
        answer = super().search(literal)
        return Answer(kind=AnswerKind.UNANCHORED) if answer.kind is AnswerKind.DEGRADED else answer


class ExpiresByTheWallClock(Vault):
    def clock(self, shift: float) -> None:
        super().clock(shift)
        lifetime = self.settings.lifetime
        for token, born in list(self.state.born.items()):
            if lifetime is not None and self.wall - born >= lifetime and token in self.state.cells:
                del self.state.cells[token]
                self.state.gone[token] = "expired"
        self.save()


class WearsOut(Journal):
    """Each reading takes some of an entry's life."""

    def found(self, turn: Turn) -> Answer:
        worn: dict[str, int] = getattr(self, "worn", {})
        self.worn = {**worn, turn.id: worn.get(turn.id, 0) + 1}
        if self.settings.lifetime is not None and turn.id in self.view().covered and self.worn[turn.id] > 4:
            return Answer(kind=AnswerKind.EXPIRED)
        return super().found(turn)


class KnowsNoStatusAfterARestart(Vault):
    def reopen(self) -> None:
        super().reopen()
        self.restarted = True

    def status(self) -> str:
        if getattr(self, "restarted", False):
            raise OperationError("the status is being computed")
        return super().status()


class KeepsItsStatusForGoodDays(Journal):
    def status(self) -> str:
        status = super().status()
        if status != "lossless":
            raise OperationError("the status cannot be computed")
        return status


# ERA-1


class KeepsItInTheSummary(Vault):
    def scrubbed(self, summary: Summary | None, erased: Turn) -> Summary | None:
        return summary


class LogsWhatItErases(Vault):
    def forget(self, turn: str) -> Outcome:
        erased = self.original(turn)
        self.log = whole(erased) if erased is not None else ""
        return super().forget(turn)

    def logs(self, folder: Path) -> list[str]:
        path = folder / "vault.log"
        path.write_text(f"erased: {getattr(self, 'log', '')}")
        return [str(path)]


class RemembersItsDigest(Vault):
    def forget(self, turn: str) -> Outcome:
        erased = self.original(turn)
        self.log = hashlib.sha256(((erased.text if erased else "") or "").encode()).hexdigest()
        return super().forget(turn)

    def logs(self, folder: Path) -> list[str]:
        path = folder / "digests"
        path.write_text(getattr(self, "log", ""))
        return [str(path)]


class ErasesOnlyTheWindow(Journal):
    def forget(self, turn: str) -> Outcome:
        self.add("erase", turn=turn)
        return Outcome(kind=OutcomeKind.COMMITTED)


# PRO-3


class KeepsItsClaimWhenTheModelFails(Vault):
    def release(self, old: Sequence[str]) -> None:
        lane = self.lane
        if set(old) & set(lane.window):
            return
        super().release(old)


class StaysBusy(Journal):
    """What was begun and not finished keeps everybody out."""

    def busy(self) -> bool:
        return getattr(self, "stuck", False) or super().busy()

    def replacing(self, *arguments: Any) -> Outcome:
        self.stuck = True
        outcome = super().replacing(*arguments)
        self.stuck = outcome.kind is OutcomeKind.FAILED
        return outcome


# ISO-1


class BranchesShareTheirTurns(Vault):
    """A branch is a new name for the same turns."""

    def branched(self, lane: Lane) -> Lane:
        return lane


class SearchesEveryBranch(Journal):
    def not_found(self, literal: str) -> Answer:
        for record in self.records:
            if record["kind"] == "turn" and literal in (record["turn"].get("text") or ""):
                return Answer(kind=AnswerKind.FOUND, text=record["turn"]["text"], source=record["turn"]["id"])
        return super().not_found(literal)


# EPO-3


class SaysOnlyThatSomethingIsWrong(Vault):
    def getting(self, token: str) -> Steps:
        if token in self.damaged:
            raise OperationError("checksum mismatch")
        return (yield from super().getting(token))


class SaysWhereAndNotWhat(Journal):
    def get(self, token: str) -> Answer:
        if token in self.damaged:
            raise OperationError(f"cannot read {token}")
        return super().get(token)


# Right ones of a wrong one's shape


class AnswersLateWhileItCompacts(Vault):
    """Nobody is let in while a compaction is under way; nothing is lost by that."""

    def compact(self) -> Outcome:
        with self.guard:
            return super().compact()


class LandsOnlyWhenAsked(Vault):
    """Every copy is outstanding at first, and declared so; whoever asks for it has it landed."""

    def hold_copies(self, held: bool) -> None:
        self.asked_to_hold = held

    def put(self, old: Sequence[str]) -> None:
        self.held = True
        super().put(old)

    def outstanding(self, token: str) -> Answer:
        if getattr(self, "asked_to_hold", False) or token not in self.state.spool:
            return super().outstanding(token)
        self.land()
        self.save()
        return self.read(token)

    def settle(self) -> None:
        self.asked_to_hold = False
        super().settle()


class RedoesItWithoutWhatWasTakenAway(Journal):
    """A compaction that was overtaken begins again, of what is left."""

    def compact(self) -> Outcome:
        asked_of = self.session, self.branch
        outcome = super().compact()
        again = outcome.reason is not None and re.search("took something away", outcome.reason)
        return super().compact() if again and asked_of == (self.session, self.branch) else outcome


DRIVEN_RIGHT = (Vault, Journal)
DRIVEN_HONEST = (AnswersLateWhileItCompacts, LandsOnlyWhenAsked, RedoesItWithoutWhatWasTakenAway)
DRIVEN_WRONG: tuple[tuple[type[Any], str], ...] = (
    (SaysForeignOfWhatWasErased, "REC-2"),
    (SaysUnanchoredOfWhatWasDropped, "REC-2"),
    (SaysExpiredOfWhatWasNeverSaid, "REC-2"),
    (ReapsByAge, "PTR-2"),
    (ReleasesBeforeTheCopyLands, "PTR-5"),
    (KeepsTheLatestThirty, "PTR-2"),
    (NeverLands, "PTR-5"),
    (SaysUnanchoredWhileOutstanding, "PTR-5"),
    (CountsNothingPending, "PTR-5"),
    (LosesOneCopyInThree, "PTR-5"),
    (FindsStagedSummaries, "PTR-6"),
    (SearchesDrafts, "PTR-6"),
    (AcknowledgesAppendsUnsynced, "CRA-3"),
    (AcknowledgesCommitsUnsynced, "CRA-3"),
    (SyncsEveryFewRecords, "CRA-3"),
    (RebuildsTheWindowFromItsSnapshot, "CON-1"),
    (PutsLateTurnsFirst, "CON-1"),
    (CoversByCount, "CON-1"),
    (ClaimsNothing, "CON-2"),
    (TwoAtOnce, "CON-2"),
    (CommitsWhatWasCleared, "CON-3"),
    (NeverLooksWhetherItWasOvertaken, "CON-3"),
    (FindsWhatWasTakenBack, "CON-3"),
    (TrustsTheStore, "OUT-3"),
    (SwallowsTheError, "OUT-3"),
    (BelievesItsRecords, "OUT-3"),
    (AlwaysLossless, "RET-1"),
    (LosslessByItsDeclaration, "RET-1"),
    (NeverAudits, "RET-2"),
    (AuditsNobody, "RET-2"),
    (EvictsWhileDegraded, "RET-3"),
    (DeniesWhatIsDamaged, "RET-3"),
    (ExpiresByTheWallClock, "RET-4"),
    (WearsOut, "RET-4"),
    (KnowsNoStatusAfterARestart, "RET-5"),
    (KeepsItsStatusForGoodDays, "RET-5"),
    (KeepsItInTheSummary, "ERA-1"),
    (LogsWhatItErases, "ERA-1"),
    (RemembersItsDigest, "ERA-1"),
    (ErasesOnlyTheWindow, "ERA-1"),
    (KeepsItsClaimWhenTheModelFails, "PRO-3"),
    (StaysBusy, "PRO-3"),
    (BranchesShareTheirTurns, "ISO-1"),
    (SaysOnlyThatSomethingIsWrong, "EPO-3"),
    (SaysWhereAndNotWhat, "EPO-3"),
    (SearchesEveryBranch, "ISO-1"),
)
"""Each with the rule that it breaks."""
