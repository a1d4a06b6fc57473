"""An import and a move while workers encode, and with deaths at every step: statement, Redis command, Milvus write."""

import io
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest

import biem
from biem.adapters.postgres.transfer import moving
from biem.bootstrap import Servers
from biem.domain.scope import Scope
from tests.integration.faults.test_death_at_every_step import fated
from tests.integration.revise.test_stalled_workers import STEPS, Two
from tests.support.systems import System, system
from tests.support.transfers import exported, lines

SAID = ("Order AB-1234 ships to Paris on 5 May", "安的订单五月五日送到巴黎", "Order CD-77 waits in Oslo")


@pytest.fixture(scope="module")
def town(stack: Servers) -> Iterator[System]:
    with system(stack, queue="none") as built:
        yield built


class Journey(Two):
    """Two processes without their own workers, and a scope to go to."""

    def __init__(self, town: System, stack: ExitStack) -> None:
        super().__init__(town, stack)
        self.target = Scope(user=uuid.uuid4().hex)

    def finish(self) -> None:
        """Do all that waits in both scopes, as if all leases and pauses were over."""
        encoder: Any = self.other._system.encoder
        names = [self.town.scope.ns, self.target.ns]
        for _ in range(30):
            self.town.sql("UPDATE outbox SET due_at = now() WHERE ns = ANY (%s)", names)
            if not encoder():
                return
        raise AssertionError("the work finds no end")

    def told(self) -> list[str]:
        """Memories that are to be told of."""
        items = [{"text": text, "speaker": "Ann", "conversation": "orders", "ref": text} for text in SAID]
        ids = self.one.remember_many(items)
        self.work(self.one)
        return ids

    def is_only_in(self, scope: Scope, ids: list[str]) -> None:
        """Each memory is in this scope of the two, in every store, once."""
        for each in (self.town.scope, self.target):
            here = sorted(ids) if each == scope else []
            memory = self.other.scope(user=each.user)
            nodes = memory.list(limit=100).items
            assert sorted(node.id for node in nodes) == here
            assert {node.status for node in nodes} <= {"active"}
            vectors = self.town.embedder.embed([f"Ann: {text}" for text in SAID], "passage")
            with self.town.index() as index:
                assert sorted({key for found in index.nearest(each, vectors, 10) for key in found}) == here
                if here:
                    assert index.count(ids) == len(ids)
            assert {entry.id for entry in self.other._system.recaller._tiers.read(each)} <= set(here)
            assert {entry.id for entry in self.other._system.context_builder._hot.recent(each, 100)} <= set(here)
            assert {hit.node.id for hit in memory.recall("Where is the order?", top_k=10)} <= set(here)
            assert self.town.sql("SELECT * FROM outbox WHERE ns = %s", each.ns) == []


@pytest.fixture
def journey(town: System) -> Iterator[Journey]:
    with ExitStack() as stack:
        yield Journey(town, stack)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_memory_that_is_moved_while_it_is_encoded_is_indexed_as_soon_as_the_worker_is_refused(
    journey: Journey, monkeypatch: pytest.MonkeyPatch, step: str, after: bool
) -> None:
    # Given a worker that is encoding a memory and stalls at a step
    journey.town.sql("DELETE FROM embeddings")
    key = journey.one.remember(SAID[0], speaker="Ann", conversation="orders", importance=5)
    owner = STEPS[step](journey.one._system)
    call, me = getattr(owner, step), threading.get_ident()
    stalled: list[str] = []

    def stall() -> None:
        if threading.get_ident() != me or stalled:
            return
        stalled.append(step)
        # When meanwhile the memory is moved, and another worker does what is due
        journey.other.move(journey.target, ids=[key])
        journey.other._system.encoder()

    def stalling(*arguments: Any, **options: Any) -> Any:
        if not after:
            stall()
        result = call(*arguments, **options)
        if after:
            stall()
        return result

    monkeypatch.setattr(owner, step, stalling)
    journey.one._system.encoder()
    assert stalled
    # Then the memory is indexed in its new scope without waiting for the lease of the refused worker
    journey.other._system.encoder()
    assert journey.other.scope(user=journey.target.user).get(key).status == "active"
    # And in the end it is nowhere else
    journey.finish()
    journey.is_only_in(journey.target, [key])


def until_it_lives(
    journey: Journey,
    prepare: Callable[[], Callable[[biem.Memory], None]],
    check: Callable[[], None],
    between: Callable[[], None] = lambda: None,
    *,
    anywhere: bool = True,
) -> int:
    """Die at one place after the other until none is left; returns how many there were."""
    for end in count(1):
        journey.target = Scope(user=uuid.uuid4().hex)
        ask = prepare()
        # When a process dies before a statement, command or write of the call and of the work that follows
        with fated(end, anywhere=anywhere) as fate:
            ask(journey.one)
            journey.one._system.encoder()
        # Then nothing is lost or doubled, and another one that is asked again leaves everything once
        between()
        ask(journey.other)
        journey.finish()
        check()
        for scope in (journey.town.scope, journey.target):
            journey.other.erase(scope)
        journey.finish()
        if not fate.fulfilled:
            break
    return end - 1


@pytest.mark.long
@pytest.mark.req("X8", partly="move")
@pytest.mark.parametrize(("size", "least"), [(1_000, 20), (1, 8)], ids=["one transaction", "slices"])
def test_a_move_that_dies_at_any_step_of_any_server_is_ended_by_asking_again(
    journey: Journey, monkeypatch: pytest.MonkeyPatch, size: int, least: int
) -> None:
    monkeypatch.setattr(moving, "_SLICE", size)
    ids: list[str] = []
    joined: set[frozenset[str]] = set()

    def links(scope: Scope) -> set[frozenset[str]]:
        memory = journey.other.scope(user=scope.user)
        return {frozenset((link.source, link.target)) for key in ids for link in memory.links(key)}

    def prepare() -> Callable[[biem.Memory], None]:
        joined.clear()
        ids[:] = journey.told()
        joined.update(links(journey.town.scope))
        assert joined

        def ask(memory: biem.Memory) -> None:
            memory.scope(user=journey.town.scope.user).move(journey.target, ids=ids)

        return ask

    def between() -> None:
        there = [journey.other.scope(user=scope.user).list().items for scope in (journey.town.scope, journey.target)]
        assert sorted(node.id for nodes in there for node in nodes) == sorted(ids)

    def check() -> None:
        journey.is_only_in(journey.target, ids)
        assert links(journey.target) == joined

    # Of slices it dies after every change; within a transaction it leaves what was there before
    assert until_it_lives(journey, prepare, check, between, anywhere=size > 1) > least


@pytest.mark.long
@pytest.mark.req("X8", partly="import")
def test_an_import_that_dies_at_any_step_of_any_server_is_ended_by_asking_again(journey: Journey) -> None:
    journey.told()
    file = exported(journey.one)
    journey.one.erase(journey.town.scope)
    journey.finish()

    def prepare() -> Callable[[biem.Memory], None]:
        def ask(memory: biem.Memory) -> None:
            memory.scope(user=journey.target.user).import_(io.BytesIO(file))

        return ask

    def check() -> None:
        there = journey.other.scope(user=journey.target.user)
        nodes = there.list(limit=100).items
        assert sorted(node.text for node in nodes) == sorted(SAID)
        journey.is_only_in(journey.target, [node.id for node in nodes])
        kinds = [line["type"] for line in lines(exported(there))]
        assert kinds == [line["type"] for line in lines(file)]

    assert until_it_lives(journey, prepare, check) > 20
