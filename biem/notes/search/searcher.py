"""Searches notes: words, content and tags give a pool, ranking gives one order; unavailable servers are left out.

words ┐
dense ├─► union ─► live chunks with their tags ─► rank ─► few of each note
tags  ┘   (the rarer tags that the query names, or the two nearest ─► their notes ─► dense search within these)
"""

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from biem.domain.notes.library import EXCERPT_CHARS, NoteHit, NoteHits, NotePassage, cited, folders_needed
from biem.domain.policies.notes import NoteRankPolicy
from biem.domain.scope import Scope
from biem.domain.scores import clamp01
from biem.domain.speech.excerpt import excerpt
from biem.domain.times.bare import asks_for_a_time_only
from biem.domain.times.spans import Window
from biem.domain.times.windows import beside, earlier, windows
from biem.errors import BiemError
from biem.notes.dates import date_of
from biem.notes.indexed_text import indexed_text
from biem.notes.search.candidates import CandidateSearch, Sought, count_dated, count_renamed, paired
from biem.notes.search.confidence import KEYWORDS, NoteConfidence
from biem.notes.search.pool_tags import PoolTags
from biem.notes.search.rank import NoteQuestion, RankedChunk, few_of_each, guided, ranked
from biem.notes.search.scope_tags import CurrentTags, NoteVectors, ScopeTags
from biem.notes.tags import identity, is_idle, stem
from biem.ports import Analyzer, Clock, Embedder
from biem.ports.notes.index import NoteFilter, NoteIndex
from biem.ports.notes.records import NoteRecords, NotesSize, PoolChunk, StoredPassage
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.notes")
T = TypeVar("T")
Rerank = Callable[[str, Sequence[str]], list[float] | None]
"""How well each text answers a query, in [0, 1]; None if the reranker fails."""

_THREADS = 12
_USED_S = 5.0
"""How long it is believed that a scope has notes, or has none."""
_COUNTED_S = 600.0
"""How long the number of chunks of a scope is believed while its newest chunk is the same: removals by other processes
only lower it. Scans of this process end it.
"""
_ALIKE_S = 60.0
"""How long it is believed which files have one name; scans of this process end it."""
_MOST_ALIKE = 256
"""Groups of scopes of which that is kept."""
_HAN_WORD = 2
"""Characters of those index terms of a Chinese text that may be words."""
_MOST_TAGGED = 1_000
"""Notes searched where the caller names tags."""


@dataclass(frozen=True, slots=True)
class RankedPool:
    """Everything that was found for a query, best first, before memories have their say."""

    scopes: Sequence[Scope]
    query: str
    order: Sequence[RankedChunk] = ()
    tags: CurrentTags | None = None
    terms: Sequence[str] = ()
    """Index terms that were looked for in each chunk."""
    dated: frozenset[str] = frozenset()
    """Those of the query that name times."""
    degraded: tuple[str, ...] = ()
    best: NoteHits = field(default_factory=NoteHits)
    """The hits without a word of the memories, `read` in number, with their confidence."""
    read: int = 0


@dataclass(frozen=True, slots=True)
class _Times:
    """The times that a query names, as seen from `clock`."""

    clock: datetime
    windows: Sequence[Window] = ()
    terms: frozenset[str] = frozenset()
    """Its index terms that name them."""
    only: bool = False
    """It says nothing else."""


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
        rerank: Rerank | None = None,
        reranked: int = 0,
        calling: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`rerank`: puts the best `reranked` hits in order, if given; `calling` is entered around a search: background
        work pauses meanwhile.
        """
        self._records = records
        self._analyzer = analyzer
        self._clock = clock
        self._policy = policy
        self._weights = tag_weights
        self._rerank = rerank
        self._reranked = reranked
        self._telemetry = telemetry
        self._calling = calling
        self._sizes: dict[str, tuple[float, dict[str, NotesSize]]] = {}
        self._counts: dict[str, tuple[float, dict[str, str | None], dict[str, int]]] = {}
        self._used: dict[str, tuple[float, bool]] = {}
        self._contradicted: dict[str, tuple[float, bool]] = {}
        self._alike: dict[str, tuple[float, dict[str, list[str]]]] = {}
        self._vectors = NoteVectors(records, embedder)
        self._pool_tags = PoolTags(self._vectors, embedder)
        self._confidence = NoteConfidence(analyzer=analyzer, embedder=embedder)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="biem-notes-recall")
        self._tags = ScopeTags(records)
        self._candidates = CandidateSearch(
            records=records, index=index, embedder=embedder, tags=self._tags, vectors=self._vectors
        )

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
        self._counts.clear()
        self._contradicted.clear()
        self._alike.clear()
        self._tags.changed()

    def forget(self) -> None:
        """Forget all that is kept of notes: some were erased."""
        self._vectors.forget()
        self._pool_tags.forget()
        self.changed()

    def knows_none(self, scope: Scope) -> bool:
        """Whether a scope was seen to have no notes some seconds ago at most."""
        known = self._used.get(scope.ns)
        return known is not None and not known[1] and known[0] > time.monotonic()

    def is_contradicted(self, scope: Scope, look: Callable[[Sequence[Scope]], bool]) -> bool:
        """Whether a note contradicts any fact that a scope may read, as `look` says; remembered for some seconds."""
        known = self._contradicted.get(scope.ns)
        if known is None or known[0] <= time.monotonic():
            known = self._contradicted[scope.ns] = (time.monotonic() + _USED_S, look(scope.readable))
        return known[1]

    def submit(self, work: Callable[..., T], *arguments: Any, **named: Any) -> Future[T]:
        """Run a function that searches on another thread."""
        try:
            return self._threads.submit(work, *arguments, **named)
        except RuntimeError as error:  # closed by another thread a moment ago
            raise BiemError("this memory is closed; call biem.connect() again") from error

    def close(self) -> None:
        """Wait for running searches; a second call does nothing."""
        self._threads.shutdown(wait=True)
        self._candidates.close()

    def _size(self, scope: Scope) -> dict[str, NotesSize]:
        """What there is to search; remembered for some seconds."""
        known = self._sizes.get(scope.ns)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        sizes = self._records.sizes(scope.readable)
        self._sizes[scope.ns] = (time.monotonic() + _USED_S, sizes)
        return sizes

    def _counted(self, scope: Scope, sizes: Mapping[str, NotesSize]) -> dict[str, int]:
        """The number of chunks by `ns`; counted again when any process has added some."""
        newest = {ns: size.newest_chunk for ns, size in sizes.items()}
        known = self._counts.get(scope.ns)
        if known is None or known[0] <= time.monotonic() or known[1] != newest:
            counts = self._records.chunk_counts(scope.readable) if newest else {}
            known = self._counts[scope.ns] = (time.monotonic() + _COUNTED_S, newest, counts)
        return known[2]

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
    ) -> NoteHits:
        """The best chunks for a query, best first. `libraries` are ids; all `tags` (names) must match.

        Raises `StoreUnavailable` for PostgreSQL only.
        """
        found = self.find(scope, query, libraries=libraries, tags=tags, since=since, until=until)
        hits = self.told(found, top_k=top_k)
        asked = frozenset(self._analyzer.lexemes(query))
        hits[:] = (replace(hit, excerpt=self._excerpt(hit.chunk.body, asked)) for hit in hits)
        return hits

    def _excerpt(self, body: str, asked: frozenset[str]) -> str:
        said = excerpt(body, EXCERPT_CHARS, asked, self._analyzer.lexemes)
        return said if len(said) <= EXCERPT_CHARS else f"{said[: EXCERPT_CHARS - 3].rstrip()}..."

    def find(
        self,
        scope: Scope,
        query: str,
        *,
        libraries: Sequence[str] = (),
        tags: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        read: int = 0,
    ) -> RankedPool:
        """As `search`, but all that was found; `told` chooses from it. `read`: for how many hits the texts are read at
        once, while the caller still searches memories: these seldom change which notes are best.
        """
        with self._telemetry.span("biem.notes.search") as span, self._calling():
            scopes, degraded = scope.readable, list[str]()
            wanted = [self._roots(scopes, [tag]) for tag in tags]
            notes = self._records.tagged(scopes, sorted(set().union(*wanted)), _MOST_TAGGED) if tags else []
            if tags and not notes:
                return RankedPool(scopes, query)
            where = NoteFilter(tuple(libraries), tuple(notes), since, until)
            sizes = self._size(scope)
            lexemes = self._analyzer.lexemes(query)
            times = self._times(query, lexemes, sizes)
            unindexed = any(size.unindexed for size in sizes.values())
            terms = [*lexemes, *self._other_forms(query, lexemes)]
            sought = Sought(scopes, query, terms, where, times.windows, times.clock, unindexed, _dated(sizes))
            found = self._candidates.find(sought, self._policy, degraded)
            pool = [chunk for chunk in found.pool if _meets(chunk, where)]
            chunks = self._counted(scope, sizes)
            known, keep = self._pool_tags.of(found, pool, chunks)
            words = count_renamed(found, chunks, sought.terms, self._analyzer.lexemes)
            if self._policy.when:
                words = count_dated(pool, words, chunks, sought, times.terms)
            if tags:
                pool = [chunk for chunk in pool if _has_all(known.of(chunk, self._weights).roots, wanted)]
            roots = {known.infos[tag].root for tag in found.named if tag in known.infos}
            own = min(len(set(lexemes)), len(sought.terms))
            question = NoteQuestion(found.vector, words, times.windows, frozenset(roots), times.only, own)
            order = ranked(pool, question, known, self._weights, self._policy)
            keep()
            servers = tuple(dict.fromkeys(degraded))
            answer = RankedPool(scopes, query, order, found.tags, sought.terms, times.terms, servers)
            if read:
                answer = replace(answer, best=self._judged(answer, order, read), read=read)
            span.add(pool=len(pool))
        return answer

    def told(self, found: RankedPool, *, top_k: int, guides: Collection[str] = ()) -> NoteHits:
        """The best of a pool. `guides`: names that the best memories of the same query mention; they raise chunks with
        tags of these names. Raises `StoreUnavailable` for PostgreSQL only.
        """
        with self._telemetry.span("biem.notes.told", top_k=top_k) as span:
            named = _named_by(guides, found)
            if found.read == top_k and not named:
                hits = NoteHits(found.best, confidence=found.best.confidence)
            else:
                hits = self._judged(found, guided(found.order, named, self._policy), top_k)
            hits[:], failed = self._in_order(found.query, hits)
            hits.degraded = (*found.degraded, "reranker") if failed else found.degraded
            del hits[top_k:]
            span.add(hits=len(hits), confidence=hits.confidence)
        return hits

    def _other_forms(self, query: str, lexemes: Sequence[str]) -> list[str]:
        """Further index terms that a text may have for words of the query: pairs of words written as one, and the
        English words that Chinese ones may mean.
        """
        kept = frozenset(lexemes)
        words = [term for term in lexemes if len(term) == _HAN_WORD and not term.isascii()]
        if words:  # of Latin words there is no translation
            words += self._analyzer.keywords(query, KEYWORDS)
        joined = paired(query, lambda word: kept.isdisjoint(self._analyzer.lexemes(word)))
        return sorted({*self._analyzer.lexemes(joined), *self._analyzer.english(words)} - kept)

    def _times(self, query: str, lexemes: Sequence[str], sizes: Mapping[str, NotesSize]) -> "_Times":
        """The times that a query names, as seen from the newest note; dates without a year in earlier years, too."""
        first, clock = _dated(sizes) or (None, self._clock.now())  # without any: days may still be headings
        named = [*windows(query, clock), *(window for window, _ in earlier(query, clock, first or clock))]
        if not named:
            return _Times(clock)
        rest = beside(query, clock)
        terms = frozenset(lexemes).difference(self._analyzer.lexemes(rest) if rest.strip() else ())
        return _Times(clock, named, terms, asks_for_a_time_only(rest))

    # -- tags -------------------------------------------------------------------------------------------------------

    def _roots(self, scopes: Sequence[Scope], names: Collection[str]) -> frozenset[int]:
        """The tags that stand for those of these names."""
        ids = self._records.named(scopes, [identity(name) for name in names]).ids if names else ()
        return frozenset(info.root for info in self._records.tags(scopes, ids).values())

    # -- results ----------------------------------------------------------------------------------------------------

    def _judged(self, pool: RankedPool, order: Sequence[RankedChunk], top_k: int) -> NoteHits:
        """The best, as many as are returned or as the reranker reads, with their confidence, which is fitted to the
        order of the formula.
        """
        hits = self._hits(pool, few_of_each(order, self._policy.per_note, max(top_k, self._reranked)))
        hits.confidence = self._confidence.of(pool.query, hits, order, terms=pool.terms, dated=pool.dated)
        return hits

    def _hits(self, pool: RankedPool, best: Sequence[RankedChunk]) -> NoteHits:
        known = {hit.chunk.id: StoredPassage(hit.chunk, hit.note) for hit in pool.best}
        missing = [one.chunk.id for one in best if one.chunk.id not in known]
        found = {**known, **self._records.passages(pool.scopes, missing)} if missing else known
        alike = self._files_alike(pool.scopes) if found else {}
        return NoteHits(
            NoteHit(
                stored.chunk,
                stored.note,
                clamp01(one.score),
                one.why,
                citation_of(stored.note.path, stored.chunk, alike.get(stored.note.path.rpartition("/")[2], ())),
            )
            for one in best
            if (stored := found.get(one.chunk.id)) is not None
        )

    def _files_alike(self, scopes: Sequence[Scope]) -> Mapping[str, Sequence[str]]:
        """Paths by the name of their file, where several files have it; remembered for a minute."""
        key = " ".join(scope.ns for scope in scopes)
        known = self._alike.get(key)
        if known is None or known[0] <= time.monotonic():
            paths: dict[str, list[str]] = {}
            for path in self._records.alike(scopes):
                paths.setdefault(path.rpartition("/")[2], []).append(path)
            if len(self._alike) >= _MOST_ALIKE:
                self._alike.clear()
            known = self._alike[key] = (time.monotonic() + _ALIKE_S, paths)
        return known[1]

    def _in_order(self, query: str, hits: Sequence[NoteHit]) -> tuple[Sequence[NoteHit], bool]:
        """The hits in the order of the reranker, and whether it failed: then as they were.

        The first ones have its scores; those that it did not read follow, with none above its lowest.
        """
        if self._rerank is None or len(hits) < 2:
            return hits, False
        first, rest = hits[: self._reranked], hits[self._reranked :]
        scores = self._rerank(query, [indexed_text(hit.chunk.headings, hit.chunk.body) for hit in first])
        if scores is None:
            return hits, True
        judged = sorted(zip(first, map(clamp01, scores), strict=True), key=lambda pair: -pair[1])  # ties stay in order
        found = [replace(hit, score=score, why={**hit.why, "rerank": score}) for hit, score in judged]
        least = found[-1].score
        return [*found, *(replace(hit, score=min(hit.score, least)) for hit in rest)], False


def _dated(sizes: Mapping[str, NotesSize]) -> tuple[datetime, datetime] | None:
    """The earliest and the latest date of a note; None where none has one."""
    first = [size.oldest for size in sizes.values() if size.oldest is not None]
    last = [size.newest for size in sizes.values() if size.newest is not None]
    return (min(first), max(last)) if first and last else None


def citation_of(path: str, chunk: NotePassage, alike: Collection[str] = ()) -> str:
    """The citation of a chunk; a file called as many others are, such as README.md, is named with its folder.

    `alike`: paths of files of its name, from which the folders that stay tell it.
    """
    says_little = is_idle(stem(path)) and date_of(path.rpartition("/")[2]) is None
    kept = max(int(says_little), folders_needed(path, alike))
    return cited(path, chunk.lines[0], chunk.headings, len(chunk.body), folders_kept=kept)


def _named_by(guides: Collection[str], found: RankedPool) -> frozenset[int]:
    """The tags of a pool, as those that stand for them, that have one of these names."""
    if not guides or found.tags is None:
        return frozenset()
    called = found.tags.called(guides)
    return frozenset(info.root for info in called if info.root == info.id or _has(found.order, info.id))


def _has(order: Sequence[RankedChunk], tag: int) -> bool:
    return any(tag in one.chunk.tag_ids or tag in one.chunk.note_tag_ids for one in order)


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
