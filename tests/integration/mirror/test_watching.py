"""Folders of the mirror that are watched: real files and real notifications."""

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import biem
from biem.domain.mirror.root import MirrorReport
from biem.domain.policies.jobs import SleepPolicy
from tests.support.fakes import WordEmbedder, eventually
from tests.support.servers import Configure


@contextmanager
def watched(settings: Configure, folder: Path, *, every_s: float) -> Iterator[tuple[biem.Memory, list[MirrorReport]]]:
    """A memory whose folder is watched until the end of the block, and the syncs so far."""
    often = type(settings().notes)(look_s=0.05)
    alone = settings(queue="none", sleep=SleepPolicy(off=("notes", "sessions"), mirror_s=every_s), notes=often)
    stopped, syncs = threading.Event(), list[MirrorReport]()
    with biem.connect(alone, scope=biem.Scope(user=uuid.uuid4().hex), embedder=WordEmbedder()) as memory:
        memory.mirror.add(folder)
        memory.remember("Ann eats no nuts", layer="core", kind="knowledge")
        thread = threading.Thread(target=memory.mirror.watch, args=(stopped, syncs.append))
        thread.start()
        try:
            eventually(lambda: list((folder / "core").glob("*.md")))
            yield memory, syncs
        finally:
            stopped.set()
            thread.join(60)
        assert not thread.is_alive()
        memory.erase(user=memory.bound_to.user)


def texts(memory: biem.Memory, status: str = "live") -> set[str]:
    """The texts of all memories."""
    return {node.text for node in memory.list(limit=50, status=status).items}


def test_what_an_editor_saves_again_and_again_is_one_revision_and_the_file_is_left_alone(
    settings: Configure, tmp_path: Path
) -> None:
    # Given a folder that is synced when something happens in it, and never by time
    with watched(settings, tmp_path, every_s=0.0) as (memory, syncs):
        [file] = (tmp_path / "core").glob("*.md")
        # When an editor saves a file after every word, and another file is new
        for text in ("Ann eats no", "Ann eats no nuts and", "Ann eats no nuts and no fish"):
            file.write_text(file.read_text().partition("\n---\n")[0] + f"\n---\n\n{text}\n")
        (tmp_path / "long_term" / "knowledge").mkdir(parents=True)
        (tmp_path / "long_term" / "knowledge" / "ferry.md").write_text("The ferry leaves at nine.\n")
        saved = file.read_bytes()
        eventually(lambda: texts(memory) == {"Ann eats no nuts and no fish", "The ferry leaves at nine."})
        # Then there is one revision, and no one rewrote what was saved
        [node] = [each for each in memory.list(limit=50).items if each.layer == "core"]
        assert node.revision == 2
        assert file.read_bytes() == saved
        # And a deleted file is archived
        file.unlink()
        eventually(lambda: texts(memory) == {"The ferry leaves at nine."})
        assert sum(report.revised for report in syncs) == 1


def test_changed_memories_are_written_by_time_and_a_removed_folder_is_left_alone(
    settings: Configure, tmp_path: Path
) -> None:
    with watched(settings, tmp_path, every_s=0.1) as (memory, _):
        memory.remember("Bus 14 goes to the harbour", layer="long_term", kind="knowledge")
        eventually(lambda: list((tmp_path / "long_term").glob("*harbour.md")))
        memory.mirror.remove(tmp_path)
        memory.remember("Bus 15 goes to the castle", layer="long_term", kind="knowledge")
        watches = f"biem-mirror-watch-{tmp_path}"
        eventually(lambda: watches not in {thread.name for thread in threading.enumerate()})
        assert not list((tmp_path / "long_term").glob("*castle.md"))
