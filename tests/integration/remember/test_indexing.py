"""What is not indexed yet is found by its words, however much waits, and an answer says how much that is."""

import uuid

import pytest

import biem
from biem.domain.scope import Scope
from tests.support.fakes import WordEmbedder
from tests.support.servers import Configure


@pytest.mark.long
@pytest.mark.req("X5", "D6", partly="thousands that wait")
def test_what_waits_to_be_indexed_is_found_by_its_words_and_counted(settings: Configure) -> None:
    # Given an indexed memory, and then hundreds that wait and share the question's words but the one that matters
    scope = Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(), scope=scope, embedder=WordEmbedder()) as worker:
        worker.remember("The kitchen of the old farm has a green door", wait=True)
        assert worker.recall("kitchen").indexing == 0
    with biem.connect(settings(queue="none"), scope=scope, embedder=WordEmbedder()) as memory:
        first = memory.remember("The kitchen key hangs behind the zymurgist's clock")
        memory.remember_many([{"text": f"Note {n} of the kitchen of the farm"} for n in range(400)])
        # When it is asked for / Then it comes first, and what waits is counted, in a project, too
        for asked in (memory, memory.scope(project="p")):
            hits = asked.recall("What has the zymurgist to do with the kitchen?")
            assert (hits[0].node.id, hits.degraded, hits.indexing) == (first, (), 401)
        assert memory.context("zymurgist kitchen").indexing == 401
        assert memory.recall("zymurgist kitchen", profile="biem").indexing == 401
        assert memory.stats()["pending"] == 401
        memory.erase(scope)
