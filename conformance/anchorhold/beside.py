"""Steps that are taken from another thread while the compactor waits for its model (CON-1 to CON-3)."""

import contextvars
import threading
from collections.abc import Callable, Sequence

from anchorhold.recorder import PROCESS, Recorder
from anchorhold.workload import AnyStep

PATIENCE = 0.5
"""Seconds without an operation's end after which the model is answered, although steps are left: whoever lets nobody
in while it compacts would wait for ever. They then end when they can, and the history says in what order."""
NAME = "meanwhile"
"""The process in whose name such steps are taken."""


class Beside:
    """The other thread, one at a time."""

    def __init__(self, recorder: Recorder, take: Callable[[AnyStep], None]) -> None:
        self._recorder = recorder
        self._take = take
        self._thread: threading.Thread | None = None
        self._ended = threading.Condition()
        self._taken = 0
        self._error: BaseException | None = None

    def arm(self, steps: Sequence[AnyStep]) -> None:
        """Take these steps while the next call of the summariser in a `compact` is held."""
        self._recorder.hold(lambda: self._run(tuple(steps)))

    def join(self) -> None:
        """Wait until the steps have ended; each has a time-out of its own. Raises the `AdapterError` of one."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _run(self, steps: tuple[AnyStep, ...]) -> None:
        context = contextvars.copy_context()
        context.run(PROCESS.set, NAME)
        # A daemon: where the compactor never comes back, the suite ends all the same.
        self._thread = threading.Thread(target=context.run, args=(self._work, steps), name=NAME, daemon=True)
        self._taken = 0
        self._thread.start()
        with self._ended:
            while self._taken < len(steps) and self._error is None:
                before = self._taken
                self._ended.wait(PATIENCE)
                if self._taken == before:
                    return

    def _work(self, steps: tuple[AnyStep, ...]) -> None:
        try:
            for step in steps:
                self._take(step)
                self._told()
        except BaseException as error:  # noqa: BLE001 - raised again by `join`
            self._error = error
            self._told()

    def _told(self) -> None:
        with self._ended:
            self._taken += 1
            self._ended.notify_all()
