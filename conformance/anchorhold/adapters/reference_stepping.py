"""Operations of the reference compactor as workers: each in a thread, with a connection of its own, stopped before
every access to the database that is not part of a transaction which is open already."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import anchorhold_reference as reference
from anchorhold.compactor import Advance, OperationError
from anchorhold_reference.ledger import Row
from anchorhold_reference.stores.sqlite import SqliteLedger
from anchorhold_spec.vocabulary import Answer, Outcome

Gate: TypeAlias = Callable[[str], None]
"""Called before each access; returns when the worker may go on."""
Work: TypeAlias = Callable[[reference.Transcript], Outcome | Answer | None]

PATIENCE = 60.0
"""Seconds after which a worker that does not come to its next access is an error of the adapter's."""


class _Stop(BaseException):
    """The worker is to end here, and leaves what a dead process leaves."""


class SteppedLedger(SqliteLedger):
    """Asks before each access."""

    def __init__(self, path: Path, *, gate: Gate) -> None:
        self._gate: Gate = lambda _name: None
        super().__init__(path)
        self._gate = gate

    def _before(self, name: str) -> None:
        if not self.connection.in_transaction:
            self._gate(name)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Ask, then as always."""
        self._before("write")
        with super().transaction():
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Ask, then as always."""
        self._before("read")
        with super().reading():
            yield

    def all(self, query: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Ask, then as always."""
        self._before("read")
        return super().all(query, parameters)

    def first(self, query: str, parameters: Sequence[object] = ()) -> Row | None:
        """Ask, then as always."""
        self._before("read")
        return super().first(query, parameters)


class Worker:
    """One operation under way."""

    def __init__(self, name: str, connect: Callable[[Gate], reference.Transcript], work: Work) -> None:
        self._turn = threading.Condition()
        self._may_go = False
        self._at: str | None = None
        self._done = False
        self._stopped = False
        self._result: Outcome | Answer | None = None
        self._error: BaseException | None = None
        self._opened = False
        self._transcript = connect(self._gate)
        self._opened = True
        self._work = work
        self._thread = threading.Thread(target=self._run, name=f"anchorhold-worker-{name}", daemon=True)
        self._thread.start()
        self._wait()

    def _gate(self, name: str) -> None:
        """In the worker's thread: stand until it may go on."""
        if not self._opened or threading.current_thread() is not self._thread:
            return
        with self._turn:
            self._at = name
            self._turn.notify_all()
            while not self._may_go and not self._stopped:
                self._turn.wait()
            self._may_go = False
            self._at = None
            if self._stopped:
                raise _Stop

    def _run(self) -> None:
        try:
            self._result = self._work(self._transcript)
        except BaseException as error:  # noqa: BLE001 - handed to whoever advances
            self._error = error
        with self._turn:
            self._stopped = True  # closing is no access of the operation's
            self._done = True
            self._turn.notify_all()

    def _wait(self) -> None:
        with self._turn:
            if not self._turn.wait_for(lambda: self._done or self._at is not None, timeout=PATIENCE):
                raise OperationError("the worker does not come to an access", definite=False)

    def advance(self) -> Advance:
        """Go on to the next access, or to the end."""
        with self._turn:
            if not self._done:
                self._may_go = True
                self._at = None
                self._turn.notify_all()
        self._wait()
        if not self._done:
            return Advance(done=False, at=self._at)
        self.stop()
        if isinstance(self._error, reference.AnchorholdError):
            raise OperationError(str(self._error)) from self._error
        if self._error is not None:
            raise self._error
        return Advance(
            done=True,
            outcome=self._result if isinstance(self._result, Outcome) else None,
            answer=self._result if isinstance(self._result, Answer) else None,
        )

    def stop(self) -> None:
        """End it where it stands."""
        with self._turn:
            self._stopped = True
            self._turn.notify_all()
        self._thread.join()
        self._transcript.close()


class Workers:
    """Those under way, by name."""

    def __init__(self) -> None:
        self._workers: dict[str, Worker] = {}

    @property
    def under_way(self) -> bool:
        """Whether there are any."""
        return bool(self._workers)

    def begin(self, name: str, connect: Callable[[Gate], reference.Transcript], work: Work) -> None:
        """Start one; it stands before its first access."""
        if name in self._workers:
            raise OperationError(f"worker {name!r} is under way")
        self._workers[name] = Worker(name, connect, work)

    def advance(self, name: str) -> Advance:
        """Let one go on."""
        if name not in self._workers:
            raise OperationError(f"there is no worker {name!r}; begin it first")
        try:
            advanced = self._workers[name].advance()
        except BaseException:
            del self._workers[name]
            raise
        if advanced.done:
            del self._workers[name]
        return advanced

    def stop(self) -> None:
        """End all of them."""
        for worker in self._workers.values():
            worker.stop()
        self._workers.clear()
