"""Moving all memories to another embedder: next to running programs, resumable after any death, without a gap."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from pydantic import SecretStr

import biem
from biem.bootstrap import Servers
from biem.bootstrap.admin import backup, diagnose, reembed, restore_backup
from biem.bootstrap.embedder import choice_of_record, with_choice
from biem.domain.policies.writing import EncodePolicy
from biem.errors import ConfigError, EmbedderUnavailable
from biem.ports import Role, Vectors
from tests.support.fakes import WordEmbedder, eventually
from tests.support.systems import System, system

TEXTS = [f"Ann's note number {n} about subject {n * 7}" for n in range(600)]
NARROW: dict[str, Any] = {"dim": 48, "model": "another"}
DIE_EMBEDDING = """
import json, os, signal, sys
from biem.adapters.clock import SystemClock
from biem.bootstrap.admin import reembed
from biem.config import Settings
from tests.support.fakes import WordEmbedder

given = json.loads(sys.argv[1])
class Dying(WordEmbedder):
    def embed(self, texts, role):
        if len(self.calls) == given["calls"]:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed(texts, role)
reembed(Settings(**given["settings"]), embedder=Dying(**given["embedder"]))
"""


class Recorded(WordEmbedder):
    """Remembers which passages it embedded."""

    @property
    def passages(self) -> list[str]:
        return [text for call in self.calls for text in call]


def found(system: System, embedder: WordEmbedder, question: str) -> list[str]:
    with system.connect(embedder=embedder) as memory:
        return [hit.node.text for hit in memory.recall(question, top_k=3)]


def answer(memory: biem.Memory) -> object:
    """What is shown about subject 21: the two texts with this number, which are equally good, and nothing was down."""
    hits = memory.recall("subject 21", top_k=2)
    return {hit.node.text for hit in hits}, ["dense" in hit.why for hit in hits], hits.degraded


@pytest.mark.long
@pytest.mark.req("C12", partly="one collection a model; migration re-embeds from PostgreSQL")
def test_recall_answers_as_before_during_the_move_and_with_the_new_model_after_it(stack: Servers) -> None:
    with system(stack) as town, town.connect() as old:
        old.remember_many([{"text": text} for text in TEXTS[:300]], wait=True)
        before = answer(old)
        during: list[object] = []
        new = WordEmbedder(**NARROW)
        # When all is moved while a program with the old embedder answers and writes
        written = iter(range(1000))

        def go_on(done: int) -> None:
            during.append(answer(old))
            old.remember(f"written meanwhile {next(written)}", wait=True)

        done = reembed(town.settings, embedder=new, on_progress=go_on)
        # Then its answers were the same all the time
        assert during
        assert all(same == before for same in during)
        assert answer(old) == before  # nor lost since
        # And everything is with the new one, what was written meanwhile, too
        assert done["moved"] == 300 + len(during)
        assert town.sql("SELECT DISTINCT model FROM memories") == [("another",)]
        assert town.sql("SELECT model, state FROM embedders") == [("another", "current")]
        town.embedder = new
        assert [f.id for f in diagnose(town.settings, full=True, embedder=new).findings] == ["other_collections"]
        with town.connect() as memory:
            assert "dense" in memory.recall("subject 21", top_k=1)[0].why


@pytest.mark.long
def test_the_old_collection_and_its_vectors_go_only_when_asked(stack: Servers) -> None:
    with system(stack) as town:
        town.filled(TEXTS[:20])
        new = WordEmbedder(**NARROW)
        reembed(town.settings, embedder=new)
        with town.inspection() as inspection:
            assert sorted(collection.rows or 0 for collection in inspection.collections()) == [20, 20]
        done = reembed(town.settings, embedder=new, drop_old=True)
        assert done == {"moved": 0, "dropped_collections": 1, "dropped_vectors": 20}
        with town.inspection() as inspection:
            assert [(collection.dim, collection.rows) for collection in inspection.collections()] == [(48, 20)]
        assert town.sql("SELECT DISTINCT model FROM embeddings") == [("another",)]
        town.embedder = new
        assert diagnose(town.settings, full=True, embedder=new).findings == ()


@pytest.mark.long
@pytest.mark.req("X8", partly="a move to another embedder killed while it embeds")
def test_a_move_that_was_killed_goes_on_where_it_was(stack: Servers) -> None:
    with system(stack) as town:
        town.filled(TEXTS)
        # Given a process that is killed while it moves memories
        die(town, calls=6)
        (cursor,) = town.sql("SELECT cursor::text FROM embedders WHERE state = 'filling'")
        assert cursor[0]
        assert town.sql("SELECT DISTINCT model FROM memories") == [("test-words",)]
        # Then a look says so, no matter which embedder looks, and that programs still use the one of before
        for looking in (town.embedder, WordEmbedder(**NARROW)):
            (left,) = [f for f in diagnose(town.settings, embedder=looking).findings if f.id.startswith("reembed")]
            assert left.id == "reembed_interrupted"
            assert "another" in left.what
            assert cursor[0] in left.what
        # When the move is begun again
        new = Recorded(**NARROW)
        reembed(town.settings, embedder=new)
        # Then only the rest is embedded, and everything is there, once
        assert len(new.passages) == len(set(new.passages)) < len(TEXTS) - 256
        town.embedder = new
        with town.index() as index:
            assert index.count() == len(TEXTS)
        found = [finding.id for finding in diagnose(town.settings, full=True, embedder=new).findings]
        assert found == ["other_collections"]


@pytest.mark.long
def test_a_move_that_is_given_up_leaves_nothing(stack: Servers) -> None:
    with system(stack) as town:
        # Given a move that was broken off
        town.filled(TEXTS)
        die(town, calls=6)
        # When the embedder of before is kept, as the finding says
        reembed(town.settings, embedder=town.embedder, drop_old=True)
        # Then a look finds no trace of the other
        assert diagnose(town.settings, full=True, embedder=town.embedder).findings == ()


def die(town: System, calls: int) -> None:
    settings = {
        "postgres_dsn": town.where.postgres_dsn,
        "redis_url": town.where.redis_url,
        "milvus_uri": town.where.milvus_uri,
        "milvus_collection": town.settings.milvus_collection,
    }
    given = orjson.dumps({"calls": calls, "settings": settings, "embedder": NARROW}).decode()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BIEM_")}
    ended = subprocess.run([sys.executable, "-c", DIE_EMBEDDING, given], env=environment, check=False, timeout=300)
    assert ended.returncode == -signal.SIGKILL


@pytest.mark.long
def test_two_moves_at_once_are_one_too_many(stack: Servers) -> None:
    with system(stack) as town:
        town.filled(TEXTS[:5])
        refused: list[str] = []
        looked: list[str] = []

        def once_more(done: int) -> None:
            with pytest.raises(ConfigError, match="another") as error:
                reembed(town.settings, embedder=WordEmbedder(dim=16, model="third"))
            refused.append(str(error.value))
            found = diagnose(town.settings, embedder=town.embedder).findings
            looked.extend(finding.id for finding in found if finding.id.startswith("reembed"))

        reembed(town.settings, embedder=WordEmbedder(**NARROW), on_progress=once_more)
        assert looked == ["reembed_running"]
        assert len(refused) == 1
        assert town.sql("SELECT model FROM embedders") == [("another",)]


def test_the_row_that_says_which_embedder_counts_holds_no_secret(stack: Servers) -> None:
    with system(stack) as town:
        secret = town.settings.embedder.model_copy(
            update={"url": SecretStr("https://ann:hush@models.example.org/v1?x=1"), "api_key": SecretStr("hush")}
        )
        settings = town.settings.model_copy(update={"embedder": secret})
        reembed(settings, embedder=WordEmbedder(**NARROW))
        choice = choice_of_record(town.where.postgres_dsn)
        assert choice
        assert "hush" not in str(choice)
        assert "models.example.org" not in str(choice)
        assert with_choice(settings, choice).embedder == secret  # who has the login keeps it


@pytest.mark.long
def test_an_embedder_that_fails_moves_nothing_by_half(stack: Servers) -> None:
    class Failing(WordEmbedder):
        def embed(self, texts: Sequence[str], role: Role) -> Vectors:
            if len(self.calls) == 1:
                raise EmbedderUnavailable("429: come back later")
            return super().embed(texts, role)

    with system(stack) as town:
        town.filled(TEXTS[:100])
        with pytest.raises(EmbedderUnavailable):
            reembed(town.settings, embedder=Failing(**NARROW))
        assert town.sql("SELECT count(*) FROM embedders WHERE state = 'current'") == [(0,)]
        assert found(town, WordEmbedder(), "subject 21")
        left = diagnose(town.settings, full=True, embedder=WordEmbedder()).findings
        assert {finding.id for finding in left} <= {"reembed_interrupted", "other_collections"}
        assert "reembed_interrupted" in {finding.id for finding in left}


@pytest.mark.long
def test_a_text_that_the_new_embedder_refuses_keeps_no_other_from_being_moved(stack: Servers) -> None:
    with system(stack, encode=EncodePolicy(max_attempts=1)) as town:
        # Given an embedder that refuses one text / When all memories are moved to it
        town.filled(TEXTS[:20])
        new = WordEmbedder(**NARROW)
        new.refused = (TEXTS[7],)
        assert reembed(town.settings, embedder=new) == {"moved": 19}
        # Then it counts, the others are found, and the refused one is buried with the reason
        assert town.sql("SELECT model, count(*) FROM memories GROUP BY 1 ORDER BY 1") == [
            ("another", 19),
            ("test-words", 1),
        ]
        with town.connect(embedder=new) as memory:
            memory.sleep()
            eventually(memory.dead_letters)
            assert [letter.reason for letter in memory.dead_letters() if "cannot be embedded" in letter.reason]
            assert memory.recall(TEXTS[3], top_k=1)[0].node.text == TEXTS[3]


def test_what_is_erased_or_archived_during_the_move_leaves_no_row(stack: Servers) -> None:
    with system(stack) as town, town.connect() as memory:
        ids = memory.remember_many([{"text": text} for text in TEXTS[:40]], wait=True)

        class Slow(WordEmbedder):
            def embed(self, texts: Sequence[str], role: Role) -> Vectors:
                if not self.calls:
                    memory.erase(ids[0])
                    memory.archive(ids[1])
                return super().embed(texts, role)

        new = Slow(**NARROW)
        reembed(town.settings, embedder=new)
        town.embedder = new
        with town.index() as index:
            assert index.count(ids[:2]) == 0
            assert index.count() == 38


@pytest.mark.long
def test_what_a_program_with_the_old_embedder_writes_afterwards_is_called_back(stack: Servers) -> None:
    with system(stack) as town:
        town.filled(TEXTS[:5])
        new = WordEmbedder(**NARROW)
        reembed(town.settings, embedder=new)
        with town.connect(embedder=WordEmbedder()) as old:
            late = old.remember("written by one that never heard of it", wait=True)
        assert town.sql("SELECT model FROM memories WHERE id = %s", late) == [("test-words",)]
        with town.connect(embedder=new) as memory:
            memory.sleep()
            memory.flush()
            assert town.sql("SELECT model FROM memories WHERE id = %s", late) == [("another",)]
        with town.connect(embedder=WordEmbedder()) as old:  # and never the other way round
            old.sleep()
            old.flush()
        assert town.sql("SELECT DISTINCT model FROM memories") == [("another",)]


@pytest.mark.long
def test_running_and_new_programs_go_over_to_the_packaged_model_that_was_moved_to(stack: Servers) -> None:
    # Given a program with the default embedder, and nothing said of another one
    with system(stack) as town, biem.connect(town.settings, scope=town.scope) as memory:
        memory.remember("李明对花生严重过敏", wait=True)
        heard: list[str] = []
        memory.telemetry.attach(lambda span: heard.append(span.name))
        assert memory.embedder.dim == 384
        # When all memories are moved to the other packaged one
        use = town.settings.embedder.model_copy(update={"provider": "use"})
        reembed(town.settings.model_copy(update={"embedder": use}), drop_old=True)
        # Then it goes over on its own, and finds and indexes with the new one
        eventually(lambda: memory.embedder.dim == 512)
        (hit,) = memory.recall("What is Li Ming allergic to?")
        assert hit.node.text == "李明对花生严重过敏"
        assert "biem.recall" in heard  # anyone who listened goes on listening
        late = memory.remember("the cat sleeps", wait=True)
        assert memory.collection.endswith("_512")
        with town.inspection() as inspection:
            assert inspection.present(memory.collection, [late]) == {late}
            assert inspection.names() == [memory.collection]
        # And a new program takes it, although its settings name no embedder
        with biem.connect(town.settings, scope=town.scope) as another:
            assert another.embedder == memory.embedder
            assert [hit.node.id for hit in another.recall("the cat", top_k=1)] == [late]


@pytest.mark.long
def test_a_backup_remembers_which_embedder_counts(stack: Servers, tmp_path: Path) -> None:
    with system(stack) as town, system(stack) as fresh:
        town.filled(TEXTS[:5])
        new = Recorded(**NARROW)
        reembed(town.settings, embedder=new)
        backup(town.settings, tmp_path / "b")
        new.calls.clear()
        restore_backup(fresh.settings, tmp_path / "b", embedder=new)
        assert new.calls == []
        assert fresh.sql("SELECT model FROM embedders WHERE state = 'current'") == [("another",)]
        fresh.embedder, fresh.scope = new, town.scope
        assert found(fresh, new, "subject 21")
