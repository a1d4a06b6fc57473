"""Is a reply as fast while a background task runs in a worker process as while none does?

A reply is one `recall` and one `remember`, through the public API, in a process that does nothing in the background. A
second process is a worker: it opens the same servers and does one task over and over, without a pause, or nothing. The
two alternate in one loop, a few replies each or as many as one run of the task takes, so that the machine's drift hits
both alike; the row `nothing` compares a worker that waits with itself, and says how much of a ratio is chance. `encode`
finds a backlog, which is there with the idle worker, too. The embedder costs nothing.

`ratio` is the median reply while the task runs over that while it does not, `low` and `high` enclose it in 19 of 20
samples of the same turns; `run_ms` is one run of the task, `changes` what it changed in all its runs.
"""

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biem
from benchmarks import _report
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._options import positive
from benchmarks._synthetic import Texts
from biem.bootstrap import WorkerRuntime, open_worker, servers
from biem.config import Settings, load_settings
from biem.domain.scope import Scope
from biem.errors import BiemError
from biem.workers.tasks import give_way

_COLUMNS = (
    "task", "n", "idle_p50_ms", "p50_ms", "ratio", "low", "high", "recall_ratio", "remember_ratio", "runs", "run_ms",
    "changes",
)  # fmt: skip
_NOTHING, _DRAIN = "nothing", "drain"
_BACKLOG = 30
"""Memories waiting for `encode`, for each reply of a turn."""
_MOST = 40
"""Replies of a turn, at most this many times as many as wanted, while the first run of the task lasts."""
_RESAMPLED = 500
_LEAVE_S = 60.0


Replies = NDArray[np.float64]
"""A row for each: milliseconds of `recall` and of `remember`."""


@dataclass
class Turns:
    """Replies, turn by turn, while the task runs or nothing does."""

    busy: list[Replies] = field(default_factory=list)
    idle: list[Replies] = field(default_factory=list)
    runs: int = 0
    seconds: float = 0.0
    changes: int = 0

    def complete(self) -> bool:
        """Whether there are pairs of turns; of an interrupted pair the half is dropped."""
        pairs = min(len(self.busy), len(self.idle))
        del self.busy[pairs:], self.idle[pairs:]
        return pairs > 0


class AheadClock:
    """The port `Clock`; both processes read the same, and the tasks see time that has passed without waiting."""

    def __init__(self, hours: Any) -> None:
        self._hours = hours

    def now(self) -> datetime:
        """As the port says."""
        return datetime.now(UTC) + timedelta(hours=self._hours.value)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0, 130 when interrupted (measurements so far are reported), else biem's exit codes."""
    options = _options(arguments)
    turns: dict[str, Turns] = {}
    interrupted = False
    try:
        _measure(options, turns)
    except KeyboardInterrupt:
        interrupted = True
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    rows = [_row(task, kept) for task, kept in turns.items() if kept.complete()]
    _report.print_table(f"Replies among {options.size:,} memories while a worker runs a task", _COLUMNS, rows)
    if options.json:
        line = _report.command("benchmarks.upkeep_latency", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, rows, size=options.size, interrupted=interrupted)
    return 130 if interrupted else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    tasks = [_NOTHING, "encode", *load_settings().sleep.periods()]
    parser = argparse.ArgumentParser("python -m benchmarks.upkeep_latency", description=__doc__)
    parser.add_argument("--size", type=positive, default=5_000, metavar="N", help="memories (default: 5000)")
    parser.add_argument("--rounds", type=positive, default=20, metavar="N", help="turns of each task (default: 20)")
    parser.add_argument("--replies", type=positive, default=15, metavar="N", help="replies a turn (default: 15)")
    parser.add_argument("--tasks", nargs="+", choices=tasks, default=tasks, metavar="TASK", help="default: all")
    parser.add_argument("--unpaced", action="store_true", help="a worker that gives way to nobody, to compare")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    return parser.parse_args(arguments)


def _measure(options: argparse.Namespace, turns: dict[str, Turns]) -> None:
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True))
        unset = dict.fromkeys(("postgres_dsn", "postgres_host", "redis_url", "milvus_uri", "milvus_host"))
        settings = load_settings().model_copy(update={"home": Path(home), "queue": "none", **unset})
        stack.enter_context(servers(settings))
        context = multiprocessing.get_context("spawn")
        hours = context.Value("d", 0.0)
        scope = Scope("benchmark", "upkeep")
        memory = stack.enter_context(
            biem.connect(settings, scope=scope, embedder=SyntheticEmbedder(), clock=AheadClock(hours))
        )
        worker = stack.enter_context(_worker(context, settings, hours, paced=not options.unpaced))
        texts, chance = Texts(seed=1), random.Random(4)
        _remember(memory, texts, options.size)
        _drain(worker)
        for _ in range(5):
            _reply(memory, texts)
        turns |= {task: Turns() for task in options.tasks}
        with _report.progress() as bar:
            for _ in bar.track(range(options.rounds), description="rounds"):
                for task in chance.sample(options.tasks, len(options.tasks)):
                    for busy in chance.sample((True, False), 2):
                        if task == "encode":
                            _remember(memory, texts, _BACKLOG * options.replies)
                        _turn(worker, memory, texts, task, turns[task], options.replies, busy=busy)
                        hours.value += 1.0  # so that there is something to do
                        _drain(worker)


def _turn(
    worker: Connection, memory: biem.Memory, texts: Texts, task: str, kept: Turns, count: int, *, busy: bool
) -> None:
    """Some replies while the worker does its task, at least once from beginning to end, or nothing."""
    worker.send(task if busy else _NOTHING)
    worker.recv()  # it has begun
    replies: list[tuple[float, float]] = []
    while len(replies) < count or (not worker.poll() and len(replies) < _MOST * count):
        replies.append(_reply(memory, texts))
    runs, seconds, changes = _stopped(worker)
    (kept.busy if busy else kept.idle).append(np.array(replies))
    if busy:
        kept.runs += runs
        kept.seconds += seconds
        kept.changes += changes


def _drain(worker: Connection) -> None:
    worker.send(_DRAIN)
    worker.recv()
    _stopped(worker)


def _stopped(worker: Connection) -> tuple[int, float, int]:
    """Runs of the task that the worker leaves now, their seconds, and changes."""
    worker.send(None)
    worker.recv()  # it has done it once
    done: tuple[int, float, int] = worker.recv()
    return done


def _remember(memory: biem.Memory, texts: Texts, count: int) -> None:
    memory.remember_many({**item, "ref": None} for item in texts.items(count))


def _reply(memory: biem.Memory, texts: Texts) -> tuple[float, float]:
    question, said = texts.question(), texts.text()
    began = time.perf_counter()
    memory.recall(question, top_k=10)
    told = time.perf_counter()
    memory.remember(said, kind="event", speaker="Ana", conversation="now")
    return (told - began) * 1e3, (time.perf_counter() - told) * 1e3


@contextmanager
def _worker(context: Any, settings: Settings, hours: Any, *, paced: bool) -> Iterator[Connection]:
    mine, its = context.Pipe()
    process = context.Process(target=partial(_work, settings, its, hours, os.getpid(), paced=paced), daemon=True)
    process.start()
    its.close()
    try:
        mine.recv()  # its connections are open
        yield mine
    finally:
        mine.close()
        process.join(_LEAVE_S)
        process.kill()


def _work(settings: Settings, orders: Connection, hours: Any, parent: int, *, paced: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if paced:
        give_way()
    worker = open_worker(settings, embedder=SyntheticEmbedder(), clock=AheadClock(hours))
    orders.send("open")
    try:
        while os.getppid() == parent:
            task = orders.recv()
            orders.send("begun")
            runs, seconds, changes = 0, 0.0, 0
            while task == _DRAIN and worker.encode():
                pass
            while task not in (_DRAIN, _NOTHING) and not (runs and orders.poll()):
                began = time.perf_counter()
                changes += _run(worker, task, paced=paced)
                seconds += time.perf_counter() - began
                runs += 1
                if runs == 1:
                    orders.send("done once")
            if not runs:
                orders.send("nothing to do")
            orders.recv()
            orders.send((runs, seconds, changes))
    except (EOFError, BrokenPipeError):  # who asked has been interrupted
        worker.close()


def _run(worker: WorkerRuntime, task: str, *, paced: bool) -> int:
    if task == "encode":
        return worker.encode()
    with worker.paced() if paced else nullcontext():
        return sum(worker.run(task).values())


def _row(task: str, kept: Turns) -> dict[str, object]:
    busy, idle = np.concatenate(kept.busy), np.concatenate(kept.idle)
    chance = np.random.default_rng(5)
    drawn = [chance.integers(len(kept.busy), size=len(kept.busy)) for _ in range(_RESAMPLED)]  # a turn's are alike
    ratios = [
        _ratio(*(np.concatenate([turns[place] for place in places]) for turns in (kept.busy, kept.idle)))
        for places in drawn
    ]
    low, high = np.percentile(ratios, (2.5, 97.5))
    return {
        "task": task,
        "n": len(busy),
        "idle_p50_ms": float(np.median(idle.sum(axis=1))),
        "p50_ms": float(np.median(busy.sum(axis=1))),
        "ratio": _ratio(busy, idle),
        "low": float(low),
        "high": float(high),
        "recall_ratio": _ratio(busy[:, :1], idle[:, :1]),
        "remember_ratio": _ratio(busy[:, 1:], idle[:, 1:]),
        "runs": kept.runs,
        "run_ms": 1e3 * kept.seconds / kept.runs if kept.runs else None,
        "changes": kept.changes,
    }


def _ratio(busy: Replies, idle: Replies) -> float:
    return float(np.median(busy.sum(axis=1)) / np.median(idle.sum(axis=1)))


if __name__ == "__main__":
    sys.exit(main())
