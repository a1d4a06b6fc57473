"""Whether anything is lost, doubled, leaked or raised from the dead while processes are killed and frozen.

Four client processes in three scopes remember unique words, recall, erase, archive and restore; a Celery worker and
beat work for them; embedded PostgreSQL, Valkey and Milvus hold everything, in a separate folder. A schedule that
the seed decides kills (SIGKILL) and freezes (SIGSTOP, then SIGCONT) each of them once: a client, the worker, one of its
processes, beat, each server, and the process that runs the servers. Then everything may settle, and is checked:

    lost         acknowledged, never given up, and not recalled by its word
    doubled      more than one row for one memory in PostgreSQL or Milvus, or twice in an answer
    leaked       in another scope, in any store or answer
    resurrected  in any store or answer although its erasure was acknowledged

Two processes share a scope, and each erases what the other has just kept. A memory gone without an erasure
is lost, and an error that is no outage counts as broken.
"""

import argparse
import logging
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields
from itertools import groupby
from pathlib import Path
from typing import Any

import psycopg

import biem
from benchmarks import _report
from benchmarks._chaos_check import Verdict, judge, stories
from benchmarks._chaos_client import Notes
from benchmarks._chaos_processes import LEASE_S, LONGEST_FREEZE_S, MIXES, SCOPES, Cast, Fault, schedule
from benchmarks._http_embedder import served
from biem.adapters.embedded import stop
from biem.bootstrap import Servers, servers
from biem.config import Settings
from biem.domain.policies.jobs import SleepPolicy
from biem.errors import BiemError

_COLUMNS = ("seed", "kills", "freezes", "acked", "erased", "lost", "doubled", "leaked", "resurrected", "seconds")
_FAULTS = ("lost", "doubled", "leaked", "resurrected")
_SETTLE_S = 300.0
_KEPT = ("PATH", "HOME", "PYTHONPATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
_EVERY_S = 5
"""How often each job of the night is due: all of them run while there is chaos."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0, 1 when something was lost, doubled, leaked, resurrected or broke, 130 when interrupted."""
    options = _options(arguments)
    logging.getLogger("biem").setLevel(logging.CRITICAL)  # outages are the plan
    rows: list[dict[str, Any]] = []
    bad = False
    try:
        for seed in range(options.first, options.first + options.seeds):
            row, verdict = run(seed, options.seconds, options.embedder, options.mix)
            rows.append(row)
            print(" ".join(f"{name} {row[name]}" for name in _COLUMNS), file=sys.stderr, flush=True)
            bad = _complain(verdict) or bad
            if options.json:
                line = _report.command("benchmarks.chaos", sys.argv[1:] if arguments is None else arguments)
                _report.write_json(options.json, line, rows, columns=_COLUMNS)
    except KeyboardInterrupt:
        return 130
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    total = {"seed": "all", **{name: round(sum(row[name] for row in rows), 1) for name in _COLUMNS[1:]}}
    _report.print_table("kill -9 and freeze", _COLUMNS, [*rows, total])
    return int(bad)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.chaos", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="how many runs, each with its own seed")
    parser.add_argument("--first", type=int, default=1, metavar="SEED", help="the first of them")
    parser.add_argument("--seconds", type=float, default=20.0, metavar="S", help="how long the faults of a run last")
    parser.add_argument(
        "--embedder", choices=("packaged", "http"), default="packaged",
        help="the packaged model, or a synthetic one behind HTTP that costs no CPU",
    )  # fmt: skip
    parser.add_argument(
        "--mix", choices=MIXES, default="each",
        help="one victim after the other; several at once, at first all of them; or freezes that calls give up on",
    )  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    return parser.parse_args(arguments)


def run(seed: int, seconds: float, embedder: str, mix: str = "each") -> tuple[dict[str, Any], Verdict]:
    """One seed from empty servers to the verdict."""
    began = time.monotonic()
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="biem-chaos-")).resolve()
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        home = folder / "home"
        stack.callback(stop, home)
        environment = _environment(folder, home, _model(embedder, stack))
        settings = _settings(home, environment)
        where = stack.enter_context(servers(settings))
        with biem.connect(settings):  # brings the schema up
            pass
        cast = Cast(home, folder, seed, environment)
        stack.callback(cast.close)
        _play(cast, schedule(seed, seconds, mix))
        cast.retire_clients(30.0)
        verdict = Verdict()
        with biem.connect(settings) as memory:
            verdict.broken += _settle(cast, memory, where)
            noted = {
                scope: [event for number in numbers for event in Notes.read(cast.notes(number))]
                for scope, numbers in groupby(range(len(SCOPES)), SCOPES.__getitem__)
            }
            told = stories(noted, verdict)
            judge(where, memory, told, seed, verdict)
        counts = {name: len(getattr(verdict, name)) for name in _FAULTS}
        row = {"seed": seed, "kills": cast.kills, "freezes": cast.freezes, "acked": verdict.acked}
        took = {"seconds": round(time.monotonic() - began, 1)}
        return {**row, "erased": verdict.erased, **counts, "embedder": embedder, "mix": mix, **took}, verdict


def _environment(folder: Path, home: Path, model: Mapping[str, str]) -> dict[str, str]:
    """What every process of the cast gets; their temporary files lie in the folder, too."""
    every = {f"BIEM_SLEEP__{name.upper()}": str(_EVERY_S) for name in _periods()}
    return {
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
        "BIEM_HOME": str(home),
        "BIEM_QUEUE": "celery",
        "BIEM_CLOSE_TIMEOUT_S": "1",
        "BIEM_ENCODE__LEASE_S": str(LEASE_S),
        "BIEM_SLEEP__OUTBOX_S": "2",
        "TMPDIR": str(folder),
        **every,
        **model,
    }


def _periods() -> list[str]:
    others = ("tick_s", "task_limit_s", "outbox_s")
    return [field.name for field in fields(SleepPolicy) if field.name.endswith("_s") and field.name not in others]


def _model(embedder: str, stack: ExitStack) -> dict[str, str]:
    if embedder == "packaged":
        return {"BIEM_EMBEDDER__THREADS": "1"}
    url = stack.enter_context(served(latency_s=0.0))
    return {
        "BIEM_EMBEDDER__PROVIDER": "openai", "BIEM_EMBEDDER__MODEL": "synthetic", "BIEM_EMBEDDER__URL": url,
    }  # fmt: skip


def _settings(home: Path, environment: Mapping[str, str]) -> Settings:
    """The same for this process, without touching its environment."""
    nested: dict[str, dict[str, str]] = {}
    for name, value in environment.items():
        group, _, key = name.removeprefix("BIEM_").lower().partition("__")
        if name.startswith("BIEM_") and key:
            nested.setdefault(group, {})[key] = value
    return Settings(home=home, queue="celery", close_timeout_s=1.0, **nested)  # type: ignore[arg-type]


def _play(cast: Cast, faults: Sequence[Fault]) -> None:
    """Start all processes, then carry out the schedule."""
    cast.tend()
    _wait(lambda: all(len(Notes.read(cast.notes(number))) > 2 for number in range(len(SCOPES))), 300.0, cast)
    began = time.monotonic()
    waiting = sorted(faults, key=lambda fault: fault.at_s)
    while waiting:
        now = time.monotonic() - began
        while waiting and waiting[0].at_s <= now:
            cast.strike(waiting.pop(0), now)
        cast.thaw(now)
        cast.tend()
        time.sleep(0.02)
    ends_s = max(fault.at_s + max(2.0, fault.freeze_s - LONGEST_FREEZE_S) for fault in faults)
    while time.monotonic() - began < ends_s:
        cast.thaw(time.monotonic() - began)
        cast.tend()
        time.sleep(0.02)
    cast.thaw(float("inf"))


def _wait(condition: Callable[[], bool], within_s: float, cast: Cast) -> bool:
    deadline = time.monotonic() + within_s
    while not (holds := condition()) and time.monotonic() < deadline:
        cast.tend()
        time.sleep(0.1)
    return holds


def _settle(cast: Cast, memory: biem.Memory, where: Servers) -> list[str]:
    """Wait until the worker has done all there is to do, erasures that wait for their lease included."""

    def idle() -> bool:
        try:
            with psycopg.connect(where.postgres_dsn, autocommit=True) as admin:
                left = admin.execute("SELECT count(*) FROM outbox WHERE dead_at IS NULL").fetchone()
            return left == (0,) and memory.recall("harbour").degraded == ()
        except (psycopg.Error, BiemError):
            return False

    faults = [] if _wait(idle, _SETTLE_S, cast) else [f"not everything was done within {_SETTLE_S:.0f} s"]
    with psycopg.connect(where.postgres_dsn, autocommit=True) as admin:
        dead = admin.execute("SELECT last_error FROM outbox WHERE dead_at IS NOT NULL").fetchall()
    return faults + [f"dead letter: {reason}" for (reason,) in dead]


def _complain(verdict: Verdict) -> bool:
    """Report faults; returns whether there are any."""
    for name in _FAULTS:
        for token in sorted(getattr(verdict, name)):
            print(f"  {name}: {token}", file=sys.stderr)
    for trace in verdict.traces:
        print(f"  {trace}", file=sys.stderr)
    for reason in verdict.broken:
        print(f"  broken: {reason}", file=sys.stderr)
    return bool(verdict.broken) or any(getattr(verdict, name) for name in _FAULTS)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ending it must not leave its processes behind
    sys.exit(main())
