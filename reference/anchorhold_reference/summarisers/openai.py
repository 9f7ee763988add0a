"""Summarisers over clients of the OpenAI style: chat completions (extra `openai`).

    from openai import OpenAI
    summarise = OpenAISummariser(OpenAI(), model="…", options={"temperature": 0})

`base_url` of the client leads to any server that speaks the same protocol. Retries are the client's (`max_retries`).
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import openai
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam

from anchorhold_reference.summarisers.common import SummariserError, SummariserTimeoutError
from anchorhold_reference.values import Reply, Request

PROVIDER = "the OpenAI-style server"


class OpenAISummariser:
    """Asks for one chat completion a summary."""

    def __init__(
        self,
        client: openai.OpenAI,
        *,
        model: str,
        timeout: float = 120.0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """`timeout` in seconds bounds each wait for the server; `options` go into every call as they are, as
        `max_completion_tokens` or `temperature` do."""
        self._client = client
        self._model = model
        self._timeout = timeout
        self._options = dict(options or {})

    def __call__(self, request: Request) -> Reply:
        """Raises `SummariserTimeoutError`, or `SummariserError` for every other failure of the call."""
        try:
            return reply_of(
                self._client.chat.completions.create(
                    model=self._model,
                    messages=messages(request),
                    timeout=self._timeout,
                    stream=False,
                    **self._options,
                )
            )
        except (openai.OpenAIError, ValueError) as error:
            return failed(error, self._timeout)


class AsyncOpenAISummariser:
    """The same over an asynchronous client; `timeout` bounds the call as a whole, with its retries."""

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        *,
        model: str,
        timeout: float = 120.0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """See `OpenAISummariser`."""
        self._client = client
        self._model = model
        self._timeout = timeout
        self._options = dict(options or {})

    async def __call__(self, request: Request) -> Reply:
        """Raises `SummariserTimeoutError`, or `SummariserError` for every other failure of the call."""
        try:
            async with asyncio.timeout(self._timeout):
                return reply_of(
                    await self._client.chat.completions.create(
                        model=self._model,
                        messages=messages(request),
                        timeout=self._timeout,
                        stream=False,
                        **self._options,
                    )
                )
        except TimeoutError as error:
            raise SummariserTimeoutError(PROVIDER, self._timeout) from error
        except (openai.OpenAIError, ValueError) as error:
            return failed(error, self._timeout)


def messages(request: Request) -> list[ChatCompletionMessageParam]:
    """Instructions as the system's message, then what is to be summarised as the user's, in order and whole."""
    instructions, *carriers = request.messages
    return [{"role": "system", "content": instructions}, {"role": "user", "content": "\n\n".join(carriers)}]


def reply_of(completion: ChatCompletion) -> Reply:
    """What a completion says. A refusal or a tool call is told as such whatever the finish reason claims."""
    if not completion.choices:
        return Reply(text="", finish="no choices")
    # Servers of this style leave out what the client's types promise.
    choice: Any = completion.choices[0]
    message = choice.message
    if message is None:
        return Reply(text="", finish="no message")
    if message.refusal:
        return Reply(text=message.refusal, finish="refusal")
    if message.tool_calls or message.function_call:
        return Reply(text=message.content or "", finish="tool_calls")
    return Reply(text=message.content or "", finish=choice.finish_reason or "none given")


def failed(error: openai.OpenAIError | ValueError, seconds: float) -> Reply:
    """Raise what a failed call was; one that was stopped by a content filter is a refusal, and so a reply."""
    if isinstance(error, openai.APITimeoutError):
        raise SummariserTimeoutError(PROVIDER, seconds) from error
    if isinstance(error, openai.APIStatusError):
        if error.status_code == 400 and error.code == "content_filter":
            return Reply(text=error.message, finish="content_filter")
        raise SummariserError(PROVIDER, error.message, status=error.status_code) from error
    if isinstance(error, ValueError):
        raise SummariserError(PROVIDER, f"its answer is not what the protocol says ({error})") from error
    raise SummariserError(PROVIDER, str(error) or type(error).__name__) from error
