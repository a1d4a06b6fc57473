"""A memory with AIMate's fields: its schema, its states, what moves its times, what it refers to, and its files."""

import hashlib
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import biem
from biem.aimate import MemorySystem
from biem.errors import InvalidInput, NotFound
from tests.support.fakes import HeldClock, WordEmbedder, eventually
from tests.support.servers import Configure

CATEGORIES = {
    "preference": ("core", "我习惯用 Tab 缩进", "core"),
    "rule": ("core", "Never suggest recipes with peanuts.", "core"),
    "persona": ("core", "叫我小林就好", "core"),
    "task": ("short_term", "待办：给网关加限流", "short_term/tasks"),
    "note": ("short_term", "Note: the boiler was replaced in 2019.", "short_term/notes"),
    "project": ("long_term", "这个项目用 pnpm 管理依赖", "long_term/projects"),
    "decision": ("long_term", "We decided to use gRPC so that calls are typed.", "long_term/decisions"),
    "knowledge": ("long_term", "WAL stands for write-ahead log.", "long_term/knowledge"),
}
"""By category: layer, a message that states something of it, and its folder."""


@pytest.fixture(scope="module")
def clock() -> HeldClock:
    """Moved by hand."""
    return HeldClock()


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home and a project's folder in it."""
    folder = tmp_path_factory.mktemp("person")
    (folder / "shop" / ".git").mkdir(parents=True)
    return folder


@pytest.fixture(scope="module")
def system(settings: Configure, clock: HeldClock, person: Path) -> Iterator[MemorySystem]:
    """A system in the project, whose messages were read and whose files are written."""
    patch = pytest.MonkeyPatch()
    patch.setenv("HOME", str(person))
    used = settings(profile="aimate", user=uuid.uuid4().hex, queue="none", close_timeout_s=0.0)
    with MemorySystem(settings=used, embedder=WordEmbedder(), clock=clock) as opened:
        opened.set_project(person / "shop")
        yield opened
    patch.undo()


@pytest.fixture(scope="module")
def stored(system: MemorySystem) -> dict[str, str]:
    """The id of a memory of each category that a message states, and of a summary as trimming makes it."""
    found = {}
    for category, (_, said, _) in CATEGORIES.items():
        [unit] = system.process_user_input(said)
        assert unit.category == category
        found[category] = unit.memory_id or ""
    found["context"] = system.memory.remember(
        "they spoke of crates", kind="event", layer="short_term", metadata={"category": "context"}
    )
    synced(system)
    return found


def synced(system: MemorySystem) -> None:
    """Files and memories say the same."""
    for memory in (system.memory, system.memory.scope(project="")):
        for report in memory.mirror.sync():
            assert not report.reason


@pytest.mark.req("M24", "M20")
def test_a_memory_has_aimates_fields_and_a_place_at_its_level(
    system: MemorySystem, stored: dict[str, str], person: Path
) -> None:
    # Given a memory of each category / When they are read / Then each has its type, scope, category, texts and file
    roots = {"global": person / ".aimate" / "memory", "project": person / "shop" / ".aimate" / "memory"}
    scopes = {}
    for category, key in stored.items():
        view = system.get(key)
        layer, _, folder = CATEGORIES.get(category, ("short_term", "", "short_term/contexts"))
        assert (view.id, view.type, view.category) == (str(uuid.UUID(key)), layer, category)
        assert view.title
        assert view.content
        assert view.file_path is not None
        assert view.file_path.parent == roots[view.scope] / folder
        assert view.file_path.name.startswith(f"{view.created_at:%Y%m%d}_{category}_")
        assert view.content in view.file_path.read_text(encoding="utf-8")
        scopes[category] = view.scope
    # And preferences, orders and general knowledge are the user's, all else is the project's
    own = {"preference", "rule", "persona", "knowledge"}
    assert {category for category, scope in scopes.items() if scope == "global"} == own
    # And the numbers of what is stored are those of the files at each level
    counts = {(one.project, one.layer): one.memories for one in system.storage_stats()}
    files = {
        (scope == "project", layer): len(list((root / layer).rglob("*.md")))
        for scope, root in roots.items()
        for layer in ("core", "short_term", "long_term")
    }
    assert {key: count for key, count in files.items() if count} == counts


@pytest.mark.req("M29", "M30")
def test_the_trees_of_both_levels_are_those_of_the_design(
    system: MemorySystem, stored: dict[str, str], person: Path
) -> None:
    # Given memories of all categories at each level, and a conversation that ended and one that goes on
    user = system.memory.scope(project="")
    for category, (layer, _, _) in CATEGORIES.items():
        for memory in (user, system.memory):
            memory.remember(f"{category} at hand", kind="knowledge", layer=layer, metadata={"category": category})
    user.remember("a talk of crates", kind="event", layer="short_term", metadata={"category": "context"})
    system.add_conversation("user", "the first talk", 5)
    system.command("/new")
    system.add_conversation("user", "the second talk", 5)
    old = user.sessions.open()
    user.sessions.append(old.id, "user", "a talk without a project")
    user.sessions.close(old.id)
    gone = user.remember("not needed", kind="knowledge", layer="core")
    # When files are written, and one memory is archived
    synced(system)
    user.archive(gone)
    synced(system)

    # Then the folders are these
    def tree(root: Path) -> set[str]:
        return {str(file.parent.relative_to(root)) for file in root.rglob("*.md")}

    folders = {folder for _, _, folder in CATEGORIES.values()} | {"short_term/contexts"}
    month = f"{system.memory.now():%Y-%m}"
    assert tree(person / ".aimate" / "memory") == folders | {f"sessions/archive/{month}", "archive/core"}
    project = person / "shop" / ".aimate" / "memory"
    assert tree(project) == folders | {"sessions", f"sessions/{month}"}
    assert [file.name for file in (project / "sessions").glob("*.md")] == ["current.md"]
    assert "the second talk" in (project / "sessions" / "current.md").read_text(encoding="utf-8")


@pytest.mark.req("M26", "M27")
def test_a_search_moves_the_count_and_the_time_of_access_and_nothing_else(
    system: MemorySystem, clock: HeldClock
) -> None:
    # Given a fact of the project
    key = system.memory.remember("the blue barrel stands in the barn", kind="knowledge", layer="long_term")
    before = system.get(key)
    assert (before.access_count, before.accessed_at, before.updated_at) == (0, None, before.created_at)
    assert before.content_hash == "sha256:" + hashlib.sha256(before.content.encode()).hexdigest()
    assert before.expires_at is None
    # When it is found, an hour later
    clock.advance(hours=1)
    assert key in {hit.node.id for hit in system.search("blue barrel", min_similarity=0.0)}
    # Then only its access moved
    eventually(lambda: system.get(key).access_count == 1)  # counted behind the answer
    after = system.get(key)
    assert after.accessed_at == clock.now()
    assert (after.created_at, after.updated_at) == (before.created_at, before.updated_at)
    assert after.content_hash == before.content_hash
    # And a change moves its time of change and its hash
    system.memory.revise(key, text="the blue barrel stands in the shed")
    changed = system.get(key)
    assert (changed.created_at, changed.updated_at) == (before.created_at, clock.now())
    assert changed.content_hash != before.content_hash
    # And an importance is from 1 to 5
    for importance in (0.9, 5.1, float("nan")):
        with pytest.raises(InvalidInput):
            system.memory.remember("x", importance=importance)
    # And what is kept for long has no expiry, a task has one
    system.memory.flush(0)
    [task] = system.process_user_input("待办：把木桶搬进谷仓")
    assert system.get(task.memory_id or "").expires_at == clock.now() + timedelta(days=14)


@pytest.mark.req("M25")
def test_a_memory_is_active_archived_or_expired_and_changes_between_them_as_it_may(
    system: MemorySystem, clock: HeldClock
) -> None:
    memory = system.memory
    key = memory.remember("a crate for a week", kind="knowledge", layer="short_term", ttl=timedelta(days=7))

    def status() -> str:
        return system.get(key).status

    # Given an active memory / When it is archived and restored / Then it is so, and doing it again does nothing
    assert status() == "active"
    assert not memory.restore(key)
    assert memory.archive(key)
    assert status() == "archived"
    assert not memory.archive(key)
    assert memory.restore(key)
    assert status() == "active"
    # When its time is over / Then it is expired at once, and after the maintenance, until it is restored
    clock.advance(days=7)
    assert status() == "expired"
    system.run_maintenance()
    assert (status(), memory.get(key).status) == ("expired", "archived")
    assert memory.restore(key)
    assert status() == "active"
    # And one that is archived takes no change, and what is erased comes back in no way
    memory.archive(key)
    with pytest.raises(InvalidInput):
        memory.revise(key, text="another crate")
    memory.erase(key)
    for call in (system.get, memory.archive, memory.restore):
        with pytest.raises(NotFound):
            call(key)


@pytest.mark.req("M14", "M32")
def test_a_memory_refers_to_others_in_its_file_too(system: MemorySystem) -> None:
    # Given a decision that refers to a fact, and a file of it
    memory: biem.Memory = system.memory
    fact = memory.remember("the gateway has no state", kind="knowledge", layer="long_term")
    other = memory.remember("the gateway runs twice", kind="knowledge", layer="long_term")
    key = memory.remember(
        "we use tokens", kind="knowledge", layer="long_term", metadata={"category": "decision", "related": [fact]}
    )
    synced(system)
    assert system.get(key).related == (fact,)
    file = system.get(key).file_path
    assert file is not None
    assert f'\nrelated: ["{fact}"]\n' in file.read_text(encoding="utf-8")
    # When a person adds one by hand / Then the memory refers to both, and its file is not touched
    file.write_text(file.read_text(encoding="utf-8").replace(f'["{fact}"]', f"[{fact}, {other}]"), encoding="utf-8")
    by_hand = file.read_bytes()
    synced(system)
    assert system.get(key).related == (fact, other)
    assert file.read_bytes() == by_hand
    # And when a program takes one away, the file follows
    node = memory.get(key)
    memory.revise(key, metadata={**node.metadata, "related": [other]})
    synced(system)
    assert f'\nrelated: ["{other}"]\n' in file.read_text(encoding="utf-8")
    # And links of an editor under this name are the person's own
    file.write_text(
        file.read_text(encoding="utf-8").replace(f'related: ["{other}"]', 'related: "[[Gateway]]"'), encoding="utf-8"
    )
    synced(system)
    assert "[[Gateway]]" in file.read_text(encoding="utf-8")
    assert memory.get(key).metadata["front"] == {"related": "[[Gateway]]"}
    # And it is never archived for its age alone while it is in use, nor given an expiry
    assert system.get(key).expires_at is None
