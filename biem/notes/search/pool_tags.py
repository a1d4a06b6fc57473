"""The vectors of a pool and of its tags; what follows from those of its tags is kept for other queries."""

from collections.abc import Callable, Mapping, Sequence

from biem.notes.search.candidates import NoteCandidates
from biem.notes.search.rank import ChunkTags, TagKey, TagVectors, tag_key
from biem.notes.search.scope_tags import NoteVectors
from biem.ports import Embedder
from biem.ports.notes.records import PoolChunk
from biem.recent import Recent

_CHUNK_TAG_BYTES = 10_000_000
"""Vectors that are kept: the sums of those of all tags of a chunk."""


class PoolTags:
    """Reads the tags and vectors of pools. Thread-safe."""

    def __init__(self, vectors: NoteVectors, embedder: Embedder) -> None:
        self._vectors = vectors
        self._dim = embedder.info.dim
        self._of_tags: Recent[tuple[object, TagKey], ChunkTags] = Recent(_CHUNK_TAG_BYTES // (self._dim * 4))

    def forget(self) -> None:
        """Forget all that is kept: some notes were erased."""
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
        vectors = self._vectors.of({*roots.values(), *(chunk.sha for chunk in pool)})
        for chunk in pool:
            chunk.vector = vectors.get(chunk.sha)
        of_roots = {root: one for root, sha in roots.items() if (one := vectors.get(sha)) is not None}
        of_roots = {root: one for root, one in of_roots.items() if one.size == self._dim}
        tags = TagVectors(infos, of_roots, sizes, met)

        def keep() -> None:
            fresh = ((place, tags.known.get(key)) for key, place in keys.items() if place not in kept)
            self._of_tags.keep({place: each for place, each in fresh if each is not None and each.complete}, mark)

        return tags, keep
