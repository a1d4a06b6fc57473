"""mem0 as a peer: the same turns, the same questions, the same embedder, in a separate environment."""

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks._data import Conversation, Question
from benchmarks.metrics import DEPTH
from biem.errors import BiemError, ConfigError
from biem.ports import Embedder, Role

_PEER = Path(__file__).parent / "peers" / "mem0_peer.py"
PYTHON = ".venv-mem0/bin/python"
"""Made by `make bench-mem0`; the variable BIEM_BENCH_MEM0 names another."""


class Endpoint:
    """The embedder behind `POST …/embeddings` as OpenAI speaks it, on the loopback interface.

    The protocol does not tell questions from passages, the packaged model does: the caller sets `role`.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.role: Role = "passage"
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                texts: Sequence[str] = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
                vectors = embedder.embed(texts, outer.role)
                body = json.dumps(
                    {
                        "object": "list",
                        "model": asked["model"],
                        "data": [
                            {"object": "embedding", "index": place, "embedding": vector.tolist()}
                            for place, vector in enumerate(vectors)
                        ],
                        "usage": {"prompt_tokens": 0, "total_tokens": 0},
                    }
                ).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_request(self, code: object = "-", size: object = "-") -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The base that OpenAI's client wants."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Mem0:
    """`Memory.add(…, infer=False)` message by message, then `Memory.search`, with mem0's own defaults."""

    name = "mem0"

    def __init__(self, embedder: Embedder) -> None:
        python = Path(os.environ.get("BIEM_BENCH_MEM0") or PYTHON)
        if not python.exists():
            raise ConfigError(f"mem0 is not installed ({python} is missing): run `make bench-mem0`, or leave it out")
        self.adds: list[float] = []
        self._stack = ExitStack()
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-mem0-", ignore_cleanup_errors=True))
        self._endpoint = Endpoint(embedder)
        self._stack.callback(self._endpoint.close)
        self._peer = subprocess.Popen(
            [python, str(_PEER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self._stack.callback(self._stop)
        info = embedder.info
        try:
            self._call(do="open", folder=folder, url=self._endpoint.url, model=info.id, dim=info.dim)
        except BaseException:
            self._stack.close()
            raise

    def load(self, conversation: Conversation) -> None:
        """Each turn as one message of the user that stands for the conversation."""
        for position, turn in enumerate(conversation.turns):
            reply = self._call(do="add", text=turn.indexed_text, turn=turn.id, position=position, user=conversation.id)
            self.adds.append(float(reply["ms"]))

    def ready(self) -> None:
        """From now on texts are questions."""
        self._endpoint.role = "query"

    def ask(self, conversation: Conversation, question: Question) -> list[str]:
        """One search among the turns before the question."""
        reply = self._call(do="search", text=question.text, before=question.before, top_k=DEPTH, user=conversation.id)
        return [str(turn) for turn in reply["result"]]

    def close(self) -> None:
        """End the process and remove its folder."""
        self._stack.close()

    def _call(self, **command: Any) -> dict[str, Any]:
        assert self._peer.stdin is not None
        assert self._peer.stdout is not None
        try:
            print(json.dumps(command), file=self._peer.stdin, flush=True)
            line = self._peer.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise BiemError("the process of mem0 ended; its last words are above")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise BiemError(f"mem0 failed: {reply['error']}")
        return reply

    def _stop(self) -> None:
        if self._peer.stdin is not None:
            self._peer.stdin.close()
        try:
            self._peer.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._peer.kill()
            self._peer.wait()
        if self._peer.stdout is not None:
            self._peer.stdout.close()
