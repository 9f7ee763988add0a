"""Every order in which workers can take their steps, tried on the real code.

`explore` runs the same workers again and again, from the same beginning, each time in another order (stateless model
checking): all orders, or, reduced, one of each class of orders that differ only in the order of steps that do not
touch the same things.

Why the reduction misses nothing. Two steps of different workers that follow each other, of which neither writes what
the other reads or writes, can change places: each finds what it found before and leaves what it left, so the state
after both, and everything that any worker was told, is the same. Orders that such changes lead into each other form a
class, and one run stands for it. Which runs are needed is found by source sets with sleep sets (Abdulla, Aronis,
Jonsson, Sagonas, "Optimal dynamic partial order reduction", POPL 2014): wherever two steps that touch the same thing
raced in a run, one more run has them the other way round. That no class was left out is checked by counting: the
orders within the classes that were run (linear extensions, counted exactly) are added up, and where no worker ever
had to wait they have to be as many as combinatorics says: see `Exploration.combinatorial`.

    from anchorhold_reference.faults.interleave import explore
    from anchorhold_reference.faults.scene import Scene

    with Scene(prepare=fill, workers={"compactor": lambda t: t.compact(), "reader": lambda t: t.live()}) as scene:
        found = explore(scene.begin, visit=check)  # check(run) raises where something is wrong
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb, factorial, prod
from random import Random
from typing import Protocol, TypeVar

from anchorhold_reference.faults.stepping import LOCK, RIGHT, Footprint, Step


class Run(Protocol):
    """Workers under way, from their common beginning."""

    def unfinished(self) -> tuple[str, ...]:
        """Workers that have steps left, in an order that is always the same."""
        ...

    def enabled(self) -> tuple[str, ...]:
        """Those of them that need not wait for another one."""
        ...

    def step(self, worker: str) -> Step:
        """Let one take a step."""
        ...

    @property
    def steps(self) -> Sequence[Step]:
        """The steps so far, with what is known by now of what they touched."""
        ...

    def close(self) -> None:
        """End what is under way, and leave nothing."""
        ...


class DeadlockError(AssertionError):
    """Workers have steps left, and each waits for another one."""

    def __init__(self, schedule: Sequence[str], waiting: Sequence[str]) -> None:
        super().__init__(f"after {' '.join(schedule)}: {', '.join(waiting)} wait for each other")
        self.schedule = tuple(schedule)


@dataclass(slots=True)
class _Node:
    """A state on the way, as far as the search has come there."""

    unfinished: tuple[str, ...]
    enabled: tuple[str, ...]
    wanted: set[str]
    """Workers that are to take the next step from here, in one run or another."""
    asleep: dict[str, Footprint]
    """Workers whose next step was tried from here, or need not be, and what that step touches."""
    chosen: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """What of one run decides which others are of its class: for each step of each worker, how many steps of every
    worker have to come before it."""

    needs: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many steps each worker took."""
        return tuple(len(own) for own in self.needs)

    def extensions(self, lengths: Sequence[int] | None = None) -> int:
        """How many orders the class has; with `lengths`, when each worker idles after its end until it has had so
        many turns."""
        upto = tuple(self.lengths if lengths is None else lengths)
        ways: dict[tuple[int, ...], int] = {(0,) * len(upto): 1}
        for _ in range(sum(upto)):
            following: dict[tuple[int, ...], int] = {}
            for taken, count in ways.items():
                for i, own in enumerate(self.needs):
                    at = taken[i]
                    if at == upto[i] or (at < len(own) and any(n > t for n, t in zip(own[at], taken, strict=True))):
                        continue
                    after = (*taken[:i], at + 1, *taken[i + 1 :])
                    following[after] = following.get(after, 0) + count
            ways = following
        return sum(ways.values())


@dataclass(slots=True)
class Exploration:
    """What was tried, so far."""

    workers: tuple[str, ...]
    runs: int = 0
    """Complete ones."""
    broken_off: int = 0
    """Runs that were ended early, as every way on had been tried."""
    waited: bool = False
    """Somebody had to wait for another worker somewhere."""
    orders: dict[Order, int] = field(default_factory=dict)
    """Each class that was run, with in how many runs."""

    @property
    def classes(self) -> int:
        """Orders after reduction: no two of them have the same steps that touch the same things in the same order."""
        return len(self.orders)

    @property
    def schedules(self) -> int:
        """Orders before reduction: all those within the classes."""
        return sum(order.extensions() for order in self.orders)

    @property
    def longest(self) -> tuple[int, ...]:
        """The most steps of each worker in any order."""
        return tuple(max(each) for each in zip(*(order.lengths for order in self.orders), strict=True))

    @property
    def steps_vary(self) -> bool:
        """How many steps a worker takes depends on the order."""
        return any(order.lengths != self.longest for order in self.orders)

    @property
    def combinatorial(self) -> int:
        """In how many orders `longest` turns can be had: the multinomial coefficient."""
        return factorial(sum(self.longest)) // prod(factorial(n) for n in self.longest)

    @property
    def padded(self) -> int:
        """Orders before reduction, where each worker idles after its end until it has had its `longest` turns: equal
        to `combinatorial`, unless a class is missing, was counted twice, or somebody had to wait. Where `steps_vary`
        is false it is `schedules`."""
        return sum(order.extensions(self.longest) for order in self.orders)


_R = TypeVar("_R", bound=Run)


def explore(begin: Callable[[], _R], *, visit: Callable[[_R], None], reduced: bool = True) -> Exploration:
    """Run every order, or one of each class, depth first; `begin` makes a run, always from the same state, and
    `visit` looks at each one that is over, and raises where something is wrong. Raises `DeadlockError`."""
    path: list[_Node] = []
    found: Exploration | None = None
    while True:
        run = begin()
        try:
            if found is None:
                found = Exploration(run.unfinished())
            replayed = len(path)
            for node in path:
                run.step(node.chosen)
            over = _go_on(run, path, reduced=reduced)
            found.waited |= any(node.enabled != node.unfinished for node in path)
            steps = list(run.steps)
            if over:
                visit(run)
                found.runs += 1
                order = _order(steps, found.workers)
                found.orders[order] = found.orders.get(order, 0) + 1
            else:
                found.broken_off += 1
        finally:
            run.close()
        if reduced:
            _want_reversals(steps, path, since=max(0, replayed - 1))
        if not _turn_back(path, steps, reduced=reduced):
            return found


def _go_on(run: Run, path: list[_Node], *, reduced: bool) -> bool:
    """On from the path's end until all is done; false where every way on was tried before."""
    while unfinished := run.unfinished():
        enabled = run.enabled()
        if not enabled:
            raise DeadlockError([node.chosen for node in path], unfinished)
        asleep: dict[str, Footprint] = {}
        if reduced and path:
            touched = run.steps[-1].footprint
            before = path[-1]
            asleep = {
                worker: own
                for worker, own in before.asleep.items()
                if worker != before.chosen and not own.conflicts(touched)
            }
        awake = [worker for worker in enabled if worker not in asleep]
        if not awake:
            return False
        # The worker that went last goes on where it can: switches come late, so the first failure has few of them.
        last = path[-1].chosen if path else ""
        chosen = last if last in awake else awake[0]
        path.append(_Node(unfinished, enabled, {chosen} if reduced else set(enabled), asleep, chosen))
        run.step(chosen)
    return True


def _turn_back(path: list[_Node], steps: Sequence[Step], *, reduced: bool) -> bool:
    """Back to the last state from which there is another way to try, and onto that; false where there is none."""
    while path:
        node = path[-1]
        node.wanted.discard(node.chosen)
        if reduced:
            node.asleep[node.chosen] = steps[len(path) - 1].footprint
        left = [worker for worker in node.enabled if worker in node.wanted and worker not in node.asleep]
        if left:
            node.chosen = left[0]
            return True
        path.pop()
    return False


def _pasts(steps: Sequence[Step]) -> tuple[list[int], list[list[int]]]:
    """For each step, those that have to come before it, as bits; and those with which it raced: they touch the same
    thing, and nothing in between says which comes first."""
    pasts: list[int] = []
    races: list[list[int]] = []
    latest: dict[str, int] = {}
    for i, step in enumerate(steps):
        past = 0
        own = latest.get(step.worker)
        if own is not None:
            past = pasts[own] | 1 << own
        raced = []
        for j in range(i - 1, -1, -1):
            if not past >> j & 1 and step.footprint.conflicts(steps[j].footprint):
                raced.append(j)
                past |= pasts[j] | 1 << j
        pasts.append(past)
        races.append(raced)
        latest[step.worker] = i
    return pasts, races


def _want_reversals(steps: Sequence[Step], path: Sequence[_Node], *, since: int) -> None:
    """Wherever two steps raced, want a run in which the later one comes first (source sets)."""
    pasts, races = _pasts(steps)
    for i in range(since, len(steps)):
        for raced in races[i]:
            begins, later = steps[raced].begins, steps[i].footprint
            # Who waits for a transaction's end can only come before its beginning.
            waits = begins is not None and (later.whole or RIGHT in later.reads or LOCK in later.writes)
            if begins is not None and waits:
                _want(steps, pasts, path[begins], begins, i)
            if not waits or later.whole:
                _want(steps, pasts, path[raced], raced, i)


def _want(steps: Sequence[Step], pasts: Sequence[int], node: _Node, j: int, i: int) -> None:
    """Want, from the state before step j, a run in which step i comes without it."""
    apart = [k for k in range(j + 1, i) if not pasts[k] >> j & 1]
    first: dict[str, int] = {}
    for k in [*apart, i]:
        first.setdefault(steps[k].worker, k)
    within = sum(1 << k for k in apart)
    initials = [worker for worker, k in first.items() if not pasts[k] & within]
    if not any(worker in node.wanted or worker in node.asleep for worker in initials):
        able = [worker for worker in initials if worker in node.enabled]
        node.wanted.update(able[:1] or node.enabled)


def _order(steps: Sequence[Step], workers: Sequence[str]) -> Order:
    pasts, _ = _pasts(steps)
    needs: dict[str, list[tuple[int, ...]]] = {worker: [] for worker in workers}
    index: list[tuple[str, int]] = []
    for i, step in enumerate(steps):
        before = dict.fromkeys(workers, 0)
        for j in range(i):
            if pasts[i] >> j & 1:
                worker, n = index[j]
                before[worker] = max(before[worker], n)
        index.append((step.worker, len(needs[step.worker]) + 1))
        needs[step.worker].append(tuple(before[worker] for worker in workers))
    return Order(tuple(tuple(needs[worker]) for worker in workers))


def replay(begin: Callable[[], _R], schedule: Sequence[str], *, visit: Callable[[_R], None]) -> tuple[str, ...]:
    """Run one order; where it names a worker that is done or has to wait, or has ended, the first who can goes on.
    Answers with the order as it was run. Raises `DeadlockError`."""
    return _drive(begin, iter(schedule), visit)


def wander(begin: Callable[[], _R], *, visit: Callable[[_R], None], runs: int, seed: int) -> set[tuple[str, ...]]:
    """Run orders drawn at random; answers with those that were run."""
    drawn = Random(seed)  # noqa: S311 - not for secrets
    return {_drive(begin, None, visit, drawn) for _ in range(runs)}


def _drive(
    begin: Callable[[], _R], names: Iterator[str] | None, visit: Callable[[_R], None], drawn: Random | None = None
) -> tuple[str, ...]:
    run = begin()
    taken: list[str] = []
    try:
        while unfinished := run.unfinished():
            enabled = run.enabled()
            if not enabled:
                raise DeadlockError(taken, unfinished)
            if drawn is not None:
                chosen = drawn.choice(enabled)
            else:
                wished = next(names, None) if names is not None else None
                chosen = wished if wished in enabled else enabled[0]
            run.step(chosen)
            taken.append(chosen)
        visit(run)
    finally:
        run.close()
    return tuple(taken)


def shorten(schedule: Sequence[str], fails: Callable[[Sequence[str]], bool]) -> tuple[str, ...]:
    """An order that fails, with as few switches between workers as can be had by letting one go on for longer.

    `fails` is asked of each attempt, which `replay` may complete.
    """
    blocks = _blocks(schedule)
    improved = True
    while improved:
        improved = False
        for i in range(len(blocks) - 1):
            for j in range(i + 1, len(blocks)):
                if blocks[j][0] != blocks[i][0]:
                    continue
                # Both of this worker's turns at once: first as early, then as late as one of them was.
                joined = (blocks[i][0], blocks[i][1] + blocks[j][1])
                early = [*blocks[:i], joined, *blocks[i + 1 : j], *blocks[j + 1 :]]
                late = [*blocks[:i], *blocks[i + 1 : j], joined, *blocks[j + 1 :]]
                for attempt in (early, late):
                    names = [name for name, n in attempt for _ in range(n)]
                    if len(_blocks(names)) < len(blocks) and fails(names):
                        blocks, improved = _blocks(names), True
                        break
                if improved:
                    break
            if improved:
                break
    return tuple(name for name, n in blocks for _ in range(n))


def switches(schedule: Sequence[str]) -> int:
    """How often another worker goes on than the one before."""
    return max(0, len(_blocks(schedule)) - 1)


def _blocks(schedule: Sequence[str]) -> list[tuple[str, int]]:
    blocks: list[tuple[str, int]] = []
    for name in schedule:
        if blocks and blocks[-1][0] == name:
            blocks[-1] = (name, blocks[-1][1] + 1)
        else:
            blocks.append((name, 1))
    return blocks


def multinomial(counts: Mapping[str, int]) -> int:
    """In how many orders that many turns can be had."""
    ways, total = 1, 0
    for n in counts.values():
        total += n
        ways *= comb(total, n)
    return ways
