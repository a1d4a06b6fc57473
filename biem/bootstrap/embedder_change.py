"""Switches a running program to another embedder when all memories were moved to it."""

import logging
import threading
from collections.abc import Callable

from biem.errors import BiemError
from biem.system import System

logger = logging.getLogger("biem")

EVERY_S = 2.0
"""Polling interval."""
_GRACE_S = 90.0
"""Time for which calls in progress may continue with the old embedder and its connections."""


def follow(system: System, build: Callable[[], System], *, every_s: float = EVERY_S) -> None:
    """Watch the embedder of record, on a thread that ends with the memory, and switch to it."""
    threading.Thread(target=_watch, args=(system, build, every_s), name="biem-embedder", daemon=True).start()


def _watch(system: System, build: Callable[[], System], every_s: float) -> None:
    refused = ""
    while not system.closed.wait(every_s):
        try:
            choice = system.embedders.current()
        except BiemError:
            continue
        if choice is None or choice.model in (system.embedder.id, refused):
            continue
        try:
            fresh = build()
        except BiemError as error:
            logger.warning(
                "all memories were moved to the embedder %s, but %s; restart this program", choice.model, error
            )
            refused = choice.model
            continue
        logger.warning("switching to the embedder %s", choice.model)
        if system.closed.is_set():
            fresh.release()
            return
        release = system.become(fresh)
        if system.closed.wait(_GRACE_S):  # closed by another thread: stop the new graph, too
            fresh.scheduler.stop(0.0)
            fresh.queue.stop(0.0)
            fresh.release()
        release()
