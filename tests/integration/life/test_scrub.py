"""After an erasure and `scrub`, no byte of what was erased is in any file of the home."""

import uuid
from pathlib import Path

import psycopg
import pytest

import biem
from biem.bootstrap import Servers
from biem.bootstrap.admin import scrub
from biem.bootstrap.servers import servers
from biem.config import Settings
from biem.domain.scope import Scope
from tests.support.fakes import WordEmbedder


def files_with(home: Path, word: str) -> set[str]:
    """Files that hold the word, as text or as its bytes in UTF-16, compressed or not looked into."""
    needles = (word.encode(), word.encode("utf-16-le"))
    found = set()
    for path in home.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            if any(needle in data for needle in needles):
                found.add(str(path.relative_to(home)))
    return found


@pytest.mark.long
@pytest.mark.req("D8", partly="erasing: bytes in files of the embedded servers")
def test_after_a_scrub_no_file_of_the_home_holds_a_byte_of_what_was_erased(tmp_path: Path) -> None:
    # Given a home with memories, a copy of an upgrade, and two that hold a word in every place
    home, word = tmp_path / "home", f"zq{uuid.uuid4().hex[:12]}0"
    settings = Settings(home=home)
    with biem.connect(settings, scope=Scope(user="ann"), embedder=WordEmbedder()) as memory:
        kept = memory.remember("The cabin key hangs behind the boiler", wait=True)
        gone = memory.remember_many(
            [
                {
                    "text": f"The {word} is number {number}", "speaker": word, "conversation": word, "tags": [word],
                    "metadata": {word: word}, "source": word, "reason": word, "ref": f"{word} {number}",
                }
                for number in range(50)
            ],
            wait=True,
        )  # fmt: skip
        memory.recall(word)
        (home / "backups").mkdir()
        (home / "backups" / "before-0002.biem").write_text(word)
        (home / "log" / "postgres.log").write_text(f"DETAIL: {word}")
        other = memory.scope(user="bob")
        for number in range(5):
            other.items.put((word,), f"{word} {number}", {"text": word})
        with servers(settings) as where, psycopg.connect(where.postgres_dsn) as admin:
            admin.execute("ANALYZE items")  # which will have no rows
        assert other.erase(user="bob").complete
        receipt = [memory.erase(memory_id) for memory_id in gone][-1]
        assert receipt.complete
        assert [Path(copy.path).name for copy in receipt.backups] == ["before-0002.biem"]
        # When it is erased / Then files still hold it
        left = files_with(home, word)
        assert {name.split("/")[0] for name in left} >= {"postgres", "valkey", "backups", "log"}
        # And when it is scrubbed, next to a program that goes on, none does
        done = scrub(settings)
        assert [Path(path).name for path in done["deleted"]] == ["before-0002.biem"]
        assert files_with(home, word) == set()
        # And what was kept is there
        assert [hit.node.id for hit in memory.recall("cabin key")] == [kept]
        assert memory.remember("Another one", wait=True)
        assert not memory.recall("another one").degraded
    assert files_with(home, word) == set()


def test_what_a_scrub_of_servers_of_ones_own_cannot_reach_is_said(stack: Servers, tmp_path: Path) -> None:
    settings = Settings(
        home=tmp_path, postgres_dsn=stack.postgres_dsn, redis_url=stack.redis_url, milvus_uri=stack.milvus_uri
    )
    done = scrub(settings)
    assert done["deleted"] == []
    for what in ("PostgreSQL: its write-ahead log", "Redis: replicas", "Milvus: compact", "`biem backup`"):
        assert sum(what in left for left in done["left"]) == 1
