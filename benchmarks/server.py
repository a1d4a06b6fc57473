"""What HTTP adds to a recall, and how long a coding agent waits for the hook before a prompt.

The server is a separate process on the stores of this one. Each question goes two ways, one to the server, one within
this process, in an order drawn by lot: the machine's drift and warm caches hit both alike. The embedder costs nothing.
"""

import argparse
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from http import HTTPStatus
from http.client import HTTPConnection
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

import biem
from benchmarks import _report
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._options import positive
from benchmarks._synthetic import Texts
from benchmarks.metrics import percentiles
from biem.bootstrap.server import open_backend, open_keys
from biem.config import Settings, load_settings
from biem.errors import StoreUnavailable

_TOP_K = 10
_WARM = 10
_FLUSH_S = 600.0
_START_S = 120.0
_COLUMNS = ("system", "n", "size", "p50_ms", "p95_ms", "p99_ms", "what")
_HOOK = "/v1/hooks/claude-code"
_PAIRS = (("recall", "http-recall"), ("recall", "remote-recall"), ("context", "hook"))
"""A way within this process, and one to the server."""
_WHAT = {
    "recall": "Memory.recall(top_k=10) in this process",
    "http-recall": "POST /v1/recall, to the last byte of the answer",
    "remote-recall": "the same by biem.remote(…).recall, decoded",
    "context": "Memory.context in this process",
    "hook": "POST of a prompt to the hook, to the last byte of the block",
    "about": "GET /v1/about: what any request costs",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 0."""
    parser = argparse.ArgumentParser("python -m benchmarks.server", description=__doc__)
    parser.add_argument("--size", type=positive, required=True, metavar="N", help="memories before measuring starts")
    parser.add_argument("--queries", type=positive, default=200, metavar="N", help="questions")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    options = parser.parse_args(arguments)
    before = os.getloadavg()[0]
    times = _measured(options.size, options.queries)
    load = {"before": round(before, 1), "after": round(os.getloadavg()[0], 1)}
    rows = [
        {
            "system": name, "data": "synthetic", "n": len(found), "size": options.size,
            **percentiles(found, 50, 95, 99), "what": _WHAT[name.partition(" ")[0]],
        }
        for name, found in times.items()
    ]  # fmt: skip
    _report.print_table(f"The server at {options.size:,} memories", _COLUMNS, rows)
    added = {
        f"{far} adds to {near}, p50_ms": percentiles(
            [slow - fast for fast, slow in zip(times[f"{near} ({far})"], times[far], strict=True)], 50
        )["p50_ms"]
        for near, far in _PAIRS
    }
    for name, value in added.items():
        print(f"{name}: {value:.2f}")
    print(f"load of the machine: {load['before']} before, {load['after']} after")
    if options.json:
        line = _report.command("benchmarks.server", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, rows, added=added, load=load)
    return 0


def _measured(size: int, queries: int) -> dict[str, list[float]]:
    """Milliseconds by way."""
    times: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True) as home:
        settings = load_settings().model_copy(update={"home": Path(home)})
        with biem.connect(settings, embedder=SyntheticEmbedder()) as whole:
            memory = whole.scope(tenant="benchmark", user="ann")
            memory.remember_many(Texts(seed=1).items(size))
            if not memory.flush(_FLUSH_S):
                raise StoreUnavailable(f"biem's worker did not index {size:,} memories in {_FLUSH_S:.0f} s")
            with open_keys(settings) as keys:  # it may only read: no prompt becomes a memory meanwhile
                token = keys.add("benchmark", "ann", "", ["read"]).token
            with (
                _serving(settings) as url,
                biem.remote(url, token) as remote,
                closing(HTTPConnection(urlsplit(url).netloc, timeout=60)) as connection,
            ):
                ways = _ways(memory, remote, connection, token)
                questions = Texts(seed=2)
                lot = random.Random(3)
                for number in range(-_WARM, queries):
                    for near, far in (*_PAIRS, ("about", "about")):
                        asked = questions.question()
                        for name in lot.sample(sorted({near, far}), len({near, far})):
                            began = time.perf_counter()
                            ways[name](asked)
                            if number >= 0:
                                shown = f"{near} ({far})" if name == near != far else name
                                times[shown].append((time.perf_counter() - began) * 1_000)
    return times


def _ways(
    memory: biem.Memory, remote: biem.Memory, connection: HTTPConnection, token: str
) -> dict[str, Callable[[str], object]]:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def sent(verb: str, path: str, body: dict[str, object] | None = None) -> bytes:
        connection.request(verb, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != HTTPStatus.OK:
            raise StoreUnavailable(f"{path} answered {answer.status}: {text[:200]!r}")
        return text

    return {
        "recall": lambda asked: memory.recall(asked, top_k=_TOP_K),
        "http-recall": lambda asked: sent("POST", "/v1/recall", {"query": asked, "top_k": _TOP_K}),
        "remote-recall": lambda asked: remote.recall(asked, top_k=_TOP_K),
        "context": lambda asked: memory.context(asked),
        "hook": lambda asked: sent("POST", _HOOK, {"hook_event_name": "UserPromptSubmit", "prompt": asked}),
        "about": lambda _: sent("GET", "/v1/about"),
    }


@contextmanager
def _serving(settings: Settings) -> Iterator[str]:
    """The address of a server in a separate process, which ends with the block."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    child = context.Process(target=_serve, args=(settings, theirs), daemon=True)
    child.start()
    try:
        if not mine.poll(_START_S):
            raise StoreUnavailable("the server did not start")
        yield f"http://127.0.0.1:{mine.recv()}"
    finally:
        mine.close()  # it ends when this end is closed
        child.join(_START_S)
        child.kill()


def _serve(settings: Settings, parent: Connection) -> None:
    import uvicorn  # noqa: PLC0415  in the child only

    from biem.cli.server.web import listening  # noqa: PLC0415
    from biem.server.app import build  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with (
        listening("127.0.0.1", 0) as listener,
        open_backend(settings, embedder=SyntheticEmbedder()) as backend,
    ):
        app = build(lambda: nullcontext(backend))
        server = uvicorn.Server(uvicorn.Config(app, lifespan="on", ws="none", log_config=None))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.05)
        parent.send(listener.getsockname()[1])
        try:
            parent.recv()
        except EOFError:
            server.should_exit = True
        thread.join()


if __name__ == "__main__":
    sys.exit(main())
