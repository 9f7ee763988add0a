"""Writing a machine down. Each call checks what it is given and refuses it with the place where it went wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

from anchorhold_spec.language import check
from anchorhold_spec.language.errors import MalformedMachine
from anchorhold_spec.language.machine import (
    Action,
    Axiom,
    Guard,
    Invariant,
    Machine,
    Progress,
    Sometimes,
    Tag,
    Transition,
    Worker,
)
from anchorhold_spec.language.nodes import (
    Const,
    Formula,
    Function,
    Relation,
    Sort,
    SortKind,
    Switch,
    Symbol,
    Update,
    Var,
)
from anchorhold_spec.language.scope import Scope, check_formula


def safety(name: str, formula: Formula) -> Guard:
    """A guard without which a rule is broken."""
    return Guard(name, formula, Tag.SAFETY, None)


def bound(name: str, formula: Formula, reason: str) -> Guard:
    """A guard that only keeps the machine small; says why."""
    return Guard(name, formula, Tag.BOUND, reason)


def realism(name: str, formula: Formula, reason: str) -> Guard:
    """A guard that only says what can happen at all; says why."""
    return Guard(name, formula, Tag.REALISM, reason)


class MachineBuilder:
    """Collects the declarations of one machine; `build` gives it.

    `rules` are the ids that properties may cite (none: those of the catalogue that it says machines can state;
    what it says no machine can state, none does), `alphabet` the events that
    actions may be seen as (none: the shared ones).
    """

    def __init__(
        self,
        name: str,
        doc: str,
        *,
        rules: Collection[str] | None = None,
        alphabet: Collection[str] | None = None,
    ) -> None:
        self._scope = Scope(name, _rules(rules), _alphabet(alphabet))
        self._doc = doc
        self._axioms: list[Axiom] = []
        self._initially: list[Update] = []
        self._actions: list[Action] = []
        self._invariants: list[Invariant] = []
        self._transitions: list[Transition] = []
        self._sometimes: list[Sometimes] = []
        self._progress: list[Progress] = []
        self._may_rest: Formula | None = None
        self._instances: dict[str, Mapping[str, int]] = {}
        self._large: set[str] = set()

    # Sorts

    def sort(self, name: str, *, plural: str | None = None, symmetric: bool = False, doc: str = "") -> Sort:
        """Anonymous individuals. `symmetric`: interchangeable, so that exploring may identify permuted states."""
        return self._scope.add_sort(Sort(name, SortKind.PLAIN, plural or name + "s", symmetric=symmetric, doc=doc))

    def part(self, name: str, of: Sort, *, plural: str | None = None, doc: str = "") -> Sort:
        """Some of the individuals of a plain sort; its parts are disjoint and together the whole."""
        return self._scope.add_sort(
            Sort(name, SortKind.PART, plural or name + "s", parent=of, symmetric=of.symmetric, doc=doc)
        )

    def enum(self, name: str, *values: str, doc: str = "") -> Sort:
        """Named values: `Phase = m.enum("phase", "none", "staged")`, then `Phase.staged`."""
        return self._scope.add_sort(Sort(name, SortKind.ENUM, name + "s", values=values, doc=doc))

    def ordered(self, name: str, *, plural: str | None = None, doc: str = "") -> Sort:
        """A total order with a least element `.zero`. Its size is its highest element: 3 means 0, 1, 2, 3."""
        return self._scope.add_sort(Sort(name, SortKind.ORDERED, plural or name + "s", doc=doc))

    def switch(self, name: str, *values: str, default: str, doc: str = "") -> Switch:
        """A named design choice, to be used in formulas as `switch == "value"`."""
        return self._scope.add_switch(Switch(name, values, default, doc))

    # Symbols

    def rel(self, name: str, *domain: Sort, initial: bool = False, ghost: bool = False, doc: str = "") -> Relation:
        """State: a relation."""
        relation = Relation(name, domain, ghost=ghost, initial=initial, doc=doc)
        self._scope.add_symbol(relation)
        return relation

    def pfun(self, name: str, *domain: Sort, to: Sort, ghost: bool = False, doc: str = "") -> Function:
        """State: a partial function, at first undefined everywhere."""
        function = Function(name, domain, to, partial=True, ghost=ghost, doc=doc)
        self._scope.add_symbol(function)
        return function

    def fun(self, name: str, *domain: Sort, to: Sort, initial: Const, ghost: bool = False, doc: str = "") -> Function:
        """State: a total function into an enumeration or an ordered sort."""
        function = Function(name, domain, to, partial=False, ghost=ghost, initial=initial, doc=doc)
        self._scope.add_symbol(function)
        return function

    def rigid_rel(
        self, name: str, *domain: Sort, given: Callable[..., bool] | None = None, doc: str = ""
    ) -> Relation:
        """Given data: a relation that no step changes. `given` fixes it in finite instances, by indices."""
        relation = Relation(name, domain, rigid=True, given=given, doc=doc)
        self._scope.add_symbol(relation)
        return relation

    def rigid_fun(
        self,
        name: str,
        *domain: Sort,
        to: Sort,
        partial: bool = False,
        given: Callable[..., int | None] | None = None,
        doc: str = "",
    ) -> Function:
        """Given data: a function to any sort that no step changes. `given` fixes it in finite instances."""
        function = Function(name, domain, to, partial=partial, rigid=True, given=given, doc=doc)
        self._scope.add_symbol(function)
        return function

    # Behaviour

    def worker(self, name: str, *, writes: Sequence[Symbol], doc: str = "") -> Worker:
        """Somebody who acts; actions `by` them may write these symbols and no others."""
        return self._scope.add_worker(Worker(name, tuple(writes), doc))

    def initially(self, *updates: Update) -> None:
        """What differs at first from every symbol's initial value."""
        check.check_initially(self._scope, updates)
        self._initially.extend(updates)

    def action(
        self,
        name: str,
        *params: Var,
        doc: str,
        guards: Sequence[Guard] = (),
        updates: Sequence[Update],
        by: Worker | None = None,
        event: str | None = None,
        fault: bool = False,
    ) -> None:
        """A step. `fault`: done by the world (crash, expiry), not by the compactor."""
        action = Action(name, params, tuple(guards), tuple(updates), doc, by, event, fault)
        check.check_action(self._scope, action)
        self._actions.append(action)

    # Properties

    def axiom(self, name: str, formula: Formula, *, doc: str = "") -> None:
        """A condition on rigid data."""
        check.check_axiom(self._scope, name, formula)
        self._axioms.append(Axiom(name, formula, doc))

    def invariant(self, name: str, formula: Formula, *, rules: Sequence[str], doc: str = "") -> None:
        """A public invariant: states rules of the catalogue."""
        check.check_property(self._scope, "invariant", name, formula, rules, cites=True)
        self._invariants.append(Invariant(name, formula, tuple(rules), doc))

    def auxiliary(self, name: str, formula: Formula, *, doc: str = "") -> None:
        """An invariant that only proofs need."""
        check.check_property(self._scope, "auxiliary", name, formula, (), cites=False)
        self._invariants.append(Invariant(name, formula, (), doc))

    def transition(
        self,
        name: str,
        formula: Formula,
        *,
        rules: Sequence[str],
        on: Sequence[str] | None = None,
        doc: str = "",
    ) -> None:
        """A two-state property of every step, or of the actions in `on`; `.next` reads the state after."""
        check.check_property(self._scope, "transition", name, formula, rules, cites=True, primed=True)
        self._transitions.append(Transition(name, formula, tuple(rules), doc, None if on is None else tuple(on)))

    def sometimes(self, name: str, formula: Formula, *, doc: str = "") -> None:
        """Holds in some reachable state."""
        check.check_property(self._scope, "sometimes", name, formula, (), cites=False)
        self._sometimes.append(Sometimes(name, formula, doc))

    def can_end(self, name: str, *, trigger: Formula, goal: Formula, rules: Sequence[str], doc: str = "") -> None:
        """Progress: from every reachable state with `trigger`, one with `goal` is reachable without faults."""
        check.check_property(self._scope, "can_end", name, trigger, rules, cites=True)
        check_formula(self._scope, goal, {}, (f"can_end {name}", "goal"))
        self._progress.append(Progress(name, trigger, goal, tuple(rules), doc))

    def may_rest(self, formula: Formula) -> None:
        """States where it is no deadlock that nothing can happen."""
        check_formula(self._scope, formula, {}, ("may_rest",))
        self._may_rest = formula

    def instance(self, name: str, *, large: bool = False, **sizes: int) -> None:
        """Sizes of a finite instance by plural; the first is the default.

        `large`: kept for measuring and for searches on demand. Every check of the machine (vacuity, necessity of
        guards, agreement of the readings) goes through all the others in full.
        """
        if name in self._instances:
            raise MalformedMachine((self._scope.machine, f"instance {name}"), "defined twice")
        self._instances[name] = MappingProxyType(sizes)
        if large:
            self._large.add(name)

    def build(self) -> Machine:
        """The machine. Raises MalformedMachine for what can be seen only when all of it is there."""
        machine = Machine(
            name=self._scope.machine,
            doc=self._doc,
            sorts=tuple(self._scope.sorts),
            symbols=tuple(self._scope.symbols),
            switches=tuple(self._scope.switches),
            workers=tuple(self._scope.workers),
            axioms=tuple(self._axioms),
            initially=tuple(self._initially),
            actions=tuple(self._actions),
            invariants=tuple(self._invariants),
            transitions=tuple(self._transitions),
            sometimes=tuple(self._sometimes),
            progress=tuple(self._progress),
            may_rest=self._may_rest,
            instances=MappingProxyType(dict(self._instances)),
            large=frozenset(self._large),
        )
        check.check_machine(self._scope, machine)
        return machine


def _rules(rules: Collection[str] | None) -> frozenset[str]:
    if rules is not None:
        return frozenset(rules)
    from anchorhold_spec.catalogue import RULES

    return frozenset(rule.id for rule in RULES.values() if rule.modelled)


def _alphabet(alphabet: Collection[str] | None) -> frozenset[str]:
    if alphabet is not None:
        return frozenset(alphabet)
    from anchorhold_spec.machines.alphabet import EVENTS

    return frozenset(EVENTS)
