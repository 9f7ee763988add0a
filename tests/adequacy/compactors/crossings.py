"""Wrong ones that lose what was established when something comes in between; one defect each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anchorhold.compactor import Audit, OperationError, Reply, Shown
from anchorhold_spec.vocabulary import Answer, AnswerKind, Item, Outcome, OutcomeKind, Turn
from compactors.common import objection, raw, whole
from compactors.rolling import Outstanding, Rolling, State
from compactors.vault import Lane, Summary, Vault


class _AtRestart:
    """What stands in memory alone is lost when it is opened again."""

    def reopen(self) -> None:
        super().reopen()
        self.lose()


class _AtBranch:
    """What is not copied is lost in a branch."""

    def fork(self, branch: str) -> None:
        super().fork(branch)
        self.lose()


class _AtRewind:
    """What is left after a rewind is put together anew, without it."""

    def rewind(self, turn: str) -> None:
        super().rewind(turn)
        self.lose()


class _Protects(Rolling):
    """Which turns are protected stands beside them."""

    def open(self, *args: Any) -> Any:
        self.lost: set[str] = set()
        return super().open(*args)

    def lose(self) -> None:
        self.lost |= {name for name, turn in self.state.turns.items() if turn.protected}

    def judged(self) -> list[Turn]:
        return [replace(turn, protected=False) if turn.id in self.lost else turn for turn in super().judged()]


class RestartLosesProtection(_AtRestart, _Protects):
    """In memory only."""


class BranchLosesProtection(_AtBranch, _Protects):
    """It is not copied to a branch."""


class RewindLosesProtection(_AtRewind, _Protects):
    """Turns are read anew, and it is not what they say."""


class _ShowsMarks(Rolling):
    """A turn's mark stands before it in the window."""

    def open(self, *args: Any) -> Any:
        self.unmarked: set[str] = set()
        return super().open(*args)

    def lose(self) -> None:
        self.unmarked |= set(self.state.turns)

    def shown(self, turn: Turn) -> Item:
        item = raw(turn)
        if turn.status is None or turn.id in self.unmarked:
            return item
        return replace(item, text=f"[{turn.status}] {item.text or ''}")


class RestartLosesMarks(_AtRestart, _ShowsMarks):
    """In memory only."""


class BranchLosesMarks(_AtBranch, _ShowsMarks):
    """A branch has the words, and not the marks."""


class _KnowsItsLastReply(Rolling):
    """The model's last reply is kept beside the notes, to be known again."""

    def open(self, *args: Any) -> Any:
        self.last: str | None = None
        return super().open(*args)

    def objection(self, reply: Reply, shown: Shown) -> str | None:
        return objection(reply, shown, [self.last] if self.last else [])

    def commit(self, old: Sequence[Turn], text: str) -> Outcome:
        self.last = text
        return super().commit(old, text)

    def lose(self) -> None:
        self.last = None


class RestartForgetsTheLastReply(_AtRestart, _KnowsItsLastReply):
    """In memory only."""


class BranchForgetsTheLastReply(_AtBranch, _KnowsItsLastReply):
    """A branch begins without."""


class _KnowsWhatWasErased(Rolling):
    """By the ids of the turns."""

    def lose(self) -> None:
        self.state.erased.clear()


class BranchForgetsWhatWasErased(_AtBranch, _KnowsWhatWasErased):
    """A caller that plays its transcript again brings the words back there."""


class RestartForgetsWhatWasErased(_AtRestart, _KnowsWhatWasErased):
    """In memory only."""


class RewindForgetsWhatWasErased(_AtRewind, _KnowsWhatWasErased):
    """Whatever was decided is decided anew."""


class ErasesOnlyWhatItShows(Rolling):
    """Looks for the turn in the window and under the summary: after a clear it is in neither, and stays."""

    def erase(self, state: State, turn: str) -> bool:
        shown = turn in state.window or turn in state.covered
        return super().erase(state, turn) if shown else turn in state.turns


class ClearsEveryBranch(Rolling):
    """A session is cleared, and all of its branches."""

    def clear(self) -> None:
        here = self.at
        for lane in [lane for lane in self.store if lane[:2] == here[:2]]:
            self.at = lane
            super().clear()
        self.at = here


class RewindsEveryBranch(Rolling):
    """A rewind goes by the session, and takes back the same turns wherever they are."""

    def rewind(self, turn: str) -> None:
        here = self.at
        for lane in [lane for lane in self.store if lane[:2] == here[:2]]:
            self.at = lane
            super().rewind(turn)
        self.at = here


class ErasesByIdEverywhere(Rolling):
    """An id is taken for one turn of the whole store, whosever session it is in."""

    def forget(self, turn: str) -> Outcome:
        erased = [self.erase(state, turn) for state in self.store.values()]
        return Outcome(kind=OutcomeKind.COMMITTED if any(erased) else OutcomeKind.NOTHING)


class KnowsTurnsByIdEverywhere(Rolling):
    """A turn under an id that another session has already is taken for that one come again."""

    def known(self, name: str) -> bool:
        return any(name in state.turns for state in self.store.values()) or super().known(name)


class OldTokensLeadToNewTurns(Rolling):
    """A token stands for an id: when a rewind has freed it, for the turn that comes under it next."""

    def rewind(self, turn: str) -> None:
        tokens = dict(self.state.tokens)
        super().rewind(turn)
        for name, token in tokens.items():
            self.state.tokens[name] = token
            self.state.gone.pop(token, None)

    def original(self, name: str) -> Answer:
        if name not in self.state.turns:
            return Answer(kind=AnswerKind.UNANCHORED, reason="it was taken back")
        return super().original(name)


class TakesEveryEndForAGoodOne(Rolling):
    """Knows replies that were cut off or refused; however else one ends, it is a summary."""

    def objection(self, reply: Reply, shown: Shown) -> str | None:
        ended = reply if reply.finish in ("length", "refusal") else replace(reply, finish="stop")
        return super().objection(ended, shown)


class RewindReleasesWhatOthersHave(Vault):
    """The originals of what a rewind takes back are released, also those that another branch still has."""

    def rewound(self, lane: Lane, turn: str) -> None:
        super().rewound(lane, turn)
        token = self.state.tokens.get(turn)
        if token is not None and self.state.cells.pop(token, None) is not None:
            self.state.gone[token] = "rewound"


class LooksForItsTurnsByTheirIds(Vault):
    """Before it commits it sees whether turns of these ids are there: after a rewind they may be others."""

    def given(self, names: Sequence[str]) -> list[str]:
        return [name.partition("~")[0] for name in names]

    def overtaken(self, lane: Lane, old: Sequence[str], began: int) -> bool:
        return not set(self.given(old)) <= set(self.given(lane.window))

    def put(self, old: Sequence[str]) -> None:
        super().put([self.lane.names[name] for name in self.given(old)])

    def commit(self, lane: Lane, old: Sequence[str], before: Summary | None, reply: Reply) -> Summary:
        return super().commit(lane, [lane.names[name] for name in self.given(old)], before, reply)


class ErasesUnderASummaryElsewhere(Vault):
    """An erasure overtakes the compaction of the branch that is open, and not that of another."""

    def forget(self, turn: str) -> Outcome:
        before = {name: lane.cleared for name, lane in self.state.lanes.items() if name != self.lane_name}
        outcome = super().forget(turn)
        for name, cleared in before.items():
            self.state.lanes[name].cleared = cleared
        self.save()
        return outcome

    def overtaken(self, lane: Lane, old: Sequence[str], began: int) -> bool:
        return lane.cleared != began

    def put(self, old: Sequence[str]) -> None:
        super().put([turn for turn in old if self.original(turn) is not None])


class _ReallyDamaged(Vault):
    """Damage changes the bytes, and is found by what was reckoned of them."""

    def corrupt(self, token: str) -> bool:
        turn = self.state.cells.get(token)
        if turn is None or not super().corrupt(token):
            return False
        damaged = replace(turn, text="#" + (turn.text or "")[::-1], calls=(), data=None)
        self.state.cells[token] = damaged
        self.state.turns.pop(turn.id, None)
        self.save()
        return True

    def lose(self) -> None:
        """Take what there is for what was stored."""
        self.damaged.clear()


class BranchReckonsAnew(_AtBranch, _ReallyDamaged):
    """A branch takes what it is copied from for sound."""


class RewindReckonsAnew(_AtRewind, _ReallyDamaged):
    """What is left is written once more, damage and all."""


class RestartReckonsAnew(_AtRestart, _ReallyDamaged):
    """What stands on the disk when it is opened is what is right."""


class KnowsDamageUnderItsSummary(Vault):
    """Only what lies under the summary that stands is looked at: after a clear everything is fine."""

    def degraded(self) -> str | None:
        summary = self.lane.summary
        under = {self.state.tokens.get(turn) for turn in summary.covers} if summary else set()
        kept, self.damaged = self.damaged, {token for token in self.damaged if token in under}
        try:
            return super().degraded()
        finally:
            self.damaged = kept


class CountsCompactionsSinceItsStart(Vault):
    """An audit is due after so many compactions of this process."""

    count = 0

    def reopen(self) -> None:
        super().reopen()
        self.count = 0

    def audit(self) -> None:
        self.count += 1
        if self.count == 400:
            self.state.audits.append(Audit(compaction=self.state.summaries, turn=self.lane.said[0], passed=True))
            self.save()


class _Audited(Rolling):
    """Every hundredth compaction an original is fetched."""

    def open(self, *args: Any) -> Any:
        self.done: list[Audit] = []
        return super().open(*args)

    def commit(self, old: Sequence[Turn], text: str) -> Outcome:
        outcome = super().commit(old, text)
        if self.state.generation % 100 == 0:
            name = self.state.covered[-1]
            passed = self.original(name).kind is AnswerKind.FOUND
            self.done.append(Audit(compaction=self.state.generation, turn=name, passed=passed))
        return outcome

    def audits(self) -> Sequence[Audit]:
        return self.done


class HasRoomForSoMany(_Audited):
    """The archive keeps so many originals; the oldest go without a word."""

    ROOM = 400

    def original(self, name: str) -> Answer:
        archived = self.state.covered
        if name in archived and archived.index(name) < len(archived) - self.ROOM:
            return Answer(kind=AnswerKind.UNANCHORED, reason="not kept any more")
        return super().original(name)


class CarriesSoManyPointers(_Audited):
    """A summary's head has room for so many pointers; the oldest are not served any more."""

    ROOM = 300

    def get(self, token: str) -> Answer:
        carried = [self.state.tokens[name] for name in self.state.covered[-self.ROOM :]]
        if token in self.state.tokens.values() and token not in carried and self.state.covered:
            raise OperationError("no such pointer is carried")
        return super().get(token)


class GrantsWhatSomebodyElseSays(Vault):
    """An original may go where another turn has the same words, in whichever session or branch."""

    def objection(self, turn: Turn) -> str | None:
        others = (self.original(name) for name in self.all_turns() if name != turn.id)
        said = any(other is not None and whole(other) == whole(turn) for other in others)
        return None if said else super().objection(turn)


class BranchStaysOutstanding(Outstanding):
    """What was outstanding when a branch began lands for its parent alone."""

    def open(self, *args: Any) -> Any:
        self.stuck: set[tuple[tuple[str, str, str], str]] = set()
        return super().open(*args)

    def mine(self) -> set[str]:
        return super().mine() | {name for lane, name in self.stuck if lane == self.at}

    def fork(self, branch: str) -> None:
        waiting = self.mine()
        super().fork(branch)
        self.stuck |= {(self.at, name) for name in waiting}


WRONG: tuple[tuple[type[Any], str], ...] = (
    (RestartLosesProtection, "STR-4"),
    (BranchLosesProtection, "STR-4"),
    (RewindLosesProtection, "STR-4"),
    (RestartLosesMarks, "STR-2"),
    (BranchLosesMarks, "STR-2"),
    (RestartForgetsTheLastReply, "OUT-1"),
    (BranchForgetsTheLastReply, "OUT-1"),
    (TakesEveryEndForAGoodOne, "OUT-1"),
    (BranchForgetsWhatWasErased, "ERA-1"),
    (RestartForgetsWhatWasErased, "ERA-1"),
    (RewindForgetsWhatWasErased, "ERA-1"),
    (ErasesOnlyWhatItShows, "ERA-1"),
    (ClearsEveryBranch, "PTR-4"),
    (RewindsEveryBranch, "ANC-1"),
    (ErasesByIdEverywhere, "ANC-1"),
    (KnowsTurnsByIdEverywhere, "ANC-1"),
    (OldTokensLeadToNewTurns, "EPO-1"),
    (RewindReleasesWhatOthersHave, "ANC-1"),
    (LooksForItsTurnsByTheirIds, "CON-3"),
    (ErasesUnderASummaryElsewhere, "CON-3"),
    (BranchReckonsAnew, "EPO-3"),
    (RewindReckonsAnew, "EPO-3"),
    (RestartReckonsAnew, "EPO-3"),
    (KnowsDamageUnderItsSummary, "RET-1"),
    (GrantsWhatSomebodyElseSays, "ANC-1"),
    (BranchStaysOutstanding, "PTR-5"),
    (CountsCompactionsSinceItsStart, "RET-2"),
    (HasRoomForSoMany, "IDX-1"),
    (CarriesSoManyPointers, "IDX-1"),
)
"""Each with the rule that it breaks."""
