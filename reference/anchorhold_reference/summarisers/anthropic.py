"""Summarisers over clients of the Anthropic style: messages (extra `anthropic`).

    from anthropic import Anthropic
    summarise = AnthropicSummariser(Anthropic(), model="…", max_tokens=2000)

`base_url` of the client leads to any server that speaks the same protocol. Retries are the client's (`max_retries`).
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import anthropic
from anthropic.types import Message, TextBlockParam

from anchorhold_reference.summarisers.common import SummariserError, SummariserTimeoutError
from anchorhold_reference.values import Reply, Request

PROVIDER = "the Anthropic-style server"


class AnthropicSummariser:
    """Asks for one message a summary."""

    def __init__(
        self,
        client: anthropic.Anthropic,
        *,
        model: str,
        max_tokens: int = 2000,
        timeout: float = 120.0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """`timeout` in seconds bounds each wait for the server; `options` go into every call as they are."""
        self._client = client
        self._model = model
        self._max_tokens = max_tokens
        self._timeout = timeout
        self._options = dict(options or {})

    def __call__(self, request: Request) -> Reply:
        """Raises `SummariserTimeoutError`, or `SummariserError` for every other failure of the call."""
        try:
            return reply_of(
                self._client.messages.create(
                    model=self._model,
                    max_tokens=self._max_tokens,
                    system=request.messages[0],
                    messages=[{"role": "user", "content": blocks(request)}],
                    timeout=self._timeout,
                    stream=False,
                    **self._options,
                )
            )
        except (anthropic.AnthropicError, ValueError) as error:
            raise failure(error, self._timeout) from error


class AsyncAnthropicSummariser:
    """The same over an asynchronous client; `timeout` bounds the call as a whole, with its retries."""

    def __init__(
        self,
        client: anthropic.AsyncAnthropic,
        *,
        model: str,
        max_tokens: int = 2000,
        timeout: float = 120.0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """See `AnthropicSummariser`."""
        self._client = client
        self._model = model
        self._max_tokens = max_tokens
        self._timeout = timeout
        self._options = dict(options or {})

    async def __call__(self, request: Request) -> Reply:
        """Raises `SummariserTimeoutError`, or `SummariserError` for every other failure of the call."""
        try:
            async with asyncio.timeout(self._timeout):
                return reply_of(
                    await self._client.messages.create(
                        model=self._model,
                        max_tokens=self._max_tokens,
                        system=request.messages[0],
                        messages=[{"role": "user", "content": blocks(request)}],
                        timeout=self._timeout,
                        stream=False,
                        **self._options,
                    )
                )
        except TimeoutError as error:
            raise SummariserTimeoutError(PROVIDER, self._timeout) from error
        except (anthropic.AnthropicError, ValueError) as error:
            raise failure(error, self._timeout) from error


def blocks(request: Request) -> list[TextBlockParam]:
    """What is to be summarised, a block each, in order and whole; the server takes no block that is blank."""
    return [{"type": "text", "text": carrier} for carrier in request.messages[1:] if carrier.strip()]


def reply_of(message: Message) -> Reply:
    """What a message says: its text blocks. A tool call is told as such whatever the stop reason claims."""
    text = "".join(block.text for block in message.content or () if block.type == "text")
    if any(block.type in {"tool_use", "server_tool_use"} for block in message.content or ()):
        return Reply(text=text, finish="tool_use")
    # A stop sequence is the caller's own cut: what would have come after it is not there.
    return Reply(text=text, finish=message.stop_reason or "none given")


def failure(error: anthropic.AnthropicError | ValueError, seconds: float) -> SummariserError:
    """What a failed call was."""
    if isinstance(error, anthropic.APITimeoutError):
        return SummariserTimeoutError(PROVIDER, seconds)
    if isinstance(error, anthropic.APIStatusError):
        return SummariserError(PROVIDER, error.message, status=error.status_code)
    if isinstance(error, ValueError):
        return SummariserError(PROVIDER, f"its answer is not what the protocol says ({error})")
    return SummariserError(PROVIDER, str(error) or type(error).__name__)
