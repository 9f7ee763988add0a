"""What proving takes: `python tests/bench/prove.py`.

Not a test: nothing that is collected depends on time. It prints figures and the limits that they are held to, and
ends with 1 where one is not met. Every process is a new one: its start is included.
"""

from __future__ import annotations

import json
import sys

from measuring import Account, Run, run

from anchorhold_spec.machines import names

STARTS = (
    ("--help",),
    ("spec", "list"),
    ("spec", "show", "ANC-1"),
    ("explore", "--help"),
    ("prove", "--help"),
    ("check", "--help"),
    ("audit", "--help"),
)
"""What is asked for when nothing is explored, proved or checked."""

COMMAND = "from anchorhold.cli import main; main()"


def command(*arguments: str) -> Run:
    """The command, as anybody would give it. Raises where it fails: where something is not proved."""
    return run(sys.executable, "-c", COMMAND, *arguments)


def main() -> int:
    """Exit status: 0 all met, 1 not."""
    account = Account()
    for asked in STARTS:
        # The least of several: what is asked for is what the command takes, not what else goes on.
        started = [command(*asked) for _ in range(5)]
        wall, processor = min(each.wall for each in started), min(each.processor for each in started)
        account.hold(f"anchorhold {' '.join(asked)}", wall, 0.5, unit=" s")
        print(f"      processor time {processor:.2f} s")
    whole = command("prove", "--json")
    found = json.loads(whole.output)
    rows, guards = len(found["obligations"]), len(found["guards"])
    print(f"      {rows:,} obligations, {guards:,} guards; processor time {whole.processor:.1f} s")
    account.hold("all machines", whole.wall, 30.0, unit=" s")
    for name in names():
        alone = command("prove", name, "--json")
        account.hold(f"{name} alone", alone.wall, 5.0, unit=" s")
        print(f"      processor time {alone.processor:.1f} s")
    return 0 if account.good else 1


if __name__ == "__main__":
    sys.exit(main())
