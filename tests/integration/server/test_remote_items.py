"""`memory.items` of a remote memory: LangGraph's store tests on a server, what is refused, and what others see."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

import biem
from biem.domain.items.item import ItemDraft, StoredItem
from biem.errors import AccessDenied, InvalidInput
from biem.integrations.langgraph import BiemStore
from tests.integration.integrations.test_langgraph_store import (  # run here with the store below
    TestAsync,
    TestItems,
    TestOperations,
    TestSearch,
)
from tests.integration.server.conftest import Site
from tests.integration.server.test_remote import opened, raised

__all__ = ["TestAsync", "TestItems", "TestOperations", "TestSearch"]


@pytest.fixture
def store(site: Site) -> BiemStore:
    """A store on a server, in a scope of the test's own."""
    return BiemStore(site.remote(site.key().token, at=1))


def test_items_are_the_same_here_and_there(site: Site) -> None:
    # Given items written through the server
    here, there, _ = opened(site)
    put = there.items.put(("crates",), "7", {"color": "blue", "n": [1, 2.5, None]}, ttl=timedelta(days=30))
    assert isinstance(put, StoredItem)
    there.items.put_many(
        [ItemDraft(("crates", "old"), f"k/{n} ä", {"n": n}, text="" if n else "a red box") for n in range(3)]
    )
    there.items.put(("crates",), "7", {"color": "green"})
    assert there.flush(60)

    # When the same is asked here and there / Then the answers are equal, values and types
    same: tuple[Callable[[biem.Memory], Any], ...] = (
        lambda memory: memory.items.get(("crates",), "7", refresh=False),
        lambda memory: memory.items.get(("crates",), "8"),
        lambda memory: memory.items.get_many([(("crates", "old"), "k/1 ä"), (("x",), "y")]),
        lambda memory: memory.items.search(("crates",), where={"n": {"$gte": 1}}),
        lambda memory: memory.items.search(limit=0),
        lambda memory: [item.key for item in memory.items.search(query="red box", limit=1)],
        lambda memory: memory.items.namespaces(suffix=("*",), max_depth=1),
        lambda memory: memory.items.namespaces_meeting([], None, 1, 1),
        lambda memory: memory.items.sweep(),
        lambda memory: (memory.items.put_many([]), memory.items.get_many([]), memory.items.delete_many([])),
    )
    for ask in same:
        assert ask(here) == ask(there)

    # And so are the errors
    wrong: tuple[Callable[[biem.Memory], Any], ...] = (
        lambda memory: memory.items.put((), "k", {}),
        lambda memory: memory.items.put("crates", "k", {}),
        lambda memory: memory.items.put(("a.b",), "k", {}),
        lambda memory: memory.items.put(("a",), "k", {"at": timedelta(1)}),
        lambda memory: memory.items.put(("a",), "k", {}, ttl=timedelta(0)),
        lambda memory: memory.items.put(("a",), "k", {"a": "b"}, origin="No Where"),
        lambda memory: memory.items.search(where={"n": {"$in": [1]}}),
        lambda memory: memory.items.search(limit=-1),
        lambda memory: memory.items.namespaces(max_depth=0),
    )
    for place, ask in enumerate(wrong):
        assert (place, raised(partial(ask, there))) == (place, raised(partial(ask, here))) == (place, InvalidInput)
    assert (there.items.delete(("crates",), "7"), there.items.delete(("crates",), "7")) == (True, False)
    assert here.items.get(("crates",), "7") is None


def test_items_of_another_scope_are_not_there(site: Site) -> None:
    # Given an item of one user, and keys of another user and of another project
    _, mine, key = opened(site, project="p1")
    mine.items.put(("vault",), "k", {"where": "behind the mirror"})
    for other in (site.key(project="p1"), site.key(key.user, "p2")):
        theirs = site.remote(other.token, at=1).items

        # Then every call answers as if it did not exist
        assert theirs.get(("vault",), "k") is None
        assert (theirs.search(), theirs.search(query="vault mirror"), theirs.namespaces()) == ((), (), ())
        assert theirs.delete(("vault",), "k") is False
        theirs.put(("vault",), "k", {"where": "elsewhere"})
    found = mine.items.get(("vault",), "k")
    assert found is not None
    assert found.value == {"where": "behind the mirror"}


def test_a_key_may_do_with_items_what_it_is_granted(site: Site) -> None:
    calls: dict[str, tuple[Callable[[biem.Memory], Any], ...]] = {
        "read": (
            lambda memory: memory.items.get(("a",), "k"),
            lambda memory: memory.items.search(),
            lambda memory: memory.items.namespaces(),
        ),
        "write": (lambda memory: memory.items.put(("a",), "k", {}), lambda memory: memory.items.sweep()),
        "erase": (lambda memory: memory.items.delete(("a",), "k"),),
    }
    for grant in calls:
        memory = site.remote(site.key(grants=[grant]).token)
        for needed, each in calls.items():
            for call in each:
                if needed == grant:
                    call(memory)
                else:
                    assert raised(partial(call, memory)) is AccessDenied
