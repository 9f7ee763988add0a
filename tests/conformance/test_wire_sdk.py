"""The SDK and the driver against each other: every operation, the summariser from anywhere, each kind of error."""

import dataclasses
import enum
import json
import shlex
import shutil
import sys
import textwrap
from pathlib import Path

import jsonschema
import msgspec
import pytest
from wire_walk import TURNS, Model, walk

from anchorhold import compactor as suite
from anchorhold.adapters import anchorhold_sdk as sdk
from anchorhold.check import check
from anchorhold.checkers import CHECKERS
from anchorhold.compactor import (
    Mechanism,
    OperationError,
    Reply,
    Settings,
    Shown,
)
from anchorhold.load import Loaded, load
from anchorhold.scenarios import Effort
from anchorhold.verdict import VerdictKind
from anchorhold.wire import messages
from anchorhold.wire.process import Limits, Program
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

ADAPTER = Path(__file__).with_name("sdk_adapter.py")
SCHEMA = json.loads((Path(__file__).parents[2] / "conformance/schemas/wire.schema.json").read_text())


def started() -> Loaded:
    command = [sys.executable, "-S", "-E", str(ADAPTER)]
    return load("cmd:" + shlex.join(command), limits=Limits(start=20, call=20, stop=5))


def test_every_operation_comes_through_the_wire_unchanged() -> None:
    with started() as loaded:
        walk(loaded, Model())
        # Once more on the same program: each `open` has a fresh instance of the class.
        walk(loaded, Model())
        assert "this goes to standard error" in loaded.stderr


def test_every_operation_comes_through_a_class_of_this_process_unchanged() -> None:
    with load(f"{ADAPTER}:Adapter") as loaded:
        walk(loaded, Model(), of_a_program=False)
        walk(loaded, Model(), of_a_program=False)


def test_every_message_of_both_sides_is_valid_against_the_committed_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[tuple[Program, dict]] = []
    answers: list[tuple[Program, dict]] = []
    send, receive = Program.send, Program.receive

    def sent(self: Program, line: bytes, **options: object) -> None:
        requests.append((self, json.loads(line)))
        send(self, line, **options)  # type: ignore[arg-type]

    def received(self: Program, **options: object) -> bytes:
        line = receive(self, **options)  # type: ignore[arg-type]
        answers.append((self, json.loads(line)))
        return line

    monkeypatch.setattr(Program, "send", sent)
    monkeypatch.setattr(Program, "receive", received)
    with started() as loaded:
        walk(loaded, Model())
        compactor = loaded.make()
        compactor.open(Settings(), Model(fails=True))
        for turn in TURNS:
            compactor.append(turn)
        with pytest.raises(OperationError):
            compactor.compact()
        compactor.close()

    def validate(message: dict, definition: str) -> None:
        schema = {"$ref": f"#/$defs/{definition}", "$defs": SCHEMA["$defs"]}
        jsonschema.Draft202012Validator(schema).validate(message)

    methods = {}
    seen = set()
    for program, message in requests:
        if "method" in message:
            # Each process that is started counts its requests anew.
            methods[program, message["id"]] = message["method"]
            validate(message, f"{message['method']}.request")
            seen.add(message["method"])
        else:
            validate(message, "summarise.response" if "result" in message else "error.response")
    for program, message in answers:
        if "method" in message:
            validate(message, "summarise.request")
        elif "error" in message:
            validate(message, "error.response")
        else:
            validate(message, f"{methods[program, message['id']]}.response")
    assert seen == set(messages.METHODS)
    whole = jsonschema.Draft202012Validator(SCHEMA)
    for _, message in requests + answers:
        assert whole.is_valid(message)


@pytest.mark.parametrize("way", ["main", "thread", "loop"])
def test_the_summariser_can_be_called_from_another_thread_or_event_loop(way: str) -> None:
    model = Model()
    with started() as loaded:
        compactor = loaded.make()
        compactor.open(Settings(branch=way), model)
        for turn in TURNS:
            compactor.append(turn)

        assert compactor.compact().kind is OutcomeKind.COMMITTED
        assert compactor.live()[0].text == "S1"
        compactor.close()


def test_several_summaries_can_be_asked_for_at_once() -> None:
    model = Model()
    with started() as loaded:
        compactor = loaded.make()
        compactor.open(Settings(branch="many"), model)
        for turn in TURNS:
            compactor.append(turn)
        compactor.compact()

        assert {m for shown in model.shown for m in shown.messages} == {"Summarise.", "first ü\u2028", ""}
        assert compactor.live()[0].text == "S1 S2 S3"
        compactor.close()


def test_a_failing_summariser_raises_in_the_adapter_and_what_it_lets_out_is_indefinite() -> None:
    with started() as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), Model(fails=True))
        for turn in TURNS:
            compactor.append(turn)
        with pytest.raises(OperationError, match="SummariserError: rate limit") as caught:
            compactor.compact()

        assert caught.value.definite is False
        assert len(compactor.live()) == 4
        compactor.close()


@pytest.mark.parametrize("where", ["program", "class"])
@pytest.mark.parametrize(
    ("session", "says"), [("raises", "KeyError: 'v'"), ("bad", "CancelledError"), ("exits", "SystemExit: 4")]
)
def test_whatever_leaves_the_compactor_is_indefinite(session: str, says: str, where: str) -> None:
    with started() if where == "program" else load(f"{ADAPTER}:Adapter") as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), Model())
        with pytest.raises(OperationError, match=says) as caught:
            compactor.switch(session, "v")

        assert caught.value.definite is False
        assert compactor.live() == ()
        compactor.close()


def test_an_operation_error_says_itself_whether_it_is_definite() -> None:
    with started() as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), Model())
        compactor.append(TURNS[0])
        with pytest.raises(OperationError, match="turn t1 is here already") as caught:
            compactor.append(TURNS[0])

        assert caught.value.definite is True
        compactor.close()


@pytest.mark.parametrize(
    "theirs",
    [ToolCall, Turn, Settings, Shown, Reply, suite.Description, Item, Pointer, Answer, Entry, Outcome, Tombstone],
)
def test_the_sdk_has_the_same_values_as_the_suite(theirs: type) -> None:
    own = getattr(sdk, theirs.__name__)

    def shape(cls: type) -> list[tuple[str, bool]]:
        return [
            (f.name, f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING)
            for f in dataclasses.fields(cls)
        ]

    assert shape(own) == shape(theirs)


@pytest.mark.parametrize("theirs", [Mechanism, suite.Unit, CarrierKind, OutcomeKind, AnswerKind])
def test_the_sdk_has_the_same_words_as_the_suite(theirs: type[enum.Enum]) -> None:
    assert {m.name: m.value for m in getattr(sdk, theirs.__name__)} == {m.name: m.value for m in theirs}


def test_the_sdk_has_the_same_operations_params_and_codes_as_the_suite() -> None:
    assert sdk.OPERATIONS == messages.OPERATIONS
    for operation in set(sdk.OPTIONAL) - {"resume"}:
        # What has a default is handed over only where it differs from that: the branch of a `switch`.
        fields = msgspec.structs.fields(messages.METHODS[operation].params)
        assert sdk.PARAMETERS.get(operation, ()) == tuple(f.name for f in fields if f.required)
    codes = [name for name, value in vars(messages).items() if name.isupper() and isinstance(value, int)]
    assert len(codes) == 9
    for code in codes:
        assert getattr(sdk, code) == getattr(messages, code)


def test_text_with_lone_surrogates_travels_as_bytes() -> None:
    item = sdk.Item(id="a", kind=sdk.CarrierKind.RAW, text="x\ud800")

    assert sdk.plain(item)["data"] == "eO2ggA=="
    assert "text" not in sdk.plain(item)


def test_what_is_none_and_has_to_be_there_is_there() -> None:
    tombstone = sdk.Tombstone(literal="x", source=None, decided_by="caller", reason="why")

    assert messages.read_result("tombstones", json.dumps(sdk.plain([tombstone])).encode()) == (
        Tombstone(literal="x", source=None, decided_by="caller", reason="why"),
    )


@pytest.mark.parametrize("value", [object(), {"a": object()}, [print]])
def test_what_the_protocol_has_no_form_for_is_the_adapters_fault(value: object) -> None:
    with pytest.raises(sdk.AdapterError, match="no form"):
        sdk.plain(value)


def test_the_adapter_at_the_head_of_the_sdk_is_whole_and_drops_nothing(tmp_path: Path) -> None:
    head, _, _ = (sdk.__doc__ or "").partition("An operation is offered")
    code = textwrap.dedent("\n".join(line for line in head.splitlines() if line.startswith("    ") or not line))
    (tmp_path / "adapter.py").write_text(code)
    shutil.copy(sdk.__file__, tmp_path / "anchorhold_sdk.py")
    command = f"cmd:{shlex.join([sys.executable, str(tmp_path / 'adapter.py')])}"

    with load(command) as loaded:
        checked = check(loaded, checkers=CHECKERS, histories=tmp_path, effort=Effort.QUICK, named=["growth-drop"])

    # It never compacts, and says so.
    assert {failure.rule for failure in checked.result.failures} <= {"PRO-1"}
    assert checked.result.rules["ANC-1"].verdict is not VerdictKind.FAIL
