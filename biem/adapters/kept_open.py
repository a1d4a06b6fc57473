"""What a memory leaves open when it closes, for the next one of the process that needs the same.

A program that opens a memory for each request would connect each time, and PostgreSQL plans every statement anew on
each connection: that took more time than a recall.
"""

import atexit
import os
import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from biem.adapters.fork_safety import keep_for_ever

T = TypeVar("T")
_ALL: "list[KeptOpen[Any]]" = []


class KeptOpen(Generic[T]):
    """Things that are closed some seconds after their last use. Thread-safe; a forked child begins without any."""

    def __init__(self, close: Callable[[T], None], keep_s: float) -> None:
        """`keep_s`: seconds until what no one takes is closed, with `close`."""
        self._close = close
        self._keep_s = keep_s
        self._begin_anew()
        _ALL.append(self)
        if hasattr(os, "register_at_fork"):  # absent on Windows
            os.register_at_fork(after_in_child=self._begin_anew_in_child)

    def _begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Hashable, list[tuple[T, threading.Timer]]] = {}

    def _begin_anew_in_child(self) -> None:
        keep_for_ever(self._kept)
        self._begin_anew()

    def take(self, key: Hashable) -> T | None:
        """The thing that was kept last under this key, which is the caller's from now on; None without one."""
        with self._lock:
            kept = self._kept.get(key)
            if not kept:
                return None
            thing, timer = kept.pop()
        timer.cancel()
        return thing

    def keep(self, key: Hashable, thing: T) -> None:
        """Keep a thing for who needs the same next."""
        timer = threading.Timer(self._keep_s, self._end, (key, thing))
        timer.name, timer.daemon = "biem-kept-open", True
        with self._lock:
            self._kept.setdefault(key, []).append((thing, timer))
        try:
            timer.start()
        except RuntimeError:  # the interpreter exits: no thread can be started
            self._end(key, thing)

    def close(self) -> None:
        """Close all of it now."""
        with self._lock:
            kept = [each for things in self._kept.values() for each in things]
            self._kept.clear()
        for thing, timer in kept:
            timer.cancel()
            self._close(thing)

    def _end(self, key: Hashable, thing: T) -> None:
        with self._lock:
            kept = self._kept.get(key, [])
            left = [each for each in kept if each[0] is not thing]
            if len(left) == len(kept):  # taken meanwhile
                return
            if left:
                self._kept[key] = left
            else:
                del self._kept[key]
        self._close(thing)


@atexit.register
def close_kept() -> None:
    """Close all that is kept open in this process: it ends."""
    for each in _ALL:
        each.close()
