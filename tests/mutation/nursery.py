"""Runs pytest in children of one process that has loaded the packages tests need, but nothing of the repository.

A run of a few unit tests is mostly imports; a child has them already, and loads `biem` and `tests` from the folder that
it is given. A line of JSON in, `[folder, arguments, seconds at most]`; a line out: what pytest ended with, or -1 for a
run that was ended because its time was over. A child leads its own group, which ends with it; when the input ends,
so does everything.
"""

import importlib
import json
import os
import select
import signal
import sys
import time
from typing import BinaryIO, NoReturn

OVERDUE = -1
PRELOADED = (
    "pytest", "pytest_timeout", "xdist.plugin", "hypothesis", "hypothesis.strategies", "numpy", "pydantic_settings",
    "psycopg", "psycopg_pool", "redis", "celery", "networkx", "httpx", "orjson", "rjieba", "Stemmer", "yaml", "psutil",
)  # fmt: skip
_LOOK_S = 0.02


def main() -> None:
    for name in PRELOADED:
        importlib.import_module(name)
    with open(0, "rb", buffering=0) as requests:
        while line := requests.readline():
            folder, arguments, limit_s = json.loads(line)
            child = os.fork()
            if not child:
                _run(folder, arguments)
            os.write(1, b"%d\n" % _wait(child, limit_s, requests))


def _run(folder: str, arguments: list[str]) -> NoReturn:
    """What a child does: it never returns."""
    code = 3
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        os.chdir(folder)
        os.environ["PYTHONPATH"] = folder
        sys.path.insert(0, folder)
        code = int(sys.modules["pytest"].main(arguments))
    finally:
        os._exit(code)


def _wait(child: int, limit_s: float, requests: BinaryIO) -> int:
    """Its code, when it and its group are gone; the end of the input, or of its time, is its end."""
    until = time.monotonic() + limit_s
    try:
        while time.monotonic() < until:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            if select.select([requests], [], [], _LOOK_S)[0]:
                break  # nothing is asked before an answer: this is the end of the input
        return OVERDUE
    finally:
        _end(child)


def _end(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        return


if __name__ == "__main__":
    main()
