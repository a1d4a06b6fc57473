"""Memories in traditional characters, through the plugin, on real servers and with the packaged embedder."""

import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

import biem
from biem import BIEMContextPlugin
from biem.adapters import embedders
from biem.domain.policies.life import RetentionPolicy
from biem.domain.retention import Lived, retention_days
from tests.support.fakes import START, HeldClock
from tests.support.servers import Testbed

ADDRESS, MOVED = "我住在臺中西屯。", "我搬到臺南了。"
SHRIMP = "我對蝦子過敏，吃了會起疹子。"
TOLD = [
    (0, ADDRESS),
    (0, SHRIMP),
    (0, "我室友對花生過敏。"),
    (0, "謝謝你告訴我！"),
    (1, "牙醫約在禮拜六上午。"),
    (2, "看完《一代宗師》了。"),
    (3, "前女友的貓叫麻糬。"),
    (3, MOVED),
    (4, "《海邊的卡夫卡》也讀完了。"),
]
"""Days after Monday, 4 May 2026, and what was told then."""


@pytest.fixture(scope="module")
def told(testbed: Testbed) -> Iterator[tuple[biem.Memory, BIEMContextPlugin]]:
    clock = HeldClock()
    with (
        closing(embedders.build("e5", cache_dir=Path("unused"), cache_bytes=0, threads=1)) as packaged,
        biem.connect(
            testbed.settings(), scope=biem.Scope(user=uuid.uuid4().hex), embedder=packaged, clock=clock
        ) as memory,
    ):
        for day, text in TOLD:
            at = START + timedelta(days=day)
            memory.remember(text, conversation=f"c{day}", speaker="user", source="user", at=at)
        assert memory.flush()
        clock.advance(days=4, hours=2)
        yield memory, BIEMContextPlugin(memory)


@pytest.mark.parametrize("question", ["我對什麼過敏？", "我对什么过敏？"])
def test_a_question_in_either_kind_of_characters_gets_the_memory_as_it_was_written(
    told: tuple[biem.Memory, BIEMContextPlugin], question: str
) -> None:
    # Given memories in traditional characters / When the agent asks for one
    block = told[1].recall_context(question)
    # Then its first line has it letter for letter, and so has a recall
    assert block.hits[0].node.text == SHRIMP
    assert SHRIMP in block.text
    assert SHRIMP in [hit.node.text for hit in told[0].recall(question)]


def test_a_change_retires_what_held_before_and_nothing_else(told: tuple[biem.Memory, BIEMContextPlugin]) -> None:
    # Given a removal / When the decisions are listed
    decided = [(one.older_text, one.newer_text) for one in told[0].conflicts(status="resolved")]
    # Then the former home is retired, and the block has the new one
    assert decided == [(ADDRESS, MOVED)]
    assert [hit.node.text for hit in told[1].recall_context("我現在住哪裡？").hits][:1] == [MOVED]


def test_courtesies_are_refused_and_statements_of_health_never_expire(
    told: tuple[biem.Memory, BIEMContextPlugin],
) -> None:
    # Given an allergy and thanks / When the gate and retention have read them
    memories = {node.text: node for node in told[0].list(limit=20).items}
    # Then thanks have no energy, and the allergy has no day on which it is archived
    assert memories["謝謝你告訴我！"].energy == 0
    assert memories[SHRIMP].energy > 0
    lived = Lived(SHRIMP, "user", "event", "short_term", 3.0)
    assert retention_days(lived, RetentionPolicy()) is None


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("這週末有什麼安排嗎？", {"牙醫約在禮拜六上午。"}),
        ("我看完了哪些書和電影？", {"看完《一代宗師》了。", "《海邊的卡夫卡》也讀完了。"}),
    ],
)
def test_times_and_lists_are_asked_for_in_traditional_characters(
    told: tuple[biem.Memory, BIEMContextPlugin], question: str, answers: set[str]
) -> None:
    # Given appointments and books / When the agent asks for those of a time, or for all / Then it gets these
    assert answers <= {hit.node.text for hit in told[1].recall_context(question).hits}


def test_a_message_that_the_prompt_holds_is_left_out(told: tuple[biem.Memory, BIEMContextPlugin]) -> None:
    # Given the conversation in the prompt / When the agent asks / Then the block does not repeat it
    block = told[0].context("我對什麼過敏？", exclude=[SHRIMP])
    assert SHRIMP not in [hit.node.text for hit in block.hits]


def test_what_is_observed_is_stored_as_it_was_written(testbed: Testbed) -> None:
    # Given a memory / When it observes a habit in traditional characters
    with biem.connect(testbed.settings(), scope=biem.Scope(user=uuid.uuid4().hex)) as memory:
        (unit,) = memory.observe("請記住：以後回答我都用條列的方式。")
        # Then the unit says it letter for letter
        assert unit.judgment in "請記住：以後回答我都用條列的方式。"
