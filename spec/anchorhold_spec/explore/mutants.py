"""All mutants of a machine at one size, searched together.

A mutant differs from its machine in one action, and reaches mostly the same states. So what follows from a state by
the whole machine, and what is broken there, is worked out once for all of them; for each mutant only the one action
is run again, with its guard left out. The code is that of `generate`, not compiled: the instances that guards are
tried at have hundreds or thousands of states, and compiling takes longer than all of their mutants together. A
mutant that proves to be large is compiled after all; all large ones share one compilation, which is kept on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from anchorhold_spec.explore import jit
from anchorhold_spec.explore.api import Engine, Exploration, explore
from anchorhold_spec.explore.found import Path, trace_of
from anchorhold_spec.explore.generate import near_misses
from anchorhold_spec.explore.layout import Packed
from anchorhold_spec.explore.load import load_plain, load_text
from anchorhold_spec.explore.prepare import prepare
from anchorhold_spec.explore.uncompiled import Grid
from anchorhold_spec.language import Invariant, Machine, Progress, Transition
from anchorhold_spec.run import GaveUp, GuardId, Survey, Violation

LOOK = 30_000
"""States of one mutant that are gone through before compiling is worth it: about as many seconds as it takes."""

WITHOUT_COMPILER = 300_000
"""The same where there is no compiler: after that, no answer."""


@dataclass(frozen=True)
class FastMutantExplorer:
    """Takes the place of the plain one (see `run.MutantExplorer`)."""

    limit: int | None = None
    """Most states of one mutant; none: what memory holds."""
    look: int = LOOK
    """States of one mutant that are gone through without compiling."""
    _families: dict[tuple[int, tuple[tuple[str, int], ...]], _Family] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __call__(
        self, machine: Machine, *, dropped: Sequence[GuardId], sizes: Mapping[str, int] | None = None
    ) -> Mapping[GuardId, Violation | None]:
        """See `run.MutantExplorer`. Raises GaveUp past `limit` states, or where memory ran out."""
        family = self._family(machine, sizes)
        compiler = jit.available()
        look = min(self.look if compiler else WITHOUT_COMPILER, self.limit or WITHOUT_COMPILER)
        found: dict[GuardId, Violation | None] = {}
        for guard in dropped:
            try:
                found[guard] = family.violation_without(guard, limit=look)
            except _TooLarge:
                if not compiler or look == self.limit:
                    raise GaveUp(_gave_up(machine, guard, look)) from None
                found[guard] = _compiled(machine, guard, sizes, self.limit)
        return found

    def sound(self, machine: Machine, *, sizes: Mapping[str, int] | None = None) -> bool:
        """No rule is broken with every guard in place. False also where that is too large to tell here.

        What is seen on the way is kept for the mutants.
        """
        return self._family(machine, sizes).sound(limit=min(self.look, self.limit or self.look))

    def _family(self, machine: Machine, sizes: Mapping[str, int] | None) -> _Family:
        # A family keeps its machine, so that no other can get the number that this one has.
        place = (id(machine), tuple(sorted((sizes or {}).items())))
        if place not in self._families:
            self._families[place] = _Family(machine, sizes)
        return self._families[place]


def fast_survey(
    machine: Machine, *, sizes: Mapping[str, int] | None, limit: int, steps: Sequence[Transition] = ()
) -> Survey:
    """See `run.Surveyor`: without compiling as long as it is small."""
    compiler = jit.available()
    look = min(LOOK if compiler else WITHOUT_COMPILER, limit)
    # Whoever looks for something wants all of it, so that nothing that is found ends the search.
    studied = replace(machine, transitions=(*machine.transitions, *steps))
    going = bool(steps)
    found = explore(studied, sizes=sizes, engine=Engine.UNCOMPILED, limit=look, keep_going=going)
    if found.stopped and compiler and look < limit:
        found = explore(studied, sizes=sizes, engine=Engine.COMPILED, limit=limit, keep_going=going)
    return survey_of(machine, found)


def survey_of(machine: Machine, found: Exploration) -> Survey:
    """An exploration as a survey: there, what can not end is no broken rule but an answer of its own."""
    progress = {each.name for each in machine.progress}
    own = {each.name for each in machine.invariants} | {each.name for each in machine.transitions}
    broken = [each for each in found.violations if each.property in own]
    looked_for = [each.property for each in found.violations if each.property not in own | progress]
    return Survey(
        states=found.states,
        complete=found.complete,
        violation=broken[0] if broken else None,
        deadlock=found.deadlock,
        fired=frozenset(name for name, times in found.fired.items() if times),
        met=(*found.witnesses, *looked_for),
        stuck={each.property: each.trace for each in found.violations if each.property in progress},
    )


def _compiled(
    machine: Machine, guard: GuardId, sizes: Mapping[str, int] | None, limit: int | None
) -> Violation | None:
    found = explore(machine, sizes=sizes, dropped=(guard,), engine=Engine.COMPILED, limit=limit)
    broken = found.violation
    if broken is None and found.stopped:
        raise GaveUp(f"{_gave_up(machine, guard, found.states)}; {found.stopped}")
    return broken


def _gave_up(machine: Machine, guard: GuardId, states: int) -> str:
    return (
        f"{machine.name} without guard {guard.guard!r} of {guard.action}: "
        f"no violation in the first {states:,} states; give smaller sizes or a higher limit"
    )


class _TooLarge(Exception):  # noqa: N818
    pass


@dataclass(frozen=True, slots=True)
class _After:
    """What the machine with all its guards makes of a state."""

    row: Grid
    """The state itself, as the code takes it."""
    states: tuple[Packed, ...]
    calm: tuple[Packed, ...]
    """Those of them that no fault leads to: what is pending has to end without."""
    broken_here: str | None
    broken_by_a_step: str | None


@dataclass(frozen=True, slots=True)
class _Layer:
    """The states that are so many steps away, with every guard in place."""

    states: frozenset[Packed]
    broken_here: tuple[tuple[Packed, str], ...]
    broken_by_a_step: tuple[tuple[Packed, str], ...]


class _Family:
    """A machine and its mutants at one size."""

    def __init__(self, machine: Machine, sizes: Mapping[str, int] | None) -> None:
        self.machine = machine
        self._prepared = prepare(machine, sizes=sizes)
        source = self._prepared.source
        self._config = source.config
        self._code: Any = load_plain(source)
        self._given = {
            symbol.name: table
            for symbol, table in zip(self._prepared.machine.rigid_symbols, self._prepared.instance.rigid, strict=True)
            if symbol.given is not None
        }
        self._words = range(self._prepared.layout.words)
        decided = self._prepared.machine
        properties: tuple[Invariant | Progress | Transition, ...] = (
            *decided.invariants,
            *decided.transitions,
            *decided.progress,
        )
        self._faults = {action.name for action in decided.actions if action.fault}
        self._can_end: dict[int, set[Packed]] = {}
        self._rules = {each.name: each.rules for each in properties}
        self._watched = (
            *(each.name for each in decided.invariants if each.public),
            *(each.name for each in decided.transitions),
        )
        self._settings = self._prepared.source.config.settings(
            dropped=(),
            watched=self._watched,
            switches={name: self._prepared.switches[name] for name in self._config.switches},
        )
        self._known: dict[Packed, _After] = {}
        self._layers: list[_Layer] = []
        self._reached: set[Packed] = set()
        # Written anew by every step function, and read before the next.
        self._out = Grid()
        self._label: dict[int, int] = {}

    def sound(self, *, limit: int) -> bool:
        """With all guards in place everything is seen within `limit` states, and nothing is broken."""
        depth = 0
        while (layer := self.layer(depth)).states:
            if len(self._reached) > limit or layer.broken_here or layer.broken_by_a_step:
                return False
            depth += 1
        return self._stuck([set(layer.states) for layer in self._layers]) is None

    def layer(self, depth: int) -> _Layer:
        """With all guards in place; empty where nothing is so far away."""
        while len(self._layers) <= depth:
            states: set[Packed] = set(() if self._layers else self._prepared.start)
            for state in self._layers[-1].states if self._layers else ():
                states.update(self.after(state).states)
            states -= self._reached
            self._reached |= states
            afters = [(state, self.after(state)) for state in states]
            here = tuple((state, after.broken_here) for state, after in afters if after.broken_here)
            by_a_step = tuple((state, after.broken_by_a_step) for state, after in afters if after.broken_by_a_step)
            self._layers.append(_Layer(frozenset(states), here, by_a_step))
        return self._layers[depth]

    def violation_without(self, guard: GuardId, *, limit: int) -> Violation | None:
        """A shortest run to a broken rule when one guard is left out. Raises _TooLarge past `limit` states.

        A layer of the mutant is the whole machine's layer, what its own states lead to and what the one action adds,
        without what it has seen: a state of the whole machine's next layer that no state of this layer leads to
        follows from one that the mutant met earlier, so it has been seen. Only own states are expanded.
        """
        mutant = _Mutant(self, guard)
        seen = set(self.layer(0).states)
        layers: list[set[Packed]] = [set(seen)]
        while layers[-1]:
            frontier, whole = layers[-1], self.layer(len(layers) - 1)
            own = [(state, self.after(state)) for state in frontier - whole.states]
            for state, name in (*whole.broken_here, *((state, after.broken_here) for state, after in own)):
                if name and state in frontier:
                    return self._violation(mutant, name, layers, state, in_step=False)
            for state, name in (*whole.broken_by_a_step, *((state, after.broken_by_a_step) for state, after in own)):
                if name and state in frontier:
                    return self._violation(mutant, name, layers, state, in_step=True)
            following: set[Packed] = set()
            for state in frontier:
                added, broken = mutant.added(self._known[state])
                if broken:
                    return self._violation(mutant, broken, layers, state, in_step=True)
                following.update(added)
            for _, after in own:
                following.update(after.states)
            # Not asked for earlier: where a rule is broken soon, the whole machine need not be gone through.
            following |= self.layer(len(layers)).states
            following -= seen
            seen |= following
            layers.append(following)
            if len(seen) > limit:
                raise _TooLarge
        # Only now is it known what can be reached from where.
        if stuck := self._stuck(layers, mutant):
            name, depth, state = stuck
            return self._violation(mutant, name, layers[: depth + 1], state, in_step=False)
        return None

    # What is pending and cannot end

    def _stuck(self, layers: Sequence[set[Packed]], mutant: _Mutant | None = None) -> tuple[str, int, Packed] | None:
        """A progress property that fails, and how deep and what the state nearest to the first is where it does.

        `layers` are all states, of the whole machine where no mutant is given.
        """
        found: tuple[str, int, Packed] | None = None
        for which, progress in enumerate(self._prepared.machine.progress):
            can = self._ending(which, layers, mutant)
            for depth, layer in enumerate(layers if found is None else layers[: found[1]]):
                stuck = next(
                    (each for each in layer if each not in can and self._holds("trigger", each, which)), None
                )
                if stuck is not None:
                    found = progress.name, depth, stuck
                    break
        return found

    def _ending(self, which: int, layers: Sequence[set[Packed]], mutant: _Mutant | None) -> set[Packed]:
        """The states from which the goal can be reached without faults.

        What can end with a guard can end without it: a mutant has all steps of the machine. The rest is asked.
        """
        if mutant is None:
            if which not in self._can_end:
                self._can_end[which] = self._led_to_the_goal(which, layers, lambda after: after.calm)
            return self._can_end[which]
        whole = [set(layer.states) for layer in self._layers]
        known = self._ending(which, whole, None)
        adds = mutant.guard.action not in self._faults

        def calm(after: _After) -> Iterable[Packed]:
            return (*after.calm, *mutant.added(after)[0]) if adds else after.calm

        return known | self._led_to_the_goal(which, [layer - known for layer in layers], calm, known)

    def _led_to_the_goal(
        self,
        which: int,
        layers: Sequence[set[Packed]],
        calm: Callable[[_After], Iterable[Packed]],
        known: Collection[Packed] = (),
    ) -> set[Packed]:
        """Those of some states from which such steps lead to the goal, or to a state of which that is known."""
        before: dict[Packed, list[Packed]] = {}
        ending: set[Packed] = set()
        for layer in layers:
            for state in layer:
                following = tuple(calm(self.after(state)))
                if any(each in known for each in following) or self._holds("goal", state, which):
                    ending.add(state)
                for each in following:
                    before.setdefault(each, []).append(state)
        waiting = list(ending)
        while waiting:
            for state in before.get(waiting.pop(), ()):
                if state not in ending:
                    ending.add(state)
                    waiting.append(state)
        return ending

    def _holds(self, what: str, state: Packed, which: int) -> bool:
        return bool(getattr(self._code, what)(which, self.row(state), 0, self._settings))

    def after(self, state: Packed) -> _After:
        """What follows from a state with all guards in place."""
        known = self._known.get(state)
        if known is None:
            row = self.row(state)
            out, label = self._out, self._label
            flags = [0] * (len(self._config.properties) + 1)
            cover = [0] * (len(self._prepared.source.order) + 1)
            count = self._code.successors(row, 0, self._settings, out, label, cover, flags)
            by_a_step = self._flagged(flags)
            flags = [0] * len(flags)
            self._code.check(row, 0, self._settings, flags)
            reached = tuple(self.rows(out, count))
            # Steps that are no faults come first.
            states, calm = tuple(dict.fromkeys(reached)), tuple(dict.fromkeys(reached[: cover[-1]]))
            known = self._known[state] = _After(row, states, calm, self._flagged(flags), by_a_step)
        return known

    def row(self, state: Packed) -> Grid:
        """A state as the code takes it."""
        return {(0, word): state[word] for word in self._words}

    def rows(self, out: Grid, count: int) -> Iterable[Packed]:
        """States as the code gives them."""
        if len(self._words) == 1:
            return [(out[i, 0],) for i in range(count)]
        return [tuple(out[i, word] for word in self._words) for i in range(count)]

    def _flagged(self, flags: list[int]) -> str | None:
        if not flags[-1]:
            return None
        return next(name for name, flag in zip(self._config.properties, flags, strict=False) if flag)

    def _violation(
        self, mutant: _Mutant, broken: str, layers: Sequence[set[Packed]], state: Packed, *, in_step: bool
    ) -> Violation:
        path = self._path(mutant, layers, state)
        prepared = replace(self._prepared, dropped=(mutant.guard,))
        trace = trace_of(prepared, mutant, path, breaking=broken if in_step else None)
        return Violation(broken, self._rules[broken], trace)

    def _path(self, mutant: _Mutant, layers: Sequence[set[Packed]], state: Packed) -> Path:
        path = [state]
        for layer in reversed(layers[:-1]):
            target = path[-1]
            path.append(next(each for each in layer if self._leads(mutant, each, target)))
        return tuple(reversed(path))

    def _leads(self, mutant: _Mutant, state: Packed, target: Packed) -> bool:
        after = self.after(state)
        return target in after.states or target in mutant.added(after)[0]

    # What a mutant needs of the machine

    def near_misses(self, guard: GuardId) -> Any:
        """The function that takes the steps that only this guard forbids."""
        source = self._prepared.source
        return load_text(near_misses(source, self._given, guard.action, guard.guard), source.machine.name).act

    def transitions(self, action: str) -> Sequence[tuple[Any, str]]:
        """The two-state properties that speak of an action: function and name."""
        return [
            (getattr(self._code, f"transition_{i}"), each.name)
            for i, each in enumerate(self._prepared.machine.transitions)
            if each.on is None or action in each.on
        ]

    def scratch(self) -> tuple[Grid, dict[int, int], list[int]]:
        """Rows and labels to write steps to, and the settings with all guards in place."""
        return self._out, self._label, self._settings

    def steps(self, packed: Packed) -> list[tuple[int, Packed]]:
        """Labels and states of all steps with all guards in place."""
        out, label = self._out, self._label
        cover, flags = [0] * (len(self._prepared.source.order) + 1), [0] * (len(self._config.properties) + 1)
        count = self._code.successors(self.row(packed), 0, self._settings, out, label, cover, flags)
        return [(label[i], state) for i, state in enumerate(self.rows(out, count))]


class _Mutant:
    """The machine without one guard. As `found.Code` it can be walked along."""

    def __init__(self, family: _Family, guard: GuardId) -> None:
        self.guard = guard
        self._family = family
        self._act: Any = family.near_misses(guard)
        self._out, self._label, self._settings = family.scratch()
        self._transitions = family.transitions(guard.action)

    def added(self, after: _After) -> tuple[Iterable[Packed], str | None]:
        """Where the one action leads for want of its guard, and a two-state property that is broken on the way."""
        out = self._out
        count = self._act(after.row, 0, self._settings, out, self._label, 0)
        if not count:
            return (), None
        for holds, name in self._transitions:
            for i in range(count):
                if not holds(after.row, 0, out, i, self._settings):
                    return (), name
        return self._family.rows(out, count), None

    def steps(self, packed: Packed) -> Sequence[tuple[int, Packed]]:
        """See `found.Code`."""
        found = self._family.steps(packed)
        count = self._act(self._family.row(packed), 0, self._settings, self._out, self._label, 0)
        rows = self._family.rows(self._out, count)
        return [*found, *((self._label[i], state) for i, state in enumerate(rows))]

    def canonical(self, packed: Packed) -> Packed:
        """See `found.Code`: nothing is reduced."""
        return packed
