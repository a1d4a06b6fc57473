"""What the searches embed of a query."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pytest

from biem.domain.policies.graph import GraphPolicy
from biem.domain.policies.recall import RecallPolicy
from biem.domain.scope import Scope
from biem.engine.recall.search import Searcher
from biem.errors import BiemError, CallRefused, EmbedderUnavailable, InvalidInput, StoreUnavailable
from biem.ports import Filter, Role, Vector, Vectors
from biem.telemetry import Telemetry


class Places:
    """Every place that a search asks; the index keeps the vectors it was asked for."""

    lexical = True
    serial = False

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.broken = False
        self.held = threading.Event()
        self.held.set()
        self.embedded: list[list[str]] = []
        self.searched: list[Vector] = []
        self.embedding: BiemError | None = None
        self.failure: type[StoreUnavailable] = StoreUnavailable

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if self.embedding:
            raise self.embedding
        assert role == "query"
        self.embedded.append(list(texts))
        return np.eye(4, dtype=np.float32)[: len(texts)]

    def dense(self, scopes: object, vector: Vector, limit: int, where: object) -> Mapping[str, float]:
        self.searched.append(vector)
        self.asked.append("meaning")
        self.held.set()
        return {"a": 0.5}

    def words(self, scopes: object, query: str, limit: int, where: object) -> Mapping[str, float]:
        assert self.held.wait(10)
        self.asked.append("words")
        if self.broken:
            raise self.failure("Milvus is down")
        return {"b": 2.0}

    def recent(self, scope: object, count: int) -> list[object]:
        return []


@pytest.fixture
def places() -> Places:
    return Places()


@pytest.fixture
def searcher(places: Places) -> Any:
    here = cast(Any, places)
    searcher = Searcher(
        records=here, index=here, hot=here, tiers=here, associations=here, embedder=here, telemetry=Telemetry(),
        policy=RecallPolicy(use_canvas=False, activation_weight=0.0), graph=GraphPolicy(),
    )  # fmt: skip
    yield searcher
    searcher.close()


def test_a_query_and_its_parts_are_embedded_in_one_call_and_the_query_is_searched_for(
    searcher: Searcher, places: Places
) -> None:
    # Given a query with another reading / When places are asked / Then one call embeds both, and the query leads
    found = searcher.search(Scope(), "Where does Ana live?", ["Where does live?"], ["ana", "live"], 5, Filter())
    assert places.embedded == [["Where does Ana live?", "Where does live?"]]
    assert found.vector is not None
    assert found.vector.tolist() == [1, 0, 0, 0]
    assert [part.tolist() for part in found.parts] == [[0, 1, 0, 0]]
    assert [vector.tolist() for vector in places.searched] == [[1, 0, 0, 0]]


def test_while_the_embedder_is_down_a_query_has_neither_vector_nor_parts(searcher: Searcher, places: Places) -> None:
    # Given an embedder that is down / When places are asked / Then words answer, and the answer says so
    places.embedding = EmbedderUnavailable("down")
    found = searcher.search(Scope(), "Where does Ana live?", ["Where does live?"], ["ana", "live"], 5, Filter())
    assert (found.vector, list(found.parts), found.degraded) == (None, [], ["embedder"])


def test_what_is_found_by_words_is_shown_before_the_search_by_meaning_where_both_would_wait_for_each_other(
    places: Places, searcher: Any
) -> None:
    # Given a server that works on one search at a time
    places.serial = True

    # When something is searched for
    found = searcher.search(Scope(), "tea", [], ["tea"], 5, Filter(), lambda ids: places.asked.append(",".join(ids)))

    # Then the quick search came first, and what it found was given before the other began
    assert places.asked == ["words", "b", "meaning"]
    assert (found.words, found.dense) == ({"b": 2.0}, {"a": 0.5})


def test_a_server_for_many_searches_is_asked_both_at_once(places: Places, searcher: Any) -> None:
    # Given a search by words that ends only after the one by meaning began
    places.held.clear()

    # When something is searched for / Then both answer
    found = searcher.search(Scope(), "tea", [], ["tea"], 5, Filter())
    assert (places.asked, found.words, found.dense) == (["meaning", "words"], {"b": 2.0}, {"a": 0.5})


def test_a_server_that_just_failed_is_not_asked_again(places: Places, searcher: Any) -> None:
    # Given a server for one search at a time that cannot answer
    places.serial = places.broken = True
    places.text_search = lambda *_: {"c": 1.0}  # type: ignore[attr-defined]

    # When something is searched for / Then no caller waits for it twice, and the records answer
    found = searcher.search(Scope(), "tea", [], ["tea"], 5, Filter())
    assert (places.asked, found.dense, found.text, found.degraded) == (["words"], {}, {"c": 1.0}, ["milvus"])


def test_two_searches_on_one_server_that_is_down_are_one_line_in_the_log(
    places: Places, searcher: Any, caplog: pytest.LogCaptureFixture
) -> None:
    # Given a server that is asked for two things at once and is down
    def down(*_: object) -> Mapping[str, float]:
        raise StoreUnavailable("Milvus is down")

    places.broken = True
    places.dense = down  # type: ignore[assignment]
    places.text_search = lambda *_: {"c": 1.0}  # type: ignore[attr-defined]

    # When something is searched for / Then the log says it once
    found = searcher.search(Scope(), "tea", [], ["tea"], 5, Filter())
    assert found.degraded == ["milvus"]
    assert caplog.messages == ["recall continues without milvus: Milvus is down"]


def test_a_server_that_refused_one_call_is_asked_the_next_one(places: Places, searcher: Any) -> None:
    # Given a server that refuses what one caller asks
    places.serial = places.broken = True
    places.failure = CallRefused
    places.text_search = lambda *_: {"c": 1.0}  # type: ignore[attr-defined]
    first = searcher.search(Scope(), "tea", [], ["tea"], 5, Filter())

    # When another one asks / Then the server answers, and nothing is said to be down
    places.broken = False
    second = searcher.search(Scope(user="another"), "tea", [], ["tea"], 5, Filter())
    assert (first.text, first.dense, first.degraded) == ({"c": 1.0}, {"a": 0.5}, ["milvus"])
    assert (second.words, second.degraded) == ({"b": 2.0}, [])


def test_a_query_that_the_embedder_refuses_is_no_outage_for_the_next_one(searcher: Searcher, places: Places) -> None:
    # Given an embedder that refuses what one caller asks
    places.embedding = InvalidInput("HTTP 400: too long")
    first = searcher.search(Scope(), "tea", [], ["tea"], 5, Filter())
    # When another one asks / Then the embedder is asked, and nothing is said to be down
    places.embedding = None
    second = searcher.search(Scope(user="another"), "tea", [], ["tea"], 5, Filter())
    assert (first.vector, first.degraded) == (None, ["embedder"])
    assert second.vector is not None
    assert second.degraded == []
