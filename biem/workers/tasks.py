"""The tasks: each calls one `biem` function and reports its result."""

import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from celery import Celery
from celery.concurrency import get_implementation
from celery.concurrency.prefork import TaskPool

from biem.bootstrap import ENCODE_TASK, JOB_TASK, WorkerRuntime, open_worker
from biem.bootstrap.embedder import sharing_cores
from biem.bootstrap.garbage_collection import pass_over_what_is_loaded
from biem.bootstrap.rescan import rescan
from biem.config import Settings

RESCAN_TASK = "biem.rescan"
SLEEP_TASK = "biem.sleep"
NOTES_TASK = "biem.notes"

NOTES_JOB = "notes"
"""The job after which notes may be pending."""
_ENCODE_S = 20.0
"""After this long an encoding task ends and leaves the rest to its successor, so that other tasks run."""
_HELP_EXPIRES_S = 60
_NICENESS = 10
"""Niceness of a worker process; 0 is the default, 19 runs only on an idle machine."""


class WorkerResources:
    """The resources of one worker process. Opened after the fork: neither a model nor a connection survives one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._processes = 1
        self._lock = threading.Lock()
        self._runtime: WorkerRuntime | None = None

    @property
    def batch(self) -> int:
        """Minimum number of memories in one round of encoding while enough are pending."""
        return self._settings.encode.batch

    @property
    def jobs(self) -> list[str]:
        """The jobs of a sleep, in order, without those that are switched off."""
        sleep = self._settings.sleep
        return [name for name in sleep.periods() if name not in sleep.off]

    @property
    def settings(self) -> Settings:
        """The settings of this worker."""
        return sharing_cores(self._settings, self._processes)

    def share(self, processes: int) -> None:
        """Set the number of processes of this worker, which share the cores, each with its own model."""
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
        """Import external changes, such as notes in files, by the function that the settings name."""
        return rescan(self._settings)

    def close(self) -> None:
        """Release all resources; a second call does nothing."""
        with self._lock:
            runtime, self._runtime = self._runtime, None
        if runtime is not None:
            runtime.close()


def give_way() -> None:
    """Lower the priority of this process, so that foreground processes on this machine get the cores first."""
    if hasattr(os, "nice"):  # absent on Windows
        os.nice(max(0, _NICENESS - os.nice(0)))


def processes_of(worker: Any) -> int:
    """How many processes a Celery worker forks; 1 where its pool uses threads, or the worker itself."""
    pool = get_implementation(worker.pool_cls)  # a name, or the class that the command line resolved
    forks = issubclass(pool, TaskPool) and isinstance(worker.concurrency, int)
    return max(1, worker.concurrency) if forks else 1


def register(app: Celery, resources: WorkerResources) -> None:
    """Give the app its tasks."""

    @app.task(name=ENCODE_TASK)
    def encode() -> int:
        """Encode pending memories, for a bounded time.

        A task that finds a full batch sends one more wake-up, once: so a single wake-up starts every idle process on a
        backlog, one after the other, with never more than one message in flight for each running process.
        """
        deadline = time.monotonic() + _ENCODE_S
        jobs = 0
        asked = False
        while taken := resources.runtime.encode():
            jobs += taken
            if not asked and taken >= resources.batch:
                asked = True
                app.send_task(ENCODE_TASK, expires=_HELP_EXPIRES_S)
            if time.monotonic() > deadline:
                if not asked:
                    app.send_task(ENCODE_TASK)
                break
        return jobs

    def ran(name: str) -> Mapping[str, Any]:
        """Run one job; notes that it left pending are indexed by another task."""
        with resources.runtime.paced():
            done = {"job": name, **resources.runtime.run(name)}
        if name == NOTES_JOB:
            app.send_task(NOTES_TASK, expires=_HELP_EXPIRES_S)
        return done

    @app.task(name=JOB_TASK)
    def job(name: str) -> Mapping[str, Any]:
        """Run one background job over all scopes; returns its changes by kind."""
        return ran(name)

    @app.task(name=NOTES_TASK)
    def notes() -> int:
        """Index notes for a bounded time; sends itself again while there are more."""
        deadline = time.monotonic() + _ENCODE_S
        taken = total = 0
        with resources.runtime.paced():
            while taken := resources.runtime.index_notes():
                total += taken
                if time.monotonic() > deadline:
                    app.send_task(NOTES_TASK)
                    break
        return total

    @app.task(name=SLEEP_TASK)
    def sleep(jobs: Sequence[str] | None = None) -> Mapping[str, Any]:
        """Run all jobs now, over all scopes: runs the first of these jobs, and sends a task for the others.

        So each has the time limit of a task, and one that fails does not stop the others. Beat does not need this task;
        it is for a manual run, and for jobs without a period.
        """
        wanted = resources.jobs if jobs is None else jobs
        if not wanted:  # all are switched off
            return {}
        name, *rest = wanted
        try:
            return ran(name)
        finally:
            if rest:
                app.send_task(SLEEP_TASK, args=(rest,))

    @app.task(name=RESCAN_TASK)
    def rescan() -> Mapping[str, Any]:
        """Import external changes, and encode the resulting memories at once."""
        found = resources.rescan()
        if any(found.values()):
            app.send_task(ENCODE_TASK, expires=_HELP_EXPIRES_S)
        return {"job": "rescan", **found}
