"""A table of two designs of a cupboard: what is locked was shut, and stays so only where it is locked."""

from anchorhold_spec.designs import Claim, Column, Lemma, Row, Table
from anchorhold_spec.language import MachineBuilder, bound, exists, forall, safety

m = MachineBuilder("boxes", "Boxes are shut, then sealed.", rules={"LEN-1"}, alphabet={"shut", "seal"})
Box = m.sort("box", plural="boxes", symmetric=True)
care = m.switch("care", "all", "one", default="all", doc="Whether the other boxes are looked at.")
shut = m.rel("shut", Box)
tied = m.rel("tied", Box)
sealed = m.rel("sealed", Box)
hand = m.worker("hand", writes=[shut, tied, sealed])
b, c = Box("b"), Box("c")
m.action(
    "shut",
    b,
    by=hand,
    event="shut",
    doc="A box is shut, and tied.",
    guards=[bound("open", ~shut(b), "again changes nothing")],
    updates=[shut(b).becomes(True), tied(b).becomes(True)],
)
m.action(
    "seal",
    b,
    by=hand,
    event="seal",
    doc="A tied box is sealed, once all others are tied.",
    guards=[
        safety("others", (care == "one") | forall(c, (b == c) | tied(c))),
        safety("tied", tied(b)),
    ],
    updates=[sealed(b).becomes(True)],
)
m.invariant(
    "sealed means all shut",
    forall(b, c, sealed(b) >> shut(c)),
    rules=["LEN-1"],
    doc="Nothing is sealed while something is open.",
)
m.sometimes("sealed", exists(b, sealed(b)))
m.may_rest(forall(b, shut(b)))
m.instance("small", boxes=2)
machine = m.build()


def table_of(which: str) -> Table:
    """Both designs; or the sound one without what its proof needs."""
    lemmas = (Lemma("tied is shut", forall(b, tied(b) >> shut(b))), Lemma("all are shut", forall(b, shut(b))))
    sound = Row(
        {"care": "all"}, machine.with_switches(care="all"), {"LEN-1": (Claim.HOLDS, "it says so")}, {}, lemmas
    )
    unsound = Row({"care": "one"}, machine.with_switches(care="one"), {}, {}, lemmas)
    without = Row({"care": "all"}, sound.machine, sound.claims)
    rows = {"both": [sound, unsound], "unknown": [without]}[which]
    column = Column("LEN-1", "all shut", ("sealed means all shut",))
    return Table(source="TEST", title="Boxes", about="", columns=(column,), rows=lambda: rows)
