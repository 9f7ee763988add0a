"""How `anchorhold verify` takes large files: `python tests/bench/verify.py [--mb 100]`.

Two files of that size are made: one of many sessions of a few compactions each, and one of a single session whose
window is looked at all the time. Prints events a second of processor time, how many times longer it takes than
decoding the same file with typed msgspec, and the most memory that the process took; the last must not grow with the
file, for which a file of a tenth is verified as well. Not a test: nothing that is collected depends on time. Ends
with 1 where a figure is not met.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from measuring import Account, run

sys.path.insert(0, str(Path(__file__).parents[1] / "conformance"))

from history_builder import COMMITTED, KEEPING, NOTHING, Play, found, raw, slot, summary
from toy_compactors import Archive

from anchorhold.compactor import Description, Mechanism
from anchorhold.history import Event, encode_line
from anchorhold.planting import Planter
from anchorhold.run import play
from anchorhold.workload import Compact, Workload
from anchorhold_spec.vocabulary import Pointer

GROWTH = 1.15
"""How much more memory the whole file may take than a tenth of it."""
COMMAND = """
import resource, sys
from anchorhold.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
"""Verifies, and prints the most memory that it took, in KB: its status is of no interest here."""


def sessions(size: int) -> Iterator[bytes]:
    """One session after another, until there are so many bytes."""
    description = Description(
        name="toy",
        version="1",
        operations=frozenset({"append", "compact", "live", "pointers", "get", "search"}),
        mechanisms=frozenset({Mechanism.SUMMARISER}),
    )
    planter = Planter(1)
    steps = [step for _ in range(4) for step in (*planter.talk(9, *planter.facts(3)), Compact())]
    workload = Workload(name="session", aims=(), steps=tuple(steps))
    history = play(Archive(), workload, description=description, location="toy")
    text = b"".join(encode_line(each) + b"\n" for each in (history.header, *history.events))
    for _ in range(1 + size // len(text)):
        yield text


def looks(size: int) -> Iterator[bytes]:
    """One session in which the window is read again and again."""
    fact = slot("job J-88", "target", "/srv/a7")
    said = Play(KEEPING, mechanisms=("summariser",))
    said.call("open", {"settings": said.settings}, said.settings)
    said.say("t1", fact.text, fact, speaker="assistant").say("t2", "Done.", speaker="assistant")
    said.call("live", {}, [raw("t1", fact.text), raw("t2", "Done.")])
    said.call("compact", {}, COMMITTED, asked=[([fact.text], "A job. Left out: one statement of turn t1.")])
    begin = len(said.events)
    said.call(
        "live", {}, [summary("s1", "A job. Left out: one statement of turn t1.", covers=["t1"]), raw("t2", "Done.")]
    )
    said.call("pointers", {}, [Pointer(summary="s1", token="k1", covers=("t1",))])
    said.call("get", {"token": "k1"}, found(fact.text))
    said.call("compact", {}, NOTHING)
    header = said.history().header
    yield encode_line(msgspec.structs.replace(header, length=None)) + b"\n"
    yield b"".join(encode_line(event) + b"\n" for event in said.events[:begin])
    again = said.events[begin:]
    written, number = 0, begin
    while written < size:
        lines = []
        for event in again:
            lines.append(encode_line(msgspec.structs.replace(event, index=number)) + b"\n")
            number += 1
        block = b"".join(lines)
        written += len(block)
        yield block


def decoding(path: Path) -> float:
    """Seconds of processor time that decoding each line takes, typed."""
    decoder = msgspec.json.Decoder(Event)
    begun = time.process_time()
    with path.open("rb") as file:
        for line in file:
            if not line.startswith(b'{"anchorhold_history"'):
                decoder.decode(line)
    return time.process_time() - begun


def main() -> int:
    """Measure both."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--mb", type=int, default=100)
    size = arguments.parse_args().mb * 1_000_000
    account = Account()
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (("many sessions", sessions), ("one session", looks)):
            took: list[float] = []
            for part in (size // 10, size):
                path = Path(folder) / "history.jsonl"
                with path.open("wb") as file:
                    file.writelines(make(part))
                with path.open("rb") as file:
                    events = sum(1 for line in file)
                plain = decoding(path)
                done = run(sys.executable, "-c", COMMAND, "verify", "--json", str(path), cwd=Path(folder))
                took.append(int(done.output.splitlines()[-1]) / 1000)
                print(
                    f"{name}: {path.stat().st_size / 1e6:,.0f} MB, {events:,} events: {done.processor:.1f} s "
                    f"({events / done.processor:,.0f} events a second, {done.processor / plain:.0f} × decoding), "
                    f"{took[-1]:.0f} MB at most"
                )
            account.hold(f"memory, {name}: the whole to a tenth", took[1] / took[0], GROWTH, unit=" ×")
    return 0 if account.good else 1


if __name__ == "__main__":
    sys.exit(main())
