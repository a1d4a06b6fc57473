"""A process that remembers, recalls, learns and sleeps is killed again and again: nothing is lost, doubled, leaked."""

import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

import biem
from biem.bootstrap import servers
from biem.config import Settings
from biem.domain.node import Node
from biem.domain.policies.writing import EncodePolicy
from tests.support import stacks
from tests.support.effort import sized
from tests.support.fakes import eventually
from tests.support.life_workloads import Notes, converges, embedder, faults
from tests.support.workloads import ROOT, in_milvus

base, new_home = stacks.base, stacks.new_home

USER = "nine lives"
KILLS = sized(3, 10)
SEED = 20260504


@contextmanager
def life(home: Path, notes: Path, seed: int) -> Iterator[subprocess.Popen[bytes]]:
    """One process that lives until it is killed."""
    clean = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR", "PYTHONPATH") if key in os.environ}
    words = [sys.executable, "-m", "tests.support.life_workloads", str(home), USER, str(notes), str(seed)]
    with subprocess.Popen(words, cwd=ROOT, env=clean | {"BIEM_ENCODE__LEASE_S": "2"}) as started:
        try:
            yield started
        finally:
            started.kill()


def noted(notes: Path) -> int:
    """Events noted so far."""
    return notes.read_bytes().count(b"\n") if notes.exists() else 0


def stands_for(memory: biem.Memory, node: Node) -> Node:
    """What a memory became by being replaced."""
    while node.status == "archived" and node.superseded_by is not None:
        node = memory.get(node.superseded_by)
    return node


# G64's other parts: timing of every stage, and cache hits: cli/test_operations, contract/telemetry/test_exporters
@pytest.mark.long
@pytest.mark.req("G64", partly="feedback survives kills; it is written at once, so there is no queue of it")
@pytest.mark.req("X8", "X38", partly="kill -9 of a whole life, at random moments")
def test_what_a_life_killed_again_and_again_acknowledged_is_there_once_and_counted_once(
    new_home: Path, tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    files = [tmp_path / str(number) for number in range(KILLS)]
    with servers(Settings(home=new_home)) as where:
        # Given a life that is killed at random moments of its progress, on servers that stay
        for number, notes in enumerate(files):
            until = chance.randrange(10, 70)
            with life(new_home, notes, number) as process:
                eventually(lambda notes=notes, until=until: noted(notes) >= until, 300)  # type: ignore[misc]
                assert process.poll() is None
        events = [event for notes in files for event in Notes.read(notes)]
        assert Counter(event[0] for event in events)["slept"] >= KILLS
        # When another process comes
        with closing(psycopg.connect(where.postgres_dsn, autocommit=True)) as admin:
            locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
            eventually(lambda: admin.execute(locks).fetchone() == (0,))
        settings = Settings(home=new_home, encode=EncodePolicy(lease_s=2.0))
        with biem.connect(settings, scope=biem.Scope(user=USER), embedder=embedder()) as memory:
            scopes = {USER: memory, f"{USER} too": memory.scope(user=f"{USER} too")}
            # Then nights find an end, and every acknowledged memory is there, or what stands for it
            assert all(converges(scope) for scope in scopes.values())
            kept = {key: (user, text) for kind, *rest in events if kind == "kept" for user, key, text in [rest]}
            for key, (user, text) in kept.items():
                node = scopes[user].get(key)
                assert node.text == text
                assert stands_for(scopes[user], node).status == "active", text
                other = next(scope for name, scope in scopes.items() if name != user)
                with pytest.raises(biem.NotFound):
                    other.get(key)
            # And nothing is doubled, dangling or leaked, in any store
            for scope in scopes.values():
                assert faults(where.postgres_dsn, scope.bound_to.ns) == {}
                with closing(psycopg.connect(where.postgres_dsn, autocommit=True)) as admin:
                    rows = admin.execute(
                        "SELECT id::text, text, status, source FROM memories WHERE ns = %s", (scope.bound_to.ns,)
                    ).fetchall()
                own = Counter(text for _, text, _, source in rows if "Li Ming" not in text and not source)
                assert [text for text, count in own.items() if count > 1] == []
                active = sorted(key for key, _, status, _ in rows if status == "active")
                # Archived memories leave the index after the night: `flush` does not wait for them
                eventually(
                    lambda ns=scope.bound_to.ns, active=active: sorted(in_milvus(where.milvus_uri, ns=ns)) == active  # type: ignore[misc]
                )
                said = [hit.node for hit in scope.recall("secret of the other one", top_k=20)]
                assert {node.scope for node in said} == {scope.bound_to}
                assert any("secret" in node.text for node in said) == (scope is not memory)
            # And the feedback of each turn was counted once
            counted = Counter(key for kind, *rest in events if kind == "praised" for key in rest[1])
            tried = Counter(key for kind, *rest in events if kind == "try" for key in rest[1])
            messages = {key for key, (_, text) in kept.items() if "text of its own" in text}
            assert counted
            for key in messages & tried.keys():
                assert counted[key] <= memory.get(key).useful_count <= tried[key]
