"""A real embedding server on the loopback interface that answers as told: well, badly, late or not at all."""

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

DIM = 48


@dataclass(frozen=True)
class Call:
    """What arrived."""

    path: str
    model: str
    texts: tuple[str, ...]
    authorization: str | None


@dataclass(frozen=True)
class Answer:
    """What goes back; `before` runs in the server's thread first."""

    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    dim: int = DIM
    change: Callable[[Any], Any] = lambda body: body
    before: Callable[[], Any] = lambda: None
    drip: bool = False
    """Send the body byte by byte for as long as the client listens."""


def vector(text: str, dim: int) -> list[float]:
    """A bag of hashed character pairs: the same text, the same vector."""
    out = np.full(dim, 0.1)
    for pair in zip(text, text[1:] + " ", strict=True):
        out[int.from_bytes(hashlib.sha256("".join(pair).encode()).digest()[:4]) % dim] += 1
    return [float(number) for number in out / np.linalg.norm(out)]


class EmbeddingServer:
    """Answers both protocols. `script` is used up first, then `default` answers."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.script: deque[Answer] = deque()
        self.default = Answer()
        self.stopped = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

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

    def __enter__(self) -> "EmbeddingServer":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        texts = body["input"]
        self.calls.append(Call(request.path, body["model"], tuple(texts), request.headers["Authorization"]))
        try:
            answer = self.script.popleft()
        except IndexError:
            answer = self.default
        answer.before()
        rows = [vector(text, answer.dim) for text in texts]
        if request.path.endswith("/api/embed"):
            good: Any = {"model": body["model"], "embeddings": rows}
        else:
            items = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
            good = {
                "object": "list",
                "data": items[::-1],
                "model": body["model"],
            }  # order is the index's, not the list's
        content = answer.body if answer.body is not None else json.dumps(answer.change(good)).encode()
        try:
            request.send_response(answer.status)
            for name, value in answer.headers.items():
                request.send_header(name, value)
            request.send_header("Content-Length", str(len(content)))
            request.end_headers()
            if answer.drip:
                for byte in content:
                    request.wfile.write(bytes([byte]))
                    request.wfile.flush()
                    if self.stopped.wait(0.05):
                        return
            else:
                request.wfile.write(content)
        except OSError:  # the client has gone
            request.close_connection = True
