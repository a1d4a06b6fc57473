"""Who gets in at `/mcp`: every grant next to another user, tenant and project, ids of other scopes, and ended keys."""

import json
import time
import uuid
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from biem.client.memory import RemoteMemory
from biem.domain.access.key import IssuedKey
from tests.integration.server.conftest import Site
from tests.integration.server.test_api import problem

ALL = ("read", "write", "erase", "admin")
GRANTS = [("read",), ("write",), ("erase",), ("admin",), ALL]
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
READS = ("recall", "context", "inspect")
"""Tools that need the grant `read`; the others need `write`, and `amend`, which answers the text, both."""


def asked(browser: httpx.Client, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one request, each of which stands alone."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params)}
    answer = browser.post("/mcp", json=body, headers=HEADERS)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def tool(browser: httpx.Client, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The result of one tool."""
    result = asked(browser, "tools/call", {"name": name, "arguments": dict(arguments)})["result"]
    assert isinstance(result, dict)
    return result


@pytest.fixture(scope="module")
def secret(site: Site) -> tuple[IssuedKey, str, RemoteMemory]:
    """A memory in the project `p1` of a user: the key, its id, and a way to look at it."""
    made = site.key(project="p1", grants=ALL)
    owner = site.remote(made.token)
    return made, owner.remember("The vault is behind the mirror", ref="vault", wait=True), owner


def strangers(site: Site, owner: IssuedKey, grants: tuple[str, ...]) -> dict[str, IssuedKey]:
    """Keys that share all parts of the owner's scope but one."""
    user = owner.key.user
    return {
        "user": site.key(project="p1", grants=grants),
        "project": site.key(user, "p2", grants),
        "tenant": site.backends[0].keys.add(uuid.uuid4().hex, user, "p1", grants),
    }


@pytest.mark.parametrize("other", ["user", "project", "tenant"])
@pytest.mark.parametrize("grants", GRANTS, ids="+".join)
def test_nothing_of_another_scope_is_seen_by_any_tool_resource_or_prompt(
    site: Site, secret: tuple[IssuedKey, str, RemoteMemory], grants: tuple[str, ...], other: str
) -> None:
    # Given the key of another user, tenant or project, with these grants
    owner, memory_id, memory = secret
    before = memory.get(memory_id)
    browser = site.browser(strangers(site, owner, grants)[other].token, at=1)

    # When each tool is called with the id, or with words that would find it
    calls: dict[str, dict[str, Any]] = {
        "recall": {"query": "Where is the vault? mirror", "top_k": 50},
        "context": {"query": "Where is the vault? mirror"},
        "inspect": {"memory_id": memory_id},
        "amend": {"memory_id": memory_id, "text": "The vault is empty"},
        "forget": {"memory_id": memory_id},
        "feedback": {"useful": [memory_id]},
        "remember": {"text": "A lamp is on the shelf", "ref": "vault"},
    }
    for name, arguments in calls.items():
        result = tool(browser, name, arguments)
        said = json.dumps(result)

        # Then it is as if it did not exist, and what is not granted is refused before anything is looked up
        needed = {"read"} if name in READS else {"read", "write"} if name == "amend" else {"write"}
        if missing := needed.difference(grants):
            assert result["isError"], name
            assert any(f"not granted '{grant}'" in said for grant in missing)
            assert memory_id not in said
        elif name in ("inspect", "amend", "forget", "feedback"):
            assert result["isError"], name
            assert "no memor" in said
        else:
            assert not result.get("isError"), said
            assert memory_id not in said, name
        assert "behind" not in said, name

    # And neither do resources, the prompt and the counts have anything of it
    for uri in ("biem://timeline", "biem://conflicts", f"biem://memory/{memory_id}"):
        answer = asked(browser, "resources/read", {"uri": uri})
        assert ("error" in answer) == ("read" not in grants or "memory/" in uri), answer
        assert "behind" not in json.dumps(answer), uri
    question = {"name": "with_memory", "arguments": {"question": "Where is the vault? mirror"}}
    prompt = asked(browser, "prompts/get", question)
    assert ("error" in prompt) == ("read" not in grants)
    assert "behind" not in json.dumps(prompt)
    counted = tool(browser, "inspect", {})
    if "read" in grants:
        assert counted["structuredContent"]["memories"] == int("write" in grants)  # its own lamp
    assert memory.get(memory_id).revision == before.revision
    assert [node.id for node in memory.list(status="all").items] == [memory_id]
    assert memory.get(memory_id).useful_count == before.useful_count


def test_headers_name_no_scope_beyond_the_binding(site: Site, secret: tuple[IssuedKey, str, RemoteMemory]) -> None:
    owner, memory_id, _ = secret
    named = {"Biem-User": owner.key.user or "", "Biem-Project": "p1"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

    # Given keys of another user and of another project / When they name the owner's scope / Then they are refused
    for made in (site.key(grants=ALL), site.key(owner.key.user, "p2", ALL)):
        problem(site.browser(made.token, {**HEADERS, **named}).post("/mcp", json=body), 403, "access-denied")

    # And a key that is open for every user reaches it by the headers, and without them nothing
    open_ = site.key(None, None, ALL).token
    found = tool(site.browser(open_, named), "inspect", {"memory_id": memory_id})
    assert found["structuredContent"]["id"] == memory_id
    problem(site.browser(open_, HEADERS).post("/mcp", json=body), 422)


def test_a_revoked_key_opens_it_on_no_worker_within_a_second(site: Site) -> None:
    # Given a key that both workers have just seen
    made = site.key()
    browsers = [site.browser(made.token, HEADERS, at=at) for at in (0, 1)]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert [browser.post("/mcp", json=body).status_code for browser in browsers] == [200, 200]

    # When it is revoked in one / Then no request that begins a second later is answered by either
    site.backends[0].keys.revoke("acme", made.key.id)
    revoked = time.monotonic()
    while time.monotonic() < revoked + 1.0:
        browsers[1].post("/mcp", json=body)
    for browser in browsers:
        refused = browser.post("/mcp", json=body)
        problem(refused, 401, "key-invalid")
        assert "tools" not in refused.text
