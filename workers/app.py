"""The Celery app: `celery -A workers.app worker -Q encode,maintain` and `celery -A workers.app beat`.

Everything comes from the same settings as anywhere else. A task is a wake-up (architecture D10): what there is to do
is in PostgreSQL, under leases and locks, so a message that is lost, late or delivered twice does no harm.
"""

import atexit
from contextlib import ExitStack
from typing import Any

from celery import Celery, signals

from biem.bootstrap import (
    ENCODE_TASK,
    broker_of,
    broker_options,
    serve_levels,
    serve_spans_of_children,
    servers,
)
from biem.config import Settings, load_settings
from workers import health
from workers.pulse import Pulse
from workers.tasks import JOB_TASK, Bench, register

_LATE_S = 30
"""How long a task that was told to stop may still take before it is killed."""


def configuration(settings: Settings, broker: str) -> dict[str, Any]:
    """Celery's settings."""
    limit = settings.sleep.task_limit_s
    schedule = {
        name: {"task": JOB_TASK, "args": (name,), "schedule": period, "options": {"expires": period}}
        for name, period in settings.sleep.periods().items()
        if period > 0
    }
    schedule["outbox"] = {
        "task": ENCODE_TASK,
        "schedule": settings.sleep.outbox_s,
        "options": {"expires": settings.sleep.outbox_s},
    }
    return {
        "broker_url": broker,
        "broker_connection_retry_on_startup": True,
        # A message is given out again when its worker has not finished by then: longer than any task may take.
        "broker_transport_options": broker_options(broker) | {"visibility_timeout": 2 * (int(limit) + _LATE_S)},
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "task_ignore_result": True,
        "task_soft_time_limit": limit,
        "task_time_limit": limit + _LATE_S,
        "task_default_queue": "maintain",
        "task_routes": {ENCODE_TASK: {"queue": "encode"}},
        "worker_prefetch_multiplier": 1,
        "worker_cancel_long_running_tasks_on_connection_loss": True,
        "beat_schedule": schedule,
        "beat_scheduler": "celery.beat:Scheduler",  # keeps nothing on disk: after a restart every job runs early
        "timezone": "UTC",
    }


def build(settings: Settings) -> Celery:
    """An app on the configured servers or, where none is set, on the embedded ones, joined until the process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    where = stack.enter_context(servers(settings))
    bench = Bench(settings)
    celery = Celery("biem")
    celery.conf.update(configuration(settings, broker_of(settings, where)))
    register(celery, bench)
    signals.worker_process_shutdown.connect(lambda **_: bench.close(), weak=False)
    signals.worker_shutdown.connect(lambda **_: bench.close(), weak=False)
    celery.steps["consumer"].add(Pulse)
    signals.worker_ready.connect(lambda **_: serve_spans_of_children(settings), weak=False)
    signals.beat_init.connect(lambda **_: serve_levels(settings, stack), weak=False)
    signals.beat_init.connect(lambda **_: health.beat("beat"), weak=False)
    signals.before_task_publish.connect(lambda **_: health.beat("beat"), weak=False)
    return celery


app = build(load_settings())
