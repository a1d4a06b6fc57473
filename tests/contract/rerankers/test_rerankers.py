"""Reranking servers that answer well, badly, slowly, with 429 or not at all: real sockets, real failures."""

import json
import logging
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import pytest

from biem.adapters import rerankers
from biem.errors import ConfigError, MissingExtra, RerankerUnavailable
from biem.ports.embedding import Reranker
from tests.support.model_servers.rerank import Reply, RerankServer

KEY = "sk-very-secret-0123456789"
QUERY = "where does ann live"
TEXTS = ["Bob likes tea", "ann does live in Rome", "where is ann", "安住在罗马"]
PROVIDERS = ("jina", "tei")

Build = Callable[..., Reranker]


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer() as running:
        yield running


@pytest.fixture
def build(server: RerankServer) -> Iterator[Build]:
    """Builds rerankers and closes them."""
    with ExitStack() as stack:

        def make(provider: str = "jina", **settings: Any) -> Reranker:
            chosen: dict[str, Any] = {"model": "fake", "url": server.url, "api_key": KEY} | settings
            return stack.enter_context(closing(rerankers.build(provider, **chosen)))

        yield make


def failing(reranker: Reranker, match: str, timeout_s: float = 5.0) -> RerankerUnavailable:
    with pytest.raises(RerankerUnavailable, match=match) as caught:
        reranker.rerank(QUERY, TEXTS, timeout_s)
    return caught.value


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_text_gets_its_own_score_although_the_server_sorts_them(
    server: RerankServer, build: Build, provider: str
) -> None:
    # Given texts of which the second is best / When they are judged / Then scores stand in the order of the texts
    assert build(provider).rerank(QUERY, TEXTS, 5.0) == [0.0, 0.75, 0.5, 0.0]
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("provider", "body"),
    [
        ("jina", {"model": "fake", "query": QUERY, "documents": TEXTS, "top_n": 4}),
        ("tei", {"query": QUERY, "texts": TEXTS, "truncate": True}),
    ],
)
def test_the_request_is_the_protocols(server: RerankServer, build: Build, provider: str, body: dict[str, Any]) -> None:
    build(provider, url=server.url + "/v1/").rerank(QUERY, TEXTS, 5.0)
    build(provider, url=server.url + "/v1/rerank").rerank(QUERY, TEXTS, 5.0)
    assert [call.path for call in server.calls] == ["/v1/rerank", "/v1/rerank"]
    assert [call.body for call in server.calls] == [body, body]
    assert {call.authorization for call in server.calls} == {f"Bearer {KEY}"}


def test_no_text_sends_no_request(server: RerankServer, build: Build) -> None:
    assert build().rerank(QUERY, [], 5.0) == []
    assert server.calls == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_logits_become_probabilities_in_the_same_order(server: RerankServer, build: Build, provider: str) -> None:
    # Given a server that answers with logits, some of them enormous
    name = "score" if provider == "tei" else "relevance_score"
    logits = [-1e9, 3.0, 0.0, 1e9]

    def change(good: Any) -> Any:
        rows = [{"index": place, name: value} for place, value in enumerate(logits)]
        return rows if provider == "tei" else good | {"results": rows}

    server.default = Reply(change=change)

    # When it is asked / Then all lie in [0, 1]
    scores = build(provider).rerank(QUERY, TEXTS, 5.0)
    assert scores == [pytest.approx(0.0), pytest.approx(1 / (1 + math.exp(-3))), 0.5, 1.0]
    assert all(0.0 <= score <= 1.0 for score in scores)


def results(rows: Any) -> Callable[[Any], Any]:
    return lambda good: good | {"results": rows}


def row(index: Any, score: Any) -> dict[str, Any]:
    return {"index": index, "relevance_score": score}


@pytest.mark.parametrize(
    "change",
    [
        lambda good: {},
        lambda good: [],
        lambda good: None,
        lambda good: "ok",
        lambda good: 7,
        results(None),
        results({}),
        results([]),
        results([row(0, 0.5)]),
        results([row(0, 0.1), row(1, 0.2), row(2, 0.3), row(2, 0.4)]),
        results([row(0, 0.1), row(1, 0.2), row(2, 0.3), row(4, 0.4)]),
        results([row(0, 0.1), row(1, 0.2), row(2, 0.3), row(-1, 0.4)]),
        results([row(0, 0.1), row(1, 0.2), row(2, 0.3), row("3", 0.4)]),
        results([row(0, 0.1), row(1, 0.2), row(2, 0.3), row(True, 0.4)]),
        results([row(place, None) for place in range(4)]),
        results([row(place, "high") for place in range(4)]),
        results([row(place, [1]) for place in range(4)]),
        results([row(0, 0.5) for _ in range(5)]),
    ],
)
def test_an_answer_that_is_not_one_number_a_text_is_an_outage(
    server: RerankServer, build: Build, change: Callable[[Any], Any]
) -> None:
    server.default = Reply(change=change)
    failing(build(), "scores|answer")


@pytest.mark.parametrize("raw", [b"", b"<html>", b'{"results": [', b"NaN", b"\xff\xfe"])
def test_an_answer_that_is_no_json_is_an_outage(server: RerankServer, build: Build, raw: bytes) -> None:
    server.default = Reply(raw=raw)
    failing(build(), "without scores")


def test_a_number_that_is_none_is_an_outage(server: RerankServer, build: Build) -> None:
    rows = [row(place, 1e999 if place else 0.5) for place in range(4)]  # JSON has no infinity, but 1e999 reads as one
    server.default = Reply(raw=json.dumps({"results": rows}).replace("Infinity", "1e999").encode())
    failing(build(), "no number|without scores")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 500, 503])
def test_every_refusal_is_an_outage_that_says_what_to_do(server: RerankServer, build: Build, status: int) -> None:
    server.default = Reply(status=status, raw=b'{"error": "no"}')
    error = failing(build(), str(status))
    assert len(server.calls) == 1  # one try: a reply must not wait
    if status in (401, 403):
        assert "API_KEY" in str(error)


@pytest.mark.req("X49", partly="the reranker")
def test_a_rate_limit_is_reported_and_not_waited_for(server: RerankServer, build: Build) -> None:
    # Given a server that wants two minutes / When it is asked / Then it fails at once and says how long
    server.default = Reply(status=429, headers={"Retry-After": "120"}, raw=b"slow down")
    started = time.monotonic()
    assert failing(build(), "429").pause_s == 120.0
    assert time.monotonic() - started < 20.0


def test_a_slow_answer_ends_in_time(server: RerankServer, build: Build) -> None:
    # Given servers that think, or drip / When they are asked for a short time / Then that is how long it takes
    release = threading.Event()
    server.script.extend([Reply(before=lambda: release.wait(60)), Reply(drip=True)])
    reranker = build()
    for _ in range(2):
        started = time.monotonic()
        failing(reranker, "answer", timeout_s=0.3)
        assert time.monotonic() - started < 15.0
    release.set()


def test_a_server_that_hangs_up_or_is_not_there_is_an_outage(server: RerankServer, build: Build) -> None:
    server.default = Reply(hang_up=True)
    failing(build(), "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    failing(build(url=f"http://127.0.0.1:{port}"), "127.0.0.1")


def test_threads_get_their_own_answers(build: Build) -> None:
    reranker = build()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: reranker.rerank(f"word{n}", [f"word{m}" for m in range(8)], 10.0), range(8)))
    assert found == [[float(n == m) for m in range(8)] for n in range(8)]


def test_the_key_is_never_shown(server: RerankServer, build: Build, caplog: pytest.LogCaptureFixture) -> None:
    # Given a server that repeats the key / When it refuses / Then neither error nor log nor name has it
    server.default = Reply(status=400, raw=f"bad key {KEY}".encode())
    reranker = build(url=server.url.replace("http://", "http://user:pass-word@"))
    with caplog.at_level(logging.DEBUG):
        error = failing(reranker, "400")
    shown = f"{error!r} {reranker!r} {caplog.text}"
    assert KEY not in shown
    assert "pass-word" not in shown


@pytest.mark.parametrize(
    ("provider", "settings", "says"),
    [
        ("jina", {"url": ""}, "URL"),
        ("tei", {"url": "ftp://host"}, "URL"),
        ("tei", {"url": "http://host?x=1"}, "URL"),
        ("jina", {"model": ""}, "MODEL"),
        ("jina", {"api_key": "ключ"}, "API_KEY"),
        ("elephant", {}, "PROVIDER"),
    ],
)
def test_settings_that_cannot_work_are_refused_by_name(
    build: Build, provider: str, settings: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigError, match=f"BIEM_RERANKER__{says}"):
        build(provider, **settings)


def test_closing_twice_is_closing(server: RerankServer, build: Build) -> None:
    reranker = build()
    reranker.rerank(QUERY, TEXTS, 5.0)
    reranker.close()
    reranker.close()


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"biem\[bge\]"):
        rerankers.build("bge")
