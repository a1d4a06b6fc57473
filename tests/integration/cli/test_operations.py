"""`biem diagnose | perf | backup | restore FILE | reembed` as processes: what they print, and what they leave."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.support.cli_process import Cli

PEANUTS = "我对花生严重过敏，随身带着肾上腺素笔"
FAULTS = 10


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    home = tmp_path_factory.mktemp("operations") / "home"
    urls = Cli(home)("local", "up", "--no-indexer", "--json").document
    yield Cli(home, urls["BIEM_POSTGRES_DSN"])
    Cli(home)("local", "down")


@pytest.mark.req("G64", partly="timing of every stage")
@pytest.mark.req("M66")
def test_perf_prints_percentiles_of_each_stage_and_leaves_nothing(cli: Cli) -> None:
    stages = {row["stage"]: row for row in cli("perf", "--rounds", "3", "--json").document["stages"]}
    assert stages["biem.recall"]["count"] == stages["biem.remember"]["count"] == 3
    for row in stages.values():
        assert 0 < row["p50_ms"] <= row["p90_ms"] <= row["p99_ms"] <= row["worst_ms"]
    assert {"biem.recall.search", "biem.embed"} <= set(stages)
    with psycopg.connect(cli.dsn) as connection:
        assert connection.execute("SELECT count(*) FROM memories").fetchone() == (0,)


@pytest.mark.long
@pytest.mark.req("M64", partly="across processes")
def test_perf_tells_what_all_programs_recorded(cli: Cli) -> None:
    recording = {"BIEM_METRICS_ROWS": "true"}
    cli.process("remember", "said while it was recorded", "--user", "recorded", env=recording)
    cli.process("recall", "said", "--user", "recorded", env=recording)
    cli("recall", "said", "--user", "recorded")
    counts = {row["stage"]: row["count"] for row in cli("perf", "--recorded", "1", "--json").document["stages"]}
    assert (counts["store"], counts["retrieve"]) == (1, 1)
    assert "retrieve recall.search" in counts


@pytest.mark.long
@pytest.mark.req("M67", partly="the command")
def test_diagnose_exits_with_10_while_a_fault_is_left_and_fix_mends_it(cli: Cli) -> None:
    # Given a system that is well, and then a dead letter
    memory_id = cli("remember", "Ann likes tea", "--user", "sick", "--wait").stdout.strip()
    assert "no fault found" in cli("diagnose").stdout
    with psycopg.connect(cli.dsn, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO outbox (task, memory_id, ns, dead_at)"
            " SELECT 'purge', gen_random_uuid(), ns, now() FROM memories WHERE id = %s",
            (memory_id,),
        )
    # Then it is shown, once as a document and once for people, and mended when asked for
    told = cli("diagnose", "--full", "--json", code=FAULTS).document
    assert [finding["id"] for finding in told["findings"]] == ["dead_letters"]
    assert told["healthy"] is False
    shown = cli("diagnose", code=FAULTS).stdout
    assert "error: dead_letters" in shown
    assert "mend: `biem dead`" in shown
    assert "mended: dead_letters" in cli("diagnose", "--fix").stdout
    assert cli("diagnose", "--json").document["findings"] == []


def test_diagnose_lists_settings_that_do_not_exist_and_stays_healthy(cli: Cli) -> None:
    cli("stats")  # brings the schema
    told = cli.process("diagnose", "--json", env={"BIEM_TOP_K": "3", "BIEM_USER": "li"})
    (finding,) = told.document["findings"]
    assert (finding["id"], finding["severity"]) == ("setting_unknown", "note")
    assert "is BIEM_CONTEXT__TOP_K or" in finding["what"]
    assert told.document["healthy"] is True


def test_a_home_that_is_new_has_no_fault(tmp_path: Path) -> None:
    assert "no fault found" in Cli(tmp_path / "new").process("diagnose").stdout


def test_health_asks_every_server_and_starts_none(cli: Cli, tmp_path: Path) -> None:
    # Given a system that runs, and a home that has nothing
    none = Cli(tmp_path / "none")

    # When each is asked / Then one is ready, the other is not, and is as empty as before
    cli("stats")  # anyone who opens the embedded servers first brings their schema
    assert cli("health", "--json").document == {
        "ready": True, "degraded": [], "schema": "ok",
        "servers": {"postgres": "ok", "redis": "ok", "milvus": "ok"},
    }  # fmt: skip
    told = none("health", code=6)
    assert "not ready" in told.stderr
    assert "biem local up" in told.stdout
    assert not none.home.exists()


@pytest.mark.long
@pytest.mark.req("M68", partly="after PostgreSQL, Redis and Milvus were destroyed together")
def test_a_backup_is_brought_back_into_another_home_and_moved_to_another_model(cli: Cli, tmp_path: Path) -> None:
    # Given a backup, and a home that has nothing
    memory_id = cli("remember", PEANUTS, "--user", "lin", "--wait").stdout.strip()
    file = str(tmp_path / "b.biem")
    done = cli("backup", file, "--json").document
    assert done["memories"] >= 1
    assert done["bytes"] == Path(file).stat().st_size
    assert cli("restore", file, code=2).stderr.count("not empty") == 1
    other = Cli(tmp_path / "other")
    # When it is brought back there
    back = other("restore", file, "--json").document
    try:
        # Then recall answers, in the other language, too
        assert back["memories"] == done["memories"]
        (hit,) = other("recall", "What is she allergic to?", "-k", "1", "--user", "lin", "--json").document["hits"]
        assert hit["node"]["id"] == memory_id
        # And an embedder that there is none of is refused by the name of its option
        assert "--provider: Input should be 'e5'" in other("reembed", "--provider", "zz", code=5).stderr
        # And all of it can be moved to the other packaged model, which every command takes from then on
        moved = other("reembed", "--provider", "use", "--drop-old", "--json").document
        assert moved["dropped_collections"] == 1
        (hit,) = other("recall", "What is she allergic to?", "-k", "1", "--user", "lin", "--json").document["hits"]
        assert hit["node"]["id"] == memory_id
        assert other("stats", "--json").document["dimension"] == 512
        assert json.loads(other("diagnose", "--full", "--json").stdout)["healthy"] is True
    finally:
        other("local", "down")
        shutil.rmtree(other.home)


def test_restore_still_takes_the_id_of_an_archived_memory(cli: Cli) -> None:
    memory_id = cli("remember", "to rest for a while", "--user", "archive", "--wait").stdout.strip()
    cli("archive", memory_id, "--user", "archive")
    assert cli("restore", memory_id, "--user", "archive", "--json").document == {"restored": True}
    assert "is no backup" in cli("restore", "no-such-file", "--user", "archive", code=2).stderr
