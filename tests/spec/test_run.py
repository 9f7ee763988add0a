"""Reading 1: what is reachable, how far, and what breaks, against what is known from elsewhere."""

from itertools import product
from math import perm

import pytest
from lending import lending, vocabulary

from anchorhold_spec.language import UnknownChoice, forall, safety
from anchorhold_spec.machines import load
from anchorhold_spec.run import (
    GaveUp,
    GuardId,
    Interpreter,
    NotEnabled,
    PlainMutantExplorer,
    Step,
    explore,
    instances,
    show_trace,
)


def closed_form(spans: int, keys: int, epochs: int) -> int:
    """How many states release-race has: a span for each epoch that was taken, the last of a key in one of ten."""
    return sum(
        perm(spans, sum(taken)) * 10 ** sum(epoch > 0 for epoch in taken)
        for taken in product(range(epochs + 1), repeat=keys)
        if sum(taken) <= spans
    )


@pytest.mark.parametrize(("spans", "keys", "epochs"), [(1, 1, 1), (2, 1, 2), (2, 2, 2), (3, 2, 2), (3, 2, 3)])
def test_release_race_has_as_many_states_as_its_closed_form(spans, keys, epochs):
    found = explore(load("release-race"), sizes={"spans": spans, "keys": keys, "epochs": epochs})

    assert (found.states, found.complete, found.violation) == (closed_form(spans, keys, epochs), True, None)


@pytest.mark.slow
def test_release_race_has_136_801_states_at_4_3_3():
    found = explore(load("release-race"), sizes={"spans": 4, "keys": 3, "epochs": 3})

    assert (found.states, found.violation) == (136_801, None)
    assert closed_form(4, 3, 3) == 136_801


def test_release_race_breaks_in_six_steps_without_the_copy_in_release():
    found = explore(load("release-race").without_guard("release", "copied")).violation

    assert found is not None
    assert found.rules == ("PTR-1", "PTR-2")
    assert [step.action for step in found.trace.steps] == ["append", "stage", "point", "commit", "release", "evict"]


def test_a_reaper_that_ignores_pointers_breaks_ptr_2():
    found = explore(load("pointer-before-commit"), switches={"reaper": "ignores-pointers"}).violation

    assert found is not None
    assert "PTR-2" in found.rules
    assert found.trace.steps[-1].action == "reap"


def test_without_the_epoch_tag_a_recycled_key_answers_with_another_span():
    recycled = load("pointer-before-commit").instances["recycled key"]

    found = explore(load("pointer-before-commit"), sizes=recycled, switches={"epochs": "untagged"}).violation

    assert found is not None
    assert found.rules == ("EPO-1",)
    span, _, _, answer = found.trace.steps[-1].binding
    assert found.trace.steps[-1].action == "resolve"
    assert span != answer


def test_a_trace_is_a_run():
    found = explore(load("release-race").without_guard("release", "copied")).violation
    assert found is not None
    trace = found.trace
    run = Interpreter(trace.instance)

    assert trace.states[0] == run.initial()
    for before, step, after in zip(trace.states, trace.steps, trace.states[1:], strict=False):
        assert step in run.enabled(before)
        assert run.apply(before, step) == after
    assert not list(run.broken(trace.states[-2], auxiliary=False))
    assert [each.name for each in run.broken(trace.states[-1], auxiliary=False)] == [found.property]
    assert len(show_trace(trace)) == len(trace.steps)


def test_a_step_that_a_guard_forbids_is_refused_with_the_guards_name():
    (instance,) = instances(lending())
    run = Interpreter(instance)

    with pytest.raises(NotEnabled, match="guard 'allowed' does not hold"):
        run.apply(run.initial(), Step("lend", (0, 1, 0)))
    with pytest.raises(NotEnabled, match="parameter r = 7 is outside its sort"):
        run.apply(run.initial(), Step("lend", (0, 7, 0)))


def test_a_switch_changes_what_is_allowed():
    machine = lending()

    assert explore(machine).violation is None
    broken = explore(machine, switches={"policy": "anybody"}).violation
    assert broken is not None
    assert broken.rules == ("LEN-1",)
    assert len(broken.trace.steps) == 1


def test_updates_read_the_state_before():
    v = vocabulary()
    b, c, r = v.book("b"), v.book("c"), v.reader("r")
    v.m.action("give", b, r, doc="", updates=[v.holder(b).becomes(r), v.seen(b, r).becomes(True)])
    v.m.action(
        "swap",
        b,
        c,
        doc="",
        guards=[safety("two", b != c)],
        updates=[
            v.holder(b).becomes(v.holder(c)),
            v.holder(c).becomes(v.holder(b)),
            v.place_of(b).becomes(v.place.out),
            v.due(b).cleared(),
            v.lent_before(b).becomes(True),
        ],
    )
    v.m.invariant("i", forall(b, r, v.seen(b, r) >> v.trusted(r)), rules=["LEN-1"])
    v.m.instance("small", books=2, readers=2, days=1)
    (instance,) = instances(v.m.build())
    run = Interpreter(instance)

    state = run.initial()
    for step in (Step("give", (0, 1)), Step("swap", (0, 1))):
        state = run.apply(state, step)

    assert state[1] == (-1, 1)


def test_rigid_data_that_is_not_given_is_gone_through():
    v = vocabulary()
    b = v.book("b")
    free = v.m.rigid_rel("fragile", v.book)
    v.m.axiom("something is fragile", ~forall(b, ~free(b)))
    v.m.action(
        "lend",
        b,
        v.reader("r"),
        doc="",
        guards=[safety("not fragile", ~free(b))],
        updates=[
            v.place_of(b).becomes(v.place.out),
            v.holder(b).becomes(v.reader("r")),
            v.due(b).cleared(),
            v.seen(b, v.reader("r")).becomes(True),
            v.lent_before(b).becomes(True),
        ],
    )
    v.m.invariant("fragile stays", forall(b, free(b) >> (v.place_of(b) == v.place.shelf)), rules=["LEN-1"])
    v.m.instance("small", books=2, readers=1, days=1)
    machine = v.m.build()

    assert len(list(instances(machine))) == 3
    assert explore(machine).states == 2 + 2 + 1
    assert explore(machine.without_guard("lend", "not fragile")).violation is not None


def test_a_limit_is_told_and_is_no_answer():
    machine = load("release-race")

    cut = explore(machine, limit=50)
    assert (cut.states, cut.complete) == (50, False)
    with pytest.raises(GaveUp, match="no violation in the first 50 states"):
        PlainMutantExplorer(limit=50)(machine, dropped=[GuardId("copy", "not yet")])


def test_a_deadlock_comes_with_a_shortest_run_and_faults_do_not_hide_it():
    v = vocabulary()
    b, r = v.book("b"), v.reader("r")
    v.m.action(
        "lend",
        b,
        r,
        doc="",
        guards=[safety("new", ~v.lent_before(b))],
        updates=[
            v.place_of(b).becomes(v.place.out),
            v.holder(b).becomes(r),
            v.due(b).cleared(),
            v.seen(b, r).becomes(True),
            v.lent_before(b).becomes(True),
        ],
    )
    v.m.action("fire", doc="", fault=True, updates=[v.place_of(b).becomes(v.place.shelf, each=b)])
    v.m.invariant("i", forall(b, (v.place_of(b) == v.place.out) >> v.lent_before(b)), rules=["LEN-1"])
    v.m.instance("small", books=2, readers=1, days=1)

    dead = explore(v.m.build()).deadlock

    assert dead is not None
    assert [step.action for step in dead.steps] == ["lend", "lend"]


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(UnknownChoice, match="no size cells"):
        explore(load("release-race"), sizes={"cells": 3})
    with pytest.raises(UnknownChoice, match="a size for spans, at least 1"):
        explore(load("release-race"), sizes={"spans": 0})
