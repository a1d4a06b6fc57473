"""What a fork does to libraries that keep threads and sockets of their own, and how their callers live with it.

A forked child has one thread and a copy of everything else: locks that a thread of its parent held stay locked in it,
and sockets are shared with the parent. So a fork waits until no thread is inside such a library (`CALLS`), and what the
parent had opened is neither used nor destroyed in the child (`keep_for_ever`): closing it there would say goodbye on
the parent's connection.
"""

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PATIENCE_S = 5.0
"""How long a fork waits for calls that are under way: a server that hangs must not keep a program from forking."""


class Calls:
    """Calls into libraries that a fork must not meet half-way. A fork waits for them, and they wait for a fork."""

    def __init__(self, patience_s: float = _PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._begin_anew(torn=False)

    def _begin_anew(self, *, torn: bool) -> None:
        self.torn = torn
        """Whether this process was forked in the middle of a call: the library is of no use in it."""
        self._changed = threading.Condition()
        self._inside = 0
        self._forks = 0
        self._thread = threading.local()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Entered around a call; a call inside another one does not wait for a fork that waits for the outer one."""
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
        """Let no new call begin, and wait for those under way."""
        with self._changed:
            self._forks += 1
            self._changed.wait_for(lambda: not self._inside, self._patience_s)

    def after_fork_in_parent(self) -> None:
        """Go on."""
        with self._changed:
            self._forks -= 1
            self._changed.notify_all()

    def after_fork_in_child(self) -> None:
        """No thread but this one is here, and whoever held the lock is not."""
        self._begin_anew(torn=self.torn or self._inside > 0)


CALLS = Calls()
"""Those of this process."""

if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(
        before=CALLS.before_fork,
        after_in_parent=CALLS.after_fork_in_parent,
        after_in_child=CALLS.after_fork_in_child,
    )


def keep_for_ever(*things: object) -> None:
    """Never destroy these in this process, not even when its interpreter ends: they are the parent's."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(things))


def skip_destructors() -> None:
    """Have this forked process end without the destructors of C++ libraries, once Python has done all of its own.

    Those of onnxruntime wait for ever, or crash, where the threads that they expect were left behind by the fork.
    """
    with suppress(OSError, AttributeError):  # glibc has `on_exit`; what it is given is called with the exit code
        library = ctypes.CDLL(None)
        library.on_exit(library._exit, None)
