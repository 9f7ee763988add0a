"""Run the command in a child process, so that a compactor loaded into it cannot decide the exit status.

A Python class under test shares the process of the suite. Where it ends that process (`os._exit`, a crash of an
extension, a signal) its status would read as a verdict: 0 as "nothing failed", 1 as "a rule failed". The child
therefore says through a pipe that it came to its end; without that word there is no verdict.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

NO_VERDICT = 2
"""Exit status where the compactor cannot be judged."""


def supervised(run: Callable[[], int]) -> int:
    """Answer with what `run` answers, or with `NO_VERDICT` and one line where its process ended before that.

    Standard output is the command's alone meanwhile: what a compactor writes to descriptor 1 goes to standard error.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _serve(run, writing)
    os.close(writing)
    status = _wait(child)
    # After the wait: a process that the compactor left behind may hold the pipe open for ever.
    os.set_blocking(reading, False)
    try:
        said = os.read(reading, 1)
    except BlockingIOError:
        said = b""
    finally:
        os.close(reading)
    if said:
        return said[0]
    how = f"signal {-status}" if status < 0 else f"exit status {status}"
    sys.stderr.write(
        f"anchorhold: the process of the check was ended from within ({how}), so there is no verdict; the compactor, "
        "or a library that it uses, ended it. Look there for os._exit and crashes of extensions, or run it as a "
        "program of its own: 'cmd:PROGRAM' (conformance/PROTOCOL.md)\n"
    )
    return NO_VERDICT


def _serve(run: Callable[[], int], writing: int) -> NoReturn:
    # A group of its own: an interrupt comes once, from the parent, and not from the terminal as well.
    os.setpgid(0, 0)
    own = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(own, "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors, buffering=1)
    status = run()
    os.write(writing, bytes([status]))
    sys.exit(status)


def _wait(child: int) -> int:
    """Wait for the child, passing on what is to end it; its status as `subprocess` has it."""

    def pass_on(number: int, _frame: FrameType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [(number, signal.signal(number, pass_on)) for number in numbers]
    try:
        _, status = os.waitpid(child, 0)
    finally:
        for number, handler in before:
            signal.signal(number, handler)
    return os.waitstatus_to_exitcode(status)
