"""The committed schemas, and PROTOCOL.md, say what the code does."""

import enum
import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from anchorhold.compactor import Mechanism, Unit
from anchorhold.wire import messages, schemas
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, OutcomeKind

CONFORMANCE = Path(__file__).parents[2] / "conformance"
PROTOCOL = (CONFORMANCE / "PROTOCOL.md").read_text(encoding="utf-8")


def test_the_committed_schemas_are_current() -> None:
    for name, text in schemas.documents().items():
        committed = (CONFORMANCE / "schemas" / name).read_text(encoding="utf-8")
        assert committed == text, "run: python -m anchorhold.wire.schemas conformance/schemas"


@pytest.mark.parametrize("name", list(schemas.documents()))
def test_the_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schemas.documents()[name]))


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("compact", {"kind": "committed", "sumary": "s"}),
        ("compact", {"kind": "done"}),
        ("compact", None),
        ("live", [{"id": "a"}]),
        ("live", [{"id": 1, "kind": "raw"}]),
        ("status", "fine"),
        ("status", "degraded: "),
        ("close", True),
        ("append", 1),
        ("corrupt", None),
        ("pointers", [{"summary": "s", "token": "t", "epoch": 2**63}]),
        ("initialize", {"protocol": 2, "description": {"name": "a", "version": "1"}}),
        ("initialize", {"protocol": 1, "description": {"name": "a", "version": "1", "operations": ["fly"]}}),
    ],
)
def test_the_decoder_and_the_schema_refuse_the_same(method: str, result: object) -> None:
    document = json.loads(schemas.documents()["wire.schema.json"])
    with pytest.raises(messages.MessageError):
        messages.read_result(method, json.dumps(result).encode())
    schema = {"$ref": f"#/$defs/{method}.result", "$defs": document["$defs"]}
    assert not jsonschema.Draft202012Validator(schema).is_valid(result)


@pytest.mark.parametrize("method", [*messages.METHODS, "summarise"])
def test_the_protocol_text_describes_every_method_with_its_params(method: str) -> None:
    heading = re.search(rf"^#+ `{method}`.*?$(?P<body>.*?)^#", PROTOCOL + "\n#", re.MULTILINE | re.DOTALL)
    assert heading is not None
    params = messages.SummariseParams if method == "summarise" else messages.METHODS[method].params
    for name in params.__struct_fields__:
        assert f"`{name}`" in heading["body"]


def test_the_protocol_text_names_every_field_word_and_code() -> None:
    document = json.loads(schemas.documents()["wire.schema.json"])
    for name, definition in document["$defs"].items():
        for field in definition.get("properties", {}):
            assert f"`{field}`" in PROTOCOL, f"{name}.{field}"
    words: list[type[enum.Enum]] = [Mechanism, Unit, AnswerKind, CarrierKind, OutcomeKind]
    for kind in words:
        for word in kind:
            assert f"`{word.value}`" in PROTOCOL
    for name in ("PARSE_ERROR", "INVALID_REQUEST", "UNKNOWN_OPERATION", "INVALID_PARAMS", "DEFINITE", "INDEFINITE"):
        assert f"`{getattr(messages, name)}`" in PROTOCOL
    assert f"`{messages.SUMMARISER_FAILED}`" in PROTOCOL
    assert f"`{messages.ADAPTER_ERROR}`" in PROTOCOL


def session() -> list[tuple[str, dict]]:
    """The worked session: who says it (`→` the suite, `←` the adapter), and the message."""
    return [(line[0], json.loads(line[2:])) for line in PROTOCOL.splitlines() if line[:2] in ("→ ", "← ")]


def test_the_worked_session_is_valid_against_the_schema() -> None:
    document = json.loads(schemas.documents()["wire.schema.json"])
    methods = {}
    for who, message in session():
        if "method" in message:
            methods[who, message["id"]] = message["method"]
            definition = f"{message['method']}.request"
        elif "error" in message:
            definition = "error.response"
        else:
            definition = f"{methods['→' if who == '←' else '←', message['id']]}.response"
        schema = {"$ref": f"#/$defs/{definition}", "$defs": document["$defs"]}
        jsonschema.Draft202012Validator(schema).validate(message)
    assert {"initialize", "open", "append", "compact", "summarise", "live", "close", "shutdown"} <= {
        *methods.values()
    }


def test_the_adapter_in_the_protocol_text_answers_as_in_the_worked_session(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PROTOCOL, re.DOTALL)
    path = tmp_path / "adapter.py"
    path.write_text(program, encoding="utf-8")
    said = "".join(json.dumps(message) + "\n" for who, message in session() if who == "→")
    ran = subprocess.run(
        [sys.executable, "-S", "-E", str(path)], input=said, capture_output=True, text=True, timeout=60, check=True
    )

    assert [json.loads(line) for line in ran.stdout.splitlines()] == [m for who, m in session() if who == "←"]
