"""What says nothing is refused: properties that no state can break, and properties whose case never comes up."""

from dataclasses import replace

import pytest
from lending import lending, vocabulary

from anchorhold_spec.language import (
    And,
    ForAll,
    Invariant,
    Machine,
    MachineBuilder,
    MalformedMachine,
    Not,
    Or,
    Transition,
    forall,
)
from anchorhold_spec.machines import load, names
from anchorhold_spec.prove import SMALL, Result, vacuity_obligations, verify, verify_proofs
from anchorhold_spec.run import plain_survey

RULES = ("LEN-1",)


def parts():
    """The lending machine and its vocabulary (that of one machine cannot be used in another)."""
    machine = lending()
    symbols = {symbol.name: symbol for symbol in machine.symbols}
    sorts = {sort.name: sort for sort in machine.sorts}
    return machine, symbols, sorts


def with_invariant(build) -> Machine:
    machine, symbols, sorts = parts()
    added = Invariant("added", build(symbols, sorts), RULES, "")
    return replace(machine, invariants=(*machine.invariants, added))


def with_transition(build, on=None) -> Machine:
    machine, symbols, sorts = parts()
    return replace(
        machine, transitions=(*machine.transitions, Transition("added", build(symbols, sorts), RULES, "", on))
    )


def same_holder(s, t):
    b, r, q = t["book"]("b"), t["reader"]("r"), t["reader"]("q")
    return forall(b, r, q, ((s["holder"](b) == r) & (s["holder"](b) == q)) >> (r == q))


def one_of_two_places(s, t):
    b = t["book"]("b")
    return forall(b, (s["place_of"](b) == t["place"].shelf) | (s["place_of"](b) == t["place"].out))


def not_before_itself(s, t):
    b, d, n = t["book"]("b"), t["day"]("d"), t["day"]("n")
    return forall(b, d, n, ((s["due"](b) == d) & (d < n)) >> ~(n < d))


def one_conjunct_of_two(s, t):
    b = t["book"]("b")
    return And((forall(b, s["lent_before"](b) | ~s["holder"](b).defined), same_holder(s, t)))


def under_a_quantifier(s, t):
    b = t["book"]("b")
    place = s["place_of"](b)
    body = And((s["lent_before"](b) | ~s["holder"](b).defined, place.one_of(t["place"].shelf, t["place"].out)))
    return ForAll((b,), body)


@pytest.mark.parametrize(
    "build", [same_holder, one_of_two_places, not_before_itself, one_conjunct_of_two, under_a_quantifier]
)
def test_an_invariant_that_no_state_can_break_is_refuted(build):
    report = verify_proofs(with_invariant(build))

    wrong = {o.property: o.reason for o in report.obligations if o.result is not Result.PROVED}
    assert set(wrong) == {"can be broken: added"}
    assert "says nothing" in wrong["can be broken: added"]


def test_an_invariant_that_the_axioms_alone_imply_is_refuted():
    v = vocabulary()
    b, r = v.book("b"), v.reader("r")
    v.m.axiom("all are trusted", forall(r, v.trusted(r)))
    v.m.action(
        "lend",
        b,
        r,
        doc="",
        updates=[
            v.place_of(b).becomes(v.place.out),
            v.holder(b).becomes(r),
            v.due(b).cleared(),
            v.seen(b, r).becomes(True),
            v.lent_before(b).becomes(True),
        ],
    )
    v.m.invariant("only the trusted", forall(b, r, (v.holder(b) == r) >> v.trusted(r)), rules=["LEN-1"])
    v.m.instance("small", books=1, readers=1, days=1)

    wrong = [o.property for o in verify_proofs(v.m.build()).obligations if o.result is not Result.PROVED]

    assert wrong == ["can be broken: only the trusted"]


def next_holder_is_one(s, t):
    b, r, q = t["book"]("b"), t["reader"]("r"), t["reader"]("q")
    return forall(b, r, q, ((s["holder"](b).next == r) & (s["holder"](b).next == q)) >> (r == q))


def next_place_is_one_of_two(s, t):
    b = t["book"]("b")
    return forall(b, s["place_of"](b).next.one_of(t["place"].shelf, t["place"].out))


@pytest.mark.parametrize("build", [next_holder_is_one, next_place_is_one_of_two])
def test_a_two_state_property_that_no_two_states_can_break_is_refuted(build):
    report = verify_proofs(with_transition(build))

    assert [o.property for o in report.obligations if o.result is not Result.PROVED] == ["can be broken: added"]


def lent_from_the_shelf(s, t):
    """Of a book that is on the shelf and somebody's: there is none."""
    b = t["book"]("b")
    case = (s["place_of"](b) == t["place"].shelf) & s["holder"](b).defined
    return case, s["place_of"](b).next == t["place"].shelf, b


WRITTEN = (
    "if",
    "or",
    "or the other way",
    "if twice",
    "beside another",
    "in a conclusion",
    "in a conclusion, or",
    "under a quantifier in a conclusion",
    "deep in conclusions",
)


def written(form):
    def build(s, t):
        case, then, b = lent_from_the_shelf(s, t)
        return {
            "if": lambda: forall(b, case >> then),
            "or": lambda: forall(b, Or((Not(case), then))),
            "or the other way": lambda: forall(b, Or((then, Not(case.parts[0]), Not(case.parts[1])))),
            "if twice": lambda: forall(b, case.parts[0] >> (case.parts[1] >> then)),
            "in a conclusion": lambda: forall(b, s["holder"](b).defined >> (s["lent_before"](b) & (case >> then))),
            "in a conclusion, or": lambda: forall(
                b, Or((Not(s["holder"](b).defined), s["lent_before"](b) & (case >> then)))
            ),
            "under a quantifier in a conclusion": lambda: forall(
                b, s["holder"](b).defined >> forall(t["book"]("c"), s["lent_before"](b) & (case >> then))
            ),
            "deep in conclusions": lambda: forall(
                b, s["holder"](b).defined >> (s["lent_before"](b) >> (s["lent_before"](b).next & (case >> then)))
            ),
            "beside another": lambda: forall(b, And((s["lent_before"](b) >> s["lent_before"](b).next, case >> then))),
        }[form]()

    return build


@pytest.mark.parametrize("form", WRITTEN)
def test_a_two_state_property_whose_case_never_comes_up_is_refuted(form):
    found = vacuity_obligations(with_transition(written(form)))

    wrong = [(o.action, o.property) for o in found if o.result is not Result.PROVED]
    assert len(wrong) == 1
    assert wrong[0][0] == SMALL
    assert wrong[0][1].startswith("premise of added")


def test_a_case_that_comes_up_in_steps_of_other_actions_only_is_none():
    def build(s, t):
        b = t["book"]("b")
        return forall(b, (s["holder"](b).defined & ~s["holder"](b).next.defined) >> s["lent_before"](b).next)

    def wrong(machine):
        return [o.property for o in vacuity_obligations(machine) if o.result is not Result.PROVED]

    assert wrong(with_transition(build)) == []
    assert wrong(with_transition(build, on=("take back",))) == []
    assert wrong(with_transition(build, on=("extend",))) == ["premise of added"]


def test_a_prohibition_of_what_nobody_does_in_either_half_is_refuted():
    def build(s, t):
        b, d = t["book"]("b"), t["day"]("d")
        on_the_shelf = s["place_of"](b) == t["place"].shelf
        return forall(b, d, ~(on_the_shelf & s["holder"](b).defined & (s["due"](b) == d)))

    wrong = [o.property for o in vacuity_obligations(with_invariant(build)) if o.result is not Result.PROVED]

    # Two of its three parts are met together: a book that is lent has a holder and a day.
    assert wrong == []

    def nowhere(s, t):
        b = t["book"]("b")
        never = (s["place_of"](b) == t["place"].shelf) & s["holder"](b).defined
        other = (s["place_of"](b) == t["place"].shelf) & (s["due"](b) == t["day"].zero)
        return forall(b, (never | other) == (s["place_of"](b) != s["place_of"](b)))

    wrong = [o.property for o in vacuity_obligations(with_invariant(nowhere)) if o.result is not Result.PROVED]
    assert wrong == ["premise of added"]


TRUE_BY_FORM = {
    "itself": lambda p, q: p >> p,
    "or not": lambda p, q: p | ~p,
    "not both": lambda p, q: ~(p & ~p),
    "from more": lambda p, q: (p & q) >> p,
    "to less": lambda p, q: p >> (q | p),
    "twice": lambda p, q: p >> (q >> p),
    "alike": lambda p, q: p == p,
    "from the impossible": lambda p, q: (p & ~p) >> q,
    "one of two": lambda p, q: (p >> q) & (q | ~q),
}


@pytest.mark.parametrize("form", TRUE_BY_FORM)
def test_what_is_true_by_its_form_is_refused_when_it_is_defined(form):
    v = vocabulary()
    b = v.book("b")
    p, q = v.lent_before(b), v.holder(b).defined

    with pytest.raises(MalformedMachine, match=r"invariant idle.*says nothing"):
        v.m.invariant("idle", _for_all(b, TRUE_BY_FORM[form](p, q)), rules=["LEN-1"])


def _for_all(variable, formula):
    return (
        And(tuple(forall(variable, part) for part in formula.parts))
        if isinstance(formula, And)
        else forall(variable, formula)
    )


@pytest.mark.parametrize("name", ["progress", "release-race"])
def test_both_searches_find_the_same_cases(name):
    machine = load(name)

    fast = {(o.action, o.property, o.result) for o in vacuity_obligations(machine)}
    plain = {(o.action, o.property, o.result) for o in vacuity_obligations(machine, surveyor=plain_survey)}

    assert any("premise of" in place[1] for place in fast)
    assert fast == plain


def test_axioms_that_contradict_each_other_are_refused_in_one_line():
    v = vocabulary()
    b, r = v.book("b"), v.reader("r")
    v.m.axiom("all are trusted", forall(r, v.trusted(r)))
    v.m.axiom("nobody is", forall(r, ~v.trusted(r)))
    v.m.action("lend", b, r, doc="", updates=[v.place_of(b).becomes(v.place.out), v.holder(b).becomes(r)])
    v.m.action("date", b, doc="", updates=[v.due(b).cleared(), v.lent_before(b).becomes(True)])
    v.m.action("see", b, r, doc="", updates=[v.seen(b, r).becomes(True)])
    v.m.invariant("only the trusted", forall(b, r, (v.holder(b) == r) >> v.trusted(r)), rules=["LEN-1"])
    v.m.instance("small", books=1, readers=1, days=1)

    with pytest.raises(MalformedMachine, match="axioms all are trusted, nobody is: no data can satisfy all of them"):
        verify(v.m.build())


def test_a_rule_that_the_catalogue_says_no_machine_states_is_stated_by_none():
    m = MachineBuilder("lights", "Lamps are turned on.", alphabet=set())
    lamp = m.sort("lamp")
    on = m.rel("on", lamp)

    with pytest.raises(MalformedMachine, match=r"unknown rule 'CRA-3'.*anchorhold spec show CRA-3"):
        m.invariant("off", forall(lamp("a"), ~on(lamp("a"))), rules=["CRA-3"])
    assert {rule for name in names() for each in load(name).invariants for rule in each.rules} & {"CRA-3"} == set()
