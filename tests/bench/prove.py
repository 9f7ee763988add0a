"""What proving takes: `python tests/bench/prove.py`.

Not a test: nothing that is collected depends on time. It prints figures and the limits that they are held to, and
ends with 1 where one is not met. Every process is a new one: its start is included.
"""

from __future__ import annotations

import json
import sys

from measuring import Account, Run, run

from anchorhold_spec.machines import names

COMMAND = "from anchorhold.cli import main; main()"


def command(*arguments: str) -> Run:
    """The command, as anybody would give it. Raises where it fails: where something is not proved."""
    return run(sys.executable, "-c", COMMAND, *arguments)


def main() -> int:
    """Exit status: 0 all met, 1 not."""
    account = Account()
    account.hold("start of the command", command("--help").wall, 0.5, unit=" s")
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
