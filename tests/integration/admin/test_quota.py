"""How many calls of an embedding server a memory needs, and how many are left."""

import uuid

import pytest

import biem
from biem import BIEMContextPlugin
from tests.support.model_servers.embedding import EmbeddingServer
from tests.support.servers import Configure

_TURNS = 10
_TURNS_A_DAY = 100
"""The reference load: what one person who works with an agent all day asks."""
_QUOTA = 500_000


@pytest.mark.req("G66")
def test_calls_of_the_server_are_counted_and_the_quota_lasts_for_years(settings: Configure) -> None:
    with EmbeddingServer() as server:
        model = {"provider": "openai", "model": f"fake-{uuid.uuid4().hex[:8]}", "url": server.url}
        configured = settings(embedder=model)
        # Given turns of a conversation, each with a question for memory and two messages to remember
        with biem.connect(configured, scope=biem.Scope(user=uuid.uuid4().hex)) as memory:
            first = len(server.calls)
            with BIEMContextPlugin(memory, conversation="day") as plugin:
                for turn in range(_TURNS):
                    asked = f"Where did I put the report number {turn} of the spring?"
                    plugin.prepare_context(asked)
                    plugin.record_user_message(asked)
                    plugin.record_assistant_message(f"Report number {turn} lies in drawer {turn + 1} of the desk.")
            assert memory.flush()
            made = len(server.calls) - first
        # When another process asks / Then it knows of every call, and how long the rest lasts
        with biem.connect(configured, scope=biem.Scope(user=uuid.uuid4().hex)) as memory:
            stats = memory.stats()
        assert stats["embedder_calls"] == first + made
        assert stats["embedder_calls_left"] == _QUOTA - first - made
        # And at the reference load the quota lasts for more than three years
        assert made <= 4 * _TURNS
        assert (_QUOTA - first) / (made / _TURNS * _TURNS_A_DAY) > 3 * 365
