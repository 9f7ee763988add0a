"""How long `anchorhold check` takes: `python tests/bench/check.py [--shortest N]`.

The reference is checked by two worker processes at quick and at standard effort: wall and processor time. With
`--shortest N`, every N-th wrong compactor of the catalogue is checked for a rule that it breaks, and what is told of
the failing histories is how long they are after they were shortened. Not a test: nothing that is collected depends on
time. Wall times mean something on a machine with two idle cores only. Ends with 1 where a figure is not met.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from measuring import Account, run

TESTS = Path(__file__).parents[1]
ASKED = {"quick": 10.0, "standard": 60.0}
"""Seconds of wall time, two cores."""
OPERATIONS = 6
"""Of a failing history that was shortened, in the median (`anchorhold.operations` says what counts)."""


def timed(account: Account) -> None:
    """Check the reference as a user does."""
    command = str(Path(sys.executable).with_name("anchorhold"))
    for effort, seconds in ASKED.items():
        with tempfile.TemporaryDirectory() as folder:
            options = ("--effort", effort, "--workers", "2", "--report", folder)
            # A level would not do: a quick check leaves out what RET-2 takes, and ends with 0 all the same.
            done = run(command, "check", "reference", *options, cwd=Path(folder))
        print(f"{effort}: {done.wall:.1f} s, {done.processor:.1f} s of processor time")
        account.hold(f"{effort}, two workers, wall", done.wall, seconds, unit=" s")


def shortest(account: Account, every: int) -> None:
    """Shorten what wrong compactors are caught at."""
    for folder in ("adequacy", "conformance"):
        sys.path.insert(0, str(TESTS / folder))
    from catalogue import WRONG

    from anchorhold.check import check
    from anchorhold.checkers import CHECKERS
    from anchorhold.effort import Effort
    from anchorhold.load import load_class
    from anchorhold.operations import looks, operations

    steps: list[int] = []
    played: list[int] = []
    looked: list[int] = []
    missed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, rule in WRONG[::every]:
            begun = time.process_time()
            with load_class(kind, name=kind.__qualname__) as loaded:
                checked = check(
                    loaded, checkers=CHECKERS, histories=Path(folder), effort=Effort.STANDARD, rules={rule}
                )
            histories = list(checked.histories.values())
            if not histories:
                missed.append(f"{kind.__name__} ({rule})")
                continue
            steps.append(len(histories[0].header.workload.steps))
            played.append(operations(histories[0]))
            looked.append(looks(histories[0]))
            told = f"{played[-1]} operations, {looked[-1]} looks, {steps[-1]} steps"
            print(f"{rule} {kind.__name__}: {told} ({time.process_time() - begun:.1f} s)", flush=True)
    print(f"{len(steps)} failing histories; not caught: {', '.join(missed) or 'none'}")
    print(f"operations: {_spread(played)}")
    print(f"looks of the suite's own besides: {_spread(looked)}")
    print(f"steps: {_spread(steps)}")
    account.hold("operations of a failing history, median", statistics.median(played), OPERATIONS)


def _spread(values: list[int]) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"median {middle:g}, quartiles {low:g} and {high:g}, at most {max(values)}"


def main() -> int:
    """Measure."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--shortest", type=int, metavar="N", help="every N-th wrong compactor; without: none")
    arguments.add_argument("--untimed", action="store_true", help="only what --shortest asks for")
    given = arguments.parse_args()
    account = Account()
    if not given.untimed:
        timed(account)
    if given.shortest:
        shortest(account, given.shortest)
    return 0 if account.good else 1


if __name__ == "__main__":
    sys.exit(main())
