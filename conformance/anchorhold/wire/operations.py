"""Every operation as a typed method over one `call`: the compactor that the suite sees, however it is reached."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from anchorhold.compactor import Advance, Audit, Description, Ratios, Settings, StoreFault, Summarise
from anchorhold.wire.messages import (
    AppendParams,
    BeginParams,
    BranchParams,
    ClockParams,
    CrashParams,
    ExpireParams,
    HeldParams,
    ManifestParams,
    Params,
    ReasonParams,
    ReconstituteParams,
    SearchParams,
    StoreFaultParams,
    SupersedeParams,
    SwitchParams,
    TokenParams,
    TombstoneParams,
    TurnParams,
    WorkerParams,
)
from anchorhold_spec.vocabulary import Answer, Entry, Item, Outcome, Pointer, Tombstone, Turn

T = TypeVar("T")


class Operations(ABC):
    """A compactor with all operations of `Compactor` and `Capabilities`.

    Which of them it offers stands in `describe().operations`; any other raises NotImplementedError. Each raises
    OperationError where the operation did not succeed, and AdapterError where the adapter failed.
    """

    @abstractmethod
    def describe(self) -> Description:
        """Say who this is, with the operations that it offers."""

    @abstractmethod
    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        """Start an empty session on a fresh store; `OpenParams` carries the settings."""

    @abstractmethod
    def close(self) -> None:
        """Release everything. What was opened and failed since may be closed too, and nothing happens."""

    @abstractmethod
    def _call(self, operation: str, params: Params | None = None) -> object:
        """Carry out an operation; its result has been checked against the protocol's type of it."""

    def _result(self, expected: type[T], operation: str, params: Params | None = None) -> T:
        result = self._call(operation, params)
        # `_call` has decoded it as the type that METHODS gives; this holds the two together.
        assert isinstance(result, expected), f"{operation} gave {type(result).__name__}"
        return result

    def append(self, turn: Turn) -> str | None:
        """Add a turn."""
        result = self._call("append", AppendParams(turn=turn))
        return None if result is None else str(result)

    def compact(self) -> Outcome:
        """Run one compaction."""
        return self._result(Outcome, "compact")

    def live(self) -> Sequence[Item]:
        """What the model would see now."""
        return self._result(tuple, "live")

    def pointers(self) -> Sequence[Pointer]:
        """Every pointer of a committed, live summary."""
        return self._result(tuple, "pointers")

    def get(self, token: str) -> Answer:
        """Follow a pointer."""
        return self._result(Answer, "get", TokenParams(token=token))

    def search(self, literal: str) -> Answer:
        """Look a literal up."""
        return self._result(Answer, "search", SearchParams(literal=literal))

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        """Ask for the value of a slot."""
        params = ReconstituteParams(subject=subject, attribute=attribute, evidence=evidence)
        return self._result(Answer, "reconstitute", params)

    def manifest(self, carrier: str) -> Sequence[Entry]:
        """What a live item carries verbatim."""
        return self._result(tuple, "manifest", ManifestParams(carrier=carrier))

    def tombstones(self) -> Sequence[Tombstone]:
        """Every tombstone of the session."""
        return self._result(tuple, "tombstones")

    def tombstone(self, literal: str, source: str, reason: str) -> Outcome:
        """Drop one assertion on the caller's decision."""
        params = TombstoneParams(literal=literal, source=source, reason=reason)
        return self._result(Outcome, "tombstone", params)

    def supersede(self, literal: str, source: str, superseder: str, reason: str) -> Outcome:
        """Drop one assertion on the caller's decision, because another took its place."""
        params = SupersedeParams(literal=literal, source=source, superseder=superseder, reason=reason)
        return self._result(Outcome, "supersede", params)

    def evict(self, token: str) -> Outcome:
        """Ask that the original under a pointer be removed."""
        return self._result(Outcome, "evict", TokenParams(token=token))

    def expire(self, seconds: float) -> None:
        """Move the store's clock forward."""
        self._call("expire", ExpireParams(seconds=seconds))

    def reopen(self) -> None:
        """Close, and open the same session again from durable state."""
        self._call("reopen")

    def kill(self) -> None:
        """Kill the process, between two operations."""
        self._call("kill")

    def crash(self, point: str) -> None:
        """Arm: the next `compact` dies at this step."""
        self._call("crash", CrashParams(point=point))

    def corrupt(self, token: str) -> bool:
        """Damage the stored bytes under a pointer."""
        return self._result(bool, "corrupt", TokenParams(token=token))

    def switch(self, session: str, user: str, branch: str = "main") -> None:
        """Go over to another session, or to another branch of this one."""
        self._call("switch", SwitchParams(session=session, user=user, branch=branch))

    def status(self) -> str:
        """`lossless`, or `degraded: ` and the reason."""
        return self._result(str, "status")

    def degraded_since(self) -> float | None:
        """Since when it is degraded; none while it is not."""
        since = self._call("degraded_since")
        return None if since is None else float(since)  # type: ignore[arg-type]

    def clear(self) -> None:
        """Empty the window."""
        self._call("clear")

    def rewind(self, turn: str) -> None:
        """Take back what was appended after a turn."""
        self._call("rewind", TurnParams(turn=turn))

    def fork(self, branch: str) -> None:
        """Begin a branch, and go over to it."""
        self._call("fork", BranchParams(branch=branch))

    def forget(self, turn: str) -> Outcome:
        """Erase what a turn says."""
        return self._result(Outcome, "forget", TurnParams(turn=turn))

    def files(self) -> Sequence[str]:
        """Paths of the files that hold anything of the session."""
        return self._result(tuple, "files")

    def hold_copies(self, held: bool) -> None:
        """Hold background copies back, or let them land."""
        self._call("hold_copies", HeldParams(held=held))

    def settle(self) -> None:
        """Let background work run to its end."""
        self._call("settle")

    def ratios(self) -> Ratios:
        """Counts of summaries."""
        return self._result(Ratios, "ratios")

    def clock(self, shift: float) -> None:
        """Let the wall clock jump."""
        self._call("clock", ClockParams(shift=shift))

    def lose_power(self) -> None:
        """Lose what was not synced, and the process."""
        self._call("lose_power")

    def fail_store(self, point: str, fault: str) -> None:
        """Arm: the next `compact`'s write at this point fails so."""
        self._call("fail_store", StoreFaultParams(point=point, fault=StoreFault(fault).value))

    def audits(self) -> Sequence[Audit]:
        """Audits run so far."""
        return self._result(tuple, "audits")

    def override(self, reason: str) -> Outcome:
        """Accept the loss, on the record."""
        return self._result(Outcome, "override", ReasonParams(reason=reason))

    def begin(self, worker: str, op: str, arguments: Mapping[str, Any]) -> None:
        """Start an operation as a worker."""
        self._call("begin", BeginParams(worker=worker, op=op, arguments=dict(arguments)))

    def advance(self, worker: str) -> Advance:
        """Let a worker go on up to its next access to a store."""
        return self._result(Advance, "advance", WorkerParams(worker=worker))


def not_offered(name: str, operation: str) -> NotImplementedError:
    """The error of an operation that is not in `describe().operations`."""
    return NotImplementedError(f"{name} does not offer `{operation}`; ask describe().operations first")
