"""The web page's door and its parameters: who may look, what is refused and in which words."""

import asyncio
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, cast

import httpx
import pytest

from biem.cli.app import run
from biem.domain.diagnosis import Health
from biem.domain.paging import GraphPart, Page
from biem.domain.scope import Scope
from biem.engine.admin.browse import MemoryBrowser
from biem.errors import InvalidInput, StoreUnavailable
from biem.ports.readers import Browser
from biem.server.local.app import Shown, build
from biem.server.local.guard import is_loopback

HERE = ("127.0.0.1", 50_000)
AWAY = ("192.0.2.7", 50_000)


@dataclass
class Shelf:
    """Stands in for a memory: it has nothing, and remembers what it was asked for."""

    bound_to: Scope = field(default_factory=Scope)
    asked: list[Any] = field(default_factory=list)
    down: bool = False

    def scope(self, **names: str) -> "Shelf":
        return Shelf(Scope(**{"tenant": "acme", "user": "li", "project": "", **names}), self.asked, self.down)

    def graph(self, **wish: object) -> GraphPart:
        raise ZeroDivisionError("a fault of ours, with something secret in it")

    def facts(self, limit: int, *, after: str) -> list[object]:
        self.asked.append((limit, after))
        return []

    def conflicts(self, **wish: object) -> list[object]:
        self.asked.append(wish)
        return []

    def list(self, **wish: object) -> Page[object]:
        if self.down:
            raise StoreUnavailable("PostgreSQL is away; start it")
        self.asked.append((str(self.bound_to), wish))
        return Page((), "")


def get(
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
    app = build(lambda: pytest.fail("nothing is opened"))
    state = Shown(cast(Any, shelf or Shelf()), lambda: Health({"postgres": "", "redis": "away"}), token)
    app.state.memory, app.state.health, app.state.token = state.memory, state.health, state.token
    transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=client)

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as browser:
            return await browser.request(method, path, headers=headers)

    return asyncio.run(ask())


def error(answer: httpx.Response) -> dict[str, Any]:
    """The error of an answer, which nothing else is in."""
    [(name, told)] = answer.json().items()
    assert name == "error"
    return cast(dict[str, Any], told)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/api/memories?limit=0", "limit"),
        ("/api/memories?limit=501", "1 to 500"),
        ("/api/memories?limit=-1", "whole number"),
        ("/api/facts?limit=%EF%BC%95", "whole number"),
        ("/api/facts?limit=1e3", "whole number"),
        ("/api/memories?limit=1&limit=2", "twice"),
        ("/api/memories?scope=x", "there are tenant, user, project, tier"),
        ("/api/facts?tier=L1", "unknown"),
        ("/api/stats?limit=1", "unknown"),
        ("/api/memories?user=", "scope user is empty"),
        ("/api/memories?tenant=a%00b", "scope tenant"),
        ("/api/memories?project=" + "x" * 257, "at most 256"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_can(path: str, words: str) -> None:
    answer = get(path)
    assert answer.status_code == 422
    assert error(answer)["kind"] == "InvalidInput"
    assert words in error(answer)["message"]


def test_the_scope_is_the_one_asked_for_and_else_the_servers_own() -> None:
    shelf = Shelf()
    for query in ("", "?user=ann&limit=7", "?tenant=t&user=u&project=p&tier=L1&layer=core&after=9", "?project=&tier="):
        assert get(f"/api/memories{query}", shelf=shelf).status_code == 200
    none = {"status": "all", "tier": None, "layer": None, "limit": 50, "after": ""}
    assert shelf.asked == [
        ("acme/li", none),
        ("acme/ann", {**none, "limit": 7}),
        ("t/u/p", {**none, "tier": "L1", "layer": "core", "after": "9"}),
        ("acme/li", none),
    ]


def test_conflicts_are_pending_ones_unless_others_are_asked_for() -> None:
    shelf = Shelf()
    for query in ("", "?status=all", "?status=resolved&after=x"):
        get(f"/api/conflicts{query}", shelf=shelf)
    assert [(wish["status"], wish["after"]) for wish in shelf.asked] == [("pending", ""), (None, ""), ("resolved", "x")]


def test_every_failure_is_json_in_our_words_and_tells_no_more() -> None:
    away = get("/api/memories", shelf=Shelf(down=True))
    assert away.status_code == 503
    assert error(away) == {"kind": "StoreUnavailable", "message": "PostgreSQL is away; start it", "retryable": True}
    assert get("/nowhere").status_code == 404
    assert "no such address" in error(get("/nowhere"))["message"]
    assert "read-only" in error(get("/api/memories", method="DELETE"))["message"]
    fault = get("/api/graph")
    assert fault.status_code == 500
    assert "secret" not in fault.text
    assert get("/health").json()["degraded"] == ["redis"]


def test_every_answer_has_the_security_headers() -> None:
    for answer in (get("/"), get("/nowhere"), get("/api/graph"), get("/api/stats?x=1"), get("/", client=AWAY)):
        assert answer.headers["content-security-policy"].startswith("default-src 'self';"), answer.url
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("client", [HERE, ("::1", 1), ("::ffff:127.0.0.1", 1), ("127.8.9.1", 1)])
@pytest.mark.parametrize("host", ["localhost", "localhost:8765", "127.0.0.1:8765", "[::1]:8765"])
def test_without_a_token_this_machine_may_look(client: tuple[str, int], host: str) -> None:
    assert get("/api/memories", client=client, host=host).status_code == 200


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
    for path in ("/", "/api/memories", "/health", "/nowhere"):
        answer = get(path, client=client, host=host)
        assert answer.status_code == 403
        assert "BIEM_WEB_TOKEN" in error(answer)["message"]


def test_with_a_token_whoever_has_it_may_look_and_nobody_else() -> None:
    token = "a token of 林晓"
    right = {b"Authorization": f"Bearer {token}".encode()}
    for client in (HERE, AWAY):
        for path in ("/", "/app.js", "/style.css"):  # these hold no memory, and ask for the token
            assert get(path, token=token, client=client).status_code == 200
        for path in ("/api/memories", "/health", "/nowhere", "/docs"):
            for wrong in (
                {},
                {"Authorization": "Bearer "},
                {"Authorization": "Bearer a"},
                {"Authorization": token[:7]},
            ):
                refused = get(path, token=token, client=client, headers=wrong)
                assert refused.status_code == 401, path
                assert token not in refused.text
    plain = {"Authorization": "Bearer of-good-tidings"}
    assert get("/api/memories", token="of-good-tidings", client=AWAY, host="memory.example", headers=plain).is_success
    assert get("/api/memories", token=token, client=AWAY, headers=right).is_success


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


def test_the_scripts_never_make_markup_or_code_of_a_text() -> None:
    folder = files("biem.server.local").joinpath("page")
    scripts = {entry.name: entry.read_text("utf-8") for entry in folder.iterdir() if entry.name.endswith(".js")}
    assert scripts.keys() == {"api.js", "app.js", "graph.js"}
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc|DOMParser|location\.href"
    )
    for name, script in scripts.items():
        assert re.findall(forbidden, script) == [], name
