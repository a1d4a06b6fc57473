"""Vectors of chunks and tags, by the key of the text that they are of, kept in this process for other queries."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from biem.ports import Embedder, Vector
from biem.ports.notes.records import NoteRecords
from biem.recent import Recent

_KEPT_BYTES = 40_000_000


class NoteVectors:
    """Reads vectors of this model. Thread-safe."""

    def __init__(self, records: NoteRecords, embedder: Embedder) -> None:
        self._records = records
        self._kept: Recent[bytes, Vector] = Recent(_KEPT_BYTES // (embedder.info.dim * 4))

    def of(self, keys: Collection[bytes]) -> dict[bytes, Vector]:
        """The vectors of texts; those that are not embedded yet are left out."""
        found, mark = self._kept.known(keys)
        if missing := [key for key in keys if key not in found]:
            loaded = self._records.load_vectors(missing)
            self._kept.keep(loaded, mark)
            found |= loaded
        return found

    def forget(self) -> None:
        """Forget all that is kept: some notes were erased."""
        self._kept.forget()


def stacked(vectors: Sequence[Vector]) -> Vector:
    """As rows of a matrix: `numpy.stack` takes three times as long for hundreds."""
    return np.concatenate(vectors).reshape(len(vectors), -1)


def nearest(vector: Vector, keys: Mapping[str, bytes], vectors: Mapping[bytes, Vector], limit: int) -> list[str]:
    """The chunks whose content is nearest to a vector, at most `limit`. `keys`: of the vector of each chunk."""
    near = {chunk: vectors[key] for chunk, key in keys.items() if key in vectors}
    chunks = [chunk for chunk, one in near.items() if one.shape == vector.shape]
    if len(chunks) <= limit:
        return chunks
    cosines = stacked([near[chunk] for chunk in chunks]) @ vector
    return [chunks[place] for place in np.argpartition(-cosines, limit)[:limit].tolist()]
