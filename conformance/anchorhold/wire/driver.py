"""The compactor behind a program that speaks the wire protocol."""

from collections.abc import Callable

from anchorhold.compactor import Description, OperationError, Reply, Settings, Shown, Summarise
from anchorhold.disk.faults import DiskFault
from anchorhold.errors import AdapterError
from anchorhold.wire.connection import Connection
from anchorhold.wire.damage import damage
from anchorhold.wire.messages import (
    ClockParams,
    CrashParams,
    OpenParams,
    Params,
    ResumeParams,
    StoreFaultParams,
    TokenParams,
)
from anchorhold.wire.operations import Operations, not_offered
from anchorhold.wire.outside import MODEL, Outside, Point, point_of
from anchorhold_spec.vocabulary import Answer, AnswerKind, Item


class WireCompactor(Operations):
    """One compactor, from `open` to `close`.

    `take` gives the connection to use and `give_back` takes it over at `close`; so a program that is costly to start
    can serve one compactor after another, each of which it opens on a fresh store. `again` starts another program on
    the files of one that was killed. What the suite does from outside is offered whether or not the adapter does.
    """

    def __init__(
        self,
        *,
        take: Callable[[], Connection],
        give_back: Callable[[Connection], None],
        again: Callable[[Connection], Connection] | None = None,
        outside: Outside | None = None,
    ) -> None:
        self._take = take
        self._give_back = give_back
        self._again = again
        self._outside = outside or Outside(restarts=again is not None)
        self._connection: Connection | None = None
        self._summarise: Summarise | None = None
        self._settings = Settings()
        self._armed: Point | str | None = None
        """Where the next compaction is stopped."""
        self._faulty = False
        """Whether the disk has something in store for it."""
        self._stopped = ""
        """Why no program is running, where none is."""

    def describe(self) -> Description:
        """As the adapter answered `initialize`, and what is done from outside. Raises AdapterError where it cannot be
        started."""
        return self._connected().description

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        """Start an empty session on a fresh store."""
        self._connected()
        self._summarise = summarise
        if self._outside.clock is not None:
            self._outside.clock.reset()
        self._settings = settings
        return self._result(Settings, "open", OpenParams(settings=settings))

    def close(self) -> None:
        """Close the session and give the program back. Does nothing where it is gone already."""
        connection, self._connection = self._connection, None
        summarise, self._summarise = self._summarise, None
        if connection is None:
            return
        self._disarm()
        try:
            # One that failed has been killed, and one that was only asked who it is has nothing to close.
            if connection.usable and summarise is not None:
                connection.call("close", summarise=summarise)
        except BaseException:
            # Not closed: whatever it holds must not be there for the next session.
            connection.kill()
            raise
        finally:
            connection.keep_files(False)
            self._give_back(connection)

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._take()
        return self._connection

    def _call(self, operation: str, params: Params | None = None) -> object:
        connection = self._connected()
        offered = connection.description.operations
        if operation in self._outside.means(offered):
            return self._from_outside(connection, operation, params)
        if operation not in offered:
            raise not_offered(connection.name, operation)
        if self._stopped:
            if operation == "reopen":
                return self._resume(connection)
            raise OperationError(self._stopped, definite=True)
        if operation == "reopen":
            self._disarm()
        try:
            return connection.call(operation, params, summarise=self._model(connection, operation))
        except AdapterError as error:
            if operation != "compact" or not self._struck():
                raise
            raise OperationError(self._stopped, definite=False) from error
        except _KilledError as error:
            raise OperationError(self._stopped, definite=False) from error
        finally:
            if operation == "compact":
                self._disarm()

    # From outside

    def _from_outside(self, connection: Connection, operation: str, params: Params | None) -> object:
        clock, disk = self._outside.clock, self._outside.disk
        if isinstance(params, ClockParams) and clock is not None:
            clock.shift(params.shift)
            return None
        if self._stopped:
            raise OperationError(self._stopped, definite=True)
        if isinstance(params, TokenParams):
            return self._corrupt(connection, params.token)
        if isinstance(params, CrashParams):
            self._arm(connection, params.point, DiskFault.KILL)
            connection.keep_files(True)
            self._armed = point_of(params.point) or params.point
        elif isinstance(params, StoreFaultParams):
            self._arm(connection, params.point, DiskFault(params.fault))
        else:
            self._stop(connection, "power was lost" if operation == "lose_power" else "the program was killed")
            if operation == "lose_power" and disk is not None:
                disk.lose_power()
        return None

    def _arm(self, connection: Connection, name: str, fault: DiskFault) -> None:
        point, disk = point_of(name), self._outside.disk
        if name == MODEL and fault is DiskFault.KILL:
            return
        if disk is None or (point is None and name != MODEL):
            raise OperationError(f"there is no step {name!r}")
        self._faulty = True
        disk.arm(1 if point is None else point.at, fault, group=connection.group)

    def _disarm(self) -> None:
        if self._armed is not None and not self._stopped and self._connection is not None:
            self._connection.keep_files(False)
        self._armed = None
        if self._faulty and self._outside.disk is not None:
            self._outside.disk.watch()
        self._faulty = False

    def _stop(self, connection: Connection, why: str) -> None:
        connection.keep_files(True)
        connection.kill()
        self._stopped = f"{why}, and it was not started again"

    def _struck(self) -> bool:
        """Whether the program ended because it met the disk's fault; whatever that takes is done."""
        disk, point = self._outside.disk, self._armed
        if disk is None or not isinstance(point, Point) or not disk.told().fired:
            return False
        self._stopped = f"the program was {point.name}" if not point.power else f"there was a {point.name}"
        if point.power:
            disk.lose_power()
        return True

    def _model(self, connection: Connection, operation: str) -> Summarise | None:
        """The model; one that is never heard, where the program is to be killed meanwhile."""
        summarise = self._summarise
        if operation != "compact" or self._armed != MODEL or summarise is None:
            return summarise

        def unheard(shown: Shown) -> Reply:
            summarise(shown)
            self._stop(connection, "the program was killed while its model was asked")
            raise _KilledError(MODEL)

        return unheard

    def _resume(self, connection: Connection) -> object:
        """Another program on what the last one left behind."""
        # Without it neither `kill` nor `crash` is offered from outside.
        assert self._again is not None
        # One that is there could not go on either, when it was asked to.
        connection.keep_files(True)
        connection.kill()
        self._stopped = "the program that was to go on could not be started"
        self._connection = connection = self._again(connection)
        connection.keep_files(True)
        try:
            result = connection.call("resume", ResumeParams(settings=self._settings), summarise=self._summarise)
        except OperationError as error:
            self._stopped = f"the program that was to go on did not: {error}"
            raise
        except AdapterError as error:
            # In the midst of recovery it is the compactor that fails, and the suite that brought it there.
            self._stopped = f"the program that was to go on did not: {error.message}"
            raise OperationError(self._stopped, definite=False) from error
        connection.keep_files(False)
        self._stopped = ""
        return result

    def _corrupt(self, connection: Connection, token: str) -> bool:
        """Damage what a pointer leads to wherever it lies in the program's files, unless the window shows it too."""
        answer = connection.call("get", TokenParams(token=token), summarise=self._summarise)
        live = connection.call("live", summarise=self._summarise)
        assert isinstance(answer, Answer)
        assert isinstance(live, tuple)
        if answer.kind is not AnswerKind.FOUND or not answer.text:
            return False
        shown = [item.text or "" for item in live if isinstance(item, Item)]
        return damage(connection.files.name, answer.text, shown)


class _KilledError(OperationError):
    """The program was killed while it waited for its model."""


class Pool:
    """Keeps at most one idle program, and starts one where there is none.

    `go_on` starts one on the files of another. `stderr` is that of the program that was used last.
    """

    def __init__(
        self,
        start: Callable[[], Connection],
        *,
        reuse: bool,
        go_on: Callable[[Connection], Connection] | None = None,
    ) -> None:
        self._start = start
        self._go_on = go_on
        self._reuse = reuse
        self._idle: Connection | None = None
        self._last: Connection | None = None
        self._out: set[Connection] = set()

    @property
    def stderr(self) -> str:
        """What the program that was used last wrote to standard error."""
        return "" if self._last is None else self._last.stderr

    def take(self) -> Connection:
        """A usable connection. Raises AdapterError."""
        connection, self._idle = self._idle, None
        if connection is None or not connection.usable:
            connection = self._start()
        return self._taken(connection)

    def again(self, killed: Connection) -> Connection:
        """A program on the files of one that was killed, in its place. Raises AdapterError."""
        assert self._go_on is not None
        connection = self._go_on(killed)
        self._out.discard(killed)
        return self._taken(connection)

    def _taken(self, connection: Connection) -> Connection:
        self._last = connection
        self._out.add(connection)
        return connection

    def give_back(self, connection: Connection) -> None:
        """Keep it for the next, or end it. Raises AdapterError where it does not end in good order."""
        self._out.discard(connection)
        if not connection.usable:
            connection.kill()
        elif self._reuse and self._idle is None:
            self._idle = connection
        else:
            connection.shutdown()

    def close(self) -> None:
        """End every program: the idle one in good order, any other at once."""
        for connection in self._out:
            connection.keep_files(False)
            connection.kill()
        self._out.clear()
        idle, self._idle = self._idle, None
        if idle is not None:
            idle.shutdown()
