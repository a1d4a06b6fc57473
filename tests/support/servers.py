"""Which servers the suite runs on: embedded ones, containers, or those that the environment names.

`BIEM_TEST_SERVERS`: `embedded` (default), `containers`, or `auto`, which takes containers where Docker answers and the
embedded servers elsewhere; `milvus-server`: embedded ones, but Milvus is a standalone server, from the program that
`BIEM_TEST_MILVUS_SERVER` names.
`BIEM_TEST_POSTGRES_DSN`, `BIEM_TEST_REDIS_URL` and `BIEM_TEST_MILVUS_URI`, all three, name servers that run already:
the tests create databases and roles there and leave rows behind, so give none that matters.
"""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from biem import bootstrap
from biem.adapters import embedded
from biem.bootstrap import Servers
from biem.config import Settings
from tests.support.standalone import PROGRAM, standalone

ROOT = Path(__file__).parents[2]
COMPOSE = (ROOT / "docker-compose.yml", ROOT / "docker-compose.milvus.yml")
GIVEN = {
    "postgres_dsn": "BIEM_TEST_POSTGRES_DSN",
    "redis_url": "BIEM_TEST_REDIS_URL",
    "milvus_uri": "BIEM_TEST_MILVUS_URI",
}

Configure = Callable[..., Settings]
"""Builds settings; its arguments are settings next to those that lead to the servers."""
Freeze = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Choice:
    """The servers of a run, and why it is these."""

    kind: str
    why: str
    urls: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Testbed:
    """The session's servers. `freeze(name)` stops one of postgres, redis, milvus for a while: it hangs, and lives."""

    __test__ = False

    where: Servers
    urls: Mapping[str, Any]
    home: Path
    freeze: Freeze

    def settings(self, **more: Any) -> Settings:
        """Settings that lead to these servers."""
        return Settings(home=self.home, **self.urls, **more)

    @property
    def environment(self) -> dict[str, str]:
        """The same for another process."""
        return {"BIEM_HOME": str(self.home)} | {f"BIEM_{name.upper()}": url for name, url in self.urls.items()}


def choose(environ: Mapping[str, str], docker_answers: Callable[[], bool]) -> Choice:
    """Decide once, before any test; raises `UsageError` when the wish cannot be met."""
    urls = {name: environ[variable] for name, variable in GIVEN.items() if environ.get(variable)}
    if len(urls) == len(GIVEN):
        return Choice("given", "BIEM_TEST_POSTGRES_DSN, _REDIS_URL, _MILVUS_URI", urls)
    if urls:
        missing = ", ".join(variable for name, variable in GIVEN.items() if name not in urls)
        raise pytest.UsageError(f"{missing} not set although others are: name all three servers, or none")
    wish = environ.get("BIEM_TEST_SERVERS") or "embedded"
    if wish == "embedded":
        return Choice("embedded", "the default; BIEM_TEST_SERVERS=auto asks for containers", {})
    if wish == "milvus-server":
        if not environ.get(PROGRAM):
            raise pytest.UsageError(f"BIEM_TEST_SERVERS=milvus-server, but {PROGRAM} names no program")
        return Choice("milvus-server", f"a Milvus standalone server, {PROGRAM}", {"program": environ[PROGRAM]})
    if wish not in ("containers", "auto"):
        raise pytest.UsageError(f"BIEM_TEST_SERVERS is {wish!r}; use embedded, containers, auto or milvus-server")
    if docker_answers():
        return Choice("containers", f"BIEM_TEST_SERVERS={wish}, and Docker answers", {})
    if wish == "auto":
        return Choice("embedded", "BIEM_TEST_SERVERS=auto, and no Docker answers", {})
    raise pytest.UsageError("BIEM_TEST_SERVERS=containers, but no Docker answers; start it, or use auto")


def docker_answers() -> bool:
    """Whether a Docker daemon can be reached."""
    import docker
    from docker.errors import DockerException

    try:
        client = docker.from_env(timeout=5)
    except DockerException:
        return False
    try:
        return bool(client.ping())
    except DockerException:
        return False
    finally:
        client.close()


def images() -> dict[str, str]:
    """The image of each service, as the compose files have it: tests and deployment run the same."""
    services = [yaml.safe_load(path.read_text(encoding="utf-8"))["services"] for path in COMPOSE]
    return {name: service["image"] for part in services for name, service in part.items() if "image" in service}


@contextmanager
def started(choice: Choice, home: Path) -> Iterator[Testbed]:
    """The chosen servers with a migrated database, until the end of the block."""
    with ExitStack() as stack:
        if choice.kind == "embedded":
            where = stack.enter_context(bootstrap.servers(Settings(home=home)))
            bed = Testbed(where, {}, home, lambda name: _stopped(home, name))
        elif choice.kind == "milvus-server":
            bed = stack.enter_context(_with_standalone(choice.urls["program"], home))
        else:
            urls: Mapping[str, Any] = choice.urls
            containers: dict[str, Any] = {}
            if choice.kind == "containers":
                containers = {name: stack.enter_context(one) for name, one in _containers().items()}
                urls = {
                    "postgres_dsn": containers["postgres"].get_connection_url(),
                    "redis_url": _address("redis://{}:{}/0", containers["redis"], 6379),
                    "milvus_uri": _address("http://{}:{}", containers["milvus"], 19530),
                }
            where = Servers(urls["postgres_dsn"], urls["redis_url"], urls["milvus_uri"], "", embedded=False)
            bed = Testbed(where, urls, home, lambda name: _paused(containers, name))
        bootstrap.migrate(bed.settings())
        yield bed


@contextmanager
def _with_standalone(program: str, home: Path) -> Iterator[Testbed]:
    """The embedded PostgreSQL and Redis, and a Milvus server next to them."""
    with bootstrap.servers(Settings(home=home)) as own, standalone(program, home / "standalone") as milvus:
        urls = {"postgres_dsn": own.postgres_dsn, "redis_url": own.redis_url, "milvus_uri": milvus.uri}
        where = Servers(own.postgres_dsn, own.redis_url, milvus.uri, "", embedded=False)
        yield Testbed(where, urls, home, lambda name: milvus.frozen() if name == "milvus" else _stopped(home, name))


def _containers() -> dict[str, Any]:
    from testcontainers.community.milvus import MilvusContainer
    from testcontainers.community.postgres import PostgresContainer
    from testcontainers.community.redis import RedisContainer

    image = images()
    postgres = PostgresContainer(image["postgres"], driver=None, dbname="biem", username="biem", password="biem")
    return {
        "postgres": postgres,
        "redis": RedisContainer(image["redis"]),
        "milvus": MilvusContainer(image["milvus"]),
    }


def lacking(where: Servers) -> tuple[str, ...]:
    """What every recall names as missing on these servers: the search by words, before Milvus 2.5."""
    from pymilvus import MilvusClient

    from biem.adapters.milvus.collection import server_version

    client = MilvusClient(uri=where.milvus_uri, timeout=5.0, dedicated=True)
    try:
        version = server_version(client, 5.0)
    finally:
        client.close()
    return ("milvus-words",) if version is not None and version < (2, 5) else ()


def _address(template: str, container: Any, port: int) -> str:
    return template.format(container.get_container_host_ip(), container.get_exposed_port(port))


@contextmanager
def _stopped(home: Path, name: str) -> Iterator[None]:
    pid = next(server.pid for server in embedded.status(home).servers if server.name == name)
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def _paused(containers: Mapping[str, Any], name: str) -> Iterator[None]:
    if name not in containers:
        pytest.skip("servers that others started are not stopped")
    container = containers[name].get_wrapped_container()
    container.pause()
    try:
        yield
    finally:
        container.unpause()
