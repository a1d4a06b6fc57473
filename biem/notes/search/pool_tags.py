"""The vectors of a pool and of its tags, kept for other queries."""

from collections.abc import Callable, Collection, Mapping, Sequence

from biem.notes.search.candidates import NoteCandidates
from biem.notes.search.rank import ChunkTags, TagKey, TagVectors, tag_key
from biem.ports import Embedder, Vector
from biem.ports.notes.records import NoteRecords, PoolChunk
from biem.recent import Recent

_VECTOR_BYTES, _CHUNK_TAG_BYTES = 40_000_000, 10_000_000
"""Vectors that are kept: of chunks and tags, and the sums of those of all tags of a chunk."""


class PoolTags:
    """Reads the tags and vectors of pools. Thread-safe."""

    def __init__(self, records: NoteRecords, embedder: Embedder) -> None:
        self._records = records
        self._embedder = embedder
        size = embedder.info.dim * 4
        self._vectors: Recent[bytes, Vector] = Recent(_VECTOR_BYTES // size)
        self._of_tags: Recent[tuple[object, TagKey], ChunkTags] = Recent(_CHUNK_TAG_BYTES // size)

    def forget(self) -> None:
        """Forget all that is kept: some notes were erased."""
        self._vectors.forget()
        self._of_tags.forget()

    def of(
        self, found: NoteCandidates, pool: Sequence[PoolChunk], sizes: Mapping[str, int]
    ) -> tuple[TagVectors, Callable[[], None]]:
        """The tags of the pool and those that the query names, and what keeps those of the pool for other queries.

        The chunks of the pool get their vectors, which one statement reads with those of the tags.
        """
        as_they_are = (found.tags.token, tuple(sorted(sizes.items())))
        keys = {key: (as_they_are, key) for key in map(tag_key, pool)}
        kept, mark = self._of_tags.known(keys.values())
        met = {key: kept[place] for key, place in keys.items() if place in kept}
        others = keys.keys() - met.keys()
        infos = found.tags.infos(
            set(found.named).union(*(each for _, own, _, noted, _ in others for each in (own, noted)))
        )
        roots = {info.root: info.sha for info in infos.values() if not info.idle}
        vectors = self._load({*roots.values(), *(chunk.sha for chunk in pool)})
        for chunk in pool:
            chunk.vector = vectors.get(chunk.sha)
        dim = self._embedder.info.dim
        of_roots = {root: vectors[sha] for root, sha in roots.items() if sha in vectors and vectors[sha].size == dim}
        tags = TagVectors(infos, of_roots, sizes, met)

        def keep() -> None:
            fresh = ((place, tags.known.get(key)) for key, place in keys.items() if place not in kept)
            self._of_tags.keep({place: each for place, each in fresh if each is not None and each.complete}, mark)

        return tags, keep

    def _load(self, keys: Collection[bytes]) -> dict[bytes, Vector]:
        """Vectors of texts, from the cache or from PostgreSQL."""
        found, mark = self._vectors.known(keys)
        if missing := [key for key in keys if key not in found]:
            loaded = self._records.load_vectors(missing)
            self._vectors.keep(loaded, mark)
            found |= loaded
        return found
