"""S1: on which side of the lossless-retrieval boundary each of eight kinds of index lies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from anchorhold_spec.designs.model import Claim, Column, Row, Table
from anchorhold_spec.machines import load

_WANTED = {"keys": "by-span", "entries": "immutable", "lifetime": "to-horizon"}
_HOLDS = (
    "Decision boundary: immutable entries under span ids, kept to the horizon and audited, may be called lossless."
)
_BREAKS = {
    "keys": "Condition of validity: keys come from the span's identity; an upsert by content hash was the fault.",
    "entries": "Condition of validity: a pass may add entries and never replace a raw one or change its key.",
    "lifetime": "Decision boundary: a lifetime below the session's horizon is not lossless.",
}


def rows() -> Sequence[Row]:
    """All eight combinations."""
    machine = load("index")
    found = []
    for values in product(("by-span", "by-content"), ("immutable", "replaceable"), ("to-horizon", "shorter")):
        switches = dict(zip(_WANTED, values, strict=True))
        missing = [name for name, value in switches.items() if value != _WANTED[name]]
        claim = (Claim.BREAKS, _BREAKS[missing[0]]) if missing else (Claim.HOLDS, _HOLDS)
        claims = {"IDX-1": claim, "RET-1": claim}
        if "keys" in missing:
            claims["IDX-2"] = (Claim.BREAKS, _BREAKS["keys"])
        if "entries" in missing:
            claims["IDX-4"] = (Claim.BREAKS, _BREAKS["entries"])
        found.append(Row(switches, machine.with_switches(**switches).with_defaults(), claims))
    return found


TABLE = Table(
    source="S1",
    title="Which index may be called lossless?",
    about=(
        "The machine is index, with audits on in all rows. Entries that the world damages are left out of IDX-1, "
        "IDX-4 and RET-1: no kind of index prevents that, and audits are there to find it."
    ),
    columns=(
        Column(
            "IDX-1", "evicted has its entry", ("every evicted span has its entry", "key and content never change")
        ),
        Column("IDX-2", "a key of its own", ("different spans have different keys",)),
        Column("IDX-4", "keys stay resolvable", ("every key given out resolves",)),
        Column("RET-1", "lossless is true", ("lossless is true",)),
    ),
    rows=rows,
)
