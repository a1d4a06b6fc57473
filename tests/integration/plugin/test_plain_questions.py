"""Questions as people type them, through the plugin, on real servers and with the packaged embedder."""

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

TOLD = [
    "I'm a nurse on the stroke ward in Leeds.",
    "My dentist is Dr Osei on Harrogate Road.",
    "We've got a tabby called Biscuit.",
    "The rain hasn't stopped all week.",
    "我对虾过敏，吃了会起疹子。",
    "女儿在三中念初二。",
    "车位在地下二层47号。",
]


@pytest.fixture(scope="module")
def plugin(testbed: Testbed) -> Iterator[BIEMContextPlugin]:
    clock = HeldClock()
    with (
        closing(embedders.build("e5", cache_dir=Path("unused"), cache_bytes=0, threads=1)) as packaged,
        biem.connect(
            testbed.settings(), scope=biem.Scope(user=uuid.uuid4().hex), embedder=packaged, clock=clock
        ) as memory,
    ):
        for day, text in enumerate(TOLD):
            at = START + timedelta(days=day)
            memory.remember(text, conversation=f"c{day}", speaker="user", source="user", at=at)
        assert memory.flush()
        clock.advance(days=20)
        yield BIEMContextPlugin(memory)


@pytest.mark.parametrize(
    ("asked", "plain"),
    [
        ("who is my dentist", "who is my dentist?"),
        ("what's my sister's birthday", "what's my sister's birthday?"),
        ("Hey, quick question: what's the cat called? Thanks!", "what's the cat called?"),
        ("I forgot, does my brother have a garden? 😅", "does my brother have a garden?"),
        ("我对什么过敏", "我对什么过敏？"),
        ("帮我看一下，女儿念几年级", "女儿念几年级？"),
        ("你好，请问我哥的电话是多少？谢谢！", "我哥的电话是多少？"),
    ],
)
def test_a_question_as_people_type_it_is_answered_like_a_plain_one(
    plugin: BIEMContextPlugin, asked: str, plain: str
) -> None:
    # Given memories / When a question is asked as people type it, and plainly
    typed, alone = (plugin.recall_context(text) for text in (asked, plain))
    # Then both blocks are the same, and as sure
    assert typed.text == alone.text
    assert typed.confidence == pytest.approx(alone.confidence)


def test_a_typed_question_that_nothing_answers_gets_nothing(plugin: BIEMContextPlugin) -> None:
    # Given nothing about them / When they are asked for / Then the block is empty
    asked = ("what's my sister's birthday", "Hey, what's my sister's birthday? Thanks!", "帮我看一下，我哥的电话是多少")
    assert [plugin.recall_context(text).text for text in asked] == ["", "", ""]
