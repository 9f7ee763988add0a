"""A machine that has every construct of the language, for the readings that translate it into other languages.

It means nothing. Each part is there because a translation could get it wrong: parts of a sort (one empty at the
first size), given and open rigid data, an axiom, initial updates, nullary symbols, a swap that has to read the state
before, updates bound over a part, two updates of one symbol, comparisons of what may be undefined, switches, a
property of certain actions only, names that other languages reserve.
"""

from anchorhold_spec.language import Lit, MachineBuilder, bound, exists, forall, safety, succ, unchanged

m = MachineBuilder("odd cupboard", 'Boxes in a cupboard ("odd") …', rules={"ODD-1", "ODD-2"}, alphabet={"move"})

Box = m.sort("box", plural="boxes")
Tin = m.part("tin", Box)
Crate = m.part("crate", Box)
Shelf = m.sort("shelf", plural="shelves", symmetric=True)
Level = m.ordered("level")
State = m.enum("state", "open", "end")

locked = m.switch("locked", "no", "yes", default="no")

above = m.rigid_rel("above", Shelf, Shelf, given=lambda a, b: a > b)
heavy = m.rigid_rel("heavy", Box)
start = m.rigid_fun("start", to=Shelf)
limit = m.rigid_fun("limit", Shelf, to=Level, partial=True, given=lambda s: None if s else 1)

on = m.pfun("on", Box, to=Shelf)
spare = m.pfun("spare", Tin, to=Shelf)
filled = m.fun("filled", Box, to=Level, initial=Level.zero)
door = m.fun("door", to=State, initial=State.open)
rung = m.rel("array", initial=True)
seen = m.rel("seen", Box, Shelf, ghost=True)

b, c, x, y, low, high = Box("b"), Box("c"), Shelf("x"), Shelf("y"), Level("low"), Level("high")
tin, crate = Tin("tin"), Crate("crate")

m.axiom("somebody is light", exists(b, ~heavy(b)))
m.initially(on(b).becomes(start(), when=heavy(b), each=b))

m.action(
    "put",
    b,
    x,
    doc="A box without a place gets one.",
    guards=[safety("nowhere", ~on(b).defined), safety("open", door() == State.open)],
    updates=[
        on(b).becomes(x),
        seen(b, x).becomes(True, when=heavy(b)),
        seen(c, x).becomes(on(c) == x, when=~heavy(b), each=c),
    ],
)
m.action(
    "if",
    b,
    c,
    event="move",
    doc="Two boxes change places; both right sides are as before.",
    guards=[safety("two", b != c), safety("apart", ~(on(b) == on(c))), safety("unlocked", locked == "no")],
    updates=[on(b).becomes(on(c)), on(c).becomes(on(b))],
)
m.action(
    "fill",
    b,
    x,
    low,
    high,
    doc="A box on a shelf with a limit is filled up to it.",
    guards=[
        safety("there", on(b) == x),
        safety("so far", filled(b) == low),
        safety("further", succ(low, high)),
        safety("allowed", (high <= limit(x)) | above(x, x)),
    ],
    updates=[filled(b).becomes(high), rung().becomes(~rung())],
)
m.action(
    "tip",
    x,
    doc="Tins on a shelf lose what is in them and keep a spare place; crates fall down.",
    guards=[safety("something there", exists(b, on(b) == x)), bound("open", door() == State.open, "as it is")],
    updates=[
        filled(tin).becomes(Level.zero, when=on(tin) == x, each=tin),
        spare(tin).becomes(x, when=(on(tin) == x) & ~(spare(tin) == on(tin)), each=tin),
        on(crate).cleared(when=on(crate) == x, each=crate),
    ],
)
m.action(
    "close",
    doc="The door is shut, or opened again.",
    fault=True,
    updates=[
        door().becomes(State.end, when=door() == State.open),
        door().becomes(State.open, when=~(door() == State.open)),
    ],
)

m.invariant(
    "filled is allowed",
    forall(b, x, (filled(b) > Level.zero) >> (~Crate.has(b) | (on(b) == x) | (filled(b) != Level.zero))),
    rules=["ODD-1"],
)
m.invariant(
    "what is full was filled",
    forall(b, c, ((on(b) == on(c)) == (on(c) == on(b))) & ((filled(b) < filled(c)) >> (filled(b) != filled(c)))),
    rules=["ODD-1"],
)
m.invariant(
    "a heavy box stays near",
    forall(b, x, y, (heavy(b) & (on(b) == x) & (on(b) == y)) >> (x == y))
    & forall(b, rung() | (filled(b) >= Level.zero)),
    rules=["ODD-1"],
)
m.transition(
    "swaps keep what is filled",
    forall(b, filled(b).next == filled(b)) & (door().next == door()) & unchanged(spare),
    rules=["ODD-2"],
    on=["if", "put"],
)
m.transition(
    "seen grows",
    (locked == "yes") >> forall(b, x, seen(b, x) >> (seen(b, x).next | ~(on(b).next == x))),
    rules=["ODD-2"],
    doc="Broken where it is asked for.",
)
m.auxiliary("trivial", forall(b, filled(b) >= Level.zero) | Lit(False))
m.sometimes("a tin has a spare place", exists(tin, x, spare(tin) == x))
m.can_end("the door opens", trigger=~(door() == State.open), goal=door() == State.open, rules=["ODD-1"])

m.instance("no tins", tins=0, crates=2, shelves=2, levels=2)
m.instance("both", tins=1, crates=1, shelves=2, levels=1)

machine = m.build()
