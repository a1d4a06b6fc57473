"""Lazy properties: computed once, and of no harm to a process that forks meanwhile."""

import os
import signal
import sys
import threading

import pytest

from biem.lazy import lazy

_LIMIT_S = 20


class Room:
    """An object whose first use computes."""

    def __init__(self) -> None:
        self.computed = 0
        self.entered, self.leave = threading.Event(), threading.Event()
        self.leave.set()

    @lazy
    def size(self) -> int:
        """Square metres."""
        self.entered.set()
        self.leave.wait()
        self.computed += 1
        return 12


def test_it_is_computed_at_the_first_use_and_kept() -> None:
    room = Room()
    assert "size" not in vars(room)
    assert (room.size, room.size, room.computed) == (12, 12, 1)
    assert Room.size.__doc__ == "Square metres."


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_while_another_thread_computes_leaves_the_child_free_to() -> None:
    # Given a thread in the middle of a property
    busy = Room()
    busy.leave.clear()
    thread = threading.Thread(target=lambda: busy.size)
    thread.start()
    busy.entered.wait()

    # When the process forks, and the child asks another object of the class
    pid = os.fork()
    if pid == 0:
        signal.alarm(_LIMIT_S)  # ends a child that waits for the thread, which it does not have
        os._exit(0 if Room().size == 12 else 1)

    # Then the child has its answer
    try:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    finally:
        busy.leave.set()
        thread.join()
