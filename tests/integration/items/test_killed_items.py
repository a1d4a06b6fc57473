"""Items and their memories when the process dies: before any statement, or by SIGKILL while it writes."""

import json
import os
import signal
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

import biem
from biem.adapters.embedded import status
from tests.integration.faults.test_death_at_every_statement import Cast, cut_everywhere, differing, players, work
from tests.support import stacks
from tests.support.fakes import WordEmbedder, eventually
from tests.support.savepoint_stage import on_stage
from tests.support.workloads import line, process, processes

__all__ = ["base", "cluster", "own_home", "players"]

base, cluster, own_home = stacks.base, stacks.cluster, stacks.own_home
USER = "survivor"


@pytest.mark.long
def test_a_call_that_dies_before_any_statement_is_made_good_by_asking_again(players: Cast) -> None:
    living, heir, stage = players.enter()
    # Given items with and without memories, one of which was archived, and one that has expired
    living.items.put(("a",), "old", {"text": "Ann drinks green tea"})
    shut = living.items.put(("a",), "shut", {"text": "The gate is shut"})
    living.items.put(("a",), "dumb", {"text": "hidden"}, text="")
    living.items.put(("a",), "late", {"text": "The code is seven"}, ttl=timedelta(minutes=1))
    assert living.flush()
    living.archive(shut.memory_id or "")
    players.clock.advance(minutes=2)

    def swept(memory: biem.Memory) -> None:
        memory.items.sweep()
        memory._system.job_runner.jobs["lifecycle"].run(memory.bound_to)

    stories: dict[str, Callable[[biem.Memory], object]] = {
        "put": lambda memory: memory.items.put(("a", "b"), "new", {"text": "Bo paints barns"}, ttl=timedelta(days=1)),
        "put again": lambda memory: memory.items.put(("a",), "old", {"text": "Ann drinks black coffee"}),
        "put what was archived": lambda memory: memory.items.put(("a",), "shut", {"text": "The gate is open"}),
        "take the memory away": lambda memory: memory.items.put(("a",), "old", {"text": "x"}, text=""),
        "give it one": lambda memory: memory.items.put(("a",), "dumb", {"text": "shown"}),
        "put what has expired": lambda memory: memory.items.put(("a",), "late", {"text": "The code is eight"}),
        "delete": lambda memory: memory.items.delete_many([(("a",), "old"), (("a",), "dumb")]),
        "sweep": swept,
        "erase": lambda memory: memory.erase(memory.bound_to),
    }
    different: dict[str, object] = {}
    with on_stage(living, stage), on_stage(heir, stage):
        for name, ask in stories.items():
            with stage.transaction(put_back=True):
                before = stage.state()

                def story(memory: biem.Memory, ask: Callable[[biem.Memory], object] = ask) -> None:
                    ask(memory)
                    work(memory, stage)

                with stage.transaction(put_back=True):
                    story(living)
                    expected = stage.state()
                assert expected != before, name

                # When the process dies before any statement, and another one is asked for the same
                ends = cut_everywhere(stage, lambda story=story: story(living), lambda story=story: story(heir))  # type: ignore[misc]
                different[name] = differing(ends, expected)
    # Then each time all ends as if no process had died
    assert {name: found for name, found in different.items() if found} == {}


@pytest.mark.long
def test_every_item_that_a_killed_writer_had_put_is_there_with_its_memory_and_no_memory_is_left_over(
    own_home: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    # Given a writer of items that is killed in the middle of its work, twice, and once the servers
    for number, killed in enumerate(("writer", "servers", "writer")):
        with process("put_items", own_home, USER, f"k{number}x", 100_000, notes) as writer:
            for _ in range(40):
                assert line(writer)
            if killed == "servers":
                owner = status(own_home).owner_pid
                assert owner is not None
                os.kill(owner, signal.SIGKILL)
            writer.kill()
            writer.wait(300)
    eventually(lambda: not processes(own_home))

    # When another process looks
    with biem.connect(home=own_home, scope=biem.Scope(user=USER), embedder=WordEmbedder()) as memory:
        found = {item.key: item for item in memory.items.search(limit=100)}

        # Then each key has what was put last, or what was begun after that
        for key, allowed in expected_of(notes).items():
            assert (found[key].value["n"] if key in found else None) in allowed, key

        # And a query finds each by what it says now
        assert memory.flush(300)
        for key, item in found.items():
            assert memory.get(item.memory_id or "").text.splitlines()[0].endswith(f"crate {item.value['n']}"), key
        memory.sleep()
        with psycopg.connect(status(own_home).urls.postgres_dsn) as admin:
            rows = admin.execute("SELECT id::text FROM memories").fetchall()
        assert {key for (key,) in rows} == {item.memory_id for item in found.values()}


def expected_of(notes: Path) -> dict[str, set[int | None]]:
    """By key: the number put last that was acknowledged, and that begun since; None where it was deleted."""
    allowed: dict[str, set[int | None]] = {}
    for text in notes.read_text().splitlines():
        what, key, number = json.loads(text)
        if what == "done":
            allowed[key] = {number}
        else:
            allowed[key] = allowed.get(key, {None}) | {number}
    return allowed
