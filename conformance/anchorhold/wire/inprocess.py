"""The compactor behind a Python class in this process, held to the same forms as one behind the wire."""

import asyncio
import contextlib
import inspect
from collections.abc import Callable
from typing import Any

import msgspec

from anchorhold.adapters import anchorhold_sdk
from anchorhold.compactor import (
    Description,
    Mechanism,
    OperationError,
    Reply,
    Settings,
    Shown,
    Summarise,
    SummariserError,
)
from anchorhold.errors import AdapterError, Fault, one_line, whence
from anchorhold.wire.messages import (
    OPERATIONS,
    REQUIRED,
    MessageError,
    OpenParams,
    Params,
    SwitchParams,
    read_result,
)
from anchorhold.wire.operations import Operations, not_offered
from anchorhold.wire.worker import Quiet, SharedLoop, StillRunningError, Worker

_ANY = (Exception, SystemExit, asyncio.CancelledError)
"""What may leave somebody else's code, save an interrupt, which is the user's."""
_SEE_TYPES = "return the values of anchorhold.compactor and anchorhold_spec.vocabulary, each field of its type"


class ClassCompactor(Operations):
    """One instance of the class, from its making to `close`.

    The class is made, and all its operations run, on a thread of its own with a time-out of `seconds` each. Where it
    declares `concurrency`, an operation that is asked for while another runs has a second thread, and coroutines of
    both run on one event loop.
    """

    def __init__(
        self, make: Callable[[], Any], *, name: str, seconds: float, ended: Callable[["ClassCompactor"], None]
    ) -> None:
        self._make = make
        self._name = name
        self._seconds = seconds
        self._ended = ended
        self._quiet = Quiet()
        self._worker: Worker | None = None
        self._beside: Worker | None = None
        self._loop: SharedLoop | None = None
        self._instance: Any = None
        self._description: Description | None = None
        self._opened = False
        self._hung = False
        self._callable: set[str] = set()

    def describe(self) -> Description:
        """What the instance says of itself, with the operations that its class defines. Raises AdapterError."""
        if self._description is None:
            instance = self._made()
            offered = [name for name in OPERATIONS if callable(getattr(instance, name, None))]
            missing = [name for name in ("describe", *REQUIRED) if not callable(getattr(instance, name, None))]
            if missing:
                hint = "`describe` and " + ", ".join(f"`{name}`" for name in REQUIRED) + " are required"
                raise self._error(Fault.PROTOCOL, f"does not define {', '.join(missing)}", hint=hint)
            try:
                said = self._run("describe", instance.describe)
                plain = anchorhold_sdk.plain(said)
            except AdapterError:
                raise
            except Exception as error:
                raise self._error(
                    Fault.IMPORT,
                    "cannot say who it is",
                    cause=_words(error) + whence(error),
                    hint="mend its `describe`",
                ) from error
            if not isinstance(plain, dict):
                raise self._error(Fault.SCHEMA, "answered `describe` out of schema", hint="return a Description")
            result = self._checked("initialize", {"protocol": 1, "description": {**plain, "operations": offered}})
            assert isinstance(result, Description)
            self._description = result
            if self._worker is not None and (loop := self._shared()) is not None:
                self._worker.share(loop)
        return self._description

    def foresee(self, operations: frozenset[str]) -> None:
        """Tell the instance what may be asked of it, where it wants to know. Raises AdapterError."""
        hook = getattr(self._made(), "foresee", None)
        if not callable(hook):
            return
        try:
            self._run("foresee", lambda: hook(operations))
        except AdapterError:
            raise
        except _ANY as error:
            hint = "it is told what may be asked for, and answers nothing"
            raise self._error(Fault.ADAPTER, "cannot be told by `foresee`", cause=_words(error), hint=hint) from error

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        """Start an empty session on a fresh store."""
        self.describe()
        self._opened = True
        result = self._operate("open", settings, _Routed(summarise, lambda: self._worker))
        assert isinstance(result, Settings)
        return result

    def close(self) -> None:
        """Close the session, and end the thread. Raises OperationError where the class's `close` raises."""
        worker, opened = self._worker, self._opened
        self._opened = False
        try:
            if worker is not None and opened:
                self._operate("close")
        finally:
            # Workers that hang were given up by `_run`; these are idle.
            for idle in (self._worker, self._beside):
                if idle is not None:
                    idle.end(wait=True)
            if self._loop is not None and not self._hung:
                self._loop.end()
            self._worker = self._beside = self._loop = self._instance = None
            self._ended(self)

    def abandon(self) -> None:
        """Close without a word: for one that its maker did not close."""
        with contextlib.suppress(AdapterError, OperationError):
            self.close()

    def _call(self, operation: str, params: Params | None = None) -> object:
        if operation not in self.describe().operations:
            raise not_offered(self._name, operation)
        assert not isinstance(params, OpenParams)
        arguments = () if params is None else msgspec.structs.astuple(params)
        if isinstance(params, SwitchParams) and params.branch == "main":
            # Told only to who can fork: others need not take it.
            arguments = arguments[:2]
        return self._operate(operation, *arguments)

    def _operate(self, operation: str, *arguments: Any) -> object:
        method = getattr(self._made(), operation)
        if operation not in self._callable:
            self._check_signature(operation, method, arguments)
            self._callable.add(operation)
        try:
            result = self._run(operation, lambda: method(*arguments))
        except (AdapterError, OperationError):
            raise
        except _ANY as error:
            # An OperationError of the SDK says the same in the same way.
            told = isinstance(error, anchorhold_sdk.OperationError)
            text = str(error) if told else _words(error)
            raise OperationError(text, definite=told and getattr(error, "definite", False)) from error
        return self._checked(operation, result)

    def _check_signature(self, operation: str, method: Any, arguments: tuple[Any, ...]) -> None:
        try:
            inspect.signature(method).bind(*arguments)
        except TypeError as error:
            what = f"cannot be called for `{operation}`"
            hint = "its signature stands in anchorhold.compactor"
            raise self._error(Fault.SCHEMA, what, cause=str(error), hint=hint) from None
        except ValueError:
            # Written in C: it has no signature to look at.
            pass

    def _checked(self, method: str, result: Any) -> object:
        operation = "describe" if method == "initialize" else method
        try:
            return read_result(method, _encoded(result))
        except (MessageError, anchorhold_sdk.AdapterError) as error:
            raise self._error(
                Fault.SCHEMA, f"answered `{operation}` out of schema", cause=str(error), hint=_SEE_TYPES
            ) from None

    def _made(self) -> Any:
        if self._instance is None:
            try:
                self._instance = self._run("its constructor", self._make)
            except AdapterError:
                raise
            except _ANY as error:
                hint = "it is called without arguments; mend what it raises"
                raise self._error(
                    Fault.IMPORT, "cannot be made", cause=_words(error) + whence(error), hint=hint
                ) from error
        return self._instance

    def _run(self, operation: str, function: Callable[[], Any]) -> Any:
        if self._hung:
            raise self._error(
                Fault.HANG, f"hangs, and `{operation}` was asked of it", hint="an earlier error says where"
            )
        worker = self._idle()
        try:
            return worker.run(function, seconds=self._seconds)
        except StillRunningError:
            for each in (self._worker, self._beside):
                if each is not None:
                    each.end(wait=False)
            self._worker = self._beside = self._instance = None
            self._opened, self._hung = False, True
            hint = "see where it waits; if it is only slow, allow it a longer time-out"
            raise self._error(
                Fault.HANG, f"hangs: `{operation}` took more than {self._seconds:g} s", hint=hint
            ) from None

    def _idle(self) -> Worker:
        """The first thread or, while an operation runs on it, the second."""
        if self._worker is None:
            self._worker = Worker(f"anchorhold {self._name}", quiet=self._quiet, loop=self._shared())
        if not self._worker.busy:
            return self._worker
        if self._beside is None:
            self._beside = Worker(f"anchorhold {self._name} beside", quiet=self._quiet, loop=self._shared())
        return self._beside

    def _shared(self) -> SharedLoop | None:
        """The event loop of both threads, where the class says that it takes two operations at once."""
        if self._description is None or Mechanism.CONCURRENCY not in self._description.mechanisms:
            return None
        if self._loop is None:
            self._loop = SharedLoop(f"anchorhold loop {self._name}")
        return self._loop

    def _error(self, code: Fault, what: str, *, hint: str, cause: str = "") -> AdapterError:
        return AdapterError(f"adapter {self._name!r} {what}", code=code, cause=cause, hint=hint)


class _Routed:
    """The suite's summariser as the class sees it: also for a coroutine, and with its time taken out."""

    def __init__(self, summarise: Summarise, worker: Callable[[], Worker | None]) -> None:
        self._summarise = summarise
        self._worker = worker

    def __call__(self, shown: Shown) -> Reply:
        """Ask, and wait. Raises SummariserError."""
        worker = self._worker()
        if worker is None:
            # A thread of the compactor that outlived `close`: nobody keeps record of what it asks any more.
            raise SummariserError("the session is closed")
        with worker.suite_time():
            return self._summarise(Shown(messages=tuple(shown.messages)))

    async def ask(self, shown: Shown) -> Reply:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self, shown)


def _encoded(result: Any) -> bytes:
    try:
        return msgspec.json.encode(result)
    except (TypeError, ValueError, OverflowError, RecursionError):
        # Text with lone surrogates travels as bytes; the SDK knows how, and says what has no form at all.
        pass
    try:
        return msgspec.json.encode(anchorhold_sdk.plain(result))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise MessageError(_words(error)) from None


def _words(error: BaseException) -> str:
    return one_line(f"{type(error).__name__}: {error}", limit=2000)
