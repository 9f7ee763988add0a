"""Run and prove mean the same by every formula and every update: random formulas, states and steps, held together."""

from dataclasses import dataclass, replace
from itertools import pairwise

import z3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lending import lending

from anchorhold_spec.language import (
    Action,
    And,
    Atom,
    Const,
    Defined,
    Eq,
    Exists,
    ForAll,
    Formula,
    Function,
    Iff,
    Implies,
    Lt,
    Machine,
    MachineBuilder,
    Member,
    Not,
    Or,
    Relation,
    Sort,
    SortKind,
    Succ,
    Var,
    forall,
)
from anchorhold_spec.prove.encode import After, Before, Encoding
from anchorhold_spec.run import Instance, Interpreter, Step, instances
from anchorhold_spec.run.interpret import compile_formula


def zoo() -> Machine:
    """One of everything that the language has."""
    m = MachineBuilder("zoo", "", rules={"ZOO-1"}, alphabet=())
    beast, cat, dog = (one := m.sort("beast")), m.part("cat", one), m.part("dog", one)
    age, mood = m.ordered("age"), m.enum("mood", "calm", "wild")
    likes = m.rel("likes", beast, cat)
    friend = m.pfun("friend", beast, to=beast)
    prey = m.pfun("prey", dog, to=cat)
    age_of = m.fun("age_of", cat, to=age, initial=age.zero)
    mood_of = m.fun("mood_of", beast, to=mood, initial=mood.calm)
    limit = m.pfun("limit", mood, to=age)
    kin = m.rigid_rel("kin", beast, beast, given=lambda i, j: (i + j) % 2 == 0)
    b, c, d, o, a = beast("b"), cat("c"), dog("d"), beast("o"), age("a")
    m.action(
        "meet",
        b,
        c,
        d,
        a,
        doc="",
        updates=[
            likes(b, c).becomes(~likes(b, c) | kin(b, c)),
            friend(b).becomes(friend(d)),
            prey(d).becomes(c, when=likes(d, c)),
            prey(d).cleared(when=~likes(d, c)),
            age_of(c).becomes(a),
            mood_of(o).becomes(mood.wild, when=likes(o, c) & (mood_of(o) == mood.calm), each=o),
            mood_of(o).becomes(mood_of(b), when=(mood_of(o) == mood.wild), each=o),
            limit(mood.wild).becomes(age_of(c)),
            limit(mood.calm).becomes(limit(mood.wild)),
        ],
    )
    m.action("rest", c, doc="", updates=[friend(o).cleared(when=kin(o, c), each=o), age_of(c).becomes(age.zero)])
    m.invariant("i", forall(b, c, likes(b, c)), rules=["ZOO-1"])
    m.instance("small", cats=2, dogs=1, ages=2)
    return m.build()


ZOO = zoo()
(INSTANCE,) = instances(ZOO)
NAMES = ("x", "y", "z")


def terms(scope: dict[str, Var], sort: Sort, *, applied: bool) -> st.SearchStrategy:
    options: list[st.SearchStrategy] = [st.just(v) for v in scope.values() if v.sort is sort or v.sort.parent is sort]
    if sort.kind is SortKind.ENUM:
        options.append(st.sampled_from([Const(sort, i) for i in range(len(sort.values))]))
    if sort.kind is SortKind.ORDERED:
        options.append(st.just(sort.zero))
    if applied:
        for symbol in ZOO.symbols:
            if isinstance(symbol, Function) and (symbol.result is sort or symbol.result.parent is sort):
                arguments = [terms(scope, each, applied=False) for each in symbol.domain]
                if not any(argument.is_empty for argument in arguments):
                    options.append(st.tuples(*arguments).map(lambda a, f=symbol: f(*a)))
    return st.one_of(options) if options else st.nothing()


def atoms(scope: dict[str, Var]) -> st.SearchStrategy[Formula]:
    options: list[st.SearchStrategy[Formula]] = []

    def both(sort: Sort, build) -> None:
        side = terms(scope, sort, applied=True)
        if not side.is_empty:
            options.append(st.tuples(side, side).map(lambda pair: build(*pair)))

    for sort in ZOO.sorts:
        if sort.kind is not SortKind.PART:
            both(sort, Eq)
        else:
            side = terms(scope, sort.base, applied=True)
            if not side.is_empty:
                options.append(side.map(lambda term, part=sort: Member(term, part)))
        if sort.kind is SortKind.ORDERED:
            both(sort, Lt)
            both(sort, Succ)
    for symbol in ZOO.symbols:
        arguments = [terms(scope, each, applied=False) for each in symbol.domain]
        if any(argument.is_empty for argument in arguments):
            continue
        if isinstance(symbol, Relation):
            options.append(st.tuples(*arguments).map(lambda a, r=symbol: Atom(r, a)))
        elif symbol.partial:
            options.append(st.tuples(*arguments).map(lambda a, f=symbol: Defined(f(*a))))
    return st.one_of(options) if options else st.nothing()


@st.composite
def formulas(draw, depth: int = 3, scope: dict[str, Var] | None = None) -> Formula:
    scope = scope or {}
    free = [name for name in NAMES if name not in scope]
    kinds = (["atom"] if not depth or len(scope) >= 2 else []) + (["not", "two", "quantify"] if depth else [])
    kind = draw(st.sampled_from(kinds))
    if not scope or (kind == "quantify" and free):
        variable = Var(free[0], draw(st.sampled_from(ZOO.sorts)))
        body = draw(formulas(max(0, depth - 1), {**scope, free[0]: variable}))
        return draw(st.sampled_from([ForAll, Exists]))((variable,), body)
    if kind == "not":
        return Not(draw(formulas(depth - 1, scope)))
    if kind == "two":
        left, right = draw(formulas(depth - 1, scope)), draw(formulas(depth - 1, scope))
        return draw(st.sampled_from([And((left, right)), Or((left, right)), Implies(left, right), Iff(left, right)]))
    return draw(atoms(scope))


@st.composite
def states(draw):
    tables = []
    for symbol in ZOO.state_symbols:
        if isinstance(symbol, Relation):
            values = [0, 1]
        else:
            values = list(INSTANCE.individuals(symbol.result)) + ([-1] if symbol.partial else [])
        cells = len(list(INSTANCE.cells(symbol)))
        tables.append(tuple(draw(st.lists(st.sampled_from(values), min_size=cells, max_size=cells))))
    return tuple(tables)


@st.composite
def steps(draw) -> Step:
    action = draw(st.sampled_from(ZOO.actions))
    return Step(
        action.name, tuple(draw(st.sampled_from(INSTANCE.individuals(param.sort))) for param in action.params)
    )


EFFORT = 10_000_000
"""What Z3 may spend on a question before it begins anew with another seed, by its own count: the same everywhere."""
SEEDS = range(6)


@dataclass
class Pinned:
    """The encoding with every individual named and every place of one state written down."""

    encoding: Encoding
    solver: z3.Solver
    individuals: dict[str, list]

    def says(self, formula) -> bool:
        possible = self._possible(formula)
        # The state is written down in full, so exactly one of the two is possible.
        assert possible is not self._possible(z3.Not(formula))
        return possible

    def _possible(self, claim) -> bool:
        answer = z3.unknown
        for seed in SEEDS:
            # A few questions it searches without end with one seed, and decides with the next.
            self.solver.set("rlimit", EFFORT)
            self.solver.set("random_seed", seed)
            self.solver.push()
            self.solver.add(claim)
            answer = self.solver.check()
            self.solver.pop()
            if answer != z3.unknown:
                break
        assert answer in (z3.sat, z3.unsat)
        return answer == z3.sat


def pin(instance: Instance, state) -> Pinned:
    encoding = Encoding(instance.machine)
    solver = z3.Solver(ctx=encoding.context)
    solver.add(*encoding.background())
    individuals: dict[str, list] = {}
    for sort in instance.machine.sorts:
        if sort.kind is SortKind.PART:
            continue
        count = instance.universe[sort.name]
        if sort.kind is SortKind.ENUM:
            individuals[sort.name] = [encoding.value_of(sort, i) for i in range(count)]
            continue
        constants = [encoding.fresh(sort, f"{sort.name}{i}") for i in range(count)]
        x = encoding.fresh(sort, "any")
        solver.add(z3.Distinct(*constants), z3.ForAll([x], z3.Or(*(x == c for c in constants))))
        if sort.kind is SortKind.ORDERED:
            solver.add(*(encoding.less[sort.name](a, b) for a, b in pairwise(constants)))
        individuals[sort.name] = constants
    for sort in instance.machine.sorts:
        if sort.kind is SortKind.PART:
            for i, constant in enumerate(individuals[sort.base.name]):
                inside = encoding.parts[sort.name](constant)
                solver.add(inside if i in instance.individuals(sort) else z3.Not(inside))
    tables = [
        *zip(instance.machine.rigid_symbols, instance.rigid, strict=True),
        *zip(instance.machine.state_symbols, state, strict=True),
    ]
    for symbol, table in tables:
        declared = encoding.symbols[symbol.name]
        for cell, entry in zip(instance.cells(symbol), table, strict=True):
            arguments = [individuals[s.base.name][i] for s, i in zip(symbol.domain, cell, strict=True)]
            if isinstance(symbol, Relation):
                solver.add(declared(*arguments) if entry else z3.Not(declared(*arguments)))
            elif symbol.partial:
                for i, value in enumerate(individuals[symbol.result.base.name]):
                    solver.add(declared(*arguments, value) if i == entry else z3.Not(declared(*arguments, value)))
            else:
                solver.add(declared(*arguments) == individuals[symbol.result.base.name][entry])
    return Pinned(encoding, solver, individuals)


RANDOM = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


@RANDOM
@given(formula=formulas(), state=states())
def test_a_formula_means_the_same_in_run_and_in_prove(formula, state):
    pinned = pin(INSTANCE, state)

    expected = compile_formula(INSTANCE, formula)(state, state, {})

    assert pinned.says(pinned.encoding.formula(formula, {}, Before(pinned.encoding))) == expected


@RANDOM
@given(formula=formulas(), state=states(), step=steps())
def test_the_state_after_a_step_is_the_same_in_run_and_in_prove(formula, state, step):
    pinned = pin(INSTANCE, state)
    after = Interpreter(INSTANCE).apply(state, step)
    action: Action = ZOO.action(step.action)
    environment = {
        param.name: pinned.individuals[param.sort.base.name][index]
        for param, index in zip(action.params, step.binding, strict=True)
    }

    expected = compile_formula(INSTANCE, formula)(after, after, {})

    reader = After(pinned.encoding, Before(pinned.encoding), action.updates, environment)
    assert pinned.says(pinned.encoding.formula(formula, {}, reader)) == expected


def test_the_comparison_of_the_readings_can_fail():
    # Kept honest: a wrong update in one of the two readings is seen.
    machine = lending()
    (instance,) = instances(machine)
    run = Interpreter(instance)
    lend = machine.action("lend")
    wrong = replace(lend, updates=tuple(u for u in lend.updates if u.symbol.name != "holder"))
    pinned = pin(instance, run.initial())
    environment = {param.name: pinned.individuals[param.sort.base.name][0] for param in lend.params}
    after = run.apply(run.initial(), Step("lend", (0, 0, 0)))
    formula = forall(lend.params[0], ~machine.symbols[1](lend.params[0]).defined)

    def verdict(action: Action) -> bool:
        reader = After(pinned.encoding, Before(pinned.encoding), action.updates, environment)
        return pinned.says(pinned.encoding.formula(formula, {}, reader))

    assert verdict(lend) is compile_formula(instance, formula)(after, after, {}) is False
    assert verdict(wrong) is True
