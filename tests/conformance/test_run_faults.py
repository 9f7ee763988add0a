"""The runner under faults: what is done beside a compaction, by workers, by the caller, and to store and clock."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from toy_compactors import Archive

from anchorhold.checkers.observe import read
from anchorhold.checkers.pairing import operations
from anchorhold.compactor import (
    OPERATIONS_OF,
    Advance,
    Audit,
    Description,
    Mechanism,
    Ratios,
    Settings,
    StoreFault,
    Summarise,
)
from anchorhold.history import Event, EventType
from anchorhold.planting import Planter
from anchorhold.run import play
from anchorhold.shrink import Failing, shrink
from anchorhold.verdict import Failure, History
from anchorhold.workload import (
    AnyStep,
    Append,
    Clear,
    Clock,
    Compact,
    FailStore,
    Forget,
    Fork,
    HoldCopies,
    LosePower,
    Meanwhile,
    Override,
    Probe,
    Rewind,
    Settle,
    Switch,
    Task,
    Workers,
    Workload,
)
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, Outcome, OutcomeKind, Turn

EVERY = frozenset(op for found in OPERATIONS_OF.values() for op in found)


class Open(Archive):
    """Lets other threads in while its model writes, and carries out what came in meanwhile."""

    mechanisms = frozenset({Mechanism.CONCURRENCY})

    def describe(self) -> Description:
        return Description(name="open", version="1", mechanisms=self.mechanisms, crash_points=("put", "commit"))

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.done: list[object] = []
        return super().open(settings, summarise)

    def clear(self) -> None:
        self.items = []

    def rewind(self, turn: str) -> None:
        at = next(n for n, item in enumerate(self.items) if item.id == turn)
        self.items = self.items[: at + 1]

    def fork(self, branch: str) -> None:
        self.done.append(branch)

    def switch(self, session: str, user: str, branch: str = "main") -> None:
        self.done.append((session, user, branch))

    def forget(self, turn: str) -> Outcome:
        return Outcome(kind=OutcomeKind.COMMITTED)

    def files(self) -> Sequence[str]:
        return [str(self.file)]

    file = Path("/nowhere")

    def hold_copies(self, held: bool) -> None:
        self.done.append(held)

    def settle(self) -> None:
        self.done.append("settle")

    def ratios(self) -> Ratios:
        return Ratios(committed=self.summaries, pending=0, unresolvable=0)

    def audits(self) -> Sequence[Audit]:
        return [Audit(compaction=1, turn="t1", passed=True)] * min(1, self.summaries)

    def clock(self, shift: float) -> None:
        self.done.append(shift)

    def lose_power(self) -> None:
        self.done.append("power")

    def reopen(self) -> None:
        self.done.append("reopen")

    def fail_store(self, point: str, fault: str) -> None:
        self.done.append((point, fault))

    def override(self, reason: str) -> Outcome:
        return Outcome(kind=OutcomeKind.REFUSED, reason=reason)

    def begin(self, worker: str, op: str, arguments: Mapping[str, Any]) -> None:
        self.begun = {**getattr(self, "begun", {}), worker: [op, dict(arguments), 0]}

    def advance(self, worker: str) -> Advance:
        op, arguments, accesses = self.begun[worker]
        self.begun[worker][2] += 1
        if accesses < 2:
            return Advance(done=False, at=f"{op} {accesses}")
        if op == "get":
            return Advance(done=True, answer=self.get(arguments["token"]))
        return Advance(done=True, outcome=Outcome(kind=OutcomeKind.REFUSED))


class Closed(Open):
    """Lets nobody in: an operation waits until the compaction is through."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.lock = threading.RLock()
        return super().open(settings, summarise)

    def append(self, turn: Turn) -> str | None:
        with self.lock:
            return super().append(turn)

    def compact(self) -> Outcome:
        with self.lock:
            return super().compact()


def run(compactor: Any, *steps: AnyStep, explicit: bool = False) -> History:
    offered = frozenset({"append", "compact", "live"}) | {op for op in EVERY if hasattr(compactor, op)}
    described = compactor.describe()
    return play(
        compactor,
        Workload(name="test", aims=(), steps=steps, settings=Settings(budget=600, watermark=0.5), explicit=explicit),
        description=replace(described, operations=offered),
        location="toy",
    )


def order(history: History, *ops: str) -> list[tuple[str, str, str]]:
    return [(e.process, e.op, e.type.value) for e in history.events if e.op in ops]


def invoked(history: History, op: str) -> list[Event]:
    return [e for e in history.events if e.type is EventType.INVOKE and e.op == op]


def talk(count: int, facts: int = 0, seed: int = 1) -> tuple[Append, ...]:
    planter = Planter(seed)
    return planter.talk(count, *planter.facts(facts), tools=False)


LATE = Append(turn=Turn(id="late", speaker="user", text="Stop, use port 7443."))


def test_steps_of_a_meanwhile_are_taken_before_the_model_answers() -> None:
    history = run(Open(), *talk(10), Meanwhile(steps=(LATE,)), Compact())
    at = [e.index for e in history.events if e.process == "meanwhile"]
    held = [e for e in history.events if e.op in ("summarise", "append") and e.index >= at[0] - 1]

    assert [(e.process, e.op, e.type.value) for e in held[:4]] == [
        ("main", "summarise", "invoke"),
        ("meanwhile", "append", "invoke"),
        ("meanwhile", "append", "ok"),
        ("main", "summarise", "ok"),
    ]


def test_a_compactor_that_lets_nobody_in_is_answered_all_the_same() -> None:
    history = run(Closed(), *talk(10), Meanwhile(steps=(LATE,)), Compact())
    taken = [
        entry
        for entry in order(history, "compact", "append", "summarise")
        if entry[0] == "meanwhile" or entry[1] != "append"
    ]

    assert taken == [
        ("main", "compact", "invoke"),
        ("main", "summarise", "invoke"),
        ("meanwhile", "append", "invoke"),
        ("main", "summarise", "ok"),
        *sorted([("main", "compact", "ok"), ("meanwhile", "append", "ok")], key=taken.index),
    ]


def test_a_compaction_in_an_append_is_not_disturbed_and_the_next_that_is_asked_for_is() -> None:
    class Eager(Open):
        def append(self, turn: Turn) -> str | None:
            name = super().append(turn)
            if turn.id == "eager":
                self.compact()
            return name

    eager = Append(turn=Turn(id="eager", speaker="user", text="Go on."))
    history = run(Eager(), *talk(10), Meanwhile(steps=(LATE,)), eager, *talk(10, seed=2), Compact())
    asked = [entry for entry in order(history, "compact", "summarise", "append") if entry[1] != "append"]
    beside = next(n for n, entry in enumerate(order(history, "compact", "append")) if entry[0] == "meanwhile")

    assert [entry[1:] for entry in asked[:2]] == [("summarise", "invoke"), ("summarise", "ok")]
    assert order(history, "compact", "append")[beside - 1] == ("main", "compact", "invoke")


def test_a_compactor_that_takes_one_operation_at_a_time_is_not_disturbed() -> None:
    class Single(Open):
        mechanisms = frozenset()

    history = run(Single(), *talk(10), Meanwhile(steps=(LATE,)), Compact())

    assert {e.process for e in history.events} == {"main"}
    assert not any(isinstance(step, Meanwhile) for step in history.header.workload.steps)


def test_the_reading_knows_the_facts_of_turns_that_came_in_beside() -> None:
    planter = Planter(5)
    fact = planter.fact("path")
    before = planter.talk(10)
    told = planter.say(fact)
    history = run(Open(), *before, Meanwhile(steps=(told,)), Compact())
    reading = read(history)

    assert reading.said[told.turn.id].facts == (fact,)
    assert [o.process for o in reading.operations if o.op == "append"][-1] == "meanwhile"


def test_a_held_compaction_plays_again_to_the_same_history() -> None:
    first = run(Open(), *talk(10, 3), Meanwhile(steps=(LATE, Probe(only=("live",)))), Compact())
    again = run(Open(), *first.header.workload.steps, explicit=True)

    assert again == first


def test_workers_take_turns_as_the_schedule_says_and_are_run_to_their_end() -> None:
    tasks = (Task(worker="a", op="get", turn="t1"), Task(worker="b", op="compact"))
    history = run(Open(), *talk(10), Compact(), Workers(tasks=tasks, schedule=("b", "a", "a", "a", "a", "b")))
    advanced = [event.value["worker"] for event in invoked(history, "advance")]

    assert advanced == ["b", "a", "a", "a", "b", "b"]
    done = [o for o in operations(history.events) if o.process in ("a", "b")]
    assert [(o.op, o.process) for o in done] == [("get", "a"), ("compact", "b")]
    assert done[0].value["kind"] == AnswerKind.FOUND
    assert done[0].start < done[1].start < done[0].end < done[1].end


@pytest.mark.parametrize(
    ("step", "ops"),
    [
        (Clear(), ["clear"]),
        (Rewind(turn="t2"), ["rewind"]),
        (Fork(branch="twig"), ["fork"]),
        (Switch(session="s", user="u", branch="twig"), ["switch"]),
        (HoldCopies(held=True), ["hold_copies"]),
        (Settle(), ["settle"]),
        (Clock(shift=-3.0), ["clock"]),
        (LosePower(), ["live", "lose_power", "reopen", "live"]),
        (FailStore(point=3, fault=StoreFault.SHORT), ["live", "fail_store", "compact", "live"]),
        (Override(reason="so be it"), ["override"]),
    ],
)
def test_each_step_becomes_its_operations(step: AnyStep, ops: list[str]) -> None:
    history = run(Open(), *talk(4), step)
    index = history.header.workload.steps.index(step)

    assert [e.op for e in history.events if e.step == index and e.type is EventType.INVOKE] == ops


def test_counts_and_audits_are_read_at_every_look() -> None:
    reading = read(run(Open(), *talk(10), Compact()))
    last = reading.observations[-1]

    assert last.ratios == Ratios(committed=1, pending=0, unresolvable=0)
    assert last.audits == (Audit(compaction=1, turn="t1", passed=True),)


def test_after_a_forget_the_files_are_searched_for_what_is_left(tmp_path: Path) -> None:
    planter = Planter(3)
    secret, kept = planter.fact("identifier"), planter.fact("path")
    told = planter.say(secret, kept)
    again = planter.say(kept)
    compactor = Open()
    compactor.file = tmp_path / "ledger.db-wal"
    compactor.file.write_bytes(b"\x00" + secret.literal.encode() + b" " + kept.literal.encode())
    history = run(compactor, told, again, Forget(turn=told.turn.id))
    (scan,) = [e.value for e in history.events if e.op == "scan" and e.type is EventType.OK]

    # What another turn says as well is no remains of this one.
    assert scan["remains"] == [{"path": str(compactor.file), "what": "as it is", "words": secret.literal}]
    assert scan["files"] == 1


def test_what_the_caller_took_away_is_no_longer_asked_of_the_window() -> None:
    appends = talk(6)
    reading = read(run(Open(), *appends, Rewind(turn=appends[2].turn.id)))

    assert reading.observations[-1].withdrawn == {a.turn.id for a in appends[3:]}
    assert [said.turn.id for said in reading.present(reading.observations[-1])] == [a.turn.id for a in appends[:3]]


def test_a_branch_has_its_parents_turns_up_to_the_fork_and_no_others() -> None:
    before, in_twig, in_main = talk(3), talk(2, seed=2), talk(2, seed=3)
    renamed = [
        msgspec.structs.replace(a, turn=Turn(id=f"{of}{n}", speaker="user", text=f"{of} {n}."))
        for of, group in (("p", before), ("b", in_twig), ("m", in_main))
        for n, a in enumerate(group)
    ]
    parent, twig, main = renamed[:3], renamed[3:5], renamed[5:]
    back = Switch(session="s", user="u")
    reading = read(run(Open(), *parent, Fork(branch="twig"), *twig, back, *main))

    assert {i for i in reading.said if reading.belongs(i, "s (twig)")} == {"p0", "p1", "p2", "b0", "b1"}
    assert {i for i in reading.said if reading.belongs(i, "s")} == {"p0", "p1", "p2", "m0", "m1"}


def test_the_inner_steps_of_a_meanwhile_are_shortened_too() -> None:
    late = [Append(turn=Turn(id=f"late-{n}", speaker="user", text=f"Late {n}.")) for n in range(6)]
    history = run(Open(), *talk(10), Meanwhile(steps=tuple(late)), Compact())

    def attempt(workload: Workload) -> Failing | None:
        played = run(Open(), *workload.steps, explicit=True)
        at = next((e.index for e in played.events if e.process == "meanwhile" and e.op == "append"), None)
        named = any("late-4" in str(e.value) for e in played.events if e.process == "meanwhile")
        if at is None or not named:
            return None
        return Failing(
            history=played, failure=Failure(rule="CON-1", sentence="late-4 is gone", fact="late-4", event=at)
        )

    found = attempt(history.header.workload)
    assert found is not None
    shrunk = shrink(found, attempt=attempt, effort=40_000)
    (held,) = [step for step in shrunk.failing.workload.steps if isinstance(step, Meanwhile)]

    assert [step.turn.id for step in held.steps if isinstance(step, Append)] == ["late-4"]


def test_a_summary_that_holds_what_came_in_beside_is_a_summary() -> None:
    history = run(Open(), *talk(10), Meanwhile(steps=(LATE,)), Compact())
    reading = read(history)

    assert next(item.kind for item in reading.observations[-1].items) is CarrierKind.SUMMARY
