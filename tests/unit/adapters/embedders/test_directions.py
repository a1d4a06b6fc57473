"""Directions of a packaged embedder's space: what its vectors tell of a text."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from biem.adapters import embedders
from biem.adapters.embedders.directions import agenda_odds, change_odds, courtesy_odds, list_odds, personal_odds
from biem.ports.embedding import DirectionOdds

PACKAGED = "multilingual-e5-small-q4@1571fc98+centred-ac370b"


def odds_of_queries(odds_of: Callable[[str], DirectionOdds | None], *texts: str) -> list[float]:
    with closing(embedders.build("e5", cache_dir=Path("unused"), cache_bytes=0, threads=1)) as embedder:
        odds = odds_of(embedder.info.id)
        assert odds is not None
        return [float(one) for one in odds(embedder.embed(texts, "query"))]


@pytest.mark.parametrize("odds_of", [agenda_odds, change_odds, courtesy_odds, list_odds, personal_odds])
def test_only_packaged_models_have_directions(odds_of: Callable[[str], DirectionOdds | None]) -> None:
    # Given an embedder without a direction / Then nothing is read; the packaged one gives a number for each text
    assert odds_of("another-model") is None
    odds = odds_of(PACKAGED)
    assert odds is not None
    assert odds(np.zeros((3, 384), dtype=np.float32)).shape == (3,)


@pytest.mark.parametrize(
    ("helped", "ordinary"),
    [
        ("Plan my dinner for Friday with the in-laws", "What is 17 percent of 2,340?"),
        ("Draft a reply to Hanneke about the boiler", "Write a limerick about a snail that wants to fly"),
        ("帮我安排一下周末带爸妈去哪儿玩", "把这句话翻译成英文：今天天气真好"),
        ("我该给老周准备点什么礼物", "解释一下什么是光合作用"),
    ],
)
def test_a_message_that_memories_can_help_with_is_told_from_one_of_anybody(helped: str, ordinary: str) -> None:
    own, general = odds_of_queries(personal_odds, helped, ordinary)
    assert own > 0.0 > general


@pytest.mark.parametrize(
    ("anything", "something"),
    [
        ("Walk me back through that day", "Which vet did we see"),
        ("I need to know whether I'm taken", "How much did the plumber charge"),
        ("帮我捋一捋都经历了啥", "谁来家里修的水管"),
        ("我得确认那天忙不忙", "打了几针疫苗"),
    ],
)
def test_a_question_for_a_whole_time_is_told_from_one_for_something(anything: str, something: str) -> None:
    whole, part = odds_of_queries(agenda_odds, anything, something)
    assert whole > 0.0 > part


@pytest.mark.parametrize(
    ("several", "one"),
    [
        ("Which restaurants have we tried so far?", "Which restaurant did Bruno recommend?"),
        ("List all the repairs to the van", "When was the van repaired?"),
        ("我都用过哪些牌子的耳机？", "我的耳机是什么牌子？"),
        ("把欠我钱的人都列出来", "老周欠我多少钱？"),
    ],
)
def test_a_question_for_all_things_of_a_kind_is_told_from_one_for_one(several: str, one: str) -> None:
    asks_for_all, asks_for_one = odds_of_queries(list_odds, several, one)
    assert asks_for_all > 0.0 > asks_for_one
