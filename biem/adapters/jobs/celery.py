"""JobQueue over Celery: a wake-up is a message sent from a thread, so that no writer waits for the broker."""

import logging
import threading
from collections import deque
from importlib import import_module
from typing import Any

from biem.adapters.redis.keys import BROKER
from biem.ports import Work

logger = logging.getLogger("biem.worker")

ENCODE_TASK = "biem.encode"
JOB_TASK = "biem.job"

_LINGER_S = 0.05
"""A burst of writes is one message."""
_ONE_TRY = {"max_retries": 0}
"""Otherwise closing waits for seconds without a broker."""
_EXPIRES_S = 60
"""A wake-up not consumed by then is obsolete: beat sends its own."""
_PAUSE_S = 2.0


def broker_url(url: str) -> str:
    """A Redis URL in Celery's form: sockets have a different scheme. Other URLs are unchanged.

    Over TLS Celery checks certificates only on request, whereas the Redis client checks them by default.
    """
    if url.startswith("unix://"):
        return "redis+socket://" + url.removeprefix("unix://")
    if url.startswith("rediss://") and "ssl_cert_reqs=" not in url:
        return f"{url}{'&' if '?' in url else '?'}ssl_cert_reqs=required"
    return url


def broker_options(url: str) -> dict[str, Any]:
    """Transport options that both ends must share; empty for RabbitMQ."""
    if not url.startswith(("redis", "rediss")):
        return {}
    return {"global_keyprefix": BROKER, "socket_timeout": 5.0, "socket_connect_timeout": 2.0}


class CeleryQueue:
    """Wakes workers of other processes; runs no jobs itself."""

    def __init__(self, url: str) -> None:
        celery: Any = import_module("celery")  # loaded only where Celery is used
        self._app = celery.Celery("biem", broker=url, set_as_current=False)
        self._app.conf.broker_transport_options = broker_options(url) | _ONE_TRY
        self._wake = threading.Event()
        self._jobs: deque[str] = deque()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="biem-wake", daemon=True)

    def start(self, work: Work) -> None:  # noqa: ARG002 - others do it
        self._thread.start()

    def wake(self) -> None:
        self._wake.set()

    def run_soon(self, job: str) -> None:
        """Ask a worker to run a background job now, over all scopes. Never blocks; a lost message costs latency."""
        self._jobs.append(job)
        self._wake.set()

    def stop(self, timeout_s: float) -> None:
        self._stop.set()
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        self._app.close()

    def _loop(self) -> None:
        while True:
            self._wake.wait()
            stopping = self._stop.wait(_LINGER_S)
            self._wake.clear()
            try:
                self._send(ENCODE_TASK, "encode")
                for name in self._taken():
                    self._send(JOB_TASK, "maintain", name)
            except Exception as error:  # noqa: BLE001 - any transport of kombu, with errors of its own client
                logger.warning("workers not woken, beat will wake them: %s", error)
                self._stop.wait(_PAUSE_S)
            if stopping:
                return

    def _taken(self) -> set[str]:
        """The jobs that were asked for since the last call, each once."""
        return {self._jobs.popleft() for _ in range(len(self._jobs))}

    def _send(self, task: str, queue: str, *arguments: str) -> None:
        self._app.send_task(task, arguments, queue=queue, ignore_result=True, expires=_EXPIRES_S, retry=False)
