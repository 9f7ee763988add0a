"""How `anchorhold verify` takes large files: `python tests/bench/verify.py [--most 10000000] [--only KIND] [--text]`.

Files of 10^4, 10^5, … events are made, of four kinds: many sessions of a few compactions each; one session whose
window is looked at all the time; long runs of agents, as production records them; and a session in which every round
gives out a new key for the same turns. For each are
printed: events a second of processor time with the structural rules alone, and how many times longer that takes than
decoding the same file, headers and events, with typed msgspec in the same process; how much longer an event takes in
the largest file than in the smallest, both held against decoding the same; and for the last kind the memory for each
key ever issued, beyond what a smaller file takes: by the most that Python had allocated (`tracemalloc`), and by the
most that the process held. Each is another key of the store as well, which takes most.

What the kinds stand for. The first is what runs write: whole ones of a toy compactor, every compaction of which
is followed by a look at everything. The second is a session that is watched while little happens. In the third an
agent works: dozens of turns come in before anything is compacted, the window is then read once, and some pointers are
followed. The last is no history that a run writes, nor production: it compacts the same turn again and again, nothing
is said meanwhile, and everything that is told is new. It is there for the keys, of which no other kind gives out as
many in as few events, and as the most that can be asked of the rules for an event.

It measures what is installed, and says whether that is Python or was compiled (native/structural.py).

`--text` verifies files of 10^4 and 10^5 events with all rules as well. Not a test: nothing that is collected depends
on time. Ends with 1 where a figure is not met.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from measuring import Account, run

sys.path.insert(0, str(Path(__file__).parents[1] / "conformance"))

from history_builder import COMMITTED, KEEPING, NOTHING, Play, found, raw, slot, summary
from toy_compactors import Archive

from anchorhold.checkers import COMPILED
from anchorhold.compactor import Description, Mechanism
from anchorhold.history import encode_line
from anchorhold.planting import Planter
from anchorhold.run import play
from anchorhold.workload import Compact, Workload
from anchorhold_spec.vocabulary import Pointer

RATIO = 3
"""How many times longer than decoding the structural rules may take."""
GROWTH = 1.25
"""How much longer an event may take in the largest file than in the smallest."""
KEY = 64
"""Bytes for each key ever issued."""
EVENTS_A_KEY = 10
SMALLEST = 10_000
"""Events."""
CHILD = """
import json, resource, sys, time, tracemalloc
import msgspec
from anchorhold.checkers import CHECKERS, STRUCTURAL
from anchorhold.history import Event, Header
from anchorhold.verify.run import Verifier

path, rules, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
chosen = [checker for checker in CHECKERS if rules == "all" or checker.rule in STRUCTURAL]


def decoding():
    event, header = msgspec.json.Decoder(Event), msgspec.json.Decoder(Header)
    begun = time.process_time()
    with open(path, "rb") as file:
        for line in file:
            (header if line.startswith(b'{"anchorhold_history"') else event).decode(line)
    return time.process_time() - begun


def verifying():
    verifier = Verifier(chosen)
    begun = time.process_time()
    with open(path, "rb") as file:
        verifier.take(file, name=path)
    return time.process_time() - begun, verifier.done()


if times == 0:
    tracemalloc.start()
    _, done = verifying()
    most = tracemalloc.get_traced_memory()[1]
    print(json.dumps({"decode": 0, "verify": 0, "memory": most, "events": done.events}))
    sys.exit()
decode, verify = [], []
for _ in range(times):
    decode.append(decoding())
    took, done = verifying()
    verify.append(took)
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"decode": min(decode), "verify": min(verify), "memory": memory, "events": done.events}))
"""
"""Decodes and verifies a file in turn, so many times, in one process; prints the least processor time of each. For no
times: verifies it once, and prints what Python had allocated at most."""
TRACED = (50_000, 300_000)
"""Events of the two files between which what Python allocates is compared: what is bounded is full in both."""
DIFFERENT = 100
"""Sessions that differ."""


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What verifying one file took."""

    decode: float
    """Seconds of processor time, as `verify`."""
    verify: float
    memory: float
    """Bytes, at most."""
    events: int


def sessions(size: int) -> Iterator[bytes]:
    """One session after another, until there are so many events."""
    description = Description(
        name="toy",
        version="1",
        operations=frozenset({"append", "compact", "live", "pointers", "get", "search"}),
        mechanisms=frozenset({Mechanism.SUMMARISER}),
    )
    texts: list[tuple[bytes, int]] = []
    written = 0
    while written < size:
        number = len(texts)
        if number < DIFFERENT:
            planter = Planter(number)
            steps = [step for _ in range(4) for step in (*planter.talk(9, *planter.facts(3)), Compact())]
            workload = Workload(name="session", aims=(), steps=tuple(steps))
            history = play(Archive(), workload, description=description, location="toy")
            text = b"".join(encode_line(each) + b"\n" for each in (history.header, *history.events))
            texts.append((text, len(history.events)))
            yield text
            written += len(history.events)
        else:
            for text, events in texts:
                if written < size:
                    yield text
                    written += events


GENERATIONS = 16
"""Compactions of a run."""
TURNS = 30
"""Turns that come in between two of them."""
FOLLOWED = 3
"""Pointers that are followed after each."""


def runs(size: int) -> Iterator[bytes]:
    """Long runs one after another, as whoever records a compactor in production writes them down."""
    texts: list[tuple[bytes, int]] = []
    written = number = 0
    while written < size:
        if len(texts) < DIFFERENT // 5:
            texts.append(_recorded(Planter(f"run {len(texts)}")))
        text, events = texts[number % len(texts)]
        yield text
        written, number = written + events, number + 1


def _recorded(planter: Planter) -> tuple[bytes, int]:
    said = Play(KEEPING, mechanisms=("summariser",))
    said.call("open", {"settings": said.settings}, said.settings)
    covered: list[str] = []
    window: list[str] = []
    for generation in range(GENERATIONS):
        for append in planter.talk(TURNS, *planter.facts(6), tools=False):
            said.say(append.turn.id, append.turn.text or "", *append.facts, speaker=append.turn.speaker)
            window.append(append.turn.id)
        replaced, window = window[:-4], window[-4:]
        covered += replaced
        text = "\n".join(planter.fact().text for _ in range(6)) + "\nLeft out: what can be had back."
        said.call("compact", {}, COMMITTED, asked=[([said.texts[turn] for turn in replaced], text)])
        name = f"s{generation}"
        said.call("live", {}, [summary(name, text, covers=covered), *said.raws(*window)])
        pointers = [Pointer(summary=name, token=f"key-{turn}", covers=(turn,)) for turn in covered]
        said.call("pointers", {}, pointers)
        for turn in covered[-FOLLOWED:]:
            said.call("get", {"token": f"key-{turn}"}, found(said.texts[turn]))
    header = said.history().header
    # What somebody records was not planned by the suite.
    header = msgspec.structs.replace(header, length=None, workload=Workload(name="run", aims=(), steps=()))
    lines = (encode_line(each) + b"\n" for each in (header, *said.events))
    return b"".join(lines), len(said.events)


NUMBER = b"@@@@@@@@"
"""Stands in a round for the round's number."""


def rounds(said: Play, begin: int, size: int) -> Iterator[bytes]:
    """A history whose events from `begin` on are one round, done again and again until there are so many events."""
    header = said.history().header
    yield encode_line(msgspec.structs.replace(header, length=None)) + b"\n"
    yield b"".join(encode_line(event) + b"\n" for event in said.events[:begin])
    # What follows the number of the event.
    again = [line[line.index(b",") :] + b"\n" for line in map(encode_line, said.events[begin:])]
    number, index = 0, begin
    while index < size:
        number += 1
        mark = b"%08d" % number
        yield b"".join(
            b'{"index":%d%b' % (at, line.replace(NUMBER, mark)) for at, line in enumerate(again, start=index)
        )
        index += len(again)


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
    return rounds(said, begin, size)


def keys(size: int) -> Iterator[bytes]:
    """One session in which every compaction writes another summary of the same turn, and gives out another key."""
    fact, number = slot("job J-88", "target", "/srv/a7"), NUMBER.decode()
    said = Play(KEEPING, mechanisms=("summariser",))
    said.call("open", {"settings": said.settings}, said.settings)
    said.say("t1", fact.text, fact, speaker="assistant").say("t2", "Done.", speaker="assistant")
    said.call("live", {}, [raw("t1", fact.text), raw("t2", "Done.")])
    begin = len(said.events)
    text = f"A job, told {number} times. Left out: one statement of turn t1."
    said.call("compact", {}, COMMITTED, asked=[([fact.text], text)])
    said.call("live", {}, [summary(f"s{number}", text, covers=["t1"]), raw("t2", "Done.")])
    token, key = f"key-{number}", f"row-{number}"
    said.call("pointers", {}, [Pointer(summary=f"s{number}", token=token, covers=("t1",), key=key, epoch=1)])
    said.call("get", {"token": token}, found(fact.text))
    return rounds(said, begin, size)


MADE = {"many sessions": sessions, "one session": looks, "long runs": runs, "a new key each round": keys}


def taken(path: Path, *, rules: str, times: int) -> Taken:
    """Verify a file in a process of its own."""
    done = run(sys.executable, "-c", CHILD, str(path), rules, str(times), cwd=path.parent)
    return Taken(**json.loads(done.output.splitlines()[-1]))


def apart(smaller: Taken, larger: Taken) -> float:
    """Bytes for each key that the larger file has beyond the smaller one."""
    return (larger.memory - smaller.memory) / ((larger.events - smaller.events) / EVENTS_A_KEY)


def shown(name: str, what: Taken, rules: str) -> None:
    """One line for one file."""
    print(
        f"{name}, {what.events:,} events, {rules}: {what.events / what.verify:,.0f} events a second "
        f"({what.verify / what.events * 1e6:.2f} µs each, {what.verify / what.decode:.1f} × decoding), "
        f"{what.memory / 1e6:.0f} MB at most"
    )


def main() -> int:
    """Measure all."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--most", type=int, default=1_000_000, metavar="EVENTS")
    arguments.add_argument("--only", choices=MADE, help="one kind of file")
    arguments.add_argument("--text", action="store_true", help="also with the rules that look for words")
    asked = arguments.parse_args()
    sizes = [SMALLEST]
    while sizes[-1] * 10 <= asked.most:
        sizes.append(sizes[-1] * 10)
    account = Account()
    print(f"the structural rules are {'compiled' if COMPILED else 'interpreted'}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.jsonl"
        for name, make in MADE.items():
            if asked.only not in (None, name):
                continue
            found: list[Taken] = []
            for size in sizes:
                with path.open("wb") as file:
                    file.writelines(make(size))
                times = 25 if size <= SMALLEST else 7 if size <= 100_000 else 2 if size <= 1_000_000 else 1
                found.append(taken(path, rules="structural", times=times))
                shown(name, found[-1], "structural rules")
                if asked.text and size <= 100_000:
                    shown(name, taken(path, rules="all", times=1), "all rules")
            least = min(found, key=lambda each: each.verify / each.decode)
            worst = max(found, key=lambda each: each.verify / each.decode)
            account.hold(f"{name}: times decoding", worst.verify / worst.decode, RATIO, unit=" ×")
            print(f"        (at best {least.verify / least.decode:.2f} ×)")
            apiece = [each.verify / each.decode for each in found]
            account.hold(f"{name}: an event of the largest to one of the smallest", apiece[-1] / apiece[0], GROWTH)
            if make is keys:
                if len(found) > 2:
                    account.hold(f"{name}: bytes a key, held", apart(found[-2], found[-1]), KEY)
                traced: list[Taken] = []
                for size in TRACED:
                    with path.open("wb") as file:
                        file.writelines(make(size))
                    traced.append(taken(path, rules="structural", times=0))
                account.hold(f"{name}: bytes a key, allocated", apart(*traced), KEY)
    return 0 if account.good else 1


if __name__ == "__main__":
    sys.exit(main())
