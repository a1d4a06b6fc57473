"""What a recall compares of two statements."""

from biem.adapters.contradiction import _by_the_user
from biem.adapters.contradiction.recall_rules import RecallRules
from biem.domain.conflict import Statement
from biem.domain.speech.first_person import in_first_person


def test_what_differs_in_many_words_is_compared_without_reading_it() -> None:
    # Given two statements with many words that the other lacks
    rules = RecallRules()
    one = Statement("The old harbour crane near the market was painted green by volunteers from three villages.")
    other = Statement("My aunt keeps nineteen hens, two geese, a goat, plenty of bees and one stubborn donkey.")
    # Then they are no rivals, and neither was read; others are read
    assert not rules.rivals(one, other)
    assert rules.read.cache_info().currsize == 0
    assert rules.rivals(Statement("I live in Graz."), Statement("I live in Linz."))
    assert rules.read.cache_info().currsize == 2


def test_a_statement_in_the_first_person_is_compared_without_a_copy() -> None:
    # Given rules that have read a text, and the same text once more, as another object
    text = "I live in Graz."
    in_first_person(text)
    one = Statement("".join(["I live", " in Graz."]))
    # Then the statement itself is compared
    assert one.text is not text
    assert _by_the_user(one) is one
    assert _by_the_user(Statement("The user lives in Graz.")).text == "I live in Graz."


def test_a_decision_is_no_open_matter() -> None:
    matter = RecallRules().matter
    assert not matter("他总算想开了，二手的也肯要。").open
    assert matter("他想开个网店。").open
