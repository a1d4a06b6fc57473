"""How long one write and one search take, compared with the bare servers doing the same on the very same data.

A scope is filled with synthetic memories through the public API; the embedder costs nothing, so `recall` is measured
without embedding. Everything is measured in turns inside one loop, so that the machine's drift hits all alike.
"""

import argparse
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from multiprocessing.synchronize import Event
from pathlib import Path

from rich.progress import Progress, TaskID

import biem
from benchmarks import _report
from benchmarks._bare import BareMilvus, BarePostgres, disk_ms
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._options import positive
from benchmarks._synthetic import Texts
from benchmarks.metrics import percentiles
from biem.bootstrap import servers
from biem.config import Settings, load_settings
from biem.errors import BiemError, StoreUnavailable
from biem.telemetry import Span

_NEIGHBOURS = 5
_NEIGHBOUR_SHARE = 0.1
"""A tenth of the memories lies in other scopes, so that the scope filter has something to do."""
_TOP_K = 10
_HELPED_FROM = 5_000
"""Memories worth a second process that indexes: comparing each with its nearest takes most of the time of filling."""
_LEAVE_S = 30.0
_FLUSH_S = 60.0
_COLUMNS = ("system", "n", "size", "p50_ms", "p95_ms", "p99_ms", "what")
_WHAT = {
    "ack": "remember(), one after the other, while the worker indexes them",
    "ack-after-search": "remember() after the searches, when the caches hold their 100 MB and no row of ours",
    "postgres-3-statements": "bare transaction of three small statements, beside each ack: in the worker's process",
    "postgres-after-search": "the same beside each ack-after-search, while the worker has nothing to do",
    "disk": "one page written to a file of this disk, and fdatasync, while the worker has nothing to do",
    "recall": "recall(top_k=10), embedding costs nothing",
    "milvus-hybrid": "bare hybrid_search: same collection, vector, words, scope, top-k",
    "milvus-dense": "bare dense search, all that a Milvus before 2.5 has: same collection, vector, scope, top-k",
    "milvus-two-searches": "bare dense search, then bare BM25 search",
}


class Samples:
    """Milliseconds by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[float]] = defaultdict(list)
        self.degraded = 0
        self.filling_s = 0.0
        """From the first write to the last indexed memory."""

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time a block."""
        began = time.perf_counter()
        yield
        self.by_name[name].append((time.perf_counter() - began) * 1_000)

    def on_span(self, span: Span) -> None:
        """Keep the steps of `recall`, and count the answers given without one of the servers."""
        self.degraded += span.name == "biem.recall" and bool(span.attributes.get("degraded"))
        if span.name.startswith("biem.recall."):
            self.by_name[span.name].append(span.duration_ms)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0, 130 when interrupted (measurements so far are reported), else biem's exit codes."""
    options = _options(arguments)
    samples = Samples()
    overlap: list[float] = []
    interrupted = False
    try:
        _measure(options, samples, overlap)
    except KeyboardInterrupt:
        interrupted = True
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    rows = [
        {
            "system": name,
            "data": "synthetic",
            "n": len(times),
            "size": options.size,
            **percentiles(times, 50, 95, 99),
            "what": _WHAT.get(name, "a step of recall"),
        }
        for name, times in samples.by_name.items()
    ]
    ratios = _ratios({str(row["system"]): row for row in rows})
    _report.print_table(f"Latency at {options.size:,} memories", _COLUMNS, rows)
    for name, value in ratios.items():
        print(f"{name}: {value:.2f}")
    shared = sum(overlap) / len(overlap) if overlap else None
    if shared is not None:
        print(f"of the bare search's {_TOP_K} results, recall gives {shared:.0%}")
    if samples.filling_s:
        print(f"filled in {samples.filling_s:.0f} s: {options.size / samples.filling_s:.0f} memories a second")
    if samples.degraded:
        print(f"{samples.degraded} recalls were degraded: a server did not answer", file=sys.stderr)
    if options.json:
        line = _report.command("benchmarks.latency", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(
            options.json,
            line,
            rows,
            ratios=ratios,
            overlap=shared,
            filling_s=round(samples.filling_s, 1),
            degraded=samples.degraded,
            interrupted=interrupted,
        )
    return 130 if interrupted else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.latency", description=__doc__)
    parser.add_argument("--size", type=positive, required=True, metavar="N", help="memories before measuring starts")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    parser.add_argument("--queries", type=positive, default=200, metavar="N", help="searches of each kind")
    parser.add_argument("--acks", type=positive, default=500, metavar="N", help="single writes")
    parser.add_argument(
        "--fsync-baseline",
        action="store_true",
        help="a bare PostgreSQL transaction beside each ack, and fdatasync",
    )
    return parser.parse_args(arguments)


def _measure(options: argparse.Namespace, samples: Samples, overlap: list[float]) -> None:
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True))
        settings = load_settings().model_copy(update={"home": Path(home)})
        where = stack.enter_context(servers(settings))
        embedder = SyntheticEmbedder()
        memory = stack.enter_context(biem.connect(settings, embedder=embedder))
        tenant = f"benchmark-{time.time_ns():x}"
        scopes = [memory.scope(tenant=tenant, user=f"user-{number}") for number in range(1 + _NEIGHBOURS)]
        if not where.embedded:  # leave nothing on servers that others use, too
            for scope in scopes:
                stack.callback(scope.erase, scope.bound_to)
        with _helped(settings) if options.size >= _HELPED_FROM else nullcontext():
            began = time.perf_counter()
            _fill(scopes, options.size)
            samples.filling_s = time.perf_counter() - began
        bare = stack.enter_context(closing(BareMilvus(where, memory.collection, scopes[0].bound_to, embedder, _TOP_K)))
        postgres = stack.enter_context(closing(BarePostgres(where))) if options.fsync_baseline else None
        scopes[0].recall("warm up 热身", top_k=_TOP_K)
        (bare.hybrid if bare.lexical else bare.dense)(bare.prepare("warm up 热身"))
        memory.telemetry.attach(samples.on_span)
        texts, others = Texts(seed=2), Texts(seed=3)
        for _ in range(options.acks):
            _write("ack", scopes[0], texts, samples, postgres)
        _flush(scopes[0])
        if options.fsync_baseline:
            samples.by_name["disk"] = disk_ms(Path(home), options.acks)
        with _report.progress() as bar:
            task = bar.add_task("measure", total=options.queries)
            for number in range(options.queries):
                first = number % 2 == 0  # the second finds the caches filled again
                if first:
                    _bare("postgres-after-search", others, samples, postgres)
                _write("ack-after-search", scopes[0], texts, samples, None)
                if not first:
                    _bare("postgres-after-search", others, samples, postgres)
                _flush(scopes[0])
                overlap.append(_searches(scopes[0], texts.question(), bare, samples, number))
                bar.advance(task)


@contextmanager
def _helped(settings: Settings) -> Iterator[None]:
    """A second worker on the same servers, in a separate process; gone before anything is measured."""
    context = multiprocessing.get_context("spawn")
    done = context.Event()
    helper = context.Process(target=_help, args=(settings, done, os.getpid()), daemon=True)
    helper.start()
    try:
        yield
    finally:
        done.set()
        helper.join(_LEAVE_S)
        helper.kill()


def _help(settings: Settings, done: Event, parent: int) -> None:
    """Index pending memories until stopped; an interrupted benchmark stops it, too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with biem.connect(settings, embedder=SyntheticEmbedder()):
        while not done.wait(1.0) and os.getppid() == parent:
            pass


def _fill(scopes: Sequence[biem.Memory], size: int) -> None:
    texts = Texts(seed=1)
    aside = int(size * _NEIGHBOUR_SHARE) // _NEIGHBOURS
    sizes = [size - aside * _NEIGHBOURS, *[aside] * _NEIGHBOURS]
    with _report.progress() as bar:
        written = bar.add_task("remember", total=size)
        done = 0
        for scope, count in zip(scopes, sizes, strict=True):
            if count:
                scope.remember_many(texts.items(count), on_progress=_advance(bar, written, done))
            done += count
        bar.update(written, completed=size)
        indexed = bar.add_task("index", total=size)
        waiting = size
        for scope, count in zip(scopes, sizes, strict=True):
            waiting -= count
            _flush(scope, _show_pending(bar, indexed, waiting))


def _advance(bar: Progress, task: TaskID, offset: int) -> Callable[[int], None]:
    return lambda count: bar.update(task, completed=offset + count)


def _show_pending(bar: Progress, task: TaskID, others: int) -> Callable[[int], None]:
    total = bar.tasks[task].total or 0
    return lambda pending: bar.update(task, completed=total - others - pending)


def _write(name: str, scope: biem.Memory, texts: Texts, samples: Samples, postgres: BarePostgres | None) -> None:
    """One acknowledged text and, right after it, the bare transaction, so that the machine's drift hits both alike."""
    text = texts.text()
    with samples.timed(name):
        scope.remember(text, kind="event")
    if postgres is not None:
        with samples.timed("postgres-3-statements"):
            postgres.write(text)


def _bare(name: str, texts: Texts, samples: Samples, postgres: BarePostgres | None) -> None:
    if postgres is not None:
        with samples.timed(name):
            postgres.write(texts.text())


def _flush(scope: biem.Memory, on_progress: Callable[[int], None] | None = None) -> None:
    """Wait as long as the worker makes progress."""
    left = -1
    while not scope.flush(_FLUSH_S, on_progress):
        pending = int(scope.stats()["pending"])
        if pending == left:
            raise StoreUnavailable(f"biem's worker indexed nothing in {_FLUSH_S:.0f} s")
        left = pending


def _searches(scope: biem.Memory, question: str, bare: BareMilvus, samples: Samples, number: int) -> float:
    """All kinds once, each round another first; returns how many of the bare results `recall` gives, too."""
    prepared = bare.prepare(question)
    found: dict[str, set[str]] = {}
    kinds: list[tuple[str, Callable[[], set[str]]]] = [
        ("recall", lambda: {hit.node.id for hit in scope.recall(question, top_k=_TOP_K)}),
    ]
    if bare.lexical:
        kinds += [
            ("milvus-hybrid", lambda: bare.hybrid(prepared)),
            ("milvus-two-searches", lambda: bare.two_searches(prepared)),
        ]
    else:
        kinds.append(("milvus-dense", lambda: bare.dense(prepared)))
    first = number % len(kinds)
    for name, search in (*kinds[first:], *kinds[:first]):
        with samples.timed(name):
            found[name] = search()
    least = found["milvus-hybrid" if bare.lexical else "milvus-dense"]
    return len(found["recall"] & least) / max(1, len(least))


def _ratios(rows: dict[str, dict[str, object]]) -> dict[str, float]:
    """The numbers that hold on other machines, too."""
    ratios: dict[str, float] = {}
    for one, other in (("recall", "milvus-hybrid"), ("recall", "milvus-dense"), ("ack", "postgres-3-statements")):
        for rank in ("p50", "p95", "p99"):
            value, base = (rows.get(name, {}).get(f"{rank}_ms") for name in (one, other))
            if isinstance(value, float) and isinstance(base, float) and base > 0:
                ratios[f"{one}/{other} {rank}"] = value / base
                ratios[f"{one}-{other} {rank}_ms"] = value - base
    return ratios


if __name__ == "__main__":
    sys.exit(main())
