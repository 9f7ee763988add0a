"""Whatever bytes an adapter writes: an answer, an `OperationError` or an `AdapterError` of one line, nothing else."""

import json
import string
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anchorhold.compactor import Description, OperationError, Reply, Shown, SummariserError
from anchorhold.errors import AdapterError, one_line
from anchorhold.wire.connection import Connection
from anchorhold.wire.messages import METHODS, MessageError, read_message, read_result
from anchorhold.wire.process import Limits

OPERATIONS = [m for m in METHODS if m not in ("initialize", "shutdown")]
FIELDS = [
    "jsonrpc",
    "id",
    "method",
    "params",
    "result",
    "error",
    "code",
    "message",
    "messages",
    "kind",
    "text",
    "data",
]
WORDS = ["2.0", "summarise", "committed", "found", "raw", "degraded: x", "lossless", "\ud800", "\x00", "\x1b[2J"]

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)
nearly = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "id": st.sampled_from([1, 1, 1, 0, 2, "1", None, 1.0, True, 10**30])},
    optional={
        "result": values,
        "error": values | st.fixed_dictionaries({"code": st.integers(-32768, -32000), "message": st.text()}),
        "method": st.just("summarise") | values,
        "params": values | st.just({"messages": ["a"]}),
    },
).map(lambda message: json.dumps(message).encode())
lines = (
    st.binary(max_size=60)
    | nearly
    | values.map(lambda value: json.dumps(value).encode())
    | st.tuples(nearly, st.integers(0, 200)).map(lambda pair: pair[0][: pair[1]])
)


class Scripted:
    """Stands where the program stands: hands out the lines, and then is found dead."""

    stderr = "its standard error"

    def __init__(self, script: list[bytes]) -> None:
        # A newline ends a line, whatever it is in.
        self.script = [line for piece in script for line in piece.split(b"\n")]
        self.sent: list[bytes] = []
        self.killed = False
        self.asked = False

    @property
    def buffered(self) -> bool:
        return False

    def waiting(self, *, doing: str) -> bool:
        return False

    def send(self, line: bytes, *, deadline: float, doing: str) -> None:
        self.sent.append(line)

    def receive(self, *, deadline: float, doing: str) -> bytes:
        if not self.script:
            raise AdapterError("gone", hint="start it again")
        return self.script.pop(0)

    def kill(self) -> None:
        self.killed = True


def connection(script: list[bytes]) -> tuple[Connection, Scripted]:
    made = Connection.__new__(Connection)
    program = Scripted(script)
    made.name, made._limits, made._asked, made.usable = "fuzzed", Limits(), 0, True
    made._outstanding, made._turn, made._reading = {}, threading.Condition(), False
    made._program = program  # type: ignore[assignment]
    made.description = Description(name="f", version="0", operations=frozenset(OPERATIONS))
    return made, program


def model(shown: Shown) -> Reply:
    if "a" in shown.messages:
        raise SummariserError("no")
    return Reply(text="S")


@given(script=st.lists(lines, min_size=1, max_size=4), method=st.sampled_from(OPERATIONS))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_line_is_anything_but_an_answer_or_an_adapter_error(script: list[bytes], method: str) -> None:
    made, program = connection(script)
    failed: AdapterError | OperationError | None = None
    try:
        made.call(method, summarise=model)
    except (AdapterError, OperationError) as error:
        failed = error
    # After an adapter error nothing more is read from it; an operation that failed leaves it as it was.
    assert program.killed is isinstance(failed, AdapterError)
    assert made.usable is not program.killed
    if isinstance(failed, AdapterError):
        assert failed.hint
        assert failed.stderr == program.stderr or failed.message == "gone"
    if failed is not None:
        assert str(failed) == "" or str(failed).isprintable()
    # What the suite itself says is always a message.
    for line in program.sent:
        assert json.loads(line)["jsonrpc"] == "2.0"


@given(raw=st.binary(max_size=80) | values.map(lambda v: json.dumps(v).encode()), method=st.sampled_from([*METHODS]))
@settings(max_examples=200, deadline=None)
def test_a_result_that_is_taken_can_be_written_to_a_history(raw: bytes, method: str) -> None:
    import msgspec

    try:
        result = read_result(method, raw)
    except MessageError:
        return
    msgspec.json.encode(result)


@pytest.mark.parametrize("line", [b"", b"null", b"[]", b'"x"', b"{}", b"{", b"\xff", b"[" * 100_000, b"1" * 5000])
def test_a_line_that_is_no_message_is_told_apart_from_one_that_is(line: bytes) -> None:
    with pytest.raises(MessageError):
        read_message(line)


@given(st.text(alphabet=st.characters(), max_size=600) | st.text(alphabet=string.whitespace + "\x1b\x07\u202e"))
@settings(deadline=None)
def test_text_from_an_adapter_is_shown_as_one_printable_line(text: str) -> None:
    shown = one_line(text)

    assert shown == "" or shown.isprintable()
    assert len(shown) <= 400
