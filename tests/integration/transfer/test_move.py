"""Memories go from one scope to another: all of them or none, with what belongs to them alone."""

import io
import uuid
from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from psycopg import sql

import biem
from biem.adapters.postgres.transfer import moving
from biem.bootstrap import Servers
from biem.domain.scope import Scope
from biem.errors import ImportConflict, RefConflict
from tests.support.fakes import HeldClock
from tests.support.life_workloads import ONLY_SLEEP, embedder
from tests.support.systems import System, system
from tests.support.transfers import House, exported, lines, lived
from tests.support.workloads import in_milvus, in_redis


@pytest.fixture(scope="module")
def town(stack: Servers) -> Iterator[System]:
    """A system that no other file uses: a diagnosis finds what others left, and less of it when others clear up."""
    with system(stack, sleep=ONLY_SLEEP) as built:
        yield built


@pytest.fixture(scope="module")
def opened(town: System) -> Iterator[House]:
    """Connecting takes as long as a test."""
    clock = HeldClock()
    with biem.connect(town.settings, embedder=embedder(), clock=clock) as memory:
        yield House(memory, clock)


@pytest.fixture
def house(opened: House) -> House:
    """A fresh scope."""
    return House(opened.memory.scope(user=uuid.uuid4().hex), opened.clock)


def said_in(town: System, ns: str, word: str) -> list[str]:
    """Tables that have the word in a row of the scope."""
    with psycopg.connect(town.where.postgres_dsn, autocommit=True) as connection:
        tables = connection.execute("SELECT table_name FROM information_schema.columns WHERE column_name = 'ns'")
        rows = "SELECT 1 FROM {} AS t WHERE ns = %s AND t::text LIKE %s LIMIT 1"
        return sorted(
            name
            for (name,) in tables.fetchall()
            if connection.execute(sql.SQL(rows).format(sql.Identifier(name)), (ns, f"%{word}%")).fetchone()
        )


def faults(memory: biem.Memory) -> set[str]:
    """What a diagnosis of everything finds, but for the clock, which the tests hold."""
    return {f"{one.id}: {one.what}" for one in memory.diagnose(full=True).findings if not one.id.startswith("clock")}


def test_all_of_a_scope_moves_and_is_the_same_elsewhere(house: House) -> None:
    memory, other = house.memory, house.other()
    lived(house)
    before = exported(memory)
    report = memory.move(other.bound_to, every=True)
    # Then the other scope tells the same under the same ids, but for the turns of feedback, which are the scope's
    kept = [line for line in lines(before) if line["type"] not in ("feedback", "header", "end")]
    assert [line for line in lines(exported(other)) if line["type"] not in ("header", "end")] == kept
    assert [line["type"] for line in lines(exported(memory))] == ["header", "feedback", "end"]
    assert report.memories == sum(line["type"] == "memory" for line in kept)
    assert not any(report.cut.values())
    assert other.flush()
    assert [line for line in lines(exported(other)) if line["type"] not in ("header", "end")] == kept
    # And back again
    other.move(memory.bound_to, every=True)
    assert memory.flush()
    assert exported(memory) == before
    assert faults(memory) == set()


@pytest.mark.long
def test_a_move_in_slices_keeps_everything_and_tells_how_far_it_is(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a scope that takes many transactions
    monkeypatch.setattr(moving, "_SLICE", 3)
    memory, other = house.memory, house.other()
    lived(house)
    before = exported(memory)
    progress: list[tuple[int, int]] = []
    # When it is moved
    report = memory.move(other.bound_to, every=True, on_progress=lambda done, total: progress.append((done, total)))
    # Then all is there, also what joins memories of several slices
    kept = [line for line in lines(before) if line["type"] not in ("feedback", "header", "end")]
    told = [line for line in lines(exported(other)) if line["type"] not in ("header", "end")]
    assert sorted(map(str, told)) == sorted(map(str, kept))
    assert [line["type"] for line in lines(exported(memory))] == ["header", "feedback", "end"]
    assert report.memories == sum(line["type"] == "memory" for line in kept)
    assert report.moved["links"] == sum(line["type"] == "link" for line in kept)
    assert {name: count for name, count in report.cut.items() if name != "links"} == dict.fromkeys(
        ("facts", "conflicts", "derivations"), 0
    )  # links to concepts, which do not move, are cut one by one
    assert len(progress) > 5
    assert [done for done, _ in progress] == sorted(done for done, _ in progress)
    assert progress[-1] == (report.memories, report.memories)
    assert other.flush()
    assert faults(memory) == set()


@pytest.mark.long
def test_a_move_that_stopped_goes_on_with_what_was_written_and_erased_meanwhile(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a move of messages in a row that ended after the first slice
    monkeypatch.setattr(moving, "_SLICE", 2)
    memory, other = house.memory, house.other()
    said = [{"text": f"Ann saw {n} boats", "speaker": "Ann", "conversation": "sea"} for n in range(7)]
    ids = memory.remember_many(said, wait=True)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.move(other.bound_to, every=True, on_progress=stop)
    assert {node.id for node in other.list().items} == set(ids[:2])
    [left] = [one for one in memory.diagnose().findings if one.id == "move_unfinished"]
    assert left.count == 5
    # When one that moved and one that did not are erased, others are written, and one moves elsewhere
    other.erase(ids[0])
    memory.erase(ids[4])
    elsewhere = house.other()
    memory.move(elsewhere.bound_to, ids=[ids[6]])
    late = memory.remember("Ann went home", conversation="sea", wait=True)
    report = memory.move(other.bound_to, every=True)
    # Then all the rest is there, with the links between neighbours of several slices
    assert {node.id for node in other.list().items} == {*ids[1:4], ids[5], late}
    assert {node.id for node in elsewhere.list().items} == {ids[6]}
    assert memory.count(status="all") == 0
    assert report.memories == 6
    joined = {frozenset((link.source, link.target)) for key in ids[1:3] for link in other.links(key)}
    assert {frozenset(ids[1:3]), frozenset(ids[2:4])} <= joined
    assert memory.move(other.bound_to, every=True).memories == 0
    assert "move_unfinished" not in {one.id for one in memory.diagnose().findings}


def test_a_moved_memory_is_found_there_at_once_and_no_more_here(house: House, town: System) -> None:
    memory, other = house.memory, house.other()
    word = f"zq{uuid.uuid4().hex[:12]}0"
    ids = memory.remember_many(
        [{"text": f"The {word} boat is {how}", "speaker": "Ann", "conversation": "boats"} for how in ("red", "old")],
        wait=True,
    )
    stays = memory.remember("The horse is old", wait=True)
    memory.running(f"the {word} boat", conversation="boats")
    report = memory.move(other.bound_to, ids=[ids[0]])
    assert (report.memories, report.cut["links"] > 0) == (1, True)
    assert [hit.node.id for hit in other.recall(f"{word} boat")] == [ids[0]]
    assert {hit.node.id for hit in memory.recall(f"{word} boat")} == {ids[1], stays}
    assert other.flush()
    assert [hit.node.id for hit in other.recall("red boat")] == [ids[0]]
    assert memory.links(ids[1]) == []
    with pytest.raises(biem.NotFound):
        memory.get(ids[0])
    memory.move(other.bound_to, ids=[ids[1]])
    assert other.flush()
    # Then nothing of the word is left in the old scope
    ns = memory.bound_to.ns
    assert [key for key in in_redis(town.where.redis_url, word) if ns in key] == []
    assert in_milvus(town.where.milvus_uri, needle=word, ns=ns) == []
    assert len(in_milvus(town.where.milvus_uri, needle=word, ns=other.bound_to.ns)) == 2
    assert said_in(town, ns, word) == []
    assert "evidence" in said_in(town, other.bound_to.ns, word)


def test_what_stands_for_a_memory_goes_along(house: House) -> None:
    memory, other, now = house.memory, house.other(), house.clock.now()
    older, newer = memory.remember_many(
        [{"text": f"Ann works at {firm}", "at": now + timedelta(hours=n)} for n, firm in enumerate(("Acme", "Globex"))],
        wait=True,
    )
    [pair] = memory.conflicts()
    merged = memory.resolve(pair.id, "merge").merged_id
    assert merged is not None
    report = memory.move(other.bound_to, ids=[older])
    assert report.memories == 3
    assert {other.get(each).superseded_by for each in (older, newer)} == {merged}
    assert other.undo(pair.id).status == "pending"
    assert other.get(older).superseded_by is None


def test_a_decision_between_both_sides_is_taken_back(house: House) -> None:
    memory, other, now = house.memory, house.other(), house.clock.now()
    older, newer = memory.remember_many(
        [{"text": f"Ann works at {firm}", "at": now + timedelta(hours=n)} for n, firm in enumerate(("Acme", "Globex"))],
        wait=True,
    )
    [pair] = memory.conflicts()
    memory.resolve(pair.id, "keep_new")
    assert memory.get(older).superseded_by == newer
    report = memory.move(other.bound_to, ids=[newer])
    assert report.cut["conflicts"] == 1
    left = memory.get(older)
    assert (left.superseded_by, left.valid_to) == (None, None)
    assert memory.conflicts(status=None) == other.conflicts(status=None) == []


@pytest.mark.long
def test_a_fact_of_both_sides_is_destroyed_and_its_sources_are_not(house: House) -> None:
    memory, other = house.memory, house.other()
    lived(house)
    [fact, *_] = memory.facts()
    report = memory.move(other.bound_to, ids=[fact.source_node_ids[0]])
    assert report.cut["facts"] == 1
    for each in (memory, other):
        with pytest.raises(biem.NotFound):
            each.get(fact.id)
    assert other.get(fact.source_node_ids[0]).text
    assert all(memory.get(each).text for each in fact.source_node_ids[1:])
    assert memory.flush()
    assert other.flush()
    assert faults(memory) == set()


def test_what_the_target_knows_is_reported_or_refused(house: House) -> None:
    memory, other = house.memory, house.other()
    mine, known = memory.remember("Li Ming has a boat"), other.remember("Li Ming has a boat")
    assert memory.move(other.bound_to, ids=[mine]).equal_facts == ((mine, known),)
    assert other.remember("Li Ming has a boat") == known
    taken = memory.remember("The horse is old", ref="horse")
    other.remember("The horse is young", ref="horse", wait=True)
    assert memory.flush()
    before = exported(memory), exported(other)
    with pytest.raises(RefConflict, match="horse"):
        memory.move(other.bound_to, ids=[taken])
    assert (exported(memory), exported(other)) == before


def test_a_wrong_move_changes_nothing(house: House) -> None:
    memory, other = house.memory, house.other()
    mine = memory.remember("Li Ming has a boat", wait=True)
    other.remember("The horse is old", wait=True)
    foreign = house.other().remember("The cow is new", wait=True)
    before = exported(memory), exported(other)
    wrong: list[tuple[type[Exception], dict[str, object]]] = [
        (biem.NotFound, {"to": other.bound_to, "ids": [mine, foreign]}),
        (biem.InvalidInput, {"to": memory.bound_to, "ids": [mine]}),
        (biem.InvalidInput, {"to": Scope(tenant="else", user="b"), "ids": [mine]}),
        (biem.InvalidInput, {"to": other.bound_to}),
        (biem.InvalidInput, {"to": other.bound_to, "ids": mine}),
        (biem.InvalidInput, {"to": other.bound_to, "ids": ["nothing"]}),
        (biem.InvalidInput, {"to": other.bound_to, "ids": [mine], "every": True}),
        (biem.InvalidInput, {"to": other.bound_to, "as_of": memory.now()}),
    ]
    for error, arguments in wrong:
        with pytest.raises(error):
            memory.move(**arguments)  # type: ignore[arg-type]
    assert (exported(memory), exported(other)) == before


def test_what_is_to_be_erased_does_not_move_by_its_id(house: House) -> None:
    memory, other = house.memory, house.other()
    key = memory.remember("The horse is new", ttl=timedelta(hours=1), on_expiry="erase", wait=True)
    house.clock.advance(hours=2)
    with pytest.raises(biem.NotFound):
        memory.move(other.bound_to, ids=[key])


def test_memories_move_by_conditions(house: House) -> None:
    memory, other = house.memory, house.other()
    memory.remember_many([{"text": f"Bus {n} was late", "metadata": {"n": n}} for n in range(6)], wait=True)
    old = exported(memory)
    assert memory.move(other.bound_to, where={"n": {"$gte": 2}}).memories == 4
    assert [line["text"] for line in lines(exported(memory)) if line["type"] == "memory"] == [
        f"Bus {n} was late" for n in range(2)
    ]
    # And a file of the old place does not take them from the new one
    with pytest.raises(ImportConflict, match="another scope"):
        memory.import_(io.BytesIO(old))
    report = memory.import_(io.BytesIO(old), on_conflict="skip")
    assert (report.created, report.already_there, report.skipped) == (0, 2, 4)
    assert len(memory.list().items) == 2
