"""Revisions while workers encode, stall and die: the new text stands in every store, and the former one in none."""

import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import count
from typing import Any

import numpy as np
import pytest

import biem
from biem.bootstrap import Servers
from biem.domain.scope import Scope
from biem.errors import RevisionConflict
from tests.integration.faults.test_death_at_every_step import fated
from tests.support.systems import System, system

OLD = "Order AB-1234 ships to Paris on 5 May"
NEW = "Parcel CD-9876 goes by train to Oslo on 7 June"
NEAR_OLD = "Order AB-1234 ships to Paris on 6 May"
SAID: dict[str, Any] = {"speaker": "Ann", "conversation": "orders", "importance": 5}


@pytest.fixture(scope="module")
def town(stack: Servers) -> Iterator[System]:
    with system(stack, queue="none") as built:
        yield built


class Two:
    """Two processes without their own workers, in a scope that no other test has."""

    def __init__(self, town: System, stack: ExitStack) -> None:
        town.scope = Scope(user=uuid.uuid4().hex)
        self.town = town
        self.one, self.other = (stack.enter_context(town.connect()) for _ in range(2))

    def work(self, memory: biem.Memory | None = None) -> None:
        """Do all that waits, as if all leases and pauses were over."""
        encoder: Any = (memory or self.other)._system.encoder
        for _ in range(20):
            self.town.sql("UPDATE outbox SET due_at = now() WHERE ns = %s", self.town.scope.ns)
            if not encoder():
                return
        raise AssertionError("the work finds no end")

    def remember(self, text: str = OLD, **more: Any) -> str:
        """A memory that is indexed."""
        key = self.one.remember(text, **SAID | more)
        self.work(self.one)
        return key

    def stands(self, key: str, text: str, former: list[str]) -> None:
        """The text is in every store, once, and what it was before in none but the revisions."""
        node = self.other.get(key)
        assert (node.text, node.status) == (text, "active")
        assert [one.text for one in self.other.revisions(key)] == [*former, text]
        vectors = self.town.embedder.embed([f"Ann: {text}", *(f"Ann: {one}" for one in former)], "passage")
        with self.town.index() as index:
            assert index.count([key]) == 1
            cosines = [found.get(key, 0.0) for found in index.nearest(self.town.scope, vectors, 10)]
        assert cosines[0] == pytest.approx(1.0, abs=1e-3)
        assert max(cosines[1:]) < 0.9
        tiers: Any = self.other._system.recaller._tiers
        for entry in tiers.read(self.town.scope):
            if entry.id == key:
                assert np.allclose(entry.vector, vectors[0], atol=1e-3)
        notes = {note.text for note in self.other.instant("orders", limit=50) if note.memory_id == key}
        assert notes <= {f"Ann: {text}"}
        links = [link for link in self.other.links(key) if link.type == "semantic"]
        assert [link for link in links if link.weight > 0.6] == []
        assert self.town.sql("SELECT * FROM outbox WHERE ns = %s", self.town.scope.ns) == []
        assert self.town.sql("SELECT count(*) FROM conflicts WHERE ns = %s", self.town.scope.ns) == [(0,)]


@pytest.fixture
def two(town: System) -> Iterator[Two]:
    with ExitStack() as stack:
        yield Two(town, stack)


STEPS: dict[str, Callable[[Any], Any]] = {
    "embed": lambda system: system.encoder._embedder,
    "analyze": lambda system: system.encoder._analyzer,
    "check": lambda system: system.encoder._integrator._checker,
    "link_new": lambda system: system.associations,
    "renew": lambda system: system.records,
    "insert": lambda system: system.encoder._index,
    "complete": lambda system: system.records,
    "enter": lambda system: system.encoder._integrator._tiers,
    "create_and_store_memories": lambda system: system.instants,
}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_worker_that_stalls_at_any_step_does_not_bring_the_former_text_back(
    two: Two, monkeypatch: pytest.MonkeyPatch, step: str, after: bool
) -> None:
    # Given a memory next to one that resembles it, and a worker that is encoding it and stalls at a step
    two.town.sql("DELETE FROM embeddings")
    two.remember(NEAR_OLD)
    key = two.one.remember(OLD, **SAID)
    owner = STEPS[step](two.one._system)
    call, me = getattr(owner, step), threading.get_ident()
    stalled: list[str] = []

    def stall() -> None:
        if threading.get_ident() != me or stalled:
            return
        stalled.append(step)
        # When meanwhile the text is revised, and another worker encodes it
        two.other.revise(key, text=NEW)
        two.other._system.encoder()

    def stalling(*arguments: Any, **options: Any) -> Any:
        if not after:
            stall()
        result = call(*arguments, **options)
        if after:
            stall()
        return result

    monkeypatch.setattr(owner, step, stalling)
    two.one._system.encoder()
    assert stalled
    two.work()
    # Then the new text stands
    two.stands(key, NEW, [OLD])


@pytest.mark.long
@pytest.mark.req("X8", partly="revise and revert")
@pytest.mark.parametrize("verb", ["revise", "revert"])
def test_a_revision_that_dies_at_any_step_is_made_good_by_asking_again(two: Two, verb: str) -> None:
    for end in count(1):
        # Given a memory that is indexed, or was revised
        key = two.remember()
        expected, former = NEW, [OLD]
        if verb == "revert":
            two.one.revise(key, text=NEW)
            two.work(two.one)
            expected, former = OLD, [OLD, NEW]

        def ask(memory: biem.Memory, key: str = key) -> None:
            if verb == "revise":
                memory.revise(key, text=NEW)
            else:
                memory.revert(key, 1)

        # When a process dies before any statement, command or write of a revision and of the work that follows
        with fated(end, anywhere=True) as fate:
            ask(two.one)
            two.one._system.encoder()
        # Then another one that is asked again leaves one revision and one row
        ask(two.other)
        two.work()
        if verb == "revise":
            two.stands(key, expected, former)
        else:
            assert [one.text for one in two.other.revisions(key)] == [*former, expected]
            assert two.other.get(key).status == "active"
        two.other.erase(key)
        two.work()
        if not fate.fulfilled:
            break
    assert end > 21


@pytest.mark.long
def test_of_two_who_revise_one_revision_exactly_one_wins(two: Two) -> None:
    # Given a memory, and two processes that have read its first revision
    key = two.remember()
    gate = threading.Barrier(2)

    def revise(memory: biem.Memory, text: str) -> str:
        gate.wait()
        with suppress(RevisionConflict):
            memory.revise(key, text=text, expect=1)
            return text
        return ""

    # When both revise it at once
    with ThreadPoolExecutor(2) as threads:
        won = list(threads.map(revise, (two.one, two.other), ("It ships to Rome", "It ships to Bonn")))
    # Then one of them is informed that it came too late
    [text] = filter(None, won)
    assert [one.text for one in two.one.revisions(key)] == [OLD, text]


def test_of_two_who_revise_without_looking_both_revisions_are_kept(two: Two) -> None:
    key = two.remember()
    gate = threading.Barrier(2)

    def revise(memory: biem.Memory, name: str) -> None:
        gate.wait()
        for number in (1, 2, 3, 4, 5):
            values: dict[str, Any] = {name: number if name == "importance" else f"reason {number}"}
            memory.revise(key, **values)

    # When one changes the importance five times while the other changes the reason
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(revise, (two.one, two.other), ("importance", "reason")))
    # Then no change is lost (the importance was 5 at first)
    history = two.one.revisions(key)
    assert [one.revision for one in history] == list(range(1, 12))
    assert (history[-1].importance, history[-1].reason) == (5, "reason 5")


@pytest.mark.parametrize("wrong", ["archived", "erased", "foreign"])
def test_what_is_not_there_cannot_be_revised(two: Two, wrong: str) -> None:
    key = two.remember()
    memory = two.one
    if wrong == "archived":
        memory.archive(key)
    elif wrong == "erased":
        memory.erase(key)
    else:
        memory = memory.scope(user="somebody else")
    error = biem.InvalidInput if wrong == "archived" else biem.NotFound
    with pytest.raises(error, match=key):
        memory.revise(key, text=NEW)
    with pytest.raises(error, match=key):
        memory.revert(key, 1)
