"""Two processes' worth of `biem serve` on real stores, each with its own connections, ports and cache of keys."""

import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx
import pytest
import uvicorn

import biem
from biem.bootstrap.server import Backend, open_backend
from biem.client.memory import RemoteMemory
from biem.domain.access.key import IssuedKey
from biem.server.app import build
from biem.server.connections import BoundedConnection
from tests.support.fakes import WordEmbedder, eventually
from tests.support.servers import Configure


@dataclass
class Site:
    """Two servers on the same stores."""

    urls: tuple[str, ...]
    backends: tuple[Backend, ...]
    stack: ExitStack = field(default_factory=ExitStack)

    def key(
        self,
        user: str | None = "",
        project: str | None = "",
        grants: Sequence[str] = ("read", "write", "erase"),
        **more: Any,
    ) -> IssuedKey:
        """A new key, for a user of the test's own unless one is given."""
        whose = uuid.uuid4().hex if user == "" else user
        return self.backends[0].keys.add("acme", whose, project, grants, **more)

    def browser(self, token: str, headers: Mapping[str, str] | None = None, *, at: int = 0) -> httpx.Client:
        """A client with a key."""
        sent = {"Authorization": f"Bearer {token}", **(headers or {})}
        return self.stack.enter_context(httpx.Client(base_url=self.urls[at], headers=sent, timeout=60))

    def remote(self, token: str, at: int = 0) -> RemoteMemory:
        """A remote memory with a key."""
        return self.stack.enter_context(biem.remote(self.urls[at], token))


@contextmanager
def listening(app: Any) -> Iterator[str]:
    """A server on a free port, until the end of the block."""
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, http=BoundedConnection, log_config=None, lifespan="on", ws="none")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        eventually(lambda: server.started or not thread.is_alive())
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)


@pytest.fixture(scope="module")
def begin(settings: Configure) -> Iterator[Callable[..., Site]]:
    """Starts two servers with further settings; `folders` are those of notes that keys may register."""
    with ExitStack() as stack:

        def start(folders: Sequence[str] = (), **more: Any) -> Site:
            embedder = WordEmbedder()
            backends = tuple(stack.enter_context(open_backend(settings(**more), embedder=embedder)) for _ in range(2))
            urls = tuple(
                stack.enter_context(listening(build(partial(_as_is, each), folders=folders))) for each in backends
            )
            site = Site(urls, backends)
            stack.enter_context(site.stack)
            return site

        yield start


@contextmanager
def _as_is(backend: Backend) -> Iterator[Backend]:
    yield backend


@pytest.fixture(scope="module")
def site(begin: Callable[..., Site]) -> Site:
    """Two servers with default settings."""
    return begin()
