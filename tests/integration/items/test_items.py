"""Items on real servers: documents by key that are memories, too."""

import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest

import biem
from biem.bootstrap import Servers
from biem.domain.items.item import ItemDraft
from tests.support.fakes import HeldClock, WordEmbedder, eventually
from tests.support.servers import Configure

CLOCK = HeldClock()


@pytest.fixture(scope="module")
def connected(settings: Configure) -> Iterator[biem.Memory]:
    """One connection for the tests of this file, whose time stands still until it is instructed to move."""
    with biem.connect(settings(), embedder=WordEmbedder(), clock=CLOCK) as memory:
        yield memory


@pytest.fixture
def own(connected: biem.Memory) -> biem.Memory:
    """A scope of the test's own."""
    return connected.scope(user=uuid.uuid4().hex)


@pytest.fixture
def rows(stack: Servers) -> Callable[..., int]:
    """Counts rows of a table as an administrator."""

    def count(table: str, memory: biem.Memory) -> int:
        with psycopg.connect(stack.postgres_dsn) as connection:
            query = f"SELECT count(*) FROM {table} WHERE ns = %s"
            [(found,)] = connection.execute(query.encode(), (memory.bound_to.ns,)).fetchall()
            return int(found)

    return count


def texts(hits: Any) -> list[str]:
    """What hits say."""
    return [hit.node.text for hit in hits]


def test_an_item_is_a_memory_with_history(own: biem.Memory) -> None:
    # Given an item
    first = own.items.put(("facts", "ann"), "drink", {"text": "Ann drinks green tea"})

    # Then recall finds it as it stands, and knows where it belongs
    [hit] = own.recall("green tea")
    assert (hit.node.id, hit.node.text, hit.node.origin) == (first.memory_id, "Ann drinks green tea", "assistant")
    assert hit.node.metadata == {"item": {"namespace": ["facts", "ann"], "key": "drink"}}

    # When it gets another value
    CLOCK.advance(minutes=1)
    second = own.items.put(("facts", "ann"), "drink", {"text": "Ann drinks black coffee"})

    # Then the same memory says that, and its history what it said before
    assert (second.memory_id, second.created_at) == (first.memory_id, first.created_at)
    assert second.updated_at > first.updated_at
    assert texts(own.recall("coffee")) == ["Ann drinks black coffee"]
    history = own.revisions(first.memory_id or "")
    assert [(one.text, one.by) for one in history] == [
        ("Ann drinks green tea", ""),
        ("Ann drinks black coffee", "item"),
    ]
    # And a value with the same text makes no revision
    own.items.put(("facts", "ann"), "drink", {"text": "Ann drinks black coffee"}, text="Ann drinks black coffee")
    assert len(own.revisions(first.memory_id or "")) == 2


def test_items_of_the_same_text_are_two(own: biem.Memory) -> None:
    # Given two items that say the same
    one = own.items.put(("a",), "1", {"text": "The barn is red"})
    two = own.items.put(("b",), "1", {"text": "The barn is red"})

    # When one is deleted
    assert one.memory_id != two.memory_id
    assert own.items.delete(("a",), "1")
    assert not own.items.delete(("a",), "1")

    # Then the other is found still
    assert [item.namespace for item in own.items.search(query="red barn")] == [("b",)]
    assert texts(own.recall("red barn")) == ["The barn is red"]


def test_reading_an_item_is_a_use_of_its_memory(own: biem.Memory) -> None:
    # Given an item that no one used for a week
    item = own.items.put(("a",), "1", {"text": "The ferry leaves at nine"})
    CLOCK.advance(days=7)
    before = own.get(item.memory_id or "")

    # When it is read by its key and by a search
    own.items.get(("a",), "1")
    own.items.search(("a",))

    # Then its memory was used twice, and has more energy
    eventually(lambda: own.get(item.memory_id or "").access_count == before.access_count + 2)
    assert own.get(item.memory_id or "").energy > before.energy


def test_an_item_is_found_however_long_ago_it_was_put(own: biem.Memory) -> None:
    # Given an item of little importance, and two years
    own.items.put(("a",), "1", {"text": "The spare key hangs behind the clock"})
    own.remember("ok then", kind="event", importance=1)
    CLOCK.advance(days=730)

    # When the jobs have run
    own.sleep()

    # Then it is found still
    assert [item.key for item in own.items.search(("a",), query="spare key")] == ["1"]


def test_a_time_to_live_begins_again_with_each_use(own: biem.Memory) -> None:
    # Given an item that lives for ten minutes, and one that no query finds
    ttl = timedelta(minutes=10)
    own.items.put(("a",), "1", {"text": "The code is seven"}, ttl=ttl)
    own.items.put(("a",), "2", {"text": "hidden"}, text="", ttl=ttl)
    own.items.put(("a",), "3", {"text": "The code is for ever"})

    # When the first is read after six minutes, and six more pass
    CLOCK.advance(minutes=6)
    assert own.items.get(("a",), "1") is not None
    assert own.items.get(("a",), "2", refresh=False) is not None
    CLOCK.advance(minutes=6)

    # Then it is there, and the other is not
    assert [item.key for item in own.items.search(("a",), query="code", refresh=False)] == ["1", "3"]
    assert own.items.get(("a",), "2") is None
    # And after ten minutes without a use it is in no answer
    CLOCK.advance(minutes=4)
    assert own.items.get(("a",), "1") is None
    assert [item.key for item in own.items.search(("a",))] == ["3"]
    assert own.items.namespaces() == (("a",),)
    assert texts(own.recall("code")) == ["The code is for ever"]


def test_what_has_expired_is_destroyed(own: biem.Memory, rows: Callable[..., int]) -> None:
    # Given items with and without a memory that have expired, and one that was deleted
    own.items.put(("a",), "1", {"text": "seven"}, ttl=timedelta(minutes=1))
    own.items.put(("a",), "2", {"text": "eight"}, text="", ttl=timedelta(minutes=1))
    own.items.put(("a",), "3", {"text": "nine"})
    own.items.delete(("a",), "3")
    CLOCK.advance(minutes=2)

    # When the jobs run
    own.sleep()
    swept = own.items.sweep()

    # Then neither rows nor memories are left, and the key starts again
    assert swept <= 1
    assert (rows("items", own), rows("memories", own), rows("evidence", own)) == (0, 0, 0)
    again = own.items.put(("a",), "1", {"text": "seven"})
    assert again.created_at == CLOCK.now()


def test_an_expired_item_that_is_put_again_is_new(own: biem.Memory) -> None:
    # Given an item that has expired and was not removed yet
    first = own.items.put(("a",), "1", {"text": "The gate is open"}, ttl=timedelta(minutes=1))
    CLOCK.advance(minutes=2)

    # When it is put again, for ever
    second = own.items.put(("a",), "1", {"text": "The gate is shut"})
    own.sleep()

    # Then it stays when the former one is destroyed
    assert second.memory_id != first.memory_id
    assert second.created_at > first.created_at
    assert [item.value for item in own.items.search(query="gate")] == [{"text": "The gate is shut"}]


def test_an_archived_memory_comes_back_with_the_next_put(own: biem.Memory) -> None:
    # Given an item whose memory was forgotten
    first = own.items.put(("a",), "1", {"text": "The gate is open"})
    own.archive(first.memory_id or "")
    assert own.items.search(query="gate")[0].score is None
    assert own.items.get(("a",), "1") is not None

    # When it is put again
    second = own.items.put(("a",), "1", {"text": "The gate is open"})

    # Then it has a memory that recall finds
    assert second.memory_id != first.memory_id
    assert [hit.node.id for hit in own.recall("gate")] == [second.memory_id]


def test_erasing_a_memory_erases_its_item_and_erasing_a_scope_all(own: biem.Memory, rows: Callable[..., int]) -> None:
    # Given three items
    item = own.items.put(("a",), "1", {"text": "The secret is kept by Bo"})
    own.items.put(("a",), "2", {"text": "hidden"}, text="")
    own.items.put(("a",), "3", {"text": "The lake is deep"})

    # When the memory of one is erased
    receipt = own.erase(item.memory_id)

    # Then its item is gone, too, and counted
    counted = {store.store: (store.before, store.after) for store in receipt.stores}
    assert receipt.complete
    assert counted["postgres.items"] == (1, 0)
    assert [found.key for found in own.items.search()] == ["3", "2"]

    # And erasing the scope leaves none
    whole = own.erase(own.bound_to)
    assert {store.store: store.before for store in whole.stores}["postgres.items"] == 2
    assert (rows("items", own), rows("scopes", own)) == (0, 0)


def test_nothing_is_written_when_one_of_many_cannot_be(own: biem.Memory) -> None:
    good = ItemDraft(("a",), "1", {"text": "fine"})
    for bad in (
        ItemDraft((), "1", {}),
        ItemDraft(("a",), "2", {"x": object()}),
        ItemDraft(("a",), "2", {"x": 1}, origin="?"),
    ):
        with pytest.raises(biem.InvalidInput):
            own.items.put_many([good, bad])
    assert own.items.search() == ()


def test_items_of_other_scopes_are_not_there(own: biem.Memory) -> None:
    # Given an item of a user and one of a project
    project = own.scope(project="p")
    own.items.put(("a",), "1", {"text": "The user's lamp"})
    project.items.put(("a",), "1", {"text": "The project's lamp"})

    # Then each scope has its own, also by a query that reads the user's memories
    for memory, text in ((own, "The user's lamp"), (project, "The project's lamp")):
        assert [item.value for item in memory.items.search(query="lamp")] == [{"text": text}]
        found = memory.items.get(("a",), "1")
        assert found is not None
        assert found.value == {"text": text}
    assert own.scope(user="someone else").items.search() == ()
