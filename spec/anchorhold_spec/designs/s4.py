"""S4: the write orders that the source names, with recycled or monotonic keys, tagged with epochs or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from anchorhold_spec.designs.model import Claim, Column, Lemma, Row, Table
from anchorhold_spec.language.walk import fold
from anchorhold_spec.machines import write_order

_DEFAULTS = {
    "order": "unordered",
    "keys": "recycled",
    "tags": "none",
    "store": "shared",
    "reaper": "reads-pointers",
    "pointers": "durable",
    "transactions": "pointer-first",
    "check": "held",
    "horizon": "session",
}
"""A design says how it differs from these."""

ORDERS = ("unordered", "ordered", "two-phase", "asynchronous")
_BOTH_TAGS = ("none", "epochs")
_KEYS = (*product(("recycled",), _BOTH_TAGS), *product(("monotonic",), _BOTH_TAGS))

_H, _B = Claim.HOLDS, Claim.BREAKS
_ONLY_WRONG = "Decision boundary: unordered, recycled and untagged is the one combination that is confidently wrong."
_NOT_WRONG = "Decision boundary: no combination but unordered, recycled and untagged is confidently wrong."
_SHOWS = "What was observed: with monotonic or tagged keys the wrong results went, and only empty ones stayed."
_SEPARATE = "What was observed: wrong results only where the compactor and the reaper shared a store."
_EMPTY = "Condition of validity: without an order between pointer and eviction it does not hold."
_TAGS = (
    "Condition of validity 2: keys that are tagged with an epoch are one of the three orders, of which any one makes "
    "it hold."
)
_RESOLVABLE = {
    "ordered": (_H, "Condition of validity 1: the pointer is durable before the reaper may consider the span."),
    "two-phase": (_H, "Condition of validity 3: stage, pointer, commit, and only then release."),
    "asynchronous": (
        _H,
        "Decision boundary: a cold-store id written at once, the copy reconciled, pending meanwhile.",
    ),
}
_FAULTS = {
    ("reaper", "ignores-pointers"): "Condition of validity: invalid where a reaper does not consult the pointers.",
    ("pointers", "telemetry"): "Condition of validity: invalid where pointers are only as durable as telemetry.",
    ("transactions", "summary-first"): (
        "Condition of validity: invalid with separate transactions and the summary first."
    ),
    ("check", "at-start"): (
        "Core distinction: what checks only when a compaction starts passes its tests and fails later."
    ),
}
"""One thing done wrong, and what the source says of it."""

_FAMILY = (
    "Recycled keys without tags are enough as soon as a source can go while its pointer is still followed. Not only "
    "the order that is called unordered lets it go: so do a reaper that ignores pointers, a summary that commits "
    "before its pointer, and a check at the start alone. The source's one combination is a family, of all that it "
    "calls invalid but weak pointers, which are lost before they can mislead."
)
_AFTER_THE_HORIZON = (
    "The order is kept, and still an answer is wrong: after the horizon the source goes, its key is taken again, and "
    "the pointer that is left leads there. Order is no substitute for tags."
)
_NO_ORDER = (
    "Tags tell a recycled key from the original's, and keep nothing: the source still goes before its pointer is "
    "there. The source says so itself further on (Decision boundary: detectable absence instead of a wrong answer, "
    "and no provenance); what it lists as a sufficient order is none (departure D3)."
)


def rows() -> Sequence[Row]:
    """The designs, each with what was changed in it."""
    designs: list[dict[str, str]] = []
    designs += [{"order": order, "keys": keys, "tags": tags} for order in ORDERS for keys, tags in _KEYS]
    designs += [{"order": order, "tags": tags, "store": "separate"} for order in ORDERS for tags in _BOTH_TAGS]
    designs += [
        {"order": "two-phase", "keys": keys, "tags": tags, name: value}
        for name, value in _FAULTS
        for keys, tags in _KEYS
    ]
    designs += [{"order": order, "tags": tags, "horizon": "ends"} for order in ORDERS[1:] for tags in _BOTH_TAGS]
    return [_row({**_DEFAULTS, **design}) for design in designs]


def _row(switches: Mapping[str, str]) -> Row:
    machine = write_order.machine.with_switches(**switches).with_defaults()
    lemmas = tuple(Lemma(each.name, fold(each.formula, switches)) for each in write_order.lemmas)
    return Row(switches, machine, _claims(switches), _because(switches), lemmas)


def _claims(switches: Mapping[str, str]) -> dict[str, tuple[Claim, str]]:
    unordered = switches["order"] == "unordered"
    detectable = switches["keys"] == "monotonic" or switches["tags"] == "epochs"
    if switches["store"] == "separate":
        wrong = shows = (_H, _SEPARATE)
    elif unordered and not detectable:
        wrong = shows = (_B, _ONLY_WRONG)
    else:
        wrong = (_H, _NOT_WRONG)
        shows = (_H, _SHOWS if detectable else _NOT_WRONG)
    if fault := next((said for (name, value), said in _FAULTS.items() if switches[name] == value), None):
        resolvable = (_B, fault)
    elif unordered:
        resolvable = (_H, _TAGS) if switches["tags"] == "epochs" else (_B, _EMPTY)
    else:
        resolvable = _RESOLVABLE[switches["order"]]
    return {"EPO-1": wrong, "PTR-2": resolvable, "REC-1": shows}


def _because(switches: Mapping[str, str]) -> dict[str, str]:
    if switches["order"] == "unordered" and switches["tags"] == "epochs":
        return {"PTR-2": _NO_ORDER}
    if switches["horizon"] == "ends":
        return dict.fromkeys(("EPO-1", "REC-1"), _AFTER_THE_HORIZON)
    if any(switches[name] == value for name, value in _FAULTS):
        return dict.fromkeys(("EPO-1", "REC-1"), _FAMILY)
    return {}


TABLE = Table(
    source="S4",
    title="Which write order keeps what is committed resolvable?",
    about=(
        "The machine is write-order. First the designs as the source names them (“epoch tags only” is unordered with "
        "epochs); then pointers into a store of their own; then two-phase with one thing done wrong; and last the "
        "orders that hold, where the horizon may end before the session does: what is committed need not be "
        "resolvable then, but its pointer is still there."
    ),
    columns=(
        Column("EPO-1", "never silently wrong", ("never silently wrong",)),
        Column("PTR-2", "committed ⇒ resolvable", ("committed is resolvable",)),
        Column("REC-1", "absence detectable", ("absence is detectable",)),
    ),
    rows=rows,
    heads=("order", "keys", "tags"),
)
