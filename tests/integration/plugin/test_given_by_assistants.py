"""Questions about what an assistant gave when it was asked, through the plugin on real servers."""

from datetime import timedelta

import pytest

import biem
from tests.support.fakes import START

TALK = [
    ("user", "We met our neighbours at the harbour."),
    ("assistant", "Lovely."),
    ("user", "Any ideas for names for the sourdough bakery of my sisters?"),
    ("assistant", "How about: Slow Rise, Two at the Mill, or The Patient Loaf with a drawing of a snail."),
    ("user", "Which paint lasts on a gate?"),
    ("assistant", "I do not know which paint that gate had, so I cannot say anything about it."),
]


@pytest.fixture
def told(memory: biem.Memory) -> biem.Memory:
    for minute, (source, text) in enumerate(TALK):
        at = START + timedelta(minutes=minute)
        memory.remember(text, conversation="talk", speaker=source, source=source, at=at)
    assert memory.flush()
    return memory


def test_an_answer_has_the_request_before_it(told: biem.Memory) -> None:
    # Given a request, and an answer in quite other words / When it is asked for in the words of the request
    question = "Which names did you have for the sourdough bakery of my sisters?"
    found = {hit.node.text: hit for hit in told.recall(question, top_k=6)}
    # Then the answer is known to belong to the request, and is as like to the question as that is
    answer = found[TALK[3][1]]
    assert answer.answers is not None
    assert answer.answers.text == TALK[2][1]
    assert answer.why["asked_likeness"] == found[TALK[2][1]].why["likeness"]
    assert float(answer.why["asked_likeness"]) > float(answer.why["likeness"])


def test_neither_a_reaction_nor_an_answer_without_content_belongs_to_a_request(told: biem.Memory) -> None:
    found = {hit.node.text: hit for hit in told.recall("neighbours harbour paint gate", top_k=6)}
    assert found[TALK[5][1]].answers is None
    assert all(hit.answers is None for text, hit in found.items() if text != TALK[3][1])
