"""Operations while a compaction waits for its model: over the wire and in this process, plain and `async`."""

import shlex
import sys
from pathlib import Path

import pytest

from anchorhold.history import EventType
from anchorhold.load import load
from anchorhold.run import play
from anchorhold.verdict import History
from anchorhold.wire.process import Limits
from anchorhold.workload import AnyStep, Append, Clear, Compact, Meanwhile, Probe, Workload
from anchorhold_spec.vocabulary import Turn

ADAPTER = Path(__file__).with_name("concurrent_adapter.py")
TARGETS = {
    **{
        f"wire-{way}": f"cmd:{shlex.join([sys.executable, str(ADAPTER), way])}" for way in ("sync", "async", "locked")
    },
    **{f"class-{way.lower()}": f"{ADAPTER}:{way}" for way in ("Sync", "Async", "Locked")},
}


def say(name: str) -> Append:
    return Append(turn=Turn(id=name, speaker="user", text=f"This is what {name} says."))


def played(way: str, *steps: AnyStep) -> History:
    with load(TARGETS[way], limits=Limits(start=20, call=20, stop=5)) as loaded:
        return play(
            loaded.make(),
            Workload(name="test", aims=(), steps=(*map(say, "abcdef"), *steps), explicit=True),
            description=loaded.describe(),
            location=way,
        )


def operations(history: History) -> list[tuple[str, str, str]]:
    return [
        (e.process, e.op, e.type.value) for e in history.events if e.process == "meanwhile" or e.op == "summarise"
    ]


def window(history: History) -> list[str]:
    last = [e for e in history.events if e.op == "live" and e.type is EventType.OK][-1]
    return [item["id"] for item in last.value]


@pytest.mark.parametrize("way", [way for way in TARGETS if "locked" not in way])
def test_what_is_asked_meanwhile_is_answered_before_the_model(way: str) -> None:
    beside = (say("late"), Probe(only=("live",)))
    history = played(way, Meanwhile(steps=beside), Compact())

    assert operations(history) == [
        ("main", "summarise", "invoke"),
        ("meanwhile", "append", "invoke"),
        ("meanwhile", "append", "ok"),
        ("meanwhile", "live", "invoke"),
        ("meanwhile", "live", "ok"),
        ("main", "summarise", "ok"),
    ]
    assert window(history) == ["s1", "e", "f", "late"]


@pytest.mark.parametrize("way", [way for way in TARGETS if "locked" not in way])
def test_a_second_compaction_asks_for_a_summary_of_its_own(way: str) -> None:
    history = played(way, Meanwhile(steps=(Compact(),)), Compact())
    asked = [e.process for e in history.events if e.op == "summarise" and e.type is EventType.INVOKE]
    ended = {e.process: e.value["kind"] for e in history.events if e.op == "compact" and e.type is EventType.OK}

    assert asked == ["main", "meanwhile"]
    assert ended == {"main": "refused", "meanwhile": "committed"}


@pytest.mark.parametrize("way", [way for way in TARGETS if "locked" in way])
def test_who_lets_nobody_in_answers_later(way: str) -> None:
    history = played(way, Meanwhile(steps=(say("late"), Clear())), Compact(), Probe(only=("live",)))
    ends = [(e.process, e.op) for e in history.events if e.type is EventType.OK and e.op in ("summarise", "append")]

    assert ends[-2:] == [("main", "summarise"), ("meanwhile", "append")]


def test_an_exception_of_one_request_does_not_end_the_other() -> None:
    history = played("wire-sync", Meanwhile(steps=(Clear(), say("late"))), Compact())
    (outcome,) = [e.value for e in history.events if e.op == "compact" and e.type is EventType.OK]

    assert outcome["kind"] == "refused"
    assert window(history) == ["late"]
