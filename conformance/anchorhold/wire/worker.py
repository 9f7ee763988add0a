"""A thread on which somebody else's code runs, so that the suite can give up waiting for it."""

import asyncio
import contextlib
import contextvars
import inspect
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any


class StillRunningError(Exception):
    """The call did not come back in time. Its thread cannot be stopped, and is left behind."""


class Quiet:
    """Sends what is printed to standard error, for as long as any of several threads needs it.

    Standard output belongs to the whole process: where each thread restored what it had found, one that ends later
    than another would restore the wrong one.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._inside = 0
        self._before = sys.stdout

    def __enter__(self) -> None:
        """Redirect, where nobody did yet."""
        with self._guard:
            self._inside += 1
            if self._inside == 1:
                self._before, sys.stdout = sys.stdout, sys.stderr

    def __exit__(self, *_: object) -> None:
        """Restore, where nobody else is inside."""
        with self._guard:
            self._inside -= 1
            if self._inside == 0:
                sys.stdout = self._before


class SharedLoop:
    """An event loop on a thread of its own, for coroutines of several workers."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, awaitable: Any) -> Any:
        """The result of a coroutine, which inherits the caller's context."""
        return asyncio.run_coroutine_threadsafe(_await(awaitable), self._loop).result()

    def end(self) -> None:
        """Stop, and release what is left."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


class _Call:
    """One call and what came of it.

    A check makes tens of thousands: a lock that is let go of at its end takes a fraction of what a `Future` with its
    condition does.
    """

    __slots__ = ("context", "ended", "error", "function", "result")

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.context = contextvars.copy_context()
        self.result: Any = None
        self.error: BaseException | None = None
        self.ended = threading.Lock()
        """Held until the call has ended."""
        self.ended.acquire()


class Worker:
    """Runs calls one after another on one thread, and coroutines on one event loop.

    One thread, because compactors hold things that belong to a thread (SQLite connections). What it prints goes to
    standard error: standard output is the suite's own. Each call sees the context variables of whoever asks for it.
    """

    def __init__(self, name: str, *, quiet: Quiet | None = None, loop: SharedLoop | None = None) -> None:
        self._quiet = quiet or Quiet()
        self._shared = loop
        self.busy = False
        """Whether a call runs."""
        self._inbox: queue.SimpleQueue[_Call | None]
        self._inbox = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._paused = 0.0
        self._pauses: dict[int, float] = {}
        # Not an executor: the interpreter would wait at its end for a call that hangs.
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def share(self, loop: SharedLoop) -> None:
        """From here on coroutines run on this loop."""
        self._shared = loop

    def run(self, function: Callable[[], Any], *, seconds: float) -> Any:
        """The result of the function, awaited where it is to be. Raises what it raises, and StillRunningError."""
        call = _Call(function)
        begin, paused = time.monotonic(), self._suite_time()
        # Redirected here and not by the thread: so it ends here too where the call does not.
        with self._quiet:
            self.busy = True
            try:
                self._inbox.put(call)
                left = seconds
                while not call.ended.acquire(timeout=max(left, 0.01)):
                    left = seconds - (time.monotonic() - begin) + (self._suite_time() - paused)
                    if left <= 0 and call.ended.locked():
                        raise StillRunningError
            finally:
                self.busy = False
        if call.error is None:
            return call.result
        try:
            raise call.error
        finally:
            # Or the error would hold this frame, and the frame the error.
            del call

    @contextlib.contextmanager
    def suite_time(self) -> Iterator[None]:
        """Time within this block is the suite's own and does not count."""
        with self._guard:
            token = len(self._pauses) + 1
            while token in self._pauses:
                token += 1
            self._pauses[token] = time.monotonic()
        try:
            yield
        finally:
            with self._guard:
                self._paused += time.monotonic() - self._pauses.pop(token)

    def _suite_time(self) -> float:
        with self._guard:
            now = time.monotonic()
            return self._paused + sum(now - since for since in self._pauses.values())

    def end(self, *, wait: bool) -> None:
        """End the thread; with `wait` only when it has ended."""
        self._inbox.put(None)
        if wait:
            self._thread.join()

    def _work(self) -> None:
        with asyncio.Runner() as runner:
            while (job := self._inbox.get()) is not None:
                result: Any = None
                try:
                    result = job.context.run(job.function)
                    if inspect.isawaitable(result):
                        if self._shared is None:
                            result = runner.run(_await(result), context=job.context)
                        else:
                            result = job.context.run(self._shared.run, result)
                    job.result = result
                except BaseException as error:  # noqa: BLE001 - it is raised again where the result is waited for
                    job.error = error
                job.ended.release()
                # Or the last result would live as long as the thread.
                job = result = None


async def _await(awaitable: Any) -> Any:
    return await awaitable
