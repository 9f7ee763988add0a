"""The reference's speed, each figure as a ratio to bare statements in the same run: `tests/bench/reference.py`.

`--only append,compaction,eviction,reading,memory` runs some of them (reading measures memory, too), `--spans` sets
how large the large session is (asked for: 100,000). Not a test: nothing that is collected depends on time. Rounds of
the two sides alternate and the median of the ratios counts, so that a busy machine slows both. Ends with 1 where a
figure is not met.
"""

from __future__ import annotations

import argparse
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeAlias
from unittest.mock import patch

from measuring import Account

sys.path.append(str(Path(__file__).resolve().parents[1] / "reference"))

from crowded import crowd, fill

from anchorhold_reference import Reply, Settings, Transcript, index, session
from anchorhold_reference.extract import facts_of
from anchorhold_reference.following import FOLLOWING, WHOLE
from anchorhold_reference.schema import SQLITE, TABLES, statements
from anchorhold_spec.vocabulary import Turn

ROUNDS = 7
WORDS = ["".join(random.Random(n).choices("abcdefghijklmnopqrstuvwxyz", k=3 + n % 7)) for n in range(3000)]


def turn(n: int) -> Turn:
    """A turn of 1 KB on average, that states a value, an identifier and a number."""
    drawn = random.Random(n)
    text = " ".join(drawn.choices(WORDS, k=drawn.randrange(100, 180)))
    return Turn(id=f"t{n}", speaker="assistant", text=f"The port of db-{n} is {n}.\nJob J-{n}x ran {n} ms.\n{text}")


def script(request: object) -> Reply:
    """A summariser that takes no time."""
    script.calls += 1  # type: ignore[attr-defined]
    return Reply(text=f"Part {script.calls} of the work went well.")  # type: ignore[attr-defined]


script.calls = 0  # type: ignore[attr-defined]


def seconds(work: Callable[[], object]) -> float:
    """How long something takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def processor(work: Callable[[], object]) -> float:
    """How much processor time something takes, which other processes change less; no waiting for the disk."""
    started = time.process_time()
    work()
    return time.process_time() - started


def bare(path: Path, *, synchronous: str) -> sqlite3.Connection:
    """A database with the reference's tables and nothing else."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA synchronous={synchronous}")
    connection.execute("PRAGMA foreign_keys=ON")
    for statement in statements(TABLES + SQLITE):
        connection.execute(statement)
    return connection


def columns(connection: sqlite3.Connection, table: str) -> str:
    """As many marks as a table has columns."""
    return ", ".join("?" * len(connection.execute(f"PRAGMA table_info({table})").fetchall()))


class Parts:
    """The processor time between the durable steps of a compaction; a `StepHook`."""

    def __init__(self) -> None:
        self.spent: dict[str, list[float]] = {}
        self._now = ("", 0.0)

    def begin(self) -> None:
        """A compaction begins: until its first step the window is read and planned."""
        self._now = ("plan", time.process_time())

    def __call__(self, step: str) -> None:
        (before, since), self._now = self._now, (step, time.process_time())
        if before:
            self.spent.setdefault(before, []).append(self._now[1] - since)


class Reading:
    """Reads the facts of turns, and adds up the processor time that it takes where it is done: by itself, with what
    the last reading left in memory, it takes less."""

    def __init__(self) -> None:
        self.spent = 0.0

    def __call__(self, turn: Turn) -> object:
        started = time.process_time()
        facts = facts_of(turn)
        self.spent += time.process_time() - started
        return facts


def append(account: Account, folder: Path) -> None:
    """Turn by turn, each durable, beside the same rows inserted bare."""
    for synchronous, limit, count in (("FULL", 0.7, 150), ("OFF", 0.3, 400)):
        ratios = []
        for round_ in range(ROUNDS):
            turns = [turn(n) for n in range(count)]
            path = folder / f"append-{synchronous}-{round_}.db"
            with Transcript.open(path, summarise=script) as transcript:
                transcript._ledger.run(f"PRAGMA synchronous={synchronous}")
                ours = seconds(lambda transcript=transcript, turns=turns: [transcript.append(one) for one in turns])
            with sqlite3.connect(path) as written:
                rows = [
                    [
                        written.execute(f"SELECT * FROM {table} WHERE {key} = ?", (n,)).fetchone()
                        for table, key in _APPENDED
                    ]
                    for (n,) in written.execute("SELECT id FROM carrier ORDER BY id").fetchall()
                ]
            written.close()
            other = bare(folder / f"append-{synchronous}-{round_}-bare.db", synchronous=synchronous)
            marked = [f"INSERT INTO {table} VALUES ({columns(other, table)})" for table, _ in _APPENDED]
            other.execute("INSERT INTO session (id, user, name, branch, root) VALUES (1, '', '', '', 1)")

            def insert(other: sqlite3.Connection = other, rows: list = rows, marked: list = marked) -> None:
                for of_turn in rows:
                    other.execute("BEGIN IMMEDIATE")
                    for statement, row in zip(marked, of_turn, strict=True):
                        other.execute(statement, row)
                    other.execute("COMMIT")

            ratios.append(seconds(insert) / ours)
            other.close()
        account.hold(
            f"append, synchronous {synchronous}, rate", statistics.median(ratios), limit, least=True, unit=" ×"
        )


_APPENDED = (("carrier", "id"), ("turn", "carrier"), ("live", "carrier"))
_COMPACTED = ("fact", "assertion", "reading", "carries", "cold", "pointer", "summary", "covers")


def compaction(account: Account, folder: Path) -> None:
    """A compaction of 1,000 turns, beside the same final rows in the same number of transactions."""
    ratios, extraction, bare_runs = [], [], []
    parts = Parts()
    for round_ in range(5):
        path = folder / f"compact-{round_}.db"
        settings = Settings(keep=1)
        turns = [turn(round_ * 1000 + n) for n in range(1001)]
        with Transcript.open(path, summarise=script, settings=settings, steps=parts) as transcript:
            transcript._ledger.run("PRAGMA synchronous=OFF")
            for one in turns:
                transcript.append(one)
            transcript._ledger.run("PRAGMA synchronous=FULL")
            reading = Reading()
            with patch.object(session, "facts_of", reading):
                parts.begin()
                ours = processor(transcript.compact)
        parts.spent["plan"][-1] -= reading.spent
        extraction.append(reading.spent)
        written = sqlite3.connect(path)
        rows = {
            table: written.execute(f"SELECT * FROM {table}").fetchall()
            for table in (*_COMPACTED, "carrier", "session")
        }
        before = written.execute("SELECT * FROM turn").fetchall()
        written.close()
        words = [(n, " ".join(index.words_of(one.text or ""))) for n, one in enumerate(turns, 1)]
        other = bare(folder / f"compact-{round_}-bare.db", synchronous="FULL")
        with_payload = [(*row[:5], b"x" * 1000, *row[6:]) for row in before]
        other.execute("BEGIN")
        other.executemany(f"INSERT INTO session VALUES ({columns(other, 'session')})", rows["session"])
        other.executemany(f"INSERT INTO carrier VALUES ({columns(other, 'carrier')})", rows["carrier"])
        other.executemany(f"INSERT INTO turn VALUES ({columns(other, 'turn')})", with_payload)
        other.execute("COMMIT")

        def insert(other: sqlite3.Connection = other, rows: dict = rows, words: list = words) -> None:
            for tables in (
                ("fact", "assertion", "reading", "summary", "covers", "carries"),
                ("cold",),
                ("pointer",),
                (),
                (),
            ):
                other.execute("BEGIN IMMEDIATE")
                for table in tables:
                    other.executemany(f"INSERT INTO {table} VALUES ({columns(other, table)})", rows[table])
                if tables == ("pointer",):
                    other.executemany("INSERT INTO entry (rowid, words) VALUES (?, ?)", words)
                if not tables:
                    other.execute("UPDATE turn SET payload = NULL WHERE payload IS NOT NULL")
                other.execute("COMMIT")

        baseline = processor(insert)
        bare_runs.append(baseline)
        ratios.append(ours / baseline)
        other.close()
        extraction[-1] /= baseline
    account.hold("compaction of 1,000 turns, processor time", statistics.median(ratios), 2.5, unit=" ×")
    print(f"       of which reading the turns' facts: {statistics.median(extraction):.3g} ×")
    middle = ", ".join(f"{part} {statistics.median(spent) * 1e3:.0f}" for part, spent in parts.spent.items())
    print(f"       in ms, the facts left out: {middle}; the bare run: {statistics.median(bare_runs) * 1e3:.0f}")


def eviction(account: Account, folder: Path) -> None:
    """A decision of the gate at 10^3 and at 10^6 stored facts, and where one fact is carried by 10^5 carriers."""
    times = {}
    for name, facts, carriers in (
        ("small", 0, 0),
        ("10^6 facts", 1_000_000, 0),
        ("10^5 carriers", 1_000_000, 100_000),
    ):
        path = folder / f"evict-{carriers}-{facts}.db"
        with Transcript.open(path, summarise=script, settings=Settings(keep=1)) as transcript:
            transcript._ledger.run("PRAGMA synchronous=OFF")
            fill(transcript, 300)
            crowd(transcript, facts=facts, carriers=carriers)
            tokens = [pointer.token for pointer in transcript.pointers()][:200]
            for token in tokens[:20]:
                transcript.evict(token)
            times[name] = [
                statistics.median(seconds(lambda t=t, transcript=transcript: transcript.evict(t)) for t in tokens)
                for _ in range(3)
            ]
    small = min(times["small"])
    print(f"       a decision of the gate at 10^3 stored facts: {small * 1e6:.0f} µs")
    account.hold("the gate at 10^6 stored facts", min(times["10^6 facts"]) / small, 2, unit=" ×")
    account.hold("the gate where one fact has 10^5 carriers", min(times["10^5 carriers"]) / small, 2, unit=" ×")


def build(path: Path, spans: int) -> None:
    """A session of so many turns, compacted as it grows; prints the most memory that this took, in MB."""
    settings = Settings(budget=100_000, keep=4)
    with Transcript.open(path, summarise=script, settings=settings) as transcript:
        transcript._ledger.run("PRAGMA synchronous=OFF")
        size = 0
        for n in range(spans):
            one = turn(n)
            transcript.append(one)
            size += len(one.text or "") // 4
            if size > 69_000:
                transcript.compact()
                size = 0
        transcript.compact()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)


def built(folder: Path, spans: int) -> tuple[Path, float]:
    """Such a session, made by a process of its own, and its memory."""
    path = folder / f"built-{spans}.db"
    done = subprocess.run(
        [sys.executable, __file__, "--build", str(path), "--spans", str(spans)],
        check=True,
        capture_output=True,
        text=True,
    )
    return path, float(done.stdout)


def memory(account: Account, folder: Path, spans: int) -> None:
    """The most memory of a process that appends so many turns and compacts at the watermark."""
    account.hold(f"memory to compact {spans} turns of 1 KB", built(folder, spans)[1], 300, unit=" MB")


Calls: TypeAlias = dict[str, list[Callable[[], object]]]


def _questions(transcript: Transcript, other: sqlite3.Connection, size: int) -> Calls:
    """The same of a session of any size: what is asked of it, and the bare reads beside it."""
    drawn = random.Random(1).sample(range(size - size // 10), 300)
    tokens = [pointer.token for n in drawn if (pointer := transcript.pointer(f"t{n}")) is not None]
    slots = [other.execute("SELECT slot FROM cold WHERE span = ?", (n + 1,)).fetchone() for n in drawn]
    by_key = "SELECT epoch, payload FROM cold WHERE slot = ?"
    by_words = "SELECT rowid FROM entry WHERE entry MATCH ? ORDER BY rowid DESC"
    return {
        "resolve": [lambda t=t: transcript.get(t) for t in tokens],
        "key": [lambda s=s: other.execute(by_key, s).fetchone() for s in slots if s is not None],
        "search": [lambda n=n: transcript.search(f"J-{n}x") for n in drawn],
        "slot": [lambda n=n: transcript.reconstitute(f"db-{n}", "port") for n in drawn],
        "fts": [lambda n=n: other.execute(by_words, (f'"j {n}x"',)).fetchall() for n in drawn],
        # What the index is asked for in fact: of a row of words the longest by itself, see `index`.
        "word": [lambda n=n: other.execute(by_words, (f'"{n}x"',)).fetchall() for n in drawn],
    }


def _alternately(one: list[Callable[[], object]], other: list[Callable[[], object]]) -> tuple[float, float]:
    """Seconds that a call of each takes, one of each in turn, so that a busy machine slows both alike."""
    pairs = [(seconds(a), seconds(b)) for a, b in zip(one, other, strict=False)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def reading(account: Account, folder: Path, spans: int) -> None:
    """Following a pointer and asking for a value, at 10^3 spans and at the large number, beside bare reads."""
    with ExitStack() as stack:
        asked: dict[int, Calls] = {}
        for size in (1000, spans):
            path, used = built(folder, size)
            if size == spans:
                account.hold(f"memory to compact {spans} turns of 1 KB", used, 300, unit=" MB")
            settings = Settings(budget=100_000)
            transcript = stack.enter_context(Transcript.open(path, summarise=script, settings=settings))
            other = stack.enter_context(closing(sqlite3.connect(path, isolation_level=None)))
            asked[size] = _questions(transcript, other, size)
        small, large = asked[1000], asked[spans]

        def times(what: str, one: list[Callable[[], object]], other: list[Callable[[], object]]) -> float:
            rounds = [_alternately(one, other) for _ in range(ROUNDS)]
            ours, bare = (min(took) * 1e6 for took in zip(*rounds, strict=True))
            print(f"       {what}: {ours:.1f} and {bare:.1f} µs")
            return statistics.median(a / b for a, b in rounds)

        _parts_of_resolve(transcript)
        ratio = times("resolve and a read by primary key", large["resolve"], large["key"])
        account.hold("resolve, beside a read by primary key", ratio, 2, unit=" ×")
        ratio = times("a literal and the bare query", large["search"], large["fts"])
        account.hold("reconstitute, a literal, beside the bare FTS5 query", ratio, 1.5, unit=" ×")
        ratio = times("a slot and the bare query", large["slot"], large["fts"])
        account.hold("reconstitute, a slot, beside the bare FTS5 query", ratio, 1.5, unit=" ×")
        ratio = times("resolve at the large session and at 10^3 spans", large["resolve"], small["resolve"])
        account.hold("resolve at the large session beside 10^3 spans", ratio, 1.2, unit=" ×")
        own = [_alternately(large[name], small[name]) for _ in range(ROUNDS) for name in ("search", "word")]
        without = statistics.median(
            (ours[0] - index[0]) / (ours[1] - index[1]) for ours, index in zip(own[::2], own[1::2], strict=True)
        )
        what = "a literal at the large session beside 10^3 spans, without the index itself"
        account.hold(what, without, 1.2, unit=" ×")
        ratio = times("a slot at the large session and at 10^3 spans", large["slot"], small["slot"])
        account.hold("a slot at the large session beside 10^3 spans", ratio, 1.2, unit=" ×")


def _parts_of_resolve(transcript: Transcript) -> None:
    """What following a pointer consists of, each part by itself, one after the other as it does them."""
    ledger, branch = transcript._ledger, transcript._session.id
    parts: dict[str, list[float]] = {}
    for token in [pointer.token for pointer in transcript.pointers()][:300]:
        asked = FOLLOWING.asked(token, branch)
        (payload,) = ledger.one(WHOLE, asked)
        work: dict[str, Callable[[], object]] = {
            "the token": lambda token=token: FOLLOWING.asked(token, branch),
            "the statement": lambda asked=asked: ledger.first(WHOLE, asked),
            "digest and answer": lambda payload=payload, asked=asked: FOLLOWING.opened(payload, asked[2]),
            "all": lambda token=token: transcript.get(token),
        }
        for name, call in work.items():
            parts.setdefault(name, []).append(seconds(call))
    middle = "; ".join(f"{name} {statistics.median(spent) * 1e6:.1f}" for name, spent in parts.items())
    print(f"       resolve in µs, {FOLLOWING.name}: {middle}")


def main() -> int:
    """Run what is asked for."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", default="append,compaction,eviction,reading")
    arguments.add_argument("--spans", type=int, default=100_000)
    arguments.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    arguments.add_argument("--work", type=Path, help="where the databases are made; removed again")
    given = arguments.parse_args()
    if given.build:
        build(given.build, given.spans)
        return 0
    account = Account()
    with tempfile.TemporaryDirectory(dir=given.work, prefix="anchorhold-bench-") as name:
        folder = Path(name)
        for part in given.only.split(","):
            if part == "append":
                append(account, folder)
            elif part == "compaction":
                compaction(account, folder)
            elif part == "eviction":
                eviction(account, folder)
            elif part == "memory":
                memory(account, folder, given.spans)
            else:
                reading(account, folder, given.spans)
    return 0 if account.good else 1


if __name__ == "__main__":
    sys.exit(main())
