"""What was used last, by key, in this process: a bounded cache of values that never change under their key."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Hashable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Thread-safe. What was read before an erasure is not kept after it."""

    def __init__(self, most: int) -> None:
        """`most`: values kept; those not used for longest go first."""
        self._most = most
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._erasures = 0
        self._lock = threading.Lock()

    def known(self, keys: Collection[K]) -> tuple[dict[K, V], int]:
        """The values that are kept of these keys, and a mark to be given to `keep`."""
        found: dict[K, V] = {}
        with self._lock:
            for key in keys:
                value = self._kept.get(key)
                if value is not None:
                    self._kept.move_to_end(key)
                    found[key] = value
            return found, self._erasures

    def keep(self, values: Mapping[K, V], mark: int) -> None:
        """Keep these, unless some were erased since the mark was given: they may have been read before that."""
        with self._lock:
            if mark == self._erasures:
                self._kept.update(values)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def forget(self) -> None:
        """Forget all: some were erased."""
        with self._lock:
            self._kept.clear()
            self._erasures += 1
