"""Items go out into a file and come back as they were written, with the memories by which queries find them."""

import io
import json
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest

import biem
from biem.bootstrap import Servers
from biem.domain.items.item import StoredItem
from biem.errors import ImportConflict
from tests.support.fakes import HeldClock, WordEmbedder
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Testbed
from tests.support.transfers import ODD, House, exported, lines

ODD_VALUE = {"z": 1, "a": [1.5, None, {"b": True, "B": ODD}], "": -0.0, "n": 10**40, "ключ": "中文"}
"""Keys in an order that no sorting makes."""


@pytest.fixture(scope="module")
def opened(testbed: Testbed) -> Iterator[House]:
    """One connection for the tests of this file, whose time stands still until it is instructed to move.

    Jobs run when asked: a background job might destroy a deleted item's memory while its file is imported.
    """
    clock = HeldClock()
    with biem.connect(testbed.settings(sleep=ONLY_SLEEP), embedder=WordEmbedder(), clock=clock) as memory:
        yield House(memory, clock)


@pytest.fixture
def house(opened: House) -> House:
    """A scope with items: revised, odd, without a memory, with a time to live, archived, deleted, expired."""
    memory = opened.memory.scope(user=uuid.uuid4().hex)
    put = memory.items.put
    put(("crates",), "7", {"color": "blue", "where": "in the barn"})
    put(("crates", "old"), "7", ODD_VALUE, origin="web")
    put(("crates",), "hidden", {"text": "seen by no query"}, text="")
    put(("crates",), "soon", {"text": "The ferry leaves at nine"}, ttl=timedelta(minutes=30))
    put(("crates",), "gone", {"text": "The gate is open"})
    put(("crates",), "late", {"text": "The code is seven"}, ttl=timedelta(minutes=1))
    shut = put(("crates",), "shut", {"text": "The shutter is shut"})
    opened.clock.advance(minutes=2)
    put(("crates",), "7", {"where": "on the truck", "color": "blue"})
    memory.items.delete(("crates",), "gone")
    memory.flush()
    memory.archive(shut.memory_id or "")
    memory.sleep()  # destroys what was deleted and what has expired
    return House(memory, opened.clock)


@pytest.fixture
def as_stored(stack: Servers) -> Callable[[biem.Memory], list[Any]]:
    """Rows of items as an administrator sees them, in the order in which they were written."""

    def seen(memory: biem.Memory) -> list[Any]:
        query = (
            "SELECT path, key, value::text, memory_id, created_at, updated_at, ttl_s, expires_at"
            " FROM items WHERE ns = %s ORDER BY seq"
        )
        with psycopg.connect(stack.postgres_dsn) as connection:
            return connection.execute(query, (memory.bound_to.ns,)).fetchall()

    return seen


def taken(memory: biem.Memory, data: bytes, **more: Any) -> Any:
    """The report of an import."""
    return memory.import_(io.BytesIO(data), **more)


def keys(items: tuple[StoredItem, ...]) -> list[str]:
    """Their keys."""
    return [item.key for item in items]


def changed(data: bytes, place: int, **more: Any) -> bytes:
    """A file whose item at this place has other fields."""
    rows = lines(data)
    [row for row in rows if row["type"] == "item"][place] |= more
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_items_that_are_erased_come_back_from_a_file_in_every_byte(
    house: House, as_stored: Callable[[biem.Memory], list[Any]]
) -> None:
    # Given a file of a scope with items
    memory = house.memory
    before, rows = exported(memory), as_stored(memory)
    told = [line for line in lines(before) if line["type"] == "item"]
    assert [line["key"] for line in told] == ["7", "hidden", "soon", "shut", "7"]
    assert list(told[0]["value"]) == list(ODD_VALUE)
    assert [line["memory"] is None for line in told] == [False, True, False, False, False]

    # When all is erased and taken back, twice
    memory.erase(memory.bound_to)
    assert memory.items.search() == ()
    for created in (True, False):
        report = taken(memory, before)
        assert (report.lines["item"], report.created > 0) == (5, created)

    # Then rows and file are the same, at once and when all is indexed, and a query finds what it found
    assert as_stored(memory) == rows
    assert exported(memory) == before
    assert memory.flush()
    assert exported(memory) == before
    assert keys(memory.items.search(query="blue truck", limit=1)) == ["7"]
    assert memory.items.search(query="blue truck", limit=1)[0].score is not None
    item = memory.items.get(("crates",), "7")
    assert item is not None
    assert [one.text.splitlines()[0] for one in memory.revisions(item.memory_id or "")] == [
        "color: blue",
        "where: on the truck",
    ]

    # And a time to live ends when it would have ended, with the memory
    house.clock.advance(minutes=31)
    assert memory.items.get(("crates",), "soon") is None
    memory.sleep()
    assert "ferry" not in exported(memory).decode()


def test_in_another_scope_they_have_their_own_memories(house: House) -> None:
    memory, other = house.memory, house.other()
    data = exported(memory)

    # When another scope takes the file in, twice
    for _ in range(2):
        taken(other, data)

    # Then it has the same items, whose memories are others; to delete one there is nothing to the first
    assert [(i.key, i.value) for i in other.items.search(refresh=False)] == [
        (i.key, i.value) for i in memory.items.search(refresh=False)
    ]
    mine, theirs = ({i.memory_id for i in each.items.search(refresh=False)} - {None} for each in (memory, other))
    assert len(mine) == len(theirs) == 4
    assert not mine & theirs
    other.items.delete(("crates",), "7")
    assert [line for line in lines(exported(memory)) if line["type"] == "item"] == [
        line for line in lines(data) if line["type"] == "item"
    ]


def test_an_item_that_is_there_stays_and_keeps_no_second_memory(house: House) -> None:
    # Given a scope that has an item of the same key with another value, and one with the same value
    memory, other = house.memory, house.other()
    own = other.items.put(("crates",), "7", {"color": "red"})
    other.items.put(("crates",), "soon", {"text": "The ferry leaves at nine"})
    data = exported(memory)

    # When it takes the file in / Then the line is named, in a dry run as well
    [place] = [n for n, line in enumerate(lines(data), 1) if line.get("value", {}).get("where") == "on the truck"]
    for dry_run in (True, False):
        with pytest.raises(ImportConflict, match=f"line {place}: .*'7'.*on_conflict=skip"):
            taken(other, data, dry_run=dry_run)

    # When such items are left as they are / Then they are, and only their own memories are found
    taken(other, data, on_conflict="skip")
    assert other.items.get(("crates",), "7") == own
    texts = [hit.node.text for hit in other.recall("the blue truck, or the ferry at nine", top_k=20)]
    assert [text for text in texts if "ferry" in text or "truck" in text] == ["The ferry leaves at nine"]
    other.flush()
    other.sleep()
    assert len(other.items.search()) == 5
    assert {line["id"] for line in lines(exported(other)) if line["type"] == "memory"} == {
        item.memory_id for item in other.items.search() if item.memory_id
    }


def test_an_item_deleted_since_comes_back_with_its_memory(house: House) -> None:
    # Given an item that was deleted after the export, whose memory is not destroyed yet
    memory = house.memory
    data = exported(memory)
    memory.items.delete(("crates",), "7")
    assert "truck" not in str(memory.recall("blue truck"))

    # When the file is taken in and the jobs have run / Then the item is there, and a query finds it
    taken(memory, data)
    memory.flush()
    memory.sleep()
    assert [item.value["color"] for item in memory.items.search(query="blue truck", limit=1)] == ["blue"]


def test_conditions_choose_items_by_their_memories(house: House) -> None:
    odd = house.memory.items.get(("crates", "old"), "7")
    assert odd is not None
    house.memory.revise(odd.memory_id or "", tags=["odd"])
    told = lines(exported(house.memory, tags=["odd"]))
    assert [line["value"] for line in told if line["type"] == "item"] == [ODD_VALUE]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"namespace": []}, "label"),
        ({"namespace": ["a.b"]}, "label"),
        ({"namespace": "crates"}, "namespace"),
        ({"key": "a\0b"}, "NUL"),
        ({"key": "k" * 1_001}, "1,000 bytes"),
        ({"value": [1]}, "mapping"),
        ({"value": {"a": "\ud800"}}, "surrogate"),
        ({"value": {"a": "\0"}}, "NUL"),
        ({"memory": "01890a5d-ac96-774b-bcce-b302099a8057"}, "no memory"),
        ({"ttl_s": 60}, "ttl_s"),
        ({"ttl_s": 0, "expires_at": "2026-05-01T12:00:00+00:00"}, "ttl_s"),
        ({"seq": 1}, "unknown field"),
    ],
)
def test_wrong_lines_are_refused_with_their_number(house: House, wrong: dict[str, Any], told: str) -> None:
    data = exported(house.memory)
    place = [line["type"] for line in lines(data)].index("item") + 1
    with pytest.raises(biem.BiemError, match=f"line {place}: .*{told}"):
        taken(house.other(), changed(data, 0, **wrong))


@pytest.mark.long
def test_a_file_makes_no_other_memory_expire(house: House) -> None:
    # Given a memory that no item has, and a file whose item claims it and expires
    memory = house.memory
    kept = memory.remember("The barn is red")
    data = changed(
        exported(memory), 1, key="mine", memory=kept, ttl_s=60,
        expires_at=(house.clock.now() + timedelta(minutes=1)).isoformat(),
    )  # fmt: skip
    memory.items.delete(("crates",), "hidden")

    # When it is taken in / Then the item is there without a memory, and the memory does not expire
    taken(memory, data)
    found = memory.items.get(("crates",), "mine")
    assert found is not None
    assert found.memory_id is None
    assert memory.get(kept).expires_at is None


@pytest.mark.long
def test_files_of_the_second_version_are_read(house: House) -> None:
    data = exported(house.memory)
    rows = [line for line in lines(data) if line["type"] != "item"]
    rows[0]["version"] = 2
    del rows[-1]["lines"]["item"]
    other = house.other()
    taken(other, b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    assert other.count(status="all") == house.memory.count(status="all")
