"""The adapter under the smoke test: started anew as often as it takes, and what was found about it."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec import UNSET

from anchorhold.compactor import Description, OperationError, Reply, Settings, Shown, SummariserError
from anchorhold.errors import AdapterError, Fault, one_line
from anchorhold.load import Launch
from anchorhold.smoke.finding import Finding, Note
from anchorhold.summariser import ScriptedSummariser
from anchorhold.wire.connection import Connection
from anchorhold.wire.messages import (
    REQUIRED,
    AppendParams,
    Message,
    MessageError,
    OpenParams,
    Params,
    ResumeParams,
    read_message,
    write_reply,
)
from anchorhold.wire.process import Files, Limits, Program
from anchorhold_spec.vocabulary import Fact, ToolCall, Turn

OPENING: Final = frozenset({"open", "reopen", "resume"})
"""Operations without which there is no session that anything could be asked of."""
DECLINING: Final = frozenset({"evict", "tombstone", "supersede", "forget"})
"""Operations against which a compactor may decide: where its API raises then, they end with a definite error."""
PATIENCE: Final = 2
"""Hangs that a probe waits for; after that many it ends."""
SETTINGS: Final = Settings(budget=400, watermark=0.7)


class ProbeEnded(Exception):  # noqa: N818 - no error: the probe has found what it could
    """The adapter cannot be brought to where the probe could go on."""


@dataclass(slots=True)
class Tries:
    """How one operation fared, where nothing stood against it."""

    worked: int = 0
    failed: int = 0
    declined: int = 0
    """Of the failed ones: where it may have been the compactor's decision."""
    first: str = ""
    """How it failed first."""
    notes: list[Note] = field(default_factory=list)


@dataclass(slots=True)
class Adapter:
    """The adapter, how it is started, and what was found so far."""

    name: str
    launch: Launch
    limits: Limits
    version: str
    probe: str = ""
    findings: list[Finding] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    tries: dict[str, Tries] = field(default_factory=dict)
    committed: bool = False
    """Whether any compaction was."""
    uncommitted: str = ""
    """How the first ended that was not, in words."""
    description: Description | None = None
    hangs: int = 0
    """In the present probe."""

    # -- what is found

    def found(self, where: str, message: str, *, hint: str, fault: Fault = Fault.PROTOCOL) -> None:
        """Add a finding, unless the same was found before."""
        finding = Finding(probe=self.probe, where=where, fault=fault, message=one_line(message), hint=one_line(hint))
        if not any((f.where, f.fault, f.message) == (where, fault, finding.message) for f in self.findings):
            self.findings.append(finding)

    def failed(self, where: str, error: AdapterError) -> None:
        """Add what an `AdapterError` says. Raises ProbeEnded where it hung too often."""
        cause = f": {error.cause}" if error.cause else ""
        self.found(where, f"{error.message}{cause}", hint=error.hint or "see its standard error", fault=error.code)
        if error.code is Fault.HANG:
            self.hangs += 1
            if self.hangs >= PATIENCE:
                raise ProbeEnded

    def note(self, where: str, message: str) -> Note:
        """Add something that is no finding."""
        note = Note(probe=self.probe, where=where, message=one_line(message))
        if note not in self.notes:
            self.notes.append(note)
        return note

    def never_worked(self) -> dict[str, Tries]:
        """The operations that were offered, and failed at every try."""
        return {
            method: tries
            for method, tries in self.tries.items()
            if tries.failed and not tries.worked and tries.declined < tries.failed
        }

    def sum_up(self) -> None:
        """Tell first which operations never worked, and of each no more than that."""
        told = []
        for method, tries in self.never_worked().items():
            times = "its one try" if tries.failed == 1 else f"each of its {tries.failed} tries"
            leave = "" if method in REQUIRED else ", or leave it out of `operations`"
            if method in DECLINING | {"compact"}:
                leave += "; that the compactor decides against it, or has nothing to do, is an outcome and no error"
            told.append(
                Finding(
                    probe="operations",
                    where=method,
                    fault=Fault.NEVER_WORKS,
                    message=one_line(f"is offered, and ended with an error at {times}; the first: {tries.first}"),
                    hint=f"offer what works: see its standard error{leave}",
                )
            )
        folded = [note for tries in self.never_worked().values() for note in tries.notes]
        self.findings[:0] = told
        self.notes[:] = [note for note in self.notes if note not in folded]

    # -- starting it

    def connect(self, files: Files | None = None) -> Connection:
        """A started and initialised program, on the files of another where they are given. Raises AdapterError."""
        self.asked.add("initialize")
        return Connection(
            self.launch.command,
            name=self.name,
            version=self.version,
            limits=self.limits,
            environment=self.launch.environment,
            files=files,
        )

    def talk(self) -> "Talk":
        """A started program that was said nothing to yet. Raises AdapterError."""
        program = Program(
            self.launch.command, name=self.name, limits=self.limits, environment=self.launch.environment
        )
        return Talk(program, limits=self.limits, version=self.version)


@dataclass(slots=True)
class Model:
    """The suite's model for a smoke test: faithful, or as it is told."""

    summariser: ScriptedSummariser = field(default_factory=ScriptedSummariser)
    asked: int = 0
    reply: Reply | None = None
    """Say this instead."""
    fails: bool = False

    def __call__(self, shown: Shown) -> Reply:
        """Raises SummariserError where it is to fail."""
        self.asked += 1
        if self.fails:
            raise SummariserError("the model is overloaded (scripted)")
        return self.summariser(shown) if self.reply is None else self.reply


class Session:
    """An open session of a connection, which is brought back to the same state after a finding."""

    def __init__(self, adapter: Adapter, *, turns: int = 30, settings: Settings = SETTINGS) -> None:
        """Raises ProbeEnded where it cannot be opened."""
        self.adapter = adapter
        self.model = Model()
        self._settings = settings
        self._turns = turns_of(turns)
        self._connection: Connection | None = None
        self._last = "append"
        self._closed = False
        """Whether an operation failed without which no session is open."""
        self._prepare()

    @property
    def offered(self) -> frozenset[str]:
        """The operations that the adapter says it offers."""
        return self._connected.description.operations

    @property
    def _connected(self) -> Connection:
        assert self._connection is not None
        return self._connection

    def _prepare(self) -> None:
        """Start, open, append. What fails here ends the probe, because there would be nothing to go on with."""
        where = "initialize"
        try:
            self._connection = self.adapter.connect()
            self._closed = False
            where = "open"
            self._plain("open", OpenParams(settings=self._settings))
            if self._closed:
                self.kill()
                raise ProbeEnded
            where = "append"
            for turn, facts in self._turns:
                self.model.summariser.learn(turn.text, facts, speaker=turn.speaker)
                self._plain("append", AppendParams(turn=turn))
        except AdapterError as error:
            self.adapter.failed(where, error)
            raise ProbeEnded from None

    def _plain(
        self, method: str, params: Params | None = None, *, noted: bool = True, counted: bool = True
    ) -> object:
        """Make a request; an operation that did not succeed is the compactor's matter, and noted."""
        self.adapter.asked.add(method)
        try:
            result = self._connected.call(method, params, summarise=self.model)
        except OperationError as error:
            if noted:
                self._failed(method, error, counted=counted)
            self._closed |= method in OPENING
            return None
        self.adapter.tries.setdefault(method, Tries()).worked += 1
        return result

    def _failed(self, method: str, error: OperationError, *, counted: bool) -> None:
        """Note an operation that did not succeed."""
        how = "did not happen" if error.definite else "may or may not have happened"
        note = self.adapter.note(method, f"the compactor's operation {how}: {error}")
        tries = self.adapter.tries.setdefault(method, Tries())
        tries.notes.append(note)
        if not counted:
            return
        tries.failed += 1
        tries.declined += error.definite and method in DECLINING
        tries.first = tries.first or str(error)

    def attempt(self, method: str, params: Params | None = None, *, noted: bool = True, counted: bool = True) -> Any:
        """Make a request where the adapter offers it. None where there is no result, for whatever reason.

        Not `noted`: that the operation does not succeed is what it was made to do. Not `counted`: it may well not
        succeed, and says nothing of whether it works.
        """
        if method not in self.offered:
            return None
        before, self._last = self._last, method
        try:
            result = self._plain(method, params, noted=noted, counted=counted)
            if self._closed:
                self.kill()
                # What is asked next would fail for want of a session, whatever it is.
                self._prepare()
            return result
        except AdapterError as error:
            # A line that was there before anything was asked belongs to what was asked before.
            stray = f"before `{method}` was asked" in error.message
            self.adapter.failed(f"after {before}" if stray else method, error)
            self._prepare()
            return None

    def restart(self) -> bool:
        """Kill the program, and have another one go on in its place; whether it does."""
        killed = self._connected
        killed.keep_files(True)
        killed.kill()
        try:
            self._connection = self.adapter.connect(files=killed.files)
            self._plain("resume", ResumeParams(settings=self._settings))
        except AdapterError as error:
            self.adapter.failed("resume", error)
            return False
        return not self._closed

    def close(self) -> None:
        """Close the session and end the program in good order."""
        try:
            self._plain("close")
            self.adapter.asked.add("shutdown")
            self._connected.shutdown()
        except AdapterError as error:
            self.adapter.failed("close", error)

    def kill(self) -> None:
        """Be rid of the program."""
        if self._connection is not None:
            self._connection.kill()


class Talk:
    """A program line by line, where what is said need not be a message."""

    def __init__(self, program: Program, *, limits: Limits, version: str) -> None:
        self._program = program
        self._limits = limits
        self._version = version
        self._asked = 0

    def deadline(self, seconds: float | None = None) -> float:
        """By `time.monotonic`."""
        return time.monotonic() + (self._limits.call if seconds is None else seconds)

    def next_id(self) -> int:
        """The id of the next request."""
        self._asked += 1
        return self._asked

    def initialize(self, *, protocol: int = 1) -> Message:
        """The first request. Raises AdapterError."""
        suite = {"name": "anchorhold", "version": self._version}
        params = {"protocol": protocol, "suite": suite}
        return self.request("initialize", params, seconds=self._limits.start)

    def request(
        self, method: str, params: Mapping[str, Any], *, ascii_only: bool = False, seconds: float | None = None
    ) -> Message:
        """Make a request, answer what it asks of the model meanwhile, and read its answer. Raises AdapterError."""
        identity = self.next_id()
        message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
        line = json.dumps(message, ensure_ascii=ascii_only).encode()
        return self.exchange(line, identity=identity, where=method, seconds=seconds)

    def exchange(self, line: bytes, *, identity: int | None, where: str, seconds: float | None = None) -> Message:
        """Send a line and read the answer with this id, or, where there is none, an error without one."""
        self.send(line, where=where)
        while True:
            message = self.receive(where=where, seconds=seconds)
            if message.method is not UNSET:
                if message.method != "summarise" or not isinstance(message.id, int | str):
                    raise self.error(Fault.UNASKED, f"asked for {str(message.method)!r} while {where} ran")
                self.send(write_reply(message.id, Reply(text="Notes on the work so far.")), where=where)
                continue
            if message.id != identity and not (message.id in (None, UNSET) and message.error is not UNSET):
                shown = "no id" if message.id in (None, UNSET) else f"id {message.id!r}"
                raise self.error(Fault.WRONG_ID, f"answered {where} with {shown} in place of {identity}")
            return message

    def send(self, line: bytes, *, where: str) -> None:
        """Send a line."""
        self._program.send(line, deadline=self.deadline(), doing=f"while {where} was sent")

    def write(self, data: bytes, *, where: str) -> None:
        """Send bytes that are no whole line."""
        self._program.write(data, deadline=self.deadline(), doing=f"while {where} was sent")

    def receive(self, *, where: str, seconds: float | None = None) -> Message:
        """The next message. Raises AdapterError."""
        line = self._program.receive(deadline=self.deadline(seconds), doing=f"after {where} was sent")
        try:
            message = read_message(line)
            if sum(part is not UNSET for part in (message.method, message.result, message.error)) != 1:
                raise MessageError("a message has one of `method`, `result` and `error`")
        except MessageError as error:
            begins = line[:80].decode("utf-8", "replace")
            raise self.error(
                Fault.NOISE, f"wrote a line that is no message after {where}", f"{error}; it begins {begins!r}"
            ) from None
        return message

    def ends(self, *, seconds: float) -> bool:
        """Close its input; whether it ends within so many seconds, with nothing more to say. Raises AdapterError."""
        try:
            return self._program.ends(seconds=seconds)
        finally:
            self.kill()

    def error(self, fault: Fault, what: str, cause: str = "") -> AdapterError:
        """A fault of the adapter."""
        hint = "PROTOCOL.md, Framing, says what goes over its standard output"
        return AdapterError(f"adapter {self._program.name!r} {what}", code=fault, cause=cause, hint=hint)

    def kill(self) -> None:
        """Be rid of the program."""
        self._program.kill()


def turns_of(number: int) -> list[tuple[Turn, tuple[Fact, ...]]]:
    """Turns of every shape that there is, each with the facts that it asserts."""
    made: list[tuple[Turn, tuple[Fact, ...]]] = []
    for n in range(number):
        fact = Fact(text=f"The port of relay-{n} is {8000 + n}.", literal=str(8000 + n), subject=f"relay-{n}")
        turn = Turn(id=f"t{n}", speaker=("user", "assistant")[n % 2], text=fact.text, time=1_767_225_600.0 + n)
        facts: tuple[Fact, ...] = (fact,)
        match n:
            case 3:
                call = ToolCall(id="c1", name="read_file", arguments='{"path": "/etc/app"}')
                turn, facts = Turn(id="t3", speaker="assistant", text="I look.", calls=(call,)), ()
            case 4:
                turn = Turn(id="t4", speaker="tool", text=fact.text, result_of="c1", status="consumed")
            case 5:
                turn, facts = Turn(id="t5", speaker="assistant", text="Read — ünïcode, 漢字, \u2028 and \u0085."), ()
        made.append((turn, facts))
    return made
