"""What ageing costs: rows and keys written on a simulated day on which nobody uses the memory.

A store of synthetic memories of the past months is made, everything that is due is done, and then a day goes by in
steps of five minutes in which every due job runs. Counted are the tuples that PostgreSQL wrote to our tables and the
write commands that Redis carried out; `explained` are those that the reported transitions need (an idle hour that took
a memory out of the canvas, a memory archived or given another date), so anything above would be ageing by rewriting.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import psycopg
import redis

from benchmarks import _report
from benchmarks._clock import HeldClock
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._synthetic import Texts
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.canvas import RedisCanvas
from biem.adapters.database import Database
from biem.adapters.lifecycle import PostgresLife
from biem.adapters.migrations import migrate
from biem.adapters.postgres import PostgresRecords
from biem.adapters.queue import NoQueue
from biem.adapters.redis import RedisHotStore
from biem.bootstrap import Servers, servers
from biem.config import load_settings
from biem.domain.energy import initial_energy
from biem.domain.fields import Analysis, Fields
from biem.domain.node import Draft, new_id
from biem.domain.policy import Policies
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.engine.lifecycle import Lifecycle
from biem.engine.tiers import Tiers
from biem.errors import BiemError
from biem.ports import Encoded, VectorIndex, Write
from biem.telemetry import Telemetry

_COLUMNS = ("system", "size", "hours", "tuples_written", "redis_writes", "transitions", "explained")
_SCOPE = Scope("benchmark", "ageing")
_START = datetime(2026, 1, 1, tzinfo=UTC)
_PAST_DAYS = 120
_HOURS = 24
_STEP_S = 300
_BATCH = 500
_HOT = 200
"""Memories written at the moment the day begins: more than the canvas takes."""
_USED_ONE_IN = 10
"""Every tenth memory was returned once, so its date has come too early."""
_UNKNOWN = Analysis(Fields(), (), 0.0, "und")


class NoIndex:
    """The purging half of the port `VectorIndex`: the vectors play no part here."""

    def purge(self, ids: Sequence[str]) -> None:
        """As the port says, of nothing."""


@dataclass(frozen=True, slots=True)
class Done:
    """What one run of a job did: memories that changed their state, and the tuples that this needs."""

    transitions: int
    tuples: int


@dataclass(frozen=True, slots=True)
class Job:
    """Something that runs by the clock."""

    name: str
    every_s: int
    run: Callable[[], Done]


class Store:
    """One process on the servers, with its own connections."""

    def __init__(self, where: Servers, clock: HeldClock) -> None:
        policies = Policies()
        rate = policies.energy.decay_per_hour
        model = SyntheticEmbedder().info.id
        self.clock = clock
        self._database = Database(where.postgres_dsn, pool_size=2, retry_s=5.0)
        self.records = PostgresRecords(self._database, clock=clock, decay_per_hour=rate, model=model)
        self._canvas = RedisCanvas(
            where.redis_url, timeout_s=5.0, model=model, policy=policies.tiers, decay_per_hour=rate
        )
        self._hot = RedisHotStore(where.redis_url, timeout_s=5.0)
        life = PostgresLife(self._database, clock=clock, decay_per_hour=rate, model=model)
        self.tiers = Tiers(
            records=self.records,
            life=life,
            canvas=self._canvas,
            clock=clock,
            policy=policies.tiers,
            telemetry=Telemetry(),
        )
        self.lifecycle = Lifecycle(
            records=self.records,
            life=life,
            index=cast(VectorIndex, NoIndex()),
            hot=self._hot,
            canvas=self._canvas,
            queue=NoQueue(),
            clock=clock,
            policies=policies,
            telemetry=Telemetry(),
        )
        self.jobs = (
            Job("sweep", 300, self._sweep),
            Job("lifecycle", 3_600, self._judge),
            Job("outbox", 300, self._outbox),
        )

    def _sweep(self) -> Done:
        swept = self.tiers.sweep()
        return Done(swept.left, swept.left)

    def _judge(self) -> Done:
        aging = self.lifecycle.run()
        changed = aging.archived + aging.kept
        return Done(changed, changed + aging.archived)  # an archived memory has a job, too

    def _outbox(self) -> Done:
        jobs = self.records.claim(_BATCH, 60.0, retried=False)
        if jobs:
            self.lifecycle.clear(jobs)
        return Done(0, 2 * len(jobs))  # claimed and removed

    def close(self) -> None:
        """Let go of the connections; PostgreSQL counts what a session wrote at its end."""
        self._canvas.close()
        self._hot.close()
        self._database.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0, 1 when something was written that no transition explains, else biem's exit codes."""
    options = _options(arguments)
    try:
        rows = _measure(options.size)
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _report.print_table(f"An idle day of {options.size:,} memories", _COLUMNS, rows)
    if options.json:
        line = _report.command("benchmarks.ageing", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, rows)
    return int(any(row["tuples_written"] > row["explained"] for row in rows))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.ageing", description=__doc__)
    parser.add_argument("--size", type=_positive, required=True, metavar="N", help="memories before the day begins")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def _measure(size: int) -> list[dict[str, Any]]:
    """Always on servers of its own: on shared ones others write, too."""
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True))
        unset = {
            "postgres_dsn": None,
            "postgres_host": None,
            "redis_url": None,
            "milvus_uri": None,
            "milvus_host": None,
        }
        settings = load_settings().model_copy(update={"home": Path(home), **unset})
        where = stack.enter_context(servers(settings))
        migrate(where.postgres_dsn)
        clock = HeldClock(_START - timedelta(days=_PAST_DAYS))
        with _open(where, clock) as store:
            _fill(store, size)
            clock.move_to(_START)
            _settle(store)
        before = _tuples(where), _redis_writes(where)
        done: dict[str, Done] = {}
        with _open(where, clock) as store:
            for second in range(_STEP_S, _HOURS * 3_600 + 1, _STEP_S):
                clock.move_to(_START + timedelta(seconds=second))
                for job in store.jobs:
                    if second % job.every_s == 0:
                        now, was = job.run(), done.get(job.name, Done(0, 0))
                        done[job.name] = Done(was.transitions + now.transitions, was.tuples + now.tuples)
        after = _tuples(where), _redis_writes(where)
    return [
        {
            "system": "biem",
            "data": "synthetic",
            "n": 1,
            "size": size,
            "hours": _HOURS,
            "tuples_written": after[0] - before[0],
            "redis_writes": after[1] - before[1],
            "transitions": sum(each.transitions for each in done.values()),
            "explained": sum(each.tuples for each in done.values()),
        }
    ]


@contextmanager
def _open(where: Servers, clock: HeldClock) -> Iterator[Store]:
    store = Store(where, clock)
    try:
        yield store
    finally:
        store.close()


def _fill(store: Store, size: int) -> None:
    """Memories of all importances, written hour by hour and some of them used; the last ones are hot."""
    texts, analyzer, embedder = Texts(seed=1), RuleAnalyzer(), SyntheticEmbedder()
    begin = store.clock.now()
    hours = _PAST_DAYS * 24
    past = max(0, size - _HOT)
    used: list[str] = []
    with _report.progress() as bar:
        task = bar.add_task("remember", total=size)
        for hour in range(hours + 1):
            store.clock.move_to(begin + timedelta(hours=hour))
            numbers = range(past * hour // hours, past * (hour + 1) // hours) if hour < hours else range(past, size)
            writes = [_write(texts.text(), number, store.clock.now(), analyzer) for number in numbers]
            if not writes:
                continue
            store.records.remember(_SCOPE, writes)
            if hour == hours:  # only the canvas needs vectors
                fresh = [write.draft.indexed_text for write in writes]
                vectors = embedder.embed(fresh, "passage")
                store.records.save_vectors(
                    embedder.info.id, {sha256(text): vector for text, vector in zip(fresh, vectors, strict=True)}
                )
            jobs = store.records.claim(len(writes), 60.0, retried=False)
            store.records.complete([Encoded(job, _UNKNOWN) for job in jobs])
            store.records.touch(_SCOPE, used, store.clock.now())
            used = [write.id for write in writes[::_USED_ONE_IN]]
            bar.advance(task, len(writes))


def _write(text: str, number: int, at: datetime, analyzer: RuleAnalyzer) -> Write:
    importance = 1.0 + number % 5
    draft = Draft(text=text, kind="event", importance=importance, conversation=f"talk-{number // 40}", at=at)
    return Write(
        id=new_id(),
        draft=draft,
        lexemes=" ".join(analyzer.lexemes(text)),
        energy=initial_energy(importance, ""),
        fact_key=None,
    )


def _settle(store: Store) -> None:
    """Do all that is due at this instant."""
    while any([job.run() != Done(0, 0) for job in store.jobs]):  # noqa: C419  every job, not up to the first
        pass


def _tuples(where: Servers) -> int:
    """Tuples ever written to our tables, after all sessions of this process have ended."""
    with psycopg.connect(where.postgres_dsn, autocommit=True) as connection:
        others = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'biem'"
        while connection.execute(others).fetchone() != (0,):
            connection.execute("SELECT pg_sleep(0.1)")
        connection.execute("SELECT pg_stat_clear_snapshot()")
        row = connection.execute("SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables").fetchone()
    return int(row[0]) if row else 0


def _redis_writes(where: Servers) -> int:
    """Write commands ever carried out, those of scripts among them."""
    client: Any = redis.Redis.from_url(where.redis_url)
    writing = {name.lower() for name, command in client.command().items() if "write" in command["flags"]}
    stats: dict[str, dict[str, int]] = client.info("commandstats")
    client.close()
    return sum(stat["calls"] for name, stat in stats.items() if name.removeprefix("cmdstat_").lower() in writing)


if __name__ == "__main__":
    sys.exit(main())
