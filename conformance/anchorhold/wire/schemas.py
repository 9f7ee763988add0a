"""The JSON Schemas in conformance/schemas/, generated from the types that the suite decodes with.

python -m anchorhold.wire.schemas conformance/schemas
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec

from anchorhold.compactor import Reply
from anchorhold.history import Event, Header
from anchorhold.wire.messages import METHODS, ErrorObject, SummariseParams
from anchorhold.workload import Workload

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_ID: Final = Annotated[int, msgspec.Meta(ge=1)]


def documents() -> dict[str, str]:
    """Every schema file: its name and its text."""
    schemas = {
        "wire.schema.json": _wire(),
        "history.schema.json": _document(
            "One line of a history: the header, then events.", {"header": Header, "event": Event}
        ),
        "workload.schema.json": _document("What the suite does to a compactor.", {"workload": Workload}),
    }
    return {name: json.dumps(schema, indent=1, ensure_ascii=False) + "\n" for name, schema in schemas.items()}


def _wire() -> dict[str, Any]:
    lines: dict[str, Any] = {}
    parts: dict[str, Any] = {}
    for method, specification in METHODS.items():
        lines[f"{method}.request"] = _message(f"{method}.request", method=method, params=specification.params)
        lines[f"{method}.response"] = _message(f"{method}.response", result=specification.result)
        parts[f"{method}.params"] = specification.params
        parts[f"{method}.result"] = specification.result
    identity = int | str
    lines["summarise.request"] = _message(
        "summarise.request", identity=identity, method="summarise", params=SummariseParams
    )
    lines["summarise.response"] = _message("summarise.response", identity=identity, result=Reply)
    lines["error.response"] = _message("error.response", identity=identity | None, error=ErrorObject)
    parts |= {"summarise.params": SummariseParams, "summarise.result": Reply}
    return _document("Any line of the wire protocol, either way; one definition a message.", lines, parts)


def _message(name: str, *, identity: Any = _ID, method: str | None = None, **members: Any) -> Any:
    fields: list[Any] = [("jsonrpc", Literal["2.0"]), ("id", identity)]
    if method is not None:
        fields.append(("method", Literal[method]))
    if method is not None and not msgspec.structs.fields(members["params"]):
        fields.append(("params", members.pop("params"), {}))
    fields += members.items()
    return msgspec.defstruct(name, fields, frozen=True, kw_only=True, forbid_unknown_fields=True)


def _document(title: str, roots: Mapping[str, Any], more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """One schema that takes any of the roots, with a definition for each of them and of `more`."""
    named = {**roots, **(more or {})}
    schemas, components = msgspec.json.schema_components(named.values(), ref_template="#/$defs/{name}")
    definitions = dict(zip(named, schemas, strict=True))
    # A root that is a component of its own name stands there already.
    own = {name: schema for name, schema in definitions.items() if schema != {"$ref": f"#/$defs/{name}"}}
    return {
        "$schema": _DIALECT,
        "title": title,
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in roots],
        "$defs": {**own, **components},
    }


def main(arguments: list[str]) -> None:
    """Write the files into the folder that is named."""
    (folder,) = arguments
    for name, text in documents().items():
        (Path(folder) / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
