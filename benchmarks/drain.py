"""How fast worker processes drain pending memories, with one process and with several, embedder remote and local.

For each row a real `celery worker` with this many processes is started in a separate home; when all of them have loaded
what they work with, pending memories are written, and the worker is woken once. Time runs from the first memory that is
indexed to the last one, so neither Celery's start nor loading a model counts. `ratio` compares with the row of one
process.

The remote embedder is an HTTP server on this machine that answers after a fixed time and costs little CPU: `remote`
takes it for a call, however many texts that has, `remote-per-text` for each text of a call, as a model without batching
does. The local embedder is the packaged one, in every worker process.

Workers, PostgreSQL and Milvus share the `cores` of this machine. `cpu_ms` is what all of them compute for one memory,
the embedder behind HTTP not counted, and `most_per_s` what the cores allow at that: no number of processes drains
faster. `most_ratio` is what that leaves to gain over the row of one process: cores * (wait + cpu_ms) / cpu_ms where it
computes on one core at a time and waits the rest, and never more than the number of processes.

`--share 0.2` holds each process of the worker to a fifth of a core (as root): as on separate machines that are so
slow, while PostgreSQL and Milvus have the rest. That is how several processes scale where cores do not end first.
`--scopes 8` spreads the memories over this many users: concurrent writes to one scope may wait for each other.
"""

import argparse
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import psycopg
from celery import Celery

import biem
from benchmarks import _report
from benchmarks._cpu import children, used_s
from benchmarks._http_embedder import served
from benchmarks._share import held
from benchmarks._synthetic import Texts
from biem.adapters.embedded import stop
from biem.adapters.jobs.celery import ENCODE_TASK, CeleryQueue, broker_options, broker_url
from biem.bootstrap import Servers, servers
from biem.config import Settings
from biem.domain.scope import Scope
from biem.errors import BiemError

_COLUMNS = ("embedder", "workers", "scopes", "n", "seconds", "per_s", "ratio", "most_ratio", "cpu_ms", "most_per_s")
_AT_ONCE = 16
"""Memories of one user among those of others: less than a worker takes."""
_EMBEDDERS = ("remote", "remote-per-text", "local")
_ROOT = Path(__file__).parents[1]
_PATIENCE_S = 1_800.0
_KEPT = ("PATH", "HOME", "PYTHONPATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "LD_LIBRARY_PATH")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0, 130 when interrupted, else biem's."""
    options = _options(arguments)
    logging.getLogger("biem").setLevel(logging.ERROR)
    rows: list[dict[str, Any]] = []
    try:
        for embedder in options.embedder:
            for workers in options.workers:
                rows.append(_row(embedder, workers, options))
                _compare(rows)
                print(rows[-1], file=sys.stderr, flush=True)
                if options.json:
                    line = _report.command("benchmarks.drain", sys.argv[1:] if arguments is None else arguments)
                    told = {"latency_ms": options.latency_ms, "share": options.share, "scopes": options.scopes}
                    _report.write_json(options.json, line, rows, **told)
    except KeyboardInterrupt:
        return 130
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _report.print_table("pending memories drained by worker processes", _COLUMNS, rows)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.drain", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=20_000, metavar="N", help="pending memories of each row")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 4], metavar="N", help="processes of each row")
    parser.add_argument("--embedder", nargs="+", choices=_EMBEDDERS, default=list(_EMBEDDERS), help="which embedders")
    parser.add_argument("--latency-ms", type=float, default=20.0, metavar="MS", help="how long the remote one takes")
    parser.add_argument("--scopes", type=int, default=1, metavar="N", help="users that the memories belong to")
    parser.add_argument("--share", type=float, metavar="S", help="of a core that each process has at most")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    return parser.parse_args(arguments)


def _compare(rows: Sequence[dict[str, Any]]) -> None:
    for row in rows:
        alone = next((one for one in rows if one["embedder"] == row["embedder"] and one["workers"] == 1), None)
        row["ratio"] = round(row["per_s"] / alone["per_s"], 2) if alone else None
        most = alone["most_per_s"] / alone["per_s"] if alone and alone["most_per_s"] else None
        row["most_ratio"] = None if most is None else round(min(row["workers"], most), 2)


def _row(embedder: str, workers: int, options: argparse.Namespace) -> dict[str, Any]:
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="biem-drain-")).resolve()
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        home = folder / "home"
        stack.callback(stop, home)
        model: dict[str, str] = {}
        if embedder != "local":
            per_text = embedder == "remote-per-text"
            url = stack.enter_context(served(latency_s=options.latency_ms / 1e3, per_text=per_text))
            model = {"provider": "openai", "model": "synthetic", "url": url}
        where = stack.enter_context(servers(Settings(home=home)))
        settings = Settings(home=home, queue="none", close_timeout_s=0.0, embedder=model)
        with _worker(folder, home, workers, model) as process:
            _open_all(where, workers)
            with held(children(process.pid), options.share) if options.share else nullcontext():
                with biem.connect(settings, scope=Scope("benchmark", "drain")) as memory:
                    _write(memory, options.size, options.scopes)
                drained = _drained(where, options.size, lambda: used_s(home=home, group=process.pid))
    seconds = drained.seconds
    cpu_ms = None if drained.cpu_s is None else drained.cpu_s / drained.rows * 1e3
    return {
        "embedder": embedder,
        "workers": workers,
        "scopes": options.scopes,
        "cores": _cores(),
        "n": options.size,
        "seconds": round(seconds, 2),
        "per_s": round(drained.rows / seconds, 1),
        "cpu_ms": None if cpu_ms is None else round(cpu_ms, 2),
        "most_per_s": None if not cpu_ms else round(_cores() * 1e3 / cpu_ms, 1),
    }


def _write(memory: biem.Memory, size: int, scopes: int) -> None:
    """This many memories, in turn of each user: workers take the oldest first."""
    said = [Texts(seed=5 + number).items(size) for number in range(scopes)]
    left = size
    while left:
        for number, items in enumerate(said):
            some = list(islice(items, min(_AT_ONCE if scopes > 1 else size, left)))
            left -= len(some)
            memory.scope(user=f"drain{number}").remember_many(some)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _worker(folder: Path, home: Path, workers: int, model: Mapping[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """A real Celery worker for encoding, with this many processes."""
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment |= {"BIEM_HOME": str(home), "TMPDIR": str(folder)}
    environment |= {f"BIEM_EMBEDDER__{name.upper()}": value for name, value in model.items()}
    pool = ["--pool", "prefork", "--concurrency", str(workers), "--loglevel", "WARNING"]
    with (folder / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "biem.workers.app", "worker", "-Q", "encode", *pool],
            cwd=_ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _open_all(where: Servers, workers: int) -> None:
    """Return when each process has had a task, and so has opened all it needs: while it does it takes no other one."""
    with Celery("biem", broker=broker_url(where.redis_url), set_as_current=False) as app:
        app.conf.broker_transport_options = broker_options(app.conf.broker_url)
        asked = app.control.inspect(timeout=1.0)
        deadline = time.monotonic() + _PATIENCE_S
        while not asked.active():
            _still(deadline)
        for _ in range(workers):
            app.send_task(ENCODE_TASK, queue="encode")
        while (stats := asked.stats()) is None or sum(
            one["total"].get(ENCODE_TASK, 0) for one in stats.values()
        ) < workers:
            _still(deadline)
        while (active := asked.active()) is None or any(active.values()):
            _still(deadline)


def _still(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise BiemError(f"the workers were not ready within {_PATIENCE_S:.0f} s")
    time.sleep(0.1)


@dataclass(frozen=True, slots=True)
class _Drained:
    """Measurements from the first memory that was seen to be indexed to the last, or to the end of all at once."""

    rows: int
    seconds: float
    cpu_s: float | None


def _drained(where: Servers, size: int, cpu_s: Callable[[], float | None]) -> _Drained:
    """Wake the worker once, and wait until nothing is pending."""
    with psycopg.connect(where.postgres_dsn, autocommit=True) as admin:
        first = _oldest(admin)
    queue = CeleryQueue(broker_url(where.redis_url))
    queue.start(lambda: 0)
    queue.wake()
    queue.stop(5.0)
    woken = time.monotonic()
    began: tuple[int, float, float | None] | None = None
    deadline = time.monotonic() + _PATIENCE_S
    with psycopg.connect(where.postgres_dsn, autocommit=True) as admin:
        while time.monotonic() < deadline:
            oldest = _oldest(admin)  # counting the rest costs more than some of it
            if began is None and oldest != first:
                row = admin.execute("SELECT count(*) FROM outbox WHERE dead_at IS NULL").fetchone()
                left = int(row[0]) if row else 0
                began = (left, time.monotonic(), cpu_s()) if left else (size, woken, None)
            if began is not None and oldest is None:
                rows, since, before = began
                after = cpu_s()
                used = None if after is None or before is None else after - before
                return _Drained(rows, time.monotonic() - since, used)
            time.sleep(0.05)
    raise BiemError(f"the workers did not finish within {_PATIENCE_S:.0f} s")


def _oldest(admin: "psycopg.Connection[tuple[Any, ...]]") -> int | None:
    """The number of the job that has waited longest."""
    row = admin.execute("SELECT min(id) FROM outbox WHERE dead_at IS NULL").fetchone()
    return row[0] if row else None


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ending it must not leave its processes behind
    sys.exit(main())
