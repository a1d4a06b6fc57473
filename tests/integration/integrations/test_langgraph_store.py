"""The tests of LangGraph's own PostgreSQL store, on `BiemStore` and real servers.

Their cases are those of `libs/checkpoint-postgres/tests/test_store.py` and `test_async_store.py` of
github.com/langchain-ai/langgraph (MIT licence), rewritten. Left out: migrations, configurations of an embedder, and
exact scores, which depend on the store's own formula.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, Item, ListNamespacesOp, MatchCondition, PutOp, SearchOp

import biem
from biem.integrations.langgraph import BiemStore
from tests.support.fakes import WordEmbedder
from tests.support.servers import Configure


@pytest.fixture(scope="module")
def opened(settings_of_module: Configure) -> Iterator[biem.Memory]:
    """One connection for the tests of this file."""
    with biem.connect(settings_of_module(), embedder=WordEmbedder()) as memory:
        yield memory


@pytest.fixture(scope="module")
def settings_of_module(settings: Configure) -> Configure:
    """The settings of the session."""
    return settings


@pytest.fixture
def store(opened: biem.Memory, request: pytest.FixtureRequest) -> BiemStore:
    """A store in a scope of the test's own."""
    return BiemStore(opened.scope(user=request.node.name, project="store"))


def keys(items: list[Any]) -> list[str]:
    """The keys of items, in order."""
    return [item.key for item in items]


class TestOperations:
    def test_a_batch_answers_in_the_order_of_its_operations(self, store: BiemStore) -> None:
        # Given two items
        store.put(("test", "foo"), "key1", {"data": "value1"})
        store.put(("test", "bar"), "key2", {"data": "value2"})

        # When operations of all kinds are run together, in two orders
        found = store.batch(
            [
                GetOp(("test", "foo"), "key1"),
                PutOp(("test", "bar"), "key2", {"data": "value2"}),
                SearchOp(("test",), filter={"data": "value1"}, limit=10, offset=0),
                ListNamespacesOp(match_conditions=None, max_depth=None, limit=10, offset=0),
                GetOp(("test",), "key3"),
            ]
        )
        again = store.batch(
            [
                SearchOp(("test",), filter=None, limit=5, offset=0),
                GetOp(("test", "bar"), "key2"),
                ListNamespacesOp(match_conditions=None, max_depth=None, limit=5, offset=0),
                PutOp(("test",), "key3", {"data": "value3"}),
                GetOp(("test", "foo"), "key1"),
            ]
        )

        # Then each place has the answer of its operation
        assert isinstance(found[0], Item)
        assert (found[0].key, found[0].value) == ("key1", {"data": "value1"})
        assert isinstance(found[2], list)
        assert keys(found[2]) == ["key1"]
        assert found[3] == [("test", "bar"), ("test", "foo")]
        assert found[1] is found[4] is None
        assert isinstance(again[0], list)
        assert set(keys(again[0])) == {"key1", "key2"}
        assert [one.value for one in (again[1], again[4]) if isinstance(one, Item)] == [
            {"data": "value2"},
            {"data": "value1"},
        ]
        assert again[3] is None
        assert store.get(("test",), "key3") is not None

    def test_puts_and_deletions_of_a_batch(self, store: BiemStore) -> None:
        # When items are put, one twice, and one that is not there is deleted
        done = store.batch(
            [
                PutOp(("test",), "key1", {"data": "first"}),
                PutOp(("test",), "key2", {"data": "value2"}),
                PutOp(("test",), "key3", None),
                PutOp(("test",), "key1", {"data": "value1"}),
            ]
        )

        # Then the last write of a key counts
        assert done == [None] * 4
        items = [store.get(("test",), key) for key in ("key1", "key2", "key3")]
        assert [None if item is None else item.value for item in items] == [
            {"data": "value1"},
            {"data": "value2"},
            None,
        ]

    def test_what_is_no_operation_is_refused(self, store: BiemStore) -> None:
        with pytest.raises(ValueError, match="Unknown operation"):
            store.batch([object()])  # type: ignore[list-item]

    def test_a_lone_string_is_no_namespace_of_its_letters(self, store: BiemStore) -> None:
        for op in (GetOp("foo", "key"), SearchOp("foo"), PutOp("foo", "key", {"a": 1}), PutOp("foo", "key", None)):  # type: ignore[arg-type]
            with pytest.raises(biem.InvalidInput, match="must be a list of labels"):
                store.batch([op])
        assert store.list_namespaces() == []

    def test_raw_operations_cannot_name_another_namespace(self, store: BiemStore) -> None:
        # Given an item two levels down
        store.put(("foo", "bar"), "key", {"data": "inner"})

        # When operations name it by one label with a dot, or have an empty one, then they are refused
        for op in (GetOp(("foo.bar",), "key"), SearchOp(("foo.bar",)), PutOp(("foo", ""), "key", {"a": 1})):
            with pytest.raises(InvalidNamespaceError):
                store.batch([op])


class TestItems:
    def test_put_get_update_delete(self, store: BiemStore) -> None:
        # Given an item
        namespace, value = ("test", "documents"), {"title": "Test Document", "content": "Hello, World!"}
        store.put(namespace, "doc1", value)
        first = store.get(namespace, "doc1")

        # When it is put again
        store.put(namespace, "doc1", {"title": "Updated", "content": "Hello, Updated!"})
        second = store.get(namespace, "doc1")

        # Then it has the new value, is one item, and knows when it was changed
        assert first is not None
        assert second is not None
        assert (first.namespace, first.key, first.value) == (namespace, "doc1", value)
        assert second.value == {"title": "Updated", "content": "Hello, Updated!"}
        assert first.created_at == second.created_at
        assert first.updated_at < second.updated_at
        # And other namespaces do not have it, nor does any once it is deleted
        assert store.get(("test", "other"), "doc1") is None
        store.delete(namespace, "doc1")
        assert store.get(namespace, "doc1") is None
        assert store.search(namespace) == []

    def test_any_json_value_is_returned_as_it_was_put(self, store: BiemStore) -> None:
        value = {
            "z": None, "a": [1, 2.5, [], {}, True, "x"], "": {"deep": {"er": -1e300}}, "中": "这是中文", "big": 10**30,
            "float": 1.0,
        }  # fmt: skip
        store.put(("values",), "1", value)
        found = store.get(("values",), "1")
        assert found is not None
        assert found.value == value
        assert list(found.value) == list(value)
        assert isinstance(found.value["float"], float)

    def test_a_value_that_is_no_json_is_refused_and_nothing_is_written(self, store: BiemStore) -> None:
        for broken in ({"a": float("nan")}, {"a": object()}, {"a": "\0"}):
            with pytest.raises(biem.InvalidInput):
                store.batch([PutOp(("values",), "good", {"a": 1}), PutOp(("values",), "bad", broken)])
        assert store.search(("values",)) == []

    def test_namespaces_are_listed_by_prefix_suffix_and_depth(self, store: BiemStore) -> None:
        # Given items in six namespaces, and one whose label begins as another
        names = [(a, b, c) for a in ("test", "prod") for b in ("documents", "images") for c in ("public", "private")]
        del names[-1:]
        for name in [*names, ("test-2", "documents", "public")]:
            store.put(name, "dummy", {"content": "dummy"})

        # Then lists have what fits, in the order of labels
        assert store.list_namespaces() == sorted([*names, ("test-2", "documents", "public")])
        assert len(store.list_namespaces(prefix=("test",))) == 4
        assert all(name[-1] == "public" for name in store.list_namespaces(suffix=("public",)))
        assert store.list_namespaces(prefix=("*", "images")) == [n for n in sorted(names) if n[1] == "images"]
        assert store.list_namespaces(prefix=("prod",), suffix=("documents", "*")) == [
            ("prod", "documents", "private"),
            ("prod", "documents", "public"),
        ]
        assert store.list_namespaces(max_depth=1) == [("prod",), ("test",), ("test-2",)]
        assert store.list_namespaces(limit=2, offset=1) == sorted(names)[1:3]
        [ends] = store.batch([ListNamespacesOp(match_conditions=(MatchCondition("suffix", ("public",)),))])
        assert ends == store.list_namespaces(suffix=("public",))
        # And a namespace without items is not there
        store.delete(("test-2", "documents", "public"), "dummy")
        assert ("test-2", "documents", "public") not in store.list_namespaces()


class TestSearch:
    def test_by_namespace_value_and_page(self, store: BiemStore) -> None:
        # Given documents of two authors
        store.put(("test", "docs"), "doc1", {"title": "First Doc", "author": "Alice", "tags": ["important"]})
        store.put(("test", "docs"), "doc2", {"title": "Second Doc", "author": "Bob", "tags": ["draft"]})
        store.put(("test", "images"), "img1", {"title": "Image 1", "author": "Alice", "tags": ["final"]})

        # Then a search without a query finds by namespace and value, without scores
        assert len(store.search(("test",))) == 3
        assert {item.namespace for item in store.search(("test", "docs"))} == {("test", "docs")}
        assert set(keys(store.search(("test",), filter={"author": "Alice"}))) == {"doc1", "img1"}
        assert keys(store.search(("test",), filter={"tags": ["draft"]})) == ["doc2"]
        assert len(store.search(("test",), limit=2)) == 2
        assert len(store.search(("test",), offset=2)) == 1
        assert {item.score for item in store.search(("test",))} == {None}

    def test_a_namespace_is_no_prefix_of_another_name(self, store: BiemStore) -> None:
        store.put(("acme",), "1", {"text": "the plan"})
        store.put(("acme-corp",), "2", {"text": "the plan"})
        store.put(("acme", "sales"), "3", {"text": "the plan"})
        assert set(keys(store.search(("acme",)))) == {"1", "3"}
        assert set(keys(store.search(("acme",), query="plan"))) == {"1", "3"}
        assert keys(store.search(("acme-corp",), query="plan")) == ["2"]

    def test_numbers_are_compared_as_numbers_and_strings_as_strings(self, store: BiemStore) -> None:
        for key, score in (("a", 2), ("b", 9), ("c", 10), ("d", 11), ("e", 9.5)):
            store.put(("test", "scores"), key, {"score": score})
        for key, name in (("a", "apple"), ("b", "banana")):
            store.put(("test", "names"), key, {"name": name})

        def scores(condition: dict[str, Any]) -> list[float]:
            return sorted(item.value["score"] for item in store.search(("test", "scores"), filter={"score": condition}))

        assert scores({"$gte": 10}) == [10, 11]
        assert scores({"$gt": 9}) == [9.5, 10, 11]
        assert scores({"$lt": 10}) == [2, 9, 9.5]
        assert scores({"$lte": 9}) == [2, 9]
        assert scores({"$gt": 2, "$ne": 10, "$lt": 11}) == [9, 9.5]
        assert keys(store.search(("test", "names"), filter={"name": {"$gt": "apple"}})) == ["b"]
        with pytest.raises(biem.InvalidInput, match="unknown"):
            store.search(("test",), filter={"score": {"$near": 1}})

    def test_a_query_ranks_by_relevance_and_follows_an_update(self, store: BiemStore) -> None:
        # Given texts, one of them about zebras
        store.put(("test",), "doc1", {"text": "zany zebra Xerxes"})
        store.put(("test",), "doc2", {"text": "something about dogs"})
        store.put(("test",), "doc3", {"text": "text about birds"})
        before = store.search(("test",), query="Zany Xerxes")

        # When it says something else
        store.put(("test",), "doc1", {"text": "new text about dogs"})
        after = {item.key: item.score for item in store.search(("test",), query="Zany Xerxes")}
        dogs = {item.key: item.score for item in store.search(("test",), query="new text about dogs")}

        # Then it is found by that and no longer by what it said
        assert before[0].key == "doc1"
        assert before[0].score is not None
        assert (after.get("doc1") or 0.0) < before[0].score
        assert (dogs["doc1"] or 0.0) > (after.get("doc1") or 0.0)

    def test_what_is_not_indexed_is_listed_and_found_by_no_query(self, store: BiemStore) -> None:
        store.put(("test",), "doc1", {"text": "about dogs"})
        store.put(("test",), "doc2", {"text": "about dogs"}, index=False)
        assert keys(store.search(("test",), query="dogs")) == ["doc1"]
        assert set(keys(store.search(("test",)))) == {"doc1", "doc2"}
        # And an item that was indexed before is found no more
        store.put(("test",), "doc1", {"text": "about dogs"}, index=False)
        assert store.search(("test",), query="dogs") == []
        assert store.memory.recall("dogs") == []

    @pytest.mark.parametrize("refresh", [True, False])
    def test_a_query_with_filters(self, store: BiemStore, refresh: bool) -> None:
        for key, text, color, score in (
            ("doc1", "red apple", "red", 4.5),
            ("doc2", "red car", "red", 3.0),
            ("doc3", "green apple", "green", 4.0),
            ("doc4", "blue car", "blue", 3.5),
        ):
            store.put(("test",), key, {"text": text, "color": color, "score": score}, index=["text"])

        def found(query: str, **filters: Any) -> list[str]:
            return keys(store.search(("test",), query=query, filter=filters, refresh_ttl=refresh))

        assert found("apple", color="red") == ["doc1", "doc2"]
        assert found("car", color="red") == ["doc2", "doc1"]
        assert (found("blue", score={"$gt": 3.2})[0], len(found("blue", score={"$gt": 3.2}))) == ("doc4", 3)
        assert found("apple", score={"$gte": 4.0}, color="green") == ["doc3"]

    def test_pages_of_a_query(self, store: BiemStore) -> None:
        for number in range(5):
            store.put(("test",), f"doc{number}", {"text": f"test document number {number}"})
        pages = [store.search(("test",), query="test", limit=2, offset=offset) for offset in (0, 2, 4)]
        assert [len(page) for page in pages] == [2, 2, 1]
        assert {item.key for page in pages for item in page} == {f"doc{number}" for number in range(5)}
        assert len(store.search(("test",), query="test", limit=10)) == 5
        assert store.search(("test",), query="test", limit=0) == []

    @pytest.mark.parametrize("query", ["", None, "   ", "test " * 100, "test!@#$%^&*()", "thanks"])
    def test_odd_queries(self, store: BiemStore, query: str | None) -> None:
        store.put(("test",), "doc1", {"text": "test document"})
        assert keys(store.search(("test",), query=query)) == ["doc1"]

    def test_only_the_paths_of_the_store_are_searched(self, store: BiemStore) -> None:
        # Given a store that searches three fields, and documents with others as well
        chosen = BiemStore(store.memory, fields=["key0", "key1", "key3"])
        chosen.put(("test",), "doc1", {"key1": "xylophone", "key2": "yacht", "key3": "zeppelin"})
        chosen.put(("test",), "doc2", {"key0": "umbrella", "key1": "violin", "key2": "wagon", "key3": "xylophone"})

        # Then each is found by what is there, and ranks first where only it has the word
        assert set(keys(chosen.search(("test",), query="xylophone"))) == {"doc1", "doc2"}
        assert chosen.search(("test",), query="umbrella")[0].key == "doc2"
        assert chosen.search(("test",), query="zeppelin")[0].key == "doc1"
        best = chosen.search(("test",), query="umbrella")[0].score or 0.0
        assert all((item.score or 0.0) < best for item in chosen.search(("test",), query="wagon"))

    def test_the_paths_of_an_operation_are_searched_instead(self, store: BiemStore) -> None:
        store.put(("test",), "doc3", {"k0": "anchor", "k1": "bridge", "k2": ["castle", "dungeon"]}, index=["k0", "k1"])
        store.put(
            ("test",), "doc4", {"k0": "eagle", "k1": "bridge", "k2": ["castle", "garden"]}, index=["k1", "k2[-1]"]
        )
        assert store.search(("test",), query="anchor")[0].key == "doc3"
        assert store.search(("test",), query="garden")[0].key == "doc4"
        best = store.search(("test",), query="anchor")[0].score or 0.0
        assert all((item.score or 0.0) < best for item in store.search(("test",), query="castle"))

    def test_texts_of_many_languages(self, store: BiemStore) -> None:
        texts = {"1": "这是中文", "2": "これは日本語です", "3": "이건 한국어야", "4": "Это русский", "5": "यह रूसी है"}
        for key, text in texts.items():
            store.put(("user_123", "memories"), key, {"text": text})
        for key, text in texts.items():
            assert store.search(("user_123", "memories"), query=text)[0].key == key


class TestAsync:
    def test_every_method_has_a_twin(self, store: BiemStore) -> None:
        async def program() -> None:
            await asyncio.gather(*(store.aput(("test",), f"k{n}", {"text": f"crate {n}"}) for n in range(4)))
            item = await store.aget(("test",), "k2")
            assert item is not None
            assert item.value == {"text": "crate 2"}
            assert len(await store.asearch(("test",), query="crate")) == 4
            assert await store.alist_namespaces(prefix=("test",)) == [("test",)]
            await store.adelete(("test",), "k2")
            assert await store.aget(("test",), "k2") is None
            assert await store.abatch([GetOp(("test",), "k2"), PutOp(("test",), "k2", {"text": "back"})]) == [None] * 2

        asyncio.run(program())
        assert store.get(("test",), "k2") is not None
