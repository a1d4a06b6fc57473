"""An embedding server that refuses: a setting to correct, which costs meaning, and no one but those who use it."""

import logging
import uuid
from collections.abc import Iterator

import pytest

import biem
from tests.support.fakes import WordEmbedder, eventually
from tests.support.model_servers.embedding import Answer, EmbeddingServer
from tests.support.servers import Configure


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


@pytest.mark.long
@pytest.mark.parametrize(
    ("status", "setting"),
    [(401, "BIEM_EMBEDDER__API_KEY"), (403, "BIEM_EMBEDDER__API_KEY"), (404, "BIEM_EMBEDDER__MODEL")],
)
def test_a_server_that_refuses_costs_meaning_alone_and_names_the_setting(
    status: int, setting: str, server: EmbeddingServer, settings: Configure, caplog: pytest.LogCaptureFixture
) -> None:
    # Given two memories of a process, one of which has its vectors from a server
    served = {"provider": "openai", "model": "fake", "url": server.url, "api_key": "sk-refused-0123456789"}
    hasty = {"retry_down_s": 0.0}
    with (
        biem.connect(settings(embedder=served, recall=hasty), scope=_somebody()) as remote,
        biem.connect(settings(), scope=_somebody(), embedder=WordEmbedder()) as other,
    ):
        for memory in (remote, other):
            memory.remember("the lamp stands in the hall", wait=True)

        # When that server refuses the key, or does not know the model
        server.default = Answer(status, b'{"error": "no"}')
        with caplog.at_level(logging.WARNING, logger="biem"):
            refused = remote.recall("where does the lamp stand?")

        # Then the answer comes by words and says so, the log says what to set and keeps the key to itself
        assert [hit.node.text for hit in refused] == ["the lamp stands in the hall"]
        assert refused.degraded == ("embedder",)
        assert f"HTTP {status}" in caplog.text
        assert setting in caplog.text
        assert "sk-refused" not in caplog.text

        # And what is written meanwhile waits, uncharged, while the other memory answers by meaning
        key = remote.remember("the kettle is in the kitchen")
        assert remote.recall("kettle")[0].node.id == key
        assert other.recall("where does the lamp stand?").degraded == ()

        # And once the server accepts, all is as before
        server.default = Answer()
        assert remote.recall("where does a lamp stand?").degraded == ()
        assert remote.flush(60.0)
        eventually(lambda: remote.stats()["pending"] == 0)
        assert remote.stats()["dead_letters"] == 0


def _somebody() -> biem.Scope:
    return biem.Scope(user=uuid.uuid4().hex)
