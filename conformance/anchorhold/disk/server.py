"""Mounts a disk in memory, and does what it is told: `python -m anchorhold.disk.server FOLDER`.

A process of its own, because one that waits for a file of its own would wait for itself. One JSON object a line on
standard input, each answered by one: `{"do": "watch"}`, `{"do": "arm", "at": 3, "fault": "kill", "group": 4711}`,
`{"do": "told"}` (which steps there were since), `{"do": "power"}`. It ends, and takes the disk with it, when its
input ends.
"""

import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import mfusepy
import msgspec

from anchorhold.disk.faults import Change, DiskFault, Fate, Faults, Verdict
from anchorhold.disk.model import Disk, Node

BLOCK = 4096
UNMOUNT = shutil.which("fusermount3") or "fusermount3"
ROOM = 2**20
"""Blocks that the disk is said to have."""


class Tree(mfusepy.Operations):  # type: ignore[misc]
    """The system calls of the mounted folder."""

    use_ns = True
    # Files that are open are known by their handle alone: one that has no name any more is a file all the same.
    flag_nopath = True
    flag_nullpath_ok = True

    def __init__(self, ready: threading.Event) -> None:
        self.disk = Disk()
        self.faults = Faults()
        self.group = 0
        """Process group that a `kill` is for."""
        self.stale: list[str] = []
        """Paths of which the kernel may remember what is not on the disk."""
        self.settled = threading.Condition()
        """Held by every call; calls wait while something is stale."""
        self._ready = ready
        self._open: dict[int, tuple[Node, str]] = {}
        self._handles = 0

    def init(self, path: str) -> None:
        self._ready.set()

    # Looking

    def getattr(self, path: str | None, fh: int | None = None) -> dict[str, int]:
        with self.settled:
            node = self._node(path, fh)
            return {
                "st_mode": node.mode,
                "st_nlink": node.links,
                "st_size": len(node.content),
                "st_blocks": -(-len(node.content) // 512),
                "st_atime": node.accessed,
                "st_mtime": node.modified,
                "st_ctime": node.modified,
                "st_uid": os.getuid(),
                "st_gid": os.getgid(),
            }

    def opendir(self, path: str) -> int:
        with self.settled:
            return self._opened(self.disk.find(path), path)

    def readdir(self, path: str | None, fh: int) -> Iterable[str]:
        with self.settled:
            return [".", "..", *self._node(path, fh).names]

    def readlink(self, path: str) -> str:
        with self.settled:
            return os.fsdecode(bytes(self.disk.find(path).content))

    def statfs(self, path: str) -> dict[str, int]:
        with self.settled:
            free = ROOM - self.disk.size // BLOCK
        sizes = {"f_bsize": BLOCK, "f_frsize": BLOCK, "f_blocks": ROOM, "f_bfree": free, "f_bavail": free}
        return {**sizes, "f_files": ROOM, "f_ffree": ROOM, "f_namemax": 255}

    def open(self, path: str, flags: int) -> int:
        with self.settled:
            node = self.disk.find(path)
            # To open a file and to empty it is one call.
            emptied = flags & os.O_TRUNC and node.content
            if emptied and self._meets(Change.TRUNCATE, path).fate is Fate.DONE:
                self.disk.truncate(node, 0)
            return self._opened(node, path)

    def read(self, path: str | None, size: int, offset: int, fh: int) -> bytes:
        with self.settled:
            return bytes(self._node(path, fh).content[offset : offset + size])

    # Changing

    def create(self, path: str, mode: int, fi: object = None) -> int:
        with self.settled:
            self._meets(Change.CREATE)
            return self._opened(self.disk.make(path, stat.S_IFREG | stat.S_IMODE(mode)), path)

    def mkdir(self, path: str, mode: int) -> int:
        with self.settled:
            self._meets(Change.MKDIR)
            self.disk.make(path, stat.S_IFDIR | stat.S_IMODE(mode))
        return 0

    def symlink(self, target: str, source: str) -> int:
        with self.settled:
            self._meets(Change.LINK)
            node = self.disk.make(target, stat.S_IFLNK | 0o777)
            node.content[:] = os.fsencode(source)
            node.synced = bytes(node.content)
        return 0

    def link(self, target: str, source: str) -> int:
        with self.settled:
            self._meets(Change.LINK)
            self.disk.link(source, target)
        return 0

    def unlink(self, path: str) -> int:
        with self.settled:
            if self._meets(Change.UNLINK, path).fate is Fate.DONE:
                self.disk.unlink(path)
        return 0

    def rmdir(self, path: str) -> int:
        with self.settled:
            if self._meets(Change.RMDIR, path).fate is Fate.DONE:
                self.disk.rmdir(path)
        return 0

    def rename(self, old: str, new: str) -> int:
        with self.settled:
            if self._meets(Change.RENAME, new).fate is Fate.DONE:
                self.disk.rename(old, new)
        return 0

    def write(self, path: str | None, data: bytes, offset: int, fh: int) -> int:
        with self.settled:
            node, where = self._open[fh]
            verdict = self.faults.next(Change.WRITE, len(data), grows=offset + len(data) > len(node.content))
            if verdict.fate is Fate.DONE:
                self.disk.write(node, data, offset)
                return len(data)
            if verdict.bytes:
                self.disk.write(node, data[: verdict.bytes], offset)
            self._suffers(verdict, where)
        return len(data)

    def truncate(self, path: str | None, length: int, fh: int | None = None) -> int:
        with self.settled:
            node = self._node(path, fh)
            where = path or self._open[fh or 0][1]
            if self._meets(Change.TRUNCATE, where).fate is Fate.DONE:
                self.disk.truncate(node, length)
        return 0

    def fallocate(self, path: str | None, mode: int, offset: int, size: int, fh: int) -> int:
        if mode:
            return -errno.EOPNOTSUPP
        with self.settled:
            node, where = self._open[fh]
            if offset + size > len(node.content) and self._meets(Change.TRUNCATE, where).fate is Fate.DONE:
                self.disk.truncate(node, offset + size)
        return 0

    def fsync(self, path: str | None, datasync: int, fh: int) -> int:
        with self.settled:
            self.settled.wait_for(lambda: not self.stale, timeout=5)
            node, where = self._open[fh]
            if self._meets(Change.SYNC, where).fate is Fate.DONE:
                self.disk.sync(node)
        return 0

    def fsyncdir(self, path: str | None, datasync: int, fh: int) -> int:
        return self.fsync(path, datasync, fh)

    def flush(self, path: str | None, fh: int) -> int:
        with self.settled:
            self.settled.wait_for(lambda: not self.stale, timeout=5)
        return 0

    def release(self, path: str | None, fh: int) -> int:
        with self.settled:
            self._open.pop(fh, None)
        return 0

    def releasedir(self, path: str | None, fh: int) -> int:
        return self.release(path, fh)

    def chmod(self, path: str | None, mode: int) -> int:
        with self.settled:
            if path is not None:
                node = self.disk.find(path)
                node.mode = stat.S_IFMT(node.mode) | stat.S_IMODE(mode)
        return 0

    def chown(self, path: str | None, uid: int, gid: int) -> int:
        return 0

    def utimens(self, path: str | None, times: tuple[int, int] | None = None) -> int:
        with self.settled:
            if path is not None and times is not None:
                node = self.disk.find(path)
                node.accessed, node.modified = times
        return 0

    # Faults

    def _meets(self, change: Change, where: str = "") -> Verdict:
        verdict = self.faults.next(change)
        if verdict.fate is not Fate.DONE:
            self._suffers(verdict, where)
        return verdict

    def _suffers(self, verdict: Verdict, where: str) -> None:
        """What a fault does beyond the disk. Raises OSError where the program is to be told."""
        match verdict.fate:
            case Fate.KILLED:
                # It is still in this call, and so it never hears of it.
                os.killpg(self.group, signal.SIGKILL)
                raise OSError(errno.EINTR, "killed")
            case Fate.FAILED:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            case Fate.NO_ROOM:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            case _:
                # The kernel remembers what it handed over; whoever reads it back must see what is there.
                self.stale.append(where)
                self.settled.notify_all()

    def _node(self, path: str | None, fh: int | None) -> Node:
        if fh is not None and fh in self._open:
            return self._open[fh][0]
        if path is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self.disk.find(path)

    def _opened(self, node: Node, path: str) -> int:
        self._handles += 1
        self._open[self._handles] = (node, path)
        return self._handles


class Mounted(mfusepy.FUSE):  # type: ignore[misc]
    """Hands over what the library leaves out."""

    def truncate_fuse_3(self, path: bytes | None, length: int, fip: Any) -> int:
        told = None if path is None else os.fsdecode(path)
        return self.operations.truncate(told, length, fip.contents.fh if fip else None)  # type: ignore[no-any-return]

    def rename_fuse_3(self, old: bytes, new: bytes, flags: int) -> int:
        # Exchange, and "only where nothing is there": programs fall back on what every file system has.
        return -errno.EINVAL if flags else self.operations.rename(os.fsdecode(old), os.fsdecode(new))


def _forget(tree: Tree, folder: Path) -> None:
    """A thread: makes the kernel forget what is stale. To open a file is enough for that."""
    while True:
        with tree.settled:
            tree.settled.wait_for(lambda: tree.stale)
            path = folder / tree.stale[0].lstrip("/")
        try:
            opened = os.open(path, os.O_RDONLY)
        except OSError:
            opened = None  # it is not there, and so nothing of it is remembered
        with tree.settled:
            tree.stale.pop(0)
            tree.settled.notify_all()
        # Only now: to close it takes what a call that waited for this may hold.
        if opened is not None:
            os.close(opened)


def _serve(tree: Tree, ready: threading.Event, folder: Path) -> None:
    """A thread: does what is asked, and unmounts at the end."""
    ready.wait()
    _say({"ready": True})
    try:
        for line in sys.stdin.buffer:
            _say(_do(tree, msgspec.json.decode(line)))
    finally:
        subprocess.run([UNMOUNT, "-u", "-z", str(folder)], check=False)


def _do(tree: Tree, asked: dict[str, Any]) -> dict[str, Any]:
    with tree.settled:
        match asked["do"]:
            case "arm":
                tree.group = int(asked.get("group", 0))
                tree.faults.arm(int(asked["at"]), DiskFault(asked["fault"]))
            case "watch":
                tree.faults.watch()
            case "power":
                tree.disk.lose_power()
        return {"steps": [str(step) for step in tree.faults.steps], "fired": tree.faults.fired}


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()


def main() -> None:
    """Mount, serve, unmount."""
    folder = Path(sys.argv[1])
    ready = threading.Event()
    tree = Tree(ready)
    for run, arguments in ((_serve, (tree, ready, folder)), (_forget, (tree, folder))):
        threading.Thread(target=run, args=arguments, daemon=True).start()
    # Names are looked up each time, and bring what `stat` says with them. That is remembered otherwise: the library
    # cannot say it of a file that has no name any more. (Where such a file is written, and then asked for its size,
    # the answer is an error, ESTALE.)
    options = {"hard_remove": True, "entry_timeout": 0, "attr_timeout": 3600, "negative_timeout": 0}
    Mounted(tree, str(folder), foreground=True, fsname="anchorhold", subtype="disk", **options)


if __name__ == "__main__":
    main()
