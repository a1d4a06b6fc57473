"""Random edits, moves, deletions and deaths end in the same index as a fresh one."""

import random
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import biem
from benchmarks._vault_edits import VaultEdits
from benchmarks.note_chaos import differences, run
from biem.domain.policies.jobs import SleepPolicy
from tests.integration.notes.deaths import dying
from tests.support.effort import sized
from tests.support.fakes import WordEmbedder
from tests.support.servers import Configure

STEPS = 40


@pytest.fixture
def memory(settings: Configure, embedder: WordEmbedder) -> Iterator[biem.Memory]:
    """A memory whose notes are scanned and indexed in the thread of the test alone."""
    alone = settings(sleep=SleepPolicy(off=("notes",)), queue="none")
    with biem.connect(alone, scope=biem.Scope(user=uuid.uuid4().hex), embedder=embedder) as opened:
        yield opened
        opened.erase(user=opened.bound_to.user)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(sized(1, 3)))
def test_random_changes_and_deaths_end_in_the_index_of_a_fresh_scan(
    memory: biem.Memory, tmp_path: Path, pass_time: Callable[[str], None], seed: int
) -> None:
    # Given a folder that changes at random, whose syncs die at random
    edits, chance, deaths = VaultEdits(tmp_path, seed), random.Random(seed), 0
    memory.notes.add(tmp_path, name="lib")
    for _ in range(STEPS):
        for _ in range(chance.randrange(1, 5)):
            edits.step()
        if chance.random() < 0.5:
            deaths += dying(memory, chance.randrange(1, 60), lambda: memory.notes.sync(accept_deletions=True))
            pass_time(memory.bound_to.ns)
    # When it is synced once more
    memory.notes.sync(accept_deletions=True)
    pass_time(memory.bound_to.ns)
    memory._system.job_runner.run_everywhere("sweep")
    # Then all is as if it had been read for the first time
    assert deaths > 3
    fresh = memory.scope(user=uuid.uuid4().hex)
    fresh.notes.add(tmp_path, name="lib")
    fresh.notes.sync()
    assert list(differences(memory, fresh, tmp_path)) == []
    memory.erase(user=fresh.bound_to.user)


@pytest.mark.parametrize("kind", VaultEdits(Path(), 0).odd)
def test_what_programs_do_to_files_ends_in_the_index_of_a_fresh_scan(
    memory: biem.Memory, tmp_path: Path, pass_time: Callable[[str], None], kind: str
) -> None:
    # Given a folder that was synced some time ago
    edits = VaultEdits(tmp_path, 5)
    for _ in range(6):
        edits.step("write")
    memory.notes.add(tmp_path, name="lib")
    memory.notes.sync()
    # When a program does the same thing to several files, each time before a sync
    for _ in range(4):
        edits.step(kind)
        memory.notes.sync(accept_deletions=True)
    pass_time(memory.bound_to.ns)
    memory._system.job_runner.run_everywhere("sweep")
    # Then all is as if it had been read for the first time
    fresh = memory.scope(user=uuid.uuid4().hex)
    fresh.notes.add(tmp_path, name="lib")
    fresh.notes.sync()
    assert list(differences(memory, fresh, tmp_path)) == []
    memory.erase(user=fresh.bound_to.user)


@pytest.mark.long
@pytest.mark.req("X8", partly="notes, a process")
@pytest.mark.parametrize("watch", [False, True])
def test_what_is_killed_again_and_again_ends_in_the_index_of_a_fresh_scan(watch: bool) -> None:
    # Given syncs or watchers that die by SIGKILL while files change / When a last sync ends / Then nothing is different
    row = run(minutes=5, rounds=4, seed=7, watch=watch)
    assert row["rounds"] == 4
    assert row["differences"] == 0
    assert not watch or row["kills"] == 4
