"""Forking with libraries that have threads and sockets.

A forked child has one thread and a copy of everything else: locks held by another thread stay locked in it, and sockets
are shared with the parent. So a fork waits until no thread is inside such a library (`CALLS`), and objects opened by
the parent are neither used nor destroyed in the child (`keep_for_ever`): closing them there would end the parent's
connection.
"""

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PATIENCE_S = 5.0
"""How long a fork waits for calls in progress: a server that hangs must not prevent a fork."""


class Calls:
    """Calls into libraries that must not be in progress at a fork. A fork waits for them, and they wait for a fork."""

    def __init__(self, patience_s: float = _PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._begin_anew(torn=False)

    def _begin_anew(self, *, torn: bool) -> None:
        self.torn = torn
        """Whether this process was forked during a call: the library is unusable in it."""
        self._changed = threading.Condition()
        self._inside = 0
        self._forks = 0
        self._thread = threading.local()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Entered around a call; a nested call does not wait for a fork that waits for the outer one."""
        if getattr(self._thread, "inside", False):
            yield
            return
        with self._changed:
            self._changed.wait_for(lambda: not self._forks)
            self._inside += 1
        self._thread.inside = True
        try:
            yield
        finally:
            self._thread.inside = False
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def before_fork(self) -> None:
        """Block new calls, and wait for those in progress."""
        with self._changed:
            self._forks += 1
            self._changed.wait_for(lambda: not self._inside, self._patience_s)

    def after_fork_in_parent(self) -> None:
        """Admit calls again."""
        with self._changed:
            self._forks -= 1
            self._changed.notify_all()

    def after_fork_in_child(self) -> None:
        """Only this thread exists here; the lock's holder may not."""
        self._begin_anew(torn=self.torn or self._inside > 0)


CALLS = Calls()
"""The calls of this process."""

if hasattr(os, "register_at_fork"):  # absent on Windows
    os.register_at_fork(
        before=CALLS.before_fork,
        after_in_parent=CALLS.after_fork_in_parent,
        after_in_child=CALLS.after_fork_in_child,
    )


def keep_for_ever(*things: object) -> None:
    """Never destroy these in this process, not even at interpreter exit: they belong to the parent."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(things))


def skip_destructors() -> None:
    """End this forked process without C++ destructors, after Python's own cleanup.

    Those of onnxruntime hang or crash, because the threads they expect do not exist after the fork.
    """
    with suppress(OSError, AttributeError):  # glibc has `on_exit`; its callback gets the exit code
        library = ctypes.CDLL(None)
        library.on_exit(library._exit, None)
