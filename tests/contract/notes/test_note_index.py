"""What the port `NoteIndex` promises, on a real Milvus."""

import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from biem.adapters.milvus import notes as milvus_notes
from biem.adapters.milvus.collection import is_ours
from biem.adapters.milvus.index import MilvusIndex
from biem.adapters.milvus.inspection import MilvusInspection
from biem.adapters.milvus.notes import MilvusNotes
from biem.bootstrap import Servers
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.errors import StoreUnavailable
from biem.ports import EmbedderInfo, Vector
from biem.ports.notes.index import ANY_NOTE, ChunkEntry, NoteFilter, TagEntry
from tests.contract.conftest import unit

EAST, NORTH = unit(1, 0, 0, 0), unit(0, 1, 0, 0)
DAY = datetime(2026, 3, 14, tzinfo=UTC)
Build = Callable[..., MilvusNotes]


def info(model: str) -> EmbedderInfo:
    return EmbedderInfo(model, 4, ("mul",), 512)


@pytest.fixture(scope="module")
def prefix() -> str:
    """Of the collections of this file."""
    return f"t{uuid.uuid4().hex[:10]}"


@pytest.fixture(scope="module")
def build(stack: Servers, prefix: str) -> Iterator[Build]:
    """Builds indexes on the session's Milvus, and drops their collections at the end."""
    built: list[MilvusNotes] = []

    def make(model: str = "one") -> MilvusNotes:
        built.append(
            MilvusNotes(
                stack.milvus_uri,
                token=stack.milvus_token,
                prefix=prefix,
                info=info(model),
                index_type="auto",
                timeout_s=10.0,
            )
        )
        return built[-1]

    yield make
    built[0].drop_others()
    for one in built:
        if one.exists():
            one.drop()
        one.close()


@pytest.fixture(scope="module")
def index(build: Build) -> MilvusNotes:
    """One index for tests that only add rows."""
    return build()


def entry(scope: Scope, vector: Vector = EAST, lexemes: str = "lamp", **values: object) -> ChunkEntry:
    row: dict[str, object] = {"id": new_id(), "library_id": "l", "note_id": "n", "at": None} | values
    return ChunkEntry(ns=scope.ns, lexemes=lexemes, vector=vector, **row)  # type: ignore[arg-type]


def test_collections_are_made_at_the_first_use_and_are_none_of_memories(
    build: Build, stack: Servers, prefix: str, scope: Scope
) -> None:
    index = build("first")
    assert not index.exists()
    index.purge([])
    assert not index.exists()
    index.open()
    index.open()
    assert index.exists()
    # Neither an index of memories nor its inspection takes them for its own
    assert not is_ours(index.chunks, prefix)
    assert not is_ours(index.tags, prefix)
    inspection = MilvusInspection(stack.milvus_uri, token=stack.milvus_token, prefix=prefix)
    memories = MilvusIndex(
        stack.milvus_uri,
        token=stack.milvus_token,
        prefix=prefix,
        info=info("first"),
        index_type="auto",
        timeout_s=10.0,
    )
    index.insert([entry(scope)], again=False)
    memories.open()
    try:
        assert index.chunks not in inspection.names()
        assert memories.count() == 0
    finally:
        memories.drop()
        memories.close()
        inspection.close()
    assert index.count() == 1


@pytest.mark.req("G30")
def test_content_and_tags_are_searched_apart(index: MilvusNotes, scope: Scope) -> None:
    chunk = entry(scope)
    index.insert([chunk], again=False)
    index.insert_tags([TagEntry(1_000_001, scope.ns, NORTH), TagEntry(1_000_002, scope.ns, EAST)])
    assert index.dense([scope], EAST, 5, ANY_NOTE) == {chunk.id: pytest.approx(1.0, abs=1e-4)}
    assert list(index.near_tags([scope], NORTH, 1)) == [1_000_001]
    other = Scope(user=uuid.uuid4().hex)
    assert index.dense([other], EAST, 5, ANY_NOTE) == {}
    assert index.near_tags([other], NORTH, 5) == {}


@pytest.mark.req("G45", partly="words are searched")
def test_words_are_searched(index: MilvusNotes, scope: Scope) -> None:
    index.insert([entry(scope, lexemes="brass lamp"), entry(scope, lexemes="wooden table")], again=False)
    found = index.words([scope], "brass", 5, ANY_NOTE)
    assert len(found) == (1 if index.lexical else 0)
    assert index.words([scope], "", 5, ANY_NOTE) == {}


def test_conditions_are_met(index: MilvusNotes, scope: Scope) -> None:
    dated, undated = entry(scope, at=DAY, note_id="a", library_id="x"), entry(scope, note_id="b", library_id="y")
    index.insert([dated, undated], again=False)

    def found(**where: object) -> set[str]:
        return set(index.dense([scope], EAST, 5, NoteFilter(**where)))  # type: ignore[arg-type]

    assert found() == {dated.id, undated.id}
    assert found(notes=("a",)) == {dated.id}
    assert found(libraries=("y",)) == {undated.id}
    assert found(since=DAY) == {dated.id}
    assert found(until=DAY) == set()
    assert found(until=datetime(2027, 1, 1, tzinfo=UTC)) == {dated.id}


def test_a_row_is_replaced_and_not_doubled(index: MilvusNotes, scope: Scope) -> None:
    chunk = entry(scope)
    index.insert([chunk], again=False)
    index.insert([entry(scope, NORTH, id=chunk.id)], again=True)
    assert index.dense([scope], NORTH, 5, ANY_NOTE) == {chunk.id: pytest.approx(1.0, abs=1e-4)}
    index.insert_tags([TagEntry(1_000_010, scope.ns, EAST)])
    index.insert_tags([TagEntry(1_000_010, scope.ns, NORTH)])
    assert index.near_tags([scope], NORTH, 5) == {1_000_010: pytest.approx(1.0, abs=1e-4)}


def test_rows_are_removed_from_the_collections_of_every_model(build: Build, index: MilvusNotes, scope: Scope) -> None:
    chunk, other = entry(scope), build("two")
    for each in (index, other):
        each.insert([chunk], again=False)
        each.insert_tags([TagEntry(1_000_020, scope.ns, EAST)])
    assert index.count([chunk.id, new_id()]) == 2
    assert index.count_tags([1_000_020]) == 2
    index.purge([chunk.id], [1_000_020])
    assert (index.count([chunk.id]), index.count_tags([1_000_020])) == (0, 0)
    assert index.present([chunk.id]) == set()


def test_ids_are_listed_by_range(index: MilvusNotes, scope: Scope) -> None:
    first, second = (entry(scope) for _ in range(2))
    index.insert([first, second], again=False)
    low, high = sorted((first.id, second.id))
    assert set(index.between(low, high, 10)) == {high}
    assert {low, high} <= set(index.between("", "", 10_000))
    assert index.present([low, new_id()]) == {low}
    with pytest.raises(ValueError, match="not an id"):
        index.between('" or id > "', "", 10)


class _LockOfOneWho:
    """A lock that runs out of time for its second taker, as one does who waits while a server is slow."""

    def __init__(self, waited: threading.Event) -> None:
        self._inner = threading.Lock()
        self._waited = waited

    def acquire(self, timeout: float) -> bool:
        if self._waited.is_set() or not self._inner.locked():
            return self._inner.acquire(timeout=timeout)
        self._waited.set()
        return False

    def release(self) -> None:
        self._inner.release()


@pytest.mark.parametrize("answered", [True, False])
def test_who_needs_an_index_that_another_thread_opens_waits_once_the_server_has_answered(
    build: Build, scope: Scope, monkeypatch: pytest.MonkeyPatch, *, answered: bool
) -> None:
    # Given a thread that opens an index, slower than a search may be, before or after the server's first answer
    index = build("slow" if answered else "silent")
    begun, waited, refused = threading.Event(), threading.Event(), threading.Event()
    step = "add_indexes" if answered else "server_version"
    usual = getattr(milvus_notes, step)

    def slow(*arguments: Any, **named: Any) -> Any:
        begun.set()
        assert waited.wait(60)
        if not answered:
            assert refused.wait(60)
        return usual(*arguments, **named)

    monkeypatch.setattr(milvus_notes, step, slow)
    monkeypatch.setattr(index, "_lock", _LockOfOneWho(waited))
    with ThreadPoolExecutor(1) as threads:
        opening = threads.submit(index.open)
        assert begun.wait(60)
        # When another one searches / Then it waits for the index, or says that the server does not answer
        try:
            if answered:
                assert index.dense([scope], EAST, 1, ANY_NOTE) == {}
            else:
                with pytest.raises(StoreUnavailable, match="still connecting"):
                    index.dense([scope], EAST, 1, ANY_NOTE)
        finally:
            waited.set()
            refused.set()
        opening.result(60)
