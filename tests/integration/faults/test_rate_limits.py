"""A provider that has had enough: replies do not notice, and the work that needs it goes on without it."""

import uuid
from collections.abc import Iterator
from datetime import timedelta

import pytest
from pydantic import SecretStr

import biem
from biem.config import ReasonerSettings
from tests.support.fakes import HeldClock, WordEmbedder
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.model_servers.chat import ChatServer, error
from tests.support.servers import Testbed


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


# X49, in time: contract/reasoner. C21 and D9, use by use: what stands in for topics, worth, merging and the judge:
# test_topics_and_notes, test_merging and test_detect, for keywords test_running; one call a reply, within its limit,
# the day's budget and mended JSON: test_reasoner in contract/ and in unit/
@pytest.mark.req("C21", "D9")
@pytest.mark.req("X49", partly="the wired reply path")
def test_no_reply_asks_the_model_and_a_night_without_its_answers_ends_well(
    testbed: Testbed, server: ChatServer
) -> None:
    # Given a memory with a model whose provider answers 429 for five minutes
    server.default = error(429, Retry_After="300")
    clock, model = HeldClock(), ReasonerSettings(url=SecretStr(server.url), small_model="small")
    settings = testbed.settings(sleep=ONLY_SLEEP, reasoner=model, queue="none")
    scope = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings, scope=scope, embedder=WordEmbedder(dim=512), clock=clock) as memory:
        # When a user remembers, asks and praises / Then each has its answer, and no model was asked
        def reply() -> list[str]:
            hits = memory.recall("saffron harvest")
            assert "saffron harvest" in memory.context("saffron harvest").text
            memory.feedback(useful=[hits[0].node.id])
            return [hit.node.text for hit in hits]

        texts = ["The saffron harvest begins in October", "The saffron fields belong to my uncle"]
        for text in texts:
            memory.remember(text, speaker="Ann", conversation="farm")
            clock.advance(minutes=1)
        told = reply()
        assert texts[0] in told
        assert server.calls == []

        # When the night comes, whose topics a model would find
        clock.advance(hours=7)
        report = memory.sleep()

        # Then it was asked once and left alone, rules stood in for it, and nothing was lost
        assert len(server.calls) == 1
        assert report.failed == ()
        assert any("saffron" in pair.memory for pair in memory.related("saffron"))
        assert reply() == told
        assert len(server.calls) == 1
        assert memory.now() - clock.now() == timedelta(0)
