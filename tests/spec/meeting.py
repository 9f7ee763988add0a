"""How often random walks meet each mutation: `python tests/spec/meeting.py [--runs N] [MACHINE …]`.

For each mutation of the machines' tests, over runs with several seeds as Hypothesis makes them: in how many of them
it is met, and how probable it is that none of the runs of a test meets it.
"""

from __future__ import annotations

import argparse
import sys
import time

from hypothesis import seed
from hypothesis.stateful import run_state_machine_as_test
from mutating import RUNS, quiet
from test_mutations import mutations_of

from anchorhold_spec.language import Machine
from anchorhold_spec.machines import load, names
from anchorhold_spec.run.stateful import state_machine_for

SEEDS = 3


def meetings(machine: Machine, *, runs: int) -> tuple[int, int]:
    """How many runs met a broken rule, and how many there were: about as many as asked for."""
    driven = state_machine_for(machine)
    met = made = 0

    class Counting(driven):
        def __init__(self):
            nonlocal made
            super().__init__()
            made += 1
            self.over = False

        def _start(self, views, course):
            if not self.over:
                super()._start(views, course)

        def _arrive(self, state):
            super()._arrive(state)
            if self.over:
                self.moves = {}

        def _fail(self, name, rules):
            nonlocal met
            met += not self.over
            self.over = True

    for n in range(SEEDS):
        run_state_machine_as_test(seed(n)(Counting), settings=quiet(runs // SEEDS, derandomize=False))
    return met, made


def main(machines: list[str], runs: int) -> None:
    for name in machines or names():
        for title, mutate in mutations_of(name).items():
            started = time.perf_counter()
            met, made = meetings(mutate(load(name)), runs=runs)
            each = 1000 * (time.perf_counter() - started) / made
            missed = (1 - met / made) ** RUNS
            sys.stdout.write(
                f"{name:22} {title:58} {met:4} of {made:4} {met / made:6.1%}, none of {RUNS}: {missed:.0e}, "
                f"{each:.0f} ms a run\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machines", nargs="*")
    parser.add_argument("--runs", type=int, default=90)
    given = parser.parse_args()
    main(given.machines, given.runs)
