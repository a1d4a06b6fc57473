"""`uvicorn biem.server.local.app:app` on real stores: one scope, page by page, without a key."""

import threading
from collections.abc import Iterator
from itertools import pairwise

import httpx
import psycopg
import pytest
import uvicorn

import biem
from biem.bootstrap import Servers
from tests.support.fakes import eventually

EVIL = "<script>alert('林晓')</script>"


@pytest.fixture
def site(environment: dict[str, str], memory: biem.Memory, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """A browser before the application on a free port, started as its users do, on the scope of `memory`."""
    scope = memory.bound_to
    own = {"BIEM_TENANT": scope.tenant, "BIEM_USER": scope.user, "BIEM_PROJECT": scope.project}
    for name, value in (environment | own).items():
        monkeypatch.setenv(name, value)
    config = uvicorn.Config("biem.server.local.app:app", port=0, log_config=None, lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        eventually(lambda: server.started or not thread.is_alive())
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as browser:
            yield browser
    finally:
        server.should_exit = True
        thread.join(30)


@pytest.fixture
def told(memory: biem.Memory, stack: Servers) -> list[str]:
    """Seven memories, the first archived, the last core, the others linked in a chain; and three facts."""
    items = [{"text": f"{EVIL} {number}", "layer": "core" if number == 6 else "short_term"} for number in range(7)]
    ids = memory.remember_many(items, wait=True)
    for cause, effect in pairwise(ids[1:]):
        memory.feedback(useful=[cause, effect])
    memory.archive(ids[0], "old")
    with psycopg.connect(stack.postgres_dsn, autocommit=True) as admin:
        for number, fact in enumerate(sorted(ids[4:])):  # a fact is a memory, too
            row = (fact, memory.bound_to.ns, f"{EVIL} fact {number}", ids[1:3])
            admin.execute("INSERT INTO crystal_facts (id, ns, content, source_node_ids) VALUES (%s, %s, %s, %s)", row)
    return ids


@pytest.mark.req("B62")
def test_tiers_graph_and_facts_of_one_scope_are_shown_page_by_page(
    site: httpx.Client, memory: biem.Memory, told: list[str]
) -> None:
    # Given a running site, and memories of its scope

    # When the page is opened / Then it asks for no key, and its files are the server's own
    page = site.get("/", headers={"Accept-Language": "zh-CN,en;q=0.5"})
    assert '<html lang="zh">' in page.text
    assert 'content="open"' in page.text
    assert page.headers["content-type"].startswith("text/html")
    kinds = {"main.js": "text/javascript", "style.css": "text/css", "words/zh.json": "application/json"}
    for name, kind in kinds.items():
        file = site.get(f"/page/{name}")
        assert file.status_code == 200
        assert file.headers["content-type"].startswith(kind)

    # And memories come by tier and layer, the newest first, three at a time
    found: list[dict[str, object]] = []
    after, sizes = "", []
    while True:
        answer = site.get("/v1/memories", params={"status": "all", "limit": 3, "after": after}).json()
        found += answer["items"]
        sizes.append(len(answer["items"]))
        after = answer["next"]
        if not after:
            break
    assert [node["id"] for node in found] == told[::-1]
    assert sizes == [3, 3, 1]
    [archived] = site.get("/v1/memories", params={"status": "all", "tier": "L3"}).json()["items"]
    assert (archived["id"], archived["status"], archived["archive_reason"]) == (told[0], "archived", "old")
    [core] = site.get("/v1/memories", params={"layer": "core"}).json()["items"]
    assert core["id"] == told[6]

    # And the graph in parts whose links end in nodes that are there, and around one node
    part = site.get("/v1/graph", params={"limit": 2}).json()
    assert len(part["links"]) == 2
    assert part["next"]
    assert {end for link in part["links"] for end in (link["source"], link["target"])} == {
        node["id"] for node in part["nodes"]
    }
    around = site.get("/v1/graph", params={"around": told[2]}).json()
    causal = {(link["source"], link["target"]) for link in around["links"] if link["type"] == "causal"}
    assert causal == {(told[1], told[2]), (told[2], told[3])}

    # And facts and counts
    facts = site.get("/v1/facts", params={"limit": 2})
    more = site.get(httpx.URL(facts.links["next"]["url"])).json()
    assert [fact["content"] for fact in facts.json() + more] == [f"{EVIL} fact {n}" for n in range(3)]
    counts = site.get("/v1/stats").json()
    assert (counts["memories"], counts["archived"]) == (7, 1)
    assert site.get("/ready").json()["ready"]

    # And looking changed nothing; a change is made by asking for one, in this scope only
    assert memory.get(told[3]).access_count == 0
    tag = site.get(f"/v1/memories/{told[3]}").headers["etag"]
    changed = site.patch(f"/v1/memories/{told[3]}", json={"text": "calm"}, headers={"If-Match": tag})
    assert changed.status_code == 200
    assert memory.get(told[3]).text == "calm"
    assert site.get("/v1/keys").status_code == 403
    assert site.get("/v1/count", headers={"Biem-User": "another"}).status_code == 403
