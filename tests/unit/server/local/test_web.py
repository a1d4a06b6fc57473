"""`biem web` without keys: who gets in, to which scope, and what is refused in which words."""

import asyncio
import socket
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI

from biem.cli.app import run
from biem.domain.access.key import ApiKey
from biem.domain.diagnosis import Health
from biem.domain.scope import Scope
from biem.engine.admin.browse import MemoryBrowser
from biem.errors import InvalidInput
from biem.ports.readers import Browser
from biem.server.app import build
from biem.server.local_access import LocalAccess, is_loopback
from tests.support.fakes import START

HERE = ("127.0.0.1", 50_000)
AWAY = ("192.0.2.7", 50_000)
OWN = Scope("acme", "li", "boat")


@dataclass
class Shelf:
    """Stands in for a memory: it remembers which scope was asked."""

    asked: list[str] = field(default_factory=list)

    def scope(self, **names: str) -> "Shelf":
        self.asked.append(str(Scope(**names)))
        return self

    def count(self) -> int:
        return 3

    def flush(self, timeout_s: float) -> bool:
        return timeout_s > 0


@cache
def application() -> FastAPI:
    """One for all requests; what it opens is `state.test`."""

    def opened() -> AbstractContextManager[Any]:
        found: AbstractContextManager[Any] = app.state.test[0]
        return found

    def local() -> LocalAccess:
        found: LocalAccess = app.state.test[1]
        return found

    app = build(opened, local=local)
    return app


def ask(
    path: str,
    *,
    shelf: Shelf | None = None,
    token: str = "",
    client: tuple[str, int] = HERE,
    host: str = "localhost:8765",
    headers: Mapping[bytes, bytes] | Mapping[str, str] | None = None,
    method: str = "GET",
) -> httpx.Response:
    """One request to the application, in this process."""
    key = ApiKey(
        id="local", tenant=OWN.tenant, user=OWN.user, project=OWN.project, grants=("read", "write"), created_at=START
    )
    door = SimpleNamespace(
        memory=shelf or Shelf(),
        health=lambda: Health({"postgres": "", "redis": "away"}),
        body_bytes=1_000,
        upload_bytes=1_000,
        threads=2,
    )
    app = application()
    app.state.test = nullcontext(cast(Any, door)), LocalAccess(key, token)

    async def answer() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=client)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as browser,
        ):
            return await browser.request(method, path, headers=headers)

    return asyncio.run(answer())


def test_every_request_is_for_the_configured_scope_and_no_other() -> None:
    # Given a scope / When a request names none, this one or another one / Then only the first two reach a memory
    shelf = Shelf()
    assert ask("/v1/count", shelf=shelf).json() == {"count": 3}
    assert ask("/v1/count", shelf=shelf, headers={"Biem-User": "li"}).status_code == 200
    assert shelf.asked == [str(OWN)] * 2
    for other in ({"Biem-User": "ann"}, {"Biem-Project": "x"}):
        assert ask("/v1/count", shelf=shelf, headers=other).status_code == 403
    assert shelf.asked == [str(OWN)] * 2


def test_a_page_of_another_site_cannot_write_here() -> None:
    # Given a browser on this machine, where a foreign page is open / When its script posts here / Then it is refused
    assert ask("/v1/flush", method="POST", headers={"Origin": "http://localhost:8765"}).status_code == 200
    for origin in ("http://attacker.example", "http://localhost:9999", "null"):
        assert ask("/v1/flush", method="POST", headers={"Origin": origin}).status_code == 403


def test_every_answer_has_the_security_headers() -> None:
    for answer in (ask("/"), ask("/nowhere"), ask("/page/main.js"), ask("/v1/count?x=1"), ask("/", client=AWAY)):
        assert answer.headers["content-security-policy"].startswith("default-src 'self';"), answer.url
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("client", [HERE, ("::1", 1), ("::ffff:127.0.0.1", 1), ("127.8.9.1", 1)])
@pytest.mark.parametrize("host", ["localhost", "localhost:8765", "127.0.0.1:8765", "[::1]:8765"])
def test_without_a_token_this_machine_may_look(client: tuple[str, int], host: str) -> None:
    assert ask("/v1/count", client=client, host=host).status_code == 200


@pytest.mark.parametrize(
    ("client", "host"),
    [
        (AWAY, "localhost:8765"),
        (("2001:db8::1", 1), "localhost"),
        (("", 0), "localhost"),
        (HERE, "attacker.example:8765"),  # a name that was made to lead here
        (HERE, "localhost.attacker.example"),
        (HERE, "127.0.0.1.attacker.example"),
        (HERE, "192.0.2.1"),
    ],
)
def test_without_a_token_nobody_else_may(client: tuple[str, int], host: str) -> None:
    for path in ("/", "/v1/count", "/health", "/nowhere"):
        answer = ask(path, client=client, host=host)
        assert answer.status_code == 403
        assert "BIEM_WEB_TOKEN" in answer.json()["detail"]


def test_with_a_token_whoever_has_it_may_look_and_nobody_else() -> None:
    token = "a token of 林晓"
    right = {b"Authorization": f"Bearer {token}".encode()}
    for client in (HERE, AWAY):
        for path in ("/", "/page/main.js", "/page/style.css", "/health"):  # these hold no memory
            assert ask(path, token=token, client=client).status_code == 200
        for wrong in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer a"}, {"Authorization": token[:7]}):
            for path in ("/v1/count", "/nowhere"):
                refused = ask(path, token=token, client=client, headers=wrong)
                assert refused.status_code == 401, path
                assert token not in refused.text
    assert ask("/v1/count", token=token, client=AWAY, host="memory.example", headers=right).is_success
    assert token not in repr(LocalAccess(cast(Any, None), token))


def test_the_page_says_whether_it_needs_a_key() -> None:
    # Given servers with and without a token / When the page is read / Then only the first asks for one
    assert 'name="biem-access" content="open"' in ask("/").text
    assert 'name="biem-access" content="key"' in ask("/", token="x").text


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "memory.example", ""])
def test_the_command_does_not_let_others_look_without_a_token(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert not is_loopback(host)
    assert run(["web", f"--host={host}"]) == 5
    assert "BIEM_WEB_TOKEN" in capsys.readouterr().err


def test_a_port_that_is_taken_is_told_with_a_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert run(["web", "--port", str(taken.getsockname()[1])]) == 5
    assert "--port" in capsys.readouterr().err


def test_a_page_of_links_has_between_1_and_500_around_an_id() -> None:
    look = MemoryBrowser(cast(Browser, None))
    for limit, around in ((0, None), (501, None), (5, "no id")):
        with pytest.raises(InvalidInput):
            look.graph(Scope(), limit, "", around)
