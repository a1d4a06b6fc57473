"""The order of a pool of candidates."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.policies.ranking import RankPolicy, SignalWeights
from biem.engine.query.question import Query, Sentence
from biem.engine.recall.rank.pool import Candidate, Pool
from biem.engine.recall.rank.score import NAMES, distinct
from biem.engine.recall.rank.term_matrix import TermMatrix
from tests.support.fakes import START
from tests.support.pools import (
    ASIDE,
    FAR,
    HALF,
    HOTEL,
    NEAR,
    OTHERS,
    POLICY,
    SPEAKERS,
    X,
    ids,
    query,
    ranked,
    turn,
    unit,
)


def test_the_reasons_add_up_to_the_score() -> None:
    # Given any pool / When it is ranked / Then what each signal added is the score
    pool = [turn(X, "lilac price", 1), turn("seed", "paris hotel called lilac", 9), *OTHERS]
    found = ranked(query("paris hotel price"), pool)
    assert [sum(found.why(index).values()) for index in range(len(pool))] == pytest.approx(found.scores, abs=1e-4)


def test_who_says_a_name_is_not_found_by_it() -> None:
    # Given a turn by Ann and one that mentions her
    pool = [turn("by", "good morning to all of you", 1), turn("of", "ann bought the old barn", 9)]

    # When all that is asked is her name / Then the words find the mention, and the speaker is another signal
    found = ranked(query("ann", None), pool)
    by, of = found.signals[:, NAMES.index("words_around")]
    assert by == 0.0 < of
    assert "speaker" in found.why(0)


def test_a_role_is_nobodys_name() -> None:
    # Given a speaker called assistant / When a query says the word / Then it names no one
    pool = [turn("a", "the lilac", 1, speaker="assistant"), turn("b", "the barn", 9)]
    assert "speaker" not in ranked(query("what did the assistant do"), pool).why(0)


def test_what_is_asked_beats_who_is_named() -> None:
    # Given a turn that is near to the name in a question, and one that is nearer to what is asked next to it
    name, matter = unit(1.0, 0.0, 0.0), unit(0.0, 1.0, 0.0)
    pool = [turn("named", "good morning", 1, name), turn("asked", "many thanks", 9, unit(0.8, 0.6, 0.0))]
    question = Query("which barn is it", ["barn"], name, matter=matter)

    # When the question is read as it is, and without the name, too / Then the other turn comes first
    assert ids(question, pool, replace(POLICY, nameless=0.0)) == ["named", "asked"]
    assert ids(question, pool, replace(POLICY, nameless=0.5)) == ["asked", "named"]


def test_a_repetition_gives_way_to_something_else() -> None:
    # Given two turns that say the same, both better than a third
    same = "we booked the paris hotel lilac for june"
    pool = [turn("a", same, 1), turn("b", same, 20), turn("c", "paris was lovely with such good weather", 40)]

    # When they are ranked with and without the penalty for repetitions
    plain = ids(HOTEL, pool, replace(POLICY, repeat=0.0))
    distinct = ids(HOTEL, pool, replace(POLICY, repeat=50.0))

    # Then the second of them falls behind, and no one is lost
    assert plain.index("b") == 1
    assert distinct == ["a", "c", "b"]


def test_likeness_below_the_threshold_is_no_repetition() -> None:
    # Given turns that share a third of their words
    pool = [turn("a", "paris hotel lilac june", 1), turn("b", "paris hotel rose july", 20), turn("c", "old barn", 40)]

    # When the threshold is above that / Then the order is that of the scores
    strict = replace(POLICY, repeat=50.0, repeat_from=0.35)
    assert ids(HOTEL, pool, strict)[:2] == ["a", "b"]
    assert ids(HOTEL, pool, replace(strict, repeat_from=0.1)) == ["a", "c", "b"]


def test_each_thing_asked_at_once_gets_its_turn() -> None:
    # Given three good turns for one question of a query and a weaker one for the other
    scores = np.array([4.0, 3.0, 2.0, 1.5])
    served = np.array([[1.0, 1.0, 0.9, 0.0], [0.0, 0.1, 0.0, 0.7]])
    words = TermMatrix(["a", "b", "c", "d"])

    # When they are chosen from / Then with balance the second question is served before the first is served again
    assert distinct(scores, words, served, replace(POLICY, balance=0.0), 10) == [0, 1, 2, 3]
    assert distinct(scores, words, served, replace(POLICY, balance=2.0), 10) == [0, 3, 1, 2]
    assert distinct(scores, words, served[:1], replace(POLICY, balance=2.0), 10) == [0, 1, 2, 3]


def test_only_the_best_are_compared_with_each_other() -> None:
    # Given a repetition beyond the depth / When turns are chosen / Then it keeps its place behind the others
    scores, words = np.array([3.0, 2.0, 1.0, 0.5]), TermMatrix(["a", "b", "a", "c"])
    nothing = np.zeros((0, 4))
    assert distinct(scores, words, nothing, replace(POLICY, depth=2, repeat=9.0), 10) == [0, 1, 2, 3]
    assert distinct(scores, words, nothing, replace(POLICY, depth=4, repeat=9.0), 10) == [0, 1, 3, 2]


def test_texts_without_words_are_not_alike() -> None:
    # Given texts of which two are empty / When they are compared / Then only what they share counts
    words = TermMatrix(["", "a b a", "", "b c"]).likeness(np.arange(4))
    assert words.to(0).tolist() == [0.0, 0.0, 0.0, 0.0]
    assert words.to(1).tolist() == pytest.approx([0.0, 1.0, 0.0, 1 / 3])
    assert words.to(3).tolist() == pytest.approx([0.0, 1 / 3, 0.0, 1.0])


def test_an_empty_pool_has_an_empty_order() -> None:
    # Given nothing / When it is ranked / Then nothing comes out
    found = ranked(HOTEL, [])
    assert list(found.order) == []
    assert found.signals.shape == (0, len(NAMES))


def test_one_candidate_is_first() -> None:
    # Given one turn, with and without a vector / When it is ranked / Then it is all there is
    for vector in (None, NEAR, ASIDE):
        found = ranked(HOTEL, [turn(X, "", 1, vector)])
        assert list(found.order) == [0]
        assert np.isfinite(found.scores).all()


def test_of_several_statements_the_nearest_counts_unless_several_people_speak() -> None:
    # Given a turn whose whole is far from the query, with a statement that is near / When it is ranked
    several = turn("several", "", 1, FAR)._replace(parts=np.stack([FAR, NEAR]))
    candidates = [turn("half", "", 2, HALF), several]
    pool = Pool(candidates, {"Ann": ["ann"]}, 0.0, len(NEAR))

    # Then it is as near as that statement, but not in a talk of several people
    assert pool.cosines(NEAR) == pytest.approx([float(HALF @ NEAR), 1.0])
    of_several = Pool(candidates, SPEAKERS, 0.0, len(NEAR))
    assert of_several.cosines(NEAR) == pytest.approx([float(HALF @ NEAR), float(FAR @ NEAR)])


def test_without_vectors_words_decide() -> None:
    # Given an embedder that is down, for the query or for the turns
    texts = ["the weather was fine all of that day", "we liked that hotel in paris very much indeed"]
    for asked, vector in ((HOTEL, None), (query("paris hotel", None), NEAR)):
        pool = [turn(str(number), text, 10 * number, vector) for number, text in enumerate(texts)]

        # When they are ranked / Then the words find the answer and no meaning is claimed
        assert ids(asked, pool) == ["1", "0"]
        assert not {"hub", "dense_around", "session_dense", "sentence_dense"} & ranked(asked, pool).why(1).keys()


def test_vectors_of_another_embedder_count_as_missing() -> None:
    # Given a turn whose vector is from before a change of embedder / When it is ranked / Then it is ranked by words
    pool = [turn("old", "paris hotel", 1, unit(1, 0)), turn("new", "a barn", 9, FAR)]
    assert ranked(HOTEL, pool).signals[0, NAMES.index("hub")] == 0.0


@pytest.mark.req("X5", partly="the order of memories that wait for their vectors")
def test_words_stand_in_for_the_meaning_of_what_has_no_vector_yet() -> None:
    # Given an answer just written, next to older turns that have vectors
    pool = [
        turn("old", "the weather was fine all of that day", 1, HALF),
        turn("new", "the paris hotel is nice", 40, None),
    ]
    pool.append(turn("far", "we went to the lake with all our friends", 80, FAR))

    # When they are ranked / Then it is first, and its words count as its likeness, too
    assert ids(HOTEL, pool)[0] == "new"
    assert ranked(HOTEL, pool).signals[1, NAMES.index("sentence_dense")] == 1.0


def test_equal_scores_keep_the_order_of_the_pool() -> None:
    # Given turns of different sessions that are alike in all that counts
    pool = [turn(name, "the very same", 5, NEAR, conversation=name) for name in "dbca"]

    # When they are ranked, also without the choice of distinct ones / Then they stay as they came
    assert ids(HOTEL, pool) == ids(HOTEL, pool, count=0) == ["d", "b", "c", "a"]


def test_a_pause_may_begin_a_session() -> None:
    # Given one endless conversation with a pause of a day
    late = turn(X, "the lilac", 2, HALF, at=START + timedelta(days=1))
    pool = [turn("a", "yes", 1, NEAR), late, *OTHERS]
    column = NAMES.index("session_dense")

    # When pauses cut it / Then what was said before is another session
    whole, cut = (ranked(HOTEL, pool, RankPolicy(session_gap_s=gap)).signals[1, column] for gap in (0.0, 3_600.0))
    assert whole == pytest.approx(1.0)
    assert cut < 0.9


def test_chinese_turns_are_found_by_their_times_and_words() -> None:
    # Given turns of three days
    pool = [turn(str(day), "我 吃 了 面条", 10 * day, None, at=START - timedelta(days=day)) for day in range(3)]

    # When the middle one's day is asked for / Then it comes first
    assert ids(Query("昨天我吃了什么", ["我", "吃", "了", "什", "么"], None), pool)[0] == "1"


@pytest.mark.parametrize(
    "bad", [{"b": 1.5}, {"repeat_from": 1.0}, {"depth": 0}, {"next_1": -0.1}, {"balance_power": 0}]
)
def test_a_policy_out_of_range_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        RankPolicy(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["k1", "nameless", "repeat", "reported_change"])
def test_a_constant_that_is_no_number_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="finite"):
        RankPolicy(**{name: float("nan")})  # type: ignore[arg-type]


def test_a_weight_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        SignalWeights(hub=float("nan"))


vectors = st.none() | st.sampled_from([NEAR, HALF, FAR, ASIDE, unit(1, 0)])
lexemes = st.lists(st.sampled_from(["ann", "bob", "paris", "hotel", "昨天", "é", "\U0001f600", "x"]), max_size=12)
turns = st.builds(
    Candidate,
    id=st.just(X),
    lexemes=lexemes,
    vector=vectors,
    speaker=st.sampled_from([*SPEAKERS, "stranger"]),
    conversation=st.sampled_from(["one", "two"]),
    seq=st.integers(0, 6) | st.integers(-(2**62), 2**62),
    at=st.integers(-(10**9), 10**9).map(lambda seconds: START + timedelta(seconds=seconds)),
    asks=st.booleans(),
    opening=st.booleans(),
    importance=st.floats(1, 5),
    accesses=st.integers(0, 2**31 - 1),
    energy=st.floats(0, 1),
    later=st.integers(0, 2**62),
    parts=st.none() | st.sampled_from([np.stack([NEAR, FAR]), np.ones((1, 7), dtype=np.float32)]),
)
asks = st.builds(
    Query,
    text=st.sampled_from(["last month", "5月2号你说的", "what did you say on 2026-05-01", ""]) | st.text(max_size=20),
    lexemes=lexemes,
    vector=vectors,
    sentences=st.lists(st.builds(Sentence, lexemes=lexemes, vector=vectors, asked=st.booleans()), max_size=3),
)


@given(asked=asks, pool=st.lists(turns, max_size=8), count=st.integers(0, 10), gap_s=st.sampled_from([0.0, 60.0]))
def test_every_pool_has_a_finite_order_of_all(asked: Query, pool: list[Candidate], count: int, gap_s: float) -> None:
    # Given any pool / When it is ranked twice
    policy = RankPolicy(session_gap_s=gap_s, short_words=1, k1=0.0, depth=3)
    first, second = (ranked(asked, pool, chosen, count) for chosen in (policy, policy))

    # Then every turn has its place, every signal is a number, and the second time nothing is different
    assert sorted(first.order) == list(range(len(pool)))
    assert np.isfinite(first.signals).all()
    assert np.isfinite(first.scores).all()
    assert (first.order, first.scores.tolist()) == (second.order, second.scores.tolist())


def test_a_long_pause_opens_a_session_where_the_turn_before_it_is_known() -> None:
    # Given a chat that goes on for days: its opening, a turn a week later, and one of which the turn before is unknown
    days = {0: 0, 1: 7, 5: 20}
    turns = [
        Candidate(str(seq), ("word",), None, "", "chat", seq, START + timedelta(days=day), opening=seq == 0)
        for seq, day in days.items()
    ]

    # When it is cut at pauses / Then each is its own session, and two of them are known to begin one
    cut, whole = (Pool(turns, {}, gap, None) for gap in (RankPolicy().session_gap_s, 0.0))
    assert cut.sessions == 3
    assert cut.opening.tolist() == [True, True, False]
    assert cut.beside[1].tolist() == [-1, -1, -1]
    assert whole.sessions == 1
    assert whole.opening.tolist() == [True, False, False]
    assert whole.beside[1].tolist() == [1, -1, -1]
