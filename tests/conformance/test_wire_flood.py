"""Ten thousand messages that no adapter should write: each is answered with one line of an error or taken for what it
is; none brings out a traceback or a verdict, and nothing grows.

`pytest -m slow -s tests/conformance/test_wire_flood.py` prints how many there were and what was left in memory.
"""

import gc
import json
import random
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_wire_fuzz import OPERATIONS, connection, model

from anchorhold.cli import main
from anchorhold.compactor import Description, OperationError
from anchorhold.errors import AdapterError, Fault
from anchorhold.wire.connection import Connection
from anchorhold.wire.process import Limits, Program

KINDS = ("malformed", "truncated", "huge", "hostile", "well-formed")
GROWTH = 256 * 1024
"""Bytes that may be left of thousands of messages: caches of interpreter and libraries, and nothing per message."""
WORDS = (
    "found",
    "committed",
    "raw",
    "lossless",
    "degraded: x",
    "\x00",
    "\x1b[2J",
    "\u202e",
    "é" * 9,
    "</script>",
    "../..",
)


def good(rng: random.Random, method: str) -> object:
    """A result of the method's form, or nearly."""
    kind = {"kind": rng.choice(("committed", "refused", "found", "absent", "nothing-to-do"))}
    match method:
        case "live" | "pointers" | "manifest" | "tombstones" | "audits" | "files":
            return [] if rng.random() < 0.5 else [{"id": "x", "kind": "raw", "text": rng.choice(WORDS)}]
        case "compact" | "evict" | "tombstone" | "supersede" | "forget" | "override" | "get" | "search":
            return {**kind, "reason": rng.choice(WORDS)}
        case "status":
            return rng.choice(WORDS)
        case _:
            return None


def tree(rng: random.Random, depth: int = 3) -> object:
    """Any JSON."""
    match rng.randrange(8 if depth else 5):
        case 0:
            return rng.choice((None, True, False))
        case 1:
            return rng.choice((0, -1, 2**63, 10**30, 1e308, -0.0))
        case 2:
            return rng.choice(WORDS)
        case 3:
            return rng.choice(WORDS) * rng.randrange(200)
        case 4:
            return {}
        case 5:
            return [tree(rng, depth - 1) for _ in range(rng.randrange(4))]
        case _:
            names = ("id", "kind", "text", "data", "covers", "error", "code", "result", "method", "__proto__", "ü")
            return {rng.choice(names): tree(rng, depth - 1) for _ in range(rng.randrange(5))}


def message(rng: random.Random, kind: str, method: str) -> bytes:
    """One line, or several, of a kind."""
    answer = {"jsonrpc": "2.0", "id": 1, "result": good(rng, method)}
    match kind:
        case "well-formed":
            return json.dumps(answer).encode()
        case "malformed":
            answer[rng.choice(("jsonrpc", "id", "result", "error", "method", "params", "extra"))] = tree(rng)
            return json.dumps(answer).encode()
        case "truncated":
            whole = json.dumps(answer | {"result": tree(rng)}).encode()
            return whole[: rng.randrange(len(whole))]
        case "huge":
            body = rng.choice((b"[" * 200_000, b'"' + b"\\u0000" * 50_000, b"9" * 300_000, b'{"a":' * 50_000))
            return b'{"jsonrpc":"2.0","id":1,"result":' + body + rng.choice((b"", b"}"))
        case _:
            return rng.choice(
                (
                    rng.randbytes(rng.randrange(200)),
                    b"\xef\xbb\xbf" + json.dumps(answer).encode(),
                    json.dumps([answer]).encode(),
                    b"\r\n\x00\xff\xfe",
                    json.dumps({**answer, "id": rng.choice((0, 2, "1", 1.5, None))}).encode(),
                    b"\n".join([json.dumps(answer).encode()] * 2),
                    # Asks and asks instead of answering.
                    b"\n".join(
                        json.dumps({"jsonrpc": "2.0", "id": n, "method": rng.choice(("summarise", "open", "x")),
                                    "params": rng.choice(({"messages": ["b"]}, {"messages": 3}, {}))}).encode()
                        for n in range(rng.randrange(5))
                    ),
                    b"Traceback (most recent call last):\n  File \"x.py\"\nValueError: \x1b]0;gone\x07",
                )
            )  # fmt: skip


def flood(count: int, seed: int) -> Iterator[tuple[str, str, bytes]]:
    """So many messages, each with its kind and the request that it answers."""
    rng = random.Random(seed)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        method = rng.choice(OPERATIONS)
        yield kind, method, message(rng, kind, method)


def end(method: str, line: bytes) -> str:
    """What came of one message, in a word. Anything that is not foreseen is raised."""
    made, program = connection([line])
    failed: AdapterError | None = None
    try:
        made.call(method, summarise=model)
    except OperationError:
        return "operation error"
    except AdapterError as error:
        failed = error
    assert program.killed is (failed is not None)
    if failed is None:
        return "taken"
    assert str(failed).isprintable()
    assert len(str(failed)) < 2000
    assert "Traceback (most" not in str(failed) or b"Traceback" in line
    return "adapter error"


def run(count: int) -> tuple[Counter[tuple[str, str]], int]:
    """Play so many messages: how each kind ended, and the bytes that grew after the first fifth."""
    ends: Counter[tuple[str, str]] = Counter()
    tracemalloc.start()
    base = 0
    try:
        for number, (kind, method, line) in enumerate(flood(count, seed=7)):
            if number == count // 5:
                gc.collect()
                base = tracemalloc.get_traced_memory()[0]
            ends[kind, end(method, line)] += 1
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - base
    finally:
        tracemalloc.stop()
    return ends, grown


def held(ends: Counter[tuple[str, str]], grown: int) -> None:
    """Nothing that is no answer was taken for one, and nothing grew."""
    for kind in ("truncated", "huge"):
        assert ends[kind, "taken"] == 0
    for kind in KINDS:
        assert sum(n for (name, _), n in ends.items() if name == kind) > 0
    assert ends["well-formed", "taken"] > 0
    assert ends["hostile", "adapter error"] > 0
    assert grown < GROWTH


def test_a_sample_of_hostile_messages_is_answered_with_errors_alone() -> None:
    held(*run(400))


@pytest.mark.slow
def test_ten_thousand_hostile_messages_are_answered_with_errors_alone_and_nothing_grows() -> None:
    ends, grown = run(10_000)

    sys.stdout.write(f"\n{sum(ends.values())} messages, {grown} bytes more after the last 8,000 of them\n")
    for (kind, what), times in sorted(ends.items()):
        sys.stdout.write(f"{kind:>12}  {what:<16} {times}\n")
    assert sum(ends.values()) == 10_000
    held(ends, grown)


# -- by way of a real pipe

SLOW = (
    "import sys, time\nfor piece in sys.argv[1:]:\n sys.stdout.write(piece); sys.stdout.flush(); time.sleep(0.05)\n"
)


def real(command: list[str], *, call: float = 20.0, line: int = 2**20) -> Connection:
    """A connection to a program that was not asked who it is."""
    limits = Limits(call=call, stop=1.0, line=line)
    made, _ = connection([])
    made._limits = limits
    made._program = Program(command, name="hostile", limits=limits)
    made.description = Description(name="h", version="0", operations=frozenset(OPERATIONS))
    return made


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        # A line that never ends is given up at its limit, and not held until memory is full.
        ("import sys\nwhile True: sys.stdout.write('a' * 65536)", Fault.LINE_TOO_LONG),
        (
            "import sys\nfor _ in range(100): sys.stdout.write('[' * 65536)\nsys.stdout.write('\\n')",
            Fault.LINE_TOO_LONG,
        ),
        # Bytes that trickle in are no sign of life: the time of a request is its time.
        ("import sys, time\nwhile True: sys.stdout.write('{'); sys.stdout.flush(); time.sleep(0.05)", Fault.HANG),
        ('import sys\nsys.stdout.write(\'{"jsonrpc": "2.0", "id": 1, "resu\')', Fault.DIED),
        ("import sys\nsys.stderr.write('x' * 10**7)\nsys.stdout.write('nonsense\\n')", Fault.NOISE),
    ],
)
def test_a_stream_that_is_huge_slow_or_torn_ends_in_one_line(program: str, fault: Fault) -> None:
    made = real([sys.executable, "-c", program], call=5.0 if fault is Fault.HANG else 60.0)

    with pytest.raises(AdapterError) as caught:
        made.call("live")

    assert caught.value.code is fault
    assert str(caught.value).isprintable()
    assert not made.usable


def test_an_answer_that_comes_in_pieces_is_one_answer() -> None:
    pieces = ['{"jsonrpc": "2.0", ', '"id": 1, "res', 'ult": null}\n']
    made = real([sys.executable, "-c", SLOW, *pieces])
    try:
        assert made.call("settle") is None
    finally:
        made.kill()


@pytest.mark.parametrize("seed", range(4))
def test_a_check_of_a_hostile_program_has_no_verdict_and_no_traceback(
    seed: int, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [line for kind, _, line in flood(40, seed) if kind not in ("huge", "well-formed")]
    (tmp_path / "said").write_bytes(b"\n".join(lines) + b"\n")

    with pytest.raises(SystemExit) as ended:
        main(["check", "cmd:cat said", "--effort", "quick", "--json"])

    told = capfd.readouterr()
    document = json.loads(told.out)
    assert ended.value.code == 2
    assert (document["rules"], document["failures"], document["level"]) == ({}, [], None)
    assert document["error"]
    assert "Traceback" not in told.err
