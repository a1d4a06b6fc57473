"""Shapes are ranked in memory by the engine's own code."""

from dataclasses import replace

import pytest

from benchmarks import shapes
from benchmarks._collections import written
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._offline import Fused, InMemory
from benchmarks.lives.grammar import Lang
from biem.config import load_settings


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_collection_is_ranked_without_servers(lang: Lang) -> None:
    # Given a written collection in memory / When its questions are asked / Then most find an answer among the first ten
    conversation = written(lang)["support tickets"]
    embedder = SyntheticEmbedder()
    for system in (InMemory(embedder, load_settings()), Fused(embedder)):
        system.load(conversation)
        system.ready()
        found = [set(system.ask(conversation, one)[:10]) & one.groups[0] for one in conversation.questions]
        assert sum(map(bool, found)) >= 18, system.name

        # And nothing said later than the question's place is shown
        early = replace(conversation.questions[0], before=5)
        assert set(system.ask(conversation, early)) <= {turn.id for turn in conversation.turns[:5]}


def test_the_command_ranks_in_memory(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--offline", "--embedder", "synthetic", "--shapes", "household log"]
    assert shapes.main(asked) == 0
    assert "household log" in capsys.readouterr().out
