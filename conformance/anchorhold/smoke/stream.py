"""The probes of the stream itself: lines that are no requests, text of every kind, large and broken-up lines."""

import base64
import json
import time
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec import UNSET

from anchorhold.compactor import Settings
from anchorhold.errors import AdapterError, Fault
from anchorhold.smoke.adapter import Adapter, ProbeEnded, Talk
from anchorhold.wire.connection import SCHEMA
from anchorhold.wire.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    OPERATIONS,
    PARSE_ERROR,
    UNKNOWN_OPERATION,
    Message,
    MessageError,
    read_result,
)
from anchorhold_spec.vocabulary import Item

_NO_REQUEST: Final = (PARSE_ERROR, INVALID_REQUEST, UNKNOWN_OPERATION, INVALID_PARAMS)
"""Errors that say that it was no request, or not one that is taken."""
LARGE: Final = 2 * 2**20
"""Characters of the large turn: far more than what a pipe or a reader's default buffer holds."""
ODD: Final = (
    "é e\u0301 ß 漢字 \U0001f469\u200d\U0001f467 \u2028 \u2029 \u0085 \u00a0 \ufeff "
    "\u202e\u202c \x00 \x0b \x7f \t\r\n end"
)
BYTES: Final = b"\x00\xff\xed\xa0\x80\n\r binary"


@dataclass(frozen=True, slots=True)
class _Bad:
    """A line that is no request, and the errors with which it may be answered."""

    name: str
    line: bytes | None
    codes: tuple[int, ...]
    method: str = ""
    params: Any = None
    """Where `line` is none: a request with these params, which are wrong."""


_BAD: Final = (
    _Bad("text that is not JSON", b"hello there", (PARSE_ERROR, INVALID_REQUEST)),
    _Bad("half a message", b'{"jsonrpc": "2.0", "id": 99, "method": "live", "par', (PARSE_ERROR, INVALID_REQUEST)),
    _Bad("bytes that are not UTF-8", b'{"jsonrpc": "2.0", "m": "\xff\xfe"}', (PARSE_ERROR, INVALID_REQUEST)),
    _Bad("nesting without end", b"[" * 100_000, (PARSE_ERROR, INVALID_REQUEST)),
    _Bad("an array", b"[1, 2]", (PARSE_ERROR, INVALID_REQUEST)),
    _Bad("a request without a method", b'{"jsonrpc": "2.0", "id": 99}', (INVALID_REQUEST,)),
    _Bad("an unknown method", None, (UNKNOWN_OPERATION,), "levitate", {}),
    _Bad("`append` without a turn", None, (INVALID_PARAMS, INVALID_REQUEST), "append", {}),
    _Bad("`append` of a text", None, (INVALID_PARAMS, INVALID_REQUEST), "append", {"turn": "hello"}),
    _Bad("`append` with params by position", None, (INVALID_PARAMS, INVALID_REQUEST), "append", ["hello"]),
)


def wire_line(identity: int, method: str, params: Any, *, ascii_only: bool = False) -> bytes:
    """A request as a line."""
    message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
    return json.dumps(message, ensure_ascii=ascii_only).encode()


def settings(session: str = "s") -> dict[str, Any]:
    """Params of `open`."""
    taken = Settings(session=session, budget=400, watermark=0.7)
    names = ("session", "user", "branch", "budget", "watermark", "unit", "horizon", "lifetime", "keep")
    return {"settings": {name: getattr(taken, name) for name in names}}


def turn_params(identity: str, text: str | None, *, data: bytes | None = None) -> dict[str, Any]:
    """Params of `append`."""
    encoded = None if data is None else base64.b64encode(data).decode()
    turn: dict[str, Any] = {
        "id": identity,
        "speaker": "user",
        "text": text,
        "data": encoded,
        "time": None,
        "calls": [],
    }
    return {"turn": {**turn, "result_of": None, "status": None, "protected": False}}


def opened(talk: Talk, adapter: Adapter, *, session: str = "s", ascii_only: bool = False) -> Mapping[str, Any]:
    """Initialize and open; the settings that were taken. Raises AdapterError."""
    talk.initialize()
    adapter.asked.add("open")
    answer = talk.request("open", settings(session), ascii_only=ascii_only)
    if answer.result is UNSET:
        # Told as a finding, if it is one, by the probe of the operations.
        raise ProbeEnded
    taken: Mapping[str, Any] = json.loads(bytes(answer.result))
    return taken


# -- what is no request


def malformed(adapter: Adapter) -> None:
    """What is no request is answered with the error that says so, and what comes after it as if nothing had been."""
    description = adapter.description
    assert description is not None
    absent = [name for name in OPERATIONS if name not in description.operations]
    unoffered = (
        [_Bad(f"`{absent[0]}`, which is not offered", None, (UNKNOWN_OPERATION,), absent[0], {})] if absent else []
    )
    talk: Talk | None = None
    try:
        for bad in (*_BAD, *unoffered):
            try:
                if talk is None:
                    talk = adapter.talk()
                    opened(talk, adapter)
                _answered_as_bad(adapter, talk, bad)
            except AdapterError as error:
                if talk is not None:
                    talk.kill()
                talk = None
                adapter.failed(bad.name, error)
        _unknown_fields(adapter)
    finally:
        if talk is not None:
            talk.kill()


def _answered_as_bad(adapter: Adapter, talk: Talk, bad: _Bad) -> None:
    if bad.line is None:
        identity: int | None = talk.next_id()
        assert identity is not None
        answer = talk.exchange(wire_line(identity, bad.method, bad.params), identity=identity, where=bad.name)
    else:
        identity = 99 if bad.codes == (INVALID_REQUEST,) else None
        answer = talk.exchange(bad.line, identity=identity, where=bad.name)
    codes = " or ".join(map(str, bad.codes))
    if answer.error is UNSET:
        adapter.found(bad.name, "was answered with a result", hint=f"answer it with error {codes}")
    elif answer.error.code not in bad.codes:
        what = f"was answered with error {answer.error.code}, which says something else"
        adapter.found(bad.name, what, hint=f"answer it with error {codes}")
    if bad.line is None and answer.error is not UNSET and answer.id != identity:
        adapter.found(bad.name, "was answered without its id", hint="an answer repeats the id of its request")
    # Whatever it was, the session goes on.
    _in_form(adapter, talk.request("live", {}), f"`live` after {bad.name}")


def _in_form(adapter: Adapter, answer: Message, where: str) -> Sequence[Item] | None:
    """The window, where the answer is one; an error that is the compactor's is nothing to be found."""
    if answer.error is not UNSET:
        if answer.error.code in _NO_REQUEST:
            adapter.found(
                where, f"was answered with error {answer.error.code}", hint="it is a request like any other"
            )
        return None
    assert answer.result is not UNSET
    try:
        items: Sequence[Item] = read_result("live", answer.result)
    except MessageError as error:
        adapter.found(where, f"was answered out of schema: {error}", hint=SCHEMA, fault=Fault.SCHEMA)
        return None
    return items


def _unknown_fields(adapter: Adapter) -> None:
    """A later suite may send more: what it does not know the adapter ignores."""
    talk = adapter.talk()
    try:
        talk.initialize()
        params = settings()
        params["settings"]["of_a_later_suite"] = {"deep": [1, None]}
        more = {**params, "of_a_later_suite": True}
        turn = turn_params("t0", "hello")
        turn["turn"]["of_a_later_suite"] = 1.5
        for method, given in (("open", more), ("append", turn), ("live", {"of_a_later_suite": "x"})):
            answer = talk.request(method, given)
            if answer.error is not UNSET and answer.error.code in _NO_REQUEST:
                what = f"a field that it does not know was answered with error {answer.error.code}"
                adapter.found(method, what, hint="ignore fields of params that you do not know")
    except AdapterError as error:
        adapter.failed("a field that it does not know", error)
    finally:
        talk.kill()


# -- text


def text(adapter: Adapter) -> None:
    """The same text is the same, whether it comes as UTF-8 or escaped, and bytes are bytes."""
    shown = {}
    for ascii_only in (False, True):
        talk = adapter.talk()
        try:
            shown[ascii_only] = _through(adapter, talk, ascii_only=ascii_only)
        except AdapterError as error:
            how = "escaped" if ascii_only else "as UTF-8"
            adapter.failed(f"text beyond ASCII, {how}", error)
            return
        finally:
            talk.kill()
    raw, escaped = shown[False], shown[True]
    if raw != escaped:
        hint = "read standard input as UTF-8 and split it at line feeds alone, then parse JSON"
        adapter.found("append", "the same text, as UTF-8 and with escapes, is shown as two different ones", hint=hint)
    elif raw is not None and raw != ODD:
        adapter.note("live", f"a raw turn does not show its text as it was appended, but {raw[:60]!r}")


def _through(adapter: Adapter, talk: Talk, *, ascii_only: bool) -> str | None:
    """What a turn with odd text is shown as; none where it is not shown as a raw one."""
    name = "sitzung-é-漢-\U0001f511"
    taken = opened(talk, adapter, session=name, ascii_only=ascii_only)
    session = taken.get("session")
    if isinstance(session, str) and session != name and _garbled(session, name):
        hint = "read standard input and write standard output as UTF-8, whatever the locale says"
        adapter.found("open", f"gives the session's name back as {session!r}", hint=hint)
    for params in (turn_params("odd", ODD), turn_params("bytes", None, data=BYTES)):
        answer = talk.request("append", params, ascii_only=ascii_only)
        if answer.error is not UNSET:
            return None
    items = _in_form(adapter, talk.request("live", {}), "live") or ()
    encoded = base64.b64encode(BYTES).decode()
    if any(item.text == encoded for item in items):
        adapter.found("live", "shows the base64 of `data` as text", hint="decode `data` before the compactor gets it")
    odd = [item for item in items if item.turn == "odd" or item.id == "odd"]
    return odd[0].text if odd else None


def _garbled(got: str, given: str) -> bool:
    """Whether one text is the other, read or written in the wrong encoding."""
    forms = {
        given.encode("ascii", "replace").decode(),
        given.encode("ascii", "ignore").decode(),
        given.encode("ascii", "backslashreplace").decode(),
        unicodedata.normalize("NFD", given),
    }
    for encoding in ("latin-1", "cp1252", "ascii"):
        for errors in ("replace", "ignore", "surrogateescape", "backslashreplace"):
            forms.add(given.encode().decode(encoding, errors).encode("utf-8", "replace").decode())
            forms.add(given.encode(encoding, "replace" if errors == "surrogateescape" else errors).decode(encoding))
    return got in forms or "\ufffd" in got


# -- sizes


def sizes(adapter: Adapter) -> None:
    """A line may be large, may come in pieces, and an answer may be large too."""
    talk = adapter.talk()
    try:
        opened(talk, adapter)
        talk.request("append", turn_params("large", "0123456789abcde\n" * (LARGE // 16)))
        _in_form(adapter, talk.request("live", {}), "`live` with a large turn")
        talk.request("append", turn_params("whole", ODD))
        identity = talk.next_id()
        line = wire_line(identity, "append", turn_params("pieces", ODD)) + b"\n"
        # Between the bytes of one character.
        cut = line.index("é".encode()) + 1
        for part in (line[:9], line[9:cut], line[cut:-1]):
            talk.write(part, where="`append` in pieces")
            time.sleep(0.02)
        answer = talk.exchange(b"", identity=identity, where="`append` in pieces")
        hint = "read up to the line feed, and decode whole lines: a read gives what is there, not a message"
        if answer.error is not UNSET and answer.error.code in _NO_REQUEST:
            adapter.found("`append` in pieces", f"was answered with error {answer.error.code}", hint=hint)
        items = _in_form(adapter, talk.request("live", {}), "`live` after a line in pieces") or ()
        texts = {item.turn: item.text for item in items}
        if {"whole", "pieces"} <= texts.keys() and texts["whole"] != texts["pieces"]:
            adapter.found("`append` in pieces", "the same text is shown as another than from a whole line", hint=hint)
    except AdapterError as error:
        adapter.failed("large lines, and lines in pieces", error)
    finally:
        talk.kill()
