"""Keeps record of operations as they happen: `invoke`, then `ok`, `fail` or `info`, in one order over all threads."""

import contextvars
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from anchorhold.compactor import OperationError, Reply, Shown, SummariserError
from anchorhold.errors import AdapterError
from anchorhold.history import MAIN, Event, EventType
from anchorhold.summariser import ScriptedSummariser

READS = frozenset(
    {
        "live",
        "pointers",
        "get",
        "search",
        "reconstitute",
        "manifest",
        "tombstones",
        "status",
        "degraded_since",
        "ratios",
        "audits",
        "files",
    }
)
"""Operations that change nothing: one that ends with an exception definitely did not happen."""

PROCESS: contextvars.ContextVar[str] = contextvars.ContextVar("anchorhold_process", default=MAIN)
"""In whose name something is done. What the suite runs on other threads for a process inherits it; a thread of the
compactor's own does not, and counts as part of what `main` asked for."""

R = TypeVar("R")


class Recorder:
    """The events of one history, and the scripted summariser whose calls stand among them."""

    def __init__(self, summariser: ScriptedSummariser) -> None:
        self.events: list[Event] = []
        self.step = 0
        self.summaries = 0
        """How often the summariser was called."""
        self._summariser = summariser
        self._lock = threading.RLock()
        self._held: Callable[[], None] | None = None
        self._compacting = False
        """Whether the main process has asked for a compaction that has not ended."""
        self._ended: dict[str, EventType] = {}

    def do(self, op: str, call: Callable[[], R], arguments: Mapping[str, Any]) -> R | None:
        """Carry out one operation. None where it did not succeed, or where the operation has no result.

        An `AdapterError` is passed on; whatever else goes wrong is an event.
        """
        self.add(EventType.INVOKE, op, plain(arguments))
        main = PROCESS.get() == MAIN
        if main:
            self._compacting = op == "compact"
        try:
            result = call()
        except AdapterError:
            raise
        except OperationError as error:
            definite = error.definite or op in READS
            self.add(EventType.FAIL if definite else EventType.INFO, op, error=str(error))
            return None
        except Exception as error:  # noqa: BLE001 - whatever the compactor under test raises is an observation
            kind = EventType.FAIL if op in READS else EventType.INFO
            self.add(kind, op, error=f"{type(error).__name__}: {error}")
            return None
        finally:
            if main:
                self._compacting = False
        self.add(EventType.OK, op, plain(result))
        return result

    @property
    def succeeded(self) -> bool:
        """Whether the operation that ended last in this process did so with `ok`."""
        return self._ended.get(PROCESS.get()) is EventType.OK

    def hold(self, meanwhile: Callable[[], None] | None) -> None:
        """Before the next call of the summariser in a `compact` is answered, do this. None: nothing is to be done any
        more.

        A compactor may compact in the course of other operations, of an `append` say. It need let nobody in then.
        """
        self._held = meanwhile

    def note(self, what: Mapping[str, str]) -> None:
        """Something that the suite could not do, and why: for whoever reads the history."""
        self.add(EventType.INVOKE, "note", dict(what))
        self.add(EventType.OK, "note")

    def summarise(self, shown: Shown) -> Reply:
        """Handed to the compactor in place of its model."""
        with self._lock:
            self.summaries += 1
            self.add(EventType.INVOKE, "summarise", {"messages": list(shown.messages)})
            meanwhile = self._held if self._compacting else None
            if meanwhile is not None:
                self._held = None
        if meanwhile is not None:
            meanwhile()
        with self._lock:
            mode = self._summariser.mode
            try:
                reply = self._summariser(shown)
            except SummariserError as error:
                self.add(EventType.FAIL, "summarise", error=str(error))
                raise
            value = {"text": reply.text, "finish": reply.finish, "mode": mode}
            self.add(EventType.OK, "summarise", value)
            return reply

    def add(self, kind: EventType, op: str, value: Any = None, *, error: str | None = None) -> None:
        """Add one event."""
        with self._lock:
            self._ended[PROCESS.get()] = kind
            self.events.append(
                Event(
                    index=len(self.events),
                    step=self.step,
                    process=PROCESS.get(),
                    type=kind,
                    op=op,
                    value=value,
                    error=error,
                )
            )


def plain(value: Any) -> Any:
    """A value as it stands in a history: what JSON can hold, in the form in which it comes back from a file."""
    try:
        return msgspec.json.decode(msgspec.json.encode(value))
    except UnicodeEncodeError:
        # Lone surrogates: JSON in UTF-8 cannot hold them, and a history in memory can.
        return _listed(msgspec.to_builtins(value, str_keys=True))


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _listed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_listed(item) for item in value]
    return value
