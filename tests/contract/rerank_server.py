"""A real reranking server on the loopback interface that answers as told: well, badly, slowly, or not at all."""

import json
import socket
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Call:
    """What arrived."""

    path: str
    body: dict[str, Any]
    authorization: str | None


@dataclass(frozen=True)
class Reply:
    """What goes back; `before` runs in the server's thread first, `raw` replaces the whole body."""

    status: int = 200
    raw: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    change: Callable[[Any], Any] = lambda body: body
    before: Callable[[], Any] = lambda: None
    drip: bool = False
    """Send the body byte by byte for as long as the client listens."""
    hang_up: bool = False
    """Close the connection without a word."""


def relevance(query: str, text: str) -> float:
    """The share of the query's words that a text has."""
    words = set(query.lower().split())
    return len(words & set(text.lower().split())) / max(1, len(words))


class RerankServer:
    """Answers both protocols, best first as these servers do. `script` is used up first, then `default` answers."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
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

    def __enter__(self) -> "RerankServer":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        self.calls.append(Call(request.path, body, request.headers["Authorization"]))
        try:
            reply = self.script.popleft()
        except IndexError:
            reply = self.default
        reply.before()
        tei = "texts" in body
        scores = [relevance(body["query"], text) for text in body["texts" if tei else "documents"]]
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        name = "score" if tei else "relevance_score"
        rows = [{"index": place, name: scores[place]} for place in order]
        good: Any = rows if tei else {"id": "1", "model": body["model"], "results": rows}
        content = reply.raw if reply.raw is not None else json.dumps(reply.change(good)).encode()
        try:
            if reply.hang_up:
                request.close_connection = True
                request.connection.shutdown(socket.SHUT_RDWR)
                return
            request.send_response(reply.status)
            for header, value in reply.headers.items():
                request.send_header(header, value)
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
