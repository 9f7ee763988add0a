"""The simulated race as text, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.table import Table

from anchorhold_spec.simulate import DESIGNS, PROVENANCE, SEEN_BY_S4, Cell, Ratio, Study


def percent(ratio: Ratio) -> str:
    """`0.52 % (0.31–0.73)`; where none was seen, `0 (< 0.06 %)`: what the interval leaves possible."""
    if ratio.count == 0:
        return f"0 (< {100 * ratio.high:.2g} %)"
    return f"{100 * ratio.mean:.2f} % ({100 * ratio.low:.2f}–{100 * ratio.high:.2f})"


def rates(study: Study) -> list[float]:
    """Evictions a minute, ascending."""
    return sorted({cell.parameters.evictions_per_minute for cell in study.cells})


def tables(study: Study, *, width: int) -> list[Table]:
    """The table in as many parts as it takes for no column to be cut at this many characters a line."""
    names = max(len(name) for design in DESIGNS for name in (design.name, WRONG))
    columns = [(rate, _width(study, rate)) for rate in rates(study)]
    parts: list[list[float]] = []
    room = 0
    for rate, needed in columns:
        if not parts or needed > room:
            parts.append([])
            room = width - names - MARGIN
        parts[-1].append(rate)
        room -= needed
    return [table(study, chosen) for chosen in parts]


MARGIN = 3
"""Characters on the outer edges of a table, and before its first column."""
WRONG = "  of these wrong"


def _width(study: Study, rate: float) -> int:
    """Characters that one column needs, with what parts it from the one before."""
    cells = [cell for cell in study.cells if cell.parameters.evictions_per_minute == rate]
    texts = [narrow(ratio) for cell in cells for ratio in (cell.unresolvable, cell.wrong)]
    return 2 + max(len(line) for text in (f"{rate:g}/min", *texts) for line in text.splitlines())


def table(study: Study, chosen: Sequence[float]) -> Table:
    """Unresolvable ÷ committed, a row a design, a column each of these rates; the confidently wrong ones below."""
    shown = Table(
        title="unresolvable ÷ committed in percent, with 95 % intervals over the seeds",
        caption="columns: evictions a minute; wrong: another span was returned and nothing told it from the source",
        box=box.SIMPLE_HEAD,
        padding=(0, 0, 0, 1),
        title_justify="left",
        caption_justify="left",
    )
    shown.add_column("design", no_wrap=True)
    for rate in chosen:
        shown.add_column(f"{rate:g}/min", justify="right", no_wrap=True)
    for design in DESIGNS:
        at = {cell.parameters.evictions_per_minute: cell for cell in study.cells if cell.design == design}
        cells = [at[rate] for rate in chosen]
        shown.add_row(design.name, *(narrow(cell.unresolvable) for cell in cells))
        if any(cell.wrong.count for cell in cells):
            shown.add_row(WRONG, *(narrow(cell.wrong) for cell in cells), style="red")
    return shown


def narrow(ratio: Ratio) -> str:
    """`percent` on two lines, so that more rates fit beside each other."""
    if ratio.count == 0:
        return f"0\n(< {100 * ratio.high:.2g})"
    return f"{100 * ratio.mean:.2f}\n({100 * ratio.low:.2f}–{100 * ratio.high:.2f})"


def finding(study: Study) -> list[str]:
    """What came out, beside what S4 reports. Sentences for the terminal and for the page."""
    low, high = (100 * share for share in SEEN_BY_S4)
    inside, open_ = (_rates_of_unordered(cells) for cells in (study.in_range(), study.not_excluded()))
    lines: list[str] = []
    if inside:
        lines.append(
            f"The unordered design loses {low:g}–{high:g} % on average, as S4 saw, at {inside} evictions a minute."
        )
    elif open_:
        lines.append(
            f"At none of these rates does the unordered design lose {low:g}–{high:g} % on average, as S4 saw; "
            "there is too little data to exclude it."
        )
    else:
        lines.append(
            f"At none of these rates does the unordered design lose the {low:g}–{high:g} % that S4 saw: "
            "either its system was faster or slower, or the model lacks something."
        )
    if open_:
        lines.append(
            f"At {open_} evictions a minute its mean lies outside of {low:g}–{high:g} %, and the interval does not "
            "exclude it: more --seeds or --commits would tell."
        )
    safe = [
        design.title
        for design in DESIGNS
        if not any(cell.unresolvable.count for cell in study.cells if cell.design == design)
    ]
    lines.append(f"Nothing was lost by: {'; '.join(safe) or 'no design'}.")
    wrong = sorted({cell.design.title for cell in study.cells if cell.wrong.count})
    lines.append(f"A wrong span was returned by: {'; '.join(wrong) or 'no design'}.")
    lines.append(_about_length(study))
    return lines


def _rates_of_unordered(cells: Sequence[Cell]) -> str:
    """Evictions a minute, ascending, with commas between them."""
    found = sorted(cell.parameters.evictions_per_minute for cell in cells if cell.design.name == "unordered")
    return ", ".join(f"{rate:g}" for rate in found)


def _about_length(study: Study) -> str:
    held, free = (
        [each.cell.unresolvable for each in study.lengths if each.held is wanted] for wanted in (True, False)
    )
    if not held or not free:
        return "The length of the summary was not varied."

    def moves(ratios: list[Ratio]) -> bool:
        return max(each.low for each in ratios) > min(each.high for each in ratios)

    return (
        f"With the source held until the commit the loss {'depends' if moves(held) else 'does not depend'} on the "
        f"summary's length; where the reaper may take it while the summary is being written, it "
        f"{'does' if moves(free) else 'does not'}. S4 saw no dependence."
    )


def as_json(study: Study) -> dict[str, Any]:
    """The document of `--json`: parameters and where they come from, every cell, and what S4 reports."""
    return {
        "parameters": asdict(study.base),
        "provenance": dict(PROVENANCE),
        "seeds": list(study.seeds),
        "reported_by_source": {"source": "S4", "low": SEEN_BY_S4[0], "high": SEEN_BY_S4[1]},
        "designs": [{"name": design.name, "title": design.title} for design in DESIGNS],
        "cells": [_cell(cell) for cell in study.cells],
        "lengths": [
            {"tokens": each.tokens, "held_while_summarised": each.held, **_cell(each.cell)} for each in study.lengths
        ],
        "policies": [{"victims": cell.parameters.victims, **_cell(cell)} for cell in study.policies],
        "findings": finding(study),
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "design": cell.design.name,
        "evictions_per_minute": cell.parameters.evictions_per_minute,
        "committed": cell.committed,
        "unresolvable": asdict(cell.unresolvable),
        "wrong": asdict(cell.wrong),
        "empty": asdict(cell.empty),
        "pending": asdict(cell.pending),
        "commit_delay_seconds": cell.commit_delay,
        "hold_seconds": cell.hold,
    }
