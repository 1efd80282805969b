"""A local OpenAI-compatible endpoint that misbehaves on request. Loopback only, one thread a connection."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = list[dict[str, Any]]


class FakeEndpoint:
    """Answers request n as ``script[n]`` says (the last entry goes on for ever); records what came in."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self.hung_up = threading.Event()
        self.lock = threading.Lock()
        self.url = ""

    def take(self, request: dict[str, Any]) -> dict[str, Any]:
        with self.lock:
            self.requests.append(request)
            return self.script[min(len(self.requests), len(self.script)) - 1]


def _handler(endpoint: FakeEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            step = endpoint.take({"path": self.path, "body": body, "key": self.headers["authorization"]})
            try:
                self.answer(step, body)
            except (BrokenPipeError, ConnectionResetError):
                endpoint.hung_up.set()

        def answer(self, step: dict[str, Any], body: dict[str, Any]) -> None:
            time.sleep(step.get("delay", 0))
            if "status" in step:
                data = json.dumps({"error": {"message": step.get("message", "no")}}).encode()
                self.send_response(step["status"])
                for name, value in step.get("headers", {}).items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                return
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            text = step["text"](body) if callable(step["text"]) else step["text"]
            for at in range(0, len(text), 7):
                self.event({"delta": {"content": text[at : at + 7]}})
                time.sleep(step.get("pause", 0))
            if step.get("break"):
                return
            self.event({"delta": {}, "finish_reason": step.get("finish", "stop")})
            self.wfile.write(b"data: [DONE]\n\n")

        def event(self, choice: dict[str, Any]) -> None:
            chunk = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "fake"}
            data = chunk | {"choices": [{"index": 0} | choice]}
            self.wfile.write(b"data: " + json.dumps(data).encode() + b"\n\n")
            self.wfile.flush()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    return Handler


@contextmanager
def fake_endpoint(*script: dict[str, Any]) -> Iterator[FakeEndpoint]:
    endpoint = FakeEndpoint(list(script))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(endpoint))
    server.daemon_threads = True
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


Answer = Callable[[dict[str, Any]], str]
