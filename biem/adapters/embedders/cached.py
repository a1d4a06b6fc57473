"""An in-process LRU cache of vectors in front of any embedder."""

import hashlib
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biem.ports import Embedder, EmbedderInfo, Role, Vector, Vectors
from biem.telemetry import Span, Telemetry

if TYPE_CHECKING:
    from biem.adapters.embedders.usage import CallCounter

_ENTRY_BYTES = 360
"""Overhead of an entry in bytes: array object, key, dictionary slot and link. Measured: 270 to 325."""
_Key = tuple[Role, bytes]


@dataclass(slots=True)
class _Running:
    """A call under way."""

    ended: threading.Event = field(default_factory=threading.Event)
    vectors: Mapping[_Key, Vector] = field(default_factory=dict)
    """Empty if it failed."""


class CachedEmbedder:
    """The port `Embedder` with a cache; equal texts of one call are embedded once. Thread-safe.

    A text is embedded once, also if two threads miss it at once, as a recall's searches of memories and of notes do:
    the second waits for the first. No thread waits for the embedding of other texts.
    """

    def __init__(self, embedder: Embedder, limit_bytes: int) -> None:
        self._embedder = embedder
        self._limit = limit_bytes
        self._entry_bytes = embedder.info.dim * 4 + _ENTRY_BYTES
        self._entries: OrderedDict[_Key, Vector] = OrderedDict()
        self._running: dict[_Key, _Running] = {}
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            alive = weakref.WeakMethod(self._new_lock)  # the registry keeps its arguments for ever
            os.register_at_fork(after_in_child=lambda: (renew := alive()) and renew())
        self.hits = 0
        self.misses = 0
        self._telemetry = Telemetry()

    def watch(self, telemetry: Telemetry) -> None:
        """Report each call there as a span, with its numbers of cache hits and misses."""
        self._telemetry = telemetry

    @property
    def info(self) -> EmbedderInfo:
        """The wrapped embedder's."""
        return self._embedder.info

    @property
    def call_counter(self) -> "CallCounter | None":
        """As the wrapped embedder's."""
        return getattr(self._embedder, "call_counter", None)

    @property
    def size_bytes(self) -> int:
        """Memory used by the entries; never above the limit."""
        return len(self._entries) * self._entry_bytes

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """See the port. A text repeated in one call counts once as hit or miss."""
        with self._telemetry.span("biem.embed") as span:
            return self._embed(texts, role, span)

    def _embed(self, texts: Sequence[str], role: Role, span: Span) -> Vectors:
        keys = [(role, _digest(text)) for text in texts]
        wanted = dict(zip(keys, texts, strict=True))
        found: dict[_Key, Vector] = {}
        own = _Running()
        with self._lock:
            for key in wanted:
                vector = self._entries.get(key)
                if vector is not None:
                    self._entries.move_to_end(key)
                    found[key] = vector
            missing = [key for key in wanted if key not in found]
            others = {key: self._running[key] for key in missing if key in self._running}
            mine = [key for key in missing if key not in others]
            self._running.update(dict.fromkeys(mine, own))
            self.hits += len(found)
            self.misses += len(missing)
        span.add(texts=len(wanted), cached=len(found))
        try:
            found |= self._fresh(mine, wanted, role)
            own.vectors = found
        finally:
            with self._lock:
                for key in mine:
                    self._running.pop(key, None)
            own.ended.set()
        for key, running in others.items():
            running.ended.wait()
            if key in running.vectors:
                found[key] = running.vectors[key]
        found |= self._fresh([key for key in others if key not in found], wanted, role)  # the other thread failed
        out = np.empty((len(keys), self.info.dim), dtype=np.float32)
        for row, key in enumerate(keys):
            out[row] = found[key]
        return out

    def similarity(self, vector: Vector, others: Vectors) -> NDArray[np.float32]:
        """The wrapped embedder's."""
        return self._embedder.similarity(vector, others)

    def close(self) -> None:
        """Empty the cache and close the wrapped embedder."""
        with self._lock:
            self._entries.clear()
        self._embedder.close()

    def _fresh(self, keys: Sequence[_Key], texts: Mapping[_Key, str], role: Role) -> dict[_Key, Vector]:
        """Embed the texts of these keys, and keep the vectors."""
        if not keys:
            return {}
        embedded = self._embedder.embed([texts[key] for key in keys], role)
        added = {key: vector.copy() for key, vector in zip(keys, embedded, strict=True)}  # not a view of the batch
        self._keep(added)
        return added

    def _keep(self, added: dict[_Key, Vector]) -> None:
        room = self._limit // self._entry_bytes
        with self._lock:
            for key, vector in added.items():
                if key not in self._entries and len(self._entries) >= room:
                    if not room:
                        return
                    self._entries.popitem(last=False)
                self._entries[key] = vector
                self._entries.move_to_end(key)

    def _new_lock(self) -> None:
        """In a forked child: the lock may be held by a thread that does not exist here."""
        self._lock, self._running = threading.Lock(), {}


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
