"""Does a process that only asks, or opens and closes a memory again and again, keep the size that it had when warm?

Memories are written by one process; another, which has done nothing else, asks questions that all differ, and a third
one connects, asks and closes in cycles. All three use the same servers. `rss_mb` is the resident size of the asking
process in MB of 2**20 bytes, `cache_mb` what the cache of vectors takes of it, which grows with other questions up to
its limit, `objects` how many Python objects the garbage collector looks after.
"""

import argparse
import gc
import multiprocessing
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

import biem
from benchmarks import _report
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._options import positive
from benchmarks._synthetic import Texts
from biem.bootstrap import build_embedder, servers
from biem.config import Settings, load_settings
from biem.domain.scope import Scope
from biem.errors import BiemError
from biem.ports import Embedder

Row = dict[str, Any]
Work = Callable[[argparse.Namespace, Settings], Iterator[Row]]

_COLUMNS = ("what", "n", "rss_mb", "cache_mb", "objects", "threads", "seconds")
_SCOPE = Scope("benchmark", "soak")
_STEPS = 10
"""Sizes are reported this many times."""
_TOP_K = 10
_ASKED_A_CYCLE = 20
_LEAVE_S = 30.0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0, 130 when interrupted (measurements so far are reported), else biem's exit codes."""
    options = _options(arguments)
    rows: list[Row] = []
    interrupted = False
    try:
        rows.extend(_measured(options))
    except KeyboardInterrupt:
        interrupted = True
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _report.print_table(f"A process that asks {options.size:,} memories", _COLUMNS, rows)
    if options.json:
        line = _report.command("benchmarks.soak", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, rows, size=options.size, interrupted=interrupted)
    return 130 if interrupted else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--size", type=positive, default=1_000, metavar="N", help="memories (default: 1000)")
    parser.add_argument("--recalls", type=positive, default=10_000, metavar="N", help="questions (default: 10000)")
    parser.add_argument(
        "--cycles", type=positive, default=8, metavar="N", help="of connect, recall, close (default: 8)"
    )
    parser.add_argument("--embedder", default="e5", help="synthetic, or a provider as in the settings (default: e5)")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    return parser.parse_args(arguments)


def _measured(options: argparse.Namespace) -> Iterator[Row]:
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True))
        unset = dict.fromkeys(("postgres_dsn", "postgres_host", "redis_url", "milvus_uri", "milvus_host"))
        settings = load_settings().model_copy(update={"home": Path(home), **unset})
        stack.enter_context(servers(settings))
        for work in (_fill, _ask, _reopen):
            yield from _in_another(work, options, settings)


def _in_another(work: Work, options: argparse.Namespace, settings: Settings) -> Iterator[Row]:
    """What a new process measures, as it does."""
    context = multiprocessing.get_context("spawn")
    mine, its = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(work, options, settings, its), daemon=True)
    process.start()
    its.close()
    try:
        while (row := mine.recv()) is not None:
            yield row
    except EOFError:
        raise BiemError("a process that measured has ended before it was done") from None
    finally:
        process.join(_LEAVE_S)
        process.kill()


def _send(work: Work, options: argparse.Namespace, settings: Settings, rows: Connection) -> None:
    for row in work(options, settings):
        rows.send(row)
    rows.send(None)


def _fill(options: argparse.Namespace, settings: Settings) -> Iterator[Row]:
    with _opened(options, settings) as (memory, _):
        memory.remember_many(Texts(seed=1).items(options.size))
        while not memory.flush(60.0):
            pass
    yield from ()


def _ask(options: argparse.Namespace, settings: Settings) -> Iterator[Row]:
    texts, began = Texts(seed=2), time.perf_counter()
    every = max(1, options.recalls // _STEPS)
    with _opened(options, settings) as (memory, embedder):
        for number in range(1, options.recalls + 1):
            memory.recall(texts.question(), top_k=_TOP_K)
            if number % every == 0:
                yield _size("recalls", number, began, embedder)


def _reopen(options: argparse.Namespace, settings: Settings) -> Iterator[Row]:
    texts, began = Texts(seed=3), time.perf_counter()
    for number in range(1, options.cycles + 1):
        with _opened(options, settings) as (memory, embedder):
            for _ in range(_ASKED_A_CYCLE):
                memory.recall(texts.question(), top_k=_TOP_K)
        yield _size("cycles of connect, recall, close", number, began, embedder)


@contextmanager
def _opened(options: argparse.Namespace, settings: Settings) -> Iterator[tuple[biem.Memory, Embedder]]:
    if options.embedder == "synthetic":
        embedder: Embedder = SyntheticEmbedder()
    else:
        own = settings.embedder.model_copy(update={"provider": options.embedder})
        embedder = build_embedder(settings.model_copy(update={"embedder": own}))
    with biem.connect(settings, scope=_SCOPE, embedder=embedder) as memory:
        yield memory, embedder


def _size(what: str, number: int, began: float, embedder: Embedder) -> Row:
    gc.collect()
    return {
        "what": what,
        "n": number,
        "rss_mb": psutil.Process().memory_info().rss >> 20,
        "cache_mb": round(getattr(embedder, "size_bytes", 0) / 2**20, 1),
        "objects": len(gc.get_objects()),
        "threads": threading.active_count(),
        "seconds": round(time.perf_counter() - began),
    }


if __name__ == "__main__":
    sys.exit(main())
