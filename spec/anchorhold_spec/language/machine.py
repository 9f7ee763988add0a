"""A machine as a frozen value: what `MachineBuilder.build` gives and every reading takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from anchorhold_spec.language.errors import UnknownChoice
from anchorhold_spec.language.nodes import Formula, Sort, SortKind, Switch, Symbol, Update, Var
from anchorhold_spec.language.walk import fold, fold_update


class Tag(StrEnum):
    """Why a guard is there."""

    SAFETY = "safety"
    """Without it a rule of the catalogue is broken; that has to be shown by reaching the violation."""
    BOUND = "bound"
    """It keeps the machine small or stops needless repetition; without it nothing breaks."""
    REALISM = "realism"
    """It says what can happen at all in the world that is modelled; without it nothing breaks."""


@dataclass(frozen=True, eq=False)
class Guard:
    """One named conjunct of what must hold for an action to happen."""

    name: str
    formula: Formula
    tag: Tag
    reason: str | None
    """Why it is needed although nothing breaks without it; none for `safety`."""


@dataclass(frozen=True, eq=False)
class Worker:
    """Somebody who acts, and the state that they may write: an action by them that writes more is refused."""

    name: str
    writes: tuple[Symbol, ...]
    doc: str = ""


@dataclass(frozen=True, eq=False)
class Action:
    """A step: for parameters for which every guard holds, all updates at once, read from the state before."""

    name: str
    params: tuple[Var, ...]
    guards: tuple[Guard, ...]
    updates: tuple[Update, ...]
    doc: str
    by: Worker | None
    event: str | None
    """The event of the shared alphabet that this step is seen as; none: it cannot be seen from outside."""
    fault: bool
    """Done by the world, not by the compactor: left out of deadlock and progress analysis."""


@dataclass(frozen=True, eq=False)
class Invariant:
    """Holds in every reachable state. Auxiliary, where it has no rules: only there to make proofs go through."""

    name: str
    formula: Formula
    rules: tuple[str, ...]
    doc: str

    @property
    def public(self) -> bool:
        """States a rule of the catalogue."""
        return bool(self.rules)


@dataclass(frozen=True, eq=False)
class Transition:
    """Two-state property: holds between the states before and after every step (of the actions in `on`)."""

    name: str
    formula: Formula
    """May mention the state after, as `f(x).next`."""
    rules: tuple[str, ...]
    doc: str
    on: tuple[str, ...] | None
    """Names of the actions that it speaks of; none: all."""


@dataclass(frozen=True, eq=False)
class Sometimes:
    """Holds in at least one reachable state: the witness that rules do not hold for want of anything to break."""

    name: str
    formula: Formula
    doc: str


@dataclass(frozen=True, eq=False)
class Progress:
    """From every reachable state where `trigger` holds, faults aside, a state is reachable where `goal` holds."""

    name: str
    trigger: Formula
    goal: Formula
    rules: tuple[str, ...]
    doc: str


@dataclass(frozen=True, eq=False)
class Axiom:
    """A condition on the rigid data."""

    name: str
    formula: Formula
    doc: str


@dataclass(frozen=True, eq=False)
class Machine:
    """A state machine. Well formed: only `MachineBuilder.build` makes one, and it refuses everything else."""

    name: str
    doc: str
    sorts: tuple[Sort, ...]
    symbols: tuple[Symbol, ...]
    """In order of declaration, which is also the order of the tables of a state."""
    switches: tuple[Switch, ...]
    workers: tuple[Worker, ...]
    axioms: tuple[Axiom, ...]
    initially: tuple[Update, ...]
    """Applied all at once to the state in which every symbol has its `initial` value."""
    actions: tuple[Action, ...]
    invariants: tuple[Invariant, ...]
    transitions: tuple[Transition, ...]
    sometimes: tuple[Sometimes, ...]
    progress: tuple[Progress, ...]
    may_rest: Formula | None
    """Where nothing being enabled (faults aside) is no deadlock; none: nowhere."""
    instances: Mapping[str, Mapping[str, int]]
    """Sizes of the finite instances that it is studied at, by name; the first is the default."""
    large: frozenset[str]
    """Names of the instances that only searches on demand go through."""
    decided: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Switches that `with_switches` has decided."""

    @property
    def state_symbols(self) -> tuple[Symbol, ...]:
        """What steps may change, in table order."""
        return tuple(symbol for symbol in self.symbols if not symbol.rigid)

    @property
    def rigid_symbols(self) -> tuple[Symbol, ...]:
        """What is given and never changes."""
        return tuple(symbol for symbol in self.symbols if symbol.rigid)

    @property
    def public(self) -> tuple[Invariant, ...]:
        """The invariants that state rules."""
        return tuple(invariant for invariant in self.invariants if invariant.public)

    @property
    def sizes(self) -> Mapping[str, int]:
        """Sizes of the default instance, by the sorts' plurals."""
        return next(iter(self.instances.values()))

    @property
    def small_instances(self) -> tuple[Mapping[str, int], ...]:
        """Sizes of the instances that every check goes through in full."""
        return tuple(sizes for name, sizes in self.instances.items() if name not in self.large)

    def action(self, name: str) -> Action:
        """The action of that name. Raises UnknownChoice."""
        for action in self.actions:
            if action.name == name:
                return action
        raise UnknownChoice(f"{self.name} has no action {name!r}; it has {', '.join(a.name for a in self.actions)}")

    def parts_of(self, sort: Sort) -> tuple[Sort, ...]:
        """The parts of a sort in order: in a finite instance each is a range of its parent's indices."""
        return tuple(part for part in self.sorts if part.parent is sort)

    def with_switches(self, **choices: str) -> Machine:
        """The machine with these switches decided and folded away; the others stay. Raises UnknownChoice."""
        known = {switch.name: switch for switch in self.switches}
        for name, value in choices.items():
            if name not in known:
                raise UnknownChoice(f"{self.name} has no switch {name!r}; it has {', '.join(known) or 'none'}")
            if value not in known[name].values:
                raise UnknownChoice(
                    f"switch {name} of {self.name} is one of {', '.join(known[name].values)}, not {value!r}"
                )

        def folded(formula: Formula) -> Formula:
            return fold(formula, choices)

        return replace(
            self,
            switches=tuple(switch for switch in self.switches if switch.name not in choices),
            decided=MappingProxyType({**self.decided, **choices}),
            axioms=tuple(replace(each, formula=folded(each.formula)) for each in self.axioms),
            initially=tuple(fold_update(update, choices) for update in self.initially),
            actions=tuple(
                replace(
                    action,
                    guards=tuple(replace(guard, formula=folded(guard.formula)) for guard in action.guards),
                    updates=tuple(fold_update(update, choices) for update in action.updates),
                )
                for action in self.actions
            ),
            invariants=tuple(replace(each, formula=folded(each.formula)) for each in self.invariants),
            transitions=tuple(replace(each, formula=folded(each.formula)) for each in self.transitions),
            sometimes=tuple(replace(each, formula=folded(each.formula)) for each in self.sometimes),
            progress=tuple(
                replace(each, trigger=folded(each.trigger), goal=folded(each.goal)) for each in self.progress
            ),
            may_rest=None if self.may_rest is None else folded(self.may_rest),
        )

    def with_defaults(self) -> Machine:
        """The machine with every switch that is still open at its default."""
        return self.with_switches(**{switch.name: switch.default for switch in self.switches})

    def without_guard(self, action: str, guard: str) -> Machine:
        """The machine with one guard of one action left out. Raises UnknownChoice."""
        found = self.action(action)
        if all(each.name != guard for each in found.guards):
            names = ", ".join(each.name for each in found.guards)
            raise UnknownChoice(f"action {action} of {self.name} has no guard {guard!r}; it has {names}")
        weaker = replace(found, guards=tuple(each for each in found.guards if each.name != guard))
        return self.with_action(weaker)

    def with_action(self, changed: Action) -> Machine:
        """The machine with the action of the same name replaced: for mutations. It is not checked again."""
        self.action(changed.name)
        return replace(self, actions=tuple(changed if each.name == changed.name else each for each in self.actions))

    def universe(self, sizes: Mapping[str, int] | None = None) -> dict[str, int]:
        """How many individuals each sort has (by the sort's name) in the instance with these sizes.

        `sizes` are by plural: of a plain sort the number of individuals; of an ordered one the highest element
        (`epochs=3` has 0, 1, 2, 3); a sort with parts has what its parts have; an enumeration its values. What
        is not given is as in the default instance. Raises UnknownChoice for names and numbers that do not fit.
        """
        chosen = {**self.sizes, **(sizes or {})}
        counts: dict[str, int] = {}
        taken: set[str] = set()
        for sort in self.sorts:
            if sort.kind is SortKind.ENUM:
                counts[sort.name] = len(sort.values)
            elif not self.parts_of(sort):
                taken.add(sort.plural)
                size = chosen.get(sort.plural)
                least = 0 if sort.kind is SortKind.PART else 1
                if size is None or size < least:
                    raise UnknownChoice(f"{self.name} needs a size for {sort.plural}, at least {least}; got {size}")
                counts[sort.name] = size + 1 if sort.kind is SortKind.ORDERED else size
        for sort in self.sorts:
            if parts := self.parts_of(sort):
                counts[sort.name] = sum(counts[part.name] for part in parts)
        if unknown := [name for name in chosen if name not in taken]:
            raise UnknownChoice(f"{self.name} has no size {', '.join(unknown)}; it has {', '.join(sorted(taken))}")
        return counts

    def offset(self, sort: Sort, universe: Mapping[str, int]) -> int:
        """Index of the first individual of a part among its parent's; 0 for other sorts."""
        offset = 0
        if sort.parent is not None:
            for part in self.parts_of(sort.parent):
                if part is sort:
                    break
                offset += universe[part.name]
        return offset

    def individuals(self, sort: Sort, universe: Mapping[str, int]) -> range:
        """The indices of a sort's individuals, a part's among its parent's."""
        first = self.offset(sort, universe)
        return range(first, first + universe[sort.name])
