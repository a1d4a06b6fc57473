"""Questions for all things of a kind, through the plugin, on real servers and with the packaged embedder."""

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

CAR = [
    "Had the Skoda in at Pete's, new brake pads, 180 euros.",
    "The garage rang, the clutch is gone too, that's another 640.",
    "New tyres on the Skoda, 320 for the four.",
]
READ = ["昨晚终于把《活着》看完了，哭惨了", "一口气读完了三体第一部", "《百年孤独》断断续续看了一个月，总算翻完"]
OTHERS = [
    "We keep three hens in the yard, the neighbours love the eggs.",
    "Finished The Overstory last night, what a book.",
    "My sister is allergic to shellfish.",
    "I work at the harbour office.",
    "老爸在追第三部沙丘",
    "院子里养了三只母鸡",
    "我在港务局上班",
]


@pytest.fixture(scope="module")
def told(testbed: Testbed) -> Iterator[biem.Memory]:
    """A memory in which these were told, one in four days, the things of both kinds among the others."""
    clock = HeldClock()
    texts = [text for three in zip(OTHERS, [*CAR, *READ], strict=False) for text in three] + OTHERS[6:]
    with (
        closing(embedders.build("e5", cache_dir=Path("unused"), cache_bytes=0, threads=1)) as packaged,
        biem.connect(
            testbed.settings(), scope=biem.Scope(user=uuid.uuid4().hex), embedder=packaged, clock=clock
        ) as memory,
    ):
        for number, text in enumerate(texts):
            at = START + timedelta(days=4 * number)
            memory.remember(text, conversation=f"c{number}", speaker="user", source="user", at=at)
        assert memory.flush()
        clock.advance(days=60)
        yield memory


def lines(memory: biem.Memory, question: str, **terms: object) -> list[str]:
    block = BIEMContextPlugin(memory, **terms).recall_context(question)  # type: ignore[arg-type]
    return [hit.node.text for hit in block.hits]


@pytest.mark.parametrize(
    ("question", "things"), [("What has the car cost me so far?", CAR), ("列一下我读过的书", READ)]
)
def test_the_block_has_all_things_of_the_kind_and_little_else(
    told: biem.Memory, question: str, things: list[str]
) -> None:
    found = lines(told, question)
    assert set(things) <= set(found)
    assert len(found) <= len(things) + 1


def test_of_a_time_that_is_over_the_things_told_then_are_kept(told: biem.Memory) -> None:
    # Given brake pads and a clutch told in May, and tyres in late May / When the costs of the first week are asked for
    found = told.context("What did the car cost me in the first week of May?", top_k=8).hits
    # Then what was told later is not among them
    assert CAR[2] not in [hit.node.text for hit in found]


def test_the_caller_limits_a_list(told: biem.Memory) -> None:
    assert len(told.context("What has the car cost me so far?", top_k=2).hits) == 2


def test_one_thing_is_asked_for_as_before(told: biem.Memory) -> None:
    assert set(lines(told, "Where do I work?")) == {"I work at the harbour office.", "我在港务局上班"}
