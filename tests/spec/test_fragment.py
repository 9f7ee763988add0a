"""Questions to the prover that leave the decidable fragment are told, with the cycle of sorts, and no others."""

from collections.abc import Callable

import pytest

from anchorhold_spec.language import Machine, MachineBuilder, alternation_cycles, exists, forall, safety, succ
from anchorhold_spec.machines import load

PUT = "put"


class Shelf:
    """Boxes lie in places; each has a level, perhaps a label (a place), and is open or not."""

    def __init__(self) -> None:
        self.m = MachineBuilder("shelf", "", rules={"SHE-1"}, alphabet=())
        self.box, self.place = self.m.sort("box", plural="boxes"), self.m.sort("place")
        self.level, self.lid = self.m.ordered("level"), self.m.enum("lid", "open", "shut")
        self.lies = self.m.rel("lies", self.box, self.place)
        self.label = self.m.pfun("label", self.box, to=self.place)
        self.height = self.m.fun("height", self.box, to=self.level, initial=self.level.zero)
        self.lid_of = self.m.fun("lid_of", self.place, to=self.lid, initial=self.lid.open)
        self.b, self.c = self.box("b"), self.box("c")
        self.p, self.q = self.place("p"), self.place("q")
        self.l, self.n = self.level("l"), self.level("n")

    def build(self, *properties, guards=(), value=True) -> Machine:
        put = {"guards": guards, "updates": [self.lies(self.b, self.p).becomes(value)], "doc": ""}
        self.m.action(PUT, self.b, self.p, **put)
        self.m.action("label", self.b, self.p, updates=[self.label(self.b).becomes(self.p)], doc="")
        self.m.action("lift", self.b, self.l, updates=[self.height(self.b).becomes(self.l)], doc="")
        shut = self.lid_of(self.p).becomes(self.lid.shut)
        self.m.action("shut", self.p, updates=[shut], doc="")
        for number, formula in enumerate(properties):
            self.m.invariant(f"i{number}", formula, rules=["SHE-1"])
        self.m.instance("small", boxes=1, places=1, levels=1)
        return self.m.build()

    @property
    def every_box(self):
        return forall(self.b, exists(self.p, self.lies(self.b, self.p)))

    @property
    def every_place(self):
        return forall(self.p, exists(self.b, self.lies(self.b, self.p)))


def cycles(make: Callable[[Shelf], Machine]):
    return alternation_cycles(make(Shelf()))


def steps(cycle) -> set[tuple[str, str]]:
    return {(edge.origin, edge.target) for edge in cycle.edges}


BOTH_WAYS = {("box", "place"), ("place", "box")}


def test_two_alternations_that_meet_are_a_cycle_whatever_the_action():
    (cycle,) = cycles(lambda s: s.build(s.every_box, s.every_place))

    assert (cycle.action, cycle.property, steps(cycle)) == (None, None, BOTH_WAYS)
    assert {edge.because for edge in cycle.edges} == {"invariant 'i0'", "invariant 'i1'"}
    assert "shelf: what every proof assumes leaves the decidable fragment" in str(cycle)


NO_CYCLE = {
    "one alternation": lambda s: s.build(s.every_box),
    "an enumeration, which is finite": lambda s: s.build(
        forall(s.lid("x"), exists(s.p, s.lid_of(s.p) == s.lid("x")))
    ),
    "what does not mention the universal depends on nothing": lambda s: s.build(
        s.every_box, forall(s.p, (s.lid_of(s.p) == s.lid.open) | exists(s.b, forall(s.q, s.lies(s.b, s.q))))
    ),
    "a function into what nothing comes from": lambda s: s.build(forall(s.b, s.height(s.b) == s.level.zero)),
    "a successor that is asserted": lambda s: s.build(
        forall(s.b, s.l, s.n, (s.height(s.b) == s.l) >> succ(s.l, s.n))
    ),
}


@pytest.mark.parametrize("case", NO_CYCLE)
def test_no_cycle(case):
    assert cycles(NO_CYCLE[case]) == ()


UNDER_AN_ACTION = {
    "denied, ∃∀ is an alternation": (
        lambda s: s.build(s.every_place, exists(s.b, forall(s.p, ~s.lies(s.b, s.p)))),
        PUT,
        BOTH_WAYS,
    ),
    "so is a premise": (
        lambda s: s.build(s.every_place, s.every_box >> forall(s.b, s.p, s.lies(s.b, s.p))),
        PUT,
        BOTH_WAYS,
    ),
    "a guard counts for its action": (
        lambda s: s.build(
            s.every_place,
            guards=[safety("each somewhere", forall(s.c, exists(s.q, s.lies(s.c, s.q))) | s.lies(s.b, s.p))],
        ),
        PUT,
        BOTH_WAYS,
    ),
}


@pytest.mark.parametrize("case", UNDER_AN_ACTION)
def test_a_cycle_under_an_action(case):
    make, action, expected = UNDER_AN_ACTION[case]

    found = cycles(make)

    assert any((steps(cycle), cycle.action) == (expected, action) for cycle in found)


def test_that_a_partial_function_is_defined_says_that_something_exists():
    (cycle,) = cycles(lambda s: s.build(forall(s.b, s.label(s.b).defined), s.every_place))

    assert steps(cycle) == BOTH_WAYS


def test_between_what_are_no_neighbours_there_is_something():
    (cycle,) = cycles(lambda s: s.build(forall(s.b, s.l, s.n, (s.height(s.b) == s.l) >> ~succ(s.l, s.n))))

    assert steps(cycle) == {("level", "level")}


def test_what_an_action_writes_is_read_where_the_property_reads_it():
    """The property alone has no alternation; what is written has one, and it is denied after the step."""

    def make(s: Shelf) -> Machine:
        written = exists(s.q, forall(s.c, s.lies(s.c, s.q)))
        return s.build(s.every_box, forall(s.b, s.p, s.lies(s.b, s.p)), value=written)

    found = cycles(make)

    assert {(PUT, "i1")} <= {(cycle.action, cycle.property) for cycle in found} <= {(PUT, "i0"), (PUT, "i1")}
    assert all(steps(cycle) == BOTH_WAYS for cycle in found)


@pytest.mark.parametrize("name", ["anchoring", "generations", "release-race"])
def test_machines_that_were_written_to_stay_inside_do(name):
    assert alternation_cycles(load(name)) == ()


def test_pointers_and_slots_lead_to_each_other():
    (cycle,) = alternation_cycles(load("pointer-before-commit"))

    assert steps(cycle) == {("key", "span"), ("span", "key")}
    assert "invariant 'a marked key is occupied'" in str(cycle)
