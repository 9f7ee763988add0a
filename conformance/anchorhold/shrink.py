"""Shortens a failing workload: the fewest operations, looks and words with which the same rule still fails.

Delta debugging, bounded by what it plays and not by time, so that the same failure is always shortened to the same
history. What is tried, in this order: nothing after the step at which it showed; a compactor that keeps fewer of the
newest turns as they are; without whole kinds of steps; no words but facts, and a smaller window, which fewer turns
fill; without ever smaller runs of steps; then, again and again until nothing helps any more, each step simpler or
gone, two turns as one, and two steps gone at once. A form that fails counts as the better one where it holds fewer
operations (`anchorhold.operations`), or as many and fewer looks, steps or words.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

import msgspec

from anchorhold.compactor import Settings
from anchorhold.looks import OBSERVATIONS
from anchorhold.operations import looks, operations
from anchorhold.selection import weight
from anchorhold.simpler import ASKED_BY, merged, simpler, told
from anchorhold.verdict import Failure, History
from anchorhold.workload import AnyStep, Append, Ask, Meanwhile, Probe, Workload

WINDOWS = (15, 30, 60, 120, 300, 600)
"""Budgets of a window to try instead of a larger one, the smallest first: what one or two turns fill, and so on."""
OPENING = 25
"""What each run costs besides the operations that are played: a session is opened, and its history judged."""
FEW = 16
"""Steps of which also every two are left out together."""

Size: TypeAlias = tuple[int, int, int, int, int]
"""Operations, looks, steps, ways of looking and asking, and characters of the workload: what is to be as little as
possible, the first first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """A history in which a rule is broken."""

    history: History
    failure: Failure

    @property
    def workload(self) -> Workload:
        """The explicit workload that was played."""
        return self.history.header.workload

    @property
    def size(self) -> Size:
        """How much there is to follow."""
        played = self.workload
        ways = sum(
            len(step.only or (OBSERVATIONS if isinstance(step, Probe) else ASKED_BY))
            for step in unfolded(played.steps)
            if isinstance(step, Probe | Ask)
        )
        return operations(self.history), looks(self.history), len(played.steps), ways, len(_key(played))


Attempt = Callable[[Workload], Failing | None]
"""Plays a workload; answers with what failed, or none where the rule did not fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """What became of it."""

    failing: Failing
    spent: int
    """Of the effort that was allowed."""
    exhausted: bool
    """Whether that was used up while there was more to try."""


def shrink(
    failing: Failing,
    *,
    attempt: Attempt,
    effort: int,
    tried: Callable[[int, int], None] = lambda _spent, _steps: None,
) -> Shrunk:
    """Shorten. `effort`: operations that may be played, about, with `OPENING` for each run.

    `tried` is told after each run how much of it is spent, and how many steps are left. Whatever else than `Enough`
    the attempt raises is passed on.
    """
    work = _Work(failing, attempt, effort, tried)
    try:
        work.cut()
        work.keep_less()
        work.without_kinds(Ask, Probe)
        work.smaller()
        work.without_kinds(*dict.fromkeys(type(step) for step in work.steps))
        work.without_runs()
        before = None
        while before != work.best.size:
            before = work.best.size
            work.keep_less()
            work.smaller()
            work.simplify()
            work.merge()
            work.without_runs(most=2)
            if before == work.best.size:
                work.without_pairs()
    except Enough:
        return Shrunk(failing=work.best, spent=work.spent, exhausted=True)
    return Shrunk(failing=work.best, spent=work.spent, exhausted=False)


class Enough(Exception):  # noqa: N818 - not an error
    """Shortening ends here, with the best that was found. An attempt may raise it."""


class _Work:
    """The best so far, and the effort that is left."""

    def __init__(self, failing: Failing, attempt: Attempt, effort: int, tried: Callable[[int, int], None]) -> None:
        self.best = failing
        self.spent = 0
        self._attempt = attempt
        self._effort = effort
        self._tried = tried
        self._seen: set[bytes] = {_key(failing.workload)}

    @property
    def steps(self) -> tuple[AnyStep, ...]:
        return self.best.workload.steps

    def cut(self) -> None:
        """Leave out what came after the event at which it showed."""
        at = self.best.history.events[self.best.failure.event].step
        self._try(self.steps[: at + 1])

    def keep_less(self) -> None:
        """Let the compactor keep no more than the newest turn as it is, where it can be told so."""
        before = self.best
        if self._try(self.steps, settings=replace(before.workload.settings, keep=1), as_good=True):
            # Who cannot be told answers so, and the history is not to say that it was.
            self.best = self.best if self.best.history.header.settings.keep == 1 else before

    def smaller(self) -> None:
        """Say less, and open the session with less room, so that fewer turns lead to a compaction.

        In all turns at once: without the words around the facts, and without facts that the failure does not name.
        """
        named = self.best.failure.fact
        settings = self.best.workload.settings
        budgets = (budget for budget in WINDOWS if settings.budget is not None and budget < settings.budget)
        rooms = [*(replace(settings, budget=budget) for budget in budgets), settings]
        less: tuple[tuple[AnyStep, ...], ...] = (
            tuple(told(step, lambda fact: named in (fact.text, fact.literal)) for step in self.steps),
            tuple(told(step, lambda _fact: True) for step in self.steps),
            self.steps,
        )
        # The first that fails is the best of them: no window is smaller with as few words.
        any(self._try(steps, settings=room, as_good=True) for steps in dict.fromkeys(less) for room in rooms)

    def without_kinds(self, *kinds: type[AnyStep]) -> None:
        """Leave out all steps of one kind; looking around and asking make up most of a workload."""
        for kind in kinds:
            self._try(tuple(step for step in self.steps if not isinstance(step, kind)))

    def without_runs(self, *, most: int | None = None) -> None:
        """Leave out runs of steps, from long ones to single ones, from the end to the beginning."""
        size = max(1, len(self.steps) // 2 if most is None else most)
        while size:
            end = len(self.steps)
            while end > 0:
                start = max(0, end - size)
                self._try(self.steps[:start] + self.steps[end:])
                end = min(start, len(self.steps))
            size //= 2

    def without_pairs(self) -> None:
        """Leave out two steps at once, wherever they stand: each may be there for the other's sake."""
        if len(self.steps) > FEW:
            return
        for one, other in combinations(range(len(self.steps)), 2):
            left = tuple(step for at, step in enumerate(self.steps) if at not in (one, other))
            if self._try(left):
                return

    def simplify(self) -> None:
        """Make single steps simpler, as far as it goes."""
        number = 0
        while number < len(self.steps):
            forms = simpler(self.steps[number])
            if not any(self._try((*self.steps[:number], *form, *self.steps[number + 1 :])) for form in forms):
                number += 1

    def merge(self) -> None:
        """Let one turn say what two do: where it is room that they fill, one will do."""
        at = 0
        while at < len(self.steps):
            following = next((n for n in range(at + 1, len(self.steps)) if isinstance(self.steps[n], Append)), None)
            if following is None:
                return
            first, second = self.steps[at], self.steps[following]
            one = merged(first, second) if isinstance(first, Append) and isinstance(second, Append) else None
            if one is not None and self._try(
                (*self.steps[:at], one, *self.steps[at + 1 : following], *self.steps[following + 1 :])
            ):
                continue
            at += 1

    def _try(self, steps: tuple[AnyStep, ...], *, settings: Settings | None = None, as_good: bool = False) -> bool:
        """Take these steps where the rule fails with them and they are better.

        `as_good`: or hold no more operations. In a smaller window more is compacted, and there is more to look at,
        until there are fewer turns.
        """
        steps = paired(steps, before=pairs(self.steps))
        before = self.best.workload
        workload = msgspec.structs.replace(before, steps=steps, settings=settings or before.settings)
        key = _key(workload)
        if not steps or key in self._seen:
            return False
        cost = OPENING + weight(workload)
        if self.spent + cost > self._effort:
            raise Enough
        self._seen.add(key)
        self.spent += cost
        failing = self._attempt(workload)
        taken = failing is not None and (
            failing.size < self.best.size or (as_good and failing.size[0] <= self.best.size[0])
        )
        if failing is not None and taken:
            self.best = failing
        self._tried(self.spent, len(self.steps))
        if taken:
            self.cut()
        return taken


def pairs(steps: tuple[AnyStep, ...]) -> frozenset[str]:
    """Ids of the calls that are followed by their result."""
    calls: set[str] = set()
    answered: set[str] = set()
    for step in unfolded(steps):
        if isinstance(step, Append):
            calls.update(call.id for call in step.turn.calls)
            if step.turn.result_of in calls:
                answered.add(step.turn.result_of or "")
    return frozenset(answered)


def unfolded(steps: tuple[AnyStep, ...]) -> Iterator[AnyStep]:
    """The steps, and those that are taken inside them."""
    for step in steps:
        yield step
        if isinstance(step, Meanwhile):
            yield from unfolded(step.steps)


def paired(steps: tuple[AnyStep, ...], *, before: frozenset[str]) -> tuple[AnyStep, ...]:
    """The steps without halves of what was a pair of call and result before.

    A compactor that is confused by half of a pair breaks no rule that it was caught at with the whole one.
    """
    broken = before - pairs(steps)

    def half(step: AnyStep) -> bool:
        if not isinstance(step, Append):
            return False
        turn = step.turn
        return turn.result_of in broken or any(call.id in broken for call in turn.calls)

    def whole(step: AnyStep) -> AnyStep:
        return Meanwhile(steps=tuple(s for s in step.steps if not half(s))) if isinstance(step, Meanwhile) else step

    return tuple(whole(step) for step in steps if not half(step)) if broken else steps


def _key(workload: Workload) -> bytes:
    return msgspec.json.encode((workload.settings, workload.steps))


def cut(failing: Failing) -> History:
    """The history without what came after the step at which the failure showed; nothing is played again."""
    history = failing.history
    at = history.events[failing.failure.event].step
    events = tuple(event for event in history.events if event.step <= at)
    workload = msgspec.structs.replace(history.header.workload, steps=history.header.workload.steps[: at + 1])
    header = msgspec.structs.replace(history.header, workload=workload, length=len(events))
    return History(header=header, events=events)
