"""Changes that no rule knows, through the plugin, on real servers and with the packaged embedder."""

import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

import biem
from biem import Memory
from biem.adapters import embedders
from biem.ports import Embedder
from tests.support.fakes import START, HeldClock
from tests.support.servers import Testbed

ENDS = [
    ("My brother works at the shipyard.", "My brother got laid off by the shipyard."),
    ("我妈的腿还没好，得拄拐。", "我妈把拐杖扔了，走得比我快。"),
]
STANDS = [
    ("I'm on antibiotics for my throat.", "My sister finished the last of her antibiotics."),
    ("My flatmate is Tom.", "Tom's sister moved out on Sunday."),
    ("厨房用的是煤气罐。", "我妈家的煤气罐退给站里了。"),
    ("我在学吉他。", "我同事吉他不学了，手指太疼。"),
]


@pytest.fixture(scope="module")
def packaged() -> Iterator[Embedder]:
    with closing(embedders.build("e5", cache_dir=Path("unused"), cache_bytes=0, threads=1)) as embedder:
        yield embedder


@pytest.fixture
def told(testbed: Testbed, packaged: Embedder) -> Iterator[tuple[Memory, HeldClock]]:
    clock = HeldClock()
    with biem.connect(
        testbed.settings(), scope=biem.Scope(user=uuid.uuid4().hex), embedder=packaged, clock=clock
    ) as memory:
        yield memory, clock


def tell(memory: Memory, clock: HeldClock, older: str, newer: str) -> None:
    for day, text in ((0, older), (9, newer)):
        at = START + timedelta(days=day)
        memory.remember(text, conversation=f"c{day}", speaker="user", source="user", at=at)
        assert memory.flush()
    clock.advance(days=20)


@pytest.mark.parametrize(("older", "newer"), ENDS)
def test_a_change_that_no_rule_knows_retires_what_it_ends_and_can_be_undone(
    told: tuple[Memory, HeldClock], older: str, newer: str
) -> None:
    # Given a message, and nine days later another that ends it in words of its matter only
    memory, clock = told
    tell(memory, clock, older, newer)
    # When the memory is asked / Then the newer one stands first, and the conflict names how it was found
    assert memory.recall(older)[0].node.text == newer
    [conflict] = memory.conflicts(status=None)
    assert (conflict.rule, conflict.resolution, conflict.decided_by) == ("read together", "keep_new", "rule")
    # And when it is undone / Then both hold
    memory.undo(conflict.id)
    assert all(hit.node.valid_to is None for hit in memory.recall(older))


@pytest.mark.parametrize(("older", "newer"), STANDS)
def test_the_same_words_about_another_person_end_nothing(
    told: tuple[Memory, HeldClock], older: str, newer: str
) -> None:
    memory, clock = told
    tell(memory, clock, older, newer)
    assert memory.conflicts(status=None) == []
