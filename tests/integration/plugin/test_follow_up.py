"""Questions that lean on the messages before them, through the plugin, the library and HTTP, on real servers."""

from datetime import timedelta
from typing import Any

import pytest

import biem
from biem import BIEMContextPlugin
from tests.support.fakes import START

BASE = "You are a helpful assistant."
TOLD = {
    "family": ["My sister Maren lives in Halden.", "My brother Noel lives in Kolding.", "My mother lives in Bergvik."],
    "paris": ["For Paris we booked the Hotel Rosalie.", "It costs 128 euros a night there."],
    "naxos": ["On Naxos we booked the Elia apartments.", "It costs 95 euros a night there."],
    "家里": ["我姐在合肥当会计。", "我弟在修车厂上班。"],
}


def dialogue(*said: str) -> list[dict[str, Any]]:
    """Chat messages that the user and the assistant said in turn."""
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(said)]


@pytest.fixture
def told(memory: biem.Memory) -> biem.Memory:
    for day, (conversation, texts) in enumerate(TOLD.items()):
        for place, text in enumerate(texts):
            at = START + timedelta(days=day, minutes=place)
            memory.remember(text, conversation=conversation, speaker="user", source="user", at=at)
    assert memory.flush()
    return memory


@pytest.mark.parametrize(
    ("before", "question", "asked", "answer"),
    [
        (("Where does my brother live?", "In Kolding."), "And my sister?", "Where does my sister live?", "Halden"),
        (("My sister is coming.", "Nice!"), "Where does she live?", "Where does my sister live?", "Halden"),
        (("我弟在哪儿上班？", "修车厂。"), "我姐呢？", "我姐在哪儿上班？", "会计"),
    ],
)
def test_the_block_is_that_of_the_question_in_full(
    told: biem.Memory, before: tuple[str, ...], question: str, asked: str, answer: str
) -> None:
    # Given memories of several persons / When a question names one by what stands before it
    plugin, history = BIEMContextPlugin(told), dialogue(*before)
    block = plugin.recall_context(question, history=history)
    # Then the block is that of the whole question
    assert block.asked == asked
    assert answer in block.hits[0].node.text
    assert [hit.node.id for hit in block.hits] == [hit.node.id for hit in plugin.recall_context(asked).hits]
    assert answer in plugin.messages(BASE, history, question)[0]["content"]
    # And without the history, or by the library with the same messages, as it should be
    assert not plugin.recall_context(question).asked
    assert told.context(question, exclude=[*history, {"role": "user", "content": question}]).text == block.text


def test_a_thing_is_asked_for_with_its_name_and_without_it(told: biem.Memory) -> None:
    # Given a price that was told without its thing / When it is asked for after the thing
    block = told.context("How much is it a night?", exclude=dialogue("Which hotel did we book in Paris?", "Rosalie."))
    # Then the block has it, though the question with the thing in it is another one
    assert any("128" in hit.node.text for hit in block.hits)
    # And what no memory answers without the thing is answered with it
    block = told.context("Which one?", exclude=dialogue("Which hotel did we book in Paris?", "I see."))
    assert "Paris" in block.text
    assert block.asked == "Which one, the hotel in Paris?"


def test_what_changes_the_subject_and_what_recall_is_asked_stay_as_they_are(told: biem.Memory) -> None:
    history = dialogue("Where does my sister live?", "In Halden.")
    block = told.context("Where does my mother live?", exclude=history)
    assert not block.asked
    assert "Bergvik" in block.text
    # A recall takes its query literally
    literal, excluding = (told.recall("Where does she live?", exclude=held) for held in ((), history))
    assert [hit.node.id for hit in literal] == [hit.node.id for hit in excluding]


def test_a_whole_window_is_searched_by_the_question_in_full(told: biem.Memory) -> None:
    chat = told.sessions.open("weekend")
    for message in dialogue("When does my sister come?", "On Friday."):
        told.sessions.append(chat.id, message["role"], message["content"])
    assert told.flush()
    built = told.build_context("Where does she live?", session=chat.id).system
    assert "Halden" in built
    assert "Bergvik" not in built
    assert "Bergvik" in told.build_context("Where does she live?").system
