"""English words for Chinese ones, by a dictionary."""

import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.analyzers.glossary import Glossary

GLOSSARY = Glossary()


@pytest.mark.parametrize(
    ("word", "some"),
    [
        ("蜜月", {"honeymoon"}),  # one gloss
        ("过敏", {"allergic", "allergy"}),  # several
        ("密码", {"secret", "code", "password", "pin"}),  # of several words
        ("药", {"medicine"}),  # two entries of one word
        ("安娜", {"anna"}),  # with a remark
        ("斯柯达", {"skoda"}),  # with an accent and an explanation
        ("财务部", {"financial"}),  # with a suffix that the dictionary does not have
        ("提醒", {"remind"}),  # a verb
    ],
)
def test_a_word_means_the_words_of_its_short_glosses(word: str, some: set[str]) -> None:
    # Given a word / When it is looked up / Then its glosses are there, without little words, measure words and accents
    found = GLOSSARY.english(word)
    assert some <= found
    assert not found & {"to", "of", "cl", "variant", "name"}


@pytest.mark.parametrize("word", ["", "a", "honeymoon", "㗂㗂㗂", "\ud800", "蜜\ud800", "\x00", "的" * 100_000])
def test_other_words_mean_nothing(word: str) -> None:
    # Given what no dictionary has / When it is looked up / Then nothing is found, and nothing fails
    assert GLOSSARY.english(word) == frozenset()


def test_an_analyzer_gives_index_terms() -> None:
    # Given Chinese words, one of which is unknown / When their English words are asked for / Then they are stemmed
    assert RuleAnalyzer().english(["邻居", "提醒", "㗂㗂"]) >= {"neighbor", "remind"}
    assert RuleAnalyzer().english([]) == frozenset()
    assert "medicin" in RuleAnalyzer().english(["药"])
