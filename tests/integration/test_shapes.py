"""Facts under topic labels, and messages of several talks at once: what a plain hybrid search finds is found, too."""

import uuid
from contextlib import closing
from dataclasses import replace
from random import Random

import pytest

import biem
from benchmarks._baselines import System
from benchmarks._data import Conversation
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._filed import filed
from benchmarks._hybrid import MilvusHybrid
from benchmarks._systems import Biem
from benchmarks.metrics import new_gold, recall_at
from biem.bootstrap import Servers
from tests.support.servers import Configure

FIRST = 10


def _some(name: str) -> Conversation:
    """Three hundred facts of a collection that the benchmark makes, and questions for forty of them.

    The embedder knows words only, so a question has every other word of its fact.
    """
    whole = filed(3, "en", 40)[name]
    random = Random(5)
    asked = random.sample(whole.questions, 40)
    needed = frozenset[str]().union(*(group for question in asked for group in question.groups))
    others = [turn.id for turn in whole.turns if turn.id not in needed]
    kept = needed.union(random.sample(others, 300 - len(needed)))
    turns = tuple(turn for turn in whole.turns if turn.id in kept)
    texts = {turn.id: turn.text for turn in turns}
    questions = [
        replace(question, text=" ".join(texts[key].split()[::2]) + "?")
        for question in asked
        for key in next(iter(question.groups))
    ]
    return Conversation(name, "en", turns, tuple(questions))


def _found(system: System, conversation: Conversation) -> float:
    """R@10."""
    system.load(conversation)
    system.ready()
    shares = []
    for question in conversation.questions:
        gains = new_gold(system.ask(conversation, question), question.groups)
        shares.append(recall_at(FIRST, gains, len(question.groups)))
    return sum(shares) / len(shares)


@pytest.mark.parametrize("name", ["many filed", "busy channel"])
def test_labels_and_neighbours_do_not_hide_what_a_plain_search_finds(
    name: str, settings: Configure, stack: Servers
) -> None:
    # Given the same facts in biem and in a plain hybrid search, with the same embedder
    conversation, embedder = _some(name), SyntheticEmbedder()
    key = uuid.uuid4().hex[:12]
    hybrid = MilvusHybrid(stack, embedder, "en", f"shapes_{key}")
    with biem.connect(settings(), embedder=embedder) as memory, closing(hybrid):
        own = Biem(stack, memory, f"shapes-{key}")
        with closing(own):
            # When both are asked for facts by some of their words
            ours, plain = _found(own, conversation), _found(hybrid, conversation)

    # Then biem finds no less
    assert ours >= plain > 0.9
