"""Directions of a packaged embedder's space: what its vectors tell of a text."""

from collections.abc import Callable

import numpy as np
import pytest

from biem.adapters.embedders.change import change_odds, courtesy_odds
from biem.ports.embedding import DirectionOdds

PACKAGED = "multilingual-e5-small-q4@1571fc98+centred-ac370b"


@pytest.mark.parametrize("odds_of", [change_odds, courtesy_odds])
def test_only_packaged_models_have_directions(odds_of: Callable[[str], DirectionOdds | None]) -> None:
    # Given an embedder without a direction / Then nothing is read; the packaged one gives a number for each text
    assert odds_of("another-model") is None
    odds = odds_of(PACKAGED)
    assert odds is not None
    assert odds(np.zeros((3, 384), dtype=np.float32)).shape == (3,)
