"""What ageing costs: rows and keys written on a simulated day without any use of the memory.

Memories of four months are remembered and indexed through the public API, a tenth of them was returned once, and
nights go by until there is nothing left to do. Beyond `--remembered` memories, the older ones are written by SQL as a
year would have left them, without vectors: a few hundred of them come to their end on that day. Then comes a day in
steps of five minutes in which every job of the settings' timetable runs when it is due. Counted are the tuples that
PostgreSQL wrote to our tables (`pg_stat_user_tables`) and the write commands that Redis carried out.

Every job reports what it changed (`transitions`): what became of memories, and what the concept graph still learned of
the last conversations. One transition writes more than one tuple, and `tables` says which: to archive a memory is its
row, a job for the vector index (written, claimed, done) and its links; to build a concept is its row, its terms, items
and links, and how far building came. A tuple is `unexplained` when its job reported no change, or when it is beyond
what a change needs. Triggers on the tables, made for the day, tell which job wrote.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import biem
from benchmarks import _report
from benchmarks._clock import HeldClock
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._options import positive
from benchmarks._scale_rows import fill
from benchmarks._synthetic import Texts
from benchmarks._written import Meter
from biem.adapters.postgres.migrations import migrate
from biem.bootstrap import Servers, open_worker, servers
from biem.config import Settings, load_settings
from biem.errors import BiemError

_COLUMNS = ("system", "size", "hours", "tuples_written", "redis_writes", "transitions", "unexplained")
_JOB_COLUMNS = ("job", "runs", "transitions", "tuples", "tables", "redis", "unexplained")
_SCOPE = biem.Scope("benchmark", "ageing")
_START = datetime(2026, 1, 1, tzinfo=UTC)
_PAST_DAYS = 120
_HOURS = 24
_STEP_S = 300
_BATCH = 500
_HOT = 200
"""Memories written at the moment the day begins: more than the canvas takes."""
_REMEMBERED = 1_000
"""Memories that come through the public API unless told otherwise: a hundred thousand would take an hour."""
_USED_ONE_IN = 10
_MOST_NIGHTS = 20
_TUPLES_A_CHANGE = 3
"""The memory, link or item itself, the row of its scope, and the notes about it."""
_MORE_TUPLES = {"jobs": 55, "merged": 5}
"""Beyond these: of an archived memory its job, written, claimed and done, and the links it may have
(`GraphPolicy.max_links`); of an item of a concept that was merged into another, up to three sources, which go with
the one and are added to the other."""


@dataclass(slots=True)
class Tally:
    """What one job did in a day."""

    runs: int = 0
    transitions: int = 0
    tuples: Counter[str] = field(default_factory=Counter)
    """By table."""
    redis: int = 0
    unexplained: int = 0
    changes: Counter[str] = field(default_factory=Counter)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0, 1 when something was written that no transition explains, else biem's exit codes."""
    options = _options(arguments)
    try:
        row = _measure(options.size, options.remembered)
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _report.print_table(f"An idle day of {options.size:,} memories", _COLUMNS, [row])
    _report.print_table("By job", _JOB_COLUMNS, row["jobs"])
    if options.json:
        line = _report.command("benchmarks.ageing", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, [row])
    return int(row["unexplained"] > 0)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.ageing", description=__doc__)
    parser.add_argument("--size", type=positive, required=True, metavar="N", help="memories before the day begins")
    parser.add_argument(
        "--remembered",
        type=positive,
        default=_REMEMBERED,
        metavar="N",
        help=f"of these, the newest that come through the public API; others by SQL (default: {_REMEMBERED:,})",
    )
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    return parser.parse_args(arguments)


def _measure(size: int, remembered: int) -> dict[str, Any]:
    """Always on separate servers: on shared ones others write, too."""
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True))
        unset = dict.fromkeys(("postgres_dsn", "postgres_host", "redis_url", "milvus_uri", "milvus_host"))
        settings = load_settings().model_copy(update={"home": Path(home), "queue": "none", **unset})
        where = stack.enter_context(servers(settings))
        clock = HeldClock(_START - timedelta(days=_PAST_DAYS))
        if size > remembered:
            _fill_past(where, size - remembered)
        with closing(_Jobs(settings, clock)) as jobs:
            _fill(settings, clock, jobs, min(size, remembered))
            clock.move_to(_START)
            jobs.settle()
        meter = stack.enter_context(closing(Meter(where)))
        meter.begin()
        before = meter.all_tuples(), meter.keys()
        with closing(_Jobs(settings, clock)) as jobs:
            opening = meter.tuples().total()
            done = _idle_day(jobs, clock, meter)
        written = meter.all_tuples() - before[0]
        rest = (
            written - opening - sum(tally.tuples.total() for tally in done.values())
        )  # of no job: closing, for example
        return {
            "system": "biem",
            "data": "synthetic",
            "n": 1,
            "size": size,
            "remembered": min(size, remembered),
            "hours": _HOURS,
            "tuples_written": written,
            "redis_writes": meter.keys() - before[1],
            "transitions": sum(tally.transitions for tally in done.values()),
            "unexplained": sum(tally.unexplained for tally in done.values()) + opening + max(0, rest),
            "jobs": [
                {
                    "job": name,
                    "runs": tally.runs,
                    "transitions": tally.transitions,
                    "tuples": tally.tuples.total(),
                    "tables": ", ".join(f"{name} {count:,}" for name, count in tally.tuples.most_common()),
                    "redis": tally.redis,
                    "unexplained": tally.unexplained,
                    "changes": dict(tally.changes),
                }
                for name, tally in done.items()
            ],
        }


class _Jobs:
    """Every background job as a worker process has it, and the encoding of what waits."""

    def __init__(self, settings: Settings, clock: HeldClock) -> None:
        self._worker = open_worker(settings, embedder=SyntheticEmbedder(), clock=clock)
        periods = settings.sleep.periods()
        self.timetable: dict[str, tuple[float, Callable[[], Mapping[str, int]]]] = {
            name: (period, lambda name=name: self._worker.run(name))  # type: ignore[misc]
            for name, period in periods.items()
        }
        self.timetable["outbox"] = (settings.sleep.outbox_s, self.encode)

    def encode(self) -> Mapping[str, int]:
        """All that waits in the outbox; rows written for it belong to the transition that put it there."""
        done = 0
        while count := self._worker.encode():
            done += count
        return {"jobs": done} if done else {}

    def settle(self) -> None:
        """Nights, until one of them changes nothing."""
        with _report.progress() as bar:
            task = bar.add_task("nights", total=None)
            for _ in range(_MOST_NIGHTS):
                changes = [run() for _, run in self.timetable.values()]
                bar.advance(task)
                if not any(changes):
                    return

    def close(self) -> None:
        """Let go of the servers."""
        self._worker.close()


def _fill_past(where: Servers, size: int) -> None:
    """A year of settled memories, of which one in three hundred has its retention looked at on the day."""
    embedder = SyntheticEmbedder()
    migrate(where.postgres_dsn)
    now = _START - timedelta(hours=26)  # the first are due two days later: two hours before the day ends
    fill(where.postgres_dsn, _SCOPE, size, embedder.info.id, now, embedder.info.dim)


def _fill(settings: Settings, clock: HeldClock, jobs: _Jobs, size: int) -> None:
    """Memories of all importances, written day by day and some of them used; the last ones are hot."""
    texts, begin = Texts(seed=1), clock.now()
    past = max(0, size - _HOT)
    with (
        closing(biem.connect(settings, scope=_SCOPE, embedder=SyntheticEmbedder(), clock=clock)) as memory,
        _report.progress() as bar,
    ):
        task = bar.add_task("remember", total=size)
        for day in range(_PAST_DAYS + 1):
            clock.move_to(begin + timedelta(days=day))
            numbers = range(past * day // _PAST_DAYS, past * (day + 1) // _PAST_DAYS)
            if day == _PAST_DAYS:
                numbers = range(past, size)
            if not numbers:
                continue
            items = [_item(texts.text(), number) for number in numbers]
            for start in range(0, len(items), _BATCH):
                memory.remember_many(items[start : start + _BATCH])
                jobs.encode()
            for number in numbers[::_USED_ONE_IN]:
                memory.recall(items[number - numbers[0]]["text"], top_k=1)
            bar.advance(task, len(items))


def _item(text: str, number: int) -> dict[str, Any]:
    return {
        "text": text,
        "importance": 1.0 + number % 5,
        "speaker": ("Ana", "小林")[number % 2],
        "conversation": f"talk-{number // 40}",
    }


def _idle_day(jobs: _Jobs, clock: HeldClock, meter: Meter) -> dict[str, Tally]:
    """Every job when it is due; a period shorter than a step counts as one step.

    One reading of the meter ends a job and begins the next one: nothing else writes in between.
    """
    done = {name: Tally() for name in jobs.timetable}
    links = 0  # changed since the job `links` last looked at what had changed, and marked how far it came
    tuples, keys = meter.tuples(), meter.keys()
    for step in range(1, _HOURS * 3_600 // _STEP_S + 1):
        clock.move_to(_START + timedelta(seconds=step * _STEP_S))
        for name, (period, run) in jobs.timetable.items():
            if period and step % max(1, round(period / _STEP_S)) == 0:
                before = tuples, keys
                changes, marks = run(), links if name == "links" else 0
                tuples, keys = meter.tuples(), meter.keys()
                _count(done[name], changes, marks, tuples - before[0], keys - before[1])
                links += changes.get("links", 0) + changes.get("weakened", 0) - marks
    return done


def _count(tally: Tally, changes: Mapping[str, int], marks: int, tuples: Counter[str], keys: int) -> None:
    changed = sum(changes.values())
    allowed = (
        _TUPLES_A_CHANGE * changed + sum(more * changes.get(name, 0) for name, more in _MORE_TUPLES.items()) + marks
    )
    tally.runs += 1
    tally.transitions += changed
    tally.tuples.update(tuples)
    tally.redis += keys
    tally.unexplained += max(0, tuples.total() - allowed)
    tally.changes.update(changes)


if __name__ == "__main__":
    sys.exit(main())
