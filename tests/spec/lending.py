"""A small well-formed machine, and builders that are one declaration short of it: the samples of these tests."""

from dataclasses import dataclass

from anchorhold_spec.language import (
    Function,
    Machine,
    MachineBuilder,
    Relation,
    Sort,
    Switch,
    Worker,
    bound,
    exists,
    forall,
    safety,
    succ,
)


@dataclass
class Lending:
    """The vocabulary of the lending machine, ready for actions and properties."""

    m: MachineBuilder
    book: Sort
    reader: Sort
    day: Sort
    place: Sort
    place_of: Function
    holder: Function
    due: Function
    seen: Relation
    trusted: Relation
    lent_before: Relation
    policy: Switch
    desk: Worker


def vocabulary() -> Lending:
    m = MachineBuilder("lending", "Books are lent and come back.", rules={"LEN-1", "LEN-2"}, alphabet={"lend"})
    book, reader, day = m.sort("book", symmetric=True), m.sort("reader"), m.ordered("day")
    place = m.enum("place", "shelf", "out")
    place_of = m.fun("place_of", book, to=place, initial=place.shelf)
    holder = m.pfun("holder", book, to=reader)
    due = m.pfun("due", book, to=day)
    seen = m.rel("seen", book, reader, ghost=True)
    trusted = m.rigid_rel("trusted", reader, given=lambda i: i == 0)
    lent_before = m.rel("lent_before", book)
    policy = m.switch("policy", "anybody", "trusted", default="trusted")
    desk = m.worker("desk", writes=[place_of, holder, due, seen, lent_before])
    return Lending(m, book, reader, day, place, place_of, holder, due, seen, trusted, lent_before, policy, desk)


def lending() -> Machine:
    v = vocabulary()
    m = v.m
    b, r, d, n = v.book("b"), v.reader("r"), v.day("d"), v.day("n")
    m.action(
        "lend",
        b,
        r,
        d,
        by=v.desk,
        event="lend",
        doc="A book on the shelf goes to a reader whom the policy allows.",
        guards=[
            safety("on the shelf", v.place_of(b) == v.place.shelf),
            safety("allowed", (v.policy == "anybody") | v.trusted(r)),
        ],
        updates=[
            v.place_of(b).becomes(v.place.out),
            v.holder(b).becomes(r),
            v.due(b).becomes(d),
            v.seen(b, r).becomes(True),
            v.lent_before(b).becomes(True),
        ],
    )
    m.action(
        "extend",
        b,
        d,
        n,
        by=v.desk,
        doc="One day more.",
        guards=[safety("due", v.due(b) == d), bound("next day", succ(d, n), "a day at a time is enough")],
        updates=[v.due(b).becomes(n)],
    )
    m.action(
        "take back",
        b,
        by=v.desk,
        doc="The book is nobody's again.",
        guards=[bound("out", v.place_of(b) == v.place.out, "taking back what is here changes nothing")],
        updates=[v.place_of(b).becomes(v.place.shelf), v.holder(b).cleared(), v.due(b).cleared()],
    )
    m.invariant(
        "only the trusted",
        forall(b, r, (v.holder(b) == r) >> v.trusted(r)),
        rules=["LEN-1"],
    )
    m.transition(
        "never taken from somebody",
        forall(b, r, (v.holder(b) == r) >> ((v.holder(b).next == r) | ~v.holder(b).next.defined)),
        rules=["LEN-2"],
    )
    m.auxiliary(
        "on the shelf is nobody's",
        forall(b, (v.place_of(b) == v.place.shelf) >> (~v.holder(b).defined & ~v.due(b).defined)),
    )
    m.sometimes("out for another day", exists(b, v.due(b) != v.day.zero) & exists(b, v.due(b).defined))
    m.instance("small", books=2, readers=2, days=2)
    return m.build()
