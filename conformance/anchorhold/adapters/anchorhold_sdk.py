"""Write an adapter as a Python class, and `serve` it over the wire protocol of Anchorhold (PROTOCOL.md, version 1).

One file, standard library only, Python 3.10 or newer: copy it beside the adapter. It runs in the environment of the
compactor under test, where Anchorhold itself is not installed. A whole adapter:

    from anchorhold_sdk import CarrierKind, Description, Item, Outcome, OutcomeKind, serve

    class Adapter:
        def describe(self):
            return Description(name="keeps-everything", version="1.0")

        def open(self, settings, summarise):
            self.turns = {}
            return settings

        def append(self, turn):
            self.turns.setdefault(turn.id, turn)

        def compact(self):
            return Outcome(kind=OutcomeKind.NOTHING)

        def live(self):
            return [self.item(turn) for turn in self.turns.values()]

        def item(self, turn):
            said = [turn.text, *(call.arguments for call in turn.calls)]
            text = " ".join(part for part in said if part)
            return Item(id=turn.id, turn=turn.id, kind=CarrierKind.RAW, text=text or None, data=turn.data)

        def close(self):
            self.turns = {}

    if __name__ == "__main__":
        serve(Adapter)

An operation is offered by defining its method, plain or `async def`; the optional ones are in `OPERATIONS`. Every
model call of the compactor goes to the `summarise` that `open` is handed. An adapter translates and never repairs.

Where sessions lie in files below `tempfile.gettempdir()`, define `reopen` and `resume(settings, summarise)`, which
goes on with the one that is there: the suite then kills the program, and starts another on what it left behind.
"""

# ruff: noqa: UP042 - StrEnum came with Python 3.11, and this file has to run on 3.10

import asyncio
import base64
import contextvars
import dataclasses
import inspect
import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

PROTOCOL = 1

REQUIRED = ("open", "append", "compact", "live", "close")
"""Operations that every adapter has, besides `describe`."""

OPTIONAL = (
    "pointers",
    "get",
    "search",
    "reconstitute",
    "manifest",
    "tombstones",
    "tombstone",
    "supersede",
    "evict",
    "expire",
    "reopen",
    "resume",
    "crash",
    "corrupt",
    "switch",
    "status",
    "degraded_since",
    "clear",
    "rewind",
    "fork",
    "forget",
    "files",
    "hold_copies",
    "settle",
    "ratios",
    "clock",
    "lose_power",
    "fail_store",
    "audits",
    "override",
    "begin",
    "advance",
)
OPERATIONS = REQUIRED + OPTIONAL

# Error codes (PROTOCOL.md, "Errors").
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_OPERATION = -32601
INVALID_PARAMS = -32602
DEFINITE = -32001
INDEFINITE = -32002
SUMMARISER_FAILED = -32003
ADAPTER_ERROR = -32004


class OperationError(Exception):
    """An operation did not succeed. Definite: it did not happen. Indefinite: it may have.

    Any other exception that leaves an operation is reported as indefinite.
    """

    def __init__(self, message: str, *, definite: bool = True) -> None:
        super().__init__(message)
        self.definite = definite


class SummariserError(RuntimeError):
    """The model call failed. Let it out where the compactor's model client would raise its own error."""


class AdapterError(Exception):
    """The adapter, not the compactor, is at fault: the suite stops with this message and gives no verdict."""


class Mechanism(str, Enum):
    """What a compactor may have (see `Description`)."""

    SUMMARISER = "summariser"
    POINTERS = "pointers"
    RETRIEVAL = "retrieval"
    QUESTIONS = "questions"
    MANIFESTS = "manifests"
    TOMBSTONES = "tombstones"
    SUPERSEDERS = "superseders"
    EVICTION = "eviction"
    KEY_RECYCLING = "key-recycling"
    PERSISTENCE = "persistence"
    CRASHES = "crashes"
    STORE_FAULTS = "store-faults"
    STATUS = "status"
    DEGRADED_SINCE = "degraded-since"
    EXPIRY = "expiry"
    SESSIONS = "sessions"
    CLEARING = "clearing"
    REWINDING = "rewinding"
    FORKS = "forks"
    ERASURE = "erasure"
    BACKGROUND_COPY = "background-copy"
    CLOCKS = "clocks"
    POWER_LOSS = "power-loss"
    STORE_ERRORS = "store-errors"
    AUDITS = "audits"
    OVERRIDES = "overrides"
    WORKERS = "workers"
    CONCURRENCY = "concurrency"
    """While `compact` waits for its model, other operations may be called, on other threads. To be declared."""


class Unit(str, Enum):
    """What a window's size is counted in."""

    TOKENS = "tokens"
    """Four characters of text are a token, rounded up."""
    ITEMS = "items"


class CarrierKind(str, Enum):
    """What an item of the live window is."""

    RAW = "raw"
    """A turn exactly as it entered."""
    SUMMARY = "summary"
    """Stands for turns that it replaced."""
    OTHER = "other"
    """Neither: instructions, notices, scaffolding."""


class OutcomeKind(str, Enum):
    """How an operation ended."""

    COMMITTED = "committed"
    NOTHING = "nothing-to-do"
    REFUSED = "refused"
    FAILED = "failed"


class AnswerKind(str, Enum):
    """What a question was answered with. A text that says "not found" is not `found`."""

    FOUND = "found"
    PARTIAL = "partial"
    PENDING = "pending"
    TOMBSTONED = "tombstoned"
    EXPIRED = "expired"
    FOREIGN = "foreign"
    INSUFFICIENT = "insufficient"
    DEGRADED = "degraded"
    UNANCHORED = "unanchored"
    ABSENT = "absent"


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A call that a turn issues; `arguments` exactly as the model wrote them."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One message, tool call or tool result. Content that is not valid Unicode is in `data` and `text` is none."""

    id: str
    speaker: str
    """`user`, `assistant`, `system` or `tool`."""
    text: str | None = None
    data: bytes | None = None
    time: float | None = None
    """Seconds since the epoch."""
    calls: tuple[ToolCall, ...] = ()
    result_of: str | None = None
    """Id of the call that this answers."""
    status: str | None = None
    protected: bool = False
    declared: str | None = None
    """The class that its author declares: `narrative`, `structured`, `side-effecting`."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a session is opened with; `open` returns what could be taken (see `dataclasses.replace`)."""

    session: str = "s"
    user: str | None = "u"
    """None in what `open` returns: the compactor knows no users."""
    branch: str = "main"
    budget: int | None = None
    watermark: float | None = None
    unit: Unit = Unit.TOKENS
    horizon: float | None = None
    lifetime: float | None = None
    keep: int | None = None


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The text of each message of one model request, in order, instructions included."""

    messages: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the model answered; `finish` is `stop`, or how else it ended (`length`, `refusal`, …)."""

    text: str
    finish: str = "stop"


@dataclass(frozen=True, kw_only=True)
class Description:
    """Who the compactor is. The operations are filled in by `serve`."""

    name: str
    version: str
    mechanisms: frozenset[Mechanism] = frozenset()
    """Mechanisms beyond those that the offered operations show."""
    hidden: Mapping[Mechanism, str] = field(default_factory=dict)
    """Mechanisms that exist and cannot be seen or driven, each with the reason."""
    crash_points: tuple[str, ...] = ()
    irreversible: str | None = None
    """Where it declares that originals cannot be had back: its own words."""
    operations: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Item:
    """A carrier in the live window, as the model sees it."""

    id: str
    kind: CarrierKind
    text: str | None = None
    data: bytes | None = None
    turn: str | None = None
    """Id of the turn, where this is a raw one and the compactor keeps the id."""
    speaker: str | None = None
    covers: tuple[str, ...] | None = None
    """Ids of the turns that a summary declares to stand for."""
    generation: int | None = None
    pending: bool = False


@dataclass(frozen=True, kw_only=True)
class Pointer:
    """An opaque token from a summary to an original."""

    summary: str
    token: str
    covers: tuple[str, ...] | None = None
    key: str | None = None
    epoch: int | None = None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Answer of `get`, `search` and `reconstitute`."""

    kind: AnswerKind
    text: str | None = None
    data: bytes | None = None
    value: str | None = None
    carrier: str | None = None
    source: str | None = None
    evidence: bool | None = None
    continuation: str | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One entry of a manifest."""

    literal: str
    source: str | None = None
    kind: str = "slot"
    subject: str | None = None
    attribute: str | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How `compact`, `evict` or `tombstone` ended."""

    kind: OutcomeKind
    reason: str | None = None
    summary: str | None = None
    covered: tuple[str, ...] | None = None
    facts: tuple[str, ...] = ()
    pending: bool = False


@dataclass(frozen=True, kw_only=True)
class Tombstone:
    """The record that one assertion was dropped on purpose."""

    literal: str
    source: str | None
    decided_by: str
    reason: str
    time: float | None = None
    subject: str | None = None
    attribute: str | None = None
    superseder: str | None = None


@dataclass(frozen=True, kw_only=True)
class Ratios:
    """Counts of summaries: ever committed, and of these pending and unresolvable."""

    committed: int
    pending: int
    unresolvable: int


@dataclass(frozen=True, kw_only=True)
class Audit:
    """One fetch of an evicted turn's fact: after how many compactions, of which turn, and whether it came back."""

    compaction: int
    turn: str | None = None
    passed: bool


@dataclass(frozen=True, kw_only=True)
class Advance:
    """Answer of `advance`: done, with the result; or the access to a store before which the worker stands."""

    done: bool
    at: str | None = None
    outcome: Outcome | None = None
    answer: Answer | None = None


# -- values to JSON and back ------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """The JSON form of a value of the protocol. Bytes become base64; what is none, as it is by default, is left out.

    Raises AdapterError for anything that the protocol has no form for.
    """
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        text = members.get("text")
        if isinstance(text, str) and members.get("data", b"") is None and not is_unicode(text):
            members["text"], members["data"] = None, text.encode("utf-8", "surrogatepass")
        # None is the same as left out where it is the default, and nowhere else.
        optional = {f.name for f in dataclasses.fields(value) if f.default is None}
        told = {name: member for name, member in members.items() if member is not None or name not in optional}
        return {name: plain(member) for name, member in told.items()}
    if isinstance(value, Mapping):
        return {plain(key): plain(member) for key, member in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(member) for member in value)
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    raise AdapterError(f"the protocol has no form for a {type(value).__qualname__}")


def is_unicode(text: str) -> bool:
    """Whether text can be written as UTF-8: it has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def turn_from(wire: Mapping[str, Any]) -> Turn:
    """The turn in the params of `append`."""
    members = _known(Turn, wire)
    if members.get("data") is not None:
        members["data"] = base64.b64decode(members["data"], validate=True)
    members["calls"] = tuple(ToolCall(**_known(ToolCall, call)) for call in members.get("calls") or ())
    return Turn(**members)


def settings_from(wire: Mapping[str, Any]) -> Settings:
    """The settings in the params of `open`."""
    members = _known(Settings, wire)
    if "unit" in members:
        members["unit"] = Unit(members["unit"])
    return Settings(**members)


def _known(cls: Any, wire: Mapping[str, Any]) -> dict[str, Any]:
    # A later suite may send fields that this file has not heard of; they are ignored, as PROTOCOL.md asks.
    names = {f.name for f in dataclasses.fields(cls)}
    return {name: member for name, member in wire.items() if name in names}


# -- the stream -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Channel:
    """The two ends of the protocol stream, as file descriptors."""

    reader: int
    writer: int

    def lines(self) -> Iterator[bytes]:
        """Each line, until the other side closes the stream."""
        rest = b""
        # Not a buffered reader: one that a daemon thread still waits in is fatal when the interpreter ends.
        while chunk := os.read(self.reader, 65536):
            *lines, last = chunk.split(b"\n")
            if lines:
                yield rest + lines[0]
                yield from lines[1:]
                rest = last
            else:
                rest += last
        if rest:
            yield rest

    def write(self, line: bytes) -> None:
        """Write one line whole."""
        view = memoryview(line + b"\n")
        while view:
            view = view[os.write(self.writer, view) :]


def guard() -> Channel:
    """Take the protocol stream away from everybody else.

    From here on what a library prints goes to standard error, and one that reads standard input finds it empty.
    Call it before importing a library that prints when imported, and hand the result to `serve`.
    """
    sys.stdout.flush()
    channel = Channel(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return channel


class Summarise:
    """The suite's model. May be called from any thread, while the suite waits for an operation."""

    def __init__(self, request: Callable[[str, Mapping[str, Any]], Any]) -> None:
        self._request = request

    def __call__(self, shown: Shown) -> Reply:
        """Ask, and wait for the reply. Raises SummariserError where the scripted model fails."""
        # What a model is shown is text; a lone surrogate cannot be sent to one and is replaced as clients do.
        messages = [text.encode("utf-8", "replace").decode() for text in shown.messages]
        return Reply(**_known(Reply, self._request("summarise", {"messages": messages})))

    async def ask(self, shown: Shown) -> Reply:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self, shown)


class _RequestError(Exception):
    """A request that is answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


_REQUEST: contextvars.ContextVar[Any] = contextvars.ContextVar("anchorhold_request", default=None)
"""Id of the request that is being carried out here: tasks and `asyncio.to_thread` inherit it."""


class Server:
    """Serves one adapter: operations on the calling thread, the stream on a thread of its own.

    All operations run on one thread and, where they are `async def`, on one event loop, because compactors hold
    things (SQLite connections, clients) that belong to a thread or a loop. Where the description declares
    `Mechanism.CONCURRENCY`, what is asked while an operation runs is carried out on a thread of its own, and the
    event loop has one as well.
    """

    def __init__(self, adapter: Any, channel: Channel) -> None:
        self._make = adapter if isinstance(adapter, type) else None
        self._adapter: Any = None if self._make else adapter
        self._channel = channel
        self._writing = threading.Lock()
        self._inbox: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._waiting: dict[str, queue.SimpleQueue[dict[str, Any] | None]] = {}
        self._ended = threading.Event()
        self._finished = threading.Event()
        self._running: set[Any] = set()
        self._concurrent = False
        self._asked = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._looping: threading.Thread | None = None

    def run(self) -> None:
        """Answer until `shutdown`, or until the suite closes the stream."""
        threading.Thread(target=self._read, name="anchorhold-stream", daemon=True).start()
        try:
            for message in self._requests():
                self._answer(message)
                if message["method"] == "shutdown":
                    break
        finally:
            self._end_loop()
            self._finished.set()

    # -- reading

    def _read(self) -> None:
        for line in self._channel.lines():
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except (ValueError, RecursionError) as error:
                self._send_error(None, PARSE_ERROR, f"not JSON: {error}")
                continue
            if not isinstance(message, dict):
                self._send_error(None, INVALID_REQUEST, "a message is a JSON object, one a line")
            elif not ("method" in message or "result" in message or "error" in message):
                self._send_error(message.get("id"), INVALID_REQUEST, "a request has a `method`")
            elif "method" in message and self._concurrent and self._running:
                threading.Thread(target=self._answer, args=(message,), name="anchorhold-beside", daemon=True).start()
            elif "method" in message:
                self._inbox.put(message)
            elif (waiting := self._waiting.get(str(message.get("id")))) is not None:
                waiting.put(message)
        self._ended.set()
        for waiting in list(self._waiting.values()):
            waiting.put(None)
        self._inbox.put(None)
        # An operation that never returns must not outlive the suite.
        if not self._finished.wait(10):
            os._exit(1)

    def _requests(self) -> Iterator[dict[str, Any]]:
        while (message := self._inbox.get()) is not None:
            yield message

    # -- answering

    def _answer(self, message: Mapping[str, Any]) -> None:
        request = message.get("id")
        params = message.get("params") or {}
        try:
            if not isinstance(params, dict):
                raise _RequestError(INVALID_PARAMS, "params are given by name")
            result = plain(self._call(message["method"], params, request))
            text = json.dumps({"jsonrpc": "2.0", "id": request, "result": result}, allow_nan=False)
        except _RequestError as error:
            self._send_error(request, error.code, str(error))
        except AdapterError as error:
            traceback.print_exc()
            self._send_error(request, ADAPTER_ERROR, str(error))
        except OperationError as error:
            self._send_error(request, DEFINITE if error.definite else INDEFINITE, str(error))
        except BaseException as error:  # noqa: BLE001 - whatever leaves the compactor (a cancellation, an exit) is told
            traceback.print_exc()
            self._send_error(request, INDEFINITE, f"{type(error).__name__}: {error}")
        else:
            self._send(text)

    def _call(self, method: str, params: Mapping[str, Any], request: Any) -> Any:
        if method == "initialize":
            return self._initialize(params)
        if method == "shutdown":
            return None
        if method not in OPERATIONS or (self._adapter is None and method not in ("open", "resume")):
            raise _RequestError(
                UNKNOWN_OPERATION, f"no operation {method!r}" if method not in OPERATIONS else "not open"
            )
        if method in ("open", "resume") and self._adapter is None and self._make is not None:
            self._adapter = self._make()
        operation = getattr(self._adapter, method, None)
        if not callable(operation):
            raise _RequestError(UNKNOWN_OPERATION, f"this compactor has no {method!r}")
        try:
            arguments = self._arguments(method, params)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _RequestError(INVALID_PARAMS, f"params of {method!r}: {type(error).__name__}: {error}") from error
        try:
            inspect.signature(operation).bind(*arguments)
        except TypeError as error:
            raise AdapterError(f"{method!r} cannot be called as the protocol asks: {error}") from error
        self._running.add(request)
        before = _REQUEST.set(request)
        try:
            return self._finish(operation(*arguments))
        finally:
            _REQUEST.reset(before)
            self._running.discard(request)
            if method == "close" and self._make is not None:
                self._adapter = None

    def _arguments(self, method: str, params: Mapping[str, Any]) -> tuple[Any, ...]:
        if method in ("open", "resume"):
            return settings_from(params["settings"]), Summarise(self._request)
        if method == "append":
            return (turn_from(params["turn"]),)
        if method == "switch" and params.get("branch", "main") != "main":
            return (params["session"], params["user"], params["branch"])
        return tuple(params[name] for name in PARAMETERS.get(method, ()))

    def _initialize(self, params: Mapping[str, Any]) -> Any:
        if params.get("protocol") != PROTOCOL:
            raise _RequestError(INVALID_PARAMS, f"this adapter speaks protocol {PROTOCOL} only")
        if self._adapter is None and self._make is not None:
            self._adapter = self._make()
        description = self._finish(self._adapter.describe())
        offered = frozenset(name for name in OPERATIONS if callable(getattr(self._adapter, name, None)))
        missing = [name for name in REQUIRED if name not in offered]
        if missing:
            raise AdapterError(f"{type(self._adapter).__name__} does not define {', '.join(missing)}")
        self._concurrent = Mechanism.CONCURRENCY in description.mechanisms
        return {"protocol": PROTOCOL, "description": dataclasses.replace(description, operations=offered)}

    def _finish(self, result: Any) -> Any:
        if not inspect.isawaitable(result):
            return result
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        if self._concurrent and self._looping is None:
            self._looping = threading.Thread(target=self._loop.run_forever, name="anchorhold-loop", daemon=True)
            self._looping.start()

        async def wait() -> Any:
            return await result

        if self._looping is not None:
            return asyncio.run_coroutine_threadsafe(wait(), self._loop).result()
        return self._loop.run_until_complete(wait())

    def _end_loop(self) -> None:
        if self._loop is not None:
            if self._looping is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._looping.join()
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    # -- asking

    def _request(self, method: str, params: Mapping[str, Any]) -> Any:
        if not self._running:
            raise SummariserError("the suite is not waiting for an operation, so nothing may be asked of it")
        if self._concurrent and isinstance(_REQUEST.get(), int):
            params = {**params, "request": _REQUEST.get()}
        reply: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        with self._writing:
            self._asked += 1
            identity = f"a{self._asked}"
        self._waiting[identity] = reply
        try:
            self._send(json.dumps({"jsonrpc": "2.0", "id": identity, "method": method, "params": params}))
            message = None if self._ended.is_set() else reply.get()
        finally:
            del self._waiting[identity]
        if message is None:
            raise SummariserError("the suite went away")
        if "error" in message:
            raise SummariserError(str(message["error"].get("message", "the model call failed")))
        return message["result"]

    # -- writing

    def _send_error(self, request: Any, code: int, message: str) -> None:
        text = message.encode("utf-8", "backslashreplace").decode()
        self._send(json.dumps({"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": text}}))

    def _send(self, text: str) -> None:
        with self._writing:
            try:
                self._channel.write(text.encode("ascii"))
            except BrokenPipeError:
                # The suite went away: the end of the input says so too.
                self._ended.set()


PARAMETERS = {
    "get": ("token",),
    "search": ("literal",),
    "reconstitute": ("subject", "attribute", "evidence"),
    "manifest": ("carrier",),
    "tombstone": ("literal", "source", "reason"),
    "supersede": ("literal", "source", "superseder", "reason"),
    "evict": ("token",),
    "expire": ("seconds",),
    "crash": ("point",),
    "corrupt": ("token",),
    "switch": ("session", "user"),
    "rewind": ("turn",),
    "fork": ("branch",),
    "forget": ("turn",),
    "hold_copies": ("held",),
    "clock": ("shift",),
    "fail_store": ("point", "fault"),
    "override": ("reason",),
    "begin": ("worker", "op", "arguments"),
    "advance": ("worker",),
}
"""Parameters of the operations, in the order in which methods are given them. Those of `open`, `resume` and `append`
are built above."""


def serve(adapter: Any, *, channel: Channel | None = None) -> None:
    """Serve an adapter on standard input and output, until the suite ends the session.

    `adapter` is a class, of which each `open` gets a fresh instance, or an object, which then has to start afresh
    at each `open` itself. `channel` is what an earlier `guard` returned.
    """
    Server(adapter, channel if channel is not None else guard()).run()
