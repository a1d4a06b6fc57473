"""Syncs that die at every call of a store or a folder, are killed, or run twice at once."""

import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

import biem
from tests.integration.mirror.conftest import files_of, text_of
from tests.integration.notes.deaths import Death, Fate
from tests.support.effort import places

PARTS = {
    "incoming": ("_records", "_writer", "_reviser", "_lifecycle"),
    "outgoing": ("_records", "_folder"),
    "sync": ("_records", "_folder"),
    "sessions": ("records", "_sessions", "_folder"),
}


@contextmanager
def mortal(memory: biem.Memory, end: int) -> Iterator[None]:
    """Every store that a sync uses dies at the `end`-th call of them all."""
    syncer, fate = memory.mirror._system.syncer, Fate(end)
    objects = {"incoming": syncer._incoming, "outgoing": syncer._outgoing, "sync": syncer, "sessions": syncer._sessions}
    usual = [(objects[part], name, getattr(objects[part], name)) for part, names in PARTS.items() for name in names]
    for part, name, value in usual:
        setattr(part, name, fate.over(value))
    try:
        yield
    finally:
        for part, name, value in usual:
            setattr(part, name, value)


def prepared(memory: biem.Memory, root: Path) -> dict[str, str]:
    """A mirrored scope in which something of every kind changed on either side; returns ids by name."""
    names = ("edited", "revised", "both", "deleted", "moved", "archived", "quiet")
    ids = memory.remember_many(
        [
            {"text": f"The {name} one.", "layer": "core", "metadata": {"category": "rule", "title": name}}
            for name in names
        ]
    )
    memory.mirror.add(root)
    memory.mirror.sync()
    found = dict(zip(names, ids, strict=True))
    for name, text in (("edited", "The edited one, by a person."), ("both", "The both one, by a person.")):
        file = next(root.rglob(f"*_{name}.md"))
        file.write_text(file.read_text().replace(f"The {name} one.", text))
    next(root.rglob("*_deleted.md")).unlink()
    file = next(root.rglob("*_moved.md"))
    (root / "long_term/decisions").mkdir(parents=True)
    file.rename(root / "long_term/decisions" / file.name)
    (root / "core" / "new.md").write_text("A new one, by a person.\n")
    memory.revise(found["revised"], text="The revised one, by a program.")
    memory.revise(found["both"], importance=5.0)
    memory.archive(found["archived"])
    memory.remember("A new one, by a program.", layer="long_term", ref="program", kind="knowledge")
    return found


def assert_settled(memory: biem.Memory, root: Path, ids: dict[str, str]) -> None:
    """Both sides have all changes, once."""
    nodes = {name: memory.get(key) for name, key in ids.items()}
    assert nodes["edited"].text == "The edited one, by a person."
    assert nodes["edited"].revision == 2
    assert nodes["revised"].text == "The revised one, by a program."
    assert (nodes["both"].text, nodes["both"].importance) == ("The both one, by a person.", 5.0)
    assert nodes["both"].revision == 3
    assert nodes["deleted"].archive_reason == "file deleted"
    assert (nodes["moved"].layer, nodes["moved"].metadata["category"]) == ("long_term", "decision")
    assert nodes["archived"].status == "archived"
    assert memory.count(status="live") == 7
    texts = sorted(text_of(data) for path, data in files_of(root).items() if not path.startswith("archive/"))
    live = [node.text for node in memory.list(limit=100).items]
    assert texts == sorted(live)
    assert [text_of(data) for path, data in files_of(root).items() if path.startswith("archive/")] == [
        "The archived one."
    ]
    assert not list(root.rglob(".tmp-*"))
    [report] = memory.mirror.sync()
    assert report.altered == 0
    [status] = memory.mirror.status()
    assert (status.troubled, status.waiting) == ((), 0)


@pytest.mark.sized
@pytest.mark.req("M43")
def test_a_sync_dies_at_every_step_and_ends_when_it_is_repeated(system: biem.Memory, tmp_path: Path) -> None:
    deaths = 0
    for end in places(6):
        memory, root = system.scope(user=uuid.uuid4().hex), tmp_path / str(end)
        ids = prepared(memory, root)
        # Given changes on both sides / When the sync dies at this step and is repeated
        died = False
        with mortal(memory, end):
            try:
                memory.mirror.sync()
            except Death:
                died = True
        memory.mirror.sync()
        # Then both sides have each change once, and nothing is lost or doubled
        assert_settled(memory, root, ids)
        memory.erase(user=memory.bound_to.user)
        shutil.rmtree(root)
        deaths += died
        if not died:
            break
    assert deaths > 4


def test_two_syncs_at_once_do_each_thing_once(memory: biem.Memory, tmp_path: Path) -> None:
    ids = prepared(memory, tmp_path / "m")
    with ThreadPoolExecutor(2) as threads:
        reports = [report for [report] in threads.map(lambda _: memory.mirror.sync(), range(2))]
    assert [report.busy for report in reports].count(True) <= 1
    memory.mirror.sync()
    assert_settled(memory, tmp_path / "m", ids)


KILLED = """
import sys, biem
from biem.config import Settings
from tests.support.fakes import WordEmbedder
user, end = sys.argv[1], int(sys.argv[2])
settings = Settings().model_copy(update={"queue": "none"})
with biem.connect(settings, scope=biem.Scope(user=user), embedder=WordEmbedder()) as memory:
    import os, signal
    from tests.integration.mirror.test_interrupted import mortal
    from tests.integration.notes.deaths import Death
    with mortal(memory, end):
        try:
            memory.mirror.sync()
        except Death:
            os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.long
@pytest.mark.sized
def test_a_process_that_is_killed_leaves_a_state_that_the_next_one_completes(
    system: biem.Memory, tmp_path: Path, environment: dict[str, str]
) -> None:
    for number, end in enumerate((9, 17)):
        memory, root = system.scope(user=uuid.uuid4().hex), tmp_path / str(number)
        ids = prepared(memory, root)
        command = [sys.executable, "-c", KILLED, memory.bound_to.user, str(end)]
        done = subprocess.run(command, env=environment, check=False, capture_output=True, timeout=120)
        assert done.returncode == -9, done.stderr.decode()
        memory.mirror.sync()
        assert_settled(memory, root, ids)
        memory.erase(user=memory.bound_to.user)


@pytest.mark.parametrize("left", [b"", b"---\nid: half"], ids=["empty", "half"])
def test_a_temporary_file_of_a_dead_process_is_never_read(memory: biem.Memory, tmp_path: Path, left: bytes) -> None:
    memory.mirror.add(tmp_path / "m")
    (tmp_path / "m" / "core").mkdir()
    (tmp_path / "m" / "core" / ".tmp-0123").write_bytes(left)
    [report] = memory.mirror.sync()
    assert (report.files, report.taken, report.troubled) == (0, 0, 0)
