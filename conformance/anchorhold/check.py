"""A whole check: play every scenario, judge every history, decide every rule, shorten what failed.

Scenarios are played one after another on compactors that `anchorhold.load` makes, each on a fresh store. For each
rule that fails the smallest failing history is played again, shortened, and kept as a file for `anchorhold replay`.
"""

import difflib
import shlex
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from anchorhold.compactor import OPERATIONS_OF, Description, Mechanism, OperationError, Reply, Settings, Shown
from anchorhold.crew import Crew, Played, played
from anchorhold.errors import AdapterError, Fault
from anchorhold.history import EventType, write_history
from anchorhold.judging import judge
from anchorhold.level import NOT_ASKED
from anchorhold.load import Loaded
from anchorhold.operations import operations
from anchorhold.planting import Planter
from anchorhold.progress import Progress, Silent
from anchorhold.result import FailureResult, Result, failure, result
from anchorhold.run import could_not_open, means_of, play
from anchorhold.scenarios import ASKED_FOR, BUDGETS, DIRECTED, Effort, Plan, Scenario, scenarios
from anchorhold.selection import following, weight
from anchorhold.shrink import Attempt, Enough, Failing, cut, shrink
from anchorhold.trouble import Ends, ends, explained
from anchorhold.verdict import Checker, Failure, History, Judgement, Verdict, VerdictKind, decide
from anchorhold.workload import Workload

AGAIN = 3
"""How often a failing workload is played again: before it counts as one that fails only at times, and to confirm the
shortest one."""
NOTHING_PLAYED = "nothing was played: the compactor does not offer what the scenarios asked for need"
LEARNING = 3
"""Scenarios from whose pointers those of "another store" are taken, at most: the first, whoever plays the others."""
TOKENS = 24
"""Pointers of another store that are enough to try."""
TROUBLE = 2
"""Adapter errors after which shortening a workload is given up."""
STARTS = 3
"""Failing histories of one rule, each of another workload, that are shortened; the best of what comes is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replays:
    """What came of playing a failing history again."""

    failed: int
    played: int

    @property
    def always(self) -> bool:
        """Whether it failed whenever it was played, and was played."""
        return 0 < self.played == self.failed


@dataclass(slots=True)
class _Found:
    """What one checker said of every history so far."""

    checker: Checker
    judgements: list[Judgement] = field(default_factory=list)
    starts: list[Failing] = field(default_factory=list)
    """The smallest histories that fail, each of another workload; the smallest of all is the first."""
    after: int | None = None
    """Operations that had been played when it failed for the first time."""

    def take(self, history: History, judgement: Judgement) -> None:
        # The history itself is let go of, unless it is one of the smallest that fail.
        self.judgements.append(judgement)
        self.note(history, judgement)

    def hear(self, judgement: Judgement) -> None:
        """Take what is said of a history in which nothing failed, and which is not here."""
        self.judgements.append(judgement)

    def note(self, history: History, judgement: Judgement) -> None:
        """Keep the history where it is one of the smallest that fail; it counts for no verdict."""
        if not judgement.failures:
            return
        best = {history.header.workload.name: Failing(history=history, failure=judgement.failures[0])}
        for other in self.starts:
            name = other.workload.name
            if name not in best or _length(other) <= _length(best[name]):
                best[name] = other
        self.starts = sorted(best.values(), key=_length)[:STARTS]


def _length(failing: Failing) -> int:
    return len(failing.history.events)


class _Run:
    """One check of one compactor."""

    def __init__(self, loaded: Loaded, *, seed: int, effort: Effort, progress: Progress) -> None:
        self.description: Description = loaded.describe()
        self.summarised = False
        self.played = 0
        self.operations = 0
        self.ends = Ends()
        self._loaded = loaded
        self._seed = seed
        self._effort = effort
        self._progress = progress
        self._tokens: dict[str, None] = {}
        self.until: frozenset[str] = frozenset()
        """Rules: once all of these have failed nothing more is played. None: everything is."""

    def all(
        self,
        found: Sequence[_Found],
        *,
        wanted: Collection[str] | None,
        named: Collection[str] | None,
        again: Callable[[], Loaded] | None,
        workers: int,
    ) -> None:
        """Play every scenario that may say something of the wanted rules, or those that are named, and judge it.

        Where nothing in particular was asked for, and the effort says so: those that it takes to say something of
        each rule (`anchorhold.selection`).
        """
        taken = self._settings()
        every = list(self._scenarios())
        chosen = _serving(every, wanted) if named is None else self._named(every, named)
        if not found:
            # There is nobody to judge what would be played.
            chosen = []
        self._progress.started(self._loaded.target, self.description.version, len(chosen))
        checkers = tuple(each.checker for each in found)
        with ExitStack() as stack:
            crew = None
            if again is not None and workers > 1 and len(chosen) > LEARNING + 1:
                # Started before anything is played: it takes them a while to be ready.
                most = min(workers, len(chosen) - LEARNING)
                crew = stack.enter_context(Crew(again, checkers, workers=most, seed=self._seed))
            learned = 0
            for scenario, seed in chosen[:LEARNING]:
                if len(self._tokens) >= TOKENS:
                    break
                learned += 1
                self._progress.playing(self.played + 1, scenario.name)
                history = self.play(self._written(scenario, seed, taken))
                self._learn(history)
                self._take(found, history, judge(checkers, history), operations(history))
            # What is played from here on, and how, does not depend on how many play.
            left = [(scenario, self._written(scenario, seed, taken)) for scenario, seed in chosen[learned:]]
            aimed = BUDGETS[self._effort].aimed
            if aimed is None or wanted is not None or named is not None:
                self._play_all(crew, found, [workload for _, workload in left])
            else:
                self._play_some(crew, found, left, aimed, first=[scenario for scenario, _ in chosen[:learned]])

    def _play_some(
        self,
        crew: Crew | None,
        found: Sequence[_Found],
        left: Sequence[tuple[Scenario, Workload]],
        aimed: int,
        *,
        first: Sequence[Scenario],
    ) -> None:
        """Play what serves rules of which more has to be seen, until there is none or nothing that does.

        `first`: what was played already.
        """
        served = Counter(rule for scenario in first for rule in scenario.aims)
        wanted = {each.checker.rule: aimed - served[each.checker.rule] for each in found}
        whatever, more = True, aimed
        while True:
            places = set(following([(scenario.aims, weight(workload)) for scenario, workload in left], wanted))
            # What aims at no rule in particular is there for what nobody thought of.
            places.update(place for place, (scenario, _) in enumerate(left) if whatever and not scenario.aims)
            if not places:
                return
            self._play_all(crew, found, [workload for place, (_, workload) in enumerate(left) if place in places])
            left = [each for place, each in enumerate(left) if place not in places]
            # Twice as many each time: they are played side by side, and no rule waits for its last ones one by one.
            whatever, more = False, 2 * more
            wanted = {each.checker.rule: more for each in found if self._inconclusive(each)}

    def _inconclusive(self, one: _Found) -> bool:
        verdict = decide(
            one.checker,
            present=mechanisms_of(self.description, summarised=self.summarised),
            hidden=self.description.hidden,
            judgements=one.judgements,
        )
        return verdict.kind is VerdictKind.INCONCLUSIVE

    def _play_all(self, crew: Crew | None, found: Sequence[_Found], workloads: Sequence[Workload]) -> None:
        checkers = tuple(each.checker for each in found)

        def here(number: int, workload: Workload) -> Played:
            return played(self._loaded, self.description, number, workload, checkers, self._seed)

        jobs = list(enumerate(workloads))
        names = dict(jobs)
        before = self.played
        if crew is None:
            for number, workload in jobs:
                self._progress.playing(before + 1 + number, workload.name)
                self._hear(found, here(number, workload))
            return
        waiting: dict[int, Played] = {}
        awaited = 0
        # The longest first: at the end nobody waits for a long one that somebody else began late.
        longest = sorted(jobs, key=lambda job: -weight(job[1]))
        for done, come in enumerate(crew.play(longest, here), start=before + 1):
            self._progress.playing(done, names[come.number].name)
            # Taken in the order of the workloads: which failure is told first is no matter of luck.
            waiting[come.number] = come
            while awaited in waiting:
                self._hear(found, waiting.pop(awaited))
                awaited += 1

    def _hear(self, found: Sequence[_Found], come: Played) -> None:
        self.summarised |= come.summarised
        self.ends.take(come.ends)
        self._take(found, come.history, come.judgements, come.operations)

    def walk(self, found: Sequence[_Found], *, examples: Path | None = None) -> None:
        """Let Hypothesis draw walks, where the effort asks for them. Raises `AdapterError` where there is none.

        `examples`: where those that fail are kept, and played first the next time.
        """
        walks = BUDGETS[self._effort].walks
        if not walks or not found:
            return
        try:
            from anchorhold.walks import Arena, walk
        except ImportError as error:
            raise AdapterError(
                "a thorough check draws walks with Hypothesis, which is not installed",
                code=Fault.IMPORT,
                cause=str(error),
                hint="pip install 'anchorhold[thorough]', or ask for --effort standard",
            ) from None

        def take(history: History, judgements: tuple[Judgement, ...]) -> None:
            self._progress.playing(self.played + 1, history.header.workload.name)
            self.summarised |= any(event.op == "summarise" for event in history.events)
            self.ends.take(ends(history.events))
            self._take(found, history, judgements, operations(history))

        checkers = [each.checker for each in found]
        walk(Arena(self._loaded, checkers, seed=self._seed, take=take), walks=walks, examples=examples)

    def _written(self, scenario: Scenario, seed: str, taken: Settings) -> Workload:
        plan = Plan(
            planter=Planter(seed),
            taken=taken,
            points=self.description.crash_points,
            tokens=tuple(self._tokens),
        )
        return scenario.workload(plan)

    def _take(
        self, found: Sequence[_Found], history: History | None, judgements: Sequence[Judgement], played: int
    ) -> None:
        self.played += 1
        self.operations += played
        for each, judgement in zip(found, judgements, strict=True):
            known = bool(each.starts)
            if history is None:
                each.hear(judgement)
            else:
                each.take(history, judgement)
            if judgement.failures and not known:
                each.after = self.operations
                self._progress.failed(each.checker.rule, judgement.failures[0].sentence)
        if self.until and self.until <= {each.checker.rule for each in found if each.starts}:
            raise _Settled

    def _named(self, every: Sequence[tuple[Scenario, str]], named: Collection[str]) -> list[tuple[Scenario, str]]:
        """The scenarios of these names. One that this compactor cannot play is known, and not among them."""
        known = dict.fromkeys([*(scenario.name for scenario, _ in every), *(scenario.name for scenario in DIRECTED)])
        for name in named:
            if name not in known:
                raise UnknownScenario(name, tuple(known))
        return [(scenario, seed) for scenario, seed in every if scenario.name in named]

    def play(self, workload: Workload) -> History:
        """Play one workload on a fresh compactor."""
        return play(
            self._loaded.make(),
            workload,
            description=self.description,
            location=self._loaded.location,
            seed=self._seed,
        )

    def shortest(self, one: _Found, others: Sequence[_Found]) -> tuple[Failing, Replays]:
        """The shortest failing history that was found, and how often it fails when it is played again.

        `others`: rules that failed too. Whatever is played for the one is judged by them as well, so that each starts
        from the smallest history in which it was ever seen to fail: playing is what takes time.
        """
        trouble = 0
        # This one last: its judgement is the one that is wanted.
        checkers = [*(other.checker for other in others), one.checker]

        def attempt(workload: Workload) -> Failing | None:
            nonlocal trouble
            try:
                history = self.play(workload)
            except AdapterError:
                # The check itself went through; a mutilated workload that the adapter does not bear is not the point.
                trouble += 1
                if trouble >= TROUBLE:
                    raise Enough from None
                return None
            *theirs, own = judge(checkers, history)
            for other, judgement in zip(others, theirs, strict=True):
                other.note(history, judgement)
            return Failing(history=history, failure=own.failures[0]) if own.failures else None

        first, *more = one.starts
        again = self._again(first, attempt)
        if again is None:
            short = cut(first)
            failures = one.checker.judge(short).failures
            never = Replays(failed=0, played=1 + AGAIN)
            return (Failing(history=short, failure=failures[0]) if failures else first), never
        effort = BUDGETS[self._effort].shrinking
        best, left = self._shortened(one.checker.rule, again, attempt, effort)
        for start in more:
            # What the first did not need is left for the others: a longer history may have less that has to stay.
            other, left = self._shortened(one.checker.rule, start, attempt, left)
            best = min(best, other, key=lambda failing: failing.size)
        replays = self._replayed(best, attempt)
        if replays.always:
            return best, replays
        # Shortened by single runs, something that fails at times may be left of what fails always.
        whole = self._replayed(again, attempt)
        return (again, whole) if whole.always else (best, replays)

    def _shortened(self, rule: str, failing: Failing, attempt: Attempt, effort: int) -> tuple[Failing, int]:
        """The shortest that comes of one history, and what is left of the effort."""
        shrunk = shrink(
            failing,
            attempt=attempt,
            effort=effort,
            tried=lambda spent, steps: self._progress.shrinking(rule, spent, effort, steps),
        )
        return shrunk.failing, effort - shrunk.spent

    def _replayed(self, failing: Failing, attempt: Attempt) -> Replays:
        """Play a failing history again, each time in a fresh instance."""
        failed = played = 0
        try:
            for _ in range(AGAIN):
                failed += attempt(failing.workload) is not None
                played += 1
        except Enough:
            pass
        return Replays(failed=failed, played=played)

    def _again(self, failing: Failing, attempt: Attempt) -> Failing | None:
        """The failure, seen once more: up to the step at which it showed, or else in full, and a few times."""
        workloads = (cut(failing).header.workload, *(failing.workload for _ in range(AGAIN)))
        try:
            return next((found for each in workloads if (found := attempt(each)) is not None), None)
        except Enough:
            return None

    def _scenarios(self) -> Iterable[tuple[Scenario, str]]:
        return scenarios(
            effort=self._effort,
            seed=self._seed,
            means=means_of(self.description),
            points=self.description.crash_points,
        )

    def _settings(self) -> Settings:
        """What the compactor takes of the settings: scenarios are written to fit them."""
        compactor = self._loaded.make()
        try:
            return compactor.open(ASKED_FOR, _unused)
        except OperationError as error:
            raise could_not_open(str(error)) from error
        finally:
            compactor.close()

    def _learn(self, history: History) -> None:
        self.ends.take(ends(history.events))
        for event in history.events:
            if event.op == "summarise":
                self.summarised = True
            elif event.op == "pointers" and event.type is EventType.OK:
                self._tokens.update((pointer["token"], None) for pointer in event.value)


class _Settled(Exception):  # noqa: N818 - not an error
    """All that was to be seen was seen."""


class UnknownScenario(ValueError):  # noqa: N818 - says what it is about
    """A scenario was asked for that does not exist: with this compactor's crash points, and this effort."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        close = difflib.get_close_matches(name, known, n=1)
        guess = f"did you mean {close[0]}? " if close else ""
        super().__init__(f"no scenario is called {name!r}: {guess}there are {', '.join(known)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check came to."""

    result: Result
    histories: Mapping[str, History]
    """The history of each failure, by its path."""
    description: Description
    """What the compactor says of itself."""


def check(
    loaded: Loaded,
    *,
    checkers: Sequence[Checker],
    histories: Path,
    seed: int = 0,
    effort: Effort = Effort.STANDARD,
    rules: Collection[str] | None = None,
    named: Collection[str] | None = None,
    progress: Progress | None = None,
    again: Callable[[], Loaded] | None = None,
    workers: int = 1,
    examples: Path | None = None,
) -> Checked:
    """Check a compactor. `histories`: the directory in which failing histories are kept, made where one is needed.

    `rules`: only these are judged, and the others are untested. `named`: only the scenarios of these names are
    played; a verdict then says no more than they can show. `workers`: so many processes play at once, each of which
    loads the compactor by `again`; without that there is one. What is found is the same however many there are.
    `examples`: the directory of a Hypothesis database in which walks that fail are kept, to be played first by the
    next check; None keeps none.
    Raises `AdapterError` where the adapter does not work: there is then no verdict on anything. Raises
    `UnknownScenario` where no scenario of a name exists, and `OSError` where a history cannot be written.
    """
    begun = time.monotonic()
    listener = progress or Silent()
    run = _Run(loaded, seed=seed, effort=effort, progress=listener)
    found = [_Found(checker) for checker in checkers if rules is None or checker.rule in rules]
    run.all(found, wanted=rules, named=named, again=again, workers=workers)
    if named is None:
        run.walk(found, examples=examples)
    present = mechanisms_of(run.description, summarised=run.summarised)
    verdicts: list[Verdict] = []
    failures: list[FailureResult] = []
    kept: dict[str, History] = {}
    broken = [each for each in found if each.starts]
    for each in found:
        verdict = (
            decide(each.checker, present=present, hidden=run.description.hidden, judgements=each.judgements)
            if run.played
            else Verdict(rule=each.checker.rule, kind=VerdictKind.INCONCLUSIVE, reason=NOTHING_PLAYED, triggered=0)
        )
        if each.starts:
            broken.remove(each)
            shortest, replays = run.shortest(each, broken)
            shown = _told(shortest.failure, each.judgements, replays)
            entry, history = _keep(shortest.history, shown, histories, anywhere=loaded.anywhere)
            failures.append(entry)
            kept[entry.history] = history
            verdict = replace(verdict, reason=shown.sentence)
        elif verdict.kind is VerdictKind.INCONCLUSIVE:
            verdict = replace(verdict, reason=explained(verdict.reason, run.ends.never()))
        verdicts.append(verdict)
    verdicts.extend(_left_out(checkers, rules))
    document = result(
        compactor=loaded.target,
        version=run.description.version,
        verdicts=verdicts,
        failures=failures,
        seconds=round(time.monotonic() - begun, 3),
        seed=seed,
        effort=effort.value,
        irreversible=run.description.irreversible,
        stderr=loaded.stderr,
    )
    return Checked(result=document, histories=kept, description=run.description)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """What failed in a check, before anything is shortened."""

    failures: Mapping[str, Failing]
    """The smallest history in which each rule failed."""
    after: Mapping[str, int]
    """How many operations had been played when it failed for the first time."""


def survey(
    loaded: Loaded, *, checkers: Sequence[Checker], seed: int, effort: Effort, until: frozenset[str] = frozenset()
) -> Surveyed:
    """Play what a check of this effort plays, and shorten nothing. Raises `AdapterError` as `check` does.

    `until`: rules; once all of them have failed the rest is left out.
    """
    run = _Run(loaded, seed=seed, effort=effort, progress=Silent())
    run.until = until
    found = [_Found(checker) for checker in checkers]
    with suppress(_Settled):
        run.all(found, wanted=None, named=None, again=None, workers=1)
        run.walk(found)
    return Surveyed(
        failures={each.checker.rule: each.starts[0] for each in found if each.starts},
        after={each.checker.rule: each.after for each in found if each.after is not None},
    )


def mechanisms_of(description: Description, *, summarised: bool) -> frozenset[Mechanism]:
    """What the compactor has: by its own word, by the operations that it offers, and by what it was seen to do."""
    offered = description.operations
    shown = {
        mechanism
        for mechanism, operations in OPERATIONS_OF.items()
        if (offered.intersection(operations) if mechanism is Mechanism.RETRIEVAL else offered.issuperset(operations))
    }
    if summarised:
        shown.add(Mechanism.SUMMARISER)
    return description.mechanisms | shown


def _serving(every: Iterable[tuple[Scenario, str]], wanted: Collection[str] | None) -> list[tuple[Scenario, str]]:
    """The scenarios that aim at a wanted rule, and those that aim at none in particular."""
    all_of_them = list(every)
    aimed_at = {rule for scenario, _ in all_of_them for rule in scenario.aims}
    if wanted is None or not aimed_at.issuperset(wanted):
        return all_of_them
    return [(s, seed) for s, seed in all_of_them if not s.aims or not set(s.aims).isdisjoint(wanted)]


def _left_out(checkers: Sequence[Checker], rules: Collection[str] | None) -> list[Verdict]:
    """Rules that have a checker and were not asked for: untested too, for another reason."""
    return [
        Verdict(rule=c.rule, kind=VerdictKind.UNTESTED, reason=NOT_ASKED, triggered=0)
        for c in checkers
        if rules is not None and c.rule not in rules
    ]


def _told(shown: Failure, judgements: Sequence[Judgement], replays: Replays) -> Failure:
    """The failure as it is reported; that it does not happen every time is part of it."""
    if replays.always:
        return shown
    times = sum(1 for judgement in judgements if judgement.failures)
    return replace(
        shown,
        sentence=f"{shown.sentence} (Not every time: it was seen in {times} of {len(judgements)} histories, and in "
        f"{replays.failed} of {replays.played} replays of this one, each in a fresh instance.)",
    )


def _keep(history: History, shown: Failure, directory: Path, *, anywhere: bool) -> tuple[FailureResult, History]:
    """Write the history down as the counterexample to the rule."""
    path = directory / f"{shown.rule}.jsonl"
    named = History(header=msgspec.structs.replace(history.header, rule=shown.rule), events=history.events)
    write_history(path, named.header, named.events)
    return failure(shown, history=str(path), replay=_replay(path, anywhere=anywhere)), named


def _replay(path: Path, *, anywhere: bool) -> str:
    """The command that plays a history again, from whatever directory it is given in.

    What a program or a module is given by cannot be told from the words of the command line: it is run where the
    check was run.
    """
    command = f"anchorhold replay {shlex.quote(str(path.absolute()))}"
    return command if anywhere else f"cd {shlex.quote(str(Path.cwd()))} && {command}"


def _unused(shown: Shown) -> Reply:
    raise RuntimeError(f"no summary is needed before anything was appended ({len(shown.messages)} messages shown)")
