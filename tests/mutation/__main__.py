"""Do the tests notice faults? `make mutants` puts small ones into a copy of the repository, one at a time, and sees.

    python -m tests.mutation [--seed N] [--count N] [--limit-s S] [--processes N] [--only MODULE…]

The faults are drawn by the seed, as many from each module of `targets`: writing, erasing, scopes, wiring. One that all
tests of its module let pass survives; the program names it and ends with 1. Each copy has its own servers, because a
worker with a fault would do its work on the memories of another copy, too; they are started once, for all runs, and so
are the packages that tests import (see `nursery`). Where a signal ends it, its children and its folder go, too.

Why not mutmut or Cosmic Ray: mutmut 3 cannot draw a sample by a seed (its issue 306 was closed as a wish) and runs all
that covers a line in its own process, where suites that start servers and threads do not belong; Cosmic Ray has one
command for all modules, no order of fast and slow runs, and mutates the very tree one works in. The rest next to
parsing and pytest is this page.
"""

import argparse
import json
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from biem.bootstrap import servers
from biem.config import Settings
from tests.mutation.operators import Mutant, mutants, mutated
from tests.mutation.targets import EQUIVALENT, TARGETS, Target
from tests.secret_scan import ROOT
from tests.support.servers import GIVEN

_COPIED = ("biem", "tests", "benchmarks", "workers", "pyproject.toml", "README.md", "deploy", "docs")
_PATIENCE, _BRIEF_S = 5.0, 5.0
"""A run that takes this many times as long as without a fault hangs; short runs get more time."""
_PASSED = 0
"""What pytest ends with. All else is a fault noticed: failed, interrupted, or ended because it hung."""
_PYTEST = ("-x", "-q", "--assert=plain", "-p", "no:cacheprovider")
_NURSERY = Path(__file__).with_name("nursery.py")


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant; `by` names the run that noticed, and is empty where none did."""

    target: Target
    mutant: Mutant
    by: str
    seconds: float


def drawn(seed: int, count: int, targets: Sequence[Target]) -> list[tuple[Target, Mutant]]:
    """That many faults, in turns from each module, and no equivalent one; the same for the same seed and source."""
    rest = []
    for target in targets:
        source = (ROOT / "biem" / f"{target.module}.py").read_text(encoding="utf-8")
        every = [one for one in mutants(source) if (target.module, one.sound, one.faulty) not in EQUIVALENT]
        random.Random(f"{seed} {target.module}").shuffle(every)
        rest.append((target, every))
    turns = max(len(every) for _, every in rest)
    return [(target, every[turn]) for turn in range(turns) for target, every in rest if turn < len(every)][:count]


class Broken(Exception):
    """No fault can be judged."""


class Bench:
    """Copies of the repository in `folder`, one an environment, each with a process that runs tests there."""

    def __init__(self, folder: Path, environments: Sequence[dict[str, str]], limit_s: float) -> None:
        self._limit_s = limit_s
        self._usual_s: dict[str, float] = {}
        self._measuring: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self._free: queue.Queue[tuple[Path, subprocess.Popen[str]]] = queue.Queue()
        self._processes: list[subprocess.Popen[str]] = []
        for number, environment in enumerate(environments):
            copy = folder / str(number)
            for name in _COPIED:
                _copy(ROOT / name, copy / name)
            process = subprocess.Popen(
                [sys.executable, "-P", str(_NURSERY)], cwd=copy, env=environment, start_new_session=True, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
            self._processes.append(process)
            self._free.put((copy, process))

    def close(self) -> None:
        """End the runs that are under way, and the processes that made them."""
        for process in self._processes:
            if process.stdin:
                process.stdin.close()
        for process in self._processes:
            process.wait()

    def judge(self, target: Target, mutant: Mutant) -> Outcome:
        """Put the fault into a copy, run until a run fails, and take it out again. Raises `Broken`."""
        copy, process = self._free.get()
        began = time.monotonic()
        try:
            by = next((run for run in target.runs if self._notices(copy, process, run, target, mutant)), "")
            return Outcome(target, mutant, by, time.monotonic() - began)
        finally:
            self._free.put((copy, process))

    def _notices(self, copy: Path, process: "subprocess.Popen[str]", run: str, target: Target, mutant: Mutant) -> bool:
        limit_s = _PATIENCE * max(_BRIEF_S, self._usually_takes(copy, process, run))
        path = copy / "biem" / f"{target.module}.py"
        sound = path.read_text(encoding="utf-8")
        _write(path, mutated(sound, mutant.number))
        try:
            return self._run(copy, process, run, min(self._limit_s, limit_s)) != _PASSED
        finally:
            _write(path, sound)

    def _usually_takes(self, copy: Path, process: "subprocess.Popen[str]", run: str) -> float:
        """Seconds without a fault, measured before a run is first asked: one that fails then would notice anything."""
        with self._measuring[run]:
            if run not in self._usual_s:
                began = time.monotonic()
                if self._run(copy, process, run, self._limit_s) != _PASSED:
                    raise Broken(
                        f"{run} fails without any fault, or takes more than {self._limit_s:.0f} s; mend it first"
                    )
                self._usual_s[run] = time.monotonic() - began
            return self._usual_s[run]

    @staticmethod
    def _run(copy: Path, process: "subprocess.Popen[str]", run: str, limit_s: float) -> int:
        """The code that pytest ended with there."""
        if not process.stdin or not process.stdout:
            raise Broken("a process without pipes was started")
        process.stdin.write(json.dumps([str(copy), [*_PYTEST, *run.split()], limit_s]) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise Broken("the process that runs tests has ended")
        return int(answer)


def _write(path: Path, source: str) -> None:
    """What was compiled of it goes, too: it is recognised by size and second, and a fault may change neither."""
    path.write_text(source, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def _copy(source: Path, to: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, to, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, to)


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when every fault was noticed, 1 when one survived, 2 when tests fail without any."""
    options = _options(arguments)
    targets = [one for one in TARGETS if not options.only or one.module in options.only]
    chosen = drawn(options.seed, options.count, targets)
    used = list(dict.fromkeys(target for target, _ in chosen))
    signal.signal(signal.SIGTERM, _leave)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True)))
        pool = ThreadPoolExecutor(options.processes)
        stack.callback(pool.shutdown, cancel_futures=True)
        environments = [_environment(stack, folder / f"servers-{number}") for number in range(options.processes)]
        bench = Bench(folder, environments, options.limit_s)
        stack.callback(bench.close)  # before the pool, whose threads wait for it
        _say(f"{len(chosen)} faults in {len(used)} modules, seed {options.seed}")
        outcomes = []
        try:
            for outcome in pool.map(lambda pair: bench.judge(*pair), chosen):
                outcomes.append(outcome)
                _say(f"{len(outcomes):4} {_line(outcome)}")
        except Broken as why:
            sys.stderr.write(f"{why}\n")
            return 2
    return _told(outcomes, used)


def _environment(stack: ExitStack, folder: Path) -> dict[str, str]:
    """What the tests of a copy see: its servers, and a place below the folder for all that they write."""
    where = stack.enter_context(servers(Settings(home=folder / "home")))
    urls = {GIVEN[name]: str(getattr(where, name)) for name in GIVEN}
    scratch = folder / "tmp"
    scratch.mkdir(parents=True)
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}  # runs are many
    return own | urls | {"TMPDIR": str(scratch)}


def _leave(number: int, _frame: FrameType | None) -> None:
    """End as after Ctrl-C, so that nothing stays behind."""
    raise SystemExit(128 + number)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _line(outcome: Outcome) -> str:
    what = f"{outcome.target.module}.py:{outcome.mutant.line}"
    change = f"{_short(outcome.mutant.before)}  →  {_short(outcome.mutant.after)}"
    return f"{'noticed ' if outcome.by else 'SURVIVED'} {outcome.seconds:5.1f} s  {what}  {change}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:99]}…"


def _told(outcomes: Sequence[Outcome], used: Sequence[Target]) -> int:
    _say("\nmodule                 faults  noticed")
    for target in used:
        mine = [one for one in outcomes if one.target == target]
        _say(f"{target.module:22} {len(mine):6} {sum(bool(one.by) for one in mine):8}")
    survivors = [one for one in outcomes if not one.by]
    _say(f"\nsurvivors: {len(survivors) or 'none'}")
    for one in survivors:
        _say(_line(one))
    return int(bool(survivors))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.mutation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="which faults are drawn")
    parser.add_argument("--count", type=int, default=40, help="how many")
    parser.add_argument(
        "--limit-s", type=float, default=300.0, help="seconds for one run of tests at most; one that hangs fails"
    )
    parser.add_argument("--processes", type=int, default=2, help="runs beside each other")
    parser.add_argument("--only", nargs="*", default=[], help="modules, such as engine/erase; default: all")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
