"""Who gets in: keys, their bindings and grants, revocation on every worker, limits, bodies, origins."""

import logging
import select
import socket
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlsplit

import httpx
import psycopg
import pytest

from biem.bootstrap import Servers
from biem.domain.access.key import token_of
from biem.errors import InvalidInput
from biem.server import connections
from biem.server.app import build
from tests.integration.server.conftest import Site, listening
from tests.integration.server.test_api import problem

ALL = ("read", "write", "erase", "admin")


@pytest.mark.long
def test_a_revoked_key_opens_nothing_on_any_worker_within_a_second(site: Site) -> None:
    # Given a key that both workers have just seen
    made = site.key()
    browsers = [site.browser(made.token, at=at) for at in (0, 1)]
    assert [browser.get("/v1/count").status_code for browser in browsers] == [200, 200]

    # When it is revoked in one / Then no request that begins a second later is answered by either
    site.backends[0].keys.revoke("acme", made.key.id)
    revoked = time.monotonic()
    while time.monotonic() < revoked + 1.0:
        browsers[1].get("/v1/count")
    for browser in browsers:
        refused = browser.get("/v1/count")
        problem(refused, 401, "key-invalid")
        assert refused.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("token", ["x", "biem_aaaaaaaaaaaa_" + "A" * 43, "biem__", "A" * 4000, "biem_é"])
def test_a_wrong_key_is_refused_and_written_nowhere(site: Site, token: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = httpx.get(f"{site.urls[0]}/v1/count", headers={b"Authorization": f"Bearer {token}".encode()})
    problem(answer, 401, "key-invalid")
    assert len(token) < 8 or (token not in caplog.text and token not in answer.text)
    assert httpx.get(f"{site.urls[0]}/v1/count").status_code == 401
    assert httpx.get(f"{site.urls[0]}/v1/count", headers={"Authorization": "Basic abc"}).status_code == 401


def test_half_a_key_and_an_expired_one_open_nothing(site: Site) -> None:
    made = site.key(expires_at=datetime.now(UTC) + timedelta(seconds=1))
    browser = site.browser(made.token)
    assert browser.get("/v1/count").status_code == 200
    other = site.key().token.split("_", 2)[2]
    problem(site.browser(token_of(made.key.id, other)).get("/v1/count"), 401)
    ends = made.key.expires_at
    assert ends is not None
    while datetime.now(UTC) < ends:
        browser.get("/v1/count")
    problem(browser.get("/v1/count"), 401)


def test_only_the_hash_of_a_secret_is_stored(site: Site, stack: Servers) -> None:
    made = site.key()
    secret = made.token.split("_", 2)[2]  # which may hold this character
    assert secret not in repr(made)
    with psycopg.connect(stack.postgres_dsn) as admin:
        rows = admin.execute("SELECT to_jsonb(k)::text FROM api_keys k WHERE id = %s", (made.key.id,)).fetchall()
    assert len(rows) == 1
    assert secret not in str(rows)


def test_a_key_opens_its_binding_and_no_more(site: Site) -> None:
    # Given keys of one user for one project, for all projects, and for all users
    user = site.key().key.user
    bound, wide, open_ = (
        site.key(user, "p1").token,
        site.key(user, None, ALL).token,
        site.key(None, None, ALL).token,
    )
    site.browser(bound).post("/v1/memories", json={"text": "Inside p1"})

    # Then headers choose within the binding
    assert site.browser(wide, {"Biem-Project": "p1"}).get("/v1/count").json() == {"count": 1}
    assert site.browser(wide).get("/v1/count").json() == {"count": 0}
    named = {"Biem-User": quote(user or ""), "Biem-Project": "p1"}
    assert site.browser(open_, named).get("/v1/count").json() == {"count": 1}
    chinese = site.browser(open_, {"Biem-User": quote("林晓")})
    assert chinese.get("/v1/about").status_code == 200

    # And not beyond it
    problem(site.browser(bound, {"Biem-Project": "p2"}).get("/v1/count"), 403, "access-denied")
    problem(site.browser(bound, {"Biem-User": "eve"}).get("/v1/count"), 403, "access-denied")
    problem(site.browser(open_).get("/v1/count"), 422)
    problem(site.browser(open_, {"Biem-User": "%ff"}).get("/v1/count"), 422)
    problem(site.browser(open_, {"Biem-User": "a%00b"}).get("/v1/count"), 422)
    move = {"every": True, "to": {"project": "p2"}}
    problem(site.browser(bound).post("/v1/moves", json=move), 403, "access-denied")
    problem(site.browser(bound).post("/v1/erasures", json={"everything": "user"}), 403)
    problem(site.browser(bound).post("/v1/imports/files", params={"per_conversation": True}), 403)
    assert [each["scope"]["project"] for each in site.browser(bound).get("/v1/scopes").json()] == ["p1"]

    # And within it memories move, and a user is erased with all projects
    assert site.browser(wide, {"Biem-Project": "p1"}).post("/v1/moves", json=move).json()["memories"] == 1
    assert site.browser(wide).post("/v1/erasures", json={"everything": "user"}).json()["memories"] == 1


def test_a_key_may_do_what_it_is_granted(site: Site) -> None:
    reader = site.browser(site.key(grants=["read"]).token)
    writer = site.browser(site.key(grants=["write"]).token)
    assert reader.get("/v1/count").status_code == 200
    problem(reader.post("/v1/memories", json={"text": "x"}), 403, "access-denied")
    problem(reader.post("/v1/erasures", json={"everything": "scope"}), 403)
    problem(reader.get("/v1/keys"), 403)
    problem(reader.post("/v1/imports", content=b"x"), 403)
    assert writer.post("/v1/memories", json={"text": "x"}).status_code == 201
    problem(writer.get("/v1/count"), 403)


def test_an_administrator_makes_keys_within_its_own(site: Site) -> None:
    # Given an administrator of one user
    admin = site.browser(site.key(project=None, grants=["read", "admin"]).token)
    made = admin.post("/v1/keys", json={"name": "laptop", "project": "p1", "grants": ["read"]})
    assert made.status_code == 201
    child = made.json()

    # Then its key works, is listed without its token, and ends when it is revoked
    assert site.browser(child["token"]).get("/v1/about").json()["project"] == "p1"
    assert child["token"] not in admin.get("/v1/keys").text
    assert child["key"]["id"] in admin.get("/v1/keys").text
    problem(site.browser(child["token"]).get("/v1/keys"), 403)
    assert admin.delete(f"/v1/keys/{child['key']['id']}").json() == {"changed": True}
    assert admin.delete(f"/v1/keys/{child['key']['id']}").json() == {"changed": False}

    # And it makes none that opens more
    problem(admin.post("/v1/keys", json={"user": "eve", "grants": ["read"]}), 403)
    problem(admin.post("/v1/keys", json={"grants": ["write"]}), 403)
    problem(admin.post("/v1/keys", json={"grants": []}), 422)
    problem(admin.delete(f"/v1/keys/{site.key().key.id}"), 404, "not-found")
    with pytest.raises(InvalidInput, match="grant"):
        site.key(grants=["all"])


def test_an_administrator_gains_neither_time_nor_what_stronger_keys_have(site: Site) -> None:
    # Given an administrator until tomorrow, and a key of the same user that may do more
    ends = (datetime.now(UTC) + timedelta(days=1)).replace(microsecond=0)
    weak = site.key(grants=["read", "admin"], expires_at=ends)
    strong = site.key(weak.key.user, grants=ALL)
    admin = site.browser(weak.token)

    # When it makes keys / Then they end with it, or before
    later = (ends + timedelta(seconds=1)).isoformat()
    problem(admin.post("/v1/keys", json={"grants": ["read"], "expires_at": later}), 403, "access-denied")
    made = admin.post("/v1/keys", json={"grants": ["read"]}).json()["key"]
    assert datetime.fromisoformat(made["expires_at"]) == ends
    sooner = (ends - timedelta(hours=1)).isoformat()
    made = admin.post("/v1/keys", json={"grants": ["read"], "expires_at": sooner}).json()["key"]
    assert datetime.fromisoformat(made["expires_at"]) == ends - timedelta(hours=1)

    # And it neither sees the stronger key nor ends it
    assert strong.key.id not in admin.get("/v1/keys").text
    problem(admin.delete(f"/v1/keys/{strong.key.id}"), 404, "not-found")
    assert site.browser(strong.token).get("/v1/count").status_code == 200


def test_a_body_is_measured_before_it_is_read(site: Site) -> None:
    token = site.key().token
    browser = site.browser(token)
    text = "x" * 10_000_000
    problem(browser.post("/v1/memories", json={"text": text}), 413, "body-too-large")

    # And so is one whose length is not announced
    pieces = iter([b'{"text": "'] + [b"x" * 100_000] * 100)
    problem(browser.post("/v1/memories", content=pieces, headers={"Content-Type": "application/json"}), 413)
    assert browser.get("/v1/count").json() == {"count": 0}


def test_slow_and_half_open_clients_delay_no_other(site: Site) -> None:
    # Given forty clients that begin a request and send no more
    token, address = site.key().token, urlsplit(site.urls[0])
    head = (
        f"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    lines = [socket.create_connection((address.hostname or "", address.port or 0)) for _ in range(40)]
    try:
        for line in lines:
            line.sendall(head.encode())

        # When another one asks / Then it is answered
        assert site.browser(token).get("/v1/count").json() == {"count": 0}
    finally:
        for line in lines:
            line.close()
    assert site.browser(token).get("/v1/count").json() == {"count": 0}


@pytest.mark.parametrize("sent", ["", "GET /v1/count HTT", "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Wait: "])
def test_a_connection_without_a_whole_request_is_closed(site: Site, monkeypatch: pytest.MonkeyPatch, sent: str) -> None:
    # Given connections that send nothing, half a request, or half of a second one
    monkeypatch.setattr(connections, "HEAD_TIMEOUT_S", 0.3)
    address = urlsplit(site.urls[0])
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for first in (b"", whole):
        with socket.create_connection((address.hostname or "", address.port or 0)) as line:
            line.settimeout(60)
            line.sendall(first)
            if first:
                assert line.recv(1_000).startswith(b"HTTP/1.1 200")
            line.sendall(sent.encode())

            # When they send no more / Then the server closes them
            while line.recv(1_000):
                pass

    # And a request that takes longer than that is answered
    with socket.create_connection((address.hostname or "", address.port or 0)) as line:
        line.settimeout(60)
        token = site.key().token
        body = b'{"text": "The lamp is on the shelf"}'
        line.sendall(
            f"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        )
        assert not select.select([line], [], [], 1.0)[0]  # nothing, for longer than a head may take
        line.sendall(body)
        assert line.recv(1_000).startswith(b"HTTP/1.1 201")


def test_a_page_of_another_origin_may_not_call(site: Site) -> None:
    token = site.key().token
    problem(site.browser(token, {"Origin": "https://evil.example"}).get("/v1/count"), 403, "access-denied")
    for origin in ("null", "", "http://[", "http://[::1", "https://evil.example\\@127.0.0.1"):
        problem(site.browser(token, {"Origin": origin}).get("/v1/count"), 403)
    assert site.browser(token, {"Origin": site.urls[0]}).get("/v1/count").status_code == 200


@pytest.mark.long
def test_a_name_of_another_site_that_leads_here_is_refused(site: Site) -> None:
    # Given a server without trusted names / When it is asked from this machine under another name / Then it refuses
    token = site.key().token
    for host in ("evil.example", "evil.example:8766", "127.0.0.1.evil.example", "localhost.evil.example", ""):
        for path in ("/v1/count", "/mcp", "/metrics", "/v1/hooks/claude-code"):
            problem(site.browser(token, {"Host": host}).get(path), 403, "access-denied")
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:8766"):
        assert site.browser(token, {"Host": host}).get("/v1/count").status_code == 200
    assert httpx.get(f"{site.urls[0]}/health", headers={"Host": "10.0.0.7:8766"}).status_code == 200

    # And with such names it answers to them and to its own
    with listening(build(lambda: nullcontext(site.backends[0]), ("Memory.example",))) as url:
        answers = [
            httpx.get(f"{url}/v1/count", headers={"Host": host, "Authorization": f"Bearer {token}"}).status_code
            for host in ("memory.example", "memory.example:443", "localhost", "evil.example", "x.memory.example")
        ]
    assert answers == [200, 200, 200, 403, 403]


@pytest.mark.long
def test_requests_of_a_key_are_counted_over_all_workers(begin: Callable[..., Site]) -> None:
    # Given a limit of six requests a minute, and a key that made five, of two workers
    site = begin(server_requests_per_minute=6)
    token = site.key().token
    browsers = [site.browser(token, at=at) for at in (0, 1)]
    answers = [browsers[n % 2].get("/v1/about") for n in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 6
    assert answers[0].headers["ratelimit-policy"] == '"key";q=6;w=60'
    assert answers[0].headers["ratelimit"].startswith('"key";r=5;t=')

    # When it makes one more / Then it learns when to come again, and another key is not concerned
    refused = browsers[0].get("/v1/about")
    problem(refused, 429, "rate-limited")
    assert 1 <= int(refused.headers["retry-after"]) <= 11
    assert site.browser(site.key().token).get("/v1/about").status_code == 200
