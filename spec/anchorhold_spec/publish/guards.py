"""The guards that are not there for a rule's sake, and what is known of the rules without each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from anchorhold_spec.publish.matrix import row

if TYPE_CHECKING:
    from anchorhold_spec.prove import GuardVerdict


def guards_table(verdicts: Iterable[GuardVerdict]) -> str:
    """A row for each tagged guard: its reason, and what `prove` found out about the machine without it."""
    heading = "without it: every invariant and two-state property; and what can end, explored at the sizes named"
    rows = [
        f"| machine | action | guard | tag | why it is there | {heading} |",
        "|---|---|---|---|---|---|",
    ]
    rows += [
        row(each.machine, each.action, each.guard, str(each.tag), each.reason or "", without(each))
        for each in verdicts
        if each.reason is not None
    ]
    return "\n".join(rows)


def without(verdict: GuardVerdict) -> str:
    """What is known of the rules without the guard, in a few words."""
    searched = "; ".join(
        ", ".join(f"{sort}={number}" for sort, number in sizes.items()) for sizes in verdict.searched
    )
    match verdict.without:
        case "proved":
            # What is proved is searched only where something has to be able to end.
            return "proved, for every size" + (f"; it can end, explored at {searched}" if searched else "")
        case "violated":
            assert verdict.violation is not None, "that is what it says"
            return f"**{', '.join(verdict.violation.rules)} broken in {len(verdict.violation.trace.steps)} steps**"
        case "not proved":
            return f"no violation reached up to {searched or 'nothing'}; not proved"
        case _:
            return f"not known: {verdict.problem}"
