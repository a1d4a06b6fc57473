"""Real `celery worker` and `celery beat` processes on the embedded servers."""

import logging
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest
import yaml

import biem
from biem.adapters.jobs.celery import CeleryQueue
from biem.bootstrap import migrate, servers
from biem.bootstrap.rescan import rescan
from biem.config import Settings
from biem.domain.policies.jobs import SleepPolicy
from biem.errors import ConfigError
from tests.support.fakes import eventually
from tests.support.servers import COMPOSE, Testbed

PERIODS = {
    f"BIEM_SLEEP__{name.upper()}": "30"
    for name in SleepPolicy.__slots__
    if name.endswith("_s") and name not in ("tick_s", "task_limit_s", "outbox_s")
}


@contextmanager
def celery(home: Path, log: Path, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Celery process, stopped as an operator would; its log is the file, next to which lies what it leaves behind."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "biem.workers.app", *arguments, "--loglevel", "INFO"],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | {"BIEM_HOME": str(home), "TMPDIR": str(log.parent)} | environment,
            cwd=Path(__file__).parents[3],
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30.0)
        except subprocess.TimeoutExpired:  # warm shutdown hangs: the test has failed by then, or will
            process.kill()
            process.wait()


def worker(home: Path, log: Path, **environment: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """A prefork worker of two processes for all queues."""
    arguments = ("worker", "-Q", "encode,maintain", "--pool", "prefork", "--concurrency", "2")
    return celery(home, log, *arguments, **environment)


@pytest.fixture
def own_home(tmp_path: Path) -> Path:
    """Servers that no other test's worker looks at."""
    return tmp_path / "home"


@pytest.fixture(scope="module")
def shared_worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The home and the log of a worker for several tests, since it takes half a minute to start; periods of a second
    say nothing without beat.
    """
    folder = tmp_path_factory.mktemp("worker")
    home, log = folder / "home", folder / "worker.log"
    with servers(Settings(home=home)):
        migrate(Settings(home=home))
        with worker(home, log, **PERIODS):
            eventually(lambda: b"ready." in log.read_bytes(), 300.0)
            yield home, log


# D10: leases and attempts, counted at the claim: contract/postgres/records/test_jobs; a poison row and the dead letter:
# unit/engine/encode/test_worker; a lost wake-up: contract/jobs/test_queue; a task calls and reports: test_worker_tasks
@pytest.mark.req("D10")
def test_a_prefork_worker_encodes_what_a_writer_only_announced(shared_worker: tuple[Path, Path]) -> None:
    # Given a writer that does no work itself, and a worker whose children load the model after the fork
    home, _ = shared_worker
    with biem.connect(Settings(home=home, queue="celery")) as memory:
        # When two messages are remembered / Then they become active by the worker's hand
        ids = [memory.remember("The violin lesson is on Monday"), memory.remember("小提琴课在星期一")]
        eventually(lambda: all(memory.get(key).status == "active" for key in ids), 300.0)
        assert memory.recall("When is the violin lesson?")[0].node.id in ids

        # And when a session becomes full, the worker trims it without waiting for beat, which does not run here
        session = memory.sessions.open()
        for number in range(5):
            memory.sessions.append(session.id, "user", f"Lesson {number} was about scales", tokens=40_000)
        eventually(lambda: memory.sessions.get(session.id).head_seq > 1, 300.0)


@pytest.mark.req("X2", partly="Celery")
@pytest.mark.req("C15")
def test_within_one_period_beat_has_every_job_run(shared_worker: tuple[Path, Path], tmp_path: Path) -> None:
    # Given a memory with something in it, and a worker
    home, log = shared_worker
    with biem.connect(Settings(home=home)) as memory:
        memory.remember("Ana plays the violin", conversation="c", speaker="Ana", wait=True)

    begun = log.stat().st_size

    def ran() -> set[str]:
        said = log.read_bytes()[begun:].decode(errors="replace")
        return set(re.findall(r"succeeded in \S+: \{'job': '(\w+)'", said))

    # When beat runs, too, with a period of half a minute: it sends all jobs at once, and drops what waited for so long
    with celery(home, tmp_path / "beat.log", "beat", **PERIODS):
        # Then every job of the table ran, and the outbox was looked at
        eventually(lambda: ran() == set(SleepPolicy().periods()), 450.0)
    assert "Traceback" not in log.read_text(errors="replace")


@pytest.mark.long
@pytest.mark.req("X13", "X8", partly="a worker that is killed")
def test_a_killed_worker_process_loses_no_memory(own_home: Path, tmp_path: Path) -> None:
    # Given many pending memories and a worker that has begun with them
    with biem.connect(Settings(home=own_home, queue="celery", encode={"lease_s": 2.0})) as memory:
        log = tmp_path / "worker.log"
        with worker(own_home, log, BIEM_ENCODE__LEASE_S="2") as process:
            eventually(lambda: b"ready." in log.read_bytes(), 300.0)
            ids = memory.remember_many({"text": f"fact number {number}"} for number in range(150))
            eventually(lambda: int(memory.stats()["active"]) > 0, 300.0)

            # When all its processes are killed
            children = subprocess.run(
                ["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=True
            ).stdout.split()
            for pid in (process.pid, *map(int, children)):
                os.kill(pid, signal.SIGKILL)
            process.wait()

        # And another takes over / Then each memory is indexed, once
        with worker(own_home, tmp_path / "second.log", BIEM_ENCODE__LEASE_S="2"):
            memory.retry()
            eventually(lambda: int(memory.stats()["active"]) == len(ids), 300.0)
        assert {memory.get(key).status for key in ids} == {"active"}


def notes(memory: biem.Memory) -> dict[str, int]:
    """A rescan hook: two notes, each with its own name."""
    known = int(memory.stats()["memories"])
    memory.remember_many({"text": f"note {name}", "ref": f"note:{name}"} for name in "ab")
    return {"added": int(memory.stats()["memories"]) - known}


def test_a_rescan_hook_is_called_with_a_memory_and_may_be_called_again(testbed: Testbed) -> None:
    # Given settings that name a function of the user's
    hook = {"rescan": f"{__name__}:notes", "tenant": "rescan", "user": uuid.uuid4().hex}
    settings = testbed.settings(**hook)

    # When it is called twice / Then the second call found nothing new; one that is not there is a setting to correct
    assert rescan(settings) == {"added": 2}
    assert rescan(settings) == {"added": 0}
    with pytest.raises(ConfigError, match="names no function"):
        rescan(settings.model_copy(update={"rescan": "no.such:function"}))
    assert rescan(settings.model_copy(update={"rescan": ""})) == {}


@pytest.mark.parametrize("url", ["redis://127.0.0.1:9/0", "amqp://127.0.0.1:9//"])
def test_a_broker_that_is_down_costs_no_write(url: str, caplog: pytest.LogCaptureFixture) -> None:
    # Given a queue whose broker no one answers for
    queue = CeleryQueue(url)
    queue.start(lambda: 0)

    # When a writer wakes it, and it is stopped
    with caplog.at_level(logging.WARNING, logger="biem.worker"):
        started = time.monotonic()
        queue.wake()
        waited_s = time.monotonic() - started
        queue.stop(60.0)
        closed_s = time.monotonic() - started

    # Then the writer did not wait, closing tried no more than once, and the log says once who will do the work
    assert waited_s < 20
    assert closed_s < 20
    [warning] = [record.getMessage() for record in caplog.records if record.name == "biem.worker"]
    assert warning.startswith("workers not woken, beat will wake them: ")
    assert "onnection refused" in warning


def _seconds(text: str) -> float:
    """Of a duration as Compose files have it."""
    (amount,) = re.findall(r"^(\d+)s$", text)
    return float(amount)


@pytest.mark.long
def test_four_workers_that_start_at_once_are_healthy_within_the_time_that_health_checks_give(
    own_home: Path, tmp_path: Path
) -> None:
    # Given the time that a container has before its health counts
    services = yaml.safe_load(COMPOSE[0].read_text(encoding="utf-8"))["services"]
    check = services["worker"]["healthcheck"]
    given_s = _seconds(check["start_period"])
    probe = [sys.executable, *check["test"][2:]]
    assert probe[1:] == ["-m", "biem.workers.health", "--ready", "worker"]

    # When four workers of two processes start side by side, each in its own folder
    with servers(Settings(home=own_home)), ExitStack() as stack:
        migrate(Settings(home=own_home))
        folders = [tmp_path / f"worker-{number}" for number in range(4)]
        for folder in folders:
            folder.mkdir()
        processes = [stack.enter_context(worker(own_home, folder / "log")) for folder in folders]
        for process in processes:
            stack.callback(process.terminate)  # all at once, before any is waited for

        # Then the check of each is passed within that time
        def pulse(folder: Path) -> Path:
            return folder / f"biem-{os.geteuid()}" / "worker.alive"

        eventually(lambda: all(pulse(folder).exists() for folder in folders), given_s)
        for folder in folders:
            done = subprocess.run(probe, env=os.environ | {"TMPDIR": str(folder)}, capture_output=True, check=False)
            assert done.returncode == 0, done.stderr
