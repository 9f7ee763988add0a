"""The suite's end of a disk that fails on demand: starts the server, steers it, unmounts it."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any

import msgspec

from anchorhold.disk.faults import DiskFault
from anchorhold.errors import AdapterError, Fault

CURE = "apt-get install fuse3, and pip install 'anchorhold[disk]'"
UNMOUNT = shutil.which("fusermount3")
START = 30.0
"""Seconds that mounting may take."""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What the disk says of the steps since it was armed, or told to watch."""

    steps: tuple[str, ...] = ()
    """Each as `anchorhold.disk.faults.Change` names it."""
    fired: bool = False


def missing() -> str | None:
    """Why there can be no such disk here, and what to do; none where there can."""
    if not Path("/dev/fuse").exists():
        return "this machine has no FUSE (/dev/fuse): in a container it takes --device /dev/fuse --cap-add SYS_ADMIN"
    if UNMOUNT is None or find_spec("mfusepy") is None:
        return f"a disk that fails on demand needs FUSE: {CURE}"
    return None


class DiskClient:
    """A mounted disk, until `close`. Raises AdapterError where it cannot be mounted, or its server has died."""

    def __init__(self) -> None:
        self._parent = tempfile.TemporaryDirectory(prefix="anchorhold-disk-", ignore_cleanup_errors=True)
        self.folder = Path(self._parent.name) / "disk"
        """Where it is mounted."""
        self.folder.mkdir()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "anchorhold.disk.server", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        try:
            with DefaultSelector() as selector:
                assert self._process.stdout is not None
                selector.register(self._process.stdout, EVENT_READ)
                if not selector.select(START):
                    raise self._gone("did not mount in time")
            self._answer()
        except BaseException:
            self.close()
            raise

    def files(self) -> "tempfile.TemporaryDirectory[str]":
        """A new directory on it for the files of one program. That it is there outlasts a loss of power."""
        made = tempfile.TemporaryDirectory(prefix="program-", dir=self.folder, ignore_cleanup_errors=True)
        folder = os.open(made.name, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return made

    def watch(self) -> None:
        """Count steps from here on; nothing fails any more."""
        self._ask(do="watch")

    def arm(self, at: int, fault: DiskFault, *, group: int) -> None:
        """The step of this number from now meets the fault; `group`: the process group that a `kill` is for."""
        self._ask(do="arm", at=at, fault=fault.value, group=group)

    def told(self) -> Told:
        """What happened since."""
        return self._ask(do="told")

    def lose_power(self) -> None:
        """What was not synced is gone. Whoever had files open has to be dead."""
        self._ask(do="power")

    def close(self) -> None:
        """Unmount, and be rid of the server."""
        process = self._process
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            assert UNMOUNT is not None
            subprocess.run([UNMOUNT, "-u", "-z", str(self.folder)], check=False, capture_output=True)
        if process.stderr is not None:
            process.stderr.close()
        self._parent.cleanup()

    def _ask(self, **asked: Any) -> Told:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(msgspec.json.encode(asked) + b"\n")
        except OSError:
            raise self._gone("is gone") from None
        return self._answer()

    def _answer(self) -> Told:
        assert self._process.stdout is not None
        line = b""
        while not line.endswith(b"\n"):
            more = self._process.stdout.read(65536)
            if not more:
                raise self._gone("is gone")
            line += more
        return msgspec.json.decode(line, type=Told)

    def _gone(self, what: str) -> AdapterError:
        self._process.kill()
        self._process.wait()
        assert self._process.stderr is not None
        said = self._process.stderr.read().decode("utf-8", "replace").strip().splitlines()
        return AdapterError(
            f"the disk that fails on demand {what}",
            code=Fault.START,
            cause=said[-1] if said else "",
            hint=f"see whether this machine may mount with FUSE ({CURE}); or start the program with 'cmd:'",
        )
