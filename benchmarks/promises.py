"""The latencies that the designs promise, at the size they name: `python -m benchmarks.promises [--embedder e5]`.

100,000 live memories of one scope with vectors of 1,024 dimensions, written by SQL, on embedded separate servers.
All kinds alternate, so that the machine's drift hits all alike, `--rest` seconds after one another: what a question
leaves for the background, as the memories of the next one, is done by then, as it is before a person's next question.
Then many users ask, with a pause each, and at once, and nobody waits for anything.

`plain` is a search as any vector store has it: the query embedded, the nearest K asked for, and these read by their
ids; `ids` does without reading. `route` is a single query of AIM-Memory in a conversation that has only begun; what it
adds to `plain` is what inertia, mirror, anchors and conflicts cost (A65), and the ratio compares medians.
`build_context` is a whole window of a session of 500 messages, with 20 core memories and 60 tasks. With
`--embedder e5` queries are embedded by the packaged model and vectors have its 384 dimensions; otherwise embedding
costs nothing.
"""

import argparse
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import biem
from benchmarks import _report
from benchmarks._embedders import SyntheticEmbedder, choose_embedder
from benchmarks._options import positive
from benchmarks._settled import Settled, settled
from benchmarks.metrics import percentiles
from biem.adapters.redis.canvas import RedisCanvas
from biem.aim import AimMemory
from biem.config import load_settings
from biem.domain.energy import energy_key
from biem.domain.node import new_id
from biem.domain.policies import Policies
from biem.domain.policies.aim import AimPolicy
from biem.domain.scope import Scope
from biem.ports import Embedder, Filter, Vector
from biem.ports.hot import CanvasEntry
from biem.telemetry import Span

_SCOPE = Scope("benchmark", "promises")
_COLUMNS = ("what", "promise", "n", "p50_ms", "p90_ms", "p99_ms", "limit_ms", "at", "met")
_MONTH = timedelta(days=30)
_READ = "SELECT id::text, text, at FROM memories WHERE id = ANY (%s::uuid[])"
_HOT = 100
_SAID, _CORE, _TASKS = 500, 20, 60
"""Messages of the session, core memories and tasks of a window."""
PROMISES: Mapping[str, tuple[str, float | None, str]] = {
    "search": ("M6", 50.0, "p90_ms"),
    "search of a month": ("M7", 20.0, "p90_ms"),
    "recall of a month": ("M7", 20.0, "p90_ms"),
    "list of a month": ("M7", 20.0, "p90_ms"),
    "list": ("", 5.0, "p90_ms"),
    "recall": ("M5", 200.0, "p90_ms"),
    "recall, users with a pause": ("M5", 200.0, "p90_ms"),
    "recall, users at once": ("M5", 200.0, "p90_ms"),
    "context of a new session": ("M9", 100.0, "p90_ms"),
    "build_context": ("M9", 100.0, "p90_ms"),
    "canvas": ("B7", 2.0, "p99_ms"),
    "ids": ("A65", None, ""),
    "plain": ("A65", None, ""),
    "route": ("A65", None, ""),
}
"""One measurement: whose promise it is, the limit in milliseconds, and the percentile that must keep it."""


class Questions:
    """How long each kind of answer took, in milliseconds."""

    def __init__(self, filled: Settled, embedder: Embedder) -> None:
        self.times: defaultdict[str, list[float]] = defaultdict(list)
        self.degraded = 0
        self._filled, self._embedder = filled, embedder
        self._memory, self._aim = filled.memory, AimMemory(filled.memory)
        until = datetime.now(UTC) - 3 * _MONTH
        self._session = prepared(filled.memory)
        self._month = (until - _MONTH, until)
        self._memory.telemetry.attach(self._on_span)

    def ask(self, number: int, rest_s: float) -> None:
        """Each kind once about one subject, each time another first, and each after a rest."""
        text, (since, until) = _question(number), self._month
        vector = self._embedder.embed([text], "query")[0]
        kinds: list[tuple[str, Callable[[], object]]] = [
            ("search", lambda: self._nearest(vector)),
            ("search of a month", lambda: self._nearest(vector, Filter(since=since, until=until))),
            ("recall of a month", lambda: self._memory.recall(text, since=since, until=until)),
            ("list of a month", lambda: self._memory.timeline(since, until)),
            ("list", self._memory.list),
            ("recall", lambda: self._memory.recall(text)),
            ("context of a new session", lambda: self._memory.context(text, session=f"session {number}")),
            ("build_context", lambda: self._memory.build_context(text, session=self._session)),
            ("ids", lambda: self._nearest(self._embedder.embed([text], "query")[0])),
            ("plain", lambda: self._plain(text)),
            ("route", lambda: self._aim.route_memory(text, conversation=f"talk {number}")),
        ]
        first = number % len(kinds)
        for name, work in (*kinds[first:], *kinds[:first]):
            time.sleep(rest_s)
            with self._timed(name):
                work()

    def users(self, name: str, count: int, each: int, pause_s: float) -> None:
        """Each user asks this many questions, the next one `pause_s` after the last began, or was answered."""

        def ask(user: int) -> None:
            began = time.perf_counter() + pause_s * user / count
            for turn in range(each):
                time.sleep(max(0.0, began + turn * pause_s - time.perf_counter()))
                with self._timed(name):
                    self._memory.recall(_question(1_000 + user * each + turn))

        threads = [threading.Thread(target=ask, args=(user,)) for user in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def canvases(self, count: int) -> None:
        """Read the canvases of this many scopes, a hundred memories each."""
        policies, model, random = Policies(), self._embedder.info.id, np.random.default_rng(3)
        canvas = RedisCanvas(
            self._filled.where.redis_url,
            timeout_s=5.0,
            model=model,
            dim=self._embedder.info.dim,
            policy=policies.tiers,
            decay_per_hour=policies.energy.decay_per_hour,
        )
        with closing(canvas):
            now = datetime.now(UTC)
            key = energy_key(1.0, now, policies.energy.decay_per_hour)
            vectors = random.standard_normal((_HOT, self._embedder.info.dim), dtype=np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            ids = [new_id() for _ in range(_HOT)]
            for scope in range(count):
                canvas.enter(
                    f"promises-{scope}",
                    [CanvasEntry(ids[one], key - one / 1e3, now, "", vectors[one]) for one in range(_HOT)],
                    now,
                    rebuilt=True,
                )
            for scope in random.integers(0, count, min(1_000, 20 * count)):
                with self._timed("canvas"):
                    there = canvas.read(f"promises-{scope}", now)
                if there is None or len(there) != _HOT:
                    raise SystemExit(
                        f"the canvas holds {len(there or ())} of {_HOT} memories: Redis has too little memory"
                    )
            for scope in range(count):
                canvas.forget_scope(f"promises-{scope}")

    def _plain(self, text: str) -> None:
        found = self._nearest(self._embedder.embed([text], "query")[0])
        self._filled.postgres.execute(_READ, (list(found),)).fetchall()

    def _nearest(self, vector: Vector, where: Filter = Filter()) -> Mapping[str, float]:  # noqa: B008  it never changes
        return self._filled.index.dense([_SCOPE], vector, AimPolicy().local_cluster_k, where)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.times[name].append((time.perf_counter() - began) * 1_000)

    def _on_span(self, span: Span) -> None:
        self.degraded += span.name == "biem.recall" and bool(span.attributes.get("degraded"))


def prepared(memory: biem.Memory) -> str:
    """The id of a session of 500 messages, beside which there are 20 core memories and 60 tasks."""
    chat = memory.sessions.open("promises")
    for number in range(chat.messages, _SAID):
        role = "assistant" if number % 2 else "user"
        text = f"Ana asked Ben {number} times about topic{number % 997}; he answered at length"
        memory.sessions.append(chat.id, role, text, tokens=100, remember=False)
    lasting: list[dict[str, Any]] = [
        {"text": f"Ana never forgets rule {n}", "ref": f"core {n}", "layer": "core", "kind": "knowledge"}
        for n in range(_CORE)
    ]
    tasks: list[dict[str, Any]] = [
        {"text": f"Ben calls office {n}", "ref": f"task {n}", "kind": "task", "metadata": {"category": "task"}}
        for n in range(_TASKS)
    ]
    memory.remember_many([*lasting, *tasks])
    memory.flush()
    return chat.id


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    options = _options(arguments)
    own = SyntheticEmbedder(options.dim) if options.embedder == "synthetic" else None
    embedder = own or choose_embedder(options.embedder, load_settings())
    with ExitStack() as stack:
        stack.callback(embedder.close)
        home = options.home or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True)
        )
        began = time.perf_counter()
        filled = stack.enter_context(settled(Path(home), _SCOPE, options.size, embedder))
        print(f"ready in {time.perf_counter() - began:.0f} s", file=sys.stderr)
        questions = measured(filled, embedder, options)
    rows, ratios = _rows(questions.times), _ratios(questions.times)
    _report.print_table(f"{options.size:,} memories, {embedder.info.dim} dimensions", _COLUMNS, rows)
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.3f}")
    if questions.degraded:
        print(f"{questions.degraded} recalls were degraded: a server did not answer", file=sys.stderr)
    if options.json:
        line = _report.command("benchmarks.promises", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, rows, ratios=ratios, degraded=questions.degraded, size=options.size)
    return 0


def measured(filled: Settled, embedder: Embedder, options: argparse.Namespace) -> Questions:
    """Every kind, after three that only warm the caches up."""
    questions = Questions(filled, embedder)
    for number in range(-3, options.queries):
        if number == 0:
            questions.times.clear()
        questions.ask(number, options.rest)
    if options.users:
        questions.users("recall, users with a pause", options.users, options.each, options.pause)
        questions.users("recall, users at once", options.users, options.each, 0.0)
    if options.canvases:
        questions.canvases(options.canvases)
    return questions


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.promises", description=__doc__)
    parser.add_argument("--size", type=positive, default=100_000, metavar="N", help="live memories of the scope")
    parser.add_argument("--dim", type=positive, default=1_024, metavar="N", help="of a vector, without --embedder")
    parser.add_argument("--embedder", default="synthetic", help="of the questions (default: synthetic)")
    parser.add_argument("--queries", type=positive, default=100, metavar="N", help="rounds of all kinds")
    parser.add_argument("--rest", type=float, default=0.2, metavar="S", help="before each of these")
    parser.add_argument("--users", type=int, default=50, metavar="N", help="who ask at the same time; 0: nobody")
    parser.add_argument("--each", type=positive, default=4, metavar="N", help="questions of each user")
    parser.add_argument("--pause", type=float, default=20.0, metavar="S", help="between two questions of a user")
    parser.add_argument("--canvases", type=int, default=10_000, metavar="N", help="scopes with a full canvas; 0: none")
    parser.add_argument("--home", type=Path, metavar="DIR", help="keep the memory there, or take the one that is there")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    return parser.parse_args(arguments)


def _question(number: int) -> str:
    return f"What did Ana tell Ben about topic{number * 37 % 997} and thing{number * 7919 % 9973}?"


def _rows(times: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    rows = []
    for name, (promise, limit, rank) in PROMISES.items():
        if name in times:
            row: dict[str, Any] = {"what": name, "promise": promise, "n": len(times[name])}
            row |= percentiles(times[name], 50, 90, 99)
            rows.append(row | ({} if limit is None else {"limit_ms": limit, "at": rank, "met": row[rank] < limit}))
    return rows


def _ratios(times: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Medians of a route over those of a search; A65 allows `route/plain` 1.1."""
    return {f"route/{one}": median(times["route"]) / median(times[one]) for one in ("plain", "ids")}


if __name__ == "__main__":
    sys.exit(main())
