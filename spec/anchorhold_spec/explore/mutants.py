"""All mutants of a machine at one size, searched together.

A mutant differs from its machine in one action, and reaches mostly the same states. So what follows from a state by
the whole machine, and what is broken there, is worked out once for all of them; for each mutant only the one action
is run again, with its guard left out. The code is that of `generate`, not compiled: the instances that guards are
tried at have hundreds or thousands of states, and compiling takes longer than all of their mutants together. A
mutant that proves to be large is compiled after all; all large ones share one compilation, which is kept on disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anchorhold_spec.explore import jit
from anchorhold_spec.explore.api import Engine, Exploration, explore
from anchorhold_spec.explore.found import Path, trace_of
from anchorhold_spec.explore.layout import Packed
from anchorhold_spec.explore.load import load_plain
from anchorhold_spec.explore.prepare import prepare
from anchorhold_spec.explore.uncompiled import Grid
from anchorhold_spec.language import Invariant, Machine, Transition
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

    def __call__(
        self, machine: Machine, *, dropped: Sequence[GuardId], sizes: Mapping[str, int] | None = None
    ) -> Mapping[GuardId, Violation | None]:
        """See `run.MutantExplorer`. Raises GaveUp past `limit` states, or where memory ran out."""
        family = _Family(machine, sizes)
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


def fast_survey(machine: Machine, *, sizes: Mapping[str, int] | None, limit: int) -> Survey:
    """See `run.Surveyor`: without compiling as long as it is small."""
    compiler = jit.available()
    look = min(LOOK if compiler else WITHOUT_COMPILER, limit)
    found = explore(machine, sizes=sizes, engine=Engine.UNCOMPILED, limit=look)
    if found.stopped and compiler and look < limit:
        found = explore(machine, sizes=sizes, engine=Engine.COMPILED, limit=limit)
    return survey_of(machine, found)


def survey_of(machine: Machine, found: Exploration) -> Survey:
    """An exploration as a survey: there, what can not end is no broken rule but an answer of its own."""
    progress = {each.name for each in machine.progress}
    broken = [each for each in found.violations if each.property not in progress]
    return Survey(
        states=found.states,
        complete=found.complete,
        violation=broken[0] if broken else None,
        deadlock=found.deadlock,
        fired=frozenset(name for name, times in found.fired.items() if times),
        met=tuple(found.witnesses),
        stuck={each.property: each.trace for each in found.violations if each.property in progress},
    )


def _compiled(
    machine: Machine, guard: GuardId, sizes: Mapping[str, int] | None, limit: int | None
) -> Violation | None:
    found = explore(machine, sizes=sizes, dropped=(guard,), engine=Engine.COMPILED, limit=limit)
    broken = survey_of(machine, found).violation
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
    counts: list[int]
    """How many steps each action has, in the order of the code."""
    states: tuple[Packed, ...]
    broken_here: str | None
    broken_by_a_step: str | None


class _Family:
    """A machine and its mutants at one size."""

    def __init__(self, machine: Machine, sizes: Mapping[str, int] | None) -> None:
        # The mutants run the code in which guards can be left out; for all that they have in common there is the
        # same without, which is faster.
        self._prepared = prepare(machine, sizes=sizes, mutable=True)
        self._whole: Any = load_plain(prepare(machine, sizes=sizes).source)
        source = self._prepared.source
        self._config = source.config
        self._code: Any = load_plain(source)
        self._words = range(self._prepared.layout.words)
        decided = self._prepared.machine
        properties: tuple[Invariant | Transition, ...] = (*decided.invariants, *decided.transitions)
        self._rules = {each.name: each.rules for each in properties}
        self._watched = (
            *(each.name for each in decided.invariants if each.public),
            *(each.name for each in decided.transitions),
        )
        self._settings = self._set(())
        self._known: dict[Packed, _After] = {}

    def violation_without(self, guard: GuardId, *, limit: int) -> Violation | None:
        """A shortest run to a broken rule when one guard is left out. Raises _TooLarge past `limit` states."""
        mutant = _Mutant(self, guard)
        layers: list[set[Packed]] = [set(self._prepared.start)]
        seen = set(layers[0])
        while layers[-1]:
            afters = [(state, self.after(state)) for state in layers[-1]]
            for state, after in afters:
                if after.broken_here:
                    return self._violation(mutant, after.broken_here, layers, state, in_step=False)
            following: set[Packed] = set()
            for state, after in afters:
                added, broken = mutant.added(after)
                broken = after.broken_by_a_step or broken
                if broken:
                    return self._violation(mutant, broken, layers, state, in_step=True)
                following.update(after.states)
                following.update(added)
            following -= seen
            seen |= following
            layers.append(following)
            if len(seen) > limit:
                raise _TooLarge
        return None

    def after(self, state: Packed) -> _After:
        """What follows from a state with all guards in place."""
        known = self._known.get(state)
        if known is None:
            row = self.row(state)
            out: dict[Any, Any] = {}
            label: dict[Any, Any] = {}
            flags = [0] * (len(self._config.properties) + 1)
            cover = [0] * (len(self._prepared.source.order) + 1)
            count = self._whole.successors(row, 0, self._settings, out, label, cover, flags)
            by_a_step = self._flagged(flags)
            flags = [0] * len(flags)
            self._whole.check(row, 0, self._settings, flags)
            states = tuple(dict.fromkeys(self.rows(out, count)))
            known = self._known[state] = _After(row, cover, states, self._flagged(flags), by_a_step)
        return known

    def row(self, state: Packed) -> Grid:
        """A state as the code takes it."""
        return {(0, word): state[word] for word in self._words}

    def rows(self, out: Grid, count: int) -> Iterable[Packed]:
        """States as the code gives them."""
        if len(self._words) == 1:
            return [(out[i, 0],) for i in range(count)]
        return [tuple(out[i, word] for word in self._words) for i in range(count)]

    def _set(self, dropped: Sequence[GuardId]) -> list[int]:
        return self._config.settings(
            dropped=dropped, watched=self._watched, switches=self._switches(self._prepared.switches)
        )

    def _switches(self, chosen: Mapping[str, str]) -> dict[str, str]:
        return {name: chosen[name] for name in self._config.switches}

    def _flagged(self, flags: list[int]) -> str | None:
        if not flags[-1]:
            return None
        return next(name for name, flag in zip(self._config.properties, flags, strict=False) if flag)

    def _violation(
        self, mutant: _Mutant, broken: str, layers: Sequence[set[Packed]], state: Packed, *, in_step: bool
    ) -> Violation:
        path = self._path(mutant, layers, state)
        prepared = replace(self._prepared, settings=mutant.settings, dropped=(mutant.guard,))
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

    def code(self) -> Any:
        """The functions."""
        return self._code

    def without(self, guard: GuardId) -> list[int]:
        """The settings that leave a guard out."""
        return self._set((guard,))

    def place(self, action: str) -> int:
        """Which of the step functions is an action's."""
        return self._prepared.source.order.index(action)

    def transitions(self, action: str) -> Sequence[tuple[int, str]]:
        """The two-state properties that speak of an action: position and name."""
        return [
            (i, each.name)
            for i, each in enumerate(self._prepared.machine.transitions)
            if each.on is None or action in each.on
        ]

    def flags(self) -> tuple[list[int], list[int]]:
        """Fresh ones: coverage and flags."""
        return [0] * (len(self._prepared.source.order) + 1), [0] * (len(self._config.properties) + 1)


class _Mutant:
    """The machine without one guard. As `found.Code` it can be walked along."""

    def __init__(self, family: _Family, guard: GuardId) -> None:
        self.guard = guard
        self.settings = family.without(guard)
        self._family = family
        self._place = family.place(guard.action)
        self._act: Any = getattr(family.code(), f"act_{self._place}")
        self._transitions = [
            (getattr(family.code(), f"transition_{i}"), name) for i, name in family.transitions(guard.action)
        ]

    def added(self, after: _After) -> tuple[Iterable[Packed], str | None]:
        """Where the one action leads without its guard, and a two-state property that is broken on the way.

        Nothing where it has no more steps than with it: they are the same steps.
        """
        out = Grid()
        count = self._act(after.row, 0, self.settings, out, {}, 0)
        if count == after.counts[self._place]:
            return (), None
        for holds, name in self._transitions:
            for i in range(count):
                if not holds(after.row, 0, out, i, self.settings):
                    return (), name
        return self._family.rows(out, count), None

    def steps(self, packed: Packed) -> Sequence[tuple[int, Packed]]:
        """See `found.Code`."""
        out, label = Grid(), dict[int, int]()
        cover, flags = self._family.flags()
        count = self._family.code().successors(self._family.row(packed), 0, self.settings, out, label, cover, flags)
        return [(label[i], state) for i, state in enumerate(self._family.rows(out, count))]

    def canonical(self, packed: Packed) -> Packed:
        """See `found.Code`: nothing is reduced."""
        return packed
