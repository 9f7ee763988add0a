"""Walks through every operation and fault, drawn by Hypothesis and judged by the same checkers (`--effort thorough`).

A walk is played as it is drawn. Where a rule fails Hypothesis looks for a shorter walk with the same failure; each
history that fails on the way is handed on, so that the smallest of them is what the suite goes on to shorten. Walks
that failed are kept in a database of Hypothesis', and are the first that the next check plays.
"""

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from anchorhold.compactor import StoreFault
from anchorhold.errors import AdapterError
from anchorhold.judging import judge
from anchorhold.load import Loaded
from anchorhold.planting import Planter
from anchorhold.run import Player, history_of, means_of
from anchorhold.scenarios.plan import ASKED_FOR, Plan
from anchorhold.summariser import MODES
from anchorhold.verdict import Checker, History, Judgement
from anchorhold.workload import (
    AnyStep,
    Append,
    Ask,
    Clear,
    Clock,
    Compact,
    Corrupt,
    CrashAt,
    DropFact,
    Evict,
    Expire,
    FailStore,
    Forget,
    Fork,
    HoldCopies,
    Kill,
    LosePower,
    Meanwhile,
    Override,
    Reopen,
    Rewind,
    Settle,
    Summariser,
    Switch,
    Task,
    Workers,
    Workload,
)

STEPS = 18
"""Steps of a walk at most."""
SHORTENING = 40
"""Walks that are played at most after the first that failed: the suite has a shortening of its own."""
SESSIONS = (("s", "u"), ("another", "u"), ("s", "somebody-else"))
"""Sessions, and whose they are."""
BRANCHES = ("main", "twig", "bough")
F = TypeVar("F", bound=Callable[..., Any])
Take: TypeAlias = Callable[[History, tuple[Judgement, ...]], None]


class Broken(AssertionError):  # noqa: N818 - says what it is about
    """A rule was broken in a walk. Each rule has a class of its own: Hypothesis tells failures apart by it."""


class Arena:
    """What every walk of one check has in common."""

    def __init__(self, loaded: Loaded, checkers: Sequence[Checker], *, seed: int, take: Take) -> None:
        self.loaded = loaded
        self.checkers = checkers
        self.seed = seed
        self.take = take
        self.description = loaded.describe()
        self.means = means_of(self.description)
        self.trouble: AdapterError | None = None
        """The adapter failed: no further walk is played."""
        self.count = 0
        self.failed_at: int | None = None
        """Which walk was the first to fail."""
        self._kinds: dict[str, type[Broken]] = {}

    @property
    def over(self) -> bool:
        """Whether no further walk is to be played."""
        spent = 0 if self.failed_at is None else self.count - self.failed_at
        return self.trouble is not None or spent > SHORTENING

    def judge(self, history: History) -> None:
        """Judge a walk, hand it on, and raise for the first rule that it breaks."""
        judgements = judge(self.checkers, history)
        self.take(history, judgements)
        for judgement in judgements:
            if judgement.failures:
                self.failed_at = self.count if self.failed_at is None else self.failed_at
                kind = self._kinds.setdefault(judgement.rule, type(f"Broken_{judgement.rule}", (Broken,), {}))
                raise kind(judgement.failures[0].sentence)


class Kept(ExampleDatabase):
    """The walks of one arena in a database that others share: other compactors, and other tests of Hypothesis'."""

    def __init__(self, within: ExampleDatabase, arena: Arena) -> None:
        super().__init__()
        self._within = within
        self._arena = arena
        # A walk that breaks one rule says nothing to a check that is asked for another.
        asked = "\n".join([arena.loaded.location, *sorted(checker.rule for checker in arena.checkers)])
        self._prefix = b"anchorhold:" + hashlib.sha256(asked.encode("utf-8", "surrogatepass")).digest()

    def save(self, key: bytes, value: bytes) -> None:
        """Keep a walk."""
        self._within.save(self._prefix + key, value)

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """All that are kept."""
        return self._within.fetch(self._prefix + key)

    def delete(self, key: bytes, value: bytes) -> None:
        """Forget one that no longer fails; not one that was not played any more."""
        if not self._arena.over:
            self._within.delete(self._prefix + key, value)


def walk(arena: Arena, *, walks: int, examples: Path | None = None) -> None:
    """Play so many walks, those first that failed before. Raises `AdapterError` where the adapter does not work.

    `examples`: the directory of a Hypothesis database in which walks that fail are kept; None keeps none.
    """
    limits = settings(
        max_examples=walks,
        stateful_step_count=STEPS,
        deadline=None,
        database=None if examples is None else Kept(DirectoryBasedExampleDatabase(examples), arena),
        phases=(Phase.reuse, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    # Whatever failed was handed on when it did; that it is not always so is told by playing it again.
    with contextlib.suppress(Broken, Flaky, ExceptionGroup):
        run_state_machine_as_test(seeded(arena.seed)(_machine(arena)), settings=limits)
    if arena.trouble is not None:
        raise arena.trouble


def _machine(arena: Arena) -> type[RuleBasedStateMachine]:
    """The machine over the operations that this compactor offers."""

    def offered(*means: str) -> Callable[[F], F]:
        found: Callable[[F], F] = precondition(lambda _machine: arena.means.issuperset(means))
        return found

    class Walk(RuleBasedStateMachine):
        """One walk."""

        def __init__(self) -> None:
            super().__init__()
            arena.count += 1
            self.player: Player | None = None
            self.said: list[Append] = []
            self.branches: dict[tuple[str, str], set[str]] = {each: {"main"} for each in SESSIONS}
            self.session = SESSIONS[0]

        @initialize(words=st.integers(0, 999))
        def begin(self, words: int) -> None:
            """Open a session, with turns in it. What they say is drawn too: a kept walk is the same with any seed."""
            if arena.over:
                return
            planter = Planter(f"walk:{words}")
            player = Player(arena.loaded.make(), arena.description, explicit=False)
            try:
                taken = player.open(ASKED_FOR)
            except AdapterError as error:
                arena.trouble = error
                return
            self.plan = Plan(planter=planter, taken=taken, points=arena.description.crash_points)
            self.player = player
            self.fill()

        def take(self, *steps: AnyStep) -> None:
            if self.player is None or arena.trouble is not None:
                return
            try:
                for step in steps:
                    self.player.take(step)
            except AdapterError as error:
                arena.trouble = error

        def turn(self, number: int) -> Append:
            return self.said[number % len(self.said)]

        @rule()
        def fill(self) -> None:
            if self.player is None:
                return
            told = self.plan.fill(*self.plan.facts(2))
            self.said.extend(append for append in told.turns[: self.plan.expected] if append.facts)
            self.take(told)

        @rule(again=st.booleans(), number=st.integers(0, 30))
        def say(self, again: bool, number: int) -> None:
            if self.player is None:
                return
            known = [fact for append in self.said for fact in append.facts if fact.subject is not None]
            fact = (
                self.plan.planter.again(known[number % len(known)]) if again and known else self.plan.planter.fact()
            )
            append = self.plan.planter.utter(fact.text, fact)
            self.said.append(append)
            self.take(append)

        @rule(mode=st.sampled_from(sorted(MODES)), times=st.sampled_from((None, 1, 2)))
        def summariser(self, mode: str, times: int | None) -> None:
            self.take(Summariser(mode=mode, times=times))

        @rule(until=st.integers(1, 3))
        def compact(self, until: int) -> None:
            self.take(Compact(until_idle=until))

        @precondition(lambda self: bool(self.said))
        @rule(number=st.integers(0, 30), evidence=st.booleans())
        def ask(self, number: int, evidence: bool) -> None:
            self.take(*(Ask(fact=fact, evidence=evidence) for fact in self.turn(number).facts))

        @offered("evict")
        @precondition(lambda self: bool(self.said))
        @rule(number=st.integers(0, 30))
        def evict(self, number: int) -> None:
            self.take(Evict(turn=self.turn(number).turn.id))

        @offered("tombstone")
        @precondition(lambda self: bool(self.said))
        @rule(number=st.integers(0, 30))
        def drop(self, number: int) -> None:
            append = self.turn(number)
            self.take(DropFact(fact=append.facts[0], turn=append.turn.id, reason="no longer needed"))

        @offered("reopen")
        @rule()
        def reopen(self) -> None:
            self.take(Reopen())

        @offered("crash")
        @rule(point=st.integers(0, 12))
        def crash(self, point: int) -> None:
            self.take(CrashAt(point=point))

        @offered("fail_store")
        @rule(point=st.integers(0, 12), fault=st.sampled_from(StoreFault))
        def fail_store(self, point: int, fault: StoreFault) -> None:
            self.take(FailStore(point=point, fault=fault))

        @offered("kill")
        @rule()
        def kill(self) -> None:
            self.take(Kill())

        @offered("lose_power")
        @rule()
        def lose_power(self) -> None:
            self.take(LosePower())

        @offered("corrupt")
        @precondition(lambda self: bool(self.said))
        @rule(number=st.integers(0, 30))
        def corrupt(self, number: int) -> None:
            self.take(Corrupt(turn=self.turn(number).turn.id))

        @offered("expire")
        @rule(seconds=st.sampled_from((60.0, 3600.0, 86_400.0)))
        def expire(self, seconds: float) -> None:
            self.take(Expire(seconds=seconds))

        @offered("clock")
        @rule(shift=st.sampled_from((-86_400.0, -3600.0, 3600.0, 86_400.0, 3.2e7)))
        def clock(self, shift: float) -> None:
            self.take(Clock(shift=shift))

        @offered("hold_copies", "settle")
        @rule(held=st.booleans())
        def copies(self, held: bool) -> None:
            self.take(HoldCopies(held=True) if held else Settle())

        @offered("override")
        @rule()
        def override(self) -> None:
            self.take(Override(reason="the caller accepts it"))

        @offered("clear")
        @rule()
        def clear(self) -> None:
            self.take(Clear())

        @offered("rewind")
        @precondition(lambda self: bool(self.said))
        @rule(number=st.integers(0, 30))
        def rewind(self, number: int) -> None:
            self.take(Rewind(turn=self.turn(number).turn.id))

        @offered("forget")
        @precondition(lambda self: bool(self.said))
        @rule(number=st.integers(0, 30))
        def forget(self, number: int) -> None:
            self.take(Forget(turn=self.turn(number).turn.id))

        @offered("fork", "switch")
        @rule(branch=st.sampled_from(BRANCHES[1:]))
        def fork(self, branch: str) -> None:
            if branch not in self.branches[self.session]:
                self.branches[self.session].add(branch)
                self.take(Fork(branch=branch))

        @offered("switch")
        @rule(to=st.sampled_from(SESSIONS), branch=st.sampled_from(BRANCHES))
        def switch(self, to: tuple[str, str], branch: str) -> None:
            if self.player is None:
                return
            # Who knows no users has one session of this name.
            if self.player.settings.user is None:
                to = (to[0], SESSIONS[0][1])
            if branch in self.branches[to]:
                self.session = to
                self.take(Switch(session=to[0], user=to[1], branch=branch))

        @offered("concurrency")
        @precondition(lambda self: bool(self.said))
        @rule(what=st.sampled_from(("append", "clear", "rewind", "forget", "compact")), number=st.integers(0, 30))
        def meanwhile(self, what: str, number: int) -> None:
            if self.player is None:
                return
            turn = self.turn(number).turn.id
            late = self.plan.planter.say(self.plan.planter.fact())
            steps: dict[str, AnyStep] = {
                "append": late,
                "clear": Clear(),
                "rewind": Rewind(turn=turn),
                "forget": Forget(turn=turn),
                "compact": Compact(),
            }
            needed = {"append": "append", "compact": "compact"}.get(what, what)
            if needed in arena.means:
                self.take(Meanwhile(steps=(steps[what], late) if what != "append" else (late,)), Compact())

        @offered("begin", "advance")
        @precondition(lambda self: bool(self.said))
        @rule(number=st.integers(0, 30), schedule=st.lists(st.sampled_from("abc"), max_size=12))
        def workers(self, number: int, schedule: list[str]) -> None:
            turn = self.turn(number).turn.id
            tasks = (
                Task(worker="a", op="compact"),
                Task(worker="b", op="evict", turn=turn),
                Task(worker="c", op="get", turn=turn),
            )
            self.take(Workers(tasks=tasks, schedule=tuple(schedule)))

        def teardown(self) -> None:
            player, self.player = self.player, None
            if player is None or arena.trouble is not None:
                return
            try:
                player.finish()
                player.close()
            except AdapterError as error:
                arena.trouble = error
                return
            arena.judge(
                history_of(
                    player,
                    Workload(name=f"walk-{arena.count}", aims=(), settings=ASKED_FOR),
                    description=arena.description,
                    location=arena.loaded.location,
                    seed=arena.seed,
                )
            )

    return Walk
