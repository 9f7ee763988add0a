"""The reference semantics: what a formula means in a state, and what a step does.

Formulas become closures over a finite instance. Plain on purpose: every other reading is compared with this one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

from anchorhold_spec.language import (
    Action,
    And,
    App,
    Atom,
    Const,
    Defined,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Invariant,
    Lit,
    Lt,
    Member,
    Not,
    Or,
    Relation,
    Succ,
    Symbol,
    Term,
    Transition,
    Update,
    Var,
)
from anchorhold_spec.language.walk import free_names
from anchorhold_spec.run.instance import UNDEFINED, Instance, State

Environment = dict[str, int]
Value = Callable[[State, State, Environment], int]
Truth = Callable[[State, State, Environment], bool]
NOTHING_FIXED: Mapping[str, int] = MappingProxyType({})


class NotEnabled(Exception):  # noqa: N818
    """A step was asked for that a guard forbids, or whose parameters are outside their sorts."""


@dataclass(frozen=True)
class Step:
    """An action with its parameters: individuals by index, in the order of `Action.params`."""

    action: str
    binding: tuple[int, ...]


class Interpreter:
    """Runs one finite instance. Immutable once made; all methods are pure."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.machine = instance.machine
        self._actions = {action.name: _Action(instance, action) for action in self.machine.actions}
        self._invariants = [(each, compile_closed(instance, each.formula)) for each in self.machine.invariants]
        self._transitions = [(each, compile_closed(instance, each.formula)) for each in self.machine.transitions]

    def initial(self) -> State:
        """The first state. (Where rigid data differs there are several instances, each with one.)"""
        tables: list[tuple[int, ...]] = []
        for symbol in self.machine.state_symbols:
            if isinstance(symbol, Relation):
                value = int(symbol.initial)
            else:
                value = UNDEFINED if symbol.initial is None else symbol.initial.index
            tables.append((value,) * len(list(self.instance.cells(symbol))))
        state = tuple(tables)
        return _write(state, _Writer(self.instance, self.machine.initially)(state, {}))

    def steps(self, state: State, *, faults: bool = True) -> Iterator[tuple[Step, State]]:
        """Everything that can happen here, with what comes of it: actions in order, parameters counting up."""
        for action in self._actions.values():
            if faults or not action.action.fault:
                for environment in action.bindings(state):
                    yield action.step(environment), _write(state, action.writer(state, environment))

    def enabled(self, state: State) -> Iterator[Step]:
        """Everything that can happen here."""
        for action in self._actions.values():
            for environment in action.bindings(state):
                yield action.step(environment)

    def matching(self, state: State, action: str, fixed: Mapping[str, int]) -> Iterator[Step]:
        """The steps of one action that can happen here with these parameters; the others are left open."""
        found = self._actions[action]
        for environment in found.bindings(state, fixed):
            yield found.step(environment)

    def possible(self, action: str, fixed: Mapping[str, int]) -> Iterator[Step]:
        """The steps of one action with these parameters, whether they can happen or not."""
        ranges = self._actions[action].ranges
        for binding in product(*([fixed[name]] if name in fixed else values for name, values in ranges)):
            yield Step(action, binding)

    def forbidding(self, state: State, step: Step) -> tuple[str, ...]:
        """The guards that do not hold of a step here. Raises NotEnabled where a parameter is outside its sort."""
        action = self._actions[step.action]
        environment = action.environment(step.binding)
        return tuple(guard for guard, holds in action.guards if not holds(state, state, environment))

    def force(self, state: State, step: Step) -> State:
        """The state after a step that the guards may forbid: for showing what comes of it."""
        action = self._actions[step.action]
        return _write(state, action.writer(state, action.environment(step.binding)))

    def apply(self, state: State, step: Step) -> State:
        """The state after a step. Raises NotEnabled, naming the guard."""
        action = self._actions[step.action]
        environment = action.environment(step.binding)
        for guard, holds in action.guards:
            if not holds(state, state, environment):
                raise NotEnabled(f"{self.machine.name} / action {step.action}: guard {guard!r} does not hold")
        return _write(state, action.writer(state, environment))

    def broken(
        self, state: State, *, auxiliary: bool = True, among: Collection[str] | None = None
    ) -> Iterator[Invariant]:
        """The invariants that do not hold here, the auxiliary ones too unless they are left out.

        `among`: only those of these names are looked at; none: all.
        """
        for invariant, holds in self._invariants:
            chosen = (auxiliary or invariant.public) and (among is None or invariant.name in among)
            if chosen and not holds(state, state):
                yield invariant

    def broken_by(self, before: State, action: str, after: State) -> Iterator[Transition]:
        """The two-state properties that this step breaks."""
        for transition, holds in self._transitions:
            if (transition.on is None or action in transition.on) and not holds(before, after):
                yield transition


class _Action:
    """One action, its guards ordered so that each is tested as soon as its variables are bound."""

    def __init__(self, instance: Instance, action: Action) -> None:
        self.action = action
        self.guards = [(guard.name, compile_formula(instance, guard.formula)) for guard in action.guards]
        self.writer = _Writer(instance, action.updates)
        self.ranges = [(param.name, instance.individuals(param.sort)) for param in action.params]
        self._tests: list[list[Truth]] = [[] for _ in range(len(action.params) + 1)]
        names = [param.name for param in action.params]
        for guard, (_, holds) in zip(action.guards, self.guards, strict=True):
            depth = max((names.index(name) + 1 for name in free_names(guard.formula)), default=0)
            self._tests[depth].append(holds)

    def bindings(self, state: State, fixed: Mapping[str, int] = NOTHING_FIXED) -> Iterator[Environment]:
        """The parameters for which every guard holds: one dictionary, changed in place from one to the next."""
        return self._bind(state, fixed, {}, 0)

    def _bind(
        self, state: State, fixed: Mapping[str, int], environment: Environment, depth: int
    ) -> Iterator[Environment]:
        for test in self._tests[depth]:
            if not test(state, state, environment):
                return
        if depth == len(self.ranges):
            yield environment
            return
        name, individuals = self.ranges[depth]
        if name in fixed:
            individuals = range(fixed[name], fixed[name] + 1) if fixed[name] in individuals else range(0)
        for individual in individuals:
            environment[name] = individual
            yield from self._bind(state, fixed, environment, depth + 1)

    def environment(self, binding: tuple[int, ...]) -> Environment:
        """The parameters by name. Raises NotEnabled where one is outside its sort."""
        environment: Environment = {}
        for (name, individuals), value in zip(self.ranges, binding, strict=True):
            if value not in individuals:
                raise NotEnabled(f"action {self.action.name}: parameter {name} = {value} is outside its sort")
            environment[name] = value
        return environment

    def step(self, environment: Environment) -> Step:
        """The step with these parameters."""
        return Step(self.action.name, tuple(environment[name] for name, _ in self.ranges))


class _Writer:
    """The updates of an action as a list of (table, cell, value), all read in the state before."""

    def __init__(self, instance: Instance, updates: tuple[Update, ...]) -> None:
        symbols = instance.machine.state_symbols
        self._updates = []
        for update in updates:
            value = update.value
            if isinstance(value, Formula):
                truth = compile_formula(instance, value)
                compiled: Value = _as_int(truth)
            else:
                compiled = _constant(UNDEFINED) if value is None else compile_term(instance, value)
            self._updates.append(
                (
                    _position(symbols, update.symbol),
                    _place(instance, update.symbol, update.target.arguments),
                    compiled,
                    compile_formula(instance, update.condition),
                    [variable.name for variable in update.bound],
                    [instance.individuals(variable.sort) for variable in update.bound],
                )
            )

    def __call__(self, state: State, environment: Environment) -> list[tuple[int, int, int]]:
        writes: list[tuple[int, int, int]] = []
        for table, place, value, condition, names, ranges in self._updates:
            for values in product(*ranges):
                inner = {**environment, **dict(zip(names, values, strict=True))} if names else environment
                if condition(state, state, inner):
                    writes.append((table, place(state, state, inner), value(state, state, inner)))
        return writes


def _write(state: State, writes: list[tuple[int, int, int]]) -> State:
    changed: dict[int, list[int]] = {}
    for table, cell, value in writes:
        changed.setdefault(table, list(state[table]))[cell] = value
    return tuple(tuple(changed[i]) if i in changed else table for i, table in enumerate(state))


def compile_closed(instance: Instance, formula: Formula) -> Callable[[State, State], bool]:
    """A formula without free variables, as a function of the states before and after."""
    truth = compile_formula(instance, formula)
    return lambda before, after: truth(before, after, {})


def compile_formula(instance: Instance, formula: Formula) -> Truth:
    """What a formula means in this instance, given the states before and after and its free variables."""

    def sub(part: Formula) -> Truth:
        return compile_formula(instance, part)

    match formula:
        case Lit(value=value):
            return lambda _pre, _post, _env: value
        case Atom(relation=relation, arguments=arguments, primed=primed):
            cell = _cell(instance, relation, arguments, primed=primed)
            return lambda pre, post, env: cell(pre, post, env) == 1
        case Defined(app=app):
            read = compile_term(instance, app)
            return lambda pre, post, env: read(pre, post, env) != UNDEFINED
        case Eq(left=left, right=right):
            if isinstance(left, App) and isinstance(right, App):
                return _compare(instance, left, right, lambda a, b: a == b)
            # One side always has a value, and it is never `UNDEFINED`.
            one_side, other_side = compile_term(instance, left), compile_term(instance, right)
            return lambda pre, post, env: one_side(pre, post, env) == other_side(pre, post, env)
        case Lt(left=left, right=right):
            return _compare(instance, left, right, lambda a, b: a < b)
        case Succ(left=left, right=right):
            return _compare(instance, left, right, lambda a, b: a + 1 == b)
        case Member(term=term, part=part):
            read = compile_term(instance, term)
            individuals = instance.individuals(part)
            return lambda pre, post, env: read(pre, post, env) in individuals
        case Not(body=body):
            holds = sub(body)
            return lambda pre, post, env: not holds(pre, post, env)
        case And(parts=parts):
            return _first(tuple(sub(part) for part in parts), wanted=False)
        case Or(parts=parts):
            return _first(tuple(sub(part) for part in parts), wanted=True)
        case Implies(left=premise, right=conclusion):
            if_, then = sub(premise), sub(conclusion)
            return lambda pre, post, env: not if_(pre, post, env) or then(pre, post, env)
        case Iff(left=premise, right=conclusion):
            one, other = sub(premise), sub(conclusion)
            return lambda pre, post, env: one(pre, post, env) == other(pre, post, env)
        case ForAll(variables=variables, body=body):
            return _every(instance, variables, sub(body), wanted=False)
        case Exists(variables=variables, body=body):
            return _every(instance, variables, sub(body), wanted=True)
        case _:
            # `SwitchIs` cannot be met: `instances` decides every switch.
            raise TypeError(f"{type(formula).__name__} has no meaning in a finite instance")


def compile_term(instance: Instance, term: Term) -> Value:
    """The index of the individual that a term stands for; `UNDEFINED` where it stands for none."""
    match term:
        case Var(name=name):
            return lambda _pre, _post, env: env[name]
        case Const(index=index):
            return _constant(index)
        case App(function=function, arguments=arguments, primed=primed):
            return _cell(instance, function, arguments, primed=primed)
        case _:
            raise TypeError(f"{type(term).__name__} is no term")


def _cell(instance: Instance, symbol: Symbol, arguments: tuple[Term, ...], *, primed: bool) -> Value:
    place = _place(instance, symbol, arguments)
    if symbol.rigid:
        given = instance.rigid[_position(instance.machine.rigid_symbols, symbol)]
        return lambda pre, post, env: given[place(pre, post, env)]
    table = _position(instance.machine.state_symbols, symbol)
    if primed:
        return lambda pre, post, env: post[table][place(pre, post, env)]
    return lambda pre, post, env: pre[table][place(pre, post, env)]


def _place(instance: Instance, symbol: Symbol, arguments: tuple[Term, ...]) -> Value:
    if not arguments:
        return _constant(0)
    ranges = [instance.individuals(sort) for sort in symbol.domain]
    reads = [compile_term(instance, argument) for argument in arguments]
    if len(reads) == 1:
        read, start = reads[0], ranges[0].start
        return lambda pre, post, env: read(pre, post, env) - start

    def place(pre: State, post: State, env: Environment) -> int:
        position = 0
        for read, individuals in zip(reads, ranges, strict=True):
            position = position * len(individuals) + read(pre, post, env) - individuals.start
        return position

    return place


def _compare(instance: Instance, left: Term, right: Term, relation: Callable[[int, int], bool]) -> Truth:
    one, other = compile_term(instance, left), compile_term(instance, right)

    def compare(pre: State, post: State, env: Environment) -> bool:
        a, b = one(pre, post, env), other(pre, post, env)
        return a != UNDEFINED and b != UNDEFINED and relation(a, b)

    return compare


def _first(parts: tuple[Truth, ...], *, wanted: bool) -> Truth:
    """`wanted` as soon as one part is, else its opposite: a conjunction looks for false, a disjunction for true."""

    def first(pre: State, post: State, env: Environment) -> bool:
        for part in parts:
            if part(pre, post, env) is wanted:
                return wanted
        return not wanted

    return first


def _every(instance: Instance, variables: tuple[Var, ...], body: Truth, *, wanted: bool) -> Truth:
    """The same over all values of variables. They are set in place: shadowing is refused, so nothing is lost."""
    if len(variables) > 1:
        body = _every(instance, variables[1:], body, wanted=wanted)
    name, individuals = variables[0].name, instance.individuals(variables[0].sort)

    def every(pre: State, post: State, env: Environment) -> bool:
        for individual in individuals:
            env[name] = individual
            if body(pre, post, env) is wanted:
                return wanted
        return not wanted

    return every


def _constant(value: int) -> Value:
    return lambda _pre, _post, _env: value


def _as_int(truth: Truth) -> Value:
    return lambda pre, post, env: int(truth(pre, post, env))


def _position(symbols: tuple[Symbol, ...], symbol: Symbol) -> int:
    return next(i for i, each in enumerate(symbols) if each is symbol)
