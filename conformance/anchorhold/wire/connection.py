"""One session of the wire protocol with one program: requests, answers, and `summarise` in between.

After any `AdapterError` the program is killed: what it says later could belong to anything.

Calls may be made from several threads at once, to a program that declares `concurrency`. Of the threads that wait one
reads for all: each message is given to the thread whose request it belongs to, which also serves the summaries that
are asked for in the course of its request.
"""

import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import UNSET

from anchorhold.compactor import Description, OperationError, Shown, Summarise, SummariserError
from anchorhold.errors import AdapterError, Fault, one_line
from anchorhold.wire.messages import (
    ADAPTER_ERROR,
    DEFINITE,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    PROTOCOL,
    REQUIRED,
    SUMMARISER_FAILED,
    UNKNOWN_OPERATION,
    ErrorObject,
    InitializeParams,
    Message,
    MessageError,
    NoParams,
    Params,
    SuiteInfo,
    read_message,
    read_result,
    read_shown,
    write_error,
    write_reply,
    write_request,
)
from anchorhold.wire.process import Files, Limits, Program

SCHEMA = "wire.schema.json (`anchorhold spec export schemas` writes it) has the form"
"""Where the form of a message stands, for whoever has this package alone."""
_SEE_SCHEMA = f"{SCHEMA}; fields that it does not name are not taken"
_IS_NO_MESSAGE = "standard output is for the protocol alone, one JSON-RPC message a line; logs go to standard error"


@dataclass(slots=True)
class _Outstanding:
    """A request that was made and not answered yet."""

    identity: int
    method: str
    inbox: deque[Message | BaseException] = field(default_factory=deque)

    @property
    def doing(self) -> str:
        """For errors."""
        return f"while `{self.method}` ran"


class Connection:
    """A started and initialised adapter program.

    Raises AdapterError from its constructor and from every call, OperationError where the adapter reports that an
    operation did not succeed.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str,
        version: str,
        limits: Limits,
        environment: Mapping[str, str] | None = None,
        files: Files | None = None,
    ) -> None:
        self.name = name
        self._limits = limits
        self._asked = 0
        self._outstanding: dict[int, _Outstanding] = {}
        self._turn = threading.Condition()
        self._reading = False
        self._program = Program(command, name=name, limits=limits, environment=environment, files=files)
        self.usable = True
        """False once it failed or was closed."""
        params = InitializeParams(protocol=PROTOCOL, suite=SuiteInfo(name="anchorhold", version=version))
        try:
            described = self.call("initialize", params, seconds=limits.start)
        except OperationError as error:
            self.kill()
            raise AdapterError(
                f"adapter {name!r} refused `initialize`",
                code=Fault.PROTOCOL,
                cause=str(error),
                hint="it must answer with who the compactor is (PROTOCOL.md, initialize)",
                stderr=self.stderr,
            ) from None
        assert isinstance(described, Description)
        self.description = described
        missing = [operation for operation in REQUIRED if operation not in self.description.operations]
        if missing:
            self.kill()
            raise AdapterError(
                f"adapter {name!r} does not offer {', '.join(missing)}",
                code=Fault.PROTOCOL,
                hint=f"{', '.join(REQUIRED)} are required; name them in description.operations",
                stderr=self.stderr,
            )

    @property
    def stderr(self) -> str:
        """What the program wrote to standard error, as far as it is kept."""
        return self._program.stderr

    def call(
        self,
        method: str,
        params: Params | None = None,
        *,
        summarise: Summarise | None = None,
        seconds: float | None = None,
    ) -> object:
        """Make one request and wait for its answer, serving `summarise` meanwhile."""
        if not self.usable:
            raise AdapterError(
                f"adapter {self.name!r} is gone, and `{method}` was asked of it",
                code=Fault.DIED,
                hint="an earlier error says why",
                stderr=self.stderr,
            )
        try:
            return self._call(method, NoParams() if params is None else params, summarise, seconds)
        except OperationError:
            raise
        except BaseException:
            # Also for an interrupt: the answer would come later, to another question.
            self.kill()
            raise

    def _call(self, method: str, params: Params, summarise: Summarise | None, seconds: float | None) -> object:
        deadline = time.monotonic() + (self._limits.call if seconds is None else seconds)
        own = self._ask(method, params, deadline)
        try:
            while True:
                message = self._next(own, deadline)
                if message.method is UNSET:
                    break
                # The suite's own time is not the adapter's.
                before = time.monotonic()
                answer = self._summary(message, summarise, own.doing)
                deadline += time.monotonic() - before
                with self._turn:
                    self._program.send(answer, deadline=deadline, doing=own.doing)
        finally:
            with self._turn:
                del self._outstanding[own.identity]
        result = self._result(own, message)
        if not self._outstanding and self._program.buffered:
            raise self._stray(self._program.receive(deadline=0, doing=own.doing), f"after `{method}` was answered")
        return result

    def _ask(self, method: str, params: Params, deadline: float) -> _Outstanding:
        """Send the request."""
        with self._turn:
            if not self._outstanding and self._program.waiting(doing=f"before `{method}`"):
                line = self._program.receive(deadline=0, doing=f"while `{method}` ran")
                raise self._stray(line, f"before `{method}` was asked")
            self._asked += 1
            own = _Outstanding(identity=self._asked, method=method)
            self._outstanding[own.identity] = own
            self._program.send(write_request(own.identity, method, params), deadline=deadline, doing=own.doing)
        return own

    def _next(self, own: _Outstanding, deadline: float) -> Message:
        """The next message that belongs to a request, read here or by another thread that waits."""
        while True:
            with self._turn:
                self._turn.wait_for(lambda: own.inbox or not self._reading, timeout=deadline - time.monotonic())
                if own.inbox:
                    message = own.inbox.popleft()
                    if isinstance(message, BaseException):
                        raise message
                    return message
                # Another thread that has read so long in vain raises what is to be raised.
                if self._reading:
                    continue
                self._reading = True
            try:
                line = self._program.receive(deadline=deadline, doing=own.doing)
                message = self._read(line, own.doing)
                with self._turn:
                    self._owner(message, own).inbox.append(message)
            except BaseException as error:
                with self._turn:
                    for other in self._outstanding.values():
                        if other is not own:
                            other.inbox.append(error)
                raise
            finally:
                with self._turn:
                    self._reading = False
                    self._turn.notify_all()

    def _owner(self, message: Message, reader: _Outstanding) -> _Outstanding:
        """The request that a message belongs to. Raises AdapterError where there is none."""
        if message.method is UNSET:
            if isinstance(message.id, int) and message.id in self._outstanding:
                return self._outstanding[message.id]
            alone = len(self._outstanding) == 1
            if message.error is not UNSET and message.id is None and alone:
                return reader
            raise self._wrong_id(message, reader)
        asked = self._during(message)
        if asked in self._outstanding:
            return self._outstanding[asked]
        # Said by nobody: of several it is the oldest, which waits for its model while the others are let in.
        return self._outstanding[min(self._outstanding)]

    def _during(self, message: Message) -> int:
        try:
            return read_shown(message.params).request or 0 if message.params is not UNSET else 0
        except MessageError:
            # Told by whoever serves it.
            return 0

    def _read(self, line: bytes, doing: str) -> Message:
        try:
            message = read_message(line)
            filled = sum(member is not UNSET for member in (message.method, message.result, message.error))
            if filled != 1:
                raise MessageError("a message has one of `method`, `result` and `error`")
        except MessageError as error:
            raise self._error(
                Fault.NOISE,
                f"wrote a line that is no message {doing}",
                cause=f"{error}; the line begins {line[:80].decode('utf-8', 'replace')!r}",
                hint=_IS_NO_MESSAGE,
            ) from None
        return message

    def _summary(self, message: Message, summarise: Summarise | None, doing: str) -> bytes:
        identity = message.id
        if message.method != "summarise" or not isinstance(identity, int | str):
            without = "" if isinstance(identity, int | str) else " without an id"
            hint = "`summarise`, with an id, is all that an adapter may ask"
            raise self._error(Fault.UNASKED, f"asked for {str(message.method)!r}{without} {doing}", hint=hint)
        if summarise is None:
            hint = "`summarise` may be asked only while an operation from `open` to `close` runs"
            raise self._error(Fault.UNASKED, f"asked for a summary {doing}", hint=hint)
        try:
            shown = read_shown(b"{}" if message.params is UNSET else message.params)
        except MessageError as error:
            raise self._error(
                Fault.SCHEMA, f"asked for a summary out of schema {doing}", cause=str(error), hint=_SEE_SCHEMA
            ) from None
        try:
            return write_reply(identity, summarise(Shown(messages=shown.messages)))
        except SummariserError as error:
            return write_error(identity, SUMMARISER_FAILED, str(error))

    def _result(self, own: _Outstanding, message: Message) -> object:
        method = own.method
        if message.error is not UNSET:
            raise self._refusal(message.error, method, own.doing)
        # `_read` has seen to it that a message without an error and a method has a result.
        assert message.result is not UNSET
        try:
            return read_result(method, message.result)
        except MessageError as error:
            raise self._error(
                Fault.SCHEMA, f"answered `{method}` out of schema", cause=str(error), hint=_SEE_SCHEMA
            ) from None

    def _refusal(self, error: ErrorObject, method: str, doing: str) -> Exception:
        text = one_line(error.message, limit=2000)
        if error.code == ADAPTER_ERROR:
            hint = "this is the adapter's own word; its standard error may say more"
            return self._error(Fault.ADAPTER, f"says that it is at fault {doing}", cause=text, hint=hint)
        if error.code in (PARSE_ERROR, INVALID_REQUEST, UNKNOWN_OPERATION, INVALID_PARAMS):
            hint = "offer only operations that it has, and read params as PROTOCOL.md gives them"
            return self._error(Fault.PROTOCOL, f"did not take `{method}` (error {error.code})", cause=text, hint=hint)
        # Any other code, also one that PROTOCOL.md does not know: whether it happened is not known (OUT-2).
        return OperationError(text, definite=error.code == DEFINITE)

    def _wrong_id(self, message: Message, reader: _Outstanding | None, when: str | None = None) -> AdapterError:
        doing = when if reader is None else reader.doing
        if isinstance(message.id, int) and 0 < message.id <= self._asked:
            hint = "a request has one answer"
            return self._error(Fault.UNASKED, f"answered request {message.id} again {doing}", hint=hint)
        shown = "without an id" if message.id is UNSET else f"with id {message.id!r}"
        return self._error(
            Fault.WRONG_ID,
            f"wrote an answer {shown} {doing}, which is request {self._asked if reader is None else reader.identity}",
            hint="an answer repeats the id of its request, as the number that it is",
        )

    def _stray(self, line: bytes, when: str) -> AdapterError:
        message = self._read(line, when)
        if message.method is not UNSET:
            what = f"asked for {message.method!r} {when}"
            return self._error(Fault.UNASKED, what, hint="`summarise` may be asked only while an operation runs")
        return self._wrong_id(message, None, when)

    def _error(self, code: Fault, what: str, *, hint: str, cause: str = "") -> AdapterError:
        return AdapterError(f"adapter {self.name!r} {what}", code=code, cause=cause, hint=hint, stderr=self.stderr)

    def shutdown(self) -> None:
        """End the session in good order and be rid of the program. Raises AdapterError where it does not comply."""
        if not self.usable:
            return
        try:
            self.call("shutdown")
            self._program.end_input()
        except OperationError as error:
            raise self._error(
                Fault.PROTOCOL, "refused `shutdown`", cause=str(error), hint="answer it with null, and end"
            ) from None
        finally:
            self.kill()

    def keep_files(self, kept: bool) -> None:
        """Whether its temporary files stay when the program is killed, for another one that is started on them."""
        self._program.keep_files = kept

    @property
    def files(self) -> Files:
        """The directory for its temporary files."""
        return self._program.files

    @property
    def group(self) -> int:
        """Id of the program's process group."""
        return self._program.group

    def kill(self) -> None:
        """Be rid of the program at once."""
        self.usable = False
        self._program.kill()
