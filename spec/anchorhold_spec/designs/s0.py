"""S0: whether the three conditions that the source names are each needed for its silent divergence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from anchorhold_spec.designs.model import Claim, Column, Row, Table
from anchorhold_spec.machines import load

_ALL_THREE = "Condition of validity: the failure needs all three conditions, and this design meets them."
_ABSENT = {
    "generations": "Condition of validity: with one generation the raw span stays reachable.",
    "retention": "Condition of validity: an index that looks at what is still needed keeps its last carrier.",
    "reconstitution": "Condition of validity: reconstitution that insists on an anchor raises and does not guess.",
}
_FAILING = {"generations": "many", "retention": "independent", "reconstitution": "unanchored"}


def rows() -> Sequence[Row]:
    """All eight combinations."""
    machine = load("anchoring")
    found = []
    for values in product(("many", "one"), ("independent", "coupled"), ("unanchored", "anchored")):
        switches = dict(zip(_FAILING, values, strict=True))
        absent = [name for name, value in switches.items() if value != _FAILING[name]]
        claim = (Claim.HOLDS, _ABSENT[absent[0]]) if absent else (Claim.BREAKS, _ALL_THREE)
        because = {}
        if absent == ["generations"]:
            because["REC-1"] = (
                "One generation is no protection by itself: the raw span's entry is removed by age or size just the "
                "same, and a summary of the first generation may have left the fact out. The source counts on the "
                "entry to stay, which is what its second condition denies."
            )
        found.append(Row(switches, machine.with_switches(**switches).with_defaults(), {"REC-1": claim}, because))
    return found


TABLE = Table(
    source="S0",
    title="When does reconstitution diverge in silence?",
    about=(
        "The machine is anchoring, with the gate at commits in place in all rows: what leaves the window has gone "
        "into the index or into the summary, as in the source's account. ANC-1 is asked as well: the source says "
        "nothing of it for single conditions, and it shows what an anchored reconstitution has to refuse for."
    ),
    columns=(
        Column("REC-1", "never silently diverged", ("never silently diverged",)),
        Column("ANC-1", "anchored or tombstoned", ("anchored or tombstoned",)),
    ),
    rows=rows,
)
