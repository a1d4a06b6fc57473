"""The models that read two texts together, with their packaged weights."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from biem.adapters import embedders
from biem.adapters.embedders.fitted import ending_odds, pair_readers
from biem.adapters.embedders.pair_reader import MOST_TOKENS
from biem.ports.embedding import PairOdds, PairReaders, TextPair

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

ANSWERED = [
    ("Our vet is Doctor Okafor, her practice is on Mill Lane.", "Who treats our animals?"),
    ("The train to Ghent leaves at 7:40.", "When does my train leave?"),
    ("Ines paid 42 for the allotment.", "What did the veg patch cost?"),
    ("我们家猫叫阿财，是橘猫。", "我养的宠物叫什么名字？"),
    ("儿子的钢琴课在周四下午四点。", "孩子哪天学琴？"),
]
NEARLY = [
    ("Our vet is Doctor Okafor, her practice is on Mill Lane.", "What does our vet charge?"),
    ("The train to Ghent leaves at 7:40.", "Which platform does my train leave from?"),
    ("Ines paid 42 for the allotment.", "Who owned the allotment before Ines?"),
    ("我们家猫叫阿财，是橘猫。", "我们家猫几岁了？"),
    ("儿子的钢琴课在周四下午四点。", "儿子的钢琴老师姓什么？"),
]


@pytest.fixture(scope="module")
def reading() -> Iterator[PairOdds]:
    with closing(embedders.build("e5", cache_dir=Path("unused"), cache_bytes=0, threads=1)) as embedder:
        found = pair_readers(embedder.info.id, 1).answering
        assert found is not None
        yield found


@pytest.fixture(scope="module")
def odds() -> Iterator[PairOdds]:
    with closing(embedders.build("e5", cache_dir=Path("unused"), cache_bytes=0, threads=1)) as embedder:
        found = ending_odds(embedder.info.id, 1, lambda: None)
        assert found is not None
        yield found


def test_what_ends_a_message_is_rated_above_what_leaves_it_as_it_is(odds: PairOdds) -> None:
    ended, stands = (odds([TextPair(*pair) for pair in pairs]) for pairs in (ENDED, STANDS))
    assert ended.min() > stands.max()


def test_what_answers_is_rated_above_what_nearly_does(reading: PairOdds) -> None:
    answered, nearly = (reading([TextPair(*pair) for pair in pairs]) for pairs in (ANSWERED, NEARLY))
    assert (answered > nearly).all()


def test_a_pair_has_the_same_odds_in_any_batch(odds: PairOdds) -> None:
    pairs = [TextPair(*pair) for pair in ENDED + STANDS] + [TextPair("x", "A long message. " * 40)]
    alone = np.concatenate([odds([pair]) for pair in pairs])
    assert np.array_equal(odds(pairs), alone)
    assert np.array_equal(odds(pairs[::-1]), alone[::-1])


def test_any_text_is_read_and_long_ones_in_their_beginning(odds: PairOdds) -> None:
    strange = ["", "\0", "\ud800", "🙂" * 3, "词" * 10_000]
    assert np.isfinite(odds([TextPair(one, other) for one in strange for other in strange])).all()
    beginning = "word " * 2 * MOST_TOKENS
    one, other = odds([TextPair("a", beginning), TextPair("a", beginning + "and more")])
    assert one == other
    assert odds([]).shape == (0,)


def test_another_embedder_has_no_such_model() -> None:
    assert ending_odds("another-model", 1, lambda: None) is None
    assert pair_readers("another-model", 1) == PairReaders()
