"""Eight processes append, compact, evict and read one session; one of them is killed every second. Afterwards every
rule that can be judged over what was recorded holds."""

import json
import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter, defaultdict

import pytest
from soak_worker import SETTINGS, main, number, statement, summarise

from anchorhold_reference import Transcript
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, OutcomeKind, Turn

WORKERS = 8
SECONDS = float(os.environ.get("ANCHORHOLD_SOAK_SECONDS", "30"))


@pytest.fixture
def start(monkeypatch):
    """Starts a worker as a process of its own, forked from one that has imported everything: what is to be tried is
    work that is interrupted, and not imports that are."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["soak_worker"])

    def process(where, name, seconds, log, seed):
        worker = context.Process(target=main, args=(str(where), name, seconds, str(log), seed))
        worker.start()
        return worker

    return process


def work(start, where, log):
    """Run the workers, killing one a second; answers with how many were killed, and the exit codes of those that
    failed by themselves."""
    chance = random.Random(7)
    names = iter(range(10_000))
    running = [start(where, f"w{next(names)}", SECONDS, log, n) for n in range(WORKERS)]
    begun = time.monotonic()
    killed, failed = 0, []
    try:
        while time.monotonic() - begun < SECONDS:
            time.sleep(1)
            victim = chance.randrange(WORKERS)
            running[victim].kill()
            running[victim].join(60)
            if running[victim].exitcode != -signal.SIGKILL and running[victim].exitcode != 0:
                failed.append(running[victim].exitcode)
            killed += 1
            left = SECONDS - (time.monotonic() - begun)
            running[victim] = start(where, f"w{next(names)}", max(left, 0.5), log, 100 + killed)
    finally:
        for process in running:
            process.join(120)
            if process.exitcode is None:
                process.kill()
                process.join()
            if process.exitcode != 0:
                failed.append(process.exitcode)
    return killed, failed


@pytest.mark.slow
def test_every_rule_that_can_be_judged_holds_after_processes_were_killed_at_any_time(start, behind, tmp_path, capsys):
    log = tmp_path / "log.jsonl"
    with Transcript.open(behind.where, summarise=summarise, session="another") as another:
        another.append(Turn(id="w0-0", speaker="user", text="The port of w0-0 is 1."))
    killed, failed = work(start, behind.where, log)
    events = [json.loads(line) for line in log.read_text().splitlines()]
    by = defaultdict(list)
    for event in events:
        by[event["op"]].append(event)
    assert by["raised"] == []
    assert failed == []

    with Transcript.open(behind.where, summarise=summarise, settings=SETTINGS) as transcript:
        judge(transcript, by)
        # Twice is as good as once (CRA-2).
        before = [transcript.live(), transcript.pointers(), transcript.tombstones()]
        transcript.reopen()
        assert [transcript.live(), transcript.pointers(), transcript.tombstones()] == before
        # What was interrupted blocks nothing (PRO-3), and compaction brings the window under its watermark (PRO-1).
        for n in range(60):
            transcript.append(Turn(id=f"z-{n}", speaker="user", text=statement(f"z-{n}")))
        assert transcript.compact().kind is OutcomeKind.COMMITTED
        assert transcript.compact().kind is OutcomeKind.NOTHING
    with Transcript.open(behind.where, summarise=summarise, session="another") as another:
        assert [item.text for item in another.live()] == ["The port of w0-0 is 1."]  # ISO-1
        assert another.pointers() == []
    outcomes = Counter((event["op"], event["kind"]) for op in ("compact", "evict") for event in by[op])
    assert outcomes["compact", "committed"] > 1
    assert outcomes["evict", "committed"] > 0
    with capsys.disabled():
        print(  # noqa: T201 - how much was tried
            f"\n{behind.kind}: {WORKERS} processes, {SECONDS:g} s, {killed} killed, {len(by['append'])} appends, "
            f"{len(by['get'])} pointers followed, "
            + ", ".join(f"{op} {kind} {n}" for (op, kind), n in sorted(outcomes.items()))
        )


def judge(transcript, by):
    intended = {event["turn"] for event in by["intent"]}
    appended = {event["turn"] for event in by["append"]}
    live = transcript.live()
    raw = [item.turn for item in live if item.kind is CarrierKind.RAW]
    summaries = [item for item in live if item.kind is CarrierKind.SUMMARY]
    under = [turn for item in summaries for turn in item.covers]
    everything = raw + under

    # CRA-3, CON-1: what was acknowledged is there; STR-2: once; nothing is there that nobody appended.
    assert appended <= set(everything)
    assert set(everything) <= intended
    assert len(everything) == len(set(everything))
    for item in live:
        if item.kind is CarrierKind.RAW:
            assert item.text == statement(item.turn)
    # CON-1, STR-2: each process's turns are in its order, in the window and under the summaries.
    for turns in (raw, under):
        for name in {turn.rpartition("-")[0] for turn in turns}:
            own = [int(turn.rpartition("-")[2]) for turn in turns if turn.rpartition("-")[0] == name]
            assert own == sorted(own), name

    # CON-2, PTR-3: no turn was covered by two compactions that were both told to have committed.
    covered = Counter(t for e in by["compact"] if e["kind"] == OutcomeKind.COMMITTED for t in e["covered"])
    assert [turn for turn, n in covered.items() if n > 1] == []
    assert set(covered) <= set(under)
    # OUT-2: no compaction failed, since neither the model nor the store did.
    assert [e["reason"] for e in by["compact"] if e["kind"] == OutcomeKind.FAILED] == []

    # PTR-1, PTR-4, EPO-3: what has a pointer is there, byte for byte; PTR-5: nothing is pending or unresolvable.
    pointers = {pointer.covers[0]: pointer for pointer in transcript.pointers()}
    for turn, pointer in pointers.items():
        answer = transcript.get(pointer.token)
        assert (answer.kind, answer.source, answer.text) == (AnswerKind.FOUND, turn, statement(turn))
    assert (transcript.ratios().pending, transcript.ratios().unresolvable) == (0, 0)
    # ANC-1, ANC-3: whatever has no pointer was let go through the gate, and a summary carries what it said.
    gone = set(under) - set(pointers)
    let_go = {event["turn"] for event in by["evict"] if event["kind"] == OutcomeKind.COMMITTED}
    assert let_go <= gone
    for turn in everything:
        answer = transcript.reconstitute(turn, "port")
        assert answer.kind is AnswerKind.FOUND, (turn, answer)
        assert answer.value == str(number(turn))
        evidence = transcript.reconstitute(turn, "port", evidence=True)
        assert evidence.kind is (AnswerKind.INSUFFICIENT if turn in gone else AnswerKind.FOUND)
    # MAN-2: what a manifest names stands in the summary.
    for item in summaries:
        for entry in transcript.manifest(item.id):
            assert entry.literal in item.text

    # EPO-1, EPO-2, REC-1: every pointer that anybody ever followed led to its own turn, and leads to no other now.
    epochs = {}
    for event in by["get"]:
        assert event["kind"] in {*AnswerKind}, event
        if event["kind"] == AnswerKind.FOUND:
            assert (event["source"], event["text"]) == (event["turn"], statement(event["turn"]))
        assert epochs.setdefault(event["epoch"], event["turn"]) == event["turn"]
        answer = transcript.get(event["token"])
        assert answer.kind is not AnswerKind.FOUND or answer.source == event["turn"]
        if event["turn"] in pointers and pointers[event["turn"]].token != event["token"]:
            assert answer.kind is not AnswerKind.FOUND
    for event in by["ask"]:
        assert event["kind"] == AnswerKind.FOUND, event
        assert event["value"] == str(number(event["turn"]))
