"""Searches notes: words, content and tags give a pool, ranking gives one order; unavailable servers are left out.

words ┐
dense ├─► union ─► live chunks with their tags ─► rank ─► at most three of a note
tags  ┘   (the tags that the query names and the two nearest ─► their notes ─► dense search within these)
"""

import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TypeVar

import numpy as np

from biem.domain.notes.library import NoteHit, NoteHits, cited
from biem.domain.policies.notes import NoteRankPolicy
from biem.domain.scope import Scope
from biem.domain.scores import clamp01
from biem.domain.text import late
from biem.domain.times.spans import Window
from biem.domain.times.windows import earlier, windows
from biem.errors import BiemError, EmbedderUnavailable
from biem.notes.rank import NoteQuestion, RankedChunk, TagVectors, few_of_each, ranked, roots_of, weighted
from biem.notes.tags import identity
from biem.ports import Analyzer, Clock, Embedder, Vector
from biem.ports.notes import NoteFilter, NoteIndex, NoteRecords, NotesSize, PoolChunk
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.notes")
T = TypeVar("T")

_FOLLOWED = 2
"""Nearest tags whose notes are searched."""
_MOST_NOTES = 64
"""Notes searched for the tags of a query."""
_CACHE_BYTES = 20_000_000
_USED_S = 5.0
"""How long it is believed that a scope has notes, or has none."""
_PAUSE_S = 2.0
"""Pause before an index that was down is asked again."""
_TIMES = 2
"""Windows of time in a query that are searched."""
_KEYWORDS = 12
"""Keywords of a query by which the confidence is judged."""
_MOST_TAGGED = 1_000
"""Notes searched where the caller names tags."""
_BIAS, _SHARED, _NEAR = -2.5, 4.5, 12.0
"""Confidence: log-odds of nothing, for all keywords of the query in the best chunks, and per cosine above the pool."""
_JUDGED = 3
"""Best hits by which the confidence is judged."""

_MOST_NAMES = 400
"""Names of one query."""
_WORDS = 4
_HAN = 12
_RUN = late(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]+|[^\W_]+(?:[-'._+#]*[^\W_]+)*[+#]*")
_CJK = late(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")


class NoteSearcher:
    """Answers queries from notes. Thread-safe."""

    def __init__(
        self,
        *,
        records: NoteRecords,
        index: NoteIndex,
        embedder: Embedder,
        analyzer: Analyzer,
        clock: Clock,
        policy: NoteRankPolicy,
        tag_weights: Sequence[float],
        telemetry: Telemetry,
        calling: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`calling` is entered around a search: background work pauses meanwhile."""
        self._records = records
        self._index = index
        self._embedder = embedder
        self._analyzer = analyzer
        self._clock = clock
        self._policy = policy
        self._weights = tag_weights
        self._telemetry = telemetry
        self._calling = calling
        self._sizes: dict[str, tuple[float, dict[str, NotesSize]]] = {}
        self._used: dict[str, tuple[float, bool]] = {}
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._lock = threading.Lock()
        self._down_until = 0.0

    def is_used(self, scope: Scope) -> bool:
        """Whether a scope may read any notes; remembered for some seconds, so that scopes without cost nothing."""
        known = self._used.get(scope.ns)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        used = self._records.has_notes(scope.readable)
        self._used[scope.ns] = (time.monotonic() + _USED_S, used)
        return used

    def changed(self) -> None:
        """Forget which scopes have notes, and how many: libraries were added, removed or scanned."""
        self._used.clear()
        self._sizes.clear()

    def _size(self, scope: Scope) -> dict[str, NotesSize]:
        """How much there is to search; remembered for some seconds."""
        known = self._sizes.get(scope.ns)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        sizes = self._records.sizes(scope.readable)
        self._sizes[scope.ns] = (time.monotonic() + _USED_S, sizes)
        return sizes

    def search(
        self,
        scope: Scope,
        query: str,
        *,
        top_k: int,
        libraries: Sequence[str] = (),
        tags: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        guides: Collection[str] = (),
    ) -> NoteHits:
        """The best chunks for a query, best first. `libraries` are ids; all `tags` (names) must match.

        `guides`: names that the best memories mention. Raises `StoreUnavailable` for PostgreSQL only.
        """
        with self._telemetry.span("biem.notes.search", top_k=top_k) as span, self._calling():
            scopes, degraded = scope.readable, list[str]()
            wanted = [self._roots(scopes, [tag]) for tag in tags]
            notes = self._records.tagged(scopes, sorted(set().union(*wanted)), _MOST_TAGGED) if tags else []
            if tags and not notes:
                return NoteHits()
            where = NoteFilter(tuple(libraries), tuple(notes), since, until)
            lexemes = self._analyzer.lexemes(query)
            vector = self._vector(query, degraded)
            sizes = self._size(scope)
            times = self._times(query, sizes)
            unindexed = any(size.unindexed for size in sizes.values())
            named = self._records.named(scopes, mentioned(query))
            words, ids = self._candidates(scopes, lexemes, vector, where, times, named, degraded, unindexed=unindexed)
            pool = [chunk for chunk in self._records.pool(scopes, sorted(ids)) if _meets(chunk, where)]
            known = self._tags(scopes, pool, named, {ns: size.chunks for ns, size in sizes.items()})
            if tags:
                pool = [chunk for chunk in pool if _has_all(roots_of(chunk, known, self._weights), wanted)]
            guided = self._roots(scopes, guides) if self._policy.guided else frozenset()
            roots = {known.infos[tag].root for tag in named if tag in known.infos}
            question = NoteQuestion(vector, words, times, frozenset(roots), guided)
            order = ranked(pool, question, known, self._weights, self._policy)
            hits = self._hits(scopes, few_of_each(order, self._policy.per_note, top_k))
            hits.confidence = self._confidence(query, hits, order)
            hits.degraded = tuple(degraded)
            span.add(pool=len(pool), hits=len(hits), confidence=hits.confidence)
        return hits

    def _times(self, query: str, sizes: Mapping[str, NotesSize]) -> list[Window]:
        """The times that a query names, as seen from the newest note; dates without a year in earlier years, too."""
        newest = [size.newest for size in sizes.values() if size.newest is not None]
        oldest = [size.oldest for size in sizes.values() if size.oldest is not None]
        if not newest:
            return []
        clock = max(newest)
        return [*windows(query, clock), *(window for window, _ in earlier(query, clock, min(oldest)))]

    # -- candidates -------------------------------------------------------------------------------------------------

    def _vector(self, query: str, degraded: list[str]) -> Vector | None:
        try:
            vector: Vector = self._embedder.embed([query], "query")[0]
        except EmbedderUnavailable as error:
            logger.warning("notes are searched by words only: %s", error)
            degraded.append("embedder")
            return None
        return vector

    def _candidates(
        self,
        scopes: Sequence[Scope],
        lexemes: Sequence[str],
        vector: Vector | None,
        where: NoteFilter,
        times: Sequence[tuple[datetime, datetime]],
        named: Sequence[int],
        degraded: list[str],
        *,
        unindexed: bool,
    ) -> tuple[dict[str, float], set[str]]:
        """BM25 scores by chunk, and the ids of all candidates. `named`: tags that the query names.

        `unindexed`: the index lacks some notes.
        """
        policy, index = self._policy, self._index
        text = " ".join(lexemes)
        words = self._ask(lambda: index.words(scopes, text, policy.words, where), degraded)
        ids: set[str] = set()
        if words is not None and vector is not None:
            filters = [(where, policy.dense)]
            if not where.notes and (notes := self._tagged(scopes, named, vector, degraded)):
                filters.append((replace(where, notes=tuple(notes)), policy.tagged))
            if where.since is None and where.until is None:
                for start, end in list(times)[:_TIMES]:
                    then = replace(where, since=start, until=end)
                    filters.append((then, policy.timed))
                    said = self._ask(partial(index.words, scopes, text, policy.timed, then), degraded) or {}
                    words = {**said, **words}
            for each, limit in filters:
                ids |= set(self._ask(partial(index.dense, scopes, vector, limit, each), degraded) or ())
        if words is None or not index.lexical or unindexed:
            found = self._records.matching(scopes, lexemes, where.libraries or None, policy.words)
            words = {**found, **(words or {})}
        return words, ids | set(words)

    def _tagged(self, scopes: Sequence[Scope], named: Sequence[int], vector: Vector, degraded: list[str]) -> list[str]:
        """Notes of the tags that the query names, and of the tags nearest to it."""
        near = self._ask(lambda: self._index.near_tags(scopes, vector, self._policy.tags), degraded) or {}
        best = sorted(near, key=lambda key: (-near[key], key))[:_FOLLOWED]
        roots = {info.root for info in self._records.tags(scopes, [*named, *best]).values()}
        return self._records.tagged(scopes, sorted(roots), _MOST_NOTES)

    def _ask(self, work: Callable[[], T], degraded: list[str]) -> T | None:
        """A search in the index; None while it is down."""
        if time.monotonic() < self._down_until:
            if "milvus" not in degraded:
                degraded.append("milvus")
            return None
        try:
            return work()
        except BiemError as error:
            logger.warning("notes are searched without the index: %s", error)
            self._down_until = time.monotonic() + _PAUSE_S
            degraded.append("milvus")
            return None

    # -- tags -------------------------------------------------------------------------------------------------------

    def _tags(
        self, scopes: Sequence[Scope], pool: Sequence[PoolChunk], named: Sequence[int], sizes: Mapping[str, int]
    ) -> TagVectors:
        """The tags of the pool and those that the query names, and the vectors of those that stand for them."""
        ids = {tag for chunk in pool for tag, _ in weighted(chunk, self._weights)} | set(named)
        infos = self._records.tags(scopes, sorted(ids))
        by_sha = {info.sha: info.root for info in infos.values() if not info.idle}
        vectors = {by_sha[sha]: vector for sha, vector in self._kept(list(by_sha)).items()}
        return TagVectors(infos, vectors, sizes)

    def _kept(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Vectors of tags, from the cache or from PostgreSQL."""
        found: dict[bytes, Vector] = {}
        with self._lock:
            for key in keys:
                if key in self._vectors:
                    self._vectors.move_to_end(key)
                    found[key] = self._vectors[key]
        missing = [key for key in keys if key not in found]
        if missing:
            loaded = self._records.load_vectors(missing)
            found |= loaded
            with self._lock:
                self._vectors.update(loaded)
                while len(self._vectors) * self._embedder.info.dim * 4 > _CACHE_BYTES:
                    self._vectors.popitem(last=False)
        return found

    def _roots(self, scopes: Sequence[Scope], names: Collection[str]) -> frozenset[int]:
        """The tags that stand for those of these names."""
        ids = self._records.named(scopes, [identity(name) for name in names]) if names else []
        return frozenset(info.root for info in self._records.tags(scopes, ids).values())

    # -- results ----------------------------------------------------------------------------------------------------

    def _hits(self, scopes: Sequence[Scope], best: Sequence[RankedChunk]) -> NoteHits:
        found = self._records.passages(scopes, [one.chunk.id for one in best])
        return NoteHits(
            NoteHit(
                stored.chunk,
                stored.note,
                clamp01(one.score),
                one.why,
                cited(stored.note.path, stored.chunk.lines[0], stored.chunk.headings, len(stored.chunk.body)),
            )
            for one in best
            if (stored := found.get(one.chunk.id)) is not None
        )

    def _confidence(self, query: str, hits: NoteHits, order: Sequence[RankedChunk]) -> float:
        """Whether the notes have the answer at all: the share of the query's keywords in the best chunks, and how far
        their content lies above the pool's.
        """
        if not hits:
            return 0.0
        best = hits[:_JUDGED]
        asked = set(self._analyzer.lexemes(" ".join(self._analyzer.keywords(query, _KEYWORDS)) or query))
        said = set(self._analyzer.lexemes("\n".join(_said(hit) for hit in best)))
        shared = len(asked & said) / len(asked) if asked else 0.0
        content = np.array([one.why["content"] for one in order])
        above = max(hit.why["content"] for hit in best) - float(content.mean())
        return 1.0 / (1.0 + math.exp(-(_BIAS + _SHARED * shared + _NEAR * above)))


def mentioned(query: str) -> list[str]:
    """Identities of possible tags in a query: of Latin words up to four in a row, of CJK characters two to twelve."""
    text = identity(query)
    runs = [found.group() for found in _RUN.finditer(text)]
    names: dict[str, None] = {}
    latin: list[str] = []
    for run in [*runs, "一"]:  # the last one ends the words before it
        if _CJK.match(run) is None:
            latin.append(run)
            continue
        for first in range(len(latin)):
            for last in range(first + 1, min(len(latin), first + _WORDS) + 1):
                names[" ".join(latin[first:last])] = None
        latin = []
        for length in range(min(_HAN, len(run)), 1, -1):
            for first in range(len(run) - length + 1):
                names[run[first : first + length]] = None
    return list(names)[:_MOST_NAMES]


def _said(hit: NoteHit) -> str:
    return "\n".join([hit.note.path, *hit.chunk.headings, hit.chunk.body])


def _meets(chunk: PoolChunk, where: NoteFilter) -> bool:
    """Whether a chunk meets the conditions; a search by words without the index knows some of them only."""
    if where.libraries and chunk.library_id not in where.libraries:
        return False
    if where.notes and chunk.note_id not in where.notes:
        return False
    if where.since is None and where.until is None:
        return True
    at = chunk.at
    return at is not None and (where.since is None or at >= where.since) and (where.until is None or at < where.until)


def _has_all(roots: Collection[int], wanted: Sequence[frozenset[int]]) -> bool:
    return all(not each.isdisjoint(roots) for each in wanted)
