"""What the tests of the embedded stack share: homes, other processes, and patience."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest

from biem.adapters.embedded import EmbeddedStack, Urls, keep, status, stop
from tests.support.fakes import PATIENCE_S, eventually

LINGER_S = 0.2
CLIENT = f"""
import sys
from pathlib import Path
from biem.adapters.embedded import EmbeddedStack, status
home = Path(sys.argv[1])
with EmbeddedStack(home, linger_s={LINGER_S}):
    print(status(home).owner_pid, flush=True)
    sys.stdin.read()
"""


def processes(home: Path) -> list[int]:
    """All living processes whose command line names this home, and their children."""
    found = set()
    for process in psutil.process_iter(["pid", "cmdline", "status"]):
        words = " ".join(process.info["cmdline"] or ())
        if f"{home}/" in words or ("embedded/boot.py" in words and str(home) in words):
            found.add(process.info["pid"])
            try:
                found |= {child.pid for child in process.children(recursive=True)}
            except psutil.NoSuchProcess:
                continue
    return [pid for pid in found if lives(pid)]


def lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill_owner(home: Path) -> int:
    owner = status(home).owner_pid
    assert owner is not None
    os.kill(owner, signal.SIGKILL)
    return owner


def recovered(home: Path, dead_owner: int) -> Callable[[], bool]:
    def check() -> bool:
        now = status(home)
        return now.ready and now.owner_pid != dead_owner

    return check


def server_pid(home: Path, name: str) -> int:
    pid = next(server.pid for server in status(home).servers if server.name == name)
    assert pid is not None
    return pid


def query(urls: Urls, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(urls.postgres_dsn, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def down(home: Path) -> bool:
    return not status(home).running and not processes(home)


@contextmanager
def client(home: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has joined; leaves when its standard input is closed."""
    words = [sys.executable, "-c", CLIENT, str(home)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def owner_seen_by(process: subprocess.Popen[str]) -> int:
    """The owner that the other process joined; waits until it has."""
    assert process.stdout is not None
    return int(process.stdout.readline())


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder that only this user can enter, and that holds no server afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="biem-")).resolve()
    folder.chmod(0o700)
    yield folder
    for home in (folder, *folder.iterdir()):
        stop(home)
    eventually(lambda: not processes(folder), PATIENCE_S, f"all servers of {folder} are gone: {processes(folder)}")
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty cluster to copy, because making one takes longer than all the rest of a start."""
    home = tmp_path_factory.mktemp("template")
    keep(home)
    assert stop(home)
    return home / "postgres"


@pytest.fixture
def own_home(base: Path, cluster: Path) -> Path:
    """A home of the test's own that was used before."""
    home = base / "home"
    home.mkdir(0o700)
    shutil.copytree(cluster, home / "postgres")
    return home


@pytest.fixture
def new_home(base: Path) -> Path:
    """A home that does not exist yet."""
    return base / "home"


def joined(home: Path) -> EmbeddedStack:
    return EmbeddedStack(home, linger_s=LINGER_S)
