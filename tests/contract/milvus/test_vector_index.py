"""The promises of `VectorIndex` on a real Milvus."""

import logging
import os
import signal
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biem.adapters import embedded
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.milvus.collection import Dialect, collection_name, create, server_version
from biem.adapters.milvus.index import MilvusIndex
from biem.adapters.milvus.light_import import DataType, MilvusClient
from biem.bootstrap import Servers
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.errors import BiemError, ConfigError, EmbedderMismatch, StoreUnavailable
from biem.ports import EmbedderInfo, Entry, Filter, Vector
from tests.contract.conftest import ANY, instant, unit
from tests.support.fakes import START, eventually

DIM = 8
EAST = unit(1, 0, 0, 0, 0, 0, 0, 0)
NEAR_EAST = unit(1, 0.2, 0, 0, 0, 0, 0, 0)
NORTH = unit(0, 1, 0, 0, 0, 0, 0, 0)

Build = Callable[..., MilvusIndex]


def entry(scope: Scope, vector: Vector = EAST, lexemes: str = "word", **values: Any) -> Entry:
    row: dict[str, Any] = {
        "id": new_id(),
        "kind": "event",
        "speaker": "",
        "conversation": "",
        "tags": (),
        "at": START,
    } | values
    return Entry(scope=scope, lexemes=lexemes, vector=vector, **row)


def worded(index: MilvusIndex, ids: set[str]) -> set[str]:
    """What a search by words finds where it should find `ids`: nothing on a server that has no such search."""
    return ids if index.lexical else set()


def needs_words(index: MilvusIndex) -> None:
    """Skip what is about nothing but the search by words where the server says that it has none."""
    index.open()
    if not index.lexical:
        pytest.skip("this Milvus has no search by words (BM25 comes with 2.5); PostgreSQL's answers instead")


@pytest.fixture(autouse=True)
def _quiet() -> None:
    """pymilvus logs whole tracebacks of what the adapter raises and explains; bootstrap silences it the same way."""
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)


def _build(stack: Servers, prefix: str, dim: int, model: str, uri: str | None) -> MilvusIndex:
    return MilvusIndex(
        uri or stack.milvus_uri,
        token="",
        prefix=prefix,
        info=EmbedderInfo(model, dim, ("mul",), 512),
        index_type="auto",
        timeout_s=2.0,
    )


@pytest.fixture(scope="module")
def index(stack: Servers) -> Iterator[MilvusIndex]:
    """One collection for tests that keep to their own scope."""
    opened = _build(stack, f"shared_{uuid.uuid4().hex[:8]}", DIM, "shared-model", None)
    opened.open()
    yield opened
    opened.drop()
    opened.close()


@pytest.fixture
def client(stack: Servers) -> Iterator[MilvusClient]:
    """Milvus without the adapter."""
    opened = MilvusClient(uri=stack.milvus_uri, timeout=5.0, dedicated=True)
    yield opened
    opened.close()


@pytest.fixture
def prefix() -> str:
    """The first part of collection names of the test's own."""
    return f"own_{uuid.uuid4().hex[:8]}"


@pytest.fixture
def build(stack: Servers, prefix: str, client: MilvusClient) -> Iterator[Build]:
    """Builds adapters under the test's own prefix; their collections go when the test ends."""
    opened: list[MilvusIndex] = []

    def make(dim: int = DIM, model: str = "a-model", uri: str | None = None) -> MilvusIndex:
        opened.append(_build(stack, prefix, dim, model, uri))
        return opened[-1]

    yield make
    for made in opened:
        made.close()
    for name in client.list_collections():
        if name.startswith(prefix):
            client.drop_collection(name)


class TestCollection:
    @pytest.mark.req("C12", "X44", partly="one collection per model and dimension")
    def test_each_model_and_dimension_has_its_own_name(self) -> None:
        # Given models that differ in little
        models = [
            EmbedderInfo("BGE-M3", 1024, ("mul",), 512),
            EmbedderInfo("bge-m3", 1024, ("mul",), 512),
            EmbedderInfo("bge_m3", 1024, ("mul",), 512),
            EmbedderInfo("bge-m3", 512, ("mul",), 512),
            EmbedderInfo("BAAI/bge-m3" + "x" * 300, 1024, ("mul",), 512),
            EmbedderInfo("模型'; --", 1024, ("mul",), 512),
        ]

        # When their collections are named
        names = [collection_name("biem_memories", info) for info in models]

        # Then no two share one, and each is a name Milvus takes
        assert len(set(names)) == len(names)
        assert all(name.isascii() and name.replace("_", "a").isalnum() and len(name) < 256 for name in names)
        assert names == [collection_name("biem_memories", info) for info in models]

    @pytest.mark.req("B16", partly="the first part of the name")
    def test_the_collection_begins_with_the_configured_name(self, build: Build, prefix: str) -> None:
        # Given a configured name / When the adapter is built / Then its collection begins with it
        assert build().collection.startswith(f"{prefix}_")

    @pytest.mark.req("B15", partly="identity, time and vector; what changes is in PostgreSQL")
    @pytest.mark.req("C36", partly="Milvus")
    def test_the_schema_holds_what_never_changes(self, index: MilvusIndex, client: MilvusClient) -> None:
        # Given an open collection / When it is described
        fields = {field["name"]: field for field in client.describe_collection(index.collection)["fields"]}

        # Then it has the id of a UUID's length, the time, the vector, and nothing that ages
        assert fields["id"]["is_primary"]
        assert fields["id"]["params"]["max_length"] == 36
        assert fields["at"]["type"] == DataType.INT64
        assert int(fields["dense"]["params"]["dim"]) == DIM
        assert not {"energy", "tier", "access_count", "status"} & set(fields)

    @pytest.mark.req("C12", "X44", partly="another dimension is refused")
    def test_a_collection_of_another_dimension_is_refused(self, build: Build, client: MilvusClient) -> None:
        # Given a collection whose vectors have another dimension than its name says
        index = build(dim=DIM)
        schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=36)
        schema.add_field("lexemes", DataType.VARCHAR, max_length=100)
        schema.add_field("dense", DataType.FLOAT_VECTOR, dim=4)
        client.create_collection(index.collection, schema=schema)

        # When it is opened / Then both dimensions are named
        with pytest.raises(EmbedderMismatch, match=r"4-dimensional.* 8"):
            index.open()

    @pytest.mark.req("X44", partly="another dimension is refused")
    def test_a_vector_of_another_dimension_is_refused_and_nothing_of_its_batch_is_kept(
        self, build: Build, scope: Scope
    ) -> None:
        # Given an open collection
        index = build()
        index.open()

        # When a batch has a vector that is too short
        with pytest.raises(BiemError, match="dim"):
            index.insert([entry(scope), entry(scope, unit(1, 0, 0))], again=False)

        # Then it was not written
        assert index.count() == 0

    def test_a_foreign_collection_of_the_same_name_is_refused_and_stays(
        self, build: Build, client: MilvusClient
    ) -> None:
        # Given another user's collection under our name
        index = build()
        client.create_collection(index.collection, dimension=3)

        # When it is opened / Then the setting to change is named, and the collection is as it was
        with pytest.raises(ConfigError, match="BIEM_MILVUS_COLLECTION"):
            index.open()
        assert client.has_collection(index.collection)

    @pytest.mark.req("X8", partly="making a collection")
    def test_a_collection_whose_maker_died_before_its_indexes_gets_them(
        self, build: Build, client: MilvusClient, scope: Scope
    ) -> None:
        # Given a collection that lacks its indexes
        index = build()
        create(client, index.collection, Dialect.of(server_version(client, 5.0)), dim=DIM)
        assert client.list_indexes(index.collection) == []

        # When it is opened and written to
        index.open()
        row = entry(scope)
        index.insert([row], again=False)

        # Then it is searched by meaning and, where the server can, by words
        assert set(index.dense([scope], EAST, 5, ANY)) == {row.id}
        assert client.list_indexes(index.collection, "dense")
        assert bool(client.list_indexes(index.collection, "sparse")) == index.lexical

    def test_an_index_of_an_earlier_metric_is_replaced_and_finds_the_same(
        self, build: Build, client: MilvusClient, scope: Scope
    ) -> None:
        # Given a collection whose vectors are compared by cosine, as earlier versions made it
        index = build()
        index.open()
        rows = [entry(scope, EAST), entry(scope, NEAR_EAST), entry(scope, NORTH)]
        index.insert(rows, again=False)
        before = index.dense([scope], NEAR_EAST, 3, ANY)
        index.close()
        client.release_collection(index.collection)
        client.drop_index(index.collection, "dense")
        params = client.prepare_index_params()
        params.add_index(
            "dense", index_type=Dialect.of(server_version(client, 2.0)).dense_index("auto"), metric_type="COSINE"
        )
        client.create_index(index.collection, params)
        client.load_collection(index.collection)

        # When two clients open it at once
        again = [build(), build()]
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(MilvusIndex.open, again))

        # Then it has the present metric, and the same rows with the same likeness
        described = client.describe_index(index.collection, "dense")
        assert described["metric_type"] == Dialect.of(server_version(client, 2.0)).metric
        for each in again:
            found = each.dense([scope], NEAR_EAST, 3, ANY)
            assert list(found) == list(before)
            assert list(found.values()) == pytest.approx(list(before.values()), abs=1e-6)

    def test_opening_twice_is_opening_once_and_two_clients_may_open_at_once(self, build: Build, scope: Scope) -> None:
        # Given two adapters and no collection
        first, second = build(), build()

        # When both open it at the same time, and again
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(lambda index: index.open(), (first, second)))
        first.open()

        # Then both use one collection
        row = entry(scope)
        first.insert([row], again=False)
        assert second.count() == 1
        assert set(second.dense([scope], EAST, 5, ANY)) == {row.id}

    def test_dropping_and_opening_leaves_an_empty_collection(self, build: Build, scope: Scope) -> None:
        # Given a collection with a row, known to two processes
        index, elsewhere = build(), build()
        index.open()
        elsewhere.open()
        index.insert([entry(scope)], again=False)

        # When it is dropped and opened
        index.drop()
        index.open()

        # Then it is empty, and the other process goes on with the new one
        assert index.count() == elsewhere.count() == 0
        row = entry(scope)
        elsewhere.insert([row], again=False)
        assert set(index.dense([scope], EAST, 5, ANY)) == {row.id}

    def test_an_empty_collection_gives_empty_answers(self, build: Build, scope: Scope) -> None:
        # Given a new collection
        index = build()
        index.open()

        # When it is asked / Then there is nothing, and no failure
        assert index.dense([scope], EAST, 5, ANY) == {}
        assert index.words([scope], "word", 5, ANY) == {}
        assert index.count() == index.count([new_id()]) == index.count([]) == 0
        index.purge([new_id()])
        index.purge([])

    def test_a_collection_that_became_empty_gives_empty_answers(self, build: Build, scope: Scope) -> None:
        # Given a collection whose only row was purged
        index = build()
        index.open()
        row = entry(scope)
        index.insert([row], again=False)
        index.purge([row.id])

        # When it is asked / Then there is nothing
        assert index.count() == 0
        eventually(lambda: index.dense([scope], EAST, 5, ANY) == index.words([scope], "word", 5, ANY) == {})


class TestRows:
    @pytest.mark.req("X3", partly="the vector index")
    def test_after_n_insertions_there_are_n_rows(self, build: Build, scope: Scope) -> None:
        # Given a collection / When rows come in batches
        index = build()
        index.open()
        for size in (1, 2, 64, 500):
            index.insert([entry(scope) for _ in range(size)], again=False)

        # Then all are counted at once
        assert index.count() == 567

    def test_inserting_again_replaces_and_never_doubles(self, index: MilvusIndex, scope: Scope) -> None:
        # Given a batch of which one row was written before its writer died
        first = entry(scope, NORTH, "old")
        second = entry(scope, NORTH, "other")
        index.insert([first], again=False)
        newer = entry(scope, EAST, "new", id=first.id)

        # When the batch is inserted again, twice
        index.insert([newer, second], again=True)
        index.insert([newer, second], again=True)

        # Then each row is there once, as it is now
        assert index.count([first.id, second.id]) == 2
        assert index.dense([scope], EAST, 5, ANY)[first.id] == pytest.approx(1.0)
        assert set(index.words([scope], "new", 5, ANY)) == worded(index, {first.id})
        assert index.words([scope], "old", 5, ANY) == {}

    def test_inserting_nothing_is_nothing(self, index: MilvusIndex) -> None:
        # Given no rows / When they are inserted / Then nothing happens
        index.insert([], again=False)
        index.insert([], again=True)

    @pytest.mark.req("B15", partly="what is longer is cut by bytes")
    def test_lexemes_longer_than_a_field_are_cut_and_the_row_is_kept(self, index: MilvusIndex, scope: Scope) -> None:
        # Given a row with more words than Milvus holds, of three bytes a character
        row = entry(scope, lexemes="起点 " + "长文 " * 20_000)

        # When it is inserted / Then it is found by its first words
        index.insert([row], again=False)
        assert index.count([row.id]) == 1
        assert set(index.words([scope], "起点", 5, ANY)) == worded(index, {row.id})

    def test_counting_counts_all_or_these_ids(self, index: MilvusIndex, scope: Scope) -> None:
        # Given rows
        rows = [entry(scope) for _ in range(3)]
        before = index.count()
        index.insert(rows, again=False)

        # When they are counted / Then each question has its answer
        assert index.count() == before + 3
        assert index.count([rows[0].id, rows[2].id, new_id()]) == 2

    @pytest.mark.req("X16", "X44", partly="the vector index, of every model")
    def test_purging_reaches_the_collections_of_every_model_and_only_these_ids(
        self, build: Build, scope: Scope
    ) -> None:
        # Given the same memories in the collections of two models
        old, new = build(model="old", dim=4), build(model="new")
        old.open()
        new.open()
        gone, kept = new_id(), new_id()
        old.insert([entry(scope, unit(1, 0, 0, 0), id=key) for key in (gone, kept)], again=False)
        new.insert([entry(scope, id=key) for key in (gone, kept)], again=False)
        before = new.count([gone])

        # When one is purged, twice
        new.purge([gone, new_id()])
        new.purge([gone])

        # Then it is in neither, and the other is in both
        assert before == 2
        assert new.count([gone]) == 0
        assert new.count([kept]) == 2
        eventually(lambda: set(new.dense([scope], EAST, 5, ANY)) == {kept})
        assert set(new.words([scope], "word", 5, ANY)) == worded(new, {kept})
        eventually(lambda: set(old.dense([scope], unit(1, 0, 0, 0), 5, ANY)) == {kept})

    def test_a_foreign_collection_that_begins_like_ours_disturbs_no_purge(
        self, build: Build, client: MilvusClient, prefix: str, scope: Scope
    ) -> None:
        # Given another user's collection with numbers as ids, whose name begins with our first part
        client.create_collection(f"{prefix}_backup", dimension=3)
        index = build()
        index.open()
        row = entry(scope)
        index.insert([row], again=False)

        # When a row is purged and counted
        index.purge([row.id])

        # Then that works, and the foreign collection is still there
        assert index.count([row.id]) == 0
        assert client.has_collection(f"{prefix}_backup")

    def test_more_ids_than_one_query_takes_can_be_counted_and_purged(self, build: Build, scope: Scope) -> None:
        # Given more rows than go into one query
        index = build()
        index.open()
        rows = [entry(scope) for _ in range(1_100)]
        index.insert(rows, again=False)
        ids = [row.id for row in rows]

        # When they are counted, all but one purged
        counted = index.count(ids)
        index.purge(ids[:-1])

        # Then one is left
        assert counted == 1_100
        assert index.count() == index.count(ids) == 1


class TestSearch:
    @pytest.mark.req("D6", partly="dense")
    def test_the_nearest_come_with_their_cosine_within_the_limit(self, index: MilvusIndex, scope: Scope) -> None:
        # Given three directions
        east, near, north = entry(scope, EAST), entry(scope, NEAR_EAST), entry(scope, NORTH)
        index.insert([north, near, east], again=False)

        # When the nearest to east are asked for
        found = index.dense([scope], EAST, 10, ANY)

        # Then the scores are cosines, and the limit takes the best
        assert found[east.id] == pytest.approx(1.0, abs=1e-5)
        assert found[near.id] == pytest.approx(float(EAST @ NEAR_EAST), abs=1e-5)
        assert found[north.id] == pytest.approx(0.0, abs=1e-5)
        assert set(index.dense([scope], EAST, 2, ANY)) == {east.id, near.id}

    @pytest.mark.req("D6", partly="words, in both languages")
    @pytest.mark.req("B40", partly="the nearest nodes of a batch")
    def test_the_nearest_of_several_vectors_come_in_their_order_and_of_one_scope_only(
        self, index: MilvusIndex, scope: Scope, other: Scope
    ) -> None:
        # Given rows of this scope, and one of another
        east, north = entry(scope, EAST), entry(scope, NORTH)
        index.insert([east, north, entry(other, EAST)], again=False)

        # When two vectors are asked for at once
        answers = index.nearest(scope, np.stack([NORTH, NEAR_EAST]), 1)

        # Then each has its own nearest, with its cosine
        assert [list(answer) for answer in answers] == [[north.id], [east.id]]
        assert answers[1][east.id] == pytest.approx(float(NEAR_EAST @ EAST), abs=1e-5)
        assert index.nearest(scope, np.empty((0, DIM), dtype=np.float32), 5) == []

    def test_words_finds_chinese_and_english_lexemes_of_the_analyzer(self, index: MilvusIndex, scope: Scope) -> None:
        # Given texts of both languages, tokenised as they are in production
        needs_words(index)
        lexemes = RuleAnalyzer().lexemes
        texts = {
            "allergy": "I am allergic to peanuts",
            "花生": "我对花生过敏,不能吃",
            "版本": "升级到 v2.5.1 以后 error_code=E1042",
            "mixed": "C++ 比 Python 快",
        }
        rows = {name: entry(scope, lexemes=" ".join(lexemes(text))) for name, text in texts.items()}
        index.insert(list(rows.values()), again=False)

        # When each is asked for in other words
        def best(query: str) -> str:
            found = index.words([scope], " ".join(lexemes(query)), 10, ANY)
            first = max(found, key=lambda key: found[key])
            return next(name for name, row in rows.items() if row.id == first)

        # Then it is found
        assert best("which PEANUT allergies?") == "allergy"
        assert best("谁对花生过敏?") == "花生"
        assert best("v2.5.1") == "版本"
        assert best("E1042") == "版本"
        assert best("c++") == "mixed"
        assert index.words([scope], " ".join(lexemes("天气")), 10, ANY) == {}

    @pytest.mark.req("D6", "X41", partly="BM25 varies with its inputs")
    def test_rare_and_repeated_words_score_higher(self, index: MilvusIndex, scope: Scope) -> None:
        # Given a word in every text and one in a single text
        needs_words(index)
        rows = [entry(scope, lexemes="common filler filler") for _ in range(9)]
        rare = entry(scope, lexemes="common quokka filler")
        twice = entry(scope, lexemes="common common filler")
        index.insert([*rows, rare, twice], again=False)

        # When both are asked for
        found = index.words([scope], "common quokka", 20, ANY)

        # Then the rare word weighs most and repetition counts
        assert max(found, key=lambda key: found[key]) == rare.id
        assert found[twice.id] > found[rows[0].id] > 0
        assert index.words([scope], "quokka", 20, ANY).keys() == {rare.id}
        assert index.words([scope], "", 20, ANY) == {}

    @pytest.mark.req("C24", partly="the vector index")
    def test_only_the_asked_scopes_answer_one_or_several(self, index: MilvusIndex, scope: Scope, other: Scope) -> None:
        # Given the same row in three scopes
        project = Scope(scope.tenant, scope.user, "p")
        unknown = Scope(user=uuid.uuid4().hex)
        mine, ours, theirs = entry(scope), entry(project), entry(other)
        index.insert([mine, ours, theirs], again=False)

        # When one and two scopes are asked / Then exactly they answer, by vector and by words
        def by_vector(*scopes: Scope) -> set[str]:
            return set(index.dense(scopes, EAST, 10, ANY))

        def by_words(*scopes: Scope) -> set[str]:
            return set(index.words(scopes, "word", 10, ANY))

        for scopes, expected in (([scope], {mine.id}), (project.readable, {ours.id, mine.id}), ([unknown], set[str]())):
            assert by_vector(*scopes) == expected
            assert by_words(*scopes) == worded(index, expected)

    @pytest.mark.req("C24", "X19", partly="the vector index, a small scope among large ones")
    def test_a_small_scope_is_found_among_thousands_of_nearer_rows_of_others(
        self, index: MilvusIndex, scope: Scope, other: Scope
    ) -> None:
        # Given a thousand rows of others right at the query, and one of ours that is far away
        index.insert([entry(other, EAST) for _ in range(1_000)], again=False)
        mine = entry(scope, NORTH, "word")
        index.insert([mine], again=False)

        # When we ask / Then ours is found
        assert set(index.dense([scope], EAST, 5, ANY)) == {mine.id}
        assert set(index.words([scope], "word", 5, ANY)) == worded(index, {mine.id})

    @pytest.mark.req("B14", partly="kind, speaker, conversation and time, in Milvus")
    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            (Filter(), {"plain", "task", "li", "wang"}),
            (Filter(kinds=("task",)), {"task"}),
            (Filter(kinds=("task", "event")), {"task", "li", "wang"}),
            (Filter(speakers=("Li",)), {"li"}),
            (Filter(speakers=('Wang" or ""=="', "Li")), {"li", "wang"}),
            (Filter(conversations=("c1",)), {"li"}),
            (Filter(since=instant(3)), {"li", "wang"}),
            (Filter(until=instant(3)), {"plain", "task"}),
            (Filter(since=instant(2), until=instant(3)), {"task"}),
            (Filter(since=instant(3), until=instant(3)), set()),
            (Filter(kinds=("event",), speakers=("Li",), conversations=("c2",)), set()),
            (Filter(speakers=("",)), {"plain", "task"}),
            (Filter(speakers=('" or id != "',)), set()),
            (Filter(tags=("food",)), {"li", "task"}),
            (Filter(tags=("food", '%" or tags like "')), {"task"}),
            (Filter(tags=("foo",)), set()),
            (Filter(tags=("food",), kinds=("task",)), {"task"}),
        ],
    )
    def test_every_filter_holds_for_vectors_and_words(
        self, index: MilvusIndex, scope: Scope, where: Filter, expected: set[str]
    ) -> None:
        # Given four rows that differ in what never changes
        rows = {
            "plain": entry(scope, kind="knowledge", at=instant(1)),
            "task": entry(scope, kind="task", at=instant(2), tags=("food", '%" or tags like "')),
            "li": entry(scope, speaker="Li", conversation="c1", at=instant(3), tags=("home", "food")),
            "wang": entry(scope, speaker='Wang" or ""=="', conversation="c2", at=instant(4)),
        }
        index.insert(list(rows.values()), again=False)
        names = {row.id: name for name, row in rows.items()}

        # When they are asked for under a condition / Then exactly those that meet it answer
        assert {names[key] for key in index.dense([scope], EAST, 10, where)} == expected
        assert {names[key] for key in index.words([scope], "word", 10, where)} == worded(index, expected)

    @pytest.mark.parametrize("at", [datetime.fromisoformat("1900-01-01T00:00:00+00:00"), instant(5)])
    def test_bounds_of_time_are_exact_to_the_microsecond(self, index: MilvusIndex, scope: Scope, at: datetime) -> None:
        # Given a row at an instant
        row = entry(scope, at=at)
        index.insert([row], again=False)
        after = at.replace(microsecond=1)

        # When bounds touch it / Then `since` takes it in and `until` leaves it out
        assert set(index.dense([scope], EAST, 5, Filter(since=at, until=after))) == {row.id}
        assert index.dense([scope], EAST, 5, Filter(since=after)) == {}
        assert index.dense([scope], EAST, 5, Filter(until=at)) == {}

    @pytest.mark.req("X39", partly="Milvus")
    @pytest.mark.parametrize("hostile", ["'); DROP TABLE", '" or "" == "', "\\", "%", "{ns}", "in [1]", "爱\u202e"])
    def test_hostile_names_and_words_are_data(
        self, index: MilvusIndex, scope: Scope, other: Scope, hostile: str
    ) -> None:
        # Given a scope, a speaker, a conversation and a word that look like syntax
        named = Scope(tenant=hostile, user=scope.user, project=hostile)
        word = hostile.replace(" ", "_")
        row = entry(named, lexemes=word, speaker=hostile, conversation=hostile)
        index.insert([row, entry(other, lexemes=word)], again=False)
        where = Filter(speakers=(hostile,), conversations=(hostile,))

        # When they are asked for / Then just that row is found
        assert set(index.dense([named], EAST, 5, where)) == {row.id}
        assert set(index.words([named], word, 5, where)) == worded(index, {row.id})
        assert index.dense([scope], EAST, 5, ANY) == {}

    def test_many_threads_search_and_insert_at_once(self, index: MilvusIndex, scope: Scope) -> None:
        # Given eight threads
        rows = [entry(scope) for _ in range(16)]

        # When they insert and search through one adapter
        def work(row: Entry) -> bool:
            index.insert([row], again=False)
            by_words = worded(index, {row.id}) <= set(index.words([scope], "word", 50, ANY))
            return by_words and row.id in index.dense([scope], EAST, 50, ANY)

        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(work, rows))

        # Then each found what it had written
        assert all(found)


class TestOutage:
    def test_an_address_without_a_server_is_named_with_its_setting(
        self, build: Build, tmp_path: Path, scope: Scope
    ) -> None:
        # Given no server
        index = build(uri=f"unix:{tmp_path}/none.sock")

        # When it is asked / Then the message says what to check, and has its cause
        for call in (index.open, index.ping, lambda: index.dense([scope], EAST, 5, ANY)):
            with pytest.raises(StoreUnavailable, match="BIEM_MILVUS_URI") as caught:
                call()
            assert isinstance(caught.value.__cause__, Exception)

    def test_a_closed_adapter_closes_again(self, build: Build) -> None:
        # Given an open adapter / When it is closed twice / Then nothing happens
        index = build()
        index.ping()
        index.close()
        index.close()

    def test_a_killed_server_comes_back_with_every_acknowledged_row(
        self, build: Build, stack: Servers, home: Path, scope: Scope
    ) -> None:
        if not stack.embedded:
            pytest.skip("somebody else starts that Milvus again")
        # Given rows that were acknowledged
        index, reader = build(), build()
        rows = [entry(scope, lexemes=f"word row{number}") for number in range(20)]
        index.insert(rows[:10], again=False)
        assert reader.count() == 10

        # When the server is killed right after the last acknowledgement
        index.insert(rows[10:], again=False)
        before = _milvus_pid(home)
        os.kill(before, signal.SIGKILL)

        # Then the same adapters answer again within seconds, with every row once
        ids = {row.id for row in rows}
        eventually(lambda: _answers(lambda: set(reader.dense([scope], EAST, 50, ANY)) == ids))
        assert _milvus_pid(home) != before
        assert index.count() == 20
        assert set(index.words([scope], "row13", 5, ANY)) == {rows[13].id}
        another = entry(scope)
        index.insert([another], again=False)
        assert reader.count() == 21


def _milvus_pid(home: Path) -> int:
    found = next(server.pid for server in embedded.status(home).servers if server.name == "milvus")
    assert found is not None
    return found


def _answers(question: Callable[[], bool]) -> bool:
    """Any other failure than this one is the client's own, and fails the test."""
    try:
        return question()
    except StoreUnavailable:
        return False


class TestRefusals:
    def test_conditions_that_the_server_cannot_take_are_checked_here(
        self, index: MilvusIndex, scope: Scope, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Given memories, and more tags in one expression than Milvus Lite takes
        tags = tuple(f"tag {number}" for number in range(64))
        tagged = entry(scope, NORTH, tags=tags, speaker="Li", conversation="c", at=instant(3))
        others = [entry(scope, EAST, tags=tags[:63]), entry(scope, EAST, tags=tags, speaker="An")]
        index.insert([tagged, *others], again=False)
        monkeypatch.setattr("biem.adapters.milvus.index._MOST_TAGS", 64)
        where = Filter(
            kinds=("event",), speakers=("Li",), conversations=("c",), tags=tags, since=instant(3), until=instant(4)
        )

        # When they are looked for / Then what meets all conditions is found, and the server counts as up
        assert list(index.dense([scope], EAST, 1, where)) == [tagged.id]
        assert list(index.dense([scope], EAST, 1, Filter(tags=tags, until=instant(3)))) == []
        index.ping()

    def test_a_memory_is_found_behind_a_thousand_that_have_other_tags(self, index: MilvusIndex, scope: Scope) -> None:
        # Given a memory further away than more others than are looked at first, which differ in the last tag only
        tags = tuple(f"tag {number}" for number in range(20))
        far = entry(scope, NORTH, tags=tags)
        index.insert([far, *(entry(scope, EAST, tags=tags[:19]) for _ in range(1_100))], again=False)

        # When it is looked for by all its tags / Then it is found
        assert list(index.dense([scope], EAST, 3, Filter(tags=tags))) == [far.id]
