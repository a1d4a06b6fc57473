"""The chunks that may answer a query, from searches that run at the same time; unavailable servers are left out.

words (and, where the index lacks notes, PostgreSQL's) ─► rows of these chunks ┐
tags that the query names                                                      ├─► pool
vector ─► dense; tags, or the nearest ─► their notes ─► nearest chunks of these ┘
"""

import logging
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain, islice, pairwise
from typing import TypeVar

from biem.domain.policies.notes import NoteRankPolicy
from biem.domain.scope import Scope
from biem.domain.text import late
from biem.domain.times.bare import day_of_heading
from biem.domain.times.spans import DAY, Window
from biem.errors import BiemError, EmbedderUnavailable
from biem.notes.search.rank import falls, nearest
from biem.notes.search.scope_tags import CurrentTags, NoteVectors, ScopeTags
from biem.notes.tags import identity
from biem.ports import Embedder, Vector
from biem.ports.notes.index import NoteFilter, NoteIndex
from biem.ports.notes.records import NoteRecords, PoolChunk, TaggedNotes

logger = logging.getLogger("biem.notes")
T = TypeVar("T")

_THREADS = 12
_FOLLOWED = 2
"""Nearest tags whose notes are searched."""
_MOST_NOTES = 64
"""Notes searched for the tags of a query."""
_COMPARED = 256
"""Chunks of these notes that are compared here: to read their vectors takes no longer than a search in the index."""
_COMMON = 2_000
"""A tag of more chunks is not followed: chance would decide which of its notes are searched."""
_PAUSE_S = 2.0
"""Pause before an index that was down is asked again."""
_TIMES = 2
"""Windows of time in a query that are searched."""
_MOST_TERMS = 40
"""Index terms of a query that are looked for in each candidate."""
_MOST_NAMES = 400
"""Names of one query."""
_WORDS = 4
_JOINTS = "-", "_"
_LATIN = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?")
_MOST_PAIRS = 20
_HAN = 12
_RUN = late(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]+|[^\W_]+(?:[-'._+#]*[^\W_]+)*[+#]*")
_CJK = late(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Sought:
    """What is searched for, and where."""

    scopes: Sequence[Scope]
    query: str
    lexemes: Sequence[str]
    where: NoteFilter
    times: Sequence[Window]
    """Windows of time that the query names."""
    clock: datetime
    """From where they are seen: the latest date of a note."""
    unindexed: bool
    """The index lacks some notes."""
    dated: tuple[datetime, datetime] | None = None
    """The earliest and the latest date of a note; None where none has one."""

    @property
    def terms(self) -> list[str]:
        """The index terms that are looked for in each candidate."""
        return list(dict.fromkeys(self.lexemes))[:_MOST_TERMS]

    @property
    def words(self) -> Sequence[str]:
        """The index terms that are searched: also the days of the query as headings have them, `2026-03-14`."""
        days = (f"{start:%Y-%m-%d}" for start, end in list(self.times)[:_TIMES] if end - start == DAY)
        return [*self.lexemes, *(day for day in days if day not in self.lexemes)]


@dataclass(frozen=True, slots=True)
class NoteCandidates:
    """Everything that was found for one query."""

    vector: Vector | None
    """Of the query; None while the embedder is down."""
    words: Mapping[str, float]
    """BM25 scores by chunk."""
    named: Sequence[int]
    """Tags that the query names."""
    tags: CurrentTags
    pool: Sequence[PoolChunk]
    """Without vectors."""


class CandidateSearch:
    """Finds candidates. Thread-safe; `close` waits for running searches."""

    def __init__(
        self, *, records: NoteRecords, index: NoteIndex, embedder: Embedder, tags: ScopeTags, vectors: NoteVectors
    ) -> None:
        self._records = records
        self._index = index
        self._embedder = embedder
        self._tags = tags
        self._vectors = vectors
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="biem-notes-search")
        self._down_until = 0.0

    def find(self, sought: Sought, policy: NoteRankPolicy, degraded: list[str]) -> NoteCandidates:
        """The candidates of a query. Servers that did not answer are added to `degraded`."""
        by_words = self._threads.submit(self._by_words, sought, policy, degraded)
        tags = self._threads.submit(self._mentioned, sought)
        vector = self._vector(sought.query, degraded)
        ids: set[str] = set()
        if vector is not None:
            notes = partial(self._tagged, sought, vector, tags, policy, degraded)
            ids = self._by_content(sought, vector, notes, policy, degraded)
        words, first = by_words.result()
        rest = self._read(sought, ids - first.keys())
        named, current = tags.result()
        return NoteCandidates(vector, words, named, current, [*first.values(), *rest])

    def close(self) -> None:
        """Wait for running searches; a second call does nothing."""
        self._threads.shutdown(wait=True)

    def _mentioned(self, sought: Sought) -> tuple[Sequence[int], CurrentTags]:
        """The tags that the query names, and all tags as they are now: one statement."""
        found = self._records.named(sought.scopes, mentioned(sought.query))
        return found.ids, self._tags.now(sought.scopes, found.aliases)

    def _vector(self, query: str, degraded: list[str]) -> Vector | None:
        try:
            vector: Vector = self._embedder.embed([query], "query")[0]
        except EmbedderUnavailable as error:
            logger.warning("notes are searched by words only: %s", error)
            degraded.append("embedder")
            return None
        return vector

    # -- words ------------------------------------------------------------------------------------------------------

    def _by_words(
        self, sought: Sought, policy: NoteRankPolicy, degraded: list[str]
    ) -> tuple[dict[str, float], dict[str, PoolChunk]]:
        """BM25 scores by chunk, and the chunks."""
        scopes, index, text = sought.scopes, self._index, " ".join(sought.words)
        matching = partial(self._records.matching, scopes, sought.lexemes, sought.where.libraries or None, policy.words)
        # before the index is asked: a note that becomes indexed meanwhile is then found by one of the two
        waiting = matching(unindexed=True) if sought.unindexed else {}
        found = self._ask(lambda: index.words(scopes, text, policy.words, sought.where), degraded)
        words = dict(found or {})
        for then in _timed(sought):
            words = {**(self._ask(partial(index.words, scopes, text, policy.timed, then), degraded) or {}), **words}
        if found is None or not index.lexical:
            waiting = matching(unindexed=False)
        words = {**waiting, **words}
        return words, {chunk.id: chunk for chunk in self._read(sought, words)}

    # -- content ----------------------------------------------------------------------------------------------------

    def _by_content(
        self,
        sought: Sought,
        vector: Vector,
        tagged: Callable[[], TaggedNotes],
        policy: NoteRankPolicy,
        degraded: list[str],
    ) -> set[str]:
        """The nearest chunks: of all, of each time that the query names, and of the notes that `tagged` finds."""

        def near(where: NoteFilter, limit: int) -> Collection[str]:
            return self._ask(lambda: self._index.dense(sought.scopes, vector, limit, where), degraded) or ()

        running = [self._threads.submit(near, sought.where, policy.dense)]
        running += [self._threads.submit(near, then, policy.timed) for then in _timed(sought)]
        ids: set[str] = set()
        if not sought.where.notes:
            found = tagged()
            if found.chunks and sought.where == NoteFilter():
                known = self._vectors.of(set(found.chunks.values()))
                ids.update(nearest(vector, found.chunks, known, policy.tagged))
            elif found.notes:
                ids.update(near(replace(sought.where, notes=tuple(found.notes)), policy.tagged))
        return ids.union(*(each.result() for each in running))

    def _tagged(
        self,
        sought: Sought,
        vector: Vector,
        tags: Future[tuple[Sequence[int], CurrentTags]],
        policy: NoteRankPolicy,
        degraded: list[str],
    ) -> TaggedNotes:
        """Notes of the rarer tags that the query names; where it names none, of the tags nearest to it.

        The search for the nearest costs most of all where chunks hardly share tags.
        """
        found, current = tags.result()
        if not found and policy.tags:
            near = self._ask(lambda: self._index.near_tags(sought.scopes, vector, policy.tags), degraded) or {}
            found = sorted(near, key=lambda key: (-near[key], key))[:_FOLLOWED]
        roots = {info.root for info in current.infos(found).values() if info.uses <= _COMMON}
        return self._records.tagged_chunks(sought.scopes, sorted(roots), _MOST_NOTES, _COMPARED)

    def _ask(self, work: Callable[[], T], degraded: list[str]) -> T | None:
        """A search in the index; None while it is down."""
        if time.monotonic() >= self._down_until:
            try:
                return work()
            except BiemError as error:
                logger.warning("notes are searched without the index: %s", error)
                self._down_until = time.monotonic() + _PAUSE_S
        if "milvus" not in degraded:
            degraded.append("milvus")
        return None

    # -- rows -------------------------------------------------------------------------------------------------------

    def _read(self, sought: Sought, ids: Collection[str]) -> list[PoolChunk]:
        """The chunks of these ids as they are now; of a question about a time, each with the day of its headings."""
        found = self._records.pool(sought.scopes, sorted(ids), sought.terms, headings=bool(sought.times))
        for chunk in found if sought.times else ():
            clock = chunk.at or sought.clock
            for heading in chunk.headings:
                chunk.day = day_of_heading(heading, clock) or chunk.day
        return found


def count_renamed(
    found: NoteCandidates,
    sizes: Mapping[str, int],
    terms: Sequence[str],
    lexemes_of: Callable[[str], Sequence[str]],
) -> dict[str, float]:
    """BM25 scores by chunk, as if a chunk with a renamed tag had its new name in its text, if the query names it.

    `sizes`: chunks by `ns`. The terms of that name are added to `asked`, and about what BM25 gives for them once to the
    scores.
    """
    infos, words = found.tags.infos({*found.named, *found.tags.aliases}), dict(found.words)
    named = {infos[tag].root for tag in found.named if tag in infos}
    renamed = [info for info in infos.values() if info.root != info.id and info.root in named]
    said = dict[int, tuple[set[int], float]]()
    for info in renamed:
        name = set(lexemes_of(info.root_shown))
        places = {place for place, term in enumerate(terms) if term in name}
        chunks = max(sizes.get(info.ns, 1), info.uses)
        said[info.id] = places, math.log1p((chunks - info.uses + 0.5) / (info.uses + 0.5))
    for chunk in found.pool if said else ():
        for tag in said.keys() & {*chunk.tag_ids, *chunk.note_tag_ids}:
            places, weight = said[tag]
            new = places.difference(chunk.asked)
            words[chunk.id] = words.get(chunk.id, 0.0) + weight * len(new)
            chunk.asked = tuple(sorted(new.union(chunk.asked)))
    return words


def count_dated(
    pool: Sequence[PoolChunk],
    words: Mapping[str, float],
    sizes: Mapping[str, int],
    sought: Sought,
    dated: Collection[str],
) -> dict[str, float]:
    """BM25 scores by chunk, as if the chunks of a time that the query names had the terms that name it in their text.

    `sizes`: chunks by `ns`; `dated`: the terms that name the times. The date of most notes of a day stands in the name
    of the file, and in no chunk.
    """
    places = {place for place, term in enumerate(sought.terms) if term in dated}
    there = [chunk for chunk in pool if falls(chunk, sought.times)] if places else []
    found, uses = dict(words), Counter(chunk.ns for chunk in there)
    for chunk in there:
        chunks = max(sizes.get(chunk.ns, 1), uses[chunk.ns])
        weight = math.log1p((chunks - uses[chunk.ns] + 0.5) / (uses[chunk.ns] + 0.5))
        new = places.difference(chunk.asked)
        found[chunk.id] = found.get(chunk.id, 0.0) + weight * len(new)
        chunk.asked = tuple(sorted(new.union(chunk.asked)))
    return found


def _timed(sought: Sought) -> list[NoteFilter]:
    """The conditions with each time that the query names and some note may have, unless the caller gave one."""
    if sought.where.since is not None or sought.where.until is not None or sought.dated is None:
        return []
    first, last = sought.dated
    named = list(sought.times)[:_TIMES]
    return [replace(sought.where, since=start, until=end) for start, end in named if start <= last and first < end]


def paired(query: str, is_little: Callable[[str], bool]) -> str:
    """Neighbouring Latin words of a query in one word, separated by spaces: of "back up the data base" also `backup`
    and `database`. A pair that is no word is in no text. None begins with a word that `is_little`, as "for getting".
    """
    words = [found.group().lower() for found in islice(_LATIN.finditer(query), _MOST_PAIRS + 1)]
    pairs = (pair for pair in pairwise(words) if min(map(len, pair)) > 1 and "".join(pair).isalpha())
    return " ".join(first + second for first, second in pairs if not is_little(first))


def mentioned(query: str) -> list[str]:
    """Identities of possible tags in a query: of Latin words up to four in a row, of CJK characters two to twelve.

    Words in a row may be the name of a file, `storm-lantern.md` or `storm_lantern.md`.
    """
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
    joined = (name.replace(" ", mark) for name in names if " " in name for mark in _JOINTS)
    return list(islice(chain(names, joined), _MOST_NAMES))
