"""`/v1` on real stores: what is written is found, pages end, revisions conflict, posts repeat, errors are documents."""

import io
import json
import zipfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.parse import urlencode

import httpx
import pytest

from tests.integration.server.conftest import Site


def problem(answer: httpx.Response, status: int, kind: str = "") -> dict[str, object]:
    """The problem document of an answer."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, object] = answer.json()
    assert document["status"] == status
    if kind:
        assert document["type"] == f"urn:biem:problem:{kind}"
    return document


def test_what_one_worker_stored_is_recalled_by_the_other_at_once(site: Site) -> None:
    # Given a key, and a memory posted to the first worker
    token = site.key().token
    posted = site.browser(token).post("/v1/memories", json={"text": "Ana keeps her boat in Lisbon", "tags": ["boat"]})
    assert posted.status_code == 201
    [memory_id] = posted.json()["ids"]
    assert posted.headers["location"] == f"/v1/memories/{memory_id}"

    # When the second is asked / Then it has it, in a recall, in a block, and by its id
    other = site.browser(token, at=1)
    found = other.post("/v1/recall", json={"query": "Where is Ana's boat?"}).json()
    assert [hit["node"]["id"] for hit in found["hits"]] == [memory_id]
    assert "Lisbon" in other.post("/v1/context", json={"query": "Where is Ana's boat?"}).json()["text"]
    assert other.get(posted.headers["location"]).json()["tags"] == ["boat"]


def test_a_list_goes_on_where_its_link_says(site: Site) -> None:
    browser = site.browser(site.key().token)
    tags = ["nuts & bolts", "größe"]
    items = [{"text": f"Box {number} holds {number} screws", "tags": tags} for number in range(5)]
    ids = browser.post("/v1/memories", json={"items": items}).json()["ids"]

    # When pages are followed by their links / Then each memory is on one of them, and the last has no link
    named = urlencode([("limit", 2), ("order", "oldest"), *(("tags", tag) for tag in tags)])
    found, address, pages = [], f"/v1/memories?{named}", 0
    while address:
        answer = browser.get(address)
        found += [node["id"] for node in answer.json()["items"]]
        address = answer.links.get("next", {}).get("url", "")
        pages += 1
    assert (found, pages) == (ids, 3)
    assert browser.get("/v1/count").json() == {"count": 5}
    assert browser.get("/v1/memories", params={"where": "[]"}).status_code == 422


def test_a_change_names_the_revision_that_it_read(site: Site) -> None:
    browser = site.browser(site.key().token)
    address = browser.post("/v1/memories", json={"text": "The door code is 4711"}).headers["location"]
    tag = browser.get(address).headers["etag"]

    # Given a change with the tag that was read / When another one has the same tag / Then it is refused
    changed = browser.patch(address, json={"text": "The door code is 4712"}, headers={"If-Match": tag})
    assert (changed.json()["revision"], changed.headers["etag"]) == (2, '"2"')
    problem(browser.patch(address, json={"text": "4713"}, headers={"If-Match": tag}), 412, "revision-mismatch")
    for wrong in ("2", "*", '"two"', '"1", "2"', '"' + "9" * 10 + '"'):
        told = problem(browser.patch(address, json={"text": "4713"}, headers={"If-Match": wrong}), 422, "invalid-input")
        assert told["detail"] == 'If-Match must be the revision that was read, in quotes, such as "3"; the ETag has it'

    # And the history has both, and a former one can be brought back
    assert [each["text"][-4:] for each in browser.get(f"{address}/history").json()] == ["4711", "4712"]
    assert browser.post(f"{address}/revert", json={"revision": 1}).json()["text"] == "The door code is 4711"

    # And an archived one comes back, and one in quarantine
    assert browser.delete(address).json() == {"changed": True}
    assert browser.delete(address).json() == {"changed": False}
    assert browser.post(f"{address}/restore").json() == {"changed": True}
    assert browser.post(f"{address}/quarantine", json={"reason": "a lie"}).json() == {"changed": True}
    assert browser.post(f"{address}/release", json={"trust": "normal"}).json() == {"changed": True}


def test_fifty_posts_with_one_key_leave_one_memory(site: Site) -> None:
    token = site.key().token
    browsers = [site.browser(token, {"Idempotency-Key": '"order-17"'}, at=at) for at in (0, 1)]

    # When both workers get the same post fifty times at once / Then all name the same memory, and there is one
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda n: browsers[n % 2].post("/v1/memories", json={"text": "Order 17"}), range(50)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    assert browsers[0].get("/v1/count").json() == {"count": 1}

    # And with another text the key is refused, as a ref in the body is, in its own way
    problem(browsers[0].post("/v1/memories", json={"text": "Order 18"}), 422, "idempotency-key-reused")
    problem(site.browser(token).post("/v1/memories", json={"text": "x", "ref": "order-17"}), 409, "ref-conflict")

    # And of several each has its own
    many = {"items": [{"text": "One of two"}, {"text": "Two of two"}]}
    sent = [browsers[0].post("/v1/memories", json=many, headers={"Idempotency-Key": "many"}) for _ in range(2)]
    assert sent[0].json() == sent[1].json()


def test_a_receipt_proves_an_erasure(site: Site) -> None:
    browser = site.browser(site.key().token)
    first, second = browser.post("/v1/memories", json={"items": [{"text": "Mine"}, {"text": "Also mine"}]}).json()[
        "ids"
    ]
    receipt = browser.post("/v1/erasures", json={"id": first}).json()
    assert receipt["memories"] == 1
    assert all(count["after"] == 0 for count in receipt["stores"])
    problem(browser.get(f"/v1/memories/{first}"), 404, "not-found")
    assert browser.post("/v1/erasures", json={"everything": "scope"}).json()["memories"] == 1
    problem(browser.get(f"/v1/memories/{second}"), 404, "not-found")
    problem(browser.post("/v1/erasures", json={}), 422, "invalid-input")


def test_an_export_is_imported_elsewhere(site: Site) -> None:
    mine, theirs = site.browser(site.key().token), site.browser(site.key().token)
    mine.post("/v1/memories", json={"items": [{"text": f"Line {number}"} for number in range(20)]})
    exported = mine.get("/v1/exports")
    assert json.loads(exported.headers["biem-report"])["memories"] == 20
    assert len(exported.text.splitlines()) == 22

    # When another scope takes it / Then it has the same texts, and taking it again stores nothing
    reports = [theirs.post("/v1/imports", content=exported.content).json() for _ in range(2)]
    assert [(each["created"], each["already_there"]) for each in reports] == [(20, 0), (0, 20)]
    chat = b'{"role": "user", "content": "I live in Porto", "ref": "a"}\n'
    found = theirs.post("/v1/imports/files", params={"name": "chat.jsonl"}, content=chat)
    assert found.json().get("stored") == 1, found.text
    problem(theirs.post("/v1/imports", content=b"no export"), 422)


def test_an_upload_that_cannot_be_read_is_reported_by_its_own_name(site: Site) -> None:
    # Given a chat with a broken line, as a file and in an archive
    browser = site.browser(site.key().token)
    chat = b'{"text": "The attic key is blue"}\n{"text": "no end\n'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("sub/chat.jsonl", chat)

    # When each is uploaded / Then the error has the sender's name of the file, and names an argument of the call
    for name, content, shown in (
        ("chat.jsonl", chat, "chat.jsonl:2:10: "),
        ("chats.zip", packed.getvalue(), "chats.zip/sub/chat.jsonl:2:10: "),
    ):
        upload = partial(browser.post, "/v1/imports/files", content=content)
        refused = str(problem(upload(params={"name": name}), 422, "invalid-input")["detail"])
        assert refused.startswith(shown), refused
        assert "skip_bad=True" in refused
        assert "--" not in refused

        # And with that argument it is a report, which names the file in the same way
        report = upload(params={"name": name, "skip_bad": True}).json()
        assert (report["already_there"], report["bad"]) == (1, 1)
        assert [line["file"] + ":2:10: " for line in report["first_bad"]] == [shown]

    # And so does that of an unknown format
    unknown = browser.post("/v1/imports/files", params={"name": "picture.png"}, content=b"\x89PNG\0\0")
    said = str(problem(unknown, 422)["detail"])
    assert said.startswith("picture.png: unknown content")
    assert "--format" not in said


def test_a_monitor_may_ask_for_the_head_alone(site: Site) -> None:
    for path in ("/health", "/ready"):
        answer = httpx.head(site.urls[0] + path)
        assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize("body", ['{"text": "备用钥匙"}'.encode("gb18030"), b"[" * 100_000])
def test_a_body_that_cannot_be_read_is_told_what_is_read(site: Site, body: bytes) -> None:
    browser = site.browser(site.key().token, {"Content-Type": "application/json"})
    said = problem(browser.post("/v1/memories", content=body), 400)
    assert said["detail"] == "the body is no JSON in UTF-8, or is nested too deeply"


@pytest.mark.parametrize("address", ["/v1/imports", "/v1/imports/files"])
def test_a_form_is_no_file(site: Site, address: str) -> None:
    # Given a file sent as part of a form / When an import takes it / Then the error says how to send it
    browser = site.browser(site.key().token)
    form = browser.post(address, files={"file": ("chat.jsonl", b'{"text": "The attic key is blue"}\n')})
    said = problem(form, 415, "body-of-another-type")
    assert "--data-binary" in str(said["detail"])
    assert browser.get("/v1/count").json() == {"count": 0}


def test_a_session_is_kept_word_for_word(site: Site) -> None:
    browser = site.browser(site.key().token)
    session = browser.post("/v1/sessions", json={"name": "planning"}).json()
    address = f"/v1/sessions/{session['id']}"
    for role, content in (("user", "Book a table for six"), ("assistant", "Booked for Friday")):
        said = browser.post(f"{address}/messages", json={"role": role, "content": content, "tags": ["trip"]})
        assert said.status_code == 200, said.text
    assert [each["content"] for each in browser.get(f"{address}/messages").json()] == [
        "Book a table for six",
        "Booked for Friday",
    ]
    assert len(browser.get(f"{address}/window", params={"budget": 500}).json()["messages"]) == 2
    assert browser.post(f"{address}/close").json() == {"changed": True}
    assert browser.get("/v1/sessions", params={"status": "closed"}).json()[0]["id"] == session["id"]


def test_every_other_page_answers(site: Site) -> None:
    token = site.key(grants=("read", "write", "erase", "admin")).token
    browser = site.browser(token)
    first, second = browser.post(
        "/v1/memories",
        json={
            "items": [{"text": "I live in Oslo", "at": "2026-01-02T00:00:00Z"}, {"text": "I live in Rome"}],
            "wait": True,
        },
    ).json()["ids"]
    assert browser.post("/v1/feedback", json={"useful": [first], "new": [second], "turn": "t1"}).json()["useful"] == 1
    for path in (
        "timeline", "graph", "facts", "scopes", "stats", "instants?conversation=x", "refusals", "dead-letters", "about",
        f"memories/{first}/node", f"memories/{first}/links", f"ids/{first[-8:]}", "notes/libraries", "notes/stats",
        "notes/search?query=x", "conflicts?status=all", "keys",
    ):  # fmt: skip
        answer = browser.get(f"/v1/{path}")
        assert answer.status_code == 200, (path, answer.text)
        assert answer.headers["cache-control"] == "no-store"
    for path, body in (
        ("recall/typed", {"query": "Oslo"}),
        ("related", {"text": "Oslo"}),
        ("running", {"message": "Oslo", "conversation": "c"}),
        ("observations", {"text": "I always drink tea", "store": True}),
        ("sleep", {}),
        ("flush", {"timeout_s": 20}),
        ("dead-letters/retry", {}),
        ("notes/sync", {}),
    ):
        answer = browser.post(f"/v1/{path}", json=body)
        assert answer.status_code == 200, (path, answer.text)
    metrics = browser.get("/metrics").text
    assert "biem_scope_memories " in metrics
    assert "all_" not in metrics
    assert browser.get("/v1/stats").json().keys() & {"all_memories", "collection", "backlog"} == set()
    for path in ("/health", "/ready", "/openapi.json"):
        assert httpx.get(f"{site.urls[0]}{path}").status_code == 200
    conflicts = browser.get("/v1/conflicts", params={"status": "all"}).json()
    for conflict in conflicts:
        undone = browser.post(f"/v1/conflicts/{conflict['id']}/undo")
        assert undone.status_code == 200, undone.text


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/memories", b"{", 422),
        ("POST", "/v1/memories", b"[" * 100_000, 400),
        ("POST", "/v1/memories", b'{"text": "\xff"}', 400),
        ("POST", "/v1/memories", b'{"text": "a\\u0000b"}', 422),
        ("POST", "/v1/memories", b'{"text": "\\ud800"}', 422),
        ("POST", "/v1/memories", b'{"text": "x", "metadata": {"a": "\\udfff"}}', 422),
        ("POST", "/v1/memories", b'{"text": "x", "importance": NaN}', 422),
        ("POST", "/v1/memories", b'{"text": "x", "importance": "3"}', 422),
        ("POST", "/v1/memories", b'{"text": "x", "user": "eve"}', 422),
        ("POST", "/v1/memories", b'{"text": "x", "tenant": "other"}', 422),
        ("POST", "/v1/memories", b'{"text": "x", "at": 1700000000}', 422),
        ("POST", "/v1/memories", b'{"items": []}', 422),
        ("POST", "/v1/recall", b'{"query": "  "}', 422),
        ("POST", "/v1/recall", b'{"query": "x", "top_k": 0}', 422),
        ("POST", "/v1/recall", b'{"query": "x", "scope": "other"}', 422),
        ("GET", "/v1/memories?limit=501", b"", 422),
        ("GET", "/v1/memories?user=eve", b"", 422),
        ("GET", "/v1/memories/not-an-id", b"", 422),
        ("GET", "/v1/memories/%00", b"", 422),
        ("PUT", "/v1/memories", b"", 405),
        ("GET", "/v1/nowhere", b"", 404),
    ],
)
def test_what_cannot_be_meant_is_a_problem_document(
    site: Site, method: str, path: str, body: bytes, status: int
) -> None:
    browser = site.browser(site.key().token, {"Content-Type": "application/json"})
    document = problem(browser.request(method, path, content=body), status)
    assert not {"Traceback", "psycopg", "biem/"} & set(json.dumps(document).split())
    assert browser.get("/v1/count").json() == {"count": 0}


def test_an_expired_memory_travels_with_its_times(site: Site) -> None:
    browser = site.browser(site.key().token)
    ends = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    [one] = browser.post("/v1/memories", json={"text": "Voucher", "expires_at": ends}).json()["ids"]
    assert browser.get(f"/v1/memories/{one}").json()["expires_at"].startswith(ends[:19])
    assert browser.patch(f"/v1/memories/{one}", json={"expires_at": None}).json()["expires_at"] is None
    assert browser.patch(f"/v1/memories/{one}", json={"ttl": "P2D"}).json()["expires_at"] is not None
