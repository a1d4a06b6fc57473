"""Notes that a search is in doubt about are read with the question; surer ones are not."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from biem.domain.notes.library import NoteHits
from biem.engine.context.note_reading import confidence
from biem.ports.embedding import TextPair
from tests.unit.engine.context.note_hits import hit

QUESTION = "Who trims the lamp?"
ANSWER, BESIDE = "The lamp is trimmed by Ada.", "The lamp stands on the pier."


def corrected(before: float, bodies: Sequence[str], odds_of: Callable[[str], float]) -> tuple[float, list[TextPair]]:
    """The confidence after reading, and what was read."""
    asked: list[TextPair] = []

    def read(pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        asked.extend(pairs)
        return np.array([odds_of(pair.first) for pair in pairs], dtype=np.float32)

    notes = NoteHits([hit(body) for body in bodies], confidence=before)
    return confidence(notes, QUESTION, read, lambda text: text.lower().replace("?", "").split()), asked


def test_one_that_is_read_as_an_answer_raises_the_confidence_and_none_lowers_it() -> None:
    raised, _ = corrected(0.4, [BESIDE, ANSWER], lambda text: 4.0 if ANSWER in text else -4.0)
    lowered, _ = corrected(0.6, [BESIDE, BESIDE], lambda _: -4.0)
    assert lowered < 0.3 < 0.7 < raised


@pytest.mark.parametrize("sure", [0.0, 0.05, 0.95, 1.0])
def test_where_the_search_is_sure_nothing_is_read(sure: float) -> None:
    assert corrected(sure, [ANSWER], lambda _: 0.0) == (sure, [])


def test_what_is_in_another_language_than_the_question_is_not_read() -> None:
    assert corrected(0.4, [BESIDE, "灯由小艾修剪，每天早上一次。" * 3], lambda _: 4.0) == (0.4, [])


def test_an_excerpt_of_the_best_three_is_read_after_their_headings() -> None:
    long = "The pier is old. " * 40 + ANSWER
    _, asked = corrected(0.5, [long, BESIDE, BESIDE, BESIDE], lambda _: 0.0)
    assert [pair.second for pair in asked] == [QUESTION] * 3
    assert asked[0].first.startswith("Story ")
    assert ANSWER in asked[0].first
    assert len(asked[0].first) < 320
