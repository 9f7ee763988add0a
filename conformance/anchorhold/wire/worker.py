"""A thread on which somebody else's code runs, so that the suite can give up waiting for it."""

import asyncio
import concurrent.futures
import contextlib
import inspect
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any


class StillRunningError(Exception):
    """The call did not come back in time. Its thread cannot be stopped, and is left behind."""


class Worker:
    """Runs calls one after another on one thread, and coroutines on one event loop.

    One thread, because compactors hold things that belong to a thread (SQLite connections). What it prints goes to
    standard error: standard output is the suite's own.
    """

    def __init__(self, name: str) -> None:
        self._inbox: queue.SimpleQueue[tuple[concurrent.futures.Future[Any], Callable[[], Any]] | None]
        self._inbox = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._paused = 0.0
        self._pauses: dict[int, float] = {}
        # Not an executor: the interpreter would wait at its end for a call that hangs.
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def run(self, function: Callable[[], Any], *, seconds: float) -> Any:
        """The result of the function, awaited where it is to be. Raises what it raises, and StillRunningError."""
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        begin, paused = time.monotonic(), self._suite_time()
        # Redirected here and not by the thread: so it ends here too where the call does not.
        with contextlib.redirect_stdout(sys.stderr):
            self._inbox.put((future, function))
            while not future.done():
                left = seconds - (time.monotonic() - begin) + (self._suite_time() - paused)
                if left <= 0:
                    raise StillRunningError
                concurrent.futures.wait([future], timeout=max(left, 0.01))
        return future.result()

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
                future, function = job
                try:
                    result = function()
                    if inspect.isawaitable(result):
                        result = runner.run(_await(result))
                except BaseException as error:  # noqa: BLE001 - it is raised again where the result is waited for
                    future.set_exception(error)
                else:
                    future.set_result(result)
                # Or the last result would live as long as the thread.
                del job, future, function


async def _await(awaitable: Any) -> Any:
    return await awaitable
