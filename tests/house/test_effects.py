"""Every promised mechanism has a test in which it changes a result, and is switched off (X1)."""

import pytest

from tests.requirements import claims

PROMISED = {"BM25", "inertia", "anchors", "spreading", "decay", "access counting", "consolidation", "vector index"}


@pytest.mark.req("X1")
def test_each_mechanism_has_an_effect_that_a_test_shows() -> None:
    # Given all tests / When those are asked for that show an effect / Then each mechanism is named by one of them
    assert {claim.partly for claim in claims() if claim.requirement == "X1"} >= PROMISED
