"""Two tenants, two users, and every address, tool, resource, prompt and hook: no one sees a byte of another one.

The lists come from the application itself, so that a new address without an example here fails.
"""

import io
import json
import re
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.routing import Route

from biem.client.calls import AT_HOME, CALLS
from biem.client.memory import RemoteMemory
from biem.memory import Memory
from biem.server import page
from biem.server.app import FREE, build
from biem.server.mcp.mounted import PATH as MCP_PATH
from tests.integration.server.conftest import Site
from tests.integration.server.test_api import problem
from tests.integration.server.test_mcp_access import asked
from tests.support.effort import sized
from tests.support.life_workloads import ONLY_SLEEP

ALL = ("read", "write", "erase", "admin")
ASKED = "Where is the vault? Behind the mirror?"
"""Finds what each of them has; says nothing that only one of them knows."""
WHO = [(tenant, user) for tenant in ("acme", "globex") for user in ("ann", "bo")]
MISSING = {
    "GET /v1/notes/page", "DELETE /v1/notes/libraries", "POST /v1/notes/erasures", "POST /v1/notes/expand",
    "POST /v1/notes/tags/rename", "POST /v1/erasures", "POST /v1/feedback", "POST /v1/moves",
}  # fmt: skip
"""Addresses without an id in the path that answer 404 for what is not in the scope."""
REFUSED = {"POST /v1/notes/libraries"}
"""Addresses that answer 403 for what belongs to another scope, whether it exists or not."""


@dataclass
class Person:
    """A user of a tenant: what is known to no other, and the ways to what they have."""

    tenant: str
    user: str
    token: str
    browser: httpx.Client
    memory: Memory
    remote: RemoteMemory
    secret: str
    ids: dict[str, str]
    alone: dict[str, bytes]
    """What each GET answered while no one else had anything."""

    def state(self) -> list[Any]:
        """All that a stranger could have changed."""
        nodes = self.memory.list(status="all", limit=500).items
        said = [message.content for message in self.memory.sessions.messages(self.ids["session_id"])]
        out = io.BytesIO()
        self.memory.export(out)  # other ways to read items count as a use
        items = [line for line in out.getvalue().splitlines() if b'"type":"item"' in line]
        keys = [(key.id, key.revoked_at) for key in self.remote_keys() if key.name == "spare"]
        conflicts = [(each.id, each.status) for each in self.memory.conflicts(status=None)]
        libraries = [each.name for each in self.memory.notes.libraries()]
        verdicts = [(each.id, each.status) for each in self.memory.notes.verdicts(status=None)]
        rows = [(n.id, n.text, n.revision, n.status, n.trust, n.useful_count, n.layer) for n in nodes]
        return [rows, said, items, keys, conflicts, libraries, verdicts]

    def remote_keys(self) -> Any:
        """The keys of the tenant."""
        return self.keys.list(self.tenant)

    keys: Any = None


@cache
def described() -> list[tuple[str, str]]:
    """Every method and path of the application that is described; and no other address takes requests.

    Not asked for while tests are collected: the description takes a second of each process that collects them.
    """
    app = build(lambda: nullcontext())  # type: ignore[arg-type, return-value]
    found = [(method.upper(), path) for path, ways in app.openapi()["paths"].items() for method in ways]
    others = {route.path for route in app.router.routes if isinstance(route, Route)} - {path for _, path in found}
    assert others == {MCP_PATH, "/openapi.json", *page.PATHS}
    return found


def bodies(ids: Mapping[str, str]) -> dict[str, Any]:
    """Bodies of requests, with another user's ids where they have some. An address that needs none is left out."""
    item = {"namespace": ["vault"], "key": "k"}
    return {
        "POST /v1/memories": {"text": "A lamp is on the shelf", "ref": ids["ref"]},
        "PATCH /v1/memories/{memory_id}": {"text": "The vault is empty"},
        "POST /v1/memories/{memory_id}/revert": {"revision": 1},
        "POST /v1/observations": {"text": "I always drink tea", "store": True},
        "POST /v1/items": {"items": [{**item, "value": {"text": "My own box"}}]},
        "POST /v1/items/get": {"keys": [item]},
        "POST /v1/items/delete": {"keys": [item]},
        "POST /v1/items/search": {"prefix": ["vault"], "query": ASKED},
        "POST /v1/items/namespaces": {"conditions": [{"labels": ["vault"]}]},
        "POST /v1/moves": {"ids": [ids["memory_id"]], "to": {"project": "elsewhere"}},
        "POST /v1/erasures": {"id": ids["memory_id"]},
        "POST /v1/keys": {"grants": ["read"]},
        "POST /v1/hooks/claude-code": {
            "hook_event_name": "UserPromptSubmit", "session_id": "vault", "prompt": ASKED,
        },
        "POST /v1/recall": {"query": ASKED, "top_k": 50},
        "POST /v1/recall/typed": {"query": ASKED},
        "POST /v1/search": {"query": ASKED},
        "POST /v1/context": {"query": ASKED, "session": ids["session_id"]},
        "POST /v1/windows": {"query": ASKED},
        "POST /v1/feedback": {"useful": [ids["memory_id"]]},
        "POST /v1/related": {"text": ASKED},
        "POST /v1/running": {"message": ASKED, "conversation": "vault"},
        "POST /v1/conflicts/{conflict_id}/resolve": {"resolution": "keep_new"},
        "POST /v1/commands": {"text": f"/forget {ids['memory_id']}"},
        "POST /v1/sessions/{session_id}/messages": {"role": "user", "content": "x"},
        "POST /v1/flush": {"timeout_s": 0},
        "POST /v1/notes/libraries": {"root": ids["folder"]},
        "POST /v1/notes/expand": {"hit": ids["chunk_id"], "relation": "siblings"},
        "POST /v1/notes/erasures": {"path": ids["path"]},
        "POST /v1/notes/verdicts/{verdict_id}/decide": {"believed": "note"},
        "POST /v1/notes/tags/rename": {"old": ids["tag"], "new": "attic"},
    }  # fmt: skip


def queries(ids: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Queries of requests, likewise."""
    return {
        "GET /v1/instants": {"conversation": "vault"},
        "GET /v1/notes/search": {"query": ASKED},
        "GET /v1/notes/page": {"path": ids["path"]},
        "DELETE /v1/notes/libraries": {"name": ids["library"]},
    }


FILES = {
    "POST /v1/imports/files": b'{"role": "user", "content": "A lamp is on the shelf"}\n',
}


def answer(browser: httpx.Client, method: str, path: str, ids: Mapping[str, str], file: bytes = b"") -> httpx.Response:
    """The answer to the request of an address, with another user's ids in its path and body."""
    name = f"{method} {path}"
    filled = re.sub(r"\{(\w+)\}", lambda found: ids[found[1]], path)
    content = {"POST /v1/imports": file, **FILES}.get(name)
    if content is not None:
        more = {"name": "chat.jsonl"} if name in FILES else {"on_conflict": "skip"}
        return browser.request(method, filled, params=more, content=content)
    return browser.request(method, filled, params=queries(ids).get(name, {}), json=bodies(ids).get(name))


def gets(browser: httpx.Client, user: str) -> dict[str, bytes]:
    """What every address without an id answers to a GET, but for names and times of the caller's own."""
    found = {}
    for method, path in described():
        if method == "GET" and "{" not in path and f"GET {path}" not in MISSING:
            given = answer(browser, method, path, defaultdict(str))
            assert given.status_code == 200, (path, given.text)
            found[path] = given.content.replace(user.encode(), b"user")
    return found


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where everyone has a folder for notes."""
    return tmp_path_factory.mktemp("notes")


@pytest.fixture(scope="module")
def site(begin: Callable[..., Site], root: Path) -> Site:
    """Servers whose background jobs run when they are asked to only, so that nothing changes on its own."""
    return begin(folders=[f"{root}/{{tenant}}/{{user}}"], sleep=ONLY_SLEEP)


@pytest.fixture(scope="module")
def people(site: Site, root: Path) -> dict[tuple[str, str], Person]:
    """Four, each with something of every kind."""
    found: dict[tuple[str, str], Person] = {}
    names = {who: f"{who[1]}-{uuid.uuid4().hex[:8]}" for who in WHO}
    for tenant, user in WHO:
        found[(tenant, user)] = _arrived(site, tenant, user, names[(tenant, user)])
        browser = found[(tenant, user)].browser
        found[(tenant, user)].alone = gets(browser, names[(tenant, user)])
    for person in found.values():
        _settle(person, root)
    return found


def _arrived(site: Site, tenant: str, user: str, name: str) -> Person:
    """A user with nothing yet."""
    backend = site.backends[0]
    token = backend.keys.add(tenant, name, None, ALL).token
    memory = backend.memory.scope(tenant=tenant, user=name, project="")
    secret = f"quokka{uuid.uuid4().hex}"
    browser, remote = site.browser(token), site.remote(token)
    return Person(tenant, user, token, browser, memory, remote, secret, {}, {}, backend.keys)


def _settle(person: Person, root: Path) -> None:
    """Something of every kind that the API tells of."""
    memory, secret = person.memory, person.secret
    folder = root / person.tenant / memory.bound_to.user / "vault"
    old = memory.remember(f"My vault {secret} is in Lisbon", speaker="Ann", wait=True)
    memory.remember(f"My vault {secret} is in Porto now", speaker="Ann", wait=True)
    vault = memory.remember(
        f"The vault of {secret} is behind the mirror", ref=secret[:12], conversation="vault", tags=[secret],
        metadata={"vault": secret}, wait=True,
    )  # fmt: skip
    memory.remember(f"The core vault is {secret}", layer="core", wait=True)
    chat = memory.sessions.open("vault", metadata={"vault": secret})
    memory.sessions.append(chat.id, "user", f"The vault {secret} is behind the mirror again")
    memory.items.put(("vault",), "k", {"text": f"The vault box {secret} is behind the mirror"})
    library, tag = f"library-{uuid.uuid4().hex}", f"tag{uuid.uuid4().hex}"
    folder.mkdir(parents=True)
    memory.remember("The rent of the vault is 1200 euros a month.", tags=[secret], wait=True)
    (folder / f"{library}.md").write_text(
        f"# Vault\n\nThe rent of the vault is 1500 euros a month. The vault {secret} is behind the mirror."
        f" #{secret} #{tag}\n"
    )
    person.remote.notes.add("vault", name=library)
    memory.notes.sync()
    [chunk] = memory.notes.get(f"{library}.md").chunks
    memory._system.notes.facts().run(memory.bound_to)
    [verdict] = memory.notes.verdicts()
    spare = person.keys.add(person.tenant, memory.bound_to.user, None, ["read"], name="spare")
    assert memory.flush(60)
    conflicts = memory.conflicts(status=None)
    person.ids = {
        "ref": secret[:12], "memory_id": vault, "session_id": chat.id, "key_id": spare.key.id, "part": vault[-8:],
        "conflict_id": conflicts[0].id if conflicts else old, "folder": str(folder), "chunk_id": chunk.id,
        "path": f"{library}.md", "tag": tag, "library": library, "verdict_id": verdict.id,
    }  # fmt: skip


def require_nothing_of(owner: Person, given: bytes | str, sent: str, where: object) -> None:
    """No byte of a person in an answer, but for ids that the request named."""
    text = given.decode(errors="replace") if isinstance(given, bytes) else given
    assert owner.secret not in text, (where, text[:500])
    for name, each in owner.ids.items():
        assert name == "ref" or each in sent or each not in text, (where, text[:500])


PAIRS = [(owner, stranger) for owner in WHO for stranger in WHO if owner != stranger]


@pytest.mark.sized
@pytest.mark.parametrize(("owner", "stranger"), sized(PAIRS[:3], PAIRS), ids=str)
def test_no_address_has_a_byte_of_another_tenant_or_user(
    people: dict[tuple[str, str], Person], owner: tuple[str, str], stranger: tuple[str, str]
) -> None:
    # Given a user who has something of every kind, and a stranger who may do everything in their own scope
    mine, theirs = people[owner], people[stranger]
    fresh = people[stranger].browser
    before, file = mine.state(), theirs.browser.get("/v1/exports").content
    assert mine.secret.encode() in mine.browser.get("/v1/exports").content
    assert theirs.secret.encode() in file

    # When the stranger asks at every address, with the ids of the other one
    for method, path in described():
        name = f"{method} {path}"
        given = answer(fresh, method, path, mine.ids, file)

        # Then no byte of it is there, and what has an id does not exist
        sent = str(given.request.url) + given.request.content.decode()
        require_nothing_of(mine, given.content + str(given.headers).encode(), sent, name)
        by_id = "{" in path or name in MISSING
        wanted = (404,) if by_id else (403,) if name in REFUSED else (200, 201)
        assert given.status_code in wanted, (name, given.status_code, given.text)

    # And nothing of it was changed
    assert mine.state() == before


def test_no_answer_depends_on_what_others_have(site: Site, people: dict[tuple[str, str], Person]) -> None:
    # Given a user with an empty scope, next to four who have everything
    for tenant, user in WHO:
        name = f"{user}-{uuid.uuid4().hex[:8]}"
        token = site.backends[0].keys.add(tenant, name, None, ALL).token
        alone = people[(tenant, user)].alone

        # When they ask at every address / Then each answer is what it was when no one had anything
        for path, given in gets(site.browser(token), name).items():
            if path == "/v1/keys":
                assert len(json.loads(given)) == len(json.loads(alone[path])) == 1
            else:
                assert given == alone[path], path


@pytest.mark.parametrize("stranger", WHO[1:], ids=str)
def test_no_tool_resource_or_prompt_has_a_byte_of_another_one(
    people: dict[tuple[str, str], Person], stranger: tuple[str, str]
) -> None:
    # Given the lists of what an MCP client can ask
    mine, browser = people[WHO[0]], people[stranger].browser
    before, memory_id = mine.state(), mine.ids["memory_id"]
    tools = {tool["name"]: tool for tool in asked(browser, "tools/list", {})["result"]["tools"]}
    examples: dict[str, dict[str, Any]] = {
        "remember": {"text": "A lamp is on the shelf", "ref": mine.ids["ref"]},
        "recall": {"query": ASKED, "top_k": 50},
        "context": {"query": ASKED},
        "amend": {"memory_id": memory_id, "text": "The vault is empty"},
        "forget": {"memory_id": memory_id},
        "feedback": {"useful": [memory_id]},
        "inspect": {"memory_id": memory_id},
    }
    assert examples.keys() == tools.keys()

    # When each is asked with ids of another user / Then there is nothing of theirs, and no tool finds the id
    for name, arguments in examples.items():
        result = asked(browser, "tools/call", {"name": name, "arguments": arguments})["result"]
        require_nothing_of(mine, json.dumps(result), json.dumps(arguments), name)
        assert result.get("isError", False) == (memory_id in str(arguments)), (name, result)
    uris = [one["uri"] for one in asked(browser, "resources/list", {})["result"]["resources"]]
    templates = asked(browser, "resources/templates/list", {})["result"]["resourceTemplates"]
    uris += [re.sub(r"\{(\w+)\}", lambda found: mine.ids[found[1]], each["uriTemplate"]) for each in templates]
    assert len(uris) == 3
    for uri in uris:
        answered = asked(browser, "resources/read", {"uri": uri})
        require_nothing_of(mine, json.dumps(answered), uri, uri)
        assert ("error" in answered) == (memory_id in uri)
    prompts = asked(browser, "prompts/list", {})["result"]["prompts"]
    for prompt in prompts:
        arguments = {each["name"]: ASKED for each in prompt["arguments"]}
        answered = asked(browser, "prompts/get", {"name": prompt["name"], "arguments": arguments})
        require_nothing_of(mine, json.dumps(answered), ASKED, prompt["name"])
    assert prompts
    assert mine.state() == before


def test_a_key_that_may_do_everything_but_read_reads_nothing(site: Site, root: Path) -> None:
    # Given a user who has something of every kind, and a key of theirs that may do everything but read
    mine = _arrived(site, "acme", "cy", f"cy-{uuid.uuid4().hex[:8]}")
    _settle(mine, root)
    token = mine.keys.add("acme", mine.memory.bound_to.user, None, ("write", "erase", "admin")).token
    browser = site.browser(token)
    reads = {f"{call.verb} {call.path}" for call in CALLS if call.grant == "read" or call.shows}

    # When it asks at every address, and for every tool / Then there is no byte of it, and what tells of it is refused
    last = ("POST /v1/moves", "POST /v1/erasures", "POST /v1/items/delete", "POST /v1/notes/erasures")
    for method, path in sorted(described(), key=lambda each: (each[0] == "DELETE", " ".join(each) in last)):
        name = f"{method} {path}"
        given = answer(browser, method, path, mine.ids)
        assert mine.secret not in given.text, name
        assert given.status_code < 500, (name, given.text)
        if name in reads:
            problem(given, 403, "access-denied")
    for words in ("/memory search vault", "/memory core", "/session list"):
        problem(browser.post("/v1/commands", json={"text": words}), 403, "access-denied")
    for name, arguments in (("amend", {"tags": ["a"]}), ("inspect", {}), ("forget", {})):
        call = {"name": name, "arguments": {"memory_id": mine.ids["memory_id"], **arguments}}
        assert mine.secret not in json.dumps(asked(browser, "tools/call", call)), name


def test_requests_at_the_same_time_never_mix(people: dict[tuple[str, str], Person]) -> None:
    # Given four who ask again and again, at the same time, over MCP and HTTP, and for streams of what they have
    def ask(person: Person) -> list[str]:
        given = []
        for _ in range(8):
            call = {"name": "recall", "arguments": {"query": ASKED}}
            given.append(json.dumps(asked(person.browser, "tools/call", call)["result"]))
            given.append(json.dumps(asked(person.browser, "resources/read", {"uri": "biem://timeline"})["result"]))
            given.append(person.browser.post("/v1/recall", json={"query": ASKED}).text)
            given.append(person.browser.get("/v1/notes/search", params={"query": ASKED}).text)
            given.append(person.browser.get("/v1/exports").text)
        return given

    # When they are answered / Then each has what is theirs in every answer, and nothing of the others
    with ThreadPoolExecutor(len(people)) as pool:
        for person, given in zip(people.values(), pool.map(ask, people.values()), strict=True):
            for text in given:
                assert person.secret in text
                for other in people.values():
                    if other is not person:
                        require_nothing_of(other, text, "", person.user)


def test_without_a_key_no_address_but_the_free_ones_answers(site: Site, people: dict[tuple[str, str], Person]) -> None:
    ids = people[WHO[0]].ids
    with httpx.Client(base_url=site.urls[0]) as nobody:
        for method, path in [*described(), ("POST", MCP_PATH), ("GET", MCP_PATH)]:
            given = answer(nobody, method, path, ids, b"x")
            assert given.status_code == (200 if path in FREE else 401), (method, path)
            for person in people.values():
                require_nothing_of(person, given.content, str(given.request.url), path)
        for path in FREE:
            given = nobody.get(path)
            assert given.status_code == 200, path
            assert not [one for one in people.values() if one.secret in given.text]


def test_every_call_of_the_facade_is_an_address(site: Site) -> None:
    assert {(call.verb, call.path) for call in CALLS} <= set(described()) | {("POST", "/v1/memories")}
    assert set(AT_HOME) == {"memory", "sessions", "notes", "items"}
