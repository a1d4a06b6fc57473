"""kill -9 at the worst moments: every acknowledged text is found, once, and no process stays behind."""

import json
import os
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

import biem
from biem.adapters.embedded import status
from biem.config import Settings
from biem.domain.policies.recall import RecallPolicy
from biem.domain.policies.writing import EncodePolicy
from tests.support import stacks
from tests.support.fakes import WordEmbedder, eventually
from tests.support.workloads import in_milvus, line, process, processes

base, cluster, own_home = stacks.base, stacks.cluster, stacks.own_home

USER = "survivor"
HASTY = {"BIEM_ENCODE__LEASE_S": "2"}
PLAIN = RecallPolicy(min_candidates=10, candidates_per_result=1, use_canvas=False, activation_weight=0.0)
"""Asked two thousand times for one word each, recall need not look around."""
EACH = 1_000
"""More than three hundred: a hundred follow on each death."""


def opened(home: Path) -> biem.Memory:
    settings = Settings(home=home, encode=EncodePolicy(lease_s=2.0), recall=PLAIN)
    return biem.connect(settings, scope=biem.Scope(user=USER), embedder=WordEmbedder())


def acknowledged(*notes: Path) -> dict[str, str]:
    """Ids and texts that writers noted durably."""
    lines = [text for path in notes for text in path.read_text().splitlines()]
    pairs = [json.loads(text) for text in lines]
    assert len({key for key, _ in pairs}) == len(pairs)
    return dict(pairs)


def kill_owner(home: Path) -> None:
    """Kill the process that runs the servers, and wait until another one has brought them back."""
    owner = status(home).owner_pid
    assert owner is not None
    os.kill(owner, signal.SIGKILL)
    eventually(lambda: status(home).ready and status(home).owner_pid != owner)


def every_text_is_found_once(home: Path, written: dict[str, str]) -> None:
    with opened(home) as memory:
        assert memory.flush(300)
        assert memory.stats()["dead_letters"] == 0

        def found(text: str) -> list[str]:
            return [hit.node.id for hit in memory.recall(text.split()[0], top_k=3) if hit.node.text == text]

        with ThreadPoolExecutor(4) as threads:
            answers = dict(zip(written, threads.map(found, written.values()), strict=True))
        assert {key: ids for key, ids in answers.items() if ids != [key]} == {}
        urls = status(home).urls
        with psycopg.connect(urls.postgres_dsn) as connection:
            rows = connection.execute("SELECT id::text, text FROM memories").fetchall()
        assert Counter(text for _, text in rows) == Counter(dict(rows).values())
        assert max(Counter(text for _, text in rows).values()) == 1
        in_postgres = {str(key) for key, _ in rows}
        assert written.keys() <= in_postgres
        assert sorted(in_milvus(urls.milvus_uri)) == sorted(in_postgres)


@pytest.mark.long
@pytest.mark.req("D2", partly="acknowledged is durable; the rebuild is tested with reindex")
def test_all_that_two_processes_wrote_is_found_once_after_the_owner_was_killed_three_times(
    own_home: Path, tmp_path: Path
) -> None:
    notes = [tmp_path / "a", tmp_path / "b"]
    # Given two processes that write
    with (
        process("write", own_home, USER, "apple", EACH, notes[0], env=HASTY) as a,
        process("write", own_home, USER, "birch", EACH, notes[1], env=HASTY) as b,
    ):
        for writer in (a, b):
            assert line(writer) == "0"
        # When the owner of the servers is killed three times meanwhile
        for _ in range(3):
            kill_owner(own_home)
            for writer in (a, b):
                for _ in range(100):
                    assert line(writer)
        outputs = [writer.communicate(timeout=300) for writer in (a, b)]
        assert [writer.returncode for writer in (a, b)] == [0, 0], outputs
    # Then every acknowledged text is found, once
    written = acknowledged(*notes)
    assert len(written) == 2 * EACH
    every_text_is_found_once(own_home, written)
    # And when everyone has left, no process stays behind
    eventually(lambda: not processes(own_home))


@pytest.mark.long
def test_what_a_killed_writer_had_acknowledged_is_found_once(own_home: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    # Given a writer that is killed in the middle of its work, with no one else there
    with process("write", own_home, USER, "cedar", 100_000, notes, env=HASTY) as writer:
        for _ in range(150):
            assert line(writer)
        writer.kill()
        writer.wait(300)
    # Then no server is orphaned
    eventually(lambda: not processes(own_home))
    # And the next one finds all that was acknowledged
    written = acknowledged(notes)
    assert len(written) >= 150
    every_text_is_found_once(own_home, written)


@pytest.mark.long
def test_killed_servers_come_back_and_nothing_is_lost(own_home: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    with process("write", own_home, USER, "fir", 300, notes, env=HASTY) as writer:
        for server in ("postgres", "valkey", "milvus"):
            for _ in range(60):
                assert line(writer), server
            pid = pid_of(own_home, server)
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            eventually(lambda name=server, dead=pid: pid_of(own_home, name) not in (None, dead))  # type: ignore[misc]
        writer.communicate(timeout=300)
        assert writer.returncode == 0
    written = acknowledged(notes)
    assert len(written) == 300
    every_text_is_found_once(own_home, written)


def pid_of(home: Path, server: str) -> int | None:
    """The process of a server that answers."""
    return next((known.pid for known in status(home).servers if known.name == server and known.ready), None)
