"""Structure that means nothing, a busy channel or labels of chance, hides nothing that a plain hybrid search finds."""

import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from itertools import chain
from random import Random

import pytest

import biem
from benchmarks._baselines import System
from benchmarks._data import Conversation, Question, Turn
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._hybrid import MilvusHybrid
from benchmarks._systems import Biem
from benchmarks.metrics import new_gold, recall_at
from biem.bootstrap import Servers
from biem.domain.policies.ranking import RankPolicy
from tests.support.fakes import START
from tests.support.servers import Configure

FIRST = 3
OFF = replace(RankPolicy(), coherent=0.0, plain=0)
"""Structure counts regardless of what it shows, as it did before ADR 0059."""
PEOPLE = (
    ("Dora", "rye", "bakery", "Lisbon", "soup", "terrier", "rowing", "violin"),
    ("Emil", "posters", "printer", "Krakow", "curry", "parrot", "fencing", "trumpet"),
    ("Farah", "tulips", "florist", "Bergen", "lasagne", "hamster", "climbing", "cello"),
    ("Goran", "sausages", "butcher", "Malaga", "chowder", "beagle", "sailing", "drums"),
    ("Hanna", "trousers", "tailor", "Torino", "goulash", "rabbit", "skating", "guitar"),
    ("Igor", "cider", "brewery", "Ghent", "risotto", "turtle", "archery", "organ"),
)
"""A person, and what a question speaks of."""
PLACES = (
    *("Ashford", "Bexley", "Calder", "Dunmore", "Elmwood", "Fairfax"),
    *("Glenrock", "Harwich", "Ilford", "Jarrow", "Kelso", "Ludlow"),
)
SPEAKERS = ("Ana", "Bo", "Chen", "Dara")


def _groups() -> Iterator[list[str]]:
    """Messages that stand together: an answer alone, or four of which each has two of a question's words.

    An answer has three, so that a search by its own text finds it first; four messages about different places, which
    have nothing to do with each other, have all eight.
    """
    for name, goods, shop, city, dish, pet, sport, instrument in PEOPLE:
        yield [f"{name} got {goods} at the {shop}"]
        for number in range(len(PLACES)):
            first, second, third, fourth = (PLACES[(number + step) % len(PLACES)] for step in range(4))
            yield [
                f"{name} went from {first} to {city}",
                f"The {shop} in {second} has {dish}",
                f"A {pet} is near the {goods} in {third}",
                f"{fourth} has {sport} and a {instrument} again",
            ]


def _question(name: str, goods: str, shop: str, city: str, dish: str, pet: str, sport: str, instrument: str) -> str:
    return f"Which {goods} of the {shop} in {city} did {name} get for {dish}, the {pet}, {sport} and the {instrument}?"


def _collection(name: str) -> Conversation:
    """One channel in which several talk at once, or the same filed under labels of chance."""
    groups = list(_groups())
    Random(5).shuffle(groups)
    random = Random(7)
    turns: list[Turn] = []
    answers: dict[str, str] = {}
    for label, text in chain.from_iterable(((number, text) for text in group) for number, group in enumerate(groups)):
        key = str(len(turns))
        at = START + timedelta(minutes=7 * len(turns))
        session = "general" if name == "busy channel" else f"label {label}"
        turns.append(Turn(key, session, random.choice(SPEAKERS) if name == "busy channel" else "", text, at))
        answers.update({person[0]: key for person in PEOPLE if text.startswith(f"{person[0]} got")})
    questions = [
        Question(person[0], _question(*person), "", (frozenset((answers[person[0]],)),), frozenset(), None)
        for person in PEOPLE
    ]
    return Conversation(name, "en", tuple(turns), tuple(questions))


def _found(system: System, conversation: Conversation) -> float:
    """R@3."""
    system.load(conversation)
    system.ready()
    shares = []
    for question in conversation.questions:
        gains = new_gold(system.ask(conversation, question), question.groups)
        shares.append(recall_at(FIRST, gains, len(question.groups)))
    return sum(shares) / len(shares)


@pytest.mark.long
@pytest.mark.parametrize("name", ["busy channel", "labels of chance"])
def test_labels_and_neighbours_do_not_hide_what_a_plain_search_finds(
    name: str, settings: Configure, stack: Servers
) -> None:
    # Given the same messages in biem and in a plain hybrid search, with the same embedder
    conversation, embedder = _collection(name), SyntheticEmbedder()
    with closing(MilvusHybrid(stack, embedder, "en", f"shapes_{uuid.uuid4().hex[:12]}")) as hybrid:
        plain = _found(hybrid, conversation)

    def ours(ranking: RankPolicy) -> float:
        key = f"shapes-{uuid.uuid4().hex[:12]}"
        with (
            biem.connect(settings(ranking=ranking), embedder=embedder) as memory,
            closing(Biem(stack, memory, key)) as own,
        ):
            return _found(own, conversation)

    # When both are asked / Then biem finds no less, unless neighbours and labels always count
    found, before = ours(RankPolicy()), ours(OFF)
    assert before < plain
    assert found >= plain > 0.9
