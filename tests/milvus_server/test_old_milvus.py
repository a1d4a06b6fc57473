"""A Milvus standalone server older than 2.5: vectors only; PostgreSQL answers for words, and `diagnose` says so.

`make test-milvus-server` installs one in a venv of its own and runs this. `BIEM_TEST_MILVUS_SERVER` names its program.
"""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pymilvus import MilvusClient, MilvusException

from biem.bootstrap import Servers
from biem.bootstrap.operations import backup, diagnose, reembed, restore_backup
from biem.domain.finding import Diagnosis
from biem.ports import Filter
from tests.fakes import WordEmbedder, eventually
from tests.integration.systems import System, system

SERVER = os.environ.get("BIEM_TEST_MILVUS_SERVER", "")
pytestmark = [
    pytest.mark.skipif(not SERVER, reason="make test-milvus-server names the program of the server"),
    pytest.mark.timeout(180),
]


@pytest.fixture(scope="module")
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URI of a server of this module's own."""
    folder = tmp_path_factory.mktemp("milvus")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / "log").open("wb") as log:
        words = [SERVER, "--data", str(folder / "data"), "--proxy-port", str(port)]
        process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
        try:
            uri = f"http://127.0.0.1:{port}"
            eventually(lambda: answers(uri), 90)
            yield uri
        finally:
            os.killpg(process.pid, signal.SIGTERM)  # the program has the server as a child
            process.wait(60)


def answers(uri: str) -> bool:
    try:
        client = MilvusClient(uri=uri, timeout=2.0)
        try:
            return bool(client.get_server_version(timeout=2.0))
        finally:
            client.close()
    except MilvusException:
        return False


@pytest.fixture
def town(stack: Servers, milvus: str) -> Iterator[System]:
    with system(Servers(stack.postgres_dsn, stack.redis_url, milvus, "", embedded=False)) as built:
        yield built


def look(town: System, *, fix: bool = False) -> Diagnosis:
    return diagnose(town.settings, fix=fix, full=True, embedder=town.embedder)


def test_memories_are_found_by_meaning_there_and_by_words_in_postgresql(town: System) -> None:
    with town.connect() as memory:
        peanuts = memory.remember("李明对花生严重过敏", wait=True)
        memory.remember("Ann likes green tea", wait=True)
        hits = memory.recall("花生")
        assert hits[0].node.id == peanuts
        assert hits.degraded == ("milvus-words",)
        with town.index() as index:
            index.open()
            assert not index.lexical
            vector = town.embedder.embed(["green tea"], "query")[0]
            eventually(lambda: len(index.dense([town.scope], vector, 5, Filter())) == 2)


def test_diagnose_says_that_words_are_searched_in_postgresql_and_mends_what_else_is_wrong(town: System) -> None:
    kept, lost, orphan = town.filled(["Ann likes tea", "Bob plays chess", "a row left by a crash"])
    (finding,) = look(town).findings
    assert (finding.id, finding.severity) == ("milvus_without_bm25", "warning")
    assert "2.3" in finding.what
    assert "biem reindex" in finding.mend
    with town.index() as index:
        index.purge([lost])
        town.sql("DELETE FROM crystal_links WHERE ns = %s", town.scope.ns)
        town.sql("DELETE FROM memories WHERE id = %s", orphan)
        assert [found.id for found in look(town).findings] == [
            "memory_not_indexed",
            "milvus_without_bm25",
            "row_without_memory",
        ]
        told = {found.id: bool(found.mended) for found in look(town, fix=True).findings}
        assert told == {"memory_not_indexed": True, "milvus_without_bm25": False, "row_without_memory": True}
        assert index.count([kept, lost, orphan]) == 2
    assert [found.id for found in look(town).findings] == ["milvus_without_bm25"]


def test_erasing_archiving_and_restoring_reach_it(town: System) -> None:
    with town.connect() as memory:
        erased, archived = memory.remember_many([{"text": "to go"}, {"text": "to rest"}], wait=True)
        receipt = memory.erase(erased)
        assert receipt.complete
        memory.archive(archived)
        with town.index() as index:
            eventually(lambda: index.count([erased, archived]) == 0)
            memory.restore(archived)
            memory.flush()
            assert index.count([archived]) == 1


def test_a_move_to_another_embedder_and_a_backup_work_with_it(town: System, tmp_path: Path) -> None:
    ids = town.filled([f"note {number}" for number in range(30)])
    town.embedder = WordEmbedder(dim=32, model="another")
    reembed(town.settings, embedder=town.embedder, drop_old=True)
    with town.inspection() as inspection:
        assert [(found.dim, found.rows) for found in inspection.collections()] == [(32, 30)]
    backup(town.settings, tmp_path / "b")
    restore_backup(town.settings, tmp_path / "b", replace=True, embedder=town.embedder)
    with town.index() as index:
        assert index.count(ids) == 30
    assert [found.id for found in look(town).findings] == ["milvus_without_bm25"]
