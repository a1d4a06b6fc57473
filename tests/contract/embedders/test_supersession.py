"""The model that reads two messages together, with its packaged weights."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from biem.adapters import embedders
from biem.adapters.embedders.fitted import pair_odds
from biem.adapters.embedders.supersession import MOST_TOKENS
from biem.ports.embedding import MessagePair, PairOdds

ENDED = [
    ("I wear a brace on my left knee.", "The brace came off this morning, hooray!"),
    ("My brother works at the shipyard.", "My brother got laid off by the shipyard."),
    ("Our wifi is from Northnet.", "Northnet got the boot, we went with Brightline."),
    ("我在学吉他。", "吉他我放弃了，手指太疼。"),
    ("女儿每天坐校车。", "女儿改成自己骑车上学了，校车退了。"),
]
STANDS = [
    ("I wear a brace on my left knee.", "My neighbour's brace came off this morning."),
    ("My brother works at the shipyard.", "My brother got a medal from the shipyard."),
    ("Our wifi is from Northnet.", "My parents' wifi is from Brightline."),
    ("我在学吉他。", "我同事也在学吉他。"),
    ("女儿每天坐校车。", "校车今天晚点了十分钟。"),
]


@pytest.fixture(scope="module")
def odds() -> Iterator[PairOdds]:
    with closing(embedders.build("e5", cache_dir=Path("unused"), cache_bytes=0, threads=1)) as embedder:
        found = pair_odds(embedder.info.id, 1, lambda: None)
        assert found is not None
        yield found


def test_what_ends_a_message_is_rated_above_what_leaves_it_as_it_is(odds: PairOdds) -> None:
    ended, stands = (odds([MessagePair(*pair) for pair in pairs]) for pairs in (ENDED, STANDS))
    assert ended.min() > stands.max()


def test_a_pair_has_the_same_odds_in_any_batch(odds: PairOdds) -> None:
    pairs = [MessagePair(*pair) for pair in ENDED + STANDS] + [MessagePair("x", "A long message. " * 40)]
    alone = np.concatenate([odds([pair]) for pair in pairs])
    assert np.array_equal(odds(pairs), alone)
    assert np.array_equal(odds(pairs[::-1]), alone[::-1])


def test_any_text_is_read_and_long_ones_in_their_beginning(odds: PairOdds) -> None:
    strange = ["", "\0", "\ud800", "🙂" * 3, "词" * 10_000]
    assert np.isfinite(odds([MessagePair(one, other) for one in strange for other in strange])).all()
    beginning = "word " * 2 * MOST_TOKENS
    one, other = odds([MessagePair("a", beginning), MessagePair("a", beginning + "and more")])
    assert one == other
    assert odds([]).shape == (0,)


def test_another_embedder_has_no_such_model() -> None:
    assert pair_odds("another-model", 1, lambda: None) is None
