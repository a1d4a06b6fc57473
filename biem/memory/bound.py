"""The object graph behind a memory, and the scope that it is bound to."""

import time
from collections.abc import Callable

from biem.domain.scope import Scope
from biem.errors import BiemError
from biem.system import System

_POLL_S = 0.01


class BoundMemory:
    """One scope of a system: what each group of methods works on."""

    def __init__(self, system: System, scope: Scope, *, owner: bool = True) -> None:
        self._shared = system
        self._owner = owner
        self.bound_to = scope
        system.views.add(self)

    @property
    def _system(self) -> System:
        if self._shared.closed.is_set():
            raise BiemError("this memory is closed; call biem.connect() again")
        return self._shared.here()

    def _until(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() >= deadline or self._shared.closed.wait(_POLL_S):
                return False
        return True
