"""The result document: what it holds, that it validates, and that any text survives in it."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_samples import conforming, failing, verdict

from anchorhold.result import Result, broken, decode, encode, failure, result, schema, schema_text
from anchorhold.verdict import Failure, VerdictKind
from anchorhold_spec.catalogue import RULES

SCHEMA_FILE = Path(__file__).parents[2] / "conformance" / "schemas" / "check-result.schema.json"
VALIDATOR = jsonschema.Draft202012Validator(schema())
SAMPLES = [failing()[0], conforming(), broken(compactor="cmd:x", error="it died", seconds=1.0, seed=0, stderr="boom")]


def test_the_committed_schema_is_current() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), (
        "run `python -m anchorhold.result > conformance/schemas/check-result.schema.json`"
    )


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("document", SAMPLES, ids=["failing", "conforming", "broken"])
def test_documents_validate_and_come_back_equal(document: Result) -> None:
    data = encode(document)

    VALIDATOR.validate(json.loads(data))
    assert decode(data) == document


def test_the_document_holds_what_was_promised_to_programs() -> None:
    document = json.loads(encode(failing()[0]))

    assert document["schema"] == 1
    assert document["compactor"] == "forgetful"
    assert document["version"] == "0.3.1"
    assert document["level"] == 0
    assert document["seed"] == 7
    assert document["seconds"] == 12.34
    assert list(document["rules"]) == list(RULES)
    assert document["rules"]["EPO-2"] == {"verdict": "pass", "reason": "held 12 times", "triggered": 12}
    assert document["rules"]["CON-1"]["verdict"] == "untested"
    assert document["blocked_by"]["3"][0] == "ANC-1"
    assert {"rule", "sentence", "fact", "history", "replay"} <= set(document["failures"][0])


def change(document: dict[str, Any], path: list[Any], value: Any) -> dict[str, Any]:
    at: Any = document
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["schema"], 2),
        (["level"], 6),
        (["level"], "5"),
        (["rules", "ANC-1", "verdict"], "passed"),
        (["rules", "ANC-1", "triggered"], -1),
        (["rules", "anc"], {"verdict": "pass", "reason": "", "triggered": 1}),
        (["failures", 0, "rule"], 7),
        (["seconds"], None),
    ],
)
def test_a_document_that_is_none_is_refused_by_schema_and_decoder_alike(path: list[Any], value: Any) -> None:
    wrong = change(json.loads(encode(failing()[0])), path, value)

    assert list(VALIDATOR.iter_errors(wrong))
    with pytest.raises(msgspec.ValidationError):
        decode(json.dumps(wrong).encode())


@pytest.mark.parametrize("field", ["schema", "compactor", "version", "level", "rules", "failures", "seconds", "seed"])
def test_no_promised_field_may_be_missing(field: str) -> None:
    wrong = json.loads(encode(conforming()))
    del wrong[field]

    assert list(VALIDATOR.iter_errors(wrong))


def test_a_run_that_broke_down_has_no_verdict_on_anything() -> None:
    document = broken(compactor="cmd:x", error="it died", seconds=1.0, seed=0)

    assert document.level is None
    assert document.rules == {}


def test_failures_and_verdicts_may_not_contradict_each_other() -> None:
    shown = failure(Failure(rule="ANC-1", sentence="s", fact="f", event=3), history="h", replay="r")

    assert shown.event == 3
    with pytest.raises(ValueError, match="ANC-1, whose verdict is not fail"):
        result(compactor="c", version="", verdicts=[], failures=[shown], seconds=0, seed=0)
    with pytest.raises(ValueError, match="no failure is given of ANC-1"):
        result(
            compactor="c", version="", verdicts=[verdict("ANC-1", VerdictKind.FAIL)], failures=[], seconds=0, seed=0
        )


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_any_text_gives_a_document_that_validates(text: str) -> None:
    found = Failure(rule="ANC-1", sentence=text, fact=text, event=0)
    document = result(
        compactor=text,
        version=text,
        verdicts=[verdict("ANC-1", VerdictKind.FAIL, text)],
        failures=[failure(found, history=text, replay=text)],
        seconds=0,
        seed=0,
        stderr=text,
    )
    plain = json.loads(encode(document))
    expected = text.encode("utf-8", "backslashreplace").decode()

    VALIDATOR.validate(plain)
    assert plain["stderr"] == plain["failures"][0]["sentence"] == plain["rules"]["ANC-1"]["reason"] == expected
