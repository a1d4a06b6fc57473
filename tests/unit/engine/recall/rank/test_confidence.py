"""How sure an answer may be: names no one has heard of, words no one has said, and what cannot be measured."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from biem.domain.policies.confidence import ConfidenceWeights
from biem.domain.policies.orbit import OrbitPolicy, OrbitWeights
from biem.engine.query.question import Query, Sentence
from biem.engine.recall.rank.confidence import confidence, grounds
from biem.engine.recall.rank.pool import Candidate
from biem.ports import Vector, Vectors
from tests.support.fakes import START
from tests.support.pools import ASIDE, FAR, NEAR, SPEAKERS, query, ranked, turn

POOL = [
    turn("paris", "we stayed in paris near the river", 1, NEAR),
    turn("dog", "the dog has a new ball", 2, ASIDE, speaker="Bob"),
    turn("rain", "rain again all day", 3, FAR),
]


def cosine(vector: Vector, others: Vectors) -> NDArray[np.float32]:
    found: NDArray[np.float32] = np.clip(others @ vector, 0, 1)
    return found


def measured(
    text: str, pool: list[Candidate] = POOL, *, mentioned: tuple[str, ...] = (), seen: bool = True
) -> dict[str, float]:
    asked = query(text, NEAR if seen else None)
    return grounds(asked, [name.split() for name in mentioned], pool, SPEAKERS, ranked(asked, pool), cosine)


def test_what_is_known_here_is_distinguished_from_what_is_not() -> None:
    # Given a question about Paris and one about nothing that was ever said
    here, elsewhere = measured("paris river"), measured("quantum chess")

    # Then the first is covered and known, and so more likely
    assert (here["covered"], here["known"]) == (1.0, 1.0)
    assert (elsewhere["covered"], elsewhere["known"]) == (0.0, 0.0)
    assert confidence(here, ConfidenceWeights()) > confidence(elsewhere, ConfidenceWeights())


def test_a_name_no_one_has_heard_of_is_a_reason_to_doubt() -> None:
    # Given one name that was said, one that speaks here and one of a stranger
    heard = measured("paris with maria", mentioned=("paris",))
    named = measured("what did ann say of paris", mentioned=("ann",))
    stranger = measured("paris with maria", mentioned=("maria",))

    # Then only the stranger counts as one, and the speaker's name is no word that must be known
    assert (heard["strangers"], named["strangers"], stranger["strangers"]) == (0.0, 0.0, 1.0)
    assert measured("paris with maria", mentioned=("paris", "maria"))["strangers"] == 0.5
    assert (heard["named"], named["named"]) == (0.0, 1.0)
    assert confidence(stranger, ConfidenceWeights()) < confidence(heard, ConfidenceWeights())


def test_a_name_counts_as_heard_where_one_text_has_all_of_it() -> None:
    # Given one text of Ana Silva, and two that share the words between them
    asked = query("what of ana silva")
    whole = [turn("whole", "ana silva came", 1), turn("other", "rain", 2)]
    parts = [turn("one", "ana came", 1), turn("two", "silva left", 2)]

    def found(pool: list[Candidate]) -> dict[str, float]:
        return grounds(asked, [["ana", "silva"]], pool, SPEAKERS, ranked(asked, pool), cosine)

    # Then only the first has heard of her, and a question without names says so
    assert (found(whole)["mentions"], found(whole)["heard"]) == (1.0, 1.0)
    assert (found(parts)["mentions"], found(parts)["heard"]) == (1.0, 0.0)
    assert (measured("paris")["mentions"], measured("paris")["heard"]) == (0.0, 0.0)


def test_small_talk_around_a_question_is_no_reason_to_doubt() -> None:
    # Given a question after a sentence about something else, with a name and its own vector
    talk = Sentence(["what", "a", "day", "zurich"], FAR, asked=False)
    asks = Sentence(["paris", "river"], NEAR, asked=True)
    asked = Query("what a day zurich. paris river?", [*talk.lexemes, *asks.lexemes], FAR, [talk, asks])

    # When confidence is measured
    found = grounds(asked, [["zurich"]], POOL, SPEAKERS, ranked(asked, POOL), cosine)

    # Then the name next to the question does not count, and the likeness is that of what asks
    assert (found["mentions"], found["heard"]) == (0.0, 0.0)
    assert found["similarity"] == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["zurich", "苏黎世"])
def test_new_names_in_news_are_no_reason_to_doubt(name: str) -> None:
    # Given a text of two sentences that only tells, with a name no one has heard of
    first, second = Sentence(["we", "flew", name], FAR, asked=False), Sentence(["paris", "next"], NEAR, asked=False)

    def found(*sentences: Sentence) -> dict[str, float]:
        text = Query("", [term for one in sentences for term in one.lexemes], NEAR, sentences)
        return grounds(text, [[name]], POOL, SPEAKERS, ranked(text, POOL), cosine)

    # Then the name is not asked for; where a sentence of it asks, it is
    assert found(first, second)["mentions"] == 0.0
    assert found(replace(first, asked=True), second)["mentions"] == 1.0


def test_a_small_memory_need_not_have_heard_of_a_name() -> None:
    # Given a name no one has heard of, and the same answer in a memory of two texts and in one of a hundred
    many = [turn(str(n), f"word {n}", n + 9, FAR) for n in range(100)]
    young, old = (measured("paris with maria", pool, mentioned=("maria",)) for pool in (POOL[:2], [*POOL, *many]))

    # Then likeness speaks louder in the small one, and the name less
    assert young["small_similarity"] == pytest.approx(young["small"] * young["similarity"])
    assert (old["small_similarity"], old["small_mentions"]) == (0.0, 0.0)
    assert young["small_mentions"] == young["small"] > 0.9
    assert confidence(young, ConfidenceWeights()) > 0.6


def test_answers_of_one_conversation_speak_for_each_other_and_facts_have_no_say() -> None:
    # Given turns of one conversation, of two, and facts, which belong to none
    one = [turn(str(n), f"word {n}", n) for n in range(4)]
    two = [turn(str(n), f"word {n}", n, conversation=str(n % 2)) for n in range(4)]
    facts = [turn(str(n), f"word {n}", n, conversation=f"\0{n}") for n in range(4)]

    # Then their share says so, and facts count as usual
    assert [measured("word", pool)["together"] for pool in (one, two, facts)] == [1.0, 0.5, 0.5]
    assert measured("word", [*facts, one[0]])["together"] == 1.0


def test_a_day_that_the_question_names_is_found_or_not() -> None:
    # Given a turn of the fourth of May / When that day is asked about, or another / Then the ground says which
    pool = [turn("one", "we met", 1, at=START), turn("two", "we ate", 2, at=START)]
    assert measured(f"what happened on {START:%B} {START.day}", pool)["day"] > 0.5
    assert measured("what happened on January 9", pool)["day"] == 0.0


@pytest.mark.req("C23", partly="confidence across languages")
def test_words_of_one_script_do_not_judge_texts_of_the_other() -> None:
    # Given a Chinese text that answers, and one that is about something else
    near = [turn("hotel", "住 酒店", 1, NEAR), *POOL[1:]]
    far = [turn("hotel", "住 酒店", 1, FAR), *POOL[1:]]
    asked = query("hotel with maria", NEAR)

    def found(pool: list[Candidate]) -> dict[str, float]:
        order = replace(ranked(asked, pool), order=[0, 1, 2])
        return grounds(asked, [["maria"]], pool, SPEAKERS, order, cosine)

    # When an English question with a name is asked / Then meaning alone says which of them may be the answer
    assert (found(near)["known"], found(near)["strangers"]) == (0.7, 0.0)
    assert (found(far)["known"], found(far)["strangers"]) == (0.0, 1.0)


def test_nothing_to_measure_is_no_confidence() -> None:
    assert measured("paris", []) == {}
    assert confidence({}, ConfidenceWeights(bias=50.0)) == 0.0


def test_an_embedder_that_is_down_silences_no_recall() -> None:
    # Given the same question with and without a vector
    with_vector, without = measured("paris river"), measured("paris river", seen=False)

    # Then what cannot be measured is taken as usual, and confidence stays high
    assert without["similarity"] > 0.2
    assert with_vector["similarity"] == pytest.approx(1.0)
    assert confidence(without, ConfidenceWeights()) > 0.5


def test_a_memory_of_one_text_can_be_sure() -> None:
    # Given a single memory / When it is asked for / Then comparisons with others are taken as usual
    sure = measured("paris", [POOL[0]])
    assert sure["lead"] > 0.1
    assert confidence(sure, ConfidenceWeights()) > 0.5
    assert confidence(measured("quantum chess of maria", [POOL[1]], mentioned=("maria",)), ConfidenceWeights()) < 0.3


def test_vectors_of_another_dimension_are_no_likeness() -> None:
    # Given a pool embedded by a model of another dimension / Then it counts as not embedded
    other = [turn("paris", "we stayed in paris", 1, np.ones(2, dtype=np.float32))]
    assert measured("paris", other)["similarity"] == measured("paris", other, seen=False)["similarity"]


NAMES = [field.name for field in fields(ConfidenceWeights)]


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=len(NAMES), max_size=len(NAMES)),
    st.lists(st.floats(-1e3, 1e3), min_size=len(NAMES) - 1, max_size=len(NAMES) - 1),
)
def test_confidence_is_a_share_for_any_weights(weights: list[float], values: list[float]) -> None:
    names = NAMES
    chosen = ConfidenceWeights(**dict(zip(names, weights, strict=True)))
    sure = confidence(dict(zip(names[1:], values, strict=True)), chosen)
    assert 0.0 <= sure <= 1.0


def test_weights_and_shares_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        ConfidenceWeights(known=math.nan)
    with pytest.raises(ValueError, match="finite"):
        OrbitWeights(talk=math.inf)
    for wrong in ({"min_confidence": 1.5}, {"least_talk": -0.1}, {"sessions": 0}, {"news": 0}, {"links": -1}):
        with pytest.raises(ValueError, match=r"share|positive"):
            OrbitPolicy(**wrong)
