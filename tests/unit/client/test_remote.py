"""A remote memory is the facade: every method, with its signature; what it sends, and which errors answers become."""

import inspect
import json
import re
import threading
import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

import biem
from biem.cli.app import run
from biem.client.calls import AT_HOME, CALLS, HOLDERS, Holder
from biem.client.http import Connection
from biem.client.items import RemoteItems
from biem.client.memory import RemoteMemory, RemoteNotebook, RemoteSessions
from biem.client.methods import AtHomeOnly, vars_of
from biem.errors import (
    AccessDenied,
    BiemError,
    ConfigError,
    InvalidInput,
    KeyInvalid,
    NotFound,
    NotIndexed,
    RateLimited,
    RefConflict,
    StoreUnavailable,
)

REMOTE: dict[Holder, type] = {
    "memory": RemoteMemory,
    "sessions": RemoteSessions,
    "notes": RemoteNotebook,
    "items": RemoteItems,
}
HERE: dict[Holder, set[str]] = {
    "memory": set(),
    "sessions": {"policy", "recorder", "usage"},
    "notes": set(),
    "items": {"put", "get", "delete", "namespaces"},
}
"""What only calls others, or belongs to the server."""


def remote(answer: Callable[[httpx.Request], httpx.Response]) -> RemoteMemory:
    """A remote memory whose server is a function."""
    return RemoteMemory(Connection("http://server", "a key", timeout_s=5, transport=httpx.MockTransport(answer)))


@pytest.mark.parametrize("holder", HOLDERS)
def test_every_method_of_the_facade_is_there_with_its_signature(holder: Holder) -> None:
    # Given the public names of the facade / When each is looked for / Then it calls the server or says that it cannot
    original, kind = HOLDERS[holder], REMOTE[holder]
    public = {name for name in vars_of(original) if not name.startswith("_")}
    own = {name for name in vars(kind) if not name.startswith("_")}
    assert public - own == HERE[holder]
    called = {call.name for call in CALLS if call.holder == holder}
    assert called.isdisjoint(AT_HOME[holder])
    for name in public:
        if inspect.isfunction(getattr(original, name)) and name not in AT_HOME[holder]:
            assert inspect.signature(getattr(kind, name)) == inspect.signature(getattr(original, name)), name


def test_what_works_on_the_servers_machine_says_so() -> None:
    memory = remote(lambda _: httpx.Response(500))
    with pytest.raises(AtHomeOnly, match=r"'reindex' .*biem reindex"):
        memory.reindex()
    with pytest.raises(AtHomeOnly, match=r"'aim' .*biem\.connect"):
        _ = memory.aim
    with pytest.raises(AtHomeOnly, match=r"'notes\.watch' .*biem notes watch"):
        memory.notes.watch(threading.Event())


def test_every_command_that_a_refusal_names_is_one_of_biem() -> None:
    # Given what to do instead of each method that works there only / Then its commands exist
    for refused in AT_HOME.values():
        for name, instead in refused.items():
            assert instead, name
            for command in re.findall(r"`biem ([a-z -]+?)(?: [A-Z]+)?`", instead):
                assert run([*command.split(), "--help"]) == 0, (name, command)


def test_arguments_that_are_stated_travel_and_no_others() -> None:
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json={"items": [], "next": ""} if request.method == "GET" else {"ids": ["a"]})

    # Given a call with a time, a duration and a list / When it is made / Then the body has these, and the key is sent
    memory = remote(answer)
    at = datetime(2026, 5, 4, tzinfo=UTC)
    assert memory.remember("x", at=at, ttl=timedelta(days=2), tags=("a",)) == "a"
    assert json.loads(sent[0].content) == {"text": "x", "at": "2026-05-04T00:00:00Z", "ttl": "P2D", "tags": ["a"]}
    assert sent[0].headers["authorization"] == "Bearer a key"
    assert "biem-user" not in sent[0].headers

    # And a query has lists, and conditions as JSON
    memory.list(kinds=["task", "event"], where={"n": {"$gte": 3}}, limit=7)
    assert dict(sent[1].url.params.multi_items()) == {"kinds": "event", "where": '{"n": {"$gte": 3}}', "limit": "7"}
    with pytest.raises(TypeError):
        memory.recall()  # type: ignore[call-arg]
    with pytest.raises(InvalidInput):
        memory.remember("x", metadata={"a": object()})


@pytest.mark.parametrize(
    ("status", "document", "kind"),
    [
        (404, {"type": "urn:biem:problem:not-found", "detail": "no memory"}, NotFound),
        (409, {"type": "urn:biem:problem:ref-conflict"}, RefConflict),
        (401, {"type": "urn:biem:problem:key-invalid"}, KeyInvalid),
        (403, {}, AccessDenied),
        (422, {"type": "urn:biem:problem:idempotency-key-reused"}, InvalidInput),
        (429, {"type": "urn:biem:problem:rate-limited"}, RateLimited),
        (503, {"type": "urn:biem:problem:embedder-unavailable"}, biem.errors.EmbedderUnavailable),
        (504, {"type": "urn:biem:problem:not-indexed", "ids": ["a"]}, NotIndexed),
        (502, None, StoreUnavailable),
        (418, {"type": 7}, BiemError),
    ],
)
def test_a_problem_is_the_facades_own_error(status: int, document: Any, kind: type[BiemError]) -> None:
    content = b"<html>" if document is None else json.dumps(document).encode()
    memory = remote(lambda _: httpx.Response(status, content=content, headers={"Retry-After": "7"}))
    with pytest.raises(kind) as caught:
        memory.count()
    assert type(caught.value) is kind
    if isinstance(caught.value, RateLimited):
        assert caught.value.after_s == 7
    if isinstance(caught.value, NotIndexed):
        assert caught.value.ids == ("a",)


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("http://ann:{}@server", "k"),
        ("http://ann:{}@[::1", "k"),
        ("http://ann:12/{}@server", "k"),
        ("http://{}:x@server", "k"),
        ("server:8766/{}", "k"),
        ("ftp://{}", "k"),
        ("http://server", "biem_{}é"),
        ("http://server", "biem_{}\0"),
        ("http://server", "biem_{}\n{}"),
        ("http://server", " "),
    ],
)
def test_an_address_or_a_key_that_is_none_is_refused_without_being_quoted(address: str, key: str) -> None:
    word = "quokka"
    with pytest.raises((ConfigError, KeyInvalid)) as caught:
        biem.remote(address.format(word), key.replace("{}", word))
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value.__context__)
    assert word not in shown


def test_a_key_that_is_not_set_is_refused_as_an_empty_one() -> None:
    with pytest.raises(KeyInvalid, match="the key is empty"):
        biem.remote("http://server", None)  # type: ignore[arg-type]


def test_a_key_from_a_file_may_end_with_its_line() -> None:
    sent = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers["Authorization"])
        return httpx.Response(200, json={"count": 1})

    transport = httpx.MockTransport(answer)
    RemoteMemory(Connection("http://server", "biem_x\n", timeout_s=5, transport=transport)).count()
    assert sent == ["Bearer biem_x"]


def test_a_server_that_is_away_is_a_store_that_is() -> None:
    def away(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(StoreUnavailable, match="did not answer"):
        remote(away).count()
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        remote(lambda _: httpx.Response(200, content=b"{}")).count()


def test_a_closed_memory_says_so() -> None:
    memory = biem.remote("http://127.0.0.1:8766", "biem_a_b")
    memory.close()
    with pytest.raises(BiemError, match=r"this memory is closed; call biem.remote\(\) again"):
        memory.recall("Where is the boat?")
