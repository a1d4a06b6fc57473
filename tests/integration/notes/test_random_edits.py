"""Random edits, moves, deletions and deaths end in the same index as a fresh one."""

import random
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import biem
from benchmarks._vault_edits import VaultEdits
from biem.domain.policies.jobs import SleepPolicy
from biem.ports.notes import ANY_NOTE
from tests.integration.notes.deaths import dying
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


def state(memory: biem.Memory, root: Path) -> dict[str, object]:
    """All that is known of the files, without ids, and the number of chunks of each tag."""
    pages = [memory.notes.get(file.relative_to(root).as_posix()) for file in sorted(root.rglob("*.md"))]
    known: dict[str, object] = {
        page.note.path: (
            page.note.title,
            page.note.tags,
            [(each.place, each.lines, each.headings, each.body, each.tags) for each in page.chunks],
        )
        for page in pages
    }
    return known | {"tags": {tag.shown.casefold(): tag.uses for tag in memory.notes.tags(limit=1_000)}}


def rows(memory: biem.Memory) -> set[str]:
    """The ids of all rows of the scope in the index."""
    system = memory._system.notes
    vector = system.embedder.embed(["anything"], "query")[0]
    return set(system.index.dense([memory.bound_to], vector, 5_000, ANY_NOTE))


@pytest.mark.parametrize("seed", range(3))
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
    assert state(memory, tmp_path) == state(fresh, tmp_path)
    for each in (memory, fresh):
        files = [file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.md")]
        assert rows(each) == {chunk.id for path in files for chunk in each.notes.get(path).chunks}
    memory.erase(user=fresh.bound_to.user)
