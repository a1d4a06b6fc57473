"""Embedding servers that answer well, badly, late or not at all: real sockets, real failures."""

import asyncio
import gc
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biem.adapters import embedders
from biem.adapters.embedders import http
from biem.adapters.embedders.http import Endpoint, HttpEncoder
from biem.adapters.http_json import JsonService
from biem.bootstrap import build_embedder
from biem.config import load_settings
from biem.errors import BiemError, ConfigError, EmbedderMismatch, EmbedderUnavailable, InvalidInput
from biem.ports import Embedder
from tests.support.model_servers.embedding import DIM, Answer, EmbeddingServer

Builder = Callable[..., Embedder]
Connector = Callable[..., HttpEncoder]
KEY = "sk-very-secret-0123456789"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


@pytest.fixture
def build(server: EmbeddingServer, tmp_path: Path) -> Iterator[Builder]:
    """Builds whole embedders and closes them."""
    with ExitStack() as stack:

        def make(provider: str = "openai", *, cache_bytes: int = 0, **settings: Any) -> Embedder:
            chosen: dict[str, Any] = {
                "model": "fake",
                "url": server.url,
                "api_key": KEY,
                "cache_dir": tmp_path,
            } | settings
            return stack.enter_context(closing(embedders.build(provider, cache_bytes=cache_bytes, **chosen)))

        yield make


@pytest.fixture
def connect(server: EmbeddingServer) -> Iterator[Connector]:
    """Builds bare encoders and closes them."""
    with ExitStack() as stack:

        def make(url: str = "", **settings: Any) -> HttpEncoder:
            encoder = HttpEncoder(Endpoint("openai", "fake", url or server.url), **settings)
            server.calls.clear()
            return stack.enter_context(closing(encoder))

        yield make


@pytest.fixture
def encoder(connect: Connector) -> HttpEncoder:
    return connect(api_key=KEY, timeout_s=60)


def everything_about(error: BaseException | None) -> str:
    """Message and causes, as a log would show them."""
    out = ""
    while error is not None:
        out += f"{error!r} {error} {vars(error)}"
        error = error.__cause__ or error.__context__
    return out


@pytest.mark.req("G59")
def test_two_hundred_texts_are_four_calls_at_once(server: EmbeddingServer, encoder: HttpEncoder) -> None:
    all_there = threading.Barrier(4)  # broken, and the test failed, unless four calls wait in it together
    server.default = Answer(before=lambda: all_there.wait(60))
    texts = [f"text {number}" for number in range(200)]
    vectors = encoder.encode(texts, "passage")
    assert sorted(len(call.texts) for call in server.calls) == [8, 64, 64, 64]
    server.default = Answer()
    np.testing.assert_allclose(vectors[137], encoder.encode([texts[137]], "passage")[0], atol=1e-6)


@pytest.mark.req("G60", partly="duplicates are left out above the adapter")
def test_eight_hundred_texts_are_thirteen_calls(server: EmbeddingServer, encoder: HttpEncoder) -> None:
    encoder.encode([f"text {number}" for number in range(800)], "passage")
    assert len(server.calls) == 13


@pytest.mark.req("G58", "G60")
def test_thousand_texts_with_a_fifth_of_duplicates_are_thirteen_calls(server: EmbeddingServer, build: Builder) -> None:
    embedder = build(cache_bytes=100 << 20)
    server.calls.clear()
    embedder.embed([f"text {number % 800}" for number in range(1000)], "passage")
    assert len(server.calls) == 13


@pytest.mark.parametrize(("provider", "path"), [("openai", "/v1/embeddings"), ("ollama", "/api/embed")])
def test_request_is_the_protocols(server: EmbeddingServer, provider: str, path: str, build: Builder) -> None:
    build(provider)
    call = server.calls[-1]
    assert (call.path, call.model, call.authorization) == (path, "fake", f"Bearer {KEY}")


@pytest.mark.req("G67")
def test_the_environment_names_the_provider(
    server: EmbeddingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BIEM_HOME", str(tmp_path))
    # Given no name / Then it is the packaged model
    with closing(build_embedder(load_settings(), late=True)) as packaged:
        assert packaged.info.id.startswith("multilingual-e5-small")
    # Given the name of a kind of server, with its address and model / Then it is that
    monkeypatch.setenv("BIEM_EMBEDDER__MODEL", "fake")
    monkeypatch.setenv("BIEM_EMBEDDER__URL", server.url)
    for provider in ("openai", "ollama"):
        monkeypatch.setenv("BIEM_EMBEDDER__PROVIDER", provider)
        with closing(build_embedder(load_settings())) as served:
            assert served.info.id.startswith(f"{provider}:fake")
    # Given a name that there is not / Then it is refused with those there are
    monkeypatch.setenv("BIEM_EMBEDDER__PROVIDER", "none such")
    with pytest.raises(ConfigError, match="PROVIDER: Input should be 'e5', 'use'"):
        build_embedder(load_settings())


def test_url_may_end_in_v1_or_not() -> None:
    assert Endpoint("openai", "m", "http://host/v1/").address == Endpoint("openai", "m", "http://host").address


def test_prefixes_reach_the_server_and_the_id(server: EmbeddingServer, build: Builder) -> None:
    plain = build()
    dressed = build(query_prefix="query: ", passage_prefix="passage: ")
    dressed.embed(["a"], "query")
    dressed.embed(["b"], "passage")
    assert [call.texts for call in server.calls[-2:]] == [("query: a",), ("passage: b",)]
    assert plain.info.id != dressed.info.id


@pytest.mark.req("C12")
@pytest.mark.req("B6", partly="a stand-in for Ollama; the default is the packaged model with 384 dimensions")
@pytest.mark.parametrize(("provider", "model", "dim"), [("openai", "small", 24), ("ollama", "bge-m3", 1024)])
def test_dimension_is_probed_at_start(
    server: EmbeddingServer, build: Builder, provider: str, model: str, dim: int
) -> None:
    server.default = Answer(dim=dim)
    assert build(provider, model=model).info.dim == dim


def test_blank_text_is_never_sent_empty(server: EmbeddingServer, build: Builder) -> None:
    embedder = build()
    embedder.embed(["", "\0", "x" * 100_000], "passage")
    sent = server.calls[-1].texts
    assert all(text.strip() for text in sent)
    assert len(sent[2]) == embedder.info.max_tokens


# Failures that pass


@pytest.mark.parametrize("status", [429, 503, 408])
def test_passages_are_tried_again(server: EmbeddingServer, encoder: HttpEncoder, status: int) -> None:
    server.script.append(Answer(status, b"busy"))
    assert encoder.encode(["a"], "passage").shape == (1, DIM)
    assert len(server.calls) == 2


def test_pause_is_what_the_server_asks_for(server: EmbeddingServer, encoder: HttpEncoder) -> None:
    server.script.append(Answer(429, b"", {"Retry-After": "1"}))
    started = time.monotonic()
    encoder.encode(["a"], "passage")
    assert time.monotonic() - started >= 1


def test_pause_beyond_the_budget_is_not_waited_for(server: EmbeddingServer, encoder: HttpEncoder) -> None:
    server.script.append(Answer(429, b"", {"Retry-After": "3600"}))
    with pytest.raises(EmbedderUnavailable, match="HTTP 429"):
        encoder.encode(["a"], "passage")
    assert len(server.calls) == 1


@pytest.mark.long
def test_retries_end(server: EmbeddingServer, connect: Connector) -> None:
    encoder = connect(timeout_s=3.0)
    server.default = Answer(503, b"down for a while")
    started = time.monotonic()
    # On a busy machine the last try may find its time used up
    with pytest.raises(EmbedderUnavailable, match=r"HTTP 503: down for a while|no complete answer") as caught:
        encoder.encode(["a"], "passage")
    assert caught.value.retryable
    assert time.monotonic() - started < 20
    assert len(server.calls) >= 2


@pytest.mark.req("X5")
def test_one_failed_call_of_many_fails_them_all(server: EmbeddingServer, connect: Connector) -> None:
    encoder = connect(timeout_s=5.0)
    broken = Answer(change=lambda body: body | {"data": body["data"][1:]})
    server.script.extend([Answer(), broken, Answer(), Answer()])
    with pytest.raises(EmbedderUnavailable):
        encoder.encode([f"text {number}" for number in range(200)], "passage")


# A user waits for a reply


@pytest.mark.req("G65", partly="the query path never waits for a failing embedder")
def test_query_is_tried_once(server: EmbeddingServer, encoder: HttpEncoder) -> None:
    server.script.append(Answer(503, b""))
    with pytest.raises(EmbedderUnavailable):
        encoder.encode(["a"], "query")
    assert len(server.calls) == 1


@pytest.mark.long
@pytest.mark.parametrize("drip", [False, True], ids=["silent", "dripping"])
def test_query_waits_two_seconds_at_most(server: EmbeddingServer, connect: Connector, drip: bool) -> None:
    encoder = connect(timeout_s=30)
    silence: Callable[[], object] = (lambda: None) if drip else (lambda: server.stopped.wait(60))
    server.default = Answer(before=silence, drip=drip)
    started = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match=r"answer within 2\.0 s"):
        encoder.encode(["a"], "query")
    assert http.QUERY_BUDGET_S == 2
    assert 1.9 < time.monotonic() - started < 20
    server.stopped.set()


# Failures that stay


def test_refused_connection_tells_address_and_remedy(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    with pytest.raises(EmbedderUnavailable, match=f"{url}/api/embed.*BIEM_EMBEDDER__URL"):
        embedders.build("ollama", model="bge-m3", url=url, cache_dir=tmp_path, cache_bytes=0)


@pytest.mark.req("C12", "X44")
def test_another_dimension_is_a_mismatch(server: EmbeddingServer, encoder: HttpEncoder) -> None:
    server.script.append(Answer(dim=DIM + 1))
    with pytest.raises(EmbedderMismatch, match=f"{DIM + 1} dimensions instead of {DIM}"):
        encoder.encode(["a"], "passage")
    assert len(server.calls) == 1  # trying again would not help


def numbers(row: list[float]) -> Callable[[Any], Any]:
    return lambda body: body | {"data": [item | {"embedding": row} for item in body["data"]]}


@pytest.mark.req("X5")
@pytest.mark.parametrize(
    "answer",
    [
        Answer(change=numbers([0.0] * DIM)),
        Answer(change=numbers([float("nan")] * DIM)),
        Answer(change=numbers([1e308] * DIM)),
        Answer(change=lambda body: body | {"data": body["data"][1:]}),
        Answer(change=lambda body: body | {"data": body["data"] * 2}),
        Answer(change=lambda body: body | {"data": [item | {"index": 0} for item in body["data"]]}),
        Answer(change=lambda body: {"data": "no"}),
        Answer(change=lambda body: ["no"]),
        Answer(change=numbers(["one"] * DIM)),  # type: ignore[list-item]
        Answer(body=b"<html>it works</html>"),
        Answer(body=b""),
        Answer(body=b"\xff\xfe"),
    ],
    ids=["zeros", "nan", "overflow", "short", "long", "index", "words", "list", "strings", "html", "empty", "bytes"],
)
def test_bad_answer_never_becomes_a_vector(server: EmbeddingServer, encoder: HttpEncoder, answer: Answer) -> None:
    server.script.append(answer)
    with pytest.raises(EmbedderUnavailable, match="stored"):
        encoder.encode(["a", "b"], "passage")


@pytest.mark.parametrize("status", [400, 413, 422, 451])
def test_refused_texts_are_the_texts_fault(server: EmbeddingServer, encoder: HttpEncoder, status: int) -> None:
    server.script.append(Answer(status, b'{"error": "input too long"}'))
    with pytest.raises(InvalidInput, match="input too long"):
        encoder.encode(["a"], "passage")


def test_unknown_model_names_the_setting(server: EmbeddingServer, encoder: HttpEncoder) -> None:
    server.script.append(Answer(404, b'{"error": "model not found"}'))
    with pytest.raises(ConfigError, match="BIEM_EMBEDDER__MODEL"):
        encoder.encode(["a"], "passage")


@pytest.mark.parametrize("status", [401, 403])
def test_refused_key_names_the_setting_and_never_the_key(
    server: EmbeddingServer, encoder: HttpEncoder, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.script.append(Answer(status, f"bad key {KEY}".encode()))
    with caplog.at_level(logging.DEBUG), pytest.raises(ConfigError, match="BIEM_EMBEDDER__API_KEY") as caught:
        encoder.encode(["a"], "passage")
    assert KEY not in everything_about(caught.value)
    assert KEY not in caplog.text
    assert KEY not in f"{encoder!r} {vars(encoder)}"


@pytest.mark.parametrize("key", [f"{KEY}\nX-Other: 1", f"{KEY}é", f"{KEY}\0"])
def test_key_that_no_header_can_carry_is_refused_unseen(connect: Connector, key: str) -> None:
    with pytest.raises(ConfigError, match="BIEM_EMBEDDER__API_KEY") as caught:
        connect(api_key=key)
    assert KEY not in everything_about(caught.value)


def test_key_copied_with_white_space_works(server: EmbeddingServer, connect: Connector) -> None:
    connect(api_key=f" {KEY}\n").encode(["a"], "query")
    assert server.calls[-1].authorization == f"Bearer {KEY}"


def test_password_in_the_address_is_not_shown(server: EmbeddingServer, connect: Connector) -> None:
    secret = server.url.replace("http://", "http://user:hunter2@")
    encoder = connect(secret)
    server.script.append(Answer(404, b""))
    with pytest.raises(ConfigError) as caught:
        encoder.encode(["a"], "query")
    assert "hunter2" not in f"{caught.value} {encoder!r} {vars(encoder)}"


def test_address_that_is_none_names_the_setting() -> None:
    with pytest.raises(ConfigError, match="BIEM_EMBEDDER__URL"):
        Endpoint("openai", "fake", "localhost:11434")


# Life


@pytest.mark.req("X5")
@pytest.mark.req("G63", partly="a start while the provider is away")
def test_start_during_an_outage_works_when_the_model_was_seen_before(server: EmbeddingServer, build: Builder) -> None:
    first = build()
    wanted = first.embed(["a"], "passage")
    server.script.append(Answer(503, b""))
    again = build()
    assert again.info == first.info
    np.testing.assert_allclose(again.embed(["a"], "passage"), wanted, atol=1e-6)


class Loops(asyncio.DefaultEventLoopPolicy):
    """Counts the event loops that anybody makes."""

    made = 0

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        self.made += 1
        return super().new_event_loop()


@pytest.mark.req("G61", partly="by threads of the callers, as D11 decides, in place of one shared loop")
def test_sixteen_calls_are_under_way_at_once_and_none_makes_an_event_loop(
    server: EmbeddingServer, encoder: HttpEncoder
) -> None:
    loops = Loops()
    asyncio.set_event_loop_policy(loops)
    all_there = threading.Barrier(16)  # broken, and the test failed, unless sixteen calls wait in it together
    server.default = Answer(before=lambda: all_there.wait(60))
    try:
        with ThreadPoolExecutor(16) as pool:
            shapes = list(pool.map(lambda n: encoder.encode([str(n)], "passage").shape, range(16)))
    finally:
        asyncio.set_event_loop_policy(None)
    assert shapes == [(1, DIM)] * 16
    assert loops.made == 0


@pytest.mark.req("G62")
def test_it_is_called_from_a_thread_and_from_inside_a_running_loop(server: EmbeddingServer, build: Builder) -> None:
    embedder = build()

    async def program() -> list[tuple[int, ...]]:
        here = embedder.embed(["from inside the loop"], "passage")
        there = [asyncio.to_thread(embedder.embed, [f"from thread {n}"], "passage") for n in range(8)]
        return [vectors.shape for vectors in (here, *await asyncio.wait_for(asyncio.gather(*there), 60))]

    assert asyncio.run(program()) == [(1, DIM)] * 9


@pytest.mark.long
@pytest.mark.req("G61", partly="no thread is left after a thousand calls")
def test_thousand_calls_leave_no_thread_behind(server: EmbeddingServer, connect: Connector) -> None:
    before = threading.active_count()
    encoder = connect()
    with ThreadPoolExecutor(16) as pool:
        shapes = list(pool.map(lambda n: encoder.encode([str(n)], "passage").shape, range(1000)))
    assert set(shapes) == {(1, DIM)}
    encoder.encode(["x"] * 200, "passage")
    encoder.close()
    encoder.close()
    deadline = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < deadline:
        threading.Event().wait(0.01)  # the server's threads end when they notice
    assert threading.active_count() <= before


def test_closing_ends_a_pause(server: EmbeddingServer, connect: Connector) -> None:
    encoder = connect(timeout_s=20)
    arrived = threading.Event()
    server.default = Answer(503, b"", {"Retry-After": "15"}, before=arrived.set)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(encoder.encode, ["a"], "passage")
        assert arrived.wait(60)
        started = time.monotonic()
        encoder.close()
        with pytest.raises(BiemError):
            waiting.result(60)
    assert time.monotonic() - started < 12  # of the 15 that it was asked to wait


def test_a_connection_that_stood_only_after_closing_is_closed(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a call that is still connecting
    service = JsonService(f"{server.url}/v1/embeddings", api_key="", setting="BIEM_EMBEDDER__", connections=2)
    connect, connecting, go_on = socket.create_connection, threading.Event(), threading.Event()

    def slowly(*where: Any, **how: Any) -> socket.socket:
        connecting.set()
        assert go_on.wait(60)
        return connect(*where, **how)

    monkeypatch.setattr(socket, "create_connection", slowly)
    with ThreadPoolExecutor(1) as caller:
        call = caller.submit(service.post, {"model": "m", "input": ["x"]}, 60.0)
        assert connecting.wait(60)

        # When the service is closed meanwhile
        service.close()
        go_on.set()

        # Then the call may end well, and leaves no socket behind: that would be a warning, and here an error
        assert call.result(60).status == 200
    gc.collect()
