"""The embedder that all systems of one run share, and a synthetic one that costs nothing."""

import os
import re
import threading
import zlib
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biem import bootstrap
from biem.config import Settings
from biem.ports import Embedder, EmbedderInfo, Role, Vector, Vectors

_WORDS = re.compile(r"(?=([㐀-鿿]{1,2}))|([^\W_㐀-鿿]+)")
"""Chinese in overlapping pairs of characters, everything else in words."""
_BUCKETS = 8_192
_COMMON = 0.25
"""Weight of a word of at most three letters: the words that all texts share must not make all texts alike."""


def choose_embedder(name: str, settings: Settings) -> Embedder:
    """`synthetic`, or any provider that the settings know; without a cache, so that every system pays its questions."""
    if name == "synthetic":
        return SyntheticEmbedder()
    provider = settings.embedder.model_copy(update={"provider": name, "cache_mb": 0})
    return bootstrap.build_embedder(settings.model_copy(update={"embedder": provider}))


class SyntheticEmbedder:
    """A bag of seeded word vectors: texts that share rare words are near each other. About 20 µs a text.

    Made for measuring everything except embedding. The same text gives the same vector in every process.
    """

    def __init__(self, dim: int = 384) -> None:
        self._info = EmbedderInfo(f"synthetic-{dim}", dim, ("mul",), 512)
        table = np.random.default_rng(7).standard_normal((_BUCKETS, dim), dtype=np.float32)
        self._table: NDArray[np.float32] = table / np.linalg.norm(table, axis=1, keepdims=True)
        self._rows: dict[str, int] = {}

    @property
    def info(self) -> EmbedderInfo:
        """As the port says."""
        return self._info

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:  # noqa: ARG002  both roles share one space
        """As the port says."""
        vectors = np.empty((len(texts), self._info.dim), dtype=np.float32)
        for position, text in enumerate(texts):
            vectors[position] = self._one(text)
        return vectors

    def similarity(self, vector: Vector, others: Vectors) -> NDArray[np.float32]:
        """The cosine: unrelated bags of words are orthogonal already."""
        return np.asarray(np.clip(others @ vector, 0.0, 1.0), dtype=np.float32)

    def close(self) -> None:
        """Holds nothing."""

    def _one(self, text: str) -> NDArray[np.float32]:
        words = [pair or word for pair, word in _WORDS.findall(text.lower())] or [""]
        rows = [self._row(word) for word in words]
        weights = np.fromiter((_COMMON if word.isascii() and len(word) <= 3 else 1.0 for word in words), np.float32)
        vector = weights @ self._table[rows]
        length = float(np.linalg.norm(vector))
        return np.asarray(vector / length if length > 1e-6 else self._table[0], dtype=np.float32)

    def _row(self, word: str) -> int:
        row = self._rows.get(word)
        if row is None:
            row = self._rows[word] = zlib.crc32(word.encode(errors="replace")) % _BUCKETS
        return row


class PassageCache:
    """An embedder whose passages are embedded once: for all systems of a run and, with a folder, for later runs.

    Queries go to the model, because their time is measured, unless `queries` says to keep them for this run.
    """

    def __init__(self, inner: Embedder, folder: Path | None, *, queries: bool = False) -> None:
        self._inner = inner
        self._asked: dict[str, Vector] | None = {} if queries else None
        name = sha256(inner.info.id.encode()).hexdigest()[:16]
        self._file = folder / f"passages-{name}.npz" if folder else None
        self._lock = threading.Lock()
        self._known = self._read()
        self._on_disk = len(self._known)

    @property
    def info(self) -> EmbedderInfo:
        """The model's own."""
        return self._inner.info

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """As the port says."""
        if role == "query":
            return self._queries(texts)
        keys = [sha256(text.encode(errors="replace")).digest() for text in texts]
        with self._lock:
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if missing:
            fresh = self._inner.embed(list(missing.values()), role)
            with self._lock:
                self._known.update(zip(missing, fresh, strict=True))
        return np.stack([self._known[key] for key in keys]) if keys else self._inner.embed([], role)

    def _queries(self, texts: Sequence[str]) -> Vectors:
        if self._asked is None or not texts:
            return self._inner.embed(texts, "query")
        missing = [text for text in dict.fromkeys(texts) if text not in self._asked]
        if missing:
            self._asked.update(zip(missing, self._inner.embed(missing, "query"), strict=True))
        return np.stack([self._asked[text] for text in texts])

    def similarity(self, vector: Vector, others: Vectors) -> NDArray[np.float32]:
        """The model's own."""
        return self._inner.similarity(vector, others)

    def close(self) -> None:
        """Keep the new vectors and close the model."""
        self.save()
        self._inner.close()

    def save(self) -> None:
        """Write the cache; a reader never sees half a file."""
        with self._lock:
            if self._file is None or len(self._known) == self._on_disk:
                return
            self._file.parent.mkdir(parents=True, exist_ok=True)
            part = self._file.with_suffix(f".{os.getpid()}.part.npz")
            keys = np.frombuffer(b"".join(self._known), dtype=np.uint8).reshape(-1, 32)
            np.savez(part, keys=keys, vectors=np.stack(list(self._known.values())))
            part.replace(self._file)
            self._on_disk = len(self._known)

    def _read(self) -> dict[bytes, Vector]:
        if self._file is None or not self._file.exists():
            return {}
        with suppress(OSError, ValueError, KeyError), np.load(self._file) as stored:
            vectors = stored["vectors"]
            if vectors.shape[1] == self._inner.info.dim:
                return {key.tobytes(): vector for key, vector in zip(stored["keys"], vectors, strict=True)}
        return {}
