"""Walks through every operation of the tests' own adapter: sdk_adapter.py, and sdk_adapter.ts."""

import dataclasses
import json

import pytest

from anchorhold.compactor import (
    Advance,
    Audit,
    Mechanism,
    OperationError,
    Ratios,
    Reply,
    Settings,
    Shown,
    SummariserError,
)
from anchorhold.load import Loaded
from anchorhold.wire import messages
from anchorhold.wire.operations import Operations
from anchorhold_spec.vocabulary import (
    Answer,
    AnswerKind,
    CarrierKind,
    Entry,
    Item,
    Outcome,
    OutcomeKind,
    Pointer,
    Tombstone,
    ToolCall,
    Turn,
)


def plain_json(value: object) -> str:
    """As JavaScript writes it."""
    return json.dumps(value, separators=(",", ":"))


TURNS = [
    Turn(id="t1", speaker="user", text="first ü\u2028"),
    Turn(id="t2", speaker="tool", data=b"\xed\xa0\x80\x00\xff", result_of="c1", status="killed"),
    Turn(
        id="t3", speaker="assistant", text="", calls=(ToolCall(id="c1", name="ls", arguments='{"a": 1}'),), time=1.5
    ),
    Turn(id="t4", speaker="user", text="last", protected=True, declared="narrative"),
]


class Model:
    def __init__(self, *, fails: bool = False) -> None:
        self.shown: list[Shown] = []
        self.fails = fails

    def __call__(self, shown: Shown) -> Reply:
        self.shown.append(shown)
        if self.fails:
            raise SummariserError("rate limit")
        return Reply(text=f"S{len(self.shown)}", finish="length")


def walk(loaded: Loaded, model: Model, *, of_a_program: bool = True) -> None:
    """Use every operation once, and hold each answer against what the adapter is written to give. A class of this
    process, unlike a program, cannot be killed."""
    compactor = loaded.make()
    description = compactor.describe()
    assert description.name == "tests' own"
    assert description.version == "1.2"
    assert description.mechanisms == {Mechanism.SUMMARISER}
    assert description.hidden == {Mechanism.KEY_RECYCLING: "keys are inside"}
    assert description.crash_points == ("staged", "committed")
    assert description.operations == set(messages.OPERATIONS)

    settings = Settings(session="a", budget=100, watermark=0.7, horizon=5.0)
    assert compactor.open(settings, model) == dataclasses.replace(settings, horizon=None)
    assert [compactor.append(turn) for turn in TURNS] == ["k-t1", "k-t2", "k-t3", "k-t4/narrative"]
    before = compactor.live()
    assert [(i.id, i.kind, i.text, i.data) for i in before] == [(t.id, "raw", t.text, t.data) for t in TURNS]
    assert all(type(i) is Item for i in before)

    assert compactor.compact() == Outcome(
        kind=OutcomeKind.COMMITTED, summary="s0", covered=("t1", "t2"), reason="length"
    )
    assert model.shown == [Shown(messages=("Summarise.", "first ü\u2028", ""))]
    summary, *rest = compactor.live()
    assert summary == Item(id="s0", kind=CarrierKind.SUMMARY, text="S1", covers=("t1", "t2"), generation=1)
    assert rest == list(before[2:])
    assert compactor.pointers() == (
        Pointer(summary="s0", token="s0/t1", covers=("t1",), key="t1", epoch=1),
        Pointer(summary="s0", token="s0/t2", covers=("t2",), key="t2", epoch=1),
    )
    assert compactor.get("s0/t2") == Answer(
        kind=AnswerKind.FOUND, data=b"\xed\xa0\x80\x00\xff", carrier="s0", evidence=True
    )
    assert compactor.get("nowhere").kind is AnswerKind.FOREIGN
    assert compactor.search("first") == Answer(kind=AnswerKind.FOUND, text="first ü\u2028", source="t1")
    assert compactor.reconstitute("job", "target", True) == Answer(
        kind=AnswerKind.INSUFFICIENT, reason="job.target True", value="v"
    )
    assert compactor.manifest("s0") == (Entry(literal="x", source="s0", kind="path", subject="a", attribute="b"),)
    assert compactor.tombstone("x", "t1", "why").kind is OutcomeKind.COMMITTED
    assert compactor.tombstones() == (
        Tombstone(literal="x", source="t1", reason="why", decided_by="suite", time=1.5),
    )
    assert compactor.supersede("x", "t1", "t4", "newer").kind is OutcomeKind.COMMITTED
    assert compactor.tombstones()[1:] == (
        Tombstone(literal="x", source="t1", reason="newer", decided_by="suite", superseder="t4"),
    )
    assert compactor.evict("s0/t1") == Outcome(kind=OutcomeKind.REFUSED, reason="gate", facts=("a fact",))
    compactor.expire(2.5)
    compactor.reopen()
    assert compactor.corrupt("s0/t1") is True
    assert compactor.corrupt("zz") is False
    compactor.switch("b", "v")
    assert compactor.status() == "degraded: tests"
    assert compactor.degraded_since() == 12.5
    walk_more(compactor)
    compactor.append(Turn(id="t5", speaker="user", text="x"))
    compactor.crash("staged")
    with pytest.raises(OperationError, match="crashed") as caught:
        compactor.compact()
    assert caught.value.definite is False
    if of_a_program:
        # Another process, which knows what was asked for and nothing else.
        compactor.kill()
        compactor.reopen()
        assert compactor.live() == (Item(id="resumed", kind=CarrierKind.OTHER, text="a 100"),)
    compactor.close()


def walk_more(compactor: Operations) -> None:
    """The operations by which faults, branches and workers are driven."""
    compactor.switch("b", "v", "side")
    compactor.clear()
    compactor.rewind("t2")
    compactor.fork("twig")
    compactor.hold_copies(True)
    compactor.settle()
    compactor.clock(-7.5)
    compactor.lose_power()
    compactor.fail_store("staged", "short")
    assert compactor.override("so be it").reason == plain_json(
        [
            ("switch", "side"),
            ("clear",),
            ("rewind", "t2"),
            ("fork", "twig"),
            ("hold_copies", True),
            ("settle",),
            ("clock", -7.5),
            ("lose_power",),
            ("fail_store", "staged", "short"),
            "so be it",
        ]
    )
    assert compactor.forget("t1") == Outcome(kind=OutcomeKind.REFUSED, reason="forget t1")
    assert compactor.files() == ("/var/lib/tests/ledger.db",)
    assert compactor.ratios() == Ratios(committed=3, pending=1, unresolvable=0)
    assert compactor.audits() == (
        Audit(compaction=1, turn="t1", passed=True),
        Audit(compaction=2, turn=None, passed=False),
    )
    compactor.begin("w", "evict", {"token": "s0/t1"})
    assert compactor.advance("w") == Advance(done=False, at=plain_json(("w", "evict", {"token": "s0/t1"})))
    assert compactor.advance("v") == Advance(done=True, outcome=Outcome(kind=OutcomeKind.NOTHING))
    assert compactor.advance("asks") == Advance(done=True, answer=Answer(kind=AnswerKind.FOUND, text="x"))
