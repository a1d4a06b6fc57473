"""Requests that are nearly right: ids, cursors, keys and files of other scopes, values that no reader takes."""

import json
import uuid
from typing import Any

import pytest

from tests.integration.server.conftest import Site
from tests.integration.server.test_api import problem
from tests.integration.server.test_mcp_access import HEADERS, asked

ALL = ("read", "write", "erase", "admin")


def test_a_graph_around_what_is_not_there_is_not_found(site: Site) -> None:
    # Given two users, each with a memory, one of them archived
    mine, theirs = (site.browser(site.key().token) for _ in range(2))
    [one] = mine.post("/v1/memories", json={"text": "The vault is behind the mirror"}).json()["ids"]
    [old] = mine.post("/v1/memories", json={"text": "The lamp is on the shelf"}).json()["ids"]
    assert mine.delete(f"/v1/memories/{old}").json() == {"changed": True}

    # When each asks what is around it / Then its owner has an answer, and another one the same as for no id at all
    for memory_id in (one, old):
        assert mine.get("/v1/graph", params={"around": memory_id}).status_code == 200
        problem(theirs.get("/v1/graph", params={"around": memory_id}), 404, "not-found")
    problem(mine.get("/v1/graph", params={"around": str(uuid.uuid4())}), 404, "not-found")


def test_commands_that_concern_all_scopes_or_files_are_refused(site: Site) -> None:
    # Given a key that may do everything in its scope
    browser = site.browser(site.key(grants=ALL).token)
    browser.post("/v1/memories", json={"text": "The vault is behind the mirror", "wait": True})

    # When it gives commands / Then those of its scope are answered, and those of the machine are not
    found = browser.post("/v1/commands", json={"text": "/memory search vault"}).json()
    assert "behind the mirror" in found["text"]
    for text in ("/memory diagnose", "/memory perf", " /memory  reindex", "/memory\u3000sync", "/memory perf now"):
        problem(browser.post("/v1/commands", json={"text": text}), 403, "access-denied")
    assert browser.post("/v1/commands", json={"text": "memory perf"}).json() is None


@pytest.mark.parametrize(
    "value",
    ["9" * 400, "-1" + "0" * 310, "[" * 200 + "]" * 200, '{"a":' * 300 + "1" + "}" * 300],
    ids=["great", "least", "list", "object"],
)
def test_json_that_could_not_be_read_again_is_not_stored(site: Site, value: str) -> None:
    # Given a user with a memory and an item
    browser = site.browser(site.key().token)
    [memory_id] = browser.post("/v1/memories", json={"text": "The vault is behind the mirror"}).json()["ids"]

    # When a value that no reader takes is sent wherever JSON is stored / Then it is refused
    def sent(method: str, path: str, body: str) -> None:
        headers = {"Content-Type": "application/json"}
        problem(browser.request(method, path, content=body % value, headers=headers), 422, "invalid-input")

    sent("POST", "/v1/memories", '{"text": "x", "metadata": {"a": %s}}')
    sent("PATCH", f"/v1/memories/{memory_id}", '{"metadata": {"a": %s}}')
    sent("POST", "/v1/items", '{"items": [{"namespace": ["a"], "key": "k", "value": {"a": %s}}]}')
    sent("POST", "/v1/sessions", '{"name": "x", "metadata": {"a": %s}}')
    exported = browser.get("/v1/exports").content.decode()
    spoilt = exported.replace('"metadata":{}', f'"metadata":{{"a":{value}}}')
    assert spoilt != exported
    problem(site.browser(site.key().token).post("/v1/imports", content=spoilt.encode()), 422)

    # And all of it can be read
    assert browser.get("/v1/memories").json()["items"][0]["metadata"] == {}
    assert browser.get("/v1/exports").content.decode().count("\n") == exported.count("\n")


def test_numbers_names_and_times_beyond_all_bounds_are_refused(site: Site) -> None:
    browser = site.browser(site.key().token)
    headers = {"Content-Type": "application/json"}
    for budget in ("1" * 4_000, "0", "-" + "9" * 400):
        content = f'{{"query": "vault", "budget_tokens": {budget}}}'
        problem(browser.post("/v1/context", content=content, headers=headers), 422, "invalid-input")
    for time in ("0001-01-01", "9999-12-31T23:59:59-23:59"):
        for name in ("since", "until"):
            problem(browser.get("/v1/notes/search", params={"query": "vault", name: time}), 422, "invalid-input")


def test_cursors_repeated_keys_and_turns_of_another_scope_lead_to_nothing_of_it(site: Site) -> None:
    # Given a user with pages of memories, links and messages
    mine, theirs = (site.browser(site.key(grants=ALL).token) for _ in range(2))
    items = [{"text": f"Vault {number} is behind the mirror"} for number in range(5)]
    ids = mine.post("/v1/memories", json={"items": items, "wait": True}).json()["ids"]
    mine.post("/v1/feedback", json={"useful": ids, "turn": "t"})
    theirs.post("/v1/memories", json={"text": "A lamp is on the shelf", "wait": True})

    # When another one goes on where they stopped / Then it is in its own list
    for path in ("/v1/memories", "/v1/timeline", "/v1/graph", "/v1/facts", "/v1/conflicts"):
        page = mine.get(path, params={"limit": 2}).json()
        after = page["next"] if isinstance(page, dict) else ids[0]
        given = theirs.get(path, params={"limit": 2, "after": after})
        assert given.status_code in (200, 422), (path, given.text)
        assert "mirror" not in given.text, path
        assert not [each for each in ids if each in given.text and each != after], path

    # And names that repeat a call repeat it in one scope only
    once = {"Idempotency-Key": "k", "Content-Type": "application/json"}
    posted = [each.post("/v1/memories", json={"text": "The lock is 4711"}, headers=once) for each in (mine, theirs)]
    assert [each.status_code for each in posted] == [201, 201]
    assert posted[0].json()["ids"] != posted[1].json()["ids"]
    problem(theirs.post("/v1/memories", json={"text": "Another"}, headers=once), 422)
    assert theirs.post("/v1/feedback", json={"useful": posted[1].json()["ids"], "turn": "t"}).json()["useful"] == 1
    problem(theirs.post("/v1/feedback", json={"useful": [posted[1].json()["ids"][0], ids[0]]}), 404)


def test_an_empty_idempotency_key_is_refused(site: Site) -> None:
    # Given a call that would store something whenever it is repeated / When its key names nothing / Then it is refused
    browser = site.browser(site.key().token)
    for body in ({"text": "A lamp"}, {"items": [{"text": "A lamp"}, {"text": "A shelf"}]}):
        for key in ('""', '"'):
            problem(browser.post("/v1/memories", json=body, headers={"Idempotency-Key": key}), 422, "invalid-input")
    assert browser.get("/v1/count").json() == {"count": 0}


def test_a_file_of_another_scope_is_imported_into_the_callers_own(site: Site) -> None:
    # Given what a user exported, which names their scope
    made, key = site.key(grants=ALL), site.key(grants=ALL)
    mine, theirs = site.browser(made.token), site.browser(key.token)
    said = {"text": "The vault is behind the mirror", "wait": True}
    [memory_id] = mine.post("/v1/memories", json=said).json()["ids"]
    file = mine.get("/v1/exports").content

    # When another one imports it / Then it is theirs, and the first has what they had
    assert theirs.post("/v1/imports", content=file).status_code == 200
    [copied] = theirs.get("/v1/memories").json()["items"]
    assert copied["scope"]["user"] == key.key.user
    assert theirs.post("/v1/erasures", json={"everything": "scope"}).json()["memories"] == 1
    kept = mine.get(f"/v1/memories/{memory_id}").json()
    assert (kept["text"], kept["revision"], kept["status"]) == (said["text"], 1, "active")
    assert mine.get("/v1/count").json() == {"count": 1}


def test_a_project_key_reaches_no_session_of_the_user_nor_of_another_project(site: Site) -> None:
    # Given sessions of a user's own level and of a project
    made = site.key(project=None, grants=ALL)
    wide = made.token
    ids = {}
    for project in ("", "p1"):
        chat = site.browser(wide, {"Biem-Project": project}).post("/v1/sessions", json={"name": "x"}).json()["id"]
        body = {"role": "user", "content": "The vault is behind the mirror"}
        site.browser(wide, {"Biem-Project": project}).post(f"/v1/sessions/{chat}/messages", json=body)
        ids[project] = chat

    # When keys of other projects name them / Then there are none
    for bound, project in (("p1", ""), ("p2", "p1"), ("", "p1"), ("p2", "")):
        browser = site.browser(site.key(made.key.user, bound, ALL).token)
        chat = ids[project]
        for method, path, body in _of_a_session(chat):
            problem(browser.request(method, path, json=body), 404, "not-found")
        assert browser.get("/v1/sessions").json() == [] or chat not in browser.get("/v1/sessions").text


def _of_a_session(chat: str) -> list[tuple[str, str, Any]]:
    path = f"/v1/sessions/{chat}"
    return [
        ("GET", path, None), ("GET", f"{path}/messages", None), ("GET", f"{path}/window", None),
        ("POST", f"{path}/messages", {"role": "user", "content": "x"}), ("POST", f"{path}/close", None),
        ("POST", f"{path}/resume", None), ("POST", f"{path}/retract", {}), ("POST", f"{path}/trim", None),
        ("POST", "/v1/windows", {"query": "vault", "session": chat}),
        ("GET", f"/v1/warnings?session={chat}", None), ("GET", f"/v1/layers?session={chat}", None),
        ("POST", "/v1/commands", {"text": "/session status", "session": chat}),
    ]  # fmt: skip


def test_an_mcp_session_is_not_resumed_with_another_key(site: Site) -> None:
    # Given a connection of one key that another one goes on with, by its session and its place in a stream
    mine, theirs = (site.browser(site.key(grants=ALL).token) for _ in range(2))
    mine.post("/v1/memories", json={"text": "The vault is behind the mirror", "wait": True})
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    begun = mine.post("/mcp", json=hello, headers=HEADERS)
    resumed = {"Mcp-Session-Id": begun.headers.get("mcp-session-id", uuid.uuid4().hex), "Last-Event-ID": "0"}
    theirs.headers.update(resumed)

    # When it asks / Then it sees what is its own
    call = {"name": "recall", "arguments": {"query": "Where is the vault?"}}
    assert "mirror" in json.dumps(asked(mine, "tools/call", call))
    assert "mirror" not in json.dumps(asked(theirs, "tools/call", call))
    for method in ("GET", "DELETE"):
        given = theirs.request(method, "/mcp", headers=HEADERS)
        problem(given, 405)
        assert given.headers["allow"] == "POST"


def test_a_wrong_body_is_named_in_the_words_of_what_it_was_meant_to_be(site: Site) -> None:
    # Given bodies that are nearly one memory, or nearly several / When they are sent
    browser = site.browser(site.key().token)

    def said(body: object) -> str:
        return str(problem(browser.post("/v1/memories", json=body), 422, "invalid-input")["detail"])

    # Then only what is wrong with that form is said
    assert said({"txt": "hi"}) == "body.text: is missing; body.txt: there is no such field"
    assert said({"text": "hi", "wai": True}) == "body.wai: there is no such field"
    assert said({"items": [{"text": 5}]}) == "body.items[0].text: must be a string"
    assert said(["hi"]) == "body: must be a JSON object, with Content-Type: application/json"


def test_a_field_is_named_as_it_was_sent_where_it_may_have_several_forms(site: Site) -> None:
    # Given fields that may be a string or a list, or one of several words / When they are neither
    browser = site.browser(site.key().token)
    body = {"query": "x", "exclude_conversation": 5, "top_k": "two"}
    found: Any = problem(browser.post("/v1/recall", json=body), 422, "invalid-input")
    asked_for = browser.get("/v1/notes/verdicts", params={"status": "old", "limit": "x"})

    # Then each is named once, by its name alone, with all that it may be
    assert {fault["at"]: fault["message"] for fault in found["errors"]} == {
        "body.exclude_conversation": "must be a string, or must be a list",
        "body.top_k": "must be a whole number",
    }
    refused: Any = problem(asked_for, 422, "invalid-input")
    assert [fault["at"] for fault in refused["errors"]] == ["query.status", "query.limit"]
    broken = browser.post("/v1/recall", content=b'{"query" 5}', headers={"Content-Type": "application/json"})
    assert problem(broken, 422, "invalid-input")["detail"] == "body: no JSON: Expecting ':' delimiter, at character 10"
