"""The compactor behind a program that speaks the wire protocol."""

from collections.abc import Callable
from dataclasses import replace

from anchorhold.compactor import Description, Settings, Summarise
from anchorhold.wire.connection import Connection
from anchorhold.wire.fake_clock import FakeClock
from anchorhold.wire.messages import ClockParams, OpenParams, Params
from anchorhold.wire.operations import Operations, not_offered


class WireCompactor(Operations):
    """One compactor, from `open` to `close`.

    `take` gives the connection to use and `give_back` takes it over at `close`; so a program that is costly to start
    can serve one compactor after another, each of which it opens on a fresh store. With `clock` the program sees a
    wall clock that the suite moves, and `clock` is offered whether or not the adapter does.
    """

    def __init__(
        self,
        *,
        take: Callable[[], Connection],
        give_back: Callable[[Connection], None],
        clock: FakeClock | None = None,
    ) -> None:
        self._clock = clock
        self._take = take
        self._give_back = give_back
        self._connection: Connection | None = None
        self._summarise: Summarise | None = None

    def describe(self) -> Description:
        """As the adapter answered `initialize`. Raises AdapterError where it cannot be started."""
        description = self._connected().description
        if not self._moves(description):
            return description
        return replace(description, operations=description.operations | {"clock"})

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        """Start an empty session on a fresh store."""
        self._connected()
        self._summarise = summarise
        if self._clock is not None:
            self._clock.reset()
        return self._result(Settings, "open", OpenParams(settings=settings))

    def close(self) -> None:
        """Close the session and give the program back. Does nothing where it is gone already."""
        connection, self._connection = self._connection, None
        summarise, self._summarise = self._summarise, None
        if connection is None:
            return
        try:
            # One that failed has been killed, and one that was only asked who it is has nothing to close.
            if connection.usable and summarise is not None:
                connection.call("close", summarise=summarise)
        except BaseException:
            # Not closed: whatever it holds must not be there for the next session.
            connection.kill()
            raise
        finally:
            self._give_back(connection)

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._take()
        return self._connection

    def _moves(self, description: Description) -> bool:
        """Whether the suite moves the wall clock itself: a compactor that has means of its own knows better."""
        return self._clock is not None and "clock" not in description.operations

    def _call(self, operation: str, params: Params | None = None) -> object:
        connection = self._connected()
        if isinstance(params, ClockParams) and self._clock is not None and self._moves(connection.description):
            self._clock.shift(params.shift)
            return None
        if operation not in connection.description.operations:
            raise not_offered(connection.name, operation)
        return connection.call(operation, params, summarise=self._summarise)


class Pool:
    """Keeps at most one idle program, and starts one where there is none.

    `stderr` is that of the program that was used last.
    """

    def __init__(self, start: Callable[[], Connection], *, reuse: bool) -> None:
        self._start = start
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
        self._last = connection
        self._out.add(connection)
        return connection

    def give_back(self, connection: Connection) -> None:
        """Keep it for the next, or end it. Raises AdapterError where it does not end in good order."""
        self._out.discard(connection)
        if self._reuse and self._idle is None:
            self._idle = connection
        else:
            connection.shutdown()

    def close(self) -> None:
        """End every program: the idle one in good order, any other at once."""
        for connection in self._out:
            connection.kill()
        self._out.clear()
        idle, self._idle = self._idle, None
        if idle is not None:
            idle.shutdown()
