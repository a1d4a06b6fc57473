"""The tasks: each calls one `biem` function and reports what it did."""

import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from celery import Celery
from celery.concurrency import get_implementation
from celery.concurrency.prefork import TaskPool

from biem.bootstrap import ENCODE_TASK, WorkerRuntime, open_worker
from biem.bootstrap.embedder import sharing_cores
from biem.bootstrap.garbage import pass_over_what_is_loaded
from biem.bootstrap.rescan import rescan
from biem.config import Settings

JOB_TASK = "biem.job"
RESCAN_TASK = "biem.rescan"
SLEEP_TASK = "biem.sleep"

_ENCODE_S = 20.0
"""After this long an encoding task lets others have the worker; the one it asked for goes on."""
_HELP_EXPIRES_S = 60
_NICENESS = 10
"""Of a working process; 0 is that of others, 19 works only where nobody else does."""


class WorkerResources:
    """What one worker process works with. Opened in the process that works, never before a fork: neither a model nor a
    connection survives one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._processes = 1
        self._lock = threading.Lock()
        self._runtime: WorkerRuntime | None = None

    @property
    def batch(self) -> int:
        """How many memories one round of encoding takes at least while there are enough."""
        return self._settings.encode.batch

    @property
    def jobs(self) -> list[str]:
        """The jobs of a night, in order, without those that are switched off."""
        sleep = self._settings.sleep
        return [name for name in sleep.periods() if name not in sleep.off]

    @property
    def settings(self) -> Settings:
        """What a runtime is opened with here."""
        return sharing_cores(self._settings, self._processes)

    def share(self, processes: int) -> None:
        """So many processes of this worker are going to work on the same cores, each with a model of its own."""
        self._processes = processes

    @property
    def runtime(self) -> WorkerRuntime:
        """Connections and model, opened at first use."""
        with self._lock:
            if self._runtime is None:
                give_way()
                self._runtime = open_worker(self.settings)
                pass_over_what_is_loaded()
            return self._runtime

    def rescan(self) -> Mapping[str, int]:
        """Have what lies outside, such as notes in files, brought in by the function that the settings name."""
        return rescan(self._settings)

    def close(self) -> None:
        """Let go of everything; a second call does nothing."""
        with self._lock:
            runtime, self._runtime = self._runtime, None
        if runtime is not None:
            runtime.close()


def give_way() -> None:
    """Have whoever answers on this machine go before this process, where they want the same cores."""
    if hasattr(os, "nice"):  # not on Windows
        os.nice(max(0, _NICENESS - os.nice(0)))


def processes_of(worker: Any) -> int:
    """How many processes a Celery worker forks; 1 where its pool works in threads, or in the worker itself."""
    pool = get_implementation(worker.pool_cls)  # a name, or the class that the command line made of it
    forks = issubclass(pool, TaskPool) and isinstance(worker.concurrency, int)
    return max(1, worker.concurrency) if forks else 1


def register(app: Celery, bench: WorkerResources) -> None:
    """Give the app its tasks."""

    @app.task(name=ENCODE_TASK)
    def encode() -> int:
        """Encode what is pending, for a bounded time.

        Whoever finds a full batch asks for one more task, once: so a single wake-up sets every idle process to work on
        a backlog, one after the other, and there is never more than one message on its way for each that works.
        """
        deadline = time.monotonic() + _ENCODE_S
        jobs = 0
        asked = False
        while taken := bench.runtime.encode():
            jobs += taken
            if not asked and taken >= bench.batch:
                asked = True
                app.send_task(ENCODE_TASK, expires=_HELP_EXPIRES_S)
            if time.monotonic() > deadline:
                if not asked:
                    app.send_task(ENCODE_TASK)
                break
        return jobs

    @app.task(name=JOB_TASK)
    def job(name: str) -> Mapping[str, Any]:
        """Run one job of the night over all scopes; what it changed, by kind."""
        with bench.runtime.paced():
            return {"job": name, **bench.runtime.run(name)}

    @app.task(name=SLEEP_TASK)
    def sleep(jobs: Sequence[str] | None = None) -> Mapping[str, Any]:
        """A whole night now, over all scopes: runs the first of these jobs, and asks for a night of the others.

        So each has a task's time for itself, and one that fails does not cost the others theirs. Beat needs no such
        task; it is for whoever wants a night at once, and for jobs that have no period.
        """
        wanted = bench.jobs if jobs is None else jobs
        if not wanted:  # all are switched off
            return {}
        name, *rest = wanted
        try:
            with bench.runtime.paced():
                return {"job": name, **bench.runtime.run(name)}
        finally:
            if rest:
                app.send_task(SLEEP_TASK, args=(rest,))

    @app.task(name=RESCAN_TASK)
    def look_again() -> Mapping[str, Any]:
        """Bring in what changed outside; what was remembered by that is encoded at once."""
        found = bench.rescan()
        if any(found.values()):
            app.send_task(ENCODE_TASK, expires=_HELP_EXPIRES_S)
        return {"job": "rescan", **found}
