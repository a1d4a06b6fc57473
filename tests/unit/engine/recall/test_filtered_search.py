"""Under conditions that the index does not know, what meets them is found, however few there are."""

from collections.abc import Sequence

import numpy as np
import pytest

from biem.domain.scope import Scope
from biem.engine.recall.filtered_search import SelectiveIndex
from biem.ports import Filter, Vector
from biem.ports.readers import Former
from tests.contract.conftest import unit
from tests.support.fakes import START

HERE = [Scope(user="ann")]
MERRY, NOW = Filter(sentiment=(0.5, 1.0)), Filter()
ASKED = unit(1.0, 0.0)


class Rows:
    """An index and records that hold numbered memories, the nearest first; `merry` of them meet the conditions."""

    lexical = serial = True

    def __init__(self, size: int, merry: Sequence[int], *, counted: bool = True, most: int = 16_384) -> None:
        self.size, self.merry, self.counted, self.most = size, {f"{n}" for n in merry}, counted, most
        self.searched: list[int] = []
        self.read: list[int] = []

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: Filter) -> dict[str, float]:
        self.searched.append(limit)
        return {f"{n}": float(self._vector(n) @ vector) for n in range(min(self.size, limit, self.most))}

    def words(self, scopes: Sequence[Scope], lexemes: str, limit: int, where: Filter) -> dict[str, float]:
        return self.dense(scopes, ASKED, limit, where) if lexemes else {}

    def matching(self, scopes: Sequence[Scope], where: Filter, most: int | None) -> list[str] | None:
        self.read.append(-1 if most is None else most)
        known = most is None or (self.counted and len(self.merry) <= most)
        return sorted(self.merry) if known else None

    def meeting(self, scopes: Sequence[Scope], ids: Sequence[str], where: Filter) -> frozenset[str]:
        return frozenset(self.merry.intersection(ids))

    def vectors(self, scopes: Sequence[Scope], ids: Sequence[str]) -> dict[str, Vector]:
        return {key: self._vector(int(key)) for key in ids}

    def words_of(self, ids: Sequence[str]) -> dict[str, float]:
        return {key: float(self._vector(int(key)) @ ASKED) for key in ids}

    def _vector(self, number: int) -> Vector:
        angle = np.pi / 2 * number / self.size
        return unit(float(np.cos(angle)), float(np.sin(angle)))


class Read:
    """The records' part of the rows."""

    def __init__(self, rows: Rows) -> None:
        self.matching, self.meeting, self.vectors = rows.matching, rows.meeting, rows.vectors
        self._rows = rows

    def words(self, scopes: Sequence[Scope], ids: Sequence[str], lexemes: Sequence[str]) -> dict[str, float]:
        return self._rows.words_of(ids) if lexemes else {}

    @staticmethod
    def former(_: Sequence[Scope], where: Filter) -> list[Former]:
        """One, of a text that the index does not have."""
        return [Former("once", ["word"], ASKED)] if where.as_of is not None else []


def ask(rows: Rows, way: str, limit: int, where: Filter = MERRY) -> list[str]:
    """What a search finds, best first."""
    index = SelectiveIndex(rows, Read(rows))
    found = index.dense(HERE, ASKED, limit, where) if way == "dense" else index.words(HERE, "word", limit, where)
    return list(found)


WAYS = pytest.mark.parametrize("way", ["dense", "words"])


@WAYS
def test_few_that_meet_the_conditions_are_compared_without_the_index(way: str) -> None:
    # Given two of a hundred thousand, the furthest / When they are asked for / Then the records alone answer
    rows = Rows(100_000, [99_998, 99_999])
    assert ask(rows, way, 30) == ["99998", "99999"]
    assert rows.searched == []


@WAYS
def test_where_no_one_counts_the_index_is_asked_for_more_and_more(way: str) -> None:
    # Given a condition that every hundredth meets, and no index for it / When thirty are asked for
    rows = Rows(50_000, range(0, 50_000, 100), counted=False)
    found = ask(rows, way, 30)

    # Then they are the nearest thirty of those that meet it
    assert found == [f"{n}" for n in range(0, 3_000, 100)]
    assert rows.searched == [60, 480, 3_840]


@WAYS
def test_as_of_an_instant_what_stood_then_is_compared_with_what_the_index_finds(way: str) -> None:
    rows = Rows(50, [1, 2], counted=False)
    assert set(ask(rows, way, 3, Filter(as_of=START))) == {"1", "2", "once"}
    assert set(ask(rows, way, 3, MERRY)) == {"1", "2"}


@WAYS
def test_most_that_meet_the_conditions_cost_one_search(way: str) -> None:
    rows = Rows(50_000, [n for n in range(50_000) if n % 3], counted=False)
    assert len(ask(rows, way, 30)) == 30
    assert rows.searched == [60]


@WAYS
def test_what_is_beyond_the_reach_of_the_index_is_found(way: str) -> None:
    # Given thousands that meet a condition, all further away than the index tells of
    rows = Rows(60_000, range(50_000, 53_000))

    # When some are asked for / Then all that meet it are compared, and the nearest are found
    assert ask(rows, way, 10) == [f"{n}" for n in range(50_000, 50_010)]
    assert rows.searched[-1] == 16_384


@WAYS
def test_a_search_that_found_all_there_is_looks_no_further(way: str) -> None:
    rows = Rows(50, [3], counted=False)
    assert ask(rows, way, 30) == ["3"]
    assert rows.searched == [60]


@WAYS
def test_without_such_conditions_nothing_but_the_index_is_asked(way: str) -> None:
    rows = Rows(100, [1])
    assert ask(rows, way, 3, NOW) == ["0", "1", "2"]
    assert (rows.searched, rows.read) == ([3], [])


def test_a_vector_of_another_length_is_compared_with_nothing() -> None:
    rows = Rows(100, [1])
    assert SelectiveIndex(rows, Read(rows)).dense(HERE, unit(1.0, 0.0, 0.0), 3, MERRY) == {}
