"""`biem local up` leaves a process that indexes what others write and leave; it lives as long as the servers."""

import os
import pickle
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from pydantic import SecretStr

from biem.bootstrap import local_indexer
from biem.bootstrap.indexer import start
from biem.config import Settings
from tests.support.cli_process import Cli, lines
from tests.support.fakes import eventually


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    home = tmp_path / "home"
    urls = Cli(home).process("local", "up", "--json").document
    yield Cli(home, urls["BIEM_POSTGRES_DSN"])
    Cli(home)("local", "down")


def pending(cli: Cli) -> int:
    with psycopg.connect(cli.dsn) as connection:
        row = connection.execute("SELECT count(*) FROM memories WHERE status = 'pending'").fetchone()
    return row[0] if row else -1


def lives(pid: int) -> bool:
    """Whether it does anything: a process that ended may still be in the list."""
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def waiting(cli: Cli) -> int:
    """The pid of the indexer, once it has said it."""
    eventually(lambda: local_indexer(Settings(home=cli.home)) is not None)
    found = local_indexer(Settings(home=cli.home))
    assert found is not None
    return found


@pytest.mark.long
@pytest.mark.req("D1", partly="indexing goes on when the writer has left")
def test_what_an_import_left_is_indexed_and_the_indexer_ends_with_the_servers(cli: Cli, tmp_path: Path) -> None:
    # Given an import that does not wait, and whose process has ended
    path = tmp_path / "talk.jsonl"
    path.write_bytes(lines(*({"speaker": "Ann", "text": f"Note {number} of the garden"} for number in range(40))))
    cli.process("import", str(path), "--no-wait")
    # When time passes / Then all of it is indexed
    eventually(lambda: pending(cli) == 0, 120)
    first = waiting(cli)
    assert cli("local", "status", "--json").document["indexer"] == first
    # And a second `local up` starts no other, but one for an indexer that was killed
    cli("local", "up", "--json")
    assert waiting(cli) == first
    os.kill(first, signal.SIGKILL)
    eventually(lambda: local_indexer(Settings(home=cli.home)) is None)
    cli("local", "up", "--json")
    second = waiting(cli)
    assert second != first
    cli("remember", "One more note")
    eventually(lambda: pending(cli) == 0, 120)
    # And it ends with the servers
    cli("local", "down")
    assert not lives(second)
    assert local_indexer(Settings(home=cli.home)) is None
    assert cli("local", "status", "--json").document["running"] is False


def test_where_workers_do_the_work_there_is_no_indexer(tmp_path: Path) -> None:
    for queue in ("none", "celery"):
        start(Settings(home=tmp_path / "home", queue=queue))
    assert not (tmp_path / "home").exists()


def test_the_settings_that_an_indexer_gets_are_those_of_its_starter(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, milvus_token=SecretStr("hidden"), postgres_pool=7)  # pragma: allowlist secret
    assert pickle.loads(pickle.dumps(settings)) == settings
