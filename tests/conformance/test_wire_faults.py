"""Each way in which an adapter program can fail has an error of its own: one line, the program gone, no traceback."""

import contextlib
import dataclasses
import os
import shlex
import sys
import time
import types
from pathlib import Path

import pytest

from anchorhold.compactor import OperationError, Reply, Settings, Shown, SummariserError
from anchorhold.errors import AdapterError, Fault
from anchorhold.load import load
from anchorhold.wire import connection as connection_module
from anchorhold.wire import process as process_module
from anchorhold.wire.driver import WireCompactor
from anchorhold.wire.process import Limits, telling
from anchorhold_spec.vocabulary import Outcome, OutcomeKind, Turn

FAKE = Path(__file__).with_name("fake_adapter.py")
QUICK = Limits(start=20, call=20, stop=5, line=1 << 20, stderr=4096)


def target(way: str) -> str:
    return "cmd:" + shlex.join([sys.executable, "-S", "-E", str(FAKE), way])


def no_model(shown: Shown) -> Reply:
    raise AssertionError("nobody asks")


def compact_with(way: str, *, limits: Limits = QUICK, summarise=no_model) -> Outcome:
    with load(target(way), limits=limits) as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), summarise)
        outcome = compactor.compact()
        compactor.close()
        return outcome


def assert_one_line(error: AdapterError) -> None:
    text = str(error)
    assert "\n" not in text
    assert text.isprintable()
    assert "Traceback" not in text
    assert error.hint


def test_a_good_adapter_is_driven() -> None:
    with load(target("good"), limits=QUICK) as loaded:
        compactor = loaded.make()
        taken = compactor.open(Settings(budget=9), no_model)
        compactor.append(Turn(id="t1", speaker="user", text="ü\u2028\x00"))

        assert taken == Settings(budget=9)
        assert compactor.compact() == Outcome(kind=OutcomeKind.NOTHING)
        assert [item.text for item in compactor.live()] == ["ü\u2028\x00"]
        compactor.close()


@pytest.mark.parametrize(
    ("way", "code", "says"),
    [
        ("dies", Fault.DIED, "ended with exit status 3 while `compact` ran"),
        ("killed", Fault.DIED, "killed by signal 9 (SIGKILL)"),
        ("noise", Fault.NOISE, "Loading model... done"),
        ("blank-line", Fault.NOISE, "no message"),
        ("not-utf8", Fault.SCHEMA, "UTF-8"),
        ("lone-surrogate", Fault.NOISE, "`data`"),
        ("terminal-escape", Fault.NOISE, r"\x1b[2J"),
        ("wrong-id", Fault.WRONG_ID, "999"),
        ("text-id", Fault.WRONG_ID, "'3'"),
        ("no-id", Fault.WRONG_ID, "without an id"),
        ("old-id", Fault.UNASKED, "answered request 2 again"),
        ("both", Fault.NOISE, "one of"),
        ("neither", Fault.NOISE, "one of"),
        ("no-version", Fault.NOISE, "jsonrpc"),
        ("misspelt", Fault.SCHEMA, "sumary"),
        ("unknown-kind", Fault.SCHEMA, "done"),
        ("wrong-type", Fault.SCHEMA, "answered `compact` out of schema"),
        ("deep", Fault.NOISE, "no message"),
        ("huge-line", Fault.LINE_TOO_LONG, "1048576 bytes"),
        ("answers-twice", Fault.UNASKED, "answered request 3 again"),
        ("asks-after", Fault.UNASKED, "'summarise' after `compact` was answered"),
        ("asks-other", Fault.UNASKED, "sampling"),
        ("notifies", Fault.UNASKED, "without an id"),
        ("asks-out-of-schema", Fault.SCHEMA, "prompt"),
        ("at-fault", Fault.ADAPTER, "the compactor is not installed"),
        ("unknown-operation", Fault.PROTOCOL, "-32601"),
    ],
)
def test_what_goes_wrong_in_an_operation_has_its_own_error(way: str, code: Fault, says: str) -> None:
    with pytest.raises(AdapterError) as caught:
        compact_with(way)

    assert caught.value.code is code
    assert says in str(caught.value)
    assert "fake_adapter.py" in str(caught.value)
    assert_one_line(caught.value)


def hurry(compactor: WireCompactor, seconds: float) -> None:
    """From here on each call may take so long. Set late: what is to succeed must not depend on the machine's load."""
    connection = compactor._connection
    connection._limits = dataclasses.replace(connection._limits, call=seconds, stop=seconds)
    connection._program._limits = connection._limits


@pytest.mark.parametrize("way", ["hangs", "half-a-line"])
def test_an_adapter_that_hangs_is_given_up_after_the_time_out(way: str) -> None:
    with load(target(way), limits=QUICK) as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), no_model)
        hurry(compactor, 0.2)
        with pytest.raises(AdapterError) as caught:
            compactor.compact()
        compactor.close()

    assert caught.value.code is Fault.HANG
    assert "`compact`" in str(caught.value)
    assert_one_line(caught.value)


def test_one_that_closes_its_output_and_stays_is_gone_too() -> None:
    with pytest.raises(AdapterError) as caught:
        compact_with("closes-output", limits=dataclasses.replace(QUICK, stop=0.2))

    assert caught.value.code is Fault.DIED
    assert "closed its standard output" in str(caught.value)


@pytest.mark.parametrize(
    ("way", "code", "says"),
    [
        ("dies-at-start", Fault.DIED, "ImportError: no module named 'compactor'"),
        ("prints-at-start", Fault.NOISE, "Welcome!"),
        ("other-protocol", Fault.SCHEMA, "protocol"),
        ("lacks-live", Fault.PROTOCOL, "does not offer live"),
        ("offers-unknown", Fault.SCHEMA, "levitate"),
        ("asks-early", Fault.UNASKED, "summary"),
        ("refuses", Fault.PROTOCOL, "not today"),
    ],
)
def test_what_goes_wrong_at_the_start_has_its_own_error(way: str, code: Fault, says: str) -> None:
    with load(target(way), limits=QUICK) as loaded, pytest.raises(AdapterError) as caught:
        loaded.describe()

    assert caught.value.code is code
    assert says in str(caught.value)
    assert_one_line(caught.value)


def test_one_that_never_answers_is_given_up_after_the_start_time_out() -> None:
    limits = Limits(start=0.3, call=20, stop=0.2)
    with load(target("never-answers"), limits=limits) as loaded, pytest.raises(AdapterError) as caught:
        loaded.describe()

    assert caught.value.code is Fault.HANG
    assert "`initialize`" in str(caught.value)


@pytest.mark.parametrize("command", ["cmd:/no/such/program --x", "cmd:/", "cmd:", "cmd:'unclosed", "cmd:a\0b"])
def test_a_program_that_cannot_be_started_is_told_so(command: str) -> None:
    with pytest.raises(AdapterError) as caught:
        load(command).describe()

    assert caught.value.code is Fault.START
    assert_one_line(caught.value)


@pytest.mark.parametrize(("way", "definite"), [("definite", True), ("indefinite", False), ("other-code", False)])
def test_an_operation_that_fails_is_no_adapter_error_and_the_session_goes_on(way: str, definite: bool) -> None:
    with load(target(way), limits=QUICK) as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), no_model)
        with pytest.raises(OperationError) as caught:
            compactor.compact()

        assert caught.value.definite is definite
        assert compactor.live() == ()
        compactor.close()


def test_summarise_is_served_while_an_operation_runs() -> None:
    seen = []

    def model(shown: Shown) -> Reply:
        seen.append(shown)
        return Reply(text="both", finish="length")

    outcome = compact_with("asks", summarise=model)

    assert seen == [Shown(messages=("x", "y"))]
    assert outcome.reason == '{"id": "a", "jsonrpc": "2.0", "result": {"finish": "length", "text": "both"}}'


def test_a_summariser_that_fails_is_told_to_the_adapter_as_an_error() -> None:
    def model(shown: Shown) -> Reply:
        raise SummariserError("rate limit")

    outcome = compact_with("asks", summarise=model)

    assert outcome.reason == '{"error": {"code": -32003, "message": "rate limit"}, "id": "a", "jsonrpc": "2.0"}'


def test_the_time_that_the_suite_takes_for_a_summary_is_not_the_adapters(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    fake = types.SimpleNamespace(monotonic=lambda: clock[0] + time.monotonic(), sleep=time.sleep)
    monkeypatch.setattr(connection_module, "time", fake)
    monkeypatch.setattr(process_module, "time", fake)

    def model(shown: Shown) -> Reply:
        clock[0] += 1000
        return Reply(text="late")

    assert compact_with("asks", summarise=model).kind is OutcomeKind.COMMITTED


def test_a_defect_of_the_suites_own_summariser_is_not_blamed_on_the_adapter() -> None:
    def model(shown: Shown) -> Reply:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        compact_with("asks", summarise=model)


def test_standard_error_is_drained_and_its_end_is_kept() -> None:
    with load(target("stderr-flood"), limits=QUICK) as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), no_model)
        assert compactor.compact().kind is OutcomeKind.NOTHING
        compactor.close()
        loaded.close()

        lines = loaded.stderr.splitlines()
        assert "earlier bytes are not kept" in lines[0]
        assert lines[-1].startswith("003999 ")
        assert len(loaded.stderr) < 2 * QUICK.stderr


def test_standard_error_is_in_the_error() -> None:
    with pytest.raises(AdapterError) as caught:
        compact_with("dies")

    assert "first\nRuntimeError: the store is gone" in caught.value.stderr
    assert "on standard error it says 'RuntimeError: the store is gone'" in str(caught.value)


def group_of(leader: int) -> list[str]:
    """State of each process of a group; a zombie that is not ours to reap has ended."""
    states = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, group = stat.read_text().rpartition(")")[2].split()[:3]
            pid = int(stat.parent.name)
            if int(group) == leader and (state != "Z" or pid == leader):
                states.append(state)
    return states


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")
@pytest.mark.parametrize("way", ["good", "stays", "ignores-shutdown", "leaves-a-child", "hangs"])
def test_no_process_outlives_the_session(way: str) -> None:
    loaded = load(target(way), limits=QUICK)
    compactor = loaded.make()
    compactor.describe()
    group = compactor._connection._program._process.pid
    assert group_of(group)
    compactor.open(Settings(), no_model)
    if way != "good":
        hurry(compactor, 0.3)
    if way == "hangs":
        with pytest.raises(AdapterError, match="did not answer in time"):
            compactor.compact()
    compactor.close()
    if way == "ignores-shutdown":
        with pytest.raises(AdapterError, match="did not answer in time"):
            loaded.close()
    loaded.close()

    assert group_of(group) == []


@pytest.mark.parametrize("way", ["good", "hangs"])
def test_what_a_program_leaves_in_its_temporary_directory_goes_with_it(way: str) -> None:
    loaded = load(target(way), limits=QUICK)
    compactor = loaded.make()
    compactor.describe()
    directory = Path(compactor._connection._program.files.name)
    (directory / "store").mkdir()
    (directory / "store" / "log").write_text("left behind by a killed process")
    compactor.open(Settings(), no_model)
    # The program was told of it, and of the rest of the environment.
    told = Path(f"/proc/{compactor._connection._program._process.pid}/environ")
    if told.exists():
        variables = dict(each.partition("=")[::2] for each in told.read_text().split("\0"))
        assert variables["TMPDIR"] == str(directory)
        assert variables["PATH"] == os.environ["PATH"]
    if way == "hangs":
        hurry(compactor, 0.3)
        with pytest.raises(AdapterError, match="did not answer in time"):
            compactor.compact()
    loaded.close()

    assert not directory.exists()


def test_a_program_serves_one_compactor_after_another_with_an_empty_session_each() -> None:
    with load(target("good"), limits=QUICK) as loaded:
        pids = set()
        for _ in range(3):
            compactor = loaded.make()
            compactor.open(Settings(), no_model)
            assert compactor.live() == ()
            compactor.append(Turn(id="t", speaker="user", text="x"))
            pids.add(compactor._connection._program._process.pid)
            compactor.close()
        assert len(pids) == 1


def test_without_reuse_each_compactor_has_a_program_of_its_own() -> None:
    with load(target("good"), limits=QUICK, reuse=False) as loaded:
        pids = set()
        for _ in range(2):
            compactor = loaded.make()
            compactor.open(Settings(), no_model)
            pids.add(compactor._connection._program._process.pid)
            compactor.close()
        assert len(pids) == 2


def test_after_an_adapter_error_the_next_compactor_starts_afresh() -> None:
    with load(target("wrong-id"), limits=QUICK) as loaded:
        for _ in range(2):
            compactor = loaded.make()
            compactor.open(Settings(), no_model)
            with pytest.raises(AdapterError, match="999"):
                compactor.compact()
            with pytest.raises(AdapterError, match="is gone"):
                compactor.live()
            compactor.close()


def test_a_close_that_fails_is_told_and_the_program_is_not_used_again() -> None:
    with load(target("close-fails"), limits=QUICK) as loaded:
        first = loaded.make()
        first.open(Settings(), no_model)
        program = first._connection._program._process
        with pytest.raises(OperationError, match="cannot close"):
            first.close()

        assert program.returncode is not None
        assert loaded.describe().name == "fake"


def test_an_operation_that_is_not_offered_is_not_asked_for() -> None:
    with load(target("good"), limits=QUICK) as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), no_model)
        with pytest.raises(NotImplementedError, match="does not offer `pointers`"):
            compactor.pointers()
        compactor.close()


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            ("a.mts:1", "SyntaxError: Unexpected token", "    at wrap (node:internal)", "", "Node.js v20.20.2"),
            "SyntaxError",
        ),
        (("thread 'main' panicked at src/main.rs:3", "note: run with a backtrace"), "panicked"),
        (("Traceback (most recent call last):", "KeyError: 'x'"), "KeyError"),
        (("one", "two"), "two"),
    ],
)
def test_of_standard_error_the_line_is_told_that_names_the_error(lines: tuple[str, ...], told: str) -> None:
    assert told in telling(lines)
