"""Celery's settings: queues, limits and beat's schedule."""

from typing import Any

from biem.bootstrap import ENCODE_TASK, JOB_TASK, broker_options
from biem.config import Settings
from biem.workers.tasks import RESCAN_TASK

_LOOKS_S = 30.0
"""Maximum interval of beat's loop: the health check considers it dead after two minutes."""
_LATE_S = 30
"""Time that a task over its soft limit has left before it is killed."""


def configuration(settings: Settings, broker: str) -> dict[str, Any]:
    """Celery's settings for these settings and the broker at this URL."""
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
    if settings.rescan:
        schedule["rescan"] = {
            "task": RESCAN_TASK,
            "schedule": settings.rescan_s,
            "options": {"expires": settings.rescan_s},
        }
    return {
        "broker_url": broker,
        "worker_consumer": "biem.workers.heartbeat:Consumer",
        # A message is redelivered when its worker has not finished by then: longer than any task may take.
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
        "beat_scheduler": "biem.workers.heartbeat:Scheduler",
        "beat_max_loop_interval": _LOOKS_S,
        "timezone": "UTC",
    }
