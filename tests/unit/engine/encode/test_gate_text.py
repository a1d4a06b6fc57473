"""How much new information a text has: its words, its anchors, and how unlike what is known it is."""

import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.designs.aim import surprise
from biem.engine.encode.gate_text import GateTextReader

ANALYZER = RuleAnalyzer()


@pytest.mark.parametrize(
    ("likeness", "words", "anchors", "value"),
    [
        (0.25, 10, 0.0, 0.632),  # unrelated: all its words are new
        (0.0, 10, 0.0, 0.632),
        (0.625, 10, 0.0, 0.393),
        (1.0, 10, 0.0, 0.0),  # a repetition
        (1.0, 10, 3.0, 0.259),  # with another number
        (0.25, 1, 0.0, 0.095),  # "ok"
        (0.25, 2, 0.0, 0.181),  # "allergic to peanuts"
        (0.25, 15, 0.0, 0.777),
        (0.25, 500, 0.0, 0.777),  # being long is no news
        (1.0, 0, 99.0, 0.528),
        (0.0, 0, 0.0, 0.0),
    ],
)
def test_surprise_is_new_words_and_new_anchors(likeness: float, words: float, anchors: float, value: float) -> None:
    assert surprise(likeness, words, anchors) == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize(
    ("text", "words", "pinned"),
    [
        ("ok", 1, 0),
        ("好的", 1, 0),
        ("What do you think?", 0, 0),
        ("你觉得怎么样？", 0, 0),
        ("Thanks! I moved to Porto. Why do you ask?", 3, 1),
        ("我对花生过敏", 4.5, 0),
        ("I am allergic to peanuts", 2, 0),
        ("The tank holds 40 litres?", 0, 1),
        ("?" * 300_000, 0, 0),
    ],
)
def test_a_text_tells_its_words_of_content_and_a_question_none(text: str, words: float, pinned: int) -> None:
    told = GateTextReader(ANALYZER).told(text)
    assert told.words == words
    assert sum(len(values) for values in (told.fields.numbers, told.fields.names, told.fields.symbols)) == pinned


def test_of_a_long_text_the_beginning_the_middle_and_the_end_are_read() -> None:
    # Given questions of many pages, and a statement at their beginning, in their middle or at their end
    pages = "What do you think? " * 1_000
    said = "I moved to Porto. "
    told = [GateTextReader(ANALYZER).told(text) for text in (said + pages, pages + said + pages, pages + said)]

    # When they are read / Then its place makes no difference
    assert all("Porto" in " ".join(one.fields.names) for one in told)
    assert all(one.words > 0 for one in told)
