"""What an erasure asks of each store, and what its receipt says."""

import itertools
from typing import Any
from unittest.mock import Mock

import pytest

from biem.domain.node import Receipt, StoreCount, new_id
from biem.domain.policies.writing import EncodePolicy
from biem.domain.scope import Scope, ScopeSummary
from biem.engine.life.erase import Eraser
from biem.errors import InvalidInput, NotFound, StoreUnavailable
from biem.ports import Erasure
from biem.telemetry import Telemetry
from tests.support.fakes import START, HeldClock

SCOPE = Scope(user="ann")
ID, OTHER = new_id(), new_id()


class World:
    """An eraser whose stores note, in order, what they were asked; each has two of the target, then none."""

    def __init__(self, ids: tuple[str, ...] = (ID,), **broken: Exception) -> None:
        self.calls, stores = (
            Mock(),
            ("records", "index", "hot", "feed", "canvas", "running_memory", "inertia_store", "forgotten"),
        )
        for name in stores[1:]:
            getattr(self.calls, name).count.side_effect = broken.get(name) or [2, 0]
        self.calls.records.erase.return_value = Erasure(ids, (), (), False, {"memories": len(ids)})
        self.calls.records.remains.return_value = {"memories": 0}
        ports: dict[str, Any] = {name: getattr(self.calls, name) for name in stores}
        self.calls.erase_notes.return_value = []
        self.calls.erase_files.return_value = []
        ports |= {"erase_notes": self.calls.erase_notes, "erase_files": self.calls.erase_files}
        ports["scopes"] = Mock(reading=lambda scope: [scope])
        ports["note_folders"] = lambda scope: ["/shelf"]
        clock, policy = HeldClock(), EncodePolicy(lease_s=7.0)
        self.eraser = Eraser(**ports, backups=lambda: [], clock=clock, policy=policy, telemetry=Telemetry())

    def asked(self, *of: str) -> list[tuple[Any, ...]]:
        """The calls of these stores that change something."""
        every = [(name, *arguments) for name, arguments, _ in self.calls.mock_calls]
        return [call for call in every if call[0].split(".")[0] in of and not call[0].endswith(".count")]


def test_one_memory_is_taken_out_of_every_store_by_its_id_and_nothing_else_of_its_scope() -> None:
    # Given a memory / When it is erased
    world = World()
    receipt = world.eraser.erase(SCOPE, ID.upper())

    # Then each store that knows ids loses it, and what holds texts without ids loses all of the scope
    assert world.asked("records")[0] == ("records.erase", SCOPE, ID, 12.0)
    assert world.asked("feed", "index", "hot", "canvas", "running_memory", "inertia_store") == [
        ("feed.settle",),
        ("index.purge", (ID,)),
        ("hot.forget", SCOPE, (ID,)),
        ("canvas.leave", SCOPE.ns, (ID,)),
        ("running_memory.forget", [SCOPE.ns]),
        ("inertia_store.forget", [SCOPE.ns]),
    ]
    world.calls.hot.count.assert_called_with(SCOPE, (ID,))
    world.calls.canvas.count.assert_called_with(SCOPE.ns, (ID,))
    world.calls.index.count.assert_called_with((ID,))
    world.calls.forgotten.assert_not_called()
    world.calls.erase_notes.assert_not_called()
    world.calls.erase_files.assert_called_once_with(SCOPE, (ID,))

    # And the receipt counts what there was and is, and is kept
    counts = [StoreCount("postgres.memories", 1, 0)]
    counts += [
        StoreCount(name, 2, 0) for name in ("milvus", "redis", "redis.canvas", "redis.running_memory", "redis.inertia")
    ]
    assert (receipt.target, receipt.memories, receipt.erased_at, receipt.stores) == (ID, 1, START, tuple(counts))
    assert receipt.complete
    ((_, scope, kept),) = [call for call in world.asked("records") if call[0] == "records.save_receipt"]
    assert (scope, kept["id"], kept["erased_at"]) == (SCOPE, receipt.id, START.isoformat())


def test_a_whole_scope_is_taken_out_as_one_and_what_the_process_keeps_of_it_goes_too() -> None:
    world = World((ID, OTHER))
    world.calls.erase_notes.return_value = [StoreCount("postgres.notes", 3, 0)]
    world.calls.erase_files.return_value = [StoreCount("files", 2, 0)]
    receipt = world.eraser.erase(SCOPE, None)
    assert {StoreCount("postgres.notes", 3, 0), StoreCount("files", 2, 0)} <= set(receipt.stores)
    # And folders of notes, whose files stay, are named to the caller and not kept in the stored receipt
    assert receipt.kept_files == ("/shelf",)
    assert "/shelf" not in str(world.asked("records"))
    world.calls.erase_files.assert_called_once_with(SCOPE, None)
    world.calls.erase_notes.assert_called_once_with(SCOPE)
    assert world.asked("records")[0] == ("records.erase", SCOPE, None, 12.0)
    assert world.asked("index", "hot", "canvas", "forgotten") == [
        ("index.purge", (ID, OTHER)),
        ("hot.forget_scope", SCOPE),
        ("canvas.forget_scope", SCOPE.ns),
        ("forgotten", SCOPE),
    ]
    world.calls.hot.count.assert_called_with(SCOPE, None)
    world.calls.canvas.count.assert_called_with(SCOPE.ns, None)
    assert (receipt.target, receipt.memories) == (SCOPE.ns, 2)


@pytest.mark.parametrize("store", ["index", "hot", "canvas", "running_memory", "inertia_store"])
def test_a_store_out_of_reach_is_named_and_the_others_are_cleared(store: str) -> None:
    world = World((ID,), **{store: StoreUnavailable("down")})
    receipt = world.eraser.erase(SCOPE, None)
    assert [(one.before, one.after) for one in receipt.stores].count((None, None)) == 1
    assert len(receipt.stores) == 6
    assert not receipt.complete
    cleared = {
        call[0].split(".")[0] for call in world.asked("index", "hot", "canvas", "running_memory", "inertia_store")
    }
    assert cleared == {"index", "hot", "canvas", "running_memory", "inertia_store"} - {store}


def test_what_is_not_there_is_not_found_and_no_store_is_asked() -> None:
    world = World(())
    with pytest.raises(NotFound, match=ID):
        world.eraser.erase(SCOPE, ID)
    with pytest.raises(InvalidInput):
        world.eraser.erase(SCOPE, "no id")
    assert world.asked("feed", "index", "hot", "canvas", "running_memory", "inertia_store", "forgotten") == []
    assert world.eraser.erase(SCOPE, None).memories == 0  # an empty scope is erased at once


class Town:
    """A user's projects, of which each is on the list until it is erased; `late` is written to during the erasure."""

    def __init__(self, *projects: Scope, late: Scope | None = None) -> None:
        self.left, self.late, self.asked = list(projects), late, 0

    def listed(self, tenant: str, user: str) -> list[ScopeSummary]:
        self.asked += 1
        return [ScopeSummary(scope, 1, 0, START) for scope in self.left]

    def reading(self, scope: Scope) -> list[Scope]:
        return [scope]

    def gone(self, scope: Scope, *_: object, **__: object) -> Erasure:
        there = scope in self.left
        self.left = [one for one in self.left if one != scope]
        if self.late is not None:
            self.left, self.late = [*self.left, self.late], None
        ids = (new_id(),) if there else ()
        return Erasure(ids, (), (), False, {"memories": len(ids)})


def person(town: Town, **broken: Exception) -> tuple[World, Receipt]:
    """An erasure of all that a person said; each store has one row of each scope before, and none after."""
    world = World()
    world.calls.records.erase.side_effect = town.gone
    for name in ("index", "hot", "canvas", "running_memory", "inertia_store"):
        getattr(world.calls, name).count.side_effect = broken.get(name) or itertools.cycle([1, 0])
    world.eraser._scopes = town  # type: ignore[assignment]
    return world, world.eraser.erase_user("t", "ann")


def test_a_person_is_erased_with_all_projects_under_one_receipt() -> None:
    # Given a user with two projects, of which one is written to meanwhile
    own, one, other = Scope("t", "ann"), Scope("t", "ann", "one"), Scope("t", "ann", "other")
    town = Town(own, one, late=other)

    # When the person is erased
    world, receipt = person(town)

    # Then the list was asked until it was empty, and the receipt sums up what each scope had in each store
    assert town.left == []
    assert dict(receipt.scopes) == {str(one): 1, str(own): 1, str(other): 1}
    assert receipt.memories == 3
    assert receipt.complete
    counts = {count.store: (count.before, count.after) for count in receipt.stores}
    assert counts == {
        "postgres.scopes": (3, 0), "postgres.memories": (3, 0), "milvus": (4, 0), "redis": (4, 0),
        "redis.canvas": (4, 0), "redis.running_memory": (4, 0), "redis.inertia": (4, 0),
    }  # fmt: skip

    # And it is kept as the person's own, under its own id, next to those of the four erasures
    kept = [call[1:] for call in world.asked("records") if call[0] == "records.save_receipt"]
    assert [scope for scope, _ in kept] == [one, own, other, own, own]
    assert len({shown["id"] for _, shown in kept}) == 5
    assert kept[-1][1]["id"] == receipt.id


def test_a_person_who_said_nothing_is_erased_once_all_the_same() -> None:
    town = Town()
    world, receipt = person(town)
    assert [call[1] for call in world.asked("records") if call[0] == "records.erase"] == [Scope("t", "ann")]
    assert (receipt.memories, dict(receipt.scopes), receipt.complete) == (0, {"t/ann": 0}, True)


def test_a_store_that_one_of_several_erasures_did_not_reach_makes_the_whole_incomplete() -> None:
    _, receipt = person(Town(Scope("t", "ann")), index=StoreUnavailable("down"))
    assert [(one.before, one.after) for one in receipt.stores if one.store == "milvus"] == [(None, None)]
    assert not receipt.complete
