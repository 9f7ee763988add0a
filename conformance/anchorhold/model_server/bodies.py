"""Writes answers: the bodies and the events of each API, as the official clients read them."""

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from anchorhold.model_server.answering import Answer, Decision
from anchorhold.model_server.asked import CHAT, MESSAGES, RESPONSES, Asked

CREATED = 1_767_225_600
"""When everything was made: the same each time, so that records can be compared."""
INCOMPLETE = {"length": "max_output_tokens", "content-filter": "content_filter"}
"""Why a response of this API is incomplete, by how the answer ended."""
Json: TypeAlias = dict[str, Any]
Event: TypeAlias = tuple[str | None, Json | str]
"""Name of a server-sent event, where the API names its events, and its data."""

_PIECE = re.compile(r"\s*\S+|\s+")
_OPENAI_ERRORS = {
    400: ("invalid_request_error", "invalid_request"),
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", "not_found"),
    429: ("requests", "rate_limit_exceeded"),
}
_ANTHROPIC_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def pieces(text: str) -> list[str]:
    """A text in the pieces in which it is streamed; joined they are the text."""
    return _PIECE.findall(text)


def body(asked: Asked, decision: Decision) -> Json:
    """The whole answer in one."""
    return _BODIES[asked.api](asked, decision)


def events(asked: Asked, decision: Decision) -> list[Event]:
    """The answer as a stream."""
    return list(_EVENTS[asked.api](asked, decision))


def error(api: str, status: int, message: str) -> Json:
    """The body of an answer with an HTTP status that is not 200."""
    if api == MESSAGES:
        return {"type": "error", "error": {"type": _ANTHROPIC_ERRORS.get(status, "api_error"), "message": message}}
    kind, code = _OPENAI_ERRORS.get(status, ("server_error", "server_error"))
    return {"error": {"message": message, "type": kind, "code": code, "param": None}}


def broken(asked: Asked, decision: Decision) -> Event:
    """The event by which an API tells, in the middle of a stream, that nothing more comes."""
    words = decision.message
    if asked.api == RESPONSES:
        failed = _response(asked, decision, output=[], status="failed")
        return "response.failed", {
            "type": "response.failed",
            "sequence_number": len(events(asked, decision)) // 2,
            "response": {**failed, "error": {"code": "server_error", "message": words}, "usage": None},
        }
    return ("error" if asked.api == MESSAGES else None), error(
        asked.api, 529 if asked.api == MESSAGES else 503, words
    )


def tokens(*texts: str) -> int:
    """Four characters are a token, rounded up: the suite's own counter."""
    return -(-sum(map(len, texts)) // 4)


def _arguments(answer: Answer) -> str:
    return json.dumps(answer.call.arguments if answer.call else {}, ensure_ascii=False)


def _id(prefix: str, decision: Decision) -> str:
    return f"{prefix}_anchorhold_{decision.number}"


# -- chat completions


def _chat_finish(answer: Answer) -> str:
    # A refusal is told by the message's own field: the finish reason is `stop`.
    ends = {"length": "length", "tool-call": "tool_calls", "content-filter": "content_filter"}
    return ends.get(answer.finish, "stop")


def _chat_usage(asked: Asked, answer: Answer) -> Json:
    prompt, completion = tokens(*asked.messages), tokens(answer.text)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _chat_call(decision: Decision) -> Json:
    assert decision.answer.call is not None
    function = {"name": decision.answer.call.name, "arguments": _arguments(decision.answer)}
    return {"id": _id("call", decision), "type": "function", "function": function}


def _chat_body(asked: Asked, decision: Decision) -> Json:
    answer = decision.answer
    message: Json = {"role": "assistant", "content": answer.text, "refusal": None}
    if answer.finish == "refusal":
        message |= {"content": None, "refusal": answer.text}
    if answer.call is not None:
        message |= {"content": answer.text or None, "tool_calls": [_chat_call(decision)]}
    return {
        "id": _id("chatcmpl", decision),
        "object": "chat.completion",
        "created": CREATED,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": _chat_finish(answer)}],
        "usage": _chat_usage(asked, answer),
    }


def _chat_events(asked: Asked, decision: Decision) -> Iterator[Event]:
    answer = decision.answer
    head = {
        "id": _id("chatcmpl", decision),
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": asked.model,
    }

    def chunk(delta: Json, finish: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return None, {**head, "choices": [choice]}

    refused = answer.finish == "refusal"
    yield chunk({"role": "assistant", "content": None if refused or answer.call else ""})
    member = "refusal" if refused else "content"
    for piece in pieces(answer.text):
        yield chunk({member: piece})
    if answer.call is not None:
        call = _chat_call(decision)
        function = call["function"]
        yield chunk({"tool_calls": [{"index": 0, **call, "function": {**function, "arguments": ""}}]})
        for piece in pieces(function["arguments"]):
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    yield chunk({}, _chat_finish(answer))
    options = asked.body.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        yield None, {**head, "choices": [], "usage": _chat_usage(asked, answer)}
    yield None, "[DONE]"


# -- responses


def _response(asked: Asked, decision: Decision, *, output: list[Json], status: str) -> Json:
    answer = decision.answer
    counted = tokens(*asked.messages), tokens(answer.text)
    usage = {
        "input_tokens": counted[0],
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": counted[1],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sum(counted),
    }
    return {
        "id": _id("resp", decision),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": INCOMPLETE[decision.answer.finish]} if status == "incomplete" else None,
        "instructions": asked.body.get("instructions"),
        "metadata": {},
        "model": asked.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": asked.body.get("previous_response_id"),
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None if status == "in_progress" else usage,
    }


def _response_part(answer: Answer, text: str) -> Json:
    if answer.finish == "refusal":
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _response_status(answer: Answer) -> str:
    return "incomplete" if answer.finish in INCOMPLETE else "completed"


def _response_item(decision: Decision, *, done: bool) -> Json:
    answer = decision.answer
    status = _response_status(answer) if done else "in_progress"
    if answer.call is not None:
        return {
            "type": "function_call",
            "id": _id("fc", decision),
            "call_id": _id("call", decision),
            "name": answer.call.name,
            "arguments": _arguments(answer) if done else "",
            "status": status,
        }
    content = [_response_part(answer, answer.text)] if done else []
    return {
        "type": "message",
        "id": _id("msg", decision),
        "role": "assistant",
        "status": status,
        "content": content,
    }


def _responses_body(asked: Asked, decision: Decision) -> Json:
    status = _response_status(decision.answer)
    return _response(asked, decision, output=[_response_item(decision, done=True)], status=status)


def _responses_events(asked: Asked, decision: Decision) -> Iterator[Event]:
    answer = decision.answer
    numbers = itertools.count()

    def event(kind: str, **members: Any) -> Event:
        return kind, {"type": kind, "sequence_number": next(numbers), **members}

    begun = _response(asked, decision, output=[], status="in_progress")
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    item = _response_item(decision, done=True)
    yield event("response.output_item.added", output_index=0, item=_response_item(decision, done=False))
    where = {"item_id": item["id"], "output_index": 0}
    if answer.call is not None:
        for piece in pieces(item["arguments"]):
            yield event("response.function_call_arguments.delta", **where, delta=piece)
        done = {"arguments": item["arguments"], "name": item["name"]}
        yield event("response.function_call_arguments.done", **where, **done)
    else:
        where["content_index"] = 0
        refused = answer.finish == "refusal"
        kind, member = ("refusal", "refusal") if refused else ("output_text", "text")
        more: Json = {} if refused else {"logprobs": []}
        yield event("response.content_part.added", **where, part=_response_part(answer, ""))
        for piece in pieces(answer.text):
            yield event(f"response.{kind}.delta", **where, delta=piece, **more)
        yield event(f"response.{kind}.done", **where, **{member: answer.text}, **more)
        yield event("response.content_part.done", **where, part=_response_part(answer, answer.text))
    yield event("response.output_item.done", output_index=0, item=item)
    status = _response_status(answer)
    yield event(f"response.{status}", response=_response(asked, decision, output=[item], status=status))


# -- messages


def _message_stop(answer: Answer) -> str:
    # This API says of a filter what it says of a refusal.
    ends = {"length": "max_tokens", "refusal": "refusal", "tool-call": "tool_use", "content-filter": "refusal"}
    return ends.get(answer.finish, "end_turn")


def _message_content(decision: Decision) -> list[Json]:
    answer = decision.answer
    blocks: list[Json] = []
    if answer.text:
        blocks.append({"type": "text", "text": answer.text, "citations": None})
    if answer.call is not None:
        tool = {"name": answer.call.name, "input": answer.call.arguments}
        blocks.append({"type": "tool_use", "id": _id("toolu", decision), **tool})
    return blocks


def _message(asked: Asked, decision: Decision, *, content: list[Json], stop: str | None, said: int) -> Json:
    return {
        "id": _id("msg", decision),
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": tokens(*asked.messages), "output_tokens": said},
    }


def _messages_body(asked: Asked, decision: Decision) -> Json:
    answer = decision.answer
    content = _message_content(decision)
    return _message(asked, decision, content=content, stop=_message_stop(answer), said=tokens(answer.text))


def _messages_events(asked: Asked, decision: Decision) -> Iterator[Event]:
    answer = decision.answer

    def event(kind: str, **members: Any) -> Event:
        return kind, {"type": kind, **members}

    yield event("message_start", message=_message(asked, decision, content=[], stop=None, said=1))
    for index, block in enumerate(_message_content(decision)):
        if block["type"] == "text":
            start, texts = {**block, "text": ""}, [("text_delta", "text", piece) for piece in pieces(block["text"])]
        else:
            written = pieces(json.dumps(block["input"], ensure_ascii=False))
            start, texts = {**block, "input": {}}, [("input_json_delta", "partial_json", piece) for piece in written]
        yield event("content_block_start", index=index, content_block=start)
        for kind, member, piece in texts:
            yield event("content_block_delta", index=index, delta={"type": kind, member: piece})
        yield event("content_block_stop", index=index)
    delta = {"stop_reason": _message_stop(answer), "stop_sequence": None}
    yield event("message_delta", delta=delta, usage={"output_tokens": tokens(answer.text)})
    yield event("message_stop")


_BODIES = {CHAT: _chat_body, RESPONSES: _responses_body, MESSAGES: _messages_body}
_EVENTS = {CHAT: _chat_events, RESPONSES: _responses_events, MESSAGES: _messages_events}
