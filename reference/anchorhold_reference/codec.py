"""Turns as bytes: the original, byte- and type-exact, as it lies in the window and in the cold store (STR-3).

A header in JSON, a line feed, then the text, each call's arguments and the data, one after the other, with their
lengths in the header. Text outside the header can be searched in the bytes as it stands; lone surrogates pass.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from anchorhold_reference.errors import NotUnicodeError
from anchorhold_spec.vocabulary import ToolCall, Turn


def encode_text(text: str) -> bytes:
    """Text as bytes; lone surrogates pass, so that no content that a caller could append is refused."""
    return text.encode("utf-8", "surrogatepass")


def encode(turn: Turn) -> bytes:
    """A turn as bytes; equal turns give equal bytes, and other turns other bytes.

    Raises `NotUnicodeError` where a name holds both halves of a surrogate pair: in its bytes they are one character.
    """
    text = None if turn.text is None else encode_text(turn.text)
    arguments = [encode_text(call.arguments) for call in turn.calls]
    header: dict[str, Any] = {
        "id": turn.id,
        "speaker": turn.speaker,
        "time": turn.time,
        "status": turn.status,
        "protected": turn.protected,
        "result_of": turn.result_of,
        "text": None if text is None else len(text),
        "calls": [[call.id, call.name, len(a)] for call, a in zip(turn.calls, arguments, strict=True)],
        "data": None if turn.data is None else len(turn.data),
    }
    if turn.declared is not None:
        # Left out where there is none: the bytes of such turns are what they always were.
        header["declared"] = turn.declared
    head = json.dumps(header, separators=(",", ":"), sort_keys=True).encode("ascii")
    if b"\\ud" in head:
        _refuse_pairs(turn)
    return b"".join([head, b"\n", text or b"", *arguments, turn.data or b""])


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _refuse_pairs(turn: Turn) -> None:
    names = (turn.id, turn.speaker, turn.status, turn.result_of, turn.declared, *_names(turn))
    for name in names:
        if isinstance(name, str) and _PAIR.search(name):
            raise NotUnicodeError(f"{name!r} holds a surrogate pair as two characters")


def _names(turn: Turn) -> Iterator[str]:
    for call in turn.calls:
        yield call.id
        yield call.name


def decode(payload: bytes) -> Turn:
    """The turn of these bytes; raises `ValueError` where they are none."""
    header, body = _split(payload)
    length = header["text"]
    text, at = None, 0
    if length is not None:
        text, at = _text(_take(body, 0, length)), length
    calls = []
    for call_id, name, length in header["calls"]:
        calls.append(ToolCall(id=call_id, name=name, arguments=_text(_take(body, at, length))))
        at += length
    length = header["data"]
    return Turn(
        id=header["id"],
        speaker=header["speaker"],
        text=text,
        data=None if length is None else _take(body, at, length),
        time=header["time"],
        calls=tuple(calls),
        result_of=header["result_of"],
        status=header["status"],
        protected=header["protected"],
        declared=header.get("declared"),
    )


def verbatim(turn: Turn) -> bool:
    """Whether the turn is what `decode` makes of its bytes: a text and nothing else, of no types but plain ones."""
    return (
        type(turn) is Turn
        and type(turn.id) is str
        and type(turn.speaker) is str
        and type(turn.text) is str
        and turn.data is None
        and type(turn.calls) is tuple
        and not turn.calls
        and {type(turn.time), type(turn.result_of), type(turn.status), type(turn.protected), type(turn.declared)}
        <= _PLAIN
    )


_PLAIN = {type(None), str, float, bool}


def told(payload: bytes) -> tuple[str, str | None, bytes | None]:
    """What an answer tells of the turn of these bytes: its id, the turn as a model reads it (see `shown`), its data.
    Raises as `decode` does.

    Most turns are a text and nothing else: of these no turn is made, and of the header only this is read.
    """
    simple = _SIMPLE.match(payload)
    if simple is not None:
        name, length = simple.groups()
        body = payload[simple.end() :]
        if len(body) == int(length):
            return name.decode("ascii"), _text(body), None
    turn = decode(payload)
    return turn.id, shown(turn), turn.data


_SIMPLE = re.compile(
    rb'\{"calls":\[\],"data":null,"id":"([^"\\\n]*)","protected":(?:false|true),"result_of":(?:null|"[^"\\\n]*"),"'
    rb'speaker":"[^"\\\n]*","status":(?:null|"[^"\\\n]*"),"text":(\d{1,12}),"time":[^"\n]*\}\n'
)
"""The header that `encode` writes for a text and nothing else, where nothing in it had to be escaped."""


def _split(payload: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and body."""
    head, _, body = payload.partition(b"\n")
    text = head.decode("ascii")
    header, end = _read(text)
    if end != len(text) or len(head) == len(payload):
        raise ValueError("no header: these bytes are no turn")
    return header, body


_read = json.JSONDecoder().raw_decode


def _take(body: bytes, at: int, length: int) -> bytes:
    piece = body[at : at + length]
    if len(piece) != length:
        raise ValueError(f"cut short: {length} bytes announced, {len(piece)} there")
    return piece


def _text(piece: bytes) -> str:
    return piece.decode("utf-8", "surrogatepass")


def digest(payload: bytes) -> bytes:
    """SHA-256, whole: a shortened digest is one that two spans can share (EPO-3)."""
    return hashlib.sha256(payload).digest()


def shown(turn: Turn) -> str | None:
    """A turn as a model reads it: its text, then its calls. None where there is only data."""
    if not turn.calls:
        return turn.text
    parts = [] if turn.text is None else [turn.text]
    parts += [f"{call.name}({call.arguments})" for call in turn.calls]
    return "\n".join(parts)


def size_text(turn: Turn) -> str:
    """A text as long as the turn is in a window, for counting."""
    return (shown(turn) or "") + "?" * len(turn.data or b"")
