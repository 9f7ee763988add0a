"""The compactors that the suite is tested on: the wrong ones with the rule that each breaks, and the right ones."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from compactors import (
    contents,
    crossings,
    evidences,
    framings,
    indexes,
    leftovers,
    manners,
    neighbours,
    policies,
    readings,
    records,
    returns,
    sessions,
    sketches,
    structures,
    unseen_likeness,
    unseen_stores,
    unseen_windows,
)
from compactors.dodges import (
    AnswersPendingForEver,
    AnswersPendingUndeclared,
    AnswersWithTheOldestAndItsSource,
    ArchivesNoArguments,
    ArchivesWithoutAModel,
    BuriesTheWordsWherever,
    CallsItsSummaryANotice,
    ClaimsForNobody,
    ClaimsSwappedValues,
    DeclaresTurnsThatNeverWere,
    FindsANeighbourInPieces,
    InPieces,
    KeepsOnlyTheSuitesForms,
    NamesASummaryThatIsNotThere,
    PendingOnceAndDeclared,
    PointsAtRanges,
    PromisesTheRest,
    RefusesForAFactOfItsOwn,
    SaysItCoveredSomethingElse,
    ShowsTheWholeWindow,
    StopsWithAnyExcuse,
    TruncatesWithoutAWord,
)
from compactors.driven import DRIVEN_HONEST, DRIVEN_RIGHT, DRIVEN_WRONG
from compactors.event_log import (
    CoversMoreThanItReplaces,
    EventLog,
    ForgetsInOneWriteAndSummarisesInAnother,
    PointsOnlyAtTheLatest,
    RecoversByWritingAgain,
    ResolvesUnknownPointersToTheLast,
    SaysUnanchoredOfWhatWasNeverIssued,
    SearchAnswersWithAnEmptyFinding,
    SearchAnswersWithAnErrorText,
    SearchAnswersWithTheNewest,
    ServesDamagedEvents,
)
from compactors.file_archive import (
    AnswersWithTheErrorText,
    ArchivesEqualTextOnce,
    ArchivesInTheBackground,
    ArchivesTheSummaryInstead,
    CommitsBeforeItArchives,
    CutsLongTurns,
    DropsTheWindowFirst,
    FileArchive,
    KeepsTheTurnsThatItSummarised,
    LeavesItsLockBehind,
    ServesADamagedFile,
    StartsTheFileAnew,
)
from compactors.journal import Journal
from compactors.plain_list import (
    CommitsTheErrorText,
    CommitsWhateverComes,
    DropsHedgesAndNegations,
    ForgetsWhatOldNotesSaid,
    ForgetsWhatTheSummaryLeftOut,
    GivesUpSilently,
    LosesOneStatementEachTime,
    NeverCompacts,
    PlainList,
    RefusesEverything,
    RegistersTheSummaryBeforeItChecks,
    ReplacesTwoMoreThanItShows,
    SaysCommittedWhenItFailed,
    SaysFailedWhenItCommitted,
    SaysNothingToDoWhenItFailed,
    ShowsOnlyTheEnd,
    TakesWhatWasCutWhereALineEnds,
    TruncatesWhenTheModelFails,
)
from compactors.rolling import Rolling
from compactors.slot_cache import (
    AnswersWithANeighbour,
    AnswersWithTheLikeliest,
    AnswersWithTheOldest,
    BelievesItsModel,
    BelievesWhomItNames,
    ClaimsByTheSubject,
    ClaimsWhatItDoesNotSay,
    CommitsBeforeThePointer,
    CountsTheSummaryThatGoes,
    EvictsTheLastCarrier,
    IgnoresEpochs,
    KeysByContent,
    PointsFromTheLatestSummaryOnly,
    PutsWithoutSaving,
    ReleasesAndThenRefuses,
    RestartsItsEpochs,
    SaysEvictedAndKeeps,
    SearchesEverySession,
    ServesDamagedBytes,
    ServesEverySession,
    SlotCache,
    TombstonesEverythingWhenAskedForOne,
    TombstonesWhatWasLeftOut,
)
from compactors.vault import Vault

from anchorhold.adapters.reference import Reference
from anchorhold.adequacy.seek import histories
from anchorhold.checkers import CHECKERS
from anchorhold.compactor import mechanisms_of
from anchorhold.judging import judge
from anchorhold.load import load
from anchorhold.scenarios import Effort, Scenario
from anchorhold.verdict import Failure, Verdict, decide

RIGHT: tuple[type[Any], ...] = (PlainList, EventLog, FileArchive, SlotCache, *DRIVEN_RIGHT, *unseen_likeness.RIGHT)

HONEST: tuple[type[Any], ...] = (
    PendingOnceAndDeclared,
    InPieces,
    ArchivesWithoutAModel,
    PointsAtRanges,
    ShowsTheWholeWindow,
    *policies.HONEST,
    *readings.HONEST,
    *evidences.HONEST,
    *structures.HONEST,
    *indexes.HONEST,
    *sketches.HONEST,
    *records.HONEST,
    *sessions.HONEST,
    *returns.HONEST,
    *unseen_likeness.HONEST,
    *framings.HONEST,
    *manners.HONEST,
    *DRIVEN_HONEST,
)
"""Of a shape that wrong ones have as well: blamed for nothing."""

SHIPPED: tuple[type[Any], ...] = (Reference,)
"""Blamed for nothing either. Tests of their own look after them, and `anchorhold adequacy` checks them as well."""

BY_DESIGN: Mapping[type[Any], Mapping[str, str]] = {
    FileArchive: {"IDX-1": "one file for everything is one entry, and it grows with every compaction"},
    SlotCache: {"IDX-1": "an entry may leave through the gate before the horizon: right up to level 4"},
    policies.PrunedLog: {"IDX-1": "an event may be blanked through the gate: right up to level 4"},
    evidences.NeverLetsGo: {},
    PointsAtRanges: {},
}
"""What right compactors break by being what they are, and why; it holds for those that are made from them as well."""


def by_design(kind: type[Any]) -> Mapping[str, str]:
    """The rules that a right compactor breaks by design, with the reason."""
    return next((BY_DESIGN[base] for base in kind.__mro__ if base in BY_DESIGN), {})


WRONG: tuple[tuple[type[Any], str], ...] = (
    (EvictsTheLastCarrier, "ANC-1"),
    (ForgetsWhatTheSummaryLeftOut, "ANC-1"),
    (LosesOneStatementEachTime, "ANC-1"),
    (StartsTheFileAnew, "ANC-1"),
    (CountsTheSummaryThatGoes, "ANC-4"),
    (ForgetsWhatOldNotesSaid, "ANC-4"),
    (RegistersTheSummaryBeforeItChecks, "ANC-5"),
    (ReleasesAndThenRefuses, "ANC-5"),
    (ArchivesTheSummaryInstead, "MAN-1"),
    (DropsHedgesAndNegations, "MAN-1"),
    (ClaimsWhatItDoesNotSay, "MAN-2"),
    (ClaimsByTheSubject, "MAN-2"),
    (BelievesItsModel, "MAN-2"),
    (BelievesWhomItNames, "MAN-2"),
    (TombstonesWhatWasLeftOut, "MAN-6"),
    (TombstonesEverythingWhenAskedForOne, "MAN-6"),
    (CommitsBeforeThePointer, "PTR-1"),
    (CommitsBeforeItArchives, "PTR-1"),
    (ArchivesInTheBackground, "PTR-1"),
    (PutsWithoutSaving, "PTR-1"),
    (CutsLongTurns, "PTR-1"),
    (ReplacesTwoMoreThanItShows, "PTR-3"),
    (ShowsOnlyTheEnd, "PTR-3"),
    (CoversMoreThanItReplaces, "PTR-3"),
    (PointsOnlyAtTheLatest, "PTR-4"),
    (PointsFromTheLatestSummaryOnly, "PTR-4"),
    (IgnoresEpochs, "EPO-1"),
    (RestartsItsEpochs, "EPO-2"),
    (ResolvesUnknownPointersToTheLast, "EPO-2"),
    (SaysUnanchoredOfWhatWasNeverIssued, "EPO-2"),
    (ServesDamagedBytes, "EPO-3"),
    (ServesDamagedEvents, "EPO-3"),
    (ServesADamagedFile, "EPO-3"),
    (KeysByContent, "IDX-2"),
    (ArchivesEqualTextOnce, "IDX-2"),
    (AnswersWithANeighbour, "REC-1"),
    (AnswersWithTheLikeliest, "REC-1"),
    (AnswersWithTheOldest, "REC-1"),
    (SearchAnswersWithTheNewest, "REC-1"),
    (SearchAnswersWithAnEmptyFinding, "REC-1"),
    (SearchAnswersWithAnErrorText, "REC-1"),
    (AnswersWithTheErrorText, "REC-1"),
    (SearchesEverySession, "ISO-1"),
    (ServesEverySession, "ISO-1"),
    (ForgetsInOneWriteAndSummarisesInAnother, "CRA-1"),
    (DropsTheWindowFirst, "CRA-1"),
    (KeepsTheTurnsThatItSummarised, "CRA-1"),
    (LeavesItsLockBehind, "CRA-2"),
    (RecoversByWritingAgain, "CRA-2"),
    (CommitsTheErrorText, "OUT-1"),
    (TakesWhatWasCutWhereALineEnds, "OUT-1"),
    (CommitsWhateverComes, "OUT-1"),
    (TruncatesWhenTheModelFails, "OUT-1"),
    (SaysCommittedWhenItFailed, "OUT-2"),
    (SaysNothingToDoWhenItFailed, "OUT-2"),
    (SaysFailedWhenItCommitted, "OUT-2"),
    (SaysEvictedAndKeeps, "OUT-2"),
    (NeverCompacts, "PRO-1"),
    (RefusesEverything, "PRO-1"),
    (GivesUpSilently, "PRO-1"),
    (AnswersPendingForEver, "ANC-1"),
    (AnswersPendingForEver, "PTR-1"),
    (AnswersPendingUndeclared, "PTR-1"),
    (PromisesTheRest, "ANC-1"),
    (PromisesTheRest, "PTR-1"),
    (PromisesTheRest, "REC-1"),
    (FindsANeighbourInPieces, "REC-1"),
    (ClaimsSwappedValues, "MAN-2"),
    (ClaimsForNobody, "MAN-2"),
    (AnswersWithTheOldestAndItsSource, "REC-1"),
    (StopsWithAnyExcuse, "PRO-1"),
    (RefusesForAFactOfItsOwn, "PRO-1"),
    (SaysItCoveredSomethingElse, "PTR-3"),
    (NamesASummaryThatIsNotThere, "PTR-3"),
    (DeclaresTurnsThatNeverWere, "PTR-3"),
    (CallsItsSummaryANotice, "MAN-1"),
    (TruncatesWithoutAWord, "MAN-1"),
    (KeepsOnlyTheSuitesForms, "MAN-1"),
    (ArchivesNoArguments, "PTR-1"),
    (BuriesTheWordsWherever, "ANC-1"),
    *policies.WRONG,
    *readings.WRONG,
    *evidences.WRONG,
    *structures.WRONG,
    *indexes.WRONG,
    *sketches.WRONG,
    *DRIVEN_WRONG,
    *records.WRONG,
    *sessions.WRONG,
    *returns.WRONG,
    *unseen_windows.WRONG,
    *unseen_stores.WRONG,
    *unseen_stores.SEEN,
    *unseen_likeness.WRONG,
    *neighbours.WRONG,
    *leftovers.WRONG,
    *crossings.WRONG,
    *contents.WRONG,
)

BLIND: frozenset[type[Any]] = frozenset(
    kind for kind, _ in (*unseen_windows.WRONG, *unseen_stores.WRONG, *unseen_likeness.WRONG)
)
"""Written without sight of the checkers, from the rules' texts and public reports alone."""

ARCHITECTURES: Mapping[type[Any], str] = {
    PlainList: "a plain list",
    EventLog: "an event log",
    FileArchive: "a file archive",
    SlotCache: "a key-value cache with lifetimes",
    Vault: "a vault of cells written once",
    Journal: "a journal that is folded",
    Rolling: "a list under one rolling summary",
    sketches.Sketch: "a sketch of the sources",
}
"""What each is built as; none as the reference."""

LONG = frozenset({"RET-2"})
"""Rules whose scenario is too long for a quick check."""
MANY = frozenset({crossings.HasRoomForSoMany, crossings.CarriesSoManyPointers})
"""Wrong ones that only many compactions show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What the suite found in a compactor."""

    failures: Mapping[str, Failure]
    verdicts: Mapping[str, Verdict]
    histories: int


def caught(kind: type[Any], rule: str, *, seed: int = 0) -> Failure | None:
    """The first failure of one rule, of those that a quick check comes upon."""
    checker = next(checker for checker in CHECKERS if checker.rule == rule)
    effort = Effort.STANDARD if rule in LONG or kind in MANY else Effort.QUICK
    for history in histories(kind, seed=seed, first=lambda scenario: rule in scenario.aims, effort=effort):
        for judgement in judge([checker], history):
            if judgement.failures:
                return judgement.failures[0]
    return None


def look(kind: type[Any], *, seed: int = 0, only: Callable[[Scenario], bool] = lambda scenario: True) -> Looked:
    """Every verdict of a quick check, or of some of its scenarios."""
    failures: dict[str, Failure] = {}
    judgements: dict[str, list[Any]] = {checker.rule: [] for checker in CHECKERS}
    played = 0
    summarised = False
    for history in histories(kind, seed=seed, only=only, effort=Effort.QUICK):
        played += 1
        summarised |= any(event.op == "summarise" for event in history.events)
        for judgement in judge(CHECKERS, history):
            judgements[judgement.rule].append(judgement)
            for failure in judgement.failures:
                failures.setdefault(failure.rule, failure)
    with load(f"{kind.__module__}:{kind.__name__}") as loaded:
        description = loaded.describe()
    present = mechanisms_of(description, summarised=summarised)
    verdicts = {
        checker.rule: decide(checker, present=present, hidden=description.hidden, judgements=judgements[checker.rule])
        for checker in CHECKERS
    }
    return Looked(failures=failures, verdicts=verdicts, histories=played)
