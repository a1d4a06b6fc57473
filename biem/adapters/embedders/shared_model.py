"""One copy of a model per process: memories with the same embedder share its weights; the last one to close frees
them.
"""

import ctypes
import os
import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from biem.adapters.fork_safety import CALLS, keep_for_ever

T = TypeVar("T")


@dataclass(slots=True)
class _Loaded:
    model: Any
    users: int


class Models:
    """The models loaded in this process. Thread-safe; a forked child begins without any."""

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._loaded: dict[Hashable, _Loaded] = {}
        self._kept = False

    def keep(self) -> None:
        """From now on, keep unused models: the process exits soon, and freeing a model takes as long as loading it."""
        self._kept = True

    def take(self, key: Hashable, load: Callable[[], T]) -> T:
        """The model of this key, loaded at its first use; each `take` needs one `give_back`."""
        with CALLS.one(), self._loading:
            found = self._loaded.get(key)
            if found is None:
                found = self._loaded[key] = _Loaded(load(), 0)
            found.users += 1
            model: T = found.model
            return model

    def loaded(self, *start: Hashable) -> Hashable | None:
        """The key, a tuple, of a loaded model that begins so; None if there is none."""
        with self._loading:
            return next((key for key in self._loaded if isinstance(key, tuple) and key[: len(start)] == start), None)

    def give_back(self, key: Hashable) -> None:
        """Release one use; the last one frees the model."""
        with self._loading:
            found = self._loaded[key]
            found.users -= 1
            if found.users:
                return
            if self._kept:
                keep_for_ever(found.model)
                return
            del self._loaded[key]
        del found
        _trim()

    def begin_anew(self) -> None:
        """In a forked child: the models belong to the parent, with threads that do not exist here, and are never
        freed.
        """
        keep_for_ever(self._loaded)
        self._loading = threading.Lock()
        self._loaded = {}


MODELS = Models()
"""The models of this process."""

if hasattr(os, "register_at_fork"):  # absent on Windows
    os.register_at_fork(after_in_child=MODELS.begin_anew)


class Lease(Generic[T]):
    """A model in use in the process that took it: a forked child must take it again."""

    def __init__(self, key: Hashable, model: T) -> None:
        self._key = key
        self.process = os.getpid()
        self.model = model

    @classmethod
    def of(cls, key: Hashable, load: Callable[[], T]) -> "Lease[T]":
        """Take the model of this key."""
        return cls(key, MODELS.take(key, load))

    def end(self) -> None:
        """Release it; a model taken by the parent is released by the parent."""
        if self.process == os.getpid():
            del self.model  # or it would be freed only after the memory was trimmed
            MODELS.give_back(self._key)


def _trim() -> None:
    """Return freed memory to the system: glibc keeps that of other threads' arenas, 300 MB for each loaded model."""
    with suppress(OSError, AttributeError):  # another C library, which trims automatically or not at all
        ctypes.CDLL(None).malloc_trim(0)
