"""What each step of a workload becomes: operations of the compactor, each recorded with how it ended."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, assert_never, cast

from anchorhold.beside import Beside
from anchorhold.compactor import Advance, Capabilities, Compactor, Description
from anchorhold.looks import OBSERVATIONS, Looks
from anchorhold.recorder import Recorder
from anchorhold.size import turn_size
from anchorhold.summariser import ScriptedSummariser
from anchorhold.traces import remains
from anchorhold.workload import (
    AnyStep,
    Append,
    Ask,
    Clear,
    Clock,
    Compact,
    Corrupt,
    CrashAt,
    DropFact,
    Evict,
    Expire,
    FailStore,
    Fill,
    Follow,
    Forget,
    Fork,
    HoldCopies,
    Kill,
    LosePower,
    Meanwhile,
    Override,
    Probe,
    Reopen,
    Rewind,
    Settle,
    Summariser,
    Supersede,
    Switch,
    Task,
    Workers,
)
from anchorhold_spec.vocabulary import Fact, Outcome

TOKENS = frozenset({"get", "evict"})
"""Operations that a worker carries out on a token."""
ACCESSES = 1000
"""Accesses to a store that a worker may take: one that never ends must not keep the check from ending."""

R = TypeVar("R")


class Acts:
    """Carrying out the steps of one workload."""

    def __init__(
        self,
        compactor: Compactor,
        description: Description,
        *,
        recorder: Recorder,
        summariser: ScriptedSummariser,
        looks: Looks,
    ) -> None:
        self.facts: list[Fact] = []
        """Everything that was planted and not forgotten, in order."""
        self._compactor = compactor
        self._more = cast("Capabilities", compactor)
        self._offered = description.operations
        self._points = description.crash_points
        self._recorder = recorder
        self._summariser = summariser
        self._looks = looks
        self._said: dict[str, Append] = {}
        self._beside = Beside(recorder, self.carry_out)

    def join(self) -> None:
        """Wait for the steps that are taken beside. Raises `AdapterError`."""
        self._beside.join()

    def carry_out(self, step: AnyStep) -> None:
        """Take one step. Raises `ValueError` for a `Fill`, and passes on `AdapterError`."""
        more = self._more
        match step:
            case Append():
                self._append(step)
            case Summariser(mode=mode, times=times):
                self._summariser.tell(mode, times)
            case Compact():
                self.compact()
            case Probe(only=only):
                self._looks.probe(only or OBSERVATIONS)
            case Ask(fact=fact, evidence=evidence, only=only):
                self._looks.ask(fact, evidence=evidence, only=only)
            case Follow(token=token):
                self._looks.follow(token)
            case Evict(turn=turn):
                self._evict(turn)
            case DropFact(fact=fact, turn=turn, reason=reason):
                drop = {"literal": fact.literal, "source": turn, "reason": reason}
                self._do("tombstone", lambda: more.tombstone(fact.literal, turn, reason), **drop)
            case Supersede(fact=fact, turn=turn, superseder=by, reason=reason):
                drop = {"literal": fact.literal, "source": turn, "superseder": by, "reason": reason}
                self._do("supersede", lambda: more.supersede(fact.literal, turn, by, reason), **drop)
            case Reopen():
                self._do("reopen", more.reopen)
            case CrashAt(point=point):
                self._crash(point)
            case Corrupt(turn=turn):
                self._corrupt(turn)
            case Expire(seconds=seconds):
                self._do("expire", lambda: more.expire(seconds), seconds=seconds)
            case Switch():
                self._switch(step)
            case Meanwhile(steps=steps):
                self._beside.arm(steps)
            case Workers():
                self._workers(step)
            case Fill():
                raise ValueError("an explicit workload has no Fill: play the open one")
            case _:
                self._change(step)

    def _change(
        self,
        step: Clear | Rewind | Fork | Forget | HoldCopies | Settle | Clock | Kill | LosePower | FailStore | Override,
    ) -> None:
        more = self._more
        match step:
            case Clear():
                self._do("clear", more.clear)
            case Rewind(turn=turn):
                self._do("rewind", lambda: more.rewind(turn), turn=turn)
            case Fork(branch=branch):
                self._do("fork", lambda: more.fork(branch), branch=branch)
            case Forget(turn=turn):
                self._forget(turn)
            case HoldCopies(held=held):
                self._do("hold_copies", lambda: more.hold_copies(held), held=held)
            case Settle():
                self._do("settle", more.settle)
            case Clock(shift=shift):
                self._do("clock", lambda: more.clock(shift), shift=shift)
            case Kill():
                self._stop("kill", more.kill)
            case LosePower():
                self._stop("lose_power", more.lose_power)
            case FailStore():
                self._fail_store(step)
            case Override(reason=reason):
                self._do("override", lambda: more.override(reason), reason=reason)
            case _:
                assert_never(step)

    def compact(self) -> Outcome | None:
        """Compact once, and look at the window before and after."""
        self._looks.live()
        outcome = self._do("compact", self._compactor.compact)
        self._looks.live()
        return outcome

    def _append(self, step: Append) -> None:
        self._summariser.learn(step.turn.text, step.facts, speaker=step.turn.speaker)
        self._do("append", lambda: self._compactor.append(step.turn), turn=step.turn, facts=step.facts)
        if self._recorder.succeeded:
            self._looks.size += turn_size(step.turn, self._looks.settings.unit)
            self._looks.learn(step.turn)
            self._said[step.turn.id] = step
            self.facts.extend(fact for fact in step.facts if fact not in self.facts)

    def _switch(self, step: Switch) -> None:
        # Only who can fork has to know of branches.
        branch = () if step.branch == "main" else (step.branch,)
        self._do(
            "switch",
            lambda: self._more.switch(step.session, step.user, *branch),
            session=step.session,
            user=step.user,
            branch=step.branch,
        )

    def _point(self, step: str, point: int) -> str | None:
        if self._points:
            return self._points[point % len(self._points)]
        self._recorder.note({"step": step, "why": "the compactor names no crash points"})
        return None

    def _crash(self, point: int) -> None:
        name = self._point("crash", point)
        if name is None:
            return
        self._looks.live()
        self._do("crash", lambda: self._more.crash(name), point=name)
        if self._recorder.succeeded:
            self._do("compact", self._compactor.compact)
        if "reopen" in self._offered:
            self._do("reopen", self._more.reopen)
        self._looks.live()

    def _stop(self, op: str, call: Callable[[], None]) -> None:
        self._looks.live()
        self._do(op, call)
        if "reopen" in self._offered:
            self._do("reopen", self._more.reopen)
        self._looks.live()

    def _fail_store(self, step: FailStore) -> None:
        name = self._point("fail-store", step.point)
        if name is None:
            return
        self._looks.live()
        self._do("fail_store", lambda: self._more.fail_store(name, step.fault), point=name, fault=step.fault)
        if self._recorder.succeeded:
            self._do("compact", self._compactor.compact)
        self._looks.live()

    def _evict(self, turn: str) -> None:
        token = self._looks.token_of(turn, "evict")
        if token is not None:
            self._do("evict", lambda: self._more.evict(token), token=token)

    def _corrupt(self, turn: str) -> None:
        token = self._looks.token_of(turn, "corrupt")
        if token is not None:
            self._do("corrupt", lambda: self._more.corrupt(token), token=token)
            self._looks.get(token)

    def _forget(self, turn: str) -> None:
        self._do("forget", lambda: self._more.forget(turn), turn=turn)
        said = self._said.get(turn)
        if not self._recorder.succeeded or said is None or "files" not in self._offered:
            return
        paths = self._do("files", self._more.files) or ()
        others = [
            "\n".join((each.turn.text or "", *(call.arguments for call in each.turn.calls)))
            for each in self._said.values()
            if each.turn.id != turn
        ]
        found = remains(said.turn, said.facts, others, paths)
        # The suite's own look into the files: what it found stands in the history like any answer.
        self._do("scan", lambda: {"files": len(paths), "remains": found}, turn=turn)

    # Workers

    def _workers(self, step: Workers) -> None:
        standing: dict[str, None] = {}
        for task in step.tasks:
            arguments = self._arguments(task)
            if arguments is None:
                continue
            self._begin(task, arguments)
            if self._recorder.succeeded:
                standing[task.worker] = None
        for worker in step.schedule:
            self._advance(worker, standing)
        for worker in tuple(standing):
            for _ in range(ACCESSES):
                self._advance(worker, standing)
                if worker not in standing:
                    break
            else:
                self._recorder.note(
                    {"step": "workers", "why": f"worker {worker} takes more than {ACCESSES} accesses"}
                )

    def _arguments(self, task: Task) -> Mapping[str, Any] | None:
        if task.op in TOKENS:
            token = self._looks.token_of(task.turn or "", task.op)
            return None if token is None else {"token": token}
        return {} if task.seconds is None else {"seconds": task.seconds}

    def _begin(self, task: Task, arguments: Mapping[str, Any]) -> None:
        begin = {"worker": task.worker, "op": task.op, "arguments": dict(arguments)}
        self._recorder.do("begin", lambda: self._more.begin(task.worker, task.op, arguments), begin)

    def _advance(self, worker: str, standing: dict[str, None]) -> None:
        if worker not in standing:
            return
        come: Advance | None = self._do("advance", lambda: self._more.advance(worker), worker=worker)
        if come is None or come.done:
            del standing[worker]

    def _do(self, op: str, call: Callable[[], R], **arguments: Any) -> R | None:
        return self._recorder.do(op, call, arguments)
