"""Reads requests: what each of the three APIs shows the model, as one text a message."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

INSTRUCTING = frozenset({"system", "developer"})
CHAT = "chat"
RESPONSES = "responses"
MESSAGES = "messages"


class BadRequest(Exception):  # noqa: N818 - it is the request that is bad, and HTTP's name for it
    """A body that the API does not take; answered with HTTP 400, as the real servers do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request."""

    api: str
    model: str
    stream: bool
    roles: tuple[str, ...]
    """Who says each message."""
    messages: tuple[str, ...]
    """The text of each message in order, instructions included. Images and the like have none."""
    tools: tuple[str, ...]
    """Names of the tools that are offered."""
    body: Mapping[str, Any]

    @property
    def said(self) -> tuple[str, ...]:
        """The messages that are not instructions."""
        pairs = zip(self.roles, self.messages, strict=True)
        return tuple(text for role, text in pairs if role not in INSTRUCTING)


def read(api: str, body: Any, before: tuple[tuple[str, str], ...] = ()) -> Asked:
    """Read the body of a request; `before` is the conversation that it goes on from. Raises BadRequest."""
    if not isinstance(body, dict):
        raise BadRequest("the body is a JSON object")
    model, stream = body.get("model"), body.get("stream") or False
    if not isinstance(model, str) or not model:
        raise BadRequest("`model` is missing: a text")
    if not isinstance(stream, bool):
        raise BadRequest("`stream` is true or false")
    if api == MESSAGES and not isinstance(body.get("max_tokens"), int):
        raise BadRequest("`max_tokens` is missing: a number")
    try:
        told = list(_READERS[api](body))
    except (TypeError, AttributeError, ValueError) as error:
        raise BadRequest(f"the messages cannot be read: {error}") from None
    # Instructions of this request stand before the whole conversation.
    fresh = [pair for pair in told if pair[0] not in INSTRUCTING]
    instructions = [pair for pair in told if pair[0] in INSTRUCTING]
    whole = [*instructions, *before, *fresh] if before else told
    return Asked(
        api=api,
        model=model,
        stream=stream,
        roles=tuple(role for role, _ in whole),
        messages=tuple(text for _, text in whole),
        tools=tuple(_tools(body.get("tools"))),
        body=body,
    )


def _chat(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for message in _listed(body, "messages"):
        calls = [call.get("function") or {} for call in message.get("tool_calls") or ()]
        old = [message["function_call"]] if message.get("function_call") else []
        arguments = [str(call.get("arguments") or "") for call in (*calls, *old)]
        yield _role(message), _joined([_text(message.get("content")), message.get("refusal") or "", *arguments])


def _responses(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if body.get("instructions"):
        yield "system", _text(body["instructions"])
    given = body.get("input")
    if isinstance(given, str):
        yield "user", given
        return
    for item in _listed(body, "input"):
        match item.get("type", "message"):
            case "message":
                yield _role(item), _text(item.get("content"))
            case "reasoning":
                yield "assistant", _text(item.get("summary"))
            case kind if kind.endswith("_output"):
                yield "tool", _text(item.get("output"))
            case kind if kind.endswith("_call"):
                yield "assistant", _text(item.get("arguments") or item.get("input") or item.get("action"))
            case _:
                yield "user", _text(item.get("content"))


def _messages(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if body.get("system"):
        yield "system", _text(body["system"])
    for message in _listed(body, "messages"):
        yield _role(message), _text(message.get("content"))


_READERS = {CHAT: _chat, RESPONSES: _responses, MESSAGES: _messages}


def _listed(body: Mapping[str, Any], name: str) -> list[Any]:
    value = body.get(name)
    if not isinstance(value, list) or not value:
        raise BadRequest(f"`{name}` is missing: an array that is not empty")
    if not all(isinstance(each, dict) for each in value):
        raise BadRequest(f"`{name}` has an element that is no object")
    return value


def _role(message: Mapping[str, Any]) -> str:
    role = message.get("role")
    if not isinstance(role, str):
        raise BadRequest("a message has no `role`")
    return role


def _text(content: Any) -> str:
    """The text of a content: a text itself, or parts of which those that have text are joined."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return _joined([_part(part) for part in content])
    return json.dumps(content, ensure_ascii=False)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    match part.get("type"):
        case "tool_use" | "server_tool_use":
            return json.dumps(part.get("input") or {}, ensure_ascii=False)
        case "tool_result":
            return _text(part.get("content"))
        case _:
            return str(part.get("text") or part.get("thinking") or part.get("refusal") or "")


def _joined(texts: list[str]) -> str:
    return "\n".join(text for text in texts if text)


def _tools(tools: Any) -> Iterator[str]:
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict):
            function = tool.get("function")
            name = (function if isinstance(function, dict) else tool).get("name")
            if isinstance(name, str):
                yield name
