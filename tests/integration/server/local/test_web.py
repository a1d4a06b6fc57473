"""The web page on a real server and real stores: what is there, page by page, of one scope, and nothing else."""

import re
import threading
import uuid
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise

import httpx
import psycopg
import pytest
import uvicorn

import biem
from biem.bootstrap import Servers
from tests.support.fakes import eventually

EVIL = "<script>alert('林晓')</script>"


class Assets(HTMLParser):
    """What a page asks a browser to load or to run."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.inline: list[str] = []
        self._within = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._within = tag
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href")]
        self.inline += [name for name, _ in attrs if name.startswith("on") or name == "style"]

    def handle_data(self, data: str) -> None:
        if self._within in ("script", "style") and data.strip():
            self.inline.append(data)


@pytest.fixture
def site(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """A browser before `uvicorn biem.server.local.app:app` on a free port, started as its users do."""
    for name, value in environment.items():
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
    # Given a running site, and memories of one scope
    mine = {"user": memory.bound_to.user}

    # When the page is opened / Then it and all it loads are the server's own, and nothing in it is inline
    page = site.get("/")
    assets = Assets()
    assets.feed(page.text)
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert assets.inline == []
    assert assets.loaded == ["style.css", "app.js"]
    files = [site.get(f"/{name}") for name in (*assets.loaded, "api.js", "graph.js")]
    assert [file.status_code for file in files] == [200] * 4
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", "".join(file.text for file in files) + page.text)

    # And memories come by tier and layer, the newest first, three at a time
    found: list[dict[str, object]] = []
    after, sizes = "", []
    while True:
        answer = site.get("/api/memories", params={**mine, "limit": 3, "after": after}).json()
        found += answer["memories"]
        sizes.append(len(answer["memories"]))
        after = answer["next"]
        if not after:
            break
    assert [node["id"] for node in found] == told[::-1]
    assert sizes == [3, 3, 1]
    [archived] = site.get("/api/memories", params={**mine, "tier": "L3"}).json()["memories"]
    assert (archived["id"], archived["status"], archived["archive_reason"]) == (told[0], "archived", "old")
    [core] = site.get("/api/memories", params={**mine, "layer": "core"}).json()["memories"]
    assert core["id"] == told[6]
    assert 0 < core["energy"] <= 1

    # And the graph in parts whose links end in nodes that are there, and around one node
    part = site.get("/api/graph", params={**mine, "limit": 2}).json()
    assert len(part["links"]) == 2
    assert part["next"]
    assert {end for link in part["links"] for end in (link["source"], link["target"])} == {
        node["id"] for node in part["nodes"]
    }
    around = site.get("/api/graph", params={**mine, "around": told[2]}).json()
    causal = {(link["source"], link["target"]) for link in around["links"] if link["type"] == "causal"}
    assert causal == {(told[1], told[2]), (told[2], told[3])}

    # And facts, conflicts and counts
    facts = site.get("/api/facts", params={**mine, "limit": 2}).json()
    more = site.get("/api/facts", params={**mine, "limit": 2, "after": facts["next"]}).json()
    assert [fact["content"] for fact in facts["facts"] + more["facts"]] == [f"{EVIL} fact {n}" for n in range(3)]
    assert more["next"] == ""
    assert site.get("/api/conflicts", params={**mine, "status": "all"}).json()["next"] == ""
    counts = site.get("/api/stats", params=mine).json()["stats"]
    assert (counts["memories"], counts["archived"]) == (7, 1)
    assert not [name for name in counts if name.startswith("all_")]
    assert site.get("/health").json()["ready"]

    # And texts are data: no answer has a tag that a browser could run
    raw = site.get("/api/memories", params=mine)
    assert raw.json()["memories"][-1]["text"].startswith(EVIL)
    assert "<" not in raw.text
    assert raw.headers["content-type"] == "application/json"
    assert raw.headers["x-content-type-options"] == "nosniff"

    # And another scope, and the same ids asked for there, show nothing of it
    theirs = {"user": uuid.uuid4().hex}
    assert site.get("/api/memories", params=theirs).json()["memories"] == []
    assert site.get("/api/facts", params={**theirs, "after": facts["next"]}).json()["facts"] == []
    assert site.get("/api/graph", params={**theirs, "around": told[2]}).json()["nodes"] == []
    assert site.get("/api/graph", params={**mine, "project": "p"}).json()["links"] == []
    assert site.get("/api/memories").json()["scope"] == {"tenant": "default", "user": "default", "project": ""}

    # And looking changed nothing, nor can anybody change anything here
    assert memory.get(told[3]).access_count == 0
    assert site.post("/api/memories", json={}).status_code == 405
