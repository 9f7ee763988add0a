"""The oracle: what each machine says of events that were seen.

`judge(machine, projection, occurrences)` replays what a projection makes of the events. A step is accepted only where
the machine has it enabled, a look only where the state is what was seen. What is refused is carried out all the same,
so that it can be said which rules that breaks and so that the rest can be judged too. Since every enabled step keeps
every invariant (that is what `prove` shows), properties are looked at only where something was refused.

Pure: knows nothing of who saw the events, or how.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from anchorhold_spec.language import (
    Function,
    Invariant,
    Machine,
    Relation,
    Sort,
    SortKind,
    Symbol,
    Tag,
    UnknownChoice,
)
from anchorhold_spec.language.walk import symbols
from anchorhold_spec.machines import load
from anchorhold_spec.machines.alphabet import Occurrence
from anchorhold_spec.machines.projections import PROJECTIONS, Given, Look, Meaning, Projection, Take, Who
from anchorhold_spec.run.explore import GaveUp, GuardId, explore
from anchorhold_spec.run.instance import UNDEFINED, Instance, State, instance_with
from anchorhold_spec.run.interpret import Interpreter, Step
from anchorhold_spec.run.mutants import PlainMutantExplorer

MOST_POSSIBILITIES = 256
"""States in which the machine may be, as far as the events tell, beyond which nothing can be said."""
MOST_STATES = 20_000
"""Of the search for what a guard is there for."""


class TooManyPossibilities(Exception):  # noqa: N818
    """The events leave open too much of what the machine did; the projection has to say more."""


@dataclass(frozen=True)
class Refusal:
    """One event that the machine does not allow."""

    machine: str
    occurrence: Occurrence
    position: int
    """Of the occurrence in the sequence, from 0."""
    action: str | None
    """The action that it is; none where the state is not what was seen."""
    guards: tuple[str, ...]
    """The guards that forbid it; none where it is allowed only because of something that was refused before."""
    seen: tuple[str, ...]
    """What was seen and is not so in the machine's state, in words."""
    broken: tuple[str, ...]
    """The properties that break when it happens all the same."""
    rules: tuple[str, ...]
    """The rules that these state. Where nothing breaks at once: those that the guards are there for."""

    def __str__(self) -> str:
        if self.action is not None and not self.guards:
            why = f"action {self.action} is allowed only after what was refused before"
        elif self.action is not None:
            why = f"action {self.action} is forbidden by {', '.join(f'guard {guard!r}' for guard in self.guards)}"
        else:
            why = f"it was seen that {', '.join(self.seen)}, and by the machine it is not"
        broken = f"; that breaks {', '.join(repr(each) for each in self.broken)}" if self.broken else ""
        return f"{self.machine}: {self.occurrence}: {why}{broken} ({', '.join(self.rules) or 'no rule'})"


@dataclass(frozen=True)
class Ruling:
    """What one machine says of a sequence of events."""

    machine: str
    accepted: int
    """Steps and looks that were as the machine has them."""
    refusals: tuple[Refusal, ...]

    @property
    def rules(self) -> frozenset[str]:
        """The rules that were broken."""
        return frozenset(rule for refusal in self.refusals for rule in refusal.rules)


def judge_all(occurrences: Sequence[Occurrence], *, machines: Iterable[str] | None = None) -> tuple[Ruling, ...]:
    """What every machine that has a projection (or each of these) says of the events."""
    chosen = PROJECTIONS if machines is None else machines
    return tuple(judge(load(name), PROJECTIONS[name](), occurrences) for name in chosen)


def judge(
    machine: Machine,
    projection: Projection,
    occurrences: Sequence[Occurrence],
    *,
    switches: Mapping[str, str] | None = None,
) -> Ruling:
    """Replay the events on a machine.

    The machine is as large as the events need it to be. `switches` chooses a variant of the design; those left open
    have their defaults. Raises UnknownChoice where the projection speaks of what the machine does not have, and
    TooManyPossibilities where the events leave open too much.
    """
    meanings = [tuple(projection(seen)) for seen in occurrences]
    decided = machine.with_switches(**(switches or {})).with_defaults()
    replay = _Replay(decided, [meaning for each in meanings for meaning in each])
    refusals: list[Refusal] = []
    accepted = 0
    for position, (seen, parts) in enumerate(zip(occurrences, meanings, strict=True)):
        for meaning in parts:
            refused = list(replay.go(meaning, seen, position))
            refusals += refused
            accepted += not refused
        refusals += replay.follows(seen, position)
    return Ruling(machine.name, accepted, tuple(refusals))


class _Replay:
    def __init__(self, machine: Machine, meanings: Sequence[Meaning]) -> None:
        self._machine = machine
        self._sorts = {sort.name: sort for sort in machine.sorts}
        self._symbols = {symbol.name: symbol for symbol in machine.state_symbols}
        self._positions = {name: i for i, name in enumerate(self._symbols)}
        self._index: dict[Who, int] = {}
        self._instance = self._sized(meanings)
        self._interpreter = Interpreter(self._instance)
        self._states: tuple[State, ...] = (self._interpreter.initial(),)
        self._looked: State | None = None
        """The last state whose invariants were looked at: none until something was refused, as they are proved."""
        self._last = ""
        """The last action that was taken."""

    # Sizes

    def _sized(self, meanings: Sequence[Meaning]) -> Instance:
        """The instance that has everybody whom the events name, and counters that do not run out."""
        counts: dict[str, int] = {}
        highest: dict[str, int] = {}
        for meaning in meanings:
            for who in _named(meaning):
                sort = self._sort(who.sort)
                if who not in self._index and sort.kind is not SortKind.ENUM:
                    self._index[who] = counts.get(sort.name, 0)
                    counts[sort.name] = counts.get(sort.name, 0) + 1
            if isinstance(meaning, Take):
                self._count(meaning, highest)
        sizes: dict[str, int] = {}
        for sort in self._machine.sorts:
            if sort.kind is SortKind.ORDERED:
                sizes[sort.plural] = max(1, highest.get(sort.name, 0))
            elif sort.kind is not SortKind.ENUM and not self._machine.parts_of(sort):
                sizes[sort.plural] = max(1, counts.get(sort.name, 0))
        self._instance = instance_with(self._machine, sizes)
        given: dict[str, dict[tuple[int, ...], int]] = {}
        for meaning in meanings:
            if isinstance(meaning, Given):
                symbol = self._rigid(meaning.symbol)
                cell = tuple(self._individual(who) for who in meaning.arguments)
                given.setdefault(symbol.name, {})[cell] = self._value(symbol, meaning.value)
        return instance_with(self._machine, sizes, given) if given else self._instance

    def _rigid(self, name: str) -> Symbol:
        rigid = {symbol.name: symbol for symbol in self._machine.rigid_symbols}
        if name not in rigid:
            raise UnknownChoice(
                f"{self._machine.name} is given no {name!r}; it is given {', '.join(rigid) or 'nothing'}"
            )
        return rigid[name]

    def _count(self, take: Take, highest: dict[str, int]) -> None:
        action = self._machine.action(take.action)
        for sort in {param.sort.name: param.sort for param in action.params}.values():
            if sort.kind is not SortKind.ORDERED:
                continue
            params = [param.name for param in action.params if param.sort is sort]
            known = [value for name in params if isinstance(value := take.known.get(name), int)]
            if known:
                highest[sort.name] = max(highest.get(sort.name, 0), *known)
            elif len(params) > 1:
                # One element and the next: the counter goes up.
                highest[sort.name] = highest.get(sort.name, 0) + 1

    def _sort(self, name: str) -> Sort:
        if name not in self._sorts:
            raise UnknownChoice(f"{self._machine.name} has no sort {name!r}; it has {', '.join(self._sorts)}")
        return self._sorts[name]

    def _individual(self, who: Who | int) -> int:
        if isinstance(who, int):
            return who
        sort = self._sort(who.sort)
        if sort.kind is SortKind.ENUM:
            return sort[who.name].index
        return self._instance.individuals(sort).start + self._index[who]

    # Going on

    def go(self, meaning: Meaning, seen: Occurrence, position: int) -> Iterator[Refusal]:
        """Take the step, or compare with what was seen; a refusal where the machine does not have it so."""
        if isinstance(meaning, Take):
            yield from self._take(meaning, seen, position)
        elif isinstance(meaning, tuple) and meaning:
            yield from self._look(meaning, seen, position)

    def _take(self, take: Take, seen: Occurrence, position: int) -> Iterator[Refusal]:
        fixed = {name: self._individual(value) for name, value in take.known.items()}
        missing = set(fixed) - {param.name for param in self._machine.action(take.action).params}
        if missing:
            raise UnknownChoice(f"action {take.action} of {self._machine.name} has no {', '.join(sorted(missing))}")
        after = {
            self._interpreter.apply(state, step): None
            for state in self._states
            for step in self._interpreter.matching(state, take.action, fixed)
        }
        if after:
            self._last = take.action
            self._arrive(after)
            return
        before, step, guards = self._nearest(take.action, fixed)
        forced = self._interpreter.force(before, step)
        broken = self._breaks(before, take.action, forced)
        rules = [rule for _, cited in broken for rule in cited]
        if not rules:
            rules = [rule for guard in guards for rule in at_stake(self._machine, take.action, guard)]
        self._states, self._looked = (forced,), forced
        yield Refusal(
            machine=self._machine.name,
            occurrence=seen,
            position=position,
            action=take.action,
            guards=guards,
            seen=(),
            broken=tuple(name for name, _ in broken),
            rules=tuple(dict.fromkeys(rules)),
        )

    def follows(self, seen: Occurrence, position: int) -> Iterator[Refusal]:
        """What the allowed steps of an event break, after something was refused: nothing is proved of them then."""
        before, after = self._looked, self._states[0]
        if before is None or before == after:
            return
        self._looked = after
        if broken := self._newly_broken(before, after):
            yield Refusal(
                machine=self._machine.name,
                occurrence=seen,
                position=position,
                action=self._last,
                guards=(),
                seen=(),
                broken=tuple(each.name for each in broken),
                rules=tuple(dict.fromkeys(rule for each in broken for rule in each.rules)),
            )

    def _nearest(self, action: str, fixed: Mapping[str, int]) -> tuple[State, Step, tuple[str, ...]]:
        """The step that the fewest guards forbid, and the latest ones.

        Guards that say what an open parameter is come first: blame is not to fall on these.
        """
        names = [guard.name for guard in self._machine.action(action).guards]
        candidates = (
            (state, step, self._interpreter.forbidding(state, step))
            for state in self._states
            for step in self._interpreter.possible(action, fixed)
        )
        return min(candidates, key=lambda candidate: (len(candidate[2]), -names.index(candidate[2][0])))

    def _look(self, looks: tuple[Look, ...], seen: Occurrence, position: int) -> Iterator[Refusal]:
        places = [self._place(look) for look in looks]
        as_seen = [
            state for state in self._states if all(state[table][cell] == value for table, cell, value in places)
        ]
        if as_seen:
            self._states = tuple(as_seen)
            return
        before = self._states[0]
        tables = [list(table) for table in before]
        for table, cell, value in places:
            tables[table][cell] = value
        after = tuple(tuple(table) for table in tables)
        broken = self._breaks(before, None, after)
        self._states, self._looked = (after,), after
        yield Refusal(
            machine=self._machine.name,
            occurrence=seen,
            position=position,
            action=None,
            guards=(),
            seen=tuple(
                _say(look)
                for look, (table, cell, value) in zip(looks, places, strict=True)
                if before[table][cell] != value
            ),
            broken=tuple(name for name, _ in broken),
            rules=tuple(dict.fromkeys(rule for _, cited in broken for rule in cited)),
        )

    def _arrive(self, states: Mapping[State, None]) -> None:
        if len(states) > MOST_POSSIBILITIES:
            raise TooManyPossibilities(
                f"{self._machine.name} may be in {len(states)} states after what was seen: its projection has to say "
                "more"
            )
        self._states = tuple(states)

    def _breaks(self, before: State, action: str | None, after: State) -> list[tuple[str, tuple[str, ...]]]:
        """The public properties that hold before and not after, or that this step itself breaks, with their rules."""
        found = [(each.name, each.rules) for each in self._newly_broken(before, after)]
        # What was seen to have happened is a step of nobody's: properties of certain actions do not speak of it.
        return found + [(each.name, each.rules) for each in self._interpreter.broken_by(before, action or "", after)]

    def _newly_broken(self, before: State, after: State) -> list[Invariant]:
        """The public invariants that hold before and not after. One over what has not changed is as it was."""
        changed = {
            id(symbol) for symbol, old, new in zip(self._symbols.values(), before, after, strict=True) if old != new
        }
        touched = {each.name for each in self._machine.public if changed & set(map(id, symbols(each.formula)))}
        now = list(self._interpreter.broken(after, auxiliary=False, among=touched))
        already = {each.name for each in self._interpreter.broken(before, among={each.name for each in now})}
        return [each for each in now if each.name not in already]

    def _place(self, look: Look) -> tuple[int, int, int]:
        """Table, cell and value."""
        if look.symbol not in self._symbols:
            raise UnknownChoice(f"{self._machine.name} has no {look.symbol!r}; it has {', '.join(self._symbols)}")
        symbol = self._symbols[look.symbol]
        arguments = tuple(self._individual(who) for who in look.arguments)
        return self._positions[look.symbol], self._instance.place(symbol, arguments), self._value(symbol, look.value)

    def _value(self, symbol: Symbol, value: Who | int | str | bool | None) -> int:
        if isinstance(symbol, Relation):
            return int(value is True)
        assert isinstance(symbol, Function)
        match value:
            case None:
                return UNDEFINED
            case str():
                return symbol.result[value].index
            case _:
                return self._individual(value)


@lru_cache(maxsize=1024)
def at_stake(machine: Machine, action: str, guard: str) -> tuple[str, ...]:
    """The rules that can break without a guard, found by search in the machine's small instances.

    Only of guards that are tagged `safety`: without the others nothing breaks. The machine's switches are decided.
    """
    if all(each.name != guard or each.tag is not Tag.SAFETY for each in machine.action(action).guards):
        return ()
    mutant = machine.without_guard(action, guard)
    for sizes in machine.small_instances:
        violation = explore(mutant, sizes=sizes, limit=MOST_STATES).violation
        if violation is not None:
            return violation.rules
    for sizes in machine.small_instances if machine.progress else ():
        # Without some guards nothing breaks but that what is pending cannot end any more.
        this = GuardId(action, guard)
        try:
            violation = PlainMutantExplorer(limit=MOST_STATES)(machine, dropped=[this], sizes=sizes)[this]
        except GaveUp:
            continue
        if violation is not None:
            return violation.rules
    return ()


def _named(meaning: Meaning) -> Iterator[Who]:
    if isinstance(meaning, Take):
        yield from (who for who in meaning.known.values() if isinstance(who, Who))
        return
    for look in (meaning,) if isinstance(meaning, Given) else meaning:
        yield from look.arguments
        if isinstance(look.value, Who):
            yield look.value


def _say(look: Look) -> str:
    place = f"{look.symbol}({', '.join(map(str, look.arguments))})"
    match look.value:
        case True:
            return place
        case False:
            return f"not {place}"
        case None:
            return f"{place} is nothing"
        case _:
            return f"{place} is {look.value}"
