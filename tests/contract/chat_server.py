"""A real chat server on the loopback interface that answers as told: well, badly, slowly, or not at all."""

import json
import socket
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Question:
    """What arrived."""

    path: str
    body: dict[str, Any]
    authorization: str | None

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def prompt(self) -> str:
        return "\n".join(message["content"] for message in self.body["messages"])


@dataclass(frozen=True)
class Reply:
    """What goes back; `before` runs in the server's thread first, `raw` replaces the whole body."""

    content: Any = ""
    status: int = 200
    raw: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    finish: str = "stop"
    usage: Any = field(default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 10})
    before: Callable[[], Any] = lambda: None
    drip: bool = False
    """Send the body byte by byte for as long as the client listens."""
    hang_up: bool = False
    """Close the connection without a word."""


def error(status: int, message: str = "no", **headers: str) -> Reply:
    """A failure with its message, as these servers phrase it."""
    raw = json.dumps({"error": {"message": message, "type": "error"}}).encode()
    return Reply(status=status, raw=raw, headers={name.replace("_", "-"): value for name, value in headers.items()})


class ChatServer:
    """Answers `/v1/chat/completions`. `script` is used up first, then `default` answers."""

    def __init__(self) -> None:
        self.calls: list[Question] = []
        self.script: deque[Reply] = deque()
        self.default = Reply()
        self.stopped = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                outer._answer(self)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Silence."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def says(self, *contents: Any, **options: Any) -> None:
        """Answer the next calls with these texts."""
        self.script.extend(Reply(content, **options) for content in contents)

    def __enter__(self) -> "ChatServer":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        self.calls.append(Question(request.path, body, request.headers["Authorization"]))
        try:
            reply = self.script.popleft()
        except IndexError:
            reply = self.default
        reply.before()
        choice = {"index": 0, "message": {"role": "assistant", "content": reply.content}, "finish_reason": reply.finish}
        good = {"id": "1", "object": "chat.completion", "model": body["model"], "choices": [choice]}
        if reply.usage is not None:
            good["usage"] = reply.usage
        content = reply.raw if reply.raw is not None else json.dumps(good).encode()
        try:
            if reply.hang_up:
                request.close_connection = True
                request.connection.shutdown(socket.SHUT_RDWR)
                return
            request.send_response(reply.status)
            for name, value in reply.headers.items():
                request.send_header(name, value)
            request.send_header("Content-Length", str(len(content)))
            request.end_headers()
            if reply.drip:
                for byte in content:
                    request.wfile.write(bytes([byte]))
                    request.wfile.flush()
                    if self.stopped.wait(0.05):
                        return
            else:
                request.wfile.write(content)
        except OSError:  # the client has gone
            request.close_connection = True
