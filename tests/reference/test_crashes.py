"""Real crashes: a child process is killed right before each durable step, and the database is opened again."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest
from seen import view
from transcripts import fill, port, token_of

from anchorhold_reference import Reply, Settings, Transcript
from anchorhold_reference.compaction import STEPS
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, OutcomeKind

CHILD = textwrap.dedent(
    """
    import os, signal, sys
    from anchorhold_reference import Reply, Settings, Transcript
    from anchorhold_spec.vocabulary import Turn

    path, point, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

    def steps(name):
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    t = Transcript.open(path, summarise=lambda r: Reply(text=f"Up to {last}, written down."), steps=steps,
                        settings=Settings(horizon=0, keep=2))
    for n in range(first, last + 1):
        speaker = "user" if n % 2 else "assistant"
        t.append(Turn(id=f"t{n}", speaker=speaker, text=f"The port of db-{n} is {7000 + n}."))
    print("acknowledged", flush=True)
    print(t.compact().kind, flush=True)
    """
)


def die(path, point, *, first=1, last=6):
    run = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), point, str(first), str(last)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.stdout == "acknowledged\n", run.stderr
    assert run.returncode == -signal.SIGKILL, run.stderr


def state(transcript):
    return (
        transcript.live(),
        transcript.pointers(),
        transcript._ledger.all("SELECT id, state FROM carrier ORDER BY id"),
        transcript._ledger.all("SELECT position, carrier, claimed FROM live ORDER BY position"),
        transcript._ledger.all("SELECT summary, carrier FROM covers ORDER BY summary, carrier"),
        transcript._ledger.all("SELECT slot, epoch, span FROM cold ORDER BY slot"),
        transcript._ledger.all("SELECT slot FROM free_slot ORDER BY slot"),
        transcript._ledger.all("SELECT carrier, payload IS NULL FROM turn ORDER BY carrier"),
    )


def consistent(transcript, last):
    """Every turn is there, once, verbatim: in the window or one step away."""
    live = transcript.live()
    found = [item.turn for item in live if item.turn]
    for summary in (item for item in live if item.kind is CarrierKind.SUMMARY):
        resolved = [transcript.get(p.token) for p in transcript.pointers() if p.summary == summary.id]
        assert {a.kind for a in resolved} == {AnswerKind.FOUND}
        assert tuple(a.source for a in resolved) == summary.covers
        assert [a.text for a in resolved] == [port(int(a.source[1:])) for a in resolved]
        found += [a.source for a in resolved]
    assert sorted(found) == sorted(f"t{n}" for n in range(1, last + 1))
    for n in range(1, last + 1):
        assert transcript.reconstitute(f"db-{n}", "port", evidence=True).value == str(7000 + n)


@pytest.mark.parametrize("point", STEPS)
def test_cra_1_and_cra_2_old_or_new_after_a_crash_and_recovery_twice_is_as_good_as_once(make, behind, point):
    die(behind.where, point)
    transcript = make()
    generations = [item.generation for item in transcript.live()]
    assert generations == ([1, 0, 0] if point in {"release", "acknowledge"} else [0] * 6)
    consistent(transcript, 6)

    once = state(transcript)
    transcript.reopen()
    assert state(transcript) == once
    transcript.reopen()
    assert state(transcript) == once
    fill(transcript, 7, 10)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    consistent(transcript, 10)


@pytest.mark.parametrize("point", STEPS)
def test_cra_1_a_crash_while_a_summary_is_replaced_keeps_every_earlier_pointer(make, behind, point):
    with Transcript.open(behind.where, summarise=_first, settings=Settings(horizon=0, keep=2)) as first:
        fill(first, 1, 6)
        assert first.compact().kind is OutcomeKind.COMMITTED
        assert first.evict(token_of(first, "t1")).kind is OutcomeKind.REFUSED
        tokens = {p.covers[0]: p.token for p in first.pointers()}
    die(behind.where, point, first=7, last=12)
    transcript = make()
    consistent(transcript, 12)
    for turn_id, token in tokens.items():
        assert transcript.get(token).source == turn_id


def _first(request):
    return Reply(text="The first part is done.")


@pytest.mark.parametrize("point", ["stage", "copy", "point", "commit"])
def test_epo_1_slots_of_an_undone_compaction_are_used_again_and_its_epochs_are_not(make, behind, point):
    die(behind.where, point)
    transcript = make()
    transcript.compact()
    pointers = transcript.pointers()

    assert [p.key for p in pointers] == ["slot-1", "slot-2", "slot-3", "slot-4"]
    if point in {"point", "commit"}:
        assert min(p.epoch for p in pointers) > 5


def test_cra_3_what_was_acknowledged_is_there_after_the_process_was_killed(make, behind):
    die(behind.where, "stage")
    assert [item.turn for item in make().live()] == [f"t{n}" for n in range(1, 7)]


def test_cra_3_the_database_waits_for_stable_storage(make):
    ledger = make()._ledger
    if ledger.dialect.name == "sqlite":
        assert ledger.one("PRAGMA journal_mode") == ("wal",)
        assert ledger.one("PRAGMA synchronous") == (2,)
    else:
        assert ledger.one("SHOW fsync") == ("on",)
        assert ledger.one("SHOW synchronous_commit") == ("on",)


@pytest.mark.parametrize("point", STEPS[:5])
def test_pro_3_a_step_interrupted_in_a_process_that_goes_on_is_undone_by_the_next_compaction(make, point):
    armed = True

    def steps(name):
        nonlocal armed
        if armed and name == point:
            armed = False
            raise KeyboardInterrupt

    transcript = make(steps=steps)
    fill(transcript, 1, 6)
    with pytest.raises(KeyboardInterrupt):
        transcript.compact()
    fill(transcript, 7, 10)

    assert transcript.compact().kind is OutcomeKind.COMMITTED
    consistent(transcript, 10)


@pytest.mark.slow
def test_cra_1_and_cra_2_old_or_new_after_a_crash_at_every_write_and_sync_of_a_run(tmp_path, script, capsys):
    """Not only between the steps that the compactor names: the process is killed before every single write and sync
    of a run with two generations, an eviction, copies after their commit and an erasure, and opened again, twice."""
    run = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("crash_run.py")), str(tmp_path / "runs")],
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert run.returncode == 0, run.stderr
    steps = int(run.stdout)
    views = json.loads((tmp_path / "runs" / "views.json").read_text())
    outcomes = Counter()
    for step in range(1, steps + 1):
        directory = tmp_path / "runs" / str(step)
        acknowledged = len((directory / "acknowledged").read_bytes())
        with Transcript.open(
            directory / "ledger.db", summarise=script, settings=Settings(keep=2, horizon=0)
        ) as transcript:
            found = json.loads(json.dumps(view(transcript, 10)))
            started = max(acknowledged, 1)  # before the first acknowledgement there is nothing, as after opening
            allowed = views[started - 1 : started + 1]
            if found not in allowed:
                # `fill` and nothing else is several operations in one: some of its turns, in order.
                assert _between(found, *allowed), f"step {step} after {acknowledged} operations: {found}"
            outcomes["as after it" if found == allowed[-1] else "as before it, or part of several turns"] += 1
            assert transcript.ratios().pending == transcript.ratios().unresolvable == 0
            transcript.reopen()
            assert json.loads(json.dumps(view(transcript, 10))) == found, f"step {step}: recovered twice"
            fill(transcript, 20, 25)
            assert transcript.compact().kind is OutcomeKind.COMMITTED, f"step {step}"
    with capsys.disabled():
        print(f"\nkilled at each of {steps} writes and syncs: {dict(outcomes)}")  # noqa: T201 - how much was tried


def _between(found, before, after):
    """Whether a window has some of the turns that one operation appended, and nothing else is different."""
    window = [item[0] for item in found["window"]]
    first, last = ([item[0] for item in one["window"]] for one in (before, after))
    return (
        found["pointers"] == before["pointers"] == after["pointers"]
        and window[: len(first)] == first
        and window == last[: len(window)]
    )
