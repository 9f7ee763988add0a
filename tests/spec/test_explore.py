"""Reading 3 finds what reading 1 finds: states, steps, shortest runs, verdicts; compiled or not, reduced or not."""

import re
from dataclasses import replace
from itertools import permutations, product
from math import perm

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lending import lending
from odd_machines import ODD, parts_and_rigid_data, several_words, switches_and_quantified_guards, unfair
from random_machines import machines

from anchorhold_spec import run
from anchorhold_spec.explore import Engine, FastMutantExplorer, explore, find_violation
from anchorhold_spec.explore.found import step_of
from anchorhold_spec.explore.load import CACHE_VARIABLE
from anchorhold_spec.explore.prepare import prepare
from anchorhold_spec.explore.uncompiled import PlainCode
from anchorhold_spec.explore.walks import walk
from anchorhold_spec.language import Function, Machine, MachineBuilder, UnknownChoice, exists, forall, safety
from anchorhold_spec.machines import load, names
from anchorhold_spec.run import GaveUp, GuardId, Interpreter

SAMPLES = [
    pytest.param(machine, sizes, id=f"{machine.name}-{name}")
    for machine in (lending(), *ODD)
    for name, sizes in machine.instances.items()
]
COMPILED = [Engine.UNCOMPILED, pytest.param(Engine.COMPILED, marks=pytest.mark.slow)]
"""Compiling one machine takes seconds; that compiled code runs at all is also held by a test that is not slow."""


@pytest.fixture(autouse=True)
def cache(request, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(request.config.cache.mkdir("explore")))


def assert_agrees(machine: Machine, sizes, engine: Engine, **switches: str) -> None:
    expected = run.explore(machine, sizes=sizes, switches=switches, stop=False)
    found = explore(machine, sizes=sizes, switches=switches, engine=engine, keep_going=True, threads=2)

    assert (found.states, found.transitions, found.depth) == (expected.states, expected.transitions, expected.depth)
    assert dict(found.fired) == dict(expected.fired)
    assert sum(found.layers) == found.states
    assert lengths(found.witnesses) == lengths(expected.witnesses)
    assert steps_to(found.deadlock) == steps_to(expected.deadlock)
    # The interpreter knows nothing of progress: that is tested by itself.
    progress = {each.name for each in machine.progress}
    broken = [each for each in found.violations if each.property not in progress]
    assert bool(broken) == bool(expected.violation)
    if expected.violation is not None:
        assert len(broken[0].trace.steps) == len(expected.violation.trace.steps)
    for violation in broken:
        assert_breaks(violation)


def lengths(traces) -> dict[str, int]:
    return {name: len(trace.steps) for name, trace in traces.items()}


def steps_to(trace) -> int | None:
    return None if trace is None else len(trace.steps)


def assert_breaks(violation: run.Violation) -> None:
    """The run is one of the machine's, and it ends where the property is broken, and not before."""
    trace = violation.trace
    interpreter = Interpreter(trace.instance)
    assert trace.states[0] == interpreter.initial()
    broken = []
    for before, step, after in zip(trace.states, trace.steps, trace.states[1:], strict=False):
        assert interpreter.apply(before, step) == after
        broken.append(
            {each.name for each in (*interpreter.broken(after), *interpreter.broken_by(before, step.action, after))}
        )
    assert [violation.property in each for each in broken] == [False] * (len(broken) - 1) + [True]


@pytest.mark.parametrize("engine", COMPILED)
@pytest.mark.parametrize(("machine", "sizes"), SAMPLES)
def test_run_and_explore_find_the_same_on_awkward_machines(machine, sizes, engine):
    assert_agrees(machine, sizes, engine)


@pytest.mark.parametrize("engine", COMPILED)
@pytest.mark.parametrize("how", ["strict", "lax", "mad"])
def test_run_and_explore_find_the_same_for_every_variant_of_a_design(how, engine):
    assert_agrees(switches_and_quantified_guards(), None, engine, how=how)


SMALL = 12_000


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_run_and_explore_find_the_same_on_every_machine_of_the_specification(name):
    machine = load(name)
    tried = 0
    for sizes in machine.instances.values():
        if run.explore(machine, sizes=sizes, limit=SMALL, stop=False).states < SMALL:
            assert_agrees(machine, sizes, Engine.UNCOMPILED)
            if not tried:
                assert_agrees(machine, sizes, Engine.COMPILED)
            tried += 1
    assert tried, f"{name} has no instance of fewer than {SMALL} states"


def test_compiled_code_finds_what_run_finds():
    # The smallest machine there is, so that compiling it can be waited for.
    assert_agrees(unfair(), None, Engine.COMPILED)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(machine=machines(), drop=st.booleans())
def test_run_and_explore_take_the_same_steps_on_random_machines(machine, drop):
    dropped = tuple(GuardId(a.name, a.guards[0].name) for a in machine.actions if a.guards) if drop else ()
    prepared = prepare(machine, dropped=dropped)
    code = PlainCode(prepared)
    interpreter = Interpreter(prepared.instance)
    layout, config = prepared.layout, prepared.source.config
    rigid = prepared.instance.rigid
    states = [interpreter.initial()]
    for state in states:
        packed = layout.pack(rigid, state)
        assert layout.unpack(packed)[1] == state
        code.flags = [0] * len(code.flags)
        steps = list(interpreter.steps(state))
        taken = [(step_of(prepared, label), layout.unpack(after)[1]) for label, after in code.steps(packed)]

        assert sorted(taken, key=str) == sorted(steps, key=str)
        code.look(packed)
        raised = {name for name, flag in zip(config.properties, code.flags, strict=False) if flag}
        broken = {each.name for each in interpreter.broken(state)}
        for step, after in steps:
            broken |= {each.name for each in interpreter.broken_by(state, step.action, after)}
        assert raised == broken
        for _, after in steps:
            if len(states) < 40 and after not in states:
                states.append(after)


@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(machine=machines())
def test_on_random_machines_an_orbit_has_one_state_that_stands_for_it(machine):
    prepared = prepare(machine, symmetry=True)
    code = PlainCode(prepared)
    symmetry = prepared.source.symmetry
    packed = set(prepared.start)
    for state in list(packed):
        packed |= {after for _, after in code.steps(state)}
    for state in sorted(packed)[:12]:
        orbit = set(images(prepared, state, symmetry.used))
        assert {code.canonical(each) for each in orbit} == {code.canonical(state)}
        assert code.canonical(state) in orbit
        assert {code.extreme(each, -1) for each in orbit} == {code.extreme(state, -1)}
        assert sorted(code.canonical(after) for _, after in code.steps(state)) == sorted(
            code.canonical(after) for _, after in code.steps(code.canonical(state))
        )


def images(prepared, packed, sorts):
    """All that a state becomes when the individuals of these sorts change places within their parts."""
    layout, machine = prepared.layout, prepared.machine
    choices = []
    for sort in sorts:
        ranges = [layout.individuals(part) for part in machine.parts_of(sort) or (sort,)]
        choices.append([sum(each, ()) for each in product(*(permutations(r) for r in ranges))])
    free, state = layout.unpack(packed)
    symbols = (*layout.free, *machine.state_symbols)
    for choice in product(*choices):
        new = {sort.name: order for sort, order in zip(sorts, choice, strict=True)}

        def moved(sort, index, new=new):
            return new[sort.base.name][index] if sort.base.name in new and index >= 0 else index

        tables = []
        for symbol, table in zip(symbols, (*free, *state), strict=True):
            cells = list(product(*(layout.individuals(sort) for sort in symbol.domain)))
            renamed = {}
            for cell, entry in zip(cells, table, strict=True):
                at = tuple(moved(sort, index) for sort, index in zip(symbol.domain, cell, strict=True))
                renamed[at] = moved(symbol.result, entry) if isinstance(symbol, Function) else entry
            tables.append(tuple(renamed[cell] for cell in cells))
        rigid = iter(tables[: len(free)])
        full = tuple(
            next(rigid) if symbol.given is None else table
            for symbol, table in zip(machine.rigid_symbols, prepared.instance.rigid, strict=True)
        )
        yield layout.pack(full, tuple(tables[len(free) :]))


# Symmetry


def reachable(prepared):
    code = PlainCode(prepared)
    seen = dict.fromkeys(prepared.start)
    queue = list(seen)
    for state in queue:
        for _, after in code.steps(state):
            if after not in seen:
                seen[after] = None
                queue.append(after)
    return queue


@pytest.mark.parametrize(
    ("machine", "sizes"),
    [
        (load("release-race"), {"spans": 3, "keys": 2, "epochs": 1}),
        (load("release-race"), {"spans": 2, "keys": 3, "epochs": 1}),
        (parts_and_rigid_data(), {"cats": 2, "dogs": 1}),
        (parts_and_rigid_data(), {"cats": 1, "dogs": 2}),
        (switches_and_quantified_guards(), {"items": 3, "places": 2}),
        (unfair(), {"workers": 3, "steps": 1}),
    ],
    ids=lambda each: each.name if isinstance(each, Machine) else "-".join(map(str, each.values())),
)
def test_symmetry_gives_as_many_states_as_the_full_run_has_orbits(machine, sizes):
    prepared = prepare(machine, sizes=sizes, symmetry=True)
    code = PlainCode(prepared)
    sorts = prepared.source.symmetry.used
    assert sorts
    states = reachable(prepare(machine, sizes=sizes))
    orbits = {min(images(prepared, state, sorts)) for state in states}

    found = explore(machine, sizes=sizes, symmetry=True, engine=Engine.UNCOMPILED, keep_going=True)
    full = explore(machine, sizes=sizes, engine=Engine.UNCOMPILED, keep_going=True)

    assert (full.states, found.states) == (len(states), len(orbits))
    # By least and by greatest: a canonical form that is wrong gives two different numbers.
    assert len({code.extreme(state, 1) for state in states}) == len(orbits)
    assert len({code.extreme(state, -1) for state in states}) == len(orbits)
    assert found.depth == full.depth
    assert [(v.property, len(v.trace.steps)) for v in found.violations] == [
        (v.property, len(v.trace.steps)) for v in full.violations
    ]
    progress = {each.name for each in machine.progress}
    for violation in found.violations:
        if violation.property not in progress:
            assert_breaks(violation)


def test_a_wrong_canonical_form_is_seen_by_counting_orbits():
    # Kept honest: where a function's values keep their old names, as slips in such code go, the number is another.
    sizes = {"spans": 2, "keys": 3, "epochs": 1}
    prepared = prepare(load("release-race"), sizes=sizes, symmetry=True)
    text = prepared.source.text
    wrong = re.sub(r"v = TO_0\[.*", "v = v", text)
    assert wrong != text
    slip = replace(prepared, source=replace(prepared.source, text=wrong))
    states = reachable(prepare(load("release-race"), sizes=sizes))

    def orbits(code: PlainCode) -> list[int]:
        return [len({code.extreme(state, sense) for state in states}) for sense in (1, -1)]

    right = len({min(images(prepared, state, prepared.source.symmetry.used)) for state in states})
    assert orbits(PlainCode(prepared)) == [right, right]
    assert right not in orbits(PlainCode(slip))


def test_individuals_that_given_data_tells_apart_are_not_exchanged():
    m = MachineBuilder("favourite", "", rules={"ODD-1"}, alphabet=())
    one, other = m.sort("one", symmetric=True), m.sort("other", symmetric=True)
    best = m.rigid_rel("best", one, given=lambda i: i == 0)
    seen = m.rel("seen", one, other)
    a, b = one("a"), other("b")
    m.action("see", a, b, doc="", guards=[safety("new", ~seen(a, b))], updates=[seen(a, b).becomes(True)])
    m.invariant("not only the best", exists(a, ~best(a)) | forall(a, b, seen(a, b)), rules=["ODD-1"])
    m.instance("small", ones=2, others=2)
    machine = m.build()

    found = explore(machine, symmetry=True, engine=Engine.UNCOMPILED)

    assert found.symmetry == ("other",)
    assert list(found.not_reduced) == ["one"]
    assert "best" in found.not_reduced["one"]
    # Pairs of sets of two, up to exchanging the two: 16 states, 4 of them fixed.
    assert found.states == 10


# Counts that are known from elsewhere


def closed_form(spans: int, keys: int, epochs: int) -> int:
    return sum(
        perm(spans, sum(taken)) * 10 ** sum(epoch > 0 for epoch in taken)
        for taken in product(range(epochs + 1), repeat=keys)
        if sum(taken) <= spans
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spans", "states", "orbits"), [(4, 136_801, 1_111), (5, 1_364_551, 2_311), (6, 11_617_681, 3_586)]
)
def test_release_race_has_the_states_and_orbits_that_other_model_checkers_count(spans, states, orbits):
    sizes = {"spans": spans, "keys": 3, "epochs": 3}
    machine = load("release-race")
    assert closed_form(spans, 3, 3) == states

    reduced = explore(machine, sizes=sizes, symmetry=True, engine=Engine.COMPILED)
    full = explore(machine, sizes=sizes, engine=Engine.COMPILED, threads=2)

    assert (full.states, full.complete, full.violation) == (states, True, None)
    assert (reduced.states, reduced.complete, reduced.violation) == (orbits, True, None)
    assert full.depth == reduced.depth


@pytest.mark.slow
def test_two_threads_find_what_one_finds_while_tables_grow():
    sizes = {"spans": 4, "keys": 3, "epochs": 3}
    one, two = (explore(load("release-race"), sizes=sizes, engine=Engine.COMPILED, threads=n) for n in (1, 2))

    assert one.layers == two.layers
    assert dict(one.fired) == dict(two.fired)


# Mutants


def test_release_race_without_the_copy_breaks_in_six_steps():
    trace = find_violation(load("release-race"), dropped=("release", "copied"))

    assert trace is not None
    assert [step.action for step in trace.steps] == ["append", "stage", "point", "commit", "release", "evict"]


@pytest.mark.parametrize("name", ["release-race", "pointer-before-commit"])
def test_mutants_give_what_the_plain_explorer_gives(name):
    machine = load(name).with_defaults()
    guards = [GuardId(action.name, guard.name) for action in machine.actions for guard in action.guards]
    sizes = next(iter(machine.instances.values()))
    plain = run.PlainMutantExplorer()(machine, dropped=guards, sizes=sizes)
    fast = FastMutantExplorer()(machine, dropped=guards, sizes=sizes)

    def verdict(violation):
        return violation and len(violation.trace.steps)

    assert {guard: verdict(v) for guard, v in fast.items()} == {guard: verdict(v) for guard, v in plain.items()}
    assert any(fast.values())


@pytest.mark.slow
def test_a_mutant_that_is_worth_compiling_is_compiled_once():
    sizes = {"spans": 4, "keys": 3, "epochs": 3}
    dropped = [GuardId("release", "copied"), GuardId("copy", "not yet"), GuardId("append", "key free")]
    found = FastMutantExplorer()(load("release-race"), dropped=dropped, sizes=sizes)

    assert [violation is not None for violation in found.values()] == [True, False, True]


def test_a_limit_is_not_taken_for_an_answer():
    with pytest.raises(GaveUp, match="no violation in the first"):
        find_violation(load("release-race"), {"spans": 3, "keys": 2, "epochs": 2}, limit=50)


def test_what_is_not_there_is_refused_with_what_is():
    with pytest.raises(UnknownChoice, match="copied"):
        find_violation(load("release-race"), dropped=("release", "no such guard"))
    with pytest.raises(UnknownChoice, match="spans"):
        explore(load("release-race"), sizes={"cows": 3}, engine=Engine.UNCOMPILED)


# Progress and deadlocks


@pytest.mark.parametrize("engine", COMPILED)
@pytest.mark.parametrize("symmetry", [False, True])
def test_progress_may_not_wait_for_a_fault(engine, symmetry):
    found = explore(unfair(), engine=engine, symmetry=symmetry, keep_going=True)

    # Whoever is stuck gets free by a fault only: broken as soon as somebody is, after two steps.
    assert [(each.property, len(each.trace.steps)) for each in found.violations] == [("gets free", 2)]
    assert found.violations[0].trace.steps[-1].action == "stick"


@pytest.mark.parametrize("engine", COMPILED)
def test_a_deadlock_is_where_faults_aside_nothing_can_happen(engine):
    m = MachineBuilder("dead", "", rules={"ODD-1"}, alphabet=())
    one = m.sort("one")
    used, blown = m.rel("used", one), m.rel("blown")
    a = one("a")
    m.action("use", a, doc="", guards=[safety("new", ~used(a))], updates=[used(a).becomes(True)])
    m.action("blow", doc="", fault=True, updates=[blown().becomes(True)])
    m.transition("fine", forall(a, used(a) >> used(a).next), rules=["ODD-1"])
    m.may_rest(blown())
    m.instance("small", ones=2)

    found = explore(m.build(), engine=engine)

    assert found.deadlocks == 1
    assert found.deadlock is not None
    assert [step.action for step in found.deadlock.steps] == ["use", "use"]


# Limits, checkpoints, walks


@pytest.mark.slow
def test_a_search_that_was_stopped_goes_on_from_its_checkpoint(tmp_path):
    file = tmp_path / "search.npz"
    machine, sizes = load("release-race"), {"spans": 4, "keys": 3, "epochs": 3}
    whole = explore(machine, sizes=sizes, engine=Engine.COMPILED)
    first = explore(machine, sizes=sizes, engine=Engine.COMPILED, limit=20_000, checkpoint=file)
    assert first.stopped is not None
    assert not first.complete

    rest = explore(machine, sizes=sizes, engine=Engine.COMPILED, checkpoint=file, resume=True)

    assert (rest.states, rest.transitions, rest.layers) == (whole.states, whole.transitions, whole.layers)
    assert dict(rest.fired) == dict(whole.fired)
    with pytest.raises(UnknownChoice, match="other sizes"):
        explore(machine, sizes={**sizes, "spans": 3}, engine=Engine.COMPILED, checkpoint=file, resume=True)
    file.write_bytes(b"no checkpoint")
    with pytest.raises(UnknownChoice, match="is no checkpoint"):
        explore(machine, sizes=sizes, engine=Engine.COMPILED, checkpoint=file, resume=True)
    # Written as a whole: no draft is left.
    assert [each.name for each in tmp_path.iterdir()] == ["search.npz"]


@pytest.mark.slow
def test_a_search_stops_clearly_where_memory_ends():
    sizes = {"spans": 6, "keys": 3, "epochs": 3}
    found = explore(load("release-race"), sizes=sizes, engine=Engine.COMPILED, memory=60_000_000)

    assert not found.complete
    assert found.stopped is not None
    assert "out of memory" in found.stopped
    assert found.violation is None


@pytest.mark.parametrize("engine", COMPILED)
def test_walks_with_one_seed_are_the_same_walks_and_end_where_something_breaks(engine):
    machine = load("release-race")
    dropped = [GuardId("release", "copied")]
    found, again = (walk(machine, walks=200, seed=7, steps=200, dropped=dropped, engine=engine) for _ in range(2))
    plain = walk(machine, walks=200, seed=7, steps=200, dropped=dropped, engine=Engine.UNCOMPILED)

    assert found.violation is not None
    assert found.violation.trace.steps == again.violation.trace.steps == plain.violation.trace.steps
    assert_breaks(found.violation)
    assert walk(machine, walks=20, seed=7, steps=100, engine=engine).violation is None


def test_walks_see_what_a_step_breaks():
    m = MachineBuilder("lamp", "", rules={"ODD-1"}, alphabet=())
    lamp = m.sort("lamp")
    lit = m.rel("lit", lamp)
    a = lamp("a")
    m.action("press", a, doc="", updates=[lit(a).becomes(~lit(a))])
    m.transition("stays lit", forall(a, lit(a) >> lit(a).next), rules=["ODD-1"])
    m.instance("small", lamps=2)

    found = walk(m.build(), walks=5, seed=1, engine=Engine.UNCOMPILED)

    assert found.violation is not None
    assert_breaks(found.violation)


def test_several_words_are_indeed_several():
    assert prepare(several_words()).layout.words >= 2
    assert prepare(several_words()).layout.spread_words
