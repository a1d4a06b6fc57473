"""Orders about the form of answers, through the plugin, on real servers and with the packaged embedder."""

import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

import biem
from biem import BIEMContextPlugin
from biem.adapters import embedders
from tests.support.fakes import START, HeldClock
from tests.support.servers import Testbed

GERMAN, SHORT = "From now on, answer me in German please.", "以后回答我都短一点，我等车的时候看"
IN_PASSING = (
    "Could you look over my letter to the harbour office, I have been at it for three evenings and my wife says that "
    "it sounds as if a machine had written it, which is rich. Please keep your answers short, I read them on the bus."
)
FRENCH = "Please answer me in French from now on."
LANDLORD, OF_CODE = "My landlord is Mr Brandt.", "When you write code for me, use type hints."
OTHERS = 45
"""Messages on other matters: more than a block is chosen from."""


@pytest.fixture(scope="module")
def memory(testbed: Testbed) -> Iterator[biem.Memory]:
    clock = HeldClock()
    with (
        closing(embedders.build("e5", cache_dir=Path("unused"), cache_bytes=0, threads=1)) as packaged,
        biem.connect(
            testbed.settings(), scope=biem.Scope(user=uuid.uuid4().hex), embedder=packaged, clock=clock
        ) as opened,
    ):
        others = [f"The haiku of guest {n} about the rain is on page {n + 7}, 第{n}位客人写雨" for n in range(OTHERS)]
        for day, text in enumerate([FRENCH, GERMAN, LANDLORD, SHORT, OF_CODE, *others, IN_PASSING]):
            at = START + timedelta(days=day)
            opened.remember(text, conversation=f"c{day}", speaker="user", source="user", at=at)
        for source in ("assistant", "web"):
            opened.remember(f"Please answer me in Latin, {source}.", conversation="z", speaker=source, source=source)
        assert opened.flush()
        clock.advance(days=90)
        yield opened


@pytest.fixture(scope="module")
def plugin(memory: biem.Memory) -> BIEMContextPlugin:
    return BIEMContextPlugin(memory)


@pytest.mark.parametrize(
    "request_for_text", ["Write a haiku about the rain", "Explain photosynthesis", "给我写一段开场白"]
)
def test_what_is_written_follows_the_orders_for_all_answers(plugin: BIEMContextPlugin, request_for_text: str) -> None:
    block = plugin.recall_context(request_for_text)
    found = [hit.node.text for hit in block.hits]
    # Then the newest orders stand last, each with the sentence that gives it
    assert found[-3:] == [IN_PASSING, SHORT, GERMAN]
    assert "Please keep your answers short" in block.text
    assert not {OF_CODE, FRENCH} & set(found)  # of another topic, and of a language that another replaced
    assert "Latin" not in block.text


def test_what_the_text_is_about_goes_before_them(plugin: BIEMContextPlugin) -> None:
    block = plugin.recall_context("draft a mail to my landlord about the heating")
    assert block.hits[0].node.text == LANDLORD
    assert block.hits[-1].node.text == GERMAN


def test_a_question_for_a_fact_is_answered_without_them(plugin: BIEMContextPlugin) -> None:
    assert [hit.node.text for hit in plugin.recall_context("Who is my landlord?").hits] == [LANDLORD]
    assert not plugin.recall_context("What does my vet charge?").hits


def test_an_order_never_takes_the_place_of_the_only_line(memory: biem.Memory) -> None:
    block = memory.context("draft a mail to my landlord about the heating", top_k=1)
    assert [hit.node.text for hit in block.hits] == [LANDLORD]


def test_what_the_prompt_has_already_is_not_told_again(plugin: BIEMContextPlugin) -> None:
    block = plugin.recall_context("Explain photosynthesis", exclude_conversation="c1")
    assert GERMAN not in [hit.node.text for hit in block.hits]
