"""From a Z3 model to what the interpreter runs: a finite instance, a state and the parameters of a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import z3

from anchorhold_spec.language import Action, Function, Sort, SortKind, Symbol
from anchorhold_spec.prove.encode import Encoding
from anchorhold_spec.run import UNDEFINED, Instance, Interpreter, State, Step


@dataclass(frozen=True)
class Counterexample:
    """A state where every invariant holds, a step, and the state after, where a property does not.

    With `step` none it is an initial state that breaks the property.
    """

    instance: Instance
    before: State
    step: Step | None
    after: State
    property: str

    def replays(self) -> bool:
        """Reading 1 agrees: the invariants hold before, the step is possible, leads there, and breaks it."""
        interpreter = Interpreter(self.instance)
        if self.step is None:
            broken = {each.name for each in interpreter.broken(self.after)}
            return self.after == interpreter.initial() and self.property in broken
        if any(True for _ in interpreter.broken(self.before)):
            return False
        after = interpreter.apply(self.before, self.step)
        broken = {each.name for each in interpreter.broken(after)}
        broken |= {each.name for each in interpreter.broken_by(self.before, self.step.action, after)}
        return after == self.after and self.property in broken


class Reading:
    """One model, read as a finite instance: individuals numbered, parts in order, ordered sorts by their order."""

    def __init__(self, encoding: Encoding, model: z3.ModelRef) -> None:
        self._encoding = encoding
        self._model = model
        self._individuals = {
            sort.name: self._number(sort) for sort in encoding.machine.sorts if sort.kind is not SortKind.PART
        }
        self._universe = {name: len(individuals) for name, individuals in self._individuals.items()}
        for sort in encoding.machine.sorts:
            if sort.kind is SortKind.PART:
                inside = encoding.parts[sort.name]
                everyone = self._individuals[sort.base.name]
                self._universe[sort.name] = sum(self._true(inside(individual)) for individual in everyone)

    def instance(self) -> Instance:
        """Sizes and rigid data."""
        bare = Instance(self._encoding.machine, self._universe)
        rigid = tuple(self._table(bare, symbol) for symbol in self._encoding.machine.rigid_symbols)
        return Instance(self._encoding.machine, self._universe, rigid)

    def state(self, instance: Instance) -> State:
        """The state before."""
        return tuple(self._table(instance, symbol) for symbol in self._encoding.machine.state_symbols)

    def step(self, action: Action, environment: Mapping[str, z3.ExprRef]) -> Step:
        """The parameters of the step."""
        binding = tuple(self._index(param.sort, environment[param.name]) for param in action.params)
        return Step(action.name, binding)

    def _number(self, sort: Sort) -> list[z3.ExprRef]:
        encoding = self._encoding
        if sort.kind is SortKind.ENUM:
            return [encoding.value_of(sort, i) for i in range(len(sort.values))]
        individuals = list(self._model.get_universe(encoding.sorts[sort.name]) or ())
        if not individuals:
            # The sort occurs in no interpretation: one individual is enough, and completion makes it up.
            individuals = [self._model.eval(encoding.fresh(sort, sort.name), model_completion=True)]
        if sort.kind is SortKind.ORDERED:
            less = encoding.less[sort.name]
            return sorted(individuals, key=lambda one: sum(self._true(less(other, one)) for other in individuals))
        if parts := encoding.machine.parts_of(sort):
            return sorted(
                individuals,
                key=lambda one: next(i for i, p in enumerate(parts) if self._true(encoding.parts[p.name](one))),
            )
        return individuals

    def _table(self, instance: Instance, symbol: Symbol) -> tuple[int, ...]:
        declared = self._encoding.symbols[symbol.name]
        entries = []
        for cell in instance.cells(symbol):
            arguments = [
                self._individuals[sort.base.name][index] for sort, index in zip(symbol.domain, cell, strict=True)
            ]
            if not isinstance(symbol, Function):
                entries.append(int(self._true(declared(*arguments))))
            elif symbol.partial:
                values = enumerate(self._individuals[symbol.result.base.name])
                entries.append(next((i for i, v in values if self._true(declared(*arguments, v))), UNDEFINED))
            else:
                entries.append(self._index(symbol.result, declared(*arguments)))
        return tuple(entries)

    def _index(self, sort: Sort, term: z3.ExprRef) -> int:
        value = self._model.eval(term, model_completion=True)
        individuals = self._individuals[sort.base.name]
        return next(i for i, individual in enumerate(individuals) if individual.eq(value))

    def _true(self, formula: z3.BoolRef) -> bool:
        return bool(z3.is_true(self._model.eval(formula, model_completion=True)))


def smallest(encoding: Encoding, solver: z3.Solver) -> z3.ModelRef:
    """A model of what the solver holds (known to be satisfiable) with few individuals: sorts shrunk in turn."""
    model = solver.model()
    for sort in encoding.machine.sorts:
        if sort.kind in (SortKind.ENUM, SortKind.PART):
            continue
        size = len(model.get_universe(encoding.sorts[sort.name]) or (None,))
        for fewer in range(1, size):
            solver.push()
            solver.add(_at_most(encoding, sort, fewer))
            if solver.check() == z3.sat:
                model = solver.model()
                break
            solver.pop()
    return model


def _at_most(encoding: Encoding, sort: Sort, size: int) -> z3.BoolRef:
    x = encoding.fresh(sort, "x")
    return z3.ForAll([x], z3.Or(*(x == encoding.fresh(sort, "one") for _ in range(size))))
