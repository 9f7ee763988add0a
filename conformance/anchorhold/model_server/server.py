"""The server itself: three APIs on loopback, and the connection's own faults."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import msgspec
from aiohttp import web

from anchorhold.errors import one_line
from anchorhold.model_server import bodies
from anchorhold.model_server.answering import Answering, Decision, Record
from anchorhold.model_server.asked import CHAT, MESSAGES, RESPONSES, Asked, BadRequest, read
from anchorhold.model_server.script import Script, ScriptError

HOST: Final = "127.0.0.1"
"""Loopback and nothing else: it answers whoever asks."""
PATHS: Final = {"/chat/completions": CHAT, "/responses": RESPONSES, "/messages": MESSAGES}
LARGEST: Final = 64 * 2**20
"""Bytes of a request."""


class ModelServer:
    """A started server: from `start` to `stop`, on one event loop."""

    def __init__(self, script: Script, *, told: Callable[[Record], None] = lambda _: None) -> None:
        """`told` is given each record as it is made, on the server's loop."""
        self.answering = Answering(script, told=told)
        self._spoken: dict[str, tuple[tuple[str, str], ...]] = {}
        self._stopping: asyncio.Event | None = None
        self._runner: web.AppRunner | None = None

    async def start(self, *, port: int = 0) -> str:
        """Listen; answers with the URL. Raises OSError where the port is taken."""
        self._stopping = asyncio.Event()
        application = web.Application(client_max_size=LARGEST)
        for path, api in PATHS.items():
            for prefix in ("", "/v1"):
                application.router.add_post(prefix + path, partial(self._model, api))
        for prefix in ("", "/v1"):
            application.router.add_get(f"{prefix}/models", self._models)
            application.router.add_post(f"{prefix}/messages/count_tokens", self._count)
        application.router.add_put("/anchorhold/script", self._follow)
        application.router.add_get("/anchorhold/calls", self._calls)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, port)
        try:
            await site.start()
        except OSError:
            await self._runner.cleanup()
            raise
        host, bound = self._runner.addresses[0][:2]
        return f"http://{host}:{bound}"

    async def stop(self) -> None:
        """Let go of whoever hangs, and of the port."""
        if self._stopping is not None:
            self._stopping.set()
        if self._runner is not None:
            await self._runner.cleanup()

    # -- the model

    async def _model(self, api: str, request: web.Request) -> web.StreamResponse:
        try:
            asked = self._asked(api, await _json(request))
        except BadRequest as error:
            return web.json_response(bodies.error(api, 400, str(error)), status=400)
        decision = self.answering.decide(asked)
        if decision.seconds and await self._stopped(decision.seconds):
            return _closed(request)
        if decision.status != 200:
            return web.json_response(bodies.error(api, decision.status, decision.message), status=decision.status)
        if asked.stream:
            return await self._stream(request, asked, decision)
        if decision.hangs:
            await self._stopped(None)
        if decision.hangs or decision.closes:
            return _closed(request)
        answer = bodies.body(asked, decision)
        self._remember(asked, decision, answer)
        return web.json_response(answer)

    async def _stream(self, request: web.Request, asked: Asked, decision: Decision) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        await response.prepare(request)
        events = bodies.events(asked, decision)
        broken = decision.hangs or decision.closes or decision.breaks
        shown = events[: len(events) // 2] if broken else events
        if decision.breaks:
            shown.append(bodies.broken(asked, decision))
        # Somebody who goes away in the middle ends nothing here.
        with contextlib.suppress(ConnectionError):
            for name, data in shown:
                text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
                event = "" if name is None else f"event: {name}\n"
                await response.write(f"{event}data: {text}\n\n".encode())
            if decision.hangs:
                await self._stopped(None)
            if decision.hangs or decision.closes:
                _closed(request)
                return response
            if decision.breaks:
                await response.write_eof()
                return response
            self._remember(asked, decision, bodies.body(asked, decision))
            await response.write_eof()
        return response

    def _asked(self, api: str, body: Any) -> Asked:
        before = body.get("previous_response_id") if api == RESPONSES and isinstance(body, dict) else None
        if before is None:
            return read(api, body)
        if not isinstance(before, str) or before not in self._spoken:
            raise BadRequest(f"previous response {before!r} not found")
        return read(api, body, self._spoken[before])

    def _remember(self, asked: Asked, decision: Decision, answer: bodies.Json) -> None:
        """Keep the conversation, so that a later request can go on from this response by its id."""
        if asked.api != RESPONSES or asked.body.get("store") is False:
            return
        call = decision.answer.call
        said = decision.answer.text if call is None else json.dumps(call.arguments, ensure_ascii=False)
        # Instructions are not carried over: each request has its own.
        own = (asked.roles, asked.messages)
        pairs = [(role, text) for role, text in zip(*own, strict=True) if role not in ("system", "developer")]
        self._spoken[answer["id"]] = (*pairs, ("assistant", said))

    async def _stopped(self, seconds: float | None) -> bool:
        """Wait; whether the server was stopped meanwhile."""
        assert self._stopping is not None
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return False
        return True

    # -- what clients ask besides

    async def _models(self, _request: web.Request) -> web.Response:
        model = {
            "id": "anchorhold",
            "object": "model",
            "created": bodies.CREATED,
            "owned_by": "anchorhold",
            "type": "model",
            "display_name": "scripted",
            "created_at": "2026-01-01T00:00:00Z",
        }
        page = {"has_more": False, "first_id": "anchorhold", "last_id": "anchorhold"}
        return web.json_response({"object": "list", "data": [model], **page})

    async def _count(self, request: web.Request) -> web.Response:
        try:
            body = await _json(request)
            asked = read(MESSAGES, {"max_tokens": 1, **body} if isinstance(body, dict) else body)
        except BadRequest as error:
            return web.json_response(bodies.error(MESSAGES, 400, str(error)), status=400)
        return web.json_response({"input_tokens": bodies.tokens(*asked.messages)})

    # -- the suite's own

    async def _follow(self, request: web.Request) -> web.Response:
        try:
            self.answering.follow(Script.decode(await request.read()))
        except ScriptError as error:
            return web.json_response({"error": {"message": str(error)}}, status=400)
        return web.Response(status=204)

    async def _calls(self, _request: web.Request) -> web.Response:
        lines = b"".join(encode(record) for record in self.answering.records)
        return web.Response(body=lines, content_type="application/jsonl")


def encode(record: Record) -> bytes:
    """One line of the record."""
    return msgspec.json.encode(record) + b"\n"


async def _json(request: web.Request) -> Any:
    try:
        return json.loads(await request.read())
    except (ValueError, RecursionError) as error:
        raise BadRequest(one_line(f"the body is not JSON: {error}")) from None
    except web.HTTPRequestEntityTooLarge:
        raise BadRequest(f"the body is larger than {LARGEST} bytes") from None


def _closed(request: web.Request) -> web.Response:
    """Close the connection under the request; what is returned goes nowhere."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


@dataclass(frozen=True, slots=True)
class Served:
    """A server on a thread of its own."""

    url: str
    """Without `/v1`: clients of the OpenAI style are given `url + "/v1"`."""
    _server: ModelServer
    _loop: asyncio.AbstractEventLoop

    @property
    def calls(self) -> tuple[Record, ...]:
        """What was asked so far, in order."""
        return tuple(self._server.answering.records)

    def follow(self, script: Script) -> None:
        """From the next request on answer by this script."""

        async def change() -> None:
            self._server.answering.follow(script)

        asyncio.run_coroutine_threadsafe(change(), self._loop).result()


@contextlib.contextmanager
def serving(script: Script | None = None, *, port: int = 0) -> Iterator[Served]:
    """Serve on a thread until the block ends. Raises OSError where the port is taken."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="anchorhold-model-server", daemon=True)
    thread.start()
    server = ModelServer(script or Script())
    try:
        url = asyncio.run_coroutine_threadsafe(server.start(port=port), loop).result()
        try:
            yield Served(url, server, loop)
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
