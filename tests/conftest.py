"""Real servers for every test above the unit tests: one set a session (see `servers.py`), one scope a test."""

import gc
import importlib
import logging
import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import hypothesis
import psycopg
import pytest

import biem
from biem.bootstrap import Servers
from tests import report
from tests.support.fakes import WordEmbedder
from tests.support.servers import Choice, Configure, Testbed, choose, docker_answers, started

CHOICE = pytest.StashKey[Choice]()
BED = pytest.StashKey[Testbed]()
MEMORY = Path("/dev/shm")
"""Linux keeps what is written there in memory."""
ROOM = 3 << 30
"""Bytes that must be free there: more than twice what the homes of a run take at a time."""


def pytest_configure(config: pytest.Config) -> None:
    """Decide which servers the session runs on; a busy machine is no reason for an example to fail.

    `HYPOTHESIS_PROFILE=thorough` tries ten times as many examples as one waits for each time.
    """
    hypothesis.settings.register_profile("quick", deadline=None, max_examples=30)
    hypothesis.settings.register_profile("thorough", deadline=None, max_examples=300)
    hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
    report.register(config)
    config.stash[CHOICE] = choose(os.environ, docker_answers)
    if "TMPDIR" not in os.environ and _has_room(MEMORY):
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)  # for the processes that tests start, too


def _has_room(folder: Path) -> bool:
    """Whether homes of servers fit in there.

    On a disk the suite waits for it much of the time. Nothing is tested less: a process that is killed loses in memory
    what it loses on a disk, and no test cuts the power. `TMPDIR=/tmp make test` runs it on the disk.
    """
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    may = os.access(folder, os.W_OK | os.X_OK) and not found.f_flag & os.ST_NOEXEC
    return may and found.f_bavail * found.f_frsize >= ROOM


def pytest_collection(session: pytest.Session) -> None:
    """What is imported stays: looking through it for garbage, again and again, takes a second of each run."""
    gc.disable()
    _share_compiling(session.config)


def _share_compiling(config: pytest.Config) -> None:
    """Have each process of xdist begin its imports at another file.

    Every process imports every file. On a fresh clone all of them would compile the same file at the same time; now
    each compiles its share, and reads what the others compiled.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None:
        return
    number, count = int(worker["workerid"].removeprefix("gw")), int(worker["workercount"])
    names = [
        ".".join(path.relative_to(config.rootpath).with_suffix("").parts)
        for folder in config.args
        for path in sorted((config.invocation_params.dir / folder).rglob("test_*.py"))
    ]
    begin = len(names) * number // count
    for name in names[begin:] + names[:begin]:
        with suppress(Exception, pytest.skip.Exception):  # pytest imports it again and reports the error
            importlib.import_module(name)


def pytest_collection_finish() -> None:
    """From here on garbage is what tests leave behind."""
    gc.freeze()
    gc.enable()


def pytest_report_header(config: pytest.Config) -> str:
    """Say which."""
    choice = config.stash[CHOICE]
    return f"servers: {choice.kind} ({choice.why})"


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own environment must not decide what a test does."""
    for name in os.environ:
        if name.startswith(("BIEM_", "MILVUS_", "POSTGRES_", "DISABLE_MEMORY")):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _no_log_level_from_another_test() -> Iterator[None]:
    """Commands that run in the test process set how much is logged."""
    yield
    logging.getLogger("biem").setLevel(logging.NOTSET)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of the session's servers."""
    return tmp_path_factory.mktemp("home") / "biem"


@pytest.fixture(scope="session")
def testbed(request: pytest.FixtureRequest, home: Path) -> Iterator[Testbed]:
    """The session's servers, and what can be done to them."""
    with started(request.config.stash[CHOICE], home) as bed:
        request.config.stash[BED] = bed
        yield bed


@pytest.fixture(scope="module", autouse=True)
def _no_jobs_from_another_file(request: pytest.FixtureRequest) -> Iterator[None]:
    """Servers that this process has alone: the workers of the next file would first encode what this one left."""
    yield
    bed = request.config.stash.get(BED, None)
    if bed is not None and bed.where.embedded:
        with psycopg.connect(bed.where.postgres_dsn) as connection:
            if connection.execute("SELECT to_regclass('outbox') IS NOT NULL").fetchone() == (True,):
                connection.execute("DELETE FROM outbox WHERE id IN (SELECT id FROM outbox FOR UPDATE SKIP LOCKED)")


@pytest.fixture(scope="session")
def stack(testbed: Testbed) -> Servers:
    """The session's servers, with a migrated database."""
    return testbed.where


@pytest.fixture(scope="session")
def settings(testbed: Testbed) -> Configure:
    """Builds settings that lead to the session's servers; its arguments are further settings."""
    return testbed.settings


@pytest.fixture(scope="session")
def environment(testbed: Testbed) -> dict[str, str]:
    """The variables that lead another process to the session's servers."""
    return testbed.environment


@pytest.fixture
def embedder() -> WordEmbedder:
    """An embedder of the test's own."""
    return WordEmbedder()


@pytest.fixture
def memory(settings: Configure, embedder: WordEmbedder) -> Iterator[biem.Memory]:
    """A memory in a scope of the test's own."""
    with biem.connect(settings(), scope=biem.Scope(user=uuid.uuid4().hex), embedder=embedder) as opened:
        yield opened
