"""Which tags lead a query to notes, and when PostgreSQL searches by words."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

import numpy as np
import pytest

from biem.domain.policies.notes import NoteRankPolicy
from biem.domain.scope import Scope
from biem.domain.times.spans import Window
from biem.errors import StoreUnavailable
from biem.notes.search.candidates import CandidateSearch, NoteCandidates, Sought, count_dated, count_renamed, paired
from biem.notes.search.rank import nearest
from biem.notes.search.scope_tags import CurrentTags, NoteVectors, ScopeTags
from biem.ports import Vector
from biem.ports.notes.index import NoteFilter, NoteIndex
from biem.ports.notes.records import NamedTags, NoteRecords, PoolChunk, TaggedNotes, TagInfo
from tests.support.fakes import WordEmbedder

DAY = datetime(2026, 3, 14, tzinfo=UTC)

USES = {"harbour": 3, "world": 5_000, "pier": 2}
IDS = {name: number for number, name in enumerate(USES)}


class Records:
    """Tags of some names; remembers which of them were followed to their notes, and searches by words."""

    def __init__(self) -> None:
        self.followed: list[str] = []
        self.matched: list[bool] = []
        self.chunks: dict[str, bytes] = {}
        self.vectors: dict[bytes, Vector] = {}
        self.pooled: set[str] = set()

    def named(self, scopes: Sequence[Scope], names: Sequence[str]) -> NamedTags:
        return NamedTags(tuple(IDS[name] for name in names if name in IDS))

    def tags(self, scopes: Sequence[Scope], ids: Sequence[int]) -> dict[int, TagInfo]:
        names = {number: name for name, number in IDS.items()}
        return {key: TagInfo(key, "ns", names[key], key, names[key], b"", False, USES[names[key]]) for key in ids}

    def tagged_chunks(self, scopes: Sequence[Scope], tags: Sequence[int], limit: int, most: int) -> TaggedNotes:
        self.followed += [name for name, number in IDS.items() if number in tags]
        return TaggedNotes([f"note {number}" for number in tags], self.chunks)

    def load_vectors(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        return {key: self.vectors[key] for key in keys if key in self.vectors}

    def matching(
        self,
        scopes: Sequence[Scope],
        lexemes: Sequence[str],
        libraries: Sequence[str] | None,
        limit: int,
        *,
        unindexed: bool = False,
    ) -> dict[str, float]:
        self.matched.append(unindexed)
        return {}

    def pool(
        self, scopes: Sequence[Scope], ids: Sequence[str], terms: Sequence[str], *, headings: bool
    ) -> list[PoolChunk]:
        self.pooled.update(ids)
        return []


class Index:
    """Finds one tag near everything; remembers the searches."""

    lexical = True

    def __init__(self) -> None:
        self.down = False
        self.near = 0
        self.within: list[tuple[str, ...]] = []
        self.since: list[datetime | None] = []

    def words(self, scopes: Sequence[Scope], lexemes: str, limit: int, where: NoteFilter) -> Mapping[str, float]:
        if self.down:
            raise StoreUnavailable("milvus", "refused")
        self.since.append(where.since)
        return {}

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: NoteFilter) -> Mapping[str, float]:
        self.within.append(where.notes)
        self.since.append(where.since)
        return {}

    def near_tags(self, scopes: Sequence[Scope], vector: Vector, limit: int) -> Mapping[int, float]:
        self.near += 1
        return {IDS["pier"]: 0.9}


def search(
    records: Records,
    index: Index,
    query: str,
    *,
    unindexed: bool = False,
    times: Sequence[Window] = (),
    dated: tuple[datetime, datetime] | None = None,
    since: datetime | None = None,
) -> None:
    """Seek the candidates of a query once."""
    stored, embedder = cast("NoteRecords", records), WordEmbedder()
    candidates = CandidateSearch(
        records=stored,
        index=cast("NoteIndex", index),
        embedder=embedder,
        tags=ScopeTags(stored),
        vectors=NoteVectors(stored, embedder),
    )
    sought = Sought([Scope(user="one")], query, query.split(), NoteFilter(since=since), times, DAY, unindexed, dated)
    candidates.find(sought, NoteRankPolicy(), [])
    candidates.close()


@pytest.mark.parametrize(
    ("query", "followed", "near"),
    [
        ("when does the harbour open", ["harbour"], 0),
        ("the harbour of the world", ["harbour"], 0),
        ("all over the world", [], 0),  # some of its thousand notes would be chosen by chance
        ("where do ships lie", ["pier"], 1),
    ],
)
def test_rare_tags_of_the_query_are_followed_and_the_nearest_where_it_names_none(
    query: str, followed: list[str], near: int
) -> None:
    records, index = Records(), Index()
    # When notes are sought
    search(records, index, query)
    # Then these tags lead to their notes, and the index of tags was asked only without any
    assert (records.followed, index.near) == (followed, near)
    assert sorted(index.within) == sorted(
        [(), *([tuple(f"note {IDS[name]}" for name in followed)] if followed else [])]
    )


def test_few_chunks_of_tagged_notes_are_compared_without_the_index() -> None:
    records, index = Records(), Index()
    # Given 25 chunks of the notes of a tag, of which one is not embedded yet and three are farther than the others
    query, other = WordEmbedder().embed(["the harbour", "an orchard"], "query")
    near, far = [f"near {number}" for number in range(21)], [f"far {number}" for number in range(3)]
    records.chunks = {name: name.encode() for name in [*near, *far, "waiting"]}
    records.vectors = dict.fromkeys((name.encode() for name in near), query)
    records.vectors |= dict.fromkeys((name.encode() for name in far), other)
    # When the query names this tag
    search(records, index, "the harbour")
    # Then the nearest of them are candidates, as many as a search in the index would give
    assert index.within == [()]
    assert len(records.pooled) == NoteRankPolicy().tagged
    assert records.pooled < set(near)


def test_chunks_of_tagged_notes_are_searched_in_the_index_if_the_caller_has_conditions() -> None:
    records, index = Records(), Index()
    records.chunks = {"one": b"one"}
    search(records, index, "the harbour", since=DAY)
    assert sorted(index.within) == [(), (f"note {IDS['harbour']}",)]


def test_vectors_of_another_length_are_near_to_nothing() -> None:
    mine, theirs = np.ones(2, dtype=np.float32), np.ones(3, dtype=np.float32)
    assert nearest(mine, {"a": b"a", "b": b"b"}, {b"a": mine, b"b": theirs}, 5) == ["a"]


@pytest.mark.parametrize(
    ("dated", "asked"),
    [
        (None, False),
        ((DAY - timedelta(days=9), DAY - timedelta(seconds=1)), False),
        ((DAY + timedelta(days=1), DAY + timedelta(days=9)), False),
        ((DAY - timedelta(days=9), DAY), True),
        ((DAY + timedelta(hours=23), DAY + timedelta(days=9)), True),
    ],
)
def test_a_time_that_no_note_may_have_is_not_searched(dated: tuple[datetime, datetime] | None, *, asked: bool) -> None:
    index = Index()
    # When a question names a day, and these are the earliest and the latest date of a note
    search(Records(), index, "harbour", times=[(DAY, DAY + timedelta(days=1))], dated=dated)
    # Then its words and its content are searched in notes of that day only if there may be any
    assert index.since.count(DAY) == 2 * asked


@pytest.mark.parametrize(
    ("unindexed", "down", "matched"),
    [(False, False, []), (True, False, [True]), (False, True, [False]), (True, True, [True, False])],
)
def test_the_records_search_all_words_only_while_the_index_is_down(
    *, unindexed: bool, down: bool, matched: list[bool]
) -> None:
    records, index = Records(), Index()
    index.down = down
    # When notes are sought, of which the index lacks some
    search(records, index, "harbour", unindexed=unindexed)
    # Then a note that waits, or was given up, has nothing but what the index lacks searched
    assert records.matched == matched


def test_a_chunk_of_the_time_that_is_asked_for_counts_as_one_that_names_it() -> None:
    def chunk(name: str, at: datetime | None, day: datetime | None = None, asked: tuple[int, ...] = ()) -> PoolChunk:
        return PoolChunk(name, name, "lib", "ns", 0, at, (), (), (), (), b"", asked=asked, day=day)

    pool = [
        chunk("in the name of the file", DAY),
        chunk("in a heading", None, DAY),
        chunk("in the text, too", DAY, asked=(1,)),
        chunk("a heading is another day", DAY, DAY - timedelta(days=1)),
        chunk("in the text only", None, asked=(1,)),
    ]
    times = [(DAY, DAY + timedelta(days=1))]
    sought = Sought([], "rain on 14 March", ["rain", "14", "march"], NoteFilter(), times, DAY, unindexed=False)
    words = count_dated(pool, {"in the text only": 2.0, "in the text, too": 2.0}, {"ns": 10}, sought, {"14", "march"})
    assert [one.asked for one in pool] == [(1, 2), (1, 2), (1, 2), (), (1,)]
    once = math.log1p((10 - 3 + 0.5) / (3 + 0.5))
    assert words == pytest.approx(
        {
            "in the name of the file": 2 * once,
            "in a heading": 2 * once,
            "in the text, too": 2.0 + once,
            "in the text only": 2.0,
        }
    )
    assert sought.words == ["rain", "14", "march", "2026-03-14"]


def test_a_renamed_tag_gives_its_new_name_to_the_words_of_its_chunks() -> None:
    tags = {
        1: TagInfo(1, "ns", "skipper", 2, "nora lind", b"", False, 1),
        2: TagInfo(2, "ns", "nora lind", 2, "nora lind", b"", False, 1),
        3: TagInfo(3, "ns", "boats", 3, "boats", b"", False, 9),
    }

    class Known:
        def tags(self, scopes: Sequence[Scope], ids: Sequence[int]) -> dict[int, TagInfo]:
            return {key: tags[key] for key in ids}

    def chunk(name: str, own: tuple[int, ...], of_note: tuple[int, ...] = ()) -> PoolChunk:
        return PoolChunk(name, "note", "library", "ns", 0, None, own, (), of_note, (), b"", asked=(0,))

    def counted(named: Sequence[int], *pool: PoolChunk) -> dict[str, float]:
        found = NoteCandidates(None, {"renamed": 2.0}, named, CurrentTags(cast(NoteRecords, Known()), (), {1: 2}), pool)
        return count_renamed(found, {"ns": 100}, ["ask", "nora", "lind"], str.split)

    pool = chunk("renamed", (1,)), chunk("of a note", (), (1,)), chunk("other", (3,)), chunk("has it", (2,))
    words = counted([2], *pool)
    assert [each.asked for each in pool] == [(0, 1, 2), (0, 1, 2), (0,), (0,)]
    assert words["renamed"] > words["of a note"] > 0.0
    assert words.keys() == {"renamed", "of a note"}
    # A question that does not name it changes nothing
    other = chunk("renamed", (1,))
    assert (counted([3], other), other.asked) == ({"renamed": 2.0}, (0,))


def test_neighbouring_words_are_looked_for_as_one() -> None:
    little = frozenset({"how", "do", "for"})
    assert paired("How do I back up Ada's data base for Getting?", little.__contains__) == "backup database basefor"
    assert paired("备份 db 在哪里", little.__contains__) == ""
    assert len(paired("one two " * 100, little.__contains__).split()) == 20
