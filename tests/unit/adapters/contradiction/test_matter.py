"""What a text speaks of and which kinds of value it asks for or gives."""

import pytest

from biem.adapters import contradiction

RULES = contradiction.build()


@pytest.mark.parametrize(
    ("question", "wants"),
    [
        ("When do we meet?", {"time"}),
        ("What day is the exam?", {"time"}),
        ("林晓几号出发？", {"time"}),
        ("我们什么时候开会？", {"time"}),
        ("How much is the rent?", {"amount"}),
        ("我有几只猫？", {"amount"}),
        ("房租多少钱？", {"amount"}),
        ("Where do I live?", set()),
        ("我住在哪里？", set()),
    ],
)
def test_a_question_asks_for_a_kind_of_value(question: str, wants: set[str]) -> None:
    assert RULES.matter(question).wants == wants


@pytest.mark.parametrize(
    ("text", "given", "absent"),
    [
        ("The course is on Mondays.", "time", "amount"),
        ("We meet at half past six.", "time", ""),
        ("Graz it is, since March.", "time", "amount"),
        ("每周四下午开会。", "time", ""),
        ("10 月 27 号出发。", "time", ""),
        ("The rent is 900 euros.", "amount", "time"),
        ("I have twelve hens.", "amount", "time"),
        ("剩下七个等我回来再放。", "amount", "time"),
    ],
)
def test_a_text_gives_kinds_of_value(text: str, given: str, absent: str) -> None:
    gives = RULES.matter(text).gives
    assert given in gives
    assert absent not in gives


def test_what_is_left_is_no_employer_that_was_left() -> None:
    assert "employer" in RULES.matter("I left Otto.").topics
    assert RULES.matter("So 32,600 euros are left.").topics == {"money", "rest"}
    assert not RULES.matter("Seventeen are left of the 24.").changes


def test_what_a_text_speaks_of_is_read_once() -> None:
    text = "My mother's flat is in Graz."
    assert RULES.matter(text) is RULES.matter(text)
