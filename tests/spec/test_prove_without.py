"""Guards that no rule needs: their tags are not believed but proved, searched, or published as neither."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from anchorhold_spec.language import Machine, MachineBuilder, Tag, bound, exists, forall
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
from anchorhold_spec.publish import guards_table
from anchorhold_spec.run import GuardId

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


def test_a_guard_without_which_no_proof_is_found_is_published_as_searched_and_not_proved():
    machine = load("progress")
    helps = "what is not done is in the window"
    less = replace(machine, invariants=tuple(each for each in machine.invariants if each.name != helps))

    found = {(g.action, g.guard): g for g in verify_proofs(less).guards}

    doubtful = found["finish", "another's"]
    assert doubtful.without is Without.NOT_PROVED
    assert doubtful.justified
    assert doubtful.proofs is not None
    assert doubtful.proofs.failed
    assert [dict(sizes) for sizes in doubtful.searched][:2] == [dict(s) for s in machine.small_instances]
    assert len(doubtful.searched) > 2
    assert "no violation reached up to spans=1, workers=2" in guards_table([doubtful])
    assert "not proved" in guards_table([doubtful])
    assert {each.without for place, each in found.items() if place != ("finish", "another's")} == {Without.PROVED}


def test_an_auxiliary_invariant_that_only_a_proof_without_a_guard_needs_is_needed():
    machine = load("progress")
    helps = "what is not done is in the window"
    prover = Prover(machine, timeout=10)
    proofs = list(prove_obligations(machine, timeout=10, prover=prover))

    without = list(WithoutGuards(prover, proofs))

    assert needless_auxiliaries(machine, proofs, timeout=10) == (helps,)
    assert needless_auxiliaries(machine, proofs, timeout=10, without=without) == ()
