"""The embedded stack with its real servers, each test in its own home."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
import redis

from biem.adapters.embedded import Status, boot, keep, status, stop
from biem.adapters.milvus.light_import import MilvusClient
from biem.errors import ConfigError, StoreFull
from tests.support import stacks
from tests.support.fakes import PATIENCE_S, eventually
from tests.support.stacks import (
    CLIENT,
    down,
    joined,
    kill_owner,
    processes,
    query,
    recovered,
    server_pid,
)

# Fixtures, not in a conftest: only these two files want them.
base, cluster, own_home, new_home = stacks.base, stacks.cluster, stacks.own_home, stacks.new_home


@pytest.mark.req("D1")
def test_all_three_servers_answer_soon_also_on_the_first_start_and_keep_their_data(new_home: Path) -> None:
    # Given a home that does not exist yet
    started = time.monotonic()
    with joined(new_home) as urls:
        first_start_s = time.monotonic() - started
        # When each server is written to
        query(urls, "CREATE TABLE t (x int)")
        query(urls, "INSERT INTO t VALUES (42)")
        with redis.Redis.from_url(urls.redis_url) as hot:
            assert hot.set("x", "42")
        milvus = MilvusClient(uri=urls.milvus_uri)
        milvus.create_collection("c", dimension=4, auto_id=False)
        milvus.insert("c", [{"id": 42, "vector": [1.0, 0.0, 0.0, 0.0]}])
        milvus.close()
    eventually(lambda: down(new_home), PATIENCE_S, "the last one to leave ends the servers")
    # Then a later start finds it again
    started = time.monotonic()
    with joined(new_home) as urls:
        warm_start_s = time.monotonic() - started
        assert query(urls, "SELECT x FROM t") == [(42,)]
        with redis.Redis.from_url(urls.redis_url, decode_responses=True) as hot:
            assert hot.get("x") == "42"
        milvus = MilvusClient(uri=urls.milvus_uri)
        milvus.load_collection("c")
        assert [row["id"] for row in milvus.query("c", "id == 42")] == [42]
        milvus.close()
    assert max(first_start_s, warm_start_s) < 30  # how soon when others do not compute: test_start_time


@pytest.mark.req("D1")
def test_postgres_is_durable_and_speaks_utf8(own_home: Path) -> None:
    with joined(own_home) as urls:
        shown = [query(urls, f"SHOW {name}") for name in ("fsync", "synchronous_commit", "server_encoding")]
        lowered = query(urls, "SELECT lower('ÄÉЖΣ')")
    assert shown == [[("on",)], [("on",)], [("UTF8",)]]
    assert lowered == [("äéжσ",)]


@pytest.mark.req("D1")
def test_a_second_home_runs_next_to_the_first(base: Path) -> None:
    with joined(base / "one") as one, joined(base / "two") as two:
        query(one, "CREATE TABLE only_here (x int)")
        assert query(two, "SELECT to_regclass('only_here')") == [(None,)]
        assert not {status(base / "one").owner_pid} & {status(base / "two").owner_pid}


@pytest.mark.req("D1")
def test_nothing_listens_beyond_a_unix_socket_in_a_closed_folder(own_home: Path) -> None:
    with joined(own_home) as urls:
        everything = processes(own_home)
        assert len(everything) >= 4
        for pid in everything:
            assert psutil.Process(pid).net_connections("inet") == []
        folder = Path(urls.redis_url.removeprefix("unix://")).parent
        assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.req("D1")
def test_a_home_leaves_no_files_anywhere_else(own_home: Path) -> None:
    # Given servers that have worked
    with joined(own_home) as urls:
        query(urls, "CREATE TABLE t (x int)")
        milvus = MilvusClient(uri=urls.milvus_uri)
        milvus.create_collection("c", dimension=4, auto_id=False)
        milvus.insert("c", [{"id": 42, "vector": [1.0, 0.0, 0.0, 0.0]}])
        milvus.close()
        # When their open files are listed, their logs among them
        opened = {Path(file.path) for pid in processes(own_home) for file in psutil.Process(pid).open_files()}
    # Then none lies outside of the home
    assert own_home / "milvus" / "milvus.db" in opened
    assert {path for path in opened if not path.is_relative_to(own_home) and "/lib/" not in str(path)} == set()


@pytest.mark.long
@pytest.mark.req("D1", partly="how root is served; only root can show it")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can show how root is served")
def test_root_hands_postgres_to_another_user_without_opening_folders(base: Path, own_home: Path) -> None:
    with joined(own_home) as urls:
        assert query(urls, "SELECT 1") == [(1,)]
        assert psutil.Process(server_pid(own_home, "postgres")).uids().effective != 0
        dead = kill_owner(own_home)
        eventually(recovered(own_home, dead), PATIENCE_S, "a new owner")
        assert query(urls, "SELECT 1") == [(1,)]
    assert base.stat().st_mode & 0o777 == 0o700
    assert own_home.stat().st_mode & 0o777 == 0o700


@pytest.mark.long
@pytest.mark.req("D1", partly="an ordinary user; only root can show it")
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root to become somebody else")
def test_an_ordinary_user_is_served(base: Path, new_home: Path) -> None:
    # Given a user without rights; it may read, because the interpreter may lie below a closed folder here
    new_home.mkdir(0o700)
    os.chown(new_home, 65534, 65534)
    base.chmod(0o711)
    caps = "-all,+dac_read_search"
    become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    become += [f"--inh-caps={caps}", f"--ambient-caps={caps}", f"--bounding-set={caps}"]
    # When it uses its own home
    words = [*become, sys.executable, "-c", CLIENT, str(new_home)]
    done = subprocess.run(words, input="", capture_output=True, text=True, check=False)
    # Then the servers run, and all is its own
    assert done.returncode == 0, done.stderr
    eventually(lambda: down(new_home), PATIENCE_S, "the last one to leave ends the servers")
    assert {path.lstat().st_uid for path in new_home.rglob("*")} == {65534}


@pytest.mark.req("D1")
def test_stop_ends_the_servers_for_joined_clients_too_until_a_client_joins_again(own_home: Path) -> None:
    with joined(own_home) as urls:
        # When a user stops the stack
        assert stop(own_home)
        # Then the client that is still there does not bring it back
        assert down(own_home)
        with pytest.raises(AssertionError, match="nobody brings it back"):
            eventually(lambda: status(own_home).running, 1, "nobody brings it back")
        # And a new client does, for both
        with joined(own_home):
            assert query(urls, "SELECT 1") == [(1,)]
        # And from then on the first one looks after it again
        eventually(recovered(own_home, kill_owner(own_home)), PATIENCE_S, "a new owner")


@pytest.mark.req("D1")
def test_keep_holds_the_servers_up_without_clients_until_stop(own_home: Path) -> None:
    urls = keep(own_home)
    with pytest.raises(AssertionError, match="stays up"):
        eventually(lambda: not status(own_home).running, 1.5, "stays up")
    assert query(urls, "SELECT 1") == [(1,)]
    assert status(own_home).kept
    assert stop(own_home)
    assert down(own_home)
    assert not status(own_home).kept


@pytest.mark.req("D1")
@pytest.mark.parametrize("name", ["l" * 120, "ü 100%, 'x\" #"])
def test_a_home_with_a_long_or_odd_name_works(base: Path, name: str) -> None:
    with joined(base / name) as urls:
        assert query(urls, "SELECT 1") == [(1,)]
        with redis.Redis.from_url(urls.redis_url) as hot:
            assert hot.ping()
        milvus = MilvusClient(uri=urls.milvus_uri)
        assert milvus.list_collections() == []
        milvus.close()
        sockets = Path(urls.redis_url.removeprefix("unix://")).parent
    eventually(lambda: down(base / name), PATIENCE_S, "the servers end")
    assert not sockets.exists()


@pytest.mark.req("D1")
def test_a_link_to_a_home_is_the_same_home(base: Path) -> None:
    (base / "link").symlink_to(base / "home")
    with joined(base / "home") as direct, joined(base / "link") as linked:
        assert direct == linked
    (base / "link").unlink()


@pytest.mark.req("D1")
def test_a_home_that_cannot_work_says_what_to_do(base: Path) -> None:
    a_file = base / "file"
    a_file.touch()
    for impossible in (a_file, a_file / "below", base / ("n" * 300), Path("/proc/biem"), Path("nul\0")):
        with pytest.raises(ConfigError, match="BIEM_HOME"):
            joined(impossible).join()
    a_file.unlink()


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[None]:
    """A disk of so much room in this place, for the block."""
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=False).returncode != 0:
        pytest.skip("not allowed to mount here")
    try:
        yield
        eventually(lambda: down(place), PATIENCE_S, "nothing is left")
    finally:
        subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.long
@pytest.mark.req("D1", partly="a full disk; needs a machine that lets it mount one")
@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="needs to mount a small disk")
def test_a_full_disk_is_reported_as_such(new_home: Path) -> None:
    with small_disk(new_home, "20m"), pytest.raises(StoreFull, match="free space"):
        joined(new_home).join()


@pytest.mark.long
@pytest.mark.req("D1", partly="a full disk; needs a machine that lets it mount one")
@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="needs to mount a small disk")
def test_a_home_whose_disk_filled_up_says_so_and_starts_again_when_there_is_room(new_home: Path, cluster: Path) -> None:
    with small_disk(new_home, "120m"):
        # Given a home that was used, and a disk with no room even for what the servers would say about it
        new_home.chmod(0o700)
        shutil.copytree(cluster, new_home / "postgres")
        with joined(new_home) as urls:
            query(urls, "CREATE TABLE t AS SELECT 42 AS x")
        eventually(lambda: down(new_home), PATIENCE_S, "the servers end")
        filler = new_home / "filler"
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"\0" * 4096)
        # When a user wants it
        with pytest.raises(StoreFull, match="free space"):
            joined(new_home).join()
        # Then it is there again as soon as there is room
        filler.unlink()
        with joined(new_home) as urls:
            assert query(urls, "SELECT x FROM t") == [(42,)]


@pytest.mark.req("D1")
def test_status_and_stop_of_an_unused_home_create_nothing(new_home: Path) -> None:
    found: Status = status(new_home)
    assert (found.running, found.ready, found.kept, found.owner_pid) == (False, False, False, None)
    assert [(s.name, s.pid, s.ready) for s in found.servers] == [
        ("postgres", None, False),
        ("valkey", None, False),
        ("milvus", None, False),
    ]
    assert stop(new_home)
    assert not new_home.exists()


@pytest.mark.req("D1")
def test_the_owner_starts_fast_because_it_imports_little() -> None:
    # pymilvus alone takes longer to import than the servers to start
    words = [sys.executable, "-X", "importtime", boot.__file__]
    # Without arguments it ends after its imports
    report = subprocess.run(words, capture_output=True, text=True, check=False).stderr
    imported = {line.rpartition("|")[2].strip() for line in report.splitlines()}
    assert "psycopg" in imported
    assert not {"pymilvus", "numpy", "redis", "biem.bootstrap"} & imported
