"""The numbers and the replies that PROTOCOL.md tells are those that the suite goes by."""

import re
from pathlib import Path

from anchorhold.checkers.progress import FEW
from anchorhold.scenarios import ASKED_FOR, AUDITED, Effort, scenarios
from anchorhold.scenarios.trouble import PERIODS
from anchorhold.shrink import WINDOWS
from anchorhold.size import high_water
from anchorhold.summariser import ERROR_TEXT, MODES, SUMMARIES
from anchorhold.wire.messages import OPERATIONS
from anchorhold.wire.process import Limits

PROTOCOL = (Path(__file__).parents[2] / "conformance" / "PROTOCOL.md").read_text(encoding="utf-8")
FLAT = " ".join(PROTOCOL.split())


def section(title: str) -> str:
    return PROTOCOL.partition(f"### {title}\n")[2].partition("\n##")[0]


def test_the_protocol_tells_the_usual_and_the_smallest_watermark() -> None:
    means = frozenset({*OPERATIONS, "concurrency"})
    every = [s for s, _ in scenarios(effort=Effort.STANDARD, seed=0, means=means, points=("a", "b"))]
    marks = {scenario.name: high_water(scenario.settings) or 0 for scenario in every}
    smallest = min(marks.values())

    assert [name for name, mark in marks.items() if mark < (high_water(ASKED_FOR) or 0)] == [AUDITED.name]
    assert f"a watermark of {high_water(ASKED_FOR):g} tokens" in FLAT
    assert f"with the smallest: {smallest:g} tokens" in FLAT
    assert f"of {PERIODS} compactions" in FLAT
    assert f"budgets down to {min(WINDOWS)} are tried" in FLAT
    assert FEW == 6
    assert "at most six turns" in FLAT


def test_the_protocol_lists_every_way_in_which_a_reply_is_no_summary() -> None:
    rows = re.findall(r"^\| (?!the model|-)(.+?) \|", section("Replies that must not be committed"), re.M)

    # An empty reply and a blank one are one way.
    assert len(rows) == len({*MODES} - SUMMARIES) - 1
    assert ERROR_TEXT[:40] in PROTOCOL


def test_the_protocol_tells_how_long_a_line_may_be() -> None:
    assert f"A line has at most {Limits().line // 2**20} MiB" in PROTOCOL
