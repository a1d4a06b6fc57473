"""A memory in a forked process: its first use there reopens it with new connections, threads and a new model.

The child neither uses nor closes the parent's objects, which keep working in the parent.
"""

import os
import threading
import weakref
from collections.abc import Callable
from dataclasses import fields
from functools import partial

from biem.adapters.fork_safety import CALLS, keep_for_ever
from biem.errors import ConfigError
from biem.system import System

_OPEN: "weakref.WeakSet[System]" = weakref.WeakSet()
_guard = threading.Lock()


def survive_forks(system: System, build: Callable[[], System], begin: Callable[[System], None]) -> None:
    """When this graph is used in a forked child, `build` creates a new one and `begin` starts it.

    Handlers attached to the telemetry after `build` also receive the spans of the child.
    """
    system.revive = partial(_revive, weakref.ref(system), build=build, begin=begin, own=len(system.telemetry.handlers))
    _OPEN.add(system)


def _revive(
    reference: "weakref.ref[System]", *, build: Callable[[], System], begin: Callable[[System], None], own: int
) -> None:
    system = reference()
    with _guard:
        if system is None or system.process == os.getpid():  # another thread was faster
            return
        if CALLS.torn:
            raise ConfigError(
                f"this memory was opened in process {system.process}, which was forked in the middle of a call that "
                "did not end; call biem.connect() only after the fork (gunicorn: without --preload, or in post_fork)"
            )
        handlers = system.telemetry.handlers[own:]
        system.take_over(build())
        for handler in handlers:
            system.telemetry.attach(handler)
        begin(system)


def _leave_to_the_parent() -> None:
    """In a forked child: keep the parent's objects from being finalised."""
    global _guard  # it may be held by a thread that does not exist here
    _guard = threading.Lock()
    for system in list(_OPEN):
        keep_for_ever(*(getattr(system, each.name) for each in fields(system)))


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_leave_to_the_parent)
