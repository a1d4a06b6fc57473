"""A Milvus standalone server older than 2.5: vectors only; PostgreSQL answers for words, and `diagnose` says so.

`make test-milvus-server` installs one in its own venv and runs this with the contract and integration tests.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from biem.bootstrap import Servers
from biem.bootstrap.admin import backup, diagnose, reembed, restore_backup
from biem.domain.diagnosis import Diagnosis
from biem.ports import Filter
from tests.support.fakes import WordEmbedder, eventually
from tests.support.systems import System, system


@pytest.fixture
def town(stack: Servers) -> Iterator[System]:
    """A system whose Milvus cannot search by words."""
    with system(stack) as built:
        with built.index() as index:
            index.open()
            if index.lexical:
                pytest.skip("this Milvus searches by words; make test-milvus-server runs one that does not")
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
            assert len(index.dense([town.scope], vector, 5, Filter())) == 2


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


def test_what_one_program_has_indexed_another_finds_by_meaning_at_once(town: System) -> None:
    # Given two programs, and words that lead nowhere: only meaning can find anything
    with town.connect() as writer, town.index() as elsewhere:
        elsewhere.open()
        for number in range(20):
            # When one program's memory is indexed
            text = f"token{number} of number{number}"
            memory_id = writer.remember(text, wait=True)

            # Then a search with another connection, at once, has it
            vector = town.embedder.embed([text], "query")[0]
            assert (
                max(found := elsewhere.dense([town.scope], vector, 5, Filter()), key=lambda key: found[key])
                == memory_id
            )
