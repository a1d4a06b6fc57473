"""Words as numbers: what arithmetic on arrays finds is what counting word by word finds."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.text import Terms, stored
from biem.engine.recall.rank.term_matrix import TermMatrix

words = st.sampled_from(["tea", "te", "a", "雨", "雨天", "été", "x" * 70, "1.5", "\ud800"])
texts = st.lists(st.lists(words, max_size=6), max_size=8)


@given(said=texts, asked=st.lists(words, unique=True, max_size=5))
def test_counts_holders_and_openings_are_those_of_counting_word_by_word(
    said: list[list[str]], asked: list[str]
) -> None:
    # Given texts, some empty / When their words are numbered
    bag = TermMatrix([" ".join(text) for text in said])

    # Then numbers follow first occurrences, and everything counted is what counting gives
    assert bag.words == list(dict.fromkeys(word for text in said for word in text))
    assert bag.lengths.tolist() == [len(text) for text in said]
    assert bag.holders.tolist() == [sum(word in text for text in said) for word in bag.words]
    assert bag.counts(asked).tolist() == [[Counter(text)[term] for text in said] for term in asked]
    assert bag.numbers(asked) == [bag.words.index(term) for term in asked if term in bag.words]
    assert [[bag.word(number) for number in bag.opening(place, 3)] for place in range(bag.size)] == [
        text[:3] for text in said
    ]
    numbers = bag.numbers(asked)
    found = bag.sums(np.array(numbers, dtype=np.intp), np.array([10.0**number for number in numbers]))
    assert found.tolist() == [sum(10.0**number for number in numbers if bag.words[number] in text) for text in said]


@given(said=st.lists(st.lists(words, max_size=6), min_size=1, max_size=8), data=st.data())
def test_likeness_is_the_share_of_common_words_among_the_chosen_texts(
    said: list[list[str]], data: st.DataObject
) -> None:
    # Given some of several texts / When one of them is compared with each of them
    chosen = data.draw(st.lists(st.integers(0, len(said) - 1), min_size=1, unique=True))
    likeness = TermMatrix([" ".join(text) for text in said]).likeness(np.array(chosen))

    # Then it is the Jaccard index of their word sets
    for place, one in enumerate(chosen):
        pairs = [(set(said[one]), set(said[other])) for other in chosen]
        expected = [len(own & other) / max(1, len(own | other)) for own, other in pairs]
        assert likeness.to(place).tolist() == pytest.approx(expected)


@given(said=st.lists(words, max_size=6))
def test_terms_are_the_sequence_that_was_stored(said: list[str]) -> None:
    # Given terms in one string / When a user asks for one / Then they are as if taken apart before
    terms = Terms(" ".join(said))
    assert terms == said
    assert (len(terms), stored(terms)) == (len(said), stored(said))
    assert [*reversed(terms)] == said[::-1]
    assert terms[1:3] == said[1:3]
    assert terms != [*said, "more"]
    assert hash(terms) == hash(Terms(" ".join(said)))
