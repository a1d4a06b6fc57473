"""Whether a write, and a run of all background jobs, cost more in a large scope than in a small one.

Two databases on one server hold one scope each, filled by SQL with settled rows and no vectors. Then, in turns, each
takes the same few new memories and feedback, and runs every job once: through `sleep()`, and as a scheduler does. So
the jobs have the same to do at both sizes, and what remains is what grows with the rows that are already there.
Writes alternate one by one, nights one by one, so that other load of the machine slows both.
"""

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import _report
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._options import positive
from benchmarks._scale_rows import create_database, fill
from benchmarks._synthetic import Texts
from benchmarks.metrics import percentiles
from biem.adapters.clock import SystemClock
from biem.adapters.postgres.migrations import migrate
from biem.bootstrap import Servers, servers
from biem.bootstrap.system import assemble
from biem.config import load_settings
from biem.domain.scope import Scope
from biem.errors import BiemError
from biem.memory import Memory
from biem.system import System
from biem.telemetry import Span

_COLUMNS = ("size", "what", "n", "p50_ms", "p95_ms")
_JUDGED = ("ack", "cycle", "upkeep")
_LIMIT = 1.2
_UNSET = {"postgres_dsn": None, "postgres_host": None, "redis_url": None, "milvus_uri": None, "milvus_host": None}


class Contestant:
    """One scope of one size, and the times of everything done to it."""

    def __init__(self, size: int, system: System, scope: Scope) -> None:
        self.size = size
        self.times: dict[str, list[float]] = defaultdict(list)
        self.failed: list[str] = []
        self._system = system
        self._memory = Memory(system, scope)
        self._texts = Texts(seed=3)
        self._turns = 0

    def listen(self) -> None:
        """From now on keep the times of single jobs, too."""
        self._system.telemetry.attach(self._on_span)

    def write(self, number: int) -> str:
        """A new memory, timed to its acknowledgement: every fourth a fact, the others of one conversation."""
        text = self._texts.text()
        with self._timed("ack"):
            if number % 4 == 0:
                return self._memory.remember(text)
            return self._memory.remember(text, speaker="Ana", conversation=f"round {self._turns}")

    def settle(self, ids: Sequence[str]) -> None:
        """Index the new memories, and say that some of it was useful."""
        while self._system.encoder():
            pass
        self._turns += 1
        self._memory.feedback(useful=ids[:3], useless=ids[3:5], turn=f"turn {self._turns}")

    def sleep(self) -> None:
        """Every job of this scope, as one night."""
        with self._timed("cycle"):
            report = self._memory.sleep()
        self.failed += [f"{job.name}: {job.reason}" for job in report.failed]

    def upkeep(self) -> None:
        """Every job of all scopes, as a scheduler's beat runs them."""
        with self._timed("upkeep"):
            for name in self._system.policies.sleep.periods():
                if self._system.schedule.run(name).get("failed"):
                    self.failed.append(name)
        while self._system.encoder():
            pass

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.times[what].append((time.perf_counter() - began) * 1_000)

    def _on_span(self, span: Span) -> None:
        if span.name == "biem.sleep.job":
            self.times[f"job {span.attributes['job']}"].append(span.duration_ms)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0, 1 when a judged ratio exceeds 1.2 or a job failed, 130 when interrupted, else biem's."""
    options = _options(arguments)
    try:
        rows, ratios, filled_s, failed = _measure(options)
    except KeyboardInterrupt:
        return 130
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _report.print_table(f"{options.small:,} and {options.large:,} memories in one scope", _COLUMNS, rows)
    print("filled in " + ", ".join(f"{seconds:.0f} s" for seconds in filled_s.values()))
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.2f}")
    for reason in failed:
        print(f"failed: {reason}", file=sys.stderr)
    if options.json:
        line = _report.command("benchmarks.scale", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, rows, ratios=ratios, filled_s=filled_s, failed=failed)
    judged = [ratios[f"{what} p50"] for what in _JUDGED]
    return int(bool(failed) or max(judged) > _LIMIT)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--small", type=positive, default=10_000, metavar="N", help="memories of the small scope")
    parser.add_argument("--large", type=positive, default=1_000_000, metavar="N", help="memories of the large scope")
    parser.add_argument("--rounds", type=positive, default=30, metavar="N", help="cycles of each")
    parser.add_argument("--acks", type=positive, default=20, metavar="N", help="writes of each in a round")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    return parser.parse_args(arguments)


def _measure(
    options: argparse.Namespace,
) -> tuple[list[dict[str, Any]], dict[str, float], dict[str, float], list[str]]:
    """Always on separate servers: a million rows would slow other users."""
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True))
        settings = load_settings().model_copy(update={"home": Path(home), **_UNSET})
        where = stack.enter_context(servers(settings))
        embedder = SyntheticEmbedder()
        scopes = [(size, Scope("benchmark", f"scale-{size}")) for size in (options.small, options.large)]
        filled_s: dict[str, float] = {}
        places = {}
        with _report.progress() as bar:
            task = bar.add_task("fill", total=sum(size for size, _ in scopes))
            for size, scope in scopes:
                began = time.perf_counter()
                dsn = create_database(where.postgres_dsn, f"scale_{size}")
                migrate(dsn)
                fill(dsn, scope, size, embedder.info.id, datetime.now(UTC), embedder.info.dim)
                filled_s[str(size)] = round(time.perf_counter() - began, 1)
                bar.update(task, advance=size)
                places[size] = Servers(dsn, where.redis_url, where.milvus_uri, where.milvus_token, embedded=False)
            contestants = []
            for size, scope in scopes:  # not before all is filled: an idle connection to Milvus is cut
                apart = settings.model_copy(update={"milvus_collection": f"scale_{size}", "queue": "none"})
                system = assemble(
                    settings=apart,
                    where=places[size],
                    embedder=embedder,
                    clock=SystemClock(),
                    stack=ExitStack(),
                    serve=False,
                )
                stack.callback(system.release)
                stack.callback(system.recaller.close)
                contestants.append(Contestant(size, system, scope))
            _run(contestants, options, bar.advance, bar.add_task("measure", total=options.rounds))
    rows = [
        {
            "system": "biem",
            "data": "synthetic",
            "size": one.size,
            "what": what,
            "n": len(times),
            **percentiles(times, 50, 95),
        }
        for one in contestants
        for what, times in one.times.items()
    ]
    return rows, _ratios(rows, options), filled_s, [reason for one in contestants for reason in one.failed]


def _run(contestants: Sequence[Contestant], options: argparse.Namespace, advance: Any, task: Any) -> None:
    """In turns, each round another first; the first rounds warm the caches up and do not count."""
    warm_up = 2
    for number in range(warm_up + options.rounds):
        if number == warm_up:
            for one in contestants:
                one.times.clear()
                one.listen()
        turns = list(contestants if number % 2 else reversed(contestants))
        for night in (Contestant.sleep, Contestant.upkeep):
            written: dict[int, list[str]] = {one.size: [] for one in turns}
            for place in range(options.acks):  # one by one, so that other load of the machine slows both
                for one in turns if place % 2 else reversed(turns):
                    written[one.size].append(one.write(place))
            for one in turns:
                one.settle(written[one.size])
                night(one)
        if number >= warm_up:
            advance(task)


def _ratios(rows: Sequence[dict[str, Any]], options: argparse.Namespace) -> dict[str, float]:
    """Large divided by small, of the judged numbers."""
    by_key = {(row["size"], row["what"]): row for row in rows}
    return {
        f"{what} {rank}": by_key[options.large, what][f"{rank}_ms"] / by_key[options.small, what][f"{rank}_ms"]
        for what in _JUDGED
        for rank in ("p50", "p95")
    }


if __name__ == "__main__":
    sys.exit(main())
