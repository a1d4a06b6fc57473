"""Everything that follows from the texts is rebuilt from them, after all of it was wiped."""

import pytest

import biem
from biem.adapters.redis.forget import forget_projections
from biem.bootstrap import Servers
from tests.integration.admin.test_backup import everything, live
from tests.support.fakes import HeldClock
from tests.support.systems import system


@pytest.mark.req("M68")
def test_metadata_and_vectors_are_back_after_both_were_wiped(stack: Servers) -> None:
    clock = HeldClock()
    with system(stack) as town:
        # Given a life, and what a program can ask for
        with biem.connect(town.settings, scope=town.scope, embedder=town.embedder, clock=clock) as memory:
            live(memory)
            before = everything(memory)
            columns = "SELECT id::text, language, fields, entities, sentiment, lexemes FROM memories ORDER BY id"
            known = town.sql(columns)
            assert {row[1] for row in known} == {"en", "zh"}

        # When everything that rules and models found out about it is wiped: fields, moods, words, vectors, projections
        town.sql("UPDATE memories SET language = 'und', fields = '{}', entities = '{}', sentiment = 0, lexemes = ''")
        town.sql("DELETE FROM embeddings")
        with town.inspection() as inspection:
            for name in inspection.names():
                inspection.drop(name)
        forget_projections(town.where.redis_url)
        with biem.connect(town.settings, scope=town.scope, embedder=town.embedder, clock=clock) as memory:
            assert not memory.recall("tea", top_k=20)

            # Then one command has all of it again
            assert memory.reindex() == before["counts"]["active"]
            assert town.sql(columns) == known
            assert everything(memory) == before


def test_the_statements_of_messages_that_an_older_version_indexed_get_their_vectors(stack: Servers) -> None:
    # Given a message of several statements, and the cache as it was before statements were embedded
    with system(stack) as town, biem.connect(town.settings, scope=town.scope, embedder=town.embedder) as memory:
        memory.remember("tea at five")
        notes = ("the boiler is repaired", "Ann pays rent from June", "twins swim on Thursdays", "keys at the door")
        memory.remember(
            "Notes of the house meeting of last Tuesday, all of us were there, also Ann with her dog:\n- "
            + "\n- ".join(notes),
            source="user",
        )
        assert memory.flush()
        held = "SELECT sha256, vector, parts FROM embeddings ORDER BY sha256"
        known = town.sql(held)
        assert sorted(parts is None for *_, parts in known) == [False, True]
        town.sql("UPDATE embeddings SET parts = NULL")

        # When all is indexed again / Then they are there, and nothing else is embedded
        memory.reindex()
        assert town.sql(held) == known
