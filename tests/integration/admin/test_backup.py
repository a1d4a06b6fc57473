"""Backup and restore: everything is back after everything was destroyed, and nothing is half done."""

import hashlib
import json
import shutil
import threading
import uuid
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import biem
from biem.adapters.postgres.backup.file import opened
from biem.adapters.postgres.migrations import digest
from biem.adapters.postgres.sql import migrations
from biem.bootstrap import Servers
from biem.bootstrap.admin import backup, diagnose, restore_backup
from biem.bootstrap.upgrade import upgrade
from biem.config import Settings
from biem.errors import ConfigError, InvalidInput
from tests.support.fakes import HeldClock, WordEmbedder, eventually
from tests.support.stacks import base, cluster, new_home, own_home  # noqa: F401 - fixtures
from tests.support.systems import System, system

QUESTIONS = ("Where does Ann live?", "什么过敏", "tea")


def live(memory: biem.Memory) -> None:
    """A life with everything in it: two languages, links, a conflict, archived, feedback, a fact, a night."""
    turns = [
        "Ann lives in Paris",
        "Ann moved to Lisbon, she no longer lives in Paris",
        "李明对花生过敏",
        "Bob likes tea",
    ]
    ids = memory.remember_many(
        [{"text": text, "speaker": "Ann", "conversation": "c", "ref": f"r{n}"} for n, text in enumerate(turns)]
    )
    facts = memory.remember_many(
        [{"text": f"Bob drinks green tea number {n}", "kind": "knowledge", "tags": ["茶"]} for n in range(6)]
    )
    gone = memory.remember("to be forgotten")
    memory.flush()
    memory.archive(gone, "test")
    for turn in range(4):
        memory.recall("tea")
        memory.feedback(facts, [ids[0]], turn=f"t{turn}")
    memory.sleep()
    memory.flush()


def everything(memory: biem.Memory) -> dict[str, Any]:
    """What a program can ask for."""
    hits = {question: memory.recall(question, top_k=20) for question in QUESTIONS}
    ids = sorted({hit.node.id for found in hits.values() for hit in found})
    return {
        "answers": {question: [hit.node.id for hit in found] for question, found in hits.items()},
        "nodes": [memory.get(memory_id).text for memory_id in ids],
        "links": {memory_id: sorted(link.target for link in memory.links(memory_id)) for memory_id in ids},
        "conflicts": memory.conflicts(status=None),
        "facts": memory.facts(),
        "sessions": [(one, memory.sessions.messages(one.id)) for one in memory.sessions.list()],
        "related": [found.topic for found in memory.related("tea")],
        "counts": {name: count for name, count in memory.stats().items() if name in ("memories", "active", "archived")},
    }


@pytest.mark.long
@pytest.mark.req("M68", partly="metadata and vectors are rebuilt from a backup after both were wiped")
def test_everything_is_back_after_the_home_was_destroyed(own_home: Path, base: Path) -> None:  # noqa: F811
    # Given a life in its own embedded servers, and a backup
    settings = Settings(home=own_home)
    scope, embedder, clock = biem.Scope(user="ann"), WordEmbedder(), HeldClock()
    with biem.connect(settings, scope=scope, embedder=embedder, clock=clock) as memory:
        live(memory)
        chat = memory.sessions.open("tea", metadata={"client": "cli"})
        memory.sessions.append(chat.id, "system", "Be brief.")
        memory.sessions.append(chat.id, "assistant", "", data={"tool_calls": [{"id": "c1"}]})
        before = everything(memory)
        assert [len(said) for _, said in before["sessions"]] == [2]
        assert before["links"]
        assert before["conflicts"]
        eventually(lambda: memory.diagnose().findings is not None)
    done = backup(settings, base / "all.biem")
    # When every folder is destroyed, and the backup is brought back into a new home
    eventually(lambda: not biem.bootstrap.local_status(settings).running)
    shutil.rmtree(own_home)
    back = restore_backup(settings, base / "all.biem", embedder=embedder, clock=clock)
    # Then everything is there again, and nothing is wrong
    assert back["memories"] == done["memories"]
    with biem.connect(settings, scope=scope, embedder=embedder, clock=clock) as memory:
        assert everything(memory) == before
        wrong = [finding.id for finding in memory.diagnose(full=True).findings]
        assert [fault for fault in wrong if not fault.startswith("clock")] == []
        assert embedder.calls  # but for queries nothing was embedded again:
        assert not [
            text for call in embedder.calls[-len(QUESTIONS) * 2 :] for text in call if "green tea number" in text
        ]


@pytest.mark.long
def test_a_backup_taken_during_writes_is_of_one_instant(stack: Servers, tmp_path: Path) -> None:
    stop = threading.Event()
    with system(stack) as town, system(stack) as fresh:
        with town.connect() as memory:

            def write() -> None:
                while not stop.is_set():
                    memory.remember(f"said {uuid.uuid4().hex}")

            memory.remember("said first")
            writer = threading.Thread(target=write)
            writer.start()
            try:
                done = backup(town.settings, tmp_path / "b")
            finally:
                stop.set()
                writer.join()
            memory.flush()
        back = restore_backup(fresh.settings, tmp_path / "b", embedder=fresh.embedder)
        assert back["memories"] == done["memories"] >= 1
        without = (
            "SELECT count(*) FROM memories m WHERE NOT EXISTS (SELECT FROM evidence e WHERE e.sha256 = m.evidence_sha)"
        )
        assert fresh.sql(without) == [(0,)]
        jobless = (
            "SELECT count(*) FROM memories m WHERE status = 'pending' AND NOT EXISTS"
            " (SELECT FROM outbox o WHERE o.memory_id = m.id)"
        )
        assert fresh.sql(jobless) == [(0,)]
        fresh.sql("UPDATE outbox SET due_at = now()")
        fresh.scope = town.scope
        with fresh.connect() as memory:
            assert memory.flush()
            assert memory.stats()["active"] == done["memories"]
        assert diagnose(fresh.settings, full=True, embedder=fresh.embedder).findings == ()


@pytest.mark.req("X42")
def test_a_backup_that_is_broken_off_leaves_the_earlier_one(stack: Servers, tmp_path: Path) -> None:
    path = tmp_path / "b"
    with system(stack) as town:
        town.filled(["Ann likes tea"])
        backup(town.settings, path)
        earlier = path.read_bytes()

        def interrupt(rows: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            backup(town.settings, path, interrupt)
        assert path.read_bytes() == earlier
        assert list(tmp_path.iterdir()) == [path]
        assert path.stat().st_mode & 0o077 == 0  # it holds everything that was ever said
        with pytest.raises(InvalidInput, match="cannot be written"):
            backup(town.settings, tmp_path / "no" / "such" / "folder")


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def changed(path: Path) -> None:
    """One word of one table says something else, in an archive that is whole."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["tables/memories.copy"] = members["tables/memories.copy"].replace(b"tea", b"gin")
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def newer(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["manifest.json"] = members["manifest.json"].replace(b'"migrations": {', b'"migrations": {"9999": "x",')
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def forged(change: Callable[[dict[str, Any], dict[str, bytes]], None]) -> Callable[[Path], None]:
    """An archive that is whole, with right checksums and counts, of which a user changed manifest and tables."""

    def forge(path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        manifest = json.loads(members.pop("manifest.json"))
        change(manifest, members)
        for table in manifest["tables"]:
            rows = members[f"tables/{table['name']}.copy"]
            table |= {"rows": rows.count(b"\n"), "sha256": hashlib.sha256(rows).hexdigest()}
        members["manifest.json"] = json.dumps(manifest).encode()
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)

    return forge


def one(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(table for table in manifest["tables"] if table["name"] == name)
    return found


@forged
def without_a_table(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    manifest["tables"].remove(one(manifest, "evidence"))
    del members["tables/evidence.copy"]


@forged
def with_a_foreign_table(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    manifest["tables"].append({"name": "schema_migrations", "columns": ["number", "name", "sha256"]})
    members["tables/schema_migrations.copy"] = b"9999\tx\ty\n"


@forged
def with_a_foreign_column(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    one(manifest, "evidence")["columns"][0] = "xmin"


@forged
def without_a_column(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    one(manifest, "outbox")["columns"].remove("last_error")
    members["tables/outbox.copy"] = b""


@forged
def with_a_foreign_sequence(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    manifest["sequences"]["somebody_elses"] = 7


@forged
def without_an_early_migration(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    del manifest["migrations"]["2"]


@forged
def with_rows_of_no_scope(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    members["tables/scopes.copy"] = b""


@forged
def with_an_end_within(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    members["tables/memories.copy"] = b"\\.\n" + members["tables/memories.copy"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (truncated, "cut short"),
        (changed, "checksum"),
        (newer, "later version"),
        (without_a_table, r"not the tables .*evidence"),
        (with_a_foreign_table, r"not the tables .*schema_migrations"),
        (with_a_foreign_column, r"evidence .* not the columns"),
        (without_a_column, r"outbox .* not the columns"),
        (with_a_foreign_sequence, "somebody_elses"),
        (without_an_early_migration, "leaves out"),
        (with_rows_of_no_scope, "does not fit"),
        (with_an_end_within, "memories"),
    ],
)
def test_a_damaged_backup_changes_nothing(
    stack: Servers, tmp_path: Path, damage: Callable[[Path], None], message: str
) -> None:
    path = tmp_path / "b"
    with system(stack) as town:
        (kept,) = town.filled(["Ann likes tea"])
        backup(town.settings, path)
        damage(path)
        with pytest.raises(InvalidInput, match=message):
            restore_backup(town.settings, path, replace=True, embedder=town.embedder)
        with town.connect() as memory:
            assert [hit.node.id for hit in memory.recall("tea")] == [kept]
        assert town.sql("SELECT max(number) FROM schema_migrations") == [(migrations()[-1][0],)]
        assert town.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'biem_restore'") == [(0,)]


@pytest.mark.long
def test_only_replace_destroys_what_a_database_holds_and_only_while_no_program_uses_it(
    stack: Servers, tmp_path: Path
) -> None:
    path = tmp_path / "b"
    with system(stack) as town, system(stack) as other:
        other.scope = town.scope
        town.filled(["Ann likes tea"])
        backup(town.settings, path)
        other.filled(["Bob plays chess"])
        # Given neither an empty database nor the wish
        with pytest.raises(InvalidInput, match="not empty"):
            restore_backup(other.settings, path, embedder=other.embedder)
        # Given a program that uses it
        with other.connect() as memory:
            with pytest.raises(ConfigError, match="stop them"):
                restore_backup(other.settings, path, replace=True, embedder=other.embedder)
            assert memory.recall("chess")

        # Given a restore that is broken off
        def interrupt(rows: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            restore_backup(other.settings, path, replace=True, embedder=other.embedder, on_progress=interrupt)
        with other.connect() as memory:
            assert [hit.node.text for hit in memory.recall("chess")] == ["Bob plays chess"]
        # Then only a whole one replaces what was there, in every store
        restore_backup(other.settings, path, replace=True, embedder=other.embedder)
        with other.connect() as memory:
            assert [hit.node.text for hit in memory.recall("chess or tea")] == ["Ann likes tea"]
            again = memory.remember("numbers go on", wait=True)
            assert memory.get(again).write_seq == 2
        assert diagnose(other.settings, full=True, embedder=other.embedder).findings == ()


def first_version(old: System, scope: biem.Scope) -> str:
    """Make the schema as its first version had it, with one memory; returns its id."""
    number, name, text = migrations()[0]
    old.sql("CREATE TABLE schema_migrations (number integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL)")
    old.sql(text)
    old.sql("INSERT INTO schema_migrations VALUES (%s, %s, %s)", number, name, digest(text))
    old.sql("GRANT SELECT ON schema_migrations TO biem_service")
    memory_id = "01890a5d-ac96-774b-bcce-b302099a8057"
    old.sql("INSERT INTO scopes (ns, tenant, usr, project, write_seq) VALUES (%s, %s, %s, '', 1)", *names(scope))
    old.sql(
        "INSERT INTO memories (id, ns, text, evidence_sha, embed_sha, kind, layer, status, importance, at,"
        " created_at, lexemes, write_seq, initial_energy, energy_anchor, anchor_at)"
        " VALUES (%s, %s, E'Ann likes tea\\tand\\nlines \\\\.', 'e', 'm', 'knowledge', 'short_term', 'active', 3,"
        " now(), now(), 'ann like tea', 1, 0.6, 0.6, now())",
        memory_id,
        scope.ns,
    )
    old.sql("INSERT INTO evidence (ns, sha256, text) VALUES (%s, 'e', 'Ann likes tea')", scope.ns)
    return memory_id


def test_a_backup_of_an_older_version_comes_forward(stack: Servers, tmp_path: Path) -> None:
    with system(stack, migrated=False) as old, system(stack) as town:
        # Given a backup of a database as the first version had it
        memory_id = first_version(old, town.scope)
        backup(old.settings, tmp_path / "old")
        with opened(tmp_path / "old") as reader:
            assert list(reader.manifest.migrations) == [1]
        # When it is restored by this version
        back = restore_backup(town.settings, tmp_path / "old", embedder=town.embedder)
        # Then the memory lives on, with what later versions know of it
        assert (back["memories"], back["indexed"]) == (1, 1)
        with town.connect() as memory:
            assert [hit.node.id for hit in memory.recall("tea")] == [memory_id]
            node = memory.get(memory_id)
            assert node.text == "Ann likes tea\tand\nlines \\."
            assert node.valid_from == node.at
        assert town.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'biem_restore'") == [(0,)]


@pytest.mark.long
@pytest.mark.req("X42", partly="embedded servers; others are told to")
def test_what_an_older_version_wrote_is_backed_up_before_its_schema_changes(stack: Servers, tmp_path: Path) -> None:
    # Given a database as the first version had it, and a new one
    with system(stack, migrated=False) as old, system(stack, migrated=False) as new, system(stack) as other:
        kept = first_version(old, other.scope)
        # When both are brought to this version, twice
        assert len(upgrade(old.where.postgres_dsn, tmp_path)) == len(migrations()) - 1
        assert upgrade(old.where.postgres_dsn, tmp_path) == []
        assert len(upgrade(new.where.postgres_dsn, tmp_path)) == len(migrations())
        # Then there is one copy, of the one that held something, and it can be brought back
        (copy,) = (tmp_path / "backups").iterdir()
        assert copy.name == f"before-{migrations()[1][1]}.biem"
        restore_backup(other.settings, copy, embedder=other.embedder)
        assert other.sql("SELECT id::text FROM memories") == [(kept,)]


def names(scope: biem.Scope) -> tuple[str, str, str]:
    return scope.ns, scope.tenant, scope.user


def test_a_system_without_a_schema_cannot_be_backed_up(stack: Servers, tmp_path: Path) -> None:
    with system(stack, migrated=False) as empty, pytest.raises(ConfigError, match="biem migrate"):
        backup(empty.settings, tmp_path / "b")
