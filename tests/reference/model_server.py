"""A model's server on loopback that answers as it is told, over HTTP as the real ones do."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ModelServer:
    """What it is to answer, and what it was asked."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        self.body: Any = {}
        self.delay = 0.0
        self.drop = False
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.closing = threading.Event()

    def completion(self, *, finish: Any = "stop", **message: Any) -> None:
        """A chat completion of the OpenAI style."""
        message = {"role": "assistant", "content": None, **message}
        choice = {"index": 0, "finish_reason": finish, "message": message}
        self.body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}

    def message(self, *content: dict[str, Any], stop: Any = "end_turn") -> None:
        """A message of the Anthropic style."""
        self.body = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": list(content),
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    def fails(self, status: int, body: Any) -> None:
        self.status, self.body = status, body


@contextmanager
def serve() -> Iterator[ModelServer]:
    script = ModelServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"]))
            script.asked.append((self.path, json.loads(asked)))
            if script.delay:
                script.closing.wait(script.delay)
            if script.drop:
                self.close_connection = True
                self.connection.close()
                return
            body = script.body if isinstance(script.body, bytes) else json.dumps(script.body).encode()
            self.send_response(script.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: Any) -> None:
            pass

        def handle(self) -> None:
            # A client that gave up, or a connection that was dropped on purpose.
            with suppress(ConnectionError, ValueError):
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield script
    finally:
        script.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()
