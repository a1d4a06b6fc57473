"""The Celery app: `celery -A biem.workers.app worker -Q encode,maintain` and `celery -A biem.workers.app beat`.

It uses the same settings as every other process. A task is a wake-up: the jobs are in PostgreSQL, under leases and
locks, so a message that is lost, late or delivered twice is harmless.
"""

import atexit
from contextlib import ExitStack

from celery import Celery, signals

import biem.bootstrap.system  # noqa: F401  before a fork: its children share what is loaded
from biem.bootstrap import broker_of, serve_levels, serve_spans_of_children, servers
from biem.bootstrap.check_settings import warn_of_misspelt
from biem.config import Settings, load_settings
from biem.workers import health
from biem.workers.configuration import configuration
from biem.workers.heartbeat import Heartbeat
from biem.workers.tasks import WorkerResources, processes_of, register


def build(settings: Settings) -> Celery:
    """An app on the configured servers or, without any, on the embedded ones, which it keeps running until the
    process ends.
    """
    stack = ExitStack()
    atexit.register(stack.close)
    where = stack.enter_context(servers(settings))
    bench = WorkerResources(settings)
    celery = Celery("biem")
    celery.conf.update(configuration(settings, broker_of(settings, where)))
    register(celery, bench)
    signals.worker_process_shutdown.connect(lambda **_: bench.close(), weak=False)
    signals.worker_shutdown.connect(lambda **_: bench.close(), weak=False)
    signals.worker_init.connect(lambda sender, **_: bench.share(processes_of(sender)), weak=False)
    celery.steps["consumer"].add(Heartbeat)
    signals.worker_ready.connect(lambda **_: serve_spans_of_children(settings), weak=False)
    signals.beat_init.connect(lambda **_: serve_levels(settings, stack), weak=False)
    signals.beat_init.connect(lambda **_: health.begin("beat"), weak=False)
    return celery


warn_of_misspelt()
app = build(load_settings())
