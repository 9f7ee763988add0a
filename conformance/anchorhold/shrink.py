"""Shortens a failing workload: the fewest steps, planted facts and words with which the same rule still fails.

Delta debugging, bounded by a number of runs and not by time, so that the same failure is always shortened to the
same history. What is tried, in this order: nothing after the step at which it showed; a smaller window, which fewer
turns fill; without whole kinds of steps; without ever smaller runs of steps; no facts but the one that was lost, and
no words but facts; each observation by fewer operations; each turn with fewer facts and words. Steps go before words:
it is the steps that somebody has to follow, and where turns are short it takes more of them to fill a window.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import msgspec

from anchorhold.compactor import Settings
from anchorhold.history import EventType
from anchorhold.looks import OBSERVATIONS
from anchorhold.planting import ARGUMENT
from anchorhold.verdict import Failure, History
from anchorhold.workload import AnyStep, Append, Ask, Compact, Meanwhile, Probe, Summariser, Workers, Workload
from anchorhold_spec.vocabulary import Fact

WINDOWS = (60, 120, 300, 600)
"""Budgets of a window to try instead of a larger one, the smallest first: what one or two turns fill, and so on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """A history in which a rule is broken."""

    history: History
    failure: Failure

    @property
    def workload(self) -> Workload:
        """The explicit workload that was played."""
        return self.history.header.workload


Attempt = Callable[[Workload], Failing | None]
"""Plays a workload; answers with what failed, or none where the rule did not fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """What became of it."""

    failing: Failing
    runs: int
    exhausted: bool
    """Whether the runs were used up while there was more to try."""


def shrink(
    failing: Failing, *, attempt: Attempt, runs: int, tried: Callable[[int, int], None] = lambda _run, _steps: None
) -> Shrunk:
    """Shorten; `tried` is told after each run how many there were and how many steps are left.

    Whatever else than `Enough` the attempt raises is passed on.
    """
    work = _Work(failing, attempt, runs, tried)
    try:
        work.cut()
        work.smaller_window()
        work.without_kinds()
        work.without_runs()
        work.without_words()
        while work.simplify():
            work.without_runs(smallest_only=True)
    except Enough:
        return Shrunk(failing=work.best, runs=work.spent, exhausted=True)
    return Shrunk(failing=work.best, runs=work.spent, exhausted=False)


class Enough(Exception):  # noqa: N818 - not an error
    """Shortening ends here, with the best that was found. An attempt may raise it."""


class _Work:
    """The best so far, and the runs that are left."""

    def __init__(self, failing: Failing, attempt: Attempt, runs: int, tried: Callable[[int, int], None]) -> None:
        self.best = failing
        self.spent = 0
        self._attempt = attempt
        self._runs = runs
        self._tried = tried
        self._seen: set[bytes] = {_key(failing.workload)}

    @property
    def steps(self) -> tuple[AnyStep, ...]:
        return self.best.workload.steps

    def cut(self) -> None:
        """Leave out what came after the event at which it showed."""
        at = self.best.history.events[self.best.failure.event].step
        self._try(self.steps[: at + 1])

    def smaller_window(self) -> None:
        """Open the session with less room, so that fewer turns lead to a compaction."""
        settings = self.best.workload.settings
        smaller = (budget for budget in WINDOWS if settings.budget is not None and budget < settings.budget)
        any(self._try(self.steps, settings=replace(settings, budget=budget)) for budget in smaller)

    def without_kinds(self) -> None:
        """Leave out all steps of one kind; looking around and asking make up most of a workload."""
        for kind in (Ask, Probe, *dict.fromkeys(type(step) for step in self.steps)):
            self._try(tuple(step for step in self.steps if not isinstance(step, kind)))

    def without_words(self) -> None:
        """Leave out, in all turns at once, the words around the facts, and facts that the failure does not name."""
        named = self.best.failure.fact

        def told(keep: Callable[[Fact], bool]) -> tuple[AnyStep, ...]:
            def less(step: AnyStep) -> AnyStep:
                if isinstance(step, Meanwhile):
                    return Meanwhile(steps=tuple(map(less, step.steps)))
                if isinstance(step, Append) and step.turn.text is not None:
                    return _bare(step, tuple(fact for fact in step.facts if keep(fact)))
                return step

            return tuple(map(less, self.steps))

        if not self._try(told(lambda fact: named in (fact.text, fact.literal))):
            self._try(told(lambda _fact: True))

    def without_runs(self, *, smallest_only: bool = False) -> None:
        """Leave out runs of steps, from long ones to single ones, from the end to the beginning."""
        size = 1 if smallest_only else max(1, len(self.steps) // 2)
        # How many turns fill a window does not change with what is looked at: where a pass could leave no turn out,
        # trying each turn again in the next would be most of the runs, and in vain.
        turns_too = not smallest_only
        while True:
            before, turns_before = len(self.steps), self._turns
            end = before
            while end > 0:
                start = max(0, end - size)
                if size > 1 or turns_too or not isinstance(self.steps[start], Append):
                    self._try(self.steps[:start] + self.steps[end:])
                end = min(start, len(self.steps))
            if size > 1:
                size //= 2
                continue
            turns_too = self._turns < turns_before
            if len(self.steps) == before:
                return

    @property
    def _turns(self) -> int:
        return sum(1 for step in self.steps if isinstance(step, Append))

    def simplify(self) -> bool:
        """Make single steps simpler; true where any became so."""
        simpler = False
        for number in range(len(self.steps)):
            for candidate in _simpler(self.steps[number]) if number < len(self.steps) else ():
                # Steps are exchanged here and hardly ever left out, so the number stays that of the same step.
                if self._try((*self.steps[:number], candidate, *self.steps[number + 1 :])):
                    simpler = True
                    break
        return simpler

    def _try(self, steps: tuple[AnyStep, ...], *, settings: Settings | None = None) -> bool:
        steps = paired(steps, before=pairs(self.steps))
        before = self.best.workload
        workload = msgspec.structs.replace(before, steps=steps, settings=settings or before.settings)
        key = _key(workload)
        if not steps or key in self._seen:
            return False
        if self.spent >= self._runs:
            raise Enough
        self._seen.add(key)
        self.spent += 1
        failing = self._attempt(workload)
        if failing is not None:
            self.best = failing
        self._tried(self.spent, len(self.steps))
        return failing is not None


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


def _simpler(step: AnyStep) -> Iterator[AnyStep]:
    """Simpler forms of a step, the simplest first."""
    if isinstance(step, Probe):
        current = step.only or OBSERVATIONS
        if len(current) > 1:
            yield from (Probe(only=(one,)) for one in current)
            yield from (Probe(only=tuple(op for op in current if op != without)) for without in current)
    elif isinstance(step, Compact) and step.until_idle > 1:
        yield Compact()
    elif isinstance(step, Summariser) and step.times is not None:
        yield Summariser(mode=step.mode)
    elif isinstance(step, Ask) and step.evidence:
        yield Ask(fact=step.fact)
    elif isinstance(step, Meanwhile):
        yield from _simpler_meanwhile(step)
    elif isinstance(step, Workers):
        yield from _simpler_workers(step)
    elif isinstance(step, Append):
        yield from _simpler_turns(step)


def _simpler_meanwhile(step: Meanwhile) -> Iterator[Meanwhile]:
    """One inner step less, or one simpler; without inner steps it is no step at all, and left out elsewhere."""
    inner = step.steps
    if len(inner) > 1:
        yield from (Meanwhile(steps=(*inner[:at], *inner[at + 1 :])) for at in range(len(inner)))
    for at, each in enumerate(inner):
        yield from (Meanwhile(steps=(*inner[:at], less, *inner[at + 1 :])) for less in _simpler(each))


def _simpler_workers(step: Workers) -> Iterator[Workers]:
    """One worker less, or a shorter schedule."""
    if len(step.tasks) > 1:
        for task in step.tasks:
            yield Workers(
                tasks=tuple(other for other in step.tasks if other is not task),
                schedule=tuple(name for name in step.schedule if name != task.worker),
            )
    for at in reversed(range(len(step.schedule))):
        yield Workers(tasks=step.tasks, schedule=(*step.schedule[:at], *step.schedule[at + 1 :]))


def _simpler_turns(step: Append) -> Iterator[Append]:
    if step.turn.text is None:
        if step.facts:
            yield Append(turn=step.turn)
        return
    if step.facts:
        yield _bare(step, ())
    if len(step.facts) > 1:
        yield from (_bare(step, (fact,)) for fact in step.facts)
    bare = _bare(step, step.facts)
    if len(bare.turn.text or "") < len(step.turn.text):
        yield bare


def _bare(step: Append, facts: tuple[Fact, ...]) -> Append:
    """The turn with nothing but these facts; its id keeps its words apart from every other turn's."""
    kept = tuple(fact for fact in step.facts if fact in facts)
    # What a call's arguments hold is not said beside it.
    said = " ".join(fact.text for fact in kept if fact.kind != ARGUMENT) or f"Go on ({step.turn.id})."
    return Append(turn=replace(step.turn, text=said), facts=kept)


def cut(failing: Failing) -> History:
    """The history without what came after the step at which the failure showed; nothing is played again."""
    history = failing.history
    at = history.events[failing.failure.event].step
    events = tuple(event for event in history.events if event.step <= at)
    workload = msgspec.structs.replace(history.header.workload, steps=history.header.workload.steps[: at + 1])
    header = msgspec.structs.replace(history.header, workload=workload, length=len(events))
    return History(header=header, events=events)


def operations(history: History) -> int:
    """How many operations a history holds, those of the summariser left out."""
    return sum(1 for e in history.events if e.type is EventType.INVOKE and e.op not in ("summarise", "note", "open"))
