"""Guards that no rule needs: their tags are not believed but proved, searched, or published as neither."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from anchorhold_spec.language import Machine, MachineBuilder, Tag, bound, exists, forall, realism, safety
from anchorhold_spec.machines import load, names
from anchorhold_spec.prove import (
    Prover,
    Without,
    WithoutGuards,
    needless_auxiliaries,
    prove_obligations,
    verify,
    verify_proofs,
)
from anchorhold_spec.publish.guards import guards_table
from anchorhold_spec.run import GuardId, PlainMutantExplorer
from anchorhold_spec.run.oracle import at_stake

README = Path(__file__).parents[2] / "spec" / "README.md"


def rows(table: str) -> list[str]:
    return [line for line in table.splitlines() if re.match(r"\| [a-z-]+ \|", line) and "| machine |" not in line]


def published() -> list[str]:
    text = README.read_text(encoding="utf-8")
    return rows(text.partition("<!-- generated: guards -->")[2].partition("<!-- end: guards -->")[0])


@pytest.mark.parametrize("name", names())
def test_what_is_published_of_tagged_guards_is_what_prove_finds(name):
    found = rows(guards_table(verify_proofs(load(name)).guards))

    assert found == [row for row in published() if row.startswith(f"| {name} |")]


@pytest.mark.parametrize("name", names())
def test_the_rules_of_every_machine_are_proved_without_each_tagged_guard(name):
    machine = load(name)
    prover = Prover(machine, timeout=10)

    found = list(WithoutGuards(prover, list(prove_obligations(machine, timeout=10, prover=prover))))

    tagged = [GuardId(a.name, g.name) for a in machine.actions for g in a.guards if g.tag is not Tag.SAFETY]
    assert [each.guard for each in found] == tagged
    assert {each.guard: each.failed for each in found if not each.proved} == {}


@pytest.mark.parametrize("name", ["progress", "concurrency"])
def test_proofs_without_a_guard_are_those_of_the_machine_that_never_had_it(name):
    machine = load(name)
    prover = Prover(machine, timeout=10)
    shared = WithoutGuards(prover, list(prove_obligations(machine, timeout=10, prover=prover)))

    for action in machine.actions:
        for guard in action.guards:
            bare = machine.without_guard(action.name, guard.name)
            alone = {o.property for o in prove_obligations(bare, timeout=10) if o.result != "proved" and o.rules}
            one = shared.one(GuardId(action.name, guard.name))
            # More may fail than in one step: what was proved by the help of what is lost. Never less.
            assert alone <= one.failed.keys()


def lights(*, seen: bool) -> Machine:
    """Three lamps are never on together, which takes three lamps to see; the guard that sees to it is tagged."""
    m = MachineBuilder("lights", "Lamps are turned on.", rules={"LAM-1"}, alphabet=set())
    lamp = m.sort("lamp")
    on = m.rel("on", lamp)
    a, b, c = lamp("a"), lamp("b"), lamp("c")
    m.action(
        "turn on",
        a,
        doc="",
        guards=[bound("few", ~exists(b, c, (b != c) & on(b) & on(c)), "two are enough")],
        updates=[on(a).becomes(True)],
    )
    m.invariant(
        "not three at once",
        forall(a, b, c, (on(a) & on(b) & on(c)) >> ((a == b) | (b == c) | (a == c))),
        rules=["LAM-1"],
    )
    m.may_rest(exists(a, on(a)))
    m.instance("small", lamps=3 if seen else 2)
    return m.build()


@pytest.mark.parametrize("seen", [True, False], ids=["at the machine's size", "beyond it"])
def test_a_tag_that_hides_a_reachable_violation_fails_the_proof(seen):
    report = verify(lights(seen=seen))

    (guard,) = report.guards
    assert guard.without is Without.VIOLATED
    assert guard.violation is not None
    assert len(guard.violation.trace.steps) == 3
    assert not guard.justified
    assert not report.proved


def test_a_guard_without_which_no_proof_is_found_is_searched_and_fails_the_proof_all_the_same():
    machine = load("progress")
    helps = "what is not done is in the window"
    less = replace(machine, invariants=tuple(each for each in machine.invariants if each.name != helps))

    found = {(g.action, g.guard): g for g in verify_proofs(less).guards}

    doubtful = found["finish", "taken"]
    assert doubtful.without is Without.NOT_PROVED
    assert not doubtful.justified
    assert doubtful.proofs is not None
    assert doubtful.proofs.failed
    assert "find an auxiliary invariant" in (doubtful.advice or "")
    assert set(doubtful.proofs.failed) <= {each.name for each in machine.invariants}
    assert all(each in (doubtful.advice or "") for each in doubtful.proofs.failed)
    assert [dict(sizes) for sizes in doubtful.searched][:2] == [dict(s) for s in machine.small_instances]
    assert len(doubtful.searched) > 2
    assert "no violation reached up to spans=1, workers=2" in guards_table([doubtful])
    assert "not proved" in guards_table([doubtful])
    assert {each.without for place, each in found.items() if place != ("finish", "taken")} == {Without.PROVED}


def test_a_tag_that_hides_a_violation_beyond_every_size_that_is_searched_fails_the_proof():
    """Four lamps are needed to see it; the machine's size is two, and three are searched."""
    m = MachineBuilder("lights", "Lamps are turned on.", rules={"LAM-1"}, alphabet=set())
    lamp = m.sort("lamp", symmetric=True)
    on = m.rel("on", lamp)
    a, b, c, d = (lamp(name) for name in "abcd")
    three = exists(b, c, d, (b != c) & (c != d) & (b != d) & on(b) & on(c) & on(d))
    m.action("turn on", a, doc="", guards=[bound("few", ~three, "three are enough")], updates=[on(a).becomes(True)])
    apart = (a != b) & (a != c) & (a != d) & (b != c) & (b != d) & (c != d)
    m.invariant("not four", forall(a, b, c, d, ~(apart & on(a) & on(b) & on(c) & on(d))), rules=["LAM-1"])
    m.may_rest(exists(a, on(a)))
    m.instance("small", lamps=2)

    report = verify(m.build())

    (guard,) = report.guards
    assert guard.without is Without.NOT_PROVED
    assert guard.violation is None
    assert not guard.justified
    assert not report.proved
    assert "not four" in (guard.advice or "")


def ending(*, tag: bool) -> Machine:
    """What is begun can be ended, unless it jams: which a guard allows only of what is not begun. No safety in it."""
    m = MachineBuilder("errands", "Errands are begun and ended.", rules={"ERR-1"}, alphabet=set())
    errand = m.sort("errand", symmetric=True)
    stage = m.enum("stage", "new", "begun", "done")
    at = m.fun("stage_of", errand, to=stage, initial=stage.new)
    jammed = m.rel("jammed", errand)
    x = errand("x")
    m.action(
        "begin",
        x,
        doc="",
        guards=[safety("new", at(x) == stage.new), safety("not jammed", ~jammed(x))],
        updates=[at(x).becomes(stage.begun)],
    )
    m.action(
        "end",
        x,
        doc="",
        guards=[safety("begun", at(x) == stage.begun), realism("moves", ~jammed(x), "what is jammed does not move")],
        updates=[at(x).becomes(stage.done)],
    )
    idle = at(x) != stage.begun
    guard = realism("begun", idle, "it is said that nothing needs it") if tag else safety("begun", idle)
    m.action("jam", x, doc="", fault=True, guards=[guard], updates=[jammed(x).becomes(True)])
    m.transition("new to begun", forall(x, (at(x) == stage.new) >> (at(x).next != stage.done)), rules=["ERR-1"])
    m.transition("never new again", forall(x, (at(x) != stage.new) >> (at(x).next != stage.new)), rules=["ERR-1"])
    m.transition("done for good", forall(x, (at(x) == stage.done) >> (at(x).next == stage.done)), rules=["ERR-1"])
    m.can_end(
        "what is begun ends",
        trigger=exists(x, at(x) == stage.begun),
        goal=forall(x, at(x) != stage.begun),
        rules=["ERR-1"],
    )
    m.may_rest(forall(x, (at(x) == stage.done) | jammed(x)))
    m.instance("small", errands=2)
    return m.build()


@pytest.mark.parametrize("explorer", [None, PlainMutantExplorer()], ids=["fast", "plain"])
def test_a_tag_without_which_something_cannot_end_any_more_fails_the_proof(explorer):
    machine = ending(tag=True)

    found = {(g.action, g.guard): g for g in verify(machine, explorer=explorer).guards}

    guard = found["jam", "begun"]
    assert guard.without is Without.VIOLATED
    assert guard.violation is not None
    assert guard.violation.property == "what is begun ends"
    assert len(guard.violation.trace.steps) == 2
    assert not guard.justified
    assert [place for place, each in found.items() if not each.justified] == [("jam", "begun")]


@pytest.mark.parametrize("explorer", [None, PlainMutantExplorer()], ids=["fast", "plain"])
def test_a_guard_is_needed_where_something_cannot_end_without_it(explorer):
    found = {(g.action, g.guard): g for g in verify(ending(tag=False), explorer=explorer).guards}

    assert found["jam", "begun"].necessary
    assert all(each.justified for each in found.values())


def test_what_is_proved_without_a_guard_says_at_which_sizes_it_was_seen_that_it_can_end():
    report = verify(ending(tag=False))

    (row,) = [line for line in rows(guards_table(report.guards)) if "| moves |" in line]
    assert "proved, for every size; it can end, explored at errands=2; errands=3" in row


def test_where_something_cannot_end_with_all_guards_no_guard_is_justified():
    machine = ending(tag=False).without_guard("jam", "begun")

    report = verify(machine)

    assert not report.proved
    assert {each.problem for each in report.guards} == {
        "with all guards in place, what is pending cannot end already: what is begun ends"
    }


def test_of_a_guard_that_only_what_can_end_needs_the_oracle_names_the_rule():
    assert at_stake(load("progress").with_defaults(), "commit", "still its own") == ("PRO-1",)
    assert at_stake(load("progress").with_defaults(), "undo", "not committed") == ("PRO-1",)


def test_an_auxiliary_invariant_that_only_a_proof_without_a_guard_needs_is_needed():
    machine = load("progress")
    helps = "what is not done is in the window"
    prover = Prover(machine, timeout=10)
    proofs = list(prove_obligations(machine, timeout=10, prover=prover))

    without = list(WithoutGuards(prover, proofs))

    assert needless_auxiliaries(machine, proofs, timeout=10) == (helps,)
    assert needless_auxiliaries(machine, proofs, timeout=10, without=without) == ()
