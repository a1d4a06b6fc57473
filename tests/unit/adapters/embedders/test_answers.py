"""The odds that a passage answers a query, by a form that was fitted to a packaged embedder's space."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from benchmarks.lives.near_questions import HELD_OUT, messages_in
from biem.adapters import embedders
from biem.adapters.embedders.answers import BilinearOdds, answer_odds
from biem.adapters.embedders.fitted import fitted_to
from biem.adapters.embedders.query_map import query_map
from biem.ports.embedding import Fitted


def area(higher: Sequence[float], lower: Sequence[float]) -> float:
    """The share of pairs in which the first is the greater."""
    return float((np.array(higher)[:, None] > np.array(lower)).mean())


def test_a_model_that_nothing_was_fitted_to_has_nothing() -> None:
    assert answer_odds("another-model") is None
    assert fitted_to("another-model") == Fitted()


@pytest.mark.parametrize("file", [file for file in HELD_OUT if "requests" not in file.name], ids=lambda file: file.stem)
def test_answered_questions_are_told_from_near_ones_better_than_by_likeness(file: Path) -> None:
    # Given messages that nothing was fitted to, with questions that they answer and others on the same subject
    rated: dict[tuple[str, bool], list[float]] = {(by, yes): [] for by in ("form", "likeness") for yes in (True, False)}
    with closing(embedders.build("e5", cache_dir=Path("unused"), cache_bytes=0, threads=1)) as embedder:
        odds, turned = answer_odds(embedder.info.id), query_map(embedder.info.id)
        assert odds is not None
        assert turned is not None
        for one in list(messages_in([file]))[:60]:
            told = embedder.embed([one.text], "passage")
            for answered, texts in ((True, one.answered), (False, one.near)):
                queries = embedder.embed(texts, "query")
                for query, mapped in zip(queries, turned(queries), strict=True):
                    rated["form", answered].append(float(odds(query, mapped, told)[0]))
                    rated["likeness", answered].append(float(query @ told[0]))
    by_form, by_likeness = (area(rated[by, True], rated[by, False]) for by in ("form", "likeness"))
    # Then the form tells them apart, where likeness hardly does
    assert by_form > by_likeness + 0.05
    assert by_form > 0.65


def test_the_odds_are_a_slope_of_the_mapped_query_and_a_product_of_two_matrices() -> None:
    down, up = np.zeros((3, 1), np.float32), np.zeros((1, 3), np.float32)
    down[0, 0], up[0, 1] = 2.0, 0.5
    odds = BilinearOdds(down, up, slope=10.0, bias=-4.0)
    first, _, third = passages = np.eye(3, dtype=np.float32)
    found = odds(first, third, passages)
    # the query's first part leads to the second of a passage, and the map turns it to the third
    assert found.tolist() == [-4.0, -3.0, 6.0]
