"""A malformed machine is refused when it is defined, and the message says where."""

import pytest
from lending import Lending, lending, vocabulary

from anchorhold_spec.language import (
    Exists,
    ForAll,
    MachineBuilder,
    MalformedMachine,
    Relation,
    UnknownChoice,
    bound,
    exists,
    forall,
    realism,
    safety,
)


def refusal(declare):
    v = vocabulary()
    with pytest.raises(MalformedMachine) as raised:
        declare(v)
    return raised.value


def action(v: Lending, **changes):
    b = v.book("b")
    given = {
        "doc": "",
        "guards": [],
        "updates": [v.place_of(b).becomes(v.place.out)],
        **changes,
    }
    name = given.pop("name", "lend")
    params = given.pop("params", (b,))
    v.m.action(name, *params, **given)


def guard(v: Lending, formula):
    action(v, guards=[safety("g", formula)])


OTHER = MachineBuilder("other", "", rules={"X"}, alphabet=())
STRANGE = OTHER.sort("strange")

REFUSED = {
    "unknown sort": (
        lambda v: v.m.rel("r", STRANGE),
        ("lending", "relation r"),
        "unknown sort 'strange'",
    ),
    "unknown sort of a parameter": (
        lambda v: action(v, params=(v.book("b"), STRANGE("x"))),
        ("lending", "action lend", "parameter x"),
        "unknown sort",
    ),
    "unknown symbol": (
        lambda v: guard(v, Relation("ghostly", (v.book,))(v.book("b"))),
        ("lending", "action lend", "guard g"),
        "unknown symbol 'ghostly'",
    ),
    "wrong arity": (
        lambda v: guard(v, v.seen(v.book("b"))),
        ("lending", "action lend", "guard g"),
        "seen takes 2 arguments, not 1",
    ),
    "wrong sort of an argument": (
        lambda v: guard(v, v.trusted(v.book("b"))),
        ("lending", "action lend", "guard g"),
        "trusted takes a reader, and b is a book",
    ),
    "wrong sort in a comparison": (
        lambda v: guard(v, v.holder(v.book("b")) == v.book("b")),
        ("lending", "action lend", "guard g"),
        "compares a reader with a book",
    ),
    "order on what has none": (
        lambda v: guard(v, v.book("b") < v.book("b")),
        ("lending", "action lend", "guard g"),
        "needs one ordered sort",
    ),
    "zero of what has none": (
        lambda v: guard(v, v.book("b") == v.book.zero),
        ("lending", "action lend", "guard g"),
        "book has no zero",
    ),
    "definedness of a total function": (
        lambda v: guard(v, v.place_of(v.book("b")).defined),
        ("lending", "action lend", "guard g"),
        "place_of is total",
    ),
    "unbound variable": (
        lambda v: guard(v, v.place_of(v.book("stray")) == v.place.shelf),
        ("lending", "action lend", "guard g"),
        "'stray' is neither a parameter nor bound",
    ),
    "variable of another sort": (
        lambda v: guard(v, v.trusted(v.reader("b"))),
        ("lending", "action lend", "guard g"),
        "'b' is a book here, not a reader",
    ),
    "shadowed variable": (
        lambda v: guard(v, exists(v.book("b"), v.place_of(v.book("b")) == v.place.shelf)),
        ("lending", "action lend", "guard g"),
        "'b' is bound twice",
    ),
    "quantifier without variables": (
        lambda v: guard(v, ForAll((), v.place_of(v.book("b")) == v.place.shelf)),
        ("lending", "action lend", "guard g"),
        "binds nothing",
    ),
    "nested application": (
        lambda v: guard(v, v.trusted(v.holder(v.book("b")))),
        ("lending", "action lend", "guard g"),
        "nested applications are refused",
    ),
    "state after in a guard": (
        lambda v: guard(v, v.place_of(v.book("b")).next == v.place.shelf),
        ("lending", "action lend", "guard g"),
        "only a two-state property may read the state after",
    ),
    "no formula": (
        lambda v: guard(v, True),
        ("lending", "action lend", "guard g"),
        "is no formula",
    ),
    "two conjuncts in one guard": (
        lambda v: guard(v, (v.place_of(v.book("b")) == v.place.shelf) & ~v.holder(v.book("b")).defined),
        ("lending", "action lend", "guard g"),
        "a guard is one conjunct",
    ),
    "tag without a reason": (
        lambda v: action(v, guards=[bound("g", v.place_of(v.book("b")) == v.place.shelf, " ")]),
        ("lending", "action lend", "guard g"),
        "tagged bound needs a reason",
    ),
    "two guards of one name": (
        lambda v: action(
            v,
            guards=[
                safety("g", v.place_of(v.book("b")) == v.place.shelf),
                realism("g", ~v.holder(v.book("b")).defined, "r"),
            ],
        ),
        ("lending", "action lend", "guard g"),
        "already taken",
    ),
    "guard that reads a ghost": (
        lambda v: action(
            v,
            params=(v.book("b"), v.reader("r")),
            guards=[safety("g", v.seen(v.book("b"), v.reader("r")))],
        ),
        ("lending", "action lend", "guard g"),
        "may not read seen: it is a ghost",
    ),
    "unknown switch value": (
        lambda v: guard(v, v.policy == "nobody"),
        ("lending", "action lend", "guard g"),
        "switch policy is one of anybody, trusted, not 'nobody'",
    ),
    "write of rigid data": (
        lambda v: action(v, params=(v.reader("r"),), updates=[v.trusted(v.reader("r")).becomes(True)]),
        ("lending", "action lend", "update 1 (trusted(r) := true)"),
        "rigid: no step may write it",
    ),
    "write outside the frame": (
        lambda v: action(v, by=v.m.worker("reader", writes=[v.seen])),
        ("lending", "action lend", "update 1 (place_of(b) := out)"),
        "outside the frame of reader (seen)",
    ),
    "value of another sort": (
        lambda v: action(v, updates=[v.holder(v.book("b")).becomes(v.book("b"))]),
        ("lending", "action lend", "update 1 (holder(b) := b)"),
        "holder goes to reader, and b is a book",
    ),
    "total function cleared": (
        lambda v: action(v, updates=[v.place_of(v.book("b")).cleared()]),
        ("lending", "action lend", "update 1 (place_of(b) := undefined)"),
        "cannot become undefined",
    ),
    "bound variable that is no argument": (
        lambda v: action(v, updates=[v.place_of(v.book("b")).becomes(v.place.out, each=v.reader("r"))]),
        ("lending", "action lend", "update 1 (place_of(b) := out for each r:reader)"),
        "one place would be written several times",
    ),
    "two updates of one place": (
        lambda v: action(
            v,
            params=(v.book("b"), v.book("c")),
            updates=[
                v.place_of(v.book("b")).becomes(v.place.out),
                v.place_of(v.book("c")).becomes(v.place.shelf),
            ],
        ),
        ("lending", "action lend", "updates 1 and 2"),
        "both may write the same place of place_of",
    ),
    "one place written by a parameter and by all": (
        lambda v: action(
            v,
            updates=[
                v.place_of(v.book("b")).becomes(v.place.out),
                v.place_of(v.book("c")).becomes(v.place.shelf, each=v.book("c")),
            ],
        ),
        ("lending", "action lend", "updates 1 and 2"),
        "both may write the same place of place_of",
    ),
    "action that changes nothing": (
        lambda v: action(v, updates=[]),
        ("lending", "action lend"),
        "it changes nothing",
    ),
    "parameter that nothing mentions": (
        lambda v: action(v, params=(v.book("b"), v.reader("r"))),
        ("lending", "action lend", "parameter r"),
        "neither guards nor updates mention it",
    ),
    "two actions of one name": (
        lambda v: (action(v), action(v)),
        ("lending", "action lend"),
        "already taken",
    ),
    "unknown event": (
        lambda v: action(v, event="steal"),
        ("lending", "action lend", "event steal"),
        "not in the alphabet",
    ),
    "two symbols of one name": (
        lambda v: v.m.rel("seen", v.book),
        ("lending", "relation seen"),
        "already taken",
    ),
    "two sorts of one size": (
        lambda v: v.m.sort("volume", plural="books"),
        ("lending", "sort volume"),
        "'books' is already taken",
    ),
    "total function into individuals": (
        lambda v: v.m.fun("f", v.book, to=v.reader, initial=v.place.shelf),
        ("lending", "function f"),
        "goes to an enumeration or an ordered sort",
    ),
    "switch without a choice": (
        lambda v: v.m.switch("s", "one", default="one"),
        ("lending", "switch s"),
        "at least two values",
    ),
    "part of a part": (
        lambda v: v.m.part("p", v.m.part("q", v.book)),
        ("lending", "sort p"),
        "a part is of a plain sort",
    ),
    "unknown rule": (
        lambda v: v.m.invariant("i", forall(v.book("b"), v.place_of(v.book("b")) == v.place.shelf), rules=["NO-1"]),
        ("lending", "invariant i"),
        "unknown rule 'NO-1'",
    ),
    "invariant without a rule": (
        lambda v: v.m.invariant("i", forall(v.book("b"), v.place_of(v.book("b")) == v.place.shelf), rules=[]),
        ("lending", "invariant i"),
        "states no rule",
    ),
    "invariant with a free variable": (
        lambda v: v.m.invariant("i", v.place_of(v.book("b")) == v.place.shelf, rules=["LEN-1"]),
        ("lending", "invariant i"),
        "'b' is neither a parameter nor bound",
    ),
    "axiom about the state": (
        lambda v: v.m.axiom("a", Exists((v.book("b"),), v.place_of(v.book("b")) == v.place.shelf)),
        ("lending", "axiom a"),
        "which steps change",
    ),
    "first state that depends on itself": (
        lambda v: v.m.initially(
            v.lent_before(v.book("b")).becomes(v.place_of(v.book("b")) == v.place.out, each=v.book("b"))
        ),
        ("lending", "initially", "update 1 (lent_before(b) := place_of(b) = out for each b:book)"),
        "before the first state there is only rigid data",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_malformed_declaration_is_refused_with_its_place(kind):
    declare, where, what = REFUSED[kind]

    refused = refusal(declare)

    assert refused.where == where
    assert what in refused.what
    assert " / ".join(where) in str(refused)


def finished(v: Lending):
    b, r = v.book("b"), v.reader("r")
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
    v.m.invariant("i", forall(b, v.place_of(b) == v.place.shelf), rules=["LEN-1"])
    v.m.instance("small", books=1, readers=1, days=1)


UNFINISHED = {
    "invariant that no action can break": (
        lambda v: v.m.invariant("j", forall(v.reader("r"), v.trusted(v.reader("r"))), rules=["LEN-2"]),
        ("lending", "invariant j"),
        "no action can break or reach it",
    ),
    "state that nothing writes": (
        lambda v: v.m.rel("idle", v.book),
        ("lending", "idle"),
        "no action writes it",
    ),
    "two-state property of one state": (
        lambda v: v.m.transition("t", forall(v.book("b"), v.place_of(v.book("b")) == v.place.out), rules=["LEN-1"]),
        ("lending", "transition t"),
        "never reads the state after",
    ),
    "two-state property of no action": (
        lambda v: v.m.transition(
            "t",
            forall(v.book("b"), v.place_of(v.book("b")).next == v.place.out),
            rules=["LEN-1"],
            on=["burn"],
        ),
        ("lending", "transition t"),
        "an action 'burn' that does not exist",
    ),
    "instance of an unknown sort": (
        lambda v: v.m.instance("large", books=1, readers=1, days=1, shelves=3),
        ("lending", "instance large"),
        "no size shelves",
    ),
    "instance without a size": (
        lambda v: v.m.instance("large", books=0),
        ("lending", "instance large"),
        "needs a size for books, at least 1",
    ),
}


@pytest.mark.parametrize("kind", UNFINISHED)
def test_what_only_the_whole_machine_shows_is_refused_when_it_is_built(kind):
    declare, where, what = UNFINISHED[kind]
    v = vocabulary()
    finished(v)
    declare(v)

    with pytest.raises(MalformedMachine) as raised:
        v.m.build()

    assert raised.value.where == where
    assert what in raised.value.what


def test_the_same_without_the_mistake_is_accepted():
    v = vocabulary()
    finished(v)

    assert v.m.build().name == "lending"
    assert lending().name == "lending"


@pytest.mark.parametrize("how", ["excluding conditions", "a guard", "constants", "one place, opposite conditions"])
def test_two_updates_of_one_symbol_are_accepted_where_they_cannot_meet(how):
    v = vocabulary()
    b, c, other = v.book("b"), v.book("c"), v.book("other")
    out, shelf = v.place.out, v.place.shelf
    count = v.m.fun("at", v.place, to=v.place, initial=shelf)
    v.m.action(
        "swap",
        b,
        c,
        doc="",
        guards=[safety("distinct", b != c)] if how == "a guard" else [],
        updates={
            "a guard": [v.place_of(b).becomes(out), v.place_of(c).becomes(shelf)],
            "constants": [
                count(out).becomes(shelf, when=(v.place_of(b) == out) & (v.place_of(c) == out)),
                count(shelf).becomes(out),
            ],
            "excluding conditions": [
                v.lent_before(b).becomes(True, when=v.place_of(c) == out),
                v.place_of(other).becomes(shelf, when=v.place_of(other) == out, each=other),
                v.place_of(other).becomes(out, when=v.place_of(other) == shelf, each=other),
            ],
            "one place, opposite conditions": [
                v.place_of(b).becomes(out, when=v.lent_before(b) & v.lent_before(c)),
                v.place_of(other).becomes(shelf, when=~v.lent_before(other), each=other),
            ],
        }[how],
    )


def test_an_unknown_switch_action_or_guard_lists_what_there_is():
    machine = lending()

    with pytest.raises(UnknownChoice, match="it has policy"):
        machine.with_switches(polcy="anybody")
    with pytest.raises(UnknownChoice, match="one of anybody, trusted"):
        machine.with_switches(policy="nobody")
    with pytest.raises(UnknownChoice, match="it has lend, extend, take back"):
        machine.action("steal")
    with pytest.raises(UnknownChoice, match="it has on the shelf, allowed"):
        machine.without_guard("lend", "paid")


def test_a_formula_has_no_truth_value_so_comparing_nodes_by_value_is_caught():
    v = vocabulary()
    formula = v.place_of(v.book("b")) == v.place.shelf

    with pytest.raises(TypeError, match="no truth value"):
        assert formula
    with pytest.raises(TypeError, match="no truth value"):
        [v.lent_before(v.book("b"))].remove(formula)
