"""S2: what becomes of evidence if the gate lets a span pass in one cell of class × provenance, and in no other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from anchorhold_spec.designs.model import Claim, Column, Row, Table
from anchorhold_spec.language import Machine, safety
from anchorhold_spec.machines import evidence

CLASSES = ("narrative", "structured", "side_effecting")
POINTERS = ("durable", "none")
ORIGINALS = ("retrievable", "not retrievable")


def rows() -> Sequence[Row]:
    """Twelve cells."""
    found = []
    for kind, pointer, original in product(CLASSES, POINTERS, ORIGINALS):
        switches = {"class": kind, "pointer": pointer, "original": original}
        if kind == "narrative":
            claim = (Claim.HOLDS, "Decision boundary: narrative may be reclaimed whatever its provenance.")
        elif pointer == "durable" and original == "retrievable":
            claim = (Claim.HOLDS, "Decision boundary: reclaimed with a pointer and an original that can be had.")
        else:
            claim = (Claim.BREAKS, "Decision boundary: outside the two cells the span is kept verbatim.")
        found.append(Row(switches, letting_pass(kind, pointer, original), {"EVI-1": claim}))
    return found


def letting_pass(kind: str, pointer: str, original: str) -> Machine:
    """The evidence machine whose gate clears what is in this cell when it looks, and nothing else."""
    s = evidence.s
    pointed = evidence.pointer(s) == evidence.Pointer.durable
    # What may end before the horizon, or is about to be deleted, cannot be counted on (EVI-3).
    retrievable = (evidence.original(s) == evidence.Original.kept) & ~evidence.doomed(s)
    clear = evidence.machine.action("clear")
    kept = tuple(guard for guard in clear.guards if guard.name in ("verbatim", "narrative or omissions named"))
    cell = (
        safety("of the class", evidence.kind(s) == getattr(evidence.Class, kind)),
        safety("pointer", pointed if pointer == "durable" else ~pointed),
        safety("original", retrievable if original == "retrievable" else ~retrievable),
    )
    return evidence.machine.with_action(replace(clear, guards=(*kept, *cell))).with_defaults()


TABLE = Table(
    source="S2",
    title="In which cells may a span be lossily reclaimed?",
    about=(
        "The machine is evidence, with a gate that lets spans pass in the one cell of the row. Proved: what was "
        "reclaimed stays provable to the horizon, so the cell may be opened. Not durable counts as no pointer; an "
        "original that may expire before the horizon, or that is about to be deleted, as not retrievable."
    ),
    columns=(Column("EVI-1", "evidence stays", ("two cells permit it", "evidence stays to the horizon")),),
    rows=rows,
)
