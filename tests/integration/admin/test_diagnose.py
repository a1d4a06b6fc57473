"""`diagnose` on real servers: each fault is really made, found, and mended by `--fix`; live writers are no fault."""

import threading
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biem
from biem.adapters.clock import SystemClock
from biem.adapters.milvus.collection import collection_name
from biem.adapters.postgres.backup.file import Table, opened
from biem.bootstrap import Servers
from biem.bootstrap.admin import backup, diagnose
from biem.bootstrap.diagnosis import diagnoser
from biem.domain.diagnosis import Depth, Diagnosis, Finding, Limits
from biem.domain.policies.jobs import SleepPolicy
from biem.domain.policies.writing import EncodePolicy
from biem.errors import EmbedderMismatch
from biem.ports import Entry
from biem.telemetry import Telemetry
from tests.support.fakes import START, HeldClock, WordEmbedder, eventually
from tests.support.servers import Testbed
from tests.support.systems import System, system

NOT_BY_ITSELF: dict[str, Any] = {"sleep": SleepPolicy(sweep_s=0.0, integrity_s=0.0), "queue": "none"}
"""Programs that leave faults where they are."""


@pytest.fixture(scope="module")
def town(stack: Servers) -> Iterator[System]:
    """A system that the tests of this module share; each leaves it healthy."""
    with system(stack) as built:
        yield built


@pytest.fixture(autouse=True)
def _own_scope(town: System) -> None:
    town.scope = biem.Scope(user=uuid.uuid4().hex)


def look(system: System, *, fix: bool = False) -> Diagnosis:
    return diagnose(system.settings, fix=fix, full=True, embedder=system.embedder)


def only(found: Diagnosis) -> Finding:
    (finding,) = found.findings
    return finding


def mended(system: System, fault: str) -> Finding:
    """The one fault is found, is not touched by looking, and is gone after it was mended."""
    first = look(system)
    assert (only(first).id, only(first).mended, first.healthy) == (fault, "", False)
    assert look(system) == first
    told = look(system, fix=True)
    assert only(told).mended
    assert told.healthy
    assert look(system).findings == ()
    return only(first)


def test_a_healthy_system_has_no_fault_and_looking_changes_nothing(town: System, tmp_path: Path) -> None:
    # Given memories of every state, and what PostgreSQL and Milvus hold
    ids = town.filled(["Ann likes tea", "安喜欢喝茶", "Bob plays chess"])
    with town.connect() as memory:
        memory.archive(ids[2])
        memory.recall("tea")
        memory.flush()
        eventually(lambda: not town.sql("SELECT 1 FROM outbox"))
    backup(town.settings, tmp_path / "before.zip")
    with town.inspection() as inspection:
        collections = inspection.collections()
    # When a healthy system is looked at
    found = look(town)
    # Then nothing is found, much was looked at, and all is as it was
    assert found.findings == ()
    assert found.healthy
    assert found.whole
    assert found.looked_at["memories"] >= 3
    backup(town.settings, tmp_path / "after.zip")
    assert contents(tmp_path / "before.zip") == contents(tmp_path / "after.zip")
    with town.inspection() as inspection:
        assert inspection.collections() == collections


def contents(path: Path) -> list[Table]:
    with opened(path) as reader:
        return reader.manifest.tables


def test_a_memory_that_the_index_lost_is_found_and_indexed_again(town: System) -> None:
    lost, _ = town.filled([f"Ann paints {uuid.uuid4().hex} boats", "Bob plays chess"])
    with town.index() as index:
        index.purge([lost])
    finding = mended(town, "memory_not_indexed")
    assert (finding.count, finding.samples) == (1, (lost,))
    with town.index() as index:
        assert index.count([lost]) == 1


@pytest.mark.long
def test_a_row_that_belongs_to_no_memory_is_found_and_removed(town: System) -> None:
    destroyed, forgotten = town.filled(["a row left by a crash", "an archived one that came back"])
    with town.connect() as memory:
        memory.archive(forgotten)
        memory.flush()
        eventually(lambda: not town.sql("SELECT 1 FROM outbox"))
    with town.index() as index:
        vector = np.ascontiguousarray(town.embedder.embed(["x"], "passage")[0])
        index.insert([Entry(forgotten, town.scope, "x", vector, "event", "", "", (), START)], again=True)
        town.sql("DELETE FROM memories WHERE id = %s", destroyed)
        finding = mended(town, "row_without_memory")
        assert (finding.count, set(finding.samples)) == (2, {destroyed, forgotten})
        assert index.count([destroyed, forgotten]) == 0


@pytest.mark.req("C14", partly="Milvus is filled again from PostgreSQL")
def test_a_lost_collection_is_one_fault_and_not_one_for_each_memory(town: System) -> None:
    town.filled(["Ann likes tea", "Bob plays chess"])
    with town.index() as index:
        index.open()
        index.drop()
    first = look(town)
    assert only(first).id == "collection_missing"
    assert "biem reindex" in only(first).mend
    with town.inspection() as inspection:
        assert inspection.names() == []  # looking makes none
    with town.connect() as memory:
        memory.reindex()
    assert look(town).findings == ()


@pytest.mark.long
def test_dead_letters_are_reported_and_tried_once_more(stack: Servers) -> None:
    # Given a memory that the embedder refused until it was a dead letter
    with system(stack, encode=EncodePolicy(max_attempts=1)) as town:
        embedder = WordEmbedder()
        town.embedder = embedder
        embedder.refused = ("Ann likes tea",)
        with town.connect() as memory:
            memory_id = memory.remember("Ann likes tea")
            eventually(memory.dead_letters)
        embedder.refused = ()
        # Then it is found, and mended
        assert mended(town, "dead_letters").samples == (memory_id,)


@pytest.mark.long
def test_jobs_without_a_worker_are_distinguished_from_slow_jobs(town: System) -> None:
    with town.connect(**NOT_BY_ITSELF, close_timeout_s=0.0) as memory:
        memory.remember("Ann likes tea")
        memory.remember("Bob plays chess")
    town.sql("UPDATE outbox SET due_at = now() - interval '2 minutes'")
    assert only(look(town)).id == "worker_missing"
    town.sql(
        "UPDATE outbox SET claims = 1, due_at = now() + interval '1 minute' WHERE id = (SELECT min(id) FROM outbox)"
    )
    assert only(look(town)).id == "outbox_lags"
    town.sql("UPDATE outbox SET claims = 1, attempts = 0, due_at = now() - interval '2 minutes'")
    assert mended(town, "worker_missing").count == 2


def test_a_row_that_is_just_being_encoded_is_no_fault(town: System) -> None:
    with town.connect(**NOT_BY_ITSELF, close_timeout_s=0.0) as memory:
        memory.remember("Ann likes tea")
    town.sql("UPDATE outbox SET claims = 1, attempts = 1, due_at = now() + interval '1 minute'")
    assert look(town).findings == ()
    town.sql("UPDATE outbox SET attempts = 0, due_at = now()")
    look(town, fix=True)
    with town.connect() as memory:
        memory.flush()


@pytest.mark.long
def test_a_memory_that_its_server_refused_is_reported_and_tried_at_once(town: System) -> None:
    # Given a memory that was set apart, for the vector index had refused it again and again
    with town.connect(**NOT_BY_ITSELF, close_timeout_s=0.0) as memory:
        memory_id = memory.remember("Ann likes tea")
    town.sql(
        "UPDATE outbox SET claims = 6, attempts = 1, last_error = 'Milvus refused the rows',"
        " due_at = now() + interval '1 hour'"
    )
    # Then it is found with what it met, and mended: what refused it refuses it no more
    finding = mended(town, "memory_refused")
    assert finding.samples == (memory_id,)
    assert "Milvus refused the rows" in finding.what


@pytest.mark.long
def test_a_canvas_that_differs_from_the_tiers_is_found_and_swept(town: System) -> None:
    with town.connect(**NOT_BY_ITSELF | {"queue": "thread"}) as memory:
        hot, cold = memory.remember_many([{"text": "Ann likes tea", "importance": 5}, {"text": "Bob"}], wait=True)
        memory.feedback([hot, cold])
        memory.recall("tea")
        eventually(lambda: town.sql("SELECT 1 FROM memories WHERE tier = 'L1' AND id = %s", hot))
        eventually(lambda: memory.get(hot).access_count == 1)
        assert memory.recall("tea")
        eventually(lambda: memory.get(hot).access_count == 2)  # counted later, it would be L1 again
        town.sql("UPDATE memories SET tier = 'L2' WHERE id = %s", hot)
        assert hot in mended(town, "canvas_stale").samples


def test_links_that_no_process_hears_of_are_numbered_again(town: System) -> None:
    with town.connect() as memory:
        one, two = memory.remember_many([{"text": f"we met {n}", "conversation": "c"} for n in "ab"], wait=True)
        memory.feedback([one, two], turn="t")
        assert memory.links(one)
        town.sql("UPDATE crystal_links SET version = version + 1000000000 WHERE ns = %s", town.scope.ns)
        assert mended(town, "graph_behind").count >= 1
        assert two in {end for link in memory.links(one) for end in (link.source, link.target)}


def test_links_to_nothing_are_parked(town: System) -> None:
    one, _ = town.filled(["Ann likes tea", "Bob plays chess"])
    town.sql("DELETE FROM crystal_links WHERE ns = %s", town.scope.ns)
    town.sql(
        "WITH v AS (UPDATE scopes SET graph_version = nextval('graph_versions') WHERE ns = %s RETURNING graph_version)"
        " INSERT INTO crystal_links (ns, source_id, target_id, link_type, version)"
        " SELECT %s, %s, %s, 'semantic', graph_version FROM v",
        town.scope.ns,
        town.scope.ns,
        one,
        str(uuid.uuid4()),
    )
    assert mended(town, "links_dangle").count == 1


def test_memories_of_another_model_are_reported(town: System) -> None:
    other = WordEmbedder(dim=32, model="another")
    with town.connect(embedder=other) as memory:
        memory.remember("indexed by another model", wait=True)
    finding = next(finding for finding in look(town).findings if finding.id == "other_model")
    assert finding.count == 1
    assert "another" in finding.what
    assert "biem reembed" in finding.mend
    with town.connect() as memory:
        memory.reindex()
    assert [finding.id for finding in look(town).findings] == ["other_collections"]
    with town.inspection() as inspection:
        inspection.drop(collection_name(town.settings.milvus_collection, other.info))


@pytest.mark.req("X44", partly="a collection of another dimension is told; the queue waits for the embedder")
def test_a_collection_of_another_dimension_is_reported_although_nothing_can_be_opened(stack: Servers) -> None:
    with system(stack) as town, town.index() as index:
        narrow = WordEmbedder(dim=32, model=WordEmbedder().info.id)
        index.open()
        name = index.collection
        with town.inspection() as inspection:
            inspection.drop(name)
        town.embedder = narrow
        with town.index() as made:
            made.collection = name  # what a model that changed under its name would do
            made.open()
        town.embedder = WordEmbedder()
        with pytest.raises(EmbedderMismatch):
            town.connect()
        finding = only(look(town))
        assert finding.id == "wrong_dimension"
        assert "32-dimensional" in finding.what


@pytest.mark.parametrize(
    ("server", "url"),
    [
        ("postgres", {"postgres_dsn": "postgresql://nobody:hush@127.0.0.1:9/biem"}),
        ("redis", {"redis_url": "redis://:hush@127.0.0.1:9/0"}),
        ("milvus", {"milvus_uri": "http://127.0.0.1:9"}),
    ],
)
@pytest.mark.req("X43", partly="messages about servers that cannot be reached hold no password")
def test_a_server_that_cannot_be_reached_is_named_with_the_way_to_start_it(
    town: System, server: str, url: dict[str, Any]
) -> None:
    settings = type(town.settings)(**{**given(town), **url})
    finding = only(diagnose(settings, embedder=town.embedder))
    assert finding.id == f"{server}_unreachable"
    assert "make up" in finding.mend
    assert "hush" not in str(finding)
    assert diagnose(settings, fix=True, embedder=town.embedder).healthy is False


def given(town: System) -> dict[str, Any]:
    return {
        "postgres_dsn": town.where.postgres_dsn,
        "redis_url": town.where.redis_url,
        "milvus_uri": town.where.milvus_uri,
        "milvus_collection": town.settings.milvus_collection,
    }


def test_a_schema_of_another_version_is_reported_and_a_missing_one_made(stack: Servers) -> None:
    with system(stack, migrated=False) as town:
        finding = only(look(town))
        assert finding.id == "schema_behind"
        assert finding.samples[0] == "0001_foundation"
        told = look(town, fix=True)
        assert (only(told).id, only(told).mended, told.healthy) == ("schema_behind", "applied", True)
        assert look(town).findings == ()
        town.sql("INSERT INTO schema_migrations (number, name, sha256) VALUES (9999, '9999_of_tomorrow', 'x')")
        ahead = only(look(town, fix=True))
        assert (ahead.id, ahead.samples, ahead.mended) == ("schema_ahead", ("9999_of_tomorrow",), "")


def test_clocks_that_differ_are_reported(town: System) -> None:
    held = HeldClock(datetime(2026, 5, 4, tzinfo=UTC))
    found = diagnose(town.settings, embedder=town.embedder, clock=held)
    assert [finding.id for finding in found.findings] == ["clock_of_postgres", "clock_of_redis"]
    assert "ahead of this machine's" in found.findings[0].what


def test_a_disk_that_is_nearly_full_is_reported(town: System) -> None:
    where = Servers(town.where.postgres_dsn, town.where.redis_url, town.where.milvus_uri, "", embedded=True)
    with diagnoser(
        settings=town.settings,
        where=where,
        info=town.embedder.info,
        clock=SystemClock(),
        telemetry=Telemetry(),
        limits=Limits(free_bytes=1 << 62),
    ) as found:
        assert only(found.look()).id == "disk_nearly_full"


@pytest.mark.long
def test_celery_workers_are_asked_over_the_broker(town: System) -> None:
    settings = town.settings.model_copy(update={"queue": "celery"})
    assert only(diagnose(settings, embedder=town.embedder)).id == "worker_missing"
    nowhere = type(settings)(**given(town), queue="celery", broker_url="redis://127.0.0.1:9/0")
    assert only(diagnose(nowhere, embedder=town.embedder)).id == "broker_unreachable"
    # And where they cannot be asked, no one says that there are none, however long jobs have been waiting
    with town.connect(**NOT_BY_ITSELF, close_timeout_s=0.0) as memory:
        memory.remember("Ann likes tea")
    town.sql("UPDATE outbox SET due_at = now() - interval '2 minutes'")
    found = diagnose(nowhere, embedder=town.embedder).findings
    assert [(finding.id, finding.mend) for finding in found] == [
        ("broker_unreachable", "start the broker"),
        ("outbox_lags", "start the broker"),
    ]


@pytest.mark.long
def test_a_diagnosis_during_writes_archives_and_erasures_finds_nothing(town: System) -> None:
    # Given a program that writes, archives, restores and erases all the time
    stop = threading.Event()

    def live(memory: biem.Memory) -> None:
        while not stop.is_set():
            kept, dropped, erased = memory.remember_many([{"text": f"{uuid.uuid4().hex} {n}"} for n in range(3)])
            memory.archive(dropped)
            memory.erase(erased)
            memory.restore(dropped)
            memory.recall("anything")
            memory.archive(kept)

    with town.connect() as memory:
        writer = threading.Thread(target=live, args=(memory,))
        writer.start()
        try:
            # When it is looked at several times meanwhile
            found = [finding for _ in range(6) for finding in look(town).findings]
        finally:
            stop.set()
            writer.join()
        # Then nothing of it is taken for a fault
        assert found == []
        memory.flush()
    town.sql("UPDATE outbox SET due_at = now()")
    with town.connect() as memory:
        eventually(lambda: not town.sql("SELECT 1 FROM outbox"))
        memory.flush()


@pytest.mark.long
def test_a_full_look_goes_on_where_it_was_broken_off_and_a_sample_is_bounded(stack: Servers) -> None:
    with system(stack) as town:
        look_in_parts(town)


def look_in_parts(town: System) -> None:
    ids = town.filled([f"memory {n} {uuid.uuid4().hex}" for n in range(30)])
    with town.index() as index:
        index.purge(ids)
    small = Limits(page=4, sample_pages=3)
    with diagnoser(
        settings=town.settings,
        where=town.where,
        info=town.embedder.info,
        clock=SystemClock(),
        telemetry=Telemetry(),
        limits=small,
    ) as found:
        heard: list[tuple[str, int]] = []
        whole = found.look(Depth(full=True, on_progress=lambda last, count: heard.append((last, count))))
        assert only(whole).count == 30
        assert len(only(whole).samples) == small.samples
        middle = sorted(ids)[9]
        assert only(found.look(Depth(full=True, after=middle))).count == 20
        sample = found.look()
        assert 0 < only(sample).count <= 4 * 3
        assert not sample.whole
        assert [count for _, count in heard] == sorted({count for _, count in heard})
    assert look(town, fix=True).healthy


def test_an_open_memory_diagnoses_and_mends_itself(town: System) -> None:
    with town.connect() as memory:
        lost = memory.remember("Ann likes tea", wait=True)
        with town.index() as index:
            index.purge([lost])
        assert only(memory.diagnose(full=True)).id == "memory_not_indexed"
        assert memory.diagnose(fix=True, full=True).healthy
        assert memory.diagnose(full=True).findings == ()


@pytest.mark.long
def test_a_server_that_hangs_is_not_waited_for_for_ever(town: System, testbed: Testbed) -> None:
    with testbed.freeze("redis" if testbed.urls else "valkey"):
        finding = only(diagnose(town.settings, embedder=town.embedder))
    assert finding.id == "redis_unreachable"


@pytest.mark.req("M67")
def test_four_faults_at_once_are_all_found_and_all_mended(stack: Servers) -> None:
    with system(stack) as town:
        # Given an index that lost one row and has one too many, a link to nothing, and jobs that no one does
        lost, orphan, linked = town.filled(["Ann likes tea", "a row left by a crash", "Bob plays chess"])
        town.sql("DELETE FROM crystal_links WHERE ns = %s", town.scope.ns)
        with town.index() as index:
            index.purge([lost])
        town.sql("DELETE FROM memories WHERE id = %s", orphan)
        town.sql(
            "INSERT INTO crystal_links (ns, source_id, target_id, link_type, version)"
            " SELECT ns, %s, %s, 'semantic', graph_version FROM scopes",
            linked,
            str(uuid.uuid4()),
        )
        with town.connect(**NOT_BY_ITSELF, close_timeout_s=0.0) as memory:
            memory.remember("waits for a worker")
        town.sql("UPDATE outbox SET due_at = now() - interval '2 minutes'")
        # When it is looked at and mended
        expected = ["memory_not_indexed", "worker_missing", "links_dangle", "row_without_memory"]
        assert [finding.id for finding in look(town).findings] == expected
        assert look(town, fix=True).healthy
        # Then nothing is wrong any more
        assert look(town).findings == ()
