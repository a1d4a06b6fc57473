"""Random programs of store operations answer alike on LangGraph's `InMemoryStore` and on `BiemStore`.

Where the two differ on purpose the comparison says so: pages without a query come in another order, and the store in
memory lists namespaces that were only read, or whose items were all deleted.
"""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.store.base import GetOp, Item, ListNamespacesOp, MatchCondition, Op, PutOp, SearchItem, SearchOp
from langgraph.store.memory import InMemoryStore

import biem
from biem.integrations.langgraph import BiemStore
from tests.support.effort import sized
from tests.support.fakes import WordEmbedder
from tests.support.servers import Configure

LABELS = ("a", "ab", "a-b", "中", "*x")
NAMESPACES = st.lists(st.sampled_from(LABELS), min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(("k", "K", "k.1", "", "ключ"))
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from((0.5, -2.5, 1e300)),
    st.sampled_from(("", "red", "a'b\\")),
)


def json_of(scalars: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Small JSON values of these scalars."""
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("pq"), inner, max_size=2),
        max_leaves=4,
    )


JSON = json_of(SCALARS)
SOUGHT = json_of(st.none() | st.sampled_from((2, -3, 0.5, "", "red")))
"""To Python `True == 1`, in JSON they differ: neither is sought."""
FIELDS = ("color", "size", "nested")
VALUES = st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=3)
NUMBERED = st.fixed_dictionaries({"n": st.integers(-3, 3) | st.sampled_from((0.5, 2.5))})
"""Every value of a program has a number: the store in memory cannot compare what is none."""
ORDERED = st.dictionaries(
    st.sampled_from(("$gt", "$gte", "$lt", "$lte", "$eq", "$ne")),
    st.integers(-2, 2) | st.just(0.5),
    min_size=1,
    max_size=2,
)
FILTERS = st.one_of(
    st.none(),
    st.dictionaries(st.sampled_from(FIELDS), SOUGHT, max_size=2),
    st.fixed_dictionaries({"n": ORDERED}),
    st.dictionaries(
        st.sampled_from(FIELDS), st.fixed_dictionaries({"$ne": st.sampled_from(("red", None))}), max_size=2
    ),
)
PUTS = st.builds(
    lambda namespace, key, value, number, index: PutOp(namespace, key, {**value, **number}, index=index),
    NAMESPACES, KEYS, VALUES, NUMBERED, st.sampled_from((None, False, ["color"])),
)  # fmt: skip
PATTERNS = st.lists(st.sampled_from((*LABELS, "*")), min_size=1, max_size=2).map(tuple)
LISTS = st.builds(
    ListNamespacesOp,
    st.none()
    | st.lists(st.builds(MatchCondition, st.sampled_from(("prefix", "suffix")), PATTERNS), max_size=2).map(tuple),
    st.none() | st.integers(1, 3),
    st.integers(0, 5) | st.just(100),
    st.integers(0, 2),
)
PREFIXES = st.lists(st.sampled_from(LABELS), max_size=2).map(tuple)
SEARCHES = st.builds(
    lambda prefix, where, limit, offset: SearchOp(prefix, where, limit, offset),
    PREFIXES, FILTERS, st.integers(0, 3) | st.just(100), st.integers(0, 2),
)  # fmt: skip
OPERATIONS = st.one_of(
    PUTS, PUTS, PUTS, st.builds(PutOp, NAMESPACES, KEYS, st.none()), st.builds(GetOp, NAMESPACES, KEYS), SEARCHES, LISTS
)
PROGRAMS = st.lists(st.lists(OPERATIONS, min_size=1, max_size=4), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def opened(settings: Configure) -> Iterator[biem.Memory]:
    """One connection for all programs, without workers: none of them waits for an index."""
    with biem.connect(settings(), embedder=WordEmbedder()) as memory:
        yield memory


def told(item: Item) -> tuple[Any, ...]:
    """What both stores know of an item, with the types of its numbers."""
    return (item.namespace, item.key, repr(sorted(item.value.items())))


class Model:
    """The store in memory, asked in a way that hides what it does differently."""

    def __init__(self) -> None:
        self.store = InMemoryStore()

    def _live(self) -> list[Item]:
        return list(self.store.search((), limit=1_000))

    def batch(self, ops: list[Op]) -> list[Any]:
        """The answers: of a page of a search all candidates, with how many of them are to be returned."""
        answers: list[Any] = []
        for op in ops:
            if isinstance(op, GetOp):
                answers.append(next((one for one in self._live() if (one.namespace, one.key) == op[:2]), None))
            elif isinstance(op, SearchOp):
                found = self.store.search(op.namespace_prefix, filter=op.filter, limit=1_000)
                answers.append((found, max(0, min(op.limit, len(found) - op.offset))))
            elif isinstance(op, ListNamespacesOp):
                answers.append(self._namespaces(op))
            else:
                answers.append(None)
        self.store.batch([op for op in ops if isinstance(op, PutOp)])
        return answers

    def _namespaces(self, op: ListNamespacesOp) -> Any:
        """Those that have items."""
        fresh = InMemoryStore()
        fresh.batch([PutOp(item.namespace, item.key, {}) for item in self._live()])
        return fresh.batch([op])[0]


# Threads of the connection pool draw jitter from `random` while a program is drawn.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
@pytest.mark.sized
@settings(max_examples=sized(12, 500), deadline=None, suppress_health_check=list(HealthCheck))
@given(program=PROGRAMS)
def test_random_programs_answer_as_the_store_in_memory(opened: biem.Memory, program: list[list[Op]]) -> None:
    # Given both stores, empty
    model, store = Model(), BiemStore(opened.scope(user=uuid.uuid4().hex))

    for ops in program:
        # When the same batch is run on both
        expected, answers = model.batch(list(ops)), store.batch(ops)

        # Then each operation has the same answer
        for op, wanted, got in zip(ops, expected, answers, strict=True):
            if isinstance(op, SearchOp):
                candidates, count = wanted
                assert isinstance(got, list)
                assert len(got) == count
                shown = [told(item) for item in got if isinstance(item, SearchItem)]
                assert len(set(shown)) == len(got)
                assert set(shown) <= {told(item) for item in candidates}
            elif isinstance(op, GetOp):
                assert (None if got is None else told(got)) == (None if wanted is None else told(wanted))  # type: ignore[arg-type]
            else:
                assert got == wanted

    # And in the end both hold the same, which no query without an index finds
    assert {told(item) for item in store.search((), limit=1_000)} == {told(item) for item in model._live()}
    hidden = {(op.namespace, op.key): op.index is False for ops in program for op in ops if isinstance(op, PutOp)}
    for item in store.search((), query="red", limit=1_000):
        assert not hidden[item.namespace, item.key]
