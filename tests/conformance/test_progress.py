"""What is told while a check runs: a line that changes on a terminal, and a plain one now and then elsewhere."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from anchorhold.progress import EVERY, OnTerminal


@dataclass
class FakeClock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def told(steps: Sequence[float], *, terminal: bool = False, quiet: bool = False, total: int = 9) -> list[str]:
    """The lines after the first, of a check that plays a history after so many seconds each."""
    clock, to = FakeClock(), io.StringIO()
    console = Console(file=to, force_terminal=terminal, width=30, color_system=None)
    with OnTerminal(console, quiet=quiet, clock=clock) as progress:
        progress.started("x", "1", total)
        for number, seconds in enumerate(steps, start=1):
            clock.now += seconds
            progress.playing(number, f"growth-{number}")
            if number == 1:
                progress.failed("PTR-1", "It is gone.")
        clock.now += EVERY
        progress.shrinking("PTR-1", 3, 100, 7)
    return to.getvalue().splitlines()[1:]


SHORTENING = "PTR-1: looking for the shortest history (3/100 operations, 7 steps left)"


def test_where_there_is_no_terminal_a_line_says_now_and_then_how_far_it_is_and_what_failed() -> None:
    assert told([EVERY, EVERY / 2, EVERY / 2, 1.0], total=3) == [
        "playing 1 of 3, growth-1; no rule failed so far",
        "PTR-1 It is gone.",
        "playing 3 of 3, growth-3; failing so far: PTR-1",
        SHORTENING,
    ]
    # Walks come on top of the scenarios that were counted.
    assert told([0.0, EVERY], total=1)[1] == "playing 2, growth-2; failing so far: PTR-1"


@pytest.mark.parametrize("quiet", [False, True])
def test_a_terminal_gets_no_such_lines(quiet: bool) -> None:
    assert not [line for line in told([EVERY] * 3, terminal=True, quiet=quiet) if line.startswith("playing")]


def test_who_asked_for_json_gets_the_failures_alone() -> None:
    assert told([EVERY] * 3, quiet=True) == ["PTR-1 It is gone."]


@given(steps=st.lists(st.integers(min_value=0, max_value=3 * int(EVERY)), min_size=1, max_size=30))
def test_no_two_lines_come_closer_together_and_none_is_owed(steps: list[int]) -> None:
    lines = [line for line in told(steps) if line.startswith("playing")]
    due, since = 0, 0
    for seconds in steps:
        since += seconds
        if since >= EVERY:
            due, since = due + 1, 0

    assert len(lines) == due
