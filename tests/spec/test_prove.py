"""Reading 2: what is proved, what is refuted and by which pair of states; unknown is never a pass."""

from dataclasses import replace
from functools import cache

import pytest
from lending import lending, vocabulary

from anchorhold_spec.language import Machine, Tag, exists, forall, safety
from anchorhold_spec.machines import load, names
from anchorhold_spec.prove import (
    SMALL,
    Report,
    Result,
    as_json,
    guard_verdicts,
    needless_auxiliaries,
    prove_obligations,
    vacuity_obligations,
    verify,
)
from anchorhold_spec.run import GaveUp, Interpreter


@pytest.mark.parametrize("name", names())
def test_every_invariant_of_every_machine_is_inductive_without_a_bound(name):
    machine = load(name)

    obligations = list(prove_obligations(machine, timeout=10))

    assert [o for o in obligations if o.result is not Result.PROVED] == []
    assert len(obligations) >= len(machine.invariants) * (len(machine.actions) + 1)


@cache
def report_of(name: str) -> Report:
    return verify(load(name))


@pytest.mark.parametrize("name", names())
def test_nothing_holds_vacuously_and_every_guard_is_what_its_tag_says(name):
    report = report_of(name)

    assert [(o.action, o.property, o.reason) for o in report.obligations if o.result is not Result.PROVED] == []
    assert [(g.action, g.guard, g.problem) for g in report.guards if not g.justified] == []
    assert report.proved


def test_without_the_reapers_guard_z3_gives_two_states_that_run_replays_as_one_step():
    machine = load("pointer-before-commit").without_guard("mark", "no pointer leads here")

    refuted = [o for o in prove_obligations(machine, timeout=10) if o.result is Result.REFUTED]

    assert [o.action for o in refuted] == ["mark"]
    found = refuted[0].counterexample
    assert found is not None
    assert found.step is not None
    run = Interpreter(found.instance)
    assert list(run.broken(found.before)) == []
    assert run.apply(found.before, found.step) == found.after
    assert refuted[0].property in [each.name for each in run.broken(found.after)]
    assert found.instance.universe["span"] == found.instance.universe["key"] == 1


def test_a_counterexample_that_was_tampered_with_does_not_replay():
    machine = load("pointer-before-commit").without_guard("mark", "no pointer leads here")
    found = next(o.counterexample for o in prove_obligations(machine, timeout=10) if o.counterexample)

    assert found.replays()
    assert not replace(found, after=found.before).replays()
    assert not replace(found, property="never another span").replays()


def test_an_invariant_that_does_not_hold_at_first_is_refuted_at_first():
    machine = lending()
    wrong = replace(machine.invariants[0], name="wrong", formula=~machine.invariants[1].formula)

    refuted = [
        o
        for o in prove_obligations(replace(machine, invariants=(*machine.invariants, wrong)), timeout=10)
        if o.result is not Result.PROVED
    ]

    assert ("initially", "wrong") in [(o.action, o.property) for o in refuted]
    assert refuted[0].counterexample is not None
    assert refuted[0].counterexample.step is None


def test_a_two_state_property_is_refuted_by_a_step():
    machine = lending().without_guard("lend", "on the shelf")

    refuted = [o for o in prove_obligations(machine, timeout=10) if o.result is Result.REFUTED]

    assert [(o.action, o.property, o.rules) for o in refuted] == [("lend", "never taken from somebody", ("LEN-2",))]


def endless() -> Machine:
    """Every book has a successor of its own and one book is nobody's: only infinitely many books can be like that."""
    v = vocabulary()
    b, c = v.book("b"), v.book("c")
    after = v.m.rigid_fun("after", v.book, to=v.book)
    v.m.axiom("apart", forall(b, c, (after(b) == after(c)) >> (b == c)))
    v.m.axiom("a first one", exists(b, forall(c, after(c) != b)))
    v.m.action(
        "lend",
        b,
        v.reader("r"),
        doc="",
        updates=[
            v.place_of(b).becomes(v.place.out),
            v.holder(b).becomes(v.reader("r")),
            v.due(b).cleared(),
            v.seen(b, v.reader("r")).becomes(True),
            v.lent_before(b).becomes(True),
        ],
    )
    v.m.invariant("never lent", forall(b, ~v.lent_before(b)), rules=["LEN-1"])
    v.m.instance("small", books=1, readers=1, days=1)
    return v.m.build()


def test_a_question_that_z3_cannot_answer_in_time_is_unknown_and_never_proved():
    # The invariant is false, but no finite state shows it, so that the search for one never ends.
    (after_lend,) = [o for o in prove_obligations(endless(), timeout=0.3) if o.action == "lend"]

    assert after_lend.result is Result.UNKNOWN
    assert after_lend.reason
    assert after_lend.counterexample is None


def test_an_unknown_alone_fails_a_report():
    report = report_of("release-race")
    assert report.proved

    one, *others = report.obligations

    assert not replace(report, obligations=(replace(one, result=Result.UNKNOWN), *others)).proved


def test_an_auxiliary_invariant_that_no_proof_needs_is_found():
    machine = lending()
    idle = replace(machine.invariants[1], name="idle", formula=machine.invariants[0].formula)
    padded = replace(machine, invariants=(*machine.invariants, idle))
    obligations = list(prove_obligations(padded, timeout=10))

    assert needless_auxiliaries(machine, list(prove_obligations(machine, timeout=10)), timeout=10) == ()
    assert needless_auxiliaries(padded, obligations, timeout=10) == ("idle",)


def test_an_action_that_can_never_happen_and_a_witness_that_is_never_met_are_refuted():
    v = vocabulary()
    b, r = v.book("b"), v.reader("r")
    v.m.action(
        "lend",
        b,
        r,
        doc="",
        guards=[safety("never", v.place_of(b) == v.place.out)],
        updates=[
            v.place_of(b).becomes(v.place.out),
            v.holder(b).becomes(r),
            v.due(b).cleared(),
            v.seen(b, r).becomes(True),
            v.lent_before(b).becomes(True),
        ],
    )
    v.m.invariant("only the trusted", forall(b, r, (v.holder(b) == r) >> v.trusted(r)), rules=["LEN-1"])
    v.m.sometimes("lent", ~forall(b, ~v.lent_before(b)))
    v.m.instance("small", books=1, readers=1, days=1)

    refuted = {(o.action, o.property) for o in vacuity_obligations(v.m.build()) if o.result is Result.REFUTED}

    assert refuted == {
        ("lend", "possible"),
        (SMALL, "sometimes: lent"),
        (SMALL, "premise of only the trusted"),
        (SMALL, "no deadlock"),
    }


def test_what_is_pending_and_can_never_end_is_refuted():
    machine = load("pointer-before-commit")
    without = replace(
        machine, actions=tuple(a for a in machine.actions if a.name not in ("clean up", "commit", "point"))
    )
    stranded = replace(
        machine,
        actions=(
            *without.actions,
            machine.action("commit"),
            replace(machine.action("point"), guards=machine.action("point").guards),
        ),
        progress=tuple(replace(p, goal=~p.trigger & p.goal) for p in machine.progress),
    )

    def verdicts(one):
        return {o.property: o.result for o in vacuity_obligations(one) if o.rules}

    assert verdicts(machine) == {"an interrupted attempt is undone or finished": Result.PROVED}
    assert verdicts(stranded) == {"an interrupted attempt is undone or finished": Result.REFUTED}


def test_an_exploration_that_is_cut_short_leaves_what_it_did_not_reach_unknown():
    cut = list(vacuity_obligations(load("release-race"), limit=5))

    assert {o.result for o in cut if o.property == "possible" and o.action == "evict"} == {Result.UNKNOWN}
    assert {o.result for o in cut if o.property == "no rule is broken"} == {Result.UNKNOWN}


def test_a_guard_with_the_wrong_tag_is_not_justified():
    machine = load("release-race")
    release, copy = machine.action("release"), machine.action("copy")
    mistagged = machine.with_action(
        replace(release, guards=tuple(replace(g, tag=Tag.BOUND, reason="r") for g in release.guards))
    ).with_action(replace(copy, guards=tuple(replace(g, tag=Tag.SAFETY, reason=None) for g in copy.guards)))

    wrong = [(v.action, v.guard, v.necessary) for v in guard_verdicts(mistagged) if not v.justified]

    assert wrong == [
        ("copy", "in hand", False),
        ("copy", "not yet", False),
        ("release", "committed", True),
        ("release", "copied", True),
    ]


def test_a_guard_that_an_explorer_gives_up_on_is_not_justified():
    def gives_up(machine, *, dropped, sizes=None):
        raise GaveUp("too large")

    verdicts = list(guard_verdicts(load("release-race"), explorer=gives_up))

    assert verdicts
    assert not any(v.justified for v in verdicts)
    assert {v.problem for v in verdicts} == {"too large"}


def test_where_a_rule_breaks_with_all_guards_no_guard_is_justified():
    broken = load("release-race").without_guard("release", "copied")

    assert {v.problem for v in guard_verdicts(broken)} == {
        "with all guards in place, committed is resolvable is broken already"
    }


def test_the_json_document_has_the_published_shape():
    report = report_of("release-race")

    document = as_json([report], seconds=1.5)

    assert set(document) == {"obligations", "guards", "seconds"}
    rows = document["obligations"]
    guards = document["guards"]
    assert isinstance(rows, list)
    assert isinstance(guards, list)
    assert {frozenset(row) for row in rows} == {frozenset({"machine", "action", "rule", "result", "seconds"})}
    assert {frozenset(row) for row in guards} == {
        frozenset({"machine", "action", "guard", "necessary", "tag", "without", "searched", "unproved"})
    }
    assert {row["rule"] for row in rows if row["action"] == "release"} >= {"PTR-1", "PTR-2", "possible"}
    assert {row["tag"] for row in guards} == {None, "bound", "realism"}
