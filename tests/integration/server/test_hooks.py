"""Hooks of coding agents: memory before a prompt within a second, the turn kept after it, nothing of the block kept."""

import json
import threading
import time
from typing import Any

import httpx
import pytest

from biem.errors import StoreUnavailable
from biem.memory import Memory
from biem.server.hooks import DEADLINE_S, MOST_CHARS, PATH
from tests.integration.server.conftest import Site
from tests.integration.server.test_api import problem
from tests.support.fakes import eventually


def hook(browser: httpx.Client, event: str, **more: Any) -> str:
    """What the hook adds to the prompt."""
    body = json.dumps({"hook_event_name": event, "session_id": "s1", "cwd": "/x", **more})  # escapes half a pair, too
    answer = browser.post(PATH, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200, answer.text
    return str(answer.json().get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_a_turn_is_kept_and_comes_back_before_the_next_prompt(site: Site) -> None:
    browser = site.browser(site.key().token)

    # Given a session in which something is said, twice over as after a lost answer
    assert hook(browser, "SessionStart", source="startup") == ""
    for _ in range(2):
        hook(browser, "UserPromptSubmit", prompt="Our staging server is called heron", prompt_id="p1")
        assert hook(browser, "Stop", last_assistant_message="Noted: heron is the staging server", prompt_id="p1") == ""
    eventually(lambda: browser.get("/v1/count").json() == {"count": 2})

    # When the next one asks / Then the memory is in its prompt, marked, and named after the event
    block = hook(
        browser, "UserPromptSubmit", session_id="s2", prompt="What is the staging server called?", prompt_id="p2"
    )
    assert block.startswith("<biem-memory>")
    assert "heron" in block
    assert hook(browser, "SessionEnd", reason="exit") == ""

    # And where the agent quotes the block, only the rest is kept
    hook(browser, "Stop", session_id="s2", prompt_id="p2", last_assistant_message=f"{block}\nIt is the grey bird.")
    eventually(lambda: browser.get("/v1/count").json() == {"count": 4})
    texts = [node["text"] for node in browser.get("/v1/memories").json()["items"]]
    assert "It is the grey bird." in texts
    assert not [text for text in texts if "Relevant Memories" in text or "biem-memory" in text]
    roles = {
        node["text"]: (node["source"], node["conversation"]) for node in browser.get("/v1/memories").json()["items"]
    }
    assert roles["Noted: heron is the staging server"] == ("assistant", "s1")


def test_a_prompt_that_leans_on_the_session_is_read_in_full(site: Site) -> None:
    # Given memories of two persons, and a session about each
    browser = site.browser(site.key().token)
    homes = {"sister": "My sister lives in Halden", "mother": "My mother lives in Bergvik"}
    for who, told in homes.items():
        hook(browser, "UserPromptSubmit", session_id="told", prompt=told, prompt_id=who)
        hook(browser, "UserPromptSubmit", session_id=who, prompt=f"When does my {who} come?", prompt_id="p1")
        hook(browser, "Stop", session_id=who, last_assistant_message="On Friday.", prompt_id="p1")
    eventually(lambda: browser.get("/v1/count").json() == {"count": 6})

    # When both go on alike / Then the first memory of each is about its own person
    for who, told in homes.items():
        block = hook(browser, "UserPromptSubmit", session_id=who, prompt="Where does she live?", prompt_id="p2")
        assert told in next(line for line in block.splitlines() if line.startswith("1. "))


@pytest.mark.parametrize("odd", ["\0", "\ud800"])
def test_characters_that_no_store_accepts_cost_neither_the_block_nor_the_turn(site: Site, odd: str) -> None:
    # Given a session whose name, turns and texts have such characters / When something is said
    browser = site.browser(site.key().token)
    told = {"session_id": f"s{odd}", "prompt_id": f"p{odd}"}
    hook(browser, "UserPromptSubmit", prompt=f"The barge is called otter {odd}", **told)
    hook(browser, "Stop", last_assistant_message=f"Noted {odd}: otter", **told)
    eventually(lambda: browser.get("/v1/count").json() == {"count": 2})

    # Then the next prompt has it
    assert "otter" in hook(browser, "UserPromptSubmit", prompt=f"What is the barge called? {odd}", session_id=f"t{odd}")


def test_a_field_without_a_value_is_one_that_is_left_out(site: Site) -> None:
    browser = site.browser(site.key().token)
    assert hook(browser, "Stop", last_assistant_message=None, prompt_id=None) == ""
    assert hook(browser, "UserPromptSubmit", prompt="Is the otter a barge?", prompt_id=None, session_id=None) == ""
    eventually(lambda: browser.get("/v1/count").json() == {"count": 1})


def test_a_block_has_at_most_nine_thousand_characters(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = site.browser(site.key().token)
    whole = Memory.context

    def long(self: Memory, query: str, **more: Any) -> Any:
        found = whole(self, query, **more)
        return type(found)("## Relevant Memories\n" + "A line of a long block\n" * 1_000, found.hits)

    monkeypatch.setattr(Memory, "context", long)
    block = hook(browser, "UserPromptSubmit", prompt="What was said?")
    assert 8_900 < len(block) <= MOST_CHARS
    assert block.endswith("A line of a long block\n</biem-memory>")


@pytest.mark.long
def test_an_agent_does_not_wait_for_a_memory_that_hangs(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a memory whose answers hang, in more calls than the hooks have threads
    browser = site.browser(site.key(grants=["read"]).token)
    released = threading.Event()
    monkeypatch.setattr(Memory, "context", lambda *_, **__: released.wait(60))
    try:
        # When prompts come / Then each goes on without memory, long before the memory answers
        begun = time.monotonic()
        assert [hook(browser, "UserPromptSubmit", prompt="hello there") for _ in range(2)] == ["", ""]
        assert time.monotonic() - begun < 60
        assert DEADLINE_S == 1.0
    finally:
        released.set()


def test_an_agent_does_not_wait_for_its_key(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a store in which the look-up of a key hangs / When a prompt comes / Then it goes on without memory meanwhile
    released, token = threading.Event(), site.key().token
    monkeypatch.setattr(type(site.backends[0].keys), "verify", lambda *_: released.wait(60))
    try:
        assert hook(site.browser(token), "UserPromptSubmit", prompt="x") == ""
        assert not released.is_set()
    finally:
        released.set()


def test_a_hook_is_open_while_no_key_can_be_looked_up(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # Given a database that is down, whose error has a secret
    token, secret = site.key().token, "quokka"
    browser, unnamed = site.browser(token), httpx.post(site.urls[0] + PATH, json={"hook_event_name": "Stop"})

    def down(*_: Any) -> None:
        raise StoreUnavailable(f"postgresql://ann:{secret}@db is down")

    monkeypatch.setattr(type(site.backends[0].keys), "verify", down)

    # When an agent's hooks come / Then it goes on without memory, and the log says why without a secret
    for event, more in (("UserPromptSubmit", {"prompt": "x"}), ("Stop", {"last_assistant_message": "x"})):
        answer = browser.post(PATH, json={"hook_event_name": event, **more})
        assert (answer.status_code, answer.json()) == (200, {})
    assert "'/v1/hooks/claude-code' refused for no key: store-unavailable" in caplog.text
    assert secret not in caplog.text
    assert token[-43:] not in caplog.text

    # And other addresses say that it is down, and a request without a key is refused as ever
    problem(browser.get("/v1/count"), 503, "store-unavailable")
    assert unnamed.status_code == 401
    assert httpx.post(site.urls[0] + PATH, json={"hook_event_name": "Stop"}).status_code == 401


def test_a_memory_that_fails_costs_the_block_only(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = site.browser(site.key().token)

    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    for name in ("context", "remember"):
        monkeypatch.setattr(Memory, name, broken)
    assert hook(browser, "UserPromptSubmit", prompt="hello there") == ""
    assert hook(browser, "Stop", last_assistant_message="good bye") == ""
    assert hook(browser, "PreCompact", trigger="auto") == ""


def test_a_key_that_may_only_read_keeps_nothing(site: Site) -> None:
    made = site.key()
    reader = site.browser(site.key(made.key.user, grants=["read"]).token)
    hook(reader, "UserPromptSubmit", prompt="Remember the heron", prompt_id="p1")
    assert site.browser(made.token).get("/v1/count").json() == {"count": 0}
    assert reader.post(PATH, json={"session_id": "s"}).status_code == 422
    assert httpx.post(site.urls[0] + PATH, json={"hook_event_name": "Stop"}).status_code == 401
