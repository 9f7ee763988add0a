"""Waits for summarisers that are coroutines.

They run on one event loop, in a thread of its own: an asynchronous client keeps connections that belong to the loop
on which they were made, so a loop for each call would hand the second call connections of a loop that is closed. And
a compaction may be asked for in a thread whose own loop is running.
"""

import asyncio
import inspect
import threading
from collections.abc import Awaitable
from concurrent.futures import Future

from anchorhold_reference.values import Reply


class Waiter:
    """Makes replies of what summarisers return. Its loop begins with the first coroutine."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def reply(self, returned: Reply | Awaitable[Reply]) -> Reply:
        """The reply itself, waited for where it is yet to come. Raises what the coroutine raises."""
        if not inspect.isawaitable(returned):
            return returned
        future: Future[Reply] = asyncio.run_coroutine_threadsafe(_awaited(returned), self._running())
        try:
            return future.result()
        except BaseException:
            future.cancel()  # where this thread was interrupted, nobody wants the reply any more
            raise

    def close(self) -> None:
        """End the loop. May be called again; it begins anew where it is needed again."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            if thread is not threading.current_thread():
                thread.join()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run, args=(self._loop,), name="anchorhold-summariser", daemon=True
                )
                self._thread.start()
            return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        if left := asyncio.all_tasks(loop):
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.wait(left))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _awaited(returned: Awaitable[Reply]) -> Reply:
    return await returned
