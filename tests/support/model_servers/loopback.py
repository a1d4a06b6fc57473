"""A real HTTP server on the loopback interface: what the servers of models that tests play have in common."""

import json
import sys
import threading
from collections import deque
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Generic, Self, TypeVar

Reply = TypeVar("Reply")

_DRIP_S = 0.05


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may hang up when they like; no one reads of it."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class LoopbackServer(Generic[Reply]):
    """Takes JSON by POST on its own port. `script` is used up first, then `default` answers."""

    def __init__(self, default: Reply) -> None:
        self.script: deque[Reply] = deque()
        self.default = default
        self.stopped = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                outer.answer(self, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Silence."""

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """Note what arrived, and `send` something back."""
        raise NotImplementedError

    def next(self) -> Reply:
        """What is to be said now; several threads may ask."""
        try:
            return self.script.popleft()
        except IndexError:
            return self.default

    def send(
        self,
        request: BaseHTTPRequestHandler,
        status: int,
        content: bytes,
        headers: Mapping[str, str],
        *,
        drip: bool = False,
    ) -> None:
        """A whole answer; `drip`: byte by byte for as long as the client listens."""
        try:
            request.send_response(status)
            for name, value in headers.items():
                request.send_header(name, value)
            request.send_header("Content-Length", str(len(content)))
            request.end_headers()
            if not drip:
                request.wfile.write(content)
                return
            for byte in content:
                request.wfile.write(bytes([byte]))
                request.wfile.flush()
                if self.stopped.wait(_DRIP_S):
                    return
        except OSError:  # the client has gone
            request.close_connection = True
