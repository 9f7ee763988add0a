"""Plays what a check of some effort plays, on one compactor, each workload on a fresh store, and has it judged."""

import difflib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from anchorhold.compactor import Description, OperationError, Reply, Settings, Shown, mechanisms_of
from anchorhold.crew import Crew, Played, played
from anchorhold.errors import AdapterError, Fault
from anchorhold.found import Found
from anchorhold.history import EventType
from anchorhold.judging import judge
from anchorhold.load import Loaded
from anchorhold.operations import operations
from anchorhold.planting import Planter
from anchorhold.progress import Progress
from anchorhold.run import could_not_open, means_of, play
from anchorhold.scenarios import ASKED_FOR, BUDGETS, DIRECTED, Effort, Plan, Scenario, scenarios
from anchorhold.selection import following, weight
from anchorhold.trouble import Ends, ends
from anchorhold.verdict import History, Judgement, VerdictKind, decide
from anchorhold.workload import Workload

LEARNING = 3
"""Scenarios from whose pointers those of "another store" are taken, at most: the first, whoever plays the others."""
TOKENS = 24
"""Pointers of another store that are enough to try."""


class Playing:
    """Plays on one compactor, and hands each history to those who judge it."""

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
        found: Sequence[Found],
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
        found: Sequence[Found],
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

    def _inconclusive(self, one: Found) -> bool:
        verdict = decide(
            one.checker,
            present=mechanisms_of(self.description, summarised=self.summarised),
            hidden=self.description.hidden,
            judgements=one.judgements,
        )
        return verdict.kind is VerdictKind.INCONCLUSIVE

    def _play_all(self, crew: Crew | None, found: Sequence[Found], workloads: Sequence[Workload]) -> None:
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

    def _hear(self, found: Sequence[Found], come: Played) -> None:
        self.summarised |= come.summarised
        self.ends.take(come.ends)
        self._take(found, come.history, come.judgements, come.operations)

    def walk(self, found: Sequence[Found], *, examples: Path | None = None) -> None:
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
        self, found: Sequence[Found], history: History | None, judgements: Sequence[Judgement], played: int
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
            raise Settled

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


class Settled(Exception):  # noqa: N818 - not an error
    """All that was to be seen was seen."""


class UnknownScenario(ValueError):  # noqa: N818 - says what it is about
    """A scenario was asked for that does not exist: with this compactor's crash points, and this effort."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        close = difflib.get_close_matches(name, known, n=1)
        guess = f"did you mean {close[0]}? " if close else ""
        super().__init__(f"no scenario is called {name!r}: {guess}there are {', '.join(known)}")


def _serving(every: Iterable[tuple[Scenario, str]], wanted: Collection[str] | None) -> list[tuple[Scenario, str]]:
    """The scenarios that aim at a wanted rule, and those that aim at none in particular."""
    all_of_them = list(every)
    aimed_at = {rule for scenario, _ in all_of_them for rule in scenario.aims}
    if wanted is None or not aimed_at.issuperset(wanted):
        return all_of_them
    return [(s, seed) for s, seed in all_of_them if not s.aims or not set(s.aims).isdisjoint(wanted)]


def _unused(shown: Shown) -> Reply:
    raise RuntimeError(f"no summary is needed before anything was appended ({len(shown.messages)} messages shown)")
