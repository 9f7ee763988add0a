from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_compactors import Archive

from anchorhold.compactor import Description
from anchorhold.history import Event, EventType, HistoryError, read_history, write_history
from anchorhold.planting import Planter
from anchorhold.run import play
from anchorhold.verdict import History
from anchorhold.workload import Compact, Workload

OFFERED = frozenset({"append", "compact", "live", "pointers", "get", "search"})


def history() -> History:
    planter = Planter(3)
    workload = Workload(
        name="small", aims=("ANC-1",), steps=(*planter.talk(12, *planter.facts(4)), Compact(until_idle=2))
    )
    return play(
        Archive(),
        workload,
        description=Description(name="toy", version="1", operations=OFFERED),
        location="toy",
    )


HISTORY = history()


def written(path: Path, kept: History = HISTORY) -> bytes:
    write_history(path, kept.header, kept.events)
    return path.read_bytes()


def test_a_history_comes_back_as_it_was(tmp_path: Path) -> None:
    written(tmp_path / "h.jsonl")

    assert read_history(tmp_path / "h.jsonl") == (HISTORY.header, HISTORY.events)
    assert [path.name for path in tmp_path.iterdir()] == ["h.jsonl"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(data=st.data())
def test_a_history_cut_off_anywhere_is_an_error_that_names_the_line(tmp_path: Path, data: st.DataObject) -> None:
    whole = written(tmp_path / "whole.jsonl")
    part = whole[: data.draw(st.integers(0, len(whole) - 1))]
    (tmp_path / "part.jsonl").write_bytes(part)

    with pytest.raises(HistoryError) as caught:
        read_history(tmp_path / "part.jsonl")

    assert caught.value.line in {part.count(b"\n"), part.count(b"\n") + 1}
    assert str(caught.value).startswith(f"{tmp_path / 'part.jsonl'}:{caught.value.line}: ")


def test_a_history_cut_off_between_two_whole_operations_is_noticed(tmp_path: Path) -> None:
    lines = written(tmp_path / "h.jsonl").splitlines(keepends=True)
    (tmp_path / "h.jsonl").write_bytes(b"".join(lines[:-2]))

    with pytest.raises(HistoryError, match="cut off"):
        read_history(tmp_path / "h.jsonl")


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"", 1, "empty"),
        (b"\x00\xff\xfe", 1, "not JSON"),
        (b"hello\n", 1, "not JSON"),
        (b"[1, 2]\n", 1, "no history"),
        (b'{"name": "package.json"}\n', 1, "no history"),
        (b'{"anchorhold_history": 99}\n', 1, "format 99"),
        (b'{"anchorhold_history": 1}\n', 1, "header"),
        (b"[" * 100_000 + b"\n", 1, "not JSON"),
    ],
)
def test_a_foreign_file_is_an_error_that_says_what_it_is_not(
    tmp_path: Path, content: bytes, line: int, message: str
) -> None:
    (tmp_path / "foreign").write_bytes(content)

    with pytest.raises(HistoryError, match=message) as caught:
        read_history(tmp_path / "foreign")

    assert caught.value.line == line


def test_a_line_that_is_no_event_is_named(tmp_path: Path) -> None:
    lines = written(tmp_path / "h.jsonl").splitlines(keepends=True)
    lines[4] = b'{"index": "three"}\n'
    (tmp_path / "h.jsonl").write_bytes(b"".join(lines))

    with pytest.raises(HistoryError, match="no event") as caught:
        read_history(tmp_path / "h.jsonl")

    assert caught.value.line == 5


def test_a_missing_line_is_named(tmp_path: Path) -> None:
    lines = written(tmp_path / "h.jsonl").splitlines(keepends=True)
    (tmp_path / "h.jsonl").write_bytes(b"".join(lines[:4] + lines[5:]))

    with pytest.raises(HistoryError, match="lines are missing") as caught:
        read_history(tmp_path / "h.jsonl")

    assert caught.value.line == 5


def test_text_that_is_not_unicode_does_not_stop_a_history_from_being_written(tmp_path: Path) -> None:
    events = (
        Event(index=0, step=0, type=EventType.INVOKE, op="search", value={"literal": "a\udc80b"}),
        Event(index=1, step=0, type=EventType.FAIL, op="search", error="\udcff"),
    )
    header = msgspec.structs.replace(HISTORY.header, length=2)
    write_history(tmp_path / "h.jsonl", header, events)

    _, read = read_history(tmp_path / "h.jsonl")
    assert read[0].value == {"literal": "a\\udc80b"}
    assert read[1].error == "\\udcff"
