"""How often one random walk meets a mutation: `python tests/spec/meeting.py [MACHINE …]`.

For each mutation of the machines' tests, over many walks with several seeds: the part of the walks that meet it, and
the probability that none of the walks of a test does.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Mapping

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from anchorhold_spec.language import Machine
from anchorhold_spec.run.stateful import state_machine_for


def rate(machine: Machine, sizes: Mapping[str, int] | None, *, walks: int, steps: int = 40) -> tuple[int, int]:
    """How many of about so many walks meet a broken rule, and how many walks were made."""
    driven = state_machine_for(machine, sizes)
    met = made = 0

    class Counting(driven):
        def _start(self, views, **choices):
            nonlocal made
            made += 1
            self.over = False
            super()._start(views, **choices)

        def _arrive(self, state):
            super()._arrive(state)
            if self.over:
                self.moves = {}

        def _fail(self, name, rules):
            nonlocal met
            met += not self.over
            self.over = True

    quiet = settings(
        max_examples=walks,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    for n in range(3):
        run_state_machine_as_test(seed(n)(Counting), settings=quiet)
    return met, made


NAMES = [
    "anchored-release anchoring asynchronous-copy concurrency erasure evidence generations index progress".split(),
    "reconstitution write-order".split(),
]


def main(names: list[str]) -> None:
    for name in names or [n for each in NAMES for n in each]:
        module = importlib.import_module(f"test_machine_{name.replace('-', '_')}")
        machine = module.MACHINE
        for title, mutate in module.MUTATIONS.items():
            for n, s in {"all": None}.items():
                start = time.perf_counter()
                met, made = rate(mutate(machine), s, walks=15)
                t = time.perf_counter() - start
                print(
                    f"{name:18} {title:55} {n:18} {met:4}/{made:4} {met / made:6.1%}  {t / made * 1000:5.1f} ms/walk",
                    flush=True,
                )


if __name__ == "__main__":
    sys.path[:0] = ["tests/spec"]
    main(sys.argv[1:])
