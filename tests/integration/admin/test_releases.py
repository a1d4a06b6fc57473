"""Programs of an earlier release and of this version on the same servers, one after the other and side by side."""

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis

from biem.bootstrap import Servers
from tests.integration.faults.test_spoilt_projections import dumped
from tests.support.fakes import eventually
from tests.support.servers import ROOT
from tests.support.systems import System, system

RELEASES = sorted((ROOT / "tests" / "releases").glob("*.tar.xz"))
AGENT = Path(__file__).parents[2] / "support" / "release_agent.py"
LEFT_OUT = Path("biem/adapters/analyzers/words/not_names_zh.txt")


class Agent:
    """A program of some version."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.package = self._hear()

    def _hear(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the program ended; what it said stands above"
        return json.loads(line)

    def __call__(self, verb: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([verb, arguments]) + "\n")
        self._process.stdin.flush()
        return self._hear()

    def texts(self, **arguments: Any) -> list[str]:
        """What a recall finds; nothing may be down."""
        found = self("recall", query="lantern", **arguments)
        assert found["degraded"] == []
        return found["texts"]  # type: ignore[no-any-return]


@contextmanager
def program(code: Path, town: System, queue: str = "thread") -> Iterator[Agent]:
    """A program of the version in a folder, in the scope of the system, until the end of the block."""
    settings = town.settings
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{code}{os.pathsep}{ROOT}",
        "BIEM_POSTGRES_DSN": settings.postgres_url() or "",
        "BIEM_REDIS_URL": town.where.redis_url,
        "BIEM_MILVUS_URI": town.where.milvus_uri,
        "BIEM_MILVUS_COLLECTION": settings.milvus_collection,
        "BIEM_CLOSE_TIMEOUT_S": "5",
    }
    command = [sys.executable, "-P", str(AGENT), town.scope.user, queue]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=code
    ) as process:
        try:
            agent = Agent(process)
            assert Path(agent.package).is_relative_to(code)
            yield agent
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(60) == 0
        finally:
            process.kill()


@pytest.fixture(scope="module", params=RELEASES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def old(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code of a release."""
    folder = tmp_path_factory.mktemp("release")
    with tarfile.open(request.param) as archive:
        archive.extractall(folder, filter="data")
    (folder / LEFT_OUT).touch()
    return folder


def kept(town: System, needle: str) -> list[bytes]:
    """Values of the scope in Redis that hold a word."""
    with redis.Redis.from_url(town.where.redis_url) as client:
        return [value for value in dumped(client, town.scope.ns) if needle.encode() in value]


def test_there_is_an_earlier_release() -> None:
    assert RELEASES
    assert all(path.stat().st_size < 1_000_000 for path in RELEASES)


@pytest.mark.long
def test_an_upgrade_and_its_return_lose_nothing_and_bring_back_nothing(stack: Servers, old: Path) -> None:
    with system(stack, migrated=False) as town:
        # Given what the old version wrote and used, in a database of its schema
        with program(old, town) as agent:
            first = agent("remember", text="the lantern of spring", wait=True)
            secret = agent("remember", text="the lantern opens with zqold", wait=True)
            agent("feedback", useful=[first, secret])
            agent("use", query="lantern")
            assert agent("use", query="lantern")["hot"] == 2
        # When this version takes its place
        with program(ROOT, town) as agent:
            # Then it knows all of it, and what it erases is erased in what the old one kept, too
            assert agent.texts() == ["the lantern of spring", "the lantern opens with zqold"]
            assert "spring" in agent("use", query="lantern")["block"]
            assert agent.texts(session="s") == agent.texts(session="s")
            assert agent("erase", id=secret)
            assert kept(town, "zqold") == []
            agent("remember", text="the lantern of summer", wait=True)
            token = agent("remember", text="the lantern shuts with zqnew", wait=True)
            agent("use", query="lantern")
            assert agent("sleep") == []
            assert agent("diagnose") == []
        # And when the old one comes back, it knows what this one wrote, and not what this one erased
        with program(old, town) as agent:
            assert agent.texts() == ["the lantern of spring", "the lantern of summer", "the lantern shuts with zqnew"]
            assert "summer" in agent("use", query="lantern")["block"]
            assert agent("erase", id=token)
            assert kept(town, "zqnew") == []
            agent("remember", text="the lantern of autumn", wait=True)
            assert agent("sleep") == []
            assert set(agent("diagnose")) <= {"schema_ahead"}
        # And the other way round once more
        with program(ROOT, town) as agent:
            assert agent.texts() == ["the lantern of autumn", "the lantern of spring", "the lantern of summer"]
            assert "autumn" in agent("use", query="lantern")["block"]
            assert agent("diagnose") == []
            assert kept(town, "zq") == []


@pytest.mark.long
@pytest.mark.parametrize("worker", ["old", "new"])
def test_side_by_side_each_indexes_and_tells_what_the_other_wrote(stack: Servers, old: Path, worker: str) -> None:
    with system(stack) as town, ExitStack() as programs:
        # Given both versions at once, of which one has a worker
        queues = {"old": "none", "new": "none"} | {worker: "thread"}
        one = programs.enter_context(program(old, town, queues["old"]))
        two = programs.enter_context(program(ROOT, town, queues["new"]))
        # When both write and use the same conversation in turn
        ids: list[str] = []
        for number in range(4):
            for name, agent in (("old", one), ("new", two)):
                ids.append(agent("remember", text=f"the lantern {number} of the {name}", wait=False))
                agent("use", query="lantern")
        # Then each row is indexed, both find all, with sessions and without, and nothing is down or differs
        assert (one if worker == "old" else two)("flush")
        assert {two("status", id=memory_id) for memory_id in ids} == {"active"}
        # (The old one takes Milvus for down where the first row comes while it searches none, and asks again in 2 s.)
        eventually(lambda: one("recall", query="lantern")["degraded"] == [])
        for agent in (one, two, one, two):
            assert len(agent.texts()) == 8
            assert len(agent.texts(session="s")) == 8
            agent("feedback", useful=ids[:3])
        assert one("erase", id=ids[0])
        assert two("erase", id=ids[1])
        for agent in (one, two):
            assert len(agent.texts()) == 6
        assert kept(town, "0 of") == []


@pytest.mark.long
def test_the_old_version_works_on_a_later_schema_and_says_that_it_is_later(stack: Servers, old: Path) -> None:
    with system(stack) as town:
        # Given a schema to which a version after this one has added something
        town.sql("INSERT INTO schema_migrations (number, name, sha256) VALUES (9999, '9999_later.sql', 'x')")
        town.sql("ALTER TABLE memories ADD COLUMN of_a_later_version integer NOT NULL DEFAULT 0")
        for code in (old, ROOT):
            # When it is opened / Then all works, and diagnosing says what is ahead
            with program(code, town) as agent:
                agent("remember", text=f"the lantern {code.name}", wait=True)
                assert f"the lantern {code.name}" in agent.texts()
                assert agent("sleep") == []
                assert "schema_ahead" in agent("diagnose")
