"""Keeps record of operations as they happen: `invoke`, then `ok`, `fail` or `info`, in one order over all threads."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import msgspec

from anchorhold.compactor import OperationError, Reply, Settings, Shown, SummariserError
from anchorhold.errors import AdapterError
from anchorhold.history import Event, EventType
from anchorhold.summariser import ScriptedSummariser
from anchorhold_spec.vocabulary import Answer, Entry, Item, Outcome, Pointer, Tombstone

RESULTS: dict[str, Any] = {
    "open": Settings,
    "append": str | None,
    "compact": Outcome,
    "live": list[Item],
    "pointers": list[Pointer],
    "get": Answer,
    "search": Answer,
    "reconstitute": Answer,
    "manifest": list[Entry],
    "tombstones": list[Tombstone],
    "tombstone": Outcome,
    "evict": Outcome,
    "expire": None,
    "reopen": None,
    "crash": None,
    "corrupt": bool,
    "switch": None,
    "status": str,
}
"""What each operation answers with."""

READS = frozenset({"live", "pointers", "get", "search", "reconstitute", "manifest", "tombstones", "status"})
"""Operations that change nothing: one that ends with an exception definitely did not happen."""

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

    def do(self, op: str, call: Callable[[], R], arguments: Mapping[str, Any]) -> R | None:
        """Carry out one operation. None where it did not succeed, or where the operation has no result.

        Raises `AdapterError` where the answer is none that the protocol allows.
        """
        self.add(EventType.INVOKE, op, plain(arguments))
        try:
            result = call()
        except AdapterError:
            raise
        except OperationError as error:
            self.add(EventType.FAIL if error.definite else EventType.INFO, op, error=str(error))
            return None
        except Exception as error:  # noqa: BLE001 - whatever the compactor under test raises is an observation
            kind = EventType.FAIL if op in READS else EventType.INFO
            self.add(kind, op, error=f"{type(error).__name__}: {error}")
            return None
        except SystemExit as error:
            raise AdapterError(
                f"{op}: the compactor tried to end the process (SystemExit {error.code})",
                hint="an adapter raises OperationError where an operation does not succeed",
            ) from None
        value = allowed(op, result)
        self.add(EventType.OK, op, value)
        return cast("R", msgspec.convert(value, RESULTS[op]))

    @property
    def succeeded(self) -> bool:
        """Whether the operation that ended last did so with `ok`."""
        return bool(self.events) and self.events[-1].type is EventType.OK

    def note(self, what: Mapping[str, str]) -> None:
        """Something that the suite could not do, and why: for whoever reads the history."""
        self.add(EventType.INVOKE, "note", dict(what))
        self.add(EventType.OK, "note")

    def summarise(self, shown: Shown) -> Reply:
        """Handed to the compactor in place of its model."""
        with self._lock:
            self.summaries += 1
            mode = self._summariser.mode
            self.add(EventType.INVOKE, "summarise", {"messages": list(shown.messages)}, process="summariser")
            try:
                reply = self._summariser(shown)
            except SummariserError as error:
                self.add(EventType.FAIL, "summarise", error=str(error), process="summariser")
                raise
            value = {"text": reply.text, "finish": reply.finish, "mode": mode}
            self.add(EventType.OK, "summarise", value, process="summariser")
            return reply

    def add(
        self, kind: EventType, op: str, value: Any = None, *, error: str | None = None, process: str = "main"
    ) -> None:
        """Add one event."""
        with self._lock:
            self.events.append(
                Event(
                    index=len(self.events),
                    step=self.step,
                    process=process,
                    type=kind,
                    op=op,
                    value=value,
                    error=error,
                )
            )


def plain(value: Any) -> Any:
    """A value as it stands in a history: what JSON can hold, in the form in which it comes back from it."""
    return _listed(msgspec.to_builtins(value, str_keys=True))


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _listed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_listed(item) for item in value]
    return value


def allowed(op: str, result: Any) -> Any:
    """The result in plain form, where it is of the type that the operation answers with.

    Raises `AdapterError` where it is not.
    """
    try:
        value = plain(list(result) if isinstance(result, (tuple, list)) else result)
        msgspec.convert(value, RESULTS[op])
    except (msgspec.ValidationError, TypeError, ValueError, OverflowError) as error:
        raise AdapterError(
            f"{op}: the answer is not what the protocol allows: {error}",
            hint=f"{op} answers with {_name(RESULTS[op])}; see anchorhold.compactor",
        ) from None
    return value


def _name(kind: Any) -> str:
    return (
        "nothing" if kind is None else str(getattr(kind, "__name__", kind)).replace("anchorhold_spec.vocabulary.", "")
    )
