"""Spans of OpenTelemetry's conventions for generative AI, exported as JSON lines.

A span of a model call holds the whole window that the model was given. Where a window no longer continues the one
before it, something was replaced: what is new at its front is the summary, what is repeated stayed verbatim. What
the spans lack for that is reported.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from anchorhold.audit.model import Compaction, Damage, Event, Piece, Role, Turn
from anchorhold.audit.readers.common import call_pieces, texts, words
from anchorhold.audit.readers.source import open_bytes, records

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "tool": Role.RESULT}


def recognises(head: bytes) -> bool:
    """Whether a file begins like exported spans."""
    return b'"gen_ai.' in head or b'"resourceSpans"' in head


def spans(value: Any) -> Iterator[dict[str, Any]]:
    """The spans of a line: one by itself, or an export of several."""
    if not isinstance(value, dict):
        return
    if "resourceSpans" in value:
        for resource in value["resourceSpans"]:
            for scope in resource.get("scopeSpans") or []:
                yield from scope.get("spans") or []
    else:
        yield value


def _attributes(span: dict[str, Any]) -> dict[str, Any]:
    given = span.get("attributes")
    if isinstance(given, dict):
        return given
    return {str(each.get("key")): _plain(each.get("value")) for each in given or [] if isinstance(each, dict)}


def _plain(value: Any) -> Any:
    """A value of the protocol's own JSON, unwrapped."""
    if isinstance(value, dict) and len(value) == 1:
        ((key, inner),) = value.items()
        if key == "arrayValue":
            return [_plain(each) for each in inner.get("values") or []]
        if key == "kvlistValue":
            return {each["key"]: _plain(each["value"]) for each in inner.get("values") or []}
        if key.endswith("Value"):
            return inner
    return value


def _messages(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return []
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def read(path: Path, report: Callable[[Damage], None]) -> Iterator[Event]:
    """The events of a file. Raises `OSError`."""
    windows: dict[str, list[str]] = {}
    with open_bytes(path) as file:
        for number, record in records(file, report):
            for span in spans(record):
                yield from _span(path, number, span, windows, report)


def _span(
    path: Path, number: int, span: dict[str, Any], windows: dict[str, list[str]], report: Callable[[Damage], None]
) -> Iterator[Event]:
    attributes = _attributes(span)
    if attributes.get("gen_ai.operation.name") not in {"chat", "generate_content", "text_completion", None}:
        return
    if not any(str(key).startswith("gen_ai.") for key in attributes):
        report(Damage(kind="unknown", record=number, detail="a span without gen_ai attributes"))
        return
    session = words(attributes.get("gen_ai.conversation.id"))
    if session is None:
        report(Damage(kind="lacking", record=number, detail="no gen_ai.conversation.id: its trace stands in for it"))
        session = words(span.get("traceId")) or path.stem
    given = _messages(attributes.get("gen_ai.input.messages"))
    answered = _messages(attributes.get("gen_ai.output.messages"))
    if not given:
        report(Damage(kind="lacking", record=number, detail="no gen_ai.input.messages: the content was not captured"))
        return
    time = words(span.get("startTime")) or str(span.get("startTimeUnixNano") or "") or None
    now = [json.dumps(each, sort_keys=True, ensure_ascii=False) for each in given]
    before = windows.get(session, [])
    known = set(before)
    fresh = [index for index, each in enumerate(now) if each not in known]
    dropped = [each for each in before if each not in set(now)]
    if dropped and fresh:
        kept = [each for each in before if each in set(now)]
        index = fresh.pop(0)
        said = " ".join(piece.text for piece in _turn(session, number, given[index], f"/in/{index}", time).pieces)
        yield Compaction(
            session=session, record=number, summary_record=number, summary=said, field="gen_ai.input.messages",
            time=time, kept_from=_first_kept(before, kept),
        )  # fmt: skip
    elif dropped:
        report(Damage(kind="compaction", record=number, detail=f"{len(dropped)} messages left and no summary came"))
    for index in fresh:
        yield _turn(session, number, given[index], f"/in/{index}", time)
    for index, message in enumerate(answered):
        yield _turn(session, number, message, f"/out/{index}", time)
    windows[session] = now + [json.dumps(each, sort_keys=True, ensure_ascii=False) for each in answered]


def _first_kept(before: list[str], kept: list[str]) -> int | None:
    """Spans number their records alike, so what was kept cannot be told by record: its words are in the window."""
    del before, kept
    return None


def _turn(session: str, number: int, message: dict[str, Any], at: str, time: str | None) -> Turn:
    role = _ROLES.get(str(message.get("role")), Role.USER)
    pieces: list[Piece] = []
    for index, part in enumerate(message.get("parts") or []):
        kind = part.get("type") if isinstance(part, dict) else None
        where = f"{at}/parts/{index}"
        if kind == "tool_call":
            pieces += call_pieces(
                part.get("arguments"), f"{where}/arguments", tool=words(part.get("name")), call=words(part.get("id"))
            )
        elif kind == "tool_call_response":
            answer = part.get("response", part.get("result"))
            pieces += [
                Piece(role=Role.RESULT, text=text, field=field, call=words(part.get("id")))
                for field, text in texts(answer, f"{where}/response")
            ]
        elif kind == "reasoning" and words(part.get("content")):
            pieces.append(Piece(role=Role.THINKING, text=part["content"], field=f"{where}/content"))
        elif kind == "text" and words(part.get("content")):
            pieces.append(Piece(role=role, text=part["content"], field=f"{where}/content"))
    return Turn(session=session, record=number, pieces=tuple(pieces), time=time, human=role is Role.USER)
