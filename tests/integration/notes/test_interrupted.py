"""Scans and indexing that die at every step, run twice at once, or meet a server that is down."""

import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import biem
from biem.domain.policies.jobs import SleepPolicy
from biem.errors import EmbedderUnavailable, StoreUnavailable
from biem.ports.notes.index import ANY_NOTE
from tests.integration.notes.deaths import dying
from tests.support.fakes import WordEmbedder, eventually
from tests.support.servers import Configure

BEFORE = "# Lamp\n\n## Fuel\n\nIt burns paraffin.\n\n## Care\n\nTrim the wick.\n"
AFTER = "# Lamp\n\n## Fuel\n\nIt burns petrol.\n\n## Care\n\nTrim the wick.\n"


@pytest.fixture
def memory(settings: Configure, embedder: WordEmbedder) -> Iterator[biem.Memory]:
    """A memory whose notes are scanned and indexed in the thread of the test alone."""
    alone = settings(sleep=SleepPolicy(off=("notes",)), queue="none")
    with biem.connect(alone, scope=biem.Scope(user=uuid.uuid4().hex), embedder=embedder) as opened:
        yield opened
        opened.erase(user=opened.bound_to.user)


def bodies(memory: biem.Memory) -> dict[str, list[str]]:
    """The texts of all chunks by path."""
    return {path: [chunk.body for chunk in memory.notes.get(path).chunks] for path in ("a.md", "b.md")}


def assert_indexed(memory: biem.Memory) -> None:
    """Each chunk has one row in the index, and there is no other of this scope."""
    system = memory._system.notes
    ids = {chunk.id for path in ("a.md", "b.md") for chunk in memory.notes.get(path).chunks}
    vector = memory._system.notes.embedder.embed(["lamp"], "query")[0]
    assert set(system.index.dense([memory.bound_to], vector, 100, ANY_NOTE)) == ids
    assert system.records.backlog([memory.bound_to]) == 0


@pytest.mark.long
@pytest.mark.req("X8", partly="notes")
def test_a_sync_dies_at_every_step_and_ends_when_it_is_repeated(
    memory: biem.Memory, tmp_path: Path, pass_time: Callable[[str], None]
) -> None:
    changing, deaths = tmp_path / "a.md", 0
    (tmp_path / "b.md").write_text("# Table\n\nMade of oak.\n")
    memory.notes.add(tmp_path, name="lib")
    for end in range(1, 60):
        changing.write_text(BEFORE)
        memory.notes.sync()
        # Given a library in which one paragraph changes / When the sync dies and is repeated
        changing.write_text(AFTER)
        if not dying(memory, end, memory.notes.sync):
            break
        deaths += 1
        pass_time(memory.bound_to.ns)
        memory.notes.sync()
        memory._system.job_runner.run_everywhere("sweep")
        # Then all chunks are there once, as if nothing had happened
        assert bodies(memory) == {"a.md": ["It burns petrol.", "Trim the wick."], "b.md": ["Made of oak."]}
        assert_indexed(memory)
    assert deaths > 8


def test_two_syncs_at_once_read_each_file_once(memory: biem.Memory, tmp_path: Path, embedder: WordEmbedder) -> None:
    for number in range(40):
        (tmp_path / f"note-{number}.md").write_text(f"# Subject {number}\n\nBoth read number {number}.\n")
    memory.notes.add(tmp_path, name="lib")
    with ThreadPoolExecutor(2) as threads:
        reports = list(threads.map(lambda _: memory.notes.sync(), range(2)))
    assert sorted(report.libraries[0].new for report in reports) == [0, 40]
    assert all(report.pending == 0 for report in reports)
    texts = [text for call in embedder.calls for text in call if "Both read number" in text]
    assert len(texts) == len(set(texts)) == 40


def test_without_the_index_notes_are_found_by_their_words(
    memory: biem.Memory, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.notes.add(vault)
    memory.notes.sync()

    def down(*arguments: Any, **named: Any) -> Any:
        raise StoreUnavailable("down")

    for name in ("words", "dense", "near_tags"):
        monkeypatch.setattr(memory._system.notes.index, name, down)
    hits = memory.notes.search("hotel near the river")
    assert hits[0].note.path == "plans/lisbon.md"
    assert hits.degraded == ("milvus",)
    assert "milvus" in memory.context("Which hotel is near the river, with breakfast until ten?").degraded


@pytest.mark.long
def test_while_the_embedder_is_down_new_notes_are_found_by_their_words(
    memory: biem.Memory, vault: Path, embedder: WordEmbedder
) -> None:
    memory.notes.add(vault)
    embedder.failure = EmbedderUnavailable("down")
    assert memory.notes.sync().pending == 2
    hits = memory.notes.search("hotel near the river")
    assert hits[0].note.path == "plans/lisbon.md"
    assert "embedder" in hits.degraded
    embedder.failure = None
    eventually(lambda: memory.notes.sync().pending == 0)
    assert not memory.notes.search("hotel near the river").degraded


@pytest.mark.req("G49", "G54", "G70")
def test_files_in_the_folder_of_the_settings_are_found_at_start(settings: Configure, tmp_path: Path) -> None:
    root, user = tmp_path / "raw", uuid.uuid4().hex
    for path in ("编程/Python/asyncio.md", "产品/需求分析/访谈.md", "个人/项目笔记/biem.md"):
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(f"# {Path(path).stem}\n\nNotes about {path.split('/')[1]}.\n", encoding="utf-8")
    policy = settings().notes
    wanted = settings(
        user=user,
        queue="thread",
        sleep=SleepPolicy(tick_s=0.05),
        notes=type(policy)(root=str(root)),
    )
    with biem.connect(wanted, embedder=WordEmbedder()) as memory:
        # Given a program with workers / When it has started / Then the files are indexed without being asked for
        eventually(lambda: memory.notes.search("Python asyncio"))
        eventually(lambda: memory.notes.stats()[0].pending_chunks == 0)
        assert {"编程", "Python", "产品", "需求分析", "个人", "项目笔记"} <= {tag.shown for tag in memory.notes.tags()}
    (root / "later.md").write_text("# Later\n\nA file about gardening.\n")
    with biem.connect(wanted, embedder=WordEmbedder()) as memory:
        eventually(lambda: any(hit.note.path == "later.md" for hit in memory.notes.search("gardening")))
        assert threading.active_count() > 1
        memory.erase(user=user)
