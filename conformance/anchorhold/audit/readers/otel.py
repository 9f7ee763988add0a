"""Spans of OpenTelemetry's conventions for generative AI, exported as JSON lines.

A span of a model call holds the whole window that the model was given. Where a window no longer continues the one
before it, something was replaced: what is new at its front is the summary, what is repeated stayed verbatim. What
the spans lack for that is reported.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from anchorhold.audit.model import Compaction, Damage, Event, Piece, Role, Turn
from anchorhold.audit.readers.common import Notes, call_pieces, called, dumped, short, texts, words
from anchorhold.audit.readers.source import WHOLE_JSON, is_json, keyed, open_bytes, records

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "tool": Role.RESULT}
_ASKED = frozenset({"chat", "generate_content", "text_completion"})
_GIVEN = "gen_ai.input.messages"
_ANSWERED = "gen_ai.output.messages"
_NAME = re.compile(rb'(?<!\\)"gen_ai\.')
_WORDLESS = frozenset({"blob", "uri", "file"})


def recognises(head: bytes) -> bool:
    """Whether a file begins like exported spans."""
    if not is_json(head):
        return False
    if keyed(head, "resourceSpans"):
        return True
    # A name of the conventions is a key, or in the protocol's own JSON the value of one; not words inside a string.
    return _NAME.search(head) is not None


def spans(value: Any, notes: Notes) -> Iterator[dict[str, Any]]:
    """The spans of a line: one by itself, or an export of several."""
    if not isinstance(value, dict):
        notes.ill_typed(value, "a span", "an object")
    elif "resourceSpans" not in value:
        yield value
    else:
        for resource in notes.items(value["resourceSpans"], "resourceSpans"):
            for scope in _held(resource, "scopeSpans", "a resource", notes):
                for span in _held(scope, "spans", "a scope", notes):
                    if isinstance(span, dict):
                        yield span
                    else:
                        notes.ill_typed(span, "a span", "an object")


def _held(value: Any, key: str, what: str, notes: Notes) -> list[Any]:
    held = notes.fields(value, what)
    if held.get(key) is None:
        notes.tell("lacking", f"{what} without {key}")
    return notes.items(held.get(key), key)


def _attributes(span: dict[str, Any], notes: Notes) -> dict[str, Any]:
    given = span.get("attributes")
    if isinstance(given, dict):
        return given
    found = {}
    for each in notes.items(given, "attributes"):
        pair = notes.fields(each, "an attribute")
        if key := notes.words(pair.get("key"), "an attribute's key"):
            found[key] = _plain(pair.get("value"), notes)
        elif "key" not in pair:
            notes.unknown("an attribute without a key")
    return found


def _plain(value: Any, notes: Notes, depth: int = 0) -> Any:
    """A value of the protocol's own JSON, unwrapped."""
    if not isinstance(value, dict) or len(value) != 1 or depth > 32:
        return value
    ((key, inner),) = value.items()
    if key == "arrayValue":
        held = notes.items(notes.fields(inner, key).get("values"), "values")
        return [_plain(each, notes, depth + 1) for each in held]
    if key == "kvlistValue":
        pairs = [
            notes.fields(each, "a pair") for each in notes.items(notes.fields(inner, key).get("values"), "values")
        ]
        return {str(pair.get("key")): _plain(pair.get("value"), notes, depth + 1) for pair in pairs}
    return inner if key.endswith("Value") else value


def _messages(attributes: dict[str, Any], key: str, notes: Notes) -> list[dict[str, Any]]:
    value = attributes.get(key)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            notes.tell("ill-typed", f"{key} is no JSON")
            return []
    held = notes.items(value, key)
    for each in held:
        if not isinstance(each, dict):
            notes.ill_typed(each, f"a message of {key}", "an object")
    return [each for each in held if isinstance(each, dict)]


def _started(span: dict[str, Any]) -> tuple[int, str]:
    """When it began, so that it can be compared: nanoseconds, or what stands for them."""
    nanoseconds = span.get("startTimeUnixNano")
    try:
        if isinstance(nanoseconds, (int, str)):
            return int(nanoseconds), ""
    except ValueError:
        pass
    return 0, words(span.get("startTime")) or words(span.get("start_time")) or ""


def read(path: Path, report: Callable[[Damage], None]) -> Iterator[Event]:
    """The events of a file. Raises `OSError`.

    Exporters write a span when it has ended: what is asked first may stand last. A file of up to `WHOLE_JSON` is
    put in order; in a larger one a span that comes late is reported and not compared with the window after it.
    """
    windows: dict[str, list[str]] = {}
    with open_bytes(path) as file:
        small = len(file.read(WHOLE_JSON + 1)) <= WHOLE_JSON
    with open_bytes(path) as file:
        stream = (
            (span, Notes(number, report))
            for number, record in records(file, report)
            for span in spans(record, Notes(number, report))
        )
        if small:
            yield from _read(path, iter(sorted(stream, key=lambda each: _started(each[0]))), windows)
        else:
            yield from _read(path, stream, windows)


def _read(
    path: Path, stream: Iterator[tuple[dict[str, Any], Notes]], windows: dict[str, list[str]]
) -> Iterator[Event]:
    last: dict[str, tuple[int, str]] = {}
    for span, notes in stream:
        attributes = _attributes(span, notes)
        operation = attributes.get("gen_ai.operation.name")
        if operation is not None and not (isinstance(operation, str) and operation in _ASKED):
            if not isinstance(operation, str):
                notes.ill_typed(operation, "gen_ai.operation.name", "a string")
            continue
        if not any(str(key).startswith("gen_ai.") for key in attributes):
            notes.unknown("a span without gen_ai attributes")
            continue
        session = notes.words(attributes.get("gen_ai.conversation.id"), "gen_ai.conversation.id")
        if session is None:
            notes.tell("lacking", "no gen_ai.conversation.id: its trace stands in for it")
            session = words(span.get("traceId")) or path.stem
        begun = _started(span)
        if begun < last.get(session, begun):
            notes.tell("order", "a span that began before the one above it: it is not compared with the window there")
            continue
        last[session] = begun
        yield from _span(session, notes, span, attributes, windows)


def _span(
    session: str, notes: Notes, span: dict[str, Any], attributes: dict[str, Any], windows: dict[str, list[str]]
) -> Iterator[Event]:
    given = _messages(attributes, _GIVEN, notes)
    answered = _messages(attributes, _ANSWERED, notes)
    if not given:
        notes.tell("lacking", f"no {_GIVEN}: the content was not captured")
        return
    nanoseconds = span.get("startTimeUnixNano")
    time = words(span.get("startTime")) or (str(nanoseconds) if isinstance(nanoseconds, (int, str)) else None) or None
    now = [dumped(each) for each in given]
    before, held = windows.get(session, []), set(now)
    known = set(before)
    fresh = [index for index, each in enumerate(now) if each not in known]
    dropped = [each for each in before if each not in held]
    if dropped and fresh:
        # Spans number their records alike, so what was kept cannot be told by record: its words are in the window.
        index = fresh.pop(0)
        first = _turn(session, notes, given[index], f"/in/{index}", time)
        yield Compaction(
            session=session, record=notes.number, summary_record=notes.number,
            summary=" ".join(piece.text for piece in first.pieces), field=_GIVEN, time=time,
        )  # fmt: skip
    elif dropped:
        notes.tell("compaction", f"{len(dropped)} messages left and no summary came")
    for index in fresh:
        yield _turn(session, notes, given[index], f"/in/{index}", time)
    for index, message in enumerate(answered):
        yield _turn(session, notes, message, f"/out/{index}", time)
    windows[session] = now + [dumped(each) for each in answered]


def _turn(session: str, notes: Notes, message: dict[str, Any], at: str, time: str | None) -> Turn:
    named = notes.words(message.get("role"), f"{at}/role")
    if named not in _ROLES:
        notes.unknown(f"a message with the role {short(message.get('role'))}")
    role = _ROLES.get(named or "", Role.USER)
    pieces: list[Piece] = []
    for index, each in enumerate(notes.items(message.get("parts"), f"{at}/parts")):
        where = f"{at}/parts/{index}"
        part = notes.fields(each, where)
        kind, content = part.get("type"), part.get("content")
        if kind == "tool_call":
            name, call = notes.words(part.get("name"), f"{where}/name"), notes.words(part.get("id"), f"{where}/id")
            pieces += call_pieces(part.get("arguments"), f"{where}/arguments", tool=name, call=call)
        elif kind == "tool_call_response":
            answer = part.get("response", part.get("result"))
            pieces += [
                Piece(role=Role.RESULT, text=text, field=field, call=notes.words(part.get("id"), f"{where}/id"))
                for field, text in texts(answer, f"{where}/response")
            ]
        elif kind in ("reasoning", "text"):
            if text := notes.words(content, f"{where}/content"):
                told = Role.THINKING if kind == "reasoning" else role
                pieces.append(Piece(role=told, text=text, field=f"{where}/content"))
        elif not isinstance(kind, str) or kind not in _WORDLESS:
            notes.unknown(f"{where} is {called(each)} of type {short(kind)}")
    return Turn(session=session, record=notes.number, pieces=tuple(pieces), time=time, human=role is Role.USER)
