"""Loss of power at every sync of a run: every write that was not synced by then is dropped, kept or torn, and the
database is opened again, twice (CRA-1, CRA-2, CRA-3)."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from seen import view
from transcripts import Script, fill, port, token_of

from anchorhold_reference import Settings, Transcript
from anchorhold_reference.faults.power import SECTOR, Change, Disk, all_of, none_of, torn
from anchorhold_reference.stores.sqlite import SqliteFile
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, OutcomeKind

SURVIVING = {"none": none_of, "all": all_of, **{f"torn-{seed}": torn(seed) for seed in range(4)}}


@dataclass
class Run:
    """A workload, and after each of its operations what had been acknowledged by then."""

    transcript: Transcript
    script: Script
    upto: int
    acknowledged: list[dict[str, Any]] = field(default_factory=list)

    def do(self, operation: Callable[[], Any]) -> Any:
        answer = operation()
        self.acknowledged.append(view(self.transcript, self.upto))
        return answer

    def all(self) -> None:
        """Two generations, an eviction, a tombstone, an asynchronous copy, an erasure."""
        transcript, script = self.transcript, self.script
        self.acknowledged.append(view(transcript, self.upto))
        for n in range(1, 7):
            self.do(lambda n=n: fill(transcript, n, n))
        script.say(port(1), port(2))
        assert self.do(transcript.compact).kind is OutcomeKind.COMMITTED
        token = token_of(transcript, "t1")
        assert self.do(lambda: transcript.evict(token)).kind is OutcomeKind.COMMITTED
        assert self.do(lambda: transcript.tombstone("7003", "t3", "moved")).kind is OutcomeKind.COMMITTED
        for n in range(7, 11):
            self.do(lambda n=n: fill(transcript, n, n))
        transcript.hold_copies(True)
        assert self.do(transcript.compact).kind is OutcomeKind.COMMITTED
        assert transcript.ratios().pending
        self.do(transcript.settle)
        assert not transcript.ratios().pending
        assert self.do(lambda: transcript.forget("t5")).kind is OutcomeKind.COMMITTED
        (summary,) = [item for item in transcript.live() if item.kind is CarrierKind.SUMMARY]
        assert summary.generation == 2


@pytest.fixture
def disk():
    one = Disk()
    yield one
    one.close()


def settings() -> Settings:
    return Settings(keep=2, horizon=0)


@pytest.fixture
def losses(tmp_path, script, disk):
    """The directories that losses of power left behind, with how many operations had been acknowledged."""
    home = tmp_path / "home"
    home.mkdir()
    transcript = Transcript.open(
        SqliteFile(path=home / "ledger.db", connect=disk.connect), summarise=script, settings=settings()
    )
    run = Run(transcript, script, 10)
    images: list[tuple[str, int, Path]] = []

    def image(_path: Path) -> None:
        for name, choose in SURVIVING.items():
            left = tmp_path / f"{disk.syncs}-{name}"
            left.mkdir()
            disk.survive(left, choose)
            images.append((f"sync {disk.syncs}, {name} of what was not synced", len(run.acknowledged), left))

    disk.before_sync = image
    run.all()
    disk.before_sync = lambda _path: None
    transcript.close()
    assert disk.syncs * len(SURVIVING) >= len(images) > 0
    return run, images


@pytest.mark.slow
def test_cra_3_and_cra_1_what_was_acknowledged_survives_loss_of_power_at_any_sync(losses, script, disk, capsys):
    run, images = losses
    script.write = script.nothing
    for name, acknowledged, left in images:
        transcript = Transcript.open(left / "ledger.db", summarise=script, settings=settings())
        try:
            # Wholly as before the operation that was under way, or wholly as after it (CRA-1).
            allowed = run.acknowledged[max(acknowledged - 1, 0) : acknowledged + 1]
            found = view(transcript, run.upto)
            assert found in allowed, f"{name}, {acknowledged} operations acknowledged: {found}"
            assert AnswerKind.DEGRADED not in {kind for kind, _, _ in found["answers"]}
            assert transcript.ratios().pending == transcript.ratios().unresolvable == 0
            assert AnswerKind.PENDING not in {transcript.get(p.token).kind for p in transcript.pointers()}
            transcript.reopen()
            assert view(transcript, run.upto) == found, f"{name}: the second recovery changed something (CRA-2)"
            # Nothing blocks what comes after it (CRA-2, PRO-3).
            fill(transcript, 20, 25)
            assert transcript.compact().kind is OutcomeKind.COMMITTED, name
        finally:
            transcript.close()
    with capsys.disabled():
        print(  # noqa: T201 - how much was tried
            f"\nloss of power: {len(images)} images, at {len(images) // len(SURVIVING)} syncs "
            f"of {len(run.acknowledged) - 1} operations, {disk.writes} writes in all"
        )


@pytest.mark.parametrize("choose", SURVIVING.values(), ids=SURVIVING)
def test_cra_3_power_can_be_lost_in_place(tmp_path, script, disk, choose):
    path = tmp_path / "ledger.db"
    transcript = Transcript.open(SqliteFile(path=path, connect=disk.connect), summarise=script, settings=settings())
    fill(transcript, 1, 6)
    transcript.compact()
    before = view(transcript, 6)
    disk.lose(choose)
    with pytest.raises(Exception, match="power"):
        fill(transcript, 7, 7)
    transcript.close()
    with Transcript.open(path, summarise=script, settings=settings()) as again:
        assert view(again, 6) == before


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL", "FULL"])
def test_a_disk_loses_what_a_laxer_database_had_only_said_was_durable(tmp_path, disk, synchronous):
    """That the fault is a fault: without the sync that a commit waits for, what was acknowledged is gone."""
    path = tmp_path / "plain.db"
    connection = disk.connect(path, 1.0)
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE t (x)")
    connection.execute(f"PRAGMA synchronous={synchronous}")
    connection.execute("INSERT INTO t VALUES (1)")
    disk.lose()
    connection.close()
    plain = sqlite3.connect(path)
    rows = plain.execute("SELECT count(*) FROM t").fetchone()
    plain.close()

    assert rows == ((1,) if synchronous == "FULL" else (0,))


def test_cra_3_a_ledger_that_did_not_wait_for_the_disk_would_be_caught(tmp_path, script, disk):
    """That the tests above can fail."""
    path = tmp_path / "ledger.db"
    transcript = Transcript.open(SqliteFile(path=path, connect=disk.connect), summarise=script, settings=settings())
    fill(transcript, 1, 2)
    transcript._ledger.run("PRAGMA synchronous=OFF")
    fill(transcript, 3, 4)
    disk.lose()
    transcript.close()
    with Transcript.open(path, summarise=script, settings=settings()) as again:
        assert [item.turn for item in again.live()] == ["t1", "t2"]


def test_a_torn_write_is_left_in_whole_sectors():
    change = Change(offset=100, data=bytes(range(256)) * 8, before=b"", size=0)
    for seed in range(50):
        for left in torn(seed)([change]):
            assert left.data == change.data[left.offset - 100 : left.offset - 100 + len(left.data)]
            if left != change:
                end = left.offset + len(left.data)
                assert left.offset == 100 or left.offset % SECTOR == 0
                assert end == 100 + len(change.data) or end % SECTOR == 0
