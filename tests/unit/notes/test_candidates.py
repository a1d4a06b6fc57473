"""Which tags lead a query to notes."""

from collections.abc import Mapping, Sequence
from typing import cast

import pytest

from biem.domain.policies.notes import NoteRankPolicy
from biem.domain.scope import Scope
from biem.notes.candidates import CandidateSearch, Sought
from biem.notes.scope_tags import ScopeTags
from biem.ports import Vector
from biem.ports.notes.index import NoteFilter, NoteIndex
from biem.ports.notes.records import NoteRecords, PoolChunk, TagInfo
from tests.support.fakes import WordEmbedder

USES = {"harbour": 3, "world": 5_000, "pier": 2}
IDS = {name: number for number, name in enumerate(USES)}


class Records:
    """Tags of some names; remembers which of them were followed to their notes."""

    def __init__(self) -> None:
        self.followed: list[str] = []

    def aliases(self, scopes: Sequence[Scope]) -> dict[int, int]:
        return {}

    def named(self, scopes: Sequence[Scope], names: Sequence[str]) -> list[int]:
        return [IDS[name] for name in names if name in IDS]

    def tags(self, scopes: Sequence[Scope], ids: Sequence[int]) -> dict[int, TagInfo]:
        names = {number: name for name, number in IDS.items()}
        return {key: TagInfo(key, "ns", names[key], key, names[key], b"", False, USES[names[key]]) for key in ids}

    def tagged(self, scopes: Sequence[Scope], tags: Sequence[int], limit: int) -> list[str]:
        self.followed += [name for name, number in IDS.items() if number in tags]
        return [f"note {number}" for number in tags]

    def pool(
        self, scopes: Sequence[Scope], ids: Sequence[str], known: Sequence[str], terms: Sequence[str]
    ) -> list[PoolChunk]:
        return []


class Index:
    """Finds one tag near everything; remembers the searches."""

    lexical = True

    def __init__(self) -> None:
        self.near = 0
        self.within: list[tuple[str, ...]] = []

    def words(self, scopes: Sequence[Scope], lexemes: str, limit: int, where: NoteFilter) -> Mapping[str, float]:
        return {}

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: NoteFilter) -> Mapping[str, float]:
        self.within.append(where.notes)
        return {}

    def near_tags(self, scopes: Sequence[Scope], vector: Vector, limit: int) -> Mapping[int, float]:
        self.near += 1
        return {IDS["pier"]: 0.9}


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
    stored = cast("NoteRecords", records)
    search = CandidateSearch(
        records=stored, index=cast("NoteIndex", index), embedder=WordEmbedder(), tags=ScopeTags(stored)
    )
    # When notes are sought
    sought = Sought([Scope(user="one")], query, query.split(), NoteFilter(), [], unindexed=False)
    search.find(sought, NoteRankPolicy(), [])
    search.close()
    # Then these tags lead to their notes, and the index of tags was asked only without any
    assert (records.followed, index.near) == (followed, near)
    assert sorted(index.within) == sorted(
        [(), *([tuple(f"note {IDS[name]}" for name in followed)] if followed else [])]
    )
