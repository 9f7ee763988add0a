"""A program that speaks lines: started in a process group of its own, read with a deadline, always killed at the end.

Nothing here knows what the lines say.
"""

import contextlib
import os
import re
import selectors
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from anchorhold.errors import AdapterError, Fault, one_line
from anchorhold.wire.stderr import StderrTail

ERROR = re.compile(r"\b(?:\w*(?:Error|Exception)|panicked|fatal)\b")
"""By which a line says what went wrong: what some runtimes write last is their own version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long and how much an adapter may take. Times in seconds, sizes in bytes."""

    start: float = 60.0
    """From starting the program to its answer to `initialize`."""
    call: float = 30.0
    """One operation, without the time that the suite itself takes to answer `summarise`."""
    stop: float = 3.0
    """From `shutdown` to the end of the program, before it is killed."""
    line: int = 16 * 2**20
    """One line on standard output."""
    stderr: int = 64 * 2**10
    """How much of standard error is kept."""


Files: TypeAlias = tempfile.TemporaryDirectory[str]


class Program:
    """One running program. Every failure is an `AdapterError` that names the program and what it was doing.

    It has a directory of its own for temporary files, which goes with it: one that is killed cannot tidy up. `files`
    hands it that of another, which was killed and kept them; it is this one's from then on.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str,
        limits: Limits,
        environment: Mapping[str, str] | None = None,
        files: Files | None = None,
    ) -> None:
        self.name = name
        self._limits = limits
        self._lines: deque[bytes] = deque()
        self._rest = bytearray()
        self._searched = 0
        self._closed = False
        self.files = files or tempfile.TemporaryDirectory(prefix="anchorhold-program-", ignore_cleanup_errors=True)
        """Its directory for temporary files."""
        self.keep_files = False
        """Whether they stay when it is killed: for a program that is started on them again."""
        try:
            # A group of its own: whatever it starts is killed with it.
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env={**(os.environ if environment is None else environment), "TMPDIR": self.files.name},
            )
        except (OSError, ValueError) as error:
            self.files.cleanup()
            raise AdapterError(
                f"adapter {name!r} cannot be started",
                code=Fault.START,
                cause=f"{command[0] if command else 'no program'}: {getattr(error, 'strerror', None) or error}",
                hint="check that the program exists, is executable, and is spelt as on a command line",
            ) from None
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        # Popen opens what it is told to open; this is for the type checker.
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        self._stdin, self._stdout = stdin, stdout
        self._stderr = StderrTail(os.dup(stderr.fileno()), limit=limits.stderr)
        stderr.close()
        os.set_blocking(stdin.fileno(), False)
        os.set_blocking(stdout.fileno(), False)

    @property
    def stderr(self) -> str:
        """What it wrote to standard error, as far as it is kept."""
        return self._stderr.text()

    def send(self, line: bytes, *, deadline: float, doing: str) -> None:
        """Write one line. `deadline` is by `time.monotonic`; `doing` is for the error."""
        self.write(line + b"\n", deadline=deadline, doing=doing)

    def write(self, data: bytes, *, deadline: float, doing: str) -> None:
        """Write bytes as they are: a part of a line, or several."""
        view = memoryview(data)
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdin, selectors.EVENT_WRITE)
            # Reading meanwhile: an adapter that answers before it has read everything would block otherwise.
            selector.register(self._stdout, selectors.EVENT_READ)
            while view:
                events = selector.select(max(0.0, deadline - time.monotonic()))
                if not events:
                    raise self._hangs(doing)
                for key, _ in events:
                    if key.fileobj is self._stdout:
                        if not self._take(doing):
                            raise self.died(doing)
                        continue
                    try:
                        view = view[os.write(self._stdin.fileno(), view) :]
                    except BlockingIOError:
                        continue
                    except OSError:
                        raise self.died(doing) from None

    def receive(self, *, deadline: float, doing: str) -> bytes:
        """Read one line, without its end."""
        if not self._lines:
            with selectors.DefaultSelector() as selector:
                selector.register(self._stdout, selectors.EVENT_READ)
                while not self._lines:
                    if not selector.select(max(0.0, deadline - time.monotonic())):
                        raise self._hangs(doing)
                    if not self._take(doing):
                        raise self.died(doing)
        return self._lines.popleft()

    @property
    def buffered(self) -> bool:
        """Whether another line came together with the last one."""
        return bool(self._lines)

    def waiting(self, *, doing: str) -> bool:
        """Whether a line is there already. Does not wait."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            if not self._lines and selector.select(0):
                self._take(doing)
        return bool(self._lines)

    def _take(self, doing: str) -> bool:
        """Read one chunk; false at the end."""
        try:
            chunk = os.read(self._stdout.fileno(), 65536)
        except BlockingIOError:
            return True
        if not chunk:
            return False
        self._rest += chunk
        while (end := self._rest.find(b"\n", self._searched)) >= 0:
            self._lines.append(bytes(self._rest[:end]))
            del self._rest[: end + 1]
            self._searched = 0
        self._searched = len(self._rest)
        if self._searched > self._limits.line or sum(map(len, self._lines)) > 2 * self._limits.line:
            raise AdapterError(
                f"adapter {self.name!r} wrote more than {self._limits.line} bytes without an end {doing}",
                code=Fault.LINE_TOO_LONG,
                cause=f"it begins {one_line(bytes(self._rest[:60]).decode('utf-8', 'replace'))!r}",
                hint="a message is one line; send less, or raise the limit of a line",
                stderr=self.stderr,
            )
        return True

    def _hangs(self, doing: str) -> AdapterError:
        return AdapterError(
            f"adapter {self.name!r} did not answer in time {doing}",
            code=Fault.HANG,
            hint="see where it waits; if it is only slow, allow it a longer time-out",
            stderr=self.stderr,
        )

    def died(self, doing: str) -> AdapterError:
        """The error for a program that closed its output."""
        ended = self._wait(min(2.0, self._limits.stop))
        self.kill()
        status = self._process.returncode
        if not ended:
            what = "closed its standard output"
        elif status < 0:
            what = f"was killed by signal {-status} ({_signal_name(-status)})"
        else:
            what = f"ended with exit status {status}"
        lines = [line for line in self.stderr.splitlines() if line.strip()]
        return AdapterError(
            f"adapter {self.name!r} {what} {doing}",
            code=Fault.DIED,
            cause=f"on standard error it says {one_line(telling(lines), limit=200)!r}" if lines else "",
            hint="run it by hand and send it the same request to see why (PROTOCOL.md has a session to copy)",
            stderr=self.stderr,
        )

    def _wait(self, seconds: float) -> bool:
        """Whether it has ended, within so many seconds."""
        until = time.monotonic() + seconds
        while not self._ended():
            if time.monotonic() >= until:
                return False
            time.sleep(0.005)
        return True

    def _ended(self) -> bool:
        if self._process.returncode is not None:
            return True
        if not hasattr(os, "waitid"):
            # macOS before Python 3.13.
            return self._process.poll() is not None
        # Not reaped yet: until then the id of its group cannot become another's, and `kill` kills the right ones.
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    def end_input(self) -> None:
        """Close its standard input, and give it the time that it may take to stop."""
        self._stdin.close()
        self._wait(self._limits.stop)

    def ends(self, *, seconds: float) -> bool:
        """Close its standard input; whether it ends within so many seconds. Raises AdapterError for a last word."""
        self._stdin.close()
        ended = self._wait(seconds)
        # What it said last is there already. Bounded: a child of its own may hold the stream open.
        for _ in range(100):
            if self._lines or self._rest or not self._take("after its input was closed"):
                break
            time.sleep(0.001)
        if self._lines or self._rest:
            begins = bytes(self._lines[0] if self._lines else self._rest)[:80].decode("utf-8", "replace")
            raise AdapterError(
                f"adapter {self.name!r} wrote something after its last answer",
                code=Fault.NOISE,
                cause=f"it begins {begins!r}",
                hint="standard output is for the protocol alone; logs go to standard error",
                stderr=self.stderr,
            )
        return ended

    @property
    def group(self) -> int:
        """Id of its process group."""
        return self._process.pid

    def kill(self) -> None:
        """Kill the whole group, reap the program, and close every stream. May be called again."""
        if self._closed:
            if not self.keep_files:
                self.files.cleanup()
            return
        self._closed = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._stdin.close()
        self._stdout.close()
        self._stderr.close()
        if not self.keep_files:
            self.files.cleanup()


def telling(lines: Sequence[str]) -> str:
    """Of standard error the line that says what went wrong: the last that names an error, or else the last."""
    return next((line for line in reversed(lines) if ERROR.search(line)), lines[-1])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
