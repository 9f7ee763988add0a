"""Is what the summariser answered a summary at all? Pure functions over its reply (OUT-1).

Refusing a good summary costs one more call; committing an error text costs the history. So doubt refuses.
"""

import json
import re
from collections.abc import Sequence

from anchorhold_reference.values import CountTokens, Reply

COMPLETE = frozenset({"stop", "end_turn", "completed", "eos"})
"""Reasons to stop that mean the model had said all that it wanted to."""
CUT = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete", "model_context_window_exceeded"})
REFUSED = frozenset({"refusal", "content_filter", "safety", "blocked"})

_REFUSAL = re.compile(
    r"^\W*(?:i(?:'|’)?m\s+(?:really\s+|very\s+)?sorry\b|sorry,|i\s+apologi[sz]e\b|unfortunately,?\s+i\b"
    r"|(?:as\s+an\s+ai\b.{0,80})?i\s*"
    r"(?:can(?:'|’)?t|cannot|can\s+not|am\s+(?:unable|not\s+able)|won(?:'|’)?t|will\s+not)\b).{0,160}?"
    r"\b(?:help|assist|summari[sz]e|summar(?:y|ies)|comply|fulfil+|provide|continue|do\s+(?:that|this)|request)\b",
    re.IGNORECASE | re.DOTALL,
)
_ERROR = re.compile(
    r"^\W*(?:error\s*code\s*:?\s*\d{3}\b"
    r"|(?:http\s*(?:error)?\s*)?[45]\d\d\s*(?:[-:]\s*)?(?:too many requests|bad gateway|service unavailable"
    r"|gateway time-?out"
    r"|internal server error|unauthori[sz]ed|forbidden|not found|bad request)"
    r"|(?:\w+\.)*\w*(?:Error|Exception)\s*:\s"
    r"|error\s*:\s"
    r"|traceback \(most recent call last\)"
    r"|\{\s*['\"](?:error|detail|type)['\"]\s*:\s*(?:\{|['\"](?:error|invalid|rate|overloaded))"
    r"|<!doctype html|<html\b"
    r"|(?:rate limit|quota) (?:reached|exceeded)|request timed out|connection (?:error|refused|reset)"
    r"|upstream connect error"
    r"|(?:overloaded|server)_error\b)",
    re.IGNORECASE,
)
_REASONING = re.compile(r"<(think|thinking|reasoning|analysis)>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_CALL = re.compile(r"^\s*(?:<tool_call>|<function_call|\{\s*\"(?:tool_calls?|function_call|tool_use)\"\s*:)")


_OWN_LINE = re.compile(r"^[^\S\n]*\[stands for \d+ turns?\b[^\n]*\][^\S\n]*$", re.MULTILINE)
"""The line that the compactor itself writes under a summary (`summaries.omissions`). The model is shown it with the
older summary, and may copy it: what it says of omissions was counted for other turns."""
_OF_AN_ERROR = frozenset(
    ("error", "errors", "message", "code", "status", "status_code", "statusCode", "type", "detail", "title")
) | {"instance", "param", "request_id", "requestId", "timestamp", "path", "object"}
"""Names in the JSON objects by which providers and proxies tell of errors, and of nothing else."""


def plain(text: str) -> str:
    """Text with its white space levelled, to tell whether two texts say the same word for word."""
    return " ".join(text.split())


def said(reply: Reply) -> str:
    """The part of a reply that is meant for the reader: without the model's reasoning, without copies of the
    compactor's own line, without blank ends."""
    return _OWN_LINE.sub("", _REASONING.sub("", reply.text)).strip()


def malformed(reply: object) -> str | None:
    """Why what a summariser returned is no reply at all; none where it is one. A caller's function may return
    anything, whatever its type says, and no store takes every string."""
    if not isinstance(reply, Reply):
        return f"the summariser returned {type(reply).__name__}, not a Reply"
    for name in ("text", "finish"):
        value: object = getattr(reply, name)
        if not isinstance(value, str):
            return f"empty: the reply has no text, its {name} is {type(value).__name__}"
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            return f"not a text: its {name} is not valid Unicode at character {error.start}"
    return "not a text: it holds a null character" if "\x00" in reply.text else None


def _tells_an_error(text: str) -> bool:
    """Whether a text is a JSON object that has only what objects have that tell of errors."""
    if not text.startswith("{"):
        return False
    try:
        names = set(json.loads(text))
    except (ValueError, RecursionError):
        return False
    return bool(names & {"error", "errors", "message", "detail", "title"}) and names <= _OF_AN_ERROR


def fault(
    reply: Reply, *, shown: Sequence[str], previous: Sequence[str], rows: Sequence[Sequence[str]] = ()
) -> str | None:
    """Why this reply is no summary; none where nothing speaks against it. To be asked after `malformed`.

    `shown` is every text that would be an echo: the instructions, each carrier that the summary was to stand for;
    `rows` are texts that would be one in a row, line by line; `previous` what the summariser answered for the
    summaries before.
    """
    finish = reply.finish.lower()
    if finish in CUT:
        return f"truncated: the model stopped at its token limit (finish {reply.finish!r})"
    if finish in REFUSED:
        return f"refusal: the model declined (finish {reply.finish!r})"
    if finish not in COMPLETE:
        return f"not a finished text: the model stopped with {reply.finish!r}"
    if not reply.text:
        return "empty: the reply has no text"
    if not reply.text.strip():
        return "blank: the reply is white space"
    text = said(reply)
    if not text:
        return "only reasoning, or the compactor's own line: nothing in the reply is meant for the reader"
    if not any(character.isalnum() for character in text):
        return "blank: the reply has neither a letter nor a digit"
    if _CALL.match(text):
        return "a tool call, not a text"
    if _ERROR.match(text) or _tells_an_error(text):
        return "an error text of the provider, not a summary"
    if _REFUSAL.match(text):
        return "refusal: the model declined in words"
    words = plain(text)
    if words in {plain(earlier) for earlier in previous}:
        return "unchanged: word for word an earlier summary, which does not cover the new turns"
    # What was shown is long, and mostly begins otherwise: then its white space need not be levelled.
    first, _, _ = words.partition(" ")
    if any(plain(one) == words for one in shown if one.startswith(first) or one[:1].isspace()) or any(
        plain("\n".join(row)) == words for row in rows if _first_word(row) == first
    ):
        return "echo: word for word what the summariser was shown"
    return None


def _first_word(row: Sequence[str]) -> str:
    """The first word of texts in a row; empty where none of them has one."""
    return next((words[0] for one in row if (words := one.split(None, 1))), "")


_PIECE = re.compile(r"[^\n]*?[.!?](?=\s)|[^\n]+(?=\n|\Z)|\n")


def shorten(text: str, *, limit: int, count: CountTokens) -> tuple[str, int] | None:
    """Leave out whole sentences from the end until the text fits `limit` tokens; with how many were left out.

    Never inside a sentence: half a sentence can say the opposite. None where not even the first sentence fits.
    """
    if count(text) <= limit:
        return text, 0
    pieces = [m.group() for m in _PIECE.finditer(text)]
    low, high = 0, len(pieces)
    while low < high:
        middle = (low + high + 1) // 2
        if count("".join(pieces[:middle]).rstrip()) <= limit:
            low = middle
        else:
            high = middle - 1
    kept = "".join(pieces[:low]).rstrip()
    if not kept:
        return None
    return kept, sum(1 for piece in pieces[low:] if piece.strip())
