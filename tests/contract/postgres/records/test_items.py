"""The promises of `ItemRecords` on a real PostgreSQL."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.items import PostgresItems
from biem.adapters.postgres.records import PostgresRecords
from biem.adapters.postgres.revisions import PostgresRevisions
from biem.domain.items.item import Namespace, StoredItem
from biem.domain.scope import Scope
from biem.ports.layers.items import ItemPut, ItemRecords, ItemWrite, NamespaceCondition
from tests.contract.conftest import Admin, in_scope, write
from tests.support.fakes import HeldClock

A: Namespace = ("a",)


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def items(pool: Database, records: PostgresRecords, clock: HeldClock) -> ItemRecords:
    revisions = PostgresRevisions(pool, clock=clock, decay_per_hour=0.1)
    return PostgresItems(pool, write_row=records.write_row, revisions=revisions, clock=clock)


def item(
    key: str, text: str = "", *, namespace: Namespace = A, value: str = "{}", ttl_s: float | None = None
) -> ItemWrite:
    """An item to write; its text is its memory's, and without one it has none."""
    memory = write(text, kind="event", source="item") if text else None
    return ItemWrite(namespace, key, value, memory, ttl_s)


def put(items: ItemRecords, scope: Scope, *writes: ItemWrite) -> list[ItemPut]:
    return items.put(scope, writes)


def there(items: ItemRecords, scope: Scope, *keys: str) -> dict[str, StoredItem]:
    return {one.key: one for one in items.get(scope, [(A, key) for key in keys])}


def paged(items: ItemRecords, scope: Scope, prefix: Namespace = (), limit: int = 100, **more: Any) -> list[str]:
    """Keys of all pages."""
    found: list[str] = []
    before: int | None = None
    while page := items.page(
        scope, prefix, more.get("contains", {}), before=before, limit=limit, found=more.get("found", False)
    ):
        found += [one.key for _, one in page]
        before = page[-1][0]
    return found


def named(
    items: ItemRecords, scope: Scope, *conditions: NamespaceCondition, depth: int | None = None
) -> list[Namespace]:
    return items.namespaces(scope, conditions, depth, 100, 0)


def texts(admin: Admin, scope: Scope) -> list[Any]:
    """Texts of the scope's memories, and whether they are to be erased at once."""
    query = "SELECT text, on_expiry = 'erase' AND expires_at IS NOT NULL FROM memories WHERE ns = %s ORDER BY write_seq"
    return admin.execute(query, (scope.ns,)).fetchall()


def test_a_key_that_is_there_gets_the_value_and_its_memory_a_revision(
    items: ItemRecords, scope: Scope, clock: HeldClock, admin: Admin
) -> None:
    # Given an item / When it is written again, with another text, with the same one, and without one
    [first] = put(items, scope, item("k", "green tea", value='{"b": 1, "a": 2}'))
    clock.advance(minutes=1)
    [second] = put(items, scope, item("k", "black coffee", value='{"b": 2}'))
    [third] = put(items, scope, item("k", "black coffee", value='{"b": 3}'))
    [fourth] = put(items, scope, item("k", value='{"b": 4}'))

    # Then one memory was made, revised once, and hidden when the item had none any more
    assert first.written is not None
    assert list(first.item.value) == ["b", "a"]
    assert [(one.written, one.revised) for one in (second, third, fourth)] == [
        (None, True),
        (None, False),
        (None, False),
    ]
    assert first.item.memory_id == second.item.memory_id == third.item.memory_id
    assert fourth.item.memory_id is None
    assert second.item.created_at == first.item.created_at < second.item.updated_at < third.item.updated_at
    assert texts(admin, scope) == [("black coffee", True)]
    assert in_scope(admin, "memory_revisions", scope) == 1


def test_an_archived_memory_is_left_and_the_item_gets_another(items: ItemRecords, scope: Scope, admin: Admin) -> None:
    [first] = put(items, scope, item("k", "green tea"))
    admin.execute("UPDATE memories SET status = 'archived', archived_at = now() WHERE ns = %s", (scope.ns,))
    [second] = put(items, scope, item("k", "green tea"))
    assert second.written is not None
    assert second.item.memory_id != first.item.memory_id
    assert texts(admin, scope) == [("green tea", True), ("green tea", False)]


def test_all_are_written_or_none(items: ItemRecords, scope: Scope, admin: Admin) -> None:
    # Given a batch of which one item cannot be stored
    bad = item("z", "beta", value="no JSON")

    # When it is written / Then none is, nor any memory
    with pytest.raises(Exception, match="json"):
        put(items, scope, item("k", "alpha"), bad)
    assert there(items, scope, "k", "z") == {}
    assert in_scope(admin, "memories", scope) == 0


def test_what_is_removed_is_hidden_at_once_and_counted(items: ItemRecords, scope: Scope, admin: Admin) -> None:
    put(items, scope, item("k", "alpha"), item("l", "beta"), item("m"))
    assert items.delete(scope, [(A, "k"), (A, "m"), (A, "none"), (("b",), "l")]) == 2
    assert set(there(items, scope, "k", "l", "m")) == {"l"}
    assert texts(admin, scope) == [("alpha", True), ("beta", False)]
    assert items.delete(scope, [(A, "k")]) == 0


def test_expired_items_are_there_no_more(items: ItemRecords, scope: Scope, other: Scope, clock: HeldClock) -> None:
    # Given items that live for a minute, in two scopes
    for each in (scope, other):
        put(items, each, item("k", "alpha", ttl_s=60), item("l", ttl_s=60), item("m", "gamma"))
    clock.advance(seconds=59)
    items.refresh(scope, [(A, "k"), (A, "m")])
    clock.advance(seconds=2)

    # Then that which was refreshed is there, by every way, and a deletion counts no other
    assert set(there(items, scope, "k", "l", "m")) == {"k", "m"}
    assert paged(items, scope) == ["m", "k"]
    clock.advance(seconds=60)
    put(items, scope, item("n", namespace=("b",), ttl_s=1))
    assert named(items, scope) == [A, ("b",)]
    clock.advance(seconds=1)
    assert named(items, scope) == [A]
    assert items.delete(scope, [(A, "k")]) == 0

    # And what is swept of one scope is not of the other
    assert items.sweep(scope) == 2
    assert items.sweep(other) == 2
    assert items.sweep(scope) == 0


def test_a_page_goes_on_where_the_last_one_ended(items: ItemRecords, scope: Scope) -> None:
    # Given items below namespaces of which one name is the beginning of another
    for number, path in enumerate(((("acme",)), ("acme", "x"), ("acme-corp",), ("acm",), ("Acme",))):
        put(
            items,
            scope,
            item(str(number), "words" if number % 2 else "", namespace=path, value=f'{{"n": {number % 2}}}'),
        )
    put(items, scope, item("0", namespace=("acme",), value='{"n": 0, "m": {"k": [1]}}'))

    # Then pages of any size have each once, the last written first, below whole labels
    for limit in (1, 2, 100):
        assert paged(items, scope, limit=limit) == ["0", "4", "3", "2", "1"]
        assert paged(items, scope, ("acme",), limit=limit) == ["0", "1"]
    assert paged(items, scope, found=True) == ["3", "1"]
    assert paged(items, scope, contains={"n": 1}) == ["3", "1"]
    assert paged(items, scope, ("acme",), contains={"m": {"k": [1]}}) == ["0"]


def test_namespaces_are_cut_matched_and_in_the_order_of_their_labels(items: ItemRecords, scope: Scope) -> None:
    for path in (("b",), ("a", "x", "1"), ("a", "x", "2"), ("a",), ("a", "y"), ("a-", "x")):
        put(items, scope, item("k", namespace=path))
    assert named(items, scope) == [("a",), ("a", "x", "1"), ("a", "x", "2"), ("a", "y"), ("a-", "x"), ("b",)]
    assert named(items, scope, depth=2) == [("a",), ("a", "x"), ("a", "y"), ("a-", "x"), ("b",)]
    assert named(items, scope, NamespaceCondition(("a", None), at_end=False), depth=2) == [("a", "x"), ("a", "y")]
    assert named(items, scope, NamespaceCondition((None, "x"), at_end=True)) == [("a-", "x")]
    both = [NamespaceCondition(("a",), at_end=False), NamespaceCondition(("1",), at_end=True)]
    assert named(items, scope, *both) == [("a", "x", "1")]
    assert items.namespaces(scope, [], None, 2, 1) == [("a", "x", "1"), ("a", "x", "2")]


def test_scopes_see_nothing_of_each_other(items: ItemRecords, scope: Scope, other: Scope, service: Admin) -> None:
    # Given an item of one scope / When another one reads, removes, refreshes and sweeps / Then it has no part of it
    put(items, scope, item("k", "alpha", ttl_s=60))
    assert there(items, other, "k") == {}
    assert (paged(items, other), named(items, other)) == ([], [])
    assert items.delete(other, [(A, "k")]) == 0
    items.refresh(other, [(A, "k")])
    assert items.sweep(other) == 0
    assert set(there(items, scope, "k")) == {"k"}

    # And row-level security holds it back from SQL that names no scope
    service.execute("SELECT set_config('biem.ns', %s, false)", (other.ns,))
    assert service.execute("SELECT count(*) FROM items").fetchone() == (0,)
    service.execute("SELECT set_config('biem.ns', %s, false)", (scope.ns,))
    assert service.execute("SELECT count(*) FROM items").fetchone() == (1,)


def test_writers_of_one_key_make_one_memory(items: ItemRecords, scope: Scope, admin: Admin) -> None:
    # Given twenty writers of one key, eight at a time
    writes: Sequence[ItemWrite] = [item("k", f"text {number}", value=f'{{"n": {number}}}') for number in range(20)]

    # When all have written
    with ThreadPoolExecutor(8) as threads:
        done = [one for [one] in threads.map(lambda each: items.put(scope, [each]), writes)]

    # Then one memory is there, which has nineteen former texts and that of the last value
    assert [one.written is not None for one in done].count(True) == 1
    assert in_scope(admin, "memories", scope) == 1
    assert in_scope(admin, "memory_revisions", scope) == 19
    [(text, _)] = texts(admin, scope)
    assert text == f"text {there(items, scope, 'k')['k'].value['n']}"
