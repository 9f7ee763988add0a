"""The disk under a program: what it keeps, what it forgets when power goes, and what its faults come to."""

import errno
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mountable import skip_where_not_mountable

from anchorhold.disk.client import DiskClient
from anchorhold.disk.faults import CANNOT_PRETEND, PAGE, Change, DiskFault, Fate, Faults
from anchorhold.disk.model import Disk, Node

NAMES = ("/a", "/b", "/d/a", "/d/b")
FILE = stat.S_IFREG | 0o644

changes = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.binary(max_size=8), st.integers(0, 12)),
    st.tuples(st.just("truncate"), st.sampled_from(NAMES), st.integers(0, 12)),
    st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("unlink"), st.sampled_from(NAMES)),
    st.tuples(st.just("link"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("sync"), st.sampled_from(NAMES)),
    st.tuples(st.just("power")),
)


def tree(disk: Disk) -> dict[str, Node]:
    """Every file by its path."""
    found = {}
    for folder in ("/", "/d"):
        for name in disk.names(folder):
            node = disk.find(f"{folder.rstrip('/')}/{name}")
            if not node.is_folder:
                found[f"{folder.rstrip('/')}/{name}"] = node
    return found


def contents(disk: Disk) -> dict[str, bytes]:
    return {path: bytes(node.content) for path, node in tree(disk).items()}


@given(st.lists(changes, max_size=30))
def test_after_a_loss_of_power_names_are_as_anything_was_synced_last_and_contents_as_each_file_was(
    steps: list[tuple[object, ...]],
) -> None:
    disk = Disk()
    disk.make("/d", stat.S_IFDIR | 0o755)
    disk.sync(disk.find("/d"))
    # Kept beside it, in the plainest way: what is durable, as whole copies.
    names: dict[str, int] = {}
    durable: dict[int, bytes] = {}
    nodes: dict[int, Node] = {}

    def identity(node: Node) -> int:
        nodes.setdefault(id(node), node)  # held, so that no other gets its number
        return id(node)

    for op, *arguments in steps:
        here = tree(disk)
        path = str(arguments[0]) if arguments else ""
        try:
            if op == "write":
                node = here.get(path) or disk.make(path, FILE)
                disk.write(node, arguments[1], arguments[2])  # type: ignore[arg-type]
            elif op == "truncate":
                disk.truncate(disk.find(path), arguments[1])  # type: ignore[arg-type]
            elif op == "sync":
                node = disk.find(path)
                disk.sync(node)
                durable[identity(node)] = bytes(node.content)
                names = {each: identity(one) for each, one in tree(disk).items()}
            elif op == "power":
                disk.lose_power()
                assert contents(disk) == {each: durable.get(one, b"") for each, one in names.items()}
            else:
                getattr(disk, str(op))(*arguments)
        except FileNotFoundError:
            assert path not in here
        except FileExistsError:
            assert str(arguments[-1]) in here

    before = contents(disk)
    for node in tree(disk).values():
        disk.sync(node)
    if before:
        disk.lose_power()
        assert contents(disk) == before
        assert all(node.links == list(tree(disk).values()).count(node) for node in tree(disk).values())


@given(st.lists(st.sampled_from(Change), min_size=1, max_size=20), st.integers(1, 20), st.sampled_from(DiskFault))
def test_one_step_meets_the_fault_and_those_before_it_do_not(steps: list[Change], at: int, fault: DiskFault) -> None:
    faults = Faults()
    faults.arm(at, fault)

    fates = [faults.next(change, 3 * PAGE).fate for change in steps]

    assert all(fate is Fate.DONE for fate in fates[: at - 1])
    struck = [number for number, fate in enumerate(fates, start=1) if fate is not Fate.DONE]
    assert faults.fired is bool(struck)
    if fault is DiskFault.FULL:
        assert {fates[number - 1] for number in struck} <= {Fate.NO_ROOM}
    else:
        assert len(struck) <= 1
    able = [
        number
        for number, change in enumerate(steps, start=1)
        if number >= at and not (fault in (DiskFault.SILENT, DiskFault.SHORT) and change in CANNOT_PRETEND)
    ]
    if able and fault is not DiskFault.FULL:
        assert struck == able[:1]


def test_a_write_in_which_the_program_is_killed_is_cut_between_pages() -> None:
    faults = Faults()
    faults.arm(1, DiskFault.KILL)
    assert faults.next(Change.WRITE, PAGE).bytes == 0
    faults.arm(1, DiskFault.KILL)
    assert faults.next(Change.WRITE, 5 * PAGE + 1).bytes == 3 * PAGE


# Mounted


@pytest.fixture(scope="module")
def mounted() -> Iterator[DiskClient]:
    skip_where_not_mountable()
    client = DiskClient()
    yield client
    client.close()
    assert not client.folder.exists()
    assert str(client.folder) not in Path("/proc/mounts").read_text()


@pytest.fixture
def folder(mounted: DiskClient, tmp_path: Path) -> Path:
    made = mounted.folder / tmp_path.name
    made.mkdir()
    mounted.watch()
    return made


def test_files_are_files(folder: Path) -> None:
    (folder / "a").write_bytes(b"x" * 300_000)
    (folder / "a").rename(folder / "b")
    (folder / "link").symlink_to("b")
    os.link(folder / "b", folder / "c")
    with (folder / "c").open("r+b") as file:
        file.seek(299_990)
        file.write(b"y" * 20)
    assert (folder / "link").read_bytes() == b"x" * 299_990 + b"y" * 20
    assert (folder / "b").stat().st_nlink == 2
    (folder / "c").write_bytes(b"short")
    assert (folder / "b").read_bytes() == b"short"
    (folder / "c").write_bytes(b"xxxyyy")
    assert sorted(path.name for path in folder.iterdir()) == ["b", "c", "link"]
    with pytest.raises(OSError, match="not empty"):
        folder.rmdir()
    with (folder / "b").open("r+b") as file:
        (folder / "b").unlink()
        file.truncate(3)
        assert file.read() == b"xxx"
    assert (folder / "c").stat().st_nlink == 1


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_database_works_and_comes_back_as_it_was_committed_when_power_goes(
    mounted: DiskClient, folder: Path, mode: str
) -> None:
    connection = sqlite3.connect(folder / "db")
    assert connection.execute(f"PRAGMA journal_mode={mode}").fetchone() == (mode,)
    # With FULL the removal of a journal may be lost, and with it what was committed, as SQLite documents.
    connection.execute("PRAGMA synchronous=EXTRA")
    connection.execute("CREATE TABLE t (a)")
    connection.execute("INSERT INTO t VALUES (1)")
    connection.commit()
    connection.execute("INSERT INTO t VALUES (2)")
    connection.close()

    mounted.lose_power()

    connection = sqlite3.connect(folder / "db")
    assert connection.execute("SELECT a FROM t").fetchall() == [(1,)]
    connection.close()


@pytest.mark.parametrize(
    ("fault", "there"), [(DiskFault.SILENT, b"hello, world"), (DiskFault.SHORT, b"HELLO, world")]
)
def test_who_reads_back_what_was_only_said_to_be_written_sees_what_is_there(
    mounted: DiskClient, folder: Path, fault: DiskFault, there: bytes
) -> None:
    handle = os.open(folder / "f", os.O_RDWR | os.O_CREAT)
    os.write(handle, b"hello, world")
    mounted.arm(1, fault, group=0)

    assert os.pwrite(handle, b"HELLO, WORLD"[:10], 0) == 10
    os.fsync(handle)

    assert os.pread(handle, 20, 0) == there
    assert mounted.told().fired
    os.close(handle)
    assert (folder / "f").read_bytes() == there


def test_a_step_fails_once_and_a_full_disk_until_it_is_told_otherwise(mounted: DiskClient, folder: Path) -> None:
    with (folder / "f").open("w+b", buffering=0) as file:
        mounted.arm(2, DiskFault.ERROR, group=0)
        assert file.write(b"one") == 3
        with pytest.raises(OSError, match="Input/output") as caught:
            os.fsync(file.fileno())
        assert caught.value.errno == errno.EIO
        os.fsync(file.fileno())

        mounted.arm(1, DiskFault.FULL, group=0)
        for _ in range(2):
            with pytest.raises(OSError, match="No space") as caught:
                file.write(b"two")
            assert caught.value.errno == errno.ENOSPC
        with pytest.raises(OSError, match="No space"):
            (folder / "g").touch()
        # What is there already may be written over.
        assert os.pwrite(file.fileno(), b"ONE", 0) == 3
        mounted.watch()
        assert file.write(b"two") == 3
    assert (folder / "f").read_bytes() == b"ONEtwo"


def test_a_program_is_killed_before_the_step_and_never_hears_of_it(mounted: DiskClient, folder: Path) -> None:
    script = f"""
import os
handle = os.open({str(folder / "k")!r}, os.O_RDWR | os.O_CREAT)
os.write(handle, b"1")
os.fsync(handle)
print("ready", flush=True)
input()
os.write(handle, b"2")
os.write(handle, b"3")
print("never", flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        mounted.arm(2, DiskFault.KILL, group=process.pid)
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.read() == b""
    assert process.returncode == -signal.SIGKILL
    assert (folder / "k").read_bytes() == b"12"
    assert mounted.told().steps == ("write", "write")

    mounted.lose_power()

    assert (folder / "k").read_bytes() == b"1"
