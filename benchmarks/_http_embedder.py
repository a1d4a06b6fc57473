"""A synthetic embedder behind HTTP, as an OpenAI-compatible server: `python -m benchmarks._http_embedder LATENCY_S`.

It answers in a separate process after a fixed time, so that what waits for it costs no CPU.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks._embedders import SyntheticEmbedder

_ROOT = Path(__file__).parents[1]
_DIM = 64


@contextmanager
def served(*, latency_s: float, per_text: bool = False) -> Iterator[str]:
    """The URL of such a server, until the end of the block."""
    words = [sys.executable, "-m", "benchmarks._http_embedder", str(latency_s), str(int(per_text))]
    with subprocess.Popen(words, cwd=_ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


class _Server(ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True


def _handler(latency_s: float, per_text: bool) -> type[BaseHTTPRequestHandler]:
    embedder = SyntheticEmbedder(_DIM)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            began = time.monotonic()
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            vectors = embedder.embed(texts, "passage")
            rows = [{"index": n, "embedding": [round(float(x), 5) for x in row]} for n, row in enumerate(vectors)]
            content = json.dumps({"data": rows}).encode()
            time.sleep(max(0.0, began + latency_s * (len(texts) if per_text else 1) - time.monotonic()))
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Silence."""

    return Handler


def main(latency_s: str, per_text: str) -> None:
    """Say the URL, then serve until killed."""
    server = _Server(("127.0.0.1", 0), _handler(float(latency_s), bool(int(per_text))))
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
