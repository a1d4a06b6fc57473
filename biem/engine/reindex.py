"""Rebuilding the vector index from Records: no embedding call where the cache has the vector (architecture D2)."""

from collections.abc import Callable

from biem.engine.encode import Encoder, entry_of
from biem.ports import Embedder, Records, VectorIndex
from biem.telemetry import Telemetry


class Reindexer:
    """Makes the index anew. Recall goes on meanwhile and finds what is already in."""

    def __init__(
        self, *, records: Records, index: VectorIndex, embedder: Embedder, encoder: Encoder, telemetry: Telemetry
    ) -> None:
        self._records = records
        self._index = index
        self._embedder = embedder
        self._encoder = encoder
        self._telemetry = telemetry

    def reindex(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Drop the model's collection and fill it from Records; returns the number of memories indexed.

        Safe to break off: the next run starts over. Memories written meanwhile are indexed by the workers as always.
        """
        done = 0
        with self._telemetry.span("biem.reindex"):
            self._index.open()
            self._index.drop()
            self._index.open()
            for page in self._records.active(self._embedder.info.id):
                missing = [node.indexed_text for node, _, vector in page if vector is None]
                computed = iter(self._encoder.vectors(missing) if missing else ())
                entries = [
                    entry_of(node, lexemes, next(computed) if vector is None else vector)
                    for node, lexemes, vector in page
                ]
                self._index.insert(entries, again=True)
                self._records.mark_indexed([node.id for node, _, _ in page])
                done += len(page)
                if on_progress:
                    on_progress(done)
        return done
